// Where and when the debugger stops: breakpoints with conditions, counts and waves of their own; watchpoints on values.
import { WavesmithError } from '../../../base/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import { isTrue } from './arithmetic.ts';
import { boundNow } from './bound-names.ts';
import { type Expression, parseExpression } from './expression.ts';
import { activeLanes, scopeOf } from './scope.ts';
import type { ScopeSource } from './scope-source.ts';
import type { Change, WaveKey } from './stop.ts';
import { isSameOperand, numberOf, type Operand } from './typed.ts';
import { plainText } from './variable-text.ts';
import {
  AccessWatcher,
  type PlaceAccess,
  type WatchedAccess,
  type WatchedPlace,
  watchedPlace,
} from './watch-access.ts';
import {
  changesByStores,
  conditionInFrame,
  frameOfExpression,
  sourceAt,
  valueInFrame,
  type WatchedFrame,
} from './watched-frame.ts';

export interface BreakpointRequest {
  /** The number that it has had; it gets another one when that is taken. */
  readonly id?: number | undefined;
  /** Addresses: a source line may have several. */
  readonly places: readonly number[];
  /** The place as it was written: it says which function is meant where inlined ones begin. */
  readonly meant?: string | undefined;
  /** Stops only when this is true; with vector registers in it, for any active lane. */
  readonly condition?: string | undefined;
  /** Passes before it stops. */
  readonly ignore?: number | undefined;
  /** Only this wave. */
  readonly wave?: WaveKey | undefined;
  /** Removed when it was hit. */
  readonly isTemporary?: boolean | undefined;
  /** Command lines that a terminal runs whenever it stops here. */
  readonly commands?: readonly string[] | undefined;
  /** Prints this instead of stopping; `{expression}` is replaced by its value. */
  readonly log?: string | undefined;
}

export interface Breakpoint extends BreakpointRequest {
  readonly id: number;
  condition: string | undefined;
  commands: readonly string[] | undefined;
  isEnabled: boolean;
  /** Times it was reached with its condition true. */
  hits: number;
  ignoring: number;
  expression: Expression | undefined;
}

/** A value whose change stops. */
export interface Watchpoint {
  readonly id: number;
  readonly expression: Expression;
  readonly wave: WaveKey | undefined;
  readonly lane: number;
  readonly access: WatchedAccess;
  /** Of those that stop at reads. */
  readonly place: WatchedPlace | undefined;
  /** Stops only when this is true. */
  condition: Expression | undefined;
  commands: readonly string[] | undefined;
  /** Of variables of the source program. */
  readonly frame: WatchedFrame | undefined;
  /** Only instructions that write memory change it. */
  readonly isInMemory: boolean;
  isEnabled: boolean;
  hits: number;
  last: Operand | undefined;
}

/** An access that a watchpoint stops at, and the value before it. */
export interface NotedAccess {
  readonly watchpoint: Watchpoint;
  readonly access: PlaceAccess;
  readonly before: Operand | undefined;
}

/** What reaching a place means. */
export interface Arrival {
  readonly hit: readonly number[];
  /** The lane for which a condition holds. */
  readonly lane: number | undefined;
  readonly note: string | undefined;
  /** Inlined functions that begin there, and are not meant. */
  readonly hidden: number;
  /** What a terminal runs then. */
  readonly commands: readonly string[];
}

export const keyOf = (w: Wave): WaveKey => ({ workgroup: w.workgroup.id, wave: w.index });
export const isWave = (w: Wave, { workgroup, wave }: WaveKey): boolean =>
  w.index === wave &&
  w.workgroup.id[0] === workgroup[0] &&
  w.workgroup.id[1] === workgroup[1] &&
  w.workgroup.id[2] === workgroup[2];

export class Breakpoints {
  private readonly source: ScopeSource;
  private nextId = 1;
  readonly breakpoints: Breakpoint[] = [];
  readonly watchpoints: Watchpoint[] = [];
  private readonly watcher = new AccessWatcher();
  private byPc = new Map<number, Breakpoint[]>();

  constructor(source: ScopeSource) {
    this.source = source;
  }

  /** A condition that does not parse is `run/bad-expression`. */
  add(request: BreakpointRequest): Breakpoint {
    const expression = request.condition === undefined ? undefined : parseExpression(request.condition);
    const breakpoint: Breakpoint = {
      ...request,
      condition: request.condition,
      commands: request.commands,
      id: this.numberFor(request.id),
      isEnabled: true,
      hits: 0,
      ignoring: request.ignore ?? 0,
      expression,
    };
    this.breakpoints.push(breakpoint);
    this.index();
    return breakpoint;
  }

  /** Takes a number for a breakpoint that is set later: the one given, or the next. */
  reserve(id = this.nextId): number {
    this.nextId = Math.max(this.nextId, id + 1);
    return id;
  }

