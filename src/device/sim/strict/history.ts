// Which bytes of the buffers host and kernels have written before a strict dispatch. Kept always, so it is a few ranges per buffer;
// strict dispatches turn them into one bit per byte. Allocations that are not buffers (code, arguments) count as written.

const MAX_RANGES = 256;

/** The written bytes of one allocation: ranges, and bits once a strict dispatch has asked for them. */
class WrittenBytes {
  readonly size: number;
  isAll = false;
  /** Starts and ends. */
  private ranges: number[] = [];
  private bits: Uint8Array | undefined;

  constructor(size: number) {
    this.size = size;
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
    this.bits = undefined;
  }

  /** One bit per byte, undefined when all are written. */
  asBits(): Uint8Array | undefined {
    if (this.isAll || this.bits !== undefined) return this.bits;
    this.bits = new Uint8Array((this.size + 7) >>> 3);
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
  private readonly written = new Map<number, WrittenBytes>();

  /** A buffer has been allocated: nothing has written it, although it reads as zeros. */
  alloc({ base, size }: Allocation): void {
    this.written.set(base, new WrittenBytes(size));
  }

  free(base: number): void {
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
    return this.written.get(base)?.asBits();
  }
}
