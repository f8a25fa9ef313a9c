// Candidates of a search before the evaluator: looks and verdicts that are in the ledger are not made again.
import type { Evaluator } from '../evaluate/ladder.ts';
import type { Evaluation } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';
import { evaluationKey, type Ledger, type LookRecord, type Origin } from '../ledger/ledger.ts';

export class Judge {
  readonly evaluator: Evaluator;
  private readonly ledger: Ledger | undefined;
  /** Candidates by what became of them. */
  readonly outcomes: Record<string, number> = {};
  looks = 0;
  climbs = 0;

  constructor(evaluator: Evaluator, ledger: Ledger | undefined) {
    this.evaluator = evaluator;
    this.ledger = ledger;
  }

  count(what: string): void {
    this.outcomes[what] = (this.outcomes[what] ?? 0) + 1;
  }

  /** A first look at a candidate; one that takes less than `under` nanoseconds is run in strict mode too. */
  async look(code: Uint8Array, under: number): Promise<LookRecord> {
    this.looks++;
    const hash = sha256(code);
    const key = sha256(`look\n${evaluationKey({ ...this.evaluator.key, candidate: hash })}`);
    const known = this.ledger?.look(key);
    if (known !== undefined) return known;
    const { nanoseconds, problem } = await this.evaluator.look(code, under);
    this.ledger?.addLook(key, hash, { nanoseconds, problem });
    return { nanoseconds, problem };
  }

  /** The whole ladder. */
  async climb(code: Uint8Array, origin: Origin): Promise<Evaluation> {
    this.climbs++;
    const known = this.ledger?.find(evaluationKey({ ...this.evaluator.key, candidate: sha256(code) }));
    if (known !== undefined) return known;
    const evaluation = await this.evaluator.evaluate(code);
    this.ledger?.add(code, origin, evaluation);
    return evaluation;
  }
}
