// The expression language of instruction semantics: small typed expressions over one lane's (or the scalar unit's) values.
// Operator names follow WebAssembly (`f32.add`, `i32.shr_u`), so a backend can map most of them one to one.
// Integers have no sign; operators do. `f16` and `bf16` values are rounded to their format after every operator.

export type ValueType = 'i32' | 'i64' | 'f16' | 'bf16' | 'f32' | 'f64' | 'bool';

/** A node. Leaves: `const`, `source` (operand words), `scc`, `exec`, `carry`, `lane`, … (see LEAVES). */
export interface Expr {
  /** `TYPE.OPERATOR` for operators (the type of the operation), a bare name for leaves. */
  readonly op: string;
  /** The type of the value. */
  readonly type: ValueType;
  readonly args: readonly Expr[];
  /** `const`: the value; `source`: index of the source; others: an immediate parameter. */
  readonly value: number | bigint;
  /** `source`: which part of the operand (element of a packed operand, or 32-bit word). */
  readonly part: number;
}

/** Leaf names and what they stand for. */
export const LEAVES = {
  const: 'a constant',
  source: 'a source operand after its modifiers',
  scc: 'the scalar condition code',
  exec: 'the EXEC mask',
  carry: "this lane's bit of the instruction's mask input (VCC or an SGPR pair)",
  lane: 'the lane number',
  vccz: 'VCC is zero',
  execz: 'EXEC is zero',
} as const;

const NO_ARGS: readonly Expr[] = [];

function node(op: string, type: ValueType, args: readonly Expr[], value: number | bigint = 0, part = 0): Expr {
  return { op, type, args, value, part };
}

/** An operator node: `op` without its type prefix, which is that of the first argument unless given. */
export function operate(op: string, type: ValueType, args: readonly Expr[], prefix?: ValueType): Expr {
  const first = args[0];
  return node(`${prefix ?? first?.type ?? type}.${op}`, type, args);
}

// Leaves -------------------------------------------------------------------------------------------------------------------------

export function i32(value: number): Expr {
  return node('const', 'i32', NO_ARGS, value | 0);
}
export function i64(value: bigint | number): Expr {
  return node('const', 'i64', NO_ARGS, BigInt.asUintN(64, BigInt(value)));
}
/** A floating-point constant of type `type`. */
export function float(type: ValueType, value: number): Expr {
  return node('const', type, NO_ARGS, value);
}
export function source(type: ValueType, index: number, part = 0): Expr {
  return node('source', type, NO_ARGS, index, part);
}
export const scc: Expr = node('scc', 'bool', NO_ARGS);
export const exec: Expr = node('exec', 'i64', NO_ARGS);
export const carry: Expr = node('carry', 'bool', NO_ARGS);
export const lane: Expr = node('lane', 'i32', NO_ARGS);
export const vccz: Expr = node('vccz', 'bool', NO_ARGS);
export const execz: Expr = node('execz', 'bool', NO_ARGS);

// Operators ----------------------------------------------------------------------------------------------------------------------

type Binary = (a: Expr, b: Expr) => Expr;
type Unary = (a: Expr) => Expr;
const binary =
  (op: string): Binary =>
  (a, b) =>
    operate(op, a.type, [a, b]);
const unary =
  (op: string): Unary =>
  (a) =>
    operate(op, a.type, [a]);
const compare =
  (op: string): Binary =>
  (a, b) =>
    operate(op, 'bool', [a, b]);

export const add = binary('add');
export const sub = binary('sub');
export const mul = binary('mul');
export const and = binary('and');
export const or = binary('or');
export const xor = binary('xor');
/** Shift counts are i32 and taken modulo the width. */
export const shl = binary('shl');
export const shrS = binary('shr_s');
export const shrU = binary('shr_u');
export const mulhiS = binary('mulhi_s');
export const mulhiU = binary('mulhi_u');
export const minS = binary('min_s');
export const minU = binary('min_u');
export const maxS = binary('max_s');
export const maxU = binary('max_u');
export const not = unary('not');
export const neg = unary('neg');
export const abs = unary('abs');
/** Number of leading zeros; the width for 0. i32 result. */
export const clz: Unary = (a) => operate('clz', 'i32', [a]);
export const ctz: Unary = (a) => operate('ctz', 'i32', [a]);
export const popcnt: Unary = (a) => operate('popcnt', 'i32', [a]);
export const bitrev = unary('bitrev');

