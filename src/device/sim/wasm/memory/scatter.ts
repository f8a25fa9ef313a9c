// All lanes of a wavefront at places of their own: found to be live together, and then moved four after four without a further look. For lanes
// that do not follow each other, where looking at four of them takes longer than moving them, and for buffers that some lanes are beyond.
import { LANES, LIMITS, WAVE_TEMPORARY, WRITABLE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { choosing } from '../features.ts';
import type { Label, QuadLocals } from './code.ts';
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
    pushExtremes(fn, least, most);
  });
}

/** Pushes the smallest of four words and the largest of four others, unsigned. */
function pushExtremes(fn: WasmFunction, least: number, most: number): void {
  for (const [extreme, name] of [
    [least, 'i32x4.min_u'],
    [most, 'i32x4.max_u'],
  ] as const) {
    fn.get(extreme).get(extreme).get(extreme).shuffle32(2, 3, 0, 1).op(name).tee(extreme);
    fn.get(extreme).get(extreme).shuffle32(1, 0, 3, 2).op(name).lane('i32x4.extract_lane', 0);
  }
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

/** A buffer: the offset in wasm memory of its base, the largest offset of an element that is all in range, and of one that is partly (locals). */
export interface Bounds {
  readonly start: number;
  readonly limit: number;
  readonly outside: number;
}

/**
 * (register address, start, limit, outside, bytes) -> 1 when each lane's offset, the register's value, is at most `limit` or above `outside`,
 * and everything from the first element in range to the last one is live.
 */
function partFunction(module: WasmModule, write: boolean): WasmFunction {
  const range = rangeFunction(module, write);
  const name = `memory.part.${write ? 'store' : 'load'}`;
  return module.helper(name, ['i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [register, start, limit, outside, bytes] = [0, 1, 2, 3, 4] as const;
    const vector = (): number => fn.local('v128');
    const [limits, outsides, values, inside, least, most, partly] = Array.from({ length: 7 }, vector) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const [first, last] = [fn.local('i32'), fn.local('i32')];
    fn.get(limit).op('i32x4.splat').set(limits).get(outside).op('i32x4.splat').set(outsides);
    for (let quad = 0; quad < LANES / 4; quad++) {
      fn.get(register)
        .memory('v128.load', 16 * quad)
        .tee(values);
      if (quad > 0) fn.get(least).op('i32x4.min_u');
      fn.set(least).get(values).get(limits).op('i32x4.le_u').tee(inside);
      fn.get(values).op('v128.and').get(most).op('i32x4.max_u').set(most);
      fn.get(values).get(outsides).op('i32x4.le_u').get(inside).op('v128.xor').get(partly).op('v128.or').set(partly);
    }
    pushExtremes(fn, least, most);
    fn.set(last).set(first).get(partly).op('v128.any_true').if().i32(0).return().end();
    fn.get(start).get(first).op('i32.add').get(start).get(last).op('i32.add').get(bytes).op('i32.add').i32(1);
    fn.op('i32.sub').call(range).get(last).get(start).i32(-1).op('i32.xor').op('i32.le_u').op('i32.and');
  });
}

/**
 * Moves all lanes of a buffer, which are at offsets in a register, and goes to `done`, or falls through. Those out of range are moved at a
 * place of their own, where loads find zeros.
 */
export function movePart(f: Frame, t: Transfer, register: number, bounds: Bounds, q: QuadLocals, done: Label): void {
  const { code, module } = f;
  const { fn } = code;
  const { start, limit, outside } = bounds;
  fn.get(register).get(start).get(limit).get(outside).i32(t.bytes).call(partFunction(module, t.write));
  code.if(() => {
    const spare = code.local('i32');
    fn.get(f.wave).i32(WAVE_TEMPORARY).op('i32.add').tee(spare).v128(0, 0, 0, 0).memory('v128.store');
    overQuads(f, start, 0, () => {
      fn.get(register).get(f.at).op('i32.add').memory('v128.load').tee(q.low);
      fn.get(start).op('i32x4.splat').op('i32x4.add').get(spare).op('i32x4.splat');
      fn.get(q.low).get(limit).op('i32x4.splat').op('i32x4.le_u').op(choosing()).set(q.low);
      for (const [lane, a] of q.addresses.entries()) fn.get(q.low).lane('i32x4.extract_lane', lane).set(a);
      t.scattered(f, q.addresses);
    });
    code.br(done);
  });
}
