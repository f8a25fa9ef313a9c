// What each elementwise MIGraphX operation computes on scalars, in arith and math. Half-width floats compute transcendental
// functions (and bf16 and 8-bit floats everything) in f32 and round once per operation.
// Source: MIGraphX operator reference; MLIR's arith and math dialects; rocMLIR's migraphx-to-tosa tests for unsigned integers.
import type { Emitter, View } from './emit.ts';
import { carrierBits, carrierOf, type Element, isFloat, isUnsigned, type ScalarType } from './types.ts';

/** The largest finite value of each 8-bit float. */
const LARGEST: Readonly<Record<string, string>> = {
  f8E4M3FN: '448.0',
  f8E4M3FNUZ: '240.0',
  f8E5M2: '57344.0',
  f8E5M2FNUZ: '57344.0',
};

/** The lowest and highest value of an integer that f32 can hold. */
function integerLimits(element: Element): [string, string] {
  const bits = carrierBits(element) === 8 && element.endsWith('4') ? 4 : carrierBits(element);
  const low = isUnsigned(element) ? 0 : -(2 ** (bits - 1));
  const high = isUnsigned(element) ? 2 ** bits - 1 : 2 ** (bits - 1) - 1;
  // 2^31 - 1 is no f32: the largest one below it.
  const float = bits > 24 ? high + 1 - 2 ** (bits - (isUnsigned(element) ? 24 : 25)) : high;
  return [low.toExponential(12), float.toExponential(12)];
}

/** Writes scalar operations into a `linalg.generic` body. */
export class Scalars {
  private readonly emit: Emitter;

  constructor(emit: Emitter) {
    this.emit = emit;
  }

  constant(value: string, element: ScalarType): string {
    return this.emit.scalar(value, element);
  }

  binary(operation: string, a: string, b: string, element: ScalarType): string {
    return this.emit.value(`${operation} ${a}, ${b} : ${carrierOf(element)}`);
  }

  unary(operation: string, a: string, element: ScalarType): string {
    return this.emit.value(`${operation} ${a} : ${carrierOf(element)}`);
  }

  /** A comparison; `predicate` without its sign or order, `eq` or `gt` alike. */
  compare(predicate: string, a: string, b: string, element: ScalarType): string {
    const isOrdered = element !== 'index' && isFloat(element);
    const sign = element !== 'index' && isUnsigned(element) ? 'u' : 's';
    const order = isOrdered ? 'o' : predicate === 'eq' || predicate === 'ne' ? '' : sign;
    const operation = isOrdered ? 'arith.cmpf' : 'arith.cmpi';
    return this.emit.value(`${operation} ${order}${predicate}, ${a}, ${b} : ${carrierOf(element)}`);
  }

  select(condition: string, a: string, b: string, element: ScalarType): string {
    return this.emit.value(`arith.select ${condition}, ${a}, ${b} : ${carrierOf(element)}`);
  }

  /**
   * Converts between element types: floats round to nearest (8-bit floats saturate), float to integer truncates, i1 counts
   * as 0 or 1, integers keep their low bits.
   */
  convert(a: string, from: Element, to: Element): string {
    if (from === to) return a;
    if (from === 'f8E8M0FNU') return this.convert(this.powerOfTwo(a), 'f32', to);
    if (to === 'f8E8M0FNU') return this.exponentOf(this.convert(a, from, 'f32'));
    const [carrier, wanted] = [carrierOf(from), carrierOf(to)];
    if (carrier === wanted) return a;
    const cast = (operation: string): string => this.emit.value(`${operation} ${a} : ${carrier} to ${wanted}`);
    const through = (middle: Element): string => this.convert(this.convert(a, from, middle), middle, to);
    if (isFloat(from) && isFloat(to)) {
      if (from === 'f64')
        return wanted === 'f32' || wanted === 'f16' || wanted === 'bf16' ? cast('arith.truncf') : through('f32');
      if (from === 'f32' && to !== 'f64') return this.narrow(a, to);
      if (to === 'f32' || to === 'f64') return cast('arith.extf');
      return through('f32');
    }
    if (isFloat(from)) {
      if (from !== 'f64' && from !== 'f32' && from !== 'f16') return through('f32');
      return cast(isUnsigned(to) ? 'arith.fptoui' : 'arith.fptosi');
    }
    if (isFloat(to)) {
      if (to !== 'f64' && to !== 'f32' && to !== 'f16') return through('f32');
      return cast(isUnsigned(from) ? 'arith.uitofp' : 'arith.sitofp');
    }
    if (carrierBits(from) > carrierBits(to)) return cast('arith.trunci');
    return cast(isUnsigned(from) ? 'arith.extui' : 'arith.extsi');
  }

