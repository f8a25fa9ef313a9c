// Missing wait states: for every instruction, the nearest earlier one on any path that the hardware does not hold it back for.
// The rules are in src/program/hazards/.

import { type Finding, finding, insertStates, ruleInfo } from '../../finding/index.ts';
import type { WaitTable } from '../../isa/table/hazards.ts';
import { targetInfo } from '../../isa/table/targets.ts';
import type { Instruction } from '../../isa/types.ts';
import {
  type CodeInstruction,
  type Hazard,
  HazardRules,
  type Kind,
  MAX_WAIT_STATES,
  makeStep,
  type Nearest,
  type Program,
  type ProgramFunction,
  rangeNames,
  SLOT_COUNT,
  type SlotRange,
  type Step,
} from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext } from '../types.ts';

const stepsOf = new WeakMap<Program, Map<Instruction, Step>>();

/** The step of an instruction. Programs share equal instructions, so few are made. */
function sharedSteps(program: Program): (code: CodeInstruction) => Step {
  const known = stepsOf.get(program) ?? new Map<Instruction, Step>();
  stepsOf.set(program, known);
  const waits = targetInfo(program.target).matrixWaits;
  return (code) => {
    let step = known.get(code.instruction);
    if (step === undefined) {
      step = makeStep(code.instruction, code.effects, waits);
      known.set(code.instruction, step);
    }
    return step;
  };
}

/** Walks backwards from instructions of one function. */
class Walker {
  readonly hasMatrix: boolean;
  readonly hasDot: boolean;
  /** From the function's first instruction on: a hole for all that stands before it would be walked for every kernel of a library. */
  private readonly steps: readonly (Step | undefined)[];
  private readonly first: number;
  private readonly program: Program;

  constructor(program: Program, subject: ProgramFunction) {
    this.program = program;
    const steps: (Step | undefined)[] = [];
    this.first = program.blocks[subject.blocks[0] ?? -1]?.first ?? 0;
    let [hasMatrix, hasDot] = [false, false];
    const stepOf = sharedSteps(program);
    for (const index of subject.blocks) {
      const block = program.blocks[index];
      if (block === undefined) continue;
      for (let i = block.first; i < block.end; i++) {
        const code = program.instructions[i];
        if (code === undefined) continue;
        const step = stepOf(code);
        steps[i - this.first] = step;
        hasMatrix ||= step.matrix !== undefined;
        hasDot ||= step.isDot;
      }
    }
    this.steps = steps;
    this.hasMatrix = hasMatrix;
    this.hasDot = hasDot;
  }

  /** The step of an instruction, by its index in the program. */
  step(index: number): Step | undefined {
    return this.steps[index - this.first];
  }

  /** The nearest instruction before `at` on any path, less than `limit` wait states away, that `matches`. */
  nearest(
    at: number,
    blockIndex: number,
    limit: number,
    matches: (step: Step) => boolean,
  ): Nearest<number> | undefined {
    if (limit === 0) return undefined;
    let best: Nearest<number> | undefined;
    let reached: Map<number, number> | undefined;
    const open: { block: number; from: number; states: number }[] = [{ block: blockIndex, from: at - 1, states: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const block = this.program.blocks[next.block];
      if (block === undefined) continue;
      let { states } = next;
      let found = false;
      for (let i = next.from; i >= block.first && states < limit; i--) {
        const step = this.step(i);
        if (step === undefined) break;
        if (matches(step)) {
          if (best === undefined || states < best.between) {
            best = { at: (this.program.instructions[i] as CodeInstruction).pc, step, between: states };
          }
          found = true;
          break;
        }
        states += step.states;
      }
      if (found || states >= limit) continue;
      for (const predecessor of block.predecessors) {
        const before = this.program.blocks[predecessor];
        // A called function takes longer than any of the waits.
        if (before === undefined || before.exit === 'call') continue;
        reached ??= new Map();
        if ((reached.get(predecessor) ?? limit) <= states) continue;
        reached.set(predecessor, states);
        open.push({ block: predecessor, from: before.end - 1, states });
      }
    }
    return best;
  }
}

/** Checks the instructions of a function against everything before them. */
class HazardCheck extends HazardRules<number> {
  readonly findings: Finding[] = [];
  private readonly context: CheckContext;
  private readonly walker: Walker;
  private readonly hasPackedFlaw: boolean;
  /** By slot: index of the last matrix instruction of the block so far that reads or writes it. */
  private readonly matrixUse = new Int32Array(SLOT_COUNT).fill(-1);
  /** Index of the last instruction of each kind so far: most waits have nothing near that they could be for. */
  private readonly last: Record<Kind, number> = { transcendental: -1, part: -1, wideStore: -1, scalarWrite: -1 };
  private code!: CodeInstruction;
  private block = 0;

