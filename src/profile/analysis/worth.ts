// What it is worth to have twice as many waves, and what it is worth that waves do not wait for something: estimates of what
// docs/profile.md, "What a class means", measures on the timing model.
import { combine, isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { traceShare, waitShare } from './bottleneck-traces.ts';
import type { BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import { metricOf } from './metrics.ts';
import { waitsLeft } from './waits-left.ts';

/** Part of a wait for memory that goes where latency is free: the mean of nine kernels of the timing model that do not lack bandwidth, 0.7 to 1. */
const LATENCY_PART = 0.84;
/** Units and paths of which some part of the time is left for more waves, by metric. */
const UNITS = ['issue.valu', 'issue.salu', 'mfma.busy', 'lds.busy', 'l2.busy'] as const;
/** Without these nothing is known of what more waves would find. */
const NEEDED: ReadonlySet<string> = new Set(['issue.valu', 'lds.busy']);

/**
 * Share of the time that twice as many waves save: half of it, unless a unit or a path is busy for longer than that. Unknown where the VALU,
 * the LDS or the memory were not counted.
 */
export function worthOfMoreWaves({ metrics, roofline }: ClassifierInput): Measure {
  let busiest = 0.5;
  for (const id of UNITS) {
    const share = metricOf(metrics, id);
    if (isKnown(share)) busiest = Math.max(busiest, share.value);
    else if (NEEDED.has(id)) return share;
  }
  for (const { level, ofPeak } of roofline.points) {
    if (isKnown(ofPeak)) busiest = Math.max(busiest, ofPeak.value);
    else if (level === 'HBM') return ofPeak;
  }
  return known(Math.max(0, 1 - busiest));
}

/** Up to this share of the wave slots more waves find room on a compute unit. */
export const SPARSE = 0.4;
/** What more waves save from here on is worth to be changed; waves that wait for less hide little of each other's waits. */
export const WORTH_MORE = 1 / 3;

/** The same where wave slots are free and waves wait; unknown where nothing says how long they do. */
export function worthWhereSparse(input: ClassifierInput): Measure {
  const waits = metricOf(input.metrics, 'wait.any');
  return combine([input.occupancy, worthOfMoreWaves(input), waits], (resident, saved, waited) =>
    resident > SPARSE || waited < WORTH_MORE ? 0 : saved,
  );
}

/** Share of the time of waves that a class could save, where a thread trace tells what they waited for. */
export function worthOfWaits(input: ClassifierInput, name: BottleneckClass): Measure {
  const add = (a: number, b: number): number => a + b;
  switch (name) {
    case 'lds':
      return waitShare(input, 'lds');
    case 'barrier':
      return traceShare(input, 'barrier');
    case 'memory-latency':
      return combine([combine([waitShare(input, 'memory'), waitShare(input, 'scalar')], add)], (w) => LATENCY_PART * w);
    case 'instruction-fetch': {
      // What of the waits is neither for counters nor at barriers is for code, and for memory that is on its way meanwhile.
      const all = metricOf(input.metrics, 'wait.any');
      const told = combine([traceShare(input, 'wait'), traceShare(input, 'barrier')], add);
      if (!isKnown(told)) return waitsLeft(input);
      const inFlight = numberOf(input.trace?.gapsInFlight ?? unknown('')) ?? 0;
      return combine([all, told], (waits, others) => Math.max(0, waits - others - inFlight));
    }
    default:
      return unknown('a trace does not tell what the class could save');
  }
}
