// Room `device/sim/strict/lds`: what strict mode knows of a workgroup's LDS: its shadow, and what waits and barriers order in it.
// Begin with this file, then lds-order.ts (clocks of wavefronts).
//
// Shadow of a workgroup's LDS: which bytes have been written, which wavefronts touched them since the last barrier, and which are
// written by operations that no wait has proved complete. Source: CDNA3 ISA manual, "Data Share", "Data Dependency Resolution".
import type { DeviceMemory } from '../../state/memory.ts';
import type { IssuedOperation, LdsBytes } from '../registers/waits.ts';
import { clockShift, LdsOrder } from './lds-order.ts';

// The shadow in wasm memory, which compiled code reads and writes too (compiled/lds.ts): i32[4] lowest bytes touched by anybody whose tags
// are there, i32[4] highest + 1 (the least and the most of four count); operations in flight; 1 when the tags are from before a barrier;
// then the places of the arrays.
export const LDS_LOW = 0;
export const LDS_HIGH = 16;
export const LDS_UNSETTLED = 32;
export const LDS_STALE = 36;
export const LDS_WRITTEN = 40;
export const LDS_WRITER = 44;
export const LDS_READER = 48;
export const LDS_WRITER_PC = 52;
export const LDS_READER_PC = 56;
/** 1 when a wavefront has executed an atomic that returns nothing. */
export const LDS_UPDATED = 60;
/**
 * Where the table of loads into LDS is: by dword the last of them (compiled/flights.ts). 1 when some were outstanding at the last barrier; by
 * wavefront the number of the last that was complete then.
 */
export const LDS_FLIGHT = 64;
export const LDS_LATE = 68;
/** So many bytes from the beginning on are known to be written: a multiple of 64. */
export const LDS_FULL = 72;
/** 1 when the wavefronts have not come to the last barrier at one instruction. */
export const LDS_UNEVEN = 76;
export const LDS_MARKS = 80;
const MOST_WAVES = 16;
/**
 * Where the clocks are (lds-order.ts), 0 where none are kept; log2 of the bytes of a clock of a record; 1 when dwords are polled, and where a byte for each dword says
 * whether it is; 1 when a wavefront has told something of its stores since the last barrier.
 */
export const LDS_ORDER = LDS_MARKS + 4 * MOST_WAVES;
export const LDS_CLOCK_SHIFT = LDS_ORDER + 4;
export const LDS_POLLED = LDS_ORDER + 8;
export const LDS_POLLS = LDS_ORDER + 12;
export const LDS_TOLD = LDS_ORDER + 20;
/** Where there are clocks, 1 when a wavefront has accessed LDS since the last barrier other than by atomics and polls, or may have. */
export const LDS_PLAIN = LDS_ORDER + 24;
/** 1 when a wavefront has learnt what others do by an atomic or a poll: wavefronts may be ordered by other means than barriers. */
export const LDS_LEARNT = LDS_ORDER + 16;
const LDS_HEAD = LDS_ORDER + 32;
/** Bytes behind each array that compiled code may read. */
const SPARE = 16;

/** Tags of bytes: wavefront + 1, with this bit for an atomic; MANY for several wavefronts. */
const ATOMIC = 0x80;
const MANY = 0x7f;
export const MANY_TAGS = MANY * 0x01010101;
export const ATOMIC_TAGS = (ATOMIC * 0x01010101) | 0;
/** Lowest byte touched when there is none. */
const NOTHING = 0xffffffff;

/** What an access of some bytes collides with. */
export interface LdsConflict {
  /** The other access writes. */
  readonly isWrite: boolean;
  /** The other access is a load into LDS. */
  readonly isLoadToLds: boolean;
  /** The other access is a read whose wavefront passed the last barrier before it was known to have come back. */
  readonly isLate: boolean;
  /** Wavefront of the other access, -1 when there were several. */
  readonly wave: number;
  /** Address of the other access's instruction, -1 when not known. */
  readonly pc: number;
}

