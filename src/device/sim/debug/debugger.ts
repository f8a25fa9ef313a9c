// Room `device/sim/debug`: the debugger: stops waves, looks at them and changes them, and goes back in time.
// Begin with stop.ts (what it says and is told), then this file (when it stops), then history.ts (how it goes back); commands.ts is what
// a terminal types.
//
// All waves run in one thread in a fixed order, so they stop together. Time is the number of instructions that all waves of the dispatch
// have executed. Going back restores the checkpoint before and runs on to the wanted moment, the same way as the first time.
import { type DebugType, type DescriptorRegisters, descriptorRegisters } from '../../../codeobject/index.ts';
import type { DeviceFault } from '../../fault.ts';
import { type DispatchInfo, type Monitor, Rewind, type Rewindable } from '../dispatch/monitor.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { sourceName } from '../tools/symbols.ts';
import { type Arrival, Breakpoints, isWave, keyOf, type NotedAccess } from './breakpoints.ts';
import { beginningAt, type Frame, framesAt, lineText } from './frames.ts';
import { type Checkpoint, History } from './history.ts';
import { behindPrologue } from './places.ts';
import { Remembered } from './remembered.ts';
import { returnedValue } from './returned.ts';
import { activeLanes, loadFrom } from './scope.ts';
import type { ScopeSource, SelectedFrame } from './scope-source.ts';
import { type Goal, Search, type SearchView } from './search.ts';
import { isLeft, type Left, lineStepEnds, type StepStart } from './stepping.ts';
import type { Call, DebugFront, DebuggerOptions, Resume, Stop, WaveKey } from './stop.ts';
import type { Load } from './typed.ts';

/** Thrown out of the dispatch when the user ends it. */
export class DebuggerQuit extends Error {}

/** A front that is told whom it leads. */
export interface DebugLeader extends DebugFront {
  /** Joins the two, before the dispatch. */
  lead(led: Debugger): void;
  /** Aborted when the user ends all, whatever runs: a program may run without a kernel. */
  readonly quits?: AbortSignal | undefined;
}

/** What the debugger knows of a wave that has begun. */
interface WaveFacts {
  readonly calls: Call | undefined;
}

/** The debugger's part of a checkpoint. */
interface OwnState {
  readonly facts: ReadonlyMap<Wave, WaveFacts>;
  readonly before: ReadonlyMap<Wave, number>;
  readonly groups: ReadonlyMap<Workgroup, readonly Wave[]>;
}

/** Why it stops, without where. */
interface Why extends Omit<Stop, 'wave' | 'pc' | 'time' | 'returned'> {
  /** The type of what a function has just returned. */
  readonly returns?: DebugType | undefined;
  /** Inlined functions that begin there and are hidden: execution stands at their call. */
  readonly hidden?: number | undefined;
}

/** What ends a forward run beside breakpoints. */
interface Running {
  readonly resume: Resume;
  readonly wave: WaveKey | undefined;
  /** Where it began: time, and the wave's own count of instructions. */
  readonly time: number;
  readonly executed: number;
  readonly start: StepStart;
  /** Of `finish`: the function that is to be left, and what it returns. */
  readonly left: Left;
  readonly returns?: DebugType | undefined;
}

/** A monitor that stops. */
export class Debugger implements Monitor, ScopeSource {
  readonly options: DebuggerOptions;
  readonly breakpoints: Breakpoints;
  /** The wave that commands are about; undefined when it has ended, until another one runs. */
  selected: Wave | undefined;
  /** The lane that expressions are about. */
  lane = 0;
  /** Which function's variables are meant: its number among the selected wave's `frames`. */
  frame = 0;
  /** Values that were printed and variables of the session; a program's dispatches share them. */
  remembered = new Remembered();
  /** Nothing stops any more. */
  isOver = false;
  /** Instructions of all waves so far. */
  time = 0;
  /** Of the device, and of the kernel: from the dispatch's start on. */
  memory: DeviceMemory | undefined;
  registers: DescriptorRegisters | undefined;
  private heldPc = 0;
  private held: Wave | undefined;
  /** Inlined functions that begin where the held wave is and are hidden. */
  private hidden = 0;
  private running: Running = start({ kind: 'continue' });
  private interrupted = false;
  /** Somebody looks at what is held. */
  private isStopped = false;
  private facts = new Map<Wave, WaveFacts>();
  /** Addresses of the instructions that waves executed last; behind a call that has returned, of the call. */
  private previous = new Map<Wave, number>();
  private groups = new Map<Workgroup, readonly Wave[]>();
  private history: History<OwnState> | undefined;
  /** An access to a watched place by the instruction that is executed, and by the one before. */
  private noted: readonly NotedAccess[] = [];
  private accessed: readonly NotedAccess[] = [];
  private search: Search | undefined;
  private goal: Goal | undefined;
  /** What is watched has no value before the first instruction. */
  private beginsAnew = false;

