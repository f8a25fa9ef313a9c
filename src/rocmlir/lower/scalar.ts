// What each elementwise MIGraphX operation computes on scalars, in arith and math. Half-width floats compute transcendental
// functions (and bf16 everything) in f32 and round once per operation.
// Source: MIGraphX operator reference; MLIR's arith and math dialects.
import type { Emitter, View } from './emit.ts';
import { type Element, isFloat } from './types.ts';

/** Bits of an integer element. */
const bitsOf = (element: Element): number => Number(element.slice(1));

const LIMITS: Readonly<Record<string, readonly [string, string]>> = {
  i8: ['-128', '127'],
  i16: ['-32768', '32767'],
  i32: ['-2147483648', '2147483647'],
};

/** Writes scalar operations into a `linalg.generic` body. */
export class Scalars {
  private readonly emit: Emitter;

  constructor(emit: Emitter) {
    this.emit = emit;
  }

  constant(value: string, element: string): string {
    return this.emit.scalar(value, element);
  }

  binary(operation: string, a: string, b: string, element: string): string {
    return this.emit.value(`${operation} ${a}, ${b} : ${element}`);
  }

  unary(operation: string, a: string, element: string): string {
    return this.emit.value(`${operation} ${a} : ${element}`);
  }

  /** Converts between element types: floats round to nearest, float to integer truncates, i1 counts as 0 or 1. */
  convert(a: string, from: Element, to: Element): string {
    if (from === to) return a;
    const cast = (operation: string): string => this.emit.value(`${operation} ${a} : ${from} to ${to}`);
    if (isFloat(from) && isFloat(to)) {
      if (from === 'f32') return cast('arith.truncf');
      if (to === 'f32') return cast('arith.extf');
      return this.convert(this.convert(a, from, 'f32'), 'f32', to);
    }
    if (isFloat(from)) return cast('arith.fptosi');
    if (isFloat(to)) return cast(from === 'i1' ? 'arith.uitofp' : 'arith.sitofp');
    if (bitsOf(from) > bitsOf(to)) return cast('arith.trunci');
    return cast(from === 'i1' ? 'arith.extui' : 'arith.extsi');
  }

  /** Computes in f32 where the element type is a narrower float and `wide` asks for it. */
  in(
    element: Element,
    wide: boolean,
    args: readonly string[],
    compute: (args: readonly string[], e: Element) => string,
  ) {
    const widen = isFloat(element) && element !== 'f32' && (wide || element === 'bf16');
    if (!widen) return compute(args, element);
    const inner = compute(
      args.map((a) => this.convert(a, element, 'f32')),
      'f32',
    );
    return this.convert(inner, 'f32', element);
  }

  /** round(x) clamped to an integer type, `x` in f32. */
  toIntegerClamped(x: string, to: Element): string {
    const [low, high] = LIMITS[to] ?? LIMITS.i32;
    // 2^31 - 1 is no f32: the largest one below it.
    const top = to === 'i32' ? '2.147483520e+09' : `${high}.0`;
    const least = this.binary('arith.maximumf', x, this.constant(`${low}.0`, 'f32'), 'f32');
    return this.convert(this.binary('arith.minimumf', least, this.constant(top, 'f32'), 'f32'), 'f32', to);
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

const binary = (float: string, integer: string | undefined): ElementwiseOperation => ({
  operands: 2,
  wide: false,
  float: (s, [a, b], e) => s.binary(float, a, b, e),
  integer: integer === undefined ? undefined : (s, [a, b], e) => s.binary(integer, a, b, e),
});
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

const reciprocal: Body = (s, [a], e) => s.binary('arith.divf', s.constant('1.0', e), a, e);

/** The elementwise operations by name; operations that change the element type are lowered on their own. */
export const ELEMENTWISE: Readonly<Record<string, ElementwiseOperation>> = {
  'migraphx.add': binary('arith.addf', 'arith.addi'),
  'migraphx.sub': binary('arith.subf', 'arith.subi'),
  'migraphx.mul': binary('arith.mulf', 'arith.muli'),
  'migraphx.div': binary('arith.divf', 'arith.divsi'),
  'migraphx.max': binary('arith.maximumf', 'arith.maxsi'),
  'migraphx.min': binary('arith.minimumf', 'arith.minsi'),
  'migraphx.pow': custom(2, true, (s, [a, b], e) => s.binary('math.powf', a, b, e)),
  'migraphx.clip': custom(
    3,
    false,
    (s, [x, low, high], e) => s.binary('arith.minimumf', s.binary('arith.maximumf', x, low, e), high, e),
    (s, [x, low, high], e) => s.binary('arith.minsi', s.binary('arith.maxsi', x, low, e), high, e),
  ),
  'migraphx.relu': custom(
    1,
    false,
    (s, [a], e) => s.binary('arith.maximumf', a, s.constant('0.0', e), e),
    (s, [a], e) => s.binary('arith.maxsi', a, s.constant('0', e), e),
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
    (s, [a], e) => s.unary('math.absi', a, e),
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

/** round(value / scale) + zero point, clamped to the integer type; all in f32. `views` are value, scale and perhaps zero point. */
export function quantize(emit: Emitter, views: readonly View[], to: Element): View {
  const s = new Scalars(emit);
  return emit.elementwise(views, to, (args) => {
    const f32 = args.slice(0, views.length).map((a, i) => s.convert(a, views[i].element, 'f32'));
    const rounded = s.unary('math.roundeven', s.binary('arith.divf', f32[0], f32[1], 'f32'), 'f32');
    return s.toIntegerClamped(f32.length > 2 ? s.binary('arith.addf', rounded, f32[2], 'f32') : rounded, to);
  });
}

/** (value - zero point) * scale; the difference in i32, the product in f32. */
export function dequantize(emit: Emitter, views: readonly View[], to: Element): View {
  const s = new Scalars(emit);
  return emit.elementwise(views, to, (args) => {
    let whole = s.convert(args[0], views[0].element, 'i32');
    if (views.length > 2) whole = s.binary('arith.subi', whole, s.convert(args[2], views[2].element, 'i32'), 'i32');
    const scale = s.convert(args[1], views[1].element, 'f32');
    return s.convert(s.binary('arith.mulf', s.convert(whole, 'i32', 'f32'), scale, 'f32'), 'f32', to);
  });
}
