// A kernel in a HIP source as the work of a language model. Every proposal is a changed source: guarded, built by the project's own command, run
// by its own program, and the kernel's new machine code climbs the ladder beside the dispatch that was captured of the unchanged program.
import { createTwoFilesPatch } from 'diff';
import { WavesmithError } from '../../base/index.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { durationText, timedInstructions, timingReport, timingText } from '../../device/sim/timing/report.ts';
import type { Capture } from '../../snapshot/index.ts';
import { type CommandResult, tailOf } from '../command.ts';
import { capturedInput } from '../evaluate/inputs.ts';
import { Evaluator } from '../evaluate/ladder.ts';
import { physicsFloor } from '../evaluate/physics.ts';
import { runInput } from '../evaluate/run.ts';
import type { EquivalenceClass, Evaluation, Rung } from '../evaluate/types.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { annotatedText } from '../model/kernel-text.ts';
import { type Judgement, type Proposal, patched, type Workshop, withEdits } from '../model/workshop.ts';
import { Contest, verdictWords } from '../search/contest.ts';
import type { Attempt } from '../tune/tune.ts';
import { factsOf, guardBreak, type SourceFacts } from './guard.ts';
import type { CompilerCall, Project } from './project.ts';

/** The first dispatches of a program, among which the kernel is chosen. */
const DISPATCHES = 16;
const MAX_PAST = 12;

const RULES = `You make a HIP kernel faster by changing its source. You propose changes with tool calls; a deterministic judge guards, builds, runs and tries each
one on a virtual AMD GPU: other data, addresses, sizes and schedules, strict checks for races and bounds, physics, modelled time. Only its verdict counts.
- CLASS
- Only kernels, device functions and constants may change. The kernel's signature, its launch (grid, block, dynamic LDS) and all code of the host stay.
- All barriers are reached by all work-items of a workgroup. Sizes may be other than in this run, and no multiple of anything.
- Use blockDim and gridDim only where the kernel used them before: they are hidden arguments. Work-items of a workgroup are as many as the launch says.
- Make one change at a time, the one that the stalls ask for. A rejected change is not there any more: the next one begins at the best so far.
- In the listing, text behind ';@' is the share of the time that waves spend at an instruction, and the reasons with cycles for one execution.
- Call stop when nothing is left that is worth a try.`;

const SAME =
  'Every byte that the kernel leaves in memory must be the same, for all inputs. So sums of floats keep their order.';
const CLASS_RULES: Readonly<Record<EquivalenceClass, string>> = {
  bit: SAME,
  atomics: `${SAME} Only what atomics add in any order may be added in another one.`,
  bounded:
    'Floats that the kernel leaves in memory may be rounded otherwise, as sums in another order are, and must be as near to the result in f64. All other bytes must be the same.',
};

export interface HipOptions {
  /** Names of kernels (mangled) that may be chosen. */
  readonly kernel: RegExp;
  readonly chip: Chip;
  readonly class: EquivalenceClass;
  readonly seed: number;
  readonly ledger: Ledger | undefined;
  readonly onStep?: ((text: string) => void) | undefined;
}

/** A kernel that the program dispatches. */
export interface RankedKernel {
  readonly kernel: string;
  readonly dispatches: number;
  /** Modelled, of all its recorded dispatches. */
  readonly nanoseconds: number;
}

/** A program as it was found. */
interface Baseline {
  readonly call: CompilerCall;
  readonly capture: Capture;
  /** Which dispatch of the kernel it is. */
  readonly index: number;
  readonly status: number | null;
  /** What the program prints; undefined when that differs from run to run. */
  readonly stdout: string | undefined;
  readonly facts: SourceFacts;
}

export class HipWorkshop implements Workshop {
  readonly what: string;
  readonly rules: string;
  readonly hasMoves = false;
  readonly contest: Contest;
  readonly ranking: readonly RankedKernel[];
  private readonly project: Project;
  private readonly baseline: Baseline;
  private readonly ledger: Ledger | undefined;
  private readonly before: string;
  private text: string;

