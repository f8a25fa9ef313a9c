// Shadow of global memory during a strict dispatch: written bytes, and the workgroups that touched each dword, to find races between
// workgroups. Bounded: at most MAX_TRACKED bytes of memory are followed, page by page as they are touched.
import type { Region } from '../state/memory.ts';
import { type MemoryHistory, setBits } from './history.ts';

/** Dwords of one page of race records. */
const PAGE = 1024;
/** Bytes of device memory whose accesses are followed; a page of 4 KiB costs 17 KiB. */
const MAX_TRACKED = 2 ** 28;

/** 4 KiB of memory. As long as one workgroup alone touches whole dwords of it, which dwords is all there is to know. */
class RacePage {
  /** Workgroup + 1 of the only one so far. */
  private readonly owner: number;
  private readonly readBits = new Uint32Array(PAGE / 32);
  private readonly writtenBits = new Uint32Array(PAGE / 32);
  private readPc = 0;
  private writtenPc = 0;
  private details: RaceDetails | undefined;

  constructor(owner: number) {
    this.owner = owner;
  }

  /** Notes whole dwords for the owner; false when there are details to be looked at. */
  note(mine: number, first: number, end: number, pc: number, isWrite: boolean): boolean {
    if (mine !== this.owner || this.details !== undefined) return false;
    const bits = isWrite ? this.writtenBits : this.readBits;
    for (let i = first; i < end; ) {
      const count = Math.min(32 - (i & 31), end - i);
      const mask = count === 32 ? -1 : ((1 << count) - 1) << (i & 31);
      bits[i >>> 5] = (bits[i >>> 5] as number) | mask;
      i += count;
    }
    if (isWrite) this.writtenPc = pc;
    else this.readPc = pc;
    return true;
  }

  /** The records by dword, from now on. The instructions known for what was before are the last ones that read and wrote. */
  get detailed(): RaceDetails {
    if (this.details !== undefined) return this.details;
    const details: RaceDetails = {
      writer: new Uint32Array(PAGE),
      reader: new Uint32Array(PAGE),
      writerPc: new Int32Array(PAGE),
      readerPc: new Int32Array(PAGE),
      bytes: new Uint8Array(PAGE),
      flags: new Uint8Array(PAGE),
    };
    for (let i = 0; i < PAGE; i++) {
      const bit = 1 << (i & 31);
      if (((this.writtenBits[i >>> 5] as number) & bit) !== 0) {
        details.writer[i] = this.owner;
        details.writerPc[i] = this.writtenPc;
        details.bytes[i] = 15;
      }
      if (((this.readBits[i >>> 5] as number) & bit) !== 0) {
        details.reader[i] = this.owner;
        details.readerPc[i] = this.readPc;
        details.bytes[i] = (details.bytes[i] as number) | 0xf0;
      }
    }
    this.details = details;
    return details;
  }
}

/** By dword: workgroup + 1 of the last writer and reader, the bytes they touched, and who. */
interface RaceDetails {
  readonly writer: Uint32Array;
  readonly reader: Uint32Array;
  readonly writerPc: Int32Array;
  readonly readerPc: Int32Array;
  /** Low nibble: bytes written; high nibble: bytes read. */
  readonly bytes: Uint8Array;
  /** Low nibble: ATOMIC_WRITE; high nibble: bytes read by several workgroups. */
  readonly flags: Uint8Array;
}

const ATOMIC_WRITE = 1;

/** Reads of dwords that nobody else has written; several readers are left to the closer look. */
function readDwords(page: RaceDetails, first: number, end: number, mine: number, pc: number): boolean {
  const { writer, reader, readerPc, bytes, flags } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    if (w !== 0 && w !== mine) return false;
    const r = reader[i] as number;
    if (r !== mine) {
      // All four bytes have several readers when another workgroup has read the whole dword.
      if (r !== 0) flags[i] = (flags[i] as number) | ((bytes[i] as number) & 0xf0);
      reader[i] = mine;
      readerPc[i] = pc;
    }
    bytes[i] = (bytes[i] as number) | 0xf0;
  }
  return true;
}

/** Writes of dwords that nobody else has touched. */
function writeDwords(page: RaceDetails, first: number, end: number, mine: number, pc: number): boolean {
  const { writer, reader, writerPc, bytes, flags } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    const r = reader[i] as number;
    if ((w !== 0 && w !== mine) || (r !== 0 && r !== mine) || flags[i] !== 0) return false;
    writer[i] = mine;
    writerPc[i] = pc;
    bytes[i] = (bytes[i] as number) | 15;
  }
  return true;
}

