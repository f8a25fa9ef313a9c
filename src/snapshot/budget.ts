// How many instructions a replay may take. A wrong kernel may wait for ever, or run away; the count of the captured dispatch tells which is which.
import type { Device } from '../device/index.ts';
import type { Manifest } from './manifest.ts';

/** A kernel that needs more than this many times the instructions of the captured one does not end. */
const PATIENCE = 20;
/** Of a dispatch of few instructions: an order in which one wave waits for another costs some. */
const LEAST = 1_000_000;
/** Of a replay in one thread: 2 to 5 s when it is followed. Of a GPU, whose budget is time, a microsecond for each: 10 s. */
const LEAST_OF_REPLAY = 10_000_000;
/** In several threads: one that waits for a thread that has no processor executes some 10^8 instructions a second. */
const LEAST_OF_THREADS = 200_000_000;

/** The budget of a replay in one thread, of a dispatch of so many instructions. */
export const patienceFor = (instructions: number): number => LEAST + PATIENCE * instructions;

/** The budget of a replay that asks for none; undefined when the capture does not know its instructions: the device has its own. */
export function replayBudget(
  device: Device,
  { dispatch: { instructions } }: Manifest,
  isFollowed: boolean,
): number | undefined {
  if (instructions === undefined) return undefined;
  const inThreads = device.kind === 'sim' && !isFollowed;
  return Math.max(inThreads ? LEAST_OF_THREADS : LEAST_OF_REPLAY, patienceFor(instructions));
}
