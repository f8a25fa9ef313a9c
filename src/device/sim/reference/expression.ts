// Operations of the semantics table without rounding. Tests are made on what the registers hold, so a kernel takes the way that it takes.
import type { Expr } from '../../../isa/semantics/index.ts';
import { type Context, compileNumber, compileTest, type NumberFunction } from '../interpreter/evaluate.ts';
import type { LaneEnv } from '../state/lane-env.ts';
import {
  errorOf,
  type FloatType,
  given,
  isPossible,
  mapped,
  negated,
  product,
  type Real,
  rounded,
  sum,
} from './real.ts';

/** What is known of an element of a source; undefined when it is as it is. */
export type Sources = (source: number, part: number) => Real | undefined;

/** A number without rounding; undefined for what is no number of a float type. */
export type RealFunction = (env: LaneEnv, sources: Sources) => Real | undefined;

const FLOATS: ReadonlySet<string> = new Set(['f16', 'bf16', 'f32', 'f64']);
const isFloat = (type: string): type is FloatType => FLOATS.has(type);

/** Half units of the last place that the hardware's functions are off by. Source: AMD CDNA3 ISA manual, "V_RCP_F32" and siblings: one unit. */
const HARDWARE_ROUNDINGS = 3;
const LN2 = Math.LN2;
const TURN = 2 * Math.PI;

/** Functions of one number: value and slope. */
const FUNCTIONS: Readonly<Record<string, (x: number) => readonly [value: number, slope: number]>> = {
  rcp: (x) => [1 / x, -1 / (x * x)],
  rsq: (x) => [1 / Math.sqrt(x), -0.5 / (x * Math.sqrt(x))],
  sqrt: (x) => [Math.sqrt(x), 0.5 / Math.sqrt(x)],
  exp2: (x) => [2 ** x, LN2 * 2 ** x],
  log2: (x) => [Math.log2(x), 1 / (x * LN2)],
  sin_turns: (x) => [Math.sin(x * TURN), TURN * Math.cos(x * TURN)],
  cos_turns: (x) => [Math.cos(x * TURN), -TURN * Math.sin(x * TURN)],
};
const CONVERSIONS = /^from_(?:f16|bf16|f32|f64|f32_rtz|f32_rne)$/;

/** Compiles an expression; what is no operation on floats (a rounding to integers, bits) gives what the registers hold. */
export function compileReal(e: Expr, context: Context): RealFunction {
  if (!isFloat(e.type)) return () => undefined;
  const { type } = e;
  const actual = compileNumber(e, context);
  const asIs: RealFunction = (env) => given(actual(env), type);
  if (e.op === 'source') {
    const [index, part] = [Number(e.value), e.part];
    return (env, sources) => sources(index, part) ?? given(actual(env), type);
  }
  const name = e.op.slice(e.op.indexOf('.') + 1);
  if (name === 'select') {
    const [condition, yes, no] = e.args as [Expr, Expr, Expr];
    const test = compileTest(condition, context);
    const [a, b] = [compileReal(yes, context), compileReal(no, context)];
    return (env, sources) => (test(env) ? a : b)(env, sources);
  }
  if (name === 'from_bits') return oneOfBits(type, e.args[0] as Expr, actual, asIs, context);
  const args = e.args.map((x) => compileReal(x, context));
  const numbers = e.args.map((x) => (x.type === 'i64' || x.type === 'bool' ? undefined : compileNumber(x, context)));
  const [a, b, c] = args as [RealFunction, RealFunction, RealFunction];
  const both = (f: (x: Real, y: Real) => Real): RealFunction => {
    return (env, sources) => {
      const [x, y] = [a(env, sources), b(env, sources)];
      return x === undefined || y === undefined ? asIs(env, sources) : f(x, y);
    };
  };
  switch (name) {
    case 'add':
      return both((x, y) => sum(x, y, type));
    case 'sub':
      return both((x, y) => sum(x, negated(y), type));
    case 'mul':
      return both((x, y) => product(x, y, type));
    case 'fma':
      return (env, sources) => {
        const [x, y, z] = [a(env, sources), b(env, sources), c(env, sources)];
        if (x === undefined || y === undefined || z === undefined) return asIs(env, sources);
        return sum(product(x, y, type), z, type);
      };
    case 'fma_scaled': {
      const scale = numbers[3] as NumberFunction;
      return (env, sources) => {
        const [x, y, z] = [a(env, sources), b(env, sources), c(env, sources)];
        if (x === undefined || y === undefined || z === undefined) return asIs(env, sources);
        return scaledBy(sum(product(x, y, type), z, type), 2 ** scale(env));
      };
    }
    case 'neg':
      return (env, sources) => {
        const x = a(env, sources);
        return x === undefined ? asIs(env, sources) : negated(x);
      };
    case 'abs':
      return (env, sources) => {
        const x = a(env, sources);
        return x === undefined ? asIs(env, sources) : x.value < 0 ? negated(x) : x;
      };
    case 'min':
    case 'max':
    case 'minimum':
    case 'maximum':
      return chosen(actual, numbers[0] as NumberFunction, a, b, asIs);
    // The quotient that the refined reciprocal came to: that of the operands, when it can be it.
    case 'div_fixup':
      return (env, sources) => {
        const [q, x] = [a(env, sources), actual(env)];
        if (q === undefined || !Number.isFinite(x) || x === 0) return asIs(env, sources);
        const [below, above] = [b(env, sources), c(env, sources)];
        const near = below === undefined || above === undefined ? undefined : quotient(above, below, type);
        return near !== undefined && isPossible(x, near) ? near : withSign(q, x);
      };
    case 'ldexp':
    case 'div_scale':
      return scaledAs(actual, numbers[0] as NumberFunction, a, asIs);
  }
  const f = FUNCTIONS[name];
  if (f !== undefined) {
    return (env, sources) => {
      const x = a(env, sources);
      if (x === undefined) return asIs(env, sources);
      const [value, slope] = f(x.value);
      return Number.isFinite(value) && Number.isFinite(slope)
        ? mapped(x, value, slope, type, HARDWARE_ROUNDINGS)
        : asIs(env, sources);
    };
  }
  if (CONVERSIONS.test(name)) {
    return (env, sources) => {
      const x = a(env, sources);
      return x === undefined ? asIs(env, sources) : x.type === type ? x : rounded(x.value, errorOf(x), type);
    };
  }
  return asIs;
}

