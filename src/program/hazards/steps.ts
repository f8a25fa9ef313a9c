// What hazards ask about an instruction, wherever it stands: which units it uses, what it reads late or writes early.
// Which operands count follows LLVM's GCNHazardRecognizer.
import { operandNamed } from '../../isa/operand.ts';
import type { MatrixWaits } from '../../isa/table/hazards.ts';
import type { Immediate, Instruction } from '../../isa/types.ts';
import type { Effects } from '../effects.ts';
import { Slot, type SlotRange, slotsOf } from '../slots.ts';
import { type MatrixFacts, matrixFacts } from './tables.ts';

/** What hazards ask about an instruction, wherever it stands. */
export interface Step {
  readonly instruction: Instruction;
  readonly effects: Effects;
  /** The registers of the operands that are written out and read; of vector and memory instructions only. */
  readonly uses: readonly SlotRange[];
  /** The vector unit executes it, memory instructions included that take their addresses through it. */
  readonly isValu: boolean;
  readonly isVector: boolean;
  readonly isMemory: boolean;
  readonly isLds: boolean;
  readonly isDpp: boolean;
  readonly isDot: boolean;
  readonly matrix: MatrixFacts | undefined;
  readonly isTrans: boolean;
  /** Writes part of its result register. */
  readonly isPart: boolean;
  /** Writes a scalar register from the vector unit. */
  readonly isScalarWrite: boolean;
  /** See `wideStoreData`. */
  readonly wideData: readonly SlotRange[];
  /** The store of `wideData` is to a buffer at an offset in an SGPR. */
  readonly isScalarOffset: boolean;
  /** VCC and EXEC, of which it reads the flag that they are zero. */
  readonly zeroFlags: readonly (readonly SlotRange[])[];
  readonly usesVcc: boolean;
  /** What else the operation alone decides. */
  readonly special: Special | undefined;
  readonly readsM0: boolean;
  /** Wait states that it counts for: 1, or what s_nop says. */
  readonly states: number;
}

type Special = 'div-fmas' | 'lane' | 'swap' | 'fma64' | 'low-from-high' | 'hardware-register' | 'return-from-trap';

export const EXEC: readonly SlotRange[] = [{ first: Slot.EXEC, count: 2 }];
export const VCC: readonly SlotRange[] = [{ first: Slot.VCC, count: 2 }];
export const M0: readonly SlotRange[] = [{ first: Slot.M0, count: 1 }];
export const isVectorSlot = ({ first }: SlotRange): boolean => first >= Slot.VGPR0;

function specialOf(instruction: Instruction): Special | undefined {
  const { operation } = instruction.row;
  if (operation.startsWith('v_div_fmas')) return 'div-fmas';
  if (/^v_(?:read|write|readfirst)lane_b32$/.test(operation)) return 'lane';
  if (/^v_permlane\d+_swap_b32$/.test(operation)) return 'swap';
  if (/^v_fmac?_f64$/.test(operation)) return 'fma64';
  if (isLowFromHigh(instruction)) return 'low-from-high';
  if (/^s_[gs]etreg(?:_imm32)?_b32$/.test(operation)) return 'hardware-register';
  return operation.startsWith('s_rfe_') ? 'return-from-trap' : undefined;
}

/** The step of an instruction. */
export function makeStep(instruction: Instruction, effects: Effects, waits: MatrixWaits): Step {
  const { flags, operation, uses } = instruction.row;
  const isLds = flags.has('DS');
  const isMemory = flags.has('MUBUF') || flags.has('MTBUF') || flags.has('MIMG') || flags.has('FLAT');
  const isVector = flags.has('VALU') && !isMemory;
  return {
    instruction,
    effects,
    uses: isVector || isMemory || isLds ? explicitUses(instruction) : [],
    isValu: flags.has('VALU'),
    isVector,
    isMemory: isMemory || isLds,
    isLds,
    isDpp: flags.has('DPP'),
    isDot: isVector && operation.startsWith('v_dot'),
    matrix: matrixFacts(instruction, waits),
    isTrans: flags.has('TRANS'),
    isPart: isVector && writesPart(instruction),
    isScalarWrite: isVector && effects.defs.some((def) => !isVectorSlot(def)),
    wideData: isMemory ? wideStoreData(instruction) : [],
    isScalarOffset: (flags.has('MUBUF') || flags.has('MTBUF')) && operandSlots(instruction, 'soffset').length > 0,
    zeroFlags: instruction.operands.flatMap((operand) => {
      if (operand.kind !== 'reg') return [];
      return operand.encoding === VCCZ ? [VCC] : operand.encoding === EXECZ ? [EXEC] : [];
    }),
    usesVcc: uses.includes('VCC'),
    special: specialOf(instruction),
    readsM0: flags.has('LDSDMA') || flags.has('GWS') || READS_M0.test(operation),
    states: waitStates(instruction),
  };
}

