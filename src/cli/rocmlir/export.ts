// `wavesmith rocmlir export` and `iree-export`: the executable that the original C++ pass calls, with its arguments,
// environment, JSON and exit codes: whatever happens to the module, the JSON is written and the exit code is 0.
import { exportFile, exportSummary } from '../../rocmlir/export.ts';
import { functionName } from '../../rocmlir/function-name.ts';
import { newCommand, parseArguments, writeOutput } from '../support.ts';
import { addTargetOptions, exportOptions, printLines, type TargetFlags } from './common.ts';

interface Flags extends TargetFlags {
  output: string;
  ireePath?: string;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand('rocmlir export', 'Invoke iree-compile on an MLIR file and write code objects and launch facts as JSON.')
      .argument('<input>', 'MLIR file')
      .option('--iree-path <folder>', 'folder that holds iree-compile (default: IREE_BIN)')
      .requiredOption('-o, --output <file>', 'output file'),
  );
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const options = exportOptions(flags);
  const environment = { ...options.environment, ireeBin: flags.ireePath ?? options.environment.ireeBin };
  const { result, messages, remarks } = await exportFile(file, { ...options, environment });
  for (const message of messages) process.stdout.write(`${message}\n`);
  printLines(remarks.map((remark) => `remark: ${remark}`));
  if (environment.debug > 0) process.stdout.write(`${exportSummary(result, functionName(file))}\n`);
  writeOutput(flags.output, `${JSON.stringify(result, null, 2)}\n`);
  return 0;
}
