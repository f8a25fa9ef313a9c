// Shadow of a workgroup's LDS: which bytes have been written, which wavefronts touched them since the last barrier, and which are
// written by operations that no wait has proved complete. Source: CDNA3 ISA manual, "Data Share", "Data Dependency Resolution".
import type { IssuedOperation, LdsBytes } from './waits.ts';

/** Tags of bytes: wavefront + 1, with this bit for an atomic; MANY for several wavefronts. */
const ATOMIC = 0x80;
const MANY = 0x7f;

/** What an access of some bytes collides with. */
export interface LdsConflict {
  /** The other access writes. */
  readonly isWrite: boolean;
  /** The other access is a load into LDS. */
  readonly isLoadToLds: boolean;
  /** Wavefront of the other access, -1 when there were several. */
  readonly wave: number;
  /** Address of the other access's instruction, -1 when not known. */
  readonly pc: number;
}

export class LdsShadow {
  /** One bit per byte: written with a defined value. */
  readonly written: Uint8Array;
  /** Barriers passed. */
  epoch = 0;
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
  /** Lanes of the last `accessLanes`. */
  laneCount = 0;
  private low = Number.POSITIVE_INFINITY;
  private high = 0;
  /** Id of the operation in flight that writes each byte; made when the first one appears. */
  private inFlight: Uint16Array | undefined;
  private readonly operations: (IssuedOperation | undefined)[] = [undefined];
  private readonly freeIds: number[] = [];
  private settled: IssuedOperation[] = [];
  private readonly arrays: Uint32Array[] = [];

  constructor(bytes: number, waves: number) {
    this.bytes = bytes;
    this.waves = waves;
    this.written = new Uint8Array((bytes + 7) >>> 3);
    const dwords = (bytes + 3) >>> 2;
    this.writer4 = new Uint32Array(dwords);
    this.reader4 = new Uint32Array(dwords);
    this.writer = new Uint8Array(this.writer4.buffer);
    this.reader = new Uint8Array(this.reader4.buffer);
    this.writerPc = new Int32Array((bytes + 3) >>> 2);
    this.readerPc = new Int32Array((bytes + 3) >>> 2);
  }

  private touch(address: number, bytes: number): void {
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

  /** A wavefront writes bytes: the access of another one in the same barrier interval, or undefined. */
  write(wave: number, address: number, bytes: number, pc: number, isAtomic: boolean): LdsConflict | undefined {
    if (this.waves < 2) return undefined;
    let conflict: LdsConflict | undefined;
    const mine = wave + 1;
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
      this.writer[at] = (other && isAtomic ? MANY : mine) | (isAtomic ? ATOMIC : 0);
    }
    this.writerPc[address >>> 2] = pc;
    return conflict;
  }

  private conflict(tag: number, pc: number, isWrite: boolean, address: number): LdsConflict {
    const wave = (tag & MANY) === MANY ? -1 : (tag & MANY) - 1;
    const id = this.inFlight?.[address] ?? 0;
    const isLoadToLds = isWrite && this.operations[id]?.plan.access?.toLds === true;
    return { isWrite, isLoadToLds, wave, pc };
  }

  /** Several wavefronts use it. */
  get isShared(): boolean {
    return this.waves > 1;
  }

  /** Nothing is in flight that someone could read too early. */
  get isSettled(): boolean {
    return this.inFlight === undefined || this.operations.length - this.freeIds.length <= 1;
  }

  /** Whole aligned dwords are read: false at the first that has not been written or that another wavefront has touched so. */
  readDwords(wave: number, address: number, bytes: number, pc: number): boolean {
    const { written, writer4, reader4, readerPc } = this;
    const mine = (wave + 1) * 0x01010101;
    const isShared = this.waves > 1;
    for (let at = address; at < address + bytes; at += 4) {
      if ((((written[at >>> 3] as number) >>> (at & 4)) & 15) === 0) return false;
      if (!isShared) continue;
      const i = at >>> 2;
      const writer = writer4[i] as number;
      if (writer !== 0 && writer !== mine) return false;
      const reader = reader4[i] as number;
      if (reader === mine) continue;
      // A dword of which parts have been read is looked at byte by byte.
      if (reader !== (reader & 0xff) * 0x01010101) return false;
      reader4[i] = reader === 0 ? mine : MANY * 0x01010101;
      readerPc[i] = pc;
    }
    return true;
  }

  /** Whole aligned dwords are written: false at the first that another wavefront has touched. */
  writeDwords(wave: number, address: number, bytes: number, pc: number): boolean {
    const { written, writer4, reader4, writerPc } = this;
    const mine = (wave + 1) * 0x01010101;
    const isShared = this.waves > 1;
    for (let at = address; at < address + bytes; at += 4) {
      const i = at >>> 2;
      if (isShared) {
        const writer = writer4[i] as number;
        const reader = reader4[i] as number;
        if ((writer !== 0 && writer !== mine) || (reader !== 0 && reader !== mine)) return false;
        writer4[i] = mine;
        writerPc[i] = pc;
      }
      written[at >>> 3] = (written[at >>> 3] as number) | (15 << (at & 4));
    }
    return true;
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
    const mine = (wave + 1) * 0x01010101;
    const isShared = this.waves > 1;
    const last = this.bytes - span;
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
        if (((written[at] as number) & bits) === 0 || (writer !== 0 && writer !== mine)) {
          isFine = false;
          break;
        }
        if (!isShared || reader === mine) continue;
        // A dword of which parts have been read is looked at byte by byte.
        if (reader !== 0 && reader !== (reader & 0xff) * 0x01010101) {
          isFine = false;
          break;
        }
        reader4[i] = reader === 0 ? mine : MANY * 0x01010101;
        readerPc[i] = pc;
      }
    }
    this.low = least;
    this.high = most;
    this.laneCount = count;
    return isFine;
  }

  /** Accesses between these addresses have been made with `readDwords` and `writeDwords`. */
  touchRange(low: number, high: number): void {
    this.touch(low, high - low);
  }

  /** Bytes become written, with a defined value or not. */
  setWritten(address: number, bytes: number, isDefined: boolean): void {
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
    for (const piece of operation.lds) this.mark(piece, id);
  }

  private mark({ addresses, count, bytes }: LdsBytes, id: number): void {
    const table = this.inFlight as Uint16Array;
    for (let i = 0; i < count; i++) {
      const from = addresses[i] as number;
      table.fill(id, from, Math.min(this.bytes, from + bytes));
    }
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
      if (operation.wave === wave ? !operation.isComplete : operation.completeEpoch >= this.epoch) return operation;
    }
    return undefined;
  }

  /** A barrier is released: accesses before it are ordered with those after it, but for what is still in flight. */
  barrier(outstanding: Iterable<IssuedOperation>): void {
    for (const operation of outstanding) this.setInFlight(operation);
    if (this.high > this.low) {
      this.writer.fill(0, this.low, this.high);
      this.reader.fill(0, this.low, this.high);
      this.low = Number.POSITIVE_INFINITY;
      this.high = 0;
    }
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
    this.settled = [];
  }
}
