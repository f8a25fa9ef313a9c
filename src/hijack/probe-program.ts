// A probe in a program: each code object that the program loads is instrumented, loaded beside the original, whose variables it uses, and
// runs in its place. The probe's memory is told while the program runs, so what was recorded is there however the program ends.
import { WavesmithError } from '../base/index.ts';
import { DeviceFault } from '../device/index.ts';
import {
  atOriginal,
  type Instrumented,
  type InstrumentOptions,
  instrument,
  type ProbeDefinition,
} from '../instrument/index.ts';
import { sha256 } from '../iree/files.ts';
import { type Patch, PatchKind } from '../runtime/generated/tool-messages.ts';
import type { LoadedCode, ToolDispatch } from '../runtime/tool-records.ts';
import { type CodePlan, type DispatchRange, EVERY_DISPATCH, type ToolListener } from '../runtime/tool-server.ts';
import { compareDispatch, type DispatchComparison } from './compare-dispatch.ts';
import { type ProgramDevice, type ProgramRun, type ProgramRunOptions, runProgram } from './program-host.ts';
import { callsHost } from './run.ts';

export interface ProbeProgramOptions
  extends Pick<
    InstrumentOptions,
    'kernel' | 'growth' | 'settings' | 'cache' | 'workgroup' | 'wave' | 'every' | 'only'
  > {
  readonly device: ProgramDevice;
  /** Dispatches that run the probe, counted over all dispatches of instrumented kernels; all by default. */
  readonly range?: DispatchRange | undefined;
  /** Each of these dispatches runs the original too, on the same memory, and what both leave is compared. */
  readonly isCompared?: boolean | undefined;
  readonly show: ProgramRunOptions['show'];
  readonly report: (text: string) => void;
}

/** How a kernel ran in the program. */
export interface KernelLaunches {
  readonly kernel: string;
  readonly dispatches: number;
  /** Those that ran the probe. */
  readonly probed: number;
}

/** A code object of the program. */
export interface ProbedCode {
  /** As the runtime names where it came from. */
  readonly origin: string;
  readonly sha256: string;
  readonly launches: readonly KernelLaunches[];
  /** Undefined when it ran as it was. */
  readonly instrumented: Instrumented | undefined;
  /** Why it ran as it was. */
  readonly problem: string | undefined;
  /** What the probe found; undefined without `instrumented`. */
  readonly found: Readonly<Record<string, unknown>> | undefined;
}

export interface ProbedProgram {
  readonly codes: readonly ProbedCode[];
  /** Dispatches that were compared; none when it was not asked for. */
  readonly comparisons: readonly DispatchComparison[];
  readonly run: ProgramRun;
  /** False when a process ended without telling what its last kernels recorded: it was killed, or left by `_exit`. */
  readonly isClosed: boolean;
  readonly remarks: readonly string[];
}

/** Runs a program with a probe in its kernels. Errors of the probe's own code end it before its kernels run. */
export async function probeProgram(
  probe: ProbeDefinition,
  command: readonly string[],
  options: ProbeProgramOptions,
): Promise<ProbedProgram> {
  const host = new ProbeHost(probe, options);
  const run = await runProgram(host.listener(), {
    device: options.device,
    command,
    range: options.range ?? EVERY_DISPATCH,
    show: options.show,
    report: options.report,
    explain: (error) => host.explain(error),
  });
  if (host.failure !== undefined) throw host.failure;
  return {
    codes: host.codes(),
    comparisons: host.comparisons,
    run,
    isClosed: host.isClosed,
    remarks: host.remarks,
  };
}

/** A code object by its content, however often it is loaded. */
interface Entry {
  readonly origin: string;
  readonly hash: string;
  readonly kernels: readonly string[];
  readonly instrumented: Instrumented | undefined;
  problem: string | undefined;
  /** The probe's memory in each process that loaded it. */
  readonly memories: Map<LoadedCode, Uint8Array>;
  readonly launches: Map<string, { dispatches: number; probed: number }>;
}

class ProbeHost {
  readonly remarks: string[] = [];
  readonly comparisons: DispatchComparison[] = [];
  /** An error of the probe, which is the same for every code object. */
  failure: WavesmithError | undefined;
  private readonly probe: ProbeDefinition;
  private readonly options: ProbeProgramOptions;
  /** Code objects whose last records have not come. */
  private readonly open = new Set<LoadedCode>();
  private readonly entries = new Map<string, Entry>();

  constructor(probe: ProbeDefinition, options: ProbeProgramOptions) {
    this.probe = probe;
    this.options = options;
  }

  listener(): ToolListener {
    return {
      plan: (code) => this.plan(code),
      onReplaced: (code, why) => {
        const entry = this.entryOf(code);
        if (why !== undefined && entry !== undefined)
          entry.problem = `the instrumented code could not be loaded: ${why}`;
      },
      onWatched: (code, offset, bytes) => this.entryOf(code)?.memories.get(code)?.set(bytes, offset),
      onWatchedEnd: (code) => this.open.delete(code),
      onDispatch: (dispatch) => this.dispatched(dispatch),
      onIsolated: (dispatch) => {
        if (dispatch.status === 'done')
          this.comparisons.push(compareDispatch(dispatch, dispatch.kernel, new Map(), {}));
        else this.remarks.push(`a dispatch of ${dispatch.kernel} was not compared: ${dispatch.status}`);
      },
      onNote: ({ text }) => this.remarks.push(text),
    };
  }

