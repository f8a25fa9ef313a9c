// Speed of the compiled engine by operation: loops of one operation on 16 independent registers, none of which has the sources of
// another, in one thread, against the loop of v_fma_f32 of the same rounds. The rows are sorted: the worst stand first. A value above 4
// is a cliff (docs/virtual-gpu.md). The operations are those that make up the kernels of hipBLASLt, AITER, Triton and IREE beside the
// project, and those whose arithmetic is slow on a host; then all other vector instructions of the table, which are marked. Memory is 4 KiB of LDS
// and of a buffer, lanes side by side.
import { performance } from 'node:perf_hooks';
import { createDevice, type DeviceKernel } from '../src/device/index.ts';
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { kernelObject } from '../tests/support/kernel-source.ts';
import { extendedTable } from './support/operations/extended.ts';
import { vectorOperations } from './support/vector-operations.ts';

enableRelaxedSimd();

type Operation = readonly [name: string, line: (d: number, n: number) => string, before?: string];

/** Operations: a line for register pair n (v[4n+16] … are its own), and what sets MODE before. */
const LISTED: readonly Operation[] = [
  ['v_fma_f32', (d) => `v_fma_f32 v${d}, v${d}, v4, v5`],
  ['v_add_u32', (d) => `v_add_u32_e32 v${d}, v4, v${d}`],
  ['v_fma_f16', (d) => `v_fma_f16 v${d}, v${d}, v6, v7`],
  ['v_pk_fma_f16', (d) => `v_pk_fma_f16 v${d}, v${d}, v6, v7`],
  ['v_pk_mul_f16', (d) => `v_pk_mul_f16 v${d}, v${d}, v6`],
  ['v_pk_fma_f32', (d) => `v_pk_fma_f32 v[${d}:${d + 1}], v[${d}:${d + 1}], v[4:5], v[4:5]`],
  ['v_cvt_f16_f32', (d) => `v_cvt_f16_f32_e32 v${d}, v${d + 1}`],
  ['v_cvt_f32_f16', (d) => `v_cvt_f32_f16_e32 v${d}, v${d + 1}`],
  ['v_cvt_pkrtz_f16_f32', (d) => `v_cvt_pkrtz_f16_f32 v${d}, v${d + 1}, v5`],
  ['v_cvt_pk_fp8_f32', (d) => `v_cvt_pk_fp8_f32 v${d}, v${d + 1}, v5`],
  ['v_cvt_sr_fp8_f32', (d) => `v_cvt_sr_fp8_f32 v${d}, v${d + 1}, v5`],
  ['v_exp_f32', (d) => `v_exp_f32_e32 v${d}, v${d + 1}`],
  ['v_log_f32', (d) => `v_log_f32_e32 v${d}, v${d + 1}`],
  ['v_sin_f32', (d) => `v_sin_f32_e32 v${d}, v${d + 1}`],
  ['v_rcp_f32', (d) => `v_rcp_f32_e32 v${d}, v${d + 1}`],
  ['v_rsq_f32', (d) => `v_rsq_f32_e32 v${d}, v${d + 1}`],
  ['v_exp_f16', (d) => `v_exp_f16_e32 v${d}, v${d + 1}`],
  ['v_rcp_f16', (d) => `v_rcp_f16_e32 v${d}, v${d + 1}`],
  ['v_sqrt_f32', (d) => `v_sqrt_f32_e32 v${d}, v${d + 1}`],
  ['v_perm_b32', (d) => `v_perm_b32 v${d}, v${d}, v4, v8`],
  ['v_fma_f64', (d) => `v_fma_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v[10:11], v[12:13]`],
  ['v_rcp_f64', (d) => `v_rcp_f64_e32 v[${d}:${d + 1}], v[${d}:${d + 1}]`],
  [
    'v_div_scale_f64',
    (d) => `v_div_scale_f64 v[${d}:${d + 1}], s[10:11], v[${d}:${d + 1}], v[${d}:${d + 1}], v[12:13]`,
  ],
  ['v_div_fmas_f64', (d) => `v_div_fmas_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v[10:11], v[12:13]`],
  ['v_div_fixup_f64', (d) => `v_div_fixup_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v[10:11], v[12:13]`],
  ['v_div_scale_f32', (d) => `v_div_scale_f32 v${d}, s[10:11], v${d + 1}, v${d + 1}, v5`],
  ['v_div_fmas_f32', (d) => `v_div_fmas_f32 v${d}, v${d}, v4, v5`],
  ['v_div_fixup_f32', (d) => `v_div_fixup_f32 v${d}, v${d}, v4, v5`],
  ['v_div_fixup_f16', (d) => `v_div_fixup_f16 v${d}, v${d}, v6, v7`],
  ['v_trig_preop_f64', (d) => `v_trig_preop_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v8`],
  [
    'v_div_fixup_f64, denormal',
    (d) => `v_div_fixup_f64 v[${d}:${d + 1}], s[10:11], v[10:11], v[12:13]`,
    's_mov_b64 s[10:11], 0x55',
  ],
  ['v_trig_preop_f64, denormal', (d) => `v_trig_preop_f64 v[${d}:${d + 1}], s[10:11], v8`, 's_mov_b64 s[10:11], 0x55'],
  ['v_log_f16, negative', (d) => `v_log_f16_e64 v${d}, -|v${d + 1}|`],
  ['v_lshlrev_b64', (d) => `v_lshlrev_b64 v[${d}:${d + 1}], v8, v[${d}:${d + 1}]`],
  ['v_mad_u64_u32', (d) => `v_mad_u64_u32 v[${d}:${d + 1}], s[10:11], v4, v5, v[${d}:${d + 1}]`],
  ['v_mul_lo_u32', (d) => `v_mul_lo_u32 v${d}, v${d}, v4`],
  ['v_ashrrev_i32', (d) => `v_ashrrev_i32_e32 v${d}, v8, v${d}`],
  ['v_add_f32 dpp', (d) => `v_add_f32_dpp v${d}, v4, v${d} row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0`],
  ['v_readlane_b32', () => 'v_readlane_b32 s10, v4, s11'],
  ['v_writelane_b32', (d) => `v_writelane_b32 v${d}, s11, 5`],
  ['v_readfirstlane_b32', () => 'v_readfirstlane_b32 s10, v4'],
  ['v_mov_b32', (d) => `v_mov_b32_e32 v${d}, v4`],
  ['v_mov_b32, indexed', (d) => `v_mov_b32_e32 v${d}, v4`, 's_set_gpr_idx_on s11, gpr_idx(SRC0)'],
  ['v_mul_f32', (d) => `v_mul_f32_e32 v${d}, v${d}, v4`],
  ['v_cndmask_b32', (d) => `v_cndmask_b32_e32 v${d}, v4, v${d}, vcc`],
  ['v_cmp_lt_u32', (d) => `v_cmp_lt_u32_e32 vcc, v${d}, v4`],
  ['v_cmp_lt_f64', (d) => `v_cmp_lt_f64_e32 vcc, v[${d}:${d + 1}], v[10:11]`],
  ['v_add_co_u32', (d) => `v_add_co_u32_e32 v${d}, vcc, v4, v${d}`],
  ['v_accvgpr_write_b32', (_d, n) => `v_accvgpr_write_b32 a${n}, v4`],
  ['v_max_f32', (d) => `v_max_f32_e32 v${d}, v${d}, v4`],
  ['v_min_f64', (d) => `v_min_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v[10:11]`],
  ['v_med3_f32', (d) => `v_med3_f32 v${d}, v${d}, v4, v5`],
  ['v_frexp_mant_f32', (d) => `v_frexp_mant_f32_e32 v${d}, v${d + 1}`],
  ['v_cvt_i32_f64', (d) => `v_cvt_i32_f64_e32 v${d}, v[${d}:${d + 1}]`],
  ['v_rndne_f32', (d) => `v_rndne_f32_e32 v${d}, v${d}`],
  ['v_fract_f32', (d) => `v_fract_f32_e32 v${d}, v${d + 1}`],
  ['v_max3_f16', (d) => `v_max3_f16 v${d}, v${d}, v6, v7`],
  ['v_cos_f16', (d) => `v_cos_f16_e32 v${d}, v${d + 1}`],
  ['v_rsq_f16', (d) => `v_rsq_f16_e64 v${d}, |v${d + 1}|`],
  ['v_max3_f32', (d) => `v_max3_f32 v${d}, v${d}, v4, v5`],
  ['v_fma_mix_f32', (d) => `v_fma_mix_f32 v${d}, v${d}, v6, v7 op_sel_hi:[0,1,1]`],
  ['v_pack_b32_f16', (d) => `v_pack_b32_f16 v${d}, v${d}, v6`],
  ['v_pk_add_f16', (d) => `v_pk_add_f16 v${d}, v${d}, v6`],
  ['v_pk_max_f16', (d) => `v_pk_max_f16 v${d}, v${d}, v6`],
  ['v_cvt_pk_f32_fp8', (d) => `v_cvt_pk_f32_fp8_e32 v[${d}:${d + 1}], v${d + 1}`],
  ['v_cvt_f32_i32', (d) => `v_cvt_f32_i32_e32 v${d}, v${d + 1}`],
  ['v_cvt_u32_f32', (d) => `v_cvt_u32_f32_e32 v${d}, v${d + 1}`],
  ['v_ldexp_f32', (d) => `v_ldexp_f32 v${d}, v${d}, v8`],
  ['v_ldexp_f64', (d) => `v_ldexp_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v14`],
  ['v_frexp_mant_f64', (d) => `v_frexp_mant_f64_e32 v[${d}:${d + 1}], v[${d}:${d + 1}]`],
  ['v_frexp_exp_i32_f32', (d) => `v_frexp_exp_i32_f32_e32 v${d}, v${d + 1}`],
  ['v_frexp_exp_i32_f64', (d) => `v_frexp_exp_i32_f64_e32 v${d}, v[${d}:${d + 1}]`],
  ['v_cmp_class_f64', (d) => `v_cmp_class_f64_e32 vcc, v[${d}:${d + 1}], v4`],
  ['v_log_f16', (d) => `v_log_f16_e64 v${d}, |v${d + 1}|`],
  ['v_sqrt_f64', (d) => `v_sqrt_f64_e32 v[${d}:${d + 1}], v[${d}:${d + 1}]`],
  ['v_rsq_f64', (d) => `v_rsq_f64_e32 v[${d}:${d + 1}], v[${d}:${d + 1}]`],
  ['v_mul_hi_u32', (d) => `v_mul_hi_u32 v${d}, v${d}, v4`],
  ['v_lshl_add_u64', (d) => `v_lshl_add_u64 v[${d}:${d + 1}], v[${d}:${d + 1}], 1, v[10:11]`],
  ['v_bfe_u32', (d) => `v_bfe_u32 v${d}, v${d}, v8, v8`],
  ['v_mbcnt_lo_u32_b32', (d) => `v_mbcnt_lo_u32_b32 v${d}, -1, v${d}`],
  ['v_dot4_i32_i8', (d) => `v_dot4_i32_i8 v${d}, v4, v5, v${d}`],
  ['v_dot2_f32_f16', (d) => `v_dot2_f32_f16 v${d}, v6, v7, v${d}`],
  ['v_add_u32 sdwa', (d) => `v_add_u32_sdwa v${d}, v4, v${d} dst_sel:DWORD src0_sel:WORD_1 src1_sel:BYTE_0`],
  ['ds_bpermute_b32', (d) => `ds_bpermute_b32 v${d}, v15, v4`],
  ['ds_permute_b32', (d) => `ds_permute_b32 v${d}, v15, v4`],
  ['ds_min_rtn_u64', (d) => `ds_min_rtn_u64 v[${d}:${d + 1}], v9, v[10:11]`],
  ['ds_read_b32', (d) => `ds_read_b32 v${d}, v15`],
  ['ds_read_b64', (d) => `ds_read_b64 v[${d}:${d + 1}], v9`],
  ['ds_read_b128', () => 'ds_read_b128 v[16:19], v14'],
  ['ds_write_b32', (d) => `ds_write_b32 v15, v${d}`],
  ['ds_write_b128', () => 'ds_write_b128 v14, v[16:19]'],
  ['ds_read_u16', (d) => `ds_read_u16 v${d}, v15`],
  ['ds_add_u32', () => 'ds_add_u32 v15, v4'],
  ['global_load_dword', (d) => `global_load_dword v${d}, v15, s[12:13]`],
  ['global_load_dwordx4', () => 'global_load_dwordx4 v[16:19], v14, s[12:13]'],
  ['global_load_ushort', (d) => `global_load_ushort v${d}, v15, s[12:13]`],
  ['global_store_dword', (d) => `global_store_dword v15, v${d}, s[12:13]`],
  ['global_store_dwordx4', () => 'global_store_dwordx4 v14, v[16:19], s[12:13]'],
  ['global_atomic_add', () => 'global_atomic_add v15, v4, s[12:13]'],
  ['global_atomic_add_f64', () => 'global_atomic_add_f64 v9, v[10:11], s[12:13]'],
  ['global_atomic_add_f32', () => 'global_atomic_add_f32 v15, v4, s[12:13]'],
  ['global_atomic_pk_add_bf16', () => 'global_atomic_pk_add_bf16 v15, v6, s[12:13]'],
  ['buffer_load_dword', (d) => `buffer_load_dword v${d}, v15, s[12:15], 0 offen`],
  ['buffer_load_dwordx4', () => 'buffer_load_dwordx4 v[16:19], v14, s[12:15], 0 offen'],
  ['buffer_store_dwordx2', (d) => `buffer_store_dwordx2 v[${d}:${d + 1}], v9, s[12:15], 0 offen`],
  ['buffer_load_short_d16', (d) => `buffer_load_short_d16 v${d}, v48, s[12:15], 0 offen`],
  ['buffer_store_short', (d) => `buffer_store_short v${d}, v48, s[12:15], 0 offen`],
  ['flat_load_dword', (d) => `flat_load_dword v${d}, v[50:51]`],
  ['global_store_byte', (d) => `global_store_byte v0, v${d}, s[12:13]`],
  ['global_load_ubyte', (d) => `global_load_ubyte v${d}, v0, s[12:13]`],
  ['s_load_dword', () => 's_load_dword s10, s[12:13], 0x0'],
  ['s_add_u32', () => 's_add_u32 s10, s10, s11'],
  ['s_mul_i32', () => 's_mul_i32 s10, s10, s11'],
  [
    'v_fma_f32, toward zero',
    (d) => `v_fma_f32 v${d}, v${d}, v4, v5`,
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15',
  ],
  [
    'v_fma_f64, toward zero',
    (d) => `v_fma_f64 v[${d}:${d + 1}], v[${d}:${d + 1}], v[10:11], v[12:13]`,
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15',
  ],
  [
    'v_add_f16, toward zero',
    (d) => `v_add_f16_e32 v${d}, v${d}, v6`,
    's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15',
  ],
];