/** A wavefront as its loads into LDS see it (WaveShadow). */
export interface FlyingWave {
  readonly flightsIssued: number;
  readonly flightsDone: number;
  flight(number: number): IssuedOperation | undefined;
}

/** A load from memory into LDS, or another operation that writes it, which may not have written it yet. */
export type PendingWrite = Pick<IssuedOperation, 'kind' | 'pc' | 'wave' | 'epoch' | 'isComplete' | 'barrierAge'>;

/** Loads into LDS of a wavefront at a barrier: how many are complete, and the others in order (WaveShadow.flights). */
export interface FlightsOf {
  readonly wave: number;
  readonly done: number;
  readonly outstanding: readonly { readonly pc: number; readonly behind: number }[];
}

/** A load of LDS that is outstanding at a barrier: its wavefront and place in the image; what it reads, where that is noted. */
export interface LateRead {
  readonly wave: number;
  readonly pc: number;
  readonly lds: readonly LdsBytes[] | undefined;
}

/** The tag of a wavefront in the four bytes of a dword. */
export function tagsOf(wave: number): number {
  return (wave + 1) * 0x01010101;
}

export class LdsShadow {
  /** One bit per byte: written with a defined value. */
  readonly written: Uint8Array;
  /** Barriers passed. */
  epoch = 0;
  private readonly memory: DeviceMemory;
  private readonly bytes: number;
  private readonly waves: number;
  private readonly writer: Uint8Array;
  private readonly reader: Uint8Array;
  /** Instruction of the last writer and reader, by dword. */
  private readonly writerPc: Int32Array;
  private readonly readerPc: Int32Array;
  /** The tags of four bytes at a time. */
  private readonly writer4: Uint32Array;
  private readonly reader4: Uint32Array;
  /** Places of the loads that were outstanding at the last barrier. */
  private lateReads: ReadonlySet<number> = new Set();
  /** Lanes of the last `accessLanes`. */
  laneCount = 0;
  /** The first words of the shadow. */
  private readonly head: Uint32Array;
  /** The whole of it, to be given back. */
  readonly storage: Uint8Array;
  /** Id of the operation in flight that writes each byte; made when the first one appears. */
  private inFlight: Uint16Array | undefined;
  private readonly operations: (IssuedOperation | undefined)[] = [undefined];
  private readonly freeIds: number[] = [];
  private settled: IssuedOperation[] = [];
  /** By dword the last load into LDS that writes it, 0 for none. */
  private readonly flightOf: Uint32Array;
  /** The loads that were outstanding at the last barrier, by their entries in the table. */
  private lateFlights: ReadonlyMap<number, Omit<PendingWrite, 'isComplete'>> = new Map();
  private readonly arrays: Uint32Array[] = [];
  /** What is kept where wavefronts hand over data through LDS without a barrier; made when the first such workgroup begins. */
  private clocks: LdsOrder | undefined;
  /** The same, of the workgroup that runs. */
  order: LdsOrder | undefined;

  constructor(memory: DeviceMemory, bytes: number, waves: number) {
    this.memory = memory;
    this.bytes = bytes;
    this.waves = waves;
    const dwords = (bytes + 3) >>> 2;
    const bits = (((bytes + 7) >>> 3) + SPARE + 15) & -16;
    const words = (4 * dwords + SPARE + 15) & -16;
    this.storage = memory.reserve(LDS_HEAD + bits + 5 * words, 'strict mode');
    const { buffer, byteOffset } = this.storage;
    this.head = new Uint32Array(buffer, byteOffset, LDS_HEAD / 4);
    const place = (array: number): number => byteOffset + LDS_HEAD + (array === 0 ? 0 : bits + (array - 1) * words);
    const [written, writer, reader, writerPc, readerPc, flights] = [0, 1, 2, 3, 4, 5].map(place) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    this.head.set([written, writer, reader, writerPc, readerPc], LDS_WRITTEN / 4);
    this.head[LDS_FLIGHT / 4] = flights;
    this.written = new Uint8Array(buffer, written, (bytes + 7) >>> 3);
    this.writer4 = new Uint32Array(buffer, writer, dwords);
    this.reader4 = new Uint32Array(buffer, reader, dwords);
    this.flightOf = new Uint32Array(buffer, flights, dwords);
    this.writer = new Uint8Array(buffer, writer, 4 * dwords);
    this.reader = new Uint8Array(buffer, reader, 4 * dwords);
    this.writerPc = new Int32Array(buffer, writerPc, dwords);
    this.readerPc = new Int32Array(buffer, readerPc, dwords);
    this.low = NOTHING;
  }

