// Room `optimize/evaluate`: the verdict ladder: a candidate kernel beside a captured baseline. Begin with ladder.ts; each rung has a file.
//
// What an evaluation says: one record for each rung of the ladder that the candidate came to. Everything here is JSON-able, and the same
// for the same baseline, candidate, options and version.

/** The rungs in the order in which a candidate climbs them. */
export const RUNGS = ['contract', 'static', 'exact', 'equivalence', 'held-out', 'physics', 'time'] as const;
export type Rung = (typeof RUNGS)[number];

/**
 * How alike the results must be. `bit`: every byte. `atomics`: bytes that depend on the order of waves may be permuted or rounded
 * otherwise. `bounded`: annotated floats may differ by rounding.
 */
export const CLASSES = ['bit', 'atomics', 'bounded'] as const;
export type EquivalenceClass = (typeof CLASSES)[number];

/** One rung. */
export interface RungRecord {
  readonly rung: Rung;
  readonly outcome: 'passed' | 'rejected';
  /** What rejects the candidate, or what the rung rests on, one sentence each. */
  readonly evidence: readonly string[];
}

/** A modelled time beside another. */
export interface TimeComparison {
  readonly clock: 'modelled';
  readonly chip: string;
  /** Of the captured launch, microseconds. */
  readonly baseline: number;
  readonly candidate: number;
  /** Baseline over candidate, and the interval that sampling leaves. */
  readonly speedup: number;
  readonly interval: readonly [low: number, high: number];
  /** The same on inputs that the proposer never saw. */
  readonly heldOut: { readonly speedup: number; readonly interval: readonly [low: number, high: number] } | undefined;
  /** Faster by less than 5%. */
  readonly isSmall: boolean;
}

/** Everything that a verdict depends on, as hashes. */
export interface EvaluationKey {
  /** The manifest of the capture: code, memory, arguments, launch. */
  readonly baseline: string;
  /** The candidate's code object. */
  readonly candidate: string;
  /** Results of the baseline on all inputs. */
  readonly oracle: string;
  /** Class, seed, chip, reduction length, and the version of the ladder. */
  readonly options: string;
}

export interface Evaluation {
  readonly verdict: 'accepted' | 'rejected' | 'not-faster';
  /** Where it was rejected. */
  readonly rung: Rung | undefined;
  readonly kernel: string;
  readonly target: string;
  /** What was asked for, and the best that was shown. `proved` holds for all inputs, the others for those that were run. */
  readonly asked: EquivalenceClass;
  readonly reached: 'proved' | EquivalenceClass | undefined;
  readonly rungs: readonly RungRecord[];
  readonly time: TimeComparison | undefined;
  /** Inputs on which the candidate was run, and those on which the baseline itself fails. */
  readonly inputs: { readonly run: number; readonly dropped: readonly string[] };
  readonly key: EvaluationKey;
}

/** Speedup that the lower bound must pass, and below which a gain is called small. */
export const LEAST_SPEEDUP = 1.02;
export const SMALL_SPEEDUP = 1.05;

/** Part of every key: verdicts of other ladders are not taken for this one's. */
export const LADDER_VERSION = 9;
