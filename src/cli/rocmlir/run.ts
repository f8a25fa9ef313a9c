// `wavesmith rocmlir run`: a module's kernel on a device, compared with IREE's CPU backend.

import { WavesmithError } from '../../base/index.ts';
import { DEFAULT_TARGET } from '../../isa/table/targets.ts';
import { type RunReport, runModule } from '../../rocmlir/run.ts';
import { deviceOpener } from '../hijack/device.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { addTargetOptions, exportOptions, printLines, readModuleText, type TargetFlags } from './common.ts';

interface Flags extends TargetFlags {
  merged?: string;
  device: string;
  seed: string;
  tolerance?: string;
  compare: boolean;
  json?: boolean;
}

export async function run(argv: string[]): Promise<number> {
  const command = addTargetOptions(
    newCommand('rocmlir run', "Run a module's kernel and compare its results with IREE's CPU backend.").argument(
      '<input>',
      'module in TOSA, linalg/tensor or the migraphx dialect',
    ),
  )
    .option('--merged <file>', 'run the kernel of this merged module instead of compiling one')
    .option('--device <device>', 'the device', process.env.WAVESMITH_DEVICE ?? 'sim')
    .option('--seed <n>', 'seed of the inputs', '1')
    .option('--tolerance <x>', 'relative tolerance instead of the element types’ own')
    .option('--no-compare', 'run without the reference on the CPU')
    .option('--json', 'print the result as JSON');
  if (!parseArguments(command, argv)) return 0;
  const flags = command.opts<Flags>();
  const [file] = command.args;
  const report = await runModule(readModuleText(file), {
    ...exportOptions({ ...flags, arch: flags.arch ?? DEFAULT_TARGET }),
    openDevice: deviceOpener(flags.device),
    seed: numberFlag('--seed', flags.seed),
    tolerance: flags.tolerance === undefined ? undefined : numberFlag('--tolerance', flags.tolerance),
    noCompare: !flags.compare,
    merged: flags.merged === undefined ? undefined : readModuleText(flags.merged),
    file,
  });
  printLines(report.remarks.map((remark) => `remark: ${remark}`));
  if (flags.json) printJson(report);
  else process.stdout.write(describe(report));
  return report.ok ? 0 : 1;
}

function numberFlag(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new WavesmithError('cli/usage', `${name} needs a number from 0, not '${text}'.`);
}

function describe(report: RunReport): string {
  const { kernel, target, device, grid, block, instructions, wavefronts, seconds } = report;
  const lines = [
    `${kernel} on ${device} (${target}): ${grid.join('×')} workgroups of ${block.join('×')}`,
    `  ${instructions === null ? '' : `${instructions} instructions, `}${wavefronts} wavefronts, ${seconds.toFixed(2)} s`,
  ];
  for (const c of report.comparisons) {
    const shown = (value: number): string => Number(value.toPrecision(4)).toString();
    const first =
      c.first === null ? '' : `; element ${c.first.index}: CPU ${c.first.baseline}, kernel ${c.first.modified}`;
    lines.push(
      c.outside > 0
        ? `  ${c.elements} × ${c.elementType}: ${c.outside} outside the tolerance ${c.tolerance}${first}`
        : `  ${c.elements} × ${c.elementType}: ${c.different === 0 ? 'equal in every bit' : `${c.different} differ within the tolerance ${c.tolerance}, relative ${shown(c.maxRelative)}`}`,
    );
  }
  const verdict =
    report.comparisons.length === 0
      ? 'NOT COMPARED'
      : report.ok
        ? 'EQUAL to IREE on the CPU'
        : 'DIFFERENT from IREE on the CPU';
  return `${[...lines, verdict].join('\n')}\n`;
}
