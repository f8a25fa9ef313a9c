// Vector ALU, matrix and conversion instructions on terms.
// Integer operations without modifiers are read through their expressions; everything else stays one operation with its parameters.
import { immediateOf, maskSource, operandNamed } from '../isa/operand.ts';
import type { MatrixOperation, OperandType, ScaleConvertOperation, VectorOperation } from '../isa/semantics/index.ts';
import { OPERAND_TYPES } from '../isa/semantics/index.ts';
import type { Instruction, Operand, Register } from '../isa/types.ts';
import { Slot } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import { isInteger, type Leaves, readExpression } from './expressions.ts';
import {
  isVectorRegister,
  readPair,
  readRegisterWord,
  readWord,
  registerAt,
  watchUnspecified,
  writeLanes,
} from './operands.ts';
import type { Step } from './step.ts';
import type { Term } from './terms.ts';

const INTEGER_TYPES: ReadonlySet<OperandType> = new Set(['i32', 'u16', 'i16', 'u24', 'i24', 'i64']);
/** SISrcMods: the bit of `src0_modifiers` that is op_sel's destination bit. */
const OP_SEL_1 = 8;

/** Fields of SDWA and DPP: which parts or lanes of registers take part. Zero says something too. */
const PARTS = new Set(['dst_sel', 'dst_unused', 'src0_sel', 'src1_sel', 'dpp_ctrl', 'row_mask', 'bank_mask']);

/** Fields that say something about the value, and are no sources. */
function parameters(instruction: Instruction, skip: ReadonlySet<string>): string {
  const out: string[] = [];
  instruction.row.operands.forEach((o, i) => {
    const operand = instruction.operands[i];
    if (operand?.kind !== 'imm' || skip.has(o.name)) return;
    if (operand.value !== 0 || PARTS.has(o.name)) out.push(`${o.name}=${operand.value}`);
  });
  return out.join(' ');
}

/** No lane crossing, no parts of registers, and no field set beside the sources and a clamp bit whose meaning is known. */
function isPlainForm(instruction: Instruction, op: VectorOperation): boolean {
  return instruction.row.operands.every((o, i) => {
    const operand = instruction.operands[i];
    if (PARTS.has(o.name)) return false;
    if (operand?.kind !== 'imm' || operand.value === 0) return true;
    if (o.name === 'clamp') return op.clamped !== undefined;
    return op.sources.some(({ operand: name }) => name === o.name);
  });
}

function isIntegerOperation(instruction: Instruction, op: VectorOperation): boolean {
  return (
    op.part === undefined &&
    op.sourcePart === undefined &&
    op.highBits === 'zero' &&
    op.sources.every((s) => INTEGER_TYPES.has(s.type)) &&
    (op.resultType === undefined || INTEGER_TYPES.has(op.resultType)) &&
    op.result.length <= 1 &&
    [...op.result, ...(op.mask === undefined ? [] : [op.mask]), ...(op.clamped ?? [])].every(isInteger) &&
    isPlainForm(instruction, op)
  );
}

/** Executes a vector ALU operation. */
export function stepVector(step: Step, op: VectorOperation): void {
  if (isIntegerOperation(step.instruction, op)) stepInteger(step, op);
  else stepOpaque(step, op);
}

function stepInteger(step: Step, op: VectorOperation): void {
  const { algebra, instruction, exec } = step;
  const { integers, masks } = algebra;
  const sources = op.sources.map(({ operand: name, type }): readonly [Operand, Term] => {
    const operand =
      operandNamed(instruction, name) ?? (name === 'src2' ? operandNamed(instruction, 'vdst') : undefined);
    if (operand === undefined) throw new NotFollowed(`'${instruction.row.mnemonic}' has no operand ${name}`);
    const word = (n: number): Term => readWord(step, operand, n, type);
    return [operand, type === 'i64' ? integers.pair(word(0), word(1)) : narrow(step, word(0), type)];
  });
  const leaves: Leaves = {
    source: (index, part) => {
      const [, whole] = sources[index] as readonly [Operand, Term];
      return part === 0 ? whole : integers.hi(whole);
    },
    carry: masks.bit(exec, carryMask(step)),
    exec,
  };
  const results = immediateOf(instruction, 'clamp') !== 0 && op.clamped !== undefined ? op.clamped : op.result;
  const values = results.map((e) => readExpression(integers, e, leaves));
  const mask = op.mask === undefined ? undefined : masks.ballot(exec, readExpression(integers, op.mask, leaves));
  watchUnspecified(step, sources, mask === undefined ? values : [...values, mask]);
  const [value] = values;
  if (value !== undefined) {
    const target = vectorTarget(instruction);
    if (value.kind === 'i64') {
      writeLanes(step, target, 0, integers.lo(value));
      writeLanes(step, target, 1, integers.hi(value));
    } else {
      const isNarrow = op.resultType === 'i16' || op.resultType === 'u16';
      writeLanes(step, target, 0, isNarrow ? integers.and(value, algebra.terms.i32(0xffff)) : value);
    }
  }
  if (mask !== undefined) writeMask(step, mask);
}

function narrow(step: Step, word: Term, type: OperandType): Term {
  const { integers, terms } = step.algebra;
  const signed = (bits: number): Term => integers.shrS(integers.shl(word, terms.i32(bits)), terms.i32(bits));
  switch (type) {
    case 'u16':
      return integers.and(word, terms.i32(0xffff));
    case 'i16':
      return signed(16);
    case 'u24':
      return integers.and(word, terms.i32(0xffffff));
    case 'i24':
      return signed(8);
    default:
      return word;
  }
}

