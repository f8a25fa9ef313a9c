// Room `cli/hijack`: the subcommands of `wavesmith hijack`, one file each.
// Begin with this file; the work is in src/iree.
//
// `wavesmith hijack init`: a folder with baseline.vmfb, asm/NAME.s per executable and manifest.json.

import { WavesmithError } from '../../base/index.ts';
import { optimizeLess } from '../../device/node/v8-flags.ts';
import { initFromCode, initFromProgram, type ProgramInitResult } from '../../hijack/init.ts';
import { initFromCapture } from '../../iree/captured.ts';
import { takeTarget } from '../../iree/compiler.ts';
import { type InitOptions, type InitResult, initFromMlir, initFromModule } from '../../iree/init.ts';
import { isModule } from '../../iree/module.ts';
import { TARGET_LIST } from '../../isa/table/targets.ts';
import { isCapturePath } from '../../snapshot/index.ts';
import { programDevice } from '../program-device.ts';
import { newCommand, parseArguments, printJson, readInput } from '../support.ts';
import { describeProgramInit } from './init-program.ts';

interface Flags {
  output?: string;
  target?: string;
  link?: boolean;
  whole?: boolean;
  addresses?: boolean;
  encodings?: boolean;
  kernel?: string;
  device?: string;
  force?: boolean;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  // Everything after `--` belongs to iree-compile.
  const cut = argv.indexOf('--');
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const extra = cut < 0 ? [] : argv.slice(cut + 1);
  const command = newCommand('hijack init', 'Make a hijack folder of an MLIR input or of a compiled module.')
    .argument(
      '[input]',
      "INPUT.mlir (needs iree-compile), MODEL.vmfb, a capture (X.wscap), or a file with code objects; none when a program follows '--'",
    )
    .requiredOption('-o, --output <dir>', 'the folder to make')
    .option('-a, --target <target>', `GPU of an MLIR input: ${TARGET_LIST} (default: GPU_TARGET)`)
    .option('--link', "keep IREE's linking of all dispatches into one executable")
    .option('--whole', 'one text for each executable, however many kernels it has')
    .option('--addresses', 'disassembled texts: the address of each instruction, as a comment')
    .option('--encodings', 'disassembled texts: the encoding of each instruction, as a comment')
    .option('--kernel <regex>', 'programs and code objects: only code objects with such a kernel')
    .option('--device <device>', 'programs: sim:TARGET, or rocm for the GPU that the machine has')
    .option('--force', 'replace an existing hijack folder; edits in it are lost')
    .option('--json', 'print the manifest as JSON')
    .addHelpText(
      'after',
      `
Examples:
  wavesmith hijack init m.mlir -o d --target gfx942 -- --iree-opt-level=O3   flags after '--' go to iree-compile
  wavesmith hijack init model.vmfb -o d
  wavesmith hijack init -o d --device sim:gfx942 -- ./app ARGS                a HIP, HSA or Triton program: every code object it loads
  wavesmith hijack init kernels.co -o d                                      a code object, bundle or program file`,
    );
  if (!parseArguments(command, own)) return 0;
  const flags = command.opts<Flags>();
  const [input] = command.args;
  const folder = flags.output ?? '';
  if (input === undefined) return initProgram(extra, folder, flags);
  optimizeLess();
  if (isCapturePath(input)) return await fromCapture(input, folder, flags, extra);
  const bytes = readInput(input);
  if (!isModule(bytes) && isBinary(bytes)) return initCode(input, folder, flags, extra);
  const result = isModule(bytes)
    ? await fromModule(input, folder, flags, extra)
    : await initFromMlir(input, folder, {
        target: requireTarget(flags.target, extra),
        extra,
        link: flags.link === true,
        ...common(flags),
      });
  if (flags.json) printJson({ folder: result.folder, ...result.manifest });
  else process.stdout.write(describe(result));
  return 0;
}

/** A hijack folder of one captured dispatch. */
async function fromCapture(input: string, folder: string, flags: Flags, extra: readonly string[]): Promise<number> {
  refuseForCompiled(input, flags, extra);
  const { force = false, addresses, encodings } = flags;
  const manifest = await initFromCapture(input, folder, { force, addresses, encodings });
  if (flags.json) printJson({ folder, ...manifest });
  else {
    process.stdout.write(
      `${folder}/${manifest.asm}  kernel ${manifest.kernel}, ${manifest.target}\nnext: edit it, then 'wavesmith hijack build ${folder}' and 'wavesmith hijack run ${folder}'\n`,
    );
  }
  return 0;
}

function common({ whole, addresses, encodings, force }: Flags): InitOptions {
  return {
    whole: whole === true,
    comments: { addresses: addresses === true, encodings: encodings === true },
    force: force === true,
  };
}

/** MLIR is text, or bytecode that starts with `ML\xefR`. */
function isBinary(bytes: Uint8Array): boolean {
  const isBytecode = bytes[0] === 0x4d && bytes[1] === 0x4c && bytes[2] === 0xef && bytes[3] === 0x52;
  return !isBytecode && bytes.subarray(0, 512).includes(0);
}

function kernelFlag(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    throw new WavesmithError('cli/usage', `--kernel needs a regular expression: ${(error as Error).message}.`);
  }
}

