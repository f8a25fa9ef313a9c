// Running a program twice, with the kernels that it loads and with edited ones in their place, and comparing: its output, the files that it
// writes, and what each dispatch of an edited kernel leaves in memory against what the original leaves there.
import { WavesmithError } from '../base/index.ts';
import type { Kernel } from '../codeobject/index.ts';
import type { RunFinding } from '../device/sim/strict/findings.ts';
import { missedEdits, strictObjections } from '../iree/edits.ts';
import type { CodeObjectFacts } from '../iree/facts.ts';
import { type JudgeOptions, limitsOf } from '../iree/run.ts';
import type { IsolatedDispatch } from '../runtime/tool-records.ts';
import type { CodePlan, DispatchRange, ToolListener } from '../runtime/tool-server.ts';
import { type Comparison, type Verdict, verdictOf } from '../verdict/index.ts';
import { type BufferTypes, compareDispatch, type DispatchComparison } from './compare-dispatch.ts';
import { entryOf, findProgramEdits, kernelId, type ProgramEdits, type ReplacingCode } from './edits.ts';
import { commandOf, type ProgramManifest, readProgramManifest } from './manifest.ts';
import { type OutputFile, OutputFiles, type OutputResult } from './output-files.ts';
import { type ProgramDevice, type ProgramRun, runProgram } from './program-host.ts';
import { patchesOf } from './variables.ts';

export interface RunProgramOptions extends JudgeOptions {
  /** Makes the device: strict or not, with a limit of instructions for each kernel. */
  readonly device: (isStrict: boolean, maxInstructions: number | undefined) => ProgramDevice;
  /** The program and its arguments; default: those of init. */
  readonly command: readonly string[];
  /** Files that the program writes. */
  readonly outputs: readonly OutputFile[];
  /** Standard output is compared. */
  readonly stdout: boolean;
  /** Which dispatches of edited kernels are compared in memory, counted over all of them. */
  readonly range: DispatchRange;
  readonly types: BufferTypes;
  readonly timeout?: number | undefined;
  /** Keeps the outputs of both runs in this folder. */
  readonly save?: string | undefined;
  readonly report: (text: string) => void;
  readonly onProgress?: ((dispatches: number, kernel: string) => void) | undefined;
}

export interface ProgramSide {
  readonly seconds: number;
  readonly status: number;
  /** Kernels that ran on the virtual GPU and their instructions; on other GPUs not known. */
  readonly kernels: number | null;
  readonly instructions: number | null;
}

/** How often an edited kernel ran. */
export interface LaunchCount {
  readonly kernel: string;
  /** Dispatches of the edited kernel that were submitted, and those that completed under the library's eyes. */
  readonly dispatches: number;
  readonly compared: number;
}

export interface ProgramRunResult extends Verdict {
  readonly command: readonly string[];
  readonly target: string;
  readonly exact: boolean;
  readonly baseline: ProgramSide | null;
  readonly modified: ProgramSide | null;
  readonly launches: readonly LaunchCount[];
  readonly outputs: readonly OutputResult[];
  readonly dispatches: readonly DispatchComparison[];
  /** Why the modified program did not finish, null when it did. */
  readonly error: string | null;
}

