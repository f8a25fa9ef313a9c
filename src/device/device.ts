// What a GPU is to the rest of the project: memory, modules, dispatches. `sim` is built in; a real GPU implements the same interface.
// Words follow the HSA runtime specification (dispatch packet, kernarg segment, group and private segment).
// What only one kind of device knows is in that device's own types (`sim/options.ts`); nothing here imports a device.
import type { TargetName } from '../isa/types.ts';

/** A GPU virtual address. Addresses have at most 49 significant bits, so a number holds them exactly. */
export type DeviceAddress = number;

/** A live allocation of device memory. */
export interface DeviceBuffer {
  readonly address: DeviceAddress;
  readonly size: number;
  /** Shown in memory faults and reports. */
  readonly label: string;
}

/** One explicit argument of a kernel as its metadata declares it (hidden arguments are filled by the device). */
export interface KernelArgument {
  readonly name: string | undefined;
  readonly offset: number;
  readonly size: number;
  /** Metadata `.value_kind`: `global_buffer`, `by_value`, `dynamic_shared_pointer`, `hidden_block_count_x`, … */
  readonly valueKind: string;
}

/** A kernel of a loaded module. */
export interface DeviceKernel {
  readonly name: string;
  /** All arguments of the metadata, hidden ones included, in offset order. */
  readonly arguments: readonly KernelArgument[];
  readonly kernargSize: number;
  /** Static LDS in bytes. */
  readonly ldsSize: number;
  /** Scratch bytes per work-item. */
  readonly scratchSize: number;
  readonly maxWorkgroupSize: number | undefined;
  /** `.reqd_workgroup_size` of the metadata. */
  readonly requiredWorkgroupSize: readonly [number, number, number] | undefined;
}

/** A global variable of a loaded code object. */
export interface DeviceVariable {
  readonly name: string;
  readonly address: DeviceAddress;
  readonly size: number;
}

/** A loaded code object. */
export interface DeviceModule {
  readonly target: TargetName;
  /** Where the code object's virtual address 0 is, and the bytes of its image from there. */
  readonly address: DeviceAddress;
  readonly size: number;
  /** Global variables of the code object, in the order of its symbols. */
  readonly variables: readonly DeviceVariable[];
  readonly kernels: readonly DeviceKernel[];
  /** The kernel called `name`; a missing one is `device/no-such-kernel` naming those that exist. */
  kernel(name: string): DeviceKernel;
  /** Dispatches that were asked for before run to their end; later ones are `device/not-loaded`. */
  unload(): void;
}

/**
 * A value for one explicit kernel argument: a buffer, the bytes of a by-value argument, or a whole number for an integer of 1, 2, 4 or 8
 * bytes. Code objects do not say which arguments are floats: those are given as bytes (`scalar('f32', 0.5)`).
 */
export type ArgumentValue = DeviceBuffer | Uint8Array | number | bigint;

export type Dim3 = readonly [number, number, number];

/** Addresses of what is in device memory for a dispatch already. */
export interface DispatchSegment {
  /** The whole kernarg segment, hidden arguments included. */
  readonly kernarg: DeviceAddress;
  /** AQL kernel dispatch packet; without it the device makes one. */
  readonly packet?: DeviceAddress | undefined;
  /** amd_queue_t; without it the device's own. */
  readonly queue?: DeviceAddress | undefined;
}

/** One dispatch of a kernel. Devices add fields of their own. */
export interface DispatchRequest {
  readonly kernel: DeviceKernel;
  /** Grid in WORKGROUPS per dimension. */
  readonly grid: Dim3;
  /** Work-items per workgroup. */
  readonly block: Dim3;
  /** Work-items in the grid when it is not a multiple of `block` (partial last workgroups); default grid × block. */
  readonly gridWorkItems?: Dim3 | undefined;
  /** The explicit arguments in order. Exactly one of `args`, `kernargs` and `segment` is given. */
  readonly args?: readonly ArgumentValue[] | undefined;
  /** The explicit part of the kernarg segment as bytes; hidden arguments after it are still filled by the device. */
  readonly kernargs?: Uint8Array | undefined;
  /** What somebody has put into device memory: nothing is filled in. */
  readonly segment?: DispatchSegment | undefined;
  /** LDS bytes beyond the kernel's static size. */
  readonly dynamicLds?: number | undefined;
  /** Scratch bytes per work-item, when that is more than the kernel's own size. */
  readonly scratch?: number | undefined;
  /**
   * Ends a kernel that executes more wave instructions than this with a fault of the kind `budget` (default: the device's own limit).
   * A device that cannot count instructions limits the time instead.
   */
  readonly maxInstructions?: number | undefined;
  /** Told finished and all workgroups: at the start, now and then, and at the end. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the dispatch early. */
  readonly signal?: AbortSignal | undefined;
}

/** What every device can say about a dispatch that completed. */
export interface DispatchResult {
  readonly wavefronts: number;
  readonly workgroups: number;
  /** Time by the clock of the device; undefined on a device that has none. */
  readonly nanoseconds?: number | undefined;
  /** Instructions executed, counted once per wavefront; undefined on a device that does not count them. */
  readonly instructions?: number | undefined;
  /** Executed instructions by encoding family (`VOP3`, `MFMA`, `SMEM`, …), once per wavefront. */
  readonly instructionsByEncoding?: Readonly<Record<string, number>> | undefined;
}

/**
 * A device. Every failure is a WavesmithError; what a kernel does wrong is a DeviceFault, after which the device is usable as before.
 * Dispatches of one device run one after the other, in the order in which they were asked for. The contract that every device is tested
 * against is in tests/support/device-contract.
 */
export interface Device {
  /** `sim`, `rocm`. */
  readonly kind: string;
  readonly target: TargetName;
  /** Allocates zeroed memory (at least 256-byte aligned). */
  alloc(size: number, label?: string): DeviceBuffer;
  /** Allocates zeroed memory at exactly this address; one that cannot be had is `device/address-taken`. Nothing is ever moved. */
  allocAt(address: DeviceAddress, size: number, label?: string): DeviceBuffer;
  /** Makes live memory visible at a second address, until `free`; an address that cannot be had is `device/address-taken`. */
  map(address: DeviceAddress, size: number, source: DeviceAddress): DeviceBuffer;
  /** Where its own allocations come from, start and end: what is to be at an address there must be placed before anything else. */
  readonly heapRange: readonly [DeviceAddress, DeviceAddress];
  free(buffer: DeviceBuffer): void;
  /** Copies host bytes into device memory at `buffer.address + offset`. */
  write(buffer: DeviceBuffer, bytes: Uint8Array, offset?: number): void;
  /** Copies device memory to a new host array, or to `into`, which has `size` bytes. */
  read(buffer: DeviceBuffer, offset?: number, size?: number, into?: Uint8Array): Uint8Array;
  copy(destination: DeviceBuffer, source: DeviceBuffer, size?: number): void;
  /** Whether code, packet and queue of a dispatch can be at chosen addresses. A hardware queue and its runtime have their own. */
  readonly placesDispatch: boolean;
  /** Loads a code object (an ELF of the device's target), at exactly `address` when that is given. */
  load(codeObject: Uint8Array, address?: DeviceAddress): DeviceModule;
  dispatch(request: DispatchRequest): Promise<DispatchResult>;
  /** Ends what runs. Everything asked for afterwards is `device/closed`. */
  close(): void;
}
