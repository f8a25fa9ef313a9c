// Room `device/sim`: the virtual GPU. A dispatch goes from this file to dispatch/ (checks, workgroups in turn), which starts waves
// (state/) and lets an engine run them: interpreter/ is the reference, wasm/ compiles, and both act on the same bytes.
// Begin with this file, then state/layout.ts and state/wave.ts (the machine), interpreter/loaded-code.ts (one instruction),
// dispatch/runner.ts (the turns). module.ts loads code objects; options.ts is what only this device knows.
import { WavesmithError } from '../../base/index.ts';
import { readCodeObject } from '../../codeobject/index.ts';
import { isTargetName } from '../../isa/index.ts';
import type { TargetName } from '../../isa/types.ts';
import { checkLoadable } from '../checks.ts';
import type { Device, DeviceAddress, DeviceBuffer } from '../device.ts';
import { requireBytes } from '../values.ts';
import { runDispatch } from './dispatch/dispatch.ts';
import { type SimKernel, SimModule } from './module.ts';
import type { SimDispatchRequest, SimDispatchResult, SimOptions, SimRunOptions } from './options.ts';
import { gpuWindow, MAX_WASM_PAGES, WASM_PAGE } from './state/layout.ts';
import { DeviceMemory } from './state/memory.ts';
import { PlacePool } from './state/places.ts';
import { dispatchStrict } from './strict/dispatch.ts';
import { MemoryHistory } from './strict/history.ts';
import { Crew } from './workers/crew.ts';

/** Dispatches that run at the same time. ROCm gives a process 4 hardware queues (GPU_MAX_HW_QUEUES); a machine has several GPUs. */
const MAX_CONCURRENT = 16;

/** The virtual GPU. */
export class SimDevice implements Device {
  readonly kind = 'sim';
  readonly placesDispatch = true;
  readonly heapRange = [gpuWindow.base, gpuWindow.base + MAX_WASM_PAGES * WASM_PAGE] as const;
  readonly target: TargetName;
  readonly memory: DeviceMemory;
  /** Places of dispatches that run at the same time: a wave block is one dispatch's from its first to its last workgroup. */
  private readonly freePlaces: PlacePool[];
  private readonly waitingForPlaces: (() => void)[] = [];
  private readonly crew: Crew | undefined;
  private readonly run: SimRunOptions;
  /** Which bytes of the buffers have been written, for strict mode. */
  private readonly history: MemoryHistory;
  /** The dispatch that runs last of those that run one after the other. */
  private lastDispatch: Promise<unknown> | undefined;
  /** End the dispatches that run. */
  private readonly endings = new Set<AbortController>();
  private isClosed = false;

  constructor(target: TargetName, options: SimOptions = {}) {
    if (!isTargetName(target))
      throw new WavesmithError('device/unsupported-target', `No device runs code for ${String(target)}.`);
    this.target = target;
    this.memory = new DeviceMemory(options);
    this.history = new MemoryHistory(this.memory);
    this.freePlaces = Array.from({ length: MAX_CONCURRENT }, () => new PlacePool(this.memory));
    const { workerHost, run = {} } = options;
    this.run = run;
    this.crew = workerHost === undefined || !this.memory.isShared ? undefined : new Crew(workerHost, this.memory);
  }

  alloc(size: number, label = 'buffer'): DeviceBuffer {
    this.requireOpen();
    const region = this.memory.alloc(size, label);
    this.history.alloc(region);
    return { address: region.base, size, label };
  }
  allocAt(address: DeviceAddress, size: number, label = 'buffer'): DeviceBuffer {
    this.requireOpen();
    this.history.alloc(this.memory.allocAt(address, size, label));
    return { address, size, label };
  }
  map(address: DeviceAddress, size: number, source: DeviceAddress): DeviceBuffer {
    this.requireOpen();
    const { label } = this.memory.map(address, size, source, true);
    return { address, size, label };
  }
  free(buffer: DeviceBuffer): void {
    this.requireOpen();
    if (!this.memory.free(buffer.address)) {
      throw new WavesmithError('device/double-free', `Buffer '${buffer.label}' is not allocated.`);
    }
    this.history.free(buffer.address);
  }
  write(buffer: DeviceBuffer, bytes: Uint8Array, offset = 0): void {
    requireBytes(bytes, 'write');
    this.range(buffer, offset, bytes.length).set(bytes);
    this.history.write(buffer.address, offset, bytes.length);
  }
  read(buffer: DeviceBuffer, offset = 0, size = buffer.size - offset, into?: Uint8Array): Uint8Array {
    const bytes = this.range(buffer, offset, size);
    if (into === undefined) return bytes.slice();
    into.set(bytes);
    return into;
  }
  copy(destination: DeviceBuffer, source: DeviceBuffer, size = Math.min(source.size, destination.size)): void {
    this.range(destination, 0, size).set(this.range(source, 0, size));
    this.history.write(destination.address, 0, size);
  }