export const eq = compare('eq');
export const ne = compare('ne');
/** Integer comparisons carry their sign; float comparisons are false on NaN. */
export const ltS = compare('lt_s');
export const ltU = compare('lt_u');
export const gtS: Binary = (a, b) => ltS(b, a);
export const gtU: Binary = (a, b) => ltU(b, a);
export const leS: Binary = (a, b) => operate('not', 'bool', [ltS(b, a)]);
export const leU: Binary = (a, b) => operate('not', 'bool', [ltU(b, a)]);
export const geS: Binary = (a, b) => operate('not', 'bool', [ltS(a, b)]);
export const geU: Binary = (a, b) => operate('not', 'bool', [ltU(a, b)]);
export const lt = compare('lt');
export const le = compare('le');
export const gt: Binary = (a, b) => lt(b, a);
export const ge: Binary = (a, b) => le(b, a);
export const isNan: Unary = (a) => operate('is_nan', 'bool', [a]);

/** `min`/`max` of IEEE 754-2008 minNum/maxNum: a NaN loses; `minimum`/`maximum` of 754-2019: a NaN wins. */
export const fmin = binary('min');
export const fmax = binary('max');
/**
 * v_min and v_max on register bits, as integers of the format's width, since bits alone show which NaN it is: a quiet NaN loses, a
 * signalling one of MODE.IEEE wins and becomes quiet; -0 is below +0.
 */
export const minBits = (type: ValueType, a: Expr, b: Expr): Expr => operate('min_bits', a.type, [a, b], type);
export const maxBits = (type: ValueType, a: Expr, b: Expr): Expr => operate('max_bits', a.type, [a, b], type);
export const minimum = binary('minimum');
export const maximum = binary('maximum');
export const floor = unary('floor');
export const ceil = unary('ceil');
export const trunc = unary('trunc');
export const rint = unary('rint');
export const fma = (a: Expr, b: Expr, c: Expr): Expr => operate('fma', a.type, [a, b, c]);

export const select = (condition: Expr, a: Expr, b: Expr): Expr => operate('select', a.type, [condition, a, b], a.type);

/** Converts or reinterprets: `convert('f32', 'from_i32_s', x)` is the node `f32.from_i32_s`. */
export const convert = (type: ValueType, op: string, ...args: Expr[]): Expr => operate(op, type, args, type);

export const extendS = (a: Expr): Expr => convert('i64', 'extend_s', a);
export const extendU = (a: Expr): Expr => convert('i64', 'extend_u', a);
export const wrap = (a: Expr): Expr => convert('i32', 'wrap', a);
export const high = (a: Expr): Expr => wrap(shrU(a, i32(32)));
/** The raw bits of a float as an integer of its width (f16 and bf16: in the low half of an i32). */
export const bits = (a: Expr): Expr => operate('bits', a.type === 'f64' ? 'i64' : 'i32', [a]);
/** The float of these bits. At the root of a result it says that the bits go into the register as they are, NaNs too. */
export const fromBits = (type: ValueType, a: Expr): Expr => convert(type, 'from_bits', a);
/** The register bits of a float source, after its modifiers. */
export const rawBits = (a: Expr): Expr => node('source', a.type === 'f64' ? 'i64' : 'i32', NO_ARGS, a.value, a.part);
export const boolToI32 = (a: Expr): Expr => select(a, i32(1), i32(0));

/** Unsigned bit field [offset, offset + width) with constant bounds. */
export function field(a: Expr, offset: number, width: number): Expr {
  const shifted = offset === 0 ? a : shrU(a, i32(offset));
  return offset + width === 32 ? shifted : and(shifted, i32(2 ** width - 1));
}
/** Signed bit field with constant bounds. */
export function fieldS(a: Expr, offset: number, width: number): Expr {
  return shrS(shl(a, i32(32 - width - offset)), i32(32 - width));
}
/** { high, low } halves into one i32. */
export const pack16 = (low: Expr, high16: Expr): Expr => or(and(low, i32(0xffff)), shl(high16, i32(16)));
export const pack64 = (low: Expr, highWord: Expr): Expr => or(extendU(low), shl(extendU(highWord), i32(32)));
