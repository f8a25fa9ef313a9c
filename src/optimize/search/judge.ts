// Candidates of a search before the evaluator: looks and verdicts that are in the ledger are not made again. What is made is made here, or by
// evaluators elsewhere; the ledger gets it in the order in which it was asked for, so it is the same however many work.
import { WavesmithError } from '../../base/index.ts';
import type { Evaluator } from '../evaluate/ladder.ts';
import type { Evaluation } from '../evaluate/types.ts';
import type { Blobs } from '../evaluators/blobs.ts';
import { type Evaluators, inOrder } from '../evaluators/port.ts';
import { type Task, type TaskFrame, type TaskResult, taskId } from '../evaluators/task.ts';
import { sha256 } from '../hash.ts';
import { evaluationKey, type Ledger, type LookRecord, type Origin } from '../ledger/ledger.ts';

/** Evaluations that are made elsewhere. */
export interface Elsewhere {
  readonly evaluators: Evaluators;
  readonly blobs: Blobs;
  readonly frame: TaskFrame;
  /** Tasks that are asked for at once. */
  readonly batch: number;
}

/** A candidate for the whole ladder. */
export interface Climber {
  readonly code: Uint8Array;
  readonly origin: Origin;
}

export class Judge {
  readonly evaluator: Evaluator;
  private readonly ledger: Ledger | undefined;
  private readonly elsewhere: Elsewhere | undefined;
  private readonly signal: AbortSignal | undefined;
  /** Candidates by what became of them. */
  readonly outcomes: Record<string, number> = {};
  looks = 0;
  climbs = 0;

  constructor(evaluator: Evaluator, ledger: Ledger | undefined, elsewhere?: Elsewhere, signal?: AbortSignal) {
    this.evaluator = evaluator;
    this.ledger = ledger;
    this.elsewhere = elsewhere;
    this.signal = signal;
  }

  /** Candidates that can be asked for at once. */
  get batch(): number {
    return this.elsewhere?.batch ?? 1;
  }

  count(what: string): void {
    this.outcomes[what] = (this.outcomes[what] ?? 0) + 1;
  }

  /** A first look at a candidate; one that takes less than `under` nanoseconds is run in strict mode too. */
  async look(code: Uint8Array, under: number): Promise<LookRecord> {
    const [record] = await this.lookAll([code], under);
    if (record === undefined) throw new WavesmithError('optimize/stopped', 'The search was stopped.');
    return record;
  }

  /** First looks at several; those that were not made because the search was stopped are undefined. */
  async lookAll(codes: readonly Uint8Array[], under: number): Promise<(LookRecord | undefined)[]> {
    const named = codes.map((code) => {
      const hash = sha256(code);
      const key = sha256(`look\n${evaluationKey({ ...this.evaluator.key, candidate: hash })}`);
      return { code, hash, key, known: this.ledger?.look(key) };
    });
    const missing = named.filter((n) => n.known === undefined);
    const limit = under === Number.POSITIVE_INFINITY ? undefined : under;
    const made = await this.make(
      missing.map((n) => n.code),
      (code) => ({ kind: 'look', candidate: sha256(code), under: limit }),
      async (code): Promise<TaskResult> => {
        const { nanoseconds, problem } = await this.evaluator.look(code, under);
        return { kind: 'look', look: { nanoseconds, problem } };
      },
    );
    const found = new Map(missing.map((n, i) => [n.key, made[i]]));
    return named.map(({ key, hash, known }) => {
      const record =
        known ?? (found.get(key)?.kind === 'look' ? (found.get(key) as { look: LookRecord }).look : undefined);
      if (record === undefined) return undefined;
      this.looks++;
      if (known === undefined) this.ledger?.addLook(key, hash, record);
      return record;
    });
  }

  /** The whole ladder. */
  async climb(code: Uint8Array, origin: Origin): Promise<Evaluation> {
    const [evaluation] = await this.climbAll([{ code, origin }]);
    if (evaluation === undefined) throw new WavesmithError('optimize/stopped', 'The search was stopped.');
    return evaluation;
  }

  /** The whole ladder for several; undefined as in `lookAll`. */
  async climbAll(climbers: readonly Climber[]): Promise<(Evaluation | undefined)[]> {
    const named = climbers.map((climber) => {
      const known = this.ledger?.find(evaluationKey({ ...this.evaluator.key, candidate: sha256(climber.code) }));
      return { climber, known };
    });
    const missing = named.filter((n) => n.known === undefined);
    const made = await this.make(
      missing.map((n) => n.climber.code),
      (code) => ({ kind: 'climb', candidate: sha256(code) }),
      async (code): Promise<TaskResult> => ({ kind: 'climb', evaluation: await this.evaluator.evaluate(code) }),
    );
    const found = new Map(missing.map((n, i) => [n.climber, made[i]]));
    return named.map(({ climber, known }) => {
      const result = found.get(climber);
      const evaluation = known ?? (result?.kind === 'climb' ? result.evaluation : undefined);
      if (evaluation === undefined) return undefined;
      this.climbs++;
      if (known === undefined) this.ledger?.add(climber.code, climber.origin, evaluation);
      return evaluation;
    });
  }

  private async make(
    codes: readonly Uint8Array[],
    ask: (code: Uint8Array) => Pick<Task, 'kind' | 'candidate' | 'under'>,
    here: (code: Uint8Array) => Promise<TaskResult>,
  ): Promise<(TaskResult | undefined)[]> {
    const { elsewhere, signal } = this;
    if (elsewhere === undefined) {
      const results: (TaskResult | undefined)[] = [];
      for (const code of codes) results.push(signal?.aborted === true ? undefined : await here(code));
      return results;
    }
    const { evaluators, blobs, frame } = elsewhere;
    const tasks = codes.map((code): Task => {
      blobs.put(code);
      return { ...frame, ...ask(code) };
    });
    const verdicts = await inOrder(evaluators, tasks, taskId, signal);
    return verdicts.map((verdict) => {
      if (verdict?.failure === undefined) return verdict?.result;
      const { code, message } = verdict.failure;
      // Who takes it dies of it: it is no candidate, and the search goes on.
      if (code === 'queue/poison') return poison(message, verdict.task.kind);
      throw new WavesmithError(code, message);
    });
  }
}

/** What is kept of a candidate that ended every worker. */
function poison(message: string, kind: Task['kind']): TaskResult {
  if (kind === 'look') return { kind, look: { nanoseconds: undefined, problem: `exact: ${message}` } };
  throw new WavesmithError('queue/poison', message, {
    hint: 'Its first look ended well: the workers may lack memory.',
  });
}
