// A model of IREE as a place of work: another configuration is compiled, run by iree-run-module, and each dispatch whose code or launch changed climbs
// the ladder beside the dispatch of the module as it is: on its captured memory, launched as the new module launches it. What the function gives
// is compared too, so what lies between dispatches counts.
import { WavesmithError } from '../../base/index.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { durationText } from '../../device/sim/timing/report.ts';
import { sha256 as hashOf } from '../../iree/files.ts';
import type { Capture } from '../../snapshot/index.ts';
import { compareElements, comparisonVerdict } from '../../verdict/index.ts';
import { Evaluator, type EvaluatorOptions } from '../evaluate/ladder.ts';
import { launchOf, type OwnLaunch } from '../evaluate/launches.ts';
import type { EquivalenceClass, Evaluation } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Offer, verdictWords } from '../search/contest.ts';
import { Judge } from '../search/judge.ts';
import { LEAST_GAIN } from '../search/search.ts';
import type { SearchResult, Step } from '../search/state.ts';
import type { Configuration } from '../tune/configuration.ts';
import { holds, type ModelSpace, withValues } from '../tune/space.ts';
import type { Attempt, Tunable } from '../tune/tune.ts';
import type { Model, Module, ModuleRun } from './model.ts';
import { type DispatchClimb, moduleEvaluation } from './module-evaluation.ts';

export interface ModuleWorkshopOptions {
  readonly chip: Chip;
  readonly class: EquivalenceClass;
  readonly seed: number;
  readonly ledger: Ledger | undefined;
  readonly onStep?: ((text: string) => void) | undefined;
}

/** Dispatches of the module as it is that are one: the same code, launch and arguments that are passed by value. */
interface Group {
  readonly capture: Capture;
  readonly code: Uint8Array;
  readonly launch: OwnLaunch;
  /** Places in the order of dispatches. */
  readonly places: readonly number[];
  /** Made when it is asked for. */
  evaluator: Promise<Evaluator> | undefined;
}

/** A group with what a configuration makes of it. */
interface Changed {
  readonly group: Group;
  readonly code: Uint8Array;
  readonly judge: Judge;
}

/** The best so far. */
interface Best {
  readonly nanoseconds: number;
  readonly evaluation: Evaluation | undefined;
  readonly steps: readonly Step[];
  /** What is parent of the next: a hash. */
  readonly hash: string;
}

export class ModuleWorkshop implements Tunable {
  /** The compiler's own choice is none of the configurations. */
  readonly start = undefined;
  readonly before: number;
  private readonly model: Model;
  private readonly space: ModelSpace;
  private readonly options: ModuleWorkshopOptions;
  private readonly baseline: ModuleRun;
  private readonly module: Module;
  private readonly groups: readonly Group[];
  private readonly times: ReadonlyMap<Group, number>;
  private readonly outcomes: Record<string, number> = {};
  private looks = 0;
  private climbs = 0;
  private best: Best;

  private constructor(
    model: Model,
    space: ModelSpace,
    options: ModuleWorkshopOptions,
    [module, baseline]: readonly [Module, ModuleRun],
    groups: readonly Group[],
    times: ReadonlyMap<Group, number>,
  ) {
    this.model = model;
    this.space = space;
    this.options = options;
    this.module = module;
    this.baseline = baseline;
    this.groups = groups;
    this.times = times;
    this.before = groups.reduce((sum, g) => sum + (times.get(g) as number) * g.places.length, 0);
    this.best = { nanoseconds: this.before, evaluation: undefined, steps: [], hash: this.key };
  }

  /** Compiles and runs the model as it is. One that does not compile is `tune/compile`, one that does not run or dispatches nothing `tune/bad-module`. */
  static async open(model: Model, space: ModelSpace, options: ModuleWorkshopOptions): Promise<ModuleWorkshop> {
    const { onStep } = options;
    onStep?.('compiling the model as it is');
    const plain = plainFlags(space);
    const module = await model.compile(plain, undefined);
    if (typeof module === 'string') {
      throw new WavesmithError('tune/compile', `The model does not compile as it is: ${module}`, {
        file: space.model,
        hint: `It is compiled without the specification, and with these flags: ${plain.join(' ') || 'none'}.`,
      });
    }
    onStep?.('running the model as it is');
    const baseline = await model.run(module, true);
    const nothing = typeof baseline !== 'string' && baseline.dispatches.length === 0;
    if (typeof baseline === 'string' || nothing) {
      const why = typeof baseline === 'string' ? `does not run as it is: ${baseline}` : 'dispatches no kernel';
      throw new WavesmithError('tune/bad-module', `'${module.signature.name}' ${why}.`, {
        file: space.model,
        hint: "Inputs may not fit: give them with 'inputs:'. 'function:' chooses another function.",
      });
    }
    const groups = groupsOf(baseline.dispatches);
    const times = new Map<Group, number>();
    for (const group of groups) {
      const evaluator = await evaluatorOf(group, options);
      const { nanoseconds, problem } = await evaluator.look(group.code, 0);
      if (nanoseconds === undefined)
        throw new WavesmithError('evaluate/baseline', `The baseline is no candidate: ${problem}`);
      times.set(group, nanoseconds);
    }
    return new ModuleWorkshop(model, space, options, [module, baseline], groups, times);
  }

