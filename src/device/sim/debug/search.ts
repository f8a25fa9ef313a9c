// Finding the last moment of a stretch of the past that somebody asks for: the instruction before, the breakpoint before, the instruction
// that wrote a value. The stretch is run again; stretches are looked through from the latest to the first.
import { WavesmithError } from '../../../base/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import { hex } from '../tools/lanes.ts';
import { boundNow } from './bound-names.ts';
import { type Breakpoints, isWave, keyOf } from './breakpoints.ts';
import { type Expression, parseExpression } from './expression.ts';
import type { SourceFacts } from './frames.ts';
import type { ScopeSource } from './scope-source.ts';
import { isLeft, type Left, lineStepBackEnds, type StepStart } from './stepping.ts';
import type { Change, Resume, StopReason, WaveKey } from './stop.ts';
import { forLines, forLinesAt } from './stored-lines.ts';
import { isSameOperand, type Operand } from './typed.ts';
import { AccessWatcher, type WatchedPlace, watchedPlace } from './watch-access.ts';
import { changesByStores, frameOfExpression, valueInFrame, type WatchedFrame, writesMemory } from './watched-frame.ts';

/** A moment to stop at. */
export interface Goal {
  readonly time: number;
  readonly reason: StopReason;
  readonly changes?: readonly Change[] | undefined;
  readonly hit?: readonly number[] | undefined;
  /** All inlined functions that begin there are hidden, or so many. */
  readonly byLine?: boolean | undefined;
  readonly hidden?: number | undefined;
  readonly note?: string | undefined;
}

/** What a search sees of the dispatch. */
export interface SearchView {
  readonly breakpoints: Breakpoints;
  depthOf(w: Wave): number;
  /** The address of the instruction that a wave executed last. */
  before(w: Wave): number | undefined;
  readonly facts: SourceFacts;
  /** Where the wave is, and the function that `reverse-finish` leaves. */
  readonly start: StepStart;
  readonly left: Left;
  waves(): readonly Wave[];
  readonly source: ScopeSource;
}

/** An instruction that writes the value that is there. */
interface SameWrite {
  readonly time: number;
  readonly pc: number;
  readonly change: Change;
}

type Back = Resume & { kind: 'back' };

export class Search {
  private readonly back: Back;
  private readonly wave: WaveKey | undefined;
  private readonly lane: number;
  private readonly view: SearchView;
  private readonly written: Expression | undefined;
  /** Times that are still to be found, from the latest. */
  private missing: number;
  /** The latest `missing` moments of the stretch. */
  private found: Goal[] = [];
  private last: Operand | undefined;
  private readonly watcher = new AccessWatcher();
  /** The last write that left the value as it was: of all later stretches, and of this one behind its last change. */
  private same: SameWrite | undefined;
  private latestSame: SameWrite | undefined;
  /** The call that what is looked for belongs to. */
  private readonly frame: WatchedFrame | undefined;
  /** Only instructions that write memory change what is looked for. */
  private readonly isInMemory: boolean;
  /** The lines of memory that what is looked for is read from; undefined where it may change without stores to them. */
  readonly lines: readonly number[] | undefined;
  /** The instruction before may have written memory. */
  private isStored = true;
  /** When it was asked for. */
  private readonly began: number;
  from = 0;
  limit: number;

  constructor(back: Back, w: Wave | undefined, lane: number, now: number, view: SearchView) {
    this.back = back;
    this.wave = w === undefined ? undefined : keyOf(w);
    this.lane = lane;
    this.view = view;
    this.missing = back.count;
    this.limit = now;
    this.began = now;
    const { to } = back;
    this.written = typeof to === 'object' ? boundNow(parseExpression(to.writer), w, lane, view.source) : undefined;
    this.frame = this.written && frameOfExpression(this.written, w, lane, view.source);
    this.isInMemory = this.written !== undefined && changesByStores(this.written, w, lane, view.source);
    this.lines = this.written && this.isInMemory ? this.linesOf(this.written, w) : undefined;
  }

