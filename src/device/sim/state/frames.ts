// Memory beyond the window. All memory of a device is one sparse file: its first 4 GiB lie under the WebAssembly memory, and a thread shows
// itself the rest in frames of 1 MiB, which it maps one by one over positions in the window, the one that was shown first giving way.
// Every thread has positions of its own: none waits for another, and all see the same pages.
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
  /** What another thread makes its `show` of; it is sent there. */
  readonly source: unknown;
}

/** The part of the window that the positions of all threads take, as an offset in wasm memory and bytes. */
export interface FrameArea {
  readonly at: number;
  readonly bytes: number;
}

/** A frame shows a page more than its own, so that no access ends outside of the frame in which it begins. */
const SHOWN = FRAME + PAGE;

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
  private readonly table: AddressTable;
  private readonly free: Position[] = [];
  /** By frame, in the order in which they were shown. */
  private readonly shown = new Map<number, Position>();
  private newest: Position | undefined;
  /** What the entries of the address table name. */
  private readonly named: (Position | undefined)[] = new Array(ENTRIES);

  constructor(
    buffer: ArrayBufferLike,
    area: FrameArea,
    { show, threads }: BeyondWindow,
    thread: number,
    table: AddressTable,
  ) {
    this.buffer = buffer;
    this.area = area;
    this.show = show;
    this.table = table;
    if (thread >= threads) throw new RangeError(`thread ${thread} has no positions for frames`);
    const count = Math.floor(area.bytes / SHOWN / threads);
    for (let n = count - 1; n >= 0; n--) {
      const at = area.at + (thread * count + n) * SHOWN;
      this.free.push({ at, frame: -1, entries: new Set(), whole: undefined, part: undefined });
    }
  }

  /** The part of an allocation around an address. */
  partAt(region: Region, address: number): Region {
    return this.part(this.position(region, address), region);
  }

  /** Has an entry of the address table name the part of an allocation around an address. */
  name(region: Region, address: number, isWrite: boolean): void {
    const entry = this.table.entryOf(address, isWrite);
    this.named[entry]?.entries.delete(entry);
    const position = this.position(region, address);
    position.entries.add(entry);
    this.named[entry] = position;
    this.table.set(entry, this.part(position, region));
  }

  /** The address table was emptied. */
  forgetNames(): void {
    for (const position of this.shown.values()) position.entries.clear();
    this.named.fill(undefined);
  }

  private position(region: Region, address: number): Position {
    const frame = Math.floor((region.offset + address - region.base) / FRAME);
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
    const first = position.frame * FRAME;
    const from = Math.max(first, region.offset);
    const to = Math.min(first + SHOWN, region.offset + region.size);
    const before = from - region.offset;
    const part = new Region(this.buffer, {
      base: region.base + before,
      size: to - from,
      label: region.label,
      offset: position.at + from - first,
      readOnlyRanges: region.readOnlyRanges.map(([start, end]) => [start - before, end - before]),
    });
    position.whole = region;
    position.part = part;
    return part;
  }
}