  /** Whether it is for workgroups like this. */
  fits(bytes: number, waves: number): boolean {
    return this.bytes === bytes && this.waves === waves;
  }

  /** All of its memory. */
  get storages(): readonly Uint8Array[] {
    return this.clocks === undefined ? [this.storage] : [this.storage, this.clocks.storage];
  }

  /** As it is for a new workgroup. `handsOver`: its wavefronts may hand over data through LDS without a barrier. */
  begin(handsOver: boolean): void {
    const { memory, head, written, flightOf, operations, freeIds, low, high } = this;
    this.epoch = 0;
    // Without LDS nothing of this has been set.
    if (this.bytes > 0) {
      this.clearTags();
      memory.clear(written.byteOffset, written.length);
      memory.clear(flightOf.byteOffset, flightOf.byteLength);
      memory.clear(head.byteOffset + LDS_LATE, LDS_ORDER - LDS_LATE);
    }
    // What another workgroup has left goes also where this one has none.
    this.clocks?.start(low, high);
    if (handsOver) this.clocks ??= new LdsOrder(memory, this.bytes, this.waves, this);
    this.order = handsOver ? this.clocks : undefined;
    head[LDS_ORDER / 4] = this.order?.storage.byteOffset ?? 0;
    head[LDS_POLLS / 4] = this.order?.polls.byteOffset ?? 0;
    head[LDS_CLOCK_SHIFT / 4] = clockShift(this.waves);
    this.hasUpdated = false;
    this.hasLearnt = false;
    if (this.lateReads.size > 0) this.lateReads = new Set();
    if (this.lateFlights.size > 0) this.lateFlights = new Map();
    this.inFlight?.fill(0);
    // Setting the length of an array is a call, even where it stays the same.
    if (operations.length > 1) operations.length = 1;
    if (freeIds.length > 0) freeIds.length = 0;
    if (this.settled.length > 0) this.settled = [];
    this.countUnsettled();
  }

  /** A wavefront has executed an atomic that returns nothing, of LDS or memory: one that polls learns of it. */
  get hasUpdated(): boolean {
    return this.head[LDS_UPDATED / 4] !== 0;
  }
  set hasUpdated(value: boolean) {
    this.head[LDS_UPDATED / 4] = value ? 1 : 0;
  }

  /** A wavefront has learnt what others do by an atomic or a poll: wavefronts may be ordered by other means than barriers. */
  get hasLearnt(): boolean {
    return this.head[LDS_LEARNT / 4] !== 0;
  }
  set hasLearnt(value: boolean) {
    this.head[LDS_LEARNT / 4] = value ? 1 : 0;
  }

  /** Dwords are polled. */
  get arePolled(): boolean {
    return this.head[LDS_POLLED / 4] !== 0;
  }
  set arePolled(value: boolean) {
    this.head[LDS_POLLED / 4] = value ? 1 : 0;
  }

  /** A wavefront has told something of its stores since the last barrier. */
  get isTold(): boolean {
    return this.head[LDS_TOLD / 4] !== 0;
  }
  set isTold(value: boolean) {
    this.head[LDS_TOLD / 4] = value ? 1 : 0;
  }

  /** Of LdsOrder: accesses since the last barrier that are neither atomics nor polls. */
  set arePlain(value: boolean) {
    this.head[LDS_PLAIN / 4] = value ? 1 : 0;
  }

  /** The wavefronts have come to a barrier, at one instruction or at several. */
  meet(isUneven: boolean): void {
    this.head[LDS_UNEVEN / 4] = isUneven ? 1 : 0;
  }

