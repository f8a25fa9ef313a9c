// A thread that answers tasks: what piscina loads, built as dist/task-thread.js.
import { WavesmithError } from '../../base/index.ts';
import type { Failure } from './port.ts';
import { TaskRunner } from './run-task.ts';
import type { Task, TaskResult } from './task.ts';

/** What a thread is given. */
export interface ThreadInput {
  readonly task: Task;
  readonly folder: string;
}

/** What it answers: a crash of the thread is no answer. */
export type ThreadOutput = { readonly result: TaskResult } | { readonly failure: Failure };

const runners = new Map<string, TaskRunner>();

export default async function answer({ task, folder }: ThreadInput): Promise<ThreadOutput> {
  let runner = runners.get(folder);
  if (runner === undefined) {
    runner = new TaskRunner(folder);
    runners.set(folder, runner);
  }
  try {
    return { result: await runner.run(task) };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { failure: { code: error.code, message: error.message } };
  }
}
