// Constants of source operands: which values an operand type accepts inline or as literal, and how they are encoded.
// Sources: AMDGPUOperand::isInlinableImm, isLiteralImm, addLiteralImmOperand; AMDGPUMCCodeEmitter::getLitEncoding.
import { inlineConstant } from '../codec/decode.ts';
import type { OperandClass } from '../table/operand-classes.ts';
import { doubleBits } from '../text/real.ts';
import type { Operand } from '../types.ts';
import {
  CONSTANT_INLINE,
  CONSTANT_LITERAL,
  CONSTANT_MANDATORY,
  ImmType,
  integerOf,
  KIND_IMM,
  MOD_ABS,
  MOD_LIT,
  MOD_NEG,
  MODS_FP,
  type ParsedOperand,
} from './state.ts';

/** Types that the assembler checks constants against. */
export type ConstantType =
  | 'i16'
  | 'f16'
  | 'bf16'
  | 'i32'
  | 'f32'
  | 'i64'
  | 'f64'
  | 'v2i16'
  | 'v2f16'
  | 'v2bf16'
  | 'v2i32'
  | 'v2f32';

const FP32 = inlineMap([
  0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
]);
const FP16 = inlineMap([0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118]);
const BF16 = inlineMap([0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22]);
/** High halves of the doubles whose low half is 0; 1/(2π) has one. */
const FP64_HIGH = inlineMap([
  0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000,
]);
const INV_2PI_64 = 0x3fc45f306dc9c882n;

function inlineMap(values: readonly number[]): ReadonlyMap<number, number> {
  return new Map(values.map((v, i) => [v, 240 + i]));
}

/** Encoding of a small integer, 0 when it is not inline. */
function inlineInteger(value: number): number {
  if (value >= 0 && value <= 64) return 128 + value;
  return value >= -16 && value < 0 ? 192 - value : 0;
}

/** Encoding of a 32-bit pattern (signed or unsigned) as inline constant, or 0. */
export function inline32(bits: number): number {
  return inlineInteger(bits | 0) || (FP32.get(bits >>> 0) ?? 0);
}

function inline16(value: number, table: ReadonlyMap<number, number>): number {
  return inlineInteger((value << 16) >> 16) || (table.get(value & 0xffff) ?? 0);
}

function inline64(bits: bigint): number {
  if (bits >= -16n && bits <= 64n) return inlineInteger(Number(bits));
  const unsigned = BigInt.asUintN(64, bits);
  if (unsigned === INV_2PI_64) return 248;
  if ((unsigned & 0xffffffffn) !== 0n) return 0;
  return FP64_HIGH.get(Number(unsigned >> 32n)) ?? 0;
}

const view = new DataView(new ArrayBuffer(8));

/** The bits of a double rounded to single precision. */
function singleBits(value: number): number {
  view.setFloat32(0, value);
  return view.getUint32(0);
}

/** A double rounded once to `mantissa` bits with smallest exponent `minExponent`; undefined magnitude above `max` is infinity. */
function roundTo(value: number, mantissa: number, minExponent: number, max: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  view.setFloat64(0, value);
  const exponent = Math.max(((view.getUint16(0) >> 4) & 0x7ff) - 1023, minExponent);
  const ulp = 2 ** (exponent - mantissa);
  const scaled = value / ulp;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
  const result = rounded * ulp;
  return Math.abs(result) > max ? Math.sign(value) * Number.POSITIVE_INFINITY : result;
}

function roundHalf(value: number): number {
  return roundTo(value, 10, -14, 65504);
}

function roundBfloat(value: number): number {
  return roundTo(value, 7, -126, 3.3895313892515355e38);
}

/** The 16 bits of a value that is exact in half precision. */
function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const v = Math.abs(value);
  if (v === 0) return sign;
  if (!Number.isFinite(v)) return sign | 0x7c00;
  if (v < 2 ** -14) return sign | (v / 2 ** -24);
  view.setFloat64(0, v);
  const exponent = ((view.getUint16(0) >> 4) & 0x7ff) - 1023;
  return sign | ((exponent + 15) << 10) | ((v / 2 ** exponent - 1) * 1024);
}

