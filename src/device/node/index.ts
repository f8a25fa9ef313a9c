// Room `device/node`: what the virtual GPU takes from Node: worker threads and a folder of compiled modules. Callers inject it, so
// that the rest of the device runs in a browser too.
// Begin with this file.
import type { SimOptions } from '../sim/options.ts';
import { nodeModuleCache } from './build.ts';
import { nodeWorkerHost } from './host.ts';

export { nodeModuleCache, nodeProbeCache } from './build.ts';
export { nodeWorkerHost } from './host.ts';
export { clearModuleCache, DiskModuleCache, type ModuleCacheFacts, moduleCacheFacts } from './module-cache.ts';

/** What `createDevice('sim', { target, ...nodeSimOptions() })` uses of Node: worker threads, and compiled modules kept on disk. */
export function nodeSimOptions(): SimOptions {
  return { workerHost: nodeWorkerHost(), moduleCache: nodeModuleCache() };
}
