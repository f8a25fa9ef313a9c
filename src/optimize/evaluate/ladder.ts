// The ladder: a candidate climbs rung by rung, and the first rung that rejects it ends the climb. Begin with `Evaluator`.
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, readCodeObject } from '../../codeobject/index.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { FIELDS } from '../../device/sim/timing/chip-fields.ts';
import type { LaunchTime } from '../../device/sim/timing/model.ts';
import { newFindings } from '../../finding/index.ts';
import type { Capture } from '../../snapshot/index.ts';
import { sha256 } from '../hash.ts';
import { type Bounds, boundedDifference } from './bounded.ts';
import { differenceOf, joined, type Memory, notPermuted } from './compare.ts';
import { constantInputs, newConstants } from './constants.ts';
import { contractBreaks } from './contract.ts';
import { TIMED_INPUT } from './inputs.ts';
import type { OwnLaunch } from './launches.ts';
import { type Answer, consultBaseline, heldOutAnswer, isIntact, type Oracle } from './oracle.ts';
import { LONG } from './part.ts';
import { impossibility, physicsFloor } from './physics.ts';
import { findingLine, type Outcome, type RunHow, runInput } from './run.ts';
import { checkStatic, staticObjections } from './static.ts';
import { microsecondsOf, type Speedup, speedupOf } from './time.ts';
import {
  type EquivalenceClass,
  type Evaluation,
  LADDER_VERSION,
  LEAST_SPEEDUP,
  type Rung,
  type RungRecord,
  SMALL_SPEEDUP,
  type TimeComparison,
} from './types.ts';

export interface EvaluatorOptions {
  /** The chip whose clock decides. */
  readonly chip: Chip;
  readonly class?: EquivalenceClass | undefined;
  /** Held-out inputs depend on it (default 1). */
  readonly seed?: number | undefined;
  /** A compiler makes baseline and candidates of sources. */
  readonly isRebuilt?: boolean | undefined;
  /** Work-items that a workgroup of the program has at most: candidates may be bound to it. */
  readonly workgroup?: number | undefined;
  /** Candidates are launched by hosts of their own: see `launchedAs`. */
  readonly ownsLaunch?: boolean | undefined;
  /** The launch that candidates get instead of the captured one. */
  readonly launch?: OwnLaunch | undefined;
  /** Class `bounded`: terms of the longest sum behind one output (default 1). */
  readonly reductionLength?: number | undefined;
  readonly onStep?: ((text: string) => void) | undefined;
}

/** Sentences of one kind that are kept. */
const MAX_EVIDENCE = 4;

/** Ends the climb. */
class Rejected extends Error {
  readonly rung: Rung;
  readonly evidence: readonly string[];
  constructor(rung: Rung, evidence: readonly string[]) {
    super(evidence[0]);
    this.rung = rung;
    this.evidence = evidence;
  }
}

/** What a first look shows. */
export interface Look {
  /** Modelled time of the captured launch; undefined when something speaks against the candidate already. */
  readonly nanoseconds: number | undefined;
  readonly problem: string | undefined;
  readonly time: LaunchTime | undefined;
}

/** A hash of the options that change a verdict. */
export function optionsHash(options: EvaluatorOptions): string {
  const { chip, class: asked = 'bit', seed = 1, reductionLength = 1, isRebuilt = false } = options;
  const { workgroup, ownsLaunch = false, launch } = options;
  const facts = [LADDER_VERSION, chip.name, Object.keys(FIELDS).map(chip.get), asked, seed, reductionLength];
  const rebuilt = workgroup === undefined ? ['rebuilt'] : ['rebuilt', workgroup];
  const own = ownsLaunch ? ['own launch', launch ?? null] : [];
  return sha256(JSON.stringify(isRebuilt ? [...facts, ...rebuilt, ...own] : [...facts, ...own]));
}

