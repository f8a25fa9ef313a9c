// Room `program/hazards`: the wait states that an instruction needs behind earlier ones, whatever path led to it. The checker asks for all
// paths of the code, strict mode for the one that was executed. Begin with this file.
//
// Every rule as one question: what is the nearest earlier instruction that the hardware does not hold this one back for?
// Sources: see src/isa/table/hazards.ts; which operands count follows LLVM's GCNHazardRecognizer.
import type { MatrixWaits, WaitTable } from '../../isa/table/hazards.ts';
import { targetInfo } from '../../isa/table/targets.ts';
import type { TargetName } from '../../isa/types.ts';
import { overlaps } from '../effects.ts';
import { Slot, type SlotRange, slotsOf } from '../slots.ts';
import { seenMatrixStates, seenStates } from './evidence.ts';
import { EXEC, hardwareRegister, isVectorSlot, M0, operandSlots, type Step, VCC } from './steps.ts';
import {
  MAX_WAIT_STATES,
  type MatrixFacts,
  matrixAccumulatorWait,
  matrixOverwriteWait,
  matrixResultWait,
  matrixSourceWait,
} from './tables.ts';

/** Rules by their names in findings. */
export type HazardRule =
  | 'hazards/div-fmas'
  | 'hazards/dot'
  | 'hazards/dpp'
  | 'hazards/exec'
  | 'hazards/lane-select'
  | 'hazards/m0'
  | 'hazards/matrix-overwrite'
  | 'hazards/matrix-result'
  | 'hazards/matrix-source'
  | 'hazards/matrix-to-fma64'
  | 'hazards/partial-write'
  | 'hazards/permlane'
  | 'hazards/readlane'
  | 'hazards/scalar-to-memory'
  | 'hazards/scalar-to-vector'
  | 'hazards/setreg'
  | 'hazards/store-data'
  | 'hazards/store-data-scalar'
  | 'hazards/trans'
  | 'hazards/vector-to-matrix';

/** Kinds of instructions that others wait for. */
export type Kind = 'transcendental' | 'part' | 'wideStore' | 'scalarWrite';

/** The earlier instruction that is too near, where it stands, and how many wait states lie between. */
export interface Nearest<At> {
  readonly at: At;
  readonly step: Step;
  readonly between: number;
}

/** Missing wait states. */
export interface Hazard<At> {
  readonly rule: HazardRule;
  /** Wait states that are needed. */
  readonly wait: number;
  /** Code that ships runs with so few. */
  readonly isShipped: boolean;
  readonly registers: readonly SlotRange[];
  readonly producer: Nearest<At>;
}

/** Asks everything about one instruction; who knows the way to it says what stands before it, and takes what is missing. */
export abstract class HazardRules<At> {
  protected step!: Step;
  protected readonly table: WaitTable;
  private readonly matrixWaits: MatrixWaits;

  constructor(target: TargetName) {
    const { waits, matrixWaits } = targetInfo(target);
    this.table = waits;
    this.matrixWaits = matrixWaits;
  }

  /** The nearest instruction before this one, less than `limit` wait states away, that `matches`. */
  protected abstract nearest(limit: number, matches: (step: Step) => boolean): Nearest<At> | undefined;
  protected abstract report(hazard: Hazard<At>): void;

  /** Whether an instruction of a kind can stand less than a wait before this one. */
  protected isNear(_kind: Kind, _key: keyof WaitTable): boolean {
    return true;
  }

  /** Whether a matrix instruction near enough can name the registers. */
  protected isNearMatrix(_registers: SlotRange): boolean {
    return true;
  }

  /** There are matrix instructions, and dot products, before this one. */
  protected get hasMatrix(): boolean {
    return true;
  }
  protected get hasDot(): boolean {
    return true;
  }

  /** An instruction that the chip executes wrongly now and then, whatever stands before it. */
  protected packedHighHalf(): void {}

