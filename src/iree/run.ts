// Running edited kernels by themselves: the baseline's and the modified module's on the same seeded memory, twice, and comparing every
// byte of it afterwards. Whole modules are run by run-module.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Pattern, WavesmithError } from '../base/index.ts';
import type { Dim3, DispatchResult } from '../device/device.ts';
import type { SimDispatchResult } from '../device/sim/options.ts';
import type { RunFinding } from '../device/sim/strict/findings.ts';
import { type TimingReport, timingReport } from '../device/sim/timing/report.ts';
import { fingerprint, newFindings } from '../finding/index.ts';
import {
  type Comparison,
  compareMemory,
  type Evidence,
  type MemoryResult,
  type MemoryRun,
  type Verdict,
  type VerdictKind,
  verdictOf,
  type WrittenBytes,
} from '../verdict/index.ts';
import { readBaseline } from './build.ts';
import { type DispatchPlan, labelOf, launchOf, type PlanOptions, planDispatch } from './dispatch-plan.ts';
import type { DispatchSite } from './dispatches.ts';
import { findEdits, type ModuleEdits, type ModulePair, missedEdits, ownerOf, strictObjections } from './edits.ts';
import { readFacts } from './facts.ts';
import { readWhole } from './files.ts';
import { type Manifest, type ManifestKernel, readManifest } from './manifest.ts';
import { type ModuleExecutable, readModule } from './module.ts';
import { type DeviceOpener, type DispatchRecorder, Side, type SideExecution } from './side.ts';

/** How results are judged. */
export interface JudgeOptions {
  /** Fail on any different bit. */
  readonly exact: boolean;
  /** Replaces the float types' own tolerances. */
  readonly tolerance?: number | undefined;
  /** Replaces the share of float elements that may change by more than half. */
  readonly changedShare?: number | undefined;
  /** Run both sides in strict mode. */
  readonly check?: boolean | undefined;
  /** Objections of checker and strict mode do not fail the verdict. */
  readonly force?: boolean | undefined;
}

export interface RunOptions extends JudgeOptions, PlanOptions {
  /** Opens a device; each side of the comparison gets one. */
  readonly openDevice: DeviceOpener;
  /** The modified module; default DIR/modified.vmfb. */
  readonly modified?: string | undefined;
  /** Kernel or executable names to run instead of the changed ones. */
  readonly dispatches: readonly string[];
  /** Run every kernel. */
  readonly all: boolean;
  readonly seed: number;
  /** Told workgroups that have ended, and all of them, of the launch that is running. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Limit of executed instructions per dispatch; the modified kernel's default is 20 times what the baseline took. */
  readonly maxInstructions?: number | undefined;
  /** Records the baseline's first run of each dispatch. */
  readonly record?: DispatchRecorder | undefined;
}

export interface BufferResult {
  readonly binding: number;
  readonly readOnly: boolean;
  /** Byte offset of the compared tensor in the binding. */
  readonly offset: number;
  readonly comparison: Comparison;
  /** Bytes of the tensor that each side wrote. */
  readonly written: WrittenBytes;
}

/** Bytes beside the tensors that a side wrote. */
export interface GapWrite {
  /** `binding 2`, or the bindings that share the allocation. */
  readonly where: string;
  /** Byte offset in the allocation, and length. */
  readonly offset: number;
  readonly bytes: number;
  readonly comparison: Comparison;
  readonly written: WrittenBytes;
}

export interface SideResult {
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly instructionsByEncoding: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Modelled time, where the device has a clock: that of the second run, whose code is in the caches. */
  readonly timing: TimingReport | null;
  /** Findings of the strict mode, both runs. */
  readonly findings: readonly RunFinding[];
  /** @deprecated The first name of `findings`. */
  readonly diagnostics: readonly RunFinding[];
}

export interface DispatchRun {
  readonly kernel: string;
  readonly executable: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly baseline: SideResult;
  readonly modified: SideResult | null;
  /** Why the modified kernel did not finish. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly buffers: readonly BufferResult[];
  /** Bytes of the allocations that belong to no tensor, and those of them that a side wrote. */
  readonly gapBytes: number;
  readonly gaps: readonly GapWrite[];
  readonly unwrittenReads: MemoryResult['unwrittenReads'];
  readonly verdict: VerdictKind;
  readonly reasons: readonly string[];
}

export interface RunResult extends Verdict {
  readonly target: string;
  readonly seed: number;
  readonly exact: boolean;
  readonly check: boolean;
  readonly runs: readonly DispatchRun[];
}

/** Reads both modules of a folder. */
export function readPair(
  folder: string,
  manifest: Manifest,
  modified: string | undefined,
  baseline: Uint8Array,
): ModulePair {
  const path = modified ?? join(folder, 'modified.vmfb');
  if (modified === undefined && !existsSync(path)) {
    throw new WavesmithError('hijack/no-modified', `There is no '${path}' to compare with.`, {
      hint: `Build it with 'wavesmith hijack build ${folder}'.`,
    });
  }
  const after = readModule(readWhole(path, 'the modified module')).executables;
  const before = readModule(baseline).executables;
  return { folder, manifest, baseline: before, modified: after, path, isFolders: modified === undefined };
}

