// Room `profile/analysis`: what follows from a recording: metrics, roofline, bottlenecks, occupancy, critical path, differences.
// Begin with metrics.ts (formulas over counters), then this file, which names what limits a kernel and why.
//
// What limits a kernel. Every class names the measured numbers it rests on, the thresholds they passed, where the formulas come from, and
// which counters would have refuted it; without evidence there is no class. Headroom never exceeds what the roofline leaves.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import {
  doubt,
  doubtConflicts,
  doubtLost,
  doubtMisses,
  doubtUntold,
  isByRoof,
  isSmall,
  NOTABLE,
  sorted,
  UNSURE,
} from './bottleneck-doubt.ts';
import { classTests } from './bottleneck-tests.ts';
import { MODEL } from './bottleneck-traces.ts';
import {
  BOTTLENECKS,
  type Bottleneck,
  type BottleneckClass,
  type Classification,
  type ClassifierInput,
  type ClassTest,
  type Condition,
  type Refuter,
} from './bottleneck-types.ts';
import { type EstimatedClass, type Estimates, estimates, FORMULA, SAVED, WAITING } from './estimates.ts';
import { WORTH_MORE, worthOfMoreWaves, worthOfWaits } from './worth.ts';

/** What is left of the confidence of a class where numbers of the kernel are impossible. */
const DOUBTED = 0.1;
/** What is left for each number that could have contradicted and is unknown; not below a third of it. */
const UNCHECKED = 0.8;
const LEAST = 0.33;
/** What is left where the cause of what was measured is seen, too; and of the confidence of the cause's class, which goes first. */
const CAUSED = 0.8;
const BEHIND = 0.95;

/** From here on an estimate is named after a class that is not sure: the next bound is within reach of what the estimates are off by. */
const WITHIN_REACH = 0.1;
/** An estimate that is larger by this is larger: the root of the mean square error of a difference of two (0.11 each, 164 kernels of the timing model). */
const CLEARLY = 0.15;
/** A unit and waiting whose estimates differ by less are as near as what each of the two is off by. */
const NEAR = 0.1;
/** What more waves hide, too: without a trace nothing says how long waves wait for it. */
const HIDDEN: ReadonlySet<BottleneckClass> = new Set(['lds', 'instruction-fetch', 'barrier', 'scalar']);

/** Judges all classes. */
export function classify(input: ClassifierInput): Classification {
  const classes = new Map<BottleneckClass, Bottleneck>();
  const undecided = new Map<BottleneckClass, string>();
  const tests = classTests(input);
  for (const test of tests) {
    if (!isKnown(test.value)) {
      if (!classes.has(test.class)) undecided.set(test.class, undecided.get(test.class) ?? test.value.unknown);
      continue;
    }
    undecided.delete(test.class);
    const found = classes.get(test.class);
    const made = judge(test, test.value.value, input);
    if (typeof made === 'string') {
      if (found === undefined) undecided.set(test.class, made);
    } else if (made !== undefined) classes.set(test.class, found === undefined ? made : joined(found, made));
  }
  for (const { class: name, causes = [] } of tests) {
    for (const cause of causes) {
      const [caused, first] = [classes.get(name), classes.get(cause.class)];
      if (caused === undefined || first === undefined || holds(cause.condition) !== true) continue;
      classes.set(name, { ...caused, confidence: Math.min(caused.confidence, BEHIND * first.confidence) });
    }
  }
  goBehindFewWaves(classes, input);
  doubtConflicts(classes, input);
  doubtMisses(classes, input);
  orderByWorth(classes, input);
  doubtUntold(classes, input);
  doubtLost(classes, input);
  return {
    classes: sorted(classes),
    undecided: BOTTLENECKS.flatMap((name) => {
      const reason = undecided.get(name);
      return reason === undefined || classes.has(name) ? [] : [{ class: name, reason }];
    }),
  };
}

