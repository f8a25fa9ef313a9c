// Kernel descriptors as `.amdhsa_kernel` blocks: the inverse of what the assembler computes from the directives.
// Source: AMDGPUUsage, "Kernel Descriptor" and "AMDHSA Kernel Assembler Directives"; AMDGPUAsmParser.cpp,
// ParseDirectiveAMDHSAKernel (ranges and cross checks that decide whether a descriptor can be written as directives).
import type { KernelDescriptor } from '../../codeobject/index.ts';

/** What the assembler's rules depend on beside the descriptor itself. */
export interface DescriptorTarget {
  /** GFX940 and later set up flat scratch by themselves, so the directives for it do not exist. */
  readonly architectedFlatScratch: boolean;
  /** XNACK is on or "any" in the target id; the assembler then counts the XNACK mask as reserved SGPRs. */
  readonly reservesXnackMask: boolean;
}

/** Register counts that the metadata records; used when they agree with the descriptor's granules. */
export interface RegisterCounts {
  readonly vgprs?: number | undefined;
  /** Reserved ones included. */
  readonly sgprs?: number | undefined;
}

const VGPR_GRANULE = 8;
const SGPR_GRANULE = 8;
/** SGPRs that `.amdhsa_next_free_sgpr` may name. */
const ADDRESSABLE_SGPRS = 102;
const MAX_USER_SGPRS = 16;

/**
 * The lines between `.amdhsa_kernel` and `.end_amdhsa_kernel`, or the reason why directives cannot give these bits.
 * `counts` only picks among the counts that fall into the same granule.
 */
export function descriptorDirectives(
  d: KernelDescriptor,
  target: DescriptorTarget,
  counts: RegisterCounts = {},
): readonly string[] | { readonly reason: string } {
  const reason = unsupportedField(d, target);
  if (reason !== undefined) return { reason };
  const accumOffset = (d.rsrc3.accumOffset + 1) * 4;
  const nextFreeVgpr = chooseVgprs(d, accumOffset, counts.vgprs);
  if (nextFreeVgpr === undefined) return { reason: 'accum_offset exceeds the VGPR allocation' };
  const sgprs = chooseSgprs(d, target, counts.sgprs);
  if (sgprs === undefined) return { reason: 'directives give another SGPR count' };
  const { rsrc1, rsrc2, rsrc3, properties, preload } = d;
  const scratch = !target.architectedFlatScratch;
  const rows: [string, number, boolean][] = [
    ['group_segment_fixed_size', d.groupSegmentFixedSize, true],
    ['private_segment_fixed_size', d.privateSegmentFixedSize, true],
    ['kernarg_size', d.kernargSize, true],
    ['user_sgpr_count', rsrc2.userSgprCount, true],
    ['user_sgpr_private_segment_buffer', properties.enableSgprPrivateSegmentBuffer, scratch],
    ['user_sgpr_dispatch_ptr', properties.enableSgprDispatchPtr, true],
    ['user_sgpr_queue_ptr', properties.enableSgprQueuePtr, true],
    ['user_sgpr_kernarg_segment_ptr', properties.enableSgprKernargSegmentPtr, true],
    ['user_sgpr_dispatch_id', properties.enableSgprDispatchId, true],
    ['user_sgpr_flat_scratch_init', properties.enableSgprFlatScratchInit, scratch],
    ['user_sgpr_kernarg_preload_length', preload.length, true],
    ['user_sgpr_kernarg_preload_offset', preload.offset, true],
    ['user_sgpr_private_segment_size', properties.enableSgprPrivateSegmentSize, true],
    ['uses_dynamic_stack', properties.usesDynamicStack, true],
    ['system_sgpr_private_segment_wavefront_offset', rsrc2.enablePrivateSegment, scratch],
    ['enable_private_segment', rsrc2.enablePrivateSegment, !scratch],
    ['system_sgpr_workgroup_id_x', rsrc2.enableSgprWorkgroupIdX, true],
    ['system_sgpr_workgroup_id_y', rsrc2.enableSgprWorkgroupIdY, true],
    ['system_sgpr_workgroup_id_z', rsrc2.enableSgprWorkgroupIdZ, true],
    ['system_sgpr_workgroup_info', rsrc2.enableSgprWorkgroupInfo, true],
    ['system_vgpr_workitem_id', rsrc2.enableVgprWorkitemId, true],
    ['next_free_vgpr', nextFreeVgpr, true],
    ['next_free_sgpr', sgprs.nextFree, true],
    ['accum_offset', accumOffset, true],
    ['reserve_vcc', sgprs.reserveVcc, true],
    ['reserve_flat_scratch', sgprs.reserveFlatScratch, scratch],
    ['float_round_mode_32', rsrc1.floatRoundMode32, true],
    ['float_round_mode_16_64', rsrc1.floatRoundMode16_64, true],
    ['float_denorm_mode_32', rsrc1.floatDenormMode32, true],
    ['float_denorm_mode_16_64', rsrc1.floatDenormMode16_64, true],
    ['dx10_clamp', rsrc1.enableDx10Clamp, true],
    ['ieee_mode', rsrc1.enableIeeeMode, true],
    ['fp16_overflow', rsrc1.fp16Ovfl, true],
    ['tg_split', rsrc3.tgSplit, true],
    ['exception_fp_ieee_invalid_op', rsrc2.enableExceptionFpInvalidOperation, true],
    ['exception_fp_denorm_src', rsrc2.enableExceptionFpDenormalSource, true],
    ['exception_fp_ieee_div_zero', rsrc2.enableExceptionFpDivisionByZero, true],
    ['exception_fp_ieee_overflow', rsrc2.enableExceptionFpOverflow, true],
    ['exception_fp_ieee_underflow', rsrc2.enableExceptionFpUnderflow, true],
    ['exception_fp_ieee_inexact', rsrc2.enableExceptionFpInexact, true],
    ['exception_int_div_zero', rsrc2.enableExceptionIntDivideByZero, true],
  ];
  return rows.filter((row) => row[2]).map(([name, value]) => `.amdhsa_${name} ${value}`);
}

