// The whole pipeline for one module: the kernels that IREE makes (or that a merged module holds) on a device, compared with what
// the operations mean (`reference/`) or with IREE's CPU backend on the same seeded inputs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { elementType, fillRandom, type Pattern, randomNumbers, WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/code-object.ts';
import type { Device, Dim3 } from '../device/device.ts';
import { execute, type LaunchPlan, type PlannedAllocation, type PlannedArgument } from '../device/plan.ts';
import { readFacts } from '../iree/facts.ts';
import { readWhole, sha256, withTemporaryFolder } from '../iree/files.ts';
import { findIreeTool, isExecutableFile, runTool, type Tool } from '../iree/tools.ts';
import type { TargetName } from '../isa/types.ts';
import { type Document, parseMlir } from '../mlir/parse.ts';
import {
  type Comparison,
  compareMemory,
  comparisonVerdict,
  makeContents,
  type Verdict,
  verdictOf,
} from '../verdict/index.ts';
import { COMPILE_TIMEOUT_MS } from './compile.ts';
import { findCompiler, type RocmlirEnvironment } from './environment.ts';
import { type ExportOptions, exportModule } from './export.ts';
import { type KernelProgram, selectProgram } from './gen.ts';
import { checkProgram } from './gpu-object.ts';
import { decomposeAttention } from './lower/decompose-attention.ts';
import { kernelOperation } from './lower/kernel-function.ts';
import { functionsOf, lowerModule, memoryTensor, usesMigraphx } from './lower/lower.ts';
import { type FunctionParts, readFunction, readOperation } from './lower/read.ts';
import { bytesOf, carrierOf, type Element, elementsOf, isFloat } from './lower/types.ts';
import { readMerged } from './merge.ts';
import { evaluateFunction, nearestAnswer } from './reference/evaluate.ts';
import { derivedTolerances } from './reference/tolerance.ts';
import type { LaunchSequence, LaunchStep } from './sequence.ts';

