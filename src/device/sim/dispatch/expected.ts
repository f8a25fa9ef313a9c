// How long a dispatch will take, by the last one of its kernel: kernels that are launched again and again need not run alone first.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { Launch } from './launch.ts';
import type { Progress } from './progress.ts';
import { reachable } from './reachable.ts';

interface Known {
  /** Of one thread; the least seen, as others may use the processor too. */
  msPerInstruction: number;
  instructionsPerGroup: number;
}

const known = new WeakMap<LoadedCode, Map<number, Known>>();

/** What a launch will take in one thread, ms, if it is like the last one of its kernel; undefined when there was none. */
export function expectedMs(loaded: LoadedCode, { entry, workgroups }: Launch): number | undefined {
  const last = known.get(loaded)?.get(entry);
  return last === undefined ? undefined : last.msPerInstruction * last.instructionsPerGroup * workgroups;
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

/** Instructions of wavefronts that an engine runs in a millisecond, about. */
const RATES: Readonly<Record<Launch['engine'], number>> = { compiled: 20_000, interpreter: 200 };
/** Rounds that a loop is taken to have. */
const ROUNDS = 32;
/** Instructions looked at. */
const LOOKED_AT = 4000;

/** Launches of fewer workgroups are not guessed at: what they take is seen when the first ones have run. */
const MANY = 256;

/**
 * A guess at what a launch of a kernel that has not run yet will take in one thread, ms, by the length of its code and whether that has a
 * loop; 0 where nothing speaks for a long one. A kernel that reads the host's clock may wait for a time.
 */
export function guessedMs(loaded: LoadedCode, launch: Launch): number {
  const { entry, engine, workgroups, wavesPerGroup, hostClockOffset } = launch;
  if (workgroups < MANY) return 0;
  let instructions = 0;
  let rounds = 1;
  for (const { at, instruction } of reachable(loaded, entry)) {
    const operation = semanticsOf(instruction.row.operation);
    if (hostClockOffset !== undefined && operation?.kind === 'structural' && operation.name === 'memtime') return 0;
    const target = branchTarget(instruction, at);
    if (target !== undefined && target <= at) rounds = ROUNDS;
    if (++instructions === LOOKED_AT) break;
  }
  return (workgroups * wavesPerGroup * instructions * rounds) / RATES[engine];
}
