// exp2, log2, sine, cosine and reciprocal root of four f32 lanes: the f64 operations of isa/semantics/transcendental.ts in the
// same order, for two lanes at a time. What is exact in f32 is done for all four.
import { EXP2, EXP2_LIMITS, LOG2, SIN } from '../../../isa/semantics/transcendental.ts';
import type { WasmFunction } from './emit.ts';
import { double, type MathFunction, polynomial, single, word } from './math-tools.ts';

type TranscendentalFormat = keyof typeof EXP2_LIMITS;

/** Adding it leaves the nearest integer in the low bits of an f32. */
const MAGIC = 1.5 * 2 ** 23;
/** Bits of √½ in f32, as far as SQRT_HALF_HIGH has them. */
const SQRT_HALF_BITS = 0x3f3504f0;

/** Pushes two lanes of a local as f64. */
function promote(fn: WasmFunction, local: number, half: number): void {
  fn.get(local);
  if (half === 1) fn.get(local).shuffle32(2, 3, 2, 3);
  fn.op('f64x2.promote_low_f32x4');
}

/** Pushes four f32 of what `body` pushes for each half. */
function halves(fn: WasmFunction, body: (half: number) => void): void {
  for (const half of [0, 1]) {
    body(half);
    fn.op('f32x4.demote_f64x2_zero');
  }
  fn.shuffle32(0, 1, 4, 5);
}

/** Takes locals for `body` and gives them back. */
function withLocals(fn: WasmFunction, count: number, body: (...locals: number[]) => void): void {
  const locals = Array.from({ length: count }, () => fn.local('v128'));
  body(...locals);
  for (const local of locals) fn.release('v128', local);
}

function exp2(fn: WasmFunction, format: TranscendentalFormat): void {
  const [low, high] = EXP2_LIMITS[format];
  withLocals(fn, 4, (x, r, shifted, wide) => {
    fn.tee(x as number);
    single(fn, low);
    fn.op('f32x4.pmax');
    single(fn, high);
    fn.op('f32x4.pmin').tee(r as number);
    single(fn, MAGIC);
    fn.op('f32x4.add').set(shifted as number);
    fn.get(r as number).get(shifted as number);
    single(fn, MAGIC);
    fn.op('f32x4.sub')
      .op('f32x4.sub')
      .set(r as number);
    halves(fn, (half) => {
      promote(fn, r as number, half);
      fn.tee(wide as number);
      polynomial(fn, EXP2, wide as number);
      fn.op('f64x2.mul');
      double(fn, 1);
      fn.op('f64x2.add');
    });
    // × 2^n
    fn.get(shifted as number)
      .i32(23)
      .op('i32x4.shl')
      .op('i32x4.add')
      .tee(r as number)
      .get(r as number);
    // Nothing below the normal numbers.
    word(fn, 0x007fffff);
    fn.op('i32x4.gt_s').op('v128.and');
    fn.get(x as number)
      .get(x as number)
      .get(x as number)
      .op('f32x4.eq')
      .op('v128.bitselect');
  });
}

/** Pushes the lanes of a local that are zero, negative, infinite or no number. */
function pushSpecial(fn: WasmFunction, x: number): void {
  fn.get(x);
  word(fn, 0x00800000);
  fn.op('i32x4.sub');
  word(fn, 0x7f000000);
  fn.op('i32x4.ge_u');
}

function log2(fn: WasmFunction): void {
  withLocals(fn, 5, (...locals) => {
    const [x, e, f, s, z] = locals as [number, number, number, number, number];
    fn.tee(x);
    word(fn, SQRT_HALF_BITS);
    fn.op('i32x4.sub').i32(23).op('i32x4.shr_s').set(e);
    fn.get(x).get(e).i32(23).op('i32x4.shl').op('i32x4.sub');
    single(fn, 1);
    fn.op('f32x4.sub').set(f);
    halves(fn, (half) => {
      promote(fn, f, half);
      fn.tee(s).get(s);
      double(fn, 2);
      fn.op('f64x2.add').op('f64x2.div').tee(s).get(s).op('f64x2.mul').set(z);
      fn.get(s);
      polynomial(fn, LOG2, z);
      fn.op('f64x2.mul').get(e);
      if (half === 1) fn.get(e).shuffle32(2, 3, 2, 3);
      fn.op('f64x2.convert_low_i32x4_s').op('f64x2.add');
    });
    const result = f;
    fn.set(result);
    pushSpecial(fn, x);
    fn.op('v128.any_true').if();
    // Infinity stays; below zero and NaN: NaN; zero: -infinity.
    fn.get(x).get(result).get(x);
    single(fn, Infinity);
    fn.op('f32x4.eq').op('v128.bitselect');
    single(fn, NaN);
    fn.get(x).v128(0, 0, 0, 0).op('f32x4.ge').op('v128.bitselect');
    single(fn, -Infinity);
    fn.get(x).v128(0, 0, 0, 0).op('f32x4.ne').op('v128.bitselect');
    fn.set(result).end().get(result);
  });
}

