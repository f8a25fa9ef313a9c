// One run of iree-compile for rocMLIR: the code object, its kernels with launch facts, and which argument each pointer of the
// kernel is. What today's compiler needs no patch for: everything is in the module and the phases it dumps.
// Source: rocMLIR branch iree-rocMLIR, iree.patch (exportJSON) and iree-export.py for what is collected.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/code-object.ts';
import { featureSupport } from '../codeobject/elf/target-id.ts';
import { readExecutable } from '../codeobject/vmfb/executable.ts';
import { commandLine, type IreeCompiler, probeCompiler, targetFlags } from '../iree/compiler.ts';
import { readText, readWhole, withTemporaryFolder } from '../iree/files.ts';
import { type ModuleExecutable, readModule } from '../iree/module.ts';
import { runTool, type ToolRun } from '../iree/tools.ts';
import {
  type FlagNote,
  findCompiler,
  flagName,
  knownFlags,
  type RocmlirEnvironment,
  readConfig,
  resolveFlags,
} from './environment.ts';
import { type HostProgram, readHostProgram } from './host-program.ts';
import { inOrder, renumberBindings } from './lower/reorder.ts';
import { type LaunchSequence, sequenceOf, singleOrder } from './sequence.ts';
import { hasTwoOrders, WITHOUT_IMPLICIT_GEMM } from './wrong-convolution.ts';

/** How long iree-compile may take, as in the original. */
export const COMPILE_TIMEOUT_MS = 60_000;

export interface CompileOptions {
  /** `gfx942`. */
  readonly arch: string;
  /** `+sramecc,-xnack`; empty for the target's defaults. */
  readonly features: string;
  readonly environment: RocmlirEnvironment;
  /** Milliseconds; default one minute. */
  readonly timeout?: number | undefined;
}

/** A kernel as iree-compile made it. */
export interface IreeKernel {
  readonly name: string;
  readonly workgroupSizes: readonly [number, number, number];
  /** Bytes of LDS that the code object declares. */
  readonly staticLds: number;
  /** The pointers in argument order. */
  readonly bindings: readonly { readonly readOnly: boolean }[];
}

/** A code object with its kernels. */
export interface IreeBinary {
  readonly elf: Uint8Array;
  readonly kernels: readonly IreeKernel[];
}

export interface Compiled {
  readonly compiler: IreeCompiler;
  readonly flagNotes: readonly FlagNote[];
  /** Flags that this project added because iree-compile failed without, or would have made a wrong kernel; each as a sentence. */
  readonly addedFlags: readonly string[];
  readonly binaries: readonly IreeBinary[];
  /** Text of the HAL phase. */
  readonly hal: string;
  /** How the kernels of the one binary compute the function, or why no sequence of launches does. */
  readonly sequence: LaunchSequence | WavesmithError;
  /** The module as iree-compile wrote it. */
  readonly vmfb: Uint8Array;
}

/** The original's features `+sramecc,-xnack`, as far as the architecture has them. */
export function defaultFeatures(arch: string): string {
  const support = featureSupport(arch);
  return [support.sramecc ? '+sramecc' : '', support.xnack ? '-xnack' : ''].filter((text) => text !== '').join(',');
}

/**
 * What is tried once when iree-compile fails: IREE 3.13 chooses sparse matrix instructions for matrices of few rows, which gfx90a
 * has not, and which end the compiler with a crash for gfx950.
 */
const WITHOUT_TILE_AND_FUSE = '--iree-codegen-llvmgpu-use-tile-and-fuse-matmul=false';

/** Checks what is passed on as flags, so that it cannot mean anything else. */
function checkTarget(arch: string, features: string): void {
  if (!/^gfx[0-9a-z-]+$/.test(arch)) {
    throw new WavesmithError(
      'rocmlir/arch',
      arch === '' ? 'No GPU architecture was given.' : `'${arch}' is no GPU architecture.`,
      {
        hint: 'Give -a gfx942 (or gfx90a, gfx950).',
      },
    );
  }
  if (!/^(?:[+-](?:sramecc|xnack)(?:,[+-](?:sramecc|xnack))*)?$/.test(features)) {
    throw new WavesmithError('rocmlir/features', `'${features}' is no list of target features.`, {
      hint: 'Give -f with sramecc and xnack only, for example -f +sramecc,-xnack.',
    });
  }
  const support = featureSupport(arch);
  const missing = [...features.matchAll(/sramecc|xnack/g)].map(([name]) => name as 'sramecc' | 'xnack');
  const lacking = missing.find((name) => !support[name]);
  if (lacking !== undefined) {
    const fitting = defaultFeatures(arch);
    throw new WavesmithError('rocmlir/features', `${arch} has no target feature '${lacking}'.`, {
      hint: `Give -f '${fitting}'${fitting === '' ? ': the architecture has no such features' : ''}.`,
    });
  }
}

