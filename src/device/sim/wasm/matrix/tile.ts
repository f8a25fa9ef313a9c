// Loops over the result of a matrix instruction in tiles of a few rows by 4 to 16 columns: addresses of A, B, C and D.
// Source: layouts of AMD's matrix instruction calculator in closed form: the columns of a row of D lie in consecutive lanes.
import type { WasmFunction } from '../emit.ts';
import type { Plan } from './plan.ts';
import { type Constants, emitLoop, ROW } from './scratch.ts';

/** Locals of a tile; columns are four to a vector. */
export interface Tile {
  /** Lane of the first row of A and of the first column of B (group 0). */
  readonly laneA: number;
  readonly laneB: number;
  /** The addresses of staged A and B plus 4 × those lanes. */
  readonly a: number;
  readonly b: number;
  /** Byte offset of the first row and column in the registers of C and D; the next row is one register on. */
  readonly offset: number;
}

const log2 = (n: number): number => 31 - Math.clz32(n);

/** Locals with the addresses that offsets of staged elements of A and B are relative to. */
export interface StagedAddresses {
  readonly a: number;
  readonly b: number;
}

/** Walks all tiles of `rows` × 4·`vectors`; rows divides 4, 4·vectors divides N. */
export function emitTiles(
  f: WasmFunction,
  plan: Plan,
  staged: StagedAddresses,
  rows: number,
  vectors: number,
  body: (tile: Tile) => void,
): void {
  const { m, n, blocks } = plan.op;
  const quads = m / 4;
  const tile: Tile = {
    laneA: f.local('i32'),
    laneB: f.local('i32'),
    a: f.local('i32'),
    b: f.local('i32'),
    offset: f.local('i32'),
  };
  const quadA = f.local('i32');
  emitLoop(f, quads * blocks, 1, (t) => {
    if (plan.broadcast > 1) {
      // Quad of rows within the block of A that this group of blocks shares.
      f.get(t)
        .i32(quads - 1)
        .op('i32.and');
      f.get(t).i32(log2(quads)).op('i32.shr_u');
      f.i32(-plan.broadcast).op('i32.and').i32(plan.abid).op('i32.add').i32(log2(quads)).op('i32.shl').op('i32.add');
      f.set(quadA);
    } else f.get(t).set(quadA);
    emitLoop(f, 4, rows, (row) => {
      emitLoop(f, n, 4 * vectors, (column) => {
        f.get(quadA).i32(2).op('i32.shl').get(row).op('i32.add').set(tile.laneA);
        f.get(t).i32(log2(quads)).op('i32.shr_u').i32(log2(n)).op('i32.shl').get(column).op('i32.add').set(tile.laneB);
        f.get(staged.a).get(tile.laneA).i32(2).op('i32.shl').op('i32.add').set(tile.a);
        f.get(staged.b).get(tile.laneB).i32(2).op('i32.shl').op('i32.add').set(tile.b);
        if (m === 32) {
          f.get(t).i32(1).op('i32.shr_u').i32(10).op('i32.shl').get(t).i32(1).op('i32.and').i32(7).op('i32.shl');
          f.op('i32.add');
        } else if (m === 16) {
          f.get(t).i32(2).op('i32.shr_u').i32(10).op('i32.shl').get(t).i32(3).op('i32.and').i32(6).op('i32.shl');
          f.op('i32.add');
        } else f.get(t).i32(4).op('i32.shl');
        f.get(row).i32(8).op('i32.shl').op('i32.add').get(column).i32(2).op('i32.shl').op('i32.add').set(tile.offset);
        body(tile);
      });
    });
  });
  for (const local of [...Object.values(tile), quadA]) f.release('i32', local as number);
}

/** Offset in an element array of at (group, element) of a row or column, beyond its lane. */
export function stagedOffset(width: number, blocks: number, at: { group: number; element: number }): number {
  return at.element * ROW + 4 * width * blocks * at.group;
}

/** The accumulator: registers of C, or one value everywhere. */
export interface Accumulator {
  /** Local: the address of C's first register, or the constant's bits. */
  readonly local: number;
  readonly isConstant: boolean;
}

/** Pushes vector `vector` of row `row` of C. */
export function emitLoadC(f: WasmFunction, c: Accumulator, tile: Tile, row: number, vector: number): void {
  if (c.isConstant) f.get(c.local).op('i32x4.splat');
  else
    f.get(c.local)
      .get(tile.offset)
      .op('i32.add')
      .memory('v128.load', row * ROW + 16 * vector);
}

/** Pushes `value` with every NaN replaced by the default one. */
export function emitCanonical(f: WasmFunction, k: Constants, value: number): void {
  f.get(value).get(k.word(0x7fc00000)).get(value).get(value).op('f32x4.eq').op('v128.bitselect');
}

/** What sums that are stored at once need: locals, and where in the staged operands the elements begin. */
export interface SumLocals {
  readonly staged: StagedAddresses;
  readonly offsetA: number;
  readonly offsetB: number;
  readonly c: Accumulator;
  /** Local: address that `resultOffset` is relative to. */
  readonly result: number;
  readonly resultOffset: number;
}
