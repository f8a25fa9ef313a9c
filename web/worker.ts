// Runs kernels off the page's thread, so that a long one does not freeze it and can be ended.
import { type RunInput, runKernel } from './run-kernel.ts';

const scope = self as unknown as {
  onmessage: (event: MessageEvent<RunInput>) => void;
  postMessage(value: unknown): void;
};
scope.onmessage = async (event) => scope.postMessage(await runKernel(event.data));
