// The records of pages of global memory (race-page.ts) in wasm memory, and the table through which compiled code finds them: for each
// 4 KiB page of the window the place of its record, 0 where TypeScript is to look at each access.
import { gpuWindow, PAGE as PAGE_BYTES } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import {
  CELL,
  DETAILS_SIZE,
  type DetailRoom,
  PAGE,
  PAGE_WORDS,
  PAGE_WRITTEN,
  POOL_END,
  POOL_NEXT,
  RacePage,
} from './race-page.ts';

/** Records made at a time. */
const BATCH = 64;
/** Bytes of device memory whose accesses are followed; a page of 4 KiB costs up to 35 KiB. */
const MAX_TRACKED = 2 ** 28;
/** Bytes of records by dword that are kept where compiled code sees them; TypeScript looks at what has further ones. */
const MAX_DETAILED = 2 ** 28;
/** Pages for whose records by dword there is room in the first pool; each further one is twice as large, up to the most. */
const FIRST_POOL = 16;
const MOST_POOL = 256;

export class RacePages {
  private readonly memory: DeviceMemory;
  /** By page of the window. */
  readonly table: Uint32Array;
  /** POOL_NEXT and POOL_END: the room from which records by dword are taken; who takes some clears them. */
  private readonly pool: Uint32Array;
  private poolPages = FIRST_POOL;
  private readonly reserved: Uint8Array[] = [];
  private readonly room: DetailRoom = {
    reserve: () => this.reserveDetails(),
    at: (offset) => new Uint32Array(this.memory.wasm.buffer, offset, CELL * PAGE),
  };
  private trackedBytes = 0;
  private detailedBytes = 0;
  /** Accesses were made to memory that is not followed. */
  isTruncated = false;

  constructor(memory: DeviceMemory) {
    this.memory = memory;
    const pages = Math.ceil(memory.wasm.buffer.byteLength / PAGE_BYTES);
    const bytes = memory.reserve(4 * pages - POOL_NEXT, 'strict mode');
    this.reserved.push(bytes);
    this.table = new Uint32Array(bytes.buffer, bytes.byteOffset - POOL_NEXT, pages);
    this.pool = new Uint32Array(bytes.buffer, bytes.byteOffset, 1 + (POOL_END - POOL_NEXT) / 4);
  }

  /**
   * The record of page `index` of an allocation, and those of the pages behind it in the table. `written` has the bits of the
   * allocation's written bytes. Undefined when no more memory can be followed.
   */
  open(region: Region, index: number, written: Uint8Array | undefined): RacePage | undefined {
    const first = (region.base - gpuWindow.base) / PAGE_BYTES + index;
    const isSeen = written === undefined || this.memory.holds(written);
    const isWindow = isSeen && region.base === gpuWindow.base + region.offset && first < this.table.length;
    const known = isWindow ? (this.table[first] as number) : 0;
    if (known !== 0) return this.at(known);
    if (this.trackedBytes >= MAX_TRACKED) {
      this.isTruncated = true;
      return undefined;
    }
    const pages = isWindow ? Math.ceil(region.size / PAGE_BYTES) - index : 1;
    let count = 1;
    while (count < Math.min(BATCH, pages) && this.table[first + count] === 0) count++;
    this.trackedBytes += count * PAGE_BYTES;
    const records = isWindow ? this.memory.tryReserve(4 * PAGE_WORDS * count) : undefined;
    if (records === undefined) return new RacePage();
    this.reserved.push(records);
    for (let n = 0; n < count; n++) {
      const at = records.byteOffset + 4 * PAGE_WORDS * n;
      this.table[first + n] = at;
      if (written !== undefined) {
        const bits = written.byteOffset + ((index + n) * PAGE_BYTES) / 8;
        new Uint32Array(records.buffer, at, 1)[PAGE_WRITTEN] = bits;
      }
    }
    return this.at(records.byteOffset);
  }

  private at(offset: number): RacePage {
    return new RacePage(new Uint32Array(this.memory.wasm.buffer, offset, PAGE_WORDS), this.room);
  }

  /** Room for further records by dword; false when there is none. */
  private fillPool(): boolean {
    const size = Math.min(this.poolPages * DETAILS_SIZE, MAX_DETAILED - this.detailedBytes);
    const bytes = size < DETAILS_SIZE ? undefined : this.memory.tryReserveUncleared(size);
    if (bytes === undefined) return false;
    this.detailedBytes += size;
    this.poolPages = Math.min(MOST_POOL, 2 * this.poolPages);
    this.reserved.push(bytes);
    this.pool.set([bytes.byteOffset, bytes.byteOffset + size]);
    return true;
  }

  private reserveDetails(): Uint8Array | undefined {
    const { pool } = this;
    if ((pool[0] as number) >= (pool[1] as number) && !this.fillPool()) return undefined;
    const at = pool[0] as number;
    pool[0] = at + DETAILS_SIZE;
    // The next page that compiled code meets finds room, too.
    if (pool[0] === pool[1]) this.fillPool();
    this.memory.clear(at, DETAILS_SIZE);
    return new Uint8Array(this.memory.wasm.buffer, at, DETAILS_SIZE);
  }

  /** TypeScript is to look at each access of page `index` of an allocation from now on. */
  close(region: Region, index: number): void {
    const at = (region.base - gpuWindow.base) / PAGE_BYTES + index;
    if (at >= 0 && at < this.table.length) this.table[at] = 0;
  }

  /** The dispatch is over. */
  release(): void {
    for (const bytes of this.reserved) this.memory.release(bytes);
    this.reserved.length = 0;
  }
}
