// Chains of additions in increasing k: integer dot products, fused f32, and the `chain` numerics (product, then sum, in f32).
// Source: interpreter/matrix-math.ts, which states each rule; register-blocked so that a tile's accumulators stay in SIMD registers.
import type { WasmFunction, WasmModule } from '../emit.ts';
import type { MatrixFeatures } from '../features.ts';
import type { Plan, StagedElement } from './plan.ts';
import type { Constants } from './scratch.ts';
import { ROW } from './scratch.ts';
import { emitCanonical, emitLoadC, emitTiles, type SumLocals, stagedOffset } from './tile.ts';

/** Emits acc = a ∘ b + acc on v128 locals. */
export type ChainStep = (f: WasmFunction, acc: number, a: number, b: number) => void;

const dot: ChainStep = (f, acc, a, b) => {
  f.get(a).get(b).op('i32x4.dot_i16x8_s').get(acc).op('i32x4.add').set(acc);
};
const fused: ChainStep = (f, acc, a, b) => {
  f.get(a).get(b).get(acc).op('f32x4.relaxed_madd').set(acc);
};
const separate: ChainStep = (f, acc, a, b) => {
  f.get(acc).get(a).get(b).op('f32x4.mul').op('f32x4.add').set(acc);
};

/**
 * The fused multiply-add of four f32 without the host's help: the product is exact in f64, the sum is rounded to odd, so that rounding
 * it to f32 is one rounding of the exact result.
 */
function softFused(module: WasmModule): ChainStep {
  const helper = module.helper('matrix fma f32x4', ['v128', 'v128', 'v128'], ['v128'], (f) => {
    const half = f.local('v128');
    const p = f.local('v128');
    const c = f.local('v128');
    const s = f.local('v128');
    const error = f.local('v128');
    const low = f.local('v128');
    for (let h = 0; h < 2; h++) {
      const promote = (operand: number): void => {
        f.get(operand);
        if (h === 1) f.set(half).get(half).get(half).shuffle32(2, 3, 2, 3);
        f.op('f64x2.promote_low_f32x4');
      };
      promote(0);
      promote(1);
      f.op('f64x2.mul').set(p);
      promote(2);
      f.set(c);
      f.get(p).get(c).op('f64x2.add').set(s);
      // Two-sum: error = (p - (s - (s - p))) + (c - (s - p)).
      f.get(s).get(p).op('f64x2.sub').set(error);
      f.get(p).get(s).get(error).op('f64x2.sub').op('f64x2.sub').get(c).get(error).op('f64x2.sub').op('f64x2.add');
      f.set(error);
      // Inexact and even: move one unit towards the error; the last bit of s becomes 1.
      const even = f.get(s).v128(1, 0, 1, 0).op('v128.and').v128(0, 0, 0, 0).op('i64x2.eq');
      even.get(error).v128(0, 0, 0, 0).op('f64x2.ne').op('v128.and');
      // An infinite or NaN sum is left alone: its error is NaN.
      f.get(error).get(error).op('f64x2.eq').op('v128.and');
      const away = f.get(error).get(s).op('v128.xor').i32(63).op('i64x2.shr_s').v128(1, 0, 1, 0).op('v128.or');
      // +1 when the error has the sign of s (magnitude grows), -1 otherwise.
      away.op('v128.and').get(s).op('i64x2.add').op('f32x4.demote_f64x2_zero');
      if (h === 0) f.set(low);
    }
    f.set(half).get(low).get(half).shuffle32(0, 1, 4, 5);
  });
  return (f, acc, a, b) => {
    f.get(a).get(b).get(acc).call(helper).set(acc);
  };
}

/** The step of a chain. Inside `chain` numerics products of narrow formats are exact, so a fused step gives the same bits. */
export function chainStep(module: WasmModule, plan: Plan, features: MatrixFeatures): ChainStep {
  if (plan.numerics === 'integer') return dot;
  if (plan.numerics === 'fma32') return features.fused ? fused : softFused(module);
  const narrow = (plan.formatA?.bias ?? 127) < 127;
  return narrow && features.fused ? fused : separate;
}

/** Emits D = C + A·B by a chain; results go to `result` (a local address) plus `resultOffset`. */
export function emitChain(f: WasmFunction, k: Constants, plan: Plan, step: ChainStep, locals: SumLocals): void {
  const { m, n, blocks } = plan.op;
  const vectors = Math.min(4, n / 4);
  const rows = vectors === 4 ? 2 : 4;
  const isFloat = plan.numerics !== 'integer';
  if (isFloat) k.word(0x7fc00000);
  const acc = Array.from({ length: rows * vectors }, () => f.local('v128'));
  const b = Array.from({ length: vectors }, () => f.local('v128'));
  const a = f.local('v128');
  // Integer elements are staged in pairs: two a step.
  const stagedA = isFloat ? plan.stagedA : stagedPairs(plan);
  const stagedB = isFloat ? plan.stagedB : stagedA;
  emitTiles(f, plan, locals.staged, rows, vectors, (tile) => {
    for (let r = 0; r < rows; r++) {
      for (let v = 0; v < vectors; v++) {
        emitLoadC(f, locals.c, tile, r, v);
        f.set(acc[r * vectors + v] as number);
      }
    }
    for (const [i, element] of stagedA.entries()) {
      const offsetA = locals.offsetA + stagedOffset(m, blocks, element);
      const offsetB = locals.offsetB + stagedOffset(n, blocks, stagedB[i] as StagedElement);
      for (let v = 0; v < vectors; v++) {
        f.get(tile.b)
          .memory('v128.load', offsetB + 16 * v)
          .set(b[v] as number);
      }
      for (let r = 0; r < rows; r++) {
        f.get(tile.a)
          .memory('v128.load32_splat', offsetA + 4 * r)
          .set(a);
        for (let v = 0; v < vectors; v++) step(f, acc[r * vectors + v] as number, a, b[v] as number);
      }
    }
    for (let r = 0; r < rows; r++) {
      for (let v = 0; v < vectors; v++) {
        f.get(locals.result).get(tile.offset).op('i32.add');
        if (isFloat) emitCanonical(f, k, acc[r * vectors + v] as number);
        else f.get(acc[r * vectors + v] as number);
        f.memory('v128.store', locals.resultOffset + r * ROW + 16 * v);
      }
    }
  });
  for (const local of [...acc, ...b, a]) f.release('v128', local);
}

/** Staged elements of staged i16 pairs: two arrays a register of four elements. */
function stagedPairs(plan: Plan): StagedElement[] {
  const last = plan.stagedA.at(-1) as StagedElement;
  return Array.from({ length: last.group + 1 }, (_, group) =>
    Array.from({ length: (last.element + 1) / 2 }, (_x, element) => ({ group, element })),
  ).flat();
}
