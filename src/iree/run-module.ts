// Running the whole baseline and modified module with the real iree-run-module on the same seeded inputs, and comparing every output.
// Functions and their types are what the module itself declares or checks (codeobject/vmfb/signature.ts).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Pattern, WavesmithError } from '../base/index.ts';
import { readSignatures, readVmfb, type VmfbSignature } from '../codeobject/index.ts';
import type { RunFinding } from '../device/sim/strict/findings.ts';
import type { TargetName } from '../isa/types.ts';
import {
  type Comparison,
  compareElements,
  type Verdict,
  type VerdictKind,
  verdictOf,
  worstOf,
} from '../verdict/index.ts';
import { readBaseline } from './build.ts';
import { findEdits, type ModuleEdits, missedEdits, notLaunched, strictObjections } from './edits.ts';
import { readFacts } from './facts.ts';
import { withTemporaryFolder } from './files.ts';
import { makeInputs } from './inputs.ts';
import { readManifest } from './manifest.ts';
import {
  type ContentResult,
  compareContents,
  findStrayWrites,
  type MemoryOfRuns,
  type StrayWrites,
  type WrittenAllocation,
} from './module-memory.ts';
import { type Output, outputFiles, readOutput } from './outputs.ts';
import { parameterFlags } from './parameters.ts';
import { type JudgeOptions, limitsOf, PATTERNS, readPair } from './run.ts';
import { requireIreeTool, type ToolRun } from './tools.ts';

/** One kernel that ran. */
export interface ModuleDispatch {
  readonly kernel: string;
  /** Undefined on a device that does not count them. */
  readonly instructions: number | undefined;
  /** Findings of the strict mode. */
  readonly findings: readonly RunFinding[];
}

/** A GPU that programs see as theirs. */
export interface ModuleHost {
  run(program: string, args: readonly string[]): Promise<ToolRun>;
  /** Kernels that ran so far, in order. */
  readonly dispatches: readonly ModuleDispatch[];
  /** The data of the programs that ran, when it was given back. Complete after `close`. Undefined on a device that does not follow it. */
  readonly memory: readonly WrittenAllocation[] | undefined;
  close(): Promise<void>;
}

/** How a device is opened. */
export interface ModuleHostOptions {
  readonly target: TargetName;
  /** A kernel that executes more instructions fails. */
  readonly maxInstructions: number | undefined;
  /** A program that runs more kernels is stopped: an edited value may decide how long it goes on. */
  readonly maxKernels: number | undefined;
  /** A program that takes longer is stopped, on a device that does not count instructions. */
  readonly maxMilliseconds?: number | undefined;
  readonly isStrict: boolean;
  /** What lies in memory that the device gives to programs. */
  readonly fresh: { readonly pattern: Pattern; readonly seed: number; readonly keepContents: boolean };
}

export interface ModuleRunOptions extends JudgeOptions {
  readonly openHost: (options: ModuleHostOptions) => Promise<ModuleHost>;
  /** The modified module; default DIR/modified.vmfb. */
  readonly modified?: string | undefined;
  /** The function to run; default: every one that declares its types. */
  readonly function?: string | undefined;
  /** Inputs in order instead of seeded ones: as iree-run-module takes them, or a shape and type (`64x64xf16`) to be seeded. */
  readonly inputs: readonly string[];
  /** Parameter archives: `scope=file` or `file`, as iree-run-module takes them. */
  readonly parameters?: readonly string[] | undefined;
  /** More flags for iree-run-module. */
  readonly extra?: readonly string[] | undefined;
  /** A folder that keeps the inputs and both sides' outputs. */
  readonly save?: string | undefined;
  readonly seed: number;
}