/** Wait states that an instruction takes itself. */
export function waitStates({ row, operands }: Instruction): number {
  return row.operation === 's_nop' ? ((operands[0] as Immediate).value & 15) + 1 : 1;
}

/** Scalar and LDS instructions that read M0 without a hold. Source: LLVM 22, checkReadM0Hazards. */
const READS_M0 = /^(?:s_(?:sendmsg|sendmsghalt|ttracedata|movrel[sd]_b(?:32|64))|ds_(?:read|write)_addtid_b32)$/;

/** The sources src_vccz and src_execz. */
const VCCZ = 251;
const EXECZ = 252;

/** The registers of the operands that are written out and read. */
function explicitUses(instruction: Instruction): SlotRange[] {
  const out: SlotRange[] = [];
  instruction.row.operands.forEach(({ isOut }, i) => {
    const operand = instruction.operands[i];
    const isFlag = operand?.kind === 'reg' && (operand.encoding === VCCZ || operand.encoding === EXECZ);
    const range = !isOut && !isFlag && operand?.kind === 'reg' ? slotsOf(operand) : undefined;
    if (range !== undefined) out.push(range);
  });
  return out;
}

/** The registers of a named operand. */
export function operandSlots(instruction: Instruction, name: string): SlotRange[] {
  const operand = operandNamed(instruction, name);
  const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
  return range === undefined ? [] : [range];
}

function immediateOf(instruction: Instruction, name: string): number | undefined {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'imm' ? operand.value : undefined;
}

/** The number of the hardware register that s_getreg and s_setreg name. */
export function hardwareRegister(instruction: Instruction): number | undefined {
  const bits = immediateOf(instruction, 'simm16');
  return bits === undefined ? undefined : bits & 63;
}

const SDWA_DWORD = 6;
const DESTINATION_HIGH = 8;
const OP_SEL = 4;

/** Whether a vector instruction writes only a part of its destination register. */
function writesPart(instruction: Instruction): boolean {
  const { flags, operation } = instruction.row;
  if (flags.has('SDWA')) return (immediateOf(instruction, 'dst_sel') ?? SDWA_DWORD) !== SDWA_DWORD;
  // LLVM 22, getDstSelForwardingOperand: the byte is chosen by op_sel of src2; 4-bit results are parts whatever is chosen.
  if (/^v_cvt_scalef32_sr_pk_fp4_/.test(operation)) return true;
  const isByte = /^v_cvt_(?:scalef32_)?sr_(?:fp8|bf8)_/.test(operation);
  if (isByte && ((immediateOf(instruction, 'src2_modifiers') ?? 0) & OP_SEL) !== 0) return true;
  return flags.has('VOP3_OPSEL') && ((immediateOf(instruction, 'src0_modifiers') ?? 0) & DESTINATION_HIGH) !== 0;
}

/** Whether the low result of packed f32 arithmetic comes from the high half of its second source alone. Source: see `hazards/packed-high-half`. */
function isLowFromHigh(instruction: Instruction): boolean {
  if (!/^v_pk_(?:fma|mul|add)_f32$/.test(instruction.row.operation)) return false;
  const selects = (name: string): boolean => ((immediateOf(instruction, name) ?? 0) & OP_SEL) !== 0;
  return selects('src1_modifiers') && !selects('src0_modifiers');
}

/** The data registers of a store of more than 64 bits that may still be read when the next instruction issues. */
function wideStoreData(instruction: Instruction): SlotRange[] {
  const { flags } = instruction.row;
  if (!flags.has('mayStore') || flags.has('DS')) return [];
  return operandSlots(instruction, 'vdata').filter(({ count }) => count > 2);
}
