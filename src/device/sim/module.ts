// A code object in the memory of the virtual GPU: its image with relocations applied, its code, kernels, variables, source lines.
// Sources: LLVM AMDGPUUsage, "Code Object" (segments, symbols, `.kd`), ELF gABI (program loading, relocations).
import { WavesmithError } from '../../base/index.ts';
import {
  type CodeObject,
  type DebugLines,
  debugLines,
  type ElfFile,
  KERNEL_DESCRIPTOR_SIZE,
  type KernelDescriptor,
  type KernelMetadata,
  SegmentType,
} from '../../codeobject/index.ts';
import type { TargetName } from '../../isa/types.ts';
import { describeKernel } from '../checks.ts';
import type { DeviceAddress, DeviceKernel, DeviceModule, DeviceVariable } from '../device.ts';
import { LoadedCode } from './interpreter/loaded-code.ts';
import { PAGE } from './state/layout.ts';
import type { DeviceMemory } from './state/memory.ts';
import type { Region } from './state/region.ts';

/** Largest image of a code object the loader maps. */
const MAX_IMAGE = 2 ** 28;
/** PF_W */
const SEGMENT_WRITABLE = 2;
/** PF_X */
const SEGMENT_EXECUTABLE = 1;
/** STT_OBJECT */
const SYMBOL_OBJECT = 1;
const R_AMDGPU_ABS64 = 3;
const R_AMDGPU_RELATIVE64 = 13;

/** A kernel with what the sim needs to start it. */
export interface SimKernel extends DeviceKernel {
  readonly descriptor: KernelDescriptor;
  readonly descriptorAddress: number;
  /** Loaded address of the first instruction. */
  readonly entry: number;
  readonly module: SimModule;
}

/** Whether a kernel is loaded on the virtual GPU. */
export function isSimKernel(kernel: DeviceKernel): kernel is SimKernel {
  return 'module' in kernel && kernel.module instanceof SimModule;
}

/** The error for asking a device for what only the virtual GPU can do. */
export function noTools(): WavesmithError {
  return new WavesmithError('device/no-tools', 'Traces, counters, reports and the debugger need the virtual GPU.', {
    hint: 'Use --device sim.',
  });
}

export class SimModule implements DeviceModule {
  readonly target: TargetName;
  readonly loaded: LoadedCode;
  readonly kernels: readonly SimKernel[];
  /** Global variables of the code object. */
  readonly variables: readonly DeviceVariable[];
  /** Source lines, when there is debug information. */
  readonly lines: DebugLines | undefined;
  private readonly memory: DeviceMemory;
  private isLoaded = true;
  /** Dispatches that were asked for and have not ended. */
  private users = 0;

