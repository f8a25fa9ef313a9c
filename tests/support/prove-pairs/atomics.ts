// Pairs of kernels that differ: atomics with and without results, their scope and order, flags that others wait for.
import { VM } from '../prove-kernel.ts';
import { on, W } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const AT = (a: string, b: string, name: string): Pair => p(name, `${a}; ${W}`, `${b}; ${W}`);

export const PAIRS: readonly Pair[] = [
  AT('global_atomic_add v2, v1, v3, s[8:9] sc0', 'global_atomic_add v1, v3, s[8:9]', 'with and without result'),
  AT('global_atomic_add v2, v1, v3, s[8:9] sc0', 'global_atomic_sub v2, v1, v3, s[8:9] sc0', 'add and sub'),
  AT('global_atomic_add v2, v1, v3, s[8:9] sc0', 'global_atomic_add v2, v1, v3, s[8:9] sc0 sc1', 'another scope'),
  AT('global_atomic_add v2, v1, v3, s[8:9] sc0', 'global_atomic_add v2, v1, v3, s[8:9] sc0 nt', 'not kept'),
  AT('global_atomic_add v2, v1, v3, s[8:9] sc0', 'global_atomic_add v2, v1, v3, s[8:9] offset:4 sc0', 'another offset'),
  AT('global_atomic_inc v2, v1, v3, s[8:9] sc0', 'global_atomic_dec v2, v1, v3, s[8:9] sc0', 'inc and dec'),
  AT('global_atomic_smin v2, v1, v3, s[8:9] sc0', 'global_atomic_umin v2, v1, v3, s[8:9] sc0', 'signs'),
  AT('global_atomic_and v2, v1, v3, s[8:9] sc0', 'global_atomic_or v2, v1, v3, s[8:9] sc0', 'and and or'),
  AT('global_atomic_swap v2, v1, v3, s[8:9] sc0', 'global_atomic_swap v2, v1, v4, s[8:9] sc0', 'another value'),
  AT(
    'global_atomic_cmpswap v2, v1, v[4:5], s[8:9] sc0',
    'global_atomic_cmpswap v2, v1, v[8:9], s[8:9] sc0',
    'another comparison',
  ),
  AT(
    'global_atomic_add_x2 v[2:3], v1, v[4:5], s[8:9] sc0',
    'global_atomic_add v2, v1, v4, s[8:9] sc0',
    '64 and 32 bits',
  ),
  AT('global_atomic_add_f32 v2, v1, v3, s[8:9] sc0', 'global_atomic_add v2, v1, v3, s[8:9] sc0', 'float and integer'),
  AT(
    'global_atomic_pk_add_f16 v2, v1, v3, s[8:9] sc0',
    'global_atomic_pk_add_bf16 v2, v1, v3, s[8:9] sc0',
    'f16 and bf16',
  ),
  AT(
    'global_atomic_add_f64 v[2:3], v1, v[4:5], s[8:9] sc0',
    'global_atomic_max_f64 v[2:3], v1, v[4:5], s[8:9] sc0',
    'sum and maximum of f64',
  ),
  AT('ds_add_rtn_u32 v2, v1, v3', 'ds_add_u32 v1, v3', 'LDS with and without result'),
  AT('ds_add_rtn_u32 v2, v1, v3', 'ds_sub_rtn_u32 v2, v1, v3', 'LDS: add and sub'),
  AT('ds_sub_rtn_u32 v2, v1, v3', 'ds_rsub_rtn_u32 v2, v1, v3', 'LDS: sub and rsub'),
  AT('ds_cmpst_rtn_b32 v2, v1, v3, v4', 'ds_cmpst_rtn_b32 v2, v1, v4, v3', 'LDS: compare'),
  AT('ds_min_rtn_f32 v2, v1, v3', 'ds_max_rtn_f32 v2, v1, v3', 'LDS: min and max'),
  AT('ds_pk_add_rtn_f16 v2, v1, v3', 'ds_pk_add_rtn_bf16 v2, v1, v3', 'LDS: f16 and bf16'),
  AT('ds_wrxchg_rtn_b32 v2, v1, v3', 'ds_wrxchg_rtn_b32 v2, v1, v3 offset:4', 'LDS: another offset'),
  AT('ds_add_u64 v1, v[4:5]', 'ds_add_u32 v1, v4', 'LDS: 64 and 32 bits'),
  AT(
    'ds_wrxchg2st64_rtn_b32 v[2:3], v1, v4, v5 offset1:1',
    'ds_wrxchg2_rtn_b32 v[2:3], v1, v4, v5 offset1:1',
    'LDS: strides',
  ),
  p(
    'two atomics with results',
    `global_atomic_add v2, v1, v3, s[8:9] sc0; global_atomic_add v6, v1, v4, s[8:9] sc0; ${VM}`,
    `global_atomic_add v6, v1, v4, s[8:9] sc0; global_atomic_add v2, v1, v3, s[8:9] sc0; ${VM}`,
  ),
  p(
    'the other result',
    `global_atomic_add v2, v1, v3, s[8:9] sc0; global_atomic_add v6, v1, v4, s[8:9] sc0; ${VM}`,
    `global_atomic_add v6, v1, v3, s[8:9] sc0; global_atomic_add v2, v1, v4, s[8:9] sc0; ${VM}`,
  ),
  p(
    'a result that is used too early',
    `global_atomic_add v2, v1, v3, s[8:9] sc0; ${VM}; v_add_u32_e32 v2, 1, v2`,
    `global_atomic_add v2, v1, v3, s[8:9] sc0; v_add_u32_e32 v2, 1, v2`,
  ),
  p(
    'an atomic twice',
    `global_atomic_add v1, v3, s[8:9]; ${VM}`,
    `global_atomic_add v1, v3, s[8:9]; global_atomic_add v1, v3, s[8:9]; ${VM}`,
  ),
  p(
    'an atomic and a load after it',
    `global_atomic_add v1, v3, s[8:9]; ${VM}; global_load_dword v2, v1, s[8:9]; ${VM}`,
    `global_load_dword v2, v1, s[8:9]; ${VM}; global_atomic_add v1, v3, s[8:9]; ${VM}`,
  ),
  p('two stores, two scopes', `global_store_dword v1, v3, s[8:9] sc0 sc1`, `global_store_dword v1, v3, s[8:9] sc1`),
  p('a store not kept', 'global_store_dword v1, v3, s[8:9] nt', 'global_store_dword v1, v3, s[8:9]'),
  p(
    'a flag before its data',
    `global_store_dword v1, v3, s[8:9]; ${VM}; global_store_dword v1, v4, s[6:7] offset:64 sc0 sc1`,
    `global_store_dword v1, v4, s[6:7] offset:64 sc0 sc1; ${VM}; global_store_dword v1, v3, s[8:9]`,
  ),
  p(
    'a flag without a wait',
    `global_store_dword v1, v3, s[8:9]; ${VM}; global_store_dword v1, v4, s[6:7] offset:64 sc0 sc1`,
    'global_store_dword v1, v3, s[8:9]; global_store_dword v1, v4, s[6:7] offset:64 sc0 sc1',
  ),
  p(
    'data before the flag',
    `global_load_dword v6, v1, s[8:9] sc1; ${VM}; global_load_dword v2, v1, s[6:7] offset:64; ${VM}; v_add_u32_e32 v2, v2, v6`,
    `global_load_dword v2, v1, s[6:7] offset:64; ${VM}; global_load_dword v6, v1, s[8:9] sc1; ${VM}; v_add_u32_e32 v2, v2, v6`,
  ),
  p(
    'two loads of a flag are one',
    `global_load_dword v6, v1, s[8:9] sc1; ${VM}; global_load_dword v2, v1, s[8:9] sc1; ${VM}; v_sub_u32_e32 v2, v2, v6`,
    `global_load_dword v6, v1, s[8:9] sc1; ${VM}; v_sub_u32_e32 v2, v6, v6`,
  ),
];
