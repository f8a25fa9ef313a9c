// How long a dispatch will take, by the last one of its kernel: kernels that are launched again and again need not run alone first.
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { Launch } from './launch.ts';
import type { Progress } from './progress.ts';

interface Known {
  /** Of one thread; the least seen, as others may use the processor too. */
  msPerInstruction: number;
  instructionsPerGroup: number;
}

const known = new WeakMap<LoadedCode, Map<number, Known>>();

/** What a launch will take in one thread, ms, if it is like the last one of its kernel; 0 when there was none. */
export function expectedMs(loaded: LoadedCode, { entry, workgroups }: Launch): number {
  const last = known.get(loaded)?.get(entry);
  return last === undefined ? 0 : last.msPerInstruction * last.instructionsPerGroup * workgroups;
}

/** Notes how far a launch has come, and the time that this thread has run it. */
export function noteRun(
  loaded: LoadedCode,
  { entry }: Launch,
  { progress, ms }: { readonly progress: Progress; readonly ms: number | undefined },
): void {
  const { instructions, done, ran } = progress;
  if (done === 0 || instructions === 0) return;
  let kernels = known.get(loaded);
  if (kernels === undefined) {
    kernels = new Map();
    known.set(loaded, kernels);
  }
  const last = kernels.get(entry);
  const rate = ms === undefined || ran === 0 ? undefined : ms / ran;
  if (last === undefined && rate === undefined) return;
  kernels.set(entry, {
    msPerInstruction: Math.min(last?.msPerInstruction ?? Number.POSITIVE_INFINITY, rate ?? Number.POSITIVE_INFINITY),
    instructionsPerGroup: instructions / done,
  });
}
