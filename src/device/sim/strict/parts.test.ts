// Bytes of one dword that several wavefronts and workgroups use: the engines find the same.
import { expect, it } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../tests/support/strict.ts';

const BUFFER = 512;

/** Which byte or half a work-item uses: a factor and an offset for its number, and for its workgroup. */
const use = fc.record({
  kind: fc.constantFrom('load', 'store'),
  bytes: fc.constantFrom(1, 1, 2),
  factor: fc.constantFrom(1, 1, 2, 3, 4, 129),
  group: fc.constantFrom(0, 1, 2, 64, 128),
  more: fc.nat(3),
  waits: fc.boolean(),
});

const text = ({
  kind,
  bytes,
  factor,
  group,
  more,
  waits,
}: typeof use extends fc.Arbitrary<infer T> ? T : never): string =>
  [
    `v_mul_u32_u24_e32 v5, ${factor}, v0`,
    `s_mul_i32 s8, s2, ${group}`,
    'v_add_u32_e32 v5, s8, v5',
    `v_add_u32_e32 v5, ${more}, v5`,
    `v_and_b32_e32 v5, ${BUFFER / bytes - 1}, v5`,
    ...(bytes === 2 ? ['v_lshlrev_b32_e32 v5, 1, v5'] : []),
    kind === 'load'
      ? `global_load_u${bytes === 1 ? 'byte' : 'short'} v6, v5, s[4:5]`
      : `global_store_${bytes === 1 ? 'byte' : 'short'} v5, v0, s[4:5]`,
    's_waitcnt vmcnt(0)',
    ...(waits ? ['s_barrier'] : []),
  ].join('\n');

it('parts of dwords: the engines find the same', async () => {
  let [wrong, right] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(use, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('gfx942' as const, 'gfx90a' as const),
      async (uses, target) => {
        const code = uses.map(text).join('\n');
        const found = async (engine: 'compiled' | 'interpreter') => {
          const options = { engine, target, bufferBytes: BUFFER, grid: [2, 1, 1], block: [128, 1, 1] } as const;
          return (await strictFindings(code, options)).map(({ rule, place, message }) => [rule, place, message]);
        };
        const compiled = await found('compiled');
        expect(compiled).toEqual(await found('interpreter'));
        if (compiled.length > 0) wrong++;
        else right++;
      },
    ),
    { numRuns: 80 },
  );
  expect(wrong).toBeGreaterThan(10);
  expect(right).toBeGreaterThan(5);
});
