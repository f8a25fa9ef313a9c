// Instructions that a program has put into memory of its own and made executable (hsa_amd_svm_attributes_set with HSA_AMD_SVM_ATTRIB_GPU_EXEC):
// no loader told of them, so a kernel is what its descriptor in memory says.
import { KERNEL_DESCRIPTOR_SIZE } from '../codeobject/index.ts';
import { type SimKernel, SimModule } from '../device/sim/module.ts';
import type { SimDevice } from '../device/sim/sim-device.ts';

type Range = readonly [from: number, to: number];

interface KnownKernel {
  readonly kernel: SimKernel;
  /** Descriptor and instructions as they were decoded. */
  readonly descriptor: Uint8Array;
  readonly code: Uint8Array;
}

const CODE_ENTRY_OFFSET = 16;

export class CodeInMemory {
  private ranges: Range[] = [];
  private readonly kernels = new Map<number, KnownKernel>();

  /** Allows or forbids that the device executes what lies in a range of addresses. */
  allow(address: number, size: number, isAllowed: boolean): void {
    const end = address + size;
    this.ranges = this.ranges.flatMap(([from, to]): Range[] =>
      to <= address || from >= end
        ? [[from, to]]
        : [...(from < address ? [[from, address] as const] : []), ...(to > end ? [[end, to] as const] : [])],
    );
    if (isAllowed) this.ranges.push([address, end]);
  }

  /** The kernel whose descriptor is at an address; undefined when there is no memory, or its code is not executable. */
  kernelAt({ memory, target }: SimDevice, address: number): SimKernel | undefined {
    const holder = memory.find(address, KERNEL_DESCRIPTOR_SIZE);
    if (holder === undefined || holder.isBeyond) return undefined;
    const descriptor = holder.bytes.subarray(address - holder.base, address - holder.base + KERNEL_DESCRIPTOR_SIZE);
    const entry = address + Number(holder.view.getBigInt64(address - holder.base + CODE_ENTRY_OFFSET, true));
    const range = this.ranges.find(([from, to]) => entry >= from && entry < to);
    const region = range === undefined ? undefined : memory.find(range[0], range[1] - range[0]);
    if (range === undefined || region === undefined || region.isBeyond) return undefined;
    const code = region.bytes.subarray(range[0] - region.base, range[1] - region.base);
    const known = this.kernels.get(address);
    const isSame =
      known?.kernel.module.loaded.region === region &&
      Buffer.compare(known.descriptor, descriptor) === 0 &&
      Buffer.compare(known.code, code) === 0;
    if (isSame) return known.kernel;
    const bytes = descriptor.slice();
    const module = SimModule.inMemory(memory, target, { address, bytes }, region, range);
    const kernel = module.kernels[0] as SimKernel;
    this.kernels.set(address, { kernel, descriptor: bytes, code: code.slice() });
    return kernel;
  }
}
