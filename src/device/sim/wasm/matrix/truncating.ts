// CDNA3's truncating sums of bf16 and xf32 in SIMD (narrow.ts has the other formats): products cut to 24 bits below the group's largest
// exponent, added as integers, then to the accumulator with its two cuts and one rounding. Source: interpreter/matrix-math.ts (`truncating`).
//
// Products are exact in f32 (22 bits at most), scaled by 2^(24 - e) and converted to i32 towards zero, which is the cut; sums of a
// group stay below 2^30. The accumulator step works in f64, where all of its integers (below 2^38) are exact.
// What this path does not do is left to the caller by a mask of "not done": infinities and NaNs, products outside f32's range.
import type { WasmFunction } from '../emit.ts';
import type { MatrixFeatures } from '../features.ts';
import { plainAccumulator } from './accumulate.ts';
import type { Plan, StagedElement } from './plan.ts';
import { type Constants, EXPONENT_ROW, RESULT } from './scratch.ts';
import { recordOf } from './staged-operands.ts';
import { type Accumulator, emitLoadC, emitTiles, type StagedAddresses, stagedOffset, type Tile } from './tile.ts';

export interface TruncatingLocals {
  readonly scratch: number;
  readonly staged: StagedAddresses;
  readonly c: Accumulator;
  /** v128: lanes that need the reference. */
  readonly bad: number;
}

/** Exponents of this many binades below one are as small as a scaled product may be. */
const LOWEST = -100;

/**
 * Emits the result of a truncating operation into the scratch area. `scaledBias` is a v128 of i32: the sum of the format biases minus the
 * powers of two the operands were scaled by.
 */
export function emitTruncating(
  f: WasmFunction,
  k: Constants,
  plan: Plan,
  features: MatrixFeatures,
  locals: TruncatingLocals,
  scaledBias: number,
): void {
  const { m, n, blocks, a: type } = plan.op;
  const length = Math.min(type === 'xf32' ? 4 : 8, plan.op.k);
  const vectors = n === 4 ? 1 : 2;
  const biasSum = (plan.formatA?.bias ?? 0) + (plan.formatB?.bias ?? 0);
  const convert = features.relaxed ? 'i32x4.relaxed_trunc_f32x4_s' : 'i32x4.trunc_sat_f32x4_s';
  const v128 = (): number => f.local('v128');

  // Exponent field of the scale 2^(24 - e): 151 - e, where e is the field sum minus the bias.
  const scaleBase = v128();
  const lowest = v128();
  f.get(k.word(151)).get(scaledBias).op('i32x4.add').set(scaleBase);
  f.get(k.word(LOWEST)).get(scaledBias).op('i32x4.add').set(lowest);
  const accumulate = plainAccumulator(f, k, { biasSum, wide: true, bad: locals.bad });
  k.word(0x7fffffff);
  k.word(0x7f7fffff);
  k.word(-1000);

  const row = (): number[] => Array.from({ length: vectors }, v128);
  const [sums, scales, fields, d] = [row(), row(), row(), row()];
  const largest = v128();
  const a = v128();
  const exponentA = f.local('i32');
  const exponentB = f.local('i32');

  const { exponents } = recordOf(plan);
  emitTiles(f, plan, locals.staged, 1, vectors, (tile) => {
    f.get(locals.staged.a).get(tile.laneA).i32(1).op('i32.shl').op('i32.add').set(exponentA);
    f.get(locals.staged.b).get(tile.laneB).i32(1).op('i32.shl').op('i32.add').set(exponentB);
    for (const [v, value] of d.entries()) {
      emitLoadC(f, locals.c, tile, 0, v);
      f.set(value);
    }
    for (let first = 0; first < plan.op.k; first += length) {
      const offsets = Array.from({ length }, (_, i) => ({
        a: stagedOffset(m, blocks, plan.stagedA[first + i] as StagedElement),
        b: stagedOffset(n, blocks, plan.stagedB[first + i] as StagedElement),
        ea: exponentOffset(m, blocks, plan.stagedA[first + i] as StagedElement),
        eb: exponentOffset(n, blocks, plan.stagedB[first + i] as StagedElement),
      }));
      // Largest exponent field of the products, eight columns at a time.
      for (const [i, o] of offsets.entries()) {
        f.get(exponentA).memory('v128.load16_splat', exponents + o.ea);
        f.get(exponentB).memory(vectors === 2 ? 'v128.load' : 'v128.load64_zero', exponents + o.eb);
        f.op('i16x8.add');
        if (i > 0) f.get(largest).op('i16x8.max_s');
        f.set(largest);
      }
      for (const [v, field] of fields.entries()) {
        f.get(largest)
          .op(v === 0 ? 'i32x4.extend_low_i16x8_s' : 'i32x4.extend_high_i16x8_s')
          .set(field);
        // Non-zero products below the range: not done here.
        f.get(field).get(lowest).op('i32x4.lt_s').get(field).get(k.word(-1000)).op('i32x4.gt_s').op('v128.and');
        f.get(locals.bad).op('v128.or').set(locals.bad);
        f.get(scaleBase).get(field).get(lowest).op('i32x4.max_s').op('i32x4.sub').i32(23).op('i32x4.shl');
        f.set(scales[v] as number);
      }
      for (const [i, o] of offsets.entries()) {
        f.get(tile.a).memory('v128.load32_splat', o.a).set(a);
        for (const [v, sum] of sums.entries()) {
          f.get(a)
            .get(tile.b)
            .memory('v128.load', o.b + 16 * v)
            .op('f32x4.mul')
            .get(scales[v] as number)
            .op('f32x4.mul')
            .op(convert);
          if (i > 0) f.get(sum).op('i32x4.add');
          f.set(sum);
        }
      }
      for (const [v, value] of d.entries()) accumulate(value, [sums[v] as number], [fields[v] as number]);
    }
    storeRow(f, k, locals, tile, d);
  });
}

/** Stores the results of a row; lanes with infinities and NaNs, also those C came with, need the reference. */
export function storeRow(
  f: WasmFunction,
  k: Constants,
  locals: TruncatingLocals,
  tile: Tile,
  values: readonly number[],
): void {
  for (const [v, value] of values.entries()) {
    f.get(value).get(k.word(0x7fffffff)).op('v128.and').get(k.word(0x7f7fffff)).op('i32x4.gt_s');
    f.get(locals.bad).op('v128.or').set(locals.bad);
    f.get(locals.scratch)
      .get(tile.offset)
      .op('i32.add')
      .get(value)
      .memory('v128.store', RESULT + 16 * v);
  }
}

/** Offset in the exponents of an element, beyond its lane. */
function exponentOffset(width: number, blocks: number, element: StagedElement): number {
  return element.element * EXPONENT_ROW + 2 * width * blocks * element.group;
}
