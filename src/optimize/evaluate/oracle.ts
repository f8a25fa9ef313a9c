// What the baseline does on every input: the results that candidates are judged by. Made once for a baseline, and hashed.
import { createHash } from 'node:crypto';
import { WavesmithError } from '../../base/index.ts';
import { readCodeObject } from '../../codeobject/index.ts';
import type { RunOrder } from '../../device/index.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { fingerprint } from '../../finding/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { type Memory, varyingBytes } from './compare.ts';
import { capturedInput, heldOutInputs, type Input, patienceOf } from './inputs.ts';
import { type Outcome, runInput } from './run.ts';
import { type StaticBaseline, staticBaseline } from './static.ts';

/** What is right on one input. */
export interface Answer {
  readonly input: Input;
  readonly after: Memory;
  /** Bytes that depend on the order of waves. */
  readonly varying: Memory;
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
  /** The captured launch, followed byte by byte. */
  readonly captured: Answer;
  readonly followed: Outcome;
  readonly heldOut: readonly Answer[];
  /** Inputs on which the baseline fails by itself, and why. */
  readonly dropped: readonly string[];
  readonly hash: string;
}

export interface OracleOptions {
  readonly seed: number;
  readonly chip: Chip;
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
/** Launches with more instructions are too long for loads that return late, which are interpreted. */
const MOST_LATE = 2_000_000;

/** The schedules of a launch with so many instructions. */
export const schedulesFor = (instructions: number): readonly Schedule[] =>
  instructions > MOST_LATE ? PLAIN : [...PLAIN, ...LATE];

/** Runs the baseline on everything. A baseline that fails on its own capture is `evaluate/baseline`. */
export async function consultBaseline(capture: Capture, options: OracleOptions): Promise<Oracle> {
  const { kernel } = capture.manifest.dispatch;
  const code = capture.codeObject();
  const statics = staticBaseline(readCodeObject(code, [capture.path]), kernel);
  const { onStep } = options;
  onStep?.('the baseline on the captured launch');
  const input = capturedInput(capture);
  const followed = await runInput(input, code, { follow: true, chip: options.chip });
  if (followed.failure !== undefined || followed.strays.length > 0) {
    throw new WavesmithError(
      'evaluate/baseline',
      `The captured kernel fails on its own capture: ${followed.failure ?? followed.strays[0]}`,
      { file: capture.path, hint: "'wavesmith capture verify' says what is wrong with the capture; record it again." },
    );
  }
  const captured = await answerOf(code, input, followed, schedulesFor(followed.instructions));
  const heldOut: Answer[] = [];
  const dropped: string[] = [];
  for (const one of heldOutInputs(capture, options.seed, followed.instructions)) {
    onStep?.(`the baseline on: ${one.name}`);
    const outcome = await runInput(one, code, { maxInstructions: one.patience });
    if (outcome.failure === undefined) heldOut.push(await answerOf(code, one, outcome, PLAIN.slice(1)));
    else dropped.push(`${one.name}: ${outcome.failure}`);
  }
  return { capture, code, kernel, statics, captured, followed, heldOut, dropped, hash: hashOf([captured, ...heldOut]) };
}

async function answerOf(
  code: Uint8Array,
  input: Input,
  { after, instructions }: Outcome,
  schedules: readonly Schedule[],
): Promise<Answer> {
  const patience = patienceOf(instructions);
  const others: Memory[] = [];
  for (const { order, lateLoads } of schedules) {
    const other = await runInput(input, code, { order, lateLoads, maxInstructions: patience });
    if (other.failure === undefined) others.push(other.after);
  }
  const strict = input.isStrict ? await runInput(input, code, { strict: true, maxInstructions: patience }) : undefined;
  const known = strict === undefined || strict.failure !== undefined ? undefined : strict.findings.map(fingerprint);
  return { input, after, varying: varyingBytes(after, others), patience, known };
}

function hashOf(answers: readonly Answer[]): string {
  const hash = createHash('sha256');
  for (const { input, after, varying } of answers) {
    hash.update(`${input.name}\n`);
    for (const memory of [after, varying]) for (const [name, bytes] of memory) hash.update(`${name}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether the answers are still those that were hashed. */
export const isIntact = (oracle: Oracle): boolean => hashOf([oracle.captured, ...oracle.heldOut]) === oracle.hash;
