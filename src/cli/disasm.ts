// `wavesmith disasm`: a code object as assembler text that assembles to the same bytes, or as a listing.

import type { SectionListing } from '../asm/disassemble/listing.ts';
import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import { readCodeInput } from './read-code-input.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, printJson, writeText } from './support.ts';

interface Options {
  kernel?: string;
  object?: string;
  output?: string;
  listing?: boolean;
  sourceLines?: boolean;
  addresses?: boolean;
  encodings?: boolean;
  json?: boolean;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('disasm', 'Disassemble a code object into text that assembles to the same bytes.')
    .argument('<file>', 'code object, offload bundle, binary with a fat binary, or IREE module')
    .option('--kernel <name>', 'leave out the other kernels')
    .option('--object <n|target>', 'which code object of a file with several (number from 0, or target)')
    .option('--listing', 'one line per instruction: address, encoding words, text, separated by tabs')
    .option('--source-lines', "'// file:line' before the instructions of a source line (needs .debug_line)")
    .option('--addresses', 'the address of each instruction, as a comment')
    .option('--encodings', 'the encoding of each instruction, as a comment')
    .option('-o, --output <file>', 'write to a file')
    .option('--json', 'print JSON');
  if (!parseArguments(command, argv)) return 0;
  optimizeLess();
  const options = command.opts<Options>();
  const [file] = command.args;
  if (options.listing && options.kernel !== undefined) {
    throw new WavesmithError('cli/usage', '--listing shows whole sections and takes no --kernel.');
  }
  const codeObject = selectCodeObject(readCodeInput(file), file, options);
  // A listing needs no assembler, so each form loads what it needs.
  if (options.listing) {
    const { listCodeObject, writeListing } = await import('../asm/disassemble/listing.ts');
    if (options.json) printJson({ ...summary(codeObject), sections: listedSections(listCodeObject(codeObject.elf)) });
    else writeText(options.output, (out) => writeListing(codeObject.elf, out));
    return 0;
  }
  const { disassembleCodeObject, disassembleInto } = await import('../asm/disassemble/disassemble.ts');
  if (options.json) printJson({ ...summary(codeObject), text: disassembleCodeObject(codeObject, options) });
  else writeText(options.output, (out) => disassembleInto(out, codeObject, options));
  return 0;
}

function summary(codeObject: CodeObject) {
  const { path, targetId, version, kernels } = codeObject;
  return { path, target: targetId, version, kernels: kernels.map((kernel) => kernel.name) };
}

function listedSections(sections: readonly SectionListing[]) {
  return sections.map(({ section, lines }) => ({
    name: section.name,
    instructions: Array.from(lines, ({ address, size, words, text }) => ({ address, size, words, text })),
  }));
}