  /** Looks at one instruction. */
  protected examine(step: Step): void {
    this.step = step;
    if (step.isVector) this.vector();
    if (step.isValu) this.forwarding();
    if (step.isMemory) this.memory();
    if (step.isVector || step.isMemory) {
      if (this.hasMatrix) this.matrixResults();
      if (this.hasDot) this.dots();
    }
    this.scalar();
  }

  private found(
    rule: HazardRule,
    wait: number,
    seen: number | undefined,
    registers: readonly SlotRange[],
    producer: Nearest<At>,
  ): void {
    this.report({ rule, wait, isShipped: seen !== undefined && producer.between >= seen, registers, producer });
  }

  private nearestMatrix(registers: SlotRange, matches: (step: Step) => boolean): Nearest<At> | undefined {
    return this.isNearMatrix(registers) ? this.nearest(MAX_WAIT_STATES, matches) : undefined;
  }

  /** Reports the nearest `matches` that is nearer than the table's wait. */
  private need(
    rule: HazardRule,
    key: keyof WaitTable,
    registers: readonly SlotRange[],
    matches: (step: Step) => boolean,
  ): void {
    const wait = this.table[key];
    const nearest = this.nearest(wait, matches);
    if (nearest === undefined) return;
    const [producer, consumer] = [nearest.step, this.step].map(({ instruction }) => instruction.row.operation);
    this.found(rule, wait, seenStates(key, producer as string, consumer as string), registers, nearest);
  }

  /** The same with a wait that all targets have, and that no shipped code goes without. */
  private needStates(
    rule: HazardRule,
    wait: number,
    registers: readonly SlotRange[],
    matches: (step: Step) => boolean,
  ): void {
    const nearest = this.nearest(wait, matches);
    if (nearest !== undefined) this.found(rule, wait, undefined, registers, nearest);
  }

  private vectorWrites(registers: readonly SlotRange[]): (step: Step) => boolean {
    return (step) => step.isVector && overlaps(step.effects.defs, registers);
  }

  private vector(): void {
    const { step } = this;
    const { uses, effects, special } = step;
    for (const use of uses) {
      if (!isVectorSlot(use)) {
        if (this.isNear('scalarWrite', 'scalarToVector'))
          this.need('hazards/scalar-to-vector', 'scalarToVector', [use], this.vectorWrites([use]));
        continue;
      }
      if (step.isDpp) this.need('hazards/dpp', 'vectorToDpp', [use], this.vectorWrites([use]));
    }
    if (step.usesVcc) {
      if (special === 'div-fmas') this.need('hazards/div-fmas', 'vccToDivFmas', VCC, this.vectorWrites(VCC));
      else this.need('hazards/scalar-to-vector', 'scalarToVector', VCC, this.vectorWrites(VCC));
    }
    for (const whole of step.zeroFlags) {
      this.needStates('hazards/scalar-to-vector', ZERO_FLAG, whole, this.vectorWrites(whole));
    }
    if (step.isDpp) this.need('hazards/exec', 'execToDpp', EXEC, this.vectorWrites(EXEC));
    if (special === 'lane') this.lanes(uses);
    if (special === 'swap') {
      this.need('hazards/exec', 'execToSwap', EXEC, this.vectorWrites(EXEC));
      this.need('hazards/permlane', 'vectorToSwap', uses, this.vectorWrites(uses));
    }
    if (step.matrix !== undefined) this.matrix(step.matrix);
    for (const def of effects.defs) {
      if (!isVectorSlot(def) || !this.isNear('wideStore', 'storeData')) continue;
      const isWideStore = (isScalar: boolean) => (p: Step) =>
        p.isScalarOffset === isScalar && p.wideData.length > 0 && overlaps(p.wideData, [def]);
      this.need('hazards/store-data', 'storeData', [def], isWideStore(false));
      this.need('hazards/store-data-scalar', 'storeDataScalar', [def], isWideStore(true));
    }
    if (special === 'low-from-high') this.packedHighHalf();
    if (special === 'fma64') {
      this.need('hazards/matrix-to-fma64', 'doubleToFma', [], (p) => p.matrix?.isDouble === true);
    }
  }

