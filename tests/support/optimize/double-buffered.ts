// The published case of a barrier that is not needed (composable_kernel's pipeline V4: rocm-libraries PR 7442): a loop that turns its data around in
// LDS with two buffers needs one barrier in a turn, and has two.
import { variantObject } from './variants.ts';

/** A kernel of the launch of `reverse`. */
export const doubleBuffered = (): Uint8Array =>
  variantObject({
    name: 'double-buffered',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 2048 }, metadata: { '.group_segment_fixed_size': 2048 } },
    replace: [
      [
        `  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v5, 0xff, v0
  v_lshlrev_b32_e32 v5, 2, v5
  ds_read_b32 v6, v5
  s_waitcnt lgkmcnt(0)`,
        `  v_xor_b32_e32 v5, 0xff, v0
  v_lshlrev_b32_e32 v5, 2, v5
  s_mov_b32 s12, 16
turn:
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v6, v5
  s_waitcnt lgkmcnt(0)
  v_add_f32_e32 v4, v6, v4
  v_xor_b32_e32 v1, 0x400, v1
  v_xor_b32_e32 v5, 0x400, v5
  s_barrier
  s_sub_u32 s12, s12, 1
  s_cmp_lg_u32 s12, 0
  s_cbranch_scc1 turn`,
      ],
    ],
  });
