// The virtual GPU as the device of other processes: its wasm memory is a memfd that programs map, its kernels are found by descriptor.
import { WavesmithError } from '../base/index.ts';
import type { SimDispatchRequest, SimDispatchResult, SimRunOptions } from '../device/index.ts';
import { type FrameSource, showFrom } from '../device/node/frames.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import type { SimKernel, SimModule } from '../device/sim/module.ts';
import { type SimDevice, SimDevice as VirtualGpu } from '../device/sim/sim-device.ts';
import { gpuWindow, MAX_WASM_PAGES, moveWindow, PAGE, WINDOW_BYTES } from '../device/sim/state/layout.ts';
import type { DeviceMemory } from '../device/sim/state/memory.ts';
import type { RunFinding } from '../device/sim/strict/findings.ts';
import type { Chip } from '../device/sim/timing/chip.ts';
import { targetInfo } from '../isa/index.ts';
import type { TargetName } from '../isa/types.ts';
import type { Addon } from './addon.ts';
import { CodeInMemory } from './code-in-memory.ts';
import { FreshMemory, type FreshPattern, type WrittenMemory } from './fresh-memory.ts';
import {
  type HelloReply,
  MemoryUse,
  PROTOCOL_VERSION,
  WINDOW_FIRST,
  WINDOW_PLACES,
  WINDOW_STEP,
} from './generated/messages.ts';
import type { ModelClock } from './model-clock.ts';
import type { PacketTimes } from './packet-times.ts';
import type { RuntimeProfiler } from './profiler.ts';
import type { LoadedSymbol } from './protocol.ts';
import type { BarrierPacket, CopyPacket, DispatchPacket, RuntimeDevice, RuntimeModule } from './runtime-device.ts';
import { CLOCK_KHZ, nowTicks } from './shared-memory.ts';
import { BLOCK_BYTES, SmallAllocations } from './small-allocations.ts';
import { UnwrittenMemory } from './unwritten-memory.ts';

/** What programs see of the chip that is modelled, or else of the board that the target stands for. */
export function virtualBoard(
  target: TargetName,
  chip?: Chip,
): { readonly name: string; readonly computeUnits: number } {
  const { name, computeUnits } =
    chip === undefined
      ? targetInfo(target).board
      : { name: chip.product, computeUnits: chip.get('xccs') * chip.get('cusPerXcc') };
  return { name: `${name} (virtual)`, computeUnits };
}

const DISPATCH_QUEUE_BYTES = 256;

/** Where the window may be; programs try them in this order (native/common/client.cc). */
const WINDOW_ADDRESSES: readonly number[] = Array.from(
  { length: WINDOW_PLACES },
  (_, n) => WINDOW_FIRST + WINDOW_STEP * n,
);

/** Threads that use memory beyond the window at the same time: with more, a thread could show too little of it. */
const MAX_FRAME_THREADS = 16;

/** Memory of a device that models time: the timing model numbers cache lines of so much. */
export const TIMED_BYTES = 2 ** 36;

/** Whether something looks at memory that knows the window alone: a debugger goes back to states of it, new memory is filled in it. */
const isWindowOnly = ({ isSerial, fresh }: SimRuntimeOptions): boolean => isSerial === true || fresh !== undefined;

const memoryOf = ({ target, memoryBytes, timing }: SimRuntimeOptions): number => {
  const bytes = memoryBytes ?? targetInfo(target).board.memoryGib * 2 ** 30;
  return Math.max(WINDOW_BYTES, Math.min(bytes, timing === undefined ? bytes : TIMED_BYTES));
};

/** How every kernel of the process runs. */
export type RunOptions = SimRunOptions & Pick<SimDispatchRequest, 'maxInstructions' | 'sampleOnly'>;

