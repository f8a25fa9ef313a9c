// What the baseline does on every input: the results that candidates are judged by. Made once for a baseline, and hashed.
import { createHash } from 'node:crypto';
import { WavesmithError } from '../../base/index.ts';
import { readCodeObject } from '../../codeobject/index.ts';
import type { RunOrder } from '../../device/index.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { fingerprint } from '../../finding/index.ts';
import type { Capture, Chunk } from '../../snapshot/index.ts';
import { keepCapture } from '../../snapshot/kept.ts';
import { type Memory, varyingBytes } from './compare.ts';
import { capturedInput, heldOutInputs, type Input, patienceOf, TIMED_INPUT, workgroupsOf } from './inputs.ts';
import { partOf } from './part.ts';
import type { Traffic } from './physics.ts';
import { type Outcome, runInput } from './run.ts';
import { type StaticBaseline, staticBaseline } from './static.ts';

/** What is right on one input. */
export interface Answer {
  readonly input: Input;
  /** Workgroups that are run; undefined for all. */
  readonly only: readonly number[] | undefined;
  readonly after: Memory;
  /** Places of `after` that differ from before the run. */
  readonly changed: readonly string[];
  /** Bytes that depend on the order of waves. */
  readonly varying: Memory;
  /** Other orders in which the baseline comes to its end. */
  readonly schedules: readonly Schedule[];
  /** Instructions that a candidate may execute. */
  readonly patience: number;
  /** Fingerprints of what strict mode says of the baseline; undefined when the input is not run in strict mode. */
  readonly known: readonly string[] | undefined;
}

export interface Oracle {
  readonly capture: Capture;
  readonly code: Uint8Array;
  readonly kernel: string;
  readonly statics: StaticBaseline;
  /** The captured launch, and its time. */
  readonly captured: Answer;
  readonly timed: Outcome;
  /** What of it is followed byte by byte, run in strict mode and with late loads: all, or a part of a long launch. */
  readonly part: Answer;
  readonly followed: Outcome;
  /** Bytes that the captured launch reads, and writes. */
  readonly bytes: Traffic;
  readonly heldOut: readonly Answer[];
  /** What the parts of long launches are drawn by. */
  readonly draw: number;
  /** Inputs on which the baseline fails by itself, and why. */
  readonly dropped: readonly string[];
  readonly hash: string;
}

export interface OracleOptions {
  readonly seed: number;
  readonly chip: Chip;
  /** Candidates are launched by hosts of their own: inputs keep the size of the launch, and no launch is run in part. */
  readonly ownsLaunch?: boolean | undefined;
  /** Told what is being done. */
  readonly onStep?: ((text: string) => void) | undefined;
}

/** Another order of workgroups and waves, and when loads return in it. */
export interface Schedule {
  readonly name: string;
  readonly order: RunOrder;
  readonly lateLoads: boolean;
}

const PLAIN: readonly Schedule[] = [
  { name: 'descending order', order: 'descending', lateLoads: false },
  { name: 'shuffled order, seed 1', order: { seed: 1 }, lateLoads: false },
];
const LATE: readonly Schedule[] = [
  { name: 'ordinary order, late loads', order: 'ascending', lateLoads: true },
  { name: 'shuffled order, seed 2, late loads', order: { seed: 2 }, lateLoads: true },
];

const ALL = [...PLAIN, ...LATE];

/** Runs the baseline on everything. A baseline that fails on its own capture is `evaluate/baseline`. */
export async function consultBaseline(
  given: Capture,
  { seed, chip, ownsLaunch = false, onStep }: OracleOptions,
): Promise<Oracle> {
  const capture = keepCapture(given);
  const { kernel } = capture.manifest.dispatch;
  const code = capture.codeObject();
  const statics = staticBaseline(readCodeObject(code, [capture.path]), kernel);
  onStep?.('the baseline on the captured launch');
  const input = capturedInput(capture);
  const timed = await runInput(input, code, { chip });
  // Who knows the seed does not know the workgroups.
  const draw = (seed * 31 + Number.parseInt(capture.identity().slice(0, 8), 16)) >>> 0;
  const wanted = ownsLaunch ? undefined : partOf(workgroupsOf(input), timed.instructions, draw);
  const inPart = wanted === undefined ? undefined : await runInput(input, code, { follow: true, only: wanted });
  // Workgroups that wait for others cannot be run without them.
  const only = inPart?.failure === undefined ? wanted : undefined;
  const followed = only === undefined ? await runInput(input, code, { follow: true }) : (inPart as Outcome);
  const problem = timed.failure ?? followed.failure ?? followed.strays[0];
  if (problem !== undefined) {
    throw new WavesmithError('evaluate/baseline', `The captured kernel fails on its own capture: ${problem}`, {
      file: capture.path,
      hint: "'wavesmith capture verify' says what is wrong with the capture; record it again.",
    });
  }
  const isWhole = only === undefined;
  const captured = await answerOf(code, input, timed, isWhole ? ALL : PLAIN, undefined, isWhole);
  const part = isWhole ? captured : await answerOf(code, input, followed, ALL.slice(1), only, true);
  const heldOut: Answer[] = [];
  const dropped: string[] = [];
  for (const one of heldOutInputs(capture, seed, timed.instructions, ownsLaunch)) {
    onStep?.(`the baseline on: ${one.name}`);
    let answer = await heldOutAnswer(code, one, timed.instructions, draw, ownsLaunch);
    if (typeof answer === 'string' && one.otherwise !== undefined)
      answer = await heldOutAnswer(code, one.otherwise, timed.instructions, draw, ownsLaunch);
    if (typeof answer === 'string') dropped.push(`${one.name}: ${answer}`);
    else heldOut.push(answer);
  }
  const bytes: Traffic = {
    bytesRead: countFlags(capture, (chunk) => chunk.reads()),
    bytesWritten: countFlags(capture, (chunk) => chunk.writes()),
  };
  const oracle = { capture, code, kernel, statics, captured, timed, part, followed, bytes, heldOut, draw, dropped };
  return { ...oracle, hash: hashOf(oracle) };
}

