// `wavesmith hijack asm MODIFIED.s INPUT.mlir OUT.vmfb [EXEC] [FLAGS]`: the arguments and environment (ROCM_LLVM, GPU_TARGET,
// IREE_COMPILE) of the shell script this replaces.
import { WavesmithError } from '../../base/index.ts';
import { assembleInto } from '../../iree/asm-command.ts';
import { formatChange } from '../../iree/report.ts';
import { printJson } from '../support.ts';
import { engineFlag } from './build.ts';

const USAGE = `Usage: wavesmith hijack asm MODIFIED.s INPUT.mlir OUT.vmfb [EXEC] [FLAGS]

Assemble MODIFIED.s, compile INPUT.mlir with that code in place of executable EXEC, and prove that OUT.vmfb holds it.

  EXEC                the executable to replace; found from the kernel in MODIFIED.s when left out
  FLAGS               flags for iree-compile, as one quoted word or several

Options:
  --engine NAME       'wavesmith', or 'llvm' (the default when ROCM_LLVM is set)
  --json              print the result as JSON

Environment:
  ROCM_LLVM           folder with clang and ld.lld to assemble and link with
  GPU_TARGET          the GPU; must agree with the file's own .amdgcn_target
  IREE_COMPILE        the iree-compile to use
`;

export async function run(argv: string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { positional, extra, engine, json } = parse(argv);
  const [modified, input, output, executable] = positional;
  if (modified === undefined || input === undefined || output === undefined) {
    throw new WavesmithError('cli/usage', 'hijack asm needs MODIFIED.s, INPUT.mlir and OUT.vmfb.', {
      hint: "'wavesmith hijack asm --help' shows the usage.",
    });
  }
  const result = await assembleInto(modified, input, output, {
    executable: executable || undefined,
    extra,
    gpuTarget: process.env.GPU_TARGET || undefined,
    engine: engineFlag(engine ?? (process.env.ROCM_LLVM ? 'llvm' : 'wavesmith')),
  });
  if (json) {
    printJson(result);
    return 0;
  }
  const lines = [
    `${result.executable}: replaced, for ${result.target}`,
    ...formatChange(result.change).map((line) => `  ${line}`),
    ...result.remarks.map((remark) => `  remark: ${remark}`),
    `  iree-compile confirmed the substitution`,
    `  proof: reopened the module: its code object is the assembled one (sha256 ${result.codeSha256})`,
    `${result.output}: ${result.bytes} bytes`,
    '',
  ];
  process.stdout.write(lines.join('\n'));
  return 0;
}

interface Parsed {
  positional: string[];
  extra: string[];
  engine: string | undefined;
  json: boolean;
}

/** FLAGS start with `-`, so options of the command itself are picked out by name and all others are FLAGS. */
function parse(argv: readonly string[]): Parsed {
  const parsed: Parsed = { positional: [], extra: [], engine: undefined, json: false };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i];
    if (word === '--json') parsed.json = true;
    else if (word === '--engine') parsed.engine = argv[++i] ?? '';
    else if (word.startsWith('--engine=')) parsed.engine = word.slice('--engine='.length);
    else if (word === '--') {
      parsed.extra.push(...argv.slice(i + 1).flatMap(splitWords));
      return parsed;
    } else if (word.trimStart().startsWith('-')) parsed.extra.push(...splitWords(word));
    else if (parsed.positional.length < 4) parsed.positional.push(word);
    else if (word.trim() !== '') {
      throw new WavesmithError('cli/usage', `'${word}' is one argument too many.`, {
        hint: 'Flags for iree-compile start with a dash.',
      });
    }
  }
  return parsed;
}

/** Splits a quoted FLAGS word as a shell would: at spaces, with '…' and "…" kept together. */
function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const match of text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)) {
    words.push(
      match[0].replace(/"([^"]*)"|'([^']*)'/g, (_, a: string | undefined, b: string | undefined) => a ?? b ?? ''),
    );
  }
  return words;
}
