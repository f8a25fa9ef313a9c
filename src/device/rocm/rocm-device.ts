// Room `device/rocm`: a real GPU as a device, through the public HSA API. Begin with this file, then addon.ts (what the native part does).
//
// Dispatches go through a real AQL queue, one at a time. What ends one early (a fault, its time, a signal) ends its queue, and the next dispatch
// gets a new one. A GPU does not count instructions: `maxInstructions` limits the time.
// Sources: HSA Runtime Specification 1.2, sections 2.6 to 2.9; hsa_ext_amd.h; LLVM AMDGPUUsage, "Kernel Dispatch".
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, readCodeObject } from '../../codeobject/index.ts';
import { isTargetName, targetInfo } from '../../isa/index.ts';
import { TARGET_LIST } from '../../isa/table/targets.ts';
import type { TargetName } from '../../isa/types.ts';
import { checkLoadable, checkSizes } from '../checks.ts';
import type { Device, DeviceAddress, DeviceBuffer, Dim3, DispatchRequest, DispatchResult } from '../device.ts';
import { DeviceFault, DispatchAborted } from '../fault.ts';
import { codeRangesOf, fillImage, imageSize } from '../image.ts';
import { kernargBytes } from '../kernargs.ts';
import { requireBytes } from '../values.ts';
import type { RocmAddon, RocmAgent, RocmOutcome } from './addon.ts';
import { callHsa } from './errors.ts';
import { RocmMemory } from './memory.ts';
import { type RocmKernel, RocmModule } from './module.ts';

export interface RocmOptions {
  readonly addon: RocmAddon;
  /** The runtime library; default the system's `libhsa-runtime64.so.1`. A process opens one. */
  readonly library?: string | undefined;
  /** Number of the GPU (default 0). */
  readonly gpu?: number | undefined;
  /** Address ranges that the runtime must not take for itself when it starts. */
  readonly keepFree?: readonly { readonly address: number; readonly size: number }[] | undefined;
}

const LIBRARY = 'libhsa-runtime64.so.1';
/** Without a budget a dispatch may take this long. */
const LONGEST_MS = 600_000;
/** With one: a microsecond for each instruction, and what starting takes. */
const START_MS = 200;
const INSTRUCTIONS_A_MS = 1000;
const LANES = 64;
const PAGE = 4096;
const KERNARG_PADDING = 64;

/** HSA status values of a queue that stopped (hsa.h, hsa_ext_amd.h). */
const MEMORY_STATUS = new Set([41, 43]);
const INSTRUCTION_STATUS = new Set([42, 0x1014]);

/** Type kernel dispatch, barrier, fences of system scope. */
const PACKET_HEADER = 2 | (1 << 8) | (2 << 9) | (2 << 11);

/** A GPU of this machine. */
export class RocmDevice implements Device {
  readonly kind = 'rocm';
  readonly placesDispatch = false;
  readonly target: TargetName;
  /** What the runtime says of the GPU. */
  readonly agent: RocmAgent;
  /** The runtime places its allocations where it wants. */
  readonly heapRange = [0, 0] as const;
  private readonly addon: RocmAddon;
  private readonly memory: RocmMemory;
  private readonly modules = new Set<RocmModule>();
  private queue: { readonly handle: number; readonly address: number } | undefined;
  private kernarg: DeviceBuffer | undefined;
  private lastDispatch: Promise<unknown> = Promise.resolve();
  private isClosed = false;

  /** Opens a GPU. Without a library, a GPU or code for it: `device/no-rocm`, `device/no-gpu`, `device/unsupported-target`. */
  constructor({ addon, library = LIBRARY, gpu = 0, keepFree = [] }: RocmOptions) {
    const ranges = new BigUint64Array(pagesOf(keepFree).flat().map(BigInt));
    this.addon = addon;
    this.agent = callHsa(() => addon.rocmOpen(library, gpu, ranges), 'the runtime');
    const processor = this.agent.isa.replace(/^.*--/, '').split(':')[0] ?? '';
    if (!isTargetName(processor)) {
      throw new WavesmithError('device/unsupported-target', `The GPU is ${this.agent.isa || 'of an unknown kind'}.`, {
        hint: `Wavesmith knows ${TARGET_LIST}.`,
      });
    }
    this.target = processor;
    this.memory = new RocmMemory(addon, this.agent.agent);
  }

