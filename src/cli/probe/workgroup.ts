// `--workgroup` of `wavesmith probe`.
import { WavesmithError } from '../../base/index.ts';

/** The position of a workgroup; what is left out stands for any. */
export function workgroupOf(text: string | undefined): [number, number, number] | undefined {
  if (text === undefined) return undefined;
  const parts = text.split(',');
  if (parts.length > 3 || parts.some((part) => !/^\d+$/.test(part) || Number(part) >= 2 ** 32))
    throw new WavesmithError('cli/usage', `--workgroup ${text} is no position.`, {
      hint: 'One to three whole numbers: X, X,Y or X,Y,Z.',
    });
  const [x = -1, y = -1, z = -1] = parts.map(Number);
  return [x, y, z];
}
