// Rung 7 on hardware: baseline and candidate in turns on one GPU, each from restored memory, so that what drifts meets both. The first dispatch behind
// the placement is cold (code and data come from memory), the next ones are warm. Medians, and the interval of their ratio by resampling rounds.
import { randomNumbers, WavesmithError } from '../../base/index.ts';
import type { Device } from '../../device/index.ts';
import { type Capture, placeCapture } from '../../snapshot/index.ts';
import { runPlaced } from '../../snapshot/replay.ts';
import { LEAST_SPEEDUP } from './types.ts';

/** Times of both sides in one state of the caches. */
export interface MeasuredSpeedup {
  /** Medians, microseconds. */
  readonly baseline: number;
  readonly candidate: number;
  /** Ratio of the medians, and its interval of 95%. */
  readonly speedup: number;
  readonly interval: readonly [low: number, high: number];
}

export interface Measurement {
  /** What the device says it is. */
  readonly device: string;
  readonly rounds: number;
  readonly cold: MeasuredSpeedup;
  readonly warm: MeasuredSpeedup;
  /** Bytes of memory that the candidate left otherwise than the baseline did on this device. */
  readonly differing: number;
}

export interface MeasureOptions {
  /** Turns of both sides (default 15). */
  readonly rounds?: number | undefined;
  /** Warm dispatches of a turn (default 5). */
  readonly warm?: number | undefined;
  /** Resampling depends on it. */
  readonly seed?: number | undefined;
  readonly onStep?: ((text: string) => void) | undefined;
}

const ROUNDS = 15;
const WARM = 5;
const RESAMPLES = 2000;

/** Times of one turn of one side, microseconds, and the memory behind it. */
interface Turn {
  readonly cold: number;
  readonly warm: number;
  readonly after: readonly Uint8Array[];
}

/** Measures a candidate beside the captured code. A device without a clock, or a side that fails, is `evaluate/not-measured`. */
export async function measurePair(
  device: Device,
  capture: Capture,
  candidate: Uint8Array,
  { rounds = ROUNDS, warm = WARM, seed = 1, onStep }: MeasureOptions = {},
): Promise<Measurement> {
  const sides = [capture.codeObject(), candidate] as const;
  const turns: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    onStep?.(`round ${round + 1} of ${rounds}`);
    // Who goes first changes, so that neither always finds what the other left in caches.
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      turns[side].push(await turnOf(device, capture, sides[side], warm));
    }
  }
  const [baselines, candidates] = turns;
  const differing = differingBytes(baselines[0]?.after ?? [], candidates[0]?.after ?? []);
  const of = (state: 'cold' | 'warm') =>
    speedupOf(
      baselines.map((t) => t[state]),
      candidates.map((t) => t[state]),
      seed,
    );
  return { device: `${device.kind}:${device.target}`, rounds, cold: of('cold'), warm: of('warm'), differing };
}

/** Whether the lower bound of the warm speedup passes 2%, and the cold one is no loss. */
export const isMeasuredFaster = ({ cold, warm, differing }: Measurement): boolean =>
  differing === 0 && warm.interval[0] >= LEAST_SPEEDUP && cold.speedup * LEAST_SPEEDUP >= 1;

async function turnOf(device: Device, capture: Capture, code: Uint8Array, warm: number): Promise<Turn> {
  const placed = placeCapture(device, capture, { code });
  try {
    const once = async (): Promise<number> => {
      placed.restore();
      const { dispatch, failure } = await runPlaced(device, placed, false);
      if (failure !== undefined) throw notMeasured(failure);
      if (dispatch?.nanoseconds === undefined) throw notMeasured(`The device '${device.kind}' has no clock.`);
      return dispatch.nanoseconds / 1000;
    };
    const cold = await once();
    const after = placed.chunks.map((chunk) => device.read(chunk.buffer, chunk.offset, chunk.length).slice());
    const times: number[] = [];
    for (let n = 0; n < warm; n++) times.push(await once());
    return { cold, warm: median(times), after };
  } finally {
    placed.free();
  }
}

const notMeasured = (message: string): WavesmithError =>
  new WavesmithError('evaluate/not-measured', message, { hint: 'The verdict of the virtual GPU stays.' });

function differingBytes(a: readonly Uint8Array[], b: readonly Uint8Array[]): number {
  let count = 0;
  for (const [i, bytes] of a.entries()) {
    const other = b[i];
    for (let at = 0; at < bytes.length; at++) if (bytes[at] !== other?.[at]) count++;
  }
  return count;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[half] as number)
    : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}

/** The ratio of medians, with its percentile interval: rounds are drawn again, both sides of a round together (Efron, 1979). */
export function speedupOf(baseline: readonly number[], candidate: readonly number[], seed: number): MeasuredSpeedup {
  const random = randomNumbers(seed);
  const ratios: number[] = [];
  for (let n = 0; n < RESAMPLES; n++) {
    const rounds = baseline.map(() => Math.floor(random() * baseline.length));
    ratios.push(median(rounds.map((r) => baseline[r] as number)) / median(rounds.map((r) => candidate[r] as number)));
  }
  ratios.sort((a, b) => a - b);
  const at = (part: number): number => ratios[Math.round(part * (ratios.length - 1))] as number;
  const [before, after] = [median(baseline), median(candidate)];
  return { baseline: before, candidate: after, speedup: before / after, interval: [at(0.025), at(0.975)] };
}

/** A measurement in words. */
export function measurementText({ device, rounds, cold, warm, differing }: Measurement): string {
  const one = (name: string, { baseline, candidate, speedup, interval }: MeasuredSpeedup): string =>
    `${name} ${baseline.toPrecision(4)} µs to ${candidate.toPrecision(4)} µs, ×${speedup.toFixed(3)} (${interval[0].toFixed(3)} to ${interval[1].toFixed(3)})`;
  const bytes = differing === 0 ? '' : `; ${differing} bytes of its result differ from the baseline's`;
  return `Measured on ${device}, ${rounds} rounds in turns: ${one('warm', warm)}; ${one('cold', cold)}${bytes}.`;
}