/** The compiler's own first words about a failed run. */
function failure(run: ToolRun, args: readonly string[], limit: number): WavesmithError {
  if (run.timedOut) {
    return new WavesmithError('rocmlir/compiler-timeout', `iree-compile did not finish within ${limit / 1000} s.`, {
      hint: 'Make the module smaller, or compile it with iree-compile by hand.',
    });
  }
  if (run.status === -1) {
    return new WavesmithError('rocmlir/compiler-killed', 'iree-compile was ended by a signal.', {
      hint: 'The machine may be out of memory; run the command by hand to see.',
    });
  }
  const lines = run.stderr.split('\n').filter((line) => line.trim() !== '');
  const first = lines.find((line) => /error:|ERROR/.test(line)) ?? lines[0] ?? '(it printed nothing)';
  return new WavesmithError(
    'rocmlir/compiler-failed',
    `iree-compile failed (exit code ${run.status}): ${first.trim()}`,
    {
      hint: `The command was: ${commandLine(args)}`,
    },
  );
}

/** A failed run with all it printed, for IREE_DEBUG=2. */
export interface CompilerOutput {
  readonly command: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
}

/** Compiles a module's text. Failures are `rocmlir/…`; `onFailure` gets what a failed compiler printed. */
export async function compileModule(
  text: string,
  options: CompileOptions,
  onFailure: (output: CompilerOutput) => void = () => {},
): Promise<Compiled> {
  const { arch, features, environment } = options;
  checkTarget(arch, features);
  const tool = findCompiler(environment);
  const compiler = await probeCompiler(tool);
  const config = environment.config === undefined ? [] : readConfig(environment.config);
  const known = await knownFlags(tool);
  const { flags, notes } = resolveFlags(config, known);
  const isFree = (flag: string): boolean =>
    known.has(flagName(flag)) && !flags.some((given) => flagName(given) === flagName(flag));
  return withTemporaryFolder(async (folder) => {
    const input = join(folder, 'module.mlir');
    const output = join(folder, 'module.vmfb');
    const phases = join(folder, 'phases');
    const sources = join(folder, 'sources');
    for (const made of [phases, sources]) mkdirSync(made);
    writeFileSync(input, text);
    const featureFlag =
      compiler.targetFlag === '--iree-rocm-target' ? '--iree-rocm-target-features' : '--iree-hip-target-features';
    const common = [
      ...targetFlags(compiler, arch, config),
      ...(features === '' ? [] : [`${featureFlag}=${features}`]),
      ...flags,
    ];
    const deadline = performance.now() + (options.timeout ?? COMPILE_TIMEOUT_MS);
    const invoke = async (args: readonly string[]): Promise<void> => {
      const limit = Math.max(1, Math.round(deadline - performance.now()));
      const run = await runTool(compiler.path, args, { timeout: limit });
      if (run.status === 0) return;
      onFailure({ command: [compiler.path, ...args], stdout: run.stdout, stderr: run.stderr });
      throw failure(run, [compiler.path, ...args], options.timeout ?? COMPILE_TIMEOUT_MS);
    };
    const dumps = [`--dump-compilation-phases-to=${phases}`, `--iree-hal-dump-executable-sources-to=${sources}`];
    const addedFlags: string[] = [];
    /** All of the module, with a flag more; dumps of an earlier run are gone. */
    const compileAll = async (): Promise<void> => {
      for (const dump of [phases, sources])
        for (const name of readdirSync(dump)) rmSync(join(dump, name), { recursive: true });
      await invoke([...common, ...dumps, input, '-o', output]);
    };
    try {
      await compileAll();
    } catch (error) {
      const isFailure = error instanceof WavesmithError && error.code === 'rocmlir/compiler-failed';
      if (!isFailure || !isFree(WITHOUT_TILE_AND_FUSE)) throw error;
      common.push(WITHOUT_TILE_AND_FUSE);
      try {
        await compileAll();
      } catch (second) {
        // The first failure is the one to tell: the flag was this project's idea.
        throw second instanceof WavesmithError ? error : second;
      }
      addedFlags.push(`iree-compile failed at first and passed with '${WITHOUT_TILE_AND_FUSE}'`);
    }
    const readSources = (): string[] =>
      readdirSync(sources).map((name) => readText(join(sources, name), 'the executable’s source'));
    if (isFree(WITHOUT_IMPLICIT_GEMM) && readSources().some(hasTwoOrders)) {
      common.push(WITHOUT_IMPLICIT_GEMM);
      await compileAll();
      addedFlags.push(
        `image and filters of a convolution have different layouts, of which IREE makes a wrong kernel without '${WITHOUT_IMPLICIT_GEMM}'`,
      );
    }
    const vmfb = readWhole(output, 'the module that iree-compile wrote');
    const phase = readdirSync(phases).find((name) => /\.hal\.mlir$/.test(name));
    const hal = phase === undefined ? '' : readText(join(phases, phase), 'the HAL phase');
    const host = readHostProgram(hal);
    const binaries = readModule(vmfb).executables.map(binaryOf);
    const sequence = sequenceFor(host, binaries);
    const order = sequence instanceof WavesmithError ? undefined : singleOrder(sequence);
    const plain = { compiler, flagNotes: notes, addedFlags, hal, vmfb };
    if (order === undefined || host === undefined || sequence instanceof WavesmithError) {
      return { ...plain, binaries, sequence };
    }
    // One kernel: in the order that the launch passes its arguments already, or compiled once more so that it is.
    const [step] = sequence.steps;
    const single: LaunchSequence = { scratchBytes: 0, steps: [{ ...step, arguments: undefined }] };
    if (inOrder(order, host.positions)) return { ...plain, binaries, sequence: single };
    const source = readSources();
    const renumbered = source.length === 1 ? renumberBindings(source[0], order, host.positions) : undefined;
    if (renumbered === undefined) return { ...plain, binaries, sequence };
    writeFileSync(input, renumbered);
    await invoke([...common, '--compile-mode=hal-executable', input, '-o', output]);
    const again = reordered(readWhole(output, 'the executable'), binaries[0].kernels[0]);
    return again === undefined ? { ...plain, binaries, sequence } : { ...plain, binaries: [again], sequence: single };
  });
}

