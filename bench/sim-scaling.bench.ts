// How a dispatch of 1,024 workgroups would scale over cores: the time of each workgroup is measured in one thread, then handed out to
// cores in the way of the worker threads (each takes the next number, one atomic addition), with the measured start of a thread and the
// measured cost of taking a number while all cores take. A machine of two cores cannot run 64 threads at a time; it can say how evenly
// the work comes apart. What it cannot say: the memory that 64 cores share.
// The start of a thread and what two threads take are measured in processes of their own, since the first thread of a process begins in another way;
// so is the first dispatch of a process, which meets its kernel: it compiles, and sees only then that it is long enough for a thread.
// `npm run bench sim-scaling -- WORKGROUPS` takes another number of workgroups.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createDevice, type SimDevice } from '../src/device/index.ts';
import { nodeWorkerHost } from '../src/device/node/host.ts';
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { LocalProgress, SharedProgress } from '../src/device/sim/dispatch/progress.ts';
import type { MemoryMessage } from '../src/device/sim/dispatch/worker-messages.ts';
import { kernelObject } from '../tests/support/kernel-source.ts';
import { root, wavesmith } from './support/processes.ts';

enableRelaxedSimd();

const CHILD = '--two-threads';
const FIRST_CHILD = '--first-dispatch';
/** Processes for each measurement of two threads. */
const PROCESSES = 5;
const file = process.argv[1] as string;
const WORKGROUPS = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 1024);
const CORES = [1, 2, 4, 8, 16, 32, 64];

/** Kernels: rounds of a loop for a workgroup. */
const KERNELS: readonly (readonly [name: string, rounds: string])[] = [
  ['even: 500 rounds', 's_movk_i32 s8, 500'],
  ['uneven: 125 to 881 rounds', 's_and_b32 s8, s2, 63\ns_mul_i32 s8, s8, 12\ns_addk_i32 s8, 125'],
  ['short: 50 rounds', 's_movk_i32 s8, 50'],
];

const codeOf = (rounds: string): string => `v_cvt_f32_u32_e32 v1, v0
${rounds}
.Lloop:
${'v_fma_f32 v1, v1, v1, v1\nv_add_f32_e32 v1, 1.0, v1\n'.repeat(8)}
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lloop`;

/** When each workgroup was taken in the last dispatch of one thread. */
const taken: number[] = [];
const take = LocalProgress.prototype.take;
LocalProgress.prototype.take = function (this: LocalProgress): number {
  taken.push(performance.now());
  return take.call(this);
};

/** Nanoseconds of one atomic addition in memory that threads share. */
function atomicNanoseconds(): number {
  const words = new Int32Array(new SharedArrayBuffer(64));
  const rounds = 2_000_000;
  const begin = performance.now();
  for (let n = 0; n < rounds; n++) Atomics.add(words, 0, 1);
  return ((performance.now() - begin) * 1e6) / rounds;
}

/**
 * The time at which the last workgroup ends when so many threads take the next one whenever they are free. The counter serves one thread
 * after the other; threads but the first begin `start` later.
 */
function makespan(times: readonly number[], cores: number, start: number, counter: number): number {
  const free = Array.from({ length: cores }, (_, n) => (n === 0 ? 0 : start));
  let counterFree = 0;
  for (const time of times) {
    let first = 0;
    for (let n = 1; n < cores; n++) if ((free[n] as number) < (free[first] as number)) first = n;
    const at = Math.max(free[first] as number, counterFree);
    counterFree = at + counter;
    free[first] = counterFree + time;
  }
  return Math.max(...free);
}

/** A dispatch of the kernel in a number of threads. */
function launcher(device: SimDevice, rounds: string): (workers: number) => Promise<unknown> {
  const { bytes } = kernelObject({
    code: codeOf(rounds),
    args: [[4, 'by_value']],
    descriptor: { next_free_vgpr: 16, accum_offset: 16, next_free_sgpr: 32, system_sgpr_workgroup_id_x: 1 },
    metadata: { '.vgpr_count': 16, '.sgpr_count': 32 },
  });
  const kernel = device.load(bytes).kernel('k');
  return (workers) =>
    device.dispatch({ kernel, grid: [WORKGROUPS, 1, 1], block: [256, 1, 1], args: [new Uint8Array(4)], workers });
}

/** What one process measures, ms. */
interface TwoThreads {
  /** From the call that starts its first thread until that begins its first workgroup, while the device's own thread works. */
  readonly start: number;
  /** The same dispatch in one thread, in two of which one begins, and in two that run. */
  readonly one: Timed;
  readonly withNew: Timed;
  readonly withRunning: Timed;
}

/** A dispatch from the call to the result, and the processor time of its process meanwhile, ms: others may use the cores, too. */
interface Timed {
  readonly wall: number;
  readonly busy: number;
}

async function timed(work: () => Promise<unknown>): Promise<Timed> {
  const at = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wall: performance.now() - at, busy: (user + system) / 1000 };
}

