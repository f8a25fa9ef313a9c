// What an allocation is to the device: a range of addresses, and where its bytes are.
import type { FaultingAccess } from '../../fault.ts';
import { WINDOW_BYTES } from './layout.ts';

/** What another thread needs to know of an allocation. */
export interface RegionRecord {
  readonly base: number;
  readonly size: number;
  readonly label: string;
  readonly offset: number;
  readonly readOnlyRanges: readonly (readonly [number, number])[];
}

/** A live allocation, or the part of one beyond the window that a frame shows. */
export class Region implements RegionRecord {
  readonly base: number;
  readonly size: number;
  readonly label: string;
  /** Where its bytes are: in wasm memory or, from WINDOW_BYTES on, in the file behind it (frames.ts). */
  readonly offset: number;
  /** Byte ranges that kernels cannot store to: code. */
  readonly readOnlyRanges: readonly (readonly [number, number])[];
  /** Empty beyond the window. */
  readonly view: DataView;
  private readonly held: Uint8Array | undefined;

  constructor(buffer: ArrayBufferLike, record: RegionRecord) {
    this.base = record.base;
    this.size = record.size;
    this.label = record.label;
    this.offset = record.offset;
    this.readOnlyRanges = record.readOnlyRanges;
    const { isBeyond, offset, size } = this;
    this.held = isBeyond ? undefined : new Uint8Array(buffer, offset, size);
    this.view = isBeyond ? new DataView(buffer, 0, 0) : new DataView(buffer, offset, size);
  }

  /** Beyond the window only frames show its bytes, part by part: `DeviceMemory.access`. */
  get isBeyond(): boolean {
    return this.offset >= WINDOW_BYTES;
  }

  get bytes(): Uint8Array {
    if (this.held === undefined) throw new Error(`'${this.label}' is beyond the window and has no bytes in one piece`);
    return this.held;
  }

  /** Whether a store at an address would change read-only bytes. */
  isReadOnly(address: number, size: number): boolean {
    const at = address - this.base;
    return this.readOnlyRanges.some(([from, to]) => at < to && at + size > from);
  }
}

/** A freed allocation. */
export interface FreedRegion {
  readonly base: number;
  readonly size: number;
  readonly label: string;
}

/** Thrown by an access outside live memory; the interpreter adds kernel, pc and lane. */
export class MemoryFault extends Error {
  readonly access: FaultingAccess;

  constructor(space: FaultingAccess['space'], address: number, size: number, isWrite: boolean, target = '') {
    const what = { global: '', lds: 'LDS ', scratch: 'scratch ' }[space] + (isWrite ? 'store' : 'load') + target;
    super(`${what} of ${size} bytes at 0x${address.toString(16)}`);
    this.access = { space, address, size, isWrite };
  }
}
