// The adapter for many machines: a queue in Redis or Valkey (BullMQ) and workers that take from it (worker.ts). A job is named by its task, so the same
// task is queued once, whoever asks; a job of a worker that died is begun again by another one.
import type { Job, Queue, QueueEvents } from 'bullmq';
import type { BlobPlace } from './blobs.ts';
import { type Evaluators, MAX_STARTS, type Verdict } from './port.ts';
import {
  type Connection,
  connect,
  type JobData,
  type QueueAddress,
  queueName,
  queuePackages,
  type WorkerTarget,
} from './redis.ts';
import { type Task, taskId } from './task.ts';
import type { ThreadOutput } from './task-thread.ts';

/** Seconds that answers stay in the queue, for who asks the same. */
const KEPT_SECONDS = 3600;

export interface QueueOptions {
  readonly address: QueueAddress;
  readonly blobs: BlobPlace;
  /** The workers that are asked (default `sim`). */
  readonly target?: WorkerTarget | undefined;
  /** Milliseconds without a connection after which it is given up. */
  readonly lostAfter?: number | undefined;
}

export class QueueEvaluators implements Evaluators {
  private readonly connections: readonly Connection[];
  private readonly queue: Queue<JobData, ThreadOutput>;
  private readonly events: QueueEvents;
  private readonly blobs: BlobPlace;

  private constructor(
    connections: readonly Connection[],
    queue: Queue<JobData, ThreadOutput>,
    events: QueueEvents,
    blobs: BlobPlace,
  ) {
    this.connections = connections;
    this.queue = queue;
    this.events = events;
    this.blobs = blobs;
  }

  /** Connects to a queue. */
  static async open({ address, blobs, target = 'sim', lostAfter }: QueueOptions): Promise<QueueEvaluators> {
    const { bullmq } = await queuePackages();
    const [one, two] = [await connect(address, lostAfter), await connect(address, lostAfter)];
    const queue = new bullmq.Queue<JobData, ThreadOutput>(queueName(target), { connection: one.client });
    const events = new bullmq.QueueEvents(queueName(target), { connection: two.client });
    // What is wrong with the connection is told by `lost`.
    queue.on('error', () => {});
    events.on('error', () => {});
    queue.setMaxListeners(0);
    events.setMaxListeners(0);
    try {
      await Promise.race([events.waitUntilReady(), one.lost, two.lost]);
    } catch (error) {
      for (const { end } of [one, two]) end();
      throw error;
    }
    return new QueueEvaluators([one, two], queue, events, blobs);
  }

  private async orLost<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, ...this.connections.map((c) => c.lost)]);
  }

  async *submit(tasks: readonly Task[], signal?: AbortSignal): AsyncGenerator<Verdict> {
    if (signal?.aborted === true) return;
    const distinct = [...new Map(tasks.map((task) => [taskId(task), task]))];
    const jobs = await this.orLost(Promise.all(distinct.map(([id, task]) => this.add(id, task))));
    const aborted = new Promise<'aborted'>((resolve) =>
      signal?.addEventListener('abort', () => resolve('aborted'), { once: true }),
    );
    const waiting = new Map(
      jobs.map((job, i) => {
        const [id, task] = distinct[i] as [string, Task];
        return [id, this.verdict(job, id, task)] as const;
      }),
    );
    try {
      while (waiting.size > 0) {
        const next = Promise.race([...waiting].map(async ([id, one]) => [id, await one] as const));
        const found = await this.orLost(Promise.race([next, aborted]));
        if (found === 'aborted') return;
        const [id, verdict] = found;
        waiting.delete(id);
        yield verdict;
      }
    } finally {
      for (const one of waiting.values()) one.catch(() => {});
      // Those that nobody began; one that a worker has cannot be removed, and is finished for who asks next.
      const left = jobs.filter((_, i) => waiting.has((distinct[i] as [string, Task])[0]));
      await Promise.allSettled(left.map((job) => this.orLost(job.remove())));
    }
  }

  /** Queues a task; one that is there already is that one. One that failed is begun anew. */
  private async add(id: string, task: Task): Promise<Job<JobData, ThreadOutput>> {
    const known = await this.queue.getJob(id);
    if (known !== undefined && (await known.isFailed())) await known.remove();
    return await this.queue.add(
      task.kind,
      { task, blobs: this.blobs },
      {
        jobId: id,
        attempts: MAX_STARTS,
        backoff: { type: 'exponential', delay: 200 },
        removeOnComplete: { age: KEPT_SECONDS },
        removeOnFail: { age: KEPT_SECONDS },
      },
    );
  }

  private async verdict(job: Job<JobData, ThreadOutput>, id: string, task: Task): Promise<Verdict> {
    try {
      return { id, task, ...(await job.waitUntilFinished(this.events)) };
    } catch (error) {
      const message = `No worker could finish it: ${(error as Error).message}`;
      return { id, task, failure: { code: 'queue/poison', message } };
    }
  }

  async close(): Promise<void> {
    for (const { end } of this.connections) end();
    await Promise.allSettled([this.queue.close(), this.events.close()]);
  }
}