  /** 2^(code - 127) as f32: the code is the exponent's field, 0 the denormal 2^-127, 255 no number. */
  private powerOfTwo(code: string): string {
    const wide = this.convert(code, 'ui8', 'i32');
    const field = this.binary('arith.shli', wide, this.constant('23', 'i32'), 'i32');
    const isZero = this.compare('eq', wide, this.constant('0', 'i32'), 'i32');
    const isTop = this.compare('eq', wide, this.constant('255', 'i32'), 'i32');
    const finite = this.select(isZero, this.constant('4194304', 'i32'), field, 'i32');
    const bits = this.select(isTop, this.constant('2143289344', 'i32'), finite, 'i32');
    return this.emit.value(`arith.bitcast ${bits} : i32 to f32`);
  }

  /** The field of an f32's exponent: its sign and fraction are cut off, as MLIR's ExpandOps has it. */
  private exponentOf(value: string): string {
    const bits = this.emit.value(`arith.bitcast ${value} : f32 to i32`);
    return this.convert(this.binary('arith.shrui', bits, this.constant('23', 'i32'), 'i32'), 'i32', 'ui8');
  }

  /** An f32 rounded to a narrower float. */
  private narrow(a: string, to: Element): string {
    const largest = LARGEST[to];
    const value = largest === undefined ? a : this.clamp(a, `-${largest}`, largest, 'f32');
    return this.emit.value(`arith.truncf ${value} : f32 to ${carrierOf(to)}`);
  }

  private clamp(a: string, low: string, high: string, element: Element): string {
    const least = this.binary('arith.maximumf', a, this.constant(low, element), element);
    return this.binary('arith.minimumf', least, this.constant(high, element), element);
  }

  /** Computes in f32 where the element type is a narrower float and `wide` asks for it. */
  in(
    element: Element,
    wide: boolean,
    args: readonly string[],
    compute: (args: readonly string[], e: Element) => string,
  ) {
    const widen = isFloat(element) && element !== 'f32' && element !== 'f64' && (wide || element !== 'f16');
    if (!widen) return compute(args, element);
    const inner = compute(
      args.map((a) => this.convert(a, element, 'f32')),
      'f32',
    );
    return this.convert(inner, 'f32', element);
  }

  /** `x` (f32) clamped to what a type can hold, and converted. */
  saturate(x: string, to: Element): string {
    if (isFloat(to)) return this.convert(x, 'f32', to);
    const [low, high] = integerLimits(to);
    return this.convert(this.clamp(x, low, high, 'f32'), 'f32', to);
  }
}

/** An elementwise operation on operands and result of one element type. */
export interface ElementwiseOperation {
  readonly operands: number;
  /** Narrow floats compute in f32. */
  readonly wide: boolean;
  readonly float: ((s: Scalars, a: readonly string[], element: Element) => string) | undefined;
  readonly integer: ((s: Scalars, a: readonly string[], element: Element) => string) | undefined;
}

type Body = NonNullable<ElementwiseOperation['float']>;

/** `integer` ends in the letter that tells the sign where it matters: `arith.maxsi` becomes `arith.maxui`. */
const binary = (float: string, integer: string): ElementwiseOperation => ({
  operands: 2,
  wide: false,
  float: (s, [a, b], e) => s.binary(float, a, b, e),
  integer: (s, [a, b], e) => s.binary(bySign(integer, e), a, b, e),
});
const bySign = (operation: string, element: Element): string =>
  isUnsigned(element) ? operation.replace(/si$/, 'ui') : operation;