/** The baseline on an input: in part when the launch is long, whole when it is the one that is timed or `isWhole`. A sentence when the baseline fails. */
export async function heldOutAnswer(
  code: Uint8Array,
  input: Input,
  instructions: number,
  draw: number,
  isWhole = false,
): Promise<Answer | string> {
  const { patience: maxInstructions } = input;
  const wanted = isWhole ? undefined : partOf(workgroupsOf(input), instructions * input.growth, draw);
  const schedules = PLAIN.slice(1);
  if (wanted !== undefined && input.name !== TIMED_INPUT) {
    const outcome = await runInput(input, code, { maxInstructions, only: wanted });
    if (outcome.failure === undefined) return await answerOf(code, input, outcome, schedules, wanted, input.isStrict);
  }
  const outcome = await runInput(input, code, { maxInstructions });
  if (outcome.failure !== undefined) return outcome.failure;
  return await answerOf(code, input, outcome, schedules, undefined, input.isStrict && wanted === undefined);
}

async function answerOf(
  code: Uint8Array,
  input: Input,
  { before, after, instructions }: Outcome,
  wanted: readonly Schedule[],
  only: readonly number[] | undefined,
  isStrict: boolean,
): Promise<Answer> {
  const patience = candidatePatience(instructions);
  const others: Memory[] = [];
  const schedules: Schedule[] = [];
  for (const schedule of wanted) {
    const { order, lateLoads } = schedule;
    const other = await runInput(input, code, { order, lateLoads, only, maxInstructions: patience });
    if (other.failure !== undefined) continue;
    others.push(other.after);
    schedules.push(schedule);
  }
  const strict = isStrict ? await runInput(input, code, { strict: true, only, maxInstructions: patience }) : undefined;
  const known = strict === undefined || strict.failure !== undefined ? undefined : strict.findings.map(fingerprint);
  const changed = [...after].flatMap(([name, bytes]) => (bytes === before.get(name) ? [] : [name]));
  return { input, only, after, changed, varying: varyingBytes(after, others), schedules, patience, known };
}

/** How many times the baseline's instructions a slow candidate may take before it is one without end, and how many instructions at least. */
const SLOWER = 64;
const MOST_SLOWER = 4_000_000;

/** Instructions that a candidate may take where the baseline takes so many: right ones that are many times slower are right, too. */
const candidatePatience = (instructions: number): number =>
  Math.max(patienceOf(instructions), Math.min(SLOWER * instructions, MOST_SLOWER));

function countFlags({ chunks }: Capture, flagsOf: (chunk: Chunk) => Uint8Array | undefined): number {
  let count = 0;
  for (const chunk of chunks) {
    const flags = flagsOf(chunk);
    if (flags !== undefined) for (let i = 0; i < flags.length; i++) count += flags[i] as number;
  }
  return count;
}

/** Results; what a run leaves as it was is part of the input. */
function hashOf({ captured, part, heldOut }: Pick<Oracle, 'captured' | 'part' | 'heldOut'>): string {
  const hash = createHash('sha256');
  for (const { input, only, after, changed, varying } of [captured, part, ...heldOut]) {
    hash.update(`${input.name} ${only?.join(' ') ?? ''}\n`);
    for (const name of changed) hash.update(`${name}\n`).update(after.get(name) as Uint8Array);
    for (const [name, bytes] of varying) hash.update(`varying ${name}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether the answers are still those that were hashed. */
export const isIntact = (oracle: Oracle): boolean => hashOf(oracle) === oracle.hash;
