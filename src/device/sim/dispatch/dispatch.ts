// Room `device/sim/dispatch`: one dispatch from request to end: checks, kernel arguments, first state of waves, workgroups in turn,
// faults, progress.
// Begin with this file, then launch.ts (what a checked dispatch is) and runner.ts (how waves take turns).
//
// Runs a dispatch to its end: checks it, runs its workgroups, comes back to the host's event loop now and then, counts.
import { WavesmithError } from '../../../base/index.ts';
import { descriptorRegisters, occupancy } from '../../../codeobject/index.ts';
import { targetInfo } from '../../../isa/index.ts';
import { DeviceFault, DispatchAborted } from '../../fault.ts';
import { Interpreter } from '../interpreter/interpreter.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { SimKernel } from '../module.ts';
import type { SimDispatchRequest, SimDispatchResult } from '../options.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { type PlacePool, RepeatablePlaces } from '../state/places.ts';
import type { RecordedLaunch } from '../timing/model.ts';
import type { Crew, CrewRun } from '../workers/crew.ts';
import { createEngine } from './create-engine.ts';
import { emptyResult } from './empty.ts';
import { countsByEncoding } from './engine.ts';
import { expectedMs, noteRun } from './expected.ts';
import { contextOf, type Launch } from './launch.ts';
import type { DispatchInfo, Monitor } from './monitor.ts';
import { type PreparedLaunch, prepareLaunch } from './prepare.ts';
import { LocalProgress, MAX_SHARED_WORKGROUPS, type Progress, SharedProgress } from './progress.ts';
import { Runner } from './runner.ts';
import { isOrderVisible } from './traits.ts';
import { type DoneMessage, failureError } from './worker-messages.ts';

/** Time between two returns to the event loop. */
const SLICE_MS = 40;
/** The first time it is seen whether worker threads are worth it. */
const FIRST_SLICE_MS = 2;
/** The second time: V8 has optimized the code by then. */
const SECOND_SLICE_MS = 10;
/** Times as fast as in the first slice that optimized code is, at most. */
const OPTIMIZED = 4;
/** Work that must be left, ms in one thread, for other threads to join; more when they have to be started. To join takes them 0.5 ms of processor time. */
const WORTH_MS = 4;
const MAX_WORKERS = 256;
/** Turns of the event loop that a kernel which waits for the host takes before it sleeps: what the host answers at once costs no sleep. */
const EAGER_TURNS = 64;
const SLEEP_MS = 1;
/** What a wavefront that waits would have run in that time, for the budget: 11 million instructions a second. */
const SLEPT_INSTRUCTIONS = 11_000;

/** What a dispatch uses of its device. */
export interface DispatchDevice {
  readonly memory: DeviceMemory;
  readonly places: PlacePool;
  /** Worker threads, where there are any. */
  readonly crew: Crew | undefined;
}

/** Checks a request and runs it. */
export async function runDispatch(
  device: DispatchDevice,
  kernel: SimKernel,
  request: SimDispatchRequest,
): Promise<SimDispatchResult> {
  const prepared = prepareLaunch(device.memory, kernel, request);
  try {
    const { loaded } = kernel.module;
    const { timing } = request;
    const chosen = chosenGroups(request, prepared.launch.workgroups);
    if (timing === undefined) return (await runLaunch(device, loaded, prepared, request, chosen)).result;
    const recorded = timing.record({ ...device, loaded, launch: prepared.launch });
    const only = request.sampleOnly === true ? sampledGroups(recorded, timing.chip.get('xccs')) : chosen;
    const replayed = timing.replay(recorded);
    // Kernels are told the time of the model where it differs from the host's.
    const clockReadings = request.hostClockOffset === undefined ? timing.readings(replayed) : undefined;
    const launch = { ...prepared.launch, clockReadings };
    const { result, waited } = await runLaunch(device, loaded, { ...prepared, launch }, request, only);
    const instructions = result.instructions / Math.max(1, result.wavefronts);
    return { ...result, timing: timing.time(replayed, instructions, waited) };
  } finally {
    prepared.end();
  }
}

