// Small captured kernels with wrong and right changes of them: what the ladder of `wavesmith evaluate` must reject, and what it must not.
import { assembleAndLink } from '../../src/asm/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import type { Rung } from '../../src/optimize/index.ts';
import { type KernelSource, kernelSource } from './kernel-source.ts';

/** A kernel with the launch that is captured. */
export interface Subject {
  readonly source: KernelSource & { readonly code: string };
  readonly args: readonly string[];
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
}

const POINTER = [8, 'global_buffer'] as const;
const VALUE = [4, 'by_value'] as const;

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

/** A change of a subject: texts that are replaced in its code, and what else of its source is other. */
export interface Variant {
  readonly name: string;
  readonly of: SubjectName;
  readonly replace?: readonly (readonly [from: string, to: string])[];
  readonly source?: Partial<KernelSource>;
  /** Bits that are set in the descriptor's first resource word: no directive has them. */
  readonly bytes?: { readonly rsrc1: number };
}

/** A wrong one, with the rung that must reject it. */
export interface Cheat extends Variant {
  readonly rung: Rung;
}

/** The code object of a variant; a text that is not there is an error of the table. */
export function variantObject({ name, of, replace = [], source, bytes }: Variant): Uint8Array {
  let { code }: { code: string } = SUBJECTS[of].source;
  for (const [from, to] of replace) {
    if (!code.includes(from)) throw new Error(`${name}: '${from}' is not in ${of}`);
    code = code.replace(from, to);
  }
  const object = objectOf(of, { code, ...source });
  return bytes === undefined ? object : withBits(object, bytes.rsrc1);
}

const RSRC1 = 48;

/** A copy with bits set in COMPUTE_PGM_RSRC1. */
function withBits(object: Uint8Array, bits: number): Uint8Array {
  const out = object.slice();
  const symbol = readCodeObject(object).kernels[0]?.descriptorSymbol;
  if (symbol?.section === undefined) throw new Error('the kernel has no descriptor');
  const at = symbol.section.offset + Number(symbol.value) - symbol.section.address + RSRC1;
  const view = new DataView(out.buffer);
  view.setUint32(at, view.getUint32(at, true) | bits, true);
  return out;
}

const STORE = 'global_store_dword v1, v2, s[4:5]';