/** Bits that no directive sets, and values that the assembler refuses. */
function unsupportedField(d: KernelDescriptor, target: DescriptorTarget): string | undefined {
  const { rsrc1, rsrc2, rsrc3, properties, preload } = d;
  const withoutDirective: [string, number][] = [
    ['compute_pgm_rsrc1.priority', rsrc1.priority],
    ['compute_pgm_rsrc1.priv', rsrc1.priv],
    ['compute_pgm_rsrc1.debug_mode', rsrc1.debugMode],
    ['compute_pgm_rsrc1.bulky', rsrc1.bulky],
    ['compute_pgm_rsrc1.cdbg_user', rsrc1.cdbgUser],
    ['compute_pgm_rsrc1 reserved bits', rsrc1.reserved],
    ['compute_pgm_rsrc2.enable_trap_handler', rsrc2.enableTrapHandler],
    ['compute_pgm_rsrc2.enable_exception_address_watch', rsrc2.enableExceptionAddressWatch],
    ['compute_pgm_rsrc2.enable_exception_memory', rsrc2.enableExceptionMemory],
    ['compute_pgm_rsrc2.granulated_lds_size', rsrc2.granulatedLdsSize],
    ['compute_pgm_rsrc2 reserved bits', rsrc2.reserved],
    ['compute_pgm_rsrc3 reserved bits', rsrc3.reserved0 | rsrc3.reserved1],
    ['kernel_code_properties reserved bits', properties.reserved0 | properties.reserved1],
    ['kernel_code_properties.enable_wavefront_size32', properties.enableWavefrontSize32],
  ];
  if (target.architectedFlatScratch) {
    withoutDirective.push(
      ['kernel_code_properties.enable_sgpr_private_segment_buffer', properties.enableSgprPrivateSegmentBuffer],
      ['kernel_code_properties.enable_sgpr_flat_scratch_init', properties.enableSgprFlatScratchInit],
    );
  }
  const set = withoutDirective.find(([, value]) => value !== 0);
  if (set !== undefined) return `no directive sets ${set[0]} (it is ${set[1]})`;
  if (preload.length > MAX_USER_SGPRS) return `the kernarg preload length ${preload.length} is out of range`;
  const preloadEnd = (preload.length + preload.offset) * 4;
  if (preload.length !== 0 && d.kernargSize !== 0 && preloadEnd > d.kernargSize) {
    return 'the kernarg preload reaches beyond the kernarg segment';
  }
  if (rsrc2.userSgprCount < impliedUserSgprs(d)) {
    return `the user SGPR count ${rsrc2.userSgprCount} is smaller than the enabled user SGPRs need`;
  }
  return undefined;
}

