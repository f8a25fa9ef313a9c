// CDNA2's f16 and bf16 sums in SIMD: products and pairwise sums rounded to f32, denormals flushed. Source: interpreter/matrix-math.ts (`pairwise`).
import type { WasmFunction } from '../emit.ts';
import type { Plan, StagedElement } from './plan.ts';
import { type Constants, ROW } from './scratch.ts';
import { emitCanonical, emitLoadC, emitTiles, type SumLocals, stagedOffset } from './tile.ts';

/** Emits D = C + A·B; A and B are staged with their denormals flushed. */
export function emitPairwise(f: WasmFunction, k: Constants, plan: Plan, locals: SumLocals): void {
  const { m, n, blocks, pairing } = plan.op;
  const vectors = Math.min(4, n / 4);
  // Sums of f16 products are multiples of 2^-48 and normal C has no bits that would make a sum with one denormal.
  const flushes = plan.op.a !== 'f16';
  const normal = k.word(0x7fffff);
  const magnitude = k.word(0x7fffffff);
  const sign = k.word(-0x80000000);
  k.word(0x7fc00000);
  const value = f.local('v128');
  /** Flushes the value on the stack to a zero of its sign. */
  const flush = (): void => {
    if (!flushes) return;
    f.tee(value);
    f.get(value).get(magnitude).op('v128.and').get(normal).op('i32x4.gt_s').get(sign).op('v128.or').op('v128.and');
  };
  const a = Array.from({ length: pairing }, () => f.local('v128'));
  const acc = Array.from({ length: vectors }, () => f.local('v128'));
  emitTiles(f, plan, locals.staged, 1, vectors, (tile) => {
    for (let v = 0; v < vectors; v++) {
      const d = acc[v] as number;
      emitLoadC(f, locals.c, tile, 0, v);
      f.tee(d);
      // Denormal C, of either sign, is +0.
      f.get(d).get(magnitude).op('v128.and').get(normal).op('i32x4.gt_s').op('v128.and').set(d);
    }
    for (let first = 0; first < plan.op.k; first += pairing) {
      for (let i = 0; i < pairing; i++) {
        f.get(tile.a)
          .memory(
            'v128.load32_splat',
            locals.offsetA + stagedOffset(m, blocks, plan.stagedA[first + i] as StagedElement),
          )
          .set(a[i] as number);
      }
      for (let v = 0; v < vectors; v++) {
        const product = (i: number): void => {
          f.get(a[i] as number)
            .get(tile.b)
            .memory(
              'v128.load',
              locals.offsetB + stagedOffset(n, blocks, plan.stagedB[first + i] as StagedElement) + 16 * v,
            )
            .op('f32x4.mul');
          flush();
        };
        const pair = (i: number): void => {
          product(i);
          product(i + 1);
          f.op('f32x4.add');
          flush();
        };
        f.get(acc[v] as number);
        pair(0);
        if (pairing === 4) {
          pair(2);
          f.op('f32x4.add');
          flush();
        }
        f.op('f32x4.add');
        flush();
        f.set(acc[v] as number);
      }
    }
    for (let v = 0; v < vectors; v++) {
      f.get(locals.result).get(tile.offset).op('i32.add');
      emitCanonical(f, k, acc[v] as number);
      f.memory('v128.store', locals.resultOffset + 16 * v);
    }
  });
  for (const local of [...a, ...acc, value]) f.release('v128', local);
}

/** Bytes of the result registers. */
export function resultBytes(plan: Plan): number {
  return plan.outputs * ROW;
}
