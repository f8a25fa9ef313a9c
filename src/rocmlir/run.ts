// The whole pipeline for one module: the kernel that IREE makes (or that a merged module holds) on a device, compared with
// IREE's CPU backend on the same seeded inputs. The CPU sees the plain linalg form, so it also judges the lowering's fused one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOfElements, elementType, fillRandom, randomNumbers, WavesmithError } from '../base/index.ts';
import type { Device, Dim3 } from '../device/device.ts';
import { execute, type LaunchPlan } from '../device/plan.ts';
import { readFacts } from '../iree/facts.ts';
import { readWhole, sha256, withTemporaryFolder } from '../iree/files.ts';
import { findIreeTool, isExecutableFile, runTool, type Tool } from '../iree/tools.ts';
import type { TargetName } from '../isa/types.ts';
import { type Document, parseMlir } from '../mlir/parse.ts';
import { type Comparison, compareElements, type Verdict, verdictOf } from '../verdict/index.ts';
import { COMPILE_TIMEOUT_MS } from './compile.ts';
import { findCompiler, type RocmlirEnvironment } from './environment.ts';
import { type ExportOptions, exportModule } from './export.ts';
import { selectKernel } from './gen.ts';
import { readExportedElf } from './gpu-object.ts';
import { functionsOf, lowerModule, memoryShape, needsLowering } from './lower/lower.ts';
import { type FunctionParts, readFunction } from './lower/read.ts';
import { type Element, elementsOf } from './lower/types.ts';
import { readMerged } from './merge.ts';