  private get low(): number {
    const { head } = this;
    return Math.min(head[0] as number, head[1] as number, head[2] as number, head[3] as number);
  }
  private set low(value: number) {
    for (let i = LDS_LOW / 4; i < LDS_LOW / 4 + 4; i++) this.head[i] = value;
  }
  private get high(): number {
    const { head } = this;
    return Math.max(head[4] as number, head[5] as number, head[6] as number, head[7] as number);
  }
  private set high(value: number) {
    for (let i = LDS_HIGH / 4; i < LDS_HIGH / 4 + 4; i++) this.head[i] = value;
  }

  /** Clears tags from before the last barrier. */
  private freshen(): void {
    if (this.head[LDS_STALE / 4] !== 0) this.clearTags();
  }

  /** Clears the tags of the bytes that have been touched: the others have none. */
  private clearTags(): void {
    const { low, writer, reader } = this;
    const end = Math.min(this.high, writer.length);
    if (end > low) {
      this.memory.clear(writer.byteOffset + low, end - low);
      this.memory.clear(reader.byteOffset + low, end - low);
    }
    this.low = NOTHING;
    this.high = 0;
    this.head[LDS_STALE / 4] = 0;
  }

  /** Clears all tags but those of bytes that these loads read; where it is not noted what, those that these instructions of these wavefronts have read last. */
  private keepReads(all: readonly LateRead[]): void {
    this.freshen();
    const { writer4, reader4, readerPc } = this;
    const reads = new Map<number, number[]>();
    for (const { wave, pc, lds } of all) if (lds === undefined) reads.set(pc, [...(reads.get(pc) ?? []), wave]);
    for (let i = this.low >>> 2; i < (this.high + 3) >>> 2; i++) {
      writer4[i] = 0;
      const waves = reader4[i] === 0 ? undefined : reads.get(readerPc[i] as number);
      let kept = 0;
      for (let byte = 0; byte < 32 && waves !== undefined; byte += 8) {
        const tag = ((reader4[i] as number) >>> byte) & 0xff;
        // Of several readers one is the one that is late.
        if (tag === MANY) kept |= (waves.length > 1 ? MANY : (waves[0] as number) + 1) << byte;
        else if (waves.includes(tag - 1)) kept |= tag << byte;
      }
      reader4[i] = kept;
    }
    for (const { wave, pc, lds = [] } of all) for (const bytes of lds) this.markRead(wave, pc, bytes);
  }

  private markRead(wave: number, pc: number, { addresses, count, bytes }: LdsBytes): void {
    const { reader, readerPc } = this;
    for (let n = 0; n < count; n++) {
      const from = addresses[n] as number;
      const end = Math.min(from + bytes, reader.length);
      if (from < end) this.touch(from, end - from);
      for (let at = from; at < end; at++) {
        const tag = reader[at] as number;
        reader[at] = tag === 0 || tag === wave + 1 ? wave + 1 : MANY;
        readerPc[at >>> 2] = pc;
      }
    }
  }

  private countUnsettled(): void {
    this.head[LDS_UNSETTLED / 4] = this.operations.length - this.freeIds.length - 1;
  }

  private touch(address: number, bytes: number): void {
    this.freshen();
    if (address < this.low) this.low = address;
    if (address + bytes > this.high) this.high = address + bytes;
  }

  /** A wavefront reads bytes: the write of another one in the same barrier interval, or undefined. */
  read(wave: number, address: number, bytes: number, pc: number): LdsConflict | undefined {
    if (this.waves < 2) return undefined;
    let conflict: LdsConflict | undefined;
    const mine = wave + 1;
    this.touch(address, bytes);
    for (let at = address; at < address + bytes; at++) {
      const writer = this.writer[at] as number;
      if (writer !== 0 && (writer & MANY) !== mine)
        conflict ??= this.conflict(writer, this.writerPc[at >>> 2] as number, true, at);
      const reader = this.reader[at] as number;
      this.reader[at] = reader === 0 || reader === mine ? mine : MANY;
    }
    this.readerPc[address >>> 2] = pc;
    return conflict;
  }