/** A tensor that the kernel reads or writes. */
export interface KernelTensor {
  readonly kind: 'input' | 'output';
  readonly element: Element;
  /** As it lies in memory. */
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** A module compiled to a code object with its launches. */
export interface CompiledKernel extends KernelProgram {
  readonly function: string;
  readonly arch: string;
  readonly features: string;
  readonly compiler: string;
  readonly tensors: readonly KernelTensor[];
  readonly remarks: readonly string[];
}

const triple = (values: readonly number[]): Dim3 => [values[0], values[1], values[2]];

/** The one function of a module that takes and returns tensors. */
export function kernelFunction(document: Document): FunctionParts {
  return readFunction(document, kernelOperation(document, functionsOf(document)));
}

/** The tensors of a function: arguments, then results. */
export function tensorsOf(document: Document, parts: FunctionParts): KernelTensor[] {
  const tensor = (kind: KernelTensor['kind'], type: FunctionParts['results'][number]): KernelTensor => {
    const { shape, element } = memoryTensor(document, parts, type);
    return { kind, element, shape, bytes: bytesOf(shape, element) };
  };
  return [
    ...parts.arguments.map(({ type }) => tensor('input', type)),
    ...parts.results.map((type) => tensor('output', type)),
  ];
}

/** Compiles a module with one function to one kernel. Everything that stands in the way is a `rocmlir/…` error. */
export async function compileKernel(text: string, options: ExportOptions, file?: string): Promise<CompiledKernel> {
  const document = parseMlir(text, file);
  const parts = kernelFunction(document);
  const tensors = tensorsOf(document, parts);
  const { result, compiled, failure, remarks } = await exportModule(text, options, file);
  if (failure !== undefined) throw failure;
  const program = selectProgram(result);
  checkProgram(program.elf, program.sequence);
  return {
    ...program,
    function: parts.name,
    arch: options.arch,
    features: options.features,
    compiler: compiled?.compiler.version ?? '',
    tensors,
    remarks,
  };
}

/** What a manifest says of a compiled kernel. */
export function manifestOf(compiled: CompiledKernel): Record<string, unknown> {
  const { elf, sequence, arch, features, compiler, tensors } = compiled;
  const object = readCodeObject(elf);
  const facts = sequence.steps.map((step) => ({
    kernel: step.kernel,
    workgroup_sizes: step.workgroupSizes,
    workgroup_count: step.workgroupCount,
    workgroup_memory: step.workgroupMemory,
    static_workgroup_memory:
      object.kernels.find(({ name }) => name === step.kernel)?.descriptor?.groupSegmentFixedSize ?? 0,
  }));
  const [{ arguments: own }] = sequence.steps;
  return {
    format: 'wavesmith-rocmlir-kernel',
    version: 1,
    function: compiled.function,
    arch,
    features,
    compiler,
    sha256: sha256(elf),
    ...(own === undefined
      ? facts[0]
      : {
          scratch_bytes: sequence.scratchBytes,
          steps: facts.map((fact, i) => ({ ...fact, arguments: sequence.steps[i].arguments })),
        }),
    arguments: tensors,
  };
}

/** The arguments that integers are divided by: a quotient by zero has no defined value, so they get none. */
export function divisorsOf(document: Document, parts: FunctionParts): ReadonlySet<number> {
  const divisors = new Set<number>();
  for (const operation of parts.operation.regions[0].operations) {
    if (operation.name !== 'migraphx.div') continue;
    const at = parts.arguments.findIndex(({ name }) => name === readOperation(document, operation).operands[1]);
    if (at >= 0 && !isFloat(parts.arguments[at].type.element)) divisors.add(at);
  }
  return divisors;
}

/** Seeded contents of the inputs, in order; those at `divisors` have no zeros. */
export function makeInputs(
  tensors: readonly KernelTensor[],
  seed: number,
  divisors: ReadonlySet<number> = new Set(),
): Uint8Array[] {
  const random = randomNumbers(seed);
  return tensors
    .filter((tensor) => tensor.kind === 'input')
    .map((tensor, n) => {
      const bytes = new Uint8Array(tensor.bytes);
      // Bytes may hold two elements each, conditions, or exponents: all values, and zero often.
      const isByte = tensor.element === 'i8' || tensor.element === 'ui8';
      if (!isByte && tensor.element !== 'f8E8M0FNU') fillRandom(bytes, elementType(tensor.element), random);
      else {
        for (let i = 0; i < bytes.length; i++) {
          if (isByte) bytes[i] = random() < 0.25 ? 0 : Math.floor(random() * 256);
          else bytes[i] = 124 + Math.floor(random() * 8);
        }
      }
      if (divisors.has(n)) withoutZeros(bytes, tensor.element);
      return bytes;
    });
}

/** Puts 1 in the place of each 0. */
function withoutZeros(bytes: Uint8Array, element: Element): void {
  const type = elementType(element);
  const view = new DataView(bytes.buffer);
  const elements = (8 * bytes.length) / type.storageBits;
  for (let i = 0; i < elements; i++) if (type.read(view, i) === 0) type.write(view, i, 1);
}

export interface DeviceRun {
  readonly outputs: readonly Uint8Array[];
  /** All tensors before and after the run. */
  readonly before: readonly Uint8Array[];
  readonly contents: readonly Uint8Array[];
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly seconds: number;
}

/** One launch of a program, with `memory` in the allocations: a buffer for each tensor, and behind them the scratch. */
function planOf(step: LaunchStep, memory: readonly PlannedAllocation[], tensors: number): LaunchPlan {
  const passed =
    step.arguments ??
    Array.from({ length: tensors }, (_, position) => ({ kind: 'buffer', position, offset: 0 }) as const);
  return {
    grid: triple(step.workgroupCount),
    block: triple(step.workgroupSizes),
    dynamicLds: step.workgroupMemory,
    allocations: memory,
    arguments: passed.map((argument): PlannedArgument => {
      if (argument.kind === 'constant') return { kind: 'value', value: argument.value };
      const allocation = argument.kind === 'scratch' ? tensors : argument.position;
      const size = memory[allocation]?.bytes.length ?? 0;
      if (argument.offset < size) return { kind: 'binding', allocation, offset: argument.offset };
      throw new WavesmithError(
        'rocmlir/sequence',
        `A launch of '${step.kernel}' points outside the function’s buffers.`,
      );
    }),
  };
}

/**
 * Runs a program on a device, launch after launch: a buffer for each tensor, inputs in order. `pattern` lies in outputs and scratch
 * before.
 */
export async function runOnDevice(
  device: Device,
  { elf, sequence }: KernelProgram,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
  pattern: Pattern = 'zeros',
): Promise<DeviceRun> {
  const module = device.load(elf);
  try {
    const sizes = [...tensors.map((tensor) => tensor.bytes), sequence.scratchBytes];
    const blank = makeContents(
      sizes.map((bytes) => ({ bytes, tensors: [] })),
      0,
      pattern,
    );
    let memory: PlannedAllocation[] = tensors.map(({ kind }, i) => ({
      label: `${kind} ${i}`,
      bytes: kind === 'input' ? inputs[i] : blank[i],
    }));
    const before = memory.map(({ bytes }) => bytes);
    if (sequence.scratchBytes > 0) memory.push({ label: 'scratch', bytes: blank[tensors.length] });
    let instructions: number | null = 0;
    let [wavefronts, seconds] = [0, 0];
    for (const step of sequence.steps) {
      const done = await execute(device, module.kernel(step.kernel), planOf(step, memory, tensors.length));
      memory = memory.map(({ label }, i) => ({ label, bytes: done.contents[i] }));
      const counted = done.dispatch.instructions;
      instructions = instructions === null || counted === undefined ? null : instructions + counted;
      wavefronts += done.dispatch.wavefronts;
      seconds += done.seconds;
    }
    const contents = memory.slice(0, tensors.length).map(({ bytes }) => bytes);
    const outputs = contents.filter((_, i) => tensors[i].kind === 'output');
    return { outputs, before, contents, instructions, wavefronts, seconds };
  } finally {
    module.unload();
  }
}

/** iree-run-module beside the compiler of IREE_BIN, else as everywhere. */
function findRunner(environment: RocmlirEnvironment): Tool {
  const beside = environment.ireeBin === undefined ? undefined : `${environment.ireeBin}/iree-run-module`;
  if (beside !== undefined && isExecutableFile(beside))
    return { name: 'iree-run-module', path: beside, foundBy: 'IREE_BIN' };
  const tool = findIreeTool('iree-run-module');
  if (tool !== undefined) return tool;
  throw new WavesmithError('rocmlir/no-runner', 'No iree-run-module was found to compute the reference on the CPU.', {
    hint: "Run 'npm run setup', or set IREE_BIN to a folder that holds it.",
  });
}

/** Runs a program for the reference; a failure is `rocmlir/reference`. */
async function invoke(tool: Tool, args: readonly string[], what: string): Promise<void> {
  const run = await runTool(tool.path, args, { timeout: COMPILE_TIMEOUT_MS });
  if (run.status === 0) return;
  const first = run.stderr.split('\n').find((line) => /error|INVALID|UNAVAILABLE|UNIMPLEMENTED/i.test(line));
  const how = run.timedOut ? 'timed out' : run.status === -1 ? 'was killed' : `failed (exit code ${run.status})`;
  throw new WavesmithError('rocmlir/reference', `${what} ${how}: ${(first ?? run.stderr).trim()}`, {
    hint: 'The reference on the CPU could not be computed; use --reference none to run without it.',
  });
}

/** Compiles a module (without `migraphx` operations) for IREE's CPU backend, into `folder`; returns the file. */
export async function compileForCpu(text: string, environment: RocmlirEnvironment, folder: string): Promise<string> {
  const compiler = findCompiler(environment);
  const [input, output] = [join(folder, 'module.mlir'), join(folder, 'module.vmfb')];
  writeFileSync(input, text);
  const backend = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];
  // A processor by name would give another answer on another machine.
  await invoke(
    compiler,
    [...backend, '--iree-llvmcpu-target-cpu=generic', input, '-o', output],
    'iree-compile for the CPU',
  );
  return output;
}

