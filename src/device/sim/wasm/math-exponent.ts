// ldexp, exponents of f32 and the class number as SIMD code. Counterparts: interpreter/operators.ts (scaleBy, frexpExponent, classOf).
import type { WasmFunction, WasmModule } from './emit.ts';
import { choosing } from './features.ts';
import type { MathFunction } from './math-tools.ts';
import { allRoundings, double, eachHalf, type Finish, single, word } from './math-tools.ts';

/** Pushes 2^n of the i64x2 on the stack. */
function power(fn: WasmFunction): void {
  fn.v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl');
}

function ldexp32(fn: WasmFunction, finish: Finish): void {
  const scaled = (promote: (parameter: number) => void, half: number): void => {
    promote(0);
    fn.get(1);
    word(fn, -600);
    fn.op('i32x4.max_s');
    word(fn, 600);
    fn.op('i32x4.min_s').op(`i64x2.extend_${half === 0 ? 'low' : 'high'}_i32x4_s`);
    power(fn);
    fn.op('f64x2.mul');
  };
  eachHalf(fn, scaled, finish);
  keepSpecial(fn);
}

/** Zeros, infinities and NaNs of parameter 0 stay as they are. */
function keepSpecial(fn: WasmFunction): void {
  fn.get(0).get(0).get(0).op('f32x4.sub');
  single(fn, 0);
  fn.op('f32x4.eq').get(0);
  single(fn, 0);
  fn.op('f32x4.ne').op('v128.and').op(choosing());
}

/** f16 values and counts; the product is exact in f32. Zeros, infinities and NaNs stay. */
function ldexp16(fn: WasmFunction, x: number, count: number): void {
  fn.get(x).get(count);
  word(fn, -60);
  fn.op('i32x4.max_s');
  word(fn, 60);
  fn.op('i32x4.min_s');
  word(fn, 127);
  fn.op('i32x4.add').i32(23).op('i32x4.shl').op('f32x4.mul');
}

/** Four f32 and counts, to nearest: counts of powers of two that an f32 can be are one product. */
function ldexpNearest(fn: WasmFunction, module: WasmModule, [x, count]: readonly number[]): void {
  const far = module.helper('math.ldexp.f32.far', ['v128', 'v128'], ['v128'], (f) => ldexp32(f, 0));
  const field = fn.local('v128');
  fn.get(count as number);
  word(fn, 127);
  fn.op('i32x4.add').tee(field);
  word(fn, 1);
  fn.op('i32x4.sub');
  word(fn, 254);
  fn.op('i32x4.ge_u').anyLane().if('v128');
  fn.get(x as number)
    .get(count as number)
    .call(far)
    .else();
  fn.get(x as number)
    .get(field)
    .i32(23)
    .op('i32x4.shl')
    .op('f32x4.mul')
    .end();
  fn.release('v128', field);
}

/** Two f64 and counts in the low two i32. Counts of powers of two that an f64 can be are one product. */
export function ldexp64(fn: WasmFunction, module: WasmModule, [x, count]: readonly number[]): void {
  const steps = module.helper('math.ldexp.f64.steps', ['v128', 'v128'], ['v128'], scaleInSteps);
  fn.get(count as number);
  word(fn, 1022);
  fn.op('i32x4.add');
  word(fn, 2046);
  fn.op('i32x4.lt_u').lane('i64x2.extract_lane', 0).i64(-1n).op('i64.eq').if('v128');
  fn.get(x as number)
    .get(count as number)
    .op('i64x2.extend_low_i32x4_s');
  power(fn);
  fn.op('f64x2.mul').else();
  fn.get(x as number)
    .get(count as number)
    .call(steps)
    .end();
}

/** Scales in steps of which only the last can round. */
function scaleInSteps(fn: WasmFunction): void {
  const [y, n, low, high] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
  const limit = 2200;
  const long = (value: number): void => void fn.v128(value, value >> 31, value, value >> 31);
  fn.get(1);
  word(fn, -limit);
  fn.op('i32x4.max_s');
  word(fn, limit);
  fn.op('i32x4.min_s').op('i64x2.extend_low_i32x4_s').set(n).get(0).set(y);
  for (let step = 0; step < 2; step++) {
    fn.get(n);
    long(-1022);
    fn.op('i64x2.lt_s').set(low).get(n);
    long(1023);
    fn.op('i64x2.gt_s').set(high).get(y);
    double(fn, 2 ** -969);
    double(fn, 2 ** 1023);
    double(fn, 1);
    fn.get(high).op(choosing()).get(low).op(choosing()).op('f64x2.mul').set(y);
    fn.get(n).get(low);
    long(969);
    fn.op('v128.and').op('i64x2.add').get(high);
    long(1023);
    fn.op('v128.and').op('i64x2.sub').set(n);
  }
  fn.get(y).get(n);
  long(-1022);
  fn.get(n);
  long(-1022);
  fn.op('i64x2.gt_s').op(choosing()).set(n).get(n);
  long(1023);
  fn.get(n);
  long(1023);
  fn.op('i64x2.lt_s').op(choosing());
  power(fn);
  fn.op('f64x2.mul');
}