  constructor(options: DebuggerOptions) {
    this.options = options;
    this.breakpoints = new Breakpoints(this);
    for (const pc of options.breakpoints) this.breakpoints.add({ places: [pc] });
  }

  get arguments() {
    return this.options.arguments;
  }

  get info() {
    return this.options.info;
  }

  /** Workgroups of the dispatch, and work-items of a workgroup. */
  shape: ScopeSource['shape'];

  loadAs(w: Wave | undefined): Load {
    return loadFrom(w, this.memory);
  }

  get codeBase(): number {
    return this.options.code.base;
  }

  /** Stops at the next instruction, as Ctrl-C does while the kernel runs. */
  interrupt(): void {
    this.interrupted = true;
  }

  /** Breakpoints and watchpoints of this stop. */
  lastHit: readonly number[] = [];

  /** An interrupt waits for the next instruction. */
  get isInterrupted(): boolean {
    return this.interrupted;
  }

  /** Waves of the selected wave's workgroup. */
  get waves(): readonly Wave[] {
    return (this.selected && this.groups.get(this.selected.workgroup)) ?? [];
  }

  /** Waves of all workgroups that have begun and not ended, in the order in which they began. */
  get allWaves(): readonly Wave[] {
    return [...this.groups.values()].flat();
  }

  /** Whether the past can be gone to. */
  get hasHistory(): boolean {
    return this.history?.start !== undefined;
  }

  /** Why the past cannot be gone to. */
  get whyNoHistory(): string {
    return this.history?.isTooLarge === true
      ? 'the dispatch uses more memory than checkpoints may take (1 GiB that is not zero)'
      : 'other tools observe this run too (--trace, --counters, --profile)';
  }

  /** The first moment that can be gone back to. */
  get startOfHistory(): number {
    return this.history?.start ?? this.time;
  }

  /** Calls of a wave that have not returned, the innermost first. */
  callsOf(w: Wave): readonly Call[] {
    const calls: Call[] = [];
    for (let c = this.facts.get(w)?.calls; c !== undefined; c = c.outer) calls.push(c);
    return calls;
  }

  /** The functions on a wave's stack, the innermost first. */
  framesOf(w: Wave): readonly Frame[] {
    const pcs = [this.pcOf(w) ?? 0, ...this.callsOf(w).map((c) => c.site)];
    const hidden = w === this.held ? this.hidden : 0;
    return pcs.flatMap((pc, level) => framesAt(this.options, pc, level, level === 0 ? hidden : 0));
  }

  selectedFrame(w: Wave): SelectedFrame | undefined {
    // While the wave runs, conditions and watched values mean the innermost function.
    if (w !== this.selected || !this.isStopped) return undefined;
    return this.asSelected(w, this.framesOf(w)[this.frame]);
  }

  frameOfKey(w: Wave, key: number, depth: number): SelectedFrame | undefined {
    const level = (this.facts.get(w)?.calls?.depth ?? 0) - depth;
    if (level < 0) return undefined;
    const pc = level === 0 ? this.pcOf(w) : this.callsOf(w)[level - 1]?.site;
    const frames = pc === undefined ? [] : framesAt(this.options, pc, level, 0);
    return this.asSelected(
      w,
      frames.find((f) => f.key === key),
    );
  }

  frameNamed(w: Wave, name: string): SelectedFrame | undefined {
    return this.asSelected(
      w,
      this.framesOf(w).find((f) => f.name === name || f.name?.replace(/<.*>$/, '') === name),
    );
  }

  codeNamed(name: string): number | undefined {
    const { symbols } = this.options.symbols;
    return (symbols.find((s) => s.name === name) ?? symbols.find((s) => sourceName(s.name) === name))?.address;
  }

