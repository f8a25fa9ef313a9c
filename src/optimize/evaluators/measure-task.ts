// A task that asks for times, answered on a GPU of this machine. In this thread: a process opens a GPU once.
import { WavesmithError } from '../../base/index.ts';
import type { Device } from '../../device/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { measurePair } from '../evaluate/measure.ts';
import { Blobs } from './blobs.ts';
import type { ThreadInput, ThreadOutput } from './task-thread.ts';

/** What answers tasks by a device that `open` gives for a capture. The device stays open for the next task. */
export function measurer(open: (capture: Capture) => Promise<Device>): {
  readonly answer: (input: ThreadInput) => Promise<ThreadOutput>;
  readonly close: () => Promise<void>;
} {
  let device: Promise<Device> | undefined;
  // One after the other, however many slots there are: two kernels at once would be timed together.
  let last: Promise<unknown> = Promise.resolve();
  const measure = async ({ task, folder }: ThreadInput): Promise<ThreadOutput> => {
    try {
      const blobs = new Blobs(folder);
      const capture = blobs.openCapture(task.capture);
      device ??= open(capture);
      const measurement = await measurePair(await device, capture, blobs.get(task.candidate), { seed: task.seed });
      return { result: { kind: 'measure', measurement } };
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      return { failure: { code: error.code, message: error.message } };
    }
  };
  return {
    answer: (input) => {
      const next = last.then(() => measure(input));
      last = next.catch(() => {});
      return next;
    },
    close: async () => {
      await last;
      if (device !== undefined) (await device).close();
    },
  };
}
