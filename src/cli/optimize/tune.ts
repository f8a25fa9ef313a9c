// `wavesmith optimize --tune`: configurations on the command line.
import { stringify } from 'yaml';
import { durationText } from '../../device/sim/timing/report.ts';
import { type Ledger, type SearchResult, timeText } from '../../optimize/index.ts';
import type { Configuration } from '../../optimize/tune/configuration.ts';
import type { TuneResult } from '../../optimize/tune/tune.ts';
import { parseCount } from '../run-common.ts';
import { readInput } from '../support.ts';
import { type HipFlags, withWorkshop } from './hip.ts';
import { atLeastOne } from './model.ts';

export interface Tuned extends TuneResult {
  readonly result: SearchResult;
  readonly kernel: string;
  readonly digest: string | undefined;
}

/** Searches the configurations of a `tune.yaml`. */
export async function tuneHip(
  file: string,
  flags: HipFlags & { readonly budget: string },
  ledger: Ledger | undefined,
  onStep: ((text: string) => void) | undefined,
  signal: AbortSignal,
): Promise<Tuned> {
  const { readSpace, buildOf } = await import('../../optimize/tune/space.ts');
  const { tune } = await import('../../optimize/tune/tune.ts');
  const space = readSpace(new TextDecoder().decode(readInput(file)), file);
  const budget = atLeastOne(flags.budget, '--budget');
  const seed = parseCount(flags.seed, '--seed') ?? 1;
  const { run, source } = space;
  const own = {
    ...flags,
    run,
    source,
    build: buildOf(space, space.first),
    ...(space.kernel === undefined ? {} : { kernel: space.kernel }),
  };
  return await withWorkshop(own, ledger, onStep, signal, true, async (workshop) => {
    const tuned = await tune(space, workshop, { budget, seed, onStep, signal });
    const { contest } = workshop;
    const result = contest.result(!tuned.isExhaustive);
    return { ...tuned, result, kernel: contest.evaluator.oracle.kernel, digest: ledger?.digest() };
  });
}

/** What was found, for `-o`. */
export const tunedYaml = (configuration: Configuration, build: string): string => stringify({ configuration, build });

/** A search as text: what was tried, the fastest first, and the verdict as the last line. */
export function tuneText({ kernel, tried, configuration, result, isExhaustive }: Tuned): string {
  const { evaluation } = result;
  const line = (c: Configuration): string =>
    Object.entries(c)
      .map(([name, v]) => `${name}=${JSON.stringify(v)}`)
      .join(' ');
  const shown = [...tried].sort((a, b) => (a.nanoseconds ?? Number.MAX_VALUE) - (b.nanoseconds ?? Number.MAX_VALUE));
  const accepted = evaluation?.verdict === 'accepted';
  return [
    kernel,
    ...shown.map(({ configuration: c, nanoseconds, words, isKept }) => {
      const time = nanoseconds === undefined ? 'no candidate' : durationText(nanoseconds / 1000);
      return `  ${time.padEnd(12)} ${line(c)}${isKept ? '  *' : ''}\n    ${(words.split('\n')[0] ?? '').slice(0, 160)}`;
    }),
    `${tried.length} configurations${isExhaustive ? ', all that there are' : ''}; the best is ${line(configuration)}`,
    evaluation?.time === undefined
      ? 'NOTHING FASTER FOUND'
      : `${accepted ? 'ACCEPTED' : 'NOT ENOUGH'}: ${timeText(evaluation.time)}`,
    '',
  ].join('\n');
}
