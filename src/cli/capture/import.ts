// `wavesmith capture import`: captures of other tools.
import { importFolder, importHrr, isHrrArchive } from '../../snapshot/index.ts';
import { parseKernel, producer, stepPrinter } from '../capture-options.ts';
import { parseCount } from '../run-common.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

interface Options {
  output: string;
  kernel?: string;
  dispatch: string;
  target?: string;
  budget?: string;
  zip?: boolean;
  force?: boolean;
  json?: boolean;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture import', "Make a capture of another tool's folder.")
    .argument(
      '<folder>',
      "rocm-perf-lab's isolate_capture_PID, a capture folder of kerncap, or an .hrr archive of AMD's HIP Record & Replay",
    )
    .requiredOption('-o, --output <file.wscap>', 'where to write')
    .option('--kernel <re>', 'hrr: launches of kernels whose (mangled) name matches (default: all)')
    .option('--dispatch <n>', 'hrr: which of these, from 0', '0')
    .option('--target <target>', 'hrr: whose code is run, when the archive has that of several')
    .option('--budget <n>', 'hrr: stop a launch after this many instructions')
    .option('--zip', 'one ZIP file (also when the name ends in .zip)')
    .option('--force', 'replace a capture of that name')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The folders of rocm-perf-lab and kerncap hold no result. 'wavesmith capture slim' runs the dispatch on the virtual GPU, keeps what it
touches and its result. An .hrr archive holds the calls of a whole program: those before the launch are done again on the virtual GPU.`,
    );
  if (!parseArguments(command, argv)) return 0;
  const { output, kernel, dispatch, target, budget, zip, force, json } = command.opts<Options>();
  const folder = command.args[0] ?? '';
  const writing = { replace: force === true, zip: zip === true || output.endsWith('.zip') };
  const steps = stepPrinter(process.stderr);
  const result = isHrrArchive(folder)
    ? await importHrr(folder, output, producer('sim'), {
        ...writing,
        kernel: parseKernel(kernel),
        dispatch: parseCount(dispatch, '--dispatch'),
        target,
        maxInstructions: parseCount(budget, '--budget'),
        onStep: steps.say,
      })
    : importFolder(folder, output, producer('rocm'), writing);
  steps.end();
  if (json === true) printJson({ output, ...result });
  else
    process.stdout.write(
      [`${output}: ${result.regions} regions of ${result.from}`, ...result.remarks.map((r) => `  ${r}`), ''].join('\n'),
    );
  return 0;
}