  alloc(size: number, label = 'buffer'): DeviceBuffer {
    this.requireOpen();
    return this.memory.alloc(size, label);
  }
  allocAt(address: DeviceAddress, size: number, label = 'buffer'): DeviceBuffer {
    this.requireOpen();
    this.requireVirtualMemory();
    return this.memory.allocAt(address, size, label);
  }
  map(address: DeviceAddress, size: number, source: DeviceAddress): DeviceBuffer {
    this.requireOpen();
    this.requireVirtualMemory();
    return this.memory.map(address, size, source);
  }
  free(buffer: DeviceBuffer): void {
    this.requireOpen();
    this.memory.free(buffer);
  }
  write(buffer: DeviceBuffer, bytes: Uint8Array, offset = 0): void {
    this.requireOpen();
    requireBytes(bytes, 'write');
    this.memory.write(buffer, bytes, offset);
  }
  read(buffer: DeviceBuffer, offset = 0, size = buffer.size - offset, into?: Uint8Array): Uint8Array {
    this.requireOpen();
    return this.memory.read(buffer, offset, size, into);
  }
  copy(destination: DeviceBuffer, source: DeviceBuffer, size = Math.min(source.size, destination.size)): void {
    this.requireOpen();
    this.memory.copy(destination, source, size);
  }

  private requireOpen(): void {
    if (this.isClosed) throw new WavesmithError('device/closed', 'The device was closed.');
  }
  private requireVirtualMemory(): void {
    if (this.agent.hasVirtualMemory !== 0) return;
    throw new WavesmithError('device/hsa', 'This HSA runtime cannot place memory at a chosen address.', {
      hint: 'It has no hsa_amd_vmem_address_reserve: ROCm 6.0 and later do.',
    });
  }

  /**
   * At an `address` the code runs from a copy of its image in shared virtual memory: the runtime's loader takes no address. Where that cannot be
   * had, `device/address-taken`; where the driver has no such memory, `device/no-code-address`.
   */
  load(codeObject: Uint8Array, address?: DeviceAddress): RocmModule {
    this.requireOpen();
    requireBytes(codeObject, 'load');
    const object = readCodeObject(codeObject);
    checkLoadable(object, this.target);
    const size = imageSize(object.elf);
    const { addon, memory, modules } = this;
    if (address !== undefined) this.placeCode(object, address, size);
    const remove = (): void => {
      if (address !== undefined) callHsa(() => addon.rocmRemoveCode(this.agent.agent, address, size), 'code object');
    };
    let loaded: { readonly handle: number; readonly delta: number };
    try {
      // Placed code is loaded as well: the loader judges it, and invalidates instruction caches.
      loaded = callHsa(() => addon.rocmLoad(this.agent.agent, codeObject), 'code object');
    } catch (error) {
      remove();
      throw error;
    }
    const { handle, delta } = loaded;
    const base = address ?? delta;
    const release = (): void => {
      memory.removeImage(base);
      modules.delete(module);
      callHsa(() => addon.rocmUnload(handle), 'code object');
      remove();
    };
    const module = new RocmModule(this, this.target, object, base, release);
    memory.addImage(base, module.size);
    modules.add(module);
    return module;
  }