/** The lane mask an instruction reads: the last source of the VOP3 form, VCC otherwise. */
function carryMask(step: Step): Term {
  const { instruction, algebra, state } = step;
  const operand = maskSource(instruction);
  if (operand !== undefined) return readPair(step, operand);
  return algebra.integers.pair(state[Slot.VCC] as Term, state[Slot.VCC + 1] as Term);
}

function vectorTarget(instruction: Instruction): Register {
  const target = registerAt(instruction, 'vdst');
  if (!isVectorRegister(target)) throw new NotFollowed(`'${instruction.row.mnemonic}' has no vector destination`);
  return target;
}

/** Writes a lane mask to `sdst`, VCC in the short forms, and EXEC for v_cmpx. */
function writeMask(step: Step, mask: Term): void {
  const { algebra, instruction, state } = step;
  const low = algebra.integers.lo(mask);
  const high = algebra.integers.hi(mask);
  const slot = registerAt(instruction, 'sdst')?.encoding ?? Slot.VCC;
  const targets = instruction.row.defs.includes('EXEC') ? [slot, Slot.EXEC] : [slot];
  for (const at of targets) {
    state[at] = low;
    state[at + 1] = high;
  }
}

/** Keeps bits of the old destination, by its record or its modifiers. */
function keepsDestination(
  instruction: Instruction,
  op: VectorOperation | MatrixOperation | ScaleConvertOperation,
): boolean {
  if (op.kind === 'matrix') return false;
  if (op.kind === 'scaleConvert' || operandNamed(instruction, 'dpp_ctrl') !== undefined) return true;
  if (operandNamed(instruction, 'dst_sel') !== undefined) return true;
  if (op.part !== undefined || op.highBits !== 'zero') return true;
  return instruction.row.flags.has('VOP3_OPSEL') && (immediateOf(instruction, 'src0_modifiers') & OP_SEL_1) !== 0;
}

/** The inline constant 0: C of a matrix product that begins with zero in all its registers. */
const INLINE_ZERO = 128;

/** Operations that only name their registers otherwise: the accumulator is the destination. */
const SAME_OPERATION: Readonly<Record<string, string>> = { v_fmac_f32: 'v_fma_f32', v_fmac_f64: 'v_fma_f64' };

/** Executes an operation that stays whole: same name, parameters, mode and operands, same result. */
export function stepOpaque(step: Step, op: VectorOperation | MatrixOperation | ScaleConvertOperation): void {
  const { algebra, instruction, exec, state } = step;
  const { terms, masks, integers } = algebra;
  const { row } = instruction;
  const isMatrix = op.kind === 'matrix';
  const types = new Map(op.kind === 'vector' ? op.sources.map((s) => [s.operand, s.type] as const) : []);
  const args: Term[] = [];
  const sources: (readonly [Operand, Term])[] = [];
  const constants = new Set<string>();
  row.operands.forEach((o, i) => {
    const operand = instruction.operands[i];
    if (o.isOut || operand === undefined) return;
    const type = types.get(o.name);
    if (operand.kind === 'reg') {
      for (let n = 0; n < operand.dwords; n++) {
        const word = readRegisterWord(step, operand, n);
        const seen = !isMatrix && isVectorRegister(operand) ? masks.view(exec, word) : word;
        args.push(seen);
        sources.push([operand, seen]);
      }
    } else if (isMatrix && o.name === 'src2' && operand.kind === 'inline' && operand.encoding === INLINE_ZERO) {
      const words = (instruction.operands[0] as Register).dwords;
      for (let n = 0; n < words; n++) args.push(terms.i32(0));
    } else if (operand.kind !== 'imm' || type !== undefined) {
      constants.add(o.name);
      const words = type === undefined ? 1 : OPERAND_TYPES[type].words;
      for (let n = 0; n < words; n++) args.push(readWord(step, operand, n, type ?? 'f32'));
      if (operand.kind === 'inline' && type === undefined) args.push(terms.i32(operand.encoding));
    }
  });
  watchUnspecified(step, sources, []);
  if (row.uses.includes('VCC'))
    args.push(masks.bit(exec, integers.pair(state[Slot.VCC] as Term, state[Slot.VCC + 1] as Term)));
  args.push(state[Slot.MODE] as Term);
  if (row.uses.includes('M0')) args.push(state[Slot.M0] as Term);
  if (operandNamed(instruction, 'dpp_ctrl') !== undefined) args.push(exec);
  const targets: Register[] = [];
  row.operands.forEach((o, i) => {
    const operand = instruction.operands[i];
    if (o.isOut && isVectorRegister(operand)) targets.push(operand);
  });
  if (keepsDestination(instruction, op)) {
    for (const target of targets) {
      for (let n = 0; n < target.dwords; n++) args.push(masks.view(exec, readRegisterWord(step, target, n)));
    }
  }
  const key = `${SAME_OPERATION[row.operation] ?? row.operation} ${parameters(instruction, constants)}`;
  const values: [Register, number, Term][] = [];
  for (const [t, target] of targets.entries()) {
    for (let n = 0; n < target.dwords; n++) {
      const value = terms.make('operation', 'i32', args, { attr: `${key}#${t}.${n}`, isUniform: false });
      values.push([target, n, value]);
    }
  }
  const mask =
    op.kind === 'vector' && op.mask !== undefined
      ? masks.ballot(exec, terms.make('operation', 'bool', args, { attr: `${key}#mask`, isUniform: false }))
      : undefined;
  for (const [target, n, value] of values) {
    if (isMatrix) state[slotOf(target) + n] = value;
    else writeLanes(step, target, n, value);
  }
  if (mask !== undefined) writeMask(step, mask);
  else if (targets.length === 0) throw new NotFollowed(`'${row.mnemonic}' has no destination that is followed`);
}

function slotOf(register: Register): number {
  return (register.file === 'a' ? Slot.AGPR0 : Slot.VGPR0) + register.index;
}