  /**
   * A wavefront writes bytes: the access of another one in the same barrier interval, or undefined. What it has stored itself stays a store when its
   * atomics follow: those of others may come between the two, or before.
   */
  write(wave: number, address: number, bytes: number, pc: number, isAtomic: boolean): LdsConflict | undefined {
    if (this.waves < 2) return undefined;
    let conflict: LdsConflict | undefined;
    const mine = wave + 1;
    let isStore = true;
    this.touch(address, bytes);
    for (let at = address; at < address + bytes; at++) {
      const writer = this.writer[at] as number;
      const other = writer !== 0 && (writer & MANY) !== mine;
      if (other && !(isAtomic && (writer & ATOMIC) !== 0)) {
        conflict ??= this.conflict(writer, this.writerPc[at >>> 2] as number, true, at);
      }
      const reader = this.reader[at] as number;
      if (reader !== 0 && reader !== mine)
        conflict ??= this.conflict(reader, this.readerPc[at >>> 2] as number, false, at);
      if (isAtomic && writer === mine) continue;
      isStore = false;
      this.writer[at] = (other && isAtomic ? MANY : mine) | (isAtomic ? ATOMIC : 0);
    }
    if (!isStore) this.writerPc[address >>> 2] = pc;
    return conflict;
  }

  private conflict(tag: number, pc: number, isWrite: boolean, address: number): LdsConflict {
    const wave = (tag & MANY) === MANY ? -1 : (tag & MANY) - 1;
    const flight = this.flightOf[address >>> 2] as number;
    const isLoadToLds = isWrite && flight >>> 4 > (this.head[LDS_MARKS / 4 + (flight & 15)] as number);
    return { isWrite, isLoadToLds, isLate: !isWrite && this.lateReads.has(pc), wave, pc };
  }

  /** Several wavefronts use it. */
  get isShared(): boolean {
    return this.waves > 1;
  }

  /** Nothing is in flight that a wavefront could read too early. */
  isSettledFor({ flightsIssued, flightsDone }: FlyingWave): boolean {
    return this.head[LDS_UNSETTLED / 4] === 0 && this.lateFlights.size === 0 && flightsIssued === flightsDone;
  }

  /**
   * Whole aligned dwords at `offsets[first + lane] + delta` (wrapping at 32 bits) of the active lanes are accessed; false at the first
   * that asks for a closer look. The addresses go to `starts` if given; their number is `laneCount` then.
   */
  accessLanes(
    wave: number,
    pc: number,
    offsets: Int32Array,
    first: number,
    delta: number,
    span: number,
    isWrite: boolean,
    low: number,
    high: number,
    starts: Uint32Array | undefined,
  ): boolean {
    const { written, writer4, reader4, writerPc, readerPc } = this;
    const mine = tagsOf(wave);
    const isShared = this.waves > 1;
    const last = this.bytes - span;
    this.freshen();
    let least = this.low;
    let most = this.high;
    let count = 0;
    let isFine = true;
    for (let lane = 0; lane < 64 && isFine; lane++) {
      if ((((lane < 32 ? low : high) >>> (lane & 31)) & 1) === 0) continue;
      const address = ((offsets[first + lane] as number) + delta) >>> 0;
      if (address > last || (address & 3) !== 0) {
        isFine = false;
        break;
      }
      if (starts !== undefined) starts[count] = address;
      count++;
      if (address < least) least = address;
      if (address + span > most) most = address + span;
      for (let i = address >>> 2; i < (address + span) >>> 2; i++) {
        const at = i >>> 1;
        const bits = 15 << ((i & 1) << 2);
        const writer = writer4[i] as number;
        const reader = reader4[i] as number;
        if (isWrite) {
          if (isShared) {
            if ((writer !== 0 && writer !== mine) || (reader !== 0 && reader !== mine)) {
              isFine = false;
              break;
            }
            writer4[i] = mine;
            writerPc[i] = pc;
          }
          written[at] = (written[at] as number) | bits;
          continue;
        }
        if (((written[at] as number) & bits) !== bits || (writer !== 0 && writer !== mine)) {
          isFine = false;
          break;
        }
        if (!isShared || reader === mine) continue;
        // A dword of which parts have been read is looked at byte by byte.
        if (reader !== 0 && reader !== (reader & 0xff) * 0x01010101) {
          isFine = false;
          break;
        }
        reader4[i] = reader === 0 ? mine : MANY_TAGS;
        readerPc[i] = pc;
      }
    }
    this.low = least;
    this.high = most;
    this.laneCount = count;
    return isFine;
  }