const plainName = (name: string): string => name.replace(/_e(?:32|64)$/, '');
const listed = new Set(LISTED.map(([name]) => name));
const others = vectorOperations('gfx942').filter(([name]) => !listed.has(plainName(name)));
/** `-- --only=TEXT`: the rows whose names match, and v_fma_f32, which all are compared with. */
const only = new RegExp(process.argv.find((a) => a.startsWith('--only='))?.slice(7) ?? '');
const chosen = ([name]: Operation): boolean => name === 'v_fma_f32' || only.test(name);
const chosenListed = LISTED.filter(chosen);
const OPERATIONS: readonly Operation[] = [
  ...chosenListed,
  ...others.map(([name, line]): Operation => [`* ${plainName(name)}`, line]).filter(chosen),
];

/** Operations of a lane: packed instructions have two, accesses one a dword. */
function operationsOf(name: string): number {
  const dwords = /_(?:dwordx|b|u)(2|4|64|128)$/.exec(name)?.[1];
  if (/^(?:ds|global|buffer)_/.test(name) && dwords !== undefined) return dwords === '2' || dwords === '64' ? 2 : 4;
  return /_pk|pk_/.test(name) ? 2 : 1;
}

const ROUNDS = 3;
/** Times v_fma_f32 from which an operation is measured once more. */
const NEAR = 3.3;
const UNROLL = 16;

