// Turns a semantics expression into a closure over LaneEnv: one closure per node, evaluated plainly.
// Kinds of closures follow the value types: numbers (i32 and floats), BigInts (i64), booleans.
import { bf16FromBits, bitsFromF64, f16FromBits, f32FromBits, f64FromWords } from '../../../base/elements/formats.ts';
import type { Expr, OperandType, VectorOperation } from '../../../isa/semantics/index.ts';
import { OPERAND_TYPES } from '../../../isa/semantics/index.ts';
import { type LaneEnv, SOURCE_STRIDE } from '../state/lane-env.ts';
import {
  BIG_OPERATORS,
  BIG_SHIFTS,
  BIG_TESTS,
  BIG_TO_NUMBER,
  NUMBER_OPERATORS,
  NUMBER_TO_BIG,
  TEST_OPERATORS,
} from './operators.ts';

export type NumberFunction = (env: LaneEnv) => number;
export type BigFunction = (env: LaneEnv) => bigint;
export type TestFunction = (env: LaneEnv) => boolean;

export interface Context {
  readonly types: readonly OperandType[];
  readonly denormals: VectorOperation['denormals'];
}

/** f32, f64: a denormal that is not to be read becomes a zero of its sign. */
const SMALLEST_F32 = 2 ** -126;
const SMALLEST_F64 = 2 ** -1022;
const SMALLEST_F16 = 2 ** -14;

function unknown(e: Expr): Error {
  return new Error(`no evaluation for ${e.op} (${e.type})`);
}

function zero(): number {
  return 0;
}

/** A closure for an i32 or float expression. */
export function compileNumber(e: Expr, context: Context): NumberFunction {
  if (e.op === 'const') {
    const value = Number(e.value);
    return () => value;
  }
  if (e.op === 'source') return numberSource(e, context);
  if (e.op === 'lane') return (env) => env.lane;
  if (e.op.endsWith('.select')) {
    const [condition, a, b] = e.args as [Expr, Expr, Expr];
    const test = compileTest(condition, context);
    const yes = compileNumber(a, context);
    const no = compileNumber(b, context);
    return (env) => (test(env) ? yes(env) : no(env));
  }
  const first = e.args[0];
  if (first?.type === 'i64') {
    const f = BIG_TO_NUMBER[e.op];
    if (f === undefined) throw unknown(e);
    const a = compileBig(first, context);
    return (env) => f(a(env));
  }
  const f = NUMBER_OPERATORS[e.op];
  if (f === undefined) throw unknown(e);
  const [a = zero, b = zero, c = zero, d = zero] = e.args.map((x) => compileNumber(x, context));
  if (e.args.length === 1) return (env) => f(a(env), 0, 0, env, 0);
  if (e.args.length === 2) return (env) => f(a(env), b(env), 0, env, 0);
  if (e.args.length === 3) return (env) => f(a(env), b(env), c(env), env, 0);
  return (env) => f(a(env), b(env), c(env), env, d(env));
}

function numberSource(e: Expr, context: Context): NumberFunction {
  const index = Number(e.value);
  const type = context.types[index] as OperandType;
  const at = index * SOURCE_STRIDE + e.part;
  const always = context.denormals === 'keep';
  const never = context.denormals === 'flush';
  if (e.type === 'i32') {
    if (type === 'u16') return (env) => (env.words[at] as number) & 0xffff;
    if (type === 'i16') return (env) => ((env.words[at] as number) << 16) >> 16;
    if (type === 'u24') return (env) => (env.words[at] as number) & 0xffffff;
    if (type === 'i24') return (env) => ((env.words[at] as number) << 8) >> 8;
    return (env) => env.words[at] as number;
  }
  if (e.type === 'f32') {
    return (env) => {
      const x = f32FromBits(env.words[at] as number);
      if (Math.abs(x) >= SMALLEST_F32 || x === 0) return x;
      return Number.isNaN(x) || always || (!never && env.denormalIn32) ? x : x < 0 ? -0 : 0;
    };
  }
  if (e.type === 'f16') {
    return (env) => {
      const x = f16FromBits(env.words[at] as number);
      return env.denormalIn64 || always || !(Math.abs(x) < SMALLEST_F16) ? x : x < 0 || Object.is(x, -0) ? -0 : 0;
    };
  }
  if (e.type === 'bf16') return (env) => bf16FromBits(env.words[at] as number);
  return (env) => {
    const x = f64FromWords(env.words[at] as number, env.words[at + 1] as number);
    return env.denormalIn64 || !(Math.abs(x) < SMALLEST_F64) ? x : x < 0 || Object.is(x, -0) ? -0 : 0;
  };
}

