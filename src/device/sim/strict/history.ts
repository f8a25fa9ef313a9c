// What has happened to device memory before a strict dispatch: bytes that host or kernels have written, allocations that were freed.
// Kept always, so it is a few ranges per allocation; strict dispatches turn them into one bit per byte.

/** An allocation that no longer exists. */
export interface FreedAllocation {
  readonly base: number;
  readonly size: number;
  readonly label: string;
}

const MAX_RANGES = 256;
const MAX_FREED = 1024;

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
  readonly label: string;
}

export class MemoryHistory {
  private readonly written = new Map<number, WrittenBytes>();
  private readonly freedList: FreedAllocation[] = [];

  private of(region: Allocation): WrittenBytes {
    let bytes = this.written.get(region.base);
    if (bytes === undefined || bytes.size !== region.size) {
      bytes = new WrittenBytes(region.size);
      this.written.set(region.base, bytes);
    }
    return bytes;
  }

  /** The host, or something that is not watched, has written bytes of an allocation. */
  write(region: Allocation, offset: number, size: number): void {
    this.of(region).add(offset, offset + size);
  }

  /** A dispatch that is not watched may have written any byte of the allocations. */
  unwatched(regions: Iterable<Allocation>): void {
    for (const region of regions) this.of(region).setAll();
  }

  free(region: Allocation): void {
    this.written.delete(region.base);
    this.freedList.push({ base: region.base, size: region.size, label: region.label });
    if (this.freedList.length > MAX_FREED) this.freedList.shift();
  }

  /** Bits of the written bytes, undefined when all are; strict mode sets further ones in place. */
  bits(region: Allocation): Uint8Array | undefined {
    return this.of(region).asBits();
  }

  /** The allocation that these bytes belonged to, the last one freed first. */
  freed(address: number, bytes: number): FreedAllocation | undefined {
    for (let i = this.freedList.length - 1; i >= 0; i--) {
      const one = this.freedList[i] as FreedAllocation;
      if (address < one.base + one.size && one.base < address + bytes) return one;
    }
    return undefined;
  }
}