  private numberFor(wanted: number | undefined): number {
    const isTaken = [...this.breakpoints, ...this.watchpoints].some((b) => b.id === wanted);
    return this.reserve(wanted === undefined || isTaken ? this.nextId : wanted);
  }

  /** Changes or removes a condition; one that does not parse is `run/bad-expression`. */
  setCondition(id: number, text: string | undefined): Breakpoint | Watchpoint {
    const found = this.find(id);
    const expression = text === undefined ? undefined : parseExpression(text);
    if ('places' in found) {
      found.condition = text;
      found.expression = expression;
    } else found.condition = expression;
    return found;
  }

  /** Watches an expression as a wave and lane see it; `condition`: stops only when that is true then. */
  watch(
    text: string,
    w: Wave | undefined,
    lane: number,
    condition?: string,
    access: WatchedAccess = 'change',
  ): Watchpoint {
    const expression = boundNow(parseExpression(text), w, lane, this.source);
    const last = expression.operand(scopeOf(w, lane, this.source));
    // What cannot be read cannot change.
    if (typeof last === 'object' && last.bytes === undefined) numberOf(last);
    if (typeof last === 'object' && last.note !== undefined) {
      throw new WavesmithError('run/bad-expression', `'${text}' never changes: ${last.why}.`);
    }
    const place = access === 'change' ? undefined : watchedPlace(text, last, lane);
    const when = condition === undefined ? undefined : parseExpression(condition);
    const watchpoint: Watchpoint = {
      id: this.nextId++,
      expression,
      wave: w === undefined ? undefined : keyOf(w),
      lane,
      access,
      place,
      condition: when,
      commands: undefined,
      frame: frameOfExpression(expression, w, lane, this.source),
      isInMemory: changesByStores(expression, w, lane, this.source),
      isEnabled: true,
      hits: 0,
      last,
    };
    this.watchpoints.push(watchpoint);
    return watchpoint;
  }

  /** By number; what does not exist is `run/bad-command`. */
  find(id: number): Breakpoint | Watchpoint {
    const found = [...this.breakpoints, ...this.watchpoints].find((b) => b.id === id);
    if (found !== undefined) return found;
    throw new WavesmithError('run/bad-command', `There is no breakpoint or watchpoint ${id}.`, {
      hint: "'info breakpoints' lists them.",
    });
  }

  remove(id: number): void {
    const found = this.find(id);
    const list: { readonly id: number }[] = this.breakpoints.some((b) => b === found)
      ? this.breakpoints
      : this.watchpoints;
    list.splice(
      list.findIndex((b) => b.id === id),
      1,
    );
    this.index();
  }

  clear(): void {
    this.breakpoints.length = 0;
    this.watchpoints.length = 0;
    this.index();
  }

  private index(): void {
    this.byPc = new Map();
    for (const b of this.breakpoints) {
      for (const pc of b.places) this.byPc.set(pc, [...(this.byPc.get(pc) ?? []), b]);
    }
  }

  /** Whether one stands at an address. */
  isAt(pc: number): boolean {
    return this.byPc.has(pc);
  }

  /** Before an instruction; undefined to go on. `counts`: execution comes here, and is not only looked through. */
  arrive(w: Wave, pc: number, counts: boolean, log: (text: string) => void): Arrival | undefined {
    const here = this.byPc.get(pc);
    if (here === undefined) return undefined;
    const hit: number[] = [];
    let lane: number | undefined;
    let note: string | undefined;
    let hidden: number | undefined;
    const commands: string[] = [];
    for (const b of here) {
      if (!b.isEnabled || (b.wave !== undefined && !isWave(w, b.wave))) continue;
      const inlined = this.source.hiddenAt?.(pc, b.meant) ?? 0;
      const met = this.met(b, w, pc, inlined);
      if (met === undefined) continue;
      if (counts) b.hits++;
      if (b.ignoring > 0) {
        if (counts) b.ignoring--;
        continue;
      }
      if (b.log !== undefined) {
        if (counts) log(this.logText(b.log, w, met.lane));
        continue;
      }
      hit.push(b.id);
      lane ??= met.lane;
      hidden ??= inlined;
      note ??= met.note;
      commands.push(...(b.commands ?? []));
      if (b.isTemporary === true && counts) this.remove(b.id);
    }
    return hit.length === 0 ? undefined : { hit, lane, note, hidden: hidden ?? 0, commands };
  }

