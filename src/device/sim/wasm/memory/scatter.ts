// All lanes of a wavefront at places of their own: found to be live together, and then moved four after four without a further look. For lanes
// that do not follow each other, where looking at four of them takes longer than moving them.
import { LANES, LIMITS, WRITABLE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import type { QuadLocals } from './code.ts';
import type { Frame, Transfer } from './transfer.ts';
import { overQuads } from './window.ts';

/** Pages that a wavefront's lanes may lie in: looking at more takes as long as looking at the lanes (measured with a page for each lane). */
const MOST_PAGES = 512;
const WHOLE_PAGE = 4096;

/** (register address, addend) -> the smallest and the largest of the 64 values plus the addend (modulo 2^32), unsigned. */
export function extentFunction(module: WasmModule): WasmFunction {
  return module.helper('memory.extent', ['i32', 'i32'], ['i32', 'i32'], (fn) => {
    const [register, addend] = [0, 1] as const;
    const [more, values, least, most] = [0, 1, 2, 3].map(() => fn.local('v128')) as [number, number, number, number];
    fn.get(addend).op('i32x4.splat').set(more);
    for (let quad = 0; quad < LANES / 4; quad++) {
      fn.get(register)
        .memory('v128.load', 16 * quad)
        .get(more)
        .op('i32x4.add');
      if (quad === 0) fn.tee(least).set(most);
      else fn.tee(values).get(least).op('i32x4.min_u').set(least).get(values).get(most).op('i32x4.max_u').set(most);
    }
    for (const [extreme, name] of [
      [least, 'i32x4.min_u'],
      [most, 'i32x4.max_u'],
    ] as const) {
      fn.get(extreme).get(extreme).get(extreme).shuffle32(2, 3, 0, 1).op(name).tee(extreme);
      fn.get(extreme).get(extreme).shuffle32(1, 0, 3, 2).op(name).lane('i32x4.extract_lane', 0);
    }
  });
}

/** (first byte, last byte) -> 1 when all of the window between them is live. */
export function rangeFunction(module: WasmModule, write: boolean): WasmFunction {
  const table = write ? WRITABLE : LIMITS;
  return module.helper(`memory.range.${write ? 'store' : 'load'}`, ['i32', 'i32'], ['i32'], (fn) => {
    const [start, last] = [0, 1] as const;
    const entry = fn.local('i32');
    const end = fn.local('i32');
    /** Leaves the function with 0 when the i32 on the stack is. */
    const required = (): void => {
      fn.op('i32.eqz').if().i32(0).return().end();
    };
    fn.get(start).i32(12).op('i32.shr_u').i32(1).op('i32.shl').set(entry);
    fn.get(last).i32(12).op('i32.shr_u').i32(1).op('i32.shl').set(end);
    fn.get(last).get(start).op('i32.ge_u').get(end).get(entry).op('i32.sub');
    fn.i32(2 * MOST_PAGES)
      .op('i32.lt_u')
      .op('i32.and');
    required();
    // All pages but the last are live to their ends: eight entries at a time, then one.
    const pages = [WHOLE_PAGE, WHOLE_PAGE].reduce((words, half) => (words << 16) | half, 0);
    fn.block().loop();
    fn.get(end).get(entry).op('i32.sub').i32(16).op('i32.lt_u').brIf(1);
    fn.get(entry).memory('v128.load', table).v128(pages, pages, pages, pages).op('i16x8.eq').op('i16x8.all_true');
    required();
    fn.get(entry).i32(16).op('i32.add').set(entry).br(0);
    fn.end().end();
    fn.block().loop();
    fn.get(end).get(entry).op('i32.eq').brIf(1);
    fn.get(entry).memory('i32.load16_u', table).i32(WHOLE_PAGE).op('i32.eq');
    required();
    fn.get(entry).i32(2).op('i32.add').set(entry).br(0);
    fn.end().end();
    fn.get(last)
      .i32(WHOLE_PAGE - 1)
      .op('i32.and')
      .get(end)
      .memory('i32.load16_u', table)
      .op('i32.lt_u');
  });
}

/**
 * (register address, start, limit, bytes) -> 1 when no lane's offset, the register's value, is above `limit`, and everything from the first
 * lane's element to the end of the last one's is live, which are at `start` plus their offsets.
 */
function scatterFunction(module: WasmModule, write: boolean): WasmFunction {
  const extent = extentFunction(module);
  const range = rangeFunction(module, write);
  const name = `memory.scatter.${write ? 'store' : 'load'}`;
  return module.helper(name, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [register, start, limit, bytes] = [0, 1, 2, 3] as const;
    const [least, most] = [fn.local('i32'), fn.local('i32')];
    fn.get(register).i32(0).call(extent).set(most).tee(least).get(start).op('i32.add');
    fn.get(most).get(start).op('i32.add').get(bytes).op('i32.add').i32(1).op('i32.sub').call(range);
    fn.get(most).get(limit).op('i32.le_u').op('i32.and');
  });
}

/** Bytes of a lane up to which looking at it takes long beside moving it; loads and stores of 12 and 16 take less than twice a multiply-add. */
const MOST_BYTES = 8;

/** Whether a transfer has a path for lanes at places of their own. */
export const scatters = (t: Transfer): boolean =>
  t.isAtomic === undefined && (t.isPair ? 2 : 1) * t.bytes <= MOST_BYTES;

/** Leaves 1 when `scatterWave` may move all lanes at `start` plus the register's values; `limit` pushes the largest one allowed. */
export function canScatter(f: Frame, t: Transfer, register: number, start: number, limit: () => void): void {
  const { fn } = f.code;
  fn.get(register).get(start);
  limit();
  fn.i32(t.bytes).call(scatterFunction(f.module, t.write));
}

/** Moves all lanes, which are at `start` plus the values of a register. */
export function scatterWave(f: Frame, t: Transfer, register: number, start: number, q: QuadLocals): void {
  const { fn } = f.code;
  const row = q.addresses[0];
  f.code.block((done) => {
    if (t.all?.(f, register, start, q, done) === 'always') return;
    overQuads(f, start, 0, () => {
      fn.get(register).get(f.at).op('i32.add');
      if (t.lanes !== undefined) {
        fn.memory('v128.load').get(start).op('i32x4.splat').op('i32x4.add').set(q.low);
        t.lanes(f, q.low);
        return;
      }
      fn.set(row);
      for (const lane of [3, 2, 1, 0])
        fn.get(row)
          .memory('i32.load', 4 * lane)
          .get(start)
          .op('i32.add')
          .set(q.addresses[lane] as number);
      t.scattered(f, q.addresses);
    });
  });
}
