// Room `device/sim`: the virtual GPU. A dispatch goes from this file to dispatch/ (checks, workgroups in turn), which starts waves
// (state/) and lets an engine run them: interpreter/ is the reference, wasm/ compiles, and both act on the same bytes.
// Begin with this file, then state/layout.ts and state/wave.ts (the machine), interpreter/program.ts (one instruction),
// dispatch/runner.ts (the turns).
//
// The virtual GPU as a Device: memory, code object loading, dispatch on the reference interpreter.
// Sources: LLVM AMDGPUUsage, "Code Object" (segments, symbols, `.kd`), ELF gABI (program loading, relocations).
import { WavesmithError } from '../../base/index.ts';
import {
  type CodeObject,
  type DebugLines,
  debugLines,
  type ElfFile,
  ElfType,
  KERNEL_DESCRIPTOR_SIZE,
  type KernelDescriptor,
  type KernelMetadata,
  readCodeObject,
  SegmentType,
} from '../../codeobject/index.ts';
import { targetFromElfMach } from '../../isa/index.ts';
import type { TargetName } from '../../isa/types.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceKernel,
  DeviceModule,
  DispatchRequest,
  DispatchResult,
  KernelArgument,
} from '../device.ts';
import { runDispatch } from './dispatch/dispatch.ts';
import { Program } from './interpreter/program.ts';
import { PAGE } from './state/layout.ts';
import { DeviceMemory, type MemoryOptions, type Region } from './state/memory.ts';
import { SlotPool } from './state/slots.ts';
import { dispatchStrict } from './strict/dispatch.ts';
import { MemoryHistory } from './strict/history.ts';
import { Crew } from './workers/crew.ts';
import type { WorkerHost } from './workers/worker-host.ts';

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

/** A global variable in device memory. */
export interface SimVariable {
  readonly name: string;
  readonly address: number;
  readonly size: number;
}

export class SimModule implements DeviceModule {
  readonly target: TargetName;
  readonly program: Program;
  readonly kernels: readonly SimKernel[];
  /** Global variables of the code object. */
  readonly variables: readonly SimVariable[];
  /** Source lines, when there is debug information. */
  readonly lines: DebugLines | undefined;
  private readonly memory: DeviceMemory;
  private loaded = true;

