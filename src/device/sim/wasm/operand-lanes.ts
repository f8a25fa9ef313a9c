// Source operands of vector instructions as values of a chunk of four lanes: register or splat, SDWA selection, op_sel, abs, neg,
// denormals. The interpreter's counterpart is interpreter/operands.ts (`bindSource`); both must agree.

import { bitsFromF32, f16FromBits } from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import type { Expr, OperandType, SourceSpec, VectorOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand, Register } from '../../../isa/types.ts';
import {
  ABS,
  inlineWords,
  isVector,
  NEG,
  OP_SEL_0,
  OP_SEL_1,
  opSelOf,
  SEXT,
  sdwaField,
} from '../interpreter/operands.ts';
import { registerNumber } from './context.ts';
import { decodeHalf, decodeHighHalf } from './half.ts';
import { flushDenormals } from './rounding.ts';
import { constantOf, NoCode, scalarRegister } from './scalar.ts';
import type { LaneTarget } from './template.ts';

/** Which denormals sources keep, from MODE. */
export interface Denormals {
  readonly in32: boolean;
  readonly in64: boolean;
}

/** A bound source operand. */
export interface LaneOperand {
  readonly type: OperandType;
  readonly operand: Operand;
  /** Field of the word that is read. */
  readonly shift: number;
  readonly bits: number;
  readonly signed: boolean;
  readonly abs: boolean;
  readonly neg: boolean;
  readonly modifiers: number;
  readonly packed: boolean;
  readonly isFloat: boolean;
  /** Pushes a word of it that has moved across lanes (DPP), instead of the register's. */
  readonly moved: ((word: number) => void) | undefined;
}

const isFloatModifier = (cls: string | undefined): boolean =>
  cls !== undefined && (/^FP/.test(cls) || /^Packed.*F/.test(cls));

/** Binds source `k` of an instruction. */
export function bindLaneOperand(
  instruction: Instruction,
  k: number,
  spec: SourceSpec,
  part: VectorOperation['sourcePart'],
  moved: LaneOperand['moved'],
): LaneOperand {
  const { row } = instruction;
  const operand =
    operandNamed(instruction, spec.operand) ??
    (spec.operand === 'src2' ? operandNamed(instruction, 'vdst') : undefined);
  if (operand === undefined) throw new NoCode(`${row.name} has no operand ${spec.operand}`);
  const { type } = spec;
  const modifierName = `${spec.operand}_modifiers`;
  const modifiers = immediateOf(instruction, modifierName);
  const isFloat = isFloatModifier(row.operands.find((o) => o.name === modifierName)?.cls);
  const packed = row.encoding === 'VOP3P';
  const narrow = type === 'f16' || type === 'bf16' || type === 'u16' || type === 'i16';
  let field = { shift: 0, bits: 32 };
  let signed = false;
  if (row.operands.some((o) => o.name === `${spec.operand}_sel`)) {
    field = sdwaField(immediateOf(instruction, `${spec.operand}_sel`));
    signed = !isFloat && (modifiers & SEXT) !== 0;
  } else if (part !== undefined && k === 0) {
    const opSel = opSelOf(instruction);
    field = part === 'byte' ? { shift: 8 * (opSel & 3), bits: 8 } : { shift: 16 * (opSel & 1), bits: 16 };
  } else if (narrow && row.flags.has('VOP3_OPSEL') && modifiers & OP_SEL_0) field = { shift: 16, bits: 16 };
  return {
    type,
    operand,
    ...field,
    signed,
    abs: isFloat && (modifiers & ABS) !== 0 && !(packed && type !== 'mix'),
    neg: isFloat && (modifiers & NEG) !== 0,
    modifiers,
    packed,
    isFloat,
    moved,
  };
}

const splat = (word: number): [number, number, number, number] => [word, word, word, word];

