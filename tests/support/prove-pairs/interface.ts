// Pairs of kernels that differ: fields of descriptor and metadata, and what a kernel is given at its start.
import { all, LGKM, STORE } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

export const PAIRS: readonly Pair[] = [
  [
    'symbol in the metadata',
    STORE.replace('v2', 'v0'),
    { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('.symbol: k.kd', '.symbol: j.kd') },
  ],
  [
    'code object version',
    STORE.replace('v2', 'v0'),
    {
      body: STORE.replace('v2', 'v0'),
      change: (t) => t.replace('.text\n', '.amdhsa_code_object_version 4\n\t.text\n').replace('[ 1, 2 ]', '[ 1, 1 ]'),
    },
  ],
  [
    'init kernel',
    STORE.replace('v2', 'v0'),
    {
      body: STORE.replace('v2', 'v0'),
      change: (t) => t.replace('    .symbol: k.kd\n', '    .symbol: k.kd\n    .kind: init\n'),
    },
  ],
  [
    'wavefront size meta',
    STORE.replace('v2', 'v0'),
    { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('.wavefront_size: 64', '.wavefront_size: 32') },
  ],
  [
    'kernarg offset',
    all('s_load_dword s12, s[0:1], 0x18', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    all('s_load_dword s12, s[0:1], 0x1c', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
  ],
  [
    'kernarg byte',
    all('s_load_dword s12, s[0:1], 0x19', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    all('s_load_dword s12, s[0:1], 0x18', LGKM, 's_lshr_b32 s12, s12, 8', 'v_mov_b32_e32 v2, s12', STORE),
  ],
  [
    'workgroup id',
    {
      body: all('v_mov_b32_e32 v2, s2', STORE),
      directives: '.amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1',
    },
    {
      body: all('v_mov_b32_e32 v2, s3', STORE),
      directives: '.amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1',
    },
  ],
  [
    's_memtime',
    all('s_memtime s[12:13]', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
    all('s_memrealtime s[12:13]', LGKM, 'v_mov_b32_e32 v2, s12', STORE),
  ],
  [
    'sendmsg operand m0',
    all('s_mov_b32 m0, s10', 's_nop 4', 's_sendmsg sendmsg(MSG_INTERRUPT)'),
    all('s_mov_b32 m0, s11', 's_nop 4', 's_sendmsg sendmsg(MSG_INTERRUPT)'),
  ],
  [
    'vgpr ids',
    STORE.replace('v2', 'v0'),
    { body: STORE.replace('v2', 'v0'), directives: '.amdhsa_system_vgpr_workitem_id 2' },
  ],
  [
    'user sgprs',
    STORE.replace('v2', 'v0'),
    { body: STORE.replace('v2', 'v0'), change: (t) => t.replace('user_sgpr_count 2', 'user_sgpr_count 4') },
  ],
];
