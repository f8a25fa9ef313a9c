// What wavefronts of a workgroup hand over to each other through LDS without a barrier: vector clocks. Kept for kernels whose code polls
// LDS or uses what LDS atomics return (polls.ts). LDS executes the operations of a wavefront in order, so a store of a flag
// hands over all that the wavefront has done in LDS before it, and its global stores (told-stores.ts); to other workgroups those that a wait has proved complete.
// The clocks lie in wasm memory: compiled code reads and changes them, too (compiled/order.ts).
// Source: LLVM's AMDGPUUsage, "Memory Model gfx942", local address space.
import type { AccessPlan } from '../../interpreter/access-plan.ts';
import type { DeviceMemory } from '../../state/memory.ts';
import { type HeardStores, type Standing, TOLD_STORAGE, ToldStores } from './told-stores.ts';

type AccessKind = AccessPlan['kind'];

/** What a wavefront has told: how far it had got, and those it had heard from. */
export interface Told {
  readonly clock: Uint32Array;
}

// In the storage, in bytes: what is told of stores (told-stores.ts); room for a clock that compiled code works with; the clocks of the wavefronts, CLOCK_BYTES each; by wavefront its
// atomics that return values since the barrier, and its clock in front of each of the last FETCHES of them; then the record of each
// dword, four clocks: what reading it tells, and the times of the last write, of the last that was no atomic, and of the last read since the barrier; then a byte of each dword that says
// how it is polled.
const MOST_WAVES = 16;
export const CLOCK_BYTES = 4 * MOST_WAVES;
export const ORDER_TOLD = 0;
export const ORDER_WORK = TOLD_STORAGE;
export const ORDER_CLOCKS = ORDER_WORK + CLOCK_BYTES;
export const ORDER_FETCHES = ORDER_CLOCKS + MOST_WAVES * CLOCK_BYTES;
/** How a dword is polled: by atomics, and loads that begin an update, which loops that update it are like; by other loads. */
export const POLLED_BY_ATOMICS = 1;
export const POLLED_BY_LOADS = 2;
/** A power of two. */
export const FETCHES = 8;
export const ORDER_BEFORE = ORDER_FETCHES + 4 * MOST_WAVES;
export const ORDER_RECORDS = ORDER_BEFORE + MOST_WAVES * FETCHES * CLOCK_BYTES;
export const RECORD_TOLD = 0;
export const RECORD_WRITES = 1;
export const RECORD_STORES = 2;
export const RECORD_READS = 3;

/** Which polls of a dword excuse an access of it; `isOnlyLoad`: it loads, and no atomic of LDS can follow. */
export const pollsThatExcuse = (isOnlyLoad: boolean): number =>
  isOnlyLoad ? POLLED_BY_LOADS : POLLED_BY_LOADS | POLLED_BY_ATOMICS;

/**
 * In the head of the shadow of LDS (lds.ts): whether dwords are polled; whether anything has been told of stores; whether there have been accesses since the last
 * barrier that are neither atomics nor polls.
 */
export interface OrderHead {
  arePolled: boolean;
  isTold: boolean;
  arePlain: boolean;
}

/** log2 of the bytes of a clock in a record: of 4, 8 or 16 wavefronts. */
export function clockShift(waves: number): number {
  return waves <= 4 ? 4 : waves <= 8 ? 5 : 6;
}

export class LdsOrder {
  /** All of it, to be given back. */
  readonly storage: Uint8Array;
  private readonly memory: DeviceMemory;
  private readonly waves: number;
  private readonly head: OrderHead;
  /** By wavefront: its own time, which every release ends, and how far it has heard of the others. */
  private readonly clocks: readonly Uint32Array[];
  private readonly fetches: Uint32Array;
  private readonly before: Uint32Array;
  private readonly records: Uint32Array;
  /** Words of a clock in a record. */
  private readonly clockWords: number;
  private readonly told: ToldStores;
  /** By dword, how it has been polled since the last barrier, POLLED_BY_ATOMICS and POLLED_BY_LOADS: its accesses are what orders the rest. */
  readonly polls: Uint8Array;

