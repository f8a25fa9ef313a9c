// What the device process needs of a device beyond src/device: memory at chosen addresses in one shared buffer, loading by symbol, dispatch
// of raw AQL packets.
import type { CopyKind, PacketTimes } from './packet-times.ts';
import type { LoadedSymbol } from './protocol.ts';

/** A loaded code object. */
export interface RuntimeModule {
  readonly address: number;
  readonly size: number;
  readonly symbols: readonly LoadedSymbol[];
  unload(): void;
}

/** The fields of an AQL kernel dispatch packet. Source: HSA Runtime Specification 1.2, section 2.9.6. */
export interface DispatchPacket {
  /** Address of the packet, for the dispatch pointer of kernels. */
  readonly address: number;
  readonly workgroupSize: readonly [number, number, number];
  /** Work-items. */
  readonly gridSize: readonly [number, number, number];
  readonly privateSegmentSize: number;
  readonly groupSegmentSize: number;
  /** Address of the kernel descriptor. */
  readonly kernelObject: number;
  readonly kernargAddress: number;
  /** Address of its queue's ring. */
  readonly queue: number;
  /** Starts only when all packets before it in its queue have completed. */
  readonly barrier: boolean;
  /** Address of its completion signal; 0 for none. */
  readonly completion: number;
}

/** A completed packet that ran nothing: barrier-AND, barrier-OR, AMD barrier-value. */
export interface BarrierPacket {
  readonly queue: number;
  readonly barrier: boolean;
  readonly completion: number;
  /** Addresses of the signals it waited for. */
  readonly dependencies: readonly number[];
}

/** A copy or fill that a program's library has made at this place of the queue. */
export interface CopyPacket {
  readonly kind: CopyKind;
  readonly to: number;
  readonly from: number;
  readonly bytes: number;
}

export interface RuntimeDevice {
  readonly target: string;
  /** Whether dispatches of different queues may run at the same time; otherwise the next begins when the last has ended. */
  readonly isConcurrent?: boolean;
  /** Whether packets of different queues run in the order in which their program sent them (submit-order.ts). */
  readonly keepsOrder?: boolean;
  /** The buffer behind all GPU memory. It does not move. */
  readonly buffer: SharedArrayBuffer;
  /** GPU address of byte 0 of the buffer. */
  readonly windowAddress: number;
  /** Puts the buffer at another GPU address, if nothing has one yet. The first program has room for it there. */
  placeWindow?(address: number): void;
  /**
   * Allocates memory; `address` 0 lets the device choose, `use` is a MemoryUse. It is zeroed, except that a device may fill device memory of a
   * program; that alone and host memory of one may lie behind the buffer's end.
   */
  allocate(size: number, alignment: number, address: number, use: number): number;
  free(address: number): void;
  /** Byte offset in the file behind the buffer of live memory holding all `size` bytes at an address, or undefined. */
  offsetOf(address: number, size: number): number | undefined;
  /** Whether an allocation of at least `size` bytes begins at an address. */
  beginsAt(address: number, size: number): boolean;
  /** Makes an allocation (or a part of it) visible a second time at another address. */
  map(address: number, size: number, source: number, writable: boolean): void;
  unmap(address: number): void;
  /** Whether kernels may have their instructions in a range of addresses that no code object was loaded to; at first none may. */
  allowExecution?(address: number, size: number, isAllowed: boolean): void;
  load(codeObject: Uint8Array): RuntimeModule;
  /**
   * Runs a dispatch to its end. Faults reject with a WavesmithError. `onWaiting` hears, now and then, that it can only go on when another kernel or
   * the program has done something.
   */
  /** Gives when it ran, when that is not what the host's clock says. */
  dispatch(packet: DispatchPacket, signal: AbortSignal, onWaiting?: () => void): Promise<PacketTimes | undefined>;
  /** Told every other packet that completed. */
  barrier?(packet: BarrierPacket): PacketTimes | undefined;
  /** A program has copied or filled memory; only devices with a clock of their own hear of it. */
  copied?(packet: CopyPacket): PacketTimes | undefined;
}
