// Node's part of the device layer: worker threads for the virtual GPU.
export { nodeWorkerHost } from './host.ts';
