// `wavesmith worker`: evaluates tasks that `optimize --queue` puts into a queue. What Slurm or Kubernetes starts, as often as there are machines.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { queueAddress } from '../optimize/evaluators/redis.ts';
import { openGpu } from './evaluate/gpu.ts';
import { atLeastOne } from './optimize/model.ts';
import { parseCount } from './run-common.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

interface Options {
  queue: string;
  target: string;
  slots: string;
  drain?: boolean;
  blobs?: string;
  stallSeconds: string;
  allowUnprotectedQueue?: boolean;
  dashboard?: boolean;
  port: string;
  json?: boolean;
}

const HELP = `
A worker that is killed loses nothing: its tasks are begun again by another one (docs/workers.md).
Exit code 0: stopped, or with --drain nothing was left. 1: the queue cannot be reached.`;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand(
    'worker',
    "Evaluate candidates for 'wavesmith optimize --queue', as one of any number of workers.",
  )
    .requiredOption('--queue <url>', 'Redis or Valkey: redis://127.0.0.1:6379, rediss://user:password@host')
    .option(
      '--target <target>',
      'what candidates are run on: sim, the virtual GPU, for verdicts; rocm, a GPU, for times',
      'sim',
    )
    .option('--slots <n>', 'tasks at a time, one thread each', '1')
    .option('--drain', 'end when nothing is queued and nobody works')
    .option('--blobs <dir>', 'the folder of blobs that submitters and workers share')
    .option('--stall-seconds <n>', 'tasks of a worker that is silent so long are begun again', '30')
    .option('--allow-unprotected-queue', 'use a queue of another machine that has no password')
    .option('--dashboard', 'serve the dashboard of the queue (bull-board) to this machine, and evaluate nothing')
    .option('--port <n>', 'port of the dashboard; 0 is any', '3000')
    .option('--json', 'print JSON, one line an event')
    .addHelpText('after', HELP);
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const address = queueAddress(options.queue, options.allowUnprotectedQueue === true);
  const target = (['sim', 'rocm'] as const).find((name) => name === options.target);
  if (target === undefined) throw new WavesmithError('cli/usage', `--target is sim or rocm, not '${options.target}'.`);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const say = (text: string, event: Readonly<Record<string, unknown>>): void => {
    if (options.json === true) printJson(event);
    else process.stdout.write(`${text}\n`);
  };
  if (options.dashboard === true) {
    const { serveDashboard } = await import('../optimize/evaluators/dashboard.ts');
    const dashboard = await serveDashboard(address, parseCount(options.port, '--port') ?? 0);
    say(`dashboard of ${address.shown}: ${dashboard.url}`, { dashboard: dashboard.url });
    await new Promise<void>((resolve) => ending.signal.addEventListener('abort', () => resolve(), { once: true }));
    await dashboard.close();
    return 0;
  }
  const slots = atLeastOne(options.slots, '--slots');
  const stallMs = 1000 * atLeastOne(options.stallSeconds, '--stall-seconds');
  const { runWorker } = await import('../optimize/evaluators/worker.ts');
  const { measurer } = await import('../optimize/evaluators/measure-task.ts');
  const gpu = target === 'rocm' ? measurer(openGpu) : undefined;
  const cache = mkdtempSync(join(tmpdir(), 'wavesmith-worker-'));
  try {
    const answered = await runWorker({
      address,
      slots,
      drain: options.drain === true,
      shared: options.blobs,
      cache,
      stallMs,
      signal: ending.signal,
      target,
      answer: gpu?.answer,
      onTask: (id, outcome) => say(`${id.slice(0, 12)} ${outcome}`, { task: id, outcome }),
    });
    say(`${answered} tasks`, { answered });
    return 0;
  } finally {
    await gpu?.close();
    rmSync(cache, { recursive: true, force: true });
  }
}
