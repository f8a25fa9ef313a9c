// The job of iree-export.py: run iree-compile on a module and collect, as JSON, the code objects with each kernel's launch facts,
// or an error. Source: rocMLIR branch iree-rocMLIR (iree-export.py, iree.patch); the C++ passes read `error`, `binaries`,
// `$elf`, `$kernels` and the kernels' entries, and ignore what else there is.
import { existsSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { commandLine } from '../iree/compiler.ts';
import { readWhole } from '../iree/files.ts';
import { decodeModule } from '../mlir/lex.ts';
import { parseMlir } from '../mlir/parse.ts';
import { argumentOrder, type Compiled, type CompilerOutput, compileModule, type IreeBinary } from './compile.ts';
import { describeFlag, type RocmlirEnvironment } from './environment.ts';
import { lowerModule, needsLowering } from './lower/lower.ts';
import { inOrder } from './lower/reorder.ts';

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

/** What is written to the output file. */
export interface ExportResult {
  readonly MLIR?: readonly string[];
  readonly binaries?: readonly ExportedBinary[];
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
    const input = needsLowering(document) ? lowerModule(document, { fuseAttention: true }) : text;
    compiled = await compileModule(input, options, onFailure);
    checkArguments(compiled);
    result = { MLIR: compiled.hal.split(/(?<=\n)/), binaries: compiled.binaries.map(exportBinary) };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    failure = error;
    const message = originalMessage(error);
    if (debug > 0) messages.push(message);
    result = { error: message, diagnostic: error.toJSON() };
  }
  const remarks = (compiled?.flagNotes ?? []).map(describeFlag);
  return { result, compiled, failure, messages, remarks };
}

/** A single kernel must be launched once and take the function's arguments and results: the launch passes nothing else. */
function checkArguments(compiled: Compiled): void {
  const [binary, ...more] = compiled.binaries;
  if (binary === undefined || more.length > 0 || binary.kernels.length !== 1) return;
  const [kernel] = binary.kernels;
  if (kernel.launches > 1) {
    throw new WavesmithError(
      'rocmlir/several-kernels',
      `IREE launches kernel '${kernel.name}' ${kernel.launches} times to compute the function.`,
      { hint: 'rocMLIR takes one launch: split the module, or let rocMLIR’s own kernel be used.' },
    );
  }
  // Who reads the JSON refuses a kernel without a workgroup count.
  if (kernel.workgroupCount.length === 0) return;
  const order = argumentOrder(kernel, compiled.host);
  const total = compiled.host === undefined ? 0 : compiled.host.arguments + compiled.host.results;
  if (order !== undefined && inOrder(order, total)) return;
  throw new WavesmithError(
    'rocmlir/kernel-arguments',
    `Kernel '${kernel.name}' takes other buffers or values than the function's arguments and results.`,
    { hint: 'IREE keeps large constants and intermediate results in buffers of its own; pass weights as arguments.' },
  );
}

function exportBinary({ elf, kernels }: IreeBinary): ExportedBinary {
  const entries = kernels.map((kernel): [string, ExportedKernel] => [
    kernel.name,
    {
      sym_name: kernel.name,
      workgroup_sizes: kernel.workgroupSizes,
      workgroup_memory: kernel.dynamicLds,
      workgroup_count: kernel.workgroupCount,
      static_workgroup_memory: kernel.staticLds,
    },
  ]);
  const hex = Array.from(elf, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');
  return { $elf: hex, $kernels: kernels.map((kernel) => kernel.name), ...Object.fromEntries(entries) };
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
  const count = result.binaries?.length ?? 0;
  const line = `[iree-export]: number of kernels: ${count}, rocMLIR name: ${functionName}`;
  if (result.binaries === undefined) return line;
  const facts = result.binaries.flatMap((binary) => binary.$kernels.map((name) => binary[name]));
  return `${line}, iree-metadata ${JSON.stringify(facts)}`;
}