/** What an evaluator finds out of the baseline when it is asked for. */
interface Known {
  readonly bounds: WeakMap<Answer, Promise<Bounds>>;
  heldOutTime?: Promise<Outcome | undefined>;
  /** Of the constants that were asked for last. */
  constants?: { readonly key: string; readonly answers: Promise<readonly Answer[]> };
}

/** Judges candidates for one captured launch. */
export class Evaluator {
  readonly oracle: Oracle;
  readonly options: EvaluatorOptions;
  private readonly baseline: CodeObject;
  private readonly known: Known;

  private constructor(oracle: Oracle, options: EvaluatorOptions, known: Known = { bounds: new WeakMap() }) {
    this.oracle = oracle;
    this.options = options;
    this.baseline = oracle.statics.codeObject;
    this.known = known;
  }

  /** Runs the baseline on all inputs. A baseline that fails is `evaluate/baseline`. */
  static async open(capture: Capture, options: EvaluatorOptions): Promise<Evaluator> {
    const { chip, seed = 1, ownsLaunch, onStep } = options;
    if (!capture.manifest.memory.hasResult) {
      throw new WavesmithError('evaluate/no-result', 'The capture holds no result to compare with.', {
        file: capture.path,
        hint: "'wavesmith capture slim' runs it and stores its result.",
      });
    }
    return new Evaluator(await consultBaseline(capture, { seed, chip, ownsLaunch, onStep }), options);
  }

  /** The same judge for candidates that their host launches so. Opened with `ownsLaunch`. */
  launchedAs(launch: OwnLaunch): Evaluator {
    if (this.options.ownsLaunch !== true) throw new Error('the inputs of this evaluator change the size of the launch');
    return new Evaluator(this.oracle, { ...this.options, launch }, this.known);
  }

  /** What verdicts of this evaluator depend on beside the candidate. */
  get key(): Omit<Evaluation['key'], 'candidate'> {
    return { baseline: this.oracle.capture.identity(), oracle: this.oracle.hash, options: optionsHash(this.options) };
  }

  /** Lets a candidate climb. Never throws for what the candidate is. */
  async evaluate(candidate: Uint8Array): Promise<Evaluation> {
    const { oracle } = this;
    const records: RungRecord[] = [];
    const passed = (rung: Rung, ...evidence: string[]): void => {
      records.push({ rung, outcome: 'passed', evidence });
    };
    const climb = new Climb(this, passed);
    let end: Rejected | undefined;
    try {
      await climb.all(candidate);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      end = error;
      records.push({ rung: error.rung, outcome: 'rejected', evidence: error.evidence });
    }
    if (!isIntact(oracle)) throw new Error('the results of the baseline were changed during an evaluation');
    const { time, reached } = climb;
    const isFaster = time !== undefined && isEnough(time) && (time.heldOut === undefined || isEnough(time.heldOut));
    return {
      ...this.frameOf(candidate),
      verdict: end !== undefined ? 'rejected' : isFaster ? 'accepted' : 'not-faster',
      rung: end?.rung,
      reached: end === undefined ? reached : undefined,
      rungs: records,
      time: end === undefined ? time : undefined,
      inputs: { run: 1 + oracle.heldOut.length + climb.inputs, dropped: oracle.dropped },
    };
  }

  /** The evaluation of what was found to be no candidate before there was machine code. `candidate`: what it is named by. */
  rejection(candidate: Uint8Array, rung: Rung, evidence: readonly string[]): Evaluation {
    return {
      ...this.frameOf(candidate),
      verdict: 'rejected',
      rung,
      reached: undefined,
      rungs: [{ rung, outcome: 'rejected', evidence }],
      time: undefined,
      inputs: { run: 0, dropped: [] },
    };
  }

  private frameOf(candidate: Uint8Array): Pick<Evaluation, 'kernel' | 'target' | 'asked' | 'key'> {
    return {
      kernel: this.oracle.kernel,
      target: this.baseline.target.processor,
      asked: this.options.class ?? 'bit',
      key: { ...this.key, candidate: sha256(candidate) },
    };
  }