const math = (operation: string): ElementwiseOperation => ({
  operands: 1,
  wide: true,
  float: (s, [a], e) => s.unary(operation, a, e),
  integer: undefined,
});
const custom = (operands: number, wide: boolean, float: Body, integer?: Body): ElementwiseOperation => ({
  operands,
  wide,
  float,
  integer,
});
/** 1 where the comparison holds, else 0, in the operands' own type as MIGraphX has it. */
function comparison(predicate: string): ElementwiseOperation {
  const body: Body = (s, [a, b], e) => s.convert(s.compare(predicate, a, b, e), 'i1', e);
  return custom(2, false, body, body);
}

const reciprocal: Body = (s, [a], e) => s.binary('arith.divf', s.constant('1.0', e), a, e);

/** The elementwise operations by name; operations that change the element type are lowered on their own. */
export const ELEMENTWISE: Readonly<Record<string, ElementwiseOperation>> = {
  'migraphx.add': binary('arith.addf', 'arith.addi'),
  'migraphx.sub': binary('arith.subf', 'arith.subi'),
  'migraphx.mul': binary('arith.mulf', 'arith.muli'),
  'migraphx.div': binary('arith.divf', 'arith.divsi'),
  'migraphx.max': binary('arith.maximumf', 'arith.maxsi'),
  'migraphx.min': binary('arith.minimumf', 'arith.minsi'),
  'migraphx.greater': comparison('gt'),
  'migraphx.greater_or_equal': comparison('ge'),
  'migraphx.less': comparison('lt'),
  'migraphx.less_or_equal': comparison('le'),
  'migraphx.equal': comparison('eq'),
  'migraphx.pow': custom(2, true, (s, [a, b], e) => s.binary('math.powf', a, b, e)),
  'migraphx.clip': custom(
    3,
    false,
    (s, [x, low, high], e) => s.binary('arith.minimumf', s.binary('arith.maximumf', x, low, e), high, e),
    (s, [x, low, high], e) =>
      s.binary(bySign('arith.minsi', e), s.binary(bySign('arith.maxsi', e), x, low, e), high, e),
  ),
  'migraphx.relu': custom(
    1,
    false,
    (s, [a], e) => s.binary('arith.maximumf', a, s.constant('0.0', e), e),
    (s, [a], e) => s.binary(bySign('arith.maxsi', e), a, s.constant('0', e), e),
  ),
  'migraphx.neg': custom(
    1,
    false,
    (s, [a], e) => s.unary('arith.negf', a, e),
    (s, [a], e) => s.binary('arith.subi', s.constant('0', e), a, e),
  ),
  'migraphx.abs': custom(
    1,
    false,
    (s, [a], e) => s.unary('math.absf', a, e),
    (s, [a], e) => (isUnsigned(e) ? a : s.unary('math.absi', a, e)),
  ),
  'migraphx.recip': custom(1, false, reciprocal),
  'migraphx.sigmoid': custom(1, true, (s, [a], e) => {
    const exponential = s.unary('math.exp', s.unary('arith.negf', a, e), e);
    return reciprocal(s, [s.binary('arith.addf', exponential, s.constant('1.0', e), e)], e);
  }),
  'migraphx.gelu': custom(1, true, (s, [a], e) => {
    const scaled = s.binary('arith.mulf', a, s.constant('0.707106781', e), e);
    const bell = s.binary('arith.addf', s.unary('math.erf', scaled, e), s.constant('1.0', e), e);
    return s.binary('arith.mulf', s.binary('arith.mulf', a, s.constant('0.5', e), e), bell, e);
  }),
  'migraphx.exp': math('math.exp'),
  'migraphx.log': math('math.log'),
  'migraphx.tanh': math('math.tanh'),
  'migraphx.erf': math('math.erf'),
  'migraphx.sqrt': math('math.sqrt'),
  'migraphx.rsqrt': math('math.rsqrt'),
  'migraphx.ceil': math('math.ceil'),
  'migraphx.floor': math('math.floor'),
};