/** A closure for an i64 expression. */
export function compileBig(e: Expr, context: Context): BigFunction {
  if (e.op === 'const') {
    const value = BigInt(e.value);
    return () => value;
  }
  if (e.op === 'source') {
    const at = Number(e.value) * SOURCE_STRIDE;
    return (env) => (BigInt((env.words[at + 1] as number) >>> 0) << 32n) | BigInt((env.words[at] as number) >>> 0);
  }
  if (e.op === 'exec') return (env) => env.exec;
  if (e.op.endsWith('.select')) {
    const [condition, x, y] = e.args as [Expr, Expr, Expr];
    const test = compileTest(condition, context);
    const yes = compileBig(x, context);
    const no = compileBig(y, context);
    return (env) => (test(env) ? yes(env) : no(env));
  }
  const [x, y] = e.args;
  if (x === undefined) throw unknown(e);
  if (e.op === 'f64.bits') {
    const a = compileNumber(x, context);
    return (env) => BigInt.asUintN(64, bitsFromF64(a(env)));
  }
  const widen = NUMBER_TO_BIG[e.op];
  if (widen !== undefined) {
    const a = compileNumber(x, context);
    return (env) => widen(a(env));
  }
  const a = compileBig(x, context);
  const shift = BIG_SHIFTS[e.op];
  if (shift !== undefined && y !== undefined) {
    const n = compileNumber(y, context);
    return (env) => shift(a(env), BigInt(n(env) & 63));
  }
  const f = BIG_OPERATORS[e.op];
  if (f === undefined) throw unknown(e);
  if (y === undefined) return (env) => f(a(env), 0n, env);
  const b = compileBig(y, context);
  return (env) => f(a(env), b(env), env);
}

/** A closure for a boolean expression. */
export function compileTest(e: Expr, context: Context): TestFunction {
  switch (e.op) {
    case 'scc':
      return (env) => env.scc;
    case 'carry':
      return (env) => env.carry;
    case 'vccz':
      return (env) => env.vccz;
    case 'execz':
      return (env) => env.execz;
  }
  const [x, y, z] = e.args;
  if (x === undefined) throw unknown(e);
  if (x.type === 'bool') {
    const a = compileTest(x, context);
    if (e.op === 'bool.not') return (env) => !a(env);
    if (y === undefined) throw unknown(e);
    const b = compileTest(y, context);
    if (e.op === 'bool.and') return (env) => a(env) && b(env);
    if (e.op === 'bool.or') return (env) => a(env) || b(env);
    if (e.op === 'bool.xor') return (env) => a(env) !== b(env);
    throw unknown(e);
  }
  if (e.op.endsWith('.not')) throw unknown(e);
  if (x.type === 'i64') {
    const f = BIG_TESTS[e.op];
    if (f === undefined || y === undefined) throw unknown(e);
    const a = compileBig(x, context);
    const b = compileBig(y, context);
    return (env) => f(a(env), b(env));
  }
  const f = TEST_OPERATORS[e.op];
  if (f === undefined) throw unknown(e);
  const a = compileNumber(x, context);
  const b = y === undefined ? zero : compileNumber(y, context);
  const c = z === undefined ? zero : compileNumber(z, context);
  return (env) => f(a(env), b(env), c(env), env);
}

/** The value type an operand type is seen as. */
export function valueTypeOf(type: OperandType): Expr['type'] {
  return OPERAND_TYPES[type].value;
}
