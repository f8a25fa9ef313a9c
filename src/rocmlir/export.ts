// The job of iree-export.py: run iree-compile on a module and collect, as JSON, the code objects with each kernel's launch facts,
// or an error. Source: rocMLIR branch iree-rocMLIR (iree-export.py, iree.patch); the C++ passes read `error`, `binaries`,
// `$elf`, `$kernels` and the kernels' entries, and ignore what else there is.
import { existsSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { commandLine } from '../iree/compiler.ts';
import { readWhole } from '../iree/files.ts';
import { decodeModule } from '../mlir/lex.ts';
import { type Document, parseMlir } from '../mlir/parse.ts';
import { COMPILE_TIMEOUT_MS, type Compiled, type CompilerOutput, compileModule, type IreeBinary } from './compile.ts';
import { describeFlag, type RocmlirEnvironment } from './environment.ts';
import { type LowerOptions, lowerModule, usesMigraphx } from './lower/lower.ts';
import type { LaunchSequence, StepArgument } from './sequence.ts';

/** Launch facts of one kernel. */
export interface ExportedKernel {
  readonly sym_name: string;
  readonly workgroup_sizes: readonly number[];
  /** Dynamic LDS that the launch must give. */
  readonly workgroup_memory: number;
  /** Empty when it depends on run-time values. */
  readonly workgroup_count: readonly number[];
  /** LDS that the code object declares itself. */
  readonly static_workgroup_memory: number;
}

/** A code object: `$elf` in hexadecimal, `$kernels` by name, and one entry a kernel under its name. */
export type ExportedBinary = { readonly $elf: string; readonly $kernels: readonly string[] } & {
  readonly [kernel: string]: ExportedKernel | string | readonly string[];
};

/** One launch of a sequence; `arguments` as `{buffer, offset}`, `{scratch}` or `{constant}`. */
export interface ExportedStep extends ExportedKernel {
  readonly arguments: readonly Readonly<Record<string, number>>[];
}

/** Several launches in the place of one kernel: an addition of this project, which the original's pass does not look at. */
export interface ExportedSequence {
  readonly $elf: string;
  /** Bytes of the buffer that the caller has to provide. */
  readonly scratch_bytes: number;
  readonly steps: readonly ExportedStep[];
}

/** What is written to the output file. */
export interface ExportResult {
  readonly MLIR?: readonly string[];
  /** Empty where one kernel does not do: then `sequence` says what does. */
  readonly binaries?: readonly ExportedBinary[];
  readonly sequence?: ExportedSequence;
  /** The original's error string. */
  readonly error?: string;
  /** The same failure as this project reports it. */
  readonly diagnostic?: Record<string, unknown>;
}

export interface ExportOptions {
  readonly arch: string;
  readonly features: string;
  readonly environment: RocmlirEnvironment;
  readonly timeout?: number | undefined;
}

/** A result together with what the JSON does not say. */
export interface Exported {
  readonly result: ExportResult;
  readonly compiled: Compiled | undefined;
  readonly failure: WavesmithError | undefined;
  /** Lines for IREE_DEBUG. */
  readonly messages: readonly string[];
  /** Remarks that are shown always: flags that were mapped or left out. */
  readonly remarks: readonly string[];
}

/** The original's string for a failure of this project. */
function originalMessage(error: WavesmithError): string {
  switch (error.code) {
    case 'rocmlir/arch':
      return 'invalid gpu arch';
    case 'rocmlir/compiler-failed':
    case 'rocmlir/compiler-killed':
    case 'rocmlir/compiler-timeout':
      return 'invocation failed';
    default:
      return error.message;
  }
}

/** Compiles a module's text and collects the result. Never throws for a module that does not compile. */
export async function exportModule(text: string, options: ExportOptions, file?: string): Promise<Exported> {
  const messages: string[] = [];
  const { debug } = options.environment;
  const onFailure = ({ command, stdout, stderr }: CompilerOutput): void => {
    if (debug > 1) messages.push(`Command: \`${commandLine(command)}\`\nstdout:\n${stdout}\nstderr:\n${stderr}`);
  };
  let compiled: Compiled | undefined;
  let failure: WavesmithError | undefined;
  let result: ExportResult;
  try {
    const document = parseMlir(text, file);
    compiled = await compileBest(document, options, onFailure);
    result = { MLIR: compiled.hal.split(/(?<=\n)/), ...exportPrograms(compiled) };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    failure = error;
    const message = originalMessage(error);
    if (debug > 0) messages.push(message);
    result = { error: message, diagnostic: error.toJSON() };
  }
  const remarks = [...(compiled?.flagNotes ?? []).map(describeFlag), ...(compiled?.addedFlags ?? [])];
  return { result, compiled, failure, messages, remarks };
}

/** Kernels that compute one element at a time or copy: what a kernel that does more can take in. */
const LIGHT = /_dispatch_\d+_(?:elementwise|slow_memcpy|transpose)(?:_|$)/;

/** How long the attempt to make one dispatch of several may take: 3.13 needs a second for those that it can do, or never ends. */
const ONE_DISPATCH_TIMEOUT_MS = 20_000;

/**
 * Compiled with attention blocks as IREE's one operation for them, and written out when iree-compile fails on that. Several
 * kernels of which only one does more than move or convert elements are made one, where IREE's code generator can do that.
 */
async function compileBest(
  document: Document,
  options: ExportOptions,
  onFailure: (output: CompilerOutput) => void,
): Promise<Compiled> {
  const limit = options.timeout ?? COMPILE_TIMEOUT_MS;
  const deadline = performance.now() + limit;
  const attempt = async (text: string, most: number, told = onFailure): Promise<Compiled> => {
    const timeout = Math.max(1, Math.min(most, Math.round(deadline - performance.now())));
    return compileModule(text, { ...options, timeout }, told);
  };
  let how: LowerOptions = { fuseAttention: true, reader: 'kernel' };
  const fused = lowerModule(document, how);
  let text = fused;
  let compiled: Compiled;
  try {
    compiled = await attempt(fused, limit);
  } catch (error) {
    how = { ...how, fuseAttention: false };
    text = lowerModule(document, how);
    if (!isCode(error, 'rocmlir/compiler-failed') || text === fused) throw error;
    compiled = await attempt(text, limit);
    const remark = 'iree-compile failed on the attention block as one operation, and passed with it written out';
    compiled = { ...compiled, addedFlags: [...compiled.addedFlags, remark] };
  }
  if (isCode(compiled.sequence, 'rocmlir/sequence-command') || isCode(compiled.sequence, 'rocmlir/sequence-copy')) {
    how = { ...how, computesPadding: true };
    const computed = lowerModule(document, how);
    const another = computed === text ? undefined : await attempt(computed, limit);
    if (another !== undefined && !(another.sequence instanceof WavesmithError)) compiled = another;
  }
  const { sequence } = compiled;
  if (sequence instanceof WavesmithError || sequence.steps.length === 1 || !usesMigraphx(document)) return compiled;
  if (sequence.steps.filter(({ kernel }) => !LIGHT.test(kernel)).length > 1) return compiled;
  const whole = lowerModule(document, { ...how, oneDispatch: true });
  try {
    const one = await attempt(whole, ONE_DISPATCH_TIMEOUT_MS, () => {});
    const isOne = !(one.sequence instanceof WavesmithError) && one.sequence.steps.length === 1;
    return isOne ? { ...one, addedFlags: [...new Set([...compiled.addedFlags, ...one.addedFlags])] } : compiled;
  } catch (error) {
    const isRefused = ['failed', 'timeout', 'killed'].some((how) => isCode(error, `rocmlir/compiler-${how}`));
    if (!isRefused) throw error;
    return compiled;
  }
}

const isCode = (error: unknown, code: string): boolean => error instanceof WavesmithError && error.code === code;

/** The binaries in the original's form where one kernel is all, else the sequence of launches. */
function exportPrograms({ binaries, sequence }: Compiled): Pick<ExportResult, 'binaries' | 'sequence'> {
  const [binary, ...more] = binaries;
  if (binary === undefined || more.length > 0) return { binaries: binaries.map((one) => exportBinary(one, [])) };
  if (sequence instanceof WavesmithError) {
    // The original writes such a kernel too, and who reads the JSON refuses it.
    if (sequence.code === 'rocmlir/workgroup-count' && binary.kernels.length === 1) {
      return { binaries: [exportBinary(binary, [])] };
    }
    throw sequence;
  }
  const [step] = sequence.steps;
  if (step.arguments === undefined) return { binaries: [exportBinary(binary, step.workgroupCount)] };
  return { binaries: [], sequence: exportSequence(binary, sequence) };
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');

function exportBinary({ elf, kernels }: IreeBinary, workgroupCount: readonly number[]): ExportedBinary {
  const entries = kernels.map((kernel): [string, ExportedKernel] => [
    kernel.name,
    {
      sym_name: kernel.name,
      workgroup_sizes: kernel.workgroupSizes,
      workgroup_memory: 0,
      workgroup_count: workgroupCount,
      static_workgroup_memory: kernel.staticLds,
    },
  ]);
  return { $elf: hexOf(elf), $kernels: kernels.map((kernel) => kernel.name), ...Object.fromEntries(entries) };
}

function exportSequence({ elf, kernels }: IreeBinary, { scratchBytes, steps }: LaunchSequence): ExportedSequence {
  const argument = (a: StepArgument): Readonly<Record<string, number>> =>
    a.kind === 'buffer'
      ? { buffer: a.position, offset: a.offset }
      : a.kind === 'scratch'
        ? { scratch: a.offset }
        : { constant: a.value };
  return {
    $elf: hexOf(elf),
    scratch_bytes: scratchBytes,
    steps: steps.map((step) => ({
      sym_name: step.kernel,
      workgroup_sizes: step.workgroupSizes,
      workgroup_memory: step.workgroupMemory,
      workgroup_count: step.workgroupCount,
      static_workgroup_memory: kernels.find(({ name }) => name === step.kernel)?.staticLds ?? 0,
      arguments: (step.arguments ?? []).map(argument),
    })),
  };
}

/** Exports a file as the executable does; a missing file is an error in the JSON. */
export async function exportFile(path: string, options: ExportOptions): Promise<Exported> {
  const fail = (failure: WavesmithError, error: string): Exported => ({
    result: { error, diagnostic: failure.toJSON() },
    compiled: undefined,
    failure,
    messages: options.environment.debug > 0 ? [error] : [],
    remarks: [],
  });
  if (!existsSync(path)) {
    const failure = new WavesmithError('io/read', `Cannot read '${path}': no such file.`, { file: path });
    return fail(failure, `invalid input file: ${path}`);
  }
  try {
    return await exportModule(decodeModule(readWhole(path, 'the module'), path), options, path);
  } catch (error) {
    if (error instanceof WavesmithError) return fail(error, error.message);
    throw error;
  }
}

/** The summary line the original prints with IREE_DEBUG set. */
export function exportSummary(result: ExportResult, functionName: string): string {
  const count = result.sequence?.steps.length ?? result.binaries?.length ?? 0;
  const line = `[iree-export]: number of kernels: ${count}, rocMLIR name: ${functionName}`;
  if (result.binaries === undefined) return line;
  const facts =
    result.sequence?.steps ?? result.binaries.flatMap((binary) => binary.$kernels.map((name) => binary[name]));
  return `${line}, iree-metadata ${JSON.stringify(facts)}`;
}
