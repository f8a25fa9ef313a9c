// Room `device/sim/schedules`: a dispatch in many seeded schedules, its memory compared with that of the first run: what depends on the
// order of workgroups and wavefronts, or on when loads return, is not determined by the kernel.
// Begin with this file; late-loads.ts has the loads, first-difference.ts the instruction that is named.
import { WavesmithError } from '../../../base/index.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import type { RunOrder } from '../dispatch/order.ts';
import { type ExecutedAt, MOST_INSTRUCTIONS, ResultComparer, ResultRecorder } from './first-difference.ts';
import { LateLoads } from './late-loads.ts';

export type { ExecutedAt } from './first-difference.ts';

/** Memory that a run leaves behind. */
export interface ScheduledMemory {
  readonly label: string;
  readonly address: number;
  readonly bytes: Uint8Array;
}

/**
 * A run in one order, from the same memory at the same addresses each time. `isCompared`: registers are compared with another such run, so
 * addresses that the runtime chooses (arguments, scratch) must be the same too.
 */
export type ScheduledRun = (options: {
  readonly order: RunOrder;
  readonly monitors: readonly Monitor[];
  readonly maxInstructions: number | undefined;
  readonly isCompared: boolean;
}) => Promise<{ readonly instructions: number; readonly memory: readonly ScheduledMemory[] }>;

/** How a schedule ended otherwise than the first run. JSON-able. */
export interface ScheduleDifference {
  readonly seed: number;
  /** Whether loads returned as late as the waits allow. */
  readonly lateLoads: boolean;
  /** The first byte that differs; undefined when the run failed. */
  readonly at: { readonly label: string; readonly offset: number; readonly bytes: number } | undefined;
  /** Why the run failed. */
  readonly failure: string | undefined;
  /** The first instruction, in the order of this schedule, whose result differs from the same wavefront's in the first run. */
  readonly instruction: ExecutedAt | undefined;
  /** The store that left the different byte. */
  readonly store: ExecutedAt | undefined;
}

/** JSON-able. */
export interface ScheduleReport {
  /** Schedules that were run, the first one not counted. */
  readonly schedules: number;
  readonly seed: number;
  /** How many of them had late loads. */
  readonly lateLoads: number;
  readonly difference: ScheduleDifference | undefined;
}

export interface ScheduleOptions {
  readonly count: number;
  /** Schedule n, from 0, has the seed `seed` + n. */
  readonly seed: number;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** A schedule in which a kernel needs more than this many times the instructions waits for what comes later. */
const PATIENCE = 20;
const LEAST_BUDGET = 1_000_000;

/**
 * Runs a dispatch in `count` seeded schedules until one leaves other memory than the run in ascending order. Every second one has late
 * loads, which are interpreted, where the dispatch has at most MOST_INSTRUCTIONS instructions. The same seed gives the same report.
 */
export async function exploreSchedules(run: ScheduledRun, options: ScheduleOptions): Promise<ScheduleReport> {
  const { count, seed } = options;
  const first = await run({ order: 'ascending', monitors: [], maxInstructions: undefined, isCompared: false });
  const maxInstructions = LEAST_BUDGET + PATIENCE * first.instructions;
  const isSmall = first.instructions <= MOST_INSTRUCTIONS;
  let lateLoads = 0;
  for (let n = 0; n < count; n++) {
    const isLate = isSmall && n % 2 === 0;
    const order = { seed: seed + n };
    const monitors = isLate ? [new LateLoads()] : [];
    if (isLate) lateLoads++;
    const outcome = await outcomeOf(() => run({ order, monitors, maxInstructions, isCompared: false }));
    options.onProgress?.(n + 1, count);
    const at = typeof outcome === 'string' ? undefined : firstDifference(first.memory, outcome.memory);
    if (typeof outcome !== 'string' && at === undefined) continue;
    const failure = typeof outcome === 'string' ? outcome : undefined;
    const named = isSmall ? await nameIt(run, order, isLate, maxInstructions, at?.address) : {};
    const place = at === undefined ? undefined : { label: at.label, offset: at.offset, bytes: at.bytes };
    const { instruction, store } = { instruction: undefined, store: undefined, ...named };
    return {
      schedules: n + 1,
      seed,
      lateLoads,
      difference: { seed: order.seed, lateLoads: isLate, at: place, failure, instruction, store },
    };
  }
  return { schedules: count, seed, lateLoads, difference: undefined };
}

/** What a run gives, or why the kernel failed. Other errors are passed on. */
async function outcomeOf<T>(run: () => Promise<T>): Promise<T | string> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WavesmithError && error.code.startsWith('sim/') && error.code !== 'sim/aborted') {
      return error.message;
    }
    throw error;
  }
}

function firstDifference(before: readonly ScheduledMemory[], after: readonly ScheduledMemory[]) {
  for (const [i, { label, address, bytes }] of before.entries()) {
    const other = after[i]?.bytes ?? new Uint8Array();
    let offset = -1;
    let different = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === other[at]) continue;
      if (offset < 0) offset = at;
      different++;
    }
    if (offset >= 0) return { label, address: address + offset, offset, bytes: different };
  }
  return undefined;
}

/** Runs the first order and the schedule again, with results compared. */
async function nameIt(
  run: ScheduledRun,
  order: RunOrder,
  isLate: boolean,
  maxInstructions: number,
  address: number | undefined,
): Promise<{ instruction: ExecutedAt | undefined; store: ExecutedAt | undefined }> {
  const recorder = new ResultRecorder();
  await run({ order: 'ascending', monitors: [recorder], maxInstructions: undefined, isCompared: true });
  const comparer = new ResultComparer(recorder, address);
  const monitors = isLate ? [comparer, new LateLoads()] : [comparer];
  await outcomeOf(() => run({ order, monitors, maxInstructions, isCompared: true }));
  return { instruction: comparer.first, store: comparer.store };
}
