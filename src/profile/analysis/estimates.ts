// What it is worth that memory gives more bytes, that it answers sooner, and that more waves are there: estimates from counters of what
// docs/profile.md, "What a class means", measures on the timing model. They say which of the three classes of waiting comes first.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { traceShare, waitShare } from './bottleneck-traces.ts';
import type { BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import { idleLatency, L1_PART, vectorLatency } from './queues.ts';
import { readable, writable } from './shares.ts';

/** The classes of kernels that wait. */
export const WAITING = ['memory-bandwidth', 'memory-latency', 'under-occupied'] as const satisfies BottleneckClass[];
export type WaitingClass = (typeof WAITING)[number];

/** Cycles by which the first loads of a wave from pages that nobody asked for take longer (MI300X: the first of two take 1,720, from memory 790). */
const TRANSLATED = 930;
/** Part of the time in queues that goes where there are none, and part in which waves wait for nothing else. The best of 0.6, 0.8 and 1, and of 0, 0.6, 0.8 and 1, for 164 kernels of the timing model. */
const QUEUE_PART = 0.6;
const QUEUE_ALONE = 0.8;
/** How much of a unit or path that works is left: nothing works all the time in which it is the limit. */
const FULL = 0.98;
/** Shorter than this part of a kernel its waves are not: what is counted less is counted wrong. */
const LEAST_PRESENT = 0.1;
/** A wave loads so many scalars besides its arguments. */
const SCALAR_LOADS = 8;
/** What is left of a cost that is free. */
const FREE = 1 / 16;

export interface Estimates {
  /** Share of the time that each would save. */
  readonly of: Readonly<Record<WaitingClass, number>>;
  /** Share of the time that lanes cost which do nothing, and that scalar instructions cost. */
  readonly lanes: number;
  readonly scalars: number;
}

/** Times that overlap in part: the root of the sum of their squares, between the longest and the sum. */
const together = (...parts: readonly number[]): number => Math.sqrt(parts.reduce((sum, part) => sum + part * part, 0));

/** Share of the time that goes with a unit that works for the share `busy`. */
const costOf = (busy: number): number => 1 - Math.sqrt(1 - busy * busy);

/**
 * The estimates. With the time of the kernel as one: what memory needs for the bytes, what the busiest unit works, and the rest of the root,
 * which is the chain of a wave, its waits for an idle memory and what it does besides. Unknown where waits, latency or the memory were not
 * counted.
 */
export function estimates(input: ClassifierInput): Estimates | Extract<Measure, { unknown: string }> {
  const { metrics, roofline } = input;
  const metric = (id: string): Measure =>
    metrics.find((sum) => sum.metric.id === id)?.value ?? unknown(`there is no formula for ${id}`);
  const number = (id: string): number => numberOf(metric(id)) ?? 0;
  const level = (name: string): number =>
    numberOf(roofline.points.find((p) => p.level === name)?.ofPeak ?? unknown('')) ?? 0;
  const hbm = roofline.points.find((p) => p.level === 'HBM');
  const [waits, waves] = [metric('wait.any'), metric('waves')];
  const isVector = numberOf(metric('insts.vmem')) !== 0;
  const latency = isVector ? vectorLatency(metrics) : known(0);
  for (const needed of [
    waits,
    latency,
    waves,
    metric('insts.vmem'),
    metric('cycles.per-wave'),
    hbm?.ofPeak ?? unknown('no roof of HBM'),
    metric('issue.valu'),
  ]) {
    if (!isKnown(needed)) return needed;
  }
  if (!isKnown(waits) || !isKnown(latency) || !isKnown(waves) || hbm === undefined) return unknown('not counted');

  const loads = Math.max(1, number('insts.vmem') / Math.max(1, waves.value));
  const wait = memoryWait(input, waits.value, (latency.value * loads) / Math.max(1, number('cycles.per-wave')));
  const rounds = roundsOf(input);
  const idle = idleLatency(metrics) + TRANSLATED / rounds / Math.sqrt(loads);
  const unqueued = latency.value > 0 ? Math.min(1, idle / latency.value) : 1;
  const queued = wait * (1 - unqueued);

  const read = number('bytes.hbm.read');
  const written = number('bytes.hbm.write');
  const share = numberOf(hbm.ofPeak) ?? 0;
  const all = read + written;
  const bytes =
    hbm.isMeasured || all === 0
      ? share
      : together((share * read) / all / readable(input.arch), (share * written) / all / writable(input.arch));
  // Around the waves nothing waits and nothing works: shares are those of the time in which there are waves.
  const present = Math.min(1, Math.max(LEAST_PRESENT, numberOf(metric('sq.busy')) ?? 1));
  const within = (value: number): number => Math.min(FULL, value / present);
  const memory = within(Math.max(bytes, level('L2'), level('L1') / L1_PART, number('l2.busy')));
  const valu = within(Math.max(number('issue.valu'), number('mfma.busy')));
  const unit = Math.max(valu, within(Math.max(number('lds.busy'), number('issue.salu'))));

  const chain = Math.min(Math.sqrt(Math.max(0.0004, 1 - memory ** 2 - unit ** 2)), 1 - QUEUE_ALONE * queued);
  const time = together(memory, unit, chain);
  const answered = (chain * wait * unqueued) / Math.max(1e-6, wait * unqueued + 1 - wait);
  const sooner = 1 - together(memory, unit, chain - answered * (1 - FREE)) / time;
  const more = 1 - together(memory * FREE, unit, chain) / time;
  const crowd = numberOf(input.occupancy);
  const factor = crowd === undefined ? 1 : Math.min(2, Math.max(1, 1 / Math.max(crowd, 0.01)));
  // Nor does anything wait for memory between kernels.
  const busy = present * (1 - Math.min(1, Math.max(0, numberOf(input.gapShare) ?? 0)));
  return {
    of: {
      'memory-bandwidth': busy * Math.max(more, QUEUE_PART * queued),
      'memory-latency': busy * Math.min(sooner, wait * unqueued),
      'under-occupied': Math.min(0.5, 1 - together(memory, unit, chain / factor) / time),
    },
    scalars: costOf(within(number('issue.salu'))),
    lanes: (1 - Math.min(64, numberOf(metric('lanes.active')) ?? 64) / 64) * costOf(valu),
  };
}

/** Share of wave time in waits for memory: from a trace where there is one, else no more than vector memory instructions take. */
function memoryWait(input: ClassifierInput, waits: number, vector: number): number {
  const scalars = numberOf(waitShare(input, 'scalar'));
  const vectors = numberOf(waitShare(input, 'memory'));
  if (scalars !== undefined && vectors !== undefined) {
    const others = [waitShare(input, 'lds'), waitShare(input, 'atomics'), traceShare(input, 'barrier')];
    return Math.min(1, Math.max(vectors + scalars, waits - others.reduce((sum, o) => sum + (numberOf(o) ?? 0), 0)));
  }
  const count = (id: string): number =>
    numberOf(input.metrics.find((m) => m.metric.id === id)?.value ?? unknown('')) ?? 0;
  const isScalar = count('insts.smem') >= SCALAR_LOADS * count('waves');
  return Math.min(1, waits, isScalar ? 1 : vector);
}

/** How often the wave slots in use are filled by a launch, at least once. */
function roundsOf({ occupancy, groupsPerCu, wavesPerGroup }: ClassifierInput): number {
  const [share, groups, waves] = [numberOf(occupancy), numberOf(groupsPerCu), numberOf(wavesPerGroup)];
  if (share === undefined || groups === undefined || waves === undefined || share <= 0) return 1;
  return Math.max(1, (groups * waves) / (share * WAVES_OF_CU));
}

/** Waves that a CU of CDNA2 to CDNA4 holds. */
export const WAVES_OF_CU = 32;

/** The estimate as a number of the page. */
export const estimateOf = (found: ReturnType<typeof estimates>, name: WaitingClass): Measure =>
  'of' in found ? known(found.of[name]) : found;