/** round(value / scale) + zero point, clamped to the type; all in f32. `views` are value, scale and perhaps zero point. */
export function quantize(emit: Emitter, views: readonly View[], to: Element): View {
  const s = new Scalars(emit);
  return emit.elementwise(views, to, (args) => {
    const f32 = args.slice(0, views.length).map((a, i) => s.convert(a, views[i].element, 'f32'));
    const quotient = s.binary('arith.divf', f32[0], f32[1], 'f32');
    const rounded = isFloat(to) ? quotient : s.unary('math.roundeven', quotient, 'f32');
    return s.saturate(f32.length > 2 ? s.binary('arith.addf', rounded, f32[2], 'f32') : rounded, to);
  });
}

/** (value - zero point) * scale; the difference of integers in i32, else and the product in f32. */
export function dequantize(emit: Emitter, views: readonly View[], to: Element): View {
  const s = new Scalars(emit);
  const between: Element = views.every((view, i) => i === 1 || !isFloat(view.element)) ? 'i32' : 'f32';
  return emit.elementwise(views, to, (args) => {
    let whole = s.convert(args[0], views[0].element, between);
    if (views.length > 2) {
      const zero = s.convert(args[2], views[2].element, between);
      whole = s.binary(between === 'i32' ? 'arith.subi' : 'arith.subf', whole, zero, between);
    }
    const scale = s.convert(args[1], views[1].element, 'f32');
    return s.convert(s.binary('arith.mulf', s.convert(whole, between, 'f32'), scale, 'f32'), 'f32', to);
  });
}

/** The two values in each byte along `axis`, one after the other: that dimension is twice as long in the result. */
export function unpackNibbles(emit: Emitter, bytes: View, axis: number, to: Element): View {
  const s = new Scalars(emit);
  const { shape } = bytes;
  const pairs = [...shape.slice(0, axis + 1), 2, ...shape.slice(axis + 1)];
  const spread: View = {
    ...bytes,
    shape: pairs,
    map: [...bytes.map.slice(0, axis + 1), null, ...bytes.map.slice(axis + 1)],
  };
  const halves = emit.elementwise([spread], to, ([byte]) => {
    const four = s.constant('4', 'i8');
    const isHigh = s.compare('eq', emit.index(axis + 1), s.constant('1', 'index'), 'index');
    // Both halves end in the upper four bits; the shift down brings the sign along or zeros.
    const upper = s.select(isHigh, byte, s.binary('arith.shli', byte, four, 'i8'), 'i8');
    const isSigned = !isFloat(to) && !isUnsigned(to);
    const code = s.binary(isSigned ? 'arith.shrsi' : 'arith.shrui', upper, four, 'i8');
    return isFloat(to) ? floatOfNibble(s, code) : s.convert(code, isSigned ? 'i8' : 'ui8', to);
  });
  return emit.reshape(halves, [...shape.slice(0, axis), 2 * shape[axis], ...shape.slice(axis + 1)]);
}

/** f4E2M1FN (sign, two bits of exponent with bias 1, one of mantissa) as the f16 that carries it. */
function floatOfNibble(s: Scalars, code: string): string {
  const constant = (value: number): string => s.constant(String(value), 'i8');
  const exponent = s.binary('arith.andi', s.binary('arith.shrui', code, constant(1), 'i8'), constant(3), 'i8');
  const mantissa = s.binary('arith.andi', code, constant(1), 'i8');
  // 2·|value| is mantissa for exponent 0, else (2 + mantissa) << (exponent - 1): an integer up to 12.
  const isSmall = s.compare('eq', exponent, constant(0), 'i8');
  const whole = s.binary('arith.addi', mantissa, constant(2), 'i8');
  const places = s.select(isSmall, constant(0), s.binary('arith.subi', exponent, constant(1), 'i8'), 'i8');
  const doubled = s.select(isSmall, mantissa, s.binary('arith.shli', whole, places, 'i8'), 'i8');
  const isNegative = s.compare('ge', code, constant(8), 'ui8');
  const size = s.binary('arith.mulf', s.convert(doubled, 'ui8', 'f16'), s.constant('0.5', 'f16'), 'f16');
  return s.select(isNegative, s.unary('arith.negf', size, 'f16'), size, 'f16');
}