/** The exponents of four f32 as i32; 0 of zeros, infinities and NaNs. Denormals are integers, whose digits the conversion moves up. */
function exponents(fn: WasmFunction, x: number): void {
  const [size, isDenormal] = [fn.local('v128'), fn.local('v128')];
  fn.get(x).abs('f32x4').tee(size).op('f32x4.convert_i32x4_s').get(size).get(size);
  word(fn, 0x00800000);
  fn.op('i32x4.lt_s').tee(isDenormal).op(choosing()).i32(23).op('i32x4.shr_u');
  word(fn, 126);
  word(fn, 149);
  fn.get(isDenormal).op('v128.and').op('i32x4.add').op('i32x4.sub').get(size);
  word(fn, 1);
  fn.op('i32x4.sub');
  word(fn, 0x7f7fffff);
  fn.op('i32x4.lt_u').op('v128.and');
  fn.release('v128', size);
  fn.release('v128', isDenormal);
}

/**
 * The class of a number from its words (high, low; narrow formats: the word twice): 0 signalling NaN, 1 quiet NaN, 2 -infinity,
 * 3 -normal, 4 -denormal, 5 -0, 6 +0 … 9 +infinity.
 */
function classOf(fn: WasmFunction, format: 'f16' | 'f32' | 'f64'): void {
  const [high, low] = [0, 1] as const;
  const [size, nan] = [fn.local('v128'), fn.local('v128')];
  const infinity = format === 'f16' ? 0x7c00 : format === 'f32' ? 0x7f800000 : 0x7ff00000;
  const normal = format === 'f16' ? 0x400 : format === 'f32' ? 0x800000 : 0x100000;
  const quiet = format === 'f16' ? 0x200 : format === 'f32' ? 0x400000 : 0x80000;
  const sign = format === 'f16' ? 0x8000 : -0x80000000;
  fn.get(high);
  word(fn, format === 'f16' ? 0x7fff : 0x7fffffff);
  fn.op('v128.and').set(size);
  // Any bit below the high word makes it larger: it counts as a lowest bit that no format uses for itself.
  const rest = fn.local('v128');
  if (format === 'f64') fn.get(low).v128(0, 0, 0, 0).op('i32x4.ne').set(rest);
  else fn.v128(0, 0, 0, 0).set(rest);
  fn.get(size);
  word(fn, infinity);
  fn.op('i32x4.gt_s').get(size);
  word(fn, infinity);
  fn.op('i32x4.eq').get(rest).op('v128.and').op('v128.or').set(nan);
  // k: 0 zero, 1 denormal, 2 normal, 3 infinite, as a negative sum of masks.
  fn.get(size).v128(0, 0, 0, 0).op('i32x4.ne').get(rest).op('v128.or').get(size);
  word(fn, normal);
  fn.op('i32x4.ge_s').op('i32x4.add').get(size);
  word(fn, infinity);
  fn.op('i32x4.ge_s').op('i32x4.add').set(rest);
  word(fn, 5);
  fn.get(rest).op('i32x4.add');
  word(fn, 6);
  fn.get(rest).op('i32x4.sub').get(high);
  word(fn, sign);
  fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op(choosing()).set(rest);
  word(fn, 1);
  fn.v128(0, 0, 0, 0).get(high);
  word(fn, quiet);
  fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op(choosing());
  fn.get(rest).get(nan).op(choosing());
}

export const EXPONENT: Record<string, MathFunction> = {
  ...allRoundings('ldexp', 2, ldexp32),
  'ldexp.f32': { parameters: 2, inline: true, build: ldexpNearest },
  'ldexp.f16': {
    parameters: 2,
    inline: true,
    build: (fn, _module, [x, count]) => ldexp16(fn, x as number, count as number),
  },
  'ldexp.f64': { parameters: 2, inline: true, build: ldexp64 },
  ...Object.fromEntries(
    ['f32', 'f16'].map((format): [string, MathFunction] => [
      `frexp_exp.${format}`,
      { parameters: 1, inline: true, build: (fn, _module, [x]) => exponents(fn, x as number) },
    ]),
  ),
  'class_of.f16': { parameters: 2, build: (fn) => classOf(fn, 'f16') },
  'class_of.f32': { parameters: 2, build: (fn) => classOf(fn, 'f32') },
  'class_of.f64': { parameters: 2, build: (fn) => classOf(fn, 'f64') },
};
