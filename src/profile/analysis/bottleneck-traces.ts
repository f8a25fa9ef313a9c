// The rules of the classifier that need a thread trace or PC samples: what waves waited for.
import { isKnown, known, type Measure, unknown } from '../measure.ts';
import type { Cause, ClassifierInput, ClassTest, Condition } from './bottleneck-types.ts';
import { perWave } from './per-wave.ts';
import type { WaitedFor } from './trace-features.ts';

export const MODEL = 'Wavesmith docs/profile.md, "Bottleneck classes"';
export const TRACED_MEMORY = 'share of traced wave time in waits for memory';
export const TRACED_MEMORY_FORMULA = 'latency of waits behind vector loads / (latency + idle) of all instructions';
export const CONFLICTS = 'LDS bank conflict cycles per access cycle';
export const VALU_BUSY = 'cycles in which VALU issues';
export const ISSUE_WAIT = 'share of wave time spent waiting to issue';
export const TRACED_LDS = 'share of traced wave time in waits for LDS';
export const TRACED_LDS_FORMULA = 'latency of waits behind LDS instructions / (latency + idle) of all instructions';
/** A wave loads so many scalars besides its arguments. */
const SCALAR_LOADS = 8;

/** What speaks against the classes, from counters. */
export interface Against {
  readonly hbmBusy: readonly Condition[];
  readonly storesBusy: readonly Condition[];
  readonly l2Busy: readonly Condition[];
  readonly atomics: readonly Condition[];
  readonly launches: readonly Condition[];
  readonly unitsBusy: readonly Condition[];
  readonly noMisses: Condition;
  readonly ldsIdle: Condition;
  /** Causes of latency. */
  readonly fewWaves: readonly Cause[];
}

function stalls({ sampledStalls }: ClassifierInput, reason: string): Measure {
  return sampledStalls === undefined
    ? unknown('no PC samples with stall reasons')
    : known(sampledStalls.get(reason) ?? 0);
}

/** Share of traced wave time in a class of instructions. */
export function traceShare({ trace }: ClassifierInput, name: string): Measure {
  if (trace === undefined || trace.latency === 0) return unknown('no thread trace with cycles');
  const sum = trace.classes.find((c) => c.class === name);
  return known((sum?.latency ?? 0) / (trace.latency + trace.idle));
}

/** Share of traced wave time in waits for something. */
export function waitShare({ trace }: ClassifierInput, name: WaitedFor): Measure {
  if (trace === undefined || trace.latency === 0) return unknown('no thread trace with cycles');
  return known(trace.waits[name] / (trace.latency + trace.idle));
}

/** Every wave waits for its arguments; a kernel that waits for scalar loads has more of them. */
function scalarWaits(input: ClassifierInput): Measure {
  const loads = perWave(input, 'insts.smem');
  return isKnown(loads) && loads.value < SCALAR_LOADS
    ? unknown('waves load few scalars besides their arguments')
    : waitShare(input, 'scalar');
}

/** The tests on a trace and on samples. */
export function traceTests(input: ClassifierInput, by: Against): ClassTest[] {
  return [
    {
      class: 'memory-latency',
      metric: TRACED_MEMORY,
      value: waitShare(input, 'memory'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: TRACED_MEMORY_FORMULA,
      source: MODEL,
      saves: (share) => share,
      refutes: [...by.hbmBusy, ...by.storesBusy, ...by.atomics, ...by.l2Busy, ...by.launches],
      causes: by.fewWaves,
    },
    {
      class: 'memory-latency',
      metric: 'share of traced wave time in waits for scalar loads',
      value: scalarWaits(input),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula:
        'latency of waits behind scalar loads / (latency + idle) of all instructions, where a wave has 8 or more',
      source: MODEL,
      saves: (share) => share,
      refutes: [...by.hbmBusy, ...by.launches],
      causes: by.fewWaves,
    },
    {
      class: 'memory-latency',
      metric: 'share of stalled samples in WAITCNT',
      value: stalls(input, 'WAITCNT'),
      threshold: 0.5,
      certain: 0.9,
      comparison: 'at least',
      formula: 'WAITCNT samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: [...by.hbmBusy, ...by.l2Busy],
      causes: by.fewWaves,
    },
    {
      class: 'lds',
      metric: TRACED_LDS,
      value: waitShare(input, 'lds'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: TRACED_LDS_FORMULA,
      source: MODEL,
      saves: (share) => share,
      refutes: [...by.hbmBusy, by.ldsIdle],
    },
    {
      class: 'instruction-fetch',
      metric: 'share of stalled samples without an instruction',
      value: stalls(input, 'NO_INSTRUCTION_AVAILABLE'),
      threshold: 0.2,
      certain: 0.6,
      comparison: 'at least',
      formula: 'NO_INSTRUCTION_AVAILABLE samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: [by.noMisses],
    },
    {
      class: 'barrier',
      metric: 'share of traced wave time in barriers',
      value: traceShare(input, 'barrier'),
      threshold: 0.15,
      certain: 0.6,
      comparison: 'at least',
      formula: 'latency of barriers / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      refutes: by.unitsBusy,
    },
    {
      class: 'barrier',
      metric: 'share of stalled samples in BARRIER_WAIT',
      value: stalls(input, 'BARRIER_WAIT'),
      threshold: 0.2,
      certain: 0.6,
      comparison: 'at least',
      formula: 'BARRIER_WAIT samples / samples',
      source: MODEL,
      saves: (share) => share,
      refutes: by.unitsBusy,
    },
    {
      class: 'atomics',
      metric: 'share of traced wave time in waits for atomics',
      value: waitShare(input, 'atomics'),
      threshold: 0.4,
      certain: 0.8,
      comparison: 'at least',
      formula: 'latency of waits behind vector atomics / (latency + idle) of all instructions',
      source: MODEL,
      saves: (share) => share,
      refutes: [...by.hbmBusy, ...by.unitsBusy],
    },
  ];
}