function kernelOf(line: (d: number, n: number) => string, before = ''): Uint8Array {
  const code = `s_load_dwordx2 s[12:13], s[0:1], 0x0
s_load_dword s8, s[0:1], 0x8
s_movk_i32 s14, 0x1000
s_mov_b32 s15, 0x20000
v_lshlrev_b32_e32 v14, 4, v0
v_lshlrev_b32_e32 v9, 3, v0
v_lshlrev_b32_e32 v15, 2, v0
v_lshlrev_b32_e32 v48, 1, v0
v_mov_b32_e32 v4, 0x3f7fbe77
v_mov_b32_e32 v5, 0x3c23d70a
v_mov_b32_e32 v6, 0x3bff3bff
v_mov_b32_e32 v7, 0x211f211f
v_mov_b32_e32 v8, 5
v_mov_b32_e32 v10, 0x1234567
v_mov_b32_e32 v11, 0x3feff7ce
v_mov_b32_e32 v12, 0x7654321
v_mov_b32_e32 v13, 0x3f847ae1
s_mov_b32 s11, 7
s_mov_b64 vcc, 0
${Array.from({ length: 2 * UNROLL }, (_, n) => `v_mov_b32_e32 v${16 + n}, 0x3f${n % 2 === 0 ? '000000' : '7fbe77'}`).join('\n')}
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v51, s13
v_add_u32_e32 v50, s12, v15
${before}
.Lloop:
${Array.from({ length: UNROLL }, (_, n) => line(16 + 2 * n, n)).join('\n')}
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lloop`;
  return kernelObject({
    code,
    args: [
      [8, 'global_buffer'],
      [4, 'by_value'],
    ],
    descriptor: { next_free_vgpr: 72, accum_offset: 56, next_free_sgpr: 32, group_segment_fixed_size: 4096 },
    metadata: {
      '.vgpr_count': 72,
      '.agpr_count': 16,
      '.sgpr_count': 32,
      '.group_segment_fixed_size': 4096,
    },
  }).bytes;
}