  /** Bytes become written, with a defined value or not. */
  setWritten(address: number, bytes: number, isDefined: boolean): void {
    if (!isDefined) this.head[LDS_FULL / 4] = 0;
    for (let at = address; at < address + bytes; at++) {
      const bit = 1 << (at & 7);
      const old = this.written[at >>> 3] as number;
      this.written[at >>> 3] = isDefined ? old | bit : old & ~bit;
    }
  }

  isWritten(at: number): boolean {
    return (((this.written[at >>> 3] as number) >>> (at & 7)) & 1) !== 0;
  }

  /** The bytes of an operation are in flight until it is complete and a barrier has been passed after that. */
  setInFlight(operation: IssuedOperation): void {
    if (operation.lds === undefined || operation.ldsId !== 0) return;
    const id = this.freeIds.pop() ?? this.operations.length;
    if (id > 0xffff) return;
    this.inFlight ??= new Uint16Array(this.bytes);
    operation.ldsId = id;
    this.operations[id] = operation;
    this.countUnsettled();
    for (const piece of operation.lds) this.mark(piece, id);
  }

  private mark({ addresses, count, bytes }: LdsBytes, id: number): void {
    const table = this.inFlight as Uint16Array;
    for (let i = 0; i < count; i++) {
      const from = addresses[i] as number;
      table.fill(id, from, Math.min(this.bytes, from + bytes));
    }
  }

  /** A load into LDS by its number among those of its wavefront, from 1 on, is to write bytes. */
  setFlights(wave: number, number: number, written: readonly LdsBytes[]): void {
    const entry = ((number << 4) | wave) >>> 0;
    for (const { addresses, count, bytes } of written) {
      for (let i = 0; i < count; i++) {
        const from = addresses[i] as number;
        this.flightOf.fill(entry, from >>> 2, (from + bytes + 3) >>> 2);
      }
    }
  }

  /**
   * The load into LDS that may not have written these bytes yet as a wavefront sees it. `shadows`: of the workgroup's wavefronts.
   * `isFlight`: another such load asks; it comes behind those of its own wavefront.
   */
  flightFor(
    wave: number,
    address: number,
    bytes: number,
    shadows: readonly FlyingWave[],
    isFlight: boolean,
  ): PendingWrite | undefined {
    for (let dword = address >>> 2; dword < (address + bytes + 3) >>> 2; dword++) {
      const entry = this.flightOf[dword] as number;
      if (entry === 0) continue;
      const [of, number] = [entry & 15, entry >>> 4];
      const shadow = shadows[of] as FlyingWave;
      const isComplete = number <= shadow.flightsDone;
      if (of === wave) {
        if (!isComplete && !isFlight) return shadow.flight(number);
        continue;
      }
      if (number <= (this.head[LDS_MARKS / 4 + of] as number)) continue;
      const late = this.lateFlights.get(entry);
      if (late !== undefined) return { ...late, isComplete };
      return { kind: 'vm', pc: -1, wave: of, epoch: this.epoch, barrierAge: 0, isComplete };
    }
    return undefined;
  }

  /** Whether a wavefront has heard that the loads into LDS of others which write these bytes are complete (LdsOrder), where they were not at the last barrier. */
  areHeardOf(wave: number, address: number, bytes: number): boolean {
    for (let dword = address >>> 2; dword < (address + bytes + 3) >>> 2; dword++) {
      const entry = this.flightOf[dword] as number;
      const [of, number] = [entry & 15, entry >>> 4];
      if (of === wave || number <= (this.head[LDS_MARKS / 4 + of] as number)) continue;
      if (this.order?.hasHeardOfFlight(wave, of, number) !== true) return false;
    }
    return true;
  }