  /** Results that come late to the vector unit; loads from memory to LDS take their addresses through it. Source: LLVM 22, checkVALUHazards. */
  private forwarding(): void {
    const { uses, effects, isTrans } = this.step;
    if (!isTrans && this.isNear('transcendental', 'transToVector')) {
      for (const use of uses.filter(isVectorSlot)) {
        const writes = (p: Step) => p.isTrans && overlaps(p.effects.defs, [use]);
        this.need('hazards/trans', 'transToVector', [use], writes);
      }
    }
    if (!this.isNear('part', 'partToVector')) return;
    // Whoever writes the register again keeps a part of it, or reads it for its check bits. Source: LLVM 22,
    // consumesDstSelForwardingOperand: any operand counts.
    const touched = [...uses, ...effects.defs.filter((def) => !overlaps(uses, [def]))];
    for (const range of touched.filter(isVectorSlot)) {
      const isPart = (p: Step) => p.isPart && overlaps(p.effects.defs, [range]);
      this.need('hazards/partial-write', 'partToVector', [range], isPart);
    }
  }

  private lanes(uses: readonly SlotRange[]): void {
    this.need('hazards/exec', 'execToLane', EXEC, this.vectorWrites(EXEC));
    const { operation } = this.step.instruction.row;
    const vectors = uses.filter(isVectorSlot);
    if (operation !== 'v_writelane_b32') {
      this.need('hazards/readlane', 'vectorToReadLane', vectors, this.vectorWrites(vectors));
    }
    const select = operandSlots(this.step.instruction, 'src1').filter((use) => !isVectorSlot(use));
    if (select.length > 0) {
      this.need('hazards/lane-select', 'scalarToLaneSelect', select, this.vectorWrites(select));
    }
  }

  private memory(): void {
    const { step } = this;
    const { effects, isLds } = step;
    if (isLds) return;
    for (const use of effects.uses) {
      if (isVectorSlot(use) || use.first === Slot.M0) continue;
      this.need('hazards/scalar-to-memory', 'scalarToMemory', [use], this.vectorWrites([use]));
    }
  }

  /** A matrix instruction behind VALU instructions and other matrix instructions. */
  private matrix(c: MatrixFacts): void {
    const { matrixWaits: waits, step } = this;
    const { instruction } = step;
    this.need('hazards/exec', 'execToMatrix', EXEC, this.vectorWrites(EXEC));
    instruction.row.operands.forEach(({ name, isOut }, i) => {
      const operand = instruction.operands[i];
      const use = !isOut && operand?.kind === 'reg' ? slotsOf(operand) : undefined;
      if (use === undefined || !isVectorSlot(use)) return;
      const isPlain = (p: Step) => p.isVector && p.matrix === undefined && !p.isDot && overlaps(p.effects.defs, [use]);
      this.need('hazards/vector-to-matrix', 'vectorToMatrix', [use], isPlain);
      const before = this.nearestMatrix(use, (p) => writesMatrix(p, use));
      const p = before?.step.matrix;
      if (before === undefined || p === undefined) return;
      const written = before.step.effects.defs[0];
      const isSame = written !== undefined && written.first === use.first && written.count === use.count;
      const wait = name === 'src2' ? matrixAccumulatorWait(p, c, isSame, waits) : matrixResultWait(p, waits, false);
      if (before.between < wait) this.found('hazards/matrix-source', wait, undefined, [use], before);
    });
  }

