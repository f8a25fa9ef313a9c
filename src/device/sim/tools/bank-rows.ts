// Bank conflicts of an access by all lanes to few rows of LDS (a row has one dword of each bank): each lane marks its dword, and the marks of
// each bank are added up over the rows. Lanes that ask for the same dword make one mark.
import { LANES, VGPR_BYTES } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from '../wasm/emit.ts';
import { BANKS, type BankAccess } from './lds-banks.ts';

/** Bytes of LDS whose dwords have a place for marks. */
const REACH = 65536;
const PHASE_LANES = 32;
const PHASES = LANES / PHASE_LANES;
const ROW_BYTES = 4 * BANKS;
/** Rows that are added up at once. */
const STEP = 2;
/** Rows that take less time than planes (bank-planes.ts) and what these leave uncounted, of random addresses: measured from 8 to 64 rows. */
const ROWS = 20;
/** Offsets in the memory that the model works in: the last mark, a byte for each dword in each phase, one row more. */
const MARK = 0;
const MARKS = 64;
const PHASE_MARKS = REACH / 4 + BANKS;
/** Marks are bytes; 0 is none. */
const LAST_MARK = 255;

/** Bytes of the memory that the model works in; zeroed at first, then left alone. */
export const ROWS_MEMORY = MARKS + PHASES * PHASE_MARKS;

/**
 * The function (place of lane 0 of the address register, offset of the access) → i64, of an access by all lanes that takes one bank for each, 32
 * lanes a phase: the phases, and from bit 32 on the cycles beyond one a phase; -1 when an address is none that the function counts, or the rows
 * are many.
 */
export function rowsFunction(module: WasmModule, { bytes }: BankAccess, memory: number): WasmFunction {
  return module.helper(`count.rows ${bytes}`, ['i32', 'i32'], ['i64'], (fn) => {
    const [addresses, offset] = [0, 1] as const;
    const [row, end, mark] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    new Extent(fn, addresses, offset, bytes).write(row, end);

    fn.i32(0)
      .memory('i32.load', memory + MARK)
      .tee(mark)
      .i32(LAST_MARK)
      .op('i32.eq')
      .if();
    fn.i32(memory + MARKS)
      .i32(0)
      .i32(PHASES * PHASE_MARKS)
      .memoryFill();
    fn.i32(0).set(mark).end();
    fn.i32(0)
      .get(mark)
      .i32(1)
      .op('i32.add')
      .tee(mark)
      .memory('i32.store', memory + MARK);
    for (let lane = 0; lane < LANES; lane++) {
      const phase = Math.floor(lane / PHASE_LANES);
      fn.get(addresses)
        .memory('i32.load', 4 * lane)
        .get(offset)
        .op('i32.add')
        .i32(2)
        .op('i32.shr_u');
      fn.get(mark).memory('i32.store8', memory + MARKS + phase * PHASE_MARKS);
    }

    // Rows have as many bytes of marks as there are banks.
    for (const local of [row, end]) fn.get(local).i32(BANKS).op('i32.mul').set(local);
    const marks = fn.local('v128');
    const sums = Array.from({ length: PHASES * (BANKS / 16) }, () => fn.local('v128'));
    fn.get(mark).op('i8x16.splat').set(marks);
    for (const sum of sums) fn.v128(0, 0, 0, 0).set(sum);
    fn.loop();
    for (let at = 0; at < STEP * BANKS; at += 16) {
      for (let phase = 0; phase < PHASES; phase++) {
        const sum = sums[PHASES * ((at % BANKS) / 16) + phase] as number;
        fn.get(sum)
          .get(row)
          .memory('v128.load', memory + MARKS + phase * PHASE_MARKS + at);
        fn.get(marks).op('i8x16.eq').op('i8x16.sub').set(sum);
      }
    }
    fn.get(row)
      .i32(STEP * BANKS)
      .op('i32.add')
      .tee(row)
      .get(end)
      .op('i32.le_u')
      .brIf(0)
      .end();

    // The most of each phase: in the end one half of a vector each.
    for (let phase = 0; phase < PHASES; phase++) {
      fn.get(sums[phase] as number)
        .get(sums[PHASES + phase] as number)
        .op('i8x16.max_u')
        .set(sums[phase] as number);
    }
    const [first, second] = sums as [number, number];
    fn.get(first).get(second).shuffle32(0, 1, 4, 5).get(first).get(second).shuffle32(2, 3, 6, 7).op('i8x16.max_u');
    fn.set(first);
    fn.get(first).get(first).shuffle32(1, 0, 3, 2).get(first).op('i8x16.max_u').set(first);
    for (const bits of [16, 8]) fn.get(first).get(first).i32(bits).op('i32x4.shr_u').op('i8x16.max_u').set(first);
    for (const byte of [0, 8]) fn.get(first).lane('i8x16.extract_lane_u', byte);
    fn.op('i32.add').i32(PHASES).op('i32.sub').op('i64.extend_i32_u').i64(32n).op('i64.shl');
    fn.i64(BigInt(PHASES)).op('i64.or');
  });
}

/** Which rows the addresses of all lanes are in. */
class Extent {
  private readonly fn: WasmFunction;
  private readonly addresses: number;
  private readonly offset: number;
  private readonly bytes: number;

  constructor(fn: WasmFunction, addresses: number, offset: number, bytes: number) {
    this.fn = fn;
    this.addresses = addresses;
    this.offset = offset;
    this.bytes = bytes;
  }

  /** Sets the first row and the last; the function returns -1 where there are none or many between them. */
  write(first: number, last: number): void {
    const { fn, addresses, offset, bytes } = this;
    const [least, most, four, all] = [fn.local('v128'), fn.local('v128'), fn.local('v128'), fn.local('v128')];
    const offsets = fn.local('v128');
    fn.get(offset).op('i32x4.splat').set(offsets);
    for (let at = 0; at < VGPR_BYTES; at += 16) {
      fn.get(addresses).memory('v128.load', at).get(offsets).op('i32x4.add');
      if (at === 0) {
        fn.tee(least).tee(most).set(all);
        continue;
      }
      fn.set(four);
      fn.get(least).get(four).op('i32x4.min_u').set(least);
      fn.get(most).get(four).op('i32x4.max_u').set(most);
      if (bytes > 1) fn.get(all).get(four).op('v128.or').set(all);
    }
    for (const [local, operator] of [
      [least, 'i32x4.min_u'],
      [most, 'i32x4.max_u'],
    ] as const) {
      fn.get(local).get(local).get(local).shuffle32(2, 3, 0, 1).op(operator).set(local);
      fn.get(local).get(local).get(local).shuffle32(1, 0, 3, 2).op(operator).set(local);
    }
    const shift = Math.log2(ROW_BYTES);
    fn.get(least).lane('i32x4.extract_lane', 0).i32(shift).op('i32.shr_u').set(first);
    fn.get(most).lane('i32x4.extract_lane', 0).i32(shift).op('i32.shr_u').tee(last);
    fn.get(first).op('i32.sub').i32(ROWS).op('i32.ge_u');
    fn.get(last)
      .i32(REACH / ROW_BYTES)
      .op('i32.ge_u')
      .op('i32.or');
    if (bytes > 1) {
      const low = bytes - 1;
      fn.get(all).v128(low, low, low, low).op('v128.and').op('v128.any_true').op('i32.or');
    }
    fn.if().i64(-1n).return().end();
  }
}
