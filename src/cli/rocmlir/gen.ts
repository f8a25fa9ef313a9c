// Room `cli/rocmlir`: the subcommands of `wavesmith rocmlir`, one file each.
// Begin with this file; common.ts is what they share, the work is in src/rocmlir.
//
// `wavesmith rocmlir gen`: the job of migraphx-iree-gen.
import { generate } from '../../rocmlir/gen.ts';
import { newCommand, parseArguments, printJson, writeOutput } from '../support.ts';
import {
  addTargetOptions,
  exportOptions,
  printFallback,
  printLines,
  printResult,
  readModuleText,
  sequenceLines,
  type TargetFlags,
} from './common.ts';

interface Flags extends TargetFlags {
  output: string;
  keepMigraphx?: boolean;
  strict?: boolean;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand('rocmlir gen', 'Compile a module with IREE and store the kernel in its iree.export attribute.')
      .argument('<input>', 'module in TOSA, linalg/tensor or the migraphx dialect')
      .requiredOption('-o, --output <file>', 'the module with the attribute'),
  )
    .option('--keep-migraphx', 'leave migraphx operations in the output instead of lowering them')
    .option('--strict', 'fail and write nothing instead of the fallback')
    .option('--json', 'print what was done as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const options = { ...exportOptions(flags), keepMigraphx: flags.keepMigraphx, file };
  const { text, messages, remarks, ...result } = await generate(readModuleText(file), options);
  printLines([...messages, ...remarks.map((remark) => `remark: ${remark}`)]);
  if (flags.strict && result.failure !== undefined) throw result.failure;
  writeOutput(flags.output, text);
  printFallback(result.failure);
  if (flags.json) printJson({ ...result, output: flags.output });
  else if (result.sequence !== undefined) {
    printResult([
      `${flags.output}: code object of ${result.bytes} bytes`,
      ...sequenceLines(result.sequence).map((line) => `  ${line}`),
    ]);
  } else if (result.failure === undefined) process.stdout.write(`${flags.output}: unchanged, IREE_DISABLE is set\n`);
  return 0;
}
