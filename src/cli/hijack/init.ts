// Room `cli/hijack`: the subcommands of `wavesmith hijack`, one file each.
// Begin with this file; the work is in src/iree.
//
// `wavesmith hijack init`: a folder with baseline.vmfb, asm/NAME.s per executable and manifest.json.
import { WavesmithError } from '../../base/index.ts';
import { isElf } from '../../codeobject/elf/read.ts';
import { optimizeLess } from '../../device/node/v8-flags.ts';
import { initFromCapture } from '../../iree/captured.ts';
import { takeTarget } from '../../iree/compiler.ts';
import { type InitOptions, type InitResult, initFromMlir, initFromModule } from '../../iree/init.ts';
import { isModule } from '../../iree/module.ts';
import { isCapturePath } from '../../snapshot/index.ts';
import { newCommand, parseArguments, printJson, readInput } from '../support.ts';

interface Flags {
  output?: string;
  target?: string;
  link?: boolean;
  whole?: boolean;
  addresses?: boolean;
  encodings?: boolean;
  force?: boolean;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  // Everything after `--` belongs to iree-compile.
  const cut = argv.indexOf('--');
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const extra = cut < 0 ? [] : argv.slice(cut + 1);
  const command = newCommand('hijack init', 'Make a hijack folder of an MLIR input or of a compiled module.')
    .argument('<input>', 'INPUT.mlir (needs iree-compile), MODEL.vmfb, or a capture (X.wscap)')
    .requiredOption('-o, --output <dir>', 'the folder to make')
    .option('-a, --target <target>', 'GPU of an MLIR input: gfx90a, gfx942 or gfx950 (default: GPU_TARGET)')
    .option('--link', "keep IREE's linking of all dispatches into one executable")
    .option('--whole', 'one text for each executable, however many kernels it has')
    .option('--addresses', 'disassembled texts: the address of each instruction, as a comment')
    .option('--encodings', 'disassembled texts: the encoding of each instruction, as a comment')
    .option('--force', 'replace an existing hijack folder; edits in it are lost')
    .option('--json', 'print the manifest as JSON')
    .addHelpText(
      'after',
      "\nFlags after '--' go to iree-compile: hijack init m.mlir -o d --target gfx942 -- --iree-opt-level=O3",
    );
  if (!parseArguments(command, own)) return 0;
  optimizeLess();
  const flags = command.opts<Flags>();
  const input = command.args[0];
  const folder = flags.output ?? '';
  if (isCapturePath(input)) return await fromCapture(input, folder, flags, extra);
  const bytes = readInput(input);
  if (!isModule(bytes)) checkIsMlir(input, bytes);
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

/** MLIR is text, or bytecode that starts with `ML\xefR`; anything else binary is something people mistake for a module. */
function checkIsMlir(path: string, bytes: Uint8Array): void {
  const isBytecode = bytes[0] === 0x4d && bytes[1] === 0x4c && bytes[2] === 0xef && bytes[3] === 0x52;
  if (isBytecode || !bytes.subarray(0, 512).includes(0)) return;
  throw new WavesmithError('hijack/not-a-module', `'${path}' is neither MLIR nor an IREE module.`, {
    file: path,
    hint: isElf(bytes)
      ? 'It is a code object: use wavesmith disasm, asm and diff on it directly.'
      : 'Give INPUT.mlir or the .vmfb that iree-compile writes.',
  });
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