/** The other side of a race between workgroups. */
export interface GlobalConflict {
  /** -1 when it is one of several. */
  readonly workgroup: number;
  readonly pc: number;
  readonly other: 'read' | 'write';
}

/** The shadow of one allocation. */
export class RegionShadow {
  readonly region: Region;
  /** One bit per byte; undefined when everything has been written. */
  readonly written: Uint8Array | undefined;
  readonly pages: (RacePage | undefined)[] = [];

  constructor(region: Region, written: Uint8Array | undefined) {
    this.region = region;
    this.written = written;
  }

  /** Whether a byte has been written with a defined value. */
  isWritten(at: number): boolean {
    const { written } = this;
    return written === undefined || (((written[at >>> 3] as number) >>> (at & 7)) & 1) !== 0;
  }

  /** Whether every dword has a written byte. */
  hasDwords(from: number, bytes: number): boolean {
    const { written } = this;
    if (written === undefined) return true;
    for (let at = from; at < from + bytes; at += 4) {
      if ((((written[at >>> 3] as number) >>> (at & 4)) & 15) === 0) return false;
    }
    return true;
  }

  /** Whole dwords have been written. */
  setDwords(from: number, bytes: number): void {
    if (this.written !== undefined) setBits(this.written, from, from + bytes);
  }

  setWritten(from: number, bytes: number, isDefined: boolean): void {
    const { written } = this;
    if (written === undefined) return;
    if (bytes === 4 && (from & 3) === 0) {
      const mask = 15 << (from & 4);
      const old = written[from >>> 3] as number;
      written[from >>> 3] = isDefined ? old | mask : old & ~mask;
      return;
    }
    for (let at = from; at < from + bytes; at++) {
      const bit = 1 << (at & 7);
      const old = written[at >>> 3] as number;
      written[at >>> 3] = isDefined ? old | bit : old & ~bit;
    }
  }
}

/** Which workgroups an atomic has ordered before another one. */
export class Synchronisation {
  /** By address: the workgroups that have touched it atomically. */
  private readonly byAddress = new Map<number, Set<number>>();
  /** By running workgroup: the sets it belongs to. */
  private readonly acquired = new Map<number, Set<Set<number>>>();

  /** A workgroup touches an address atomically: it sees what those before it had done. */
  touch(workgroup: number, address: number): void {
    let set = this.byAddress.get(address);
    if (set === undefined) {
      if (this.byAddress.size > 65536) return;
      set = new Set();
      this.byAddress.set(address, set);
    }
    set.add(workgroup);
    let mine = this.acquired.get(workgroup);
    if (mine === undefined) {
      mine = new Set();
      this.acquired.set(workgroup, mine);
    }
    mine.add(set);
  }

  /** A workgroup has ended. */
  end(workgroup: number): void {
    this.acquired.delete(workgroup);
  }

  /** Whether a running workgroup has synchronised with any. */
  isActive(workgroup: number): boolean {
    return this.acquired.has(workgroup);
  }

  /** Whether a running workgroup has synchronised with another one. */
  isOrdered(workgroup: number, other: number): boolean {
    const sets = this.acquired.get(workgroup);
    if (sets !== undefined) for (const set of sets) if (set.has(other)) return true;
    return false;
  }
}

export class GlobalShadow {
  private readonly history: MemoryHistory;
  private readonly shadows = new Map<number, RegionShadow>();
  private last: RegionShadow | undefined;
  private trackedBytes = 0;
  /** Accesses were made to memory that is not followed. */
  isTruncated = false;
  readonly synchronisation = new Synchronisation();

  constructor(history: MemoryHistory) {
    this.history = history;
  }

  of(region: Region): RegionShadow {
    const { last } = this;
    if (last !== undefined && last.region.base === region.base) return last;
    let shadow = this.shadows.get(region.base);
    if (shadow === undefined) {
      shadow = new RegionShadow(region, this.history.bits(region.base));
      this.shadows.set(region.base, shadow);
    }
    this.last = shadow;
    return shadow;
  }

  /** The scratch of a new workgroup: nothing has been written. */
  resetScratch(region: Region): void {
    this.shadows.set(region.base, new RegionShadow(region, new Uint8Array((region.size + 7) >>> 3)));
    this.last = undefined;
  }

