// ldexp, frexp and the class number as SIMD code. Counterparts: interpreter/operators.ts (scaleBy, frexpMantissa, classOf).
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

/** f16 values and counts; the product is exact in f32. */
function ldexp16(fn: WasmFunction): void {
  fn.get(0).get(1);
  word(fn, -60);
  fn.op('i32x4.max_s');
  word(fn, 60);
  fn.op('i32x4.min_s');
  word(fn, 127);
  fn.op('i32x4.add').i32(23).op('i32x4.shl').op('f32x4.mul');
  keepSpecial(fn);
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

/** Pushes the mask of zeros, infinities and NaNs of the f64 vector in a local. */
function isSpecial(fn: WasmFunction, x: number): void {
  fn.get(x).get(x).op('f64x2.sub');
  double(fn, 0);
  fn.op('f64x2.ne').get(x);
  double(fn, 0);
  fn.op('f64x2.eq').op('v128.or');
}

/** Scales denormals of the f64 in `x` into the normal range; `shift` gets 64 for them. */
function normalize(fn: WasmFunction, x: number, shift: number): void {
  fn.get(x).abs('f64x2');
  double(fn, 2 ** -1022);
  fn.op('f64x2.lt').set(shift).get(x);
  double(fn, 2 ** 64);
  fn.op('f64x2.mul').get(x).get(shift).op(choosing()).set(x);
  fn.get(shift).v128(64, 0, 64, 0).op('v128.and').set(shift);
}

/** Pushes the mantissa in [1/2, 1) of the f64 vector in a local. */
function mantissa(fn: WasmFunction, x: number): void {
  const [special, shift] = [fn.local('v128'), fn.local('v128')];
  isSpecial(fn, x);
  fn.set(special);
  const y = fn.local('v128');
  fn.get(x).set(y);
  normalize(fn, y, shift);
  fn.get(x)
    .get(y)
    .v128(-1, -0x7ff00001, -1, -0x7ff00001)
    .op('v128.and')
    .v128(0, 0x3fe00000, 0, 0x3fe00000)
    .op('v128.or');
  fn.get(special).op(choosing());
  for (const local of [special, shift, y]) fn.release('v128', local);
}

/** Pushes the exponent that belongs to `mantissa`, as i64; 0 for zeros, infinities and NaNs. */
function exponent(fn: WasmFunction, x: number): void {
  const [special, shift, y] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  isSpecial(fn, x);
  fn.set(special).get(x).set(y);
  normalize(fn, y, shift);
  fn.get(y).i32(52).op('i64x2.shr_u').v128(0x7ff, 0, 0x7ff, 0).op('v128.and').v128(1022, 0, 1022, 0).op('i64x2.sub');
  fn.get(shift).op('i64x2.sub').get(special).op('v128.andnot');
  for (const local of [special, shift, y]) fn.release('v128', local);
}

/** Pushes the sizes of parameter 0 as f32 bits, those of denormals times 2^24; the locals get the sizes and the mask of denormals. */
function normalSizes(fn: WasmFunction, size: number, isDenormal: number): void {
  fn.get(0).abs('f32x4').tee(size);
  single(fn, 2 ** 24);
  fn.op('f32x4.mul').get(size).get(size);
  single(fn, 2 ** -126);
  fn.op('f32x4.lt').tee(isDenormal).op(choosing());
}

/** Pushes the mask of numbers by their sizes in a local: of what is no zero, infinity or NaN. */
function pushOrdinary(fn: WasmFunction, size: number): void {
  fn.get(size);
  word(fn, 1);
  fn.op('i32x4.sub');
  word(fn, 0x7f7fffff);
  fn.op('i32x4.lt_u');
}

/** The exponents of four f32 as i32. */
function exponents(fn: WasmFunction): void {
  const [size, isDenormal] = [fn.local('v128'), fn.local('v128')];
  normalSizes(fn, size, isDenormal);
  fn.i32(23).op('i32x4.shr_u');
  word(fn, 126);
  word(fn, 24);
  fn.get(isDenormal).op('v128.and').op('i32x4.add').op('i32x4.sub');
  pushOrdinary(fn, size);
  fn.op('v128.and');
}

/** The mantissas in [1/2, 1) of four f32; zeros, infinities and NaNs stay, as quiet ones. */
function mantissas(fn: WasmFunction): void {
  const [size, isDenormal] = [fn.local('v128'), fn.local('v128')];
  normalSizes(fn, size, isDenormal);
  word(fn, 0x007fffff);
  fn.op('v128.and');
  word(fn, 0x3f000000);
  fn.op('v128.or').get(0);
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or').get(0).get(0).op('f32x4.add');
  pushOrdinary(fn, size);
  fn.op(choosing());
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

const mantissa64 = (fn: WasmFunction): void => mantissa(fn, 0);
const exponent64 = (fn: WasmFunction): void => exponent(fn, 0);

export const EXPONENT: Record<string, MathFunction> = {
  ...allRoundings('ldexp', 2, ldexp32),
  'ldexp.f16': { parameters: 2, build: ldexp16 },
  'ldexp.f64': { parameters: 2, inline: true, build: ldexp64 },
  'frexp_mant.f32': { parameters: 1, build: mantissas },
  'frexp_mant.f64': { parameters: 1, build: mantissa64 },
  'frexp_exp.f32': { parameters: 1, build: exponents },
  'frexp_exp.f16': { parameters: 1, build: exponents },
  'frexp_exp.f64': { parameters: 1, build: exponent64 },
  'class_of.f16': { parameters: 2, build: (fn) => classOf(fn, 'f16') },
  'class_of.f32': { parameters: 2, build: (fn) => classOf(fn, 'f32') },
  'class_of.f64': { parameters: 2, build: (fn) => classOf(fn, 'f64') },
};