/** Pushes word `n` of an operand as it is in its register. `raw`: NaNs may have any payload. */
function pushWord(run: LaneTarget, o: LaneOperand, n: number, raw: boolean, type: OperandType = o.type): void {
  const { fn } = run;
  const { operand } = o;
  if (o.moved !== undefined) {
    o.moved(n);
    return;
  }
  if (isVector(operand)) {
    run.pushRegister(registerNumber(operand) + n, raw);
    return;
  }
  const wordN = operand.kind === 'inline' && (type === 'f32x2' || type === 'i32x2') ? 0 : n;
  const constant = constantOf(operand, type);
  if (constant !== undefined) {
    fn.v128(...splat(Number(BigInt.asIntN(32, constant >> BigInt(32 * Math.min(wordN, 1))))));
    return;
  }
  const register = scalarRegister(operand);
  if (register === undefined) throw new NoCode('special scalar source');
  run.pushSplat(register + n);
}

/** Applies field selection, abs and neg to the word on the stack. */
function modify(run: LaneTarget, o: LaneOperand, sign: number): void {
  const { fn } = run;
  if (o.bits < 32) {
    const left = 32 - o.bits - o.shift;
    if (o.signed) {
      if (left > 0) fn.i32(left).op('i32x4.shl');
      fn.i32(32 - o.bits).op('i32x4.shr_s');
    } else if (left === 0) fn.i32(o.shift).op('i32x4.shr_u');
    else {
      if (o.shift > 0) fn.i32(o.shift).op('i32x4.shr_u');
      fn.v128(...splat(2 ** o.bits - 1)).op('v128.and');
    }
  }
  if (o.abs) fn.v128(...splat(~sign)).op('v128.and');
  if (o.neg) fn.v128(...splat(sign)).op('v128.xor');
}

/** Which half of a packed operand's word an element (0 or 1) is, and whether its sign is flipped. */
function elementOf(o: LaneOperand, element: number): { isHigh: boolean; flip: boolean } {
  const { modifiers, packed, isFloat } = o;
  const isHigh = element === 0 ? packed && (modifiers & OP_SEL_0) !== 0 : !(packed && !(modifiers & OP_SEL_1));
  const flip = element === 0 ? o.neg : isFloat && packed && modifiers & ABS ? true : !packed && o.neg;
  return { isHigh, flip };
}

/** Pushes one half-word element of a packed operand, zero-extended and negated as its modifiers say. */
function pushElement(run: LaneTarget, o: LaneOperand, element: number): void {
  const { fn } = run;
  const { isHigh, flip } = elementOf(o, element);
  pushWord(run, o, 0, false);
  if (isHigh) fn.i32(16).op('i32x4.shr_u');
  else fn.v128(...splat(0xffff)).op('v128.and');
  if (flip) fn.v128(...splat(0x8000)).op('v128.xor');
}

/** The word of an operand that is a constant and all of it. */
function wholeConstant(o: LaneOperand): number | undefined {
  if (isVector(o.operand) || o.moved !== undefined || o.bits < 32) return undefined;
  const constant = constantOf(o.operand, o.type);
  return constant === undefined ? undefined : Number(BigInt.asIntN(32, constant));
}

/** Pushes the value of f16 bits that are known when the code is written, as decodeHalf gives it. */
function pushKnownHalf(run: LaneTarget, bits: number, keepsDenormals: boolean): void {
  const sign = bits & 0x8000;
  const size = bits & 0x7fff;
  const special = 0x7f800000 | ((size & 0x3ff) << 13);
  const value = size < 0x400 && !keepsDenormals ? 0 : bitsFromF32(f16FromBits(size));
  run.fn.v128(...splat((sign << 16) | (size < 0x7c00 ? value : special)));
}