  private asSelected(w: Wave, frame: Frame | undefined): SelectedFrame | undefined {
    if (frame === undefined) return undefined;
    const depth = (this.facts.get(w)?.calls?.depth ?? 0) - frame.level;
    const call = frame.level === 0 ? undefined : this.callsOf(w)[frame.level - 1];
    return { pc: frame.pc, inlined: frame.inlined, scalars: call?.scalars, depth };
  }

  /** `file:line` where a wave is, as its innermost function that is not hidden sees it. */
  lineOfWave(w: Wave): string | undefined {
    return lineText(this.framesOf(w)[0]?.line);
  }

  /** The address of a wave's next instruction, or undefined when it has not begun. */
  pcOf(w: Wave): number | undefined {
    if (w === this.held && this.isStopped) return this.heldPc;
    return this.facts.has(w) ? w.pc - this.options.code.base : undefined;
  }

  /** The address of the selected wave's next instruction. */
  get pc(): number {
    return (this.selected === undefined ? undefined : this.pcOf(this.selected)) ?? this.heldPc;
  }

  /** Whether a wave is the one that is held before its next instruction. */
  isHeld(w: Wave): boolean {
    return w === this.held;
  }

  /** Selects a wave and its first active lane. */
  select(w: Wave): void {
    this.selected = w;
    this.frame = 0;
    this.lane = activeLanes(w)[0] ?? 0;
  }

  /** Makes a change of registers or memory; it is made again whenever execution comes here again. */
  change(apply: () => void): void {
    if (this.history === undefined) apply();
    else this.history.change(this.time, apply);
    this.breakpoints.refresh(this.allWaves);
  }

  /** Sends a wave elsewhere. */
  jump(w: Wave, pc: number): void {
    this.change(() => {
      w.pc = this.options.code.base + pc;
    });
    if (w === this.held) {
      this.heldPc = pc;
      this.hidden = 0;
    }
  }

  startDispatch({ memory, launch }: DispatchInfo): void {
    this.memory = memory;
    this.registers = descriptorRegisters(launch.descriptor);
    this.shape = { grid: launch.grid, block: launch.block };
    if (this.options.keepsHistory) this.history = new History(memory);
    if (this.options.front.stopsAtEntry) this.interrupted = true;
  }

