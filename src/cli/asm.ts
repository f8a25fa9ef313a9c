// `wavesmith asm FILE.s -o OUT`: assembles LLVM-dialect text to a loadable code object, or with -c to an object. It imports files
// and not indexes: what a short command does not load, it does not wait for.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assemble } from '../asm/assemble/assemble.ts';
import type { AssembleOptions } from '../asm/assemble/options.ts';
import { type Diagnostic, formatDiagnostic } from '../asm/assemble/source.ts';
import { WavesmithError } from '../base/index.ts';
import { writeObject } from '../codeobject/elf/write.ts';
import { link } from '../codeobject/link/link.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import { newCommand, parseArguments, printJson, readInput, writeOutput } from './support.ts';

interface Flags {
  readonly output: string;
  readonly compile?: boolean;
  readonly target?: string;
  readonly define: readonly string[];
  readonly include: readonly string[];
  readonly engine: string;
  readonly json?: boolean;
}

/** `NAME=VALUE`, or `NAME` for 1. */
function parseDefine(text: string): [string, bigint] {
  const match = /^([A-Za-z_.$][A-Za-z0-9_.$]*)(?:=(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+))?$/.exec(text);
  if (match === null) {
    throw new WavesmithError('cli/usage', `'-D ${text}' is not NAME=VALUE with an integer value.`, {
      hint: "Write for example '-D TILE=64'.",
    });
  }
  const [, name, sign, digits] = match;
  const value = digits === undefined ? 1n : BigInt(digits);
  return [name, sign === '-' ? -value : value];
}

/** Looks for included files beside the source, then in the -I folders. */
export function fileReader(source: string, folders: readonly string[]): (name: string) => Uint8Array | undefined {
  const places = [...(source === '-' ? [] : [dirname(source)]), ...folders];
  return (name) => {
    const candidates = [name, ...places.map((folder) => join(folder, name))];
    const found = candidates.find((path) => existsSync(path));
    return found === undefined ? undefined : readFileSync(found);
  };
}

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) process.stderr.write(formatDiagnostic(diagnostic));
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'asm',
    'Assemble LLVM-dialect AMDGPU assembly to a code object that the ROCm loader accepts.',
  )
    .argument('<file>', 'the assembly source (- for standard input)')
    .requiredOption('-o, --output <file>', 'where to write the result')
    .option('-c, --compile', 'stop at the relocatable object, do not link')
    .option('--target <id>', "the target id (gfx942:xnack-), for sources without '.amdgcn_target'")
    .option('-D, --define <name=value>', 'set a symbol before the source (repeatable)', collect, [])
    .option('-I, --include <dir>', 'a folder for .include and .incbin (repeatable)', collect, [])
    .option('--engine <name>', 'wavesmith, or llvm (clang and ld.lld)', 'wavesmith')
    .option('--json', 'print the result or the diagnostics as JSON');
  if (!parseArguments(command, argv)) return 0;
  optimizeLess();
  const flags = command.opts<Flags>();
  const file = command.args[0];
  if (flags.engine !== 'wavesmith' && flags.engine !== 'llvm') {
    throw new WavesmithError('cli/usage', `There is no engine '${flags.engine}'.`, {
      hint: "Use 'wavesmith' or 'llvm'.",
    });
  }
  const source = readInput(file);
  if (flags.engine === 'llvm') return runLlvm(file, source, flags);
  const options: AssembleOptions = {
    target: flags.target,
    explainConflicts: true,
    file: file === '-' ? '<stdin>' : file,
    defines: Object.fromEntries(flags.define.map(parseDefine)),
    readFile: fileReader(file, flags.include),
  };
  const { object, diagnostics } = assemble(source, options);
  if (flags.json !== true) printDiagnostics(diagnostics);
  if (object === undefined) {
    if (flags.json === true) printJson({ ok: false, diagnostics });
    return 1;
  }
  const bytes = flags.compile === true ? writeObject(object) : link([object]);
  writeOutput(flags.output, bytes);
  if (flags.json === true) printJson({ ok: true, output: flags.output, bytes: bytes.length, diagnostics });
  return 0;
}

async function runLlvm(file: string, source: Uint8Array, flags: Flags): Promise<number> {
  // Loads child processes and IREE's side, which nothing else of this command needs.
  const { assembleWithLlvm } = await import('./asm-llvm.ts');
  const result = await assembleWithLlvm(source, {
    name: file,
    target: flags.target,
    defines: flags.define,
    includes: [...(file === '-' ? [] : [dirname(file)]), ...flags.include],
    link: flags.compile !== true,
  });
  if (result.messages !== '') process.stderr.write(result.messages);
  if (result.bytes === undefined) {
    if (flags.json === true) printJson({ ok: false, messages: result.messages });
    return 1;
  }
  writeOutput(flags.output, result.bytes);
  if (flags.json === true) printJson({ ok: true, output: flags.output, bytes: result.bytes.length });
  return 0;
}

function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}