  /**
   * A first look at a candidate: the rungs up to the captured launch, without a proof, and its time. Not a verdict: who passes must still
   * climb the whole ladder. One that takes less than `under` nanoseconds is run in strict mode too.
   */
  async look(candidate: Uint8Array, under = Number.POSITIVE_INFINITY): Promise<Look> {
    const climb = new Climb(this, () => {});
    try {
      const time = await climb.first(candidate, under);
      return { nanoseconds: time.nanoseconds, problem: undefined, time };
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      return { nanoseconds: undefined, problem: `${error.rung}: ${error.evidence[0]}`, time: undefined };
    }
  }

  /** What is right where a candidate's own constants stand. */
  answersFor(candidate: CodeObject): Promise<readonly Answer[]> {
    const constants = newConstants(this.baseline, candidate, this.oracle.kernel);
    const key = constants.join(' ');
    const { known } = this;
    if (known.constants?.key !== key) known.constants = { key, answers: this.answersWith(constants) };
    return known.constants.answers;
  }

  private async answersWith(constants: readonly number[]): Promise<readonly Answer[]> {
    const { code, capture, timed, draw } = this.oracle;
    const { seed = 1, ownsLaunch = false, onStep } = this.options;
    const answers: Answer[] = [];
    const { instructions } = timed;
    for (const input of constantInputs(capture, seed, instructions, constants, ownsLaunch)) {
      onStep?.(`the baseline on: ${input.name}`);
      const answer = await heldOutAnswer(code, input, instructions, draw, ownsLaunch);
      if (typeof answer !== 'string') answers.push(answer);
    }
    return answers;
  }

  /** What floats that the baseline leaves may be: the baseline again, in f64. */
  boundsOf(answer: Answer): Promise<Bounds> {
    let found = this.known.bounds.get(answer);
    if (found === undefined) {
      found = this.runInF64(answer);
      this.known.bounds.set(answer, found);
    }
    return found;
  }

  private async runInF64({ input, only, patience }: Answer): Promise<Bounds> {
    const { code, part, timed } = this.oracle;
    const { reductionLength = 1 } = this.options;
    this.options.onStep?.(`the baseline in f64 on: ${input.name}`);
    // The whole of a long launch would take minutes.
    const isLong = only === undefined && timed.instructions * input.growth > LONG && part.only !== undefined;
    const chosen = isLong ? part.only : only;
    const run = await runInput(input, code, { inF64: true, only: chosen, maxInstructions: patience });
    const { annotations } = input.capture.manifest;
    return { numbers: run.numbers ?? new Map(), isPart: isLong, annotations, reductionLength };
  }

  /** The baseline, timed on an input that no proposer sees. */
  timedHeldOut(answer: Answer): Promise<Outcome | undefined> {
    const { chip } = this.options;
    this.known.heldOutTime ??= runInput(answer.input, this.oracle.code, { chip });
    return this.known.heldOutTime;
  }
}

const isEnough = ({ interval }: Speedup): boolean => interval[0] >= LEAST_SPEEDUP;

/** One candidate on its way. */
class Climb {
  time: TimeComparison | undefined;
  reached: Evaluation['reached'];
  /** Inputs of this candidate alone. */
  inputs = 0;
  private readonly evaluator: Evaluator;
  private readonly passed: (rung: Rung, ...evidence: string[]) => void;
  private code: Uint8Array = new Uint8Array();
  private isProved = false;

  constructor(evaluator: Evaluator, passed: (rung: Rung, ...evidence: string[]) => void) {
    this.evaluator = evaluator;
    this.passed = passed;
  }

  async all(code: Uint8Array): Promise<void> {
    this.code = code;
    const candidate = this.contract(code);
    this.static(candidate);
    const timed = await this.exact();
    await this.equivalence(timed);
    // For what is proved there is nothing to look for.
    const own = this.isProved ? [] : await this.evaluator.answersFor(candidate);
    await this.heldOut(own);
    this.inputs += own.length;
    await this.timed(timed);
  }