  /** The lines that an expression is read from now: as long as nobody stores to them it is read from the same ones, and stays. */
  private linesOf(written: Expression, w: Wave | undefined): readonly number[] | undefined {
    const { lane, view, frame } = this;
    const { source } = view;
    const { memory } = source;
    if (memory === undefined) return undefined;
    const lines = new Set<number>();
    const add = (line: number): void => void lines.add(line);
    const loadAs: ScopeSource['loadAs'] = (of) => {
      const load = source.loadAs(of);
      return (space, address, bytes, ofLane) => {
        const loaded = load(space, address, bytes, ofLane);
        forLines(memory, of, space, Number(address), bytes, ofLane, add);
        return loaded;
      };
    };
    const wasRead = (offset: number, bytes: number): void => forLinesAt(offset, bytes, add);
    const noting = Object.create(source, { loadAs: { value: loadAs }, wasRead: { value: wasRead } }) as ScopeSource;
    return valueInFrame(written, w, lane, noting, frame) === undefined ? undefined : [...lines];
  }

  /** A stretch begins. */
  begin(from: number, limit: number): void {
    this.from = from;
    this.limit = limit;
    this.found = [];
    this.last = undefined;
    this.latestSame = undefined;
    this.isStored = true;
    this.view.breakpoints.refresh(this.view.waves());
  }

  /** Before what the user changed at a moment is made again: what differs up to here an instruction has written. */
  beforeChanges(time: number): void {
    this.lookAtValues(time);
  }

  /** Behind that: what differs now no instruction has written. */
  afterChanges(time: number): void {
    const { view } = this;
    if (this.back.to === 'breakpoint') view.breakpoints.refresh(view.waves());
    const value = this.writtenValue();
    if (this.written === undefined || value === undefined) return;
    // Where the search began its user has just seen that.
    if (this.last !== undefined && !isSameOperand(this.last, value) && time < this.began) {
      const change = { text: this.written.text, before: this.last, after: value, access: 'was set here by a command' };
      this.keep({ time, reason: 'written', changes: [change] });
    }
    this.last = value;
  }

  /** The value of what is looked for. */
  private writtenValue(): Operand | undefined {
    const { view, written } = this;
    const w = view.waves().find((one) => this.wave !== undefined && isWave(one, this.wave));
    return written && valueInFrame(written, w, this.lane, view.source, this.frame);
  }

  /** Before each instruction of the stretch. */
  look(w: Wave, pc: number, time: number, bound: BoundInstruction): void {
    // Before a store too: a function's frame may be new.
    const stores = writesMemory(bound);
    const isStored = this.isStored || stores;
    this.isStored = stores;
    if (isStored || !this.isInMemory) this.lookAtValues(time, isStored);
    const { to } = this.back;
    if (to === 'breakpoint') {
      const { breakpoints } = this.view;
      const access = breakpoints.watchesAccesses
        ? breakpoints.accessed(w, pc + this.view.source.codeBase, bound, this.view.waves())
        : [];
      if (access.length > 0) {
        const changes = access.map((one) => breakpoints.accessChange(one, this.view.waves(), true));
        this.keep({ time, reason: 'watchpoint', changes, hit: access.map((one) => one.watchpoint.id) });
      }
      const arrival = breakpoints.arrive(w, pc, false, () => {});
      if (arrival !== undefined) this.keep({ time, reason: 'breakpoint', hit: arrival.hit, hidden: arrival.hidden });
      return;
    }
    if (typeof to === 'object') {
      if (stores || !this.isInMemory) this.lookAtWrite(w, pc, time, bound);
      return;
    }
    if (this.wave !== undefined && !isWave(w, this.wave)) return;
    if (this.fits(to, w, pc)) this.keep({ time, reason: 'step', byLine: to === 'line' || to === 'line over' });
  }