/** Where waves are few, what they wait for goes behind that when twice as many of them are worth more. */
function goBehindFewWaves(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const few = classes.get('under-occupied');
  const doubtHidden = (name: BottleneckClass, found: Bottleneck): void => {
    if (!HIDDEN.has(name) || isKnown(worthOfWaits(input, name))) return;
    classes.set(name, { ...found, confidence: Math.min(found.confidence, UNSURE) });
  };
  if (few === undefined) {
    if (!isKnown(input.occupancy)) for (const [name, found] of classes) doubtHidden(name, found);
    return;
  }
  const more = numberOf(worthOfMoreWaves(input));
  for (const [name, found] of classes) {
    const saved = numberOf(worthOfWaits(input, name));
    doubtHidden(name, found);
    if (more === undefined || saved === undefined) continue;
    let confidence = found.confidence;
    if (Math.abs(more - saved) < CLEARLY) {
      confidence = Math.min(confidence, UNSURE);
      const part = saved < more - NEAR ? 1 : BEHIND;
      const now = classes.get('under-occupied') ?? few;
      classes.set('under-occupied', { ...now, confidence: Math.min(now.confidence, part * confidence, UNSURE) });
    }
    if (saved < more - NEAR) confidence = Math.min(confidence, BEHIND * few.confidence);
    classes.set(name, { ...found, confidence });
  }
}

/**
 * What the estimates say is worth most goes first: of waiting, where bandwidth, latency and few waves are three sides, and of units that waves wait
 * for. Where the tests say otherwise neither is sure. What is worth something comes next, whether a test passed or not.
 */
function orderByWorth(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const [first] = sorted(classes);
  const found = estimates(input);
  if (input.impossible?.[0] !== undefined) return;
  if (!('of' in found)) {
    doubt(classes, input);
    return;
  }
  const worth: Readonly<Partial<Record<BottleneckClass, number>>> = found.of;
  if (first !== undefined && (worth[first.class] === undefined || isByRoof(first))) {
    if (first.class === 'instruction-fetch') placeFetch(classes, first, found, input);
    return;
  }
  const names = inOrder(found, input, first?.class, classes);
  const best = names[0] as EstimatedClass;
  if (first === undefined && (worth[best] ?? 0) < NOTABLE) return;
  const of = (name: BottleneckClass | undefined): number => (name === undefined ? 0 : (worth[name] ?? 0));
  let least = first?.confidence ?? UNSURE;
  if (first?.class !== best) least = Math.min(UNSURE, least, Math.max(LEAST, 0.5 + of(best) - of(first?.class)));
  const next = names[1] as EstimatedClass;
  const isNextSeen = (classes.get(next)?.confidence ?? 0) > UNSURE;
  const isNear = of(best) - of(next) < (isNextSeen ? 2 : 1) * CLEARLY;
  if (isNear || couldBeOther(best, found, input)) least = Math.min(least, UNSURE);
  if (first !== undefined && !classes.has(best) && of(best) < NOTABLE) {
    classes.set(first.class, { ...first, confidence: least });
    return;
  }
  for (const [name, one] of classes)
    if (name !== best) classes.set(name, { ...one, confidence: Math.min(one.confidence, BEHIND * least) });
  const notable = least > UNSURE ? NOTABLE : WITHIN_REACH;
  for (const name of classes.has('instruction-fetch') ? withFetch(names, found, input) : names) {
    const given = classes.get(name);
    const isNamed = name !== 'instruction-fetch' && (name === best || of(name) >= notable);
    const one = given ?? (isNamed ? estimated(name, found, input, notable) : undefined);
    if (one === undefined) continue;
    const confidence = name === best ? least : Math.min(given?.confidence ?? 0.5, least);
    classes.set(name, { ...one, confidence });
    least = BEHIND * confidence;
  }
}

/**
 * Misses of the instruction cache tell how often code is missing, not how long waves wait for it. Where a trace tells what they wait for, the rest of the waits
 * is the most that code can be worth: what is estimated to be worth more goes before it, and where the two are near, neither is sure.
 */