/** Pushes the value of one f16 element of a packed operand. */
function pushHalfElement(run: LaneTarget, o: LaneOperand, element: number, keepsDenormals: boolean): void {
  const { fn } = run;
  const { isHigh, flip } = elementOf(o, element);
  if (keepsDenormals && isVector(o.operand) && o.moved === undefined) {
    run.pushHalf(registerNumber(o.operand as Register), isHigh);
    if (flip) fn.neg('f32x4');
    return;
  }
  const constant = wholeConstant(o);
  if (constant !== undefined) {
    pushKnownHalf(run, ((isHigh ? constant >>> 16 : constant) & 0xffff) ^ (flip ? 0x8000 : 0), keepsDenormals);
    return;
  }
  pushWord(run, o, 0, false);
  if (!isHigh) fn.i32(16).op('i32x4.shl');
  if (flip) fn.v128(...splat(-0x80000000)).op('v128.xor');
  if (!keepsDenormals) flushDenormals(fn, 'high f16');
  decodeHighHalf(fn);
}

/** Pushes one word (0 or 1) of a packed 64-bit operand. */
function pushPackedWord(run: LaneTarget, o: LaneOperand, element: number, raw: boolean): void {
  const { fn } = run;
  const low = o.packed && o.modifiers & OP_SEL_0 ? 1 : 0;
  const high = o.packed && !(o.modifiers & OP_SEL_1) && o.type === 'f32x2' ? 0 : 1;
  pushWord(run, o, element === 0 ? low : high, raw);
  const flip = element === 0 ? o.neg : o.isFloat && (o.modifiers & ABS) !== 0;
  if (flip) fn.v128(...splat(-0x80000000)).op('v128.xor');
}

const isHalfPair = (type: OperandType): boolean => type === 'i16x2' || type === 'f16x2' || type === 'bf16x2';
const isWordPair = (type: OperandType): boolean => type === 'f32x2' || type === 'i32x2';

/** Pushes an i32 source. */
function pushInteger(run: LaneTarget, o: LaneOperand, part: number): void {
  const { fn } = run;
  if (isHalfPair(o.type)) {
    if (part > 1) throw new NoCode('element');
    pushElement(run, o, part);
    return;
  }
  if (isWordPair(o.type)) {
    pushPackedWord(run, o, part, false);
    return;
  }
  const wide = o.type === 'i64' || o.type === 'f64' || o.type === 'i128';
  pushWord(run, o, part, false);
  if (wide) {
    if (part === 1 && o.type !== 'i128') modify(run, { ...o, bits: 32 }, -0x80000000);
    return;
  }
  if (part > 0) throw new NoCode('word of a narrow operand');
  const narrow = o.type === 'u16' || o.type === 'i16' || o.type === 'f16' || o.type === 'bf16';
  modify(run, o, narrow ? 0x8000 : -0x80000000);
  if (o.type === 'u16') fn.v128(...splat(0xffff)).op('v128.and');
  else if (o.type === 'i16') fn.i32(16).op('i32x4.shl').i32(16).op('i32x4.shr_s');
  else if (o.type === 'u24') fn.v128(...splat(0xffffff)).op('v128.and');
  else if (o.type === 'i24') fn.i32(8).op('i32x4.shl').i32(8).op('i32x4.shr_s');
}

function pushSingle(run: LaneTarget, o: LaneOperand, part: number): void {
  const { fn } = run;
  if (o.type === 'mix') {
    if ((o.modifiers & OP_SEL_1) !== 0) {
      pushWord(run, o, 0, false);
      if (o.modifiers & OP_SEL_0) fn.i32(16).op('i32x4.shr_u');
      decodeHalf(fn);
    } else pushWord(run, o, 0, true, 'f32');
    if (o.abs) fn.abs('f32x4');
    if (o.neg) fn.neg('f32x4');
    return;
  }
  if (isWordPair(o.type)) {
    pushPackedWord(run, o, part, true);
    return;
  }
  // A part of a word shows the bits of a NaN.
  pushWord(run, o, 0, o.bits === 32);
  modify(run, o, -0x80000000);
}

