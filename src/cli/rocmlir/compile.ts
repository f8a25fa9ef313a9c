// `wavesmith rocmlir compile`: one module to a code object and a manifest of how to launch it.
import { DEFAULT_TARGET } from '../../isa/table/targets.ts';
import { compileKernel, manifestOf } from '../../rocmlir/run.ts';
import { newCommand, parseArguments, printJson, writeOutput } from '../support.ts';
import {
  addTargetOptions,
  exportOptions,
  printLines,
  printResult,
  readModuleText,
  sequenceLines,
  type TargetFlags,
} from './common.ts';

interface Flags extends TargetFlags {
  output: string;
  manifest?: string;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand('rocmlir compile', 'Compile a module with one function to a code object with one kernel.')
      .argument('<input>', 'module in TOSA, linalg/tensor or the migraphx dialect')
      .requiredOption('-o, --output <file>', 'the code object (.hsaco)'),
  )
    .option('--manifest <file>', 'write kernel name, workgroups, LDS and arguments as JSON')
    .option('--json', 'print the manifest');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const options = exportOptions({ ...flags, arch: flags.arch ?? DEFAULT_TARGET });
  const compiled = await compileKernel(readModuleText(file), options, file);
  printLines(compiled.remarks.map((remark) => `remark: ${remark}`));
  const manifest = manifestOf(compiled);
  writeOutput(flags.output, compiled.elf);
  if (flags.manifest !== undefined) writeOutput(flags.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
  if (flags.json) printJson(manifest);
  else {
    const { elf, sequence } = compiled;
    printResult([
      `${flags.output}: code object of ${elf.length} bytes`,
      ...sequenceLines(sequence).map((line) => `  ${line}`),
    ]);
  }
  return 0;
}
