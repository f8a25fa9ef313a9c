// How long a dispatch will take, by the last one of its kernel: kernels that are launched again and again need not run alone first.
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { Launch } from './launch.ts';

interface Known {
  /** In one thread; the least seen, as others may use the processor too. */
  msPerInstruction: number;
  instructionsPerGroup: number;
}

const known = new WeakMap<LoadedCode, Map<number, Known>>();

/** What a launch will take in one thread, ms, if it is like the last one of its kernel; 0 when there was none. */
export function expectedMs(loaded: LoadedCode, { entry, workgroups }: Launch): number {
  const last = known.get(loaded)?.get(entry);
  return last === undefined ? 0 : last.msPerInstruction * last.instructionsPerGroup * workgroups;
}

/** Notes instructions that `workgroups` workgroups of a launch have run, and the time if that was in one thread. */
export function noteRun(
  loaded: LoadedCode,
  { entry }: Launch,
  ran: { readonly instructions: number; readonly workgroups: number; readonly ms?: number | undefined },
): void {
  if (ran.workgroups === 0 || ran.instructions === 0) return;
  let kernels = known.get(loaded);
  if (kernels === undefined) {
    kernels = new Map();
    known.set(loaded, kernels);
  }
  const last = kernels.get(entry);
  const rate = ran.ms === undefined ? undefined : ran.ms / ran.instructions;
  if (last === undefined && rate === undefined) return;
  kernels.set(entry, {
    msPerInstruction: Math.min(last?.msPerInstruction ?? Number.POSITIVE_INFINITY, rate ?? Number.POSITIVE_INFINITY),
    instructionsPerGroup: ran.instructions / ran.workgroups,
  });
}
