// `--workgroup`, `--wave` and `--every` of `wavesmith probe`: which waves run the probe.
import { WavesmithError } from '../../base/index.ts';
import type { Sampling } from '../../instrument/index.ts';

/** The flags as text. */
export interface SamplingFlags {
  readonly workgroup?: string;
  readonly wave?: string;
  readonly every?: string;
}

/** The waves that run the probe. Errors: `cli/usage`. */
export function samplingOf({ workgroup, wave, every }: SamplingFlags): Sampling {
  return {
    workgroup: workgroup === undefined ? undefined : positionOf(workgroup),
    wave: wave === undefined ? undefined : numberOf('--wave', wave, 0, 15),
    every: every === undefined ? undefined : numberOf('--every', every, 1, 2 ** 31),
  };
}

/** The position of a workgroup; what is left out stands for any. */
function positionOf(text: string): [number, number, number] {
  const parts = text.split(',');
  if (parts.length > 3 || parts.some((part) => !/^\d+$/.test(part) || Number(part) >= 2 ** 32))
    throw new WavesmithError('cli/usage', `--workgroup ${text} is no position.`, {
      hint: 'One to three whole numbers: X, X,Y or X,Y,Z.',
    });
  const [x = -1, y = -1, z = -1] = parts.map(Number);
  return [x, y, z];
}

function numberOf(flag: string, text: string, from: number, to: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < from || value > to)
    throw new WavesmithError('cli/usage', `${flag} ${text} is no whole number from ${from} to ${to}.`);
  return value;
}
