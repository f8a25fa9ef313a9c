// Going to another moment: the past is looked through from checkpoint to checkpoint, then execution runs to the moment that was found.
import { Rewind, type Rewindable } from '../dispatch/monitor.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { Breakpoints } from './breakpoints.ts';
import { begunAt } from './forward-run.ts';
import type { HeldDispatch } from './held.ts';
import { type ChangedBytes, type Checkpoint, History } from './history.ts';
import { type Goal, Search, type SearchView } from './search.ts';
import type { Resume } from './stop.ts';
import type { SavedCalls } from './wave-calls.ts';

/** The past of a dispatch. Rewinds that it gives are for the caller to throw. */
export class Past {
  private readonly held: HeldDispatch;
  private readonly breakpoints: Breakpoints;
  /** Forgets what was seen of the instruction before. */
  private readonly forget: () => void;
  private history: History<SavedCalls> | undefined;
  private search: Search | undefined;
  private goal: Goal | undefined;

  constructor(held: HeldDispatch, breakpoints: Breakpoints, forget: () => void) {
    this.held = held;
    this.breakpoints = breakpoints;
    this.forget = forget;
  }

  /** From here on the past is kept. */
  begin(memory: DeviceMemory): void {
    this.history = new History(memory);
  }

  /** Between two slices: a checkpoint, if that is worth it. */
  offer(dispatch: Rewindable): void {
    this.history?.offer(this.held.time, dispatch, () => this.held.calls.save());
  }

  /** Before each instruction: what it stores is kept. */
  note(w: Wave, pc: number, bound: BoundInstruction): void {
    this.history?.note(this.held.time, w, pc, bound);
  }

  /** Whether it can be gone to. */
  get isKept(): boolean {
    return this.history?.start !== undefined;
  }

  /** Why it cannot be gone to. */
  get whyNotKept(): string {
    return this.history?.isTooLarge === true
      ? 'the dispatch uses more memory than checkpoints may take (1 GiB that is not zero)'
      : 'other tools observe this run too (--trace, --counters, --profile)';
  }

  /** The first moment that can be gone back to. */
  get start(): number {
    return this.history?.start ?? this.held.time;
  }

  /** Makes a change of registers or memory; it is made again whenever execution comes here again. */
  change(apply: () => void, changed?: ChangedBytes): void {
    if (this.history === undefined) apply();
    else this.history.change(this.held.time, apply, changed);
  }

  /** Makes again what the user changed at this moment. */
  replayChanges(): void {
    const { history, search } = this;
    const { time } = this.held;
    if (history?.isChangedAt(time) !== true) return;
    // A search that begins here has seen nothing yet.
    const looks = search !== undefined && time > search.from && time <= search.limit;
    if (looks) search.beforeChanges(time);
    history.replay(time);
    if (looks) search.afterChanges(time);
  }

  /** Whether execution is on its way to a moment, or to find one: nothing else stops it. */
  get isUnderWay(): boolean {
    return this.search !== undefined || this.goal !== undefined;
  }

  /** Whether execution runs to a moment that is known. */
  get hasGoal(): boolean {
    return this.goal !== undefined;
  }

  /** Runs on to a later moment. */
  goTo(time: number): void {
    this.goal = { time, reason: 'reached' };
  }

  /** Before an instruction: whether the way goes on. Throws a Rewind at the end of a stretch that is looked through. */
  passes(w: Wave, pc: number, bound: BoundInstruction): boolean {
    const { search, goal } = this;
    const { time } = this.held;
    if (search === undefined) return goal !== undefined && time < goal.time;
    if (time < search.limit) search.look(w, pc, time, bound);
    else this.endSearch();
    return true;
  }

  /** The moment that has been come to, or ended before; the way is over. */
  arrive(): Goal | undefined {
    const { goal } = this;
    this.goal = undefined;
    return goal;
  }

  /** At the end of the dispatch: throws a Rewind when the past is looked through. */
  endSearch(): void {
    const { search, history } = this;
    if (search === undefined || history === undefined) return;
    const goal = search.end();
    if (goal === undefined) throw this.searchBefore(search.from, history);
    this.search = undefined;
    throw this.rewindTo(history.at(goal.time) as Checkpoint<SavedCalls>, goal);
  }

  /** To the dispatch's start, as if nothing had been changed. */
  restarted(): Rewind {
    const history = this.known();
    history.forgetChanges();
    return this.rewindTo(history.at(this.start) as Checkpoint<SavedCalls>, undefined);
  }

  /** To an earlier moment. */
  backTo(moment: number): Rewind {
    const history = this.known();
    const time = Math.max(this.start, moment);
    return this.rewindTo(history.at(time) as Checkpoint<SavedCalls>, { time, reason: 'reached' });
  }

  /** To the last moment before this one that is asked for. */
  back(target: Resume & { kind: 'back' }): Rewind {
    const history = this.known();
    const { held, breakpoints } = this;
    const { calls, options } = held;
    const { start, left } = begunAt(held, held.selected);
    const view: SearchView = {
      breakpoints,
      depthOf: (w) => calls.depthOf(w),
      facts: options,
      before: (w) => calls.before(w),
      waves: () => calls.all,
      source: held,
      start,
      left,
    };
    // What is looked for is of the function that is shown.
    this.search = new Search(target, held.selected, held.lane, held.time, view);
    return this.searchBefore(held.time, history);
  }

  private known(): History<SavedCalls> {
    if (this.history?.start === undefined) throw new Error('there is no history');
    return this.history;
  }

  /**
   * Looks through the last stretch before a time, from a checkpoint on, in which what is looked for may have changed; without one the history
   * begins there.
   */
  private searchBefore(limit: number, history: History<SavedCalls>): Rewind {
    const stretch = history.before(limit, this.search?.lines);
    if (stretch === undefined) {
      const { search } = this;
      const same = search?.lastResort;
      this.search = undefined;
      if (same !== undefined) return this.rewindTo(history.at(same.time) as Checkpoint<SavedCalls>, same);
      const time = history.start as number;
      const goal: Goal = { time, reason: 'start of history', note: search?.noteOfNothing(time) };
      return this.rewindTo(history.at(time) as Checkpoint<SavedCalls>, goal);
    }
    const { checkpoint, end } = stretch;
    const rewind = this.rewindTo(checkpoint, undefined);
    return new Rewind(rewind.to, () => {
      rewind.arrived();
      this.search?.begin(checkpoint.time, end);
    });
  }

  private rewindTo(checkpoint: Checkpoint<SavedCalls>, goal: Goal | undefined): Rewind {
    this.history?.restore(checkpoint);
    return new Rewind(checkpoint.state, () => {
      this.held.rewound(checkpoint.time, checkpoint.own);
      this.forget();
      this.goal = goal;
    });
  }
}
