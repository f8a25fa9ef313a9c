// The best so far and whoever wants its place: what every proposer of changes has in common. Nothing takes the place that did not climb the ladder.
import { WavesmithError } from '../../base/index.ts';
import { durationText } from '../../device/sim/timing/report.ts';
import type { Evaluator } from '../evaluate/ladder.ts';
import type { Evaluation } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';
import type { Ledger, LookRecord } from '../ledger/ledger.ts';
import { Judge } from './judge.ts';
import { LEAST_GAIN } from './search.ts';
import type { SearchResult, Step } from './state.ts';

export interface Best {
  readonly code: Uint8Array;
  readonly nanoseconds: number;
  readonly evaluation: Evaluation | undefined;
  readonly steps: readonly Step[];
}

/** What is said of an offer beside its code. */
export interface Offer extends Pick<Step, 'moves' | 'diff'> {
  readonly reason: string;
  /** For the ledger. */
  readonly change: string;
}

export class Contest {
  readonly evaluator: Evaluator;
  private readonly judge: Judge;
  private readonly start: Best;
  best: Best;

  private constructor(evaluator: Evaluator, ledger: Ledger | undefined, start: Best) {
    this.evaluator = evaluator;
    this.judge = new Judge(evaluator, ledger);
    this.start = start;
    this.best = start;
  }

  /** Looks at the baseline. One that is no candidate itself is `evaluate/baseline`. */
  static async open(evaluator: Evaluator, ledger: Ledger | undefined): Promise<Contest> {
    const { code } = evaluator.oracle;
    const { nanoseconds, problem } = await evaluator.look(code, 0);
    if (nanoseconds === undefined) {
      throw new WavesmithError('evaluate/baseline', `The baseline is no candidate: ${problem}`);
    }
    return new Contest(evaluator, ledger, { code, nanoseconds, evaluation: undefined, steps: [] });
  }

  /** A first look at a candidate; nothing is kept of it. */
  async look(code: Uint8Array): Promise<LookRecord> {
    const found = await this.judge.look(code, this.best.nanoseconds * (1 - LEAST_GAIN));
    if (found.nanoseconds === undefined) this.judge.count(found.problem?.split(':')[0] ?? 'rejected');
    return found;
  }

  /** Counts a proposal that is no candidate. */
  refuse(what: string): void {
    this.judge.count(what);
  }

  /** A candidate for the place. The words are for who proposed it. */
  async offer(code: Uint8Array, offer: Offer): Promise<{ readonly isKept: boolean; readonly words: string }> {
    const { best, judge } = this;
    const lost = (what: string, words: string) => {
      judge.count(what);
      return { isKept: false, words };
    };
    if (sha256(code) === sha256(best.code)) return lost('no change', 'This is the same code as the best so far.');
    const least = best.nanoseconds * (1 - LEAST_GAIN);
    const { nanoseconds, problem } = await judge.look(code, least);
    if (nanoseconds === undefined) return lost(problem?.split(':')[0] ?? 'rejected', `Rejected at ${problem}`);
    const times = `${durationText(best.nanoseconds / 1000)} before, ${durationText(nanoseconds / 1000)} with it`;
    if (nanoseconds >= least) return lost('no gain', `Not kept: it is not faster, ${times}.`);
    judge.count('faster');
    const evaluation = await judge.climb(code, { parent: sha256(best.code), change: offer.change });
    if (evaluation.verdict === 'rejected') {
      return lost(evaluation.rung ?? 'rejected', `Faster, and wrong: ${verdictWords(evaluation)}`);
    }
    const { moves, reason, diff } = offer;
    const { verdict, reached } = evaluation;
    const step: Step = { moves, reason, hash: sha256(code), nanoseconds, diff, verdict, reached };
    this.best = { code, nanoseconds, evaluation, steps: [...best.steps, step] };
    return { isKept: true, words: `Kept: ${times}, ${reached}.` };
  }

  /** What was found. */
  result(isBudgetUsed: boolean): SearchResult {
    const { evaluation, code, steps, nanoseconds } = this.best;
    const { looks, climbs, outcomes } = this.judge;
    return {
      evaluation,
      code: evaluation === undefined ? undefined : code,
      steps,
      nanoseconds: [this.start.nanoseconds, nanoseconds],
      looks,
      climbs,
      outcomes,
      isBudgetUsed,
    };
  }
}

/** A verdict in a few words. */
export function verdictWords({ verdict, rung, rungs, reached, time }: Evaluation): string {
  if (verdict === 'rejected') return `rejected at ${rung}: ${rungs.at(-1)?.evidence.join(' ') ?? ''}`;
  return `${verdict === 'accepted' ? 'right and faster' : 'right, and not faster by 2%'}: ×${time?.speedup.toFixed(3)}, ${reached}`;
}