  private met(
    b: Breakpoint,
    w: Wave,
    pc: number,
    inlined: number,
  ): { lane: number | undefined; note?: string } | undefined {
    const { expression } = b;
    if (expression === undefined) return { lane: undefined };
    const source = inlined === 0 ? this.source : sourceAt(this.source, pc, inlined);
    try {
      const lanes = expression.isPerLane ? activeLanes(w) : activeLanes(w).slice(0, 1);
      for (const lane of lanes.length === 0 && !expression.isPerLane ? [0] : lanes) {
        if (isTrue(expression.evaluate(scopeOf(w, lane, source)))) {
          return { lane: expression.isPerLane ? lane : undefined };
        }
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      return { lane: undefined, note: `condition of breakpoint ${b.id}: ${error.message}` };
    }
  }

  private logText(text: string, w: Wave, lane = activeLanes(w)[0] ?? 0): string {
    return text.replace(/\{([^{}]*)\}/g, (_, inner: string) => {
      try {
        return plainText(parseExpression(inner).operand(scopeOf(w, lane, this.source)));
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        return `{${error.message}}`;
      }
    });
  }

  /** The watched values that differ from when this was last asked. `isStored`: memory may have been written since, or is written next. */
  changed(waves: readonly Wave[], isStored: boolean): { readonly watchpoint: Watchpoint; readonly change: Change }[] {
    const found: { readonly watchpoint: Watchpoint; readonly change: Change }[] = [];
    for (const watchpoint of this.watchpoints) {
      if (!watchpoint.isEnabled || watchpoint.access !== 'change' || (watchpoint.isInMemory && !isStored)) continue;
      const after = this.valueOf(watchpoint, waves);
      if (after === undefined || isSameOperand(after, watchpoint.last)) continue;
      const before = watchpoint.last;
      watchpoint.last = after;
      // Where it can be read again, as behind a function's entry, nothing has changed it.
      if (before === undefined) continue;
      if (watchpoint.condition !== undefined && !this.isConditionMet(watchpoint, waves)) continue;
      found.push({ watchpoint, change: { text: watchpoint.expression.text, before, after } });
    }
    return found;
  }

  /** Whether any watchpoint stops at reads. */
  get watchesAccesses(): boolean {
    return this.watchpoints.some((one) => one.isEnabled && one.place !== undefined);
  }

  /** The watchpoints whose places the next instruction of a wave reads, or also writes. */
  accessed(w: Wave, pc: number, bound: BoundInstruction, waves: readonly Wave[]): NotedAccess[] {
    const noted: NotedAccess[] = [];
    for (const watchpoint of this.watchpoints) {
      const { place, wave, lane, access, isEnabled } = watchpoint;
      if (!isEnabled || place === undefined) continue;
      const isOwner = wave !== undefined && isWave(w, wave);
      const isOwnGroup = wave !== undefined && isWave(w, { ...wave, wave: w.index });
      const found = this.watcher.accessOf(place, isOwner, isOwnGroup, lane, w, pc, bound);
      if (found === undefined || (access === 'read' && !found.reads)) continue;
      if (watchpoint.condition !== undefined && !this.isConditionMet(watchpoint, waves)) continue;
      noted.push({ watchpoint, access: found, before: this.valueOf(watchpoint, waves) });
    }
    return noted;
  }

  /** What an access watchpoint says, behind the access or before it. */
  accessChange({ watchpoint, access, before }: NotedAccess, waves: readonly Wave[], isAhead: boolean): Change {
    const { text } = watchpoint.expression;
    const verb = access.reads ? (access.writes ? 'read and written' : 'read') : 'written';
    const after = isAhead ? before : this.valueOf(watchpoint, waves);
    if (!isAhead) watchpoint.last = after;
    return { text, before, after, access: isAhead ? `is about to be ${verb}` : `was ${verb}` };
  }

  /** A condition that cannot be read is met: whoever wrote it should see that. */
  private isConditionMet(watchpoint: Watchpoint, waves: readonly Wave[]): boolean {
    const { condition, wave, lane, frame } = watchpoint;
    const w = wave && waves.find((one) => isWave(one, wave));
    const value = condition && conditionInFrame(condition, w, lane, this.source, frame);
    return value === undefined || isTrue(numberOf(value));
  }

  /** What a watchpoint sees now; undefined when it cannot be read, or needs a wave that does not run. */
  private valueOf({ expression, wave, lane, frame }: Watchpoint, waves: readonly Wave[]): Operand | undefined {
    const w = wave === undefined ? undefined : waves.find((one) => isWave(one, wave));
    return valueInFrame(expression, w, lane, this.source, frame);
  }

  /** Counts anew. */
  forgetHits(): void {
    for (const one of [...this.breakpoints, ...this.watchpoints]) one.hits = 0;
  }

  /** Forgets what was seen: after going back nothing has changed yet. */
  refresh(waves: readonly Wave[]): void {
    for (const watchpoint of this.watchpoints) watchpoint.last = this.valueOf(watchpoint, waves);
  }
}