  private constructor(
    project: Project,
    contest: Contest,
    baseline: Baseline,
    ranking: readonly RankedKernel[],
    ledger: Ledger | undefined,
  ) {
    this.project = project;
    this.contest = contest;
    this.baseline = baseline;
    this.ranking = ranking;
    this.ledger = ledger;
    this.what = `the source ${project.source}`;
    this.rules = RULES.replace('CLASS', CLASS_RULES[contest.evaluator.options.class ?? 'bit']);
    this.before = project.text();
    this.text = this.before;
  }

  /** Builds and runs the program as it is, and chooses the kernel that takes most of the time. */
  static async open(project: Project, options: HipOptions): Promise<HipWorkshop> {
    const { onStep, chip, ledger, seed } = options;
    onStep?.('building the program as it is');
    project.write(project.text());
    const built = await project.build();
    if (built.status !== 0)
      throw failed('optimize/build', 'The project does not build as it is', built, leftOutHint(project));
    const call = project.compilerCall();
    if (call === undefined) {
      throw new WavesmithError('optimize/no-compiler', `The build calls no compiler by name for '${project.source}'.`, {
        hint: 'It must find hipcc, clang++ or clang on PATH, and not by an absolute path.',
      });
    }
    onStep?.('running the program as it is');
    const ran = await project.capture(options.kernel.source, `0-${DISPATCHES - 1}`);
    if (ran.captures.length === 0) throw failed('optimize/run', 'No dispatch of the program was recorded', ran);
    const again = await project.exec();
    const { capture, index, ranking } = await hottest(ran.captures, chip);
    const { kernel } = capture.manifest.dispatch;
    const facts = await factsOf(call, project.source, kernel, (argv, folder) => project.command(argv, folder));
    if (typeof facts === 'string')
      throw failed('optimize/build', 'The compiler does not tell what the source holds', facts);
    if (facts.signature === undefined) {
      throw new WavesmithError('optimize/no-kernel', `'${project.source}' does not hold the kernel ${kernel}.`, {
        hint: `--source names the file of the kernel; --kernel chooses another one among ${ranking.map((r) => r.kernel).join(', ')}.`,
      });
    }
    const stdout = again.stdout === ran.stdout ? ran.stdout : undefined;
    // Launch bounds are the source's to choose: the program launches no more, and its runs are compared.
    const sizes = ran.captures.map(({ manifest: { dispatch } }) =>
      dispatch.kernel === kernel ? dispatch.block.reduce((a, b) => a * b, 1) : 0,
    );
    const workgroup = Math.max(...sizes);
    const how = { chip, class: options.class, seed, onStep, isRebuilt: true, workgroup };
    const evaluator = await Evaluator.open(capture, how);
    const contest = await Contest.open(evaluator, ledger);
    const baseline = { call, capture, index, status: ran.status, stdout, facts };
    return new HipWorkshop(project, contest, baseline, ranking, ledger);
  }

  /** The source with everything that was kept, and its diff to the source as it was. */
  get result(): { readonly text: string; readonly patch: string; readonly comparesOutput: boolean } {
    const { source } = this.project;
    const patch = this.text === this.before ? '' : diffOfSources(source, this.before, this.text);
    return { text: this.text, patch, comparesOutput: this.baseline.stdout !== undefined };
  }

  async briefing(): Promise<string> {
    const { oracle, options } = this.contest.evaluator;
    const { dispatch } = oracle.capture.manifest;
    const floor = physicsFloor(options.chip, { ...oracle.bytes, byEncoding: oracle.timed.byEncoding });
    const past = this.ledger?.past(oracle.capture.identity(), MAX_PAST) ?? [];
    const tried = past.map(({ change, evaluation }) => `${change.split('\n')[0]} → ${verdictWords(evaluation)}`);
    return [
      `Kernel ${oracle.kernel} for ${oracle.statics.codeObject.target.processor}, modelled on ${options.chip.name}.`,
      `Kernels by time: ${this.ranking.map((r) => `${r.kernel} ${durationText(r.nanoseconds / 1000)} in ${r.dispatches} dispatches`).join('; ')}.`,
      `Launch: ${JSON.stringify({ gridWorkItems: dispatch.gridWorkItems, block: dispatch.block, dynamicLds: dispatch.dynamicLds })}.`,
      `Least possible time: ${floor.microseconds.toPrecision(4)} µs (${floor.reason}).`,
      await this.state(),
      ...(tried.length === 0 ? [] : [`Tried before:\n${tried.join('\n')}`]),
    ].join('\n\n');
  }

