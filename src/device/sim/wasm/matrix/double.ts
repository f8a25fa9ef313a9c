// f64 matrix products: chains of fused multiply-adds, two columns a vector. Source: interpreter/matrix-math.ts (`chainF64`).
import type { WasmFunction } from '../emit.ts';
import type { Plan } from './plan.ts';
import { type Constants, emitLoop, RESULT, ROW, STAGED_A, STAGED_B } from './scratch.ts';

/** Pushes lanes 2h, 2h + 1 of a register pair as f64, from the low words at the address and the high words a register on. */
function interleave(f: WasmFunction, low: number, high: number, h: number): void {
  f.get(low).get(high);
  if (h === 0) f.shuffle32(0, 4, 1, 5);
  else f.shuffle32(2, 6, 3, 7);
}

/** Stages an operand of one f64 a lane. */
export function emitStageDouble(f: WasmFunction, source: number, scratch: number, target: number, flip: number): void {
  const low = f.local('v128');
  const high = f.local('v128');
  emitLoop(f, ROW, 16, (counter) => {
    f.get(source).get(counter).op('i32.add').memory('v128.load').set(low);
    f.get(source).get(counter).op('i32.add').memory('v128.load', ROW);
    if (flip !== 0) f.v128(flip, flip, flip, flip).op('v128.xor');
    f.set(high);
    for (let h = 0; h < 2; h++) {
      f.get(scratch).get(counter).i32(1).op('i32.shl').op('i32.add');
      interleave(f, low, high, h);
      f.memory('v128.store', target + 16 * h);
    }
  });
  f.release('v128', low);
  f.release('v128', high);
}

/** Emits D = C + A·B into the scratch area. `c` is the address of C, or a constant (low and high word locals). */
export function emitDouble(
  f: WasmFunction,
  k: Constants,
  plan: Plan,
  locals: { readonly scratch: number; readonly c: number; readonly constantHigh: number | undefined },
): void {
  const { m, n, blocks } = plan.op;
  const flip = plan.negate & 4 ? -0x80000000 : 0;
  const sign = k.words(0, flip, 0, flip);
  const nan = k.words(0, 0x7ff80000, 0, 0x7ff80000);
  const [low, high, first, second, a] = Array.from({ length: 5 }, () => f.local('v128')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = f.local('i32');
  const rowA = f.local('i32');
  const rowB = f.local('i32');
  const accs = [first, second];
  emitLoop(f, blocks, 1, (block) => {
    emitLoop(f, m, 1, (i) => {
      emitLoop(f, n, 4, (j) => {
        // Row i of a 16×16 result: register pair i div 4, lane 16·(i mod 4) + j; of 4×4: lane 16·i + 4·block + j.
        if (m === 16) {
          f.get(i).i32(2).op('i32.shr_u').i32(9).op('i32.shl').get(i).i32(3).op('i32.and').i32(6).op('i32.shl');
          f.op('i32.add');
        } else f.get(i).i32(6).op('i32.shl').get(block).i32(4).op('i32.shl').op('i32.add');
        f.get(j).i32(2).op('i32.shl').op('i32.add').set(offset);
        const lane = (width: number, index: number): void => {
          f.get(block).i32(width).op('i32.mul').get(index).op('i32.add').i32(3).op('i32.shl');
          f.get(locals.scratch).op('i32.add');
        };
        lane(m, i);
        f.set(rowA);
        lane(n, j);
        f.set(rowB);
        if (locals.constantHigh === undefined) {
          f.get(locals.c).get(offset).op('i32.add').memory('v128.load').set(low);
          f.get(locals.c).get(offset).op('i32.add').memory('v128.load', ROW).set(high);
        } else {
          f.get(locals.c).op('i32x4.splat').set(low);
          f.get(locals.constantHigh).op('i32x4.splat').set(high);
        }
        for (const [h, acc] of accs.entries()) {
          interleave(f, low, high, h);
          f.get(sign).op('v128.xor').set(acc);
        }
        for (const element of plan.stagedA) {
          const step = 8 * m * blocks * element.group;
          f.get(rowA)
            .memory('v128.load64_splat', STAGED_A + step)
            .set(a);
          for (const [h, acc] of accs.entries()) {
            f.get(a)
              .get(rowB)
              .memory('v128.load', STAGED_B + step + 16 * h);
            f.get(acc).op('f64x2.relaxed_madd').set(acc);
          }
        }
        for (const acc of accs) f.get(acc).get(nan).get(acc).get(acc).op('f64x2.eq').op('v128.bitselect').set(acc);
        f.get(locals.scratch).get(offset).op('i32.add').get(first).get(second).shuffle32(0, 2, 4, 6);
        f.memory('v128.store', RESULT);
        f.get(locals.scratch).get(offset).op('i32.add').get(first).get(second).shuffle32(1, 3, 5, 7);
        f.memory('v128.store', RESULT + ROW);
      });
    });
  });
  for (const local of [low, high, first, second, a]) f.release('v128', local);
  for (const local of [offset, rowA, rowB]) f.release('i32', local);
}
