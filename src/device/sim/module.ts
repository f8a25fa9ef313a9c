// A code object in the memory of the virtual GPU: its image with relocations applied, its code, kernels, variables, source lines.
// Sources: LLVM AMDGPUUsage, "Code Object" (segments, symbols, `.kd`), ELF gABI (program loading, relocations).
import { WavesmithError } from '../../base/index.ts';
import {
  type CodeObject,
  type DebugLines,
  debugLines,
  decodeDescriptor,
  type ElfFile,
  KERNEL_DESCRIPTOR_SIZE,
  type KernelDescriptor,
  type KernelMetadata,
  SegmentType,
} from '../../codeobject/index.ts';
import type { TargetName } from '../../isa/types.ts';
import { describeKernel } from '../checks.ts';
import type { DeviceAddress, DeviceKernel, DeviceModule, DeviceVariable } from '../device.ts';
import { codeRangesOf, fillImage, imageSize } from '../image.ts';
import { LoadedCode } from './interpreter/loaded-code.ts';
import { PAGE } from './state/layout.ts';
import type { DeviceMemory } from './state/memory.ts';
import type { Region } from './state/region.ts';

/** PF_W */
const SEGMENT_WRITABLE = 2;
/** STT_OBJECT */
const SYMBOL_OBJECT = 1;
/** Functions of AMD's device libraries behind malloc and free of kernels (ockl/src/dm.cl). */
const HEAP_FUNCTION = /^__ockl_dm_(alloc|dealloc)$/;

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
  return new WavesmithError(
    'device/no-tools',
    'Strict mode, modelled time, traces, counters, reports and the debugger need the virtual GPU.',
    {
      hint: 'Use --device sim.',
    },
  );
}

interface ModuleParts {
  readonly loaded: LoadedCode;
  readonly kernels: (module: SimModule) => readonly SimKernel[];
  readonly lines: DebugLines | undefined;
  readonly variables: readonly DeviceVariable[];
  readonly heapCode: readonly (readonly [number, number])[];
  readonly ownsImage: boolean;
}

export class SimModule implements DeviceModule {
  readonly target: TargetName;
  readonly loaded: LoadedCode;
  readonly kernels: readonly SimKernel[];
  /** Global variables of the code object. */
  readonly variables: readonly DeviceVariable[];
  /** Source lines, when there is debug information. */
  readonly lines: DebugLines | undefined;
  /** Start and end, as offsets in the image, of the functions behind malloc and free of kernels. */
  readonly heapCode: readonly (readonly [number, number])[];
  private readonly memory: DeviceMemory;
  private isLoaded = true;
  /** Dispatches that were asked for and have not ended. */
  private users = 0;

  /** Nobody else frees the image. */
  private readonly ownsImage: boolean;

  private constructor(memory: DeviceMemory, target: TargetName, parts: ModuleParts) {
    this.memory = memory;
    this.target = target;
    this.loaded = parts.loaded;
    this.kernels = parts.kernels(this);
    this.lines = parts.lines;
    this.variables = parts.variables;
    this.heapCode = parts.heapCode;
    this.ownsImage = parts.ownsImage;
  }

  /** Loads a code object. */
  static load(memory: DeviceMemory, target: TargetName, object: CodeObject, address?: DeviceAddress): SimModule {
    const image = loadImage(memory, object.elf, address);
    return new SimModule(memory, target, {
      loaded: new LoadedCode(target, image, codeRangesOf(object.elf)),
      kernels: (module) => readKernels(object, image, module),
      lines: debugLines(object.elf),
      variables: object.elf.symbols
        .filter((s) => s.type === SYMBOL_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
        .map((s) => ({ name: s.name, address: image.base + Number(s.value), size: Number(s.size) })),
      heapCode: object.elf.symbols
        .filter((s) => HEAP_FUNCTION.test(s.name))
        .map((s) => [Number(s.value), Number(s.value + s.size)]),
      ownsImage: true,
    });
  }

  /**
   * The kernel whose descriptor a program has written at an address, with its instructions in `code` (start and end) of the allocation that
   * holds them. It is named after the descriptor's address.
   */
  static inMemory(
    memory: DeviceMemory,
    target: TargetName,
    descriptor: { readonly address: DeviceAddress; readonly bytes: Uint8Array },
    region: Region,
    code: readonly [DeviceAddress, DeviceAddress],
  ): SimModule {
    const name = `kernel at 0x${descriptor.address.toString(16)}`;
    return new SimModule(memory, target, {
      loaded: new LoadedCode(target, region, [[code[0] - region.base, code[1] - region.base]]),
      kernels: (module) => [
        makeKernel(name, undefined, decodeDescriptor(descriptor.bytes), descriptor.address, module),
      ],
      lines: undefined,
      variables: [],
      heapCode: [],
      ownsImage: false,
    });
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
    if (!this.isLoaded && this.users === 0) this.freeImage();
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
    if (this.isLoaded && this.users === 0) this.freeImage();
    this.isLoaded = false;
  }

  private freeImage(): void {
    if (this.ownsImage) this.memory.free(this.loaded.region.base);
  }
}

/** Maps the LOAD segments into one allocation, read-only but for variables, and applies the dynamic relocations. */
function loadImage(memory: DeviceMemory, elf: ElfFile, address: DeviceAddress | undefined): Region {
  const size = imageSize(elf);
  const image =
    address === undefined ? memory.alloc(size, 'code object') : memory.allocAt(address, size, 'code object');
  fillImage(elf, image.base, image.bytes);
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