function impliedUserSgprs({ properties, preload }: KernelDescriptor): number {
  return (
    4 * properties.enableSgprPrivateSegmentBuffer +
    2 * properties.enableSgprDispatchPtr +
    2 * properties.enableSgprQueuePtr +
    2 * properties.enableSgprKernargSegmentPtr +
    2 * properties.enableSgprDispatchId +
    2 * properties.enableSgprFlatScratchInit +
    properties.enableSgprPrivateSegmentSize +
    preload.length
  );
}

/** A VGPR count in the descriptor's granule that `accum_offset` fits under, the metadata's when it is one of them. */
function chooseVgprs(d: KernelDescriptor, accumOffset: number, recorded: number | undefined): number | undefined {
  const granules = d.rsrc1.granulatedWorkitemVgprCount + 1;
  const fits = (count: number) =>
    Math.max(1, Math.ceil(count / VGPR_GRANULE)) === granules && accumOffset <= Math.ceil(Math.max(1, count) / 4) * 4;
  if (recorded !== undefined && fits(recorded)) return recorded;
  const most = granules * VGPR_GRANULE;
  return fits(most) ? most : undefined;
}

interface SgprChoice {
  readonly nextFree: number;
  readonly reserveVcc: number;
  readonly reserveFlatScratch: number;
}

/**
 * Counts and reservations that the assembler turns into this granule count, with as few reservations as possible. With
 * preloaded arguments the assembler counts at least the user SGPRs.
 */
function chooseSgprs(
  { rsrc1, rsrc2, preload }: KernelDescriptor,
  target: DescriptorTarget,
  recorded: number | undefined,
): SgprChoice | undefined {
  const wanted = rsrc1.granulatedWavefrontSgprCount + 1;
  const least = preload.length > 0 ? rsrc2.userSgprCount : 0;
  for (const [reserveVcc, reserveFlatScratch] of [
    [1, 0],
    [0, 0],
    [1, 1],
  ]) {
    if (reserveFlatScratch === 1 && target.architectedFlatScratch) continue;
    const extra = extraSgprs(reserveVcc, reserveFlatScratch, target);
    const fits = (count: number) =>
      count >= least && count <= ADDRESSABLE_SGPRS && Math.max(1, Math.ceil((count + extra) / SGPR_GRANULE)) === wanted;
    const most = Math.min(ADDRESSABLE_SGPRS, wanted * SGPR_GRANULE - extra);
    const nextFree = [(recorded ?? -1) - extra, most].find(fits);
    if (nextFree !== undefined) return { nextFree, reserveVcc, reserveFlatScratch };
  }
  return undefined;
}

/** SGPRs added for VCC, the XNACK mask and FLAT_SCRATCH (IsaInfo::getNumExtraSGPRs on GFX9). */
function extraSgprs(vcc: number, flatScratch: number, target: DescriptorTarget): number {
  if (flatScratch === 1 || target.architectedFlatScratch) return 6;
  if (target.reservesXnackMask) return 4;
  return vcc === 1 ? 2 : 0;
}
