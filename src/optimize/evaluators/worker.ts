// A worker: takes tasks from a queue, has them answered by threads, so that its own thread always renews the locks, and ends when it is told to.
import type { Job } from 'bullmq';
import { type BlobPlace, Blobs } from './blobs.ts';
import { MAX_STARTS } from './port.ts';
import { connect, type JobData, type QueueAddress, queueName, queuePackages, type WorkerTarget } from './redis.ts';
import { readTask } from './task.ts';
import type { ThreadInput, ThreadOutput } from './task-thread.ts';
import { TaskThreads } from './threads.ts';

export interface WorkerOptions {
  readonly address: QueueAddress;
  /** Tasks at a time. */
  readonly slots: number;
  /** Ends when nothing is queued and nobody works. */
  readonly drain: boolean;
  /** The folder of blobs that submitters share. */
  readonly shared?: string | undefined;
  /** Where blobs are kept that come by HTTP. */
  readonly cache: string;
  /** Milliseconds after which the tasks of a worker that is silent are begun again. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  readonly lostAfter?: number | undefined;
  /** What threads load; the built one by default. */
  readonly threadFile?: string | undefined;
  /** The workers that this is one of (default `sim`). */
  readonly target?: WorkerTarget | undefined;
  /** Answers in this thread: a GPU is opened once in a process. Threads do by default. */
  readonly answer?: ((input: ThreadInput) => Promise<ThreadOutput>) | undefined;
  readonly onTask?: ((id: string, outcome: string) => void) | undefined;
}

/** How often a worker that is to drain the queue looks. */
const LOOK_MS = 200;

/** Works until the signal, or until nothing is left with `drain`. Gives the number of tasks that it answered. */
export async function runWorker(options: WorkerOptions): Promise<number> {
  const {
    address,
    slots,
    drain,
    shared,
    cache,
    stallMs,
    signal,
    lostAfter,
    threadFile,
    onTask,
    target = 'sim',
  } = options;
  const { bullmq } = await queuePackages();
  const connection = await connect(address, lostAfter);
  const threads = new TaskThreads(slots, threadFile);
  let answered = 0;
  const work = async (job: Job<JobData, ThreadOutput>): Promise<ThreadOutput> => {
    const task = readTask(job.data.task);
    const place = readPlace(job.data.blobs);
    if (task === undefined || place === undefined) {
      throw new bullmq.UnrecoverableError('It is no task of this version of Wavesmith.');
    }
    if ('isShared' in place && shared === undefined) {
      throw new bullmq.UnrecoverableError(
        'Its blobs are in a shared folder, and the worker was started without --blobs.',
      );
    }
    const folder = 'url' in place ? cache : (shared as string);
    if ('url' in place) {
      const blobs = new Blobs(cache);
      await blobs.fetch(
        place.url,
        [task.capture, task.candidate, ...('blob' in task.chip ? [task.chip.blob] : [])],
        signal,
      );
      await blobs.fetch(place.url, blobs.filesOf(task.capture), signal);
    }
    const answer = await (options.answer ?? ((input) => threads.answer(input)))({ task, folder });
    answered++;
    onTask?.(job.id ?? '', 'failure' in answer ? answer.failure.code : task.kind);
    return answer;
  };
  const worker = new bullmq.Worker<JobData, ThreadOutput>(queueName(target), work, {
    connection: connection.client,
    concurrency: slots,
    lockDuration: stallMs,
    stalledInterval: stallMs,
    maxStalledCount: MAX_STARTS - 1,
  });
  // What is wrong with the connection is told by `lost`.
  worker.on('error', () => {});
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([stopped, connection.lost, ...(drain ? [drained(address, target, lostAfter, signal)] : [])]);
    await Promise.race([worker.close(), connection.lost]);
  } finally {
    await threads.close();
    connection.end();
    await Promise.race([worker.close(true), new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
  }
  return answered;
}

/** Until nothing waits and nobody works. */
async function drained(
  address: QueueAddress,
  target: WorkerTarget,
  lostAfter: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { bullmq } = await queuePackages();
  const { client, lost, end } = await connect(address, lostAfter);
  const queue = new bullmq.Queue(queueName(target), { connection: client });
  queue.on('error', () => {});
  try {
    while (!signal.aborted) {
      const counts = await Promise.race([queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized'), lost]);
      if (Object.values(counts).every((n) => n === 0)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    end();
  }
}

/** Where a job says that its blobs are; undefined when it says nothing that can be. */
function readPlace(value: unknown): BlobPlace | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { isShared, url } = value as { isShared?: unknown; url?: unknown };
  if (typeof url === 'string' && /^https?:\/\//.test(url)) return { url };
  return isShared === true ? { isShared } : undefined;
}
