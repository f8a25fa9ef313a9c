// The update of an atomic as code for one lane, whose values are words in i32 or i64 locals.
import type { AtomicOperation, Expr } from '../../../../isa/semantics/index.ts';
import type { ValType, WasmFunction, WasmModule } from '../emit.ts';
import { decodeHalf, encodeHalf } from './half.ts';

/** Locals of the update's inputs, as raw words: i32, or i64 for 64-bit types. */
export interface Inputs {
  readonly type: AtomicOperation['type'];
  readonly module: WasmModule;
  readonly values: readonly [memory: number, data: number, data2: number];
  /** f32: a local (i32) that is not 0 where denormals are read as they are. */
  readonly keeps: number | undefined;
}

/** Expression operators that are one wasm instruction. */
const DIRECT = new Set(
  ['i32', 'i64'].flatMap((t) => ['add', 'sub', 'and', 'or', 'xor', 'eq', 'ne', 'lt_s', 'lt_u'].map((o) => `${t}.${o}`)),
);
const FLOATS = new Set(['f32.add', 'f64.add', 'f32.eq', 'f64.eq']);
export const MINIMA = /^([if])(32|64)\.(min|max)(_s|_u)?$/;

/** Whether every operator of an update can be compiled. */
export function canCompile(e: Expr): boolean {
  const known =
    e.op === 'source' ||
    e.op === 'const' ||
    DIRECT.has(e.op) ||
    FLOATS.has(e.op) ||
    MINIMA.test(e.op) ||
    /^(i32|i64)\.not$/.test(e.op) ||
    /^bool\.(or|and|not)$/.test(e.op) ||
    e.op === 'f16.add' ||
    e.op === 'bf16.add' ||
    e.op.endsWith('.select');
  return known && e.args.every(canCompile);
}

/** How a value type is held in wasm. */
function held(type: Expr['type']): ValType {
  if (type === 'bool') return 'i32';
  return type === 'f16' || type === 'bf16' ? 'f32' : type;
}

/** Pushes the value of an update expression. */
function push(fn: WasmFunction, e: Expr, inputs: Inputs): void {
  const arguments_ = (): void => {
    for (const a of e.args) push(fn, a, inputs);
  };
  if (e.op === 'source') {
    pushSource(fn, e, inputs);
    return;
  }
  if (e.op === 'const') {
    if (e.type === 'i64') fn.i64(BigInt(e.value));
    else fn.i32(Number(e.value));
    return;
  }
  if (DIRECT.has(e.op) || FLOATS.has(e.op)) {
    arguments_();
    fn.op(e.op);
    return;
  }
  if (e.op === 'f16.add' || e.op === 'bf16.add') {
    // Exact but for one rounding to f32, which is harmless before the rounding to 11 or 8 bits (24 >= 2·11 + 2).
    arguments_();
    fn.op('f32.add');
    return;
  }
  if (e.op.endsWith('.select')) {
    const [condition, yes, no] = e.args as [Expr, Expr, Expr];
    push(fn, yes, inputs);
    push(fn, no, inputs);
    push(fn, condition, inputs);
    fn.select();
    return;
  }
  if (e.op.endsWith('.not')) {
    // leS and relatives are `TYPE.not` of a comparison.
    arguments_();
    const [argument] = e.args as [Expr];
    if (argument.type === 'bool') fn.op('i32.eqz');
    else if (argument.type === 'i64') fn.i64(-1n).op('i64.xor');
    else fn.i32(-1).op('i32.xor');
    return;
  }
  if (e.op.startsWith('bool.')) {
    arguments_();
    fn.op(`i32.${e.op.slice(5)}`);
    return;
  }
  pushMinimum(fn, e, inputs);
}

function pushSource(fn: WasmFunction, e: Expr, { type, module, values, keeps }: Inputs): void {
  const value = values[Number(e.value)] as number;
  fn.get(value);
  if (e.type === 'f32') {
    if (keeps !== undefined) {
      fn.get(value)
        .i32(-0x80000000)
        .op('i32.and')
        .get(value)
        .i32(0x7f800000)
        .op('i32.and')
        .get(keeps)
        .op('i32.or')
        .select();
    }
    fn.op('f32.reinterpret_i32');
  } else if (e.type === 'f64') fn.op('f64.reinterpret_i64');
  else if (e.type === 'f16' || e.type === 'bf16') {
    if (type === 'bf16x2') {
      if (e.part === 0) fn.i32(16).op('i32.shl');
      else fn.i32(-65536).op('i32.and');
      fn.op('f32.reinterpret_i32');
    } else {
      if (e.part === 1) fn.i32(16).op('i32.shr_u');
      else fn.i32(0xffff).op('i32.and');
      fn.call(decodeHalf(module));
    }
  }
}

/** Integer minima and maxima; float ones where a NaN loses. */
function pushMinimum(fn: WasmFunction, e: Expr, inputs: Inputs): void {
  const match = MINIMA.exec(e.op);
  if (match === null) throw new Error(`no compiled form of ${e.op}`);
  const type = held(e.type);
  const [x, y] = [fn.local(type), fn.local(type)];
  push(fn, e.args[0] as Expr, inputs);
  fn.set(x);
  push(fn, e.args[1] as Expr, inputs);
  fn.set(y);
  if (match[1] === 'i') {
    fn.get(x).get(y).get(x).get(y);
    fn.op(`${type}.${match[3] === 'min' ? 'lt' : 'gt'}${match[4]}`).select();
  } else {
    fn.get(y).get(x).get(y).op(`${type}.${match[3]}`).get(x);
    fn.get(y).get(y).op(`${type}.eq`).select();
    fn.get(x).get(x).op(`${type}.eq`).op('i32.eqz').select();
  }
  fn.release(type, x);
  fn.release(type, y);
}

/** The float on the stack as a raw word, NaNs as the canonical one. */
export function pushFloatWord(fn: WasmFunction, type: 'f32' | 'f64'): void {
  const value = fn.local(type);
  if (type === 'f32') fn.tee(value).op('i32.reinterpret_f32').i32(0x7fc00000);
  else fn.tee(value).op('i64.reinterpret_f64').i64(0x7ff8000000000000n);
  fn.get(value).get(value).op(`${type}.eq`).select();
  fn.release(type, value);
}

/** Whether an update adds the datum to memory's float. */
export function isSum({ update: [e] }: AtomicOperation): boolean {
  const [x, y] = e?.args ?? [];
  return (
    (e?.op === 'f32.add' || e?.op === 'f64.add') &&
    x?.op === 'source' &&
    x.value === 0 &&
    y?.op === 'source' &&
    y.value === 1
  );
}

/** Pushes the new raw memory word, floats that are computed with the canonical NaN. */
export function pushUpdate(fn: WasmFunction, op: AtomicOperation, inputs: Inputs): void {
  const [first, second] = op.update as [Expr, Expr | undefined];
  push(fn, first, inputs);
  if (first.type === 'f32' || first.type === 'f64') pushFloatWord(fn, first.type);
  else if (second !== undefined) {
    const encode = encodeHalf(inputs.module, op.type === 'bf16x2');
    fn.call(encode);
    push(fn, second, inputs);
    fn.call(encode).i32(16).op('i32.shl').op('i32.or');
  }
}
