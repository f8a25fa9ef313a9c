// The search for a configuration. Each round asks for some configurations and builds, runs and times all of them; the best third climbs the ladder
// (successive halving: the dear judgement is for the few), and more only until one is kept. Nothing is kept that the ladder rejects.
import type { Offer } from '../search/contest.ts';
import type { Configuration } from './configuration.ts';
import { Sampler } from './sampler.ts';
import { allOf, type Choices, configurationText } from './space.ts';

/** What is configured. */
export interface Tunable {
  /** The configuration that it has now; undefined when it has none of these. */
  readonly start: Configuration | undefined;
  /** Modelled nanoseconds as it is now. */
  readonly before: number;
  /** Builds, runs and times a configuration. */
  attempt(configuration: Configuration): Promise<Attempt>;
}

/** What became of an offer. */
interface Offered {
  readonly isKept: boolean;
  readonly words: string;
}

/** A configuration with its time, or why it is no candidate. */
export type Attempt =
  | {
      readonly nanoseconds: number;
      /** Lets it climb the ladder, for the place of the best. */
      readonly climb: (offer: Offer) => Promise<Offered>;
    }
  | { readonly nanoseconds: undefined; readonly words: string };

export interface TuneOptions {
  /** Configurations that may be built. */
  readonly budget: number;
  readonly seed: number;
  readonly onStep?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TuneResult {
  /** The best that was kept, or what it had before. */
  readonly configuration: Configuration | undefined;
  readonly tried: readonly Trial[];
  /** Every allowed configuration was tried. */
  readonly isExhaustive: boolean;
}

/** A configuration that was built. */
export interface Trial {
  /** Undefined: as it is now, which is none of them. */
  readonly configuration: Configuration | undefined;
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

/** Searches. */
export async function tune(space: Choices, tunable: Tunable, options: TuneOptions): Promise<TuneResult> {
  const { budget, seed, onStep, signal } = options;
  const { start, before: nanoseconds } = tunable;
  const all = allOf(space, start === undefined ? budget : budget + 1);
  const sampler = new Sampler(space, seed);
  const rest = all?.filter((c) => start === undefined || configurationText(c) !== configurationText(start));
  const tried: Trial[] = [{ configuration: start, nanoseconds, words: 'as it is', isKept: true }];
  if (start !== undefined) {
    sampler.next();
    sampler.observe({ configuration: start, cost: nanoseconds });
  }
  let best = start;
  while (tried.length <= budget && !isStopped(signal)) {
    const asked: Configuration[] = [];
    while (asked.length < Math.min(ROUND, budget + 1 - tried.length)) {
      const next = rest === undefined ? sampler.next() : rest.shift();
      if (next === undefined) break;
      asked.push(next);
    }
    if (asked.length === 0) break;
    const timed: {
      readonly configuration: Configuration;
      readonly attempt: Attempt & { readonly nanoseconds: number };
    }[] = [];
    for (const configuration of asked) {
      if (isStopped(signal)) break;
      onStep?.(`${tried.length + timed.length} of ${budget}: ${configurationText(configuration)}`);
      const attempt = await tunable.attempt(configuration);
      const { nanoseconds: time } = attempt;
      sampler.observe({ configuration, cost: time ?? Number.POSITIVE_INFINITY });
      if (attempt.nanoseconds === undefined)
        tried.push({ configuration, nanoseconds: time, words: attempt.words, isKept: false });
      else timed.push({ configuration, attempt });
    }
    timed.sort((a, b) => a.attempt.nanoseconds - b.attempt.nanoseconds);
    const climbing = Math.ceil(timed.length * CLIMBING);
    let isAnyKept = false;
    for (const [i, { configuration, attempt }] of timed.entries()) {
      const text = configurationText(configuration);
      const offer = { moves: [], reason: text, change: `configuration: ${text}`, diff: '' };
      const offered: Offered =
        (i < climbing || !isAnyKept) && !isStopped(signal)
          ? await attempt.climb(offer)
          : { isKept: false, words: 'Not among the fastest third of its round.' };
      if (offered.isKept) best = configuration;
      isAnyKept ||= offered.isKept;
      tried.push({ configuration, nanoseconds: attempt.nanoseconds, ...offered });
    }
  }
  return { configuration: best, tried, isExhaustive: rest?.length === 0 };
}
