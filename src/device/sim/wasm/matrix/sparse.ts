// Sparse products (SMFMAC): each stored element of A meets the row of B that its two index bits name.
// Sources: AMD CDNA3 ISA, "Sparse matrix"; order and rounding as in interpreter/matrix.ts.
import type { WasmFunction } from '../emit.ts';
import type { ChainStep } from './chain.ts';
import type { Plan } from './plan.ts';
import { type Constants, INDICES, ROW, STAGED_A, STAGED_B } from './scratch.ts';
import { emitCanonical, emitTiles } from './tile.ts';

/** The integer step of sparse products, whose elements are staged one by one. */
export const multiplyAdd: ChainStep = (f, acc, a, b) => {
  f.get(a).get(b).op('i32x4.mul').get(acc).op('i32x4.add').set(acc);
};

/** Emits D += A·B in place; the index register is staged, `shift` is where this instruction's set of index bits begins. */
export function emitSparse(
  f: WasmFunction,
  k: Constants,
  plan: Plan,
  step: ChainStep,
  locals: { readonly scratch: number; readonly d: number; readonly shift: number },
): void {
  const { m, n } = plan.op;
  const vectors = n / 4;
  const isFloat = plan.numerics !== 'integer';
  const stored = plan.perLane / 2;
  if (isFloat) k.word(0x7fc00000);
  const acc = Array.from({ length: vectors }, () => f.local('v128'));
  const a = f.local('v128');
  const b = f.local('v128');
  const indices = f.local('i32');
  const from = f.local('i32');
  emitTiles(f, plan, { a: locals.scratch, b: locals.scratch }, 1, vectors, (tile) => {
    for (let v = 0; v < vectors; v++) {
      f.get(locals.d)
        .get(tile.offset)
        .op('i32.add')
        .memory('v128.load', 16 * v)
        .set(acc[v] as number);
    }
    for (let group = 0; group < plan.op.k / plan.perLane; group++) {
      f.get(tile.a).memory('i32.load', INDICES + 4 * m * group);
      if (locals.shift > 0) f.i32(locals.shift).op('i32.shr_u');
      f.set(indices);
      for (let s = 0; s < stored; s++) {
        f.get(tile.b);
        f.get(indices);
        // Bits 2s, 2s + 1 times the size of a staged row.
        if (2 * s <= 8) f.i32(8 - 2 * s).op('i32.shl');
        else f.i32(2 * s - 8).op('i32.shr_u');
        f.i32(3 << 8)
          .op('i32.and')
          .op('i32.add')
          .set(from);
        f.get(tile.a)
          .memory('v128.load32_splat', STAGED_A + s * ROW + 4 * m * group)
          .set(a);
        for (let v = 0; v < vectors; v++) {
          f.get(from)
            .memory('v128.load', STAGED_B + (s >> 1) * 4 * ROW + 4 * n * group + 16 * v)
            .set(b);
          step(f, acc[v] as number, a, b);
        }
      }
    }
    for (let v = 0; v < vectors; v++) {
      f.get(locals.d).get(tile.offset).op('i32.add');
      if (isFloat) emitCanonical(f, k, acc[v] as number);
      else f.get(acc[v] as number);
      f.memory('v128.store', 16 * v);
    }
  });
  for (const local of [...acc, a, b]) f.release('v128', local);
  f.release('i32', indices);
  f.release('i32', from);
}