  /** A barrier is released: the loads into LDS that are outstanding are so for other wavefronts until the next one. */
  private meetFlights(all: readonly FlightsOf[]): void {
    if (all.length === 0 && this.lateFlights.size === 0) return;
    const late = new Map<number, Omit<PendingWrite, 'isComplete'>>();
    for (const { wave, done, outstanding } of all) {
      this.head[LDS_MARKS / 4 + wave] = done;
      outstanding.forEach(({ pc, behind }, n) => {
        const entry = (((done + 1 + n) << 4) | wave) >>> 0;
        const known = this.lateFlights.get(entry);
        late.set(entry, known ?? { kind: 'vm', pc, wave, epoch: this.epoch, barrierAge: behind });
      });
    }
    this.lateFlights = late;
    this.head[LDS_LATE / 4] = late.size > 0 ? 1 : 0;
  }

  /** An operation whose bytes are in the table is complete: its own wavefront may use them, others after the next barrier. */
  complete(operation: IssuedOperation): void {
    if (operation.ldsId !== 0) this.settled.push(operation);
    else if (operation.lds !== undefined) for (const { addresses } of operation.lds) this.recycle(addresses);
  }

  /** An array for 64 addresses. */
  takeArray(): Uint32Array {
    return this.arrays.pop() ?? new Uint32Array(64);
  }

  private recycle(addresses: Uint32Array): void {
    if (addresses.length === 64 && this.arrays.length < 64) this.arrays.push(addresses);
  }

  /** The operation that may not have written these bytes yet as this wavefront sees it. */
  pendingFor(wave: number, address: number, bytes: number): IssuedOperation | undefined {
    const table = this.inFlight;
    if (table === undefined || this.operations.length - this.freeIds.length <= 1) return undefined;
    for (let at = address; at < address + bytes; at++) {
      const id = table[at] as number;
      if (id === 0) continue;
      const operation = this.operations[id];
      if (operation === undefined) continue;
      // LDS executes what it is sent by one wavefront in order.
      const isPending = !operation.isComplete && operation.kind !== 'lds';
      if (operation.wave === wave ? isPending : operation.completeEpoch >= this.epoch) return operation;
    }
    return undefined;
  }

  /**
   * A barrier is released: accesses before it are ordered with those after it, but for what is still in flight: writes, and reads by
   * instruction. A read that has not come back may still be in a queue of its SIMD when another one's write is done: LDS has several request
   * queues, and operations of different wavefronts overtake each other. Source: LLVM's AMDGPUUsage, "Memory Model gfx6-gfx9".
   */
  barrier(outstanding: Iterable<IssuedOperation>, reads: readonly LateRead[], flights: readonly FlightsOf[]): void {
    this.order?.barrier(this.low, this.high);
    this.meetFlights(flights);
    for (const operation of outstanding) this.setInFlight(operation);
    if (reads.length > 0 && this.waves > 1) this.keepReads(reads);
    else if (this.high > this.low) this.head[LDS_STALE / 4] = 1;
    if (reads.length > 0 || this.lateReads.size > 0) this.lateReads = new Set(reads.map(({ pc }) => pc));
    this.epoch++;
    for (const operation of this.settled) {
      const table = this.inFlight as Uint16Array;
      for (const { addresses, count, bytes } of operation.lds ?? []) {
        for (let i = 0; i < count; i++) {
          const from = addresses[i] as number;
          for (let at = from; at < from + bytes; at++) if (table[at] === operation.ldsId) table[at] = 0;
        }
      }
      this.operations[operation.ldsId] = undefined;
      this.freeIds.push(operation.ldsId);
      operation.ldsId = 0;
    }
    if (this.settled.length > 0) this.settled = [];
    this.countUnsettled();
  }
}
