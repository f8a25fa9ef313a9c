// Worker threads of Node for the virtual GPU, and what its compiled code needs of V8.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { aroundCompiling } from '../sim/wasm/host-compiler.ts';
import type { WorkerHost, WorkerThread } from '../sim/workers/worker-host.ts';
import { compileSimCode, disableRelaxedSimd, enableRelaxedSimd } from './v8-flags.ts';

const WORKER_FILE = 'sim-thread.cjs';
/**
 * Measured (`npm run bench sim-scaling`): until the first thread of a process runs its first workgroup, while the device's own thread works, 35 to 43 on
 * Node 20, 22 and 24. 25 to 29 of them are Node's own.
 */
const START_MS = 40;

/** The built worker beside this code: in dist/, from a bundle there or from one of its chunks. */
function builtWorker(): string | undefined {
  return [`./${WORKER_FILE}`, `../${WORKER_FILE}`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
}

/** Whether this process has started a thread. */
let hasStarted = false;

function startThread(file: string): WorkerThread {
  const worker = new Worker(file, { workerData: { keeps: !hasStarted } });
  hasStarted = true;
  // No thread of the process has been there before it: nobody but this thread compiles, and it turns relaxed SIMD on when it does.
  if (worker.threadId === 1) disableRelaxedSimd();
  worker.unref();
  const thread: WorkerThread = {
    post: (message) => worker.postMessage(message),
    onMessage: () => {},
    onFailure: () => {},
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
  worker.on('message', (message) => thread.onMessage(message));
  worker.on('error', (error) => thread.onFailure(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', (code) => thread.onFailure(new Error(`it exited with code ${code}`)));
  return thread;
}

/** Has V8 compile what the virtual GPU writes, in this thread. */
export function prepareV8(): void {
  enableRelaxedSimd();
  aroundCompiling(compileSimCode);
}

/** Threads for `createDevice('sim', { workerHost })`; undefined when the worker's file is not built. `file` names another. */
export function nodeWorkerHost(file: string | undefined = builtWorker()): WorkerHost | undefined {
  prepareV8();
  if (file === undefined) return undefined;
  return { cores: availableParallelism(), startMs: START_MS, start: () => startThread(file) };
}
