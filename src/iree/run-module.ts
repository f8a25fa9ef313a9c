// Running the whole baseline and modified module with the real iree-run-module on the same seeded inputs, and comparing every output.
// Functions and their types are what the module itself declares or checks (codeobject/vmfb/signature.ts).
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readSignatures, readVmfb, type VmfbSignature } from '../codeobject/index.ts';
import { readNpy } from '../device/npy.ts';
import type { TargetName } from '../isa/types.ts';
import { readBaseline } from './build.ts';
import { type Comparison, compareBuffers } from './compare.ts';
import { readFacts, sameBytes } from './facts.ts';
import { readWhole, withTemporaryFolder } from './files.ts';
import { makeInputs } from './inputs.ts';
import { readManifest } from './manifest.ts';
import { readModule } from './module.ts';
import { parameterFlags } from './parameters.ts';
import type { Verdict } from './run.ts';
import { requireIreeTool, type ToolRun } from './tools.ts';

/** One kernel that ran. */
export interface ModuleDispatch {
  readonly kernel: string;
  readonly instructions: number;
}

/** A virtual GPU that programs see as theirs. */
export interface ModuleHost {
  run(program: string, args: readonly string[]): Promise<ToolRun>;
  /** Kernels that ran so far, in order. */
  readonly dispatches: readonly ModuleDispatch[];
  close(): Promise<void>;
}

export interface ModuleRunOptions {
  /** Opens a device; a kernel that executes more instructions fails. */
  readonly openHost: (target: TargetName, maxInstructions: number | undefined) => Promise<ModuleHost>;
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
  readonly exact: boolean;
  readonly tolerance?: number | undefined;
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
  readonly instructions: number;
}

export interface FunctionRun {
  readonly function: string;
  /** Types or texts of the inputs. */
  readonly inputs: readonly string[];
  readonly baseline: ModuleSide;
  readonly modified: ModuleSide | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly outputs: readonly ModuleOutput[];
  readonly verdict: Verdict;
}

export interface ModuleRunResult {
  readonly target: string;
  readonly seed: number;
  readonly exact: boolean;
  /** Empty when the modules are the same, byte for byte. */
  readonly functions: readonly FunctionRun[];
  /** Functions that could not be run while others could. */
  readonly notRun: readonly NotRun[];
  readonly ok: boolean;
}

/** A modified kernel may execute this many instructions in any case: an edited small kernel may well be slower. */
const LEAST_LIMIT = 200_000;
/** Runs the functions of both modules. */
export async function runModules(folder: string, options: ModuleRunOptions): Promise<ModuleRunResult> {
  const manifest = readManifest(folder);
  const path = options.modified ?? join(folder, 'modified.vmfb');
  if (options.modified === undefined && !existsSync(path)) {
    throw new WavesmithError('hijack/no-modified', `There is no '${path}' to compare with.`, {
      hint: `Build it with 'wavesmith hijack build ${folder}'.`,
    });
  }
  const baseline = readBaseline(folder, manifest);
  const modified = readWhole(path, 'the modified module');
  const common = { target: manifest.target, seed: options.seed, exact: options.exact };
  const executables = [baseline, modified].map((bytes) => readModule(bytes).map((e) => e.codeObject));
  const isSame = executables[0].every(
    (code, i) => executables[1][i] !== undefined && sameBytes(code, executables[1][i]),
  );
  if (isSame && executables[0].length === executables[1].length)
    return { ...common, functions: [], notRun: [], ok: true };
  const [first] = executables[0];
  if (first === undefined) throw new WavesmithError('hijack/no-kernels', 'The module has no GPU executables.');
  const target = readFacts(first).targetName;
  if (options.save !== undefined) mkdirSync(options.save, { recursive: true });
  return withTemporaryFolder(async (temporary) => {
    const before = join(temporary, 'baseline.vmfb');
    writeFileSync(before, baseline);
    const functions: FunctionRun[] = [];
    const notRun: NotRun[] = [];
    const selected = selectFunctions(baseline, options);
    const parameters = await parameterFlags(baseline, options.parameters);
    for (const one of selected) {
      try {
        functions.push(await runFunction(one, before, path, temporary, target, parameters, options));
      } catch (error) {
        // One function that cannot be run does not stop the others.
        if (!(error instanceof WavesmithError) || selected.length === 1) throw error;
        notRun.push({ function: one.name, code: error.code, message: error.message, hint: error.hint ?? null });
        if (notRun.length === selected.length) throw error;
      }
    }
    const accepted: readonly Verdict[] = options.exact ? ['identical'] : ['identical', 'within-tolerance'];
    return { ...common, functions, notRun, ok: functions.every((f) => accepted.includes(f.verdict)) };
  });
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
  const before = await runSide('baseline', one, baseline, flags, folder, target, undefined, options);
  if ('failure' in before) {
    throw new WavesmithError('hijack/baseline-failed', `The baseline's '${one.name}' did not run: ${before.failure}`, {
      hint: 'Its inputs may not fit (--input), or the virtual GPU lacks something: wavesmith exec shows more.',
    });
  }
  const limit = Math.max(LEAST_LIMIT, 20 * before.most);
  const after = await runSide('modified', one, modified, flags, folder, target, limit, options);
  const common = { function: one.name, inputs: inputs.shown, baseline: before.side };
  if ('failure' in after) {
    const error = { code: 'hijack/modified-failed', message: after.failure };
    return { ...common, modified: null, error, outputs: [], verdict: 'failed' };
  }
  const outputs = one.outputs.map(({ text, elementType }, index): ModuleOutput => {
    const [a, b] = [before.outputs[index], after.outputs[index]];
    const element = elementType ?? a.elementType ?? 'i8';
    return {
      index,
      type: text ?? 'bytes',
      comparison: compareBuffers(a.bytes, b.bytes, element, options.tolerance),
    };
  });
  const verdict: Verdict = outputs.some((o) => o.comparison.outside > 0)
    ? 'different'
    : outputs.some((o) => o.comparison.different > 0)
      ? 'within-tolerance'
      : 'identical';
  return { ...common, modified: after.side, error: null, outputs, verdict };
}