  constructor(memory: DeviceMemory, target: TargetName, object: CodeObject) {
    this.memory = memory;
    this.target = target;
    const image = loadImage(memory, object.elf);
    this.program = new Program(
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

  get isLoaded(): boolean {
    return this.loaded;
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
    if (this.loaded) this.memory.free(this.program.region.base);
    this.loaded = false;
  }
}

/** Maps the LOAD segments into one read-only allocation and applies the dynamic relocations. */
function loadImage(memory: DeviceMemory, elf: ElfFile): Region {
  const segments = elf.segments.filter((s) => s.type === SegmentType.LOAD);
  const end = Math.max(0, ...segments.map((s) => s.virtualAddress + s.memorySize));
  if (segments.length === 0 || end > MAX_IMAGE) {
    throw new WavesmithError('device/bad-image', `The code object asks for an image of ${end} bytes.`, {
      hint: 'It is damaged, or not a linked code object.',
    });
  }
  const image = memory.alloc(Math.ceil(end / 4096) * 4096, 'code object');
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
  const args: KernelArgument[] = (k?.args ?? []).map((a) => ({
    name: a.name,
    offset: a.offset,
    size: a.size,
    valueKind: a.valueKind,
  }));
  const kernargSize = Math.max(k?.kernargSegmentSize ?? 0, descriptor.kernargSize);
  for (const a of args) {
    if (a.offset + a.size > kernargSize) {
      throw new WavesmithError(
        'device/bad-metadata',
        `Argument ${a.name ?? '?'} of kernel '${name}' lies outside its kernarg segment.`,
      );
    }
  }
  return {
    name,
    arguments: args.sort((x, y) => x.offset - y.offset),
    kernargSize,
    ldsSize: Math.max(descriptor.groupSegmentFixedSize, k?.groupSegmentFixedSize ?? 0),
    scratchSize: Math.max(descriptor.privateSegmentFixedSize, k?.privateSegmentFixedSize ?? 0),
    maxWorkgroupSize: k?.maxFlatWorkgroupSize,
    requiredWorkgroupSize: k?.reqdWorkgroupSize,
    descriptor,
    descriptorAddress: address,
    entry: address + Number(descriptor.kernelCodeEntryByteOffset),
    module,
  };
}

export interface SimOptions extends MemoryOptions {
  /** Where worker threads come from; without it everything runs in the calling thread. */
  readonly workerHost?: WorkerHost | undefined;
}

/** The virtual GPU. */
export class SimDevice implements Device {
  readonly kind = 'sim';
  readonly target: TargetName;
  readonly memory: DeviceMemory;
  private readonly slots: SlotPool;
  private readonly crew: Crew | undefined;
  /** Which bytes of the buffers have been written, for strict mode. */
  private readonly history = new MemoryHistory();
  /** The dispatch that runs last; dispatches of a device run one after the other. */
  private lastDispatch: Promise<unknown> | undefined;

  constructor(target: TargetName, options: SimOptions = {}) {
    this.target = target;
    this.memory = new DeviceMemory(options);
    this.slots = new SlotPool(this.memory);
    const { workerHost } = options;
    this.crew = workerHost === undefined || !this.memory.isShared ? undefined : new Crew(workerHost, this.memory);
  }

  alloc(size: number, label = 'buffer'): DeviceBuffer {
    const region = this.memory.alloc(size, label);
    this.history.alloc(region);
    return { address: region.base, size, label };
  }
  free(buffer: DeviceBuffer): void {
    if (!this.memory.free(buffer.address)) {
      throw new WavesmithError('device/double-free', `Buffer '${buffer.label}' is not allocated.`);
    }
    this.history.free(buffer.address);
  }
  write(buffer: DeviceBuffer, bytes: Uint8Array, offset = 0): void {
    this.range(buffer, offset, bytes.length).set(bytes);
    this.history.write(buffer.address, offset, bytes.length);
  }
  read(buffer: DeviceBuffer, offset = 0, size = buffer.size - offset): Uint8Array {
    return this.range(buffer, offset, size).slice();
  }
  copy(destination: DeviceBuffer, source: DeviceBuffer, size = Math.min(source.size, destination.size)): void {
    this.range(destination, 0, size).set(this.range(source, 0, size));
    this.history.write(destination.address, 0, size);
  }

  private range(buffer: DeviceBuffer, offset: number, size: number): Uint8Array {
    const region = offset >= 0 && size >= 0 ? this.memory.find(buffer.address + offset, size) : undefined;
    if (region === undefined || region.base !== buffer.address) {
      throw new WavesmithError(
        'device/out-of-bounds',
        `Bytes ${offset} to ${offset + size} are outside buffer '${buffer.label}' (${buffer.size} bytes), or it was freed.`,
      );
    }
    return region.bytes.subarray(offset, offset + size);
  }

  load(codeObject: Uint8Array): SimModule {
    const object = readCodeObject(codeObject);
    const { header } = object.elf;
    const target = targetFromElfMach(header.flags & 0xff);
    if (target !== this.target) {
      throw new WavesmithError(
        'device/wrong-target',
        `The code object is for ${target ?? `an unknown processor (e_flags 0x${header.flags.toString(16)})`}, the device is ${this.target}.`,
        { hint: target === undefined ? undefined : `Use --target ${target}.` },
      );
    }
    if (header.type !== ElfType.DYN) {
      throw new WavesmithError('device/not-linked', 'The code object is not linked.', {
        hint: 'Link it first (asm without -c, or ld.lld -shared).',
      });
    }
    return new SimModule(this.memory, target, object);
  }

  async dispatch(request: DispatchRequest): Promise<DispatchResult> {
    const before = this.lastDispatch;
    const result = before === undefined ? this.start(request) : before.then(() => this.start(request));
    const settled = result.then(
      () => {},
      () => {},
    );
    this.lastDispatch = settled;
    try {
      return await result;
    } finally {
      if (this.lastDispatch === settled) this.lastDispatch = undefined;
    }
  }

  private async start(request: DispatchRequest): Promise<DispatchResult> {
    const kernel = request.kernel as SimKernel;
    if (!(kernel.module instanceof SimModule) || !kernel.module.isLoaded) {
      throw new WavesmithError('device/not-loaded', `Kernel '${kernel.name}' is not loaded on this device.`);
    }
    const run = (one: DispatchRequest) =>
      runDispatch({ memory: this.memory, slots: this.slots, crew: this.crew }, kernel, one);
    if (request.strict === undefined) {
      this.history.unwatched();
      return run(request);
    }
    const { kernargSize, module } = kernel;
    return dispatchStrict(request, { kernargSize, lines: module.lines }, this.history, run);
  }

  close(): void {
    this.crew?.close();
  }
}