/** Runs both sides. */
export async function runProgramFolder(folder: string, options: RunProgramOptions): Promise<ProgramRunResult> {
  const manifest = readProgramManifest(folder);
  const edits = await findProgramEdits(folder, manifest);
  const { exact, check = false, force } = options;
  const empty = { baseline: null, modified: null, launches: [], outputs: [], dispatches: [], error: null };
  const common = { command: options.command, target: manifest.target, exact, ...empty };
  const { notBuilt } = edits;
  if (notBuilt.length > 0) return { ...common, ...verdictOf({ comparisons: [], notBuilt }) };
  if (edits.codes.length === 0) {
    const nothing = 'No kernel was changed: baseline and modified code are the same';
    return { ...common, ...verdictOf({ comparisons: [], nothing }) };
  }
  const command = commandOf(manifest, options.command);
  const files = new OutputFiles(options.outputs, options.save);
  const baseline = new Side(manifest, undefined, options);
  files.beforeRun();
  const before = await baseline.run(command, options.device(check, undefined));
  const how = failureOf(before, true);
  if (how !== undefined) {
    files.putBack();
    throw new WavesmithError('hijack/baseline-failed', `'${command.join(' ')}' did not run: ${how}`, {
      hint: 'The unedited program must run; wavesmith exec shows more.',
    });
  }
  files.afterRun('baseline', options.stdout ? before.stdout : undefined);
  // On a GPU of the machine nothing is counted, and nothing is stopped.
  const limits = baseline.kernels === 0 ? undefined : limitsOf(baseline.longest, baseline.kernels);
  if (limits !== undefined && baseline.callsHost) {
    limits.maxInstructions = Math.max(limits.maxInstructions, WAITING_INSTRUCTIONS);
  }
  const modified = new Side(manifest, edits, options, limits?.maxKernels);
  files.beforeRun();
  const after = await modified.run(command, options.device(check, limits?.maxInstructions));
  const failure = failureOf(after, false);
  files.afterRun('modified', options.stdout ? after.stdout : undefined);
  const outputs = failure === undefined ? files.compare(options) : [];
  const failures = [
    ...modified.failures,
    ...outputs.flatMap((o) => (o.problem === null ? [] : [o.problem])),
    ...(failure === undefined ? [] : ['The modified program did not finish']),
    ...modified.dispatches.flatMap((d) =>
      d.status === 'done' ? [] : [`${d.kernel}: dispatch ${d.sequence} ended as '${d.status}'`],
    ),
  ];
  const differences =
    failure === undefined && after.status !== before.status
      ? [`The program ended with status ${after.status}, and ${before.status} before the edit`]
      : [];
  const comparisons: Comparison[] = [
    ...outputs.flatMap((o) => (o.comparison === null ? [] : [o.comparison])),
    ...modified.dispatches.flatMap((d) => d.places.map((p) => p.comparison)),
  ];
  const launched = new Set(modified.launches.filter((l) => l.dispatches > 0).map((l) => l.kernel));
  const missed = missedEdits(edits.groups, launched, false);
  const verdict = verdictOf({
    comparisons,
    failures,
    differences,
    notLaunched: missed.notLaunched,
    remarks: [...missed.remarks, ...edits.remarks, ...modified.remarks],
    nothing:
      comparisons.length === 0
        ? 'The program has no output, and no dispatch of an edited kernel was compared'
        : undefined,
    objections: [...edits.objections, ...strictObjections(baseline.findings, modified.findings, edits.placeOf)],
    exact,
    force,
  });
  return {
    ...common,
    command,
    baseline: baseline.summary(before),
    modified: modified.summary(after),
    launches: modified.launches,
    outputs,
    dispatches: modified.dispatches,
    error: failure ?? null,
    ...verdict,
  };
}

/** Why a run counts for nothing; an exit status other than 0 is the program's own affair. */
function failureOf(run: ProgramRun, isBaseline: boolean): string | undefined {
  if (run.fault !== undefined) return run.fault;
  if (run.timedOut) return 'it took too long';
  if (run.status >= 126) return `it ended with status ${run.status}`;
  return isBaseline && run.status !== 0 ? `it ended with status ${run.status}` : undefined;
}

/**
 * A kernel that waits for the host runs a loop meanwhile, so its count of instructions says how busy the machine was. One
 * wavefront alone ran 11 million instructions of such a loop in a second.
 */
const WAITING_INSTRUCTIONS = 300_000_000;

export function callsHost({ metadata }: Kernel): boolean {
  return metadata?.args.some((a) => a.valueKind === 'hidden_hostcall_buffer') === true;
}

/** One of the two runs. */
class Side {
  readonly dispatches: DispatchComparison[] = [];
  readonly findings: RunFinding[] = [];
  readonly failures: string[] = [];
  readonly remarks: string[] = [];
  kernels = 0;
  instructions = 0;
  longest = 0;
  /** Whether a kernel that the program loaded can call the host. */
  callsHost = false;
  private readonly manifest: ProgramManifest;
  private readonly edits: ProgramEdits | undefined;
  private readonly options: RunProgramOptions;
  private readonly maxKernels: number | undefined;
  private readonly counts = new Map<string, { dispatches: number; compared: number }>();
  private readonly baselines: ReadonlyMap<string, CodeObjectFacts>;

  /** With edits it is the modified side. */
  constructor(
    manifest: ProgramManifest,
    edits: ProgramEdits | undefined,
    options: RunProgramOptions,
    maxKernels?: number,
  ) {
    this.manifest = manifest;
    this.maxKernels = maxKernels;
    this.edits = edits;
    this.options = options;
    this.baselines = new Map(edits?.codes.map((c) => [c.entry.name, c.before]) ?? []);
    for (const group of edits?.groups ?? []) {
      for (const kernel of group) this.counts.set(kernel, { dispatches: 0, compared: 0 });
    }
  }