/** Runs a function of a module that `compileForCpu` made. */
export async function runOnCpu(
  module: string,
  name: string,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
  environment: RocmlirEnvironment,
): Promise<Uint8Array[]> {
  const runner = findRunner(environment);
  return withTemporaryFolder(async (folder) => {
    const path = (file: string): string => join(folder, file);
    const outputs = tensors.filter((tensor) => tensor.kind === 'output');
    const given = inputs.map((bytes, i) => {
      writeFileSync(path(`input${i}.bin`), bytes);
      return `--input=${[...tensors[i].shape, carrierOf(tensors[i].element)].join('x')}=@${path(`input${i}.bin`)}`;
    });
    const wanted = outputs.map((_, i) => `--output=@${path(`output${i}.bin`)}`);
    const args = ['--device=local-task', `--module=${module}`, `--function=${name}`, ...given, ...wanted];
    await invoke(runner, args, 'iree-run-module');
    return outputs.map((output, i) => {
      const bytes = readWhole(path(`output${i}.bin`), 'the reference result');
      if (bytes.length === output.bytes) return bytes;
      throw new WavesmithError(
        'rocmlir/reference',
        `The CPU gave ${bytes.length} bytes where ${output.bytes} were expected.`,
      );
    });
  });
}

export type Reference = 'direct' | 'cpu' | 'none';

