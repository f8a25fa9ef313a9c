// Running the whole baseline and modified module with the real iree-run-module on the same seeded inputs, and comparing every output.
// Functions and their types are what the module itself declares (`iree.abi.declaration`, printed by iree-dump-module).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { TargetName } from '../isa/types.ts';
import { readBaseline } from './build.ts';
import { type Comparison, compareBuffers, elementType, fillRandom, randomSource } from './compare.ts';
import { readFacts, sameBytes } from './facts.ts';
import { readWhole, withTemporaryFolder } from './files.ts';
import { readManifest } from './manifest.ts';
import { readModule } from './module.ts';
import type { Verdict } from './run.ts';
import { requireIreeTool, runTool, type ToolRun } from './tools.ts';

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
  readonly seed: number;
  readonly exact: boolean;
  readonly tolerance?: number | undefined;
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
  readonly ok: boolean;
}

/** A function of a module, with MLIR types. */
export interface ModuleFunction {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A modified kernel may execute this many instructions in any case: an edited small kernel may well be slower. */
const LEAST_LIMIT = 200_000;
const DECLARATION = /iree\.abi\.declaration: (?:sync )?func @([\w.$-]+)\(([^\n]*?)\) -> \(([^\n]*)\)\s*$/gm;

/** The functions that the output of `iree-dump-module --output=metadata` declares. */
export function parseFunctions(text: string): ModuleFunction[] {
  const types = (list: string): string[] => [...list.matchAll(/%\w+: ([^\s,<>]+(?:<[^<>]*>)?)/g)].map((m) => m[1]);
  return [...text.matchAll(DECLARATION)].map((m) => ({ name: m[1], inputs: types(m[2]), outputs: types(m[3]) }));
}

interface TensorType {
  /** null: known at run time only. */
  readonly shape: readonly (number | null)[];
  readonly elementType: string;
}

function parseTensor(text: string): TensorType | undefined {
  const match = /^((?:(?:\d+|\?)x)*)([a-zA-Z]\w*)$/.exec(text);
  if (match === null) return undefined;
  const shape = match[1].split('x').filter(Boolean);
  return { shape: shape.map((n) => (n === '?' ? null : Number(n))), elementType: match[2] };
}

/** Inputs of one function may be this large together. */
const MOST_BYTES = 2 ** 30;

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
  if (isSame && executables[0].length === executables[1].length) return { ...common, functions: [], ok: true };
  const [first] = executables[0];
  if (first === undefined) throw new WavesmithError('hijack/no-kernels', 'The module has no GPU executables.');
  const target = readFacts(first).targetName;
  return withTemporaryFolder(async (temporary) => {
    const before = join(temporary, 'baseline.vmfb');
    writeFileSync(before, baseline);
    const functions: FunctionRun[] = [];
    for (const one of await selectFunctions(before, options)) {
      functions.push(await runFunction(one, before, path, temporary, target, options));
    }
    const accepted: readonly Verdict[] = options.exact ? ['identical'] : ['identical', 'within-tolerance'];
    return { ...common, functions, ok: functions.every((f) => accepted.includes(f.verdict)) };
  });
}

async function selectFunctions(module: string, options: ModuleRunOptions): Promise<ModuleFunction[]> {
  const dump = await runTool(requireIreeTool('iree-dump-module').path, ['--output=metadata', module]);
  const all = parseFunctions(dump.stdout);
  const selected = options.function === undefined ? all : all.filter((f) => f.name === options.function);
  if (selected.length > 0) return selected;
  const names = all.map((f) => f.name).join(', ');
  throw new WavesmithError(
    'hijack/no-function',
    options.function === undefined
      ? 'The module declares no function with its types.'
      : `The module has no function '${options.function}'.`,
    { hint: names === '' ? "Run single kernels with '--dispatch'." : `There are: ${names}.` },
  );
}