function placeFetch(
  classes: Map<BottleneckClass, Bottleneck>,
  fetch: Bottleneck,
  found: Estimates,
  input: ClassifierInput,
): void {
  const saved = numberOf(worthOfWaits(input, 'instruction-fetch'));
  if (saved === undefined) return;
  const names = inOrder(found, input, undefined);
  const of = (name: EstimatedClass): number => found.of[name] ?? 0;
  if (saved >= of(names[0] as EstimatedClass) + CLEARLY) return;
  const before = names.filter((name) => of(name) > saved);
  const order = [...before, 'instruction-fetch', ...names.filter((name) => !before.includes(name))] as const;
  let least = Math.min(fetch.confidence, UNSURE);
  for (const [name, one] of classes)
    classes.set(name, { ...one, confidence: Math.min(one.confidence, BEHIND * least) });
  for (const name of order) {
    if (name === 'instruction-fetch') classes.set(name, { ...fetch, confidence: least });
    else {
      const given = classes.get(name);
      if (given === undefined && of(name) < WITHIN_REACH) continue;
      classes.set(name, { ...(given ?? estimated(name, found, input, WITHIN_REACH)), confidence: least });
    }
    least *= BEHIND;
  }
}

/** The classes with misses of code, behind the first one and before all that are estimated to save less; at the end where nothing tells what these save. */
function withFetch(
  names: readonly EstimatedClass[],
  { of }: Estimates,
  input: ClassifierInput,
): readonly (EstimatedClass | 'instruction-fetch')[] {
  const saved = numberOf(worthOfWaits(input, 'instruction-fetch')) ?? 0;
  const at = names.findIndex((name, n) => n > 0 && (of[name] ?? 0) <= saved);
  const before = at < 0 ? names.length : at;
  return [...names.slice(0, before), 'instruction-fetch', ...names.slice(before)];
}

/** Whether another class can be worth more than what comes first, by what bounds it. */
function couldBeOther(best: EstimatedClass, { of, atMost, isIdleUnknown }: Estimates, input: ClassifierInput): boolean {
  if (isIdleUnknown && best === 'memory-latency') return true;
  return [...WAITING, 'lds' as const, 'scalar' as const].some((other) => {
    if (other === best) return false;
    // Waves that are kept out go before the latency that they would hide.
    if (best === 'under-occupied' && other === 'memory-latency' && areKeptOut(input)) return false;
    return atMost[other] >= (of[best] ?? 0);
  });
}

/**
 * What is worth most first. Between a unit and waiting the tests have the say where the estimates are near, for a class that a test speaks for: among
 * `tested`. Waves that are kept out go before the latency that they would hide: that is what a program can change.
 */
function inOrder(
  { of }: Estimates,
  input: ClassifierInput,
  first: BottleneckClass | undefined,
  tested: ReadonlyMap<BottleneckClass, Bottleneck> = new Map(),
): readonly EstimatedClass[] {
  const worth = (name: EstimatedClass): number => of[name] ?? 0;
  const names = (Object.keys(of) as EstimatedClass[]).sort((a, b) => worth(b) - worth(a));
  const before = (name: EstimatedClass): readonly EstimatedClass[] => [
    name,
    ...names.filter((other) => other !== name),
  ];
  const [best] = names as [EstimatedClass];
  if (best === 'memory-latency' && areKeptOut(input) && of['under-occupied'] >= WORTH_MORE) {
    return before('under-occupied');
  }
  if (first === undefined || isWaiting(first) === isWaiting(best)) return names;
  const told = names.find((name) => (isWaiting(first) ? isWaiting(name) && tested.has(name) : name === first));
  return told !== undefined && worth(best) - worth(told) < NEAR ? before(told) : names;
}

const isWaiting = (name: BottleneckClass): boolean => WAITING.some((one) => one === name);

