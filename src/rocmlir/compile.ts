// One run of iree-compile for rocMLIR: the code object, its kernels with launch facts, and which argument each pointer of the
// kernel is. What today's compiler needs no patch for: everything is in the module and the phases it dumps.
// Source: rocMLIR branch iree-rocMLIR, iree.patch (exportJSON) and iree-export.py for what is collected.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/code-object.ts';
import { readExecutable } from '../codeobject/vmfb/executable.ts';
import { commandLine, type IreeCompiler, probeCompiler, targetFlags } from '../iree/compiler.ts';
import type { DispatchSite } from '../iree/dispatches.ts';
import { readText, readWhole, withTemporaryFolder } from '../iree/files.ts';
import { type ModuleExecutable, readModule, readModuleDispatches } from '../iree/module.ts';
import { runTool, type ToolRun } from '../iree/tools.ts';
import {
  type FlagNote,
  findCompiler,
  knownFlags,
  type RocmlirEnvironment,
  readConfig,
  resolveFlags,
} from './environment.ts';
import { type HostProgram, readHostProgram } from './host-program.ts';
import { inOrder, renumberBindings } from './lower/reorder.ts';

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

/** What a pointer argument of the kernel is to the function; positions count the results after the arguments. */
export interface KernelPointer {
  /** Position among arguments and results; undefined for a buffer of IREE's own. */
  readonly position: number | undefined;
  readonly readOnly: boolean;
}

/** A kernel as iree-compile made it. */
export interface IreeKernel {
  readonly name: string;
  readonly workgroupSizes: readonly [number, number, number];
  /** Empty where only known at run time. */
  readonly workgroupCount: readonly number[];
  /** Places in the host program that launch it. */
  readonly launches: number;
  /** Bytes of LDS that the launch must add: none since IREE declares LDS in the code object. */
  readonly dynamicLds: number;
  /** Bytes of LDS that the code object declares. */
  readonly staticLds: number;
  /** 32-bit values after the pointers. */
  readonly constants: number;
  /** The pointers in kernel argument order; undefined when the host program could not be followed. */
  readonly pointers: readonly KernelPointer[] | undefined;
}

/** A code object with its kernels. */
export interface IreeBinary {
  readonly elf: Uint8Array;
  readonly kernels: readonly IreeKernel[];
}

export interface Compiled {
  readonly compiler: IreeCompiler;
  readonly flagNotes: readonly FlagNote[];
  readonly binaries: readonly IreeBinary[];
  /** Text of the HAL phase. */
  readonly hal: string;
  /** Arguments and results of the function; undefined when the host program could not be followed. */
  readonly host: HostProgram | undefined;
  /** The module as iree-compile wrote it. */
  readonly vmfb: Uint8Array;
}

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
  const { flags, notes } = resolveFlags(config, await knownFlags(tool));
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
    await invoke([...common, ...dumps, input, '-o', output]);
    const vmfb = readWhole(output, 'the module that iree-compile wrote');
    const phase = readdirSync(phases).find((name) => /\.hal\.mlir$/.test(name));
    const hal = phase === undefined ? '' : readText(join(phases, phase), 'the HAL phase');
    const host = readHostProgram(hal);
    const dispatches = readModuleDispatches(vmfb);
    const binaries = readModule(vmfb).map((executable) => binaryOf(executable, dispatches, host));
    const [kernel] = binaries[0]?.kernels ?? [];
    const single = binaries.length === 1 && binaries[0].kernels.length === 1;
    const order = single ? argumentOrder(kernel, host) : undefined;
    const total = host === undefined ? 0 : host.arguments + host.results;
    if (order !== undefined && !inOrder(order, total)) {
      const source = readdirSync(sources).map((name) => readText(join(sources, name), 'the executable’s source'));
      const renumbered = source.length === 1 ? renumberBindings(source[0], order, total) : undefined;
      if (renumbered !== undefined) {
        writeFileSync(input, renumbered);
        await invoke([...common, '--compile-mode=hal-executable', input, '-o', output]);
        binaries[0] = reordered(readWhole(output, 'the executable'), kernel, total);
      }
    }
    return { compiler, flagNotes: notes, binaries, hal, host, vmfb };
  });
}

function binaryOf(
  executable: ModuleExecutable,
  dispatches: ReadonlyMap<string, readonly DispatchSite[]>,
  host: HostProgram | undefined,
): IreeBinary {
  const object = readCodeObject(executable.codeObject);
  const kernels = executable.kernels.map((kernel): IreeKernel => {
    const sites = dispatches.get(kernel.name) ?? [];
    const site = sites.length === 1 ? sites[0] : undefined;
    const descriptor = object.kernels.find((k) => k.name === kernel.name)?.descriptor;
    return {
      name: kernel.name,
      workgroupSizes: kernel.workgroupSize,
      workgroupCount: site?.grid ?? [],
      launches: sites.length,
      dynamicLds: 0,
      staticLds: descriptor?.groupSegmentFixedSize ?? 0,
      constants: kernel.constants,
      pointers:
        site && host && kernel.bindings.map(({ readOnly }, i) => ({ position: position(site, i, host), readOnly })),
    };
  });
  return { elf: executable.codeObject, kernels };
}

/** The binary of a renumbered executable: the first kernel's launch facts, as long as both agree on the workgroup. */
function reordered(bytes: Uint8Array, before: IreeKernel, total: number): IreeBinary {
  const { images, exports } = readExecutable(bytes, 0);
  const [image] = images;
  const [kernel] = exports;
  const same = kernel?.workgroupSize.every((size, d) => size === before.workgroupSizes[d]);
  if (images.length !== 1 || exports.length !== 1 || kernel.kernelName !== before.name || !same) {
    throw new WavesmithError(
      'rocmlir/argument-order',
      `Kernel '${before.name}' cannot take its arguments in the function's order.`,
      {
        hint: 'Order the function’s arguments as its operations use them.',
      },
    );
  }
  const object = readCodeObject(image.bytes);
  const descriptor = object.kernels.find((k) => k.name === before.name)?.descriptor;
  const readOnly = new Map((before.pointers ?? []).map((pointer) => [pointer.position, pointer.readOnly]));
  const pointers = Array.from({ length: total }, (_, position) => ({
    position,
    readOnly: readOnly.get(position) ?? true,
  }));
  return {
    elf: image.bytes.slice(),
    kernels: [{ ...before, staticLds: descriptor?.groupSegmentFixedSize ?? 0, pointers }],
  };
}

/** Which argument or result begins where binding `binding` of the dispatch points. */
function position(site: DispatchSite, binding: number, host: HostProgram): number | undefined {
  const range = site.bindings[binding];
  const slot = /^slot (\d+)$/.exec(range?.buffer ?? '')?.[1];
  const source = slot === undefined ? undefined : host.slots[Number(slot)];
  if (source?.kind === 'argument') return range.offset === 0 ? source.index : undefined;
  if (source?.kind !== 'result') return undefined;
  const result = source.results.find(({ offset }) => offset === range.offset);
  return result === undefined ? undefined : host.arguments + result.index;
}

/** The position of each kernel pointer when they are exactly the function's arguments and results, each once; else undefined. */
export function argumentOrder(kernel: IreeKernel, host: HostProgram | undefined): readonly number[] | undefined {
  if (host === undefined || kernel.pointers === undefined || kernel.constants > 0) return undefined;
  const order: number[] = [];
  for (const pointer of kernel.pointers) {
    if (pointer.position === undefined) return undefined;
    order.push(pointer.position);
  }
  return order;
}
