// What is said of a launch's modelled time: JSON-able figures, a text of a few lines, and a listing with the reasons of every stall.
import { printInstruction } from '../../../isa/index.ts';
import { accuracyOf } from './accuracy.ts';
import {
  type AccuracyClass,
  accuracyClass,
  type ClassAccuracy,
  type Limit,
  limitOf,
  type Use,
  usesOf,
} from './limits.ts';
import { STALL_REASONS, type StallReason } from './machine.ts';
import type { LaunchTime } from './model.ts';

/** One instruction of the kernel. Cycles are of one wave, on average over the replayed ones. */
export interface TimedInstruction {
  /** Byte offset in the loaded code object. */
  readonly offset: number;
  readonly text: string;
  /** Executions by the replayed waves. */
  readonly hits: number;
  readonly issue: number;
  readonly stalls: Readonly<Record<StallReason, number>>;
}

/** A launch's time with everything that is known of it. */
export interface TimingReport {
  readonly kernel: string;
  readonly chip: string;
  /** Device time, without the launch. */
  readonly microseconds: number;
  /** Sampling and the measured error of the class together; without the latter when the class was never compared with hardware. */
  readonly interval: readonly [low: number, high: number];
  /** Between this kernel and the one before it in its stream. */
  readonly launchGapMicroseconds: number;
  readonly cycles: number;
  readonly limiter: Limit;
  readonly class: AccuracyClass;
  readonly accuracy: ClassAccuracy | undefined;
  readonly uses: readonly Use[];
  readonly workgroups: number;
  readonly sampledWorkgroups: number;
  readonly sampledInstructions: number;
  /** Half of the 95% interval that sampling leaves, as a part of the time. */
  readonly sampling: number;
  readonly converged: boolean;
  readonly residentWorkgroups: number;
  readonly wavesPerSimd: number;
  readonly mallHits: number;
  readonly traffic: LaunchTime['replay']['memory']['traffic'];
  /** Why sampled workgroups could not be followed to their end. */
  readonly failure: string | undefined;
}

/** Sampling errors from here on mean that the sample did not settle. */
const CONVERGED = 0.1;

/** The figures of a launch. */
export function timingReport(time: LaunchTime): TimingReport {
  const { chip, estimate, spread, plan, replay, launch } = time;
  const uses = usesOf(chip, spread, plan, replay, estimate);
  const limiter = limitOf(uses);
  const kind = accuracyClass(limiter);
  const accuracy = accuracyOf(chip, kind);
  const microseconds = time.nanoseconds / 1000;
  const factor = (accuracy?.factor ?? 1) * (1 + estimate.spread);
  return {
    kernel: time.kernel,
    chip: chip.name,
    microseconds,
    interval: [microseconds / factor, microseconds * factor],
    launchGapMicroseconds: chip.get('launch.gapUs'),
    cycles: time.cycles,
    limiter,
    class: kind,
    accuracy,
    uses,
    workgroups: launch.workgroups,
    sampledWorkgroups: replay.starts.length,
    sampledInstructions: replay.issued,
    sampling: estimate.spread,
    converged: estimate.isWhole || estimate.spread < CONVERGED,
    residentWorkgroups: spread.resident,
    wavesPerSimd: spread.wavesPerSimd,
    mallHits: time.mallHits,
    traffic: replay.memory.traffic,
    failure: time.failure,
  };
}

const percent = (part: number): string => `${Math.round(100 * part)}%`;

/** A time in µs or ms with three or four digits. */
export function durationText(microseconds: number): string {
  return microseconds >= 1000 ? `${(microseconds / 1000).toPrecision(4)} ms` : `${microseconds.toPrecision(4)} µs`;
}

