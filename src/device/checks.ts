// What every device checks before it runs anything: a code object against the device, a dispatch against kernel and target, a kernel's metadata
// against itself. Sources: LLVM AMDGPUUsage, "Code Object Metadata", "Kernel Descriptor"; HSA Runtime Specification, AQL kernel dispatch packet.
import { WavesmithError } from '../base/index.ts';
import { type CodeObject, ElfType, type KernelDescriptor, type KernelMetadata } from '../codeobject/index.ts';
import { type TargetInfo, targetFromElfMach } from '../isa/index.ts';
import type { TargetName } from '../isa/types.ts';
import type { DeviceKernel, Dim3, DispatchRequest, KernelArgument } from './device.ts';
import { writtenBytes } from './kernargs.ts';

/** Refuses a code object of another target, and one that is not linked. */
export function checkLoadable({ elf: { header } }: CodeObject, device: TargetName): void {
  const target = targetFromElfMach(header.flags & 0xff);
  if (target !== device) {
    throw new WavesmithError(
      'device/wrong-target',
      `The code object is for ${target ?? `an unknown processor (e_flags 0x${header.flags.toString(16)})`}, the device is ${device}.`,
      { hint: target === undefined ? undefined : `Use --target ${target}.` },
    );
  }
  if (header.type !== ElfType.DYN) {
    throw new WavesmithError('device/not-linked', 'The code object is not linked.', {
      hint: 'Link it first (asm without -c, or ld.lld -shared).',
    });
  }
}

/** Checks grid, block and LDS; gives the work-items of the grid. */
export function checkSizes(kernel: DeviceKernel, request: DispatchRequest, info: TargetInfo): Dim3 {
  const { grid, block } = request;
  checkDimensions('grid', grid, 0xffffffff);
  checkDimensions('block', block, 1024);
  const size = block[0] * block[1] * block[2];
  const limit = Math.min(info.maxWorkgroupSize, kernel.maxWorkgroupSize ?? info.maxWorkgroupSize);
  if (size > limit) {
    throw new WavesmithError(
      'device/bad-block',
      `A workgroup of ${block.join('×')} = ${size} work-items is larger than kernel '${kernel.name}' allows (${limit}).`,
      { hint: 'Pass a smaller --block.' },
    );
  }
  const required = kernel.requiredWorkgroupSize;
  if (required?.some((n, i) => n !== block[i])) {
    throw new WavesmithError(
      'device/bad-block',
      `Kernel '${kernel.name}' requires workgroups of ${required.join('×')}, not ${block.join('×')}.`,
      { hint: `Use --block ${required.join(',')}.` },
    );
  }
  const workItems = request.gridWorkItems ?? [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]];
  if (workItems.some((n, i) => Math.ceil(n / (block[i] as number)) !== grid[i])) {
    throw new WavesmithError(
      'device/bad-grid',
      `${workItems.join('×')} work-items do not make ${grid.join('×')} workgroups of ${block.join('×')}.`,
    );
  }
  const dynamicLds = request.dynamicLds ?? 0;
  const ldsBytes = kernel.ldsSize + dynamicLds;
  if (!(dynamicLds >= 0) || ldsBytes > info.ldsBytes) {
    throw new WavesmithError(
      'device/lds-too-large',
      `Kernel '${kernel.name}' needs ${ldsBytes} bytes of LDS; ${info.name} has ${info.ldsBytes} for a workgroup.`,
    );
  }
  return workItems;
}

function checkDimensions(what: 'grid' | 'block', d: Dim3, limit: number): void {
  if (!Array.isArray(d) || d.length !== 3 || d.some((n) => !Number.isInteger(n) || n < 1 || n > limit)) {
    throw new WavesmithError(
      `device/bad-${what}`,
      `The ${what} ${String(d)} is not three whole numbers from 1 to ${limit}.`,
    );
  }
}

/** Whether an argument holds an address of 64 bits. Source: LLVM AMDGPUUsage, "AMDHSA Code Object Kernel Argument Metadata Map". */
function isPointer(kind: string): boolean {
  return /^(global_buffer|image|sampler|pipe|queue)$|^hidden_(global_offset_[xyz]|printf_buffer|hostcall_buffer|default_queue|completion_action|multigrid_sync_arg|heap_v1|queue_ptr)$/.test(
    kind,
  );
}

/** A kernel as its descriptor and metadata say; metadata that contradicts itself is `device/bad-metadata`. */
export function describeKernel(
  name: string,
  k: KernelMetadata | undefined,
  descriptor: KernelDescriptor,
): DeviceKernel {
  const args: KernelArgument[] = (k?.args ?? []).map((a) => ({
    name: a.name,
    offset: a.offset,
    size: a.size,
    valueKind: a.valueKind,
  }));
  const kernargSize = Math.max(k?.kernargSegmentSize ?? 0, descriptor.kernargSize);
  for (const { name: label, offset, size, valueKind } of args) {
    if (!(offset >= 0 && size >= 0 && offset + Math.max(size, writtenBytes(valueKind)) <= kernargSize)) {
      throw new WavesmithError(
        'device/bad-metadata',
        `Argument ${label ?? valueKind} of kernel '${name}' (bytes ${offset} to ${offset + size}) lies outside its kernarg segment of ${kernargSize} bytes.`,
        { hint: "The kernel's metadata is damaged, or was edited without its kernarg size." },
      );
    }
  }
  const pointer = args.find((a) => isPointer(a.valueKind) && a.size !== 8);
  if (pointer !== undefined) {
    throw new WavesmithError(
      'device/bad-metadata',
      `Argument ${pointer.name ?? pointer.valueKind} of kernel '${name}' is a pointer of ${pointer.size} bytes; a pointer has 8.`,
      { hint: "The kernel's metadata is damaged." },
    );
  }
  return {
    name,
    arguments: args.sort((x, y) => x.offset - y.offset),
    kernargSize,
    ldsSize: Math.max(descriptor.groupSegmentFixedSize, k?.groupSegmentFixedSize ?? 0),
    scratchSize: Math.max(descriptor.privateSegmentFixedSize, k?.privateSegmentFixedSize ?? 0),
    maxWorkgroupSize: k?.maxFlatWorkgroupSize,
    requiredWorkgroupSize: k?.reqdWorkgroupSize,
  };
}