/** A function that could not be run, and why. */
export interface NotRun {
  readonly function: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

export interface ModuleOutput {
  readonly index: number;
  readonly type: string;
  readonly comparison: Comparison;
}

export interface ModuleSide {
  readonly seconds: number;
  readonly dispatches: number;
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  /** Names of the kernels that ran to their end. */
  readonly kernels: readonly string[];
  /** Findings of the strict mode. */
  readonly findings: readonly RunFinding[];
  /** @deprecated The first name of `findings`. */
  readonly diagnostics: readonly RunFinding[];
}

export interface FunctionRun {
  readonly function: string;
  /** Types or texts of the inputs. */
  readonly inputs: readonly string[];
  readonly baseline: ModuleSide;
  readonly modified: ModuleSide | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly outputs: readonly ModuleOutput[];
  /** What a function without outputs leaves in memory. */
  readonly contents: readonly ContentResult[];
  /** Writes beside what the baseline writes; null when the modified side did not finish, or the device does not follow memory. */
  readonly memory: StrayWrites | null;
  readonly verdict: VerdictKind;
  /** Why the sides are different although their outputs agree. */
  readonly reasons: readonly string[];
}

export interface ModuleRunResult extends Verdict {
  readonly target: string;
  readonly seed: number;
  readonly exact: boolean;
  readonly check: boolean;
  /** Empty when the modules hold the same code, or the modified one is not what the folder's text says. */
  readonly functions: readonly FunctionRun[];
  /** Functions that could not be run while others could. */
  readonly notRun: readonly NotRun[];
}

/** Runs the functions of both modules. */
export async function runModules(folder: string, options: ModuleRunOptions): Promise<ModuleRunResult> {
  const manifest = readManifest(folder);
  const baseline = readBaseline(folder, manifest);
  const pair = readPair(folder, manifest, options.modified, baseline);
  const edits = await findEdits(pair);
  const { seed, exact, check = false, force } = options;
  const common = { target: manifest.target, seed, exact, check };
  const { notBuilt } = edits;
  if (notBuilt.length > 0) return { ...common, functions: [], notRun: [], ...verdictOf({ comparisons: [], notBuilt }) };
  if (edits.groups.length === 0) {
    const nothing = 'No kernel was changed: baseline and modified module hold the same code';
    return { ...common, functions: [], notRun: [], ...verdictOf({ comparisons: [], nothing }) };
  }
  const [first] = pair.baseline;
  if (first === undefined) throw new WavesmithError('hijack/no-kernels', 'The module has no GPU executables.');
  const target = readFacts(first.codeObject).targetName;
  return withTemporaryFolder(async (temporary) => {
    const before = join(temporary, 'baseline.vmfb');
    writeFileSync(before, baseline);
    const functions: FunctionRun[] = [];
    const notRun: NotRun[] = [];
    const selected = selectFunctions(baseline, options);
    const parameters = await parameterFlags(baseline, options.parameters);
    for (const one of selected) {
      try {
        functions.push(await runFunction(one, before, pair.path, temporary, target, parameters, options));
      } catch (error) {
        // One function that cannot be run does not stop the others.
        if (!(error instanceof WavesmithError) || selected.length === 1) throw error;
        notRun.push({ function: one.name, code: error.code, message: error.message, hint: error.hint ?? null });
        if (notRun.length === selected.length) throw error;
      }
    }
    const objections = [
      ...edits.objections,
      ...functions.flatMap((f) => strictObjections(f.baseline.findings, f.modified?.findings ?? [], edits.placeOf)),
    ];
    const verdict = verdictOf({
      comparisons: functions.flatMap((f) => [...f.outputs, ...f.contents].map((o) => o.comparison)),
      failures: functions.flatMap((f) => (f.error === null ? [] : [`'${f.function}' did not finish`])),
      differences: functions.flatMap((f) => f.reasons),
      ...missedEdits(edits.groups, kernelsOf(functions), options.function !== undefined),
      nothing: nothingOf(functions, edits),
      objections,
      exact,
      force,
    });
    return { ...common, functions, notRun, ...verdict };
  });
}

const kernelsOf = (functions: readonly FunctionRun[]): ReadonlySet<string> =>
  new Set(functions.flatMap((f) => f.modified?.kernels ?? []));

/** Edited kernels that ran only in functions that left nothing to compare. */
function nothingOf(functions: readonly FunctionRun[], { groups }: ModuleEdits): string | undefined {
  const compared = functions.filter((f) => f.verdict !== 'nothing-compared');
  if (compared.length === functions.length) return undefined;
  const names = functions.filter((f) => !compared.includes(f)).map((f) => `'${f.function}'`);
  const ran = notLaunched(groups, kernelsOf(functions));
  if (notLaunched(groups, kernelsOf(compared)).length === ran.length) return undefined;
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no output and left no memory to compare, and only there edited kernels ran`;
}

function selectFunctions(module: Uint8Array, options: ModuleRunOptions): VmfbSignature[] {
  const all = readSignatures(readVmfb(module));
  const names = all.map((f) => f.name).join(', ');
  const selected = options.function === undefined ? all : all.filter((f) => f.name === options.function);
  if (selected.length === 0) {
    throw new WavesmithError(
      'hijack/no-function',
      options.function === undefined
        ? 'The module exports no function.'
        : `The module has no function '${options.function}'.`,
      { hint: names === '' ? "Run single kernels with '--dispatch'." : `There are: ${names}.` },
    );
  }
  if (options.inputs.length > 0 && selected.length > 1) {
    throw new WavesmithError(
      'hijack/input-function',
      `--input belongs to one function, and the module has ${selected.length}.`,
      { hint: `Give --function with one of ${names}.` },
    );
  }
  return selected;
}

async function runFunction(
  one: VmfbSignature,
  baseline: string,
  modified: string,
  folder: string,
  target: TargetName,
  parameters: readonly string[],
  options: ModuleRunOptions,
): Promise<FunctionRun> {
  const inputs = makeInputs(one, { given: options.inputs, seed: options.seed, folder: options.save ?? folder });
  const flags = [...inputs.flags, ...parameters, ...(options.extra ?? [])];
  const common = { function: one.name, inputs: inputs.shown };
  const runs: { readonly before: Ran; readonly after: Ran }[] = [];
  for (const [n, pattern] of (options.check === true ? PATTERNS.strict : PATTERNS.plain).entries()) {
    // The first run is the one that is reported: its outputs are kept, and only it is strict.
    const how = { one, flags, target, options, pattern, isFirst: n === 0, folder };
    const before = await runSide('baseline', baseline, NO_LIMITS, how);
    if ('failure' in before) {
      throw new WavesmithError(
        'hijack/baseline-failed',
        `The baseline's '${one.name}' did not run: ${before.failure}`,
        {
          hint: 'Its inputs may not fit (--input), or the GPU lacks something: wavesmith exec shows more.',
        },
      );
    }
    const after = await runSide('modified', modified, limitsOfRun(before), how);
    if ('failure' in after) {
      const error = { code: 'hijack/modified-failed', message: after.failure };
      const nothing = { modified: null, error, outputs: [], contents: [], memory: null, reasons: [] };
      return { ...common, baseline: (runs[0]?.before ?? before).side, ...nothing, verdict: 'different' };
    }
    runs.push({ before, after });
  }
  const [first, second] = runs as [(typeof runs)[0], (typeof runs)[0]];
  const outputs = one.outputs.map(({ text, elementType, shape }, index): ModuleOutput => {
    const { tolerance, changedShare } = options;
    const comparisons = runs.map(({ before, after }) => {
      const [a, b] = [before.outputs[index] as Output, after.outputs[index] as Output];
      const sizes = a.shape ?? shape?.map((size) => (typeof size === 'number' ? size : null));
      const how = { shape: sizes, tolerance, changedShare };
      return compareElements(a.bytes, b.bytes, elementType ?? a.elementType ?? 'u8', how);
    });
    return { index, type: text ?? 'bytes', comparison: worstOf(comparisons) };
  });
  const both: MemoryOfRuns = {
    baseline: runs.map(({ before }) => before.memory ?? []),
    modified: runs.map(({ after }) => after.memory ?? []),
  };
  const isFollowed = runs.every(({ before, after }) => before.memory !== undefined && after.memory !== undefined);
  const memory = isFollowed ? findStrayWrites(both) : null;
  const contents = one.outputs.length === 0 ? compareContents(both) : [];
  const reasons = [
    ...outputs.flatMap(({ index }) => dependenceOf(one.name, index, first, second)),
    ...(memory === null ? [] : strayReasons(one.name, memory)),
  ];
  const { verdict } = verdictOf({
    comparisons: [...outputs, ...contents].map((o) => o.comparison),
    differences: reasons,
    exact: options.exact,
  });
  const sides = { baseline: first.before.side, modified: first.after.side };
  return { ...common, ...sides, error: null, outputs, contents, memory, reasons, verdict };
}