export interface RunOptions extends ExportOptions {
  readonly openDevice: (target: TargetName) => Promise<Device>;
  readonly seed: number;
  /** Replaces the float types' own tolerances. */
  readonly tolerance?: number | undefined;
  /** Replaces the share of float elements that may change by more than half. */
  readonly changedShare?: number | undefined;
  /** Fail on any different bit. */
  readonly exact?: boolean | undefined;
  /**
   * What judges the results: `direct` evaluates the `migraphx` operations by their definitions, `cpu` is IREE's CPU backend.
   * Undefined: `direct` where the module is of the dialect and small enough, else `cpu`. `none` runs without.
   */
  readonly reference?: Reference | undefined;
  /** A merged module whose kernel is run instead of compiling one. */
  readonly merged?: string | undefined;
  readonly file?: string | undefined;
}

export interface RunReport {
  readonly function: string;
  readonly target: TargetName;
  readonly device: string;
  readonly sequence: LaunchSequence;
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly seconds: number;
  readonly tensors: readonly KernelTensor[];
  readonly reference: Reference;
  /** `baseline` is the reference's result. Empty without comparison. */
  readonly comparisons: readonly Comparison[];
  /** Null when no comparison was asked for. */
  readonly verdict: Verdict | null;
  readonly remarks: readonly string[];
}

/** Compiles a module, or takes the merged one, runs it on a device and compares its results with what they must be. */
export async function runModule(text: string, options: RunOptions): Promise<RunReport> {
  const compiled = options.merged === undefined ? await compileKernel(text, options, options.file) : undefined;
  const report = await runProgram(text, compiled ?? readMerged(options.merged ?? ''), options);
  return { ...report, remarks: [...(compiled?.remarks ?? []), ...report.remarks] };
}

/** Runs the program of a module on a device and compares its results with what they must be. */
export async function runProgram(text: string, program: KernelProgram, options: RunOptions): Promise<RunReport> {
  const document = decomposeAttention(parseMlir(text, options.file));
  const parts = kernelFunction(document);
  const tensors = tensorsOf(document, parts);
  if (program.sequence.steps.length === 0) {
    throw new WavesmithError('rocmlir/no-launch', 'The merged module launches nothing.', {
      hint: 'Give a module that wavesmith rocmlir merge wrote, with its gpu.launch_func.',
    });
  }
  const inputs = makeInputs(tensors, options.seed, divisorsOf(document, parts));
  const target = readFacts(program.elf).targetName;
  const device = await options.openDevice(target);
  const runs: DeviceRun[] = [];
  try {
    for (const pattern of options.reference === 'none' ? (['noise'] as const) : (['noise', 'inverse'] as const)) {
      runs.push(await runOnDevice(device, program, tensors, inputs, pattern));
    }
  } finally {
    device.close();
  }
  const [run] = runs;
  const judged = await judge(document, parts, tensors, inputs, run.outputs, options);
  let compared = compareRuns(tensors, runs, judged.expected, options);
  if (options.tolerance === undefined && compared.comparisons.some((c) => comparisonVerdict(c) === 'different')) {
    const tolerances = judged.tolerances();
    if (tolerances !== undefined) compared = compareRuns(tensors, runs, judged.expected, options, tolerances);
  }
  const { comparisons, differences } = compared;
  return {
    function: parts.name,
    target,
    device: device.kind,
    sequence: program.sequence,
    instructions: run.instructions,
    wavefronts: run.wavefronts,
    seconds: run.seconds,
    tensors,
    reference: judged.reference,
    comparisons,
    verdict: judged.reference === 'none' ? null : verdictOf({ comparisons, differences, exact: options.exact }),
    remarks: judged.remarks,
  };
}