/** Pushes two 64-bit values (`half` 0: lanes 0 and 1; 1: lanes 2 and 3). */
function pushDouble(run: LaneTarget, o: LaneOperand, half: number): void {
  const { fn } = run;
  if (!isVector(o.operand)) {
    const constant = constantOf(o.operand, o.type);
    if (constant !== undefined) {
      const [low, high] = [0n, 32n].map((s) => Number(BigInt.asIntN(32, constant >> s))) as [number, number];
      fn.v128(low, high, low, high);
      return;
    }
  }
  pushWord(run, o, 0, false);
  pushWord(run, o, 1, false);
  if (half === 0) fn.shuffle32(0, 4, 1, 5);
  else fn.shuffle32(2, 6, 3, 7);
}

/** Whether an operand is a half of a vector register of the same lane. */
function isWholeHalf(o: LaneOperand): o is LaneOperand & { readonly operand: Register } {
  return (
    isVector(o.operand) &&
    o.moved === undefined &&
    !o.signed &&
    (o.bits === 32 || (o.bits === 16 && o.shift % 16 === 0))
  );
}

/** Pushes a `source` node. 64-bit values are pushed by halves; f16 and bf16 as f32 values. */
export function pushLaneSource(
  run: LaneTarget,
  o: LaneOperand,
  e: Expr,
  half: number,
  denormals: VectorOperation['denormals'],
  mode: Denormals,
): void {
  const { fn } = run;
  switch (e.type) {
    case 'i32':
      pushInteger(run, o, e.part);
      return;
    case 'f32':
      pushSingle(run, o, e.part);
      if (denormals === 'flush' || (denormals === 'mode' && !mode.in32)) flushDenormals(fn, 'f32');
      return;
    case 'f16': {
      const keepsDenormals = mode.in64 || denormals === 'keep';
      if (isHalfPair(o.type)) {
        pushHalfElement(run, o, e.part, keepsDenormals);
        return;
      }
      if (keepsDenormals && isWholeHalf(o)) {
        run.pushHalf(registerNumber(o.operand), o.shift === 16);
        if (o.abs) fn.abs('f32x4');
        if (o.neg) fn.neg('f32x4');
        return;
      }
      const constant = wholeConstant(o);
      if (constant !== undefined) {
        pushKnownHalf(run, (constant & (o.abs ? 0x7fff : 0xffff)) ^ (o.neg ? 0x8000 : 0), keepsDenormals);
        return;
      }
      pushWord(run, o, 0, false);
      modify(run, o, 0x8000);
      if (!keepsDenormals) flushDenormals(fn, 'f16');
      decodeHalf(fn);
      return;
    }
    case 'bf16':
      if (isHalfPair(o.type)) pushElement(run, o, e.part);
      else {
        pushWord(run, o, 0, false);
        modify(run, o, 0x8000);
      }
      fn.i32(16).op('i32x4.shl');
      return;
    case 'f64':
      pushDouble(run, o, half);
      if (o.abs) fn.abs('f64x2');
      if (o.neg) fn.neg('f64x2');
      if (!mode.in64) flushDenormals(fn, 'f64');
      return;
    case 'i64':
      pushDouble(run, o, half);
      // The bits of an f64 operand.
      if (o.abs) fn.abs('f64x2');
      if (o.neg) fn.neg('f64x2');
      return;
    case 'bool':
      throw new NoCode('boolean source');
  }
}

/** Words an inline constant, literal or register operand has as an i32, when it is the same in all lanes and unmodified. */
export function uniformWord(o: LaneOperand): { constant: number } | { register: number } | undefined {
  if (isVector(o.operand) || o.bits < 32 || o.abs || o.neg) return undefined;
  if (isHalfPair(o.type) || isWordPair(o.type) || o.type === 'mix' || o.type === 'i128') return undefined;
  if (o.operand.kind === 'inline') return { constant: inlineWords(o.operand.encoding, o.type)[0] };
  const constant = constantOf(o.operand, o.type);
  if (constant !== undefined) return { constant: Number(BigInt.asIntN(32, constant)) };
  const register = scalarRegister(o.operand);
  return register === undefined ? undefined : { register };
}
