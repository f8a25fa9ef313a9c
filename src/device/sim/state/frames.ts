// Memory beyond the window. All memory of a device is one sparse file: its first 4 GiB lie under the WebAssembly memory, and a thread shows
// itself the rest in frames of 1 MiB, which it maps one by one over positions in the window, the one that was shown first giving way.
// Every thread has positions of its own: none waits for another, and all see the same pages.
//
// To map a frame costs as much as hundreds of accesses. When all positions are taken, a frame is shown only if accesses come back to it. What
// touches it before that is passed: a load finds a copy, and what a store leaves is copied when the thread looks up something else or ends its
// turn. Nobody waits for such a store in between: workgroups that depend on each other run in one thread. Atomics need the memory itself.
//
// Words of a wavefront whose lanes each go elsewhere are moved in one call, between the registers and the file itself (`moveLanes`).
//
// A position may be shown anew by the next look-up: who gets an offset uses it before looking for another.
import { type AddressTable, ENTRIES } from './address-table.ts';
import { FRAME, PAGE } from './layout.ts';
import { Region } from './region.ts';

/** Where the memory beyond the window is, as one thread sees it. */
export interface BeyondWindow {
  /** Bytes of the file, the window's included. */
  readonly bytes: number;
  /** Threads that divide the positions, the device's own included. */
  readonly threads: number;
  /** Maps `size` bytes of the file from `offset` over the bytes at `at` of wasm memory. */
  readonly show: (at: number, offset: number, size: number) => void;
  /** `size` bytes of the file from `offset` as a buffer of their own, which stay mapped. */
  readonly view: (offset: number, size: number) => ArrayBuffer;
  /** What another thread makes its `show` and `view` of; it is sent there. */
  readonly source: unknown;
}

/** The part of the window that the positions of all threads take, as an offset in wasm memory and bytes. */
export interface FrameArea {
  readonly at: number;
  readonly bytes: number;
}

/** A load or store of words by the active lanes of a wavefront, each at an address of its own. Registers are indices of words in wasm memory. */
export interface LaneAccess {
  execLow: number;
  execHigh: number;
  /** Lane 0 of the address register; the high words are in the next one when it `isWide`. */
  register: number;
  isWide: boolean;
  /** What is added to each lane's address, and its low word. */
  constant: number;
  constantLow: number;
  /** Lane 0 of the first data register, and how many there are. */
  data: number;
  count: number;
  isWrite: boolean;
}

/** A frame shows a page more than its own, so that no access ends outside of the frame in which it begins. */
const SHOWN = FRAME + PAGE;

/** Bytes of the file that a thread maps at a time to look at without frames. */
const CHUNK = 2 ** 30;
/** A frame that is looked for again among so few ones that are not shown is worth a position: a stream of accesses has come to it. */
const NEAR_MISSES = 4;
/** So many misses later one is shown in any case: what is in use finds its way to a position though it comes back late. */
const MISSES_A_FRAME = 32768;

/** What `name` gives when the address table names the memory: no offset is 1. */
export const NAMED = 1;
/** The longest access that is passed: one of a whole wavefront. */
const PASSED_BYTES = 1024;
const WORD = 4;
const LANES = 64;
const HIGH_WORD = 2 ** 32;

interface Position {
  readonly at: number;
  frame: number;
  /** Entries of the address table that name it. */
  readonly entries: Set<number>;
  /** The part of an allocation that was last asked for. */
  whole: Region | undefined;
  part: Region | undefined;
}

export class Frames {
  readonly area: FrameArea;
  private readonly buffer: ArrayBufferLike;
  private readonly show: BeyondWindow['show'];
  private readonly view: BeyondWindow['view'];
  private readonly fileBytes: number;
  private readonly table: AddressTable;
  private readonly free: Position[] = [];
  /** By frame, in the order in which they were shown. */
  private readonly shown = new Map<number, Position>();
  private newest: Position | undefined;
  /** Look-ups of frames that are not shown, and the last ones of them. */
  private misses = 0;
  private readonly missed = new Int32Array(NEAR_MISSES).fill(-1);
  private readonly chunks = new Map<number, ArrayBuffer>();
  /** The same by chunk, as words. */
  private readonly chunkWords: (Int32Array | undefined)[] = [];
  /** Of the wavefront that is moved: places in the file, and their lanes. */
  private readonly places = new Float64Array(LANES);
  private readonly lanes = new Uint8Array(LANES);
  /** Where accesses are passed: a position that shows nothing. */
  private readonly passage: Position;
  private readonly passageBytes: Uint8Array;
  private readonly passageView: DataView;
  /** A store that was passed and is not in memory yet: bytes, and where they belong. */
  private stored = 0;
  private storedAt = 0;
  private storedIn: Region | undefined;
  /** The parts of allocations that were last looked at without a frame, by chunk. */
  private readonly aside = new Map<number, { readonly region: Region; readonly part: Region }>();
  /** What the entries of the address table name. */
  private readonly named: (Position | undefined)[] = new Array(ENTRIES);

