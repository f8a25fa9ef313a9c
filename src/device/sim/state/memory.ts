// Device memory of the virtual GPU: allocations in one WebAssembly memory, which compiled code and worker threads share. Every access
// is checked. Allocations appear in the window (address = gpuWindow.base + offset) or are mapped at chosen addresses (`allocAt`, `map`). What does not
// fit into the window lies beyond it where the host provides that (frames.ts); its addresses go on where the window's end.
import { WavesmithError } from '../../../base/index.ts';
import { type Bulk, bulkModule } from '../wasm/bulk.ts';
import { ADDRESS_TABLE_BYTES, AddressTable } from './address-table.ts';
import { type BeyondWindow, type FrameArea, Frames, type LaneAccess, NAMED } from './frames.ts';
import { Heap } from './heap.ts';
import {
  CONTROL_SHARED,
  gpuWindow,
  HEAP,
  HEAP_END,
  LIMITS,
  MAX_WASM_PAGES,
  PAGE,
  SHARED_HOST,
  TABLE_BYTES,
  useWindow,
  WASM_PAGE,
  WINDOW_BYTES,
  WRITABLE,
} from './layout.ts';
import type { ModuleCache } from './module-cache.ts';
import { type FreedRegion, MemoryFault, Region, type RegionRecord } from './region.ts';

/** Dead space kept behind an allocation; less when memory is nearly full, but never less than a page. */
const GUARD = 0x10000;
/** Memory grows by at least this many bytes. */
const GROWTH = 2 ** 24;
/** A memory that is not shared cannot grow without moving, so it has its full size from the start. */
const UNSHARED_BYTES = 2 ** 30;
/** Bytes of the window that data leaves to code, queues, signals and the device itself where there is memory beyond it. */
const KEPT_BYTES = 2 ** 28;
/** Bytes of the window that frames take at least, and what they leave to smaller allocations when much of it is free. */
const LEAST_FRAME_BYTES = 2 ** 29;
const LEFT_BYTES = 2 ** 30;
/** Freed spans that are not handed out again yet, so that a use after free faults. */
const QUARANTINE_BYTES = 2 ** 26;
const QUARANTINE_SPANS = 256;
/** Freed allocations whose names fault messages still know. */
const REMEMBERED = 256;

export interface MemoryOptions {
  /** Memory of a fixed size made by the caller, for example over pages other processes share. */
  readonly memory?: WebAssembly.Memory | undefined;
  /** Makes pages of `memory`, or of the file beyond it, read as zeros again without touching them; without it they are overwritten. */
  readonly discard?: ((offset: number, size: number) => void) | undefined;
  /** In another thread than the device's own: its number from 1, and where its address table is. */
  readonly thread?: { readonly number: number; readonly addressTable: number } | undefined;
  /** Memory beyond the window; needs `memory` and `discard`. */
  readonly beyond?: BeyondWindow | undefined;
  /** `bulkModule` of a memory that is shared as this one is, where there is one already. */
  readonly bulkModule?: WebAssembly.Module | undefined;
  /** Where compiled modules of code in this memory are kept. */
  readonly moduleCache?: ModuleCache | undefined;
}