function sequenceFor(host: HostProgram | undefined, binaries: readonly IreeBinary[]): LaunchSequence | WavesmithError {
  const refuse = (code: string, message: string, hint: string): WavesmithError =>
    new WavesmithError(`rocmlir/${code}`, message, { hint });
  if (binaries.length === 0) {
    return refuse(
      'no-kernel',
      'expected at least one binary',
      'The module’s function needs no kernel: it only passes values on.',
    );
  }
  if (binaries.length > 1) {
    return refuse(
      'several-binaries',
      'more than one binary was found',
      'rocMLIR takes one code object: let IREE link its executables.',
    );
  }
  if (host === undefined) {
    return refuse(
      'host-program',
      'IREE’s host program is not one command buffer, so the launches cannot be told from it.',
      'Give a module with one function; leave out flags that change the execution model.',
    );
  }
  try {
    return sequenceOf(host, binaries[0].kernels);
  } catch (error) {
    if (error instanceof WavesmithError) return error;
    throw error;
  }
}

function binaryOf(executable: ModuleExecutable): IreeBinary {
  const object = readCodeObject(executable.codeObject);
  const kernels = executable.kernels.map((kernel): IreeKernel => {
    const descriptor = object.kernels.find((k) => k.name === kernel.name)?.descriptor;
    return {
      name: kernel.name,
      workgroupSizes: kernel.workgroupSize,
      staticLds: descriptor?.groupSegmentFixedSize ?? 0,
      bindings: kernel.bindings,
    };
  });
  return { elf: executable.codeObject, kernels };
}

/** The binary of a renumbered executable, as long as it has the same kernel with the same workgroup. */
function reordered(bytes: Uint8Array, before: IreeKernel): IreeBinary | undefined {
  const { images, exports } = readExecutable(bytes, 0);
  const [image] = images;
  const [kernel] = exports;
  const same = kernel?.workgroupSize.every((size, d) => size === before.workgroupSizes[d]);
  if (images.length !== 1 || exports.length !== 1 || kernel.kernelName !== before.name || !same) return undefined;
  const object = readCodeObject(image.bytes);
  const descriptor = object.kernels.find((k) => k.name === before.name)?.descriptor;
  const staticLds = descriptor?.groupSegmentFixedSize ?? 0;
  return { elf: image.bytes.slice(), kernels: [{ ...before, staticLds }] };
}
