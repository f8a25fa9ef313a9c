// Who evaluates the candidates of a search: this thread, threads, or the workers of a queue.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { WavesmithError } from '../../base/index.ts';
import type { Measurement } from '../../optimize/evaluate/measure.ts';
import type { Blobs } from '../../optimize/evaluators/blobs.ts';
import type { WorkerTarget } from '../../optimize/evaluators/redis.ts';
import type { EvaluatorOptions } from '../../optimize/index.ts';
import type { Elsewhere } from '../../optimize/search/judge.ts';
import type { Capture } from '../../snapshot/index.ts';
import { readInput } from '../support.ts';
import { atLeastOne } from './model.ts';

export interface QueueFlags {
  queue?: string;
  blobs?: string;
  blobHost: string;
  allowUnprotectedQueue?: boolean;
}

export interface ElsewhereFlags extends QueueFlags {
  jobs?: string;
  chip?: string;
  budget: string;
}

/** Flags of who evaluates. */
export function addElsewhereOptions(command: Command): Command {
  return addQueueOptions(
    command.option(
      '--jobs <n>',
      'threads that evaluate (default: one for 25 candidates of the budget, and no more than cores)',
    ),
  );
}

/** Flags of a queue of workers. */
export function addQueueOptions(command: Command): Command {
  return command
    .option('--queue <url>', "evaluate by the workers of this Redis or Valkey instead ('wavesmith worker')")
    .option('--blobs <dir>', 'with --queue: a folder that workers can see; without it they fetch from this process')
    .option(
      '--blob-host <host>',
      'with --queue and no --blobs: the address of this machine that workers can reach',
      '127.0.0.1',
    )
    .option('--allow-unprotected-queue', 'use a queue of another machine that has no password');
}

/** Candidates of a budget for which another thread, with a baseline of its own to run, is worth while. */
const CANDIDATES_A_THREAD = 25;
/** Tasks that a queue is given at once. */
const QUEUE_BATCH = 64;

export interface Opened {
  readonly elsewhere: Elsewhere;
  close(): Promise<void>;
}

/** Opens what the flags name; undefined for this thread. */
export async function openElsewhere(
  flags: ElsewhereFlags,
  capture: Capture,
  options: EvaluatorOptions,
): Promise<Opened | undefined> {
  const budget = atLeastOne(flags.budget, '--budget');
  const fitting = Math.min(availableParallelism(), Math.ceil(budget / CANDIDATES_A_THREAD));
  const jobs = flags.jobs === undefined ? fitting : atLeastOne(flags.jobs, '--jobs');
  if (flags.queue === undefined && jobs === 1) return undefined;
  const { Blobs } = await import('../../optimize/evaluators/blobs.ts');
  const { frameOf } = await import('../../optimize/evaluators/task.ts');
  const own = flags.blobs === undefined ? mkdtempSync(join(tmpdir(), 'wavesmith-blobs-')) : undefined;
  const blobs = new Blobs(flags.blobs ?? (own as string));
  const isFile = flags.chip?.endsWith('.json') === true;
  const chip = isFile ? blobs.put(readInput(flags.chip as string)) : undefined;
  const frame = frameOf(blobs.putCapture(capture), options, chip);
  const forget = (): void => {
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  };
  if (flags.queue === undefined) {
    const { ThreadEvaluators } = await import('../../optimize/evaluators/threads.ts');
    const evaluators = new ThreadEvaluators(blobs.folder, jobs);
    const close = async (): Promise<void> => {
      await evaluators.close();
      forget();
    };
    return { elsewhere: { evaluators, blobs, frame, batch: 2 * jobs }, close };
  }
  try {
    const { evaluators, close } = await openQueue(flags as QueueFlags & { queue: string }, blobs, 'sim');
    const end = async (): Promise<void> => {
      await close();
      forget();
    };
    return { elsewhere: { evaluators, blobs, frame, batch: QUEUE_BATCH }, close: end };
  } catch (error) {
    forget();
    throw error;
  }
}

/** The workers of a queue; they see the blobs in a shared folder or fetch them from this process. */
async function openQueue(flags: QueueFlags & { readonly queue: string }, blobs: Blobs, target: WorkerTarget) {
  const { serveBlobs } = await import('../../optimize/evaluators/blobs.ts');
  const { QueueEvaluators } = await import('../../optimize/evaluators/queue.ts');
  const { queueAddress } = await import('../../optimize/evaluators/redis.ts');
  const address = queueAddress(flags.queue, flags.allowUnprotectedQueue === true);
  const server = flags.blobs === undefined ? await serveBlobs(blobs, flags.blobHost) : undefined;
  try {
    const place = server === undefined ? ({ isShared: true } as const) : { url: server.url };
    const evaluators = await QueueEvaluators.open({ address, blobs: place, target });
    const close = async (): Promise<void> => {
      await evaluators.close();
      server?.close();
    };
    return { evaluators, close };
  } catch (error) {
    server?.close();
    throw error;
  }
}

/** Has a worker with a GPU measure a candidate. */
export async function measureElsewhere(
  flags: QueueFlags & { readonly queue: string },
  capture: Capture,
  candidate: Uint8Array,
  options: EvaluatorOptions,
): Promise<Measurement> {
  const { Blobs } = await import('../../optimize/evaluators/blobs.ts');
  const { frameOf } = await import('../../optimize/evaluators/task.ts');
  const folder = flags.blobs ?? mkdtempSync(join(tmpdir(), 'wavesmith-blobs-'));
  try {
    const blobs = new Blobs(folder);
    const frame = frameOf(blobs.putCapture(capture), options);
    const { evaluators, close } = await openQueue(flags, blobs, 'rocm');
    try {
      for await (const verdict of evaluators.submit([{ ...frame, kind: 'measure', candidate: blobs.put(candidate) }])) {
        if (verdict.failure !== undefined) throw new WavesmithError(verdict.failure.code, verdict.failure.message);
        if (verdict.result.kind === 'measure') return verdict.result.measurement;
      }
      throw new Error('a task gave no verdict');
    } finally {
      await close();
    }
  } finally {
    if (flags.blobs === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
