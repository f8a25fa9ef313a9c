// The waves that are being executed: those of each workgroup, the calls of each that have not returned, the instruction it executed last.
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import type { Call } from './stop.ts';

/** What is known of a wave that has begun. */
interface WaveFacts {
  readonly calls: Call | undefined;
}

/** All of it at one moment, as a checkpoint keeps it. */
export interface SavedCalls {
  readonly facts: ReadonlyMap<Wave, WaveFacts>;
  readonly before: ReadonlyMap<Wave, number>;
  readonly jumped: ReadonlySet<Wave>;
  readonly groups: ReadonlyMap<Workgroup, readonly Wave[]>;
}

/** Addresses are those of the file. */
export class WaveCalls {
  private facts = new Map<Wave, WaveFacts>();
  /** Addresses of the instructions that waves executed last; behind a call that has returned, of the call. */
  private previous = new Map<Wave, number>();
  private groups = new Map<Workgroup, readonly Wave[]>();
  /** Waves whose last instruction was a jump to an address in registers, as a return is. */
  private jumped = new Set<Wave>();

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.groups.set(group, waves);
    for (const w of waves) {
      this.facts.delete(w);
      this.previous.delete(w);
      this.jumped.delete(w);
    }
  }

  endWorkgroup(group: Workgroup): void {
    this.groups.delete(group);
  }

  /** Waves of a workgroup; none when it has ended. */
  of(group: Workgroup): readonly Wave[] {
    return this.groups.get(group) ?? [];
  }

  /** Waves of all workgroups that have begun and not ended, in the order in which they began. */
  get all(): readonly Wave[] {
    return [...this.groups.values()].flat();
  }

  /** Whether a wave has come to its first instruction. */
  hasBegun(w: Wave): boolean {
    return this.facts.has(w);
  }

  /** Calls of a wave that have not returned, the innermost first. */
  callsOf(w: Wave): readonly Call[] {
    const calls: Call[] = [];
    for (let c = this.facts.get(w)?.calls; c !== undefined; c = c.outer) calls.push(c);
    return calls;
  }

  /** How many calls of a wave have not returned. */
  depthOf(w: Wave): number {
    return this.facts.get(w)?.calls?.depth ?? 0;
  }

  /** The address of the instruction that a wave executed last. */
  before(w: Wave): number | undefined {
    return this.previous.get(w);
  }

  /**
   * A wave has come to the instruction at `pc`: by a return, the call that returns there has returned. One that was not made may be passed by a branch to
   * that place, and a function that calls itself has many calls that return there.
   */
  arrive(w: Wave, pc: number): void {
    let facts = this.facts.get(w);
    if (facts === undefined) {
      facts = { calls: undefined };
      this.facts.set(w, facts);
    }
    if (!this.jumped.delete(w) || facts.calls?.returnTo !== pc) return;
    // What this function executed last is its call.
    this.previous.set(w, facts.calls.site);
    this.facts.set(w, { calls: facts.calls.outer });
  }

  /** A wave has executed the instruction at `pc`, which may be a call. */
  executed(w: Wave, pc: number, bound: BoundInstruction): void {
    const facts = this.facts.get(w);
    if (facts === undefined) return;
    this.previous.set(w, pc);
    if (bound.instruction.row.operation === 's_setpc_b64') this.jumped.add(w);
    if (!bound.instruction.row.flags.has('isCall')) return;
    const outer = facts.calls;
    const depth = (outer?.depth ?? 0) + 1;
    const call: Call = { site: pc, returnTo: pc + bound.size, outer, depth, scalars: w.sgprs.slice() };
    this.facts.set(w, { calls: call });
  }

  save(): SavedCalls {
    return {
      facts: new Map(this.facts),
      before: new Map(this.previous),
      jumped: new Set(this.jumped),
      groups: new Map(this.groups),
    };
  }

  restore({ facts, before, jumped, groups }: SavedCalls): void {
    this.facts = new Map(facts);
    this.previous = new Map(before);
    this.jumped = new Set(jumped);
    this.groups = new Map(groups);
  }
}
