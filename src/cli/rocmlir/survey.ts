// `wavesmith rocmlir survey`: every function of a folder of modules compiled, the reasons of the fallbacks counted.
import { DEFAULT_TARGET } from '../../isa/table/targets.ts';
import { modulesIn, type Survey, type SurveyItem, survey } from '../../rocmlir/survey.ts';
import { deviceOpener } from '../hijack/device.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { addTargetOptions, exportOptions, printLines, type TargetFlags } from './common.ts';

interface Flags extends TargetFlags {
  run?: boolean;
  device: string;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand(
      'rocmlir survey',
      'Compile every function of many modules; count why some keep rocMLIR’s kernel.',
    ).argument('<path...>', 'folders with .mlir files, or files'),
  )
    .option('--run', 'run what compiles, and compare with what the operations mean')
    .option('--device <device>', 'the device of --run', process.env.WAVESMITH_DEVICE ?? 'sim')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
A file may hold several functions and several modules with '// -----' between them. Of functions of which some are marked as kernel,
those are taken.

Exit code: 1 when a kernel's results are wrong or it did not run; a fallback is no failure.`,
    );
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const done = await survey(command.args.flatMap(modulesIn), {
    ...exportOptions({ ...flags, arch: flags.arch ?? DEFAULT_TARGET }),
    openDevice: deviceOpener(flags.device),
    seed: 1,
    run: flags.run === true,
    progress: (item) => printLines([describe(item)]),
  });
  if (flags.json) printJson(done);
  else process.stdout.write(summary(done));
  return done.items.some(isWrong) ? 1 : 0;
}

const isWrong = ({ outcome, error, verdict }: SurveyItem): boolean =>
  outcome !== 'fallback' && (error !== null || verdict === 'different');

function describe({ file, function: name, outcome, launches, error, verdict, seconds }: SurveyItem): string {
  const what = outcome === 'sequence' ? `sequence of ${launches}` : outcome;
  const judged = verdict === null ? '' : `, ${verdict}`;
  const why = error === null ? '' : `, ${error.code}: ${error.message}`;
  return `${file} @${name}: ${what}${judged}${why} (${seconds.toFixed(1)} s)`;
}

function summary({ items, reasons }: Survey): string {
  const count = (test: (item: SurveyItem) => boolean): number => items.filter(test).length;
  const ran = count(({ verdict }) => verdict !== null);
  const lines = [
    `${items.length} function(s): ${count((i) => i.outcome === 'kernel')} one kernel, ${count((i) => i.outcome === 'sequence')} a sequence, ${count((i) => i.outcome === 'fallback')} rocMLIR's own kernel`,
    ...reasons.map(({ code, functions }) => `  ${String(functions).padStart(4)}  ${code}`),
  ];
  if (ran > 0)
    lines.push(
      `${ran} run: ${count((i) => i.verdict !== null && !isWrong(i))} as the operations mean, ${count(isWrong)} wrong`,
    );
  return `${lines.join('\n')}\n`;
}
