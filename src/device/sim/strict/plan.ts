// What strict mode needs to know about an instruction before it executes: registers read and written with their halves and lanes,
// its part in the wait counters, the memory it touches. Made once per address.
// Sources: operand definitions of the tables; CDNA3 ISA manual, "Vector ALU" (SDWA, op_sel), "Matrix Arithmetic" (EXEC is ignored).

import { hasOperand, immediateOf, operandNamed } from '../../../isa/operand.ts';
import { type OperandType, type Operation, semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import {
  type Effects,
  effectsOf,
  type SlotRange,
  slotsOf,
  type WaitCounts,
  type WaitRole,
  waitCounts,
  waitRole,
} from '../../../program/index.ts';
import { type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import { dppSourceLane } from '../interpreter/dpp.ts';
import { OP_SEL_0, OP_SEL_1, opSelOf, sdwaField } from '../interpreter/operands.ts';
import { EXEC } from '../state/wave.ts';
import { type Attempt, attemptOf } from './attempts.ts';

const LANES = 64;

/** Halves of a register: bit 0 low, bit 1 high. A read of `ANY` is content with either. */
export const LOW = 1;
export const HIGH = 2;
export const BOTH = 3;
export const ANY = 0;

/** One dword of a vector operand that is read. Registers are numbered as in the wave's file: AGPRs from 256. */
export interface VectorRead {
  readonly register: number;
  readonly half: number;
  /** Every lane, whatever EXEC says. */
  readonly isWhole: boolean;
}

export interface VectorWrite {
  readonly register: number;
  /** Halves that become defined. */
  readonly halves: number;
  readonly isWhole: boolean;
}

/** Definedness that moves with the value. */
export interface RegisterCopy {
  /** Slot numbers of the program layer. `from` is -1 for a constant. */
  readonly to: number;
  readonly from: number;
}

/** Instructions whose lanes or registers depend on values. */
export type SpecialCase =
  | 'select'
  | 'dpp'
  | 'readlane'
  | 'readfirstlane'
  | 'writelane'
  | 'movrels'
  | 'movreld'
  | 'scalarSelect'
  | 'none';

/** A source of the first (0) or second (1) register of the result. */
export interface PartRead extends VectorRead {
  readonly part: 0 | 1;
}

export interface StrictPlan {
  readonly instruction: Instruction;
  readonly operation: Operation | undefined;
  readonly effects: Effects;
  readonly role: WaitRole;
  /** Counts of an s_waitcnt. */
  readonly wait: WaitCounts | undefined;
  readonly isEnd: boolean;
  /** Slots below 256 that are read. */
  readonly scalarReads: readonly number[];
  readonly scalarWrites: readonly number[];
  readonly reads: readonly VectorRead[];
  /** Sources that matter for one register of a 64-bit result only: what is undefined is passed on to it. */
  readonly partReads: readonly PartRead[];
  /** Computes lane by lane: lanes that are undefined in a source that has a value in others make undefined lanes of the result. */
  readonly isLaneWise: boolean;
  /** Data of a vector store: stores to scratch pass on what is undefined. */
  readonly dataReads: readonly VectorRead[];
  readonly writes: readonly VectorWrite[];
  readonly copies: readonly RegisterCopy[];
  readonly special: SpecialCase;
  /** For special cases: slots of sources in operand order, -1 for constants. */
  readonly sources: readonly number[];
  readonly access: AccessPlan | undefined;
  /** An atomic of memory that returns what was there. */
  readonly attempt: Attempt | undefined;
  /** The check of the access defines the registers that a load writes. */
  readonly isDefinedByAccess: boolean;
  /** Cache policy bits of the access. */
  readonly cachePolicy: number;
  /** Vector instructions see GPR indexing. */
  readonly isVector: boolean;
  /** For `dpp`: by lane the one that it reads, -1 where its destination stays as it was when it reads no lane, -2 where it always does. */
  readonly laneSources: Int8Array | undefined;
  /** The result has an output modifier, which is for this type. */
  readonly outputModifier: OperandType | undefined;
  /** Writes the caches back as far as other compute units see (buffer_wbl2). */
  readonly isWriteBack: boolean;
  /** Invalidates the caches that other compute units do not see (buffer_inv). */
  readonly isInvalidate: boolean;
  /** Invalidates the scalar cache. */
  readonly invalidatesScalars: boolean;
  /** Writes the scalar cache back. */
  readonly writesScalarsBack: boolean;
}

const SPECIAL: Readonly<Record<string, SpecialCase>> = {
  v_cndmask_b32: 'select',
  v_readlane_b32: 'readlane',
  v_readfirstlane_b32: 'readfirstlane',
  v_writelane_b32: 'writelane',
  s_cselect_b32: 'scalarSelect',
  s_movrels_b32: 'movrels',
  s_movrels_b64: 'movrels',
  s_movreld_b32: 'movreld',
  s_movreld_b64: 'movreld',
};

const COPIES = new Set([
  'v_mov_b32',
  'v_mov_b64',
  'v_accvgpr_read_b32',
  'v_accvgpr_write_b32',
  'v_accvgpr_mov_b32',
  'v_pk_mov_b32',
  'v_swap_b32',
  's_mov_b32',
  's_mov_b64',
]);

/** Compilers use 64-bit operations for 32-bit results and leave the high half of such sources undefined. */
const HIGH_PARTS: Readonly<Record<string, readonly string[]>> = {
  v_mad_u64_u32: ['src2'],
  v_mad_i64_i32: ['src2'],
  v_lshlrev_b64: ['src1'],
  v_lshl_add_u64: ['src0', 'src2'],
};

/**
 * Lane masks: with EXEC as one operand, only the bits of active lanes matter, and compilers leave the others undefined. What becomes EXEC itself says of every lane
 * whether it is active.
 */
const MASK_OPERATION = /^s_(?:and|or|xor|andn2|orn2|nand|nor|xnor)_b64$/;

/** The register of the result that alone looks at one register (0 or 1) of a 64-bit source; undefined when both do, 'none' when none. */
function partOf(
  instruction: Instruction,
  op: Operation | undefined,
  name: string,
  n: number,
): 0 | 1 | 'none' | undefined {
  if (n === 1 && HIGH_PARTS[instruction.row.operation]?.includes(name)) return 1;
  if (op?.kind !== 'vector' || op.sources.find((s) => s.operand === name)?.type !== 'f32x2') return undefined;
  const modifiers = immediateOf(instruction, `${name}_modifiers`);
  const isInLow = (modifiers & OP_SEL_0 ? 1 : 0) === n;
  const isInHigh = (modifiers & OP_SEL_1 ? 1 : 0) === n;
  return isInLow ? (isInHigh ? undefined : 0) : isInHigh ? 1 : 'none';
}

function isMaskWithExec({ row, operands }: Instruction): boolean {
  const isExec = (isOut: boolean): boolean =>
    operands.some((o, i) => o.kind === 'reg' && o.encoding === EXEC && row.operands[i]?.isOut === isOut);
  return MASK_OPERATION.test(row.operation) && isExec(false) && !isExec(true);
}

/** First slot of an operand, -1 when it is a constant or always defined. */
function slotOf(operand: Operand | undefined): number {
  if (operand?.kind !== 'reg') return -1;
  return slotsOf(operand)?.first ?? -1;
}

/** Inputs that only keep what the result leaves as it was. */
function isKept(instruction: Instruction, index: number): boolean {
  const { row } = instruction;
  const definition = row.operands[index];
  if (definition === undefined || definition.tiedTo < 0) return false;
  // Loads of half a register.
  if (row.flags.has('mayLoad') && !row.flags.has('mayStore') && !row.flags.has('VALU')) return true;
  return (
    definition.name === 'old' ||
    definition.name === 'vdst_in' ||
    (definition.name === 'src2' && row.operation.startsWith('v_cvt_'))
  );
}

const NARROW = new Set(['f16', 'bf16', 'u16', 'i16']);

/** Which half of a one-dword source an operation looks at. */
function halfRead(instruction: Instruction, op: Operation | undefined, name: string): number {
  const { row } = instruction;
  const access = op?.kind === 'store' && (name === 'vdata' || name === 'data0');
  if (access) return op.bytes >= 4 ? ANY : op.half === 'high' ? HIGH : LOW;
  if (op?.kind !== 'vector') return ANY;
  const spec = op.sources.find((s) => s.operand === name);
  if (spec === undefined) return ANY;
  if (row.operands.some((o) => o.name === `${name}_sel`)) {
    const { shift, bits } = sdwaField(immediateOf(instruction, `${name}_sel`));
    return bits === 32 ? ANY : shift >= 16 ? HIGH : LOW;
  }
  const modifiers = immediateOf(instruction, `${name}_modifiers`);
  if (spec.type === 'mix') return (modifiers & OP_SEL_1) === 0 ? ANY : modifiers & OP_SEL_0 ? HIGH : LOW;
  if (!NARROW.has(spec.type)) return ANY;
  return row.flags.has('VOP3_OPSEL') && modifiers & OP_SEL_0 ? HIGH : LOW;
}

/** Which halves of its result register an operation writes. Loads of half a register zero the other half (SRAM ECC is on). */
function halvesWritten(instruction: Instruction, op: Operation | undefined): number {
  const { row } = instruction;
  if (op?.kind !== 'vector') return BOTH;
  const halfOf = (shift: number, bits: number): number => (bits === 32 ? BOTH : shift >= 16 ? HIGH : LOW);
  if (hasOperand(row, 'dst_sel')) {
    const { shift, bits } = sdwaField(immediateOf(instruction, 'dst_sel'));
    return immediateOf(instruction, 'dst_unused') === 2 ? halfOf(shift, bits) : BOTH;
  }
  const opSel = opSelOf(instruction);
  if (op.part !== undefined) {
    return halfOf(op.part === 'byte' ? 8 * (opSel >> 2) : 16 * (opSel >> 3), op.part === 'byte' ? 8 : 16);
  }
  if (op.resultType === undefined || !NARROW.has(op.resultType)) return BOTH;
  const intoHigh =
    op.highBits === 'intoHigh' ||
    (row.flags.has('VOP3_OPSEL') && (immediateOf(instruction, 'src0_modifiers') & OP_SEL_1) !== 0);
  if (intoHigh) return HIGH;
  return op.highBits === 'preserve' ? LOW : BOTH;
}

/** Implicit scalar sources that an instruction really looks at. */
function implicitReads(instruction: Instruction, op: Operation | undefined, access: AccessPlan | undefined): number[] {
  const { row } = instruction;
  const out: number[] = [];
  if (row.uses.includes('VCC')) out.push(106, 107);
  if (row.uses.includes('SCC')) out.push(253);
  const usesM0 =
    access?.toLds === true ||
    (op?.kind === 'structural' && ['append', 'addtid', 'movrels', 'movreld'].includes(op.name));
  if (usesM0) out.push(124);
  return out;
}

function copiesOf(instruction: Instruction): RegisterCopy[] {
  const { row, operands } = instruction;
  if (!COPIES.has(row.operation) || row.encoding === 'DPP' || row.encoding === 'SDWA') return [];
  const named = (name: string): Operand | undefined => operandNamed(instruction, name);
  if (row.operation === 'v_swap_b32') {
    const [a, b] = [slotOf(named('vdst')), slotOf(named('vdst1'))];
    return [
      { to: a, from: b },
      { to: b, from: a },
    ];
  }
  const target = operands[row.operands.findIndex((o) => o.isOut)];
  if (target?.kind !== 'reg') return [];
  const to = slotOf(target);
  const source = slotOf(named('src0'));
  if (to < 0) return [];
  if (row.operation === 'v_pk_mov_b32') {
    const second = slotOf(named('src1'));
    const high = (name: string): number => (immediateOf(instruction, name) & OP_SEL_0 ? 1 : 0);
    return [
      { to, from: source < 0 ? -1 : source + high('src0_modifiers') },
      { to: to + 1, from: second < 0 ? -1 : second + (immediateOf(instruction, 'src1_modifiers') & OP_SEL_1 ? 1 : 0) },
    ];
  }
  return Array.from({ length: target.dwords }, (_, n) => ({ to: to + n, from: source < 0 ? -1 : source + n }));
}

/** Whether an instruction reads a slot more often than its operands say: it adds to its result. */
function isReadUnnamed({ row, operands }: Instruction, { uses }: Effects, slot: number): boolean {
  const has = (range: SlotRange | undefined): boolean =>
    range !== undefined && slot >= range.first && slot < range.first + range.count;
  const named = operands.filter((o, i) => row.operands[i]?.isOut === false && o.kind === 'reg' && has(slotsOf(o)));
  return uses.filter(has).length > named.length;
}

function isData(access: AccessPlan | undefined, name: string): boolean {
  return access?.kind === 'store' && (name === 'vdata' || name === 'data0' || name === 'data1');
}

/** Source lanes of a DPP instruction that leaves lanes of its destination as they were, even when all lanes are active. */
function partialLanes(instruction: Instruction): Int8Array | undefined {
  const control = immediateOf(instruction, 'dpp_ctrl');
  const rows = immediateOf(instruction, 'row_mask');
  const banks = immediateOf(instruction, 'bank_mask');
  const fillsZero = immediateOf(instruction, 'bound_ctrl') !== 0;
  const sources = new Int8Array(LANES);
  for (let lane = 0; lane < LANES; lane++) {
    const isEnabled = ((rows >> (lane >> 4)) & (banks >> ((lane >> 2) & 3)) & 1) !== 0;
    const from = dppSourceLane(control, lane);
    // A lane that gets a zero reads no other.
    sources[lane] = !isEnabled || (from < 0 && !fillsZero) ? -2 : fillsZero && from < 0 ? lane : from;
  }
  return sources.includes(-2) ? sources : undefined;
}

/** The float type of a result that has an output modifier. Source: CDNA3 ISA manual, "Output Modifiers". */
function modifiedType(instruction: Instruction, op: Operation | undefined): OperandType | undefined {
  if (op?.kind !== 'vector' || !hasOperand(instruction.row, 'omod')) return undefined;
  return immediateOf(instruction, 'omod') === 0 ? undefined : op.resultType;
}

/** Sources that special cases pass on as they are, defined or not. */
function isMoved(special: SpecialCase, name: string): boolean {
  if (special === 'none' || special === 'dpp') return false;
  return name === 'src0' || (name === 'src1' && (special === 'select' || special === 'scalarSelect'));
}

function definesByAccess(
  op: Operation | undefined,
  access: AccessPlan | undefined,
  writes: readonly VectorWrite[],
): boolean {
  if (access === undefined || access.kind === 'store' || access.toLds) return false;
  if (op?.kind === 'format' || op?.kind === 'image') return false;
  if (op?.kind === 'structural' && op.name !== 'addtid' && op.name !== 'condxchg') return false;
  return access.isScalar ? op?.kind === 'load' || op?.kind === 'atomic' : writes.length > 0;
}

/** Makes the plan of an instruction. */
export function strictPlan(instruction: Instruction): StrictPlan {
  const { row, operands } = instruction;
  const op = semanticsOf(row.operation);
  const effects = effectsOf(instruction);
  const role = waitRole(row);
  const access = accessPlan(instruction, op);
  const copies = copiesOf(instruction);
  const encodesLanes = row.encoding === 'DPP' || row.encoding === 'SDWA';
  const laneSources = row.encoding === 'DPP' ? partialLanes(instruction) : undefined;
  const special: SpecialCase =
    laneSources !== undefined ? 'dpp' : encodesLanes ? 'none' : (SPECIAL[row.operation] ?? 'none');
  const isWhole = op?.kind === 'matrix';
  const isMask = isMaskWithExec(instruction);
  const scalarReads = new Set(implicitReads(instruction, op, access));
  const reads: VectorRead[] = [];
  const partReads: PartRead[] = [];
  const dataReads: VectorRead[] = [];
  const sources: number[] = [];
  row.operands.forEach((definition, i) => {
    const operand = operands[i];
    if (definition.isOut || operand === undefined) return;
    if (/^src\d$/.test(definition.name)) sources.push(slotOf(operand));
    if (operand.kind !== 'reg' || copies.length > 0 || isKept(instruction, i) || isMoved(special, definition.name))
      return;
    const range = slotsOf(operand);
    if (range === undefined) return;
    const half = range.count === 1 || op?.kind === 'store' ? halfRead(instruction, op, definition.name) : ANY;
    for (let n = range.first; n < range.first + range.count; n++) {
      const part = n < 256 ? undefined : partOf(instruction, op, definition.name, n - range.first);
      if (n < 256) {
        if (!isMask && !ALWAYS_DEFINED.has(n)) scalarReads.add(n);
      } else if (part !== undefined) {
        if (part !== 'none') partReads.push({ register: n - 256, half, isWhole, part });
      } else if (isData(access, definition.name)) dataReads.push({ register: n - 256, half, isWhole });
      else reads.push({ register: n - 256, half, isWhole });
    }
  });
  const halves = halvesWritten(instruction, op);
  const writes: VectorWrite[] = [];
  const scalarWrites: number[] = [];
  for (const { first, count } of effects.defs) {
    for (let n = first; n < first + count; n++) {
      if (n < 256) scalarWrites.push(n);
      else writes.push({ register: n - 256, halves, isWhole });
      if (n >= 256 && isReadUnnamed(instruction, effects, n)) reads.push({ register: n - 256, half: ANY, isWhole });
    }
  }
  return {
    instruction,
    operation: op,
    effects,
    role,
    wait: role.isWait ? waitCounts(instruction) : undefined,
    isEnd: op?.kind === 'structural' && op.name === 'endpgm',
    scalarReads: [...scalarReads],
    scalarWrites,
    reads,
    isLaneWise: op?.kind === 'vector' || op?.kind === 'scaleConvert',
    partReads,
    dataReads,
    writes,
    copies,
    special,
    sources,
    access,
    attempt: attemptOf(instruction, op),
    isDefinedByAccess: definesByAccess(op, access, writes),
    cachePolicy: immediateOf(instruction, 'cpol'),
    isVector: row.flags.has('VALU'),
    laneSources,
    outputModifier: modifiedType(instruction, op),
    isWriteBack: row.operation === 'buffer_wbl2' && reachesDevice(instruction),
    isInvalidate: /^buffer_(?:inv|wbinvl1(?:_vol)?)$/.test(row.operation) && reachesDevice(instruction),
    invalidatesScalars: /^s_dcache_inv(?:_vol)?$/.test(row.operation),
    writesScalarsBack: /^s_dcache_wb(?:_vol)?$/.test(row.operation),
  };
}

/** Whether a cache operation is for other compute units too: where it has a scope, that of the device (sc1). */
function reachesDevice(instruction: Instruction): boolean {
  return !hasOperand(instruction.row, 'cpol') || (immediateOf(instruction, 'cpol') & 16) !== 0;
}

/** EXEC, MODE, XNACK_MASK and the trap registers are set by hardware. */
export const ALWAYS_DEFINED: ReadonlySet<number> = new Set([
  104,
  105,
  126,
  127,
  128,
  ...Array.from({ length: 16 }, (_, n) => 108 + n),
]);