  /** The function that is tuned, with its kernels. */
  get name(): string {
    const kernels = this.groups.map(({ capture, places }) => {
      const { kernel } = capture.manifest.dispatch;
      return places.length === 1 ? kernel : `${kernel} (${places.length} times)`;
    });
    return `@${this.module.signature.name}: ${kernels.join(', ')}`;
  }

  /** Flags of the model as it is. */
  get plainFlags(): readonly string[] {
    return plainFlags(this.space);
  }

  async attempt(configuration: Configuration): Promise<Attempt> {
    const { model, space, options } = this;
    const fill = (text: string): string => withValues(text, configuration);
    this.looks++;
    const module = await model.compile(space.flags.map(fill), model.specWith(fill));
    if (typeof module === 'string') return this.refuse('not built', `It does not compile: ${module}`);
    const run = await model.run(module, false);
    try {
      if (typeof run === 'string') return this.refuse('run', `It does not run: ${run}`);
      const problem = this.differenceOf(module, run);
      if (problem !== undefined) return this.refuse('run', problem);
      const changed = await this.changedIn(run);
      if (typeof changed === 'string') return this.refuse('run', changed);
      if (changed.length === 0) return this.refuse('no change', 'The compiler makes the same of it.');
      let nanoseconds = this.before;
      for (const { group, code, judge } of changed) {
        options.onStep?.(`a first look at ${group.capture.manifest.dispatch.kernel}`);
        const look = await judge.look(code, 0);
        if (look.nanoseconds === undefined)
          return this.refuse(look.problem?.split(':')[0] ?? 'rejected', `Rejected at ${look.problem}`);
        nanoseconds += (look.nanoseconds - (this.times.get(group) as number)) * group.places.length;
      }
      return { nanoseconds, climb: (offer) => this.climb(configuration, changed, nanoseconds, offer) };
    } finally {
      model.forget(module, typeof run === 'string' ? undefined : run);
    }
  }

  /** What was found. */
  result(isBudgetUsed: boolean): SearchResult {
    const { evaluation, steps, nanoseconds } = this.best;
    const { looks, climbs, outcomes, before } = this;
    return {
      evaluation,
      code: undefined,
      steps,
      nanoseconds: [before, nanoseconds],
      looks,
      climbs,
      outcomes,
      isBudgetUsed,
    };
  }

  /** What judgements depend on beside the configuration. */
  private get key(): string {
    const parts = this.groups.map(({ capture, places }) => [capture.identity(), places]);
    return sha256(JSON.stringify([this.model.version, this.module.signature, parts]));
  }

  private refuse(what: string, words: string): Attempt & { readonly nanoseconds: undefined } {
    this.count(what);
    return { nanoseconds: undefined, words };
  }

  private count(what: string): void {
    this.outcomes[what] = (this.outcomes[what] ?? 0) + 1;
  }

  /** Why a module is not the same to its caller, or cannot be compared dispatch by dispatch. */
  private differenceOf({ signature }: Module, run: ModuleRun): string | undefined {
    const { baseline, module } = this;
    if (JSON.stringify(signature) !== JSON.stringify(module.signature))
      return 'The function takes or gives something else than before.';
    const [was, is] = [baseline, run].map(({ dispatches }) => dispatches.map(shapeOf)) as [string[], string[]];
    const at = was.findIndex((shape, i) => shape !== is[i]);
    if (was.length !== is.length || at >= 0) {
      const names = ({ dispatches }: ModuleRun): string =>
        dispatches[Math.max(at, 0)]?.manifest.dispatch.kernel ?? 'nothing';
      return `The module is split into other dispatches: ${was.length} before, ${is.length} now; ${names(baseline)} before, ${names(run)} now. Only how a dispatch is lowered may change.`;
    }
    for (const [i, { bytes, elementType, shape }] of baseline.outputs.entries()) {
      const type = signature.outputs[i]?.elementType ?? elementType ?? 'u8';
      const got = run.outputs[i]?.bytes ?? new Uint8Array();
      if (Buffer.compare(bytes, got) === 0) continue;
      if (this.options.class !== 'bounded') return `Output ${i} of the function has other bytes.`;
      if (comparisonVerdict(compareElements(bytes, got, type, { shape })) === 'different')
        return `Output ${i} of the function is another one, not only rounded otherwise.`;
    }
    return undefined;
  }

