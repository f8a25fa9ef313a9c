// Loops in another form: rotated, peeled, unrolled. What is no longer the same function is not proved.
import { expect, it } from 'vitest';
import { all, prove, STORE, VM } from './support/prove-kernel.ts';

/** What an iteration does. */
const STEP = 'v_add_u32_e32 v2, v2, v0\nv_xor_b32_e32 v2, v1, v2';
const times = (n: number): string => new Array(n).fill(STEP).join('\n');
/** A loop that counts up in s12 and ends with a test. */
const loop = (before: string, body: string, by: number, test: string, after = STORE): string =>
  all(
    'v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0',
    's_mov_b32 s12, 0',
    before,
    '.Ll:',
    body,
    `s_add_u32 s12, s12, ${by}`,
    test,
    's_cbranch_scc1 .Ll',
    after,
  );
const TO_8 = 's_cmp_lg_u32 s12, 8';
const TO_16 = 's_cmp_lt_u32 s12, 16';
const TO_N = 's_cmp_lg_u32 s12, s13';
const BELOW_N = 's_cmp_lt_u32 s12, s10';
const multiple = (shift: number): string => `s_lshl_b32 s13, s10, ${shift}`;
const down = (body: string, by: number, mask: number): string =>
  loop(`s_and_b32 s13, s10, ${mask}`, `${body}\ns_sub_u32 s13, s13, ${by}`, 1, 's_cmp_lg_u32 s13, 0');
const FLOAT = 'global_load_dword v2, v4, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v3, v3, v2';

it.each<[string, string, string]>([
  ['a constant count, unrolled to the end', loop('', STEP, 1, TO_8), all('v_mov_b32_e32 v2, 0', times(8), STORE)],
  ['a constant count, by four', loop('', STEP, 1, TO_16), loop('', times(4), 4, 's_cmp_lg_u32 s12, 16')],
  ['a multiple of four, by four', loop(multiple(2), STEP, 1, TO_N), loop(multiple(2), times(4), 4, TO_N)],
  ['down to zero, by two', down(STEP, 1, -2), down(times(2), 2, -2)],
  [
    'loads',
    loop('', `v_add_u32_e32 v4, s12, v1\n${FLOAT}`, 4, 's_cmp_lg_u32 s12, 32', `v_mov_b32_e32 v2, v3\n${STORE}`),
    loop(
      '',
      `v_add_u32_e32 v4, s12, v1\n${FLOAT}\nv_add_u32_e32 v4, 4, v4\n${FLOAT}`,
      8,
      's_cmp_lg_u32 s12, 32',
      `v_mov_b32_e32 v2, v3\n${STORE}`,
    ),
  ],
  [
    'with its tests kept',
    loop('', STEP, 1, BELOW_N),
    loop('', all(STEP, 's_add_u32 s12, s12, 1', BELOW_N, 's_cbranch_scc0 .Le', STEP), 1, BELOW_N, `.Le:\n${STORE}`),
  ],
  [
    'rotated',
    all(
      'v_mov_b32_e32 v2, 0\ns_mov_b32 s12, 0\n.Ll:',
      BELOW_N,
      `s_cbranch_scc0 .Le\n${STEP}\ns_add_u32 s12, s12, 1\ns_branch .Ll\n.Le:`,
      STORE,
    ),
    loop(`${BELOW_N}\ns_cbranch_scc0 .Le`, STEP, 1, BELOW_N, `.Le:\n${STORE}`),
  ],
  [
    'peeled',
    loop('', STEP, 1, BELOW_N),
    loop(all(STEP, 's_add_u32 s12, s12, 1', BELOW_N, 's_cbranch_scc0 .Le'), STEP, 1, BELOW_N, `.Le:\n${STORE}`),
  ],
])('proved: %s', (_name, a, b) => {
  expect(prove(a, b)).toMatchObject({ verdict: 'proved', reason: undefined });
  expect(prove(b, a)).toMatchObject({ verdict: 'proved', reason: undefined });
});

it.each<[string, string, string]>([
  ['one iteration less', loop('', STEP, 1, TO_8), all('v_mov_b32_e32 v2, 0', times(7), STORE)],
  ['a multiple of two, by four', loop(multiple(1), STEP, 1, TO_N), loop(multiple(1), times(4), 4, TO_N)],
  ['four times the work, by two', down(STEP, 1, -4), down(times(4), 2, -4)],
  [
    'a bound that is not reached by two',
    loop('', STEP, 1, 's_cmp_lg_u32 s12, 9'),
    loop('', times(2), 2, 's_cmp_lg_u32 s12, 9'),
  ],
  [
    'another order in the body',
    loop(multiple(2), STEP, 1, TO_N),
    loop(multiple(2), `${times(3)}\n${STEP.split('\n').reverse().join('\n')}`, 4, TO_N),
  ],
])('not proved: %s', (_name, a, b) => {
  expect(prove(a, b)).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
});

it('a loop without end does not hang', () => {
  const endless = (start: number): string =>
    all(`v_mov_b32_e32 v2, ${start}\n.Ll:`, STEP, 's_cmp_eq_u32 s0, s0\ns_cbranch_scc1 .Ll', STORE, VM);
  expect(prove(endless(0), all('v_mov_b32_e32 v2, 0', STORE)).verdict).toBe('not-proved');
});