/** Types that IREE writes as .npy; others are kept as their bytes. */
const NPY_BY_IREE: ReadonlySet<string> = new Set(['f16', 'f32', 'f64', 'i8', 'i16', 'i32', 'i64']);

/** A result, with its type where the file says it. */
interface Output {
  readonly bytes: Uint8Array;
  readonly elementType: string | undefined;
}

function readOutput(file: string): Output {
  const content = readWhole(file, 'an output');
  if (!file.endsWith('.npy')) return { bytes: content, elementType: undefined };
  const { type, bytes } = readNpy(content);
  return { bytes, elementType: type };
}

interface Ran {
  readonly side: ModuleSide;
  /** Instructions of the longest dispatch. */
  readonly most: number;
  readonly outputs: readonly Output[];
}

async function runSide(
  name: string,
  one: VmfbSignature,
  module: string,
  inputs: readonly string[],
  folder: string,
  target: TargetName,
  maxInstructions: number | undefined,
  options: ModuleRunOptions,
): Promise<Ran | { readonly failure: string }> {
  const stem = `${name}-${one.name.replace(/[^\w.$-]/g, '_')}`;
  const files = one.outputs.map(({ elementType }, i) => {
    const isNpy = elementType === undefined || NPY_BY_IREE.has(elementType);
    return join(options.save ?? folder, `${stem}-output${i}.${isNpy ? 'npy' : 'bin'}`);
  });
  const outputs = files.map((file) => `--output=@${file}`);
  const host = await options.openHost(target, maxInstructions);
  try {
    const args = ['--device=hip', `--module=${module}`, `--function=${one.name}`, ...inputs, ...outputs];
    const ran = await host.run(requireIreeTool('iree-run-module').path, args);
    if (ran.status !== 0) return { failure: firstLines(ran) };
    const side = {
      seconds: ran.milliseconds / 1000,
      dispatches: host.dispatches.length,
      instructions: host.dispatches.reduce((sum, d) => sum + d.instructions, 0),
    };
    return {
      side,
      most: Math.max(0, ...host.dispatches.map((d) => d.instructions)),
      outputs: files.map(readOutput),
    };
  } finally {
    await host.close();
  }
}

/** What a failed program said first; its later lines are consequences. */
function firstLines(ran: ToolRun): string {
  const lines = `${ran.stderr}\n${ran.stdout}`
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^EXEC @/.test(line));
  const why = ran.timedOut ? 'it took too long' : `iree-run-module ended with status ${ran.status}`;
  return [why, ...lines.slice(0, 6)].join('\n');
}