interface Selected {
  readonly executable: string;
  readonly index: number;
  readonly kernel: ManifestKernel;
}

/** Runs what was edited (or asked for) in both modules. */
export async function run(folder: string, options: RunOptions): Promise<RunResult> {
  const manifest = readManifest(folder);
  const pair = readPair(folder, manifest, options.modified, readBaseline(folder, manifest));
  const known = knownKernels(pair);
  const edits = await findEdits(pair);
  const { exact, seed, check = false, force } = options;
  const common = { target: manifest.target, seed, exact, check };
  if (edits.notBuilt.length > 0) {
    return { ...common, runs: [], ...verdictOf({ comparisons: [], notBuilt: edits.notBuilt }) };
  }
  const selected = select(known, edits, options);
  const runs: DispatchRun[] = [];
  const objections = [...edits.objections];
  const openSide = (): Side => new Side(options.openDevice, check, options.onProgress);
  const sides = [openSide(), openSide()] as const;
  try {
    for (const item of selected) {
      const code = [pair.baseline[item.index], ownerOf(pair.modified, item.kernel.name, pair.path)] as const;
      const { dispatches } = item.kernel;
      const plans = (dispatches.length === 0 ? [UNKNOWN_SITE] : dispatches).map((s) =>
        planDispatch(item.kernel, s, options),
      );
      // Sites that the options make equal are run once.
      for (const plan of new Map(plans.map((p) => [JSON.stringify(p), p])).values()) {
        const one = await runOne(item, plan, code, sides, options);
        runs.push(one);
        objections.push(...strictObjections(one.baseline.findings, one.modified?.findings ?? [], edits.placeOf));
      }
    }
  } finally {
    for (const side of sides) side.close();
  }
  const verdict = verdictOf({
    comparisons: runs.flatMap((r) => comparisonsOf(r)),
    differences: runs.flatMap((r) => (r.verdict === 'different' ? r.reasons : [])),
    nothing: nothingIn(runs),
    ...missedEdits(edits.groups, new Set(runs.map((r) => r.kernel)), options.dispatches.length > 0),
    objections,
    exact,
    force,
  });
  return { ...common, runs, ...verdict };
}

function knownKernels({ manifest, baseline }: ModulePair): Selected[] {
  return manifest.executables.flatMap((entry) => {
    const executable = baseline[entry.index];
    const facts = executable === undefined ? undefined : readFacts(executable.codeObject);
    return entry.kernels.map((kernel) => {
      if (facts?.kernels.has(kernel.name)) return { executable: entry.name, index: entry.index, kernel };
      throw new WavesmithError('hijack/bad-manifest', `The baseline module has no kernel '${kernel.name}'.`, {
        hint: 'Make the folder anew with hijack init.',
      });
    });
  });
}

const UNKNOWN_SITE: DispatchSite = { grid: null, constants: [], bindings: [] };

function select(known: readonly Selected[], edits: ModuleEdits, options: RunOptions): Selected[] {
  if (options.all) return [...known];
  if (options.dispatches.length === 0) {
    const edited = new Set(edits.groups.flat());
    return known.filter((item) => edited.has(item.kernel.name));
  }
  return options.dispatches.flatMap((name) => {
    const found = known.filter((item) => item.kernel.name === name || item.executable === name);
    if (found.length > 0) return found;
    const names = known.map((item) => item.kernel.name);
    throw new WavesmithError('hijack/no-such-dispatch', `There is no kernel or executable '${name}'.`, {
      hint: `There are: ${names.slice(0, 6).join(', ')}${names.length > 6 ? `, and ${names.length - 6} more` : ''}.`,
    });
  });
}

function comparisonsOf(one: DispatchRun): Comparison[] {
  return [...one.buffers, ...one.gaps].map((place) => place.comparison);
}

function nothingIn(runs: readonly DispatchRun[]): string | undefined {
  if (runs.length === 0)
    return 'No kernel was changed: baseline and modified module hold the same code (--all runs every kernel)';
  return runs.find((r) => r.verdict === 'nothing-compared')?.reasons[0];
}

/** A modified kernel may execute this many instructions in any case: an edited small kernel may well be slower. */
const LEAST_INSTRUCTIONS = 200_000;
/** The budget of a device that does not count instructions: 10 s, see `DispatchRequest.maxInstructions`. */
const UNCOUNTED = 10_000_000;
/** A modified program may run this many kernels in any case. */
const LEAST_KERNELS = 1000;

/** What a modified program may do, from the instructions of the baseline's longest kernel and the number of its kernels. */
export function limitsOf(most: number, kernels: number): { maxInstructions: number; maxKernels: number } {
  return {
    maxInstructions: Math.max(LEAST_INSTRUCTIONS, 20 * most),
    maxKernels: Math.max(LEAST_KERNELS, 20 * kernels),
  };
}

