// Which workgroups of a launch are recorded and replayed, and what their replay says about the whole launch.
import { WavesmithError } from '../../../base/index.ts';
import { descriptorRegisters, occupancy } from '../../../codeobject/index.ts';
import { targetInfo } from '../../../isa/index.ts';
import type { Launch } from '../dispatch/launch.ts';
import type { Chip } from './chip.ts';
import { PROGRESS_STEPS, type Replay } from './machine.ts';
import type { GroupTrace } from './record.ts';

/** Rounds of full compute units that are replayed of long launches: the first is the start, the later ones steady state. */
const ROUNDS = 3;
/** How much more than its budget a sample of short waves may take to have all its rounds. */
const OVERDRAFT = 3;
/** Shortest path of a wave that is recorded before a launch's compute units are thinned out further. */
const SHORTEST_PATH = 1500;

/** How a launch spreads over the chip. */
export interface Spread {
  /** Workgroups of the die that has most. */
  readonly groupsOfDie: number;
  readonly unitsOfDie: number;
  readonly unitsOfChip: number;
  /** Workgroups that a compute unit can hold at once. */
  readonly resident: number;
  /** Workgroups of the compute unit that has most. */
  readonly groupsOfUnit: number;
  /** Cycles between two workgroups that a die starts. */
  readonly interval: number;
  readonly wavesPerSimd: number;
  readonly occupancyLimit: readonly string[];
}

/** How a launch spreads over the chip; `residency` times as many workgroups are beside each other as registers and LDS allow, if there are wave slots. */
export function spreadOf(chip: Chip, launch: Launch, residency = 1): Spread {
  const registers = descriptorRegisters(launch.descriptor);
  const fits = occupancy(
    {
      vgprs: registers.totalVgprs,
      sgprs: registers.sgprs,
      ldsBytes: launch.ldsBytes,
      workgroupSize: launch.block[0] * launch.block[1] * launch.block[2],
    },
    targetInfo(launch.target),
  );
  const dies = chip.get('xccs');
  const units = chip.get('cusPerXcc');
  const simds = chip.get('simdsPerCu');
  const held = chip.get('wavesPerSimd') * simds;
  if (launch.wavesPerGroup > held) {
    throw new WavesmithError(
      'timing/too-many-waves',
      `A compute unit of ${chip.name} holds ${held} waves, and a workgroup of '${launch.kernelName}' has ${launch.wavesPerGroup}.`,
      { hint: 'Choose a smaller workgroup, or another chip.' },
    );
  }
  const slots = Math.min(fits.byVgprs, fits.bySgprs, chip.get('wavesPerSimd')) * simds;
  const allowed = Math.max(1, Math.min(fits.workgroupsPerCu, Math.floor(slots / launch.wavesPerGroup)));
  const resident = Math.min(residency * allowed, Math.floor(held / launch.wavesPerGroup));
  const groupsOfDie = Math.ceil(launch.workgroups / dies);
  const unitsOfDie = Math.min(units, groupsOfDie);
  return {
    groupsOfDie,
    unitsOfDie,
    unitsOfChip: Math.min(units * dies, launch.workgroups),
    resident,
    groupsOfUnit: Math.ceil(groupsOfDie / units),
    interval: Math.max(
      dies * chip.get('dispatch.workgroup'),
      chip.get('dispatch.minimum'),
      chip.get('dispatch.wave') * launch.wavesPerGroup,
    ),
    wavesPerSimd: fits.wavesPerSimd,
    occupancyLimit: fits.limiters,
  };
}

/** The workgroups to record. */
export interface SamplePlan {
  readonly units: number;
  /** Numbers within the die, in the order in which they start. */
  readonly groups: readonly number[];
  /** Instructions of a wave at most. */
  readonly limit: number;
}

/**
 * Chooses workgroups: `length` is the number of instructions of the longest wave of the first workgroup (a lower bound when it was cut),
 * `budget` the instructions to record in all.
 */
export function planSample(chip: Chip, launch: Launch, s: Spread, length: number, budget: number): SamplePlan {
  const cus = chip.get('cusPerXcc');
  const perGroup = launch.wavesPerGroup * length;
  let perUnit = Math.min(s.groupsOfUnit, ROUNDS * s.resident);
  let units = Math.min(s.unitsOfDie, Math.max(2, Math.floor(budget / (perUnit * perGroup))));
  if (units * perUnit * perGroup > OVERDRAFT * budget) {
    perUnit = Math.min(s.groupsOfUnit, s.resident);
    units = Math.min(s.unitsOfDie, Math.max(2, Math.floor(budget / (perUnit * perGroup))));
  }
  const allowed = perUnit > s.resident ? OVERDRAFT * budget : budget;
  const limit = Math.max(SHORTEST_PATH, Math.ceil(allowed / (units * perUnit * launch.wavesPerGroup)));
  const first = Math.min(s.resident, perUnit);
  const groups: number[] = [];
  for (let round = 0; round < first; round++) {
    for (let unit = 0; unit < units; unit++) {
      const number = round * cus + unit;
      if (number < s.groupsOfDie) groups.push(number);
    }
  }
  for (let n = 0; n < (perUnit - first) * units; n++) {
    const number = first * cus + Math.floor((n * cus) / units);
    if (number < s.groupsOfDie) groups.push(number);
  }
  return { units, groups, limit };
}

/** What a replay says about its launch, in cycles. */
export interface Estimate {
  readonly cycles: number;
  /** Half of the 95% interval that sampling leaves, as a part of `cycles`. */
  readonly spread: number;
  /** Part of the launch's wave instructions that were replayed. */
  readonly replayed: number;
  readonly isWhole: boolean;
}