  betweenSlices(dispatch: Rewindable): void {
    if (this.isOver) return;
    this.history?.offer(this.time, dispatch, () => ({
      facts: new Map(this.facts),
      before: new Map(this.previous),
      groups: new Map(this.groups),
    }));
  }

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.groups.set(group, waves);
    for (const w of waves) {
      this.facts.delete(w);
      this.previous.delete(w);
    }
  }

  endWave(w: Wave): void {
    if (this.selected === w) this.selected = undefined;
  }

  endWorkgroup(group: Workgroup): void {
    if (this.selected?.workgroup === group) this.selected = undefined;
    this.groups.delete(group);
  }

  before(w: Wave, loadedPc: number, bound: BoundInstruction): void | Promise<void> {
    if (this.isOver) return;
    const stopped = this.beforeInstruction(w, loadedPc, bound);
    if (stopped !== undefined) return stopped.then(() => this.noteAccess(w, loadedPc, bound));
    this.noteAccess(w, loadedPc, bound);
  }

  /** Keeps what the instruction that is executed now does with places that are watched. */
  private noteAccess(w: Wave, loadedPc: number, bound: BoundInstruction): void {
    this.noted = [];
    if (!this.breakpoints.watchesAccesses || this.search !== undefined || this.goal !== undefined) return;
    if (this.isOver || this.running.resume.kind === 'detach' || w.pc !== loadedPc) return;
    this.noted = this.breakpoints.accessed(w, loadedPc, bound, this.allWaves);
  }

  private beforeInstruction(w: Wave, loadedPc: number, bound: BoundInstruction): undefined | Promise<void> {
    const pc = loadedPc - this.options.code.base;
    this.replayChanges();
    if (w.pc !== loadedPc) return;
    let facts = this.facts.get(w);
    if (facts === undefined) {
      facts = { calls: undefined };
      this.facts.set(w, facts);
    }
    while (facts.calls?.returnTo === pc) {
      // What this function executed last is its call.
      this.previous.set(w, facts.calls.site);
      facts = { calls: facts.calls.outer };
      this.facts.set(w, facts);
    }
    if (this.beginsAnew) {
      this.beginsAnew = false;
      this.breakpoints.refresh(this.allWaves);
    }
    if (this.search !== undefined) {
      if (this.time < this.search.limit) this.search.look(w, pc, this.time, bound);
      else this.endSearch();
      return;
    }
    if (this.goal !== undefined) {
      if (this.time < this.goal.time) return;
      const { reason, changes, hit, byLine } = this.goal;
      this.goal = undefined;
      const hidden = byLine === true ? beginningAt(this.info, pc) : 0;
      return this.stop(w, pc, { reason, changes, hit, hidden });
    }
    if (this.running.resume.kind === 'detach' && !this.interrupted) return;
    const why = this.whyStop(w, pc, facts);
    if (why !== undefined) return this.stop(w, pc, why);
  }

  /** Makes again what the user changed at this moment. */
  private replayChanges(): void {
    const { history, search, time } = this;
    if (history?.isChangedAt(time) !== true) return;
    // A search that begins here has seen nothing yet.
    const looks = search !== undefined && time > search.from && time <= search.limit;
    if (looks) search.beforeChanges(time);
    history.replay(time);
    if (looks) search.afterChanges(time);
  }

  after(w: Wave, loadedPc: number, bound: BoundInstruction): void {
    this.time++;
    if (this.isOver) return;
    this.accessed = this.noted;
    const facts = this.facts.get(w);
    if (facts === undefined) return;
    const pc = loadedPc - this.options.code.base;
    this.previous.set(w, pc);
    if (bound.instruction.row.flags.has('isCall')) {
      const outer = facts.calls;
      const depth = (outer?.depth ?? 0) + 1;
      const call: Call = { site: pc, returnTo: pc + bound.size, outer, depth, scalars: w.sgprs.slice() };
      this.facts.set(w, { calls: call });
    }
  }

  async fault(w: Wave, fault: DeviceFault): Promise<void> {
    if (this.isOver || this.search !== undefined || this.goal !== undefined) return;
    if (this.running.resume.kind === 'detach') return;
    await this.stop(w, w.pc - this.options.code.base, { reason: 'fault', fault });
  }

  async ended(): Promise<void> {
    if (this.isOver) return;
    if (this.search !== undefined) this.endSearch();
    const change = this.goal === undefined && this.breakpoints.watchpoints.length > 0 ? this.watched() : undefined;
    const isAsked = this.options.front.stopsAtEnd && this.running.resume.kind !== 'detach';
    if (change !== undefined) await this.stop(undefined, 0, change);
    else if (this.goal !== undefined || isAsked) await this.stopAtEnd();
    // There is nothing after the end to go to.
    while (this.goal !== undefined) await this.stopAtEnd();
  }

  private async stopAtEnd(): Promise<void> {
    this.goal = undefined;
    await this.stop(undefined, 0, { reason: 'ended' });
  }

  /** `file:line` of an address. */
  lineAt(pc: number): string | undefined {
    return lineText(this.options.lines?.at(pc));
  }

  private whyStop(w: Wave, pc: number, facts: WaveFacts): Why | undefined {
    if (this.interrupted) {
      this.interrupted = false;
      return { reason: this.time === 0 && this.options.front.stopsAtEntry ? 'entry' : 'interrupted' };
    }
    const { running } = this;
    const isResumed = this.time === running.time && w === this.held;
    const watched = this.breakpoints.watchpoints.length > 0 ? this.watched() : undefined;
    const arrival =
      !isResumed && this.breakpoints.isAt(pc)
        ? this.breakpoints.arrive(w, pc, true, this.options.front.logged)
        : undefined;
    if (arrival === undefined) return watched ?? this.endsRun(w, pc, facts);
    const reached = this.atBreakpoint(w, arrival);
    if (watched === undefined) return reached;
    // The instruction before changed what is watched, and this one has a breakpoint: one stop for both.
    const hit = [...(watched.hit ?? []), ...arrival.hit];
    return { ...watched, hit, note: arrival.note, commands: [...(watched.commands ?? []), ...arrival.commands] };
  }

  private atBreakpoint(w: Wave, { hit, lane, note, commands }: Arrival): Why {
    // The lane that was looked at stays selected while its wave does.
    if (this.selected !== w) this.select(w);
    if (lane !== undefined) this.lane = lane;
    return { reason: 'breakpoint', hit, note, commands };
  }

  private watched(): Why | undefined {
    const { accessed } = this;
    this.accessed = [];
    const found = [
      ...this.breakpoints.changed(this.allWaves),
      ...accessed.map((one) => ({
        watchpoint: one.watchpoint,
        change: this.breakpoints.accessChange(one, this.allWaves, false),
      })),
    ];
    if (found.length === 0) return undefined;
    for (const { watchpoint } of found) watchpoint.hits++;
    return {
      reason: 'watchpoint',
      changes: found.map(({ change }) => change),
      hit: found.map(({ watchpoint }) => watchpoint.id),
      commands: found.flatMap(({ watchpoint }) => watchpoint.commands ?? []),
    };
  }

  /** Whether a step, `until` or `finish` ends before this instruction. */
  private endsRun(w: Wave, pc: number, facts: WaveFacts): Why | undefined {
    const { resume, wave, executed, start, left } = this.running;
    if (resume.kind === 'continue' || resume.kind === 'detach') return undefined;
    // The wave has ended: what runs next is stopped.
    if (this.selected === undefined) return resume.kind === 'step' ? { reason: 'step' } : undefined;
    if (wave === undefined || !isWave(w, wave)) return undefined;
    if (resume.kind === 'until') return resume.pc === pc && w.executed > executed ? { reason: 'reached' } : undefined;
    const now = facts.calls?.depth ?? 0;
    if (resume.kind === 'finish') {
      if (!isLeft(this.options, left, pc, now)) return undefined;
      return { reason: 'step', hidden: beginningAt(this.info, pc), returns: this.running.returns };
    }
    if (resume.kind !== 'step' || w.executed === executed) return undefined;
    if (resume.over && now > start.depth) return undefined;
    if (resume.unit === 'instruction') return this.stepped(w, 0);
    if (resume.isForward === true && now === start.depth && pc <= start.pc) return undefined;
    // A function that was called is shown when its parameters have their values.
    if (now > start.depth && this.isInPrologue(pc)) return undefined;
    const end = lineStepEnds(this.options, start, pc, now, resume.over);
    return end === undefined ? undefined : this.stepped(w, end.hidden);
  }

  /** Whether the function at an address has not yet its frame and parameters in their places. */
  private isInPrologue(pc: number): boolean {
    const { symbols, lines } = this.options;
    const begin = symbols.beginOf(pc);
    return begin !== undefined && pc < behindPrologue(symbols, lines, begin);
  }

  /** One step of several is done. */
  private stepped(w: Wave, hidden: number): Why | undefined {
    const { resume } = this.running;
    if (resume.kind !== 'step' || resume.count <= 1) return { reason: 'step', hidden };
    this.held = w;
    this.heldPc = w.pc - this.options.code.base;
    this.hidden = hidden;
    this.running = this.runningFrom({ ...resume, count: resume.count - 1 }, w, this.running.time);
    return undefined;
  }

  private runningFrom(resume: Resume, w: Wave | undefined, time = this.time): Running {
    const frames = w === undefined ? [] : this.framesOf(w);
    const depth = (w === undefined ? undefined : this.facts.get(w)?.calls?.depth) ?? 0;
    const [inner] = frames;
    const chosen = frames[this.frame] ?? inner;
    return {
      resume,
      wave: w === undefined ? undefined : keyOf(w),
      time,
      executed: w?.executed ?? 0,
      start: { pc: inner?.pc ?? 0, depth, key: inner?.key, line: lineText(inner?.line) },
      left: { depth: depth - (chosen?.level ?? 0), key: chosen?.isInlined === true ? chosen.key : undefined },
      returns: resume.kind === 'finish' && chosen?.isInlined === false ? this.returnTypeOf(chosen) : undefined,
    };
  }

  private returnTypeOf({ pc, key }: Frame): DebugType | undefined {
    return this.info
      ?.frames(pc)
      .find((f) => f.key === key)
      ?.returns();
  }

  private async stop(w: Wave | undefined, pc: number, why: Why): Promise<void> {
    if (w !== undefined && this.selected !== w) this.select(w);
    if (w === undefined) this.selected = undefined;
    else if (!w.isActive(this.lane)) this.lane = activeLanes(w)[0] ?? 0;
    this.held = w;
    this.heldPc = pc;
    const { hidden = 0, returns, ...shown } = why;
    this.hidden = hidden;
    this.lastHit = why.hit ?? [];
    this.frame = 0;
    this.isStopped = true;
    const value = w && returnedValue(returns, w, this.lane, this.loadAs(w));
    const returned = value && { value, number: this.remembered.keep(value) };
    let next = await this.options.front.stopped({ wave: w, pc, time: this.time, ...shown, returned });
    // A step into a function that was inlined here executes nothing.
    while (next.kind === 'step' && next.unit === 'line' && !next.over && this.hidden > 0 && this.selected === w) {
      this.hidden--;
      this.frame = 0;
      if (next.count > 1) next = { ...next, count: next.count - 1 };
      else next = await this.options.front.stopped({ wave: w, pc, time: this.time, reason: 'step' });
    }
    if (next.kind === 'quit') throw new DebuggerQuit('The debugger was left.');
    if (next.kind === 'restart') this.restart();
    if (next.kind === 'time' && next.time > this.time) this.goal = { time: next.time, reason: 'reached' };
    else if (next.kind === 'back' || next.kind === 'time') this.goBack(next);
    if (next.kind === 'detach') this.isOver = !this.options.front.stopsAtEnd;
    this.running = this.runningFrom(next, this.selected);
    this.isStopped = false;
    this.breakpoints.refresh(this.allWaves);
  }

  /** Ends with a Rewind: the dispatch begins again, and nothing was changed. */
  private restart(): never {
    const { history } = this;
    if (history?.start === undefined) throw new Error('there is no history');
    history.forgetChanges();
    this.breakpoints.forgetHits();
    this.running = start({ kind: 'continue' });
    this.isStopped = false;
    this.beginsAnew = true;
    throw this.rewindTo(history.at(history.start) as Checkpoint<OwnState>, undefined);
  }

  /** Ends with a Rewind. */
  private goBack(next: Resume & { kind: 'back' | 'time' }): never {
    const { history } = this;
    if (history?.start === undefined) throw new Error('there is no history');
    if (next.kind === 'time') {
      const time = Math.max(history.start, next.time);
      throw this.rewindTo(history.at(time) as Checkpoint<OwnState>, { time, reason: 'reached' });
    }
    const { start, left } = this.runningFrom(next, this.selected);
    const view: SearchView = {
      breakpoints: this.breakpoints,
      depthOf: (w) => this.facts.get(w)?.calls?.depth ?? 0,
      facts: this.options,
      before: (w) => this.previous.get(w),
      waves: () => this.allWaves,
      source: this,
      start,
      left,
    };
    // What is looked for is of the function that is shown.
    this.search = new Search(next, this.selected, this.lane, this.time, view);
    this.isStopped = false;
    throw this.searchBefore(this.time, history);
  }

  /** Looks through the stretch from the checkpoint before a time to that time; without one the history begins there. */
  private searchBefore(limit: number, history: History<OwnState>): Rewind {
    const checkpoint = history.at(limit - 1);
    if (checkpoint === undefined) {
      this.search = undefined;
      const time = history.start as number;
      return this.rewindTo(history.at(time) as Checkpoint<OwnState>, { time, reason: 'start of history' });
    }
    const rewind = this.rewindTo(checkpoint, undefined);
    return new Rewind(rewind.to, () => {
      rewind.arrived();
      this.search?.begin(checkpoint.time, limit);
    });
  }

  private endSearch(): void {
    const { search, history } = this;
    if (search === undefined || history === undefined) return;
    const goal = search.end();
    if (goal === undefined) throw this.searchBefore(search.from, history);
    this.search = undefined;
    throw this.rewindTo(history.at(goal.time) as Checkpoint<OwnState>, goal);
  }

  private rewindTo(checkpoint: Checkpoint<OwnState>, goal: Goal | undefined): Rewind {
    this.history?.restore(checkpoint);
    return new Rewind(checkpoint.state, () => {
      this.time = checkpoint.time;
      this.facts = new Map(checkpoint.own.facts);
      this.previous = new Map(checkpoint.own.before);
      this.groups = new Map(checkpoint.own.groups);
      this.held = undefined;
      this.noted = [];
      this.accessed = [];
      this.goal = goal;
    });
  }
}

function start(resume: Resume): Running {
  const left = { depth: 0, key: undefined };
  return { resume, wave: undefined, time: -1, executed: 0, start: { ...left, pc: 0, line: undefined }, left };
}