/** An output that changes with what lay in new memory, and does not in the baseline. */
function dependenceOf(
  name: string,
  index: number,
  ...[first, second]: readonly { readonly before: Ran; readonly after: Ran }[]
): string[] {
  const of = (side: 'before' | 'after'): [Uint8Array, Uint8Array] => [
    first[side].outputs[index].bytes,
    second[side].outputs[index].bytes,
  ];
  const [base, baseTwo] = of('before');
  const [edited, editedTwo] = of('after');
  const at = edited.findIndex((byte, n) => byte !== editedTwo[n] && base[n] === baseTwo[n]);
  if (at < 0 && (edited.length === editedTwo.length || base.length !== baseTwo.length)) return [];
  const where = at < 0 ? `The size of output ${index}` : `Byte ${at} of output ${index}`;
  return [`${where} of '${name}' depends on memory that nobody wrote, and does not in the baseline.`];
}

function strayReasons(name: string, { stray, first }: StrayWrites): string[] {
  if (stray === null || first === null) return [];
  return [
    `The modified '${name}' wrote ${stray} byte(s) that the baseline leaves alone, ` +
      `the first at byte ${first.offset} of the ${first.size} bytes of allocation ${first.allocation}.`,
  ];
}

interface Ran {
  readonly side: ModuleSide;
  /** Instructions of the longest dispatch. */
  readonly most: number;
  readonly outputs: readonly Output[];
  readonly memory: readonly WrittenAllocation[] | undefined;
}

