// The clocks of kernels under `--timing`: s_memtime and s_memrealtime give the cycle at which the timing model has the wavefront read them.
// A few workgroups were replayed before the launch. The others have come as far in time as the replayed one before them had after as many
// instructions, later by as much as they start later.

/** How far a replayed wavefront had come: cycles from the start of the launch after numbers of instructions, both ascending. At least one. */
export interface WaveProgress {
  readonly instructions: readonly number[];
  readonly cycles: readonly number[];
}

/** A replayed workgroup. */
export interface SampledProgress {
  /** Number of the workgroup in the launch. */
  readonly number: number;
  readonly start: number;
  readonly waves: readonly WaveProgress[];
}

/** What clocks show during a launch, as plain data: worker threads get it as a message. */
export interface ClockReadings {
  readonly clockMhz: number;
  /** The clock at the start of the launch, cycles. */
  readonly base: number;
  readonly grid: readonly [number, number, number];
  /** How long the launch takes, cycles. */
  readonly cycles: number;
  /** In order of their numbers; at least one. */
  readonly samples: readonly SampledProgress[];
}

/** What the wavefronts of one workgroup read. */
export class WorkgroupReadings {
  /** Added to the cycles of the replayed workgroup. */
  private readonly later: number;
  private readonly waves: readonly WaveProgress[];

  constructor(later: number, waves: readonly WaveProgress[]) {
    this.later = later;
    this.waves = waves;
  }

  /** The cycle at which a wavefront has executed a number of instructions. */
  cycles(wave: number, executed: number): number {
    const progress = this.waves[Math.min(wave, this.waves.length - 1)];
    return Math.round(this.later + (progress === undefined ? executed : cyclesAt(progress, executed)));
  }
}

/** On the line through the two points around `executed`; beyond the last point, on that through it and the one half as far. */
function cyclesAt({ instructions, cycles }: WaveProgress, executed: number): number {
  const last = instructions.length - 1;
  let to = 0;
  while (to < last && (instructions[to] as number) < executed) to++;
  const end = instructions[to] as number;
  if (end === executed || last === 0) return cycles[to] as number;
  let from = Math.max(0, to - 1);
  if (executed > end) {
    from = instructions.findIndex((n) => n >= end / 2);
    if (from === to) from = to - 1;
  } else if (to === 0) to = 1;
  const [a, b] = [instructions[from] as number, instructions[to] as number];
  const [s, t] = [cycles[from] as number, cycles[to] as number];
  return s + ((executed - a) * (t - s)) / (b - a);
}

export class ModelledClock {
  readonly clockMhz: number;
  private readonly readings: ClockReadings;

  constructor(readings: ClockReadings) {
    this.readings = readings;
    this.clockMhz = readings.clockMhz;
  }

  /** What a workgroup's wavefronts read. */
  of([x, y, z]: readonly [number, number, number]): WorkgroupReadings {
    const { base, grid, cycles, samples } = this.readings;
    const number = (z * grid[1] + y) * grid[0] + x;
    let at = 0;
    while (at + 1 < samples.length && (samples[at + 1] as SampledProgress).number <= number) at++;
    const sample = samples[at] as SampledProgress;
    // Behind the last sample, workgroups start evenly until one of its length ends with the launch.
    const length = Math.max(0, ...sample.waves.map((w) => (w.cycles.at(-1) as number) - sample.start));
    const count = grid[0] * grid[1] * grid[2];
    const next = samples[at + 1] ?? { number: count, start: Math.max(sample.start, cycles - length) };
    const part = (number - sample.number) / Math.max(1, next.number - sample.number);
    return new WorkgroupReadings(base + part * (next.start - sample.start), sample.waves);
  }
}