  constructor(
    buffer: ArrayBufferLike,
    area: FrameArea,
    { bytes, show, view, threads }: BeyondWindow,
    thread: number,
    table: AddressTable,
  ) {
    this.buffer = buffer;
    this.area = area;
    this.show = show;
    this.view = view;
    this.fileBytes = bytes;
    this.table = table;
    if (thread >= threads) throw new RangeError(`thread ${thread} has no positions for frames`);
    const count = Math.floor(area.bytes / SHOWN / threads);
    for (let n = count - 1; n >= 0; n--) {
      const at = area.at + (thread * count + n) * SHOWN;
      this.free.push({ at, frame: -1, entries: new Set(), whole: undefined, part: undefined });
    }
    this.passage = this.free.shift() as Position;
    this.passageBytes = new Uint8Array(buffer, this.passage.at, PASSED_BYTES);
    this.passageView = new DataView(buffer, this.passage.at, PASSED_BYTES);
  }

  /** The part of an allocation around an address, in wasm memory. */
  partAt(region: Region, address: number): Region {
    this.settle();
    return this.part(this.position(this.frameOf(region, address)), region);
  }

  /** The same where its bytes are now: in wasm memory or not. */
  lookAt(region: Region, address: number): Region {
    this.settle();
    const position = this.shown.get(this.frameOf(region, address));
    return position === undefined ? this.asidePart(region, address) : this.part(position, region);
  }

  /**
   * Has an entry of the address table name the part of an allocation around an address (NAMED), or gives the offset where `bytes` from it on are
   * read or written once when that is not worth a position. Without `bytes` it is named.
   */
  name(region: Region, address: number, isWrite: boolean, bytes: number): number {
    this.settle();
    const frame = this.frameOf(region, address);
    if (bytes > 0 && bytes <= PASSED_BYTES && !this.shown.has(frame) && !this.isWorthAPosition(frame)) {
      return this.pass(region, address, isWrite, bytes);
    }
    const entry = this.table.entryOf(address, isWrite);
    this.named[entry]?.entries.delete(entry);
    const position = this.position(frame);
    position.entries.add(entry);
    this.named[entry] = position;
    this.table.set(entry, this.part(position, region));
    return NAMED;
  }

  /** Whether frames have to give way to new ones. */
  get isFull(): boolean {
    return this.free.length === 0;
  }

  /**
   * Moves `count` words between registers and an allocation, for lanes that each have an address of their own. False, with nothing moved, when
   * one of them does not lie in the allocation or is no multiple of 4.
   */
  moveLanes(region: Region, words: Int32Array, access: LaneAccess): boolean {
    this.settle();
    const { places, lanes } = this;
    const { register, isWide, constant, data, count, isWrite } = access;
    const last = region.size - WORD * count;
    const from = constant - region.base;
    let many = 0;
    for (let lane = 0; lane < LANES; lane++) {
      if (((lane < 32 ? access.execLow >>> lane : access.execHigh >>> (lane - 32)) & 1) === 0) continue;
      const low = words[register + lane] as number;
      const high = isWide ? (words[register + LANES + lane] as number) >>> 0 : 0;
      const at = from + (low >>> 0) + high * HIGH_WORD;
      if (!(at >= 0 && at <= last) || ((low + access.constantLow) & 3) !== 0) return false;
      places[many] = region.offset + at;
      lanes[many++] = lane;
    }
    for (let n = 0; n < many; n++) {
      const place = places[n] as number;
      const chunk = Math.floor(place / CHUNK);
      const file = this.chunkWords[chunk] ?? this.wordsOf(chunk);
      const at = (place - chunk * CHUNK) / WORD;
      const to = data + (lanes[n] as number);
      for (let word = 0; word < count; word++) {
        if (isWrite) file[at + word] = words[to + word * LANES] as number;
        else words[to + word * LANES] = file[at + word] as number;
      }
    }
    return true;
  }

