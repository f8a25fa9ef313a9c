// Where a class is not sure: what could have told it from others was not collected, or says nothing of how long waves wait.
import { isKnown, numberOf } from '../measure.ts';
import { AMONG_ATOMICS, CODE_MISSES, FROM_L1, QUEUEING } from './bottleneck-conditions.ts';
import { CONFLICTS, ISSUE_WAIT, traceShare, VALU_BUSY, waitShare } from './bottleneck-traces.ts';
import type { Bottleneck, BottleneckClass, ClassifierInput } from './bottleneck-types.ts';
import { FORMULA, SAVED } from './estimates.ts';
import { presence } from './fullest.ts';
import { metricOf } from './metrics.ts';

/** From this share of the time on what an estimate says is worth to be named. */
export const NOTABLE = 0.15;
/** Most of the confidence of a class that tests and estimates do not agree on, or that is worth hardly more than the next one. */
export const UNSURE = 0.7;
/** From here on a unit leaves less than a notable share of the time to anything else. */
const FULL = 1 - NOTABLE;
/** From here on LDS has no time for conflicts. */
const LDS_BUSY = 0.6;
/** What takes less leaves as much to something else. */
const HALF = 0.5;
/** Waves that are there for less of their kernel's time, where all workgroups are resident at once, end long before it. */
const SOON_ENDED = 0.5;

export const sorted = (classes: ReadonlyMap<BottleneckClass, Bottleneck>): Bottleneck[] =>
  [...classes.values()].sort((a, b) => b.confidence - a.confidence);

/** A launch of whole workgroups that leaves half of the units without one. */
export function isSmall({ groupsPerCu, wavesPerGroup }: ClassifierInput): boolean {
  return (numberOf(groupsPerCu) ?? 1) <= 0.5 && (numberOf(wavesPerGroup) ?? 1) > 1;
}

/**
 * Waves that wait for each other or for code look like waves that are too few: barriers are seen by a trace or samples alone, code by these or by misses.
 * Where none of them was collected, or code misses, few waves are not sure. A launch that leaves half of the units empty is told by its size.
 */
export function doubtUntold(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const few = classes.get('under-occupied');
  if (few === undefined || few.confidence <= UNSURE || sorted(classes)[0] !== few || isSmall(input)) return;
  if (input.sampledStalls !== undefined || isKnown(traceShare(input, 'barrier'))) return;
  const misses = metricOf(input.metrics, 'icache.miss');
  if (numberOf(input.wavesPerGroup) === 1 && isKnown(misses) && misses.value < CODE_MISSES) return;
  const part = UNSURE / few.confidence;
  for (const [name, one] of classes) classes.set(name, { ...one, confidence: one.confidence * part });
}

/**
 * Atomics that nobody waits for are still at work when the waves that asked for them have ended. Where they were not counted, few waves that end long before
 * their kernel are not sure.
 */
export function doubtLost(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const few = classes.get('under-occupied');
  if (few === undefined || isSmall(input) || isKnown(metricOf(input.metrics, 'share.atomic'))) return;
  if (numberOf(metricOf(input.metrics, 'insts.vmem')) === 0 || (numberOf(presence(input)) ?? 0) >= SOON_ENDED) return;
  classes.set('under-occupied', { ...few, confidence: Math.min(few.confidence, UNSURE) });
}

/** A share of a roof says itself how much of the time is left, which no estimate does better. */
export const isByRoof = (found: Bottleneck): boolean =>
  found.class === 'compute' && !found.evidence.every(({ metric }) => metric === VALU_BUSY || metric === ISSUE_WAIT);

/**
 * Without the estimates nothing says which of bandwidth, latency, few waves and units comes first. What is seen without them: too few workgroups, a
 * share of a roof, and a unit that works so much that nothing else is worth much.
 */
export function doubt(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const isFull = numberOf(metricOf(input.metrics, 'issue.valu')) ?? 0;
  for (const [name, given] of classes) {
    if (!isOpen(given, input) || ((name === 'compute' || name === 'divergence') && isFull >= FULL)) continue;
    const open = {
      metric: SAVED['memory-bandwidth'],
      value: null,
      threshold: NOTABLE,
      comparison: 'at least',
      formula: FORMULA,
    } as const;
    classes.set(name, {
      ...given,
      confidence: Math.min(given.confidence, UNSURE),
      refutedBy: [...given.refutedBy, open],
    });
  }
}

/** Whether a class rests on nothing but what other classes can explain, too. */
function isOpen(given: Bottleneck, input: ClassifierInput): boolean {
  switch (given.class) {
    case 'memory-latency':
    case 'divergence':
    case 'instruction-fetch':
    case 'barrier':
      return true;
    case 'under-occupied':
      return !isSmall(input);
    case 'compute':
      return !isByRoof(given);
    case 'memory-bandwidth':
      return given.evidence.every(({ metric }) => metric === QUEUEING || metric === FROM_L1);
    case 'lds': {
      // A trace tells what waits for LDS take, and how long LDS works whether they can be for it; shorter ones leave more to others.
      const busy = numberOf(metricOf(input.metrics, 'lds.busy'));
      return (busy ?? 0) < FULL && (busy === undefined || (numberOf(waitShare(input, 'lds')) ?? 0) < HALF);
    }
    case 'atomics':
      return given.evidence.every(({ metric }) => metric === AMONG_ATOMICS);
    default:
      return false;
  }
}

/** Bank conflicts alone do not tell what waves wait for where LDS has time for them. */
export function doubtConflicts(classes: Map<BottleneckClass, Bottleneck>, { metrics }: ClassifierInput): void {
  const lds = classes.get('lds');
  const busy = numberOf(metricOf(metrics, 'lds.busy'));
  if (lds === undefined || lds.evidence.some(({ metric }) => metric !== CONFLICTS) || (busy ?? 1) >= LDS_BUSY) return;
  classes.set('lds', { ...lds, confidence: Math.min(lds.confidence, UNSURE) });
}

/** Misses of code alone do not tell how long waves wait for it. */
export function doubtMisses(
  classes: Map<BottleneckClass, Bottleneck>,
  { trace, sampledStalls }: ClassifierInput,
): void {
  const fetch = classes.get('instruction-fetch');
  if (fetch === undefined || trace !== undefined || sampledStalls !== undefined) return;
  classes.set('instruction-fetch', { ...fetch, confidence: Math.min(fetch.confidence, UNSURE) });
}