/**
 * Workgroups of a sample of cut waves that stand for the launch's last round when that one fills a compute unit in part: they take less
 * than a full round and more than their part of it, and have a replay of their own. 0 when the last round is full or in the sample.
 */
export function lastRound(s: Spread, plan: SamplePlan, traces: readonly GroupTrace[]): number {
  const rest = s.groupsOfUnit % s.resident;
  const isCut = traces.some((t) => t.waves.some((w) => !w.isWhole));
  return isCut && s.groupsOfUnit > Math.ceil(traces.length / plan.units) ? rest * plan.units : 0;
}

/**
 * From the replayed workgroups to the whole launch. `instructions` is what a wave of the launch executes on average; `last` is the replay
 * of the workgroups of `lastRound`.
 */
export function extrapolate(
  launch: Launch,
  s: Spread,
  plan: SamplePlan,
  traces: readonly GroupTrace[],
  replay: Replay,
  last: Replay | undefined,
  instructions: number,
): Estimate {
  const waves = traces.flatMap((t) => t.waves);
  const recorded = waves.reduce((sum, w) => sum + w.path.length, 0);
  const replayed = Math.min(1, recorded / Math.max(1, instructions * launch.workgroups * launch.wavesPerGroup));
  const isCut = waves.some((w) => !w.isWhole);
  const spread = variation(replay, traces.length);
  if (isCut) {
    const seen = Math.ceil(traces.length / (plan.units * s.resident));
    const round = cutRound(replay, traces, instructions) / seen;
    const part = last && cutRound(last, traces.slice(0, last.ends.length), instructions) / round;
    return { cycles: round * cutRounds(s, part), spread, replayed, isWhole: false };
  }
  const finish = finishOf(replay);
  const all = (s.groupsOfDie * plan.units) / s.unitsOfDie;
  const done = Float64Array.from(replay.ends).sort();
  const missing = all - done.length;
  if (missing <= 0 || s.groupsOfUnit <= s.resident) return { cycles: finish, spread, replayed, isWhole: missing <= 0 };
  // From the end of the first round on; one round alone says how long it takes with its start.
  const first = s.resident * plan.units - 1;
  const end = done.length - 1;
  const perGroup =
    end - first >= first / 2
      ? ((done[end] as number) - (done[first] as number)) / (end - first)
      : (done[end] as number) / done.length;
  const dispatched = s.interval * (s.unitsOfDie / plan.units);
  const each = Math.max(perGroup, dispatched, laterHalf(replay.memoryCycles), laterHalf(replay.mallCycles));
  return { cycles: finish + missing * each, spread, replayed, isWhole: false };
}

/** Mean over the workgroups that started later, whose shared data is in the caches. */
function laterHalf(cycles: Float64Array): number {
  const later = cycles.subarray(cycles.length >>> 1);
  return later.reduce((sum, c) => sum + c, 0) / Math.max(1, later.length);
}

/** Part of the time before the first path ends that is taken for the start. */
const START = 0.3;

/**
 * Full rounds that a launch takes; `part` is what the workgroups of `lastRound` take on their own, as a part of one. After the first round
 * they start together and take that long. With each round workgroups end less at the same time, so that the last ones fill gaps: then
 * only their number counts. Measured rounds of `matrixmultiplication` on MI300A, with what this gives: 1.45 takes 1.8 (1.8), 2.05 takes 2.1
 * (2.4), 8.1 takes 8.2 (8.2).
 */
function cutRounds({ groupsOfUnit, resident }: Spread, part: number | undefined): number {
  const rounds = groupsOfUnit / resident;
  if (part === undefined) return Math.ceil(rounds);
  const full = Math.floor(rounds);
  return full + part / full + (rounds - full) * (1 - 1 / full);
}

/** Cycles of the replayed workgroups when each of their waves issues `instructions`. */
function cutRound(replay: Replay, traces: readonly GroupTrace[], instructions: number): number {
  const waves = traces.flatMap((t) => t.waves);
  const recorded = waves.reduce((sum, w) => sum + w.path.length, 0);
  return Math.max(finishOf(replay), restOfCut(replay, recorded, instructions * waves.length));
}

function finishOf({ memory, ends }: Replay): number {
  return Math.max(memory.drained, ...ends);
}

/**
 * When all waves would have issued `wanted` instructions, from the rate at which they went on while all of them ran: from the end of the
 * start until the first of them came to the end of its path.
 */
function restOfCut({ progress, firstCut }: Replay, recorded: number, wanted: number): number {
  let to = 1;
  while (to < PROGRESS_STEPS && (progress[to + 1] as number) <= firstCut) to++;
  const from = Math.floor(to * START);
  const each = ((progress[to] as number) - (progress[from] as number)) / Math.max(1, to - from);
  return (progress[to] as number) + ((wanted * PROGRESS_STEPS) / Math.max(1, recorded) - to) * each;
}

/** 1.96 standard errors of the mean duration of a workgroup, as a part of it. */
function variation({ starts, ends }: Replay, count: number): number {
  if (count < 2) return 0.1;
  let sum = 0;
  let squares = 0;
  for (let n = 0; n < count; n++) {
    const duration = (ends[n] as number) - (starts[n] as number);
    sum += duration;
    squares += duration * duration;
  }
  const mean = sum / count;
  const variance = Math.max(0, squares / count - mean * mean);
  return mean === 0 ? 0 : (1.96 * Math.sqrt(variance / count)) / mean;
}
