// Whether requests to memory stand in queues: how long a vector memory instruction takes against what it takes of a GPU that has nothing
// else to do. A kernel that waits for memory is limited by bandwidth when they do, and by latency when they do not.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { type MetricSum, metricOf } from './metrics.ts';

/**
 * Cycles of a load of an idle GPU that is served by the vector cache, by L2, and by memory. Source: gpu-benches and mt4g on MI210 and MI300X
 * (110 to 125, 245 to 300, 700 to 850).
 */
const FROM_L1 = 120;
const FROM_L2 = 300;
const FROM_MEMORY = 850;
/** Cycles until a store of an idle GPU is acknowledged: L2 does so, or where dies meet. No measurement: between L2 and memory. */
const STORED = 450;

/** Bytes a cycle that L1 gives (gpu-benches: 61 on MI300X), and bytes of its lines, of which it looks up one a cycle: 128, and 64 up to CDNA2. */
const FROM_L1_BYTES = 61;
const L1_LINE: Readonly<Record<string, number>> = { gfx908: 64, gfx90a: 64 };
/** Bytes that an instruction has at most: 64 lanes with 16. */
const MOST_BYTES = 1024;

/**
 * Part of AMD's L1 peak, a whole line a cycle, that can be reached. Lanes that each ask for a line of their own get one a cycle; lines of which much is
 * asked for take longer.
 */
export function reachableL1(arch: string | undefined, metrics: readonly MetricSum[]): number {
  const line = L1_LINE[arch ?? ''] ?? 128;
  const lines = numberOf(metricOf(metrics, 'vmem.lines')) ?? 1;
  return 1 / Math.max(1, Math.min(line, MOST_BYTES / Math.max(1, lines)) / FROM_L1_BYTES);
}

/** From here on requests stand in queues, and up to here they do not: a server that is half busy makes them wait as long again by half. */
const QUEUED = 1.45;
export const UNQUEUED = 1.4;
/** A server that makes requests wait as long as that. */
const HALF_BUSY = 0.5;
/**
 * Requests of short kernels to servers that work less stand in queues from here on: their first loads are translated (930 cycles), and all
 * waves ask at once. On the timing model short kernels of 1.5 to 2.9 times gain most from shorter latency.
 */
const LONG_QUEUED = 3;
/** A level of memory of which less is used than this has no queues: what takes longer is translation or the way there. */
const WORKING = 0.2;
/** From this share of the requests on, atomics can be what the others of a kernel without traffic queue behind. */
const SOME_ATOMICS = 0.1;
/** Architectures on which L2 counts two requests of 64 bytes for a line of 128: atomics are half the share there. */
const HALF_LINES: ReadonlySet<string> = new Set(['gfx908', 'gfx90a']);
/**
 * Requests that take so many times as long stand in a queue however little the levels of memory work on the whole: behind atomics however few these
 * are, as those of all waves to one counter, or before one channel.
 */
export const FAR_QUEUED = 4;
const ANY_ATOMICS = 0.01;

/** A mean latency, by whichever counters it was collected. */
export function vectorLatency(metrics: readonly MetricSum[]): Measure {
  const values = ['vmem.latency', 'vmem.latency.derived'].flatMap(
    (id) => metrics.find((sum) => sum.metric.id === id)?.value ?? [],
  );
  return values.find(isKnown) ?? values[0] ?? unknown('no formula of the latency');
}

/**
 * Cycles that a vector memory instruction of the kernel would take of an idle GPU, from the lines it asks for and where they came from. A
 * load has its data when its last line is there. What is unknown is taken to come from memory. Lines that miss come neither each by chance nor all of
 * one instruction: half of each. With each by chance, `apart`, loads wait as often as they can.
 */
export function idleLatency(metrics: readonly MetricSum[], missing: 'apart' | 'mixed' = 'mixed'): number {
  const number = (id: string): number | undefined => numberOf(metricOf(metrics, id));
  const part = (hits: number | undefined): number => 1 - Math.min(1, Math.max(0, hits ?? 0));
  const lines = Math.max(1, number('vmem.lines') ?? 1);
  const beyondL1 = part(number('l1.hit'));
  const beyondL2 = beyondL1 * part(number('l2.hit'));
  const any = (share: number): number => {
    const apart = 1 - (1 - share) ** lines;
    return missing === 'apart' ? apart : (apart + share) / 2;
  };
  const load = FROM_L1 + any(beyondL1) * (FROM_L2 - FROM_L1) + any(beyondL2) * (FROM_MEMORY - FROM_L2);
  // What goes on to L2 and is not answered with data is stored.
  const answered = number('l1.miss');
  const stored = answered === undefined || beyondL1 === 0 ? 0 : part(answered / beyondL1);
  return lines + (1 - stored) * load + stored * STORED;
}

/** How many times as long as of an idle GPU a vector memory instruction takes. */
export function queueing(metrics: readonly MetricSum[]): Measure {
  const latency = vectorLatency(metrics);
  return isKnown(latency) ? known(latency.value / idleLatency(metrics)) : latency;
}

/** How many times as long says that requests stand in queues; `shares` are those of the levels of what they can give. */
export function queuedFrom(isShort: boolean, shares: readonly Measure[]): number {
  return !isShort || shares.some((share) => isKnown(share) && share.value >= HALF_BUSY) ? QUEUED : LONG_QUEUED;
}

/** The same of a kernel that a level of memory works for; `shares` are those of the levels. */
export function queueingForMemory(metrics: readonly MetricSum[], shares: readonly Measure[]): Measure {
  const used = shares.filter(isKnown);
  if (used.length === 0) return unknown('how much the levels of memory work is not known');
  if (used.every(({ value }) => value < WORKING)) return unknown('no level of memory works for the kernel');
  return queueing(metrics);
}

/** Cycles between two atomics on one line. Source: MI300X, atomic_operations of mgpusim: 19.9 cycles a wave's operation on one address. */
const ATOMIC = 20;
/** From this share of the time on, atomics that all go to one line are what takes it. */
const ONE_LINE = 0.5;

/** Share of the time that L2 works on the atomics where all of them go to one line; those of several lines take less. */
function atomicsOnOneLine(metrics: readonly MetricSum[]): Measure {
  const rate = metricOf(metrics, 'atomics.per-cycle');
  return isKnown(rate) ? known(ATOMIC * rate.value) : rate;
}

/**
 * The same of a kernel that no level of memory works for, and of whose requests the part `atomics` is. A small part is enough where they take long, and
 * any part that one line would need half of the time for: loads and stores do not say how long those atomics queue.
 */
export function queueingForAtomics(
  metrics: readonly MetricSum[],
  shares: readonly Measure[],
  atomics: Measure,
  arch: string | undefined,
  translated = 0,
): Measure {
  if (!isKnown(atomics)) return atomics;
  const latency = vectorLatency(metrics);
  const times = isKnown(latency) ? known(latency.value / (idleLatency(metrics) + translated)) : latency;
  const some = SOME_ATOMICS / (HALF_LINES.has(arch ?? '') ? 2 : 1);
  const isFar = isKnown(times) && times.value >= FAR_QUEUED;
  const fillsLine = (numberOf(atomicsOnOneLine(metrics)) ?? 0) >= ONE_LINE;
  if (!(isFar && fillsLine) && atomics.value < (isFar ? ANY_ATOMICS : some))
    return unknown('hardly any request is an atomic');
  const used = shares.filter(isKnown);
  if (used.length === 0) return unknown('how much the levels of memory work is not known');
  return used.some(({ value }) => value >= WORKING) ? unknown('a level of memory works') : times;
}
