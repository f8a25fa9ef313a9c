// Lanes, wavefronts and workgroups that store the same at one place, or change it by atomics, and some that do not: compiled code finds what the interpreter finds, and leaves what it leaves.
import { expect, test } from 'vitest';
import { countedBytes, onAllEngines, placesOf } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
const WINDOW = 16384;

interface Step {
  readonly kind: 'load' | 'store' | 'atomic' | 'barrier';
  readonly isLds: boolean;
  /** Past the caches, as stores of atomics are. */
  readonly isScoped: boolean;
  readonly bytes: 1 | 2 | 4 | 8 | 16;
  /** Numbers of elements are so many bits of the number of the work-item to the right, in so many elements. */
  readonly shift: number;
  readonly elements: number;
  readonly isOfAll: boolean;
  /** What is stored: a constant, the number of the element, or that of the work-item, also in the last round only. */
  readonly value: 0 | 1 | 'element' | 'item' | 'late';
  /** Added to addresses. */
  readonly more: number;
  /** Only lanes whose number has one of these bits. */
  readonly mask: number;
}

const SUFFIX = { 1: 'byte', 2: 'short', 4: 'dword', 8: 'dwordx2', 16: 'dwordx4' } as const;
const DATA = { 1: 'v8', 2: 'v8', 4: 'v8', 8: 'v[8:9]', 16: 'v[8:11]' } as const;

const BEGIN = `v_mbcnt_lo_u32_b32 v3, -1, 0
v_mbcnt_hi_u32_b32 v3, -1, v3
v_and_b32_e32 v0, 0x3ff, v0
v_lshl_add_u32 v4, s2, 7, v0
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v5, 0
s_mov_b32 m0, -1`;
/** LDS is written before it is read. */
const FILL = `v_lshlrev_b32_e32 v6, 4, v0
${[8, 9, 10, 11].map((n) => `v_mov_b32_e32 v${n}, 1`).join('\n')}
ds_write_b128 v6, v[8:11]
ds_write_b128 v6, v[8:11] offset:2048
s_waitcnt lgkmcnt(0)
s_barrier`;
const END = `v_lshlrev_b32_e32 v5, 2, v4
v_add_u32_e32 v5, ${WINDOW}, v5
global_store_dword v5, v12, s[4:5]`;

function textOf(step: Step, isOld: boolean): string {
  const { kind, isLds, isScoped, bytes, shift, elements, isOfAll, value, more, mask } = step;
  if (kind === 'barrier') return 's_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier';
  const place = `v_lshrrev_b32_e32 v5, ${shift}, ${isOfAll ? 'v0' : 'v4'}
v_and_b32_e32 v5, ${elements - 1}, v5
v_mov_b32_e32 v7, v5
v_lshlrev_b32_e32 v5, ${Math.log2(bytes)}, v5
v_add_u32_e32 v5, ${more}, v5`;
  const end = 's_waitcnt vmcnt(0) lgkmcnt(0)';
  const scope = !isScoped ? '' : isOld ? ' glc' : ' sc1';
  if (kind === 'load') {
    const unsigned = bytes < 4 ? `u${SUFFIX[bytes]}` : SUFFIX[bytes];
    const lds = { 1: 'u8', 2: 'u16', 4: 'b32', 8: 'b64', 16: 'b128' }[bytes];
    const load = isLds
      ? `ds_read_${lds} ${DATA[bytes]}, v5`
      : `global_load_${unsigned} ${DATA[bytes]}, v5, s[4:5]${scope}`;
    return `${place}\n${load}\n${end}\nv_add_u32_e32 v12, v8, v12`;
  }
  const late = 's_cmp_eq_u32 s12, 1\ns_cselect_b32 s13, -1, 0\nv_and_b32_e32 v7, s13, v4\n';
  const source = value === 'element' || value === 'late' ? 'v7' : value === 'item' ? 'v4' : `${value}`;
  const data = (value === 'late' ? late : '') + [8, 9, 10, 11].map((n) => `v_mov_b32_e32 v${n}, ${source}`).join('\n');
  if (kind === 'atomic') {
    const isWide = bytes > 4;
    const atomic = isLds
      ? `ds_${isWide ? 'max_u64' : 'add_u32'} v5, ${isWide ? 'v[8:9]' : 'v8'}`
      : `global_atomic_add${isWide ? '_x2' : ''} v5, ${isWide ? 'v[8:9]' : 'v8'}, s[4:5]`;
    return `${place}\n${data}\n${atomic}\n${end}`;
  }
  const store = isLds
    ? `ds_write_b${8 * bytes} v5, ${DATA[bytes]}`
    : `global_store_${SUFFIX[bytes]} v5, ${DATA[bytes]}, s[4:5]${scope}`;
  const guard = `v_and_b32_e32 v6, ${mask}, v3\nv_cmp_ne_u32_e32 vcc, 0, v6\ns_and_saveexec_b64 s[10:11], vcc`;
  return `${place}\n${data}\n${mask === 0 ? '' : guard}\n${store}\n${mask === 0 ? '' : 's_mov_b64 exec, s[10:11]'}\n${end}`;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('load', 'store', 'store', 'store', 'store', 'atomic', 'barrier'),
    isLds: fc.boolean(),
    isScoped: fc.constantFrom(false, false, false, true),
    bytes: fc.constantFrom(1, 2, 4, 4, 8, 16),
    shift: fc.constantFrom(0, 0, 1, 4, 6),
    elements: fc.constantFrom(1, 2, 8, 64, 128),
    isOfAll: fc.boolean(),
    value: fc.constantFrom<Step['value']>(0, 1, 1, 'element', 'element', 'item', 'late', 'late'),
    more: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, 4),
    mask: fc.constantFrom(0, 0, 1, 6, 63),
  }),
  { minLength: 1, maxLength: 6 },
);

test('what several store at one place is found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom(...TARGETS),
        groups: fc.constantFrom(1, 2, 3),
        steps,
        rounds: fc.constantFrom(1, 2, 3),
      }),
      async ({ target, groups, steps, rounds }) => {
        const isOld = target === 'gfx90a';
        const lines = steps.map((step) => textOf(step, isOld)).join('\n');
        // From the second round on compiled code knows who stores so.
        const loop = `s_mov_b32 s12, ${rounds}\nagain:\n${lines}\ns_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 again`;
        const { compiled, interpreted, plain } = await onAllEngines(`${BEGIN}\n${FILL}\n${loop}\n${END}`, {
          target,
          descriptor: { next_free_vgpr: 16, accum_offset: 16, group_segment_fixed_size: 4096 },
          grid: [groups, 1, 1],
          block: [128, 1, 1],
          bufferBytes: 2 * WINDOW,
          input: [[0, countedBytes(2 * WINDOW)]],
        });
        const rules = placesOf(compiled);
        expect(rules).toEqual(placesOf(interpreted));
        expect(compiled.bytes).toEqual(plain);
        for (const rule of new Set(rules.map((one) => one.split(' ')[0] as string)))
          found.set(rule, (found.get(rule) ?? 0) + 1);
        if (rules.length === 0) found.set('nothing', (found.get('nothing') ?? 0) + 1);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 120) },
  );
  const rules = ['memory/misaligned', 'nothing', 'races/global', 'races/lanes', 'races/lds'];
  expect([...found.keys()]).toEqual(expect.arrayContaining(rules));
});