  private fits(to: Exclude<Back['to'], object | 'breakpoint'>, w: Wave, pc: number): boolean {
    const { view } = this;
    const { start, left, facts } = view;
    const now = view.depthOf(w);
    if (to === 'instruction') return true;
    if (to === 'instruction over') return now <= start.depth;
    if (to === 'call') return isLeft(facts, left, pc, now);
    return lineStepBackEnds(facts, start, pc, view.before(w), now, to === 'line over');
  }

  /** Values are looked at after each instruction, which is before the next one. */
  private lookAtValues(time: number, isStored = true): void {
    const { view, written } = this;
    if (this.back.to === 'breakpoint') {
      if (view.breakpoints.watchpoints.length === 0) return;
      const found = view.breakpoints.changed(view.waves(), isStored);
      if (found.length === 0 || time === this.from) return;
      const changes = found.map(({ change }) => change);
      this.keep({ time: time - 1, reason: 'watchpoint', changes, hit: found.map((one) => one.watchpoint.id) });
      return;
    }
    if (written === undefined) return;
    const value = this.writtenValue();
    // Where it cannot be read it has not been written.
    if (value === undefined) return;
    const { last } = this;
    this.last = value;
    if (last === undefined || isSameOperand(last, value)) return;
    const changes = [{ text: written.text, before: last, after: value }];
    this.latestSame = undefined;
    this.keep({ time: time - 1, reason: 'written', changes });
  }

  /** An instruction that writes the value that is there already. Whether it changes it is seen behind it. */
  private lookAtWrite(w: Wave, pc: number, time: number, bound: BoundInstruction): void {
    const { wave, written, last, lane, view } = this;
    const place = written === undefined || last === undefined ? undefined : placeIfAny(written.text, last, lane);
    if (written === undefined || place === undefined) return;
    const isOwner = wave !== undefined && isWave(w, wave);
    const isOwnGroup = wave !== undefined && isWave(w, { ...wave, wave: w.index });
    const access = this.watcher.accessOf(place, isOwner, isOwnGroup, lane, w, pc + view.source.codeBase, bound);
    if (access?.writes !== true || this.writtenValue() === undefined) return;
    this.latestSame = { time, pc, change: { text: written.text, before: last, after: last } };
  }

  /** Where nothing in the whole past changed the value: the last instruction that wrote it as it was. */
  get lastResort(): Goal | undefined {
    const { same } = this;
    return same && { time: same.time, reason: 'written', changes: [same.change] };
  }

  /** What is said where the history begins: that nothing has written what was looked for. */
  noteOfNothing(start: number): string | undefined {
    const since = start === 0 ? 'since the dispatch began' : `since instruction ${start}, where the history begins`;
    return this.written && `nothing has written ${this.written.text} ${since}`;
  }

  /** What is said of a goal: that later instructions have written the value again. */
  private noteFor({ time }: Goal): string | undefined {
    const { same } = this;
    if (same === undefined || same.time <= time) return undefined;
    return `the same value was written again later, last at ${hex(same.pc)}: 'time ${same.time}' goes there`;
  }

  private keep(goal: Goal): void {
    if (this.found.at(-1)?.time === goal.time) this.found.pop();
    this.found.push(goal);
    if (this.found.length > this.missing) this.found.shift();
  }

  /** At the end of a stretch: the moment that was looked for, or undefined when it is earlier. */
  end(): Goal | undefined {
    this.lookAtValues(this.limit);
    this.same ??= this.latestSame;
    const [goal] = this.found;
    if (goal !== undefined && this.found.length === this.missing) return { ...goal, note: this.noteFor(goal) };
    this.missing -= this.found.length;
    return undefined;
  }
}

/** Where an expression's value stands; undefined for one that stands nowhere, as a sum. */
function placeIfAny(text: string, value: Operand, lane: number): WatchedPlace | undefined {
  try {
    return watchedPlace(text, value, lane);
  } catch (error) {
    if (error instanceof WavesmithError && error.code === 'run/bad-expression') return undefined;
    throw error;
  }
}