/** What lies in unwritten memory in the two runs. The strict mode knows memory that nobody wrote, so its first run leaves it alone. */
export const PATTERNS = { plain: ['noise', 'inverse'], strict: ['zeros', 'noise'] } as const satisfies Record<
  string,
  readonly Pattern[]
>;

async function runOne(
  { kernel, executable }: Selected,
  plan: DispatchPlan,
  [before, after]: readonly [ModuleExecutable, ModuleExecutable],
  [first, second]: readonly [Side, Side],
  options: RunOptions,
): Promise<DispatchRun> {
  const common = { kernel: kernel.name, executable, grid: plan.grid, block: plan.block };
  const ran: { baseline: SideExecution[]; modified: SideExecution[] } = { baseline: [], modified: [] };
  const runs: MemoryRun[] = [];
  for (const pattern of options.check ? PATTERNS.strict : PATTERNS.plain) {
    const launch = launchOf(plan, options.seed, pattern);
    const record = ran.baseline.length === 0 ? options.record : undefined;
    const base = await first.run(before, kernel.name, launch, options.maxInstructions, record);
    ran.baseline.push(base);
    const { instructions } = base.dispatch;
    const limit = instructions === undefined ? UNCOUNTED : limitsOf(instructions, 1).maxInstructions;
    const most = options.maxInstructions ?? limit;
    try {
      const edited = await second.run(after, kernel.name, launch, most);
      ran.modified.push(edited);
      runs.push({
        before: launch.allocations.map(({ bytes }) => bytes),
        baseline: base.contents,
        modified: edited.contents,
      });
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      const failure = { code: error.code, message: error.format() };
      const nothing = { buffers: [], gapBytes: 0, gaps: [], unwrittenReads: null };
      const reasons = [`${kernel.name} did not finish: ${error.message}`];
      const baseline = sideResult(ran.baseline);
      return { ...common, baseline, modified: null, error: failure, ...nothing, verdict: 'different', reasons };
    }
  }
  const memory = compareMemory(plan.allocations, runs, options);
  return {
    ...common,
    baseline: sideResult(ran.baseline),
    modified: sideResult(ran.modified),
    error: null,
    ...placesOf(plan, memory),
    ...judge(kernel.name, plan, memory, options),
  };
}

function placesOf(
  { bindings }: DispatchPlan,
  memory: MemoryResult,
): Pick<DispatchRun, 'buffers' | 'gaps' | 'gapBytes' | 'unwrittenReads'> {
  const buffers = bindings.flatMap(({ binding, readOnly, allocation, offset, firstTensor, tensors }) =>
    tensors.map((tensor, n): BufferResult => {
      const result = memory.tensors[allocation][firstTensor + n];
      return { binding, readOnly, offset: tensor.offset - offset, ...result };
    }),
  );
  const gaps = memory.gaps.map(
    ({ allocation, ...gap }): GapWrite => ({ where: labelOf(bindings, allocation), ...gap }),
  );
  return { buffers, gaps, gapBytes: memory.gapBytes, unwrittenReads: memory.unwrittenReads };
}

/** The verdict about one dispatch. */
function judge(
  kernel: string,
  plan: DispatchPlan,
  memory: MemoryResult,
  { exact }: RunOptions,
): Pick<DispatchRun, 'verdict' | 'reasons'> {
  const places = [...memory.tensors.flat(), ...memory.gaps];
  const first = memory.unwrittenReads?.first ?? null;
  const differences =
    first === null
      ? []
      : [
          `Byte ${first.offset} of ${labelOf(plan.bindings, first.allocation)} depends on memory that nobody wrote, ` +
            `and does not in the baseline's ${kernel}.`,
        ];
  const isWritten = places.some((p) => p.written.baseline + p.written.modified > 0);
  const evidence: Evidence = {
    comparisons: places.map((p) => p.comparison),
    differences,
    nothing: isWritten ? undefined : `Neither side of ${kernel} wrote anything.`,
    exact,
  };
  const { verdict, reasons } = verdictOf(evidence);
  return { verdict, reasons };
}

/** The first run's figures, and what the strict mode found in any, each finding once. */
function sideResult(executions: readonly SideExecution[]): SideResult {
  const [{ dispatch, seconds }] = executions;
  const { instructions = null, wavefronts, instructionsByEncoding = {} } = dispatch;
  const findings: RunFinding[] = [];
  for (const one of executions) findings.push(...newFindings(one.findings, findings.map(fingerprint)));
  const last: (DispatchResult & Pick<SimDispatchResult, 'timing'>) | undefined = executions.at(-1)?.dispatch;
  const timing = last?.timing === undefined ? null : timingReport(last.timing);
  return { instructions, wavefronts, instructionsByEncoding, seconds, timing, findings, diagnostics: findings };
}