export interface SimRuntimeOptions extends RunOptions {
  readonly target: TargetName;
  /** Bytes of device memory (default the board's); 4 GiB with `fresh` or `isSerial`, at most 64 GiB with `timing`. */
  readonly memoryBytes?: number | undefined;
  /** GPUs that programs see (default 1): each has streams and variables of its own, their memory is one. */
  readonly devices?: number | undefined;
  /** Gets what `strict` finds outside of kernels. */
  readonly onFinding?: ((found: RunFinding) => void) | undefined;
  /** Hears of every kernel that ran to its end. */
  readonly onDispatch?: ((kernel: string, result: SimDispatchResult, packet: DispatchPacket) => void) | undefined;
  /** Told again and again while a kernel can only go on when a program, or another kernel, has done something. */
  readonly onWaiting?: (() => void) | undefined;
  /** What lies in new memory of the device, zeros if not given; allocations are then looked at when they end. */
  readonly fresh?: FreshPattern | undefined;
  /** Records every dispatch. */
  readonly profiler?: RuntimeProfiler | undefined;
  /** Asked about every dispatch; the monitor that it gives observes it, alone. `codeObject` is the ELF that the kernel was loaded from. */
  readonly observe?:
    | ((kernel: SimKernel, packet: DispatchPacket, codeObject: Uint8Array, memory: DeviceMemory) => Monitor | undefined)
    | undefined;
  /** Kernels run one after the other, whatever their queues: one that is held by a debugger holds all. */
  readonly isSerial?: boolean | undefined;
  /** Events and signals carry this clock's time; needs `timing`. */
  readonly clock?: ModelClock | undefined;
}

/** Two moments of `performance.now()` as ticks. From one reading of both clocks: with two, a pause between could turn them round. */
function ticksBetween(began: number, ended: number): PacketTimes {
  const ticks = (milliseconds: number): bigint => BigInt(Math.round(milliseconds * CLOCK_KHZ));
  const end = nowTicks() - ticks(performance.now() - ended);
  return { start: end - ticks(ended - began), end };
}

export class SimRuntime implements RuntimeDevice {
  readonly target: TargetName;
  readonly buffer: SharedArrayBuffer;
  /** Descriptor of the memfd behind all memory. */
  readonly memoryDescriptor: number;
  /** Made when the first program has said where the window may be. */
  private made: { readonly device: SimDevice; readonly queue: number } | undefined;
  private readonly make: () => SimDevice;
  private readonly options: SimRuntimeOptions;
  private readonly kernels = new Map<number, SimKernel>();
  private readonly codeInMemory = new CodeInMemory();
  /** What modules were loaded from, while dispatches are observed. */
  private readonly codeObjects = new WeakMap<SimModule, Uint8Array>();
  private readonly fresh: FreshMemory | undefined;
  private readonly unwritten: UnwrittenMemory | undefined;
  private readonly clock: ModelClock | undefined;
  /** Addresses of allocations that are not the device's own memory: programs look at them while kernels run. */
  private readonly ofHost = new Set<number>();
  private small: SmallAllocations | undefined;
  /** Gives whole pages back to the system. */
  private readonly discard: (offset: number, size: number) => void;
  private readonly memoryBytes: number;

  /** `addonFile` is where worker threads find the addon; without it there is no memory beyond the window. */
  constructor(options: SimRuntimeOptions, addon: Addon, addonFile?: string) {
    this.target = options.target;
    this.options = options;
    if (options.fresh !== undefined) this.fresh = new FreshMemory(options.fresh);
    else if (options.strict !== undefined) this.unwritten = new UnwrittenMemory();
    this.clock = options.clock;
    const pages = MAX_WASM_PAGES;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.memoryBytes = addonFile === undefined || isWindowOnly(options) ? WINDOW_BYTES : memoryOf(options);
    const descriptor = addon.mapMemory(new Uint8Array(memory.buffer), this.memoryBytes);
    this.memoryDescriptor = descriptor;
    this.buffer = memory.buffer as unknown as SharedArrayBuffer;
    this.discard = (offset, size) => addon.discard(descriptor, offset, Math.ceil(size / PAGE) * PAGE);
    const host = nodeSimOptions();
    const source: FrameSource | undefined = addonFile === undefined ? undefined : { addon: addonFile, descriptor };
    this.make = () =>
      new VirtualGpu(options.target, {
        ...host,
        memory,
        discard: this.discard,
        beyond:
          this.memoryBytes === WINDOW_BYTES
            ? undefined
            : {
                bytes: this.memoryBytes,
                threads: Math.min(host.workerHost?.cores ?? 1, MAX_FRAME_THREADS),
                ...showFrom(source, memory),
                source,
              },
      });
  }

