// The search for a configuration. Each round asks for some configurations and builds, runs and times all of them; the best third climbs the ladder
// (successive halving: the dear judgement is for the few). Nothing is kept that the ladder rejects.
import type { HipWorkshop } from '../hip/hip-workshop.ts';
import type { Configuration } from './configuration.ts';
import { Sampler } from './sampler.ts';
import { allOf, buildOf, configurationText, type Space } from './space.ts';

export interface TuneOptions {
  /** Configurations that may be built. */
  readonly budget: number;
  readonly seed: number;
  readonly onStep?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TuneResult {
  /** The best that was accepted, or the first. */
  readonly configuration: Configuration;
  readonly build: string;
  readonly tried: readonly Trial[];
  /** Every allowed configuration was tried. */
  readonly isExhaustive: boolean;
}

/** A configuration that was built. */
export interface Trial {
  readonly configuration: Configuration;
  /** Modelled time of the captured launch; undefined when it is no candidate. */
  readonly nanoseconds: number | undefined;
  /** What the judge says. */
  readonly words: string;
  readonly isKept: boolean;
}

const isStopped = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Of a round, and the part of it that climbs. */
const ROUND = 6;
const CLIMBING = 1 / 3;

/** Searches. The workshop's project was built with the first configuration. */
export async function tune(space: Space, workshop: HipWorkshop, options: TuneOptions): Promise<TuneResult> {
  const { budget, seed, onStep, signal } = options;
  const all = allOf(space, budget + 1);
  const sampler = new Sampler(space, seed);
  const rest = all?.filter((c) => configurationText(c) !== configurationText(space.first));
  const first = sampler.next() as Configuration;
  const { nanoseconds: before } = workshop.contest.best;
  const tried: Trial[] = [{ configuration: first, nanoseconds: before, words: 'the program as it is', isKept: true }];
  sampler.observe({ configuration: first, cost: before });
  let best = first;
  while (tried.length <= budget && !isStopped(signal)) {
    const asked: Configuration[] = [];
    while (asked.length < Math.min(ROUND, budget + 1 - tried.length)) {
      const next = rest === undefined ? sampler.next() : rest.shift();
      if (next === undefined) break;
      asked.push(next);
    }
    if (asked.length === 0) break;
    const timed: { readonly configuration: Configuration; readonly code: Uint8Array; readonly nanoseconds: number }[] =
      [];
    for (const configuration of asked) {
      if (isStopped(signal)) break;
      onStep?.(`${tried.length + timed.length} of ${budget}: ${configurationText(configuration)}`);
      const looked = await workshop.tryBuild(buildOf(space, configuration));
      const { nanoseconds } = looked;
      sampler.observe({ configuration, cost: nanoseconds ?? Number.POSITIVE_INFINITY });
      if (nanoseconds === undefined) tried.push({ configuration, nanoseconds, words: looked.words, isKept: false });
      else timed.push({ configuration, code: looked.code, nanoseconds });
    }
    timed.sort((a, b) => a.nanoseconds - b.nanoseconds);
    const climbing = Math.ceil(timed.length * CLIMBING);
    for (const [i, { configuration, code, nanoseconds }] of timed.entries()) {
      const text = configurationText(configuration);
      const offer = { moves: [], reason: text, change: `configuration: ${text}`, diff: '' };
      const { isKept, words } =
        i < climbing && !isStopped(signal)
          ? await workshop.contest.offer(code, offer)
          : { isKept: false, words: 'Not among the fastest third of its round.' };
      if (isKept) best = configuration;
      tried.push({ configuration, nanoseconds, words, isKept });
    }
  }
  return { configuration: best, build: buildOf(space, best), tried, isExhaustive: rest?.length === 0 };
}
