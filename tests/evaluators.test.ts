// Who evaluates: threads and workers of a queue pass one suite, and a search makes the same ledger with all of them, also when workers are killed
// or the queue is gone for a while.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Measurement } from '../src/optimize/evaluate/measure.ts';
import { QueueEvaluators } from '../src/optimize/evaluators/queue.ts';
import { queueAddress } from '../src/optimize/evaluators/redis.ts';
import { ThreadEvaluators } from '../src/optimize/evaluators/threads.ts';
import { runWorker } from '../src/optimize/evaluators/worker.ts';
import { Ledger } from '../src/optimize/index.ts';
import { findNativeBuild } from '../src/runtime/addon.ts';
import { record } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';
import { hasNativeBuild, root } from './support/native.ts';
import { evaluatorsContract } from './support/optimize/evaluators-contract.ts';
import { SUBJECTS } from './support/optimize/subjects.ts';
import { variantObject } from './support/optimize/variants.ts';
import { redisProgram, startRedis } from './support/redis.ts';
import { openRocm } from './support/rocm.ts';

evaluatorsContract('threads', {
  open: async (blobs, file) => {
    const evaluators = new ThreadEvaluators(blobs.folder, 2, file);
    return { evaluators, close: () => evaluators.close() };
  },
});

if (redisProgram !== undefined) {
  evaluatorsContract('a queue with one worker', {
    open: async (blobs, threadFile) => {
      const redis = await startRedis();
      const address = queueAddress(redis.url, false);
      const evaluators = await QueueEvaluators.open({ address, blobs: { isShared: true } });
      const stop = new AbortController();
      const options = {
        slots: 2,
        drain: false,
        shared: blobs.folder,
        cache: blobs.folder,
        stallMs: 60_000,
        threadFile,
      };
      const working = runWorker({ address, ...options, signal: stop.signal });
      const close = async (): Promise<void> => {
        stop.abort();
        await working;
        await evaluators.close();
        await redis.stop();
      };
      return { evaluators, close };
    },
  });
}

describe('addresses of queues', () => {
  test.each(['redis://queue.example:6379', 'rediss://user@queue.example', 'redis://10.0.0.1'])(
    '%s needs a password',
    (url) => {
      expect(() => queueAddress(url, false)).toThrow(expect.objectContaining({ code: 'queue/unprotected' }));
      expect(queueAddress(url, true).url).toBe(url);
    },
  );
  test.each(['redis://127.0.0.1:6379', 'redis://localhost', 'redis://[::1]:7000', 'rediss://u:secret@queue.example'])(
    '%s is taken',
    (url) => {
      expect(queueAddress(url, false).shown).not.toContain('secret');
    },
  );
  test('what is no address is a wrong use', async () => {
    expect(await wavesmith('worker', '--queue', 'nowhere')).toMatchObject({ code: 2 });
    expect(await wavesmith('worker', '--queue', 'http://127.0.0.1')).toMatchObject({ code: 2 });
    expect(await wavesmith('worker', '--queue', 'redis://127.0.0.1', '--target', 'cuda')).toMatchObject({ code: 2 });
  });
});

/** What a search finds. */
const WASTE = [['s_barrier', 's_barrier\n  s_nop 7\n  s_barrier\n  s_nop 15']] as const;

