// The update of an atomic as SIMD code: four lanes of 32 bits, or two of 64. The form for one lane is atomic-update.ts; both must agree.
import type { AtomicOperation, Expr } from '../../../../isa/semantics/index.ts';
import type { WasmFunction } from '../emit.ts';
import { choosing } from '../features.ts';
import { decodeHighHalf, decodeOrdinary, encodeHalf } from '../half.ts';
import { canonical, canonicalDouble } from '../rounding.ts';
import { MINIMA } from './atomic-update.ts';

/** Locals of the update's inputs, as raw words: v128. */
export interface VectorInputs {
  readonly type: AtomicOperation['type'];
  readonly values: readonly [memory: number, data: number, data2: number];
  /** f32: a local (v128), the bits that denormals lose. */
  readonly flushed: number | undefined;
  /** f16: locals with the values of memory's halves and of the data's, low ones first. */
  readonly halves?: readonly (readonly [number, number])[];
}

/** SIMD has no unsigned comparison and no extremes of 64-bit integers. */
const SCALAR_ONLY = /^i64\.(lt_u|min|max)/;

/** Whether an update has a SIMD form. */
export function hasVectorForm(e: Expr): boolean {
  return !SCALAR_ONLY.test(e.op) && e.args.every(hasVectorForm);
}

const SHAPES: Record<Expr['type'], string> = {
  i32: 'i32x4',
  i64: 'i64x2',
  f32: 'f32x4',
  f64: 'f64x2',
  f16: 'f32x4',
  bf16: 'f32x4',
  bool: 'v128',
};

/** Pushes the value of an update expression; booleans are masks. */
function push(fn: WasmFunction, e: Expr, inputs: VectorInputs): void {
  const dot = e.op.indexOf('.');
  const name = e.op.slice(dot + 1);
  if (e.op === 'source') {
    pushSource(fn, e, inputs);
    return;
  }
  if (e.op === 'const') {
    const value = BigInt(e.value as number);
    const low = Number(BigInt.asIntN(32, value));
    const high = e.type === 'i64' ? Number(BigInt.asIntN(32, value >> 32n)) : low;
    fn.v128(low, high, low, high);
    return;
  }
  const minimum = MINIMA.exec(e.op);
  if (minimum?.[1] === 'f') {
    pushFloatMinimum(fn, e, `${SHAPES[e.type]}.${minimum[3]}`, inputs);
    return;
  }
  const arguments_ = name === 'select' ? [e.args[1], e.args[2], e.args[0]] : e.args;
  for (const a of arguments_) push(fn, a as Expr, inputs);
  if (name === 'select') fn.op(choosing());
  else if (['and', 'or', 'xor', 'not'].includes(name)) fn.op(`v128.${name}`);
  else fn.op(`${SHAPES[(e.args[0] as Expr).type]}.${name}`);
}

function pushSource(fn: WasmFunction, e: Expr, { type, values, flushed, halves }: VectorInputs): void {
  if (e.type === 'f16') {
    fn.get(halves?.[Number(e.value)]?.[e.part as 0 | 1] as number);
    return;
  }
  const value = values[Number(e.value)] as number;
  fn.get(value);
  if (e.type === 'f32' && flushed !== undefined) {
    fn.get(value)
      .v128(...splat(0x7f800000))
      .op('v128.and')
      .v128(0, 0, 0, 0)
      .op('i32x4.eq');
    fn.get(flushed).op('v128.and').op('v128.andnot');
  } else if (e.type === 'bf16') {
    if (type !== 'bf16x2' || e.part === 0) fn.i32(16).op('i32x4.shl');
    else fn.v128(...splat(-65536)).op('v128.and');
  }
}

/** An extreme where a NaN loses. */
function pushFloatMinimum(fn: WasmFunction, e: Expr, operator: string, inputs: VectorInputs): void {
  const shape = operator.slice(0, 5);
  const [x, y] = [fn.local('v128'), fn.local('v128')];
  push(fn, e.args[0] as Expr, inputs);
  fn.set(x);
  push(fn, e.args[1] as Expr, inputs);
  fn.set(y);
  fn.get(y).get(x).get(y).op(operator).get(x);
  fn.get(y).get(y).op(`${shape}.eq`).op(choosing());
  fn.get(x).get(x).op(`${shape}.ne`).op(choosing());
  fn.release('v128', x);
  fn.release('v128', y);
}

/**
 * Locals with the values of the halves of words: one look finds denormals, infinities and NaNs among all of them, and the halves of others
 * are as good as decoded.
 */
function decodedHalves(fn: WasmFunction, words: readonly number[]): (readonly [number, number])[] {
  const decoded = words.map(() => [fn.local('v128'), fn.local('v128')] as const);
  const size = fn.local('v128');
  for (const [n, x] of words.entries()) {
    fn.get(x)
      .v128(...splat(0x7fff7fff))
      .op('v128.and')
      .tee(size);
    fn.v128(...splat(0x04000400)).op('i16x8.sub');
    fn.v128(...splat(0x78007800)).op('i16x8.ge_u');
    fn.get(size).v128(0, 0, 0, 0).op('i16x8.ne').op('v128.and');
    if (n > 0) fn.op('v128.or');
  }
  fn.release('v128', size);
  const eachHalf = (decode: () => void): void => {
    for (const [n, x] of words.entries())
      for (const [part, to] of (decoded[n] as readonly [number, number]).entries()) {
        fn.get(x);
        if (part === 0) fn.i32(16).op('i32x4.shl');
        decode();
        fn.set(to);
      }
  };
  fn.op('v128.any_true').if();
  eachHalf(() => decodeHighHalf(fn));
  fn.else();
  eachHalf(() => decodeOrdinary(fn));
  fn.end();
  return decoded;
}

/** Pushes the new raw words of memory, floats that are computed with the default quiet NaN. */
export function pushVectorUpdate(fn: WasmFunction, op: AtomicOperation, given: VectorInputs): void {
  const halves = op.type === 'f16x2' ? decodedHalves(fn, given.values.slice(0, 2)) : [];
  const inputs = { ...given, halves };
  const [first, second] = op.update as [Expr, Expr | undefined];
  push(fn, first, inputs);
  if (first.type === 'f32') {
    const value = fn.local('v128');
    fn.set(value);
    canonical(fn, value);
    fn.release('v128', value);
  } else if (first.type === 'f64') canonicalDouble(fn);
  else if (second !== undefined) {
    const encode = op.type === 'bf16x2' ? encodeBrain : (to: WasmFunction): void => encodeHalf(to);
    encode(fn);
    push(fn, second, inputs);
    encode(fn);
    fn.i32(16).op('i32x4.shl').op('v128.or');
  }
  for (const local of halves.flat()) fn.release('v128', local);
}

/** f32 values -> bf16 bits, rounded to nearest even. */
function encodeBrain(fn: WasmFunction): void {
  const x = fn.local('v128');
  // The value, half of its last place, and the lowest kept bit for ties.
  fn.tee(x)
    .get(x)
    .i32(16)
    .op('i32x4.shr_u')
    .v128(...splat(1))
    .op('v128.and')
    .op('i32x4.add');
  fn.v128(...splat(0x7fff))
    .op('i32x4.add')
    .i32(16)
    .op('i32x4.shr_u');
  fn.v128(...splat(0x7fc0))
    .get(x)
    .get(x)
    .op('f32x4.eq')
    .op(choosing());
  fn.release('v128', x);
}

const splat = (word: number): [number, number, number, number] => [word, word, word, word];
