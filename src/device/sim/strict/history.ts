// Which bytes of the buffers host and kernels have written before a strict dispatch. Kept always, so it is a few ranges per buffer;
// strict dispatches turn them into one bit per byte. Allocations that are not buffers (code, arguments) count as written.
import type { DeviceMemory } from '../state/memory.ts';

const MAX_RANGES = 256;

/** Where bits are kept: compiled code sets and reads them. */
type BitStorage = Pick<DeviceMemory, 'tryReserve' | 'holds' | 'release'>;

/** The written bytes of one allocation: ranges, and bits once a strict dispatch has asked for them. */
class WrittenBytes {
  readonly size: number;
  isAll = false;
  /** Starts and ends. */
  private ranges: number[] = [];
  private bits: Uint8Array | undefined;
  private readonly drop: (bits: Uint8Array) => void;

  /** `drop` takes bits that are no longer needed. */
  constructor(size: number, drop: (bits: Uint8Array) => void) {
    this.size = size;
    this.drop = drop;
  }

  add(from: number, to: number): void {
    if (this.isAll || to <= from) return;
    if (from === 0 && to === this.size) {
      this.setAll();
    } else if (this.bits !== undefined) setBits(this.bits, from, to);
    else if (this.ranges[this.ranges.length - 1] === from) this.ranges[this.ranges.length - 1] = to;
    else if (this.ranges.length >= 2 * MAX_RANGES) this.setAll();
    else this.ranges.push(from, to);
  }

  setAll(): void {
    this.isAll = true;
    this.ranges = [];
    if (this.bits !== undefined) this.drop(this.bits);
    this.bits = undefined;
  }

  /** One bit per byte, undefined when all are written. */
  asBits(storage: BitStorage): Uint8Array | undefined {
    if (this.isAll || this.bits !== undefined) return this.bits;
    const bytes = Math.ceil(this.size / 8);
    this.bits = storage.tryReserve(bytes) ?? new Uint8Array(bytes);
    for (let i = 0; i < this.ranges.length; i += 2) {
      setBits(this.bits, this.ranges[i] as number, this.ranges[i + 1] as number);
    }
    this.ranges = [];
    return this.bits;
  }
}

/** Sets the bits of bytes `from` up to `to`. */
export function setBits(bits: Uint8Array, from: number, to: number): void {
  let at = from;
  while (at < to && (at & 7) !== 0) {
    bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
    at++;
  }
  const whole = Math.floor(to / 8) * 8;
  if (whole > at) {
    bits.fill(255, at / 8, whole / 8);
    at = whole;
  }
  for (; at < to; at++) bits[Math.floor(at / 8)] = (bits[Math.floor(at / 8)] as number) | (1 << (at & 7));
}

interface Allocation {
  readonly base: number;
  readonly size: number;
}

export class MemoryHistory {
  private readonly storage: BitStorage;
  private readonly written = new Map<number, WrittenBytes>();
  /** Strict dispatches that run, and bits that are given back when the last of them has ended. */
  private held = 0;
  private dropped: Uint8Array[] = [];

  constructor(storage: BitStorage) {
    this.storage = storage;
  }

  private readonly drop = (bits: Uint8Array): void => {
    if (!this.storage.holds(bits)) return;
    if (this.held > 0) this.dropped.push(bits);
    else this.storage.release(bits);
  };

  /** A strict dispatch begins: the bits stay where they are until it ends. */
  hold(): void {
    this.held++;
  }

  /** A strict dispatch has ended. */
  letGo(): void {
    if (--this.held > 0) return;
    for (const bits of this.dropped) this.storage.release(bits);
    this.dropped = [];
  }

  /** Strict dispatches that run now. */
  get dispatches(): number {
    return this.held;
  }

  /** A buffer has been allocated: nothing has written it, although it reads as zeros. */
  alloc({ base, size }: Allocation): void {
    this.written.set(base, new WrittenBytes(size, this.drop));
  }

  free(base: number): void {
    this.written.get(base)?.setAll();
    this.written.delete(base);
  }

  /** The host has written bytes of a buffer. */
  write(base: number, offset: number, size: number): void {
    this.written.get(base)?.add(offset, offset + size);
  }

  /** A dispatch that is not watched may have written any byte of any buffer. */
  unwatched(): void {
    for (const bytes of this.written.values()) bytes.setAll();
  }

  /** Bits of the written bytes, undefined when all are; strict mode sets further ones in place. */
  bits(base: number): Uint8Array | undefined {
    return this.written.get(base)?.asBits(this.storage);
  }
}
