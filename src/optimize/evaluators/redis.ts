// The connection to Redis or Valkey that tasks are queued in, and the name of the queue.
import type { Redis } from 'ioredis';
import { WavesmithError } from '../../base/index.ts';

/** What workers run candidates on: the virtual GPU, which gives verdicts, or a GPU, which measures times. */
export type WorkerTarget = 'sim' | 'rocm';

/** The queue of tasks for a kind of workers. */
export const queueName = (target: WorkerTarget): string => `wavesmith-${target}`;

/** What a job of the queue holds. */
export interface JobData {
  readonly task: unknown;
  readonly blobs: unknown;
}

/** A queue's address, checked. */
export interface QueueAddress {
  readonly url: string;
  /** The same without a password, for messages. */
  readonly shown: string;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Milliseconds without a connection after which nobody is waited for. */
export const LOST_AFTER_MS = 10_000;

/**
 * Checks the address of a queue. One on another machine without a password is `queue/unprotected`, unless `allowUnprotected`: who can write to
 * the queue has workers run code on their virtual GPUs.
 */
export function queueAddress(text: string, allowUnprotected: boolean): QueueAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new WavesmithError('cli/usage', '--queue is an address like redis://127.0.0.1:6379.', { cause });
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw new WavesmithError('cli/usage', `--queue begins with redis:// or rediss://, not ${url.protocol}//.`);
  }
  const shown = `${url.protocol}//${url.host}${url.pathname}`;
  if (!LOOPBACK.test(url.hostname) && url.password === '' && !allowUnprotected) {
    throw new WavesmithError('queue/unprotected', `The queue at ${shown} is on another machine and has no password.`, {
      hint: 'Give one (rediss://user:password@host), or say --allow-unprotected-queue.',
    });
  }
  return { url: text, shown };
}

/** The packages of queues; without them it is `queue/not-installed`. */
export async function queuePackages() {
  try {
    const [{ Redis }, bullmq] = await Promise.all([import('ioredis'), import('bullmq')]);
    return { Redis, bullmq };
  } catch (cause) {
    throw new WavesmithError('queue/not-installed', "The packages 'bullmq' and 'ioredis' are not installed.", {
      hint: "They are optional: 'npm install bullmq ioredis' beside wavesmith.",
      cause,
    });
  }
}

/** A connection that tells when nobody has answered for long. */
export interface Connection {
  readonly client: Redis;
  /** Rejects with `queue/lost` when the server has not answered for `lostAfter` milliseconds. */
  readonly lost: Promise<never>;
  end(): void;
}

/** Connects. A server that is not there is `queue/lost`. */
export async function connect({ url, shown }: QueueAddress, lostAfter: number = LOST_AFTER_MS): Promise<Connection> {
  const { Redis } = await queuePackages();
  const client = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true, retryStrategy: () => 250 });
  let timer: NodeJS.Timeout | undefined;
  let reason = 'it did not answer';
  let fail: (error: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Whoever waits for it sees it; nobody may.
  lost.catch(() => {});
  const begin = (): void => {
    timer ??= setTimeout(() => {
      fail(
        new WavesmithError('queue/lost', `The queue at ${shown} cannot be reached: ${reason}.`, {
          hint: 'What was evaluated is in the ledger (--ledger); run the command again when the server is back.',
        }),
      );
    }, lostAfter);
  };
  client.on('error', (error) => {
    reason = error.message;
  });
  client.on('close', begin);
  client.on('ready', () => {
    clearTimeout(timer);
    timer = undefined;
  });
  begin();
  const end = (): void => {
    clearTimeout(timer);
    client.removeAllListeners('close');
    client.disconnect();
  };
  client.connect().catch((error: Error) => {
    // Tried again until the time is up; a wrong password is told at once.
    if (/WRONGPASS|NOAUTH/.test(error.message)) {
      fail(new WavesmithError('queue/lost', `The queue at ${shown} refuses the password.`, { cause: error }));
    }
  });
  const ready = new Promise<void>((resolve) => client.once('ready', () => resolve()));
  try {
    await Promise.race([ready, lost]);
  } catch (error) {
    end();
    throw error;
  }
  return { client, lost, end };
}