  private start(): { readonly device: SimDevice; readonly queue: number } {
    const device = this.make();
    // Without scopes in the cache policy an atomic does not say that the host looks at it.
    if (!targetInfo(this.target).scopedCachePolicy) device.memory.shareAtomics();
    device.memory.isSeenByHost = (address) => {
      const region = device.memory.find(address, 1);
      return region !== undefined && this.ofHost.has(region.base);
    };
    const queue = device.memory.alloc(DISPATCH_QUEUE_BYTES, 'queue');
    queue.view.setUint32(0x40, 0x10000, true);
    queue.view.setUint32(0x44, 0x20000, true);
    return { device, queue: queue.base };
  }
  private get device(): SimDevice {
    this.made ??= this.start();
    return this.made.device;
  }
  private get queue(): number {
    this.made ??= this.start();
    return this.made.queue;
  }
  get windowAddress(): number {
    return gpuWindow.base;
  }
  /** Puts the window where the first program has room for it. */
  placeWindow(address: number): void {
    if (this.made === undefined && WINDOW_ADDRESSES.includes(address)) moveWindow(address);
  }

  hello(): HelloReply {
    const info = targetInfo(this.target);
    const board = virtualBoard(this.target, this.options.timing?.chip);
    return {
      version: PROTOCOL_VERSION,
      devicePid: process.pid,
      memoryDescriptor: this.memoryDescriptor,
      computeUnits: board.computeUnits,
      windowAddress: gpuWindow.base,
      windowSize: this.memoryBytes,
      wavefrontSize: info.wavefrontSize,
      maxWorkgroupSize: info.maxWorkgroupSize,
      ldsBytes: info.ldsBytes,
      clockKhz: CLOCK_KHZ,
      devices: this.options.devices ?? 1,
      target: this.target,
      name: board.name,
    };
  }

