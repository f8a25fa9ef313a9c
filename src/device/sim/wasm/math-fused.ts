// (a·b + c) · 2^d of f64 with one rounding, for v_div_fmas_f64. Counterpart: fmaScaledF64 in isa/semantics/exact.ts.
// The host's fused multiply-add rounds before the scale. That is the same but where the scaled result is denormal, or where only the
// unscaled one overflows; both are made of other steps. |c| < 2 where d < 0, and |c| >= 2 where d > 0 (isa/semantics/vector-float.ts).
import type { WasmFunction } from './emit.ts';
import { choosing } from './features.ts';
import { Steps } from './math-steps.ts';
import { double, type MathFunction } from './math-tools.ts';

/** The exponent of 2 of the scale. */
const SCALE = 128;
/** Scaled below this a result is denormal; its last bit is worth GRID. */
const LEAST = 2 ** (-1022 + SCALE);
const GRID = 2 ** (-1074 + SCALE);
const SIGNS: [number, number, number, number] = [0, -0x80000000, 0, -0x80000000];

/** What s, the rounded a·b + c, has lost: a·b + c − s, 0 only when s is exact. All are small, and are scaled so that nothing underflows. */
function remainder(w: Steps, s: number): number {
  const { fn } = w;
  const [a, b, c] = [0, 1, 2] as const;
  const far = { f64: 2 ** 600 };
  const isSmaller = w.keep(() => {
    fn.get(a).abs('f64x2').get(b).abs('f64x2').op('f64x2.lt');
  });
  const [largeA, largeB] = [w.result(a, far, 'mul'), w.result(b, far, 'mul')];
  const x = w.choose(largeA, a, () => void fn.get(isSmaller));
  const y = w.choose(b, largeB, () => void fn.get(isSmaller));
  const [cFar, sFar] = [w.result(c, far, 'mul'), w.result(s, far, 'mul')];
  const p = w.result(x, y, 'mul');
  const minusP = w.keep(() => void fn.get(p).neg('f64x2'));
  const pError = w.madd(x, y, minusP);
  const t = w.result(p, cFar, 'add');
  const fromC = w.result(t, p, 'sub');
  const fromP = w.result(t, fromC, 'sub');
  const tError = w.keep(() => {
    w.with(p, fromP, 'sub');
    w.with(cFar, fromC, 'sub');
    fn.op('f64x2.add');
  });
  return w.keep(() => {
    w.with(t, sFar, 'sub');
    fn.get(tError).op('f64x2.add').get(pError).op('f64x2.add');
  });
}

/** A sum s = a·b + c whose scaled value is denormal: rounded again to the grid of denormals, ties decided by what s has lost. */
function onGrid(w: Steps, s: number): number {
  const { fn } = w;
  const magnitude = w.signed(LEAST, s);
  const q = w.keep(() => {
    w.with(s, magnitude, 'add');
    fn.get(magnitude).op('f64x2.sub');
  });
  const off = w.result(s, q, 'sub');
  const lost = remainder(w, s);
  const fix = w.keep(() => {
    // A tie, and what was lost has the sign of the way back to s.
    fn.get(off).abs('f64x2');
    double(fn, GRID / 2);
    fn.op('f64x2.eq');
    w.with(lost, { f64: 0 }, 'ne');
    fn.op('v128.and').get(lost).get(off).op('v128.xor').i32(63).op('i64x2.shr_s').op('v128.not').op('v128.and');
  });
  const step = w.signed(GRID, off);
  return w.keep(() => {
    fn.get(q).get(step).get(fix).op('v128.and').op('f64x2.add').abs('f64x2');
    fn.get(s)
      .v128(...SIGNS)
      .op('v128.and')
      .op('v128.or');
  });
}

/** A sum that overflows unscaled: both factors are at least 1, so they can be scaled before; c is then only what breaks a tie. */
function scaledBefore(w: Steps): number {
  const { fn } = w;
  const half = { f64: 2 ** (-SCALE / 2) };
  const [a, b] = [w.result(0, half, 'mul'), w.result(1, half, 'mul')];
  const small = w.result(2, { f64: 2 ** -SCALE }, 'mul');
  const least = w.signed(2 ** -1022, 2);
  const c = w.choose(least, small, () => {
    fn.get(small).abs('f64x2').get(least).abs('f64x2').op('f64x2.lt');
    w.with(2, { f64: 0 }, 'ne');
    fn.op('v128.and');
  });
  return w.madd(a, b, c);
}

function fmaScaled(fn: WasmFunction): void {
  const w = new Steps(fn);
  const s = w.madd(0, 1, 2);
  const d = w.keep(() => void fn.get(3).op('i64x2.extend_low_i32x4_s'));
  const isDown = w.keep(() => void fn.get(3).i32(31).op('i32x4.shr_s').op('i64x2.extend_low_i32x4_s'));
  const scale = w.keep(() => void fn.get(d).v128(1023, 0, 1023, 0).op('i64x2.add').i32(52).op('i64x2.shl'));
  const size = w.keep(() => void fn.get(s).abs('f64x2'));
  const isSmall = w.keep(() => {
    fn.get(isDown).get(size);
    double(fn, LEAST);
    fn.op('f64x2.lt').op('v128.and');
  });
  const isOver = w.keep(() => {
    fn.get(isDown).get(size);
    double(fn, Infinity);
    fn.op('f64x2.eq').op('v128.and');
  });
  // A sum of zero stays one.
  fn.get(isSmall).get(size).v128(0, 0, 0, 0).op('f64x2.ne').op('v128.and').get(isOver).op('v128.or');
  fn.op('v128.any_true').if('v128');
  const grid = onGrid(w, s);
  const plain = w.choose(grid, s, () => void fn.get(isSmall));
  const scaled = w.result(plain, scale, 'mul');
  const before = scaledBefore(w);
  fn.get(before).get(scaled).get(isOver);
  // An infinite factor is no overflow.
  for (const factor of [0, 1]) {
    fn.get(factor).abs('f64x2');
    double(fn, Infinity);
    fn.op('f64x2.lt').op('v128.and');
  }
  fn.op(choosing()).else();
  w.with(s, scale, 'mul');
  fn.end();
}

/** Where the host's multiply-add rounds once. */
export const FUSED_DOUBLE: Record<string, MathFunction> = {
  'fma_scaled.f64': { parameters: 4, build: fmaScaled },
};
