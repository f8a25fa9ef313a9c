// Stops of watchpoints: values that have changed, and places that the instruction before has read or written.
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Breakpoints, NotedAccess } from './breakpoints.ts';
import type { HeldDispatch } from './held.ts';
import type { Why } from './stop.ts';
import { writesMemory } from './watched-frame.ts';

export class WatchStops {
  private readonly held: HeldDispatch;
  private readonly breakpoints: Breakpoints;
  /** An access to a watched place by the instruction that is executed, and by the one before. */
  private noted: readonly NotedAccess[] = [];
  private accessed: readonly NotedAccess[] = [];
  /** The instruction before may have written memory. */
  private isStored = true;

  constructor(held: HeldDispatch, breakpoints: Breakpoints) {
    this.held = held;
    this.breakpoints = breakpoints;
  }

  /** Before an instruction: `isLooking` is false when nothing stops what it does. */
  before(w: Wave, loadedPc: number, bound: BoundInstruction, isLooking: boolean): void {
    this.isStored = writesMemory(bound);
    this.noted =
      isLooking && this.breakpoints.watchesAccesses
        ? this.breakpoints.accessed(w, loadedPc, bound, this.held.allWaves)
        : [];
  }

  /** After it. */
  after(): void {
    this.accessed = this.noted;
  }

  forget(): void {
    this.noted = [];
    this.accessed = [];
    this.isStored = true;
  }

  /** Why it stops before the next instruction, which is not there at the end; undefined to go on. */
  why(next: BoundInstruction | undefined): Why | undefined {
    const { accessed, breakpoints } = this;
    if (breakpoints.watchpoints.length === 0) return undefined;
    const { allWaves } = this.held;
    this.accessed = [];
    const found = [
      ...breakpoints.changed(allWaves, this.isStored || next === undefined || writesMemory(next)),
      ...accessed.map((one) => ({
        watchpoint: one.watchpoint,
        change: breakpoints.accessChange(one, allWaves, false),
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
}