  private placeCode({ elf }: CodeObject, address: DeviceAddress, size: number): void {
    if (this.agent.hasSharedMemory === 0) {
      throw new WavesmithError('device/no-code-address', 'This GPU cannot have code at a chosen address.', {
        hint: 'It needs shared virtual memory (hsa_amd_svm_attributes_set): ROCm 5.0, and Linux with HMM for the GPU.',
      });
    }
    const image = new Uint8Array(size);
    fillImage(elf, address, image);
    const ranges = pagesOf(codeRangesOf(elf).map(([from, to]) => ({ address: address + from, size: to - from })));
    const isPlaced =
      address > 0 &&
      address % PAGE === 0 &&
      callHsa(
        () => this.addon.rocmPlaceCode(this.agent.agent, address, image, new BigUint64Array(ranges.flat().map(BigInt))),
        'code object',
      );
    if (isPlaced) return;
    throw new WavesmithError(
      'device/address-taken',
      `The address 0x${address.toString(16)} for the code object (${size} bytes) cannot be had.`,
      { hint: "'wavesmith replay reserve-check' names what is in the way. A process of its own has the most room." },
    );
  }

  async dispatch(request: DispatchRequest): Promise<DispatchResult> {
    this.requireOpen();
    const kernel = request.kernel as RocmKernel;
    const { module } = kernel;
    if (!(module instanceof RocmModule) || !module.isLoadedOn(this)) {
      throw new WavesmithError('device/not-loaded', `Kernel '${kernel.name}' is not loaded on this device.`);
    }
    module.hold();
    const result = this.lastDispatch.then(() => this.run(kernel, request)).finally(() => module.drop());
    this.lastDispatch = result.then(
      () => {},
      () => {},
    );
    return await result;
  }

  private async run(kernel: RocmKernel, request: DispatchRequest): Promise<DispatchResult> {
    this.requireOpen();
    const { addon, agent } = this;
    const { grid, signal, onProgress } = request;
    const workItems = checkSizes(kernel, request, targetInfo(this.target));
    const workgroups = grid[0] * grid[1] * grid[2];
    if (signal?.aborted === true) throw aborted(kernel, workgroups);
    this.queue ??= callHsa(() => addon.rocmQueue(agent.agent), 'a queue');
    const { handle, address } = this.queue;
    const packet = packetOf(kernel, request, workItems, this.kernargOf(kernel, request, workItems, address));
    const { maxInstructions } = request;
    const limit = maxInstructions === undefined ? LONGEST_MS : START_MS + maxInstructions / INSTRUCTIONS_A_MS;
    const abort = (): void => addon.rocmAbort(handle);
    onProgress?.(0, workgroups);
    const running = callHsa(
      () => addon.rocmDispatch(agent.agent, handle, packet, Math.min(limit, LONGEST_MS)),
      'packet',
    );
    signal?.addEventListener('abort', abort);
    let outcome: RocmOutcome;
    try {
      outcome = await running;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    if (outcome.outcome !== 'done') {
      addon.rocmEndQueue(handle);
      this.queue = undefined;
      this.requireOpen();
      throw outcome.outcome === 'aborted' ? aborted(kernel, workgroups) : faultOf(kernel, outcome, limit);
    }
    onProgress?.(workgroups, workgroups);
    const { nanoseconds } = outcome;
    return {
      workgroups,
      wavefronts: countWaves(workItems, request.block),
      ...(nanoseconds > 0 ? { nanoseconds } : {}),
    };
  }

  /** The address of the kernarg segment: the caller's, or this device's own with the arguments in it. */
  private kernargOf(kernel: RocmKernel, request: DispatchRequest, workItems: Dim3, queue: number): number {
    const { segment, grid, block, dynamicLds = 0 } = request;
    if (segment !== undefined) {
      if (request.args === undefined && request.kernargs === undefined) return segment.kernarg;
      throw new WavesmithError('device/arguments', 'A dispatch takes arguments or an argument segment, not both.');
    }
    const bytes = kernargBytes(kernel, request, { grid, block, workItems, dynamicLds, queue });
    // Compilers load whole cache lines of arguments.
    const size = bytes.length + KERNARG_PADDING;
    if (this.kernarg === undefined || this.kernarg.size < size) {
      if (this.kernarg !== undefined) this.memory.free(this.kernarg);
      this.kernarg = this.memory.alloc(size, 'kernarg segment', true);
    }
    this.memory.write(this.kernarg, bytes, 0);
    return this.kernarg.address;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.queue !== undefined) this.addon.rocmAbort(this.queue.handle);
    void this.lastDispatch.then(() => {
      if (this.queue !== undefined) this.addon.rocmEndQueue(this.queue.handle);
      for (const module of this.modules) module.unload();
      this.memory.close();
    });
  }
}

