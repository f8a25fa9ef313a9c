// Global memory of the virtual GPU: allocations at fake 48-bit addresses, each with its own bytes. Every access is checked.
import { WavesmithError } from '../../base/index.ts';

/** Where allocations start, and the unmapped space kept between them. */
const FIRST_ADDRESS = 0x7f0000000000;
const GUARD = 0x10000;
const ALIGNMENT = 0x1000;
/** What one host ArrayBuffer can hold. */
const LARGEST = 2 ** 33;

/** A live allocation. */
export interface Region {
  readonly base: number;
  readonly size: number;
  readonly label: string;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Code and descriptors are not writable by kernels. */
  readonly readOnly: boolean;
}

/** Thrown by an access outside live memory; the interpreter adds kernel, pc and lane. */
export class MemoryFault extends Error {
  readonly address: number;
  readonly size: number;
  readonly what: string;

  constructor(address: number, size: number, what: string) {
    super(`${what} of ${size} bytes at 0x${address.toString(16)}`);
    this.address = address;
    this.size = size;
    this.what = what;
  }
}

export class DeviceMemory {
  private regions: Region[] = [];
  private last: Region | undefined;
  private next = FIRST_ADDRESS;

  /** Allocates zeroed memory; a size the host cannot give is `device/out-of-memory`. */
  alloc(size: number, label: string, readOnly = false): Region {
    if (!Number.isInteger(size) || size < 0) {
      throw new WavesmithError('device/bad-size', `An allocation of ${size} bytes is not possible.`);
    }
    let buffer: ArrayBuffer;
    try {
      if (size > LARGEST) throw new RangeError('larger than one host buffer');
      buffer = new ArrayBuffer(size);
    } catch (cause) {
      throw new WavesmithError('device/out-of-memory', `The host cannot provide ${size} bytes for '${label}'.`, {
        hint: 'Use a smaller buffer or shape.',
        cause,
      });
    }
    const base = this.next;
    this.next = Math.ceil((base + size + GUARD) / ALIGNMENT) * ALIGNMENT;
    const region = { base, size, label, bytes: new Uint8Array(buffer), view: new DataView(buffer), readOnly };
    this.regions.push(region);
    return region;
  }

  free(base: number): boolean {
    const at = this.regions.findIndex((r) => r.base === base);
    if (at < 0) return false;
    this.regions.splice(at, 1);
    this.last = undefined;
    return true;
  }

  /** The allocation holding all `size` bytes at `address`, or undefined. */
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

  /** The allocation to read or write, or a fault. */
  access(address: number, size: number, write: boolean): Region {
    const region = this.find(address, size);
    if (region === undefined) throw new MemoryFault(address, size, write ? 'store' : 'load');
    if (write && region.readOnly) throw new MemoryFault(address, size, 'store to read-only memory');
    return region;
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
}
