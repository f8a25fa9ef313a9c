// What is tried next: the tree-structured Parzen estimator (Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NIPS 2011). Configurations that
// were tried are split into the good quarter and the rest; values that are common among the good and rare among the rest are drawn. It is our own because
// npm has no kept library for it (looked for in November 2026): what there is searches grids or was left years ago.
import { randomNumbers } from '../../base/index.ts';
import type { Configuration, Value } from './configuration.ts';
import { type Choices, configurationText, isAllowed } from './space.ts';

/** A configuration with its cost; Infinity for one that is wrong. */
export interface Observation {
  readonly configuration: Configuration;
  readonly cost: number;
}

/** Part of the observations that counts as good. Source: Bergstra et al. use 0.15 to 0.25. */
const GOOD_SHARE = 0.25;
/** Draws of which the best is taken. Source: the same, and hyperopt's default. */
const DRAWS = 24;
/** Observations before the estimate is asked, for each parameter. */
const RANDOM_A_PARAMETER = 2;
const LEAST_RANDOM = 5;
/** Weight of every value before anything is known. */
const PRIOR = 1;
/** Weight that a number lends to its neighbours in the list. */
const NEIGHBOUR = 0.4;
/** Draws that may be in vain: seen before, or against a constraint. */
const MAX_DRAWS = 2000;

export class Sampler {
  private readonly space: Choices;
  private readonly random: () => number;
  private readonly seen = new Set<string>();
  readonly observations: Observation[] = [];

  constructor(space: Choices, seed: number) {
    this.space = space;
    this.random = randomNumbers(seed);
  }

  observe(observation: Observation): void {
    this.observations.push(observation);
  }

  /** A configuration that was not asked for before; undefined when none is found. */
  next(): Configuration | undefined {
    if (this.seen.size === 0) return this.once(this.space.first);
    const { parameters } = this.space;
    const ready = this.observations.length >= Math.max(LEAST_RANDOM, RANDOM_A_PARAMETER * parameters.size);
    const sides = ready ? this.sides() : undefined;
    let best: { readonly configuration: Configuration; readonly score: number } | undefined;
    let found = 0;
    for (let draw = 0; draw < MAX_DRAWS && found < (sides === undefined ? 1 : DRAWS); draw++) {
      const configuration = this.draw(sides?.good);
      if (this.seen.has(configurationText(configuration)) || !isAllowed(this.space, configuration)) continue;
      found++;
      const score = sides === undefined ? 0 : this.score(configuration, sides);
      if (best === undefined || score > best.score) best = { configuration, score };
    }
    return best === undefined ? undefined : this.once(best.configuration);
  }

  private once(configuration: Configuration): Configuration {
    this.seen.add(configurationText(configuration));
    return configuration;
  }

  /** Weights of values, by parameter, among the good and among the rest. */
  private sides(): Sides {
    const sorted = [...this.observations].sort((a, b) => a.cost - b.cost);
    const count = Math.max(1, Math.ceil(GOOD_SHARE * sorted.length));
    return { good: this.weights(sorted.slice(0, count)), rest: this.weights(sorted.slice(count)) };
  }

  private weights(observations: readonly Observation[]): Weights {
    const weights = new Map<string, number[]>();
    for (const [name, values] of this.space.parameters) {
      const isOrdered = values.every((v) => typeof v === 'number');
      const of = values.map(() => PRIOR / values.length);
      for (const { configuration } of observations) {
        const at = values.indexOf(configuration[name] as Value);
        of[at] = (of[at] ?? 0) + 1;
        if (!isOrdered) continue;
        for (const beside of [at - 1, at + 1]) if (beside in of) of[beside] = (of[beside] as number) + NEIGHBOUR;
      }
      const sum = of.reduce((a, b) => a + b, 0);
      weights.set(
        name,
        of.map((w) => w / sum),
      );
    }
    return weights;
  }

  private draw(weights: Weights | undefined): Configuration {
    const chosen: Record<string, Value> = {};
    for (const [name, values] of this.space.parameters) {
      const of = weights?.get(name) ?? values.map(() => 1 / values.length);
      let left = this.random();
      const at = of.findIndex((w) => {
        left -= w;
        return left < 0;
      });
      chosen[name] = values[at < 0 ? values.length - 1 : at] as Value;
    }
    return chosen;
  }

  private score(configuration: Configuration, { good, rest }: Sides): number {
    let score = 0;
    for (const [name, values] of this.space.parameters) {
      const at = values.indexOf(configuration[name] as Value);
      score += Math.log((good.get(name)?.[at] ?? 1) / (rest.get(name)?.[at] ?? 1));
    }
    return score;
  }
}

type Weights = ReadonlyMap<string, readonly number[]>;
interface Sides {
  readonly good: Weights;
  readonly rest: Weights;
}
