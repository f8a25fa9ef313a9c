// Dwords the same distance apart, as members of structures are, which wavefronts store and load a line or several at a time: compiled code finds what the
// interpreter finds, and nothing that is not so.
import { expect, test } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import { strictFindings, WAVE_AND_LANE } from '../../../../tests/support/strict.ts';

const BYTES = 65_536;

interface Step {
  readonly kind: 'load' | 'store' | 'barrier';
  /** In dwords: from lane to lane, of the first lane, and what a further wavefront and workgroup add. */
  readonly stride: number;
  readonly first: number;
  readonly wave: number;
  readonly group: number;
}

function textOf({ kind, stride, first, wave, group }: Step): string {
  if (kind === 'barrier') return 's_waitcnt vmcnt(0)\ns_barrier';
  const place = `s_mul_i32 s10, s9, ${wave}
s_mul_i32 s11, s2, ${group}
s_add_i32 s10, s10, s11
s_add_i32 s10, s10, ${first}
v_mul_u32_u24_e32 v5, ${stride}, v3
v_add_lshl_u32 v5, v5, s10, 2`;
  const access = kind === 'load' ? 'global_load_dword v7, v5, s[4:5]' : 'global_store_dword v5, v6, s[4:5]';
  return `${place}\n${access}\ns_waitcnt vmcnt(0)${kind === 'load' ? '\nv_add_u32_e32 v6, v7, v6' : ''}`;
}

/** Whether two wavefronts touch a dword, one of them with a store, and nothing orders them. */
function isRacing(all: readonly Step[], groups: number): boolean {
  const touched = new Map<number, { group: number; wave: number; epoch: number; isStore: boolean }[]>();
  let epoch = 0;
  for (const { kind, stride, first, wave: ofWave, group: ofGroup } of all) {
    if (kind === 'barrier') epoch++;
    else
      for (let lane = 0; lane < 128 * groups; lane++) {
        const [group, wave] = [Math.floor(lane / 128), Math.floor(lane / 64) % 2];
        const dword = first + stride * (lane % 64) + ofWave * wave + ofGroup * group;
        const one = { group, wave, epoch, isStore: kind === 'store' };
        const before = touched.get(dword) ?? [];
        for (const other of before) {
          if (!one.isStore && !other.isStore) continue;
          if (other.group !== group || (other.wave !== wave && other.epoch === epoch)) return true;
        }
        touched.set(dword, [...before, one]);
      }
  }
  return false;
}

const strides = fc.constantFrom(2, 3, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17);
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('load', 'store', 'store', 'store', 'barrier'),
    stride: strides,
    first: fc.oneof(fc.nat(40), fc.constantFrom(0, 1000, 1020)),
    // Mostly elements of their own: others of the same structures, or further structures.
    wave: fc.constantFrom(0, 1, 1, 64, 192, 1100, 1100, 1100),
    group: fc.constantFrom(0, 2, 2200, 2200, 2200, 2200),
  }),
  { minLength: 1, maxLength: 6 },
);

test('dwords the same distance apart are found to be wrong where they are', async () => {
  const found = new Map<string, number>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom(1, 2),
      fc.constantFrom(0, 9000, BYTES, BYTES),
      async (all, groups, written) => {
        const code = `${WAVE_AND_LANE}\n${all.map(textOf).join('\n')}`;
        const run = async (engine: 'compiled' | 'interpreter'): Promise<string[]> => {
          const options = { engine, bufferBytes: BYTES, grid: [groups, 1, 1], block: [128, 1, 1] } as const;
          const findings = await strictFindings(code, { ...options, written });
          return findings.map(({ rule, place }) => `${rule} ${place.pc}`).sort();
        };
        const compiled = await run('compiled');
        // The interpreter notes dword by dword: where a line has older bytes, it may miss a race (RacePage.noteWrite).
        for (const one of await run('interpreter')) expect(compiled).toContain(one);
        if (compiled.some((one) => one.startsWith('races'))) expect(isRacing(all, groups)).toBe(true);
        if (compiled.length === 0) right++;
        for (const one of compiled)
          found.set(one.split(' ')[0] as string, (found.get(one.split(' ')[0] as string) ?? 0) + 1);
      },
    ),
    { numRuns: 150 },
  );
  expect(right).toBeGreaterThan(20);
  expect([...found.keys()].sort()).toEqual(['memory/uninitialised', 'races/global']);
});
