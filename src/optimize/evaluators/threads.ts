// The adapter for one machine: threads of this process (piscina).
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { type Evaluators, MAX_STARTS, type Verdict } from './port.ts';
import { type Task, taskId } from './task.ts';
import type { ThreadInput, ThreadOutput } from './task-thread.ts';

const THREAD_FILE = 'task-thread.js';

/** The built thread: in dist/, beside this code there, or from sources. */
export function threadFile(): string {
  const found = ['./', '../', '../../../dist/']
    .map((path) => fileURLToPath(new URL(`${path}${THREAD_FILE}`, import.meta.url)))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${THREAD_FILE} is not built`);
  return found;
}

/** Threads that answer tasks; one whose thread dies is asked again. */
export class TaskThreads {
  private readonly pool: Piscina<ThreadInput, ThreadOutput>;

  /** `file`: what the threads load. */
  constructor(threads: number, file: string = threadFile()) {
    this.pool = new Piscina<ThreadInput, ThreadOutput>({
      filename: file,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: 10_000,
    });
    this.pool.on('error', () => {
      // A thread that died without a task: the next task gets another one.
    });
  }

  async answer(input: ThreadInput, signal?: AbortSignal): Promise<ThreadOutput> {
    return await this.pool.run(input, signal === undefined ? {} : { signal });
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** `folder`: where the blobs of tasks are. */
export class ThreadEvaluators implements Evaluators {
  private readonly threads: TaskThreads;
  private readonly folder: string;

  constructor(folder: string, threads: number, file?: string) {
    this.folder = folder;
    this.threads = new TaskThreads(threads, file);
  }

  async *submit(tasks: readonly Task[], signal?: AbortSignal): AsyncGenerator<Verdict> {
    if (signal !== undefined) setMaxListeners(0, signal);
    const distinct = new Map(tasks.map((task) => [taskId(task), task]));
    const waiting = new Map<string, Promise<Verdict | undefined>>();
    for (const [id, task] of distinct) waiting.set(id, this.verdict(id, task, signal));
    while (waiting.size > 0) {
      const [id, verdict] = await Promise.race([...waiting].map(async ([id, one]) => [id, await one] as const));
      waiting.delete(id);
      if (verdict !== undefined) yield verdict;
    }
  }

  /** Undefined when it was withdrawn. */
  private async verdict(id: string, task: Task, signal: AbortSignal | undefined): Promise<Verdict | undefined> {
    let last = '';
    for (let start = 0; start < MAX_STARTS; start++) {
      if (isAborted(signal)) return undefined;
      try {
        const answer = await this.threads.answer({ task, folder: this.folder }, signal);
        return { id, task, ...answer };
      } catch (error) {
        if (isAborted(signal)) return undefined;
        last = (error as Error).message;
      }
    }
    return { id, task, failure: { code: 'queue/poison', message: `It ended its thread ${MAX_STARTS} times: ${last}` } };
  }

  async close(): Promise<void> {
    await this.threads.close();
  }
}
