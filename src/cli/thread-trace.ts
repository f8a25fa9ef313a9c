// `--att DIR`: what replayed waves did, as the decoded thread trace that `wavesmith trace`, `wavesmith profile` and viewers read.
import { join } from 'node:path';
import type { DeviceKernel } from '../device/index.ts';
import { isSimKernel } from '../device/sim/module.ts';
import type { LaunchTime } from '../device/sim/timing/model.ts';
import { timedInstructions, tracedWaves } from '../device/sim/timing/report.ts';
import { attFolder, simulatedTrace } from '../profile/index.ts';
import { makeFolder, writeOutput } from './support.ts';

/** Writes the folder; the kernel has the lines of the source when its code has debug information. */
export function writeThreadTrace(folder: string, time: LaunchTime, kernel: DeviceKernel): void {
  const lineTable = isSimKernel(kernel) ? kernel.module.lines : undefined;
  const instructions = timedInstructions(time);
  const lines = instructions.map(({ offset, text, hits }) => {
    const at = lineTable?.at(offset);
    return [offset, { address: offset, text, hits, source: at === undefined ? '' : `${at.file}:${at.line}` }] as const;
  });
  const replay = { instructions, waves: tracedWaves(time) };
  makeFolder(folder);
  for (const [name, text] of attFolder(simulatedTrace({ name: time.kernel, lines: new Map(lines), replay }))) {
    writeOutput(join(folder, name), text);
  }
}