function bfloatBits(value: number): number {
  return singleBits(roundBfloat(value)) >>> 16;
}

/** Whether rounding neither overflows nor loses bits below the normal range (precision may be lost). */
function representable(value: number, rounded: number, minNormal: number): boolean {
  if (rounded === value || !Number.isFinite(value)) return true;
  return Number.isFinite(rounded) && Math.abs(rounded) >= minNormal;
}

function fitsSingle(value: number): boolean {
  return representable(value, Math.fround(value), 2 ** -126);
}
function fitsHalf(value: number): boolean {
  return representable(value, roundHalf(value), 2 ** -14);
}

function fitsBits(op: ParsedOperand, bits: 16 | 32): boolean {
  if (op.wide !== undefined) return false;
  const limit = 2 ** bits;
  return op.number < limit && op.number >= -limit / 2;
}

/** The operand's value as 64 bits: the integer, or the bits of the double. */
export function bits64(op: ParsedOperand): bigint {
  return op.isFloat ? BigInt.asIntN(64, doubleBits(op.number)) : integerOf(op);
}

/** Whether a constant is encodable inline in an operand of that type. */
export function isInlinable(op: ParsedOperand, type: ConstantType): boolean {
  if (op.kind !== KIND_IMM || op.type !== ImmType.None || (op.mods & MOD_LIT) !== 0) return false;
  if (type === 'f64' || type === 'i64') {
    if (!op.isFloat && op.wide === undefined && op.number >= -16 && op.number <= 64) return true;
    return inline64(bits64(op)) !== 0;
  }
  if (op.isFloat) return inlinableFloat(op.number, type);
  const sixteen =
    type === 'i16' || type === 'f16' || type === 'bf16' || type === 'v2i16' || type === 'v2f16' || type === 'v2bf16';
  if (!fitsBits(op, sixteen ? 16 : 32)) return false;
  if (!sixteen) return inline32(op.number) !== 0;
  const low = (op.number << 16) >> 16;
  if (type === 'i16' || type === 'v2i16') return inline32(low) !== 0;
  return inline16(low, type === 'f16' || type === 'v2f16' ? FP16 : BF16) !== 0;
}

function inlinableFloat(value: number, type: ConstantType): boolean {
  switch (type) {
    case 'f16':
      return fitsHalf(value) && inline16(halfBits(roundHalf(value)), FP16) !== 0;
    case 'v2f16':
      return fitsSingle(value) && inline16(halfBits(roundHalf(Math.fround(value))), FP16) !== 0;
    // LLVM checks 16-bit types against half precision and goes on with the rounded value.
    case 'bf16':
      return fitsHalf(value) && inline16(bfloatBits(roundHalf(value)), BF16) !== 0;
    case 'v2bf16':
      return fitsSingle(value) && inline16(bfloatBits(Math.fround(value)), BF16) !== 0;
    case 'i16':
      return fitsHalf(value) && inline32(singleBits(roundHalf(value))) !== 0;
    default:
      return fitsSingle(value) && inline32(singleBits(value)) !== 0;
  }
}

/** Whether a constant is encodable as a literal of that type. */
export function isLiteral(op: ParsedOperand, type: ConstantType): boolean {
  if (op.kind !== KIND_IMM || op.type !== ImmType.None) return false;
  if (!op.isFloat) {
    if (type === 'f64' && (op.mods & MODS_FP) !== 0) return false;
    return fitsBits(op, type === 'i16' || type === 'f16' || type === 'bf16' ? 16 : 32);
  }
  switch (type) {
    case 'f64':
      return true;
    case 'i64':
      return false;
    case 'f16':
    case 'v2f16':
    case 'i16':
    // LLVM checks scalar bf16 literals against half precision.
    case 'bf16':
      return fitsHalf(op.number);
    default:
      return fitsSingle(op.number);
  }
}

