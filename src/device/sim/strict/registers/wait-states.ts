// Missing wait states along the path that a wavefront takes: code that is generated, or entered by a jump through a register, has no
// path that the checker could follow. The rules are those of the checker (src/program/hazards/); pairs that shipped code has are fine.
import { insertStates } from '../../../../finding/index.ts';
import { targetInfo } from '../../../../isa/table/targets.ts';
import type { Instruction, TargetName } from '../../../../isa/types.ts';
import {
  effectsOf,
  type Hazard,
  HazardRules,
  MAX_WAIT_STATES,
  makeStep,
  type Nearest,
  rangeNames,
  type Step,
} from '../../../../program/index.ts';
import type { Wave } from '../../state/wave.ts';
import type { Reporter } from '../reporter.ts';

/** An instruction at its offset in the image. */
export interface Executed {
  readonly pc: number;
  readonly instruction: Instruction;
}

/** What is known of the wait states of loaded code: it holds in every dispatch of it. */
export class KnownPaths {
  readonly steps = new Map<Instruction, Step>();
  /** Ways to an instruction on which nothing is missing (`wayTo`). */
  readonly clean = new Set<number>();
}

/** Which instructions must know what has been executed before them. */
class PathNeeds extends HazardRules<never> {
  private longest = 0;

  /** The most wait states before an instruction that its rules ask about. */
  of(step: Step): number {
    this.longest = 0;
    this.examine(step);
    return this.longest;
  }
  protected override nearest(limit: number): undefined {
    this.longest = Math.max(this.longest, limit);
  }
  protected override report(): void {}
}

/** A path as it has been executed. */
abstract class PathRules extends HazardRules<number> {
  protected path: readonly Executed[] = [];
  protected index = 0;

  protected abstract stepOf(instruction: Instruction): Step;

  /** Whether an instruction of the path takes longer than any of the waits. */
  protected abstract isLong(index: number): boolean;

  protected override nearest(limit: number, matches: (step: Step) => boolean): Nearest<number> | undefined {
    let between = 0;
    for (let i = this.index - 1; i >= 0 && between < limit; i--) {
      const { pc, instruction } = this.path[i] as Executed;
      if (this.isLong(i)) return undefined;
      const step = this.stepOf(instruction);
      if (matches(step)) return { at: pc, step, between };
      between += step.states;
    }
    return undefined;
  }
}

/** Whether something is missing within a block. */
class BlockHazards extends PathRules {
  private isMissing = false;
  protected override readonly stepOf: (instruction: Instruction) => Step;

  constructor(target: TargetName, stepOf: (instruction: Instruction) => Step) {
    super(target);
    this.stepOf = stepOf;
  }

  of(block: readonly Executed[]): boolean {
    this.isMissing = false;
    this.path = block;
    for (this.index = 0; this.index < block.length; this.index++) {
      this.examine(this.stepOf((block[this.index] as Executed).instruction));
    }
    return this.isMissing;
  }
  /** Calls and returns end their blocks. */
  protected override isLong(): boolean {
    return false;
  }
  protected override report({ isShipped }: Hazard<number>): void {
    this.isMissing ||= !isShipped;
  }
}

const isCall = ({ row }: Instruction): boolean => row.operation === 's_swappc_b64' || row.operation === 's_call_b64';
/** Bytes of an instruction that calls: a return address is behind it. */
const CALL_BYTES = 4;

export class PathHazards extends PathRules {
  private readonly reporter: Reporter;
  private readonly target: TargetName;
  private readonly paths: KnownPaths;
  /** Ways to an instruction that have been reported in this dispatch. */
  private readonly reported = new Set<number>();
  /** Nothing is missing before the instruction that is examined. */
  private isClean = true;
  private wave: Wave | undefined;

  constructor(reporter: Reporter, target: TargetName, paths: KnownPaths) {
    super(target);
    this.reporter = reporter;
    this.target = target;
    this.paths = paths;
  }

  protected override stepOf(instruction: Instruction): Step {
    let step = this.paths.steps.get(instruction);
    if (step === undefined) {
      step = makeStep(instruction, effectsOf(instruction), targetInfo(this.target).matrixWaits);
      this.paths.steps.set(instruction, step);
    }
    return step;
  }

  /** Whether something must be known of what is executed before a run of instructions. */
  dependsOnPath(run: readonly Executed[]): boolean {
    const needs = new PathNeeds(this.target);
    let states = 0;
    for (const { instruction } of run) {
      const step = this.stepOf(instruction);
      if (needs.of(step) > states) return true;
      states += step.states;
    }
    return false;
  }

  /** Whether wait states are missing within a run of instructions. */
  isMissing(run: readonly Executed[]): boolean {
    return new BlockHazards(this.target, (instruction) => this.stepOf(instruction)).of(run);
  }

  /** Looks at the instructions of a path from `first` on; those before only lead to them. Returns whether nothing is missing. */
  follow(w: Wave, path: readonly Executed[], first: number): boolean {
    this.wave = w;
    this.path = path;
    let isAllClean = true;
    for (let index = first; index < path.length; index++) {
      const way = this.wayTo(index);
      if (this.paths.clean.has(way)) continue;
      if (!this.reported.has(way)) {
        this.index = index;
        this.isClean = true;
        this.examine(this.stepOf((path[index] as Executed).instruction));
        (this.isClean ? this.paths.clean : this.reported).add(way);
      }
      isAllClean &&= this.paths.clean.has(way);
    }
    return isAllClean;
  }

  /** A number for an instruction and the addresses of as many before it as wait states can count. */
  private wayTo(index: number): number {
    let hash = 0;
    for (let i = Math.max(0, index - MAX_WAIT_STATES); i < index; i++) {
      hash = Math.imul(hash, 0x01000193) ^ (this.path[i] as Executed).pc;
    }
    return (hash >>> 0) * 2 ** 20 + (((this.path[index] as Executed).pc >>> 2) & 0xfffff);
  }

  /** Calls and returns take longer than any of the waits. A return is a jump to where a call would have come back. */
  protected override isLong(index: number): boolean {
    const { instruction } = this.path[index] as Executed;
    if (isCall(instruction)) return true;
    if (instruction.row.operation !== 's_setpc_b64') return false;
    const { loaded } = this.reporter.dispatch;
    const before = (this.path[index + 1] as Executed).pc - CALL_BYTES;
    const caller = before < 0 ? undefined : loaded.decodeAt(before);
    return caller !== undefined && isCall(caller);
  }

  protected override report({ rule, wait, isShipped, registers, producer }: Hazard<number>): void {
    if (isShipped) return;
    this.isClean = false;
    const { pc, instruction } = this.path[this.index] as Executed;
    const { at, step, between } = producer;
    this.reporter.report('hazards/wait-states', this.wave, pc, () => {
      const names = rangeNames(registers);
      const about = names.length === 0 ? '' : ` (${names.join(', ')})`;
      const related = this.reporter.other('is too near', at, this.wave?.index, this.wave?.workgroup.id);
      return {
        registers: names,
        message:
          `${instruction.row.mnemonic} is executed ${between} wait state${between === 1 ? '' : 's'} after ` +
          `${step.instruction.row.mnemonic}${about}; it needs ${wait} (${rule}).`,
        related: related === undefined ? [] : [related],
        edits: [insertStates(pc, wait - between)],
      };
    });
  }
}