  get launches(): LaunchCount[] {
    return [...this.counts].map(([kernel, count]) => ({ kernel, ...count }));
  }

  run(command: readonly string[], device: ProgramDevice): Promise<ProgramRun> {
    const { options } = this;
    return runProgram(this.listener(), {
      device,
      command,
      range: options.range,
      show: 'none',
      timeout: options.timeout,
      maxKernels: this.maxKernels,
      report: options.report,
      onKernel: (kernel, { instructions, findings = [] }) => {
        this.kernels++;
        this.instructions += instructions;
        this.longest = Math.max(this.longest, instructions);
        this.findings.push(...findings);
        options.onProgress?.(this.kernels, kernel);
      },
    });
  }

  summary({ seconds, status }: ProgramRun): ProgramSide {
    const isKnown = this.options.device(false, undefined).kind === 'sim';
    return {
      seconds,
      status,
      kernels: isKnown ? this.kernels : null,
      instructions: isKnown ? this.instructions : null,
    };
  }

  private listener(): ToolListener {
    return {
      plan: (loaded) => this.plan(loaded),
      onReplaced: ({ object }, why) => {
        if (why === undefined) return;
        const names = object.kernels.slice(0, 3).map((k) => k.name);
        this.failures.push(`The edited code of ${names.join(', ')} could not be loaded (${why})`);
      },
      onDispatch: ({ code, kernel, isReplaced }) => {
        if (!isReplaced || code === undefined || kernel === undefined) return;
        const count = this.counts.get(this.idOf(code, kernel));
        if (count !== undefined) count.dispatches++;
      },
      onIsolated: (dispatch) => this.isolated(dispatch),
      onNote: ({ text, sequence }) => {
        const which = sequence === undefined ? '' : `dispatch ${sequence} was not compared: `;
        if (this.edits !== undefined) this.remarks.push(`${which}${text.replace(/\.$/, '')}`);
      },
    };
  }

  private codeOf(loaded: IsolatedDispatch['code']): ReplacingCode | undefined {
    const entry = entryOf(this.manifest, this.baselines, loaded);
    return this.edits?.codes.find((c) => c.entry === entry);
  }

  private idOf(loaded: IsolatedDispatch['code'], kernel: string): string {
    const entry = this.codeOf(loaded)?.entry;
    return entry === undefined ? kernel : kernelId(this.manifest, entry, kernel);
  }

  private plan(loaded: IsolatedDispatch['code']): CodePlan {
    const { edits } = this;
    this.callsHost ||= loaded.object.kernels.some(callsHost);
    if (edits === undefined) return { kernels: [] };
    const code = this.codeOf(loaded);
    if (code === undefined) {
      const edited = new Set(edits.codes.flatMap((c) => c.kernels));
      const stranger = loaded.object.kernels.find((k) => edited.has(k.name));
      const known = this.manifest.executables.some((e) => e.kernels.some((k) => k.name === stranger?.name));
      if (stranger !== undefined && known && !this.isOriginalOf(loaded)) {
        this.remarks.push(
          `a code object with another '${stranger.name}' than the folder's was loaded and not replaced`,
        );
      }
      return { kernels: [] };
    }
    return {
      kernels: code.kernels.map((kernel) => {
        const waits = loaded.object.kernels.some((k) => k.name === kernel && callsHost(k));
        if (waits) {
          this.remarks.push(
            `${kernel} calls the host (printf, assert): its memory was not compared, for it would call twice`,
          );
        }
        return { kernel, report: true, isolate: !waits, compare: !waits, replacement: kernel };
      }),
      replacement: {
        object: code.object,
        bytes: code.bytes,
        patches: patchesOf(code.links.references, loaded.delta),
      },
    };
  }

  /** Whether a loaded code object is one of the folder, unedited. */
  private isOriginalOf(loaded: IsolatedDispatch['code']): boolean {
    return entryOf(this.manifest, this.baselines, loaded) !== undefined;
  }

  private isolated(dispatch: IsolatedDispatch): void {
    const kernel = this.idOf(dispatch.code, dispatch.kernel);
    const { types, tolerance, changedShare } = this.options;
    this.dispatches.push(compareDispatch(dispatch, kernel, types, { tolerance, changedShare }));
    const count = this.counts.get(kernel);
    if (count !== undefined && dispatch.status === 'done') count.compared++;
  }
}