/** One of two numbers, as the registers have it. */
function chosen(
  actual: NumberFunction,
  first: NumberFunction,
  a: RealFunction,
  b: RealFunction,
  asIs: RealFunction,
): RealFunction {
  return (env, sources) => {
    const is = actual(env);
    const found = (is === first(env) ? a : b)(env, sources);
    return found ?? asIs(env, sources);
  };
}

/** One of the numbers whose bits an expression chooses among, as operations do that keep the bits of NaNs: the one that the registers show. */
function oneOfBits(
  type: FloatType,
  bits: Expr,
  actual: NumberFunction,
  asIs: RealFunction,
  context: Context,
): RealFunction {
  const choices = numbersIn(type, bits).map((e) => ({ is: compileNumber(e, context), real: compileReal(e, context) }));
  if (choices.length === 0) return asIs;
  return (env, sources) => {
    const shown = actual(env);
    const found = choices.find(({ is }) => Object.is(is(env), shown));
    return found?.real(env, sources) ?? asIs(env, sources);
  };
}

/** The numbers whose bits an expression has, and those of sources. */
function numbersIn(type: FloatType, e: Expr): Expr[] {
  if (e.type === 'bool') return [];
  if (e.op.endsWith('.bits')) {
    const [number] = e.args as [Expr];
    return number.type === type ? [number] : [];
  }
  if (e.op === 'source') return [{ ...e, type }];
  return e.args.flatMap((one) => numbersIn(type, one));
}

/** A number times a power of two that the registers show. */
function scaledAs(actual: NumberFunction, from: NumberFunction, a: RealFunction, asIs: RealFunction): RealFunction {
  return (env, sources) => {
    const [is, was, x] = [actual(env), from(env), a(env, sources)];
    const factor = is / was;
    if (x === undefined || !Number.isFinite(factor) || factor === 0 || Math.log2(Math.abs(factor)) % 1 !== 0)
      return asIs(env, sources);
    return scaledBy(x, factor);
  };
}

function scaledBy(x: Real, factor: number): Real {
  const by = Math.abs(factor);
  const inherited = x.inherited * by;
  return { ...x, value: x.value * factor, inherited, magnitude: x.magnitude * by, roundings: x.roundings + 1 };
}

/** A quotient as hardware gives it, after one step of refinement at least. */
function quotient(above: Real, below: Real, type: FloatType): Real {
  const value = above.value / below.value;
  const inherited = (errorOf(above) + Math.abs(value) * errorOf(below)) / Math.abs(below.value);
  return rounded(value, inherited, type, HARDWARE_ROUNDINGS);
}

const withSign = (a: Real, like: number): Real => (a.value < 0 === like < 0 ? a : negated(a));