  /** The part of the climb that a first look makes. */
  async first(code: Uint8Array, under: number): Promise<LaunchTime> {
    this.code = code;
    const { kernel, statics, captured, part } = this.evaluator.oracle;
    const candidate = this.contract(code);
    const objections = staticObjections(statics, candidate, kernel);
    if (objections.length > 0) throw new Rejected('static', objections.slice(0, MAX_EVIDENCE));
    const outcome = await this.run(captured, { chip: this.evaluator.options.chip });
    this.reached = 'bit';
    await this.judge(captured, outcome, 'equivalence');
    if (outcome.time === undefined) throw new Error('a run with a clock has no time');
    if (outcome.time.nanoseconds < under) await this.strict(part, 'exact');
    return outcome.time;
  }

  private contract(code: Uint8Array): CodeObject {
    const { kernel, capture, statics } = this.evaluator.oracle;
    let candidate: CodeObject;
    let breaks: readonly string[];
    try {
      candidate = readCodeObject(code, ['candidate']);
      const { isRebuilt, workgroup, launch } = this.evaluator.options;
      const { dynamicLds } = capture.manifest.dispatch;
      breaks = contractBreaks(
        statics.codeObject,
        candidate,
        kernel,
        launch?.dynamicLds ?? dynamicLds,
        isRebuilt,
        workgroup,
        launch,
      );
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      throw new Rejected('contract', [`The candidate cannot be read: ${error.message}`]);
    }
    if (breaks.length > 0) throw new Rejected('contract', breaks.slice(0, MAX_EVIDENCE));
    this.passed('contract');
    return candidate;
  }

  private static(candidate: CodeObject): void {
    const { kernel, statics } = this.evaluator.oracle;
    const { objections, isProved, proof } = checkStatic(statics, candidate, kernel);
    if (objections.length > 0) throw new Rejected('static', objections.slice(0, MAX_EVIDENCE));
    // A proof is about the code of a workgroup, not about how many there are.
    this.isProved = isProved && this.evaluator.options.launch === undefined;
    this.passed('static', ...proof);
  }

  private run(answer: Answer, how: RunHow): Promise<Outcome> {
    const { launch } = this.evaluator.options;
    return runInput(answer.input, this.code, { maxInstructions: answer.patience, only: answer.only, launch, ...how });
  }

  /** The captured launch, followed and strict. */
  private async exact(): Promise<Outcome> {
    const { captured, part, followed: baseline } = this.evaluator.oracle;
    const { chip } = this.evaluator.options;
    const followed = await this.run(part, { follow: true, chip: part === captured ? chip : undefined });
    const problems = [...followed.strays.slice(0, MAX_EVIDENCE)];
    if (followed.failure !== undefined) problems.unshift(followed.failure);
    else problems.push(...footprint(baseline, followed));
    if (problems.length > 0) throw new Rejected('exact', problems.slice(0, MAX_EVIDENCE));
    await this.strict(part, 'exact');
    const timed = part === captured ? followed : await this.run(captured, { chip });
    if (timed.failure !== undefined) throw new Rejected('exact', [timed.failure]);
    const strictly =
      part.known === undefined
        ? 'the baseline does not finish in strict mode, so the candidate was not run in it'
        : 'strict mode has nothing against it that it has not against the baseline';
    const which = part.only === undefined ? '' : ` of ${part.only.length} workgroups`;
    this.passed('exact', `Outputs were poisoned, every access${which} was followed; ${strictly}.`);
    return timed;
  }

  private async strict(answer: Answer, rung: Rung): Promise<void> {
    if (answer.known === undefined) return;
    const outcome = await this.run(answer, { strict: true });
    const findings = newFindings(outcome.findings, answer.known).filter((f) => f.severity !== 'note');
    const problems = findings.map(findingLine);
    if (problems.length === 0 && outcome.failure !== undefined) problems.push(outcome.failure);
    if (problems.length > 0) throw new Rejected(rung, withInput(answer, problems.slice(0, MAX_EVIDENCE)));
  }

