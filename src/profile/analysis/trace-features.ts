// What a thread trace says: cycles by class of instruction, stall reasons, hottest lines, issue utilisation, the time from a
// load to the wait that needs it, and how many waves were resident over time. On gfx9 latency = stall + issue, so the busy
// time of a line is its latency, never latency + stall.
import { known, type Measure, unknown } from '../measure.ts';
import { STALL_REASONS } from '../readers/att.ts';
import type { ThreadTrace, TraceLine, TraceWave } from '../records.ts';
import { rowOf } from '../sqtt/code.ts';
import { gapsInFlight } from './gaps-in-flight.ts';
import { CLASSES, classOf, type InstructionClass } from './instruction-class.ts';

export interface ClassSum {
  readonly class: InstructionClass;
  readonly lines: number;
  readonly hits: number;
  readonly latency: number;
  readonly stall: number;
  readonly idle: number;
}

/** What a wait for counters can be for. */
export type WaitedFor = 'memory' | 'atomics' | 'lds' | 'scalar';

export interface TraceFeatures {
  readonly hits: number;
  readonly latency: number;
  readonly stall: number;
  readonly idle: number;
  readonly classes: readonly ClassSum[];
  /** Stalled share of the cycles spent in instructions. */
  readonly stallShare: Measure;
  /** Share of the waves' time without any instruction. */
  readonly idleShare: Measure;
  /** Issue cycles (latency without stall) over all cycles of the waves. */
  readonly issueUtilisation: Measure;
  /** Cycles of waits for counters, by what was outstanding last in the order of the code. */
  readonly waits: Readonly<Record<WaitedFor, number>>;
  /** Cycles from the first outstanding vector load to the end of the wait that follows, mean over waits. */
  readonly loadToUse: Measure;
  /** Share of the waves' time without an instruction while vector memory that they wait for later is on its way. */
  readonly gapsInFlight: Measure;
  /** PC sampling: samples by reason. */
  readonly stallReasons: readonly { readonly reason: string; readonly samples: number }[];
  readonly hottest: readonly number[];
  /** Resident waves over time: [cycle, waves], at most 512 steps. */
  readonly residency: readonly (readonly [number, number])[];
}

/** Computes the features of one trace. */
export function traceFeatures(trace: ThreadTrace): TraceFeatures {
  const sums = new Map<InstructionClass, { -readonly [K in keyof ClassSum]: ClassSum[K] }>();
  const reasons = new Float64Array(STALL_REASONS.length);
  let [hits, latency, stall, idle] = [0, 0, 0, 0];
  for (const line of trace.lines) {
    const name = classOf(line.text);
    const sum = sums.get(name) ?? { class: name, lines: 0, hits: 0, latency: 0, stall: 0, idle: 0 };
    sum.lines++;
    sum.hits += line.hits;
    sum.latency += line.latency;
    sum.stall += line.stall;
    sum.idle += line.idle;
    sums.set(name, sum);
    hits += line.hits;
    latency += line.latency;
    stall += line.stall;
    idle += line.idle;
    line.stallReasons?.forEach((samples, i) => {
      if (i < reasons.length) reasons[i] += samples;
    });
  }
  const none = unknown('the trace has no cycles (PC samples only, or no wave was traced)');
  const share = (part: number, whole: number): Measure => (whole > 0 ? known(part / whole) : none);
  return {
    hits,
    latency,
    stall,
    idle,
    classes: CLASSES.flatMap((name) => sums.get(name) ?? []),
    stallShare: share(stall, latency),
    idleShare: share(idle, latency + idle),
    issueUtilisation: share(latency - stall, latency + idle),
    waits: waitCycles(trace.lines),
    loadToUse: loadToUse(trace),
    gapsInFlight: gapsInFlight(trace),
    stallReasons: [...reasons].flatMap((samples, i) => (samples > 0 ? [{ reason: STALL_REASONS[i], samples }] : [])),
    hottest: trace.lines
      .map((_, i) => i)
      .filter((i) => heat(trace.lines[i]) > 0)
      .sort((a, b) => heat(trace.lines[b]) - heat(trace.lines[a]) || a - b)
      .slice(0, 20),
    residency: residency(trace),
  };
}

function waitCycles(lines: readonly TraceLine[]): Record<WaitedFor, number> {
  const waits = { memory: 0, atomics: 0, lds: 0, scalar: 0 };
  let last: WaitedFor = 'memory';
  let lastVector: WaitedFor = 'memory';
  let lastOther: WaitedFor = 'scalar';
  for (const line of lines) {
    switch (classOf(line.text)) {
      case 'VMEM':
      case 'FLAT': {
        // Nothing waits for a store where anything else is outstanding.
        const flags = rowOf(line.text)?.flags;
        const isAtomic = flags?.has('IsAtomicRet') === true || flags?.has('IsAtomicNoRet') === true;
        if (isAtomic || flags?.has('mayLoad') === true) lastVector = isAtomic ? 'atomics' : 'memory';
        last = lastVector;
        break;
      }
      case 'LDS':
      case 'SMEM':
        lastOther = classOf(line.text) === 'LDS' ? 'lds' : 'scalar';
        last = lastOther;
        break;
      case 'wait': {
        const isVector = /vmcnt|vscnt/.test(line.text);
        const isOther = /lgkmcnt/.test(line.text);
        waits[isVector && isOther ? last : isVector ? lastVector : lastOther] += line.latency;
        break;
      }
      default:
    }
  }
  return waits;
}

/** What makes a line hot: its cycles, or its samples when there are no cycles. */
export function heat(line: TraceLine): number {
  return line.latency + line.idle > 0 ? line.latency : (line.pcIssued ?? 0) + (line.pcStalled ?? 0);
}

function loadToUse(trace: ThreadTrace): Measure {
  let total = 0;
  let waits = 0;
  for (const wave of trace.waves) {
    let first: number | undefined;
    for (const instruction of wave.instructions) {
      const line = trace.lines[instruction.line];
      if (line === undefined) continue;
      const name = classOf(line.text);
      const isLoad = (name === 'VMEM' || name === 'FLAT') && rowOf(line.text)?.flags.has('mayLoad') === true;
      if (isLoad) first ??= instruction.time + instruction.duration;
      else if (name === 'wait' && /vmcnt/.test(line.text) && first !== undefined) {
        total += Math.max(0, instruction.time + instruction.duration - first);
        waits++;
        first = undefined;
      }
    }
  }
  return waits > 0 ? known(total / waits) : unknown('no traced wave loads and waits for it');
}

function residency(trace: ThreadTrace): (readonly [number, number])[] {
  const events =
    trace.occupancy.length > 0
      ? trace.occupancy.map((e) => [e.time, e.start ? 1 : -1] as const)
      : trace.waves.flatMap((w: TraceWave) => [[w.begin, 1] as const, [w.end, -1] as const]);
  const sorted = [...events].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const steps: (readonly [number, number])[] = [];
  let waves = 0;
  for (const [time, change] of sorted) {
    waves += change;
    if (steps.length > 0 && steps[steps.length - 1][0] === time) steps[steps.length - 1] = [time, waves];
    else steps.push([time, waves]);
  }
  if (steps.length <= 512) return steps;
  const every = steps.length / 512;
  return Array.from({ length: 512 }, (_, i) => steps[Math.floor(i * every)]);
}
