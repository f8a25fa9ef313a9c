// What the native addon does for this device (native/addon/rocm.cc). Addresses and sizes are numbers below 2^53. A function that fails throws an
// Error whose `code` is `ROCM_FAILED`, `ROCM_OUT_OF_MEMORY`, `ROCM_NO_LIBRARY`, `ROCM_NO_GPU` or `ROCM_ADDRESS_TAKEN`.

/** A GPU as the runtime describes it. */
export interface RocmAgent {
  readonly product: string;
  /** `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-` */
  readonly isa: string;
  readonly computeUnits: number;
  /** GPUs of this machine. */
  readonly gpus: number;
  /** Number of this one. */
  readonly agent: number;
  /** 1 when addresses can be chosen. */
  readonly hasVirtualMemory: number;
  /** 1 when code can be placed at a chosen address: shared virtual memory, which needs Linux's HMM. */
  readonly hasSharedMemory: number;
}

/** How a dispatch ended. */
export interface RocmOutcome {
  readonly outcome: 'done' | 'fault' | 'timeout' | 'aborted';
  /** By the GPU's clock; 0 when the runtime does not say. */
  readonly nanoseconds: number;
  /** hsa_status_t that stopped the queue, and its text. */
  readonly status: number;
  readonly statusText: string;
  /** 1 with the page of a memory fault in `address`. */
  readonly isMemoryFault: number;
  readonly address: number;
}

export interface RocmAddon {
  /**
   * Opens the HSA library; the first call starts the runtime, which runs as long as the process. `ranges` (starts and sizes) are kept free while
   * it starts.
   */
  rocmOpen(library: string, gpu: number, ranges: BigUint64Array): RocmAgent;
  rocmAllocate(gpu: number, size: number, isKernarg: number): number;
  rocmFree(address: number): void;
  /** False when the address cannot be had. Whole pages. */
  rocmReserve(gpu: number, address: number, size: number): boolean;
  /** Memory of `rocmReserve` at a second address. */
  rocmMap(gpu: number, address: number, size: number, reserved: number, offset: number): boolean;
  rocmUnreserve(address: number, size: number): void;
  rocmRead(address: number, bytes: Uint8Array): void;
  rocmWrite(address: number, bytes: Uint8Array): void;
  rocmCopy(to: number, from: number, size: number): void;
  /** Zeros; the size is a multiple of 4. */
  rocmClear(address: number, size: number): void;
  /**
   * The image of a code object at exactly this address, executable in the ranges (starts and sizes); false when the address cannot be had. Whole
   * pages. A code object is to be loaded afterwards, which invalidates instruction caches.
   */
  rocmPlaceCode(gpu: number, address: number, image: Uint8Array, ranges: BigUint64Array): boolean;
  rocmRemoveCode(gpu: number, address: number, size: number): void;
  rocmLoad(gpu: number, codeObject: Uint8Array): { readonly handle: number; readonly delta: number };
  rocmUnload(handle: number): void;
  rocmQueue(gpu: number): { readonly handle: number; readonly address: number };
  /** Ends what runs in it. */
  rocmEndQueue(queue: number): void;
  rocmAbort(queue: number): void;
  rocmDispatch(gpu: number, queue: number, packet: Uint8Array, milliseconds: number): Promise<RocmOutcome>;
}