  private async equivalence(timed: Outcome): Promise<void> {
    const { captured } = this.evaluator.oracle;
    this.reached = this.isProved ? 'proved' : 'bit';
    await this.judge(captured, timed, 'equivalence');
    this.passed(
      'equivalence',
      `Asked: ${this.evaluator.options.class ?? 'bit'}; on the captured launch: ${this.reached}.`,
    );
  }

  /** Compares what a run left; what is no better than the class allows lowers what was reached. */
  private async judge(answer: Answer, outcome: Outcome, rung: Rung, how?: string): Promise<void> {
    const { class: asked = 'bit' } = this.evaluator.options;
    if (outcome.failure !== undefined) throw new Rejected(rung, withInput(answer, [outcome.failure], how));
    // Sums of one input may happen to be the same in all orders that were tried.
    const order = asked === 'atomics' ? joined(answer.varying, this.evaluator.oracle.captured.varying) : answer.varying;
    const { bytes, first, varying } = differenceOf(answer.after, outcome.after, order);
    if (varying > 0) await this.loose(answer, outcome, order, rung, how);
    if (bytes === 0) return;
    const text = `${bytes} bytes differ, the first in ${first}.`;
    if (asked !== 'bounded') throw new Rejected(rung, withInput(answer, [text], how));
    const beyond = boundedDifference(answer, outcome.after, await this.evaluator.boundsOf(answer));
    if (beyond !== undefined) throw new Rejected(rung, withInput(answer, [text, beyond], how));
    this.reached = 'bounded';
  }

  /** Bytes that depend on the order of waves: free of a proved candidate, bound to a class of others. */
  private async loose(answer: Answer, outcome: Outcome, varying: Memory, rung: Rung, how?: string): Promise<void> {
    if (this.isProved) return;
    const { class: asked = 'bit' } = this.evaluator.options;
    const isOwnOrder = how === undefined;
    if (asked === 'bit' && isOwnOrder) {
      const text =
        'Bytes that depend on the order of atomics differ in the ordinary order too: that is of the class atomics.';
      throw new Rejected(rung, withInput(answer, [text], how));
    }
    const others = notPermuted(answer.after, outcome.after, varying);
    if (others.size > 0) {
      const bounds = await this.evaluator.boundsOf(answer);
      const place = boundedDifference(answer, outcome.after, bounds, others);
      if (place !== undefined) {
        const text = `What depends on the order of waves is neither the baseline's in another order nor as close to it in f64 as sums may be: ${place}`;
        throw new Rejected(rung, withInput(answer, [text], how));
      }
    }
    if (isOwnOrder && this.reached === 'bit') this.reached = 'atomics';
  }

  private async heldOut(own: readonly Answer[]): Promise<void> {
    const { captured, part, heldOut, dropped } = this.evaluator.oracle;
    const { onStep } = this.evaluator.options;
    let schedules = 0;
    for (const answer of new Set([captured, part])) {
      for (const { name, order, lateLoads } of answer.schedules) {
        onStep?.(`the candidate in ${name}`);
        schedules++;
        await this.judge(answer, await this.run(answer, { order, lateLoads }), 'held-out', name);
      }
    }
    for (const answer of [...heldOut, ...own]) {
      onStep?.(`the candidate on: ${answer.input.name}`);
      await this.judge(answer, await this.run(answer, {}), 'held-out');
      await this.strict(answer, 'held-out');
    }
    this.passed(
      'held-out',
      `${heldOut.length + own.length} other inputs${own.length === 0 ? '' : `, ${own.length} of them with constants of the candidate`} and ${schedules} other schedules; ${dropped.length} inputs on which the baseline fails were left out.`,
    );
  }

