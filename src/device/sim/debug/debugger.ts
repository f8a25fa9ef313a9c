// Room `device/sim/debug`: the debugger: stops waves, looks at them and changes them, and goes back in time.
// Begin with stop.ts (what it says and is told), then this file (when it stops) and held.ts (what is looked at then). forward-run.ts has
// steps, watch-stops.ts watchpoints, past.ts and history.ts how it goes back; commands.ts is what a terminal types.
//
// All waves run in one thread in a fixed order, so they stop together. Time is the number of instructions that all waves of the dispatch
// have executed. Going back restores the checkpoint before and runs on to the wanted moment, the same way as the first time.
import { immediateOf } from '../../../isa/operand.ts';
import type { DeviceFault } from '../../fault.ts';
import type { DispatchInfo, Monitor, Rewind, Rewindable } from '../dispatch/monitor.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { type Arrival, Breakpoints } from './breakpoints.ts';
import { ForwardRun } from './forward-run.ts';
import { beginningAt } from './frames.ts';
import { HeldDispatch } from './held.ts';
import type { ChangedBytes } from './history.ts';
import { Past } from './past.ts';
import { returnedValue } from './returned.ts';
import { activeLanes } from './scope.ts';
import type { DebugFront, DebuggerOptions, Why } from './stop.ts';
import { WatchStops } from './watch-stops.ts';

/** `__builtin_debugtrap`: for a debugger a breakpoint that the program has itself, without one nothing. */
const OWN_BREAKPOINT: Why = { reason: 'breakpoint', note: "the program's own breakpoint (s_trap 3)" };
const isDebugTrap = ({ instruction }: BoundInstruction): boolean =>
  instruction.row.operation === 's_trap' && (immediateOf(instruction, 'simm16') & 0xff) === 3;

/** Thrown out of the dispatch when the user ends it. */
export class DebuggerQuit extends Error {}

/** A front that is told whom it leads. */
export interface DebugLeader extends DebugFront {
  /** Joins the two, before the dispatch. */
  lead(led: Debugger): void;
  /** Aborted when the user ends all, whatever runs: a program may run without a kernel. */
  readonly quits?: AbortSignal | undefined;
}

/** A monitor that stops. */
export class Debugger extends HeldDispatch implements Monitor {
  readonly breakpoints: Breakpoints;
  readonly past: Past;
  private readonly run: ForwardRun;
  private readonly watches: WatchStops;
  /** Nothing stops any more. */
  isOver = false;
  /** Breakpoints and watchpoints of this stop. */
  lastHit: readonly number[] = [];
  private interrupted = false;
  /** What is watched has no value before the first instruction. */
  private beginsAnew = false;

  constructor(options: DebuggerOptions) {
    super(options);
    this.breakpoints = new Breakpoints(this);
    this.run = new ForwardRun(this);
    this.watches = new WatchStops(this, this.breakpoints);
    this.past = new Past(this, this.breakpoints, () => this.watches.forget());
    for (const one of options.breakpoints) this.breakpoints.add(one);
  }

  /** Stops at the next instruction, as Ctrl-C does while the kernel runs. */
  interrupt(): void {
    this.interrupted = true;
  }

  /** An interrupt waits for the next instruction. */
  get isInterrupted(): boolean {
    return this.interrupted;
  }

  /** Makes a change of registers, or of memory that is named; it is made again whenever execution comes here again. */
  change(apply: () => void, changed?: ChangedBytes): void {
    this.past.change(apply, changed);
    this.breakpoints.refresh(this.allWaves);
  }

  /** Sends a wave elsewhere. */
  jump(w: Wave, pc: number): void {
    this.change(() => {
      w.pc = this.codeBase + pc;
    });
    if (this.isHeld(w)) this.hold(w, pc, 0);
  }

  override startDispatch(dispatch: DispatchInfo): void {
    super.startDispatch(dispatch);
    if (this.options.keepsHistory) this.past.begin(dispatch.memory);
    if (this.options.front.stopsAtEntry) this.interrupted = true;
  }

