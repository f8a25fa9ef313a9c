// A worker thread of the virtual GPU under Node.
import { parentPort } from 'node:worker_threads';
import { aroundCompiling } from '../sim/wasm/host-compiler.ts';
import { serveWorker } from '../sim/workers/worker.ts';
import { nodeModuleCache } from './build.ts';
import { showFrom } from './frames.ts';
import { compileSimCode } from './v8-flags.ts';

/** Answers the messages of the device that has started this thread. `beforeAnswer` is called before each answer. */
export function serve(beforeAnswer = (): void => {}): void {
  const port = parentPort;
  if (port === null) throw new Error('sim-worker runs as a worker thread only');
  aroundCompiling(compileSimCode);
  serveWorker(
    {
      post: (message) => {
        beforeAnswer();
        port.postMessage(message);
      },
      onMessage: (handler) => port.on('message', handler),
    },
    nodeModuleCache(),
    showFrom,
  );
}