/** Registers or LDS let no more waves on a compute unit than a quarter of its slots, or whole workgroups are too few for half of the units. */
function areKeptOut(input: ClassifierInput): boolean {
  return isSmall(input) || (numberOf(input.fits) ?? 1) <= 0.25;
}

/** A class that only its estimate speaks for, and from where on it does. */
function estimated(name: EstimatedClass, { of }: Estimates, input: ClassifierInput, notable: number): Bottleneck {
  const value = of[name] ?? 0;
  const others = (Object.keys(of) as EstimatedClass[]).filter((other) => other !== name);
  return {
    class: name,
    confidence: 0.5,
    evidence: [
      { metric: SAVED[name], value, threshold: notable, comparison: 'at least', formula: FORMULA, source: MODEL },
    ],
    refutedBy: others.map((other) => ({
      metric: SAVED[other],
      value: of[other] ?? 0,
      threshold: value,
      comparison: 'at least',
      formula: FORMULA,
    })),
    headroom: bound(value, input.roofline.headroom),
  };
}

/** The class, undefined where it does not apply, or why it cannot be judged. */
function judge(test: ClassTest, value: number, input: ClassifierInput): Bottleneck | string | undefined {
  const passed = test.comparison === 'at least' ? value >= test.threshold : value <= test.threshold;
  if (!passed) return undefined;
  let confidence = 0.5 + 0.5 * Math.min(1, (value - test.threshold) / (test.certain - test.threshold));
  const { needs } = test;
  if (needs !== undefined) {
    if (needs.any.some((condition) => holds(condition) === true)) {
      // Evidence of its own.
    } else if (needs.any.some((condition) => holds(condition) === false)) return undefined;
    else if (needs.isRequired) return needs.why;
    else confidence *= UNCHECKED;
  }
  if (test.refutes.some((condition) => holds(condition) === true)) return undefined;
  const open = test.refutes.filter((condition) => holds(condition) === undefined).length;
  confidence *= Math.max(LEAST, UNCHECKED ** open);
  if (test.causes?.some(({ condition }) => holds(condition) === true) === true) confidence *= CAUSED;
  const doubt = input.impossible?.[0];
  if (doubt !== undefined) confidence *= DOUBTED;
  return {
    class: test.class,
    confidence,
    evidence: [
      {
        metric: test.metric,
        value,
        threshold: test.threshold,
        comparison: test.comparison,
        formula: test.formula,
        source: test.source,
      },
    ],
    refutedBy: test.refutes.map(refuter),
    headroom:
      doubt === undefined ? bound(test.saves(value), input.roofline.headroom) : unknown(`${doubt}, which cannot be`),
  };
}

/** Whether a condition holds; undefined when its number is unknown. */
function holds({ value, comparison, threshold }: Condition): boolean | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  return comparison === 'at least' ? number >= threshold : number <= threshold;
}

function refuter({ metric, value, comparison, threshold, formula }: Condition): Refuter {
  return { metric, value: numberOf(value) ?? null, comparison, threshold, formula };
}

/** Two pieces of evidence for one class. */
function joined(a: Bottleneck, b: Bottleneck): Bottleneck {
  return {
    class: a.class,
    confidence: Math.max(a.confidence, b.confidence),
    evidence: [...a.evidence, ...b.evidence],
    refutedBy: [...a.refutedBy, ...b.refutedBy.filter((r) => !a.refutedBy.some((known) => known.metric === r.metric))],
    headroom: larger(a.headroom, b.headroom),
  };
}

function bound(estimate: number, roofline: Measure): Measure {
  if (!isKnown(roofline)) return unknown(`the roofline bound is unknown (${roofline.unknown})`);
  return known(Math.max(0, Math.min(estimate, roofline.value)));
}

function larger(a: Measure, b: Measure): Measure {
  return isKnown(a) && isKnown(b) ? known(Math.max(a.value, b.value)) : a;
}