/** Whether this host can share memory between threads (a browser page needs cross-origin isolation). */
export function canShareMemory(): boolean {
  return (
    typeof SharedArrayBuffer === 'function' &&
    (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false
  );
}

function makeMemory(): WebAssembly.Memory {
  try {
    if (canShareMemory()) {
      return new WebAssembly.Memory({ initial: (HEAP + GROWTH) / WASM_PAGE, maximum: MAX_WASM_PAGES, shared: true });
    }
    const pages = UNSHARED_BYTES / WASM_PAGE;
    return new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (cause) {
    throw new WavesmithError('device/out-of-memory', 'The host gives no address space for the memory of the device.', {
      hint: 'Lift the limit on virtual memory (ulimit -v), or close other devices.',
      cause,
    });
  }
}

const roundUp = (size: number, unit: number): number => Math.ceil(size / unit) * unit;

export class DeviceMemory {
  /** The memory compiled code imports. */
  readonly wasm: WebAssembly.Memory;
  readonly isShared: boolean;
  readonly moduleCache: ModuleCache | undefined;
  /** Bytes the device can have at most, its own tables included. */
  readonly capacity: number;
  private buffer: ArrayBufferLike;
  private words!: Int32Array;
  private longs!: BigInt64Array;
  private readonly discard: MemoryOptions['discard'];
  private ownBulk: Bulk | undefined;
  private ownBulkModule: WebAssembly.Module | undefined;
  private readonly limits: Uint16Array;
  private readonly writable: Uint16Array;
  private readonly heap: Heap;
  readonly beyond: BeyondWindow | undefined;
  private readonly heapBeyond: Heap | undefined;
  private frames: Frames | undefined;
  private readonly thread: number;
  private readonly table: AddressTable;
  /** Sorted by address. */
  private readonly regions: Region[] = [];
  private last: Region | undefined;
  /** Offsets from here on have never been used and read as zeros. */
  private fresh = HEAP;
  private readonly quarantine: { readonly start: number; readonly size: number }[] = [];
  private quarantined = 0;
  private readonly freed: FreedRegion[] = [];
  /** The part at an address of an allocation that a runtime has divided. */
  dividedBy: ((address: number) => { readonly base: number; readonly size: number } | undefined) | undefined;
  /** Whether an address is in memory that a program looks at while kernels run. */
  isSeenByHost: ((address: number) => boolean) | undefined;
  private readonly keepers: (() => void)[] = [];

  constructor(options: MemoryOptions = {}) {
    useWindow();
    const given = options.memory;
    this.wasm = given ?? makeMemory();
    this.buffer = this.wasm.buffer;
    this.viewBuffer();
    this.isShared = !(this.buffer instanceof ArrayBuffer);
    this.discard = options.discard;
    this.ownBulkModule = options.bulkModule;
    this.moduleCache = options.moduleCache;
    this.capacity = given === undefined && this.isShared ? WINDOW_BYTES : Math.min(this.buffer.byteLength, HEAP_END);
    this.limits = new Uint16Array(this.buffer, LIMITS, TABLE_BYTES / 2);
    this.writable = new Uint16Array(this.buffer, WRITABLE, TABLE_BYTES / 2);
    const { beyond } = options;
    this.beyond = beyond;
    this.heap = new Heap(HEAP, Math.min(this.capacity, HEAP_END));
    this.heapBeyond = beyond === undefined ? undefined : new Heap(WINDOW_BYTES, beyond.bytes);
    this.thread = options.thread?.number ?? 0;
    const table = options.thread?.addressTable ?? this.reserve(ADDRESS_TABLE_BYTES, 'address table').byteOffset;
    this.table = new AddressTable(this.buffer, table);
  }

  /** In another thread: takes over the allocations as they were when `snapshot` was taken, and its share of `frameArea`. */
  adopt(records: readonly RegionRecord[], area?: FrameArea): void {
    this.viewBuffer();
    if (area !== undefined && this.frames === undefined) this.showIn(area);
    this.forget();
    this.regions.length = 0;
    for (const record of records) this.regions.push(new Region(this.buffer, record));
  }

  /** What was looked up before allocations changed. */
  private forget(): void {
    this.last = undefined;
    this.table.clear();
    this.frames?.forgetNames();
  }

  private showIn(area: FrameArea): void {
    if (this.beyond !== undefined) {
      this.frames = new Frames(this.buffer, area, this.beyond, this.thread, this.table);
    }
  }

  /** Where memory beyond the window is shown, once there is such an allocation. */
  get frameArea(): FrameArea | undefined {
    return this.frames?.area;
  }

  /** Wasm offset of the address table of this thread. */
  get addressTable(): number {
    return this.table.at;
  }

  private viewBuffer(): void {
    this.buffer = this.wasm.buffer;
    this.words = new Int32Array(this.buffer);
    this.longs = new BigInt64Array(this.buffer);
  }

  /** Bytes of wasm memory from an offset. */
  bytesAt(offset: number, size: number): Uint8Array {
    return new Uint8Array(this.buffer, offset, size);
  }

  /** What sets and copies bytes of such a memory at once, for other threads. */
  get bulkModule(): WebAssembly.Module {
    this.ownBulkModule ??= bulkModule(this.isShared);
    return this.ownBulkModule;
  }

  private get bulk(): Bulk {
    if (this.ownBulk === undefined) {
      const { exports } = new WebAssembly.Instance(this.bulkModule, { host: { memory: this.wasm } });
      this.ownBulk = exports as unknown as Bulk;
    }
    return this.ownBulk;
  }

  /** Makes bytes of wasm memory from an offset zero. */
  clear(offset: number, size: number): void {
    this.bulk.fill(offset, 0, size);
  }

  /** Copies bytes of wasm memory from one offset to another. */
  copy(to: number, from: number, size: number): void {
    this.bulk.copy(to, from, size);
  }

  /** Stores 1 or 2 words at an aligned offset in wasm memory if it holds `old`; false when it does not. */
  compareExchange(offset: number, words: number, old: Int32Array, next: Int32Array): boolean {
    if (words === 1) {
      const expected = old[0] as number;
      return Atomics.compareExchange(this.words, offset / 4, expected, next[0] as number) === expected;
    }
    const join = (pair: Int32Array): bigint =>
      (BigInt(pair[1] as number) << 32n) | BigInt.asUintN(32, BigInt(pair[0] as number));
    const expected = join(old);
    return Atomics.compareExchange(this.longs, offset / 8, expected, join(next)) === expected;
  }

  /** All live allocations, for `adopt`. */
  snapshot(): RegionRecord[] {
    return this.regions.map(({ base, size, label, offset, readOnlyRanges }) => ({
      base,
      size,
      label,
      offset,
      readOnlyRanges,
    }));
  }

  /** Allocates zeroed memory in the window; what does not fit is `device/out-of-memory`. */
  alloc(size: number, label: string, readOnly = false, alignment = PAGE): Region {
    checkSize(size);
    const offset = this.take(size, label, Math.max(alignment, PAGE));
    return this.insert({
      base: gpuWindow.base + offset,
      size,
      label,
      offset,
      readOnlyRanges: readOnly ? [[0, size]] : [],
    });
  }

  /** As `alloc`, for what only programs and kernels use: beyond the window when that is nearly full. */
  allocData(size: number, label: string, alignment = PAGE): Region {
    checkSize(size);
    const offset = this.takeData(size, label, Math.max(alignment, PAGE));
    return this.insert({ base: gpuWindow.base + offset, size, label, offset, readOnlyRanges: [] });
  }

  /** Allocates zeroed memory at a GPU address of the caller's choice; an address in use is `device/address-taken`. */
  allocAt(address: number, size: number, label: string): Region {
    checkSize(size);
    const offset = address - gpuWindow.base;
    if (offset >= 0 && offset < WINDOW_BYTES) {
      // Without dead space: on hardware small allocations lie side by side, and a replay has them where they were.
      if (offset % PAGE !== 0 || !this.takeAt(offset, roundUp(Math.max(size, 1), PAGE))) {
        throw addressTaken(address, size, label);
      }
      this.provide(offset, size, label);
      return this.insert({ base: address, size, label, offset, readOnlyRanges: [] });
    }
    this.checkUnmapped(address, size, label);
    const storage = this.takeData(size, label, PAGE);
    return this.insert({ base: address, size, label, offset: storage, readOnlyRanges: [] });
  }

  /** Makes live memory visible a second time at another address, outside the window. */
  map(address: number, size: number, source: number, writable: boolean): Region {
    checkSize(size);
    const region = this.find(source, size);
    if (region === undefined) {
      throw new WavesmithError(
        'device/bad-mapping',
        `There is no live memory of ${size} bytes at 0x${source.toString(16)} to map.`,
      );
    }
    this.checkUnmapped(address, size, region.label);
    const offset = region.offset + source - region.base;
    const readOnlyRanges: [number, number][] = writable ? [] : [[0, size]];
    return this.insert({ base: address, size, label: region.label, offset, readOnlyRanges }, true);
  }

  private checkUnmapped(address: number, size: number, label: string): void {
    const end = address + Math.max(size, 1);
    const isAddress = Number.isSafeInteger(address) && address > 0 && Number.isSafeInteger(end);
    const isOurs = address < gpuWindow.base + (this.beyond?.bytes ?? WINDOW_BYTES) && end > gpuWindow.base;
    if (!isAddress || isOurs || this.regions.some((r) => address < r.base + r.size && end > r.base)) {
      throw addressTaken(address, size, label);
    }
  }

  /** `release` gives back what somebody has reserved only to have it at hand later: called before memory is said to be full, or an address to be taken. */
  addKeeper(release: () => void): void {
    this.keepers.push(release);
  }

  private releaseKept(): void {
    for (const release of this.keepers) release();
  }

  /** Whether so many bytes are free in one piece, when nothing is kept. */
  private hasRoom(size: number): boolean {
    const { heap } = this;
    if (heap.largest < size) this.releaseKept();
    return heap.largest >= size;
  }

  /** Space for the device itself (wave state, LDS), 64-byte aligned, zeroed, that no GPU address reaches. */
  reserve(size: number, label: string): Uint8Array {
    const offset = this.take(size, label, PAGE);
    return new Uint8Array(this.buffer, offset, size);
  }

  /** The same for what the device can do without; undefined when its memory is full. */
  tryReserve(size: number): Uint8Array | undefined {
    return this.hasRoom(size + 2 * PAGE) ? this.reserve(size, 'strict mode') : undefined;
  }

  /** As `tryReserve`; the bytes are whatever was there before. */
  tryReserveUncleared(size: number): Uint8Array | undefined {
    return this.hasRoom(size + 2 * PAGE) ? this.reserveUncleared(size, 'strict mode') : undefined;
  }

  /** As `reserve`; the bytes are whatever was there before. */
  reserveUncleared(size: number, label: string): Uint8Array {
    const offset = this.take(size, label, PAGE, false);
    return new Uint8Array(this.buffer, offset, size);
  }

  /** Whether bytes are in the memory that compiled code sees. */
  holds({ buffer }: Uint8Array): boolean {
    // A shared memory has another buffer object each time that it has grown.
    return buffer === this.buffer || (this.isShared && !(buffer instanceof ArrayBuffer));
  }

  /** Gives back what `reserve` gave. */
  release(bytes: Uint8Array): void {
    this.heap.give(bytes.byteOffset);
  }

  /** As `Heap.takeAt`; what is only kept, or was freed of late, is to be had when it is asked for by its address. */
  private takeAt(offset: number, bytes: number): boolean {
    if (this.heap.takeAt(offset, bytes)) return true;
    this.releaseKept();
    this.endQuarantine(0, 0);
    return this.heap.takeAt(offset, bytes);
  }

  /** As `take`, beyond the window when what is left of it is needed for other things. */
  private takeData(size: number, label: string, alignment: number): number {
    const { heap, heapBeyond } = this;
    const kept = KEPT_BYTES + (this.frames === undefined ? LEAST_FRAME_BYTES : 0);
    if (heapBeyond === undefined || this.hasRoom(size + kept)) return this.take(size, label, alignment);
    if (this.frames === undefined) {
      const bytes = roundUp(Math.max(LEAST_FRAME_BYTES, heap.largest - LEFT_BYTES) - WASM_PAGE, WASM_PAGE);
      this.showIn({ at: this.take(bytes, label, PAGE), bytes });
    }
    const pages = roundUp(Math.max(size, 1), PAGE);
    let offset = heapBeyond.take(pages + GUARD, alignment);
    if (offset === undefined) {
      this.endQuarantine(0, 0);
      offset = heapBeyond.take(pages + PAGE, alignment);
    }
    if (offset === undefined) throw this.outOfMemory(size, label);
    this.discard?.(offset, size);
    return offset;
  }

  private take(size: number, label: string, alignment: number, isCleared = true): number {
    const pages = roundUp(Math.max(size, 1), PAGE);
    let offset = this.heap.take(pages + GUARD, alignment) ?? this.heap.take(pages + PAGE, alignment);
    if (offset === undefined) {
      this.releaseKept();
      this.endQuarantine(0, 0);
      offset = this.heap.take(pages + PAGE, alignment);
    }
    if (offset === undefined) throw this.outOfMemory(size, label);
    this.provide(offset, size, label, isCleared);
    return offset;
  }

  /** Where the bytes of all live allocations of the window are in wasm memory, each once. */
  spans(): { readonly offset: number; readonly size: number }[] {
    return this.regions
      .filter((r) => !this.aliases.has(r) && !r.isBeyond)
      .map(({ offset, size }) => ({ offset, size }));
  }

  /** Makes taken bytes exist, and read as zeros if they are to be cleared. */
  private provide(offset: number, size: number, label: string, isCleared = true): void {
    const end = offset + roundUp(Math.max(size, 1), PAGE);
    if (end > this.buffer.byteLength) {
      const missing = end - this.buffer.byteLength;
      const room = this.capacity - this.buffer.byteLength;
      try {
        this.wasm.grow(roundUp(Math.min(Math.max(missing, GROWTH), room), WASM_PAGE) / WASM_PAGE);
      } catch (cause) {
        this.heap.give(offset);
        throw this.outOfMemory(size, label, cause);
      }
      this.viewBuffer();
    }
    if (isCleared && offset < this.fresh) {
      const dirty = Math.min(end, this.fresh) - offset;
      if (this.discard === undefined) this.clear(offset, dirty);
      else this.discard(offset, dirty);
    }
    this.fresh = Math.max(this.fresh, end);
  }

  private outOfMemory(size: number, label: string, cause?: unknown): WavesmithError {
    const { beyond, capacity, heap, heapBeyond = heap } = this;
    const end =
      beyond === undefined ? `${capacity} bytes, the limit of WebAssembly memory here` : `${beyond.bytes} bytes`;
    const free = Math.max(0, heapBeyond.largest - PAGE);
    const message =
      cause === undefined
        ? `${size} bytes for '${label}' do not fit into the memory of the device: it ends at ${end}, and at most ${free} are free in one piece.`
        : `The host cannot provide ${size} bytes for '${label}'.`;
    return new WavesmithError('device/out-of-memory', message, {
      hint: 'Use a smaller buffer or shape, or free buffers that are no longer needed.',
      cause,
    });
  }

  private insert(record: RegionRecord, isAlias = false): Region {
    const region = new Region(this.buffer, record);
    const at = this.regions.findIndex((r) => r.base > region.base);
    this.regions.splice(at < 0 ? this.regions.length : at, 0, region);
    this.forget();
    if (isAlias) this.aliases.add(region);
    else if (isInWindow(region)) this.setLimits(region, true);
    return region;
  }

  private readonly aliases = new Set<Region>();

  /** From now on atomics of every scope are such to the host, too: for targets whose instructions do not tell their scope. */
  shareAtomics(): void {
    Atomics.or(new Int32Array(this.wasm.buffer, CONTROL_SHARED, 1), 0, SHARED_HOST);
  }

  /** The allocation whose bytes a mapping shows; an allocation itself. */
  ownerOf(region: Region): Region {
    if (!this.aliases.has(region)) return region;
    // Its allocation was freed while it is mapped.
    return this.ownerAt(region.offset) ?? region;
  }

  /** The address of a byte of device memory in the allocation that it belongs to; undefined when it belongs to none. */
  addressOf(offset: number): number | undefined {
    const address = gpuWindow.base + offset;
    if (this.find(address, 1) !== undefined) return address;
    const owner = this.ownerAt(offset);
    return owner === undefined ? undefined : owner.base + offset - owner.offset;
  }

  private ownerAt(offset: number): Region | undefined {
    return this.regions.find((r) => !this.aliases.has(r) && r.offset <= offset && offset < r.offset + r.size);
  }

  private setLimits(region: Region, isLive: boolean): void {
    const first = region.offset / PAGE;
    const full = first + Math.floor(region.size / PAGE);
    const end = first + Math.ceil(region.size / PAGE);
    for (const table of [this.limits, this.writable]) {
      table.fill(isLive ? PAGE : 0, first, full);
      if (end > full) table[full] = isLive ? region.size % PAGE : 0;
    }
    for (const [from, to] of region.readOnlyRanges) {
      this.writable.fill(0, first + Math.floor(from / PAGE), Math.min(first + Math.ceil(to / PAGE), end));
    }
  }

  /** Makes byte ranges of an allocation read-only for kernels. Their pages take the slow path for all stores. */
  protect(region: Region, ranges: readonly (readonly [number, number])[]): Region {
    const at = this.regions.indexOf(region);
    const { base, size, label, offset } = region;
    const changed = new Region(this.buffer, { base, size, label, offset, readOnlyRanges: ranges });
    this.regions[at] = changed;
    this.forget();
    if (isInWindow(changed)) this.setLimits(changed, true);
    return changed;
  }

  /** Ends an allocation or mapping; false when none begins there. */
  free(base: number): boolean {
    const at = this.regions.findIndex((r) => r.base === base);
    const region = this.regions[at];
    if (region === undefined) return false;
    this.regions.splice(at, 1);
    this.forget();
    if (isInWindow(region)) this.setLimits(region, false);
    if (!this.aliases.delete(region)) {
      this.quarantine.push({ start: region.offset, size: region.size });
      this.quarantined += region.size;
      this.endQuarantine(QUARANTINE_BYTES, QUARANTINE_SPANS);
    }
    this.freed.push({ base, size: region.size, label: region.label });
    if (this.freed.length > REMEMBERED) this.freed.shift();
    return true;
  }

  /** As if nothing had been freed: what is allocated next lies where something freed lay. */
  forgetFreed(): void {
    this.endQuarantine(0, 0);
    this.freed.length = 0;
  }

  private endQuarantine(bytes: number, spans: number): void {
    while (this.quarantined > bytes || this.quarantine.length > spans) {
      const oldest = this.quarantine.shift();
      if (oldest === undefined) return;
      this.quarantined -= oldest.size;
      (oldest.start < WINDOW_BYTES ? this.heap : (this.heapBeyond as Heap)).give(oldest.start);
    }
  }

  /** The allocation holding all `size` bytes at `address`, or undefined. Beyond the window `access` gives the bytes. */
  find(address: number, size: number): Region | undefined {
    const last = this.last;
    if (last !== undefined && address >= last.base && address + size <= last.base + last.size) return last;
    let low = 0;
    let high = this.regions.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const region = this.regions[middle] as Region;
      if (address < region.base) high = middle - 1;
      else if (address + size > region.base + region.size) low = middle + 1;
      else {
        this.last = region;
        return region;
      }
    }
    return undefined;
  }

  /** What the program allocated at an address: an allocation, or the part of one that the runtime gave it. */
  allocationAt(address: number): { readonly base: number; readonly size: number } | undefined {
    return this.dividedBy?.(address) ?? this.find(address, 1);
  }

  /**
   * Has the address table of this thread name the memory at an address (NAMED), or says where `bytes` of it may be read or written once; 0 when
   * it is not live, or partly read-only and to be written. Without `bytes` it is named.
   */
  locate(address: number, write: boolean, bytes = 0): number {
    const region = this.find(address, 1);
    if (region === undefined || (write && region.readOnlyRanges.length > 0)) return 0;
    if (region.isBeyond) return this.framesOf(region).name(region, address, write, bytes);
    this.table.set(this.table.entryOf(address, write), region);
    return NAMED;
  }

  /**
   * Does a load or store of lanes that each go elsewhere when it is beyond the window and frames are short; false, with nothing done, when not.
   * `words` is wasm memory.
   */
  moveLanes(words: Int32Array, access: LaneAccess): boolean {
    const { frames } = this;
    if (frames === undefined || !frames.isFull) return false;
    const { execLow, execHigh, register } = access;
    if ((execLow | execHigh) === 0) return true;
    const first = execLow !== 0 ? 31 - Math.clz32(execLow & -execLow) : 63 - Math.clz32(execHigh & -execHigh);
    const high = access.isWide ? (words[register + 64 + first] as number) >>> 0 : 0;
    const address = access.constant + ((words[register + first] as number) >>> 0) + high * 2 ** 32;
    const region = this.find(address, 4);
    if (region === undefined || !region.isBeyond || (access.isWrite && region.readOnlyRanges.length > 0)) return false;
    return frames.moveLanes(region, words, access);
  }

  /** What compiled code has written where `locate` said is in memory, for every thread. */
  settle(): void {
    this.frames?.settle();
  }

  private framesOf({ label }: Region): Frames {
    if (this.frames === undefined) throw new Error(`this thread shows nothing of '${label}' beyond the window`);
    return this.frames;
  }

  /** The allocation to read or write, or the part of it around the address, or a fault. Its bytes may be outside of wasm memory. */
  access(address: number, size: number, write: boolean): Region {
    const region = this.live(address, size, write);
    return region.isBeyond ? this.framesOf(region).lookAt(region, address) : region;
  }

  /** A copy of `size` bytes of an allocation from byte `offset` of it on, wherever they are; fewer when it ends before. */
  copyOf(region: Region, offset: number, size: number): Uint8Array {
    if (!region.isBeyond) return region.bytes.slice(offset, offset + size);
    const frames = this.framesOf(region);
    const out = new Uint8Array(Math.max(0, Math.min(size, region.size - offset)));
    for (let at = 0; at < out.length; ) {
      const address = region.base + offset + at;
      const { base, bytes } = frames.lookAt(region, address);
      const piece = bytes.subarray(address - base, address - base + out.length - at);
      out.set(piece, at);
      at += piece.length;
    }
    return out;
  }

  private live(address: number, size: number, write: boolean): Region {
    const region = this.find(address, size);
    if (region === undefined) throw new MemoryFault('global', address, size, write);
    if (write && region.readOnlyRanges.length > 0 && region.isReadOnly(address, size)) {
      throw new MemoryFault('global', address, size, true, ' to read-only memory');
    }
    return region;
  }

  /** Offset in wasm memory of live bytes at any address, or a fault: what compiled code calls when the limits table does not say yes. */
  translate(address: number, size: number, write: boolean): number {
    const whole = this.live(address, size, write);
    const region = whole.isBeyond ? this.framesOf(whole).partAt(whole, address) : whole;
    return region.offset + address - region.base;
  }

  /** The live allocation closest to an address, with the signed distance from its end or start. */
  nearest(address: number): { region: Region; distance: number } | undefined {
    let best: { region: Region; distance: number } | undefined;
    for (const region of this.regions) {
      const distance =
        address < region.base ? address - region.base : Math.max(0, address - (region.base + region.size));
      if (best === undefined || Math.abs(distance) < Math.abs(best.distance)) best = { region, distance };
    }
    return best;
  }

  /** The allocation most lately freed that held an address; undefined when it is not known any more. */
  freedAt(address: number): FreedRegion | undefined {
    return this.freed.findLast((r) => address >= r.base && address < r.base + r.size);
  }
}

/** Whether the limits table describes it. */
const isInWindow = ({ base, offset, isBeyond }: Region): boolean => base === gpuWindow.base + offset && !isBeyond;

function checkSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new WavesmithError('device/bad-size', `An allocation of ${size} bytes is not possible.`);
  }
}

function addressTaken(address: number, size: number, label: string): WavesmithError {
  return new WavesmithError(
    'device/address-taken',
    `${size} bytes for '${label}' cannot be mapped at 0x${address.toString(16)}: the address is in use or not possible.`,
  );
}