/** Starts and sizes of the pages that ranges touch, without overlaps. */
function pagesOf(ranges: NonNullable<RocmOptions['keepFree']>): [number, number][] {
  const pages: [number, number][] = [];
  for (const { address, size } of [...ranges].sort((a, b) => a.address - b.address)) {
    const start = Math.floor(address / PAGE) * PAGE;
    const end = Math.ceil((address + size) / PAGE) * PAGE;
    const last = pages.at(-1);
    if (last !== undefined && start <= last[0] + last[1]) last[1] = Math.max(last[1], end - last[0]);
    else pages.push([start, end - start]);
  }
  return pages;
}

/** The AQL packet; the addon fills in the completion signal. */
function packetOf(kernel: RocmKernel, request: DispatchRequest, workItems: Dim3, kernarg: number): Uint8Array {
  const { block, dynamicLds = 0, scratch = 0 } = request;
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, PACKET_HEADER, true);
  view.setUint16(2, workItems[2] > 1 ? 3 : workItems[1] > 1 ? 2 : 1, true);
  for (const d of [0, 1, 2] as const) {
    view.setUint16(4 + 2 * d, block[d], true);
    view.setUint32(12 + 4 * d, workItems[d], true);
  }
  view.setUint32(24, Math.max(kernel.scratchSize, scratch), true);
  view.setUint32(28, kernel.ldsSize + dynamicLds, true);
  view.setBigUint64(32, BigInt(kernel.kernelObject), true);
  view.setBigUint64(40, BigInt(kernarg), true);
  return bytes;
}

/** Wavefronts of a grid whose last workgroups may be partial. */
function countWaves(workItems: Dim3, block: Dim3): number {
  // Of each dimension: sizes of workgroups and how many have them.
  const sizes = ([0, 1, 2] as const).map((d) => [
    [block[d], Math.floor(workItems[d] / block[d])],
    [workItems[d] % block[d], workItems[d] % block[d] > 0 ? 1 : 0],
  ]) as [number, number][][];
  let waves = 0;
  for (const [x, nx] of sizes[0] ?? [])
    for (const [y, ny] of sizes[1] ?? [])
      for (const [z, nz] of sizes[2] ?? []) waves += Math.ceil((x * y * z) / LANES) * nx * ny * nz;
  return waves;
}

function aborted(kernel: RocmKernel, workgroups: number): DispatchAborted {
  return new DispatchAborted(kernel.name, { workgroups: 0, wavefronts: 0 }, workgroups);
}

function faultOf({ name: kernel }: RocmKernel, outcome: RocmOutcome, limit: number): DeviceFault {
  const { status, statusText, address } = outcome;
  if (outcome.outcome === 'timeout') {
    const message = `Kernel '${kernel}' was stopped after ${Math.round(limit)} ms.`;
    return new DeviceFault('rocm/budget', message, { kind: 'budget', kernel });
  }
  if (outcome.isMemoryFault !== 0) {
    const access = { space: 'global', address, size: undefined, isWrite: undefined } as const;
    const message = `Kernel '${kernel}' accessed memory that is not mapped, in the page at 0x${address.toString(16)}.`;
    return new DeviceFault('rocm/memory-fault', message, { kind: 'memory', kernel, access });
  }
  const message = `Kernel '${kernel}' was stopped: ${statusText}`;
  if (MEMORY_STATUS.has(status)) return new DeviceFault('rocm/memory-fault', message, { kind: 'memory', kernel });
  if (INSTRUCTION_STATUS.has(status))
    return new DeviceFault('rocm/instruction', message, { kind: 'instruction', kernel });
  return new DeviceFault('rocm/trap', message, { kind: 'trap', kernel });
}