  /** Whether every process told its last records before it ended. */
  get isClosed(): boolean {
    return this.open.size === 0;
  }

  /** A fault at the place of the program's own code. */
  explain(error: unknown): unknown {
    if (!(error instanceof DeviceFault) || error.position.pc === undefined) return error;
    const { pc } = error.position;
    for (const { kernels, instrumented, problem } of this.entries.values()) {
      if (instrumented === undefined || problem !== undefined || !kernels.includes(error.fault.kernel)) continue;
      // Where some dispatches run the original, the instruction tells which of the two this one ran.
      const isProbed = instrumented.costs.some(({ kernel }) => kernel === error.fault.kernel);
      const mayBeEither = this.options.range !== undefined && error.message.includes(`'${textAt(instrumented, pc)}'`);
      const isOriginal = !isProbed || mayBeEither;
      return isOriginal ? error : atOriginal(error, instrumented.pcs);
    }
    return error;
  }

  codes(): ProbedCode[] {
    return [...this.entries.values()].map(({ origin, hash, kernels, instrumented, problem, memories, launches }) => ({
      origin,
      sha256: hash,
      launches: kernels.map((kernel) => ({ kernel, ...(launches.get(kernel) ?? { dispatches: 0, probed: 0 }) })),
      instrumented: problem === undefined ? instrumented : undefined,
      problem,
      found: problem === undefined ? instrumented?.report(...memories.values()) : undefined,
    }));
  }

  private entryOf({ bytes }: LoadedCode): Entry | undefined {
    return this.entries.get(sha256(bytes));
  }

  private plan(code: LoadedCode): CodePlan {
    const hash = sha256(code.bytes);
    let entry = this.entries.get(hash);
    if (entry === undefined) {
      entry = this.instrumented(code, hash);
      this.entries.set(hash, entry);
    }
    const kernels = entry.kernels.map((kernel) => ({ kernel, report: true }));
    const { instrumented } = entry;
    if (instrumented === undefined || instrumented.placed === 0) return { kernels };
    const { codeObject, memory, costs } = instrumented;
    // A kernel without a point runs as it was.
    const changed = new Set(costs.map(({ kernel }) => kernel));
    this.open.add(code);
    entry.memories.set(code, new Uint8Array(memory.size));
    return {
      kernels: kernels.map((one) =>
        changed.has(one.kernel)
          ? {
              ...one,
              replacement: one.kernel,
              choose: this.options.range !== undefined,
              ...this.comparing(code, one.kernel),
            }
          : one,
      ),
      replacement: {
        object: codeObject,
        bytes: codeObject.bytes,
        patches: patchesOf(instrumented, code.delta),
        watched: memory,
      },
    };
  }

  /** A kernel that calls the host would call it twice. */
  private comparing({ object }: LoadedCode, name: string): { readonly isolate?: boolean; readonly compare?: boolean } {
    if (this.options.isCompared !== true) return {};
    if (object.kernels.some((k) => k.name === name && callsHost(k))) {
      this.remarks.push(`${name} calls the host (printf, assert): it was not compared, for it would call twice`);
      return {};
    }
    return { isolate: true, compare: true };
  }

  private instrumented({ object, uri }: LoadedCode, hash: string): Entry {
    const { kernel: pattern } = this.options;
    const kernels = object.kernels.map((k) => k.name).filter((name) => pattern?.test(name) ?? true);
    const common = { origin: uri, hash, kernels, memories: new Map(), launches: new Map() };
    if (kernels.length === 0) return { ...common, instrumented: undefined, problem: undefined };
    try {
      const instrumented = instrument(object, this.probe, this.options);
      const problem = instrumented.data.some(({ high }) => high === undefined)
        ? 'it computes an address of data whose high half cannot be written'
        : undefined;
      return { ...common, instrumented, problem };
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      if (error.code.startsWith('probe/')) this.failure ??= error;
      return { ...common, instrumented: undefined, problem: error.message };
    }
  }

  private dispatched({ code, kernel, isReplaced }: ToolDispatch): void {
    if (code === undefined || kernel === undefined) return;
    const launches = this.entryOf(code)?.launches;
    const count = launches?.get(kernel) ?? { dispatches: 0, probed: 0 };
    count.dispatches++;
    if (isReplaced) count.probed++;
    launches?.set(kernel, count);
  }
}

function textAt({ program }: Instrumented, pc: number): string | undefined {
  return program.at(pc)?.text;
}

/** The instrumented code uses the data of the loaded original: its variables are what the host and other kernels know. */
function patchesOf({ data }: Instrumented, delta: number): Patch[] {
  return data.flatMap(({ target, base, low, high }) => {
    if (high === undefined) return [];
    // A patch counts from its own place, the sum from the result of s_getpc_b64.
    const patch = (place: number, kind: Patch['kind']): Patch => ({
      place,
      kind,
      target: delta + target + (place - base),
    });
    return [patch(low, PatchKind.Rel32Low), patch(high, PatchKind.Rel32High)];
  });
}