  private async state(): Promise<string> {
    const { evaluator, best } = this.contest;
    const { time } = await evaluator.look(best.code, 0);
    if (time === undefined) throw new Error('the best so far is no candidate');
    const listing = annotatedText(best.code, evaluator.oracle.kernel, timedInstructions(time));
    return [
      timingText(timingReport(time)).join('\n'),
      `${this.project.source}:\n\`\`\`\n${this.text}\n\`\`\``,
      `Its machine code:\n\`\`\`\n${listing}\n\`\`\``,
    ].join('\n\n');
  }

  async judge(proposal: Proposal): Promise<Judgement> {
    const next =
      proposal.kind === 'moves'
        ? { problem: 'There are no moves here.' }
        : proposal.kind === 'edits'
          ? withEdits(this.text, proposal.edits)
          : patched(this.text, proposal.patch);
    if ('problem' in next) {
      this.contest.refuse('not built');
      return { isKept: false, words: `Not built. ${next.problem}` };
    }
    this.project.write(next.text);
    const code = await this.compiled();
    if (code instanceof Refusal) {
      this.contest.refuse(code.what);
      this.project.write(this.text);
      return { isKept: false, words: code.words };
    }
    const diff = diffOfSources(this.project.source, this.text, next.text);
    const { reason } = proposal;
    const { isKept, words } = await this.contest.offer(code, { moves: [], reason, diff, change: `${reason}\n${diff}` });
    if (isKept) this.text = next.text;
    else this.project.write(this.text);
    return { isKept, words: isKept ? `${words}\n\n${await this.state()}` : words };
  }

  /**
   * Lets the program with another text of its source climb the ladder once, whatever its time. What is no program with the same host, or does not run as
   * before, is rejected before there is machine code to judge; `code` is then the text.
   */
  async evaluate(text: string): Promise<{ readonly code: Uint8Array; readonly evaluation: Evaluation }> {
    this.project.write(text);
    const code = await this.compiled();
    this.project.write(this.text);
    const { evaluator } = this.contest;
    if (!(code instanceof Refusal)) return { code, evaluation: await evaluator.evaluate(code) };
    const source = new TextEncoder().encode(text);
    return { code: source, evaluation: evaluator.rejection(source, code.rung, [code.words]) };
  }

  /** Builds the source as it is by another command. The project stays as it was built last. */
  async tryBuild(command: string): Promise<Attempt> {
    this.project.write(this.text);
    const built = await this.project.build(command);
    const call = built.status === 0 ? this.project.compilerCall() : undefined;
    if (call === undefined) {
      this.contest.refuse('not built');
      return { nanoseconds: undefined, words: `It does not build:\n${tailOf(built)}` };
    }
    const code = await this.compiled(call, command);
    if (code instanceof Refusal) {
      this.contest.refuse(code.what);
      return { nanoseconds: undefined, words: code.words };
    }
    const { nanoseconds, problem } = await this.contest.look(code);
    if (nanoseconds === undefined) return { nanoseconds, words: `Rejected at ${problem}` };
    return { nanoseconds, climb: (offer) => this.contest.offer(code, offer) };
  }

