// Entry of a Node worker thread of the virtual GPU.
import { parentPort } from 'node:worker_threads';
import { serveWorker } from '../sim/workers/worker.ts';
import { nodeModuleCache } from './build.ts';
import { showFrom } from './frames.ts';

const port = parentPort;
if (port === null) throw new Error('sim-worker runs as a worker thread only');
serveWorker(
  {
    post: (message) => port.postMessage(message),
    onMessage: (handler) => port.on('message', handler),
  },
  nodeModuleCache(),
  showFrom,
);