  constructor(memory: DeviceMemory, target: TargetName, object: CodeObject, address?: DeviceAddress) {
    this.memory = memory;
    this.target = target;
    const image = loadImage(memory, object.elf, address);
    this.loaded = new LoadedCode(
      target,
      image,
      object.elf.segments
        .filter((s) => s.type === SegmentType.LOAD && (s.flags & SEGMENT_EXECUTABLE) !== 0)
        .map((s) => [s.virtualAddress, s.virtualAddress + s.fileSize]),
    );
    this.kernels = readKernels(object, image, this);
    this.lines = debugLines(object.elf);
    this.variables = object.elf.symbols
      .filter((s) => s.type === SYMBOL_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
      .map((s) => ({ name: s.name, address: image.base + Number(s.value), size: Number(s.size) }));
  }

  get address(): DeviceAddress {
    return this.loaded.region.base;
  }
  get size(): number {
    return this.loaded.region.size;
  }

  /** Whether its kernels may be dispatched on the device with this memory. */
  isLoadedIn(memory: DeviceMemory): boolean {
    return this.isLoaded && this.memory === memory;
  }

  /** Keeps the image in memory until `release`, also when the module is unloaded in between. */
  hold(): void {
    this.users++;
  }
  release(): void {
    this.users--;
    if (!this.isLoaded && this.users === 0) this.memory.free(this.loaded.region.base);
  }

  kernel(name: string): SimKernel {
    const found = this.kernels.find((k) => k.name === name);
    if (found !== undefined) return found;
    const names = this.kernels.map((k) => k.name);
    throw new WavesmithError('device/no-such-kernel', `The code object has no kernel '${name}'.`, {
      hint: names.length === 0 ? 'It has no kernels at all.' : `It has: ${names.slice(0, 20).join(', ')}.`,
    });
  }

  unload(): void {
    if (this.isLoaded && this.users === 0) this.memory.free(this.loaded.region.base);
    this.isLoaded = false;
  }
}

/** Maps the LOAD segments into one read-only allocation and applies the dynamic relocations. */
function loadImage(memory: DeviceMemory, elf: ElfFile, address: DeviceAddress | undefined): Region {
  const segments = elf.segments.filter((s) => s.type === SegmentType.LOAD);
  const end = Math.max(0, ...segments.map((s) => s.virtualAddress + s.memorySize));
  if (segments.length === 0 || end > MAX_IMAGE) {
    throw new WavesmithError('device/bad-image', `The code object asks for an image of ${end} bytes.`, {
      hint: 'It is damaged, or not a linked code object.',
    });
  }
  const size = Math.ceil(end / PAGE) * PAGE;
  const image =
    address === undefined ? memory.alloc(size, 'code object') : memory.allocAt(address, size, 'code object');
  for (const s of segments) {
    if (s.offset + s.fileSize > elf.bytes.length || s.fileSize > s.memorySize) {
      throw new WavesmithError('device/bad-image', `LOAD segment ${s.index} lies outside the file.`, {
        byteOffset: s.offset,
      });
    }
    image.bytes.set(elf.bytes.subarray(s.offset, s.offset + s.fileSize), s.virtualAddress);
  }
  for (const { relocations } of elf.relocationSections) {
    for (const r of relocations) relocate(image, r.type, r.offset, r.addend ?? 0n, r.symbol);
  }
  return memory.protect(image, readOnlyPages(elf, image.size));
}

/** Pages of an image that no writable segment touches. */
function readOnlyPages(elf: ElfFile, size: number): [number, number][] {
  const writable = elf.segments.filter((s) => s.type === SegmentType.LOAD && (s.flags & SEGMENT_WRITABLE) !== 0);
  const ranges: [number, number][] = [];
  let from = 0;
  for (const s of writable.sort((a, b) => a.virtualAddress - b.virtualAddress)) {
    const start = Math.floor(s.virtualAddress / PAGE) * PAGE;
    if (start > from) ranges.push([from, start]);
    from = Math.max(from, Math.ceil((s.virtualAddress + s.memorySize) / PAGE) * PAGE);
  }
  if (from < size) ranges.push([from, size]);
  return ranges;
}

function relocate(
  image: Region,
  type: number,
  offset: number,
  addend: bigint,
  symbol: { name: string; value: bigint; sectionIndex: number } | undefined,
): void {
  if (offset + 8 > image.size)
    throw new WavesmithError('device/bad-relocation', 'A relocation lies outside the image.', { byteOffset: offset });
  const base = BigInt(image.base);
  if (type === R_AMDGPU_RELATIVE64) image.view.setBigUint64(offset, BigInt.asUintN(64, base + addend), true);
  else if (type === R_AMDGPU_ABS64 && symbol !== undefined && symbol.sectionIndex !== 0) {
    image.view.setBigUint64(offset, BigInt.asUintN(64, base + symbol.value + addend), true);
  } else {
    throw new WavesmithError(
      'device/bad-relocation',
      `Relocation type ${type} of '${symbol?.name ?? ''}' cannot be resolved.`,
      {
        byteOffset: offset,
        hint: 'The code object refers to a symbol that no loaded module defines.',
      },
    );
  }
}

/** The kernels of a code object; one whose descriptor lies outside the image is refused when it is asked for. */
function readKernels(object: CodeObject, image: Region, module: SimModule): SimKernel[] {
  return object.kernels.flatMap((k): SimKernel[] => {
    const { descriptor, descriptorSymbol, metadata } = k;
    const offset = Number(descriptorSymbol?.value ?? -1n);
    if (descriptor === undefined || !(offset >= 0 && offset + KERNEL_DESCRIPTOR_SIZE <= image.size)) return [];
    return [makeKernel(k.name, metadata, descriptor, image.base + offset, module)];
  });
}

function makeKernel(
  name: string,
  k: KernelMetadata | undefined,
  descriptor: KernelDescriptor,
  address: number,
  module: SimModule,
): SimKernel {
  return {
    ...describeKernel(name, k, descriptor),
    descriptor,
    descriptorAddress: address,
    entry: address + Number(descriptor.kernelCodeEntryByteOffset),
    module,
  };
}