  constructor(context: CheckContext) {
    super(context.target);
    this.context = context;
    this.walker = new Walker(context.program, context.subject);
    this.hasPackedFlaw = targetInfo(context.target).packedHighHalfFlaw;
  }

  run(): Finding[] {
    for (const index of this.context.subject.blocks) {
      const block = this.context.program.blocks[index];
      if (block === undefined) continue;
      this.block = index;
      for (let i = block.first; i < block.end; i++) {
        const step = this.walker.step(i);
        if (step === undefined) continue;
        this.code = this.context.program.instructions[i] as CodeInstruction;
        this.examine(step);
        this.stampMatrix(step);
        this.stamp(step);
      }
    }
    return this.findings;
  }

  protected override get hasMatrix(): boolean {
    return this.walker.hasMatrix;
  }
  protected override get hasDot(): boolean {
    return this.walker.hasDot;
  }

  protected override nearest(limit: number, matches: (step: Step) => boolean): Nearest<number> | undefined {
    return this.walker.nearest(this.code.index, this.block, limit, matches);
  }

  /** Notes of what kind an instruction is. */
  private stamp({ isScalarWrite, isTrans, isPart, wideData }: Step): void {
    const { last, code } = this;
    if (isTrans) last.transcendental = code.index;
    if (isPart) last.part = code.index;
    if (wideData.length > 0) last.wideStore = code.index;
    if (isScalarWrite) last.scalarWrite = code.index;
  }

  private get blockStart(): number {
    return this.context.program.blocks[this.block]?.first ?? 0;
  }

  /** In the block, or in a block before it. */
  protected override isNear(kind: Kind, key: keyof WaitTable): boolean {
    const oldest = this.code.index - this.table[key];
    return this.last[kind] >= oldest || oldest < this.blockStart;
  }

  protected override isNearMatrix({ first, count }: SlotRange): boolean {
    const oldest = this.code.index - MAX_WAIT_STATES;
    let isNear = oldest < this.blockStart;
    for (let slot = first; !isNear && slot < first + count; slot++) isNear = (this.matrixUse[slot] as number) >= oldest;
    return isNear;
  }

  /** Notes the registers that a matrix instruction names. */
  private stampMatrix({ effects, matrix }: Step): void {
    if (matrix === undefined) return;
    for (const ranges of [effects.defs, effects.uses]) {
      for (const { first, count } of ranges) this.matrixUse.fill(this.code.index, first, first + count);
    }
  }

  protected override report({ rule, wait, isShipped, registers, producer }: Hazard<number>): void {
    const { pc, instruction } = this.code;
    const { at, step, between } = producer;
    const names = rangeNames(registers);
    const about = names.length === 0 ? '' : ` (${names.join(', ')})`;
    const { mnemonic } = step.instruction.row;
    this.findings.push(
      finding({
        rule,
        severity: isShipped ? 'note' : ruleInfo(rule).severity,
        basis: isShipped ? 'shipped' : 'manual',
        kernel: this.context.subject.name,
        place: placeAt(this.context.program, pc),
        related: [relatedAt(this.context.program, at, 'is too near')],
        registers: names,
        message:
          `${instruction.row.mnemonic} needs ${wait} wait state${wait === 1 ? '' : 's'} after ${mnemonic}${about}, ` +
          `there ${between === 1 ? 'is' : 'are'} ${between}.`,
        edits: [insertStates(pc, wait - between)],
      }),
    );
  }

  /** An instruction that the chip executes wrongly now and then, whatever stands before it. */
  protected override packedHighHalf(): void {
    if (!this.hasPackedFlaw) return;
    const { pc, instruction } = this.code;
    this.findings.push(
      finding({
        rule: 'hazards/packed-high-half',
        severity: 'note',
        kernel: this.context.subject.name,
        place: placeAt(this.context.program, pc),
        message:
          `${instruction.row.mnemonic} takes the low half's second source from the high register (op_sel:[0,1]); ` +
          'on gfx950 the low result was seen to be wrong now and then.',
        advice: 'Exchange the first two sources, or move the value to the low register first.',
      }),
    );
  }
}

/** All missing wait states of one function. */
export function checkHazards(context: CheckContext): Finding[] {
  return new HazardCheck(context).run();
}