  private page(shadow: RegionShadow, dword: number, group: number): RacePage | undefined {
    const index = Math.floor(dword / PAGE);
    let page = shadow.pages[index];
    if (page === undefined) {
      if (this.trackedBytes >= MAX_TRACKED) {
        this.isTruncated = true;
        return undefined;
      }
      this.trackedBytes += 4 * PAGE;
      page = new RacePage(group + 1);
      shadow.pages[index] = page;
    }
    return page;
  }

  /**
   * Whole dwords are accessed; false at the first one whose records ask for a closer look, those before it being recorded.
   */
  accessDwords(
    shadow: RegionShadow,
    offset: number,
    bytes: number,
    group: number,
    pc: number,
    isWrite: boolean,
  ): boolean {
    for (let at = offset; at < offset + bytes; ) {
      const dword = Math.floor(at / 4);
      const page = this.page(shadow, dword, group);
      if (page === undefined) return true;
      const first = dword % PAGE;
      const end = Math.min(PAGE, first + (offset + bytes - at) / 4);
      if (!page.note(group + 1, first, end, pc, isWrite)) {
        const access = isWrite ? writeDwords : readDwords;
        if (!access(page.detailed, first, end, group + 1, pc)) return false;
      }
      at += (end - first) * 4;
    }
    return true;
  }

  /** A workgroup reads up to 4 bytes of one dword; the write (an atomic may be read: that is how compare-and-swap loops begin) of another one that nothing orders before it, or undefined. */
  read(shadow: RegionShadow, offset: number, bytes: number, group: number, pc: number): GlobalConflict | undefined {
    const dword = Math.floor(offset / 4);
    const page = this.page(shadow, dword, group)?.detailed;
    if (page === undefined) return undefined;
    const at = dword % PAGE;
    const mask = ((1 << bytes) - 1) << (offset & 3);
    const touched = page.bytes[at] as number;
    const writer = page.writer[at] as number;
    const reader = page.reader[at] as number;
    if (reader === 0 || reader === group + 1) page.bytes[at] = touched | (mask << 4);
    else {
      page.flags[at] = (page.flags[at] as number) | (touched & (mask << 4));
      page.bytes[at] = (touched & 15) | (mask << 4);
    }
    page.reader[at] = group + 1;
    page.readerPc[at] = pc;
    if (writer === 0 || writer === group + 1 || (touched & mask) === 0) return undefined;
    if (((page.flags[at] as number) & ATOMIC_WRITE) !== 0) return undefined;
    if (this.synchronisation.isOrdered(group, writer - 1)) return undefined;
    return { workgroup: writer - 1, pc: page.writerPc[at] as number, other: 'write' };
  }

  /** A workgroup writes up to 4 bytes of one dword; the access of another one that nothing orders before it, or undefined. */
  write(
    shadow: RegionShadow,
    offset: number,
    bytes: number,
    group: number,
    pc: number,
    isAtomic: boolean,
  ): GlobalConflict | undefined {
    const dword = Math.floor(offset / 4);
    const page = this.page(shadow, dword, group)?.detailed;
    if (page === undefined) return undefined;
    const at = dword % PAGE;
    const mask = ((1 << bytes) - 1) << (offset & 3);
    const touched = page.bytes[at] as number;
    const flags = page.flags[at] as number;
    const writer = page.writer[at] as number;
    const reader = page.reader[at] as number;
    const writerPc = page.writerPc[at] as number;
    const isOther = writer !== 0 && writer !== group + 1;
    page.bytes[at] = isOther ? (touched & 0xf0) | mask : touched | mask;
    page.flags[at] = (flags & 0xf0) | (isAtomic ? ATOMIC_WRITE : 0);
    page.writer[at] = group + 1;
    page.writerPc[at] = pc;
    const { synchronisation } = this;
    const bothAtomic = isAtomic && (flags & ATOMIC_WRITE) !== 0;
    if (isOther && (touched & mask) !== 0 && !bothAtomic && !synchronisation.isOrdered(group, writer - 1)) {
      return { workgroup: writer - 1, pc: writerPc, other: 'write' };
    }
    if (isAtomic) return undefined;
    const isOtherReader = reader !== 0 && reader !== group + 1;
    if (isOtherReader && ((touched >> 4) & mask) !== 0) {
      if (synchronisation.isOrdered(group, reader - 1)) return undefined;
      return { workgroup: reader - 1, pc: page.readerPc[at] as number, other: 'read' };
    }
    if (((flags >> 4) & mask) !== 0 && !synchronisation.isActive(group)) {
      return { workgroup: -1, pc: page.readerPc[at] as number, other: 'read' };
    }
    return undefined;
  }
}
