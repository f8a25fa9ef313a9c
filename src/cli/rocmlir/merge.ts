// `wavesmith rocmlir merge`: the job of rock-iree-merge.
import { readEnvironment } from '../../rocmlir/environment.ts';
import { merge } from '../../rocmlir/merge.ts';
import { newCommand, parseArguments, printJson, writeOutput } from '../support.ts';
import { printFallback, printLines, readModuleText } from './common.ts';

interface Flags {
  output: string;
  strict?: boolean;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('rocmlir merge', "Put the kernel of iree.export in the place of rocMLIR's own.")
    .argument('<input>', 'module after gpu-module-to-binary, with its iree.export attribute')
    .requiredOption('-o, --output <file>', 'the merged module')
    .option('--strict', 'fail and write nothing instead of the fallback')
    .option('--json', 'print what was done as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const { text, messages, ...result } = merge(readModuleText(file), readEnvironment(process.env), file);
  printLines(messages);
  if (flags.strict && result.failure !== undefined) throw result.failure;
  writeOutput(flags.output, text);
  printFallback(result.failure);
  if (flags.json) printJson({ ...result, output: flags.output });
  else if (result.sequence !== undefined) {
    const kernels = result.sequence.steps.map((step) => step.kernel).join(', ');
    process.stdout.write(`${flags.output}: ${kernels} launched at ${result.launches} place(s)\n`);
  } else if (result.failure === undefined) process.stdout.write(`${flags.output}: unchanged, IREE_DISABLE is set\n`);
  return 0;
}