  betweenSlices(dispatch: Rewindable): void {
    if (!this.isOver) this.past.offer(dispatch);
  }

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.calls.startWorkgroup(group, waves);
  }

  endWave(w: Wave): void {
    if (this.selected === w) this.selected = undefined;
  }

  endWorkgroup(group: Workgroup): void {
    if (this.selected?.workgroup === group) this.selected = undefined;
    this.calls.endWorkgroup(group);
  }

  before(w: Wave, loadedPc: number, bound: BoundInstruction): void | Promise<void> {
    if (this.isOver) return;
    const stopped = this.beforeInstruction(w, loadedPc, bound);
    if (stopped !== undefined) return stopped.then(() => this.noteAccess(w, loadedPc, bound));
    this.noteAccess(w, loadedPc, bound);
  }

  /** Keeps what the instruction that is executed now does with places that are watched. */
  private noteAccess(w: Wave, loadedPc: number, bound: BoundInstruction): void {
    if (w.pc === loadedPc) this.past.note(w, loadedPc, bound);
    const isLooking = !this.past.isUnderWay && !this.isOver && !this.run.isDetached && w.pc === loadedPc;
    this.watches.before(w, loadedPc, bound, isLooking);
  }

  private beforeInstruction(w: Wave, loadedPc: number, bound: BoundInstruction): undefined | Promise<void> {
    const pc = loadedPc - this.codeBase;
    const { past } = this;
    past.replayChanges();
    if (w.pc !== loadedPc) return;
    this.calls.arrive(w, pc);
    if (this.beginsAnew) {
      this.beginsAnew = false;
      this.breakpoints.refresh(this.allWaves);
    }
    if (past.passes(w, pc, bound)) return;
    const goal = past.arrive();
    if (goal !== undefined) {
      const { reason, changes, hit, byLine, note } = goal;
      const hidden = byLine === true ? beginningAt(this.info, pc) : (goal.hidden ?? 0);
      return this.stop(w, pc, { reason, changes, hit, hidden, note });
    }
    if (this.run.isDetached && !this.interrupted) return;
    const why = this.whyStop(w, pc, bound);
    if (why !== undefined) return this.stop(w, pc, why);
  }

  after(w: Wave, loadedPc: number, bound: BoundInstruction): void {
    this.time++;
    if (this.isOver) return;
    this.watches.after();
    this.calls.executed(w, loadedPc - this.codeBase, bound);
  }

  async fault(w: Wave, fault: DeviceFault): Promise<void> {
    if (this.isOver || this.past.isUnderWay || this.run.isDetached) return;
    if (this.selected !== w) this.select(w);
    const { lane } = fault.fault;
    if (lane !== undefined) this.lane = lane;
    await this.stop(w, w.pc - this.codeBase, { reason: 'fault', fault });
  }

  async ended(): Promise<void> {
    if (this.isOver) return;
    const { past } = this;
    past.endSearch();
    const change = past.hasGoal ? undefined : this.watches.why(undefined);
    const isAsked = this.options.front.stopsAtEnd && !this.run.isDetached;
    if (change !== undefined) await this.stop(undefined, 0, change);
    else if (past.hasGoal || isAsked) await this.stopAtEnd();
    // There is nothing after the end to go to.
    while (past.hasGoal) await this.stopAtEnd();
  }

  private async stopAtEnd(): Promise<void> {
    this.past.arrive();
    await this.stop(undefined, 0, { reason: 'ended' });
  }

  private whyStop(w: Wave, pc: number, bound: BoundInstruction): Why | undefined {
    if (this.interrupted) {
      this.interrupted = false;
      return { reason: this.time === 0 && this.options.front.stopsAtEntry ? 'entry' : 'interrupted' };
    }
    const isResumed = this.run.beganAt(w);
    const watched = this.watches.why(bound);
    const arrival =
      !isResumed && this.breakpoints.isAt(pc)
        ? this.breakpoints.arrive(w, pc, true, this.options.front.logged)
        : undefined;
    if (arrival === undefined) {
      const trapped: Why | undefined = !isResumed && isDebugTrap(bound) ? OWN_BREAKPOINT : undefined;
      return watched ?? this.run.ends(w, pc) ?? trapped;
    }
    const reached = this.atBreakpoint(w, arrival);
    if (watched === undefined) return reached;
    // The instruction before changed what is watched, and this one has a breakpoint: one stop for both.
    const hit = [...(watched.hit ?? []), ...arrival.hit];
    return {
      ...watched,
      hit,
      hidden: reached.hidden,
      note: arrival.note,
      commands: [...(watched.commands ?? []), ...arrival.commands],
    };
  }

  private atBreakpoint(w: Wave, { hit, lane, note, commands, hidden }: Arrival): Why {
    // The lane that was looked at stays selected while its wave does.
    if (this.selected !== w) this.select(w);
    if (lane !== undefined) this.lane = lane;
    return { reason: 'breakpoint', hit, note, commands, hidden };
  }

  private async stop(w: Wave | undefined, pc: number, why: Why): Promise<void> {
    if (w !== undefined && this.selected !== w) this.select(w);
    if (w === undefined) this.selected = undefined;
    else if (!w.isActive(this.lane)) this.lane = activeLanes(w)[0] ?? 0;
    const { hidden = 0, returns, ...shown } = why;
    this.hold(w, pc, hidden);
    this.lastHit = why.hit ?? [];
    this.frame = 0;
    this.isStopped = true;
    const value = w && returnedValue(returns, w, this.lane, this.loadAs(w));
    const returned = value && { value, number: this.remembered.keep(value) };
    let next = await this.options.front.stopped({ wave: w, pc, time: this.time, ...shown, returned });
    // A step into a function that was inlined here executes nothing.
    while (next.kind === 'step' && next.unit === 'line' && !next.over && this.hidden > 0 && this.selected === w) {
      this.hold(w, pc, this.hidden - 1);
      this.frame = 0;
      if (next.count > 1) next = { ...next, count: next.count - 1 };
      else next = await this.options.front.stopped({ wave: w, pc, time: this.time, reason: 'step' });
    }
    if (next.kind === 'quit') throw new DebuggerQuit('The debugger was left.');
    if (next.kind === 'restart') throw this.restart();
    if (next.kind === 'time' && next.time > this.time) this.past.goTo(next.time);
    else if (next.kind === 'time') throw this.past.backTo(next.time);
    else if (next.kind === 'back') {
      const rewind = this.past.back(next);
      this.isStopped = false;
      throw rewind;
    }
    if (next.kind === 'detach') this.isOver = !this.options.front.stopsAtEnd;
    this.run.begin(next);
    this.isStopped = false;
    this.breakpoints.refresh(this.allWaves);
  }

  /** The dispatch begins again, and nothing was changed. */
  private restart(): Rewind {
    const rewind = this.past.restarted();
    this.breakpoints.forgetHits();
    this.run.beginAnew();
    this.isStopped = false;
    this.beginsAnew = true;
    return rewind;
  }
}