/** Workgroups that a request chooses; undefined for all. */
function chosenGroups({ only }: SimDispatchRequest, workgroups: number): readonly number[] | undefined {
  const isGroup = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < workgroups;
  const bad = only?.find((n) => !isGroup(n));
  if (bad === undefined) return only;
  throw new WavesmithError('device/bad-workgroup', `${bad} is no workgroup of a launch of ${workgroups}.`);
}

/** Workgroups that are run when only the sample is: enough to know how long waves are. */
function sampledGroups({ plan, launch }: RecordedLaunch, dies: number): number[] {
  return plan.groups.slice(0, 2).flatMap((n) => (n * dies < launch.workgroups ? [n * dies] : []));
}

/** Workgroups that the hardware would run at the same time. */
function residentWorkgroups(launch: Launch): number {
  const registers = descriptorRegisters(launch.descriptor);
  const info = targetInfo(launch.target);
  const { workgroupsPerCu } = occupancy(
    {
      vgprs: registers.vgprs + registers.agprs,
      sgprs: registers.sgprs,
      ldsBytes: launch.ldsBytes,
      workgroupSize: launch.block[0] * launch.block[1] * launch.block[2],
    },
    info,
  );
  return Math.max(1, workgroupsPerCu) * info.board.computeUnits;
}

/** A launch that came to its end. */
interface Ran {
  readonly result: SimDispatchResult;
  /** Cycles that a workgroup waited for by reading the cycle counter, beyond its instructions; of the one with most. */
  readonly waited: number;
}

