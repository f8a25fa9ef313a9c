// `wavesmith rocmlir run`: a module's kernels on a device, compared with what its operations mean.

import { WavesmithError } from '../../base/index.ts';
import { DEFAULT_TARGET } from '../../isa/table/targets.ts';
import { type Reference, type RunReport, runModule } from '../../rocmlir/run.ts';
import { comparisonLines, exitCodeOf, verdictLine } from '../../verdict/index.ts';
import { deviceOpener } from '../hijack/device.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { addJudgeOptions, type JudgeFlags, judgeOptions } from '../verdict-options.ts';
import {
  addTargetOptions,
  exportOptions,
  printLines,
  readModuleText,
  sequenceLines,
  type TargetFlags,
} from './common.ts';

interface Flags extends TargetFlags, JudgeFlags {
  merged?: string;
  device: string;
  seed: string;
  reference?: string;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand('rocmlir run', "Run a module's kernels and compare the results with what its operations mean.").argument(
      '<input>',
      'module in TOSA, linalg/tensor or the migraphx dialect',
    ),
  )
    .option('--merged <file>', 'run the kernel of this merged module instead of compiling one')
    .option('--device <device>', 'the device', process.env.WAVESMITH_DEVICE ?? 'sim')
    .option('--seed <n>', 'seed of the inputs', '1')
    .option(
      '--reference <which>',
      'direct (the operations’ definitions), cpu (IREE on the CPU) or none (default: direct where it can)',
    )
    .option('--json', 'print the result as JSON');
  addJudgeOptions(command);
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const seed = numberFlag('--seed', flags.seed);
  const report = await runModule(readModuleText(file), {
    ...exportOptions({ ...flags, arch: flags.arch ?? DEFAULT_TARGET }),
    openDevice: deviceOpener(flags.device),
    seed,
    ...judgeOptions(flags),
    reference: referenceFlag(flags.reference),
    merged: flags.merged === undefined ? undefined : readModuleText(flags.merged),
    file,
  });
  printLines(report.remarks.map((remark) => `remark: ${remark}`));
  if (flags.json) printJson(report);
  else process.stdout.write(describe(report, seed));
  return report.verdict === null ? 0 : exitCodeOf(report.verdict);
}

const REFERENCES: readonly Reference[] = ['direct', 'cpu', 'none'];

function referenceFlag(text: string | undefined): Reference | undefined {
  const found = REFERENCES.find((name) => name === text);
  if (text === undefined || found !== undefined) return found;
  throw new WavesmithError('cli/usage', `--reference is one of ${REFERENCES.join(', ')}, not '${text}'.`);
}

function numberFlag(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new WavesmithError('cli/usage', `${name} needs a number from 0, not '${text}'.`);
}

function describe(report: RunReport, seed: number): string {
  const { target, device, sequence, instructions, wavefronts, seconds } = report;
  const lines = [
    ...sequenceLines(sequence, `on ${device} (${target})`),
    `  ${instructions === null ? '' : `${instructions} instructions, `}${wavefronts} wavefronts, ${seconds.toFixed(2)} s`,
  ];
  const outputs = report.tensors.filter((tensor) => tensor.kind === 'output');
  for (const [i, c] of report.comparisons.entries()) {
    lines.push(...comparisonLines(`  output ${i} (${[...(outputs[i]?.shape ?? []), c.elementType].join('x')})`, c));
  }
  const { verdict, comparisons } = report;
  if (verdict !== null) lines.push(...verdict.reasons.map((reason) => `  ${reason}`));
  const judge = report.reference === 'direct' ? 'what the operations mean' : 'IREE on the CPU';
  const counts = `${comparisons.length} output(s) beside ${judge}, seed ${seed}`;
  lines.push(verdict === null ? 'NOT COMPARED, as --reference none asks' : verdictLine(verdict, counts));
  return `${lines.join('\n')}\n`;
}
