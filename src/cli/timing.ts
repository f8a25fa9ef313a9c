// The clock on the command line: which chip, and what is printed of modelled times.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import type { DispatchResult, SimDispatchResult } from '../device/index.ts';
import { type Chip, parseChip } from '../device/sim/timing/chip.ts';
import { CHIP_NAMES, chipFile, chipNamed, defaultChip } from '../device/sim/timing/chips/index.ts';
import { type LaunchTime, TimingModel } from '../device/sim/timing/model.ts';
import {
  durationText,
  type TimedInstruction,
  type TimingReport,
  timedInstructions,
  timedListing,
  timingReport,
  timingText,
} from '../device/sim/timing/report.ts';
import type { TargetName } from '../isa/types.ts';
import { readInput, writeOutput } from './support.ts';

export { CHIP_NAMES };

/** Options of commands that have a clock. */
export interface TimingOptions {
  timing?: boolean;
  timingListing?: boolean;
  timingJson?: string;
  timingOnly?: boolean;
  att?: string;
  chip?: string;
  time?: string;
}

/** `--timing` and `--chip` of commands that run one kernel. */
export function addTimingOptions(command: Command): Command {
  return command
    .option('--timing', 'model the time of the kernel on a chip (docs/timing.md)')
    .option('--timing-listing', 'the same, with every instruction and what it waited for')
    .option('--att <dir>', 'the same, and write the replayed waves as a thread trace (for wavesmith trace)')
    .option('--chip <name|file>', `the chip to model: ${CHIP_NAMES.join(', ')}, or a chip file (.json)`);
}

/** What a timed dispatch adds to JSON. */
export function timingRecord(timing: LaunchTime | undefined): TimingRecord | undefined {
  if (timing === undefined) return undefined;
  return { timing: { ...timingReport(timing), instructions: timedInstructions(timing) } };
}

/** A result whose dispatch may be timed, with the time as `--json` prints it. */
export function timedRecord<R extends { readonly dispatch?: DispatchResult | undefined }>(result: R) {
  if (result.dispatch === undefined) return result;
  const { timing, ...dispatch }: DispatchResult & Pick<SimDispatchResult, 'timing'> = result.dispatch;
  return { ...result, dispatch: { ...dispatch, ...timingRecord(timing) } };
}

/** The text about the time of a dispatch, if it is timed. */
export function dispatchTiming(dispatch: DispatchResult | undefined, listing: boolean): string {
  const timed: (DispatchResult & Pick<SimDispatchResult, 'timing'>) | undefined = dispatch;
  return timingLines(timingRecord(timed?.timing), listing);
}

/** A modelled time as `--json` prints it. */
export interface TimingRecord {
  readonly timing: TimingReport & { readonly instructions: readonly TimedInstruction[] };
}

/** What a timed dispatch adds to text. */
export function timingLines(record: TimingRecord | undefined, listing: boolean): string {
  if (record === undefined) return '';
  const { timing } = record;
  const lines = [...timingText(timing), ...(listing ? timedListing(timing.instructions) : [])];
  return `${lines.join('\n')}\n`;
}

/** Whether the options ask for a clock. */
export function isTimed({ timing, timingListing, timingJson, timingOnly, att }: TimingOptions): boolean {
  return [timing, timingListing, timingOnly].includes(true) || timingJson !== undefined || att !== undefined;
}

/** Whether what each replayed wave did is wanted. */
export function keepsWaves(options: TimingOptions & { readonly report?: string | undefined }): boolean {
  return options.report !== undefined || options.att !== undefined;
}

/** The clock that the options ask for, if they do. */
export function timingOf(
  options: TimingOptions,
  target: TargetName,
  model: { readonly keepsWaves?: boolean; readonly knowsPages?: boolean } = {},
): TimingModel | undefined {
  const { time, chip } = options;
  if (time !== undefined && time !== 'wall' && time !== 'model') {
    throw new WavesmithError('cli/bad-option', `--time is wall or model, not '${time}'.`);
  }
  if (!isTimed(options)) {
    if (chip === undefined && time !== 'model') return undefined;
    throw new WavesmithError('cli/usage', '--chip and --time model need --timing.');
  }
  return new TimingModel(chipOf(chip, target), model);
}

/** The chip of `--chip`, or the one that stands for the target. */
export function chipOf(chip: string | undefined, target: TargetName): Chip {
  const found =
    chip === undefined
      ? defaultChip(target)
      : chip.endsWith('.json')
        ? parseChip(new TextDecoder().decode(readInput(chip)), chip, chipFile)
        : chipNamed(chip);
  if (found.target === target) return found;
  throw new WavesmithError('timing/wrong-target', `The chip ${found.name} runs ${found.target}, not ${target}.`, {
    hint: `Choose a chip for ${target}, or another target.`,
  });
}

/** Times of the dispatches of a program. */
export class TimeLog {
  private readonly reports: TimingReport[] = [];
  /** The longest launch of each kernel. */
  private readonly longest = new Map<string, LaunchTime>();

  add(time: LaunchTime): void {
    this.reports.push(timingReport(time));
    const known = this.longest.get(time.kernel);
    if (known === undefined || time.cycles > known.cycles) this.longest.set(time.kernel, time);
  }

  /** One line a kernel. */
  summary(): string {
    const kernels = new Map<string, TimingReport[]>();
    for (const r of this.reports) kernels.set(r.kernel, [...(kernels.get(r.kernel) ?? []), r]);
    const lines = [...kernels].map(([name, reports]) => {
      const sum = reports.reduce((total, r) => total + r.microseconds, 0);
      const longest = reports.reduce((a, b) => (b.microseconds > a.microseconds ? b : a));
      const times = reports.length === 1 ? 'once' : `${reports.length} times, ${durationText(sum)} in all`;
      return [`${name}: ${times}${reports.length === 1 ? '' : '; the longest:'}`, ...timingText(longest)].join('\n');
    });
    return `${lines.join('\n')}\n`;
  }

  /** Writes all dispatches in order as JSON. */
  write(path: string): void {
    const kernels = [...this.longest.values()].map((t) => ({ kernel: t.kernel, instructions: timedInstructions(t) }));
    writeOutput(path, new TextEncoder().encode(`${JSON.stringify({ dispatches: this.reports, kernels })}\n`));
  }
}