  /** The machine code of the written source. `command`: what built it already. */
  private async compiled(call = this.baseline.call, command?: string): Promise<Uint8Array | Refusal> {
    const { project, baseline } = this;
    const { kernel } = this.contest.evaluator.oracle;
    const facts = await factsOf(call, project.source, kernel, (argv, folder) => project.command(argv, folder));
    if (typeof facts === 'string') return new Refusal('not built', `It does not compile:\n${facts.slice(-TOLD)}`);
    const problem = guardBreak(baseline.facts, facts);
    if (problem !== undefined) return new Refusal('guard', `Refused: ${problem}`);
    const built = command === undefined ? await project.build() : undefined;
    if (built !== undefined && built.status !== 0)
      return new Refusal('not built', `It does not build:\n${tailOf(built)}`);
    const ran = await project.capture(`^${kernel.replace(/[^\w]/g, '\\$&')}$`, String(baseline.index));
    const [capture] = ran.captures;
    if (capture === undefined) return new Refusal('run', `The program did not get to the kernel:\n${tailOf(ran)}`);
    const launch = ({ manifest: { dispatch } }: Capture): string =>
      JSON.stringify([dispatch.gridWorkItems, dispatch.block, dispatch.dynamicLds]);
    if (launch(capture) !== launch(baseline.capture))
      return new Refusal('run', 'The kernel is launched otherwise than before.');
    if (ran.status !== baseline.status) {
      const words = `The program ends with status ${ran.status}, before with ${baseline.status}:\n${tailOf(ran)}`;
      return new Refusal('run', words);
    }
    if (baseline.stdout !== undefined && this.printed(ran.stdout) !== this.printed(baseline.stdout))
      return new Refusal('run', 'The program prints something else than before.');
    return capture.codeObject();
  }

  /** What a program prints as far as it must stay: floats may be rounded otherwise in the class bounded. */
  private printed(text: string): string {
    return this.contest.evaluator.options.class === 'bounded' ? text.replace(PRINTED_FLOAT, '#') : text;
  }
}

/** Numbers with a point or an exponent. */
const PRINTED_FLOAT = /[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?/g;

/** Why a text of the source is no candidate. */
class Refusal {
  /** Its kind, for counts. */
  readonly what: 'not built' | 'guard' | 'run';
  readonly words: string;
  constructor(what: Refusal['what'], words: string) {
    this.what = what;
    this.words = words;
  }
  /** The rung of the ladder that it belongs to. */
  get rung(): Rung {
    return this.what === 'run' ? 'exact' : 'contract';
  }
}

/** Characters of a compiler's words. */
const TOLD = 4000;

const diffOfSources = (name: string, before: string, after: string): string =>
  createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after);

function leftOutHint({ leftOut: [folder] }: Project): string | undefined {
  if (folder === undefined) return undefined;
  const example = `--build 'cmake -B ${folder} . && cmake --build ${folder}'`;
  return `'${folder}' is not in the copy, for it was configured to build where it lies. Configure it in the build: ${example}.`;
}

function failed(code: string, what: string, why: CommandResult | string, hint?: string): WavesmithError {
  const words = typeof why === 'string' ? why.trim().slice(-TOLD) : tailOf(why);
  const status = typeof why === 'string' ? '' : ` (status ${why.status ?? 'none: it was stopped'})`;
  return new WavesmithError(code, `${what}${status}: ${words === '' ? 'it said nothing' : words}`, { hint });
}

/** The longest dispatch of the kernel that takes most of the time. */
async function hottest(
  captures: readonly Capture[],
  chip: Chip,
): Promise<{ readonly capture: Capture; readonly index: number; readonly ranking: readonly RankedKernel[] }> {
  const timed: { readonly capture: Capture; readonly index: number; readonly nanoseconds: number }[] = [];
  const counts = new Map<string, number>();
  for (const capture of captures) {
    const { kernel } = capture.manifest.dispatch;
    const index = counts.get(kernel) ?? 0;
    counts.set(kernel, index + 1);
    const { time } = await runInput(capturedInput(capture), capture.codeObject(), { chip });
    timed.push({ capture, index, nanoseconds: time?.nanoseconds ?? 0 });
  }
  const ranking = [...counts].map(([kernel, dispatches]) => ({
    kernel,
    dispatches,
    nanoseconds: timed
      .filter((t) => t.capture.manifest.dispatch.kernel === kernel)
      .reduce((sum, t) => sum + t.nanoseconds, 0),
  }));
  ranking.sort((a, b) => b.nanoseconds - a.nanoseconds);
  const longest = timed
    .filter((t) => t.capture.manifest.dispatch.kernel === ranking[0]?.kernel)
    .reduce((a, b) => (b.nanoseconds > a.nanoseconds ? b : a));
  return { ...longest, ranking };
}