/** Beyond 256 turns the f32 sine is 0 and the cosine 1: puts that into such lanes of the result. */
function limit(fn: WasmFunction, x: number, result: number, beyond: number): void {
  fn.get(x).op('f32x4.abs');
  single(fn, 256);
  fn.op('f32x4.gt').op('v128.any_true').if();
  single(fn, beyond);
  fn.get(result).get(x).op('f32x4.abs');
  single(fn, 256);
  fn.op('f32x4.gt').get(x).op('f32x4.abs');
  single(fn, Infinity);
  fn.op('f32x4.lt').op('v128.and').op('v128.bitselect').set(result).end();
}

function sine(fn: WasmFunction, format: TranscendentalFormat): void {
  withLocals(fn, 5, (...locals) => {
    const [x, turn, v, wide, z] = locals as [number, number, number, number, number];
    fn.tee(x).get(x).op('f32x4.nearest').op('f32x4.sub').tee(turn);
    fn.op('f32x4.abs').tee(v);
    single(fn, 0.5);
    fn.get(v).op('f32x4.sub').op('f32x4.pmin').set(v);
    halves(fn, (half) => {
      promote(fn, v, half);
      fn.tee(wide).get(wide).op('f64x2.mul').set(z);
      fn.get(wide);
      polynomial(fn, SIN, z);
      fn.op('f64x2.mul');
    });
    fn.get(x).get(turn).get(v).v128(0, 0, 0, 0).op('f32x4.eq').op('v128.bitselect');
    word(fn, -0x80000000);
    fn.op('v128.and').op('v128.or');
    if (format === 'f16') return;
    fn.set(turn);
    limit(fn, x, turn, 0);
    fn.get(turn);
  });
}

function cosine(fn: WasmFunction, format: TranscendentalFormat): void {
  withLocals(fn, 4, (...locals) => {
    const [x, turn, wide, z] = locals as [number, number, number, number];
    fn.tee(x).get(x).op('f32x4.nearest').op('f32x4.sub').op('f32x4.abs').set(turn);
    halves(fn, (half) => {
      double(fn, 0.25);
      promote(fn, turn, half);
      fn.op('f64x2.sub').tee(wide).get(wide).op('f64x2.mul').set(z);
      fn.get(wide);
      polynomial(fn, SIN, z);
      fn.op('f64x2.mul');
    });
    if (format === 'f16') return;
    fn.set(turn);
    limit(fn, x, turn, 1);
    fn.get(turn);
  });
}

function reciprocalRoot(fn: WasmFunction): void {
  withLocals(fn, 4, (...locals) => {
    const [x, estimate, wide, step] = locals as [number, number, number, number];
    fn.set(x);
    single(fn, 1);
    fn.get(x).op('f32x4.sqrt').op('f32x4.div').tee(estimate).get(estimate);
    single(fn, 0.5);
    fn.op('f32x4.mul');
    halves(fn, (half) => {
      promote(fn, estimate, half);
      fn.set(wide);
      double(fn, 1);
      promote(fn, x, half);
      fn.get(wide).op('f64x2.mul').get(wide).op('f64x2.mul').op('f64x2.sub');
    });
    // The estimates of zeros and infinities have no step.
    fn.op('f32x4.mul').tee(step).get(step).get(step).op('f32x4.eq').op('v128.and').op('f32x4.add');
  });
}

const WRITERS: Readonly<Record<string, (fn: WasmFunction, format: TranscendentalFormat) => void>> = {
  exp2,
  log2,
  sin_turns: sine,
  cos_turns: cosine,
  rsq: reciprocalRoot,
};
export const TRANSCENDENTAL_NAMES: ReadonlySet<string> = new Set(Object.keys(WRITERS));

/** `exp2.f32` and the like; `exp2.f16` takes and gives f32 that are f16 and to be rounded to it. */
export const TRANSCENDENTAL: Record<string, MathFunction> = Object.fromEntries(
  Object.entries(WRITERS).flatMap(([name, write]) =>
    (['f32', 'f16'] as const).map((format): [string, MathFunction] => [
      `${name}.${format}`,
      {
        parameters: 1,
        build: (fn) => {
          fn.get(0);
          write(fn, format);
        },
      },
    ]),
  ),
);