/** Some lines about a launch's time. */
export function timingText(r: TimingReport): string[] {
  const [low, high] = r.interval;
  const error =
    r.accuracy === undefined
      ? 'sampling only: this class was never compared with hardware'
      : `class ${r.class}: within ×${r.accuracy.factor.toFixed(2)} (1σ) of ${r.accuracy.points} measured points`;
  const lines = [
    `  modelled on ${r.chip}: ${durationText(r.microseconds)} (${durationText(low)} to ${durationText(high)}; ${error})`,
    `    launch gap ${r.launchGapMicroseconds} µs apart from that; ${Math.round(r.cycles)} cycles`,
    `    limited by ${r.limiter}; busy: ${r.uses
      .filter((u) => u.used >= 0.01)
      .slice(0, 5)
      .map((u) => `${u.part} ${percent(u.used)}`)
      .join(', ')}`,
    `    ${r.sampledWorkgroups} of ${r.workgroups} workgroups replayed (${r.sampledInstructions} instructions), ${r.residentWorkgroups} at once on a compute unit`,
  ];
  if (!r.converged) lines.push(`    the sample did not converge: ±${percent(r.sampling)} by sampling alone`);
  if (r.failure !== undefined) lines.push(`    a sampled workgroup stopped: ${r.failure}`);
  return lines;
}

/** Every instruction that the replayed waves executed, by address. */
export function timedInstructions({ code, replay, chip }: LaunchTime): TimedInstruction[] {
  const out: TimedInstruction[] = [];
  replay.instructions.forEach((t, n) => {
    const instruction = code.list[n];
    if (instruction === undefined || t.hits === 0) return;
    const stalls = Object.fromEntries(STALL_REASONS.map((reason) => [reason, t.stalls[reason] / t.hits]));
    out.push({
      offset: instruction.offset,
      text: printInstruction(chip.target, instruction.instruction).trim(),
      hits: t.hits,
      issue: t.issue / t.hits,
      stalls: stalls as Record<StallReason, number>,
    });
  });
  return out.sort((a, b) => a.offset - b.offset);
}

/** What one replayed wave did. Cycles of the replay. */
export interface TracedWave {
  readonly unit: number;
  readonly simd: number;
  readonly slot: number;
  readonly begin: number;
  readonly end: number;
  readonly instructions: readonly TracedInstruction[];
}

/** An instruction that a wave was ready for, issued, and went on from. */
export interface TracedInstruction {
  /** Byte offset in the loaded code object. */
  readonly offset: number;
  readonly ready: number;
  readonly issued: number;
  readonly next: number;
}

/** The replayed waves one by one; none when the model was not asked to keep them. */
export function tracedWaves({ code, replay }: LaunchTime): TracedWave[] {
  return (replay.log?.waves ?? []).map(({ unit, simd, slot, begin, end, instructions, times }) => ({
    unit,
    simd,
    slot,
    begin,
    end,
    instructions: Array.from(instructions.data.subarray(0, instructions.length), (id, n) => ({
      offset: code.list[id]?.offset ?? -1,
      ready: times.data[3 * n] as number,
      issued: times.data[3 * n + 1] as number,
      next: times.data[3 * n + 2] as number,
    })),
  }));
}

/** A listing: address, executions, cycles a wave spends at each execution, its reasons, the instruction. */
export function timedListing(instructions: readonly TimedInstruction[]): string[] {
  const total = instructions.reduce((sum, i) => sum + i.hits * cyclesOf(i), 0);
  const lines = ['  address     hits   share  cycles  instruction; what it waited for (cycles an execution)'];
  for (const i of instructions) {
    const cycles = cyclesOf(i);
    const share = total === 0 ? 0 : (i.hits * cycles) / total;
    const why = STALL_REASONS.filter((reason) => i.stalls[reason] >= 0.5).map(
      (reason) => `${reason} ${i.stalls[reason].toFixed(0)}`,
    );
    const address = `0x${i.offset.toString(16)}`.padStart(9);
    const text = why.length === 0 ? i.text : `${i.text.padEnd(48)} ; ${why.join(', ')}`;
    lines.push(
      `${address} ${String(i.hits).padStart(8)} ${`${(100 * share).toFixed(1)}%`.padStart(7)} ${cycles.toFixed(0).padStart(7)}  ${text}`,
    );
  }
  return lines;
}

function cyclesOf(i: TimedInstruction): number {
  return STALL_REASONS.reduce((sum, reason) => sum + i.stalls[reason], i.issue);
}