type RunLimits = Pick<ModuleHostOptions, 'maxInstructions' | 'maxKernels' | 'maxMilliseconds'>;
const NO_LIMITS: RunLimits = { maxInstructions: undefined, maxKernels: undefined };

/** The modified side may take this long in any case, and 20 times as long as the baseline. */
const LEAST_MS = 60_000;
const limitsOfRun = ({ most, side }: Ran): RunLimits => ({
  ...limitsOf(most, side.dispatches),
  maxMilliseconds: LEAST_MS + 20_000 * side.seconds,
});

/** What both sides of a run have in common. */
interface RunPlan {
  readonly one: VmfbSignature;
  readonly flags: readonly string[];
  readonly folder: string;
  readonly target: TargetName;
  readonly options: ModuleRunOptions;
  readonly pattern: Pattern;
  readonly isFirst: boolean;
}

async function runSide(
  name: 'baseline' | 'modified',
  module: string,
  limits: RunLimits,
  { one, flags, folder, target, options, pattern, isFirst }: RunPlan,
): Promise<Ran | { readonly failure: string }> {
  const stem = `${name}-${one.name.replace(/[^\w.$-]/g, '_')}`;
  const files = outputFiles(one, join((isFirst ? options.save : undefined) ?? folder, stem));
  const outputs = files.map((file) => `--output=@${file}`);
  const isStrict = isFirst && options.check === true;
  const fresh = { pattern, seed: options.seed, keepContents: one.outputs.length === 0 };
  const host = await options.openHost({ target, ...limits, isStrict, fresh });
  let ran: ToolRun;
  try {
    // Memory that the runtime caches is given out again or not as threads happen to run. Where memory is all that is compared, both sides
    // shall allocate alike.
    const device = ['--device=hip', ...(one.outputs.length === 0 ? ['--hip_async_caching=false'] : [])];
    const args = [...device, `--module=${module}`, `--function=${one.name}`, ...flags, ...outputs];
    ran = await host.run(requireIreeTool('iree-run-module').path, args);
  } finally {
    await host.close();
  }
  if (ran.status !== 0) return { failure: firstLines(ran) };
  const { dispatches, memory } = host;
  const findings = dispatches.flatMap((d) => d.findings);
  const side = {
    seconds: ran.milliseconds / 1000,
    dispatches: dispatches.length,
    instructions: dispatches.some((d) => d.instructions === undefined)
      ? null
      : dispatches.reduce((sum, d) => sum + (d.instructions ?? 0), 0),
    kernels: [...new Set(dispatches.map((d) => d.kernel))],
    findings,
    diagnostics: findings,
  };
  const most = Math.max(0, ...dispatches.map((d) => d.instructions ?? 0));
  return { side, most, outputs: files.map(readOutput), memory };
}

/** What a failed program said first; its later lines are consequences. */
function firstLines(ran: ToolRun): string {
  const lines = `${ran.stderr}\n${ran.stdout}`
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^EXEC @/.test(line));
  const why = ran.timedOut ? 'it took too long' : `iree-run-module ended with status ${ran.status}`;
  return [why, ...lines.slice(0, 6)].join('\n');
}
