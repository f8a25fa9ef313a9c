// Small kernels with the launches that are captured, for `wavesmith evaluate` and `optimize`. Begin here, then variants.ts, cheats.ts, honest.ts.
import { assembleAndLink } from '../../../src/asm/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { type KernelSource, kernelSource } from '../kernel-source.ts';

/** A kernel with the launch that is captured. */
export interface Subject {
  readonly source: KernelSource & { readonly code: string };
  readonly args: readonly string[];
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
}

export const POINTER = [8, 'global_buffer'] as const;
export const VALUE = [4, 'by_value'] as const;

/** Every work-item of the launch below the count; `done` ends. */
const GUARD = `
  v_cmp_gt_u32_e32 vcc, s8, v0
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz done`;

export const SUBJECTS = {
  /** out[i] = alpha · x[i] + i for i < n. */
  elementwise: {
    source: {
      args: [POINTER, POINTER, VALUE, VALUE],
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v0, s3, v0
  s_waitcnt lgkmcnt(0)${GUARD}
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  v_cvt_f32_u32_e32 v3, v0
  s_waitcnt vmcnt(0)
  v_fma_f32 v2, s9, v2, v3
  global_store_dword v1, v2, s[4:5]
done:`,
    },
    args: ['f32[1024]=7', 'f32[1024]=random:3', 'i32=1000', 'f32=1.5'],
    grid: [16, 1, 1],
    block: [64, 1, 1],
  },
  /** y[i] += x[i] for i < n: an output that is an input too. */
  inPlace: {
    source: {
      args: [POINTER, POINTER, VALUE],
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v0, s3, v0
  s_waitcnt lgkmcnt(0)${GUARD}
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v2, v2, v3
  global_store_dword v1, v2, s[4:5]
done:`,
    },
    args: ['i32[1024]=random:5', 'i32[1024]=0', 'i32=1000'],
    grid: [16, 1, 1],
    block: [64, 1, 1],
  },
  /** Each workgroup of 256 turned around through LDS, times alpha. */
  reverse: {
    source: {
      args: [POINTER, POINTER, VALUE, VALUE],
      descriptor: { group_segment_fixed_size: 1024 },
      metadata: { '.group_segment_fixed_size': 1024 },
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshlrev_b32_e32 v1, 2, v0
  s_lshl_b32 s3, s2, 8
  v_add_u32_e32 v2, s3, v0
  v_lshlrev_b32_e32 v3, 2, v2
  v_mov_b32_e32 v4, 0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32_e32 vcc, s8, v2
  s_and_saveexec_b64 s[10:11], vcc
  global_load_dword v4, v3, s[6:7]
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, s[10:11]
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v5, 0xff, v0
  v_lshlrev_b32_e32 v5, 2, v5
  ds_read_b32 v6, v5
  s_waitcnt lgkmcnt(0)
  v_mul_f32_e32 v6, s9, v6
  v_cmp_gt_u32_e32 vcc, s8, v2
  s_and_saveexec_b64 s[10:11], vcc
  s_cbranch_execz done
  global_store_dword v3, v6, s[4:5]
done:`,
    },
    args: ['f32[1024]=7', 'f32[1024]=random:3', 'i32=1000', 'f32=0.75'],
    grid: [4, 1, 1],
    block: [256, 1, 1],
  },
  /** out[i] = sum over k < K of a[i·K + k] · b[k], in f32. */
  dot: {
    source: {
      args: [POINTER, POINTER, POINTER, VALUE, VALUE],
      descriptor: { next_free_sgpr: 24 },
      metadata: { '.sgpr_count': 24 },
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx4 s[12:15], s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v0, s3, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s8, s15${GUARD}
  v_mul_lo_u32 v1, v0, s14
  v_lshlrev_b32_e32 v1, 2, v1
  v_mov_b32_e32 v2, 0
  s_mov_b32 s16, 0
  s_cmp_eq_u32 s14, 0
  s_cbranch_scc1 store
loop:
  global_load_dword v3, v1, s[6:7]
  s_load_dword s17, s[12:13], 0x0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_fmac_f32_e32 v2, s17, v3
  v_add_u32_e32 v1, 4, v1
  s_add_u32 s12, s12, 4
  s_addc_u32 s13, s13, 0
  s_add_u32 s16, s16, 1
  s_cmp_lt_u32 s16, s14
  s_cbranch_scc1 loop
store:
  v_lshlrev_b32_e32 v0, 2, v0
  global_store_dword v0, v2, s[4:5]
done:`,
    },
    args: ['f32[128]=7', 'f32[3200]=random:3', 'f32[32]=random:4', 'i32=32', 'i32=100'],
    grid: [2, 1, 1],
    block: [64, 1, 1],
  },
  /** The indices of the odd numbers, in any order behind their count. */
  compact: {
    source: {
      args: [POINTER, POINTER, VALUE],
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v0, s3, v0
  s_waitcnt lgkmcnt(0)${GUARD}
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  s_waitcnt vmcnt(0)
  v_and_b32_e32 v3, 1, v2
  v_cmp_eq_u32_e32 vcc, 1, v3
  s_and_b64 exec, exec, vcc
  s_cbranch_execz done
  global_atomic_add v6, v4, v5, s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_lshlrev_b32_e32 v6, 2, v6
  global_store_dword v6, v0, s[4:5] offset:4
done:`,
    },
    args: ['i32[1025]=0', 'i32[1024]=random:3', 'i32=1000'],
    grid: [16, 1, 1],
    block: [64, 1, 1],
  },
  /** total += x[i], for the whole system, behind a write-back of the caches. */
  total: {
    source: {
      args: [POINTER, POINTER, VALUE],
      code: `
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v0, s3, v0
  s_waitcnt lgkmcnt(0)${GUARD}
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7]
  v_mov_b32_e32 v4, 0
  s_waitcnt vmcnt(0)
  buffer_wbl2 sc0 sc1
  s_waitcnt vmcnt(0)
  global_atomic_add v4, v2, s[4:5] sc1
done:`,
    },
    args: ['i32[4]=5', 'i32[256]=random:3', 'i32=250'],
    grid: [4, 1, 1],
    block: [64, 1, 1],
  },
} as const satisfies Readonly<Record<string, Subject>>;

export type SubjectName = keyof typeof SUBJECTS;

/** The code object of a subject, with other code or descriptor. */
export function objectOf(name: SubjectName, change: Partial<KernelSource> = {}): Uint8Array {
  const { source }: Subject = SUBJECTS[name];
  const descriptor = { ...source.descriptor, ...change.descriptor };
  const metadata = { ...source.metadata, ...change.metadata };
  return assembleAndLink(kernelSource({ ...source, ...change, descriptor, metadata }), {
    target: (change.target ?? 'gfx942') as TargetName,
  });
}