/** The target that --target or --device names. */
function targetOf(flags: Flags): string | undefined {
  const name = flags.target ?? flags.device;
  return name?.replace(/^sim:/, '') ?? (process.env.GPU_TARGET || undefined);
}

async function initProgram(program: readonly string[], folder: string, flags: Flags): Promise<number> {
  if (program.length === 0) {
    throw new WavesmithError('cli/usage', 'hijack init needs an input, or a program after two dashes.', {
      hint: 'wavesmith hijack init -o DIR -- PROGRAM ARGS, or wavesmith hijack init INPUT -o DIR.',
    });
  }
  refuse(flags, ['link']);
  const target = targetOf(flags);
  const result = await initFromProgram(
    program,
    folder,
    programDevice(flags.device ?? (target === undefined ? 'sim' : `sim:${target}`)),
    {
      ...common(flags),
      kernel: kernelFlag(flags.kernel),
      show: flags.json ? 'stderr' : 'stdout',
      report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
    },
  );
  return print(result, flags);
}

async function initCode(input: string, folder: string, flags: Flags, extra: readonly string[]): Promise<number> {
  refuse(flags, ['link']);
  if (extra.length > 0) {
    throw new WavesmithError('cli/usage', `'${input}' is a file of code objects: nothing follows '--' here.`, {
      hint: "Leave out the file to take what the program loads; 'hijack run DIR -- PROGRAM' runs it with the edited code.",
    });
  }
  const result = await initFromCode(input, folder, {
    ...common(flags),
    kernel: kernelFlag(flags.kernel),
    target: targetOf(flags),
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
  });
  return print(result, flags);
}

function print(result: ProgramInitResult, flags: Flags): number {
  if (flags.json) printJson({ folder: result.folder, remarks: result.remarks, ...result.manifest });
  else process.stdout.write(describeProgramInit(result));
  return 0;
}

function refuse(flags: Flags, names: readonly (keyof Flags)[]): void {
  for (const name of names) {
    if (flags[name] !== undefined) throw new WavesmithError('cli/usage', `--${name} is for IREE modules.`);
  }
}

/** The target of --target, of the flags for the compiler, or of GPU_TARGET; `sim:gfx942` is the target of that device. */
function requireTarget(asked: string | undefined, extra: readonly string[]): string {
  const target = takeTarget(extra, asked?.replace(/^sim:/, '')).target ?? process.env.GPU_TARGET;
  if (target) return target;
  throw new WavesmithError('cli/usage', 'An MLIR input needs --target.', { hint: 'For example --target gfx942.' });
}

/** Options for compiling mean nothing for what is compiled. */
function refuseForCompiled(input: string, flags: Flags, extra: readonly string[]): void {
  for (const [given, name] of [
    [flags.target !== undefined, '--target'],
    [flags.link === true, '--link'],
    [extra.length > 0, "flags after '--'"],
  ] as const) {
    if (given) {
      throw new WavesmithError('cli/usage', `'${input}' is already compiled: ${name} would have no effect.`, {
        hint: 'Leave it out, or give the MLIR input.',
      });
    }
  }
}

function fromModule(input: string, folder: string, flags: Flags, extra: readonly string[]): Promise<InitResult> {
  refuseForCompiled(input, flags, extra);
  return initFromModule(input, folder, common(flags));
}

function describe({ folder, manifest, compileSeconds, remarks }: InitResult): string {
  const lines: string[] = [];
  if (manifest.compiler !== null) {
    lines.push(`compiled with IREE ${manifest.compiler.version} in ${(compileSeconds ?? 0).toFixed(2)} s`);
  }
  lines.push(`${folder}/baseline.vmfb  ${manifest.baseline.bytes} bytes, ${manifest.executables.length} executable(s)`);
  const shown = manifest.executables.slice(0, 20);
  for (const executable of shown) {
    const files = executable.parts?.length ? ` and ${executable.parts.length} files beside it, one per kernel` : '';
    lines.push(
      `${folder}/${executable.asm}${files}  ${executable.target}, ${executable.codeBytes} bytes of code object`,
    );
    if (executable.asmWhy) lines.push(`  disassembled: ${executable.asmWhy}`);
    for (const kernel of executable.kernels.slice(0, 12)) {
      const grids = kernel.dispatches.map((d) => (d.grid === null ? 'at run time' : d.grid.join('×')));
      const grid = grids.length === 0 ? 'not recorded' : [...new Set(grids)].join(', ');
      lines.push(
        `  kernel ${kernel.name}`,
        `    workgroup ${kernel.workgroupSize.join('×')}, grid ${grid}, ${kernel.bindings.length} bindings, ` +
          `${kernel.constants} constants, ${kernel.ldsBytes} bytes of LDS`,
      );
    }
    if (executable.kernels.length > 12) lines.push(`  … and ${executable.kernels.length - 12} more kernels`);
  }
  if (shown.length < manifest.executables.length) {
    lines.push(`… and ${manifest.executables.length - shown.length} more executables (see manifest.json)`);
  }
  lines.push(...remarks.map((remark) => `remark: ${remark}`));
  lines.push(`next: edit asm/*.s, then 'wavesmith hijack build ${folder}'`, '');
  return lines.join('\n');
}