async function runLaunch(
  device: DispatchDevice,
  loaded: LoadedCode,
  { launch }: PreparedLaunch,
  request: SimDispatchRequest,
  only?: readonly number[],
): Promise<Ran> {
  const { memory, places } = device;
  const { monitors = [], onProgress, signal } = request;
  const empty = monitors.length > 0 || only !== undefined || signal?.aborted ? undefined : emptyResult(loaded, launch);
  if (empty !== undefined && empty.instructions <= launch.budget) {
    onProgress?.(0, launch.workgroups);
    request.onRan?.(performance.now(), performance.now());
    onProgress?.(launch.workgroups, launch.workgroups);
    return { result: empty, waited: 0 };
  }
  loaded.useMatrixMode(launch.mfma);
  // A monitor that is alone may bring compiled code with its checks; others see every instruction on the interpreter.
  const alone = monitors.length === 1 && launch.engine === 'compiled' ? monitors[0] : undefined;
  const own = alone?.engine?.({ loaded, launch, memory });
  const isObserved = monitors.length > 0 && own === undefined;
  const engine = own ?? (isObserved ? new Interpreter(loaded) : createEngine({ loaded, launch, memory }));
  const local = new LocalProgress(only?.length ?? launch.workgroups);
  const repeatable = isObserved ? new RepeatablePlaces(places, launch) : undefined;
  const runner = new Runner({
    memory,
    loaded,
    launch,
    only,
    context: contextOf(launch),
    engine,
    progress: local,
    window: residentWorkgroups(launch),
    takePlace: () => (repeatable === undefined ? places.take(launch) : repeatable.take()),
    givePlace: (place) => (repeatable ?? places).give(place),
    repeatable,
    monitors,
  });
  const share = new CrewShare(device, loaded, launch, only === undefined ? workersFor(device, request) : 1);
  let progress: Progress = local;
  const abort = (): void => progress.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  onProgress?.(0, launch.workgroups);
  const pause = async (): Promise<void> => {
    onProgress?.(progress.done, launch.workgroups);
    await hostTurn();
  };
  try {
    const kernarg = memory.access(launch.kernarg, 1, false);
    if (isObserved) {
      await runObserved(runner, monitors, { loaded, launch, memory, kernarg }, pause);
    } else {
      alone?.startDispatch?.({ loaded, launch, memory, kernarg });
      let slice = FIRST_SLICE_MS;
      let looked = { ms: 0, ran: 0 };
      let eager = 0;
      const join = (expected: number): void => {
        const shared = share.join(progress, expected);
        if (shared === undefined) return;
        progress = shared;
        runner.share(shared);
      };
      /** Time of this thread's work so far, ms; compiling the first code is none. Undefined when it says nothing about the work. */
      const ranMs = (): number | undefined =>
        runner.followsHostClock || runner.began === undefined ? undefined : performance.now() - runner.began;
      join(expectedMs(loaded, launch));
      while (!runner.run(performance.now() + slice)) {
        const ms = ranMs();
        if (ms === undefined || ms - looked.ms >= FIRST_SLICE_MS) {
          const isFirst = looked.ms === 0;
          slice = isFirst ? SECOND_SLICE_MS : SLICE_MS;
          if (ms !== undefined) {
            if (own === undefined) noteRun(loaded, launch, { progress, ms });
            const { instructions, ran, taken, done } = progress;
            const rate = (ms - looked.ms) / Math.max(1, ran - looked.ran) / (isFirst ? OPTIMIZED : 1);
            join((rate * instructions * (launch.workgroups - taken)) / Math.max(1, done));
            looked = { ms, ran };
          }
        }
        await pause();
        eager = request.hostAnswers === true && runner.isWaiting ? eager + 1 : 0;
        if (eager <= EAGER_TURNS) continue;
        await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
        progress.add(SLEPT_INSTRUCTIONS);
        request.onWaiting?.();
      }
      const ms = ranMs();
      await share.finish(() => onProgress?.(progress.done, launch.workgroups));
      if (own === undefined) noteRun(loaded, launch, { progress, ms });
      share.ranAlone(ms ?? 0);
      if (runner.began !== undefined) request.onRan?.(runner.began, performance.now());
    }
  } catch (error) {
    progress.abort();
    await share.finish(() => {}).catch(() => {});
    throw error;
  } finally {
    runner.close();
    repeatable?.close();
    if (own !== undefined) alone?.endDispatch?.();
    signal?.removeEventListener('abort', abort);
    onProgress?.(progress.done, launch.workgroups);
  }
  const failure = firstFailure(runner, share.done);
  if (failure !== undefined) throw failure;
  const result: SimDispatchResult = {
    instructions: progress.instructions,
    wavefronts: share.done.reduce((sum, d) => sum + d.wavefronts, runner.wavefronts),
    workgroups: progress.done,
    instructionsByEncoding: mergeCounts([countsByEncoding(engine), ...share.done.map((d) => d.instructionsByEncoding)]),
  };
  if (progress.isAborted) throw new DispatchAborted(launch.kernelName, result, launch.workgroups);
  if (progress.instructions > launch.budget) throw sumOverBudget(launch, progress.instructions);
  return { result, waited: Math.max(runner.waited, ...share.done.map((d) => d.waited)) };
}

/** Threads a dispatch may use. */
function workersFor({ crew }: DispatchDevice, { workers, order, monitors = [] }: SimDispatchRequest): number {
  if (workers !== undefined && !(Number.isInteger(workers) && workers >= 1 && workers <= MAX_WORKERS)) {
    throw new WavesmithError('device/bad-workers', `${workers} is not a number of threads from 1 to ${MAX_WORKERS}.`);
  }
  if (monitors.length > 0 || (order !== undefined && order !== 'ascending')) return 1;
  if (crew !== undefined) return workers ?? Math.min(crew.cores, MAX_WORKERS);
  if (workers !== undefined && workers > 1) {
    throw new WavesmithError('device/no-workers', 'This device has no worker threads.', {
      hint: 'Open it with a worker host and shared memory, or leave out the number of workers.',
    });
  }
  return 1;
}

/** The worker threads of one dispatch, which join it when it turns out to be long. */
class CrewShare {
  private readonly device: DispatchDevice;
  private readonly loaded: LoadedCode;
  private readonly launch: Launch;
  private readonly workers: number;
  private readonly runs: CrewRun[] = [];
  /** Workers of these. */
  private count = 0;
  private progress: SharedProgress | undefined;
  done: readonly DoneMessage[] = [];

  constructor(device: DispatchDevice, loaded: LoadedCode, launch: Launch, workers: number) {
    this.device = device;
    this.loaded = loaded;
    this.launch = launch;
    this.workers = workers;
  }

