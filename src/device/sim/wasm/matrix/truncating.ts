// CDNA3's truncating sums in SIMD: products cut to 24 bits below the group's largest exponent, added as integers, then to the
// accumulator with its two cuts and one rounding. Source: isa numerics of interpreter/matrix-math.ts (`truncating`, `groupedTruncating`).
//
// Products are exact in f32 (22 bits at most), scaled by 2^(24 - e) and converted to i32 towards zero, which is the cut; sums of a
// group stay below 2^30. The accumulator step works in f64, where all of its integers (below 2^38) are exact.
// What this path does not do is left to the caller by a mask of "not done": infinities and NaNs, products outside f32's range.
import type { WasmFunction } from '../emit.ts';
import type { MatrixFeatures } from '../features.ts';
import { groupedAccumulator, plainAccumulator } from './accumulate.ts';
import type { Plan, StagedElement } from './plan.ts';
import { type Constants, EXPONENT_ROW, EXPONENTS_A, EXPONENTS_B, RESULT, STAGED_A, STAGED_B } from './scratch.ts';
import { type Accumulator, emitLoadC, emitTiles, stagedOffset } from './tile.ts';

export interface TruncatingLocals {
  readonly scratch: number;
  readonly c: Accumulator;
  /** v128: lanes that need the reference. */
  readonly bad: number;
  /** v128 i32: sum of the format biases minus the powers of two the operands were scaled by; absent when no scaling is done. */
  readonly scaledBias: number | undefined;
}

/** Exponents of this many binades below one are as small as a scaled product may be. */
const LOWEST = -100;

