// Dwords of LDS the same distance apart, which wavefronts store and load at once: compiled code finds what the interpreter finds.
import { expect, test } from 'vitest';
import { agreedRules } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';

const BYTES = 16_384;

interface Step {
  readonly kind: 'load' | 'store' | 'barrier';
  /** In dwords: from lane to lane, of the first lane, and what a further wavefront adds. */
  readonly stride: number;
  readonly first: number;
  readonly wave: number;
  /** Lanes that are active: all, or fewer. */
  readonly lanes: number;
}

const BEGIN = `v_and_b32_e32 v0, 0x3ff, v0
v_lshrrev_b32_e32 v4, 6, v0
v_and_b32_e32 v3, 63, v0
v_add_u32_e32 v6, 1, v0
v_mov_b32_e32 v8, 0
s_mov_b32 m0, -1`;
const END = 'v_lshlrev_b32_e32 v5, 2, v0\nglobal_store_dword v5, v8, s[4:5]';

function textOf({ kind, stride, first, wave, lanes }: Step): string {
  if (kind === 'barrier') return 's_waitcnt lgkmcnt(0)\ns_barrier';
  const place = `v_mul_u32_u24_e32 v5, ${stride}, v3
v_mul_u32_u24_e32 v7, ${wave}, v4
v_add_u32_e32 v5, v5, v7
v_add_lshl_u32 v5, v5, ${first}, 2`;
  const access =
    kind === 'load'
      ? 'ds_read_b32 v7, v5\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v8, v7, v8'
      : 'ds_write_b32 v5, v6\ns_waitcnt lgkmcnt(0)';
  const [begin, end] = lanes === 64 ? ['', ''] : [`s_mov_b64 exec, ${lanes}\n`, '\ns_mov_b64 exec, -1'];
  return `${begin}${place}\n${access}${end}`;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('load', 'load', 'store', 'store', 'barrier', 'barrier'),
    stride: fc.constantFrom(2, 3, 4, 4, 5, 7, 8, 11, 16, 17, 33),
    first: fc.constantFrom(0, 0, 1, 3, 16, 17),
    wave: fc.constantFrom(0, 1, 1, 2, 1030, 1030),
    lanes: fc.constantFrom(64, 64, 64, 64, 15),
  }),
  { minLength: 1, maxLength: 8 },
);

test('dwords of LDS the same distance apart are found to be wrong as on the interpreter', async () => {
  const found = new Set<string>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const code = `${BEGIN}\n${all.map(textOf).join('\n')}\n${END}`;
      const rules = await agreedRules(code, { lds: BYTES, block: [128, 1, 1] });
      if (rules.length === 0) right++;
      for (const rule of rules) found.add(rule);
    }),
    { numRuns: 200 },
  );
  expect(right).toBeGreaterThan(20);
  expect([...found].sort()).toEqual(['memory/uninitialised', 'races/lds']);
});