  constructor(memory: DeviceMemory, bytes: number, waves: number, head: OrderHead) {
    this.memory = memory;
    this.waves = waves;
    this.head = head;
    const clockBytes = 2 ** clockShift(waves);
    const dwords = (bytes + 3) >>> 2;
    this.clockWords = clockBytes / 4;
    this.storage = memory.reserve(ORDER_RECORDS + (4 * clockBytes + 1) * dwords, 'strict mode');
    const { buffer, byteOffset } = this.storage;
    this.clocks = Array.from(
      { length: waves },
      (_, wave) => new Uint32Array(buffer, byteOffset + ORDER_CLOCKS + CLOCK_BYTES * wave, MOST_WAVES),
    );
    this.fetches = new Uint32Array(buffer, byteOffset + ORDER_FETCHES, MOST_WAVES);
    this.before = new Uint32Array(buffer, byteOffset + ORDER_BEFORE, (MOST_WAVES * FETCHES * CLOCK_BYTES) / 4);
    this.records = new Uint32Array(buffer, byteOffset + ORDER_RECORDS, clockBytes * dwords);
    this.polls = new Uint8Array(buffer, byteOffset + ORDER_RECORDS + 4 * clockBytes * dwords, dwords);
    this.told = new ToldStores(buffer, byteOffset, waves);
    this.startTimes();
  }

  private startTimes(): void {
    const { clocks, waves } = this;
    for (let wave = 0; wave < waves; wave++) {
      const clock = clocks[wave] as Uint32Array;
      for (let other = 0; other < waves; other++) clock[other] = other === wave ? 1 : 0;
      this.fetches[wave] = 0;
    }
  }

  /** A new workgroup begins; bytes from `low` up to `high` are those that the last one may have touched since its last barrier. */
  start(low: number, high: number): void {
    this.barrier(low, high);
  }

  /** A barrier orders everything: who polls behind it begins anew. Bytes from `low` up to `high` are those that may have been touched since the last one. */
  barrier(low: number, high: number): void {
    this.startTimes();
    if (this.head.arePolled) this.memory.clear(this.polls.byteOffset, this.polls.length);
    this.head.arePolled = false;
    this.told.clear(this.head.isTold);
    this.head.isTold = false;
    this.head.arePlain = false;
    const { byteOffset, byteLength } = this.records;
    const record = 16 * this.clockWords;
    const from = record * (low >>> 2);
    const to = Math.min(byteLength, record * ((high + 3) >>> 2));
    if (high > low) this.memory.clear(byteOffset + from, to - from);
  }

  /** Where a clock of the record of a dword begins among the records. */
  private at(dword: number, clock: number): number {
    return (4 * dword + clock) * this.clockWords;
  }

  /** A wavefront is about to store to LDS, which may be a flag: what that tells. `standing`: where it is with its stores, if it has not told that. */
  release(wave: number, standing: Standing | undefined): Told {
    const clock = this.clocks[wave] as Uint32Array;
    const time = clock[wave] as number;
    const told = { clock: clock.slice() };
    if (standing !== undefined) {
      this.told.tell(wave, time, standing);
      this.head.isTold = true;
    }
    clock[wave] = time + 1;
    return told;
  }

  /** A store of a dword tells this from now on; an atomic adds to what the dword told. */
  tell(address: number, { clock }: Told, isAtomic: boolean): void {
    const { records, waves } = this;
    const at = this.at(address >>> 2, RECORD_TOLD);
    for (let i = 0; i < waves; i++) {
      records[at + i] = isAtomic ? Math.max(records[at + i] as number, clock[i] as number) : (clock[i] as number);
    }
  }

  /** A wavefront reads a dword by which others may have told something. */
  hear(wave: number, address: number): void {
    const { records, waves } = this;
    const at = this.at(address >>> 2, RECORD_TOLD);
    const clock = this.clocks[wave] as Uint32Array;
    for (let i = 0; i < waves; i++) if (i !== wave) clock[i] = Math.max(clock[i] as number, records[at + i] as number);
  }