/** Encodes the constant of a source operand. `applyMods`: the operand has no modifier bits, so neg and abs act on the constant. */
export function encodeConstant(op: ParsedOperand, cls: OperandClass, applyMods: boolean): Operand {
  const forced = (op.mods & MOD_LIT) !== 0;
  const mods = applyMods ? op.mods & MODS_FP : 0;
  if (cls.operandType === 'KIMM32' || cls.operandType === 'KIMM16') {
    op.constant = CONSTANT_MANDATORY;
    const bits = cls.operandType === 'KIMM16' && op.isFloat ? pattern16(op, mods) : pattern32(op, mods);
    if ((op.mods & MOD_LIT) !== 0) return { kind: 'literal', bits: bits >>> 0, written: true };
    return { kind: 'literal', bits: bits >>> 0 };
  }
  const [encoding, bits] = encodeByType(op, cls, mods);
  op.constant = encoding !== 0 ? CONSTANT_INLINE : CONSTANT_LITERAL;
  if (encoding !== 0 && !forced) {
    return cls.type === 'int16' && encoding >= 240
      ? { kind: 'inline', encoding, written: true }
      : inlineConstant(encoding);
  }
  if (forced) return { kind: 'literal', bits: bits >>> 0, written: true };
  return { kind: 'literal', bits: bits >>> 0 };
}

/** Inline encoding (0: none) and literal bits of a constant in an operand of that type. */
function encodeByType(op: ParsedOperand, cls: OperandClass, mods: number): readonly [number, number] {
  switch (cls.type) {
    case 'int64':
    case 'fp64': {
      let bits = bits64(op);
      if (mods & MOD_ABS) bits &= 0x7fffffffffffffffn;
      if (mods & MOD_NEG) bits ^= 1n << 63n;
      bits = BigInt.asIntN(64, bits);
      const encoding = inline64(bits);
      const high = op.isFloat;
      if (high && encoding === 0) op.lossy = (bits & 0xffffffffn) !== 0n;
      return [encoding, Number(BigInt.asUintN(32, high ? bits >> 32n : bits))];
    }
    case 'int16':
    case 'v2int16': {
      const bits = op.isFloat ? singleBits(op.number) : op.number;
      if (cls.type === 'v2int16') return [inline32(bits), bits];
      const encoding = op.isFloat ? inline32(bits) : inlineInteger(bits);
      return [encoding, bits];
    }
    case 'fp16': {
      const bits = pattern16(op, mods);
      return [inline16(bits, FP16), bits];
    }
    case 'bf16': {
      const bits = patternBf16(op);
      return [inline16(bits, BF16), bits];
    }
    case 'v2fp16':
    case 'v2fp16splat': {
      const bits = op.isFloat ? pattern16(op, mods) : op.number | 0;
      return [inlineInteger(bits) || (FP16.get(bits >>> 0) ?? 0), bits];
    }
    case 'v2bf16': {
      const bits = op.isFloat ? patternBf16(op) : op.number | 0;
      return [inlineInteger(bits) || (BF16.get(bits >>> 0) ?? 0), bits];
    }
    default: {
      const bits = pattern32(op, mods);
      return [inline32(bits), bits];
    }
  }
}

function pattern32(op: ParsedOperand, mods: number): number {
  let bits = op.isFloat ? singleBits(withMods(op.number, mods)) : op.number | 0;
  if (!op.isFloat) {
    if (mods & MOD_ABS) bits &= 0x7fffffff;
    if (mods & MOD_NEG) bits ^= 0x80000000;
  }
  return bits;
}

function pattern16(op: ParsedOperand, mods: number): number {
  if (op.isFloat) return halfBits(roundHalf(withMods(op.number, mods)));
  let bits = op.number & 0xffff;
  if (mods & MOD_ABS) bits &= 0x7fff;
  if (mods & MOD_NEG) bits ^= 0x8000;
  return bits;
}

function patternBf16(op: ParsedOperand): number {
  if (!op.isFloat) return op.number & 0xffff;
  // 1/(2π) in double precision would round to a neighbour of the inline constant.
  return doubleBits(op.number) === 0x3fc45f306725feedn ? 0x3e22 : bfloatBits(op.number);
}

function withMods(value: number, mods: number): number {
  const magnitude = mods & MOD_ABS ? Math.abs(value) : value;
  return mods & MOD_NEG ? -magnitude : magnitude;
}