  /** What is lowered otherwise; a text when that cannot be told group by group. */
  private async changedIn({ dispatches }: ModuleRun): Promise<Changed[] | string> {
    const changed: Changed[] = [];
    for (const group of this.groups) {
      const [one, another] = groupsOf(group.places.map((place) => dispatches[place] as Capture));
      const { kernel } = group.capture.manifest.dispatch;
      if (one === undefined || another !== undefined)
        return `Dispatches of ${kernel} that were alike are no longer alike.`;
      if (sha256(one.code) === sha256(group.code) && JSON.stringify(one.launch) === JSON.stringify(group.launch))
        continue;
      const evaluator = await evaluatorOf(group, this.options);
      changed.push({ group, code: one.code, judge: new Judge(evaluator.launchedAs(one.launch), this.options.ledger) });
    }
    return changed;
  }

  /** The whole ladder for all that changed. */
  private async climb(
    configuration: Configuration,
    changed: readonly Changed[],
    nanoseconds: number,
    { moves, reason, diff, change }: Offer,
  ): Promise<{ readonly isKept: boolean; readonly words: string }> {
    const { best, options } = this;
    const times = `${durationText(best.nanoseconds / 1000)} before, ${durationText(nanoseconds / 1000)} with it`;
    if (nanoseconds >= best.nanoseconds * (1 - LEAST_GAIN)) {
      this.count('no gain');
      return { isKept: false, words: `Not kept: it is not faster, ${times}.` };
    }
    this.climbs++;
    const climbed: DispatchClimb[] = [];
    for (const { group, code, judge } of changed) {
      options.onStep?.(`${group.capture.manifest.dispatch.kernel} on the ladder`);
      const evaluation = await judge.climb(code, { parent: sha256(group.code), change });
      climbed.push({ evaluation, count: group.places.length });
      if (evaluation.verdict === 'rejected') break;
    }
    const text = new TextEncoder().encode(JSON.stringify(configuration));
    const key = {
      baseline: this.key,
      candidate: sha256(text),
      oracle: hashOf(climbed.map((c) => c.evaluation.key.oracle).join()),
    };
    const unchanged = this.groups
      .filter((g) => !changed.some((c) => c.group === g))
      .reduce((sum, g) => sum + (this.times.get(g) as number) * g.places.length, 0);
    const evaluation = moduleEvaluation(`@${this.module.signature.name}`, climbed, unchanged / 1000, key);
    options.ledger?.add(text, { parent: best.hash, change }, evaluation);
    if (evaluation.verdict === 'rejected') {
      this.count(evaluation.rung ?? 'rejected');
      return { isKept: false, words: `Faster, and wrong: ${verdictWords(evaluation)}` };
    }
    this.count('faster');
    const { verdict, reached } = evaluation;
    const step: Step = { moves, reason, hash: key.candidate, nanoseconds, diff, verdict, reached };
    this.best = { nanoseconds, evaluation, steps: [...best.steps, step], hash: key.candidate };
    return { isKept: true, words: `Kept: ${times}, ${reached}.` };
  }
}

/** Flags that hold no value. */
const plainFlags = ({ parameters, flags }: ModelSpace): string[] =>
  flags.filter((flag) => ![...parameters.keys()].some((name) => holds(flag, name)));

/** The judge of a group of dispatches. */
function evaluatorOf(group: Group, { chip, class: asked, seed, onStep }: ModuleWorkshopOptions): Promise<Evaluator> {
  const options: EvaluatorOptions = { chip, class: asked, seed, onStep, isRebuilt: true, ownsLaunch: true };
  group.evaluator ??= Evaluator.open(group.capture, options);
  return group.evaluator;
}

/** What of a dispatch is the same however it is lowered: its kernel and its arguments, but for addresses. */
function shapeOf({ manifest: { dispatch } }: Capture): string {
  const slots = dispatch.kernarg.slots
    .filter(({ kind }) => !kind.startsWith('hidden_'))
    .map(({ kind, offset, size, bytes }) => [
      kind,
      offset,
      size,
      kind === 'by_value' ? Buffer.from(bytes).toString('hex') : '',
    ]);
  return JSON.stringify([dispatch.kernel, slots]);
}

/** Dispatches by what they are. */
function groupsOf(dispatches: readonly Capture[]): Group[] {
  const groups = new Map<string, Group & { readonly places: number[] }>();
  for (const [place, capture] of dispatches.entries()) {
    const code = capture.codeObject();
    const launch = launchOf(capture);
    const key = JSON.stringify([shapeOf(capture), launch, sha256(code)]);
    const found = groups.get(key);
    if (found === undefined) groups.set(key, { capture, code, launch, places: [place], evaluator: undefined });
    else found.places.push(place);
  }
  return [...groups.values()];
}