  private async timed(timed: Outcome): Promise<void> {
    const { oracle } = this.evaluator;
    const { chip } = this.evaluator.options;
    const [before, after] = [oracle.timed.time, timed.time];
    if (before === undefined || after === undefined) throw new Error('a run with a clock has no time');
    const floor = physicsFloor(chip, { ...oracle.bytes, byEncoding: timed.byEncoding });
    const problem = impossibility(microsecondsOf(after), floor);
    if (problem !== undefined) throw new Rejected('physics', [problem]);
    this.passed('physics', `The least possible time is ${floor.microseconds.toPrecision(4)} µs: ${floor.reason}.`);
    const own = speedupOf(before, after);
    const heldOut = await this.heldOutSpeedup();
    const lowest = heldOut === undefined ? own.speedup : Math.min(own.speedup, heldOut.speedup);
    this.time = {
      clock: 'modelled',
      chip: chip.name,
      baseline: microsecondsOf(before),
      candidate: microsecondsOf(after),
      ...own,
      heldOut,
      isSmall: lowest < SMALL_SPEEDUP,
    };
    this.passed('time', timeText(this.time));
  }

  /** The same launch on other data: a candidate that knows the captured data is not fast there. */
  private async heldOutSpeedup(): Promise<Speedup | undefined> {
    const { chip } = this.evaluator.options;
    const answer = this.evaluator.oracle.heldOut.find((a) => a.input.name === TIMED_INPUT);
    const before = answer === undefined ? undefined : (await this.evaluator.timedHeldOut(answer))?.time;
    const after = answer === undefined ? undefined : (await this.run(answer, { chip })).time;
    return before === undefined || after === undefined ? undefined : speedupOf(before, after);
  }
}

/** Evidence with the input that it comes from. */
function withInput({ input }: Answer, evidence: readonly string[], how?: string): string[] {
  const words = [...(input.name === 'captured' ? [] : [input.name]), ...(how === undefined ? [] : [how])];
  return words.length === 0 ? [...evidence] : evidence.map((e) => `On '${words.join(', ')}': ${e}`);
}

/** Bytes that only one of two followed runs writes. */
function footprint(baseline: Outcome, candidate: Outcome): string[] {
  let [extra, missing] = [0, 0];
  let [firstExtra, firstMissing] = ['', ''];
  for (const name of new Set([...baseline.written.keys(), ...candidate.written.keys()])) {
    const [a, b] = [baseline.written.get(name), candidate.written.get(name)];
    if (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0) continue;
    const length = a?.length ?? b?.length ?? 0;
    for (let i = 0; i < length; i++) {
      const [was, is] = [a?.[i] === 1, b?.[i] === 1];
      if (is && !was && extra++ === 0) firstExtra = `${name}, byte 0x${i.toString(16)}`;
      if (was && !is && missing++ === 0) firstMissing = `${name}, byte 0x${i.toString(16)}`;
    }
  }
  const texts: string[] = [];
  if (extra > 0) texts.push(`It writes ${extra} bytes that the baseline does not write, the first in ${firstExtra}.`);
  if (missing > 0) {
    texts.push(`It leaves ${missing} bytes as they were that the baseline writes, the first in ${firstMissing}.`);
  }
  return texts;
}

/** A speedup in words. */
export function timeText({ chip, baseline, candidate, speedup, interval, heldOut, isSmall }: TimeComparison): string {
  const range = ([low, high]: readonly [number, number]): string => `${low.toFixed(3)} to ${high.toFixed(3)}`;
  const other =
    heldOut === undefined ? '' : `; on held-out data ×${heldOut.speedup.toFixed(3)} (${range(heldOut.interval)})`;
  const note = isSmall && speedup >= LEAST_SPEEDUP ? '; a small gain' : '';
  return `Modelled on ${chip}: ${baseline.toPrecision(4)} µs to ${candidate.toPrecision(4)} µs, ×${speedup.toFixed(3)} (${range(interval)})${other}${note}.`;
}
