// Pairs of kernels that differ: resources of buffers, their strides, swizzles, records and formats.
import { LGKM, VM } from '../prove-kernel.ts';
import { on } from './loaded.ts';
import type { Pair } from './pair.ts';

const p = on('gfx942');
const old = on('gfx90a');
const RES = (w: readonly string[], access = 'buffer_load_dword v2, v1, s[16:19], 0 offen'): string =>
  [...w.map((x, i) => `s_mov_b32 s${16 + i}, ${x}`), access, VM].join('; ');
const B = ['s4', 's5', '0x1000', '0x20000'];
const sw = (bits: number): string[] => ['s4', 's20', '0x1000', `0x${(0x20000 | bits).toString(16)}`];
const withStride = (word1: string, w: string[], access?: string): string =>
  `s_or_b32 s20, s5, ${word1}; ${RES(w, access)}`;
const IDX = 'buffer_load_dword v2, v1, s[16:19], 0 idxen';
const BOTH = 'v_mov_b32_e32 v6, v8; v_mov_b32_e32 v7, v1; buffer_load_dword v2, v[6:7], s[16:19], 0 idxen offen';

export const PAIRS: readonly Pair[] = [
  p('swizzled and not', withStride('0x80100000', sw(0), IDX), withStride('0x00100000', sw(0), IDX)),
  p('another stride', withStride('0x00100000', sw(0), IDX), withStride('0x00080000', sw(0), IDX)),
  p('another index stride', withStride('0x80100000', sw(0x200000), IDX), withStride('0x80100000', sw(0x400000), IDX)),
  p('another element size', withStride('0x80100000', sw(0x80000), IDX), withStride('0x80100000', sw(0x100000), IDX)),
  p(
    'lane number added',
    withStride('0x00100000', sw(0x800000), 'buffer_load_dword v2, off, s[16:19], 0'),
    withStride('0x00100000', sw(0), 'buffer_load_dword v2, off, s[16:19], 0'),
  ),
  p(
    'index and offset exchanged',
    withStride('0x00100000', sw(0), BOTH),
    withStride('0x00100000', sw(0), BOTH.replace('v6, v8', 'v6, v1').replace('v7, v1', 'v7, v8')),
  ),
  p(
    'index for offset',
    withStride('0x00040000', sw(0), IDX),
    withStride('0x00040000', sw(0), 'buffer_load_dword v2, v1, s[16:19], 0 offen'),
  ),
  p(
    'scalar offset for offset',
    RES(B, 'buffer_load_dword v2, v1, s[16:19], s12 offen'),
    RES(B, 'v_add_u32_e32 v6, s12, v1; buffer_load_dword v2, v6, s[16:19], 0 offen'),
  ),
  p(
    'format of a typed load',
    RES(B, 'buffer_load_format_xy v[2:3], v1, s[16:19], 0 offen'),
    RES(['s4', 's5', '0x1000', '0x24000'], 'buffer_load_format_xy v[2:3], v1, s[16:19], 0 offen'),
  ),
  p(
    'selection of components',
    RES(['s4', 's5', '0x1000', '0x27fac'], 'buffer_load_format_x v2, v1, s[16:19], 0 offen'),
    RES(['s4', 's5', '0x1000', '0x27fad'], 'buffer_load_format_x v2, v1, s[16:19], 0 offen'),
  ),
  p('fewer records', RES(['s4', 's5', '0x40', '0x20000']), RES(['s4', 's5', '0x80', '0x20000'])),
  p('records that a number says', RES(['s4', 's5', 's12', '0x20000']), RES(['s4', 's5', 's13', '0x20000'])),
  p(
    'stores beyond the records',
    RES(['s8', 's9', '0x40', '0x20000'], 'buffer_store_dword v3, v1, s[16:19], 0 offen'),
    'global_store_dword v1, v3, s[8:9]',
  ),
  p(
    'an atomic on a buffer',
    RES(
      ['s8', 's9', '0x1000', '0x20000'],
      'buffer_atomic_add v3, v1, s[16:19], 0 offen sc0; s_waitcnt vmcnt(0); v_mov_b32_e32 v2, v3',
    ),
    RES(
      ['s8', 's9', '0x1000', '0x20000'],
      'buffer_atomic_add v3, v1, s[16:19], 0 offen; s_waitcnt vmcnt(0); v_mov_b32_e32 v2, v3',
    ),
  ),
  p(
    'loads into LDS with another M0',
    `s_mov_b32 m0, 0x100; ${RES(B, 'buffer_load_dword v1, s[16:19], 0 offen lds')}; ds_read_b32 v2, v1 offset:256; ${LGKM}`,
    `s_mov_b32 m0, 0x200; ${RES(B, 'buffer_load_dword v1, s[16:19], 0 offen lds')}; ds_read_b32 v2, v1 offset:256; ${LGKM}`,
  ),
  p(
    'the upper bits of the base',
    RES(['s4', 's5', '0x1000', '0x20000']),
    `s_or_b32 s20, s5, 0x4000; ${RES(['s4', 's20', '0x1000', '0x20000'])}`,
  ),
  p(
    'd16 formats',
    RES(B, 'buffer_load_format_d16_x v2, v1, s[16:19], 0 offen'),
    RES(B, 'buffer_load_format_x v2, v1, s[16:19], 0 offen'),
  ),
  old('glc on gfx90a', RES(B, 'buffer_load_dword v2, v1, s[16:19], 0 offen glc'), RES(B)),
  p(
    'two of three dwords',
    RES(B, 'buffer_load_dwordx3 v[2:4], v1, s[16:19], 0 offen; s_waitcnt vmcnt(0); v_mov_b32_e32 v2, v4'),
    RES(B, 'buffer_load_dwordx2 v[2:3], v1, s[16:19], 0 offen; s_waitcnt vmcnt(0); v_mov_b32_e32 v2, v4'),
  ),
];
