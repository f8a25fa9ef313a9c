// What only the virtual GPU knows: how it is opened, what a dispatch may ask of it, and what its results say besides.
import type { DispatchRequest, DispatchResult } from '../device.ts';
import type { DeviceFault } from '../fault.ts';
import type { Monitor } from './dispatch/monitor.ts';
import type { RunOrder } from './dispatch/order.ts';
import type { MatrixMode } from './interpreter/matrix.ts';
import type { MemoryOptions } from './state/memory.ts';
import type { RunFinding, StrictOptions } from './strict/findings.ts';
import type { LaunchTime, TimingModel } from './timing/model.ts';
import type { WorkerHost } from './workers/worker-host.ts';

/** How kernels run on the virtual GPU. */
export interface SimRunOptions {
  /** What executes: code compiled to WebAssembly (the default), or the reference interpreter. */
  readonly engine?: 'compiled' | 'interpreter' | undefined;
  /** How matrix instructions are computed: as the hardware (the default), or with plain f32 arithmetic. */
  readonly mfma?: MatrixMode | undefined;
  /** Threads (default: as many as the host has, 1 where it has none to give). */
  readonly workers?: number | undefined;
  /** Strict mode: every access, register and wait is checked; findings are in the result. */
  readonly strict?: StrictOptions | undefined;
  /**
   * The clocks of kernels (s_memtime, s_memrealtime) show the host's time: this many ms ahead of `performance.timeOrigin` +
   * `performance.now()`. Without it they count instructions, the same in every run.
   */
  readonly hostClockOffset?: number | undefined;
  /** Default: `ascending`. */
  readonly order?: RunOrder | undefined;
  /** Times dispatches; they run as they would without. */
  readonly timing?: TimingModel | undefined;
}

export interface SimOptions extends MemoryOptions {
  /** Where worker threads come from; without it everything runs in the calling thread. */
  readonly workerHost?: WorkerHost | undefined;
  /** How dispatches run that do not say otherwise. */
  readonly run?: SimRunOptions | undefined;
}

/** A dispatch on the virtual GPU. */
export interface SimDispatchRequest extends DispatchRequest, SimRunOptions {
  /** Observers; they make it run on the interpreter in one thread, unless there is one with an engine of its own. */
  readonly monitors?: readonly Monitor[] | undefined;
  /** Runs beside other dispatches instead of behind them. They take turns of about 40 ms; not with `strict`. With `timing` only beside one that waits: what samples store is undone. */
  readonly concurrent?: boolean | undefined;
  /** The host may do what a kernel waits for: when nothing of the dispatch can go on, it sleeps now and then instead of looking all the time. */
  readonly hostAnswers?: boolean | undefined;
  /** With `hostAnswers`: told again and again while it sleeps. */
  readonly onWaiting?: (() => void) | undefined;
  /** Told when wavefronts ran (`performance.now()`): without checks and the first compilation. */
  readonly onRan?: ((began: number, ended: number) => void) | undefined;
  /** Runs only these workgroups, by their number in the grid; the results are incomplete. */
  readonly only?: readonly number[] | undefined;
  /** Runs only workgroups that the clock has sampled: the time is the same, the results are incomplete. */
  readonly sampleOnly?: boolean | undefined;
}

/** What the virtual GPU says about a dispatch. */
export interface SimDispatchResult extends DispatchResult {
  readonly instructions: number;
  readonly instructionsByEncoding: Readonly<Record<string, number>>;
  /** Findings of strict mode, in the order in which they first happened. */
  readonly findings?: readonly RunFinding[] | undefined;
  /** Findings that were not kept: there are too many different ones. */
  readonly findingsDropped?: number | undefined;
  /** @deprecated The first name of `findings`. */
  readonly diagnostics?: readonly RunFinding[] | undefined;
  /** @deprecated The first name of `findingsDropped`. */
  readonly diagnosticsDropped?: number | undefined;
  /** False when a finding ended the run; then the counts are what had been done. */
  readonly isComplete?: boolean | undefined;
  /** The fault that ended a strict run and is among its findings as `run/stopped`. */
  readonly stoppedBy?: DeviceFault | undefined;
  /** Modelled time, when it was asked for. */
  readonly timing?: LaunchTime | undefined;
}