const device = await createDevice('sim', { target: 'gfx942' });
const buffer = device.alloc(4096, 'memory');
device.write(buffer, new Uint8Array(4096));
const kernels = OPERATIONS.map(([, line, before]) => device.load(kernelOf(line, before)).kernel('k'));

/** ns of CPU time of one wave instruction. */
async function timeOf(kernel: DeviceKernel, loops: number): Promise<number> {
  const begin = process.cpuUsage();
  const args = [buffer, new Uint8Array(Uint32Array.of(loops).buffer)];
  const started = performance.now();
  await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args });
  const { user, system } = process.cpuUsage(begin);
  return Math.max(1, (user + system) * 1000 || (performance.now() - started) * 1e6) / (loops * UNROLL);
}

const times = OPERATIONS.map((): number[] => []);
const loops: number[] = [];
for (const [i, kernel] of kernels.entries()) {
  await timeOf(kernel, 50);
  const first = await timeOf(kernel, 500);
  // About 60 ms each.
  loops[i] = Math.max(100, Math.round(60e6 / (first * UNROLL)));
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, kernel] of kernels.entries()) times[i]?.push(await timeOf(kernel, loops[i] as number));
}
const least = times.map((all) => Math.min(...all));
const fma = least[0] as number;
/** Times v_fma_f32; of what is near a cliff the median of 5, each against the times of it before and after: others on the machine slow both. */
const ratios = least.map((ns, i) => ns / fma / operationsOf(OPERATIONS[i]?.[0] ?? ''));
for (const [i, [name]] of OPERATIONS.entries()) {
  if ((ratios[i] as number) < NEAR) continue;
  const beside: number[] = [];
  const short = (of: number): Promise<number> =>
    timeOf(kernels[of] as DeviceKernel, Math.ceil((loops[of] as number) / 4));
  for (let k = 0; k < 5; k++) {
    const before = await short(0);
    const ns = await short(i);
    beside.push((2 * ns) / (before + (await short(0))) / operationsOf(name));
  }
  ratios[i] = beside.sort((x, y) => x - y)[2] as number;
}
device.close();
console.log(
  `ns of CPU time for a wave instruction, least of 3 interleaved rounds, and times v_fma_f32 by operation of a lane (packed: two), from ${NEAR}
on the median of 5 times beside it:`,
);
const ratioOf = (i: number): number => ratios[i] as number;
const order = [...OPERATIONS.keys()].sort((a, b) => ratioOf(b) - ratioOf(a));
for (const i of order) {
  const ns = least[i] as number;
  const name = OPERATIONS[i]?.[0] ?? '';
  console.log(`  ${name.padEnd(26)}${ns.toFixed(1).padStart(9)}${ratioOf(i).toFixed(1).padStart(8)}`);
}
for (const [from, to, what] of [
  [0, chosenListed.length, 'listed operations'],
  [chosenListed.length, OPERATIONS.length, 'other vector instructions (*)'],
] as const) {
  const cliffs = order.filter((i) => i >= from && i < to && ratioOf(i) > 4).length;
  console.log(`${cliffs} of ${to - from} ${what} take more than 4 times as long as v_fma_f32`);
}
if (process.argv.includes('--extended')) await extendedTable(only);
else {
  console.log(
    'These are gfx942, ordinary numbers and vector registers alone; `-- --extended` adds scalar and constant operands, SDWA, DPP, modifiers, special numbers, gfx90a and gfx950, all memory, moves between lanes and scalar instructions.',
  );
}