  allocate(size: number, alignment: number, address: number, use: number): number {
    const base = this.allocateOfUse(size, alignment, address, use);
    if (use !== MemoryUse.Device) this.ofHost.add(base);
    return base;
  }
  private allocateOfUse(size: number, alignment: number, address: number, use: number): number {
    const { memory } = this.device;
    if (address !== 0) return memory.allocAt(address, size, 'program memory').base;
    // Allocations end with their page, as on hardware; the strict mode sees every byte beyond them.
    const bytes = this.options.strict === undefined ? Math.ceil(size / PAGE) * PAGE : size;
    const aligned = Math.min(Math.max(alignment, PAGE), 2 ** 21);
    if (use === MemoryUse.Device && bytes <= BLOCK_BYTES && this.isPlacedAsOnHardware) {
      return this.allocateSmall(bytes, aligned);
    }
    const region =
      use === MemoryUse.Own
        ? memory.alloc(bytes, 'allocation', false, aligned)
        : memory.allocData(bytes, 'allocation', aligned);
    if (use === MemoryUse.Device && !region.isBeyond) {
      this.fresh?.begin(region.base, memory.bytesAt(region.offset, region.size));
      this.unwritten?.begin(region.base, memory.bytesAt(region.offset, region.size));
    }
    return region.base;
  }
  /** Small allocations lie as on hardware, where programs that go over their end run. What looks for such errors or records allocations has them apart. */
  private get isPlacedAsOnHardware(): boolean {
    const { strict, observe } = this.options;
    return strict === undefined && observe === undefined && this.fresh === undefined;
  }
  private allocateSmall(bytes: number, alignment: number): number {
    const { memory } = this.device;
    this.small ??= new SmallAllocations({
      take: () => memory.alloc(BLOCK_BYTES, 'allocation', false, BLOCK_BYTES).base,
      give: (base) => this.freeRegion(base),
    });
    const { small } = this;
    memory.dividedBy = (address) => small.pieceAt(address);
    const address = small.allocate(bytes, alignment);
    memory.bytesAt(address - gpuWindow.base, bytes).fill(0);
    return address;
  }
  free(address: number): void {
    if (this.small?.free(address) !== true) this.freeRegion(address);
  }
  /** The pages go back to the system at once: nobody knows when the device needs this place again. */
  private freeRegion(address: number): void {
    const { memory } = this.device;
    const region = memory.find(address, 1);
    if (region !== undefined) this.fresh?.end(address, () => memory.bytesAt(region.offset, region.size));
    this.unwritten?.end(address);
    this.ofHost.delete(address);
    memory.free(address);
    if (region?.base === address) this.discard(region.offset, region.size);
  }
  /** What looks at all dispatches looks at one at a time. */
  get isConcurrent(): boolean {
    const { strict, timing, profiler, isSerial } = this.options;
    return strict === undefined && timing === undefined && profiler === undefined && isSerial !== true;
  }
  /** The clock's time depends on the order of packets. */
  get keepsOrder(): boolean {
    return this.clock !== undefined;
  }
  /** Under a clock or checks kernels run one after the other, but one that waits for another lets it pass (server.ts). */
  private get isPassable(): boolean {
    const { strict, timing, profiler, isSerial } = this.options;
    return (timing !== undefined || strict !== undefined) && profiler === undefined && isSerial !== true;
  }
  /** Data of programs whose memory has been given back. */
  get writtenMemory(): readonly WrittenMemory[] {
    return this.fresh?.ended ?? [];
  }
  offsetOf(address: number, size: number): number | undefined {
    const region = this.device.memory.find(address, size);
    return region === undefined ? undefined : region.offset + address - region.base;
  }
  beginsAt(address: number, size: number): boolean {
    const piece = this.small?.pieceAt(address);
    if (piece !== undefined) return !piece.isFree && piece.base === address && size <= piece.size;
    return this.device.memory.find(address, size)?.base === address;
  }
  map(address: number, size: number, source: number, writable: boolean): void {
    this.device.memory.map(address, size, source, writable);
  }
  unmap(address: number): void {
    this.device.memory.free(address);
  }

  allowExecution(address: number, size: number, isAllowed: boolean): void {
    this.codeInMemory.allow(address, size, isAllowed);
  }

  load(codeObject: Uint8Array): RuntimeModule {
    const module: SimModule = this.device.load(codeObject);
    if (this.options.observe !== undefined) this.codeObjects.set(module, codeObject);
    for (const kernel of module.kernels) this.kernels.set(kernel.descriptorAddress, kernel);
    const kernels = module.kernels.map(
      (k): LoadedSymbol => ({
        name: `${k.name}.kd`,
        kind: 'kernel',
        address: k.descriptorAddress,
        size: 64,
        kernargSize: k.kernargSize,
        kernargAlignment: 16,
        groupSegment: k.ldsSize,
        privateSegment: k.scratchSize,
        dynamicStack: k.descriptor.properties.usesDynamicStack !== 0,
      }),
    );
    const variables = module.variables.map(
      (v): LoadedSymbol => ({
        name: v.name,
        kind: 'variable',
        address: v.address,
        size: v.size,
        kernargSize: 0,
        kernargAlignment: 0,
        groupSegment: 0,
        privateSegment: 0,
        dynamicStack: false,
      }),
    );
    const { region } = module.loaded;
    return {
      address: region.base,
      size: region.size,
      symbols: [...kernels, ...variables],
      unload: () => {
        for (const kernel of module.kernels) this.kernels.delete(kernel.descriptorAddress);
        module.unload();
      },
    };
  }