describe.skipIf(redisProgram === undefined)('a search by workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-workers-'));
  const path = (name: string): string => join(folder, name);
  const bin = join(import.meta.dirname, '..', 'bin', 'wavesmith');
  let redis: Awaited<ReturnType<typeof startRedis>>;
  const workers = new Set<ChildProcess>();
  const startWorker = (...args: string[]): ChildProcess => {
    const flags = ['--queue', redis.url, '--stall-seconds', '5', ...args];
    const child = spawn(process.execPath, [bin, 'worker', ...flags], { stdio: 'ignore' });
    workers.add(child);
    child.once('exit', () => workers.delete(child));
    return child;
  };
  const endWorkers = async (): Promise<void> => {
    const ended = [...workers].map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of workers) child.kill('SIGKILL');
    await Promise.all(ended);
  };
  const search = async (ledger: string, ...args: string[]) => {
    const done = await wavesmith(
      'optimize',
      path('k.wscap'),
      '--budget',
      '4',
      '--beam',
      '1',
      '--ledger',
      path(ledger),
      '--json',
      ...args,
    );
    return { ...done, digest: done.code === 1 ? undefined : JSON.parse(done.out).ledger };
  };
  let expected: string;
  beforeAll(async () => {
    redis = await startRedis();
    const { args, grid, block } = SUBJECTS.reverse;
    const code = variantObject({
      name: 'wasteful',
      of: 'reverse',
      replace: WASTE,
    });
    await record(folder, 'k.wscap', { code, args, grid, block });
    expected = (await search('here.db', '--jobs', '1')).digest;
  });
  afterAll(async () => {
    await endWorkers();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('threads make the ledger of one thread', async () => {
    expect((await search('threads.db', '--jobs', '2')).digest).toBe(expected);
  });

  test('one worker, and four of which one is killed, make it too', async () => {
    startWorker();
    expect((await search('one.db', '--queue', redis.url)).digest).toBe(expected);
    await endWorkers();
    // Answers of before are not taken.
    await redis.stop();
    redis = await startRedis();
    const [victim] = [1, 2, 3, 4].map(() => startWorker('--blobs', path('blobs')));
    const searching = search('four.db', '--queue', redis.url, '--blobs', path('blobs'));
    setTimeout(() => victim?.kill('SIGKILL'), 2500);
    expect((await searching).digest).toBe(expected);
    await endWorkers();
  });

  test('the dashboard is served to this machine and no other name', async () => {
    const child = spawn(process.execPath, [
      bin,
      'worker',
      '--queue',
      redis.url,
      '--dashboard',
      '--port',
      '0',
      '--json',
    ]);
    const text = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data: Buffer) => resolve(String(data))),
    );
    const { dashboard } = JSON.parse(text);
    expect(dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await (await fetch(dashboard)).text()).toContain('<html');
    expect(await (await fetch(`${dashboard}api/queues`)).text()).toContain('wavesmith-sim');
    const status = await new Promise((resolve) => {
      get(dashboard, { headers: { host: 'elsewhere.example' } }, (answer) => resolve(answer.statusCode));
    });
    expect(status).toBe(403);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('a queue that is gone is an error, and the search goes on when it is back', async () => {
    await redis.stop();
    const gone = await wavesmith(
      'optimize',
      path('k.wscap'),
      '--budget',
      '4',
      '--queue',
      redis.url,
      '--ledger',
      path('gone.db'),
      '--beam',
      '1',
    );
    expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('queue/lost') });
    const ledger = Ledger.open(path('gone.db'));
    expect(ledger.faults).toEqual([{ code: 'queue/lost', message: expect.stringContaining(redis.url) }]);
    ledger.close();
    redis = await startRedis(redis.port);
    startWorker();
    expect((await search('gone.db', '--queue', redis.url)).digest).toBe(expected);
    await endWorkers();
  });

  test.skipIf(!hasNativeBuild())('a worker with a GPU measures both in turns, and its word counts', async () => {
    // The GPU is the virtual one of another process, behind the HSA library.
    (await openRocm('gfx942')).close();
    vi.stubEnv('WAVESMITH_HSA', join(findNativeBuild(root).libraries, 'libhsa-runtime64.so.1'));
    const { args, grid, block } = SUBJECTS.reverse;
    const code = variantObject({ name: 'wasteful', of: 'reverse', replace: WASTE });
    await record(folder, 'gpu.wscap', { code, args, grid, block });
    writeFileSync(path('better.co'), variantObject({ name: 'same', of: 'reverse' }));
    const worker = startWorker('--target', 'rocm');
    const flags = ['--measure', '--queue', redis.url, '--json'];
    const better = await wavesmith('evaluate', path('gpu.wscap'), path('better.co'), ...flags);
    const { measurement, verdict } = JSON.parse(better.out);
    expect(measurement).toMatchObject({ device: 'rocm:gfx942', rounds: 15, differing: 0 });
    // The clock of the virtual runtime is the host's: what it says is noise, and the verdict must follow it.
    const { cold, warm } = measurement as Measurement;
    const isFaster = warm.interval[0] >= 1.02 && cold.speedup * 1.02 >= 1;
    expect([better.code, verdict, better.err]).toEqual(isFaster ? [0, 'accepted', ''] : [3, 'not-faster', '']);
    worker.kill('SIGTERM');
  });
});
