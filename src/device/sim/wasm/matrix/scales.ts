// Block scales (E8M0, one for 32 elements of a row) of scaled matrix operations, as f32 by lane of the staged operand.
// Source: OCP Microscaling Formats 1.0; lanes as in interpreter/matrix.ts.
import type { WasmFunction } from '../emit.ts';
import type { StagedElement } from './plan.ts';
import { type Constants, ROW } from './scratch.ts';

export interface ScaleRange {
  readonly largest: number;
  readonly smallest: number;
}

/** Elements 0–15 and 16–31 of a lane lie in different blocks when the operand has 8-bit elements. */
export function scaleRun(bits: number, element: number): number {
  return bits === 8 ? element >> 4 : 0;
}

/**
 * Writes the scales of an operand of rows (or columns) `width` from the lanes at `source` (local) to the scratch area; collects the
 * largest and smallest code.
 */
export function emitScales(
  f: WasmFunction,
  k: Constants,
  o: {
    readonly source: number;
    readonly scratch: number;
    readonly target: number;
    readonly byte: number;
    readonly width: number;
    readonly bits: number;
    readonly staged: readonly StagedElement[];
    readonly range: ScaleRange;
  },
): void {
  const byteMask = k.word(255);
  const zero = k.word(0);
  const half = k.word(0x00400000);
  const code = f.local('v128');
  for (let run = 0; run < (o.bits === 8 ? 2 : 1); run++) {
    for (let lane = 0; lane < 64; lane += 4) {
      const group = Math.floor(lane / o.width);
      const at = o.staged.findIndex((s) => s.group === group && scaleRun(o.bits, s.element) === run);
      const from = (lane % o.width) + o.width * Math.floor(at / 32);
      f.get(o.source).memory('v128.load', 4 * from);
      if (o.byte > 0) f.i32(8 * o.byte).op('i32x4.shr_u');
      f.get(byteMask).op('v128.and').set(code);
      f.get(code).get(o.range.largest).op('i32x4.max_s').set(o.range.largest);
      f.get(code).get(o.range.smallest).op('i32x4.min_s').set(o.range.smallest);
      f.get(o.scratch).get(code).i32(23).op('i32x4.shl');
      // 2^-127 is a denormal f32.
      f.get(code).get(zero).op('i32x4.eq').get(half).op('v128.and').op('v128.or');
      f.memory('v128.store', o.target + run * ROW + 4 * lane);
    }
  }
  f.release('v128', code);
}

/** Pushes the largest (or smallest) of the four lanes of a local. */
export function emitReduce(f: WasmFunction, vector: number, operator: 'i32x4.max_s' | 'i32x4.min_s'): void {
  f.get(vector).get(vector).get(vector).shuffle32(2, 3, 2, 3).op(operator).set(vector);
  f.get(vector).get(vector).get(vector).shuffle32(1, 1, 1, 1).op(operator).lane('i32x4.extract_lane', 0);
}
