// Halves of 64-bit results that have no value where their sources have none (v_mad_u64_u32 for a sum of 32 bits), through segments of code, in some lanes and
// behind writes of halves of registers: compiled code finds what the interpreter finds.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const single = fc.constantFrom('v2', 'v3', 'v4', 'v5', 'v6', 'v7');
const pair = fc.constantFrom('v[2:3]', 'v[4:5]', 'v[6:7]');
/** Constants, and registers that choose one. */
const lane = fc.constantFrom<number | string>(0, 5, 63, 's12', 's12', 's13', 'm0');
const bit = fc.constantFrom(0, 1);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(pair, single, pair).map(([d, a, c]) => `v_mad_u64_u32 ${d}, s[8:9], s6, ${a}, ${c}`),
  },
  { weight: 2, arbitrary: fc.tuple(pair, pair, pair).map(([d, a, c]) => `v_lshl_add_u64 ${d}, ${a}, 2, ${c}`) },
  fc.tuple(pair, pair).map(([d, a]) => `v_lshlrev_b64 ${d}, 3, ${a}`),
  fc
    .tuple(pair, pair, pair, bit, bit)
    .map(([d, a, b, low, high]) => `v_pk_mul_f32 ${d}, ${a}, ${b} op_sel:[${low},0] op_sel_hi:[${high},1]`),
  fc.tuple(single, single).map(([d, a]) => `v_add_u32_e32 ${d}, 7, ${a}`),
  fc.tuple(single, single).map(([d, a]) => `v_mov_b32_e32 ${d}, ${a}`),
  single.map((d) => `v_mov_b32_e32 ${d}, 7`),
  fc.tuple(single, single).map(([d, a]) => `v_mad_f16 ${d}, ${a}, s6, 1.0 op_sel:[0,0,0,1]`),
  fc.tuple(single, single).map(([d, a]) => `v_mov_b32_dpp ${d}, ${a} row_shr:1 row_mask:0xf bank_mask:0xf`),
  fc.tuple(single, lane).map(([d, n]) => `v_writelane_b32 ${d}, ${typeof n === 'number' ? 's6' : 3}, ${n}`),
  fc.tuple(single, lane).map(([d, n]) => `v_readlane_b32 s7, ${d}, ${n}`),
  fc.constantFrom('s12, 5', 's12, 40', 's13, 0x45', 'm0, 63').map((to) => `s_mov_b32 ${to}`),
  fc.constantFrom('-1', '0xff00', '0x21', 'exec').map((mask) => `s_mov_b64 exec, ${mask}`),
  single.map((d) => `global_load_dword ${d}, v1, s[4:5]\ns_waitcnt vmcnt(0)`),
  { weight: 2, arbitrary: single.map((d) => `global_store_dword v1, ${d}, s[4:5] offset:512`) },
);

/** What a loop does that indexes by sums of 32 bits. */
const SUMS = [
  'v_mov_b32_e32 v2, 7',
  'v_mad_u64_u32 v[2:3], s[8:9], s6, v2, v[2:3]',
  's_mov_b64 exec, exec',
  'v_mad_u64_u32 v[2:3], s[8:9], s6, v2, v[2:3]',
  'v_mov_b32_e32 v5, v3',
  's_mov_b64 exec, exec',
  'global_store_dword v1, v5, s[4:5] offset:512',
];

/** The low half of what has no value gets one in the same segment. */
const LOW_HALF = [
  'v_mov_b32_e32 v2, 7',
  'v_mad_u64_u32 v[2:3], s[8:9], s6, v2, v[2:3]',
  'v_mad_f16 v3, v2, s6, 1.0',
  's_mov_b64 exec, exec',
  'v_add_u32_e32 v4, 7, v3',
];

test('halves of results that depend on halves of sources', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      const code = ['s_mov_b32 s6, 3', 's_mov_b32 s12, 9', 's_mov_b32 s13, 63', 's_mov_b32 m0, 1', ...steps].join('\n');
      const run = async (engine: 'compiled' | 'interpreter') =>
        (await strictFindings(code, { engine, bufferBytes: 1024, written: 256 }))
          // Wait states are looked at in front of a block.
          .filter(({ rule }) => rule !== 'hazards/wait-states')
          .map(({ rule, registers, place, lane: at, message }) => ({ rule, registers, place, at, message }));
      expect(await run('compiled'), code).toEqual(await run('interpreter'));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 100), examples: [[SUMS], [LOW_HALF]] },
  );
});
