// Room `profile/analysis`: what follows from a recording: metrics, roofline, bottlenecks, occupancy, critical path, differences.
// Begin with metrics.ts (formulas over counters), then this file, which names what limits a kernel and why.
//
// What limits a kernel. Every class names the measured numbers it rests on, the thresholds they passed, where the formulas come from, and
// which counters would have refuted it; without evidence there is no class. Headroom never exceeds what the roofline leaves.
import { isKnown, known, type Measure, numberOf, unknown } from '../measure.ts';
import { classTests } from './bottleneck-tests.ts';
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
import { worthOfMoreWaves, worthOfWaits } from './worth.ts';

/** What is left of the confidence of a class where numbers of the kernel are impossible. */
const DOUBTED = 0.1;
/** What is left for each number that could have contradicted and is unknown; not below a third of it. */
const UNCHECKED = 0.8;
const LEAST = 0.33;
/** What is left where the cause of what was measured is seen, too; and of the confidence of the cause's class, which goes first. */
const CAUSED = 0.8;
const BEHIND = 0.95;

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
  return {
    classes: [...classes.values()].sort((a, b) => b.confidence - a.confidence),
    undecided: BOTTLENECKS.flatMap((name) => {
      const reason = undecided.get(name);
      return reason === undefined || classes.has(name) ? [] : [{ class: name, reason }];
    }),
  };
}

/** Where waves are few, what they wait for goes behind that when twice as many of them are worth more. */
function goBehindFewWaves(classes: Map<BottleneckClass, Bottleneck>, input: ClassifierInput): void {
  const few = classes.get('under-occupied');
  if (few === undefined) return;
  const more = numberOf(worthOfMoreWaves(input));
  for (const [name, found] of classes) {
    const saved = numberOf(worthOfWaits(input, name));
    if (more === undefined || saved === undefined || saved >= more) continue;
    classes.set(name, { ...found, confidence: Math.min(found.confidence, BEHIND * few.confidence) });
  }
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