  /**
   * Has more workers join if what is left, `expected` ms in one thread, is worth it: those that run, and new ones, of which each has the time of a
   * start to do. Gives the progress that they share with the caller when the first ones join.
   */
  join(progress: Progress, expected: number): SharedProgress | undefined {
    const { crew, memory, places } = this.device;
    const { launch, loaded, count } = this;
    if (crew === undefined || (count === 0 && crew.isBusy) || launch.workgroups > MAX_SHARED_WORKGROUPS)
      return undefined;
    const most = Math.min(this.workers - 1, launch.workgroups - progress.taken, crew.most);
    const { startMs, missedMs } = crew;
    const worthNew =
      expected + missedMs < 2 * startMs + WORTH_MS ? 0 : startMs <= 0 ? most : (expected + missedMs) / startMs;
    const wanted = Math.min(most, (expected < WORTH_MS ? 0 : crew.size) + Math.floor(worthNew));
    if (wanted <= count) return undefined;
    if (progress.isAborted || progress.failed === 0 || isOrderVisible(loaded, launch.entry)) return undefined;
    let begun: SharedProgress | undefined;
    if (progress instanceof LocalProgress) {
      begun = new SharedProgress(memory.wasm.buffer, launch.workgroups);
      begun.takeOver(progress);
      this.progress = begun;
    }
    this.count = wanted;
    this.runs.push(crew.run(launch, loaded, places, count, wanted));
    return begun;
  }

  /** Notes that this thread has run for some ms, where others would have helped if they had been there. */
  ranAlone(ms: number): void {
    const { crew } = this.device;
    const isPossible = this.workers > 1 && this.launch.workgroups > 1 && this.count === 0;
    if (crew === undefined || !isPossible || ms < WORTH_MS || isOrderVisible(this.loaded, this.launch.entry)) return;
    crew.missedMs += ms;
  }

  /** Nothing is left to take: waits for the answers of the workers that have begun. */
  async finish(tick: () => void): Promise<void> {
    const runs = this.runs.splice(0);
    if (runs.length === 0) return;
    const timer = setInterval(tick, 100);
    try {
      for (const run of runs) run.withdraw();
      const answers = await Promise.allSettled(runs.flatMap((run) => run.answers));
      this.done = answers.flatMap((a) => (a.status === 'fulfilled' ? [a.value] : []));
      const lost = answers.find((a) => a.status === 'rejected');
      if (lost !== undefined) throw lost.reason;
    } finally {
      clearInterval(timer);
      this.progress?.end();
    }
  }
}

/** The error of the lowest workgroup that failed: the same for any number of threads. */
function firstFailure(runner: Runner, done: readonly DoneMessage[]): unknown {
  let best: { group: number; error: unknown } | undefined = runner.failure;
  for (const { failure } of done) {
    if (failure === undefined || (best !== undefined && best.group < failure.group)) continue;
    best = { group: failure.group, error: failureError(failure) };
  }
  return best?.error;
}

function mergeCounts(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const part of parts) {
    for (const [encoding, n] of Object.entries(part)) sum[encoding] = (sum[encoding] ?? 0) + n;
  }
  return sum;
}

function sumOverBudget({ kernelName: kernel, budget }: Launch, instructions: number): DeviceFault {
  return new DeviceFault(
    'sim/budget',
    `Kernel '${kernel}' executed ${instructions} instructions, more than its budget of ${budget}.`,
    { kind: 'budget', kernel },
    { hint: 'Raise the instruction budget.' },
  );
}

async function runObserved(
  runner: Runner,
  monitors: readonly Monitor[],
  info: DispatchInfo,
  pause: () => Promise<void>,
): Promise<void> {
  try {
    for (const monitor of monitors) monitor.startDispatch?.(info);
    await runner.runObserved(pause, SLICE_MS);
  } finally {
    for (const monitor of monitors) monitor.endDispatch?.();
  }
}

/** Lets the host's event loop run once: signals, timers, messages. */
export function hostTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (f: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate !== undefined) setImmediate(resolve);
    else {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(0);
    }
  });
}