  /** A wavefront is about to execute an atomic that returns values: what it hears by that it knows once they have come back. */
  fetch(wave: number): void {
    const { fetches, before, clocks } = this;
    const number = fetches[wave] as number;
    before.set(clocks[wave] as Uint32Array, this.beforeAt(wave, number));
    fetches[wave] = number + 1;
  }

  private beforeAt(wave: number, fetch: number): number {
    return ((wave * FETCHES + (fetch % FETCHES)) * CLOCK_BYTES) / 4;
  }

  /** A wavefront has told something of its stores since the last barrier. */
  get isTold(): boolean {
    return this.head.isTold;
  }

  /** What a wavefront has heard of stores of others since it was last asked, where so many of its atomics have not returned their values; undefined for nothing. */
  takeStores(wave: number, outstanding: number): HeardStores | undefined {
    const count = this.fetches[wave] as number;
    if (outstanding === 0) return this.told.take(wave, this.clocks[wave] as Uint32Array);
    // Since before the barrier.
    if (outstanding > count) return undefined;
    const at = this.beforeAt(wave, count - Math.min(outstanding, FETCHES));
    return this.told.take(wave, this.before.subarray(at, at + MOST_WAVES));
  }

  /** Whether a wavefront has heard that a load into LDS of another one is complete, by its number among those of that one. */
  hasHeardOfFlight(wave: number, other: number, number: number): boolean {
    return this.told.flights(other, (this.clocks[wave] as Uint32Array)[other] as number) >= number;
  }

  /** `how`: POLLED_BY_ATOMICS or POLLED_BY_LOADS. */
  setPolled(address: number, how: number): void {
    this.polls[address >>> 2] = (this.polls[address >>> 2] as number) | how;
    this.head.arePolled = true;
  }
  /** Whether a dword is polled in one of these ways. */
  isPolled(address: number, how: number): boolean {
    return ((this.polls[address >>> 2] as number) & how) !== 0;
  }

  /** An access is noted; `behind` is the release of the same instruction. */
  note(wave: number, address: number, bytes: number, kind: AccessKind, behind: Told | undefined): void {
    const { records } = this;
    if (kind !== 'atomic') this.head.arePlain = true;
    const time = (behind?.clock ?? (this.clocks[wave] as Uint32Array))[wave] as number;
    for (let dword = address >>> 2; dword <= (address + bytes - 1) >>> 2; dword++) {
      records[this.at(dword, kind === 'load' ? RECORD_READS : RECORD_WRITES) + wave] = time;
      if (kind === 'store') records[this.at(dword, RECORD_STORES) + wave] = time;
    }
  }

  /**
   * Whether what the others have done to the bytes comes before what a wavefront does now: their writes, of an atomic those that were none, and if it writes
   * their reads.
   */
  isBehind(wave: number, address: number, bytes: number, kind: AccessKind): boolean {
    const { records } = this;
    const clock = this.clocks[wave] as Uint32Array;
    for (let dword = address >>> 2; dword <= (address + bytes - 1) >>> 2; dword++) {
      const writes = this.at(dword, kind === 'atomic' ? RECORD_STORES : RECORD_WRITES);
      const reads = this.at(dword, RECORD_READS);
      for (let i = 0; i < this.waves; i++) {
        if (i === wave) continue;
        const time = Math.max(records[writes + i] as number, kind === 'load' ? 0 : (records[reads + i] as number));
        if (time > (clock[i] as number)) return false;
      }
    }
    return true;
  }

  /** Whether a wavefront has heard from another one since the barrier; -1 for any. */
  hasHeard(wave: number, other: number): boolean {
    const clock = this.clocks[wave] as Uint32Array;
    return other < 0 ? clock.some((time, i) => i !== wave && time > 0) : (clock[other] as number) > 0;
  }
}