  /** A vector or memory instruction that reads or overwrites what a matrix instruction works on. */
  private matrixResults(): void {
    const { step, matrixWaits: waits } = this;
    if (step.matrix !== undefined) return;
    const { effects } = step;
    for (const use of step.uses) {
      if (!isVectorSlot(use)) continue;
      const before = this.nearestMatrix(use, (p) => writesMatrix(p, use));
      const p = before?.step.matrix;
      if (before === undefined || p === undefined) continue;
      const wait = matrixResultWait(p, waits, step.isMemory);
      if (before.between < wait)
        this.found('hazards/matrix-result', wait, seenMatrixStates(p, wait, waits, step.isMemory), [use], before);
    }
    for (const def of effects.defs) {
      if (!isVectorSlot(def)) continue;
      const written = this.nearestMatrix(def, (p) => writesMatrix(p, def));
      const w = written?.step.matrix;
      const overwrite = w === undefined ? 0 : matrixOverwriteWait(w, waits);
      if (written !== undefined && w !== undefined && written.between < overwrite) {
        this.found(
          'hazards/matrix-overwrite',
          overwrite,
          seenMatrixStates(w, overwrite, waits, step.isMemory),
          [def],
          written,
        );
        continue;
      }
      const read = this.nearestMatrix(def, (p) => readsAccumulator(p, def));
      const r = read?.step.matrix;
      const wait = r === undefined ? 0 : matrixSourceWait(r);
      if (read !== undefined && read.between < wait)
        this.found('hazards/matrix-overwrite', wait, undefined, [def], read);
    }
  }

  private dots(): void {
    const { step } = this;
    if (step.matrix !== undefined) return;
    const { instruction, effects } = step;
    const { operation } = instruction.row;
    const dotWrites = (range: SlotRange, isSameFine: boolean) => (p: Step) =>
      p.isDot && overlaps(p.effects.defs, [range]) && !(isSameFine && p.instruction.row.operation === operation);
    instruction.row.operands.forEach(({ name, isOut }, i) => {
      const operand = instruction.operands[i];
      const use = !isOut && operand?.kind === 'reg' ? slotsOf(operand) : undefined;
      if (use === undefined || !isVectorSlot(use)) return;
      this.need('hazards/dot', 'dotResult', [use], dotWrites(use, name === 'src2'));
    });
    for (const def of effects.defs) {
      if (isVectorSlot(def)) this.need('hazards/dot', 'dotResult', [def], dotWrites(def, true));
    }
  }

  private scalar(): void {
    const { special, readsM0 } = this.step;
    if (readsM0) {
      const writesM0 = (p: Step) => p.instruction.row.flags.has('SALU') && overlaps(p.effects.defs, M0);
      this.need('hazards/m0', 'm0', M0, writesM0);
    }
    if (special === 'hardware-register') {
      const own = hardwareRegister(this.step.instruction);
      const isSetreg = (p: Step) =>
        p.instruction.row.operation.startsWith('s_setreg') && hardwareRegister(p.instruction) === own;
      this.need('hazards/setreg', 'setreg', [], isSetreg);
    }
    if (special === 'return-from-trap') {
      const writesTraps = (p: Step) =>
        p.instruction.row.operation.startsWith('s_setreg') && hardwareRegister(p.instruction) === TRAPSTS;
      this.needStates('hazards/setreg', TRAPSTS_TO_RFE, [], writesTraps);
    }
  }
}

/** The hardware register of trap status, and the wait from writing it to the return from the trap handler. Source: LLVM 22, checkRFEHazards. */
const TRAPSTS = 3;
const TRAPSTS_TO_RFE = 1;

/**
 * The wait from a vector instruction that writes VCC or EXEC to one that reads src_vccz or src_execz.
 * Source: Vega and CDNA ISA manuals, "Manually Inserted Wait States".
 */
const ZERO_FLAG = 5;

function writesMatrix(step: Step, registers: SlotRange): boolean {
  return step.matrix !== undefined && overlaps(step.effects.defs, [registers]);
}

function readsAccumulator(step: Step, registers: SlotRange): boolean {
  if (step.matrix === undefined || matrixSourceWait(step.matrix) === 0) return false;
  return overlaps(operandSlots(step.instruction, 'src2'), [registers]);
}
