// Who evaluates tasks. `tests/support/optimize/evaluators-contract.ts` is the suite that every adapter must pass.
import type { Task, TaskResult } from './task.ts';

/** What became of a task: a result, or why nobody could give one. A rejected candidate is a result. */
export type Verdict = { readonly id: string; readonly task: Task } & (
  | { readonly result: TaskResult; readonly failure?: undefined }
  | { readonly result?: undefined; readonly failure: Failure }
);

/** A failure of the work itself: the baseline fails, or whoever took the task died each time. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export interface Evaluators {
  /**
   * Has tasks evaluated. Each distinct task gives one verdict, as it is ready, in any order. When `signal` is aborted, tasks that nobody began are
   * withdrawn, and the rest of the verdicts are not waited for. Fails with `queue/lost` when nobody can be asked any more.
   */
  submit(tasks: readonly Task[], signal?: AbortSignal): AsyncIterable<Verdict>;
  /** Ends what this has begun. Verdicts that are still waited for do not come. */
  close(): Promise<void>;
}

/** How often a task is begun: whoever takes it may be killed. */
export const MAX_STARTS = 3;

/** Verdicts in the order of the tasks; those of aborted submissions are missing. */
export async function inOrder(
  evaluators: Evaluators,
  tasks: readonly Task[],
  idOf: (task: Task) => string,
  signal?: AbortSignal,
): Promise<(Verdict | undefined)[]> {
  const found = new Map<string, Verdict>();
  for await (const verdict of evaluators.submit(tasks, signal)) found.set(verdict.id, verdict);
  return tasks.map((task) => found.get(idOf(task)));
}