async function measureTwoThreads(rounds: string): Promise<TwoThreads> {
  const host = nodeWorkerHost(join(root, 'dist', 'sim-thread.cjs'));
  if (host === undefined) throw new Error('no threads');
  let began = 0;
  let begins = 0;
  let gate: Int32Array | undefined;
  const start = () => {
    began = performance.now();
    const thread = host.start();
    const post = thread.post;
    thread.post = (message) => {
      const { kind, memory, gate: at } = message as MemoryMessage;
      if (kind === 'memory') gate = new Int32Array(memory.buffer, at, 1);
      post(message);
    };
    return thread;
  };
  // Whenever this thread takes a workgroup, it looks whether the other one has begun.
  const next = SharedProgress.prototype.take;
  SharedProgress.prototype.take = function (this: SharedProgress): number {
    if (begins === 0 && gate !== undefined && Atomics.load(gate, 0) === 0) begins = performance.now();
    return next.call(this);
  };
  const device = await createDevice('sim', { target: 'gfx942', workerHost: { ...host, start } });
  const launch = launcher(device, rounds);
  await launch(1);
  const one = await timed(() => launch(1));
  const withNew = await timed(() => launch(2));
  const withRunning = await timed(() => launch(2));
  device.close();
  return { start: begins - began, one, withNew, withRunning };
}

/** The first dispatch of this process, in as many threads. */
async function measureFirst(rounds: string, threads: number): Promise<Timed> {
  const workerHost = nodeWorkerHost(join(root, 'dist', 'sim-thread.cjs'));
  const device = await createDevice('sim', { target: 'gfx942', workerHost });
  const launch = launcher(device, rounds);
  const first = await timed(() => launch(threads));
  device.close();
  return first;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;
}

/** Medians over processes, with those of the first dispatch of a process in one and in two threads. */
interface Measured extends TwoThreads {
  readonly firstInOne: Timed;
  readonly firstInTwo: Timed;
}

/** What a process of this file says. */
function ask<T>(...words: string[]): T {
  const runner = join(root, 'scripts', 'run-ts.mjs');
  const child = spawnSync(process.execPath, [runner, file, ...words, `${WORKGROUPS}`], { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

/** Undefined where a thread has no core of its own. */
function twoThreads(kernel: number): Measured | undefined {
  if ((nodeWorkerHost('')?.cores ?? 1) < 2) return undefined;
  // It builds itself when a source is newer.
  const built = spawnSync(process.execPath, [wavesmith, '--version'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`dist/ could not be built: ${built.stderr}`);
  const of = `kernel=${kernel}`;
  const runs = Array.from({ length: PROCESSES }, () => ({
    ...ask<TwoThreads>(CHILD, of),
    firstInOne: ask<Timed>(FIRST_CHILD, of, 'threads=1'),
    firstInTwo: ask<Timed>(FIRST_CHILD, of, 'threads=2'),
  }));
  const mid = (key: Exclude<keyof Measured, 'start'>): Timed => ({
    wall: median(runs.map((run) => run[key].wall)),
    busy: median(runs.map((run) => run[key].busy)),
  });
  return {
    start: median(runs.map(({ start }) => start)),
    one: mid('one'),
    withNew: mid('withNew'),
    withRunning: mid('withRunning'),
    firstInOne: mid('firstInOne'),
    firstInTwo: mid('firstInTwo'),
  };
}

/** The number of a word `NAME=NUMBER`. */
function numberOf(name: string): number {
  return Number(process.argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1));
}

if (process.argv.includes(CHILD) || process.argv.includes(FIRST_CHILD)) {
  const [, rounds] = KERNELS[numberOf('kernel')] as (typeof KERNELS)[number];
  const isFirst = process.argv.includes(FIRST_CHILD);
  console.log(JSON.stringify(await (isFirst ? measureFirst(rounds, numberOf('threads')) : measureTwoThreads(rounds))));
} else {
  const real = twoThreads(0);
  const device = await createDevice('sim', { target: 'gfx942' });
  const startMs = real?.start ?? nodeWorkerHost('')?.startMs ?? 0;
  // A line of memory that another core has changed comes at the price of about ten additions without that.
  const counterMs = (10 * atomicNanoseconds()) / 1e6;
  const counted = `the counter ${(counterMs * 1e6).toFixed(0)} ns when another core has it`;
  console.log(
    `start of the first thread ${startMs.toFixed(0)} ms ${real === undefined ? '(not measured: one core)' : '(measured)'}, ${counted}`,
  );
  if (real !== undefined) {
    const factor = (one: Timed, two: Timed): string => {
      const cores = `it had ${(two.busy / two.wall).toFixed(2)} cores`;
      return `${(one.wall / two.wall).toFixed(2)} (${one.wall.toFixed(0)} / ${two.wall.toFixed(0)} ms, ${cores})`;
    };
    console.log(`measured on two cores, ${KERNELS[0]?.[0]}, one thread's time / two's, from the call to the result:
  ${factor(real.one, real.withRunning)} a kernel that has run, threads that run
  ${factor(real.one, real.withNew)} a kernel that has run, a thread begins with the dispatch
  ${factor(real.firstInOne, real.firstInTwo)} the first dispatch of a process: the kernel is compiled, and a thread begins when it turns out to be long`);
  }
  const header = CORES.map((cores) => `${cores}`.padStart(7)).join('');
  console.log(`${`${WORKGROUPS} workgroups of 256, times as fast on`.padEnd(58)}${header} cores`);
  for (const [name, rounds] of KERNELS) {
    const launch = launcher(device, rounds);
    await launch(1);
    taken.length = 0;
    await launch(1);
    const times = taken.slice(1).map((at, n) => at - (taken[n] as number));
    const all = makespan(times, 1, 0, 0);
    for (const [threads, start] of [
      ['threads that run', 0],
      ['new threads', startMs],
    ] as const) {
      const factors = CORES.map((cores) => (all / makespan(times, cores, start, counterMs)).toFixed(2).padStart(7));
      console.log(`${`${name}, ${all.toFixed(0)} ms, ${threads}`.padEnd(58)}${factors.join('')}`);
    }
  }
  device.close();
}
