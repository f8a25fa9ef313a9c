// `wavesmith capture import`: captures of other tools.
import { importFolder } from '../../snapshot/index.ts';
import { producer } from '../capture-options.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture import', "Make a capture of another tool's folder.")
    .argument('<folder>', "rocm-perf-lab's isolate_capture_PID, or a capture folder of kerncap")
    .requiredOption('-o, --output <file.wscap>', 'where to write')
    .option('--zip', 'one ZIP file (also when the name ends in .zip)')
    .option('--force', 'replace a capture of that name')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      "\nSuch folders hold no result. 'wavesmith capture slim' runs the dispatch on the virtual GPU, keeps what it touches and its result.",
    );
  if (!parseArguments(command, argv)) return 0;
  const { output, zip, force, json } = command.opts<{
    output: string;
    zip?: boolean;
    force?: boolean;
    json?: boolean;
  }>();
  const result = importFolder(command.args[0] ?? '', output, producer('rocm'), {
    replace: force === true,
    zip: zip === true || output.endsWith('.zip'),
  });
  if (json === true) printJson({ output, ...result });
  else
    process.stdout.write(
      [`${output}: ${result.regions} regions of ${result.from}`, ...result.remarks.map((r) => `  ${r}`), ''].join('\n'),
    );
  return 0;
}
