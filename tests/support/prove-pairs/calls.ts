// Pairs of kernels that differ: what functions do that they call, under which lanes and modes, and where these return to.
import { all, STORE, type Variant } from '../prove-kernel.ts';
import { BACK, CALL, DATA, mode, SOME, split } from './loaded.ts';
import type { Pair } from './pair.ts';

const fn = (name: string, ...lines: string[]): string => `${all(`\t.type ${name},@function`, `${name}:`, ...lines)}\n`;
const RET = 's_setpc_b64 s[30:31]';
const calls = (name: string, x: { body?: string; after: string }, y: { body?: string; after: string }): Pair => {
  const make = ({ body = CALL('f'), after }: { body?: string; after: string }): Variant => ({
    body: all(...DATA, ...body.split('; '), STORE),
    after,
  });
  return [`call: ${name}`, make(x), make(y)];
};
const SOMEL = split(SOME);

export const PAIRS: readonly Pair[] = [
  calls(
    'lanes of the callee',
    { after: fn('f', ...SOMEL, 'v_mov_b32_e32 v2, v3', BACK, RET) },
    { after: fn('f', ...SOMEL, BACK, 'v_mov_b32_e32 v2, v3', RET) },
  ),
  calls(
    'EXEC that the callee leaves',
    { after: fn('f', ...SOMEL, 'v_mov_b32_e32 v2, v3', BACK, RET) },
    { after: fn('f', ...SOMEL, 'v_mov_b32_e32 v2, v3', RET) },
  ),
  calls(
    'one way of the callee',
    { after: fn('f', 's_bitcmp1_b32 s12, 0', 's_cbranch_scc1 .Lf', 'v_mov_b32_e32 v2, v3', '.Lf:', RET) },
    { after: fn('f', 's_bitcmp0_b32 s12, 0', 's_cbranch_scc1 .Lf', 'v_mov_b32_e32 v2, v3', '.Lf:', RET) },
  ),
  calls(
    'a return in the middle',
    { after: fn('f', 's_bitcmp1_b32 s12, 0', 's_cbranch_scc1 .Lf', RET, '.Lf:', 'v_mov_b32_e32 v2, v3', RET) },
    { after: fn('f', 's_bitcmp1_b32 s12, 0', 's_cbranch_scc1 .Lf', 's_nop 0', '.Lf:', 'v_mov_b32_e32 v2, v3', RET) },
  ),
  calls(
    'called once and twice',
    { after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) },
    { body: `${CALL('f')}; ${CALL('f')}`, after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) },
  ),
  calls(
    'another callee',
    { body: CALL('f'), after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) + fn('g', 'v_sub_u32_e32 v2, v2, v3', RET) },
    { body: CALL('g'), after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) + fn('g', 'v_sub_u32_e32 v2, v2, v3', RET) },
  ),
  calls(
    'two calls in another order',
    {
      body: `${CALL('f')}; ${CALL('g')}`,
      after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) + fn('g', 'v_mul_lo_u32 v2, v2, v4', RET),
    },
    {
      body: `${CALL('g')}; ${CALL('f')}`,
      after: fn('f', 'v_add_u32_e32 v2, v2, v3', RET) + fn('g', 'v_mul_lo_u32 v2, v2, v4', RET),
    },
  ),
  calls(
    'a mode of the callee',
    {
      after: fn('f', mode('0, 2', 1), 'v_add_f32_e32 v2, v3, v4', RET),
      body: `${CALL('f')}; v_add_f32_e32 v2, v2, v5`,
    },
    {
      after: fn('f', mode('0, 2', 1), 'v_add_f32_e32 v2, v3, v4', mode('0, 2', 0), RET),
      body: `${CALL('f')}; v_add_f32_e32 v2, v2, v5`,
    },
  ),
  calls(
    'SCC of the callee',
    {
      after: fn('f', 's_cmp_eq_u32 s12, s13', RET),
      body: `${CALL('f')}; s_cselect_b32 s14, 1, 0; v_mov_b32_e32 v2, s14`,
    },
    {
      after: fn('f', 's_cmp_lg_u32 s12, s13', RET),
      body: `${CALL('f')}; s_cselect_b32 s14, 1, 0; v_mov_b32_e32 v2, s14`,
    },
  ),
  calls(
    'under fewer lanes',
    { body: `${SOME}; ${CALL('f')}; ${BACK}`, after: fn('f', 'v_mov_b32_e32 v2, v3', RET) },
    { body: `${CALL('f')}; ${SOME}; ${BACK}`, after: fn('f', 'v_mov_b32_e32 v2, v3', RET) },
  ),
  calls(
    'where no lane is on',
    {
      body: `${SOME}; s_cbranch_execz .Ls; ${CALL('f')}; .Ls:; ${BACK}`,
      after: fn('f', 's_add_u32 s12, s12, 1', 'v_mov_b32_e32 v2, s12', RET),
    },
    {
      body: `${SOME}; ${CALL('f')}; .Ls:; ${BACK}; v_mov_b32_e32 v2, s12`,
      after: fn('f', 's_add_u32 s12, s12, 1', 'v_mov_b32_e32 v2, s12', RET),
    },
  ),
  calls(
    'a nested call',
    {
      after:
        fn('f', 's_mov_b64 s[20:21], s[30:31]', ...CALL('g').split('\n'), 's_mov_b64 s[30:31], s[20:21]', RET) +
        fn('g', 'v_add_u32_e32 v2, v2, v3', RET),
    },
    {
      after:
        fn(
          'f',
          's_mov_b64 s[20:21], s[30:31]',
          ...CALL('g').split('\n'),
          'v_add_u32_e32 v2, v2, v3',
          's_mov_b64 s[30:31], s[20:21]',
          RET,
        ) + fn('g', 'v_add_u32_e32 v2, v2, v3', RET),
    },
  ),
  calls(
    'behind the call, one further',
    { after: fn('f', 'v_mov_b32_e32 v2, v3', RET), body: `${CALL('f')}; v_mov_b32_e32 v2, v4` },
    {
      after: fn('f', 'v_mov_b32_e32 v2, v3', 's_add_u32 s30, s30, 4', 's_addc_u32 s31, s31, 0', RET),
      body: `${CALL('f')}; v_mov_b32_e32 v2, v4`,
    },
  ),
];