  private range(buffer: DeviceBuffer, offset: number, size: number): Uint8Array {
    this.requireOpen();
    const isRange = Number.isInteger(offset) && Number.isInteger(size) && offset >= 0 && size >= 0;
    const region = isRange ? this.memory.find(buffer.address + offset, size) : undefined;
    if (region === undefined || region.base !== buffer.address) {
      throw new WavesmithError(
        'device/out-of-bounds',
        `Bytes ${offset} to ${offset + size} are outside buffer '${buffer.label}' (${buffer.size} bytes), or it was freed.`,
      );
    }
    return region.bytes.subarray(offset, offset + size);
  }

  private requireOpen(): void {
    if (this.isClosed) throw new WavesmithError('device/closed', 'The device was closed.');
  }

  load(codeObject: Uint8Array, address?: DeviceAddress): SimModule {
    this.requireOpen();
    requireBytes(codeObject, 'load');
    const object = readCodeObject(codeObject);
    checkLoadable(object, this.target);
    return SimModule.load(this.memory, this.target, object, address);
  }

  async dispatch(given: SimDispatchRequest): Promise<SimDispatchResult> {
    const { run } = this;
    const request: SimDispatchRequest = {
      ...given,
      engine: given.engine ?? run.engine,
      mfma: given.mfma ?? run.mfma,
      workers: given.workers ?? run.workers,
      strict: given.strict ?? run.strict,
      order: given.order ?? run.order,
      hostClockOffset: given.hostClockOffset ?? run.hostClockOffset,
      timing: given.timing ?? run.timing,
    };
    this.requireOpen();
    const kernel = request.kernel as SimKernel;
    const module = kernel?.module;
    if (!(module instanceof SimModule) || !module.isLoadedIn(this.memory)) {
      throw new WavesmithError('device/not-loaded', `Kernel '${kernel?.name}' is not loaded on this device.`);
    }
    module.hold();
    const before = request.concurrent === true ? undefined : this.lastDispatch;
    const start = () => this.start(kernel, request).finally(() => module.release());
    const result = before === undefined ? start() : before.then(start);
    if (request.concurrent === true) return await result;
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

  private async start(kernel: SimKernel, request: SimDispatchRequest): Promise<SimDispatchResult> {
    this.requireOpen();
    const { memory, crew, history, freePlaces } = this;
    while (freePlaces.length === 0) await new Promise<void>((resolve) => this.waitingForPlaces.push(resolve));
    const places = freePlaces.pop() as PlacePool;
    const ending = new AbortController();
    const abort = (): void => ending.abort();
    if (request.signal?.aborted) abort();
    request.signal?.addEventListener('abort', abort);
    this.endings.add(ending);
    const run = (one: SimDispatchRequest) =>
      runDispatch({ memory, places, crew }, kernel, { ...one, signal: ending.signal });
    try {
      if (request.strict === undefined) {
        history.unwatched();
        return await run(request);
      }
      const { kernargSize, module } = kernel;
      const offsetOf = (kind: string) => kernel.arguments.find(({ valueKind }) => valueKind === kind)?.offset;
      const [gridSync, hostcall] = [offsetOf('hidden_multigrid_sync_arg'), offsetOf('hidden_hostcall_buffer')];
      const { lines, heapCode } = module;
      const { hostAnswers } = request;
      const known = { kernargSize, gridSync, hostcall, heapCode, lines, hostAnswers };
      return await dispatchStrict(request, known, history, run);
    } finally {
      request.signal?.removeEventListener('abort', abort);
      this.endings.delete(ending);
      freePlaces.push(places);
      this.waitingForPlaces.shift()?.();
    }
  }

  close(): void {
    this.isClosed = true;
    for (const ending of this.endings) ending.abort();
    this.crew?.close();
  }
}