  /** Puts what was written in passing where it belongs. */
  settle(): void {
    if (this.stored === 0) return;
    const { bytes, view } = this.storedIn as Region;
    if (this.stored === WORD) view.setInt32(this.storedAt, this.passageView.getInt32(0, true), true);
    else bytes.set(this.passageBytes.subarray(0, this.stored), this.storedAt);
    this.stored = 0;
  }

  /** 0 when the allocation ends before the bytes do. */
  private pass(region: Region, address: number, isWrite: boolean, bytes: number): number {
    const part = this.asidePart(region, address);
    const at = address - part.base;
    if (at + bytes > part.size) return 0;
    if (isWrite) {
      this.stored = bytes;
      this.storedAt = at;
      this.storedIn = part;
    } else if (bytes === WORD) this.passageView.setInt32(0, part.view.getInt32(at, true), true);
    else this.passageBytes.set(part.bytes.subarray(at, at + bytes));
    return this.passage.at;
  }

  /** The address table was emptied. */
  forgetNames(): void {
    for (const position of this.shown.values()) position.entries.clear();
    this.named.fill(undefined);
  }

  private frameOf(region: Region, address: number): number {
    return Math.floor((region.offset + address - region.base) / FRAME);
  }

  private isWorthAPosition(frame: number): boolean {
    if (this.free.length > 0) return true;
    const isNear = this.missed.includes(frame);
    this.misses++;
    this.missed[this.misses % NEAR_MISSES] = frame;
    return isNear || this.misses % MISSES_A_FRAME === 0;
  }

  /** The part of an allocation that lies in the same chunk of the file as an address, a page more at its end as in a frame. */
  private asidePart(region: Region, address: number): Region {
    const chunk = Math.floor((region.offset + address - region.base) / CHUNK);
    const known = this.aside.get(chunk);
    if (known?.region === region) return known.part;
    const buffer = this.chunkOf(chunk);
    const part = this.cut(region, buffer, chunk * CHUNK, buffer.byteLength, 0);
    this.aside.set(chunk, { region, part });
    return part;
  }

  private chunkOf(chunk: number): ArrayBuffer {
    let buffer = this.chunks.get(chunk);
    if (buffer === undefined) {
      buffer = this.view(chunk * CHUNK, Math.min(CHUNK + PAGE, this.fileBytes - chunk * CHUNK));
      this.chunks.set(chunk, buffer);
    }
    return buffer;
  }

  private wordsOf(chunk: number): Int32Array {
    const words = new Int32Array(this.chunkOf(chunk));
    this.chunkWords[chunk] = words;
    return words;
  }

  private position(frame: number): Position {
    if (this.newest?.frame === frame) return this.newest;
    let position = this.shown.get(frame);
    if (position === undefined) {
      position = this.free.pop() ?? this.giveWay();
      this.show(position.at, frame * FRAME, SHOWN);
      position.frame = frame;
      position.whole = undefined;
      this.shown.set(frame, position);
    }
    this.newest = position;
    return position;
  }

  private giveWay(): Position {
    for (const [frame, position] of this.shown) {
      this.shown.delete(frame);
      for (const entry of position.entries) {
        this.table.unset(entry);
        this.named[entry] = undefined;
      }
      position.entries.clear();
      return position;
    }
    throw new Error('there is no position for a frame');
  }

  private part(position: Position, region: Region): Region {
    if (position.whole === region && position.part !== undefined) return position.part;
    const part = this.cut(region, this.buffer, position.frame * FRAME, SHOWN, position.at);
    position.whole = region;
    position.part = part;
    return part;
  }

  /** The part of an allocation in `bytes` of the file from `first`, which are in a buffer at `at`. */
  private cut(region: Region, buffer: ArrayBufferLike, first: number, bytes: number, at: number): Region {
    const from = Math.max(first, region.offset);
    const to = Math.min(first + bytes, region.offset + region.size);
    const before = from - region.offset;
    return new Region(buffer, {
      base: region.base + before,
      size: to - from,
      label: region.label,
      offset: at + from - first,
      readOnlyRanges: region.readOnlyRanges.map(([start, end]) => [start - before, end - before]),
    });
  }
}
