// Where the records of dwords are (race-details.ts), as compiled code finds them.
import type { WasmFunction } from '../../wasm/emit.ts';
import {
  HOLDS,
  PAGE,
  PAGE_DETAILS,
  PAGE_QUICK,
  QUICK_UNWRITTEN,
  RECORD_BYTES,
  RECORD_WRITER,
} from '../races/race-details.ts';
import { PAGE_WRITTEN } from '../races/race-page.ts';

const DWORD = 4;

/** From the reader's word of a dword to its writer's. */
export const TO_WRITER = 4 * RECORD_WRITER;

/** Vector loads and stores, and scalar loads. */
export type GlobalAccess = 'load' | 'store' | 'scalar';

/** From the place of a dword in its page to that of its record: so many bits to the left. */
export const RECORD_SHIFT = Math.log2(RECORD_BYTES / DWORD);

/** Leaves where the record of the dword is that the byte at `at` is in: its reader's word. */
export function pushCell(fn: WasmFunction, page: number, at: number): WasmFunction {
  fn.get(page)
    .memory('i32.load', 4 * PAGE_DETAILS)
    .i32(~HOLDS)
    .op('i32.and');
  return fn
    .get(at)
    .i32(DWORD * (PAGE - 1))
    .op('i32.and')
    .i32(RECORD_SHIFT)
    .op('i32.shl')
    .op('i32.add');
}

/** Sets where the details of a page are to what `push` leaves, in its record and in the quick table. */
export function setDetails(fn: WasmFunction, page: number, push: () => void): void {
  const value = fn.local('i32');
  push();
  fn.set(value);
  fn.get(page)
    .get(value)
    .memory('i32.store', 4 * PAGE_DETAILS);
  const quick = fn.local('i32');
  fn.get(page)
    .memory('i32.load', 4 * PAGE_QUICK)
    .tee(quick)
    .if();
  fn.get(quick).get(value).i32(QUICK_UNWRITTEN).i32(0);
  fn.get(page)
    .memory('i32.load', 4 * PAGE_WRITTEN)
    .select();
  fn.op('i32.or').memory('i32.store').end();
  fn.release('i32', value);
  fn.release('i32', quick);
}