  async dispatch(
    packet: DispatchPacket,
    signal: AbortSignal,
    onWaiting?: () => void,
  ): Promise<PacketTimes | undefined> {
    const { kernelObject } = packet;
    const kernel = this.kernels.get(kernelObject) ?? this.codeInMemory.kernelAt(this.device, kernelObject);
    if (kernel === undefined) {
      throw new WavesmithError(
        'runtime/bad-kernel-object',
        `No loaded kernel has its descriptor at 0x${kernelObject.toString(16)}, and there is no executable memory that one there describes.`,
        { hint: 'The packet is damaged, or the code object was unloaded.' },
      );
    }
    const { workgroupSize: block, gridSize } = packet;
    const whole = (n: number, d: number): number => Math.ceil(n / Math.max(d, 1));
    const {
      onDispatch,
      onFinding: _onFinding,
      profiler,
      observe,
      fresh: _fresh,
      target: _target,
      clock: _clock,
      devices: _devices,
      isSerial: _isSerial,
      ...options
    } = this.options;
    let times: PacketTimes | undefined;
    const request: SimDispatchRequest = {
      ...options,
      kernel,
      grid: [whole(gridSize[0], block[0]), whole(gridSize[1], block[1]), whole(gridSize[2], block[2])],
      block,
      gridWorkItems: gridSize,
      dynamicLds: Math.max(0, packet.groupSegmentSize - kernel.ldsSize),
      hostAnswers: true,
      concurrent: this.isConcurrent || this.isPassable,
      onWaiting: () => {
        onWaiting?.();
        options.onWaiting?.();
      },
      onRan: (began, ended) => {
        times = ticksBetween(began, ended);
      },
      segment: { kernarg: packet.kernargAddress, packet: packet.address, queue: this.queue },
      signal,
    };
    if (profiler !== undefined) {
      return await profiler.record(kernel, packet, async (monitors) => {
        const result = await this.device.dispatch({ ...request, monitors });
        return { result, times: this.timesOf(result) };
      });
    }
    const code = this.codeObjects.get(kernel.module);
    const monitor = code === undefined ? undefined : observe?.(kernel, packet, code, this.device.memory);
    const result = await this.device.dispatch(monitor === undefined ? request : { ...request, monitors: [monitor] });
    onDispatch?.(kernel.name, result, packet);
    // A failed assertion: the program hears of it under `--check`, too.
    if (result.stoppedBy?.fault.kind === 'trap') throw result.stoppedBy;
    return this.timesOf(result) ?? times;
  }

  private timesOf({ timing }: SimDispatchResult): PacketTimes | undefined {
    return timing === undefined ? undefined : this.clock?.kernel(timing.nanoseconds, timing.dirtyBytes);
  }

  barrier(packet: BarrierPacket): PacketTimes | undefined {
    this.options.profiler?.barrier(packet);
    // Nobody looks at one that only waits, so that the host does not wait for it.
    return packet.completion === 0 ? undefined : this.clock?.mark();
  }

  copied(packet: CopyPacket): PacketTimes | undefined {
    const { kind, to, from, bytes } = packet;
    const { timing } = this.options;
    if (kind !== 'fill') this.lookAtCopy(to, from, bytes);
    if (timing === undefined) return undefined;
    const { memory } = this.device;
    const regions = new Map<number, number>();
    for (const address of kind === 'fill' ? [to] : [to, from]) {
      const region = memory.allocationAt(address);
      if (region !== undefined) regions.set(region.base, Math.min(region.size, bytes));
    }
    const times = this.clock?.copy(kind, bytes, timing.copied(regions));
    this.options.profiler?.copied(packet, times);
    return times;
  }

  /** Looks at what a program has copied out of memory of the device. */
  private lookAtCopy(to: number, from: number, bytes: number): void {
    const { unwritten, device } = this;
    const region = unwritten === undefined ? undefined : device.memory.find(from, bytes);
    const target = device.memory.find(to, 1);
    if (
      region === undefined ||
      unwritten?.has(region.base) !== true ||
      (target !== undefined && unwritten.has(target.base))
    )
      return;
    const start = Math.ceil((from - region.base) / 4) * 4;
    const end = from - region.base + bytes;
    if (end <= start) return;
    const found = unwritten.copied(region.base, start, device.memory.bytesAt(region.offset + start, end - start));
    if (found !== undefined) this.options.onFinding?.(found);
  }

  close(): void {
    this.made?.device.close();
  }
}