/** Compares the tensors of both runs with what they must be: inputs as they were, outputs as expected. */
function compareRuns(
  tensors: readonly KernelTensor[],
  runs: readonly DeviceRun[],
  expected: readonly Uint8Array[],
  options: RunOptions,
  tolerances: readonly number[] = [],
): { comparisons: readonly Comparison[]; differences: readonly string[] } {
  if (expected.length === 0) return { comparisons: [], differences: [] };
  const first = tensors.findIndex((tensor) => tensor.kind === 'output');
  const allocations = tensors.map(({ kind, bytes, element, shape }, i) => {
    const access = kind === 'input' ? ('read' as const) : ('write' as const);
    const tolerance = i < first ? undefined : tolerances[i - first];
    return { bytes, tensors: [{ offset: 0, bytes, elementType: element, shape, access, tolerance }] };
  });
  const memory = compareMemory(
    allocations,
    runs.map(({ before, contents }) => ({
      before,
      baseline: before.map((bytes, i) => (i < first ? bytes : expected[i - first])),
      modified: contents,
    })),
    options,
  );
  const places = memory.tensors.map(([place]) => place.comparison);
  const differences = places.flatMap((c, i) =>
    i < first && comparisonVerdict(c) !== 'equal' ? [`Input ${i} is not what it was before the run.`] : [],
  );
  const unwritten = memory.unwrittenReads?.first ?? null;
  if (unwritten !== null) differences.push('A result depends on memory that nobody wrote.');
  return { comparisons: places.slice(first), differences };
}

interface Judgement {
  readonly reference: Reference;
  readonly expected: readonly Uint8Array[];
  /** The tolerances of the results where the module itself tells them. */
  readonly tolerances: () => readonly number[] | undefined;
  readonly remarks: readonly string[];
}

/** What the results must be, by the reference that was asked for or that fits the module. */
async function judge(
  document: Document,
  parts: FunctionParts,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
  made: readonly Uint8Array[],
  { reference, environment }: RunOptions,
): Promise<Judgement> {
  if (reference === 'none') return { reference, expected: [], tolerances: () => undefined, remarks: [] };
  const remarks: string[] = [];
  if (reference === 'direct' || (reference === undefined && usesMigraphx(document))) {
    try {
      const { expected, tolerances } = expectedOf(document, parts, tensors, inputs, made);
      return { reference: 'direct', expected, tolerances, remarks };
    } catch (error) {
      const isLimit = error instanceof WavesmithError && /^rocmlir\/(?:too-much-work|not-evaluated)$/.test(error.code);
      if (reference !== undefined || !isLimit) throw error;
      remarks.push(`${error.message} IREE on the CPU judges instead.`);
    }
  }
  const text = lowerModule(document, { fuseAttention: false, reader: 'processor' });
  const expected = await withTemporaryFolder(async (folder) => {
    const module = await compileForCpu(text, environment, folder);
    return runOnCpu(module, parts.name, tensors, inputs, environment);
  });
  return { reference: 'cpu', expected, tolerances: () => undefined, remarks };
}

/** What the results by definition are. */
export interface Expectation {
  /** Between rounding each operation and rounding once: nearest to what was made. */
  readonly expected: readonly Uint8Array[];
  /** What rounding elsewhere may change (`derivedTolerances`); evaluates the function twice more. */
  readonly tolerances: () => readonly number[];
}

/** Evaluates the operations by their definitions. */
export function expectedOf(
  document: Document,
  parts: FunctionParts,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
  made: readonly Uint8Array[],
): Expectation {
  const outputs = tensors.filter((tensor) => tensor.kind === 'output');
  const sizes = outputs.map((tensor) => tensor.bytes);
  const { rounded, exact } = evaluateFunction(document, parts, inputs, sizes);
  const expected = outputs.map(({ element, shape }, i) =>
    nearestAnswer(rounded[i], exact[i], made[i], element, elementsOf(shape)),
  );
  const results = outputs.map(({ element, shape }, i) => ({ element, shape, exact: exact[i] }));
  return { expected, tolerances: () => derivedTolerances(document, parts, inputs, results) };
}