/** A tensor that the kernel reads or writes. */
export interface KernelTensor {
  readonly kind: 'input' | 'output';
  readonly element: Element;
  /** As it lies in memory. */
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** A kernel with all that is needed to launch it. */
export interface LaunchableKernel {
  readonly elf: Uint8Array;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicLds: number;
  readonly staticLds: number;
}

export interface CompiledKernel extends LaunchableKernel {
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
  const functions = functionsOf(document);
  if (functions.length === 1) return readFunction(document, functions[0]);
  throw new WavesmithError(
    'rocmlir/several-functions',
    functions.length === 0
      ? 'The module has no function with a body.'
      : `The module has ${functions.length} functions.`,
    { file: document.file, hint: 'Give a module with exactly one function: it becomes the kernel.' },
  );
}

/** The tensors of a function: arguments, then results. */
export function tensorsOf(document: Document, parts: FunctionParts): KernelTensor[] {
  const tensor = (kind: KernelTensor['kind'], type: FunctionParts['results'][number]): KernelTensor => {
    const shape = memoryShape(document, parts, type);
    return { kind, element: type.element, shape, bytes: bytesOfElements(elementType(type.element), elementsOf(shape)) };
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
  const { elf, kernel, workgroupSizes, workgroupCount, workgroupMemory, staticLds } = selectKernel(result);
  return {
    elf,
    kernel,
    grid: triple(workgroupCount),
    block: triple(workgroupSizes),
    dynamicLds: workgroupMemory,
    staticLds,
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
  const { elf, kernel, grid, block, dynamicLds, staticLds, arch, features, compiler, tensors } = compiled;
  return {
    format: 'wavesmith-rocmlir-kernel',
    version: 1,
    function: compiled.function,
    kernel,
    arch,
    features,
    compiler,
    sha256: sha256(elf),
    workgroup_sizes: block,
    workgroup_count: grid,
    workgroup_memory: dynamicLds,
    static_workgroup_memory: staticLds,
    arguments: tensors,
  };
}

/** The kernel that a merged module launches. */
export function mergedKernel(text: string, file?: string): LaunchableKernel {
  const { elf, kernel, launches, table } = readMerged(text, file);
  const [launch] = launches;
  const sizes = launch?.constants ?? [];
  const [x, y, z, bx, by, bz] = sizes;
  if ([x, y, z, bx, by, bz].some((size) => size === undefined)) {
    throw new WavesmithError('rocmlir/no-launch', `The module does not launch '${kernel}' with constant sizes.`, {
      file,
      hint: 'Give a module that wavesmith rocmlir merge wrote.',
    });
  }
  const object = { target: '', properties: undefined, kernels: undefined, format: 'bin', bytes: elf };
  const block: Dim3 = [bx ?? 1, by ?? 1, bz ?? 1];
  const facts = { kernel, workgroupSizes: block, workgroupCount: [x ?? 1, y ?? 1, z ?? 1], workgroupMemory: 0 };
  const found = readExportedElf(object, facts).kernels.find((k) => k.name === (table?.name ?? kernel));
  return {
    elf,
    kernel,
    grid: [x ?? 1, y ?? 1, z ?? 1],
    block,
    dynamicLds: launch?.dynamicLdsBytes ?? 0,
    staticLds: found?.descriptor?.groupSegmentFixedSize ?? 0,
  };
}

/** Seeded contents of the inputs, in order. */
export function makeInputs(tensors: readonly KernelTensor[], seed: number): Uint8Array[] {
  const random = randomNumbers(seed);
  return tensors
    .filter((tensor) => tensor.kind === 'input')
    .map((tensor) => {
      const bytes = new Uint8Array(tensor.bytes);
      fillRandom(bytes, elementType(tensor.element), random);
      return bytes;
    });
}

export interface DeviceRun {
  readonly outputs: readonly Uint8Array[];
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly seconds: number;
}

/** The launch of a kernel: one buffer for each tensor, inputs in order, outputs zeroed. */
export function planOf(
  { grid, block, dynamicLds }: LaunchableKernel,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
): LaunchPlan {
  return {
    grid,
    block,
    dynamicLds,
    allocations: tensors.map(({ kind, bytes }, i) => ({
      label: `${kind} ${i}`,
      bytes: kind === 'input' ? inputs[i] : new Uint8Array(bytes),
    })),
    arguments: tensors.map((_, i) => ({ kind: 'binding', allocation: i, offset: 0 })),
  };
}

/** Runs a kernel on a device: pointers to the inputs, then to the outputs. */
export async function runOnDevice(
  device: Device,
  kernel: LaunchableKernel,
  tensors: readonly KernelTensor[],
  inputs: readonly Uint8Array[],
): Promise<DeviceRun> {
  const module = device.load(kernel.elf);
  try {
    const plan = planOf(kernel, tensors, inputs);
    const { dispatch, contents, seconds } = await execute(device, module.kernel(kernel.kernel), plan);
    const outputs = contents.filter((_, i) => tensors[i].kind === 'output');
    return { outputs, instructions: dispatch.instructions ?? null, wavefronts: dispatch.wavefronts, seconds };
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
    hint: 'The reference on the CPU could not be computed; use --no-compare to run without it.',
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
      return `--input=${[...tensors[i].shape, tensors[i].element].join('x')}=@${path(`input${i}.bin`)}`;
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

export interface RunOptions extends ExportOptions {
  readonly openDevice: (target: TargetName) => Promise<Device>;
  readonly seed: number;
  /** Replaces the float types' own tolerances. */
  readonly tolerance?: number | undefined;
  /** Replaces the share of float elements that may change by more than half. */
  readonly changedShare?: number | undefined;
  /** Fail on any different bit. */
  readonly exact?: boolean | undefined;
  /** Run without the reference. */
  readonly noCompare?: boolean | undefined;
  /** A merged module whose kernel is run instead of compiling one. */
  readonly merged?: string | undefined;
  readonly file?: string | undefined;
}

export interface RunReport {
  readonly function: string;
  readonly kernel: string;
  readonly target: TargetName;
  readonly device: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly seconds: number;
  readonly tensors: readonly KernelTensor[];
  /** `baseline` is the CPU's result. Empty without comparison. */
  readonly comparisons: readonly Comparison[];
  /** Null when no comparison was asked for. */
  readonly verdict: Verdict | null;
  readonly remarks: readonly string[];
}

/** Runs a module's kernel on a device and compares its results with the CPU's. */
export async function runModule(text: string, options: RunOptions): Promise<RunReport> {
  const document = parseMlir(text, options.file);
  const parts = kernelFunction(document);
  const tensors = tensorsOf(document, parts);
  const compiled = options.merged === undefined ? await compileKernel(text, options, options.file) : undefined;
  const kernel = compiled ?? mergedKernel(options.merged ?? '');
  const inputs = makeInputs(tensors, options.seed);
  const target = readFacts(kernel.elf).targetName;
  const device = await options.openDevice(target);
  let run: DeviceRun;
  try {
    run = await runOnDevice(device, kernel, tensors, inputs);
  } finally {
    device.close();
  }
  const reference = needsLowering(document) ? lowerModule(document, { fuseAttention: false }) : text;
  const { environment } = options;
  const expected = options.noCompare
    ? []
    : await withTemporaryFolder(async (folder) => {
        const module = await compileForCpu(reference, environment, folder);
        return runOnCpu(module, parts.name, tensors, inputs, environment);
      });
  const outputs = tensors.filter((tensor) => tensor.kind === 'output');
  const { tolerance, changedShare, exact } = options;
  const judged = { tolerance, changedShare };
  const comparisons = expected.map((bytes, i) =>
    compareElements(bytes, run.outputs[i], outputs[i].element, { shape: outputs[i].shape, ...judged }),
  );
  return {
    function: parts.name,
    kernel: kernel.kernel,
    target,
    device: device.kind,
    grid: kernel.grid,
    block: kernel.block,
    instructions: run.instructions,
    wavefronts: run.wavefronts,
    seconds: run.seconds,
    tensors,
    comparisons,
    verdict: options.noCompare ? null : verdictOf({ comparisons, exact }),
    remarks: compiled?.remarks ?? [],
  };
}
