// What is undefined stays so when it is copied, lane by lane, and becomes so in no other: compiled code finds what the interpreter finds.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const vector = fc.constantFrom('v4', 'v5', 'v6');
const accumulator = fc.constantFrom('a0', 'a1');
/** Constants, and registers that choose one. */
const lane = fc.constantFrom<number | string>(0, 5, 63, 's12', 's12', 's13', 'm0');
const step = fc.oneof(
  fc.tuple(vector, lane).map(([v, n]) => `v_writelane_b32 ${v}, ${typeof n === 'number' ? 's6' : 3}, ${n}`),
  fc.tuple(vector, lane).map(([v, n]) => `v_readlane_b32 s7, ${v}, ${n}`),
  { weight: 4, arbitrary: fc.tuple(accumulator, vector).map(([a, v]) => `v_accvgpr_write_b32 ${a}, ${v}`) },
  { weight: 4, arbitrary: fc.tuple(vector, accumulator).map(([v, a]) => `v_accvgpr_read_b32 ${v}, ${a}`) },
  fc.tuple(vector, vector).map(([to, from]) => `v_mov_b32_e32 ${to}, ${from}`),
  vector.map((v) => `v_mov_b32_e32 ${v}, 7`),
  fc.constantFrom('s12, 5', 's12, 40', 's13, 0x45', 'm0, 63').map((to) => `s_mov_b32 ${to}`),
  fc.constantFrom('-1', '0xff00', '0x21').map((mask) => `s_mov_b64 exec, ${mask}`),
  // Nothing has written the end of the buffer.
  vector.map((v) => `global_load_dword ${v}, v1, s[4:5] offset:256\ns_waitcnt vmcnt(0)`),
  { weight: 3, arbitrary: vector.map((v) => `global_store_dword v1, ${v}, s[4:5] offset:512`) },
  fc.constant('s_branch 0'),
);

/** Lanes that are copied are defined in no register, and others are in the one that is copied only. */
const OTHER_LANES = [
  's_mov_b64 exec, 0x21',
  'v_mov_b32_e32 v4, 7',
  's_mov_b64 exec, 0xff00',
  'v_accvgpr_write_b32 a0, v4',
  's_mov_b64 exec, 0x21',
  'v_accvgpr_read_b32 v5, a0',
  'global_store_dword v1, v5, s[4:5] offset:512',
];

/** Segments of code with checks end where EXEC is written; those of few instructions make copies themselves. */
const END = 's_mov_b64 exec, exec';

test('copies of registers that are defined in some lanes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
      const code = [
        's_mov_b32 s6, 3',
        's_mov_b32 s12, 9',
        's_mov_b32 s13, 63',
        's_mov_b32 m0, 1',
        ...steps.map((one) => `${one}\n${END}`),
      ].join('\n');
      const run = async (engine: 'compiled' | 'interpreter') =>
        (await strictFindings(code, { engine, bufferBytes: 1024, written: 256 })).map(
          ({ rule, registers, place, lane: at, message }) => ({ rule, registers, place, at, message }),
        );
      expect(await run('compiled'), code).toEqual(await run('interpreter'));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 80), examples: [[OTHER_LANES]] },
  );
});
