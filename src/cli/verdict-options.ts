// How results are judged: the flags that every comparing command has.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';

export interface JudgeFlags {
  readonly exact?: boolean;
  readonly tolerance?: string;
  readonly changedShare?: string;
}

/** Adds the flags. */
export function addJudgeOptions(command: Command): void {
  command
    .option('--exact', 'fail on any different bit')
    .option('--tolerance <x>', 'relative tolerance instead of the float types’ own (integers have none)')
    .option('--changed-share <x>', 'share of float elements that may change by more than half (default 0.001)');
}

/** The flags as numbers; a wrong one is `cli/usage`. */
export function judgeOptions(flags: JudgeFlags): {
  exact: boolean;
  tolerance: number | undefined;
  changedShare: number | undefined;
} {
  return {
    exact: flags.exact === true,
    tolerance: numberFlag('--tolerance', flags.tolerance, Number.POSITIVE_INFINITY),
    changedShare: numberFlag('--changed-share', flags.changedShare, 1),
  };
}

function numberFlag(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= most) return value;
  const range = Number.isFinite(most) ? `a number from 0 to ${most}` : 'a number from 0';
  throw new WavesmithError('cli/usage', `${name} needs ${range}, not '${text}'.`);
}