/** Emits the result of a truncating or grouped operation into the scratch area. */
export function emitTruncating(
  f: WasmFunction,
  k: Constants,
  plan: Plan,
  features: MatrixFeatures,
  locals: TruncatingLocals,
): void {
  const { m, n, blocks, a: type } = plan.op;
  const grouped = plan.numerics === 'grouped';
  const length = Math.min(grouped ? 16 : type === 'xf32' ? 4 : 8, plan.op.k);
  const parities = grouped ? 2 : 1;
  const vectors = n === 4 ? 1 : 2;
  const biasSum = (plan.formatA?.bias ?? 0) + (plan.formatB?.bias ?? 0);
  const wide = locals.scaledBias !== undefined;
  const convert = features.relaxed ? 'i32x4.relaxed_trunc_f32x4_s' : 'i32x4.trunc_sat_f32x4_s';
  const v128 = (): number => f.local('v128');

  // Exponent field of the scale 2^(24 - e): 151 - e, where e is the field sum minus the bias.
  const scaleBase = v128();
  const lowest = v128();
  f.get(k.word(151));
  f.get(locals.scaledBias ?? k.word(biasSum))
    .op('i32x4.add')
    .set(scaleBase);
  f.get(k.word(LOWEST));
  f.get(locals.scaledBias ?? k.word(biasSum))
    .op('i32x4.add')
    .set(lowest);
  const options = { biasSum, wide, bad: locals.bad };
  const accumulate = grouped ? groupedAccumulator(f, k, options) : plainAccumulator(f, k, options);
  k.word(0x7fffffff);
  k.word(0x7f7fffff);
  k.word(-1000);

  const sums = Array.from({ length: parities * vectors }, v128);
  const scales = Array.from({ length: parities * vectors }, v128);
  const fields = Array.from({ length: parities * vectors }, v128);
  const largest = Array.from({ length: parities }, v128);
  const d = Array.from({ length: vectors }, v128);
  const a = v128();
  const exponentA = f.local('i32');
  const exponentB = f.local('i32');

  emitTiles(f, plan, locals.scratch, 1, vectors, (tile) => {
    f.get(locals.scratch).get(tile.laneA).i32(1).op('i32.shl').op('i32.add').set(exponentA);
    f.get(locals.scratch).get(tile.laneB).i32(1).op('i32.shl').op('i32.add').set(exponentB);
    for (let v = 0; v < vectors; v++) {
      emitLoadC(f, locals.c, tile, 0, v);
      f.set(d[v] as number);
    }
    for (let first = 0; first < plan.op.k; first += length) {
      const group = Array.from({ length }, (_, i) => ({ parity: i % parities, at: first + i }));
      const offsets = group.map(({ parity, at }) => ({
        parity,
        a: stagedOffset(m, blocks, plan.stagedA[at] as StagedElement),
        b: stagedOffset(n, blocks, plan.stagedB[at] as StagedElement),
        ea: exponentOffset(m, blocks, plan.stagedA[at] as StagedElement),
        eb: exponentOffset(n, blocks, plan.stagedB[at] as StagedElement),
      }));
      // Largest exponent field of the products, eight columns at a time.
      for (let parity = 0; parity < parities; parity++) {
        const mine = offsets.filter((o) => o.parity === parity);
        for (const [i, o] of mine.entries()) {
          f.get(exponentA).memory('v128.load16_splat', EXPONENTS_A + o.ea);
          f.get(exponentB).memory(vectors === 2 ? 'v128.load' : 'v128.load64_zero', EXPONENTS_B + o.eb);
          f.op('i16x8.add');
          if (i > 0) f.get(largest[parity] as number).op('i16x8.max_s');
          f.set(largest[parity] as number);
        }
        for (let v = 0; v < vectors; v++) {
          const at = parity * vectors + v;
          f.get(largest[parity] as number).op(v === 0 ? 'i32x4.extend_low_i16x8_s' : 'i32x4.extend_high_i16x8_s');
          f.set(fields[at] as number);
          if (wide) {
            // Non-zero products below the range: not done here.
            f.get(fields[at] as number)
              .get(lowest)
              .op('i32x4.lt_s');
            f.get(fields[at] as number)
              .get(k.word(-1000))
              .op('i32x4.gt_s')
              .op('v128.and');
            f.get(locals.bad).op('v128.or').set(locals.bad);
          }
          f.get(scaleBase)
            .get(fields[at] as number)
            .get(lowest)
            .op('i32x4.max_s')
            .op('i32x4.sub')
            .i32(23)
            .op('i32x4.shl')
            .set(scales[at] as number);
        }
      }
      const seen = new Set<number>();
      for (const o of offsets) {
        f.get(tile.a)
          .memory('v128.load32_splat', STAGED_A + o.a)
          .set(a);
        for (let v = 0; v < vectors; v++) {
          const at = o.parity * vectors + v;
          f.get(a)
            .get(tile.b)
            .memory('v128.load', STAGED_B + o.b + 16 * v)
            .op('f32x4.mul');
          f.get(scales[at] as number)
            .op('f32x4.mul')
            .op(convert);
          if (seen.has(at)) f.get(sums[at] as number).op('i32x4.add');
          seen.add(at);
          f.set(sums[at] as number);
        }
      }
      for (let v = 0; v < vectors; v++) {
        const pick = (list: readonly number[]): number[] =>
          Array.from({ length: parities }, (_, p) => list[p * vectors + v] as number);
        accumulate(d[v] as number, pick(sums), pick(fields));
      }
    }
    for (let v = 0; v < vectors; v++) {
      const value = d[v] as number;
      // Infinities and NaNs, also those C came with.
      f.get(value).get(k.word(0x7fffffff)).op('v128.and').get(k.word(0x7f7fffff)).op('i32x4.gt_s');
      f.get(locals.bad).op('v128.or').set(locals.bad);
      f.get(locals.scratch)
        .get(tile.offset)
        .op('i32.add')
        .get(value)
        .memory('v128.store', RESULT + 16 * v);
    }
  });
}

/** Offset in the exponents of an element, beyond its lane. */
function exponentOffset(width: number, blocks: number, element: StagedElement): number {
  return element.element * EXPONENT_ROW + 2 * width * blocks * element.group;
}
