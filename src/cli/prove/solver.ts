// Room `cli/prove`: what the command prove takes from Node: the solver of bit vectors, z3 compiled to WebAssembly.
// Begin with this file. z3-solver is optional; it loads in a thread of its own when the first question comes, and ends with `close`.
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { processorTime, type Solver } from '../../equivalence/index.ts';

/** Megabytes that z3 may take at most. */
const MEMORY = 512;
/**
 * Milliseconds of processor time after which a question that z3 does not stop by its own limit ends with the thread. The main thread
 * only waits meanwhile, so the time of the process is z3's. What it takes to load is not counted.
 */
const PATIENCE_MS = 30_000;
/** How often that is looked at, and after how many looks with next to no processor time the thread is taken for stuck. */
const LOOK_MS = 1_000;
const STUCK_LOOKS = 20;
const STUCK_MS = 1;

/** The thread: answers each script with the first line that z3 prints. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { init } = require(workerData.module);
const ready = init().then(({ Z3 }) => {
  Z3.global_param_set('memory_max_size', String(workerData.memory));
  parentPort.postMessage('ready');
  return Z3;
}, (error) => parentPort.postMessage('error ' + error.message));
parentPort.on('message', async (script) => {
  try {
    const Z3 = await ready;
    const config = Z3.mk_config();
    const context = Z3.mk_context(config);
    Z3.del_config(config);
    const answer = await Z3.eval_smtlib2_string(context, script);
    Z3.del_context(context);
    parentPort.postMessage(answer.trim());
  } catch (error) {
    parentPort.postMessage('error ' + error.message);
  }
});
`;

/** What z3 answers, and what stands for a question that it did not end in time. */
const ANSWER = /^(?:sat|unsat|unknown)$/;
const LATE = 'late';

/** Where z3-solver is installed; undefined when it is not. */
function installedModule(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('z3-solver/build/node.js');
  } catch {
    return undefined;
  }
}

export interface OpenSolver {
  readonly solve: Solver;
  /** Ends the thread. */
  readonly close: () => Promise<void>;
}

/** What the thread says next, or why it says nothing. */
function nextMessage(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    const started = processorTime();
    let [last, idle] = [started, 0];
    const look = (): void => {
      const now = processorTime();
      idle = now - last < STUCK_MS ? idle + 1 : 0;
      last = now;
      if (now - started > PATIENCE_MS) done(LATE);
      else if (idle >= STUCK_LOOKS) done('stuck');
    };
    const done = (text: string): void => {
      clearInterval(timer);
      worker.off('message', done);
      worker.off('error', failed);
      worker.off('exit', ended);
      resolve(text);
    };
    const failed = (error: Error): void => done(`error ${error.message}`);
    const ended = (): void => done('ended');
    const timer = setInterval(look, LOOK_MS);
    worker.on('message', done);
    worker.on('error', failed);
    worker.on('exit', ended);
  });
}

/** A solver that starts with the first question and takes at most so many megabytes; undefined when z3-solver is not installed. */
export function openSolver(megabytes = MEMORY): OpenSolver | undefined {
  const module = installedModule();
  if (module === undefined) return undefined;
  let thread: Worker | undefined;
  const close = async (): Promise<void> => {
    const old = thread;
    thread = undefined;
    await old?.terminate();
  };
  const ask = async (script: string): Promise<string> => {
    let answer = 'ready';
    if (thread === undefined) {
      thread = new Worker(THREAD, {
        eval: true,
        workerData: { module, memory: Math.ceil(Math.min(MEMORY, megabytes)) },
      });
      answer = await nextMessage(thread);
    }
    if (answer === 'ready') {
      thread.postMessage(script);
      answer = await nextMessage(thread);
    }
    // After anything but an answer the thread is in no known state.
    if (!ANSWER.test(answer)) await close();
    return answer;
  };
  const solve: Solver = async (script) => {
    const answer = await ask(script);
    // z3's own threads fail now and then (seen once in about 1,000 questions on a busy machine): a new one is asked once more.
    const isLost = !ANSWER.test(answer) && answer !== LATE;
    return (isLost ? await ask(script) : answer) === 'unsat';
  };
  return { solve, close };
}