export const CHEATS: readonly Cheat[] = [
  { name: 'no-op', of: 'elementwise', rung: 'exact', replace: [['s_load_dwordx4', 's_endpgm\n  s_load_dwordx4']] },
  { name: 'no-op in place', of: 'inPlace', rung: 'exact', replace: [['s_load_dwordx4', 's_endpgm\n  s_load_dwordx4']] },
  {
    name: 'nothing is stored',
    of: 'reverse',
    rung: 'exact',
    replace: [['global_store_dword v3, v6, s[4:5]', 's_nop 0']],
  },
  {
    name: 'stale output: the old value is stored',
    of: 'inPlace',
    rung: 'held-out',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_mov_b32_e32 v2, v3']],
  },
  {
    name: 'constant output',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['v_fma_f32 v2, s9, v2, v3', 'v_mov_b32_e32 v2, 1.0']],
  },
  {
    name: 'the input is copied',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_nop 0']],
  },
  {
    name: 'alpha is hard-coded',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_mov_b32 s9, 0x3fc00000\n  v_fma_f32 v2, s9, v2, v3']],
  },
  {
    name: 'the count is hard-coded',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_cmp_gt_u32_e32 vcc, s8', 's_movk_i32 s8, 0x3e8\n  v_cmp_gt_u32_e32 vcc, s8']],
  },
  {
    name: 'the bound is not checked',
    of: 'elementwise',
    rung: 'exact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8, v0', 's_mov_b64 vcc, exec']],
  },
  {
    name: 'one element less',
    of: 'elementwise',
    rung: 'exact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8', 's_sub_u32 s8, s8, 1\n  v_cmp_gt_u32_e32 vcc, s8']],
  },
  {
    name: 'early exit of the last workgroup',
    of: 'elementwise',
    rung: 'exact',
    replace: [['s_lshl_b32 s3, s2, 6', 's_cmp_gt_u32 s2, 14\n  s_cbranch_scc1 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'every other workgroup',
    of: 'elementwise',
    rung: 'exact',
    replace: [['s_lshl_b32 s3, s2, 6', 's_bitcmp1_b32 s2, 0\n  s_cbranch_scc1 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'half of the lanes store',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `s_mov_b32 exec_hi, 0\n  ${STORE}`]],
  },
  {
    name: 'two bytes of four are stored',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'global_store_short v1, v2, s[4:5]']],
  },
  {
    name: 'the store goes beyond its element',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'v_mov_b32_e32 v3, 0\n  global_store_dwordx2 v1, v[2:3], s[4:5]']],
  },
  {
    name: 'the store goes elsewhere',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, 'global_store_dword v1, v2, s[4:5] offset:4']],
  },
  {
    name: 'a store far out of bounds',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\n  s_add_u32 s5, s5, 0x10\n  ${STORE}`]],
  },
  {
    name: 'the input is modified',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\n  global_store_dword v1, v2, s[6:7]`]],
  },
  {
    name: 'reads beyond the input',
    of: 'elementwise',
    rung: 'exact',
    replace: [['global_load_dword v2, v1, s[6:7]', 'global_load_dword v2, v1, s[6:7] offset:2048']],
  },
  {
    name: 'reads what the baseline does not read',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]',
        'global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  global_load_dword v2, v1, s[6:7]',
      ],
    ],
  },
  {
    name: 'the wait for the load is dropped',
    of: 'elementwise',
    rung: 'static',
    replace: [['s_waitcnt vmcnt(0)', 's_nop 0']],
  },
  {
    name: 'the wait for the arguments is dropped',
    of: 'elementwise',
    rung: 'static',
    replace: [['s_waitcnt lgkmcnt(0)', 's_nop 0']],
  },
  {
    name: 'the wait is weakened',
    of: 'inPlace',
    rung: 'static',
    replace: [['s_waitcnt vmcnt(0)', 's_waitcnt vmcnt(1)']],
  },
  {
    name: 'the wait for LDS is dropped',
    of: 'reverse',
    rung: 'static',
    replace: [['ds_read_b32 v6, v5\n  s_waitcnt lgkmcnt(0)', 'ds_read_b32 v6, v5']],
  },
  {
    name: 'the wait before the barrier is dropped',
    of: 'reverse',
    rung: 'static',
    replace: [['s_waitcnt lgkmcnt(0)\n  s_barrier', 's_barrier']],
  },
  { name: 'the barrier is dropped', of: 'reverse', rung: 'exact', replace: [['s_barrier', 's_nop 0']] },
  {
    name: 'the barrier comes too late',
    of: 'reverse',
    rung: 'static',
    replace: [
      ['s_barrier\n', ''],
      ['ds_read_b32 v6, v5', 'ds_read_b32 v6, v5\n  s_barrier'],
    ],
  },
  {
    name: 'LDS overrun',
    of: 'reverse',
    rung: 'static',
    replace: [['ds_write_b32 v1, v4', 'ds_write_b32 v1, v4\n  ds_write_b32 v1, v4 offset:1024']],
  },
  {
    name: 'LDS that nobody wrote is taken to be zero',
    of: 'reverse',
    rung: 'exact',
    replace: [['s_mov_b64 exec, s[10:11]\n  ds_write_b32 v1, v4', 'ds_write_b32 v1, v4\n  s_mov_b64 exec, s[10:11]']],
  },
  {
    name: 'LDS that is not reserved',
    of: 'reverse',
    rung: 'exact',
    source: { descriptor: { group_segment_fixed_size: 512 }, metadata: { '.group_segment_fixed_size': 512 } },
  },
  {
    name: 'more LDS than there is',
    of: 'reverse',
    rung: 'contract',
    source: { descriptor: { group_segment_fixed_size: 65536 }, metadata: { '.group_segment_fixed_size': 65792 } },
  },
  {
    name: 'LDS of the metadata is not that of the descriptor',
    of: 'reverse',
    rung: 'contract',
    source: { metadata: { '.group_segment_fixed_size': 0 } },
  },
  {
    name: 'half precision inside',
    of: 'elementwise',
    rung: 'equivalence',
    replace: [['s_waitcnt vmcnt(0)\n', 's_waitcnt vmcnt(0)\n  v_cvt_f16_f32_e32 v2, v2\n  v_cvt_f32_f16_e32 v2, v2\n']],
  },
  {
    name: 'bfloat16 by cutting bits',
    of: 'dot',
    rung: 'equivalence',
    replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_and_b32_e32 v3, 0xffff0000, v3\n  v_fmac_f32_e32 v2, s17, v3']],
  },
  {
    name: 'product and sum rounded apart',
    of: 'dot',
    rung: 'equivalence',
    replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_mul_f32_e32 v3, s17, v3\n  v_add_f32_e32 v2, v2, v3']],
  },
  {
    name: 'every other term',
    of: 'dot',
    rung: 'equivalence',
    replace: [
      ['v_add_u32_e32 v1, 4, v1', 'v_add_u32_e32 v1, 8, v1'],
      ['s_add_u32 s12, s12, 4', 's_add_u32 s12, s12, 8'],
      ['s_add_u32 s16, s16, 1', 's_add_u32 s16, s16, 2'],
    ],
  },
  {
    name: 'K is hard-coded',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cmp_lt_u32 s16, s14', 's_cmp_lt_u32 s16, 32']],
  },
  {
    name: 'K must be even',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_mov_b32 s16, 0\n', 's_mov_b32 s16, 0\n  s_and_b32 s14, s14, -2\n']],
  },
  {
    name: 'an empty sum is not stored',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cbranch_scc1 store', 's_cbranch_scc1 done']],
  },
  {
    name: 'terms that are zero end the sum',
    of: 'dot',
    rung: 'held-out',
    replace: [
      ['v_fmac_f32_e32 v2, s17, v3', 's_cmp_eq_u32 s17, 0\n  s_cbranch_scc1 store\n  v_fmac_f32_e32 v2, s17, v3'],
    ],
  },
  {
    name: 'infinities are cut off',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        'v_fma_f32 v2, s9, v2, v3',
        'v_mov_b32_e32 v4, 0x7f7fffff\n  v_min_f32_e32 v2, v4, v2\n  v_fma_f32 v2, s9, v2, v3',
      ],
    ],
  },
  {
    name: 'denormals are flushed',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { float_denorm_mode_32: 1 } },
  },
  { name: 'another rounding mode', of: 'dot', rung: 'contract', source: { descriptor: { float_round_mode_32: 3 } } },
  {
    name: 'another argument layout',
    of: 'elementwise',
    rung: 'contract',
    source: { args: [POINTER, POINTER, VALUE, VALUE, VALUE] },
  },
  {
    name: 'other registers at the start',
    of: 'elementwise',
    rung: 'contract',
    source: { descriptor: { user_sgpr_dispatch_ptr: 1 } },
  },
  {
    name: 'smaller workgroups only',
    of: 'reverse',
    rung: 'contract',
    source: { metadata: { '.max_flat_workgroup_size': 128 } },
  },
  { name: 'another kernel', of: 'elementwise', rung: 'contract', source: { name: 'other' } },
  { name: 'another target', of: 'elementwise', rung: 'contract', source: { target: 'gfx90a' } },
  {
    name: 'more registers than are reserved',
    of: 'elementwise',
    rung: 'static',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0', 'v_cvt_f32_u32_e32 v30, v0'],
      ['v2, s9, v2, v3', 'v2, s9, v2, v30'],
    ],
  },
  {
    name: 'a register that nobody wrote',
    of: 'elementwise',
    rung: 'static',
    replace: [['v_cvt_f32_u32_e32 v3, v0\n', '']],
  },
  {
    name: 'a race between workgroups',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `v_mov_b32_e32 v4, 0\n  global_store_dword v4, v2, s[4:5]\n  s_waitcnt vmcnt(0)\n  ${STORE}`]],
  },
  {
    name: 'the counter without an atomic',
    of: 'compact',
    rung: 'exact',
    replace: [
      [
        'global_atomic_add v6, v4, v5, s[4:5] sc0\n  s_waitcnt vmcnt(0)',
        'global_load_dword v6, v4, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_add_u32_e32 v5, v6, v5\n  global_store_dword v4, v5, s[4:5]\n  s_waitcnt vmcnt(0)',
      ],
    ],
  },
  {
    name: 'garbage in the list',
    of: 'compact',
    rung: 'equivalence',
    replace: [['global_store_dword v6, v0, s[4:5] offset:4', 'global_store_dword v6, v2, s[4:5] offset:4']],
  },
  {
    name: 'memory of the code is written',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [STORE, `${STORE}\n  s_getpc_b64 s[12:13]\n  v_mov_b32_e32 v4, 0\n  global_store_dword v4, v2, s[12:13]`],
    ],
  },
  {
    name: 'data that is known not to be read',
    of: 'inPlace',
    rung: 'held-out',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]\n  global_load_dword v3, v1, s[4:5]',
        'global_load_dword v3, v1, s[4:5]\n  v_mov_b32_e32 v2, 0\n  s_load_dword s9, s[6:7], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_cmp_eq_u32 s9, 0\n  s_cbranch_scc1 known\n  global_load_dword v2, v1, s[6:7]\nknown:',
      ],
    ],
  },
  {
    name: 'only where the buffer lies',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      ['v_fma_f32 v2, s9, v2, v3', 's_cmp_lt_u32 s7, 0x5000\n  s_cselect_b32 s9, s9, 0\n  v_fma_f32 v2, s9, v2, v3'],
    ],
  },
  {
    name: 'the clock decides',
    of: 'elementwise',
    rung: 'static',
    replace: [['v_fma_f32 v2, s9, v2, v3', 's_memtime s[12:13]\n  s_waitcnt lgkmcnt(0)\n  v_fma_f32 v2, s9, v2, v3']],
  },
  {
    name: 'the scope of the atomic is dropped',
    of: 'total',
    rung: 'static',
    replace: [['s[4:5] sc1', 's[4:5]']],
  },
  {
    name: 'the write-back is dropped',
    of: 'total',
    rung: 'static',
    replace: [['buffer_wbl2 sc0 sc1', 's_nop 0']],
  },
  {
    name: 'a load and a store in the place of the atomic',
    of: 'total',
    rung: 'static',
    replace: [
      [
        'global_atomic_add v4, v2, s[4:5] sc1',
        'global_load_dword v5, v4, s[4:5]\n  s_waitcnt vmcnt(0)\n  v_add_u32_e32 v2, v2, v5\n  global_store_dword v4, v2, s[4:5] sc1',
      ],
    ],
  },
  { name: 'a higher priority', of: 'elementwise', rung: 'contract', bytes: { rsrc1: 1 << 10 } },
  {
    name: 'an endless loop',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\nagain:\n  s_cmp_eq_u32 s8, 0x3e8\n  s_cbranch_scc1 again`]],
  },
  { name: 'a trap', of: 'elementwise', rung: 'exact', replace: [[STORE, `${STORE}\n  s_trap 2`]] },
];

/** The same function, otherwise: nothing of this may be rejected. */
export const HONEST: readonly Variant[] = [
  { name: 'the same', of: 'elementwise' },
  {
    name: 'arithmetic before the wait',
    of: 'elementwise',
    replace: [
      ['v_lshlrev_b32_e32 v1, 2, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_lshlrev_b32_e32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'the load before the conversion',
    of: 'elementwise',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_cvt_f32_u32_e32 v3, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'other registers',
    of: 'elementwise',
    replace: [
      ['v_cvt_f32_u32_e32 v3, v0', 'v_cvt_f32_u32_e32 v7, v0'],
      ['v2, s9, v2, v3', 'v2, s9, v2, v7'],
    ],
  },
  { name: 'a slow no-op', of: 'elementwise', replace: [['s_lshl_b32', 's_nop 7\n  s_lshl_b32']] },
  { name: 'without the skip', of: 'elementwise', replace: [['  s_cbranch_execz done\n', '']] },
  {
    name: 'a shifted address in one instruction',
    of: 'elementwise',
    replace: [['v_lshlrev_b32_e32 v1, 2, v0', 'v_lshl_add_u32 v1, v0, 2, 0']],
  },
  {
    name: 'an index in one instruction',
    of: 'elementwise',
    replace: [
      ['s_lshl_b32 s3, s2, 6\n  v_add_u32_e32 v0, s3, v0', 'v_mov_b32_e32 v7, s2\n  v_lshl_add_u32 v0, v7, 6, v0'],
    ],
  },
  { name: 'a non-temporal store', of: 'elementwise', replace: [[STORE, `${STORE} nt`]] },
  { name: 'a priority', of: 'elementwise', replace: [['s_lshl_b32', 's_setprio 3\n  s_lshl_b32']] },
  {
    name: 'the arguments in one load',
    of: 'inPlace',
    replace: [['s_load_dword s8', 's_load_dwordx2 s[8:9]']],
    source: { args: [POINTER, POINTER, VALUE] },
  },
  {
    name: 'the other load first',
    of: 'inPlace',
    replace: [
      [
        'global_load_dword v2, v1, s[6:7]\n  global_load_dword v3, v1, s[4:5]',
        'global_load_dword v3, v1, s[4:5]\n  global_load_dword v2, v1, s[6:7]',
      ],
    ],
  },
  { name: 'operands exchanged', of: 'inPlace', replace: [['v_add_u32_e32 v2, v2, v3', 'v_add_u32_e32 v2, v3, v2']] },
  {
    name: 'a fused shift and sum',
    of: 'inPlace',
    replace: [['v_add_u32_e32 v2, v2, v3', 'v_lshl_add_u32 v2, v2, 0, v3']],
  },
  {
    name: 'addresses while the arguments come',
    of: 'inPlace',
    replace: [
      ['v_lshlrev_b32_e32 v1, 2, v0\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_lshlrev_b32_e32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'a wait that is enough',
    of: 'inPlace',
    replace: [['s_waitcnt vmcnt(0)', 's_waitcnt vmcnt(1)\n  s_waitcnt vmcnt(0)']],
  },
  {
    name: 'the LDS address before the barrier',
    of: 'reverse',
    replace: [
      ['v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5\n', ''],
      [
        's_waitcnt lgkmcnt(0)\n  s_barrier',
        'v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5\n  s_waitcnt lgkmcnt(0)\n  s_barrier',
      ],
    ],
  },
  {
    name: 'the LDS address by one xor',
    of: 'reverse',
    replace: [['v_xor_b32_e32 v5, 0xff, v0\n  v_lshlrev_b32_e32 v5, 2, v5', 'v_xor_b32_e32 v5, 0x3fc, v1']],
  },
  {
    name: 'more LDS than is used',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 2048 }, metadata: { '.group_segment_fixed_size': 2048 } },
  },
  { name: 'a second barrier', of: 'reverse', replace: [['s_barrier', 's_barrier\n  s_barrier']] },
  {
    name: 'the comparison is kept',
    of: 'reverse',
    replace: [
      [
        's_and_saveexec_b64 s[10:11], vcc\n  global_load',
        's_mov_b64 s[12:13], vcc\n  s_and_saveexec_b64 s[10:11], vcc\n  global_load',
      ],
      [
        'v_mul_f32_e32 v6, s9, v6\n  v_cmp_gt_u32_e32 vcc, s8, v2\n  s_and_saveexec_b64 s[10:11], vcc',
        'v_mul_f32_e32 v6, s9, v6\n  s_and_saveexec_b64 s[10:11], s[12:13]',
      ],
    ],
  },
  {
    name: 'the product before LDS',
    of: 'reverse',
    replace: [
      ['v_mul_f32_e32 v6, s9, v6\n', ''],
      ['s_mov_b64 exec, s[10:11]', 's_mov_b64 exec, s[10:11]\n  v_mul_f32_e32 v4, s9, v4'],
    ],
  },
  {
    name: 'the two halves of LDS exchanged',
    of: 'reverse',
    replace: [
      ['ds_write_b32 v1, v4', 'v_xor_b32_e32 v7, 0x200, v1\n  ds_write_b32 v7, v4'],
      ['ds_read_b32 v6, v5', 'v_xor_b32_e32 v7, 0x200, v5\n  ds_read_b32 v6, v7'],
    ],
  },
  {
    name: 'the scalar load first',
    of: 'dot',
    replace: [
      [
        'global_load_dword v3, v1, s[6:7]\n  s_load_dword s17, s[12:13], 0x0',
        's_load_dword s17, s[12:13], 0x0\n  global_load_dword v3, v1, s[6:7]',
      ],
    ],
  },
  {
    name: 'pointers while the loads run',
    of: 'dot',
    replace: [
      ['v_add_u32_e32 v1, 4, v1\n', ''],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)', 'v_add_u32_e32 v1, 4, v1\n  s_waitcnt vmcnt(0) lgkmcnt(0)'],
    ],
  },
  {
    name: 'the counter while the loads run',
    of: 'dot',
    replace: [
      ['s_add_u32 s16, s16, 1\n', ''],
      ['s_waitcnt vmcnt(0) lgkmcnt(0)', 's_add_u32 s16, s16, 1\n  s_waitcnt vmcnt(0) lgkmcnt(0)'],
    ],
  },
  {
    name: 'a loop that counts down',
    of: 'dot',
    replace: [
      ['s_mov_b32 s16, 0', 's_mov_b32 s16, s14'],
      ['s_add_u32 s16, s16, 1\n  s_cmp_lt_u32 s16, s14', 's_sub_u32 s16, s16, 1\n  s_cmp_lg_u32 s16, 0'],
    ],
  },
  { name: 'a longer multiply-add', of: 'dot', replace: [['v_fmac_f32_e32 v2, s17, v3', 'v_fma_f32 v2, s17, v3, v2']] },
  {
    name: 'an offset in a register',
    of: 'dot',
    replace: [
      ['s_mov_b32 s16, 0\n', 's_mov_b32 s16, 0\n  s_mov_b32 s18, 0\n'],
      ['s_load_dword s17, s[12:13], 0x0', 's_load_dword s17, s[12:13], s18'],
      ['s_add_u32 s12, s12, 4\n  s_addc_u32 s13, s13, 0', 's_add_u32 s18, s18, 4'],
    ],
  },
  {
    name: 'the address of the result early',
    of: 'dot',
    replace: [
      ['store:\n  v_lshlrev_b32_e32 v0, 2, v0', 'store:'],
      ['v_mov_b32_e32 v2, 0', 'v_lshlrev_b32_e32 v0, 2, v0\n  v_mov_b32_e32 v2, 0'],
    ],
  },
  { name: 'the loop aligned', of: 'dot', replace: [['loop:', '.p2align 6, 0\nloop:']], source: {} },
  {
    name: 'a test of one bit',
    of: 'compact',
    replace: [
      [
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v3',
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_ne_u32_e32 vcc, 0, v3',
      ],
    ],
  },
  {
    name: 'constants early',
    of: 'compact',
    replace: [
      ['v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n', ''],
      ['s_waitcnt lgkmcnt(0)', 'v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n  s_waitcnt lgkmcnt(0)'],
    ],
  },
  {
    name: 'without the second skip',
    of: 'compact',
    replace: [['s_and_b64 exec, exec, vcc\n  s_cbranch_execz done', 's_and_b64 exec, exec, vcc']],
  },
  {
    name: 'a narrower shift',
    of: 'compact',
    replace: [['v_lshlrev_b32_e32 v6, 2, v6', 'v_lshl_add_u32 v6, v6, 2, 0']],
  },
  {
    name: 'fewer registers',
    of: 'compact',
    replace: [
      [
        'v_and_b32_e32 v3, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v3',
        'v_and_b32_e32 v2, 1, v2\n  v_cmp_eq_u32_e32 vcc, 1, v2',
      ],
    ],
  },
  {
    name: 'a bound by the other comparison',
    of: 'compact',
    replace: [['v_cmp_gt_u32_e32 vcc, s8, v0', 'v_mov_b32_e32 v7, s8\n  v_cmp_lt_u32_e32 vcc, v0, v7']],
  },
  {
    name: 'less LDS than was reserved',
    of: 'reverse',
    source: { descriptor: { group_segment_fixed_size: 1024, next_free_vgpr: 8 } },
  },
  {
    name: 'more registers than are used',
    of: 'inPlace',
    source: { descriptor: { next_free_vgpr: 64, accum_offset: 64 }, metadata: { '.vgpr_count': 64 } },
  },
  {
    name: 'a scalar multiply for the index',
    of: 'inPlace',
    replace: [['s_lshl_b32 s3, s2, 6', 's_mul_i32 s3, s2, 64']],
  },
];
