// Symbolic values of fields: hardware registers, messages, buffer formats, SDWA selectors, swizzle and index modes.
// Source: CDNA ISA manuals (S_SETREG, S_SENDMSG, MTBUF data formats, SDWA), spelled as LLVM's assembler spells them.

import type { TargetName } from '../types.ts';
import { targetInfo } from './targets.ts';

const HWREGS: readonly string[] = [
  '',
  'HW_REG_MODE',
  'HW_REG_STATUS',
  'HW_REG_TRAPSTS',
  'HW_REG_HW_ID',
  'HW_REG_GPR_ALLOC',
  'HW_REG_LDS_ALLOC',
  'HW_REG_IB_STS',
  '',
  '',
  '',
  '',
  '',
  '',
  '',
  'HW_REG_SH_MEM_BASES',
  'HW_REG_TBA_LO',
  'HW_REG_TBA_HI',
  'HW_REG_TMA_LO',
  'HW_REG_TMA_HI',
];

const HWREGS_GFX940: readonly string[] = [
  'HW_REG_XCC_ID',
  'HW_REG_SQ_PERF_SNAPSHOT_DATA',
  'HW_REG_SQ_PERF_SNAPSHOT_DATA1',
  'HW_REG_SQ_PERF_SNAPSHOT_PC_LO',
  'HW_REG_SQ_PERF_SNAPSHOT_PC_HI',
];

const HWREGS_WITH_XCC: readonly string[] = [...HWREGS, ...HWREGS_GFX940];

/** Names of hardware registers by id; holes are empty. */
export function hwregNames(target: TargetName): readonly string[] {
  return targetInfo(target).features.has('GFX940Insts') ? HWREGS_WITH_XCC : HWREGS;
}

/** Names of S_SENDMSG messages by id; holes are empty. */
export const MESSAGES: readonly string[] = [
  '',
  'MSG_INTERRUPT',
  'MSG_GS',
  'MSG_GS_DONE',
  'MSG_SAVEWAVE',
  'MSG_STALL_WAVE_GEN',
  'MSG_HALT_WAVES',
  'MSG_ORDERED_PS_DONE',
  'MSG_EARLY_PRIM_DEALLOC',
  'MSG_GS_ALLOC_REQ',
  'MSG_GET_DOORBELL',
  '',
  '',
  '',
  '',
  'MSG_SYSMSG',
];

export const MSG_GS = 2;
export const MSG_GS_DONE = 3;
export const MSG_SYSMSG = 15;

/** Operations of MSG_GS and MSG_GS_DONE. */
export const GS_OPERATIONS: readonly string[] = ['GS_OP_NOP', 'GS_OP_CUT', 'GS_OP_EMIT', 'GS_OP_EMIT_CUT'];

/** Operations of MSG_SYSMSG; holes are empty. */
export const SYSMSG_OPERATIONS: readonly string[] = [
  '',
  'SYSMSG_OP_ECC_ERR_INTERRUPT',
  'SYSMSG_OP_REG_RD',
  '',
  'SYSMSG_OP_TTRACE_PC',
];

/** MTBUF data formats (bits 3:0 of the format). */
export const DATA_FORMATS: readonly string[] = [
  'INVALID',
  '8',
  '16',
  '8_8',
  '32',
  '16_16',
  '10_11_11',
  '11_11_10',
  '10_10_10_2',
  '2_10_10_10',
  '8_8_8_8',
  '32_32',
  '16_16_16_16',
  '32_32_32',
  '32_32_32_32',
  'RESERVED_15',
].map((name) => `BUF_DATA_FORMAT_${name}`);

/** MTBUF number formats (bits 6:4 of the format). */
export const NUMBER_FORMATS: readonly string[] = [
  'UNORM',
  'SNORM',
  'USCALED',
  'SSCALED',
  'UINT',
  'SINT',
  'RESERVED_6',
  'FLOAT',
].map((name) => `BUF_NUM_FORMAT_${name}`);

/** SDWA selectors by value. */
export const SDWA_SELECTORS: readonly string[] = ['BYTE_0', 'BYTE_1', 'BYTE_2', 'BYTE_3', 'WORD_0', 'WORD_1', 'DWORD'];

/** SDWA treatment of the unselected destination bits by value. */
export const SDWA_UNUSED: readonly string[] = ['UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE'];

/** VGPR index mode bits, lowest first. */
export const GPR_INDEX_MODES: readonly string[] = ['SRC0', 'SRC1', 'SRC2', 'DST'];