/** The --input flags for a function; seeded tensors go through files. */
function makeInputs(
  one: ModuleFunction,
  folder: string,
  options: ModuleRunOptions,
): { flags: string[]; shown: string[] } {
  const random = randomSource(options.seed);
  const { inputs: given } = options;
  if (given.length > 0 && given.length !== one.inputs.length) {
    throw new WavesmithError(
      'hijack/input-count',
      `Function '${one.name}' takes ${one.inputs.length} inputs, ${given.length} were given.`,
      { hint: `Its inputs are ${one.inputs.join(', ')}: give --input once for each.` },
    );
  }
  const shown = one.inputs.map((type, i) => given[i] ?? type.replace(/^tensor<(.*)>$/, '$1'));
  let total = 0;
  const flags = shown.map((text, i) => {
    if (text.includes('=') || (given[i] !== undefined && parseTensor(text) === undefined)) return `--input=${text}`;
    const tensor = parseTensor(text);
    if (tensor === undefined) {
      throw new WavesmithError('hijack/no-input', `Input ${i} of '${one.name}' has type ${one.inputs[i]}.`, {
        hint: 'Give every input with --input, as iree-run-module takes it.',
      });
    }
    const type = elementType(tensor.elementType);
    const isScalar = given[i] === undefined && !one.inputs[i].startsWith('tensor<');
    if (isScalar) return `--input=${type.integer ? Math.floor(random() * 8) : (random() * 2 - 1).toFixed(6)}`;
    let elements = 1;
    for (const size of tensor.shape) {
      if (size === null) {
        throw new WavesmithError('hijack/dynamic-shape', `The shape of input ${i} of '${one.name}' is ${text}.`, {
          hint: `Give every input with its shape, for example --input ${text.replaceAll('?', '16')}.`,
        });
      }
      elements *= size;
    }
    total += elements * type.bytes;
    if (!(total <= MOST_BYTES)) {
      throw new WavesmithError('hijack/too-large', `The inputs of '${one.name}' are larger than ${MOST_BYTES} bytes.`, {
        hint: 'Compile the model with smaller shapes.',
      });
    }
    const bytes = new Uint8Array(elements * type.bytes);
    fillRandom(bytes, tensor.elementType, random);
    const file = join(folder, `${one.name}-input${i}.bin`);
    writeFileSync(file, bytes);
    return `--input=${text}=@${file}`;
  });
  return { flags, shown };
}

async function runFunction(
  one: ModuleFunction,
  baseline: string,
  modified: string,
  folder: string,
  target: TargetName,
  options: ModuleRunOptions,
): Promise<FunctionRun> {
  const inputs = makeInputs(one, folder, options);
  const before = await runSide('baseline', one, baseline, inputs.flags, folder, target, undefined, options);
  if ('failure' in before) {
    throw new WavesmithError('hijack/baseline-failed', `The baseline's '${one.name}' did not run: ${before.failure}`, {
      hint: 'Its inputs may not fit (--input), or the virtual GPU lacks something: wavesmith exec shows more.',
    });
  }
  const limit = Math.max(LEAST_LIMIT, 20 * before.most);
  const after = await runSide('modified', one, modified, inputs.flags, folder, target, limit, options);
  const common = { function: one.name, inputs: inputs.shown, baseline: before.side };
  if ('failure' in after) {
    const error = { code: 'hijack/modified-failed', message: after.failure };
    return { ...common, modified: null, error, outputs: [], verdict: 'failed' };
  }
  const outputs = one.outputs.map((type, index): ModuleOutput => {
    const tensor = parseTensor(type.replace(/^tensor<(.*)>$/, '$1'));
    const element = tensor?.elementType ?? 'i8';
    return {
      index,
      type,
      comparison: compareBuffers(before.outputs[index], after.outputs[index], element, options.tolerance),
    };
  });
  const verdict: Verdict = outputs.some((o) => o.comparison.outside > 0)
    ? 'different'
    : outputs.some((o) => o.comparison.different > 0)
      ? 'within-tolerance'
      : 'identical';
  return { ...common, modified: after.side, error: null, outputs, verdict };
}

interface Ran {
  readonly side: ModuleSide;
  /** Instructions of the longest dispatch. */
  readonly most: number;
  readonly outputs: readonly Uint8Array[];
}

async function runSide(
  name: string,
  one: ModuleFunction,
  module: string,
  inputs: readonly string[],
  folder: string,
  target: TargetName,
  maxInstructions: number | undefined,
  options: ModuleRunOptions,
): Promise<Ran | { readonly failure: string }> {
  const files = one.outputs.map((_, i) => join(folder, `${name}-${one.name}-output${i}.bin`));
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
      outputs: files.map((file) => readFileSync(file)),
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
