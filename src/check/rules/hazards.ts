// Missing wait states: for every instruction, the nearest earlier one on any path that the hardware does not hold it back for.
// Sources: see src/isa/table/hazards.ts; which operands count follows LLVM's GCNHazardRecognizer.

import { type Finding, finding, insertStates, type RuleId, ruleInfo } from '../../finding/index.ts';
import { operandNamed } from '../../isa/operand.ts';
import type { MatrixWaits, WaitTable } from '../../isa/table/hazards.ts';
import { targetInfo } from '../../isa/table/targets.ts';
import type { Immediate, Instruction } from '../../isa/types.ts';
import {
  type CodeInstruction,
  type Effects,
  overlaps,
  type Program,
  type ProgramFunction,
  SLOT_COUNT,
  Slot,
  type SlotRange,
  slotNames,
  slotsOf,
} from '../../program/index.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext } from '../types.ts';
import { seenMatrixStates, seenStates } from './hazard-evidence.ts';
import {
  MAX_WAIT_STATES,
  type MatrixFacts,
  matrixAccumulatorWait,
  matrixFacts,
  matrixOverwriteWait,
  matrixResultWait,
  matrixSourceWait,
} from './hazard-tables.ts';

/** What hazards ask about an instruction, wherever it stands. */
interface Step {
  readonly instruction: Instruction;
  readonly effects: Effects;
  /** The registers of the operands that are written out and read; of vector and memory instructions only. */
  readonly uses: readonly SlotRange[];
  /** The vector unit executes it, memory instructions included that take their addresses through it. */
  readonly isValu: boolean;
  readonly isVector: boolean;
  readonly isMemory: boolean;
  readonly isLds: boolean;
  readonly isDpp: boolean;
  readonly isDot: boolean;
  readonly matrix: MatrixFacts | undefined;
  readonly isTrans: boolean;
  /** Writes part of its result register. */
  readonly isPart: boolean;
  /** Writes a scalar register from the vector unit. */
  readonly isScalarWrite: boolean;
  /** See `wideStoreData`. */
  readonly wideData: readonly SlotRange[];
  /** The store of `wideData` is to a buffer at an offset in an SGPR. */
  readonly isScalarOffset: boolean;
  /** VCC and EXEC, of which it reads the flag that they are zero. */
  readonly zeroFlags: readonly (readonly SlotRange[])[];
  readonly usesVcc: boolean;
  /** What else the operation alone decides. */
  readonly special: Special | undefined;
  readonly readsM0: boolean;
  /** Wait states that it counts for: 1, or what s_nop says. */
  readonly states: number;
}

type Special = 'div-fmas' | 'lane' | 'swap' | 'fma64' | 'low-from-high' | 'hardware-register' | 'return-from-trap';

const EXEC: readonly SlotRange[] = [{ first: Slot.EXEC, count: 2 }];
const VCC: readonly SlotRange[] = [{ first: Slot.VCC, count: 2 }];
const M0: readonly SlotRange[] = [{ first: Slot.M0, count: 1 }];
const isVectorSlot = ({ first }: SlotRange): boolean => first >= Slot.VGPR0;

function specialOf(instruction: Instruction): Special | undefined {
  const { operation } = instruction.row;
  if (operation.startsWith('v_div_fmas')) return 'div-fmas';
  if (/^v_(?:read|write|readfirst)lane_b32$/.test(operation)) return 'lane';
  if (/^v_permlane\d+_swap_b32$/.test(operation)) return 'swap';
  if (/^v_fmac?_f64$/.test(operation)) return 'fma64';
  if (isLowFromHigh(instruction)) return 'low-from-high';
  if (/^s_[gs]etreg(?:_imm32)?_b32$/.test(operation)) return 'hardware-register';
  return operation.startsWith('s_rfe_') ? 'return-from-trap' : undefined;
}

function makeStep({ instruction, effects }: CodeInstruction, waits: MatrixWaits): Step {
  const { flags, operation, uses } = instruction.row;
  const isLds = flags.has('DS');
  const isMemory = flags.has('MUBUF') || flags.has('MTBUF') || flags.has('MIMG') || flags.has('FLAT');
  const isVector = flags.has('VALU') && !isMemory;
  const states = operation === 's_nop' ? ((instruction.operands[0] as Immediate).value & 15) + 1 : 1;
  return {
    instruction,
    effects,
    uses: isVector || isMemory || isLds ? explicitUses(instruction) : [],
    isValu: flags.has('VALU'),
    isVector,
    isMemory: isMemory || isLds,
    isLds,
    isDpp: flags.has('DPP'),
    isDot: isVector && operation.startsWith('v_dot'),
    matrix: matrixFacts(instruction, waits),
    isTrans: flags.has('TRANS'),
    isPart: isVector && writesPart(instruction),
    isScalarWrite: isVector && effects.defs.some((def) => !isVectorSlot(def)),
    wideData: isMemory ? wideStoreData(instruction) : [],
    isScalarOffset: (flags.has('MUBUF') || flags.has('MTBUF')) && operandSlots(instruction, 'soffset').length > 0,
    zeroFlags: instruction.operands.flatMap((operand) => {
      if (operand.kind !== 'reg') return [];
      return operand.encoding === VCCZ ? [VCC] : operand.encoding === EXECZ ? [EXEC] : [];
    }),
    usesVcc: uses.includes('VCC'),
    special: specialOf(instruction),
    readsM0: flags.has('LDSDMA') || flags.has('GWS') || READS_M0.test(operation),
    states,
  };
}

const stepsOf = new WeakMap<Program, Map<Instruction, Step>>();

/** The step of an instruction. Programs share equal instructions, so few are made. */
function sharedSteps(program: Program): (code: CodeInstruction) => Step {
  const known = stepsOf.get(program) ?? new Map<Instruction, Step>();
  stepsOf.set(program, known);
  const waits = targetInfo(program.target).matrixWaits;
  return (code) => {
    let step = known.get(code.instruction);
    if (step === undefined) {
      step = makeStep(code, waits);
      known.set(code.instruction, step);
    }
    return step;
  };
}

/** Kinds of instructions that others wait for. */
type Kind = 'transcendental' | 'part' | 'wideStore' | 'scalarWrite';

/** The earlier instruction that is too near, and how many wait states lie between. */
interface Nearest {
  readonly pc: number;
  readonly step: Step;
  readonly between: number;
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
  nearest(at: number, blockIndex: number, limit: number, matches: (step: Step) => boolean): Nearest | undefined {
    if (limit === 0) return undefined;
    let best: Nearest | undefined;
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
            best = { pc: (this.program.instructions[i] as CodeInstruction).pc, step, between: states };
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

/** Checks one instruction against everything before it. */
class HazardCheck {
  readonly found: Finding[] = [];
  private readonly context: CheckContext;
  private readonly walker: Walker;
  private readonly table: WaitTable;
  private readonly matrixWaits: MatrixWaits;
  private readonly hasPackedFlaw: boolean;
  /** By slot: index of the last matrix instruction of the block so far that reads or writes it. */
  private readonly matrixUse = new Int32Array(SLOT_COUNT).fill(-1);
  /** Index of the last instruction of each kind so far: most waits have nothing near that they could be for. */
  private readonly last: Record<Kind, number> = { transcendental: -1, part: -1, wideStore: -1, scalarWrite: -1 };
  private code!: CodeInstruction;
  private step!: Step;
  private block = 0;

  constructor(context: CheckContext) {
    this.context = context;
    this.walker = new Walker(context.program, context.subject);
    const { waits, matrixWaits, packedHighHalfFlaw } = targetInfo(context.target);
    this.hasPackedFlaw = packedHighHalfFlaw;
    this.table = waits;
    this.matrixWaits = matrixWaits;
  }

  run(): Finding[] {
    const { hasMatrix, hasDot } = this.walker;
    for (const index of this.context.subject.blocks) {
      const block = this.context.program.blocks[index];
      if (block === undefined) continue;
      this.block = index;
      for (let i = block.first; i < block.end; i++) {
        const step = this.walker.step(i);
        if (step === undefined) continue;
        this.code = this.context.program.instructions[i] as CodeInstruction;
        this.step = step;
        if (step.isVector) this.vector();
        if (step.isValu) this.forwarding();
        if (step.isMemory) this.memory();
        if (step.isVector || step.isMemory) {
          if (hasMatrix) this.matrixResults();
          if (hasDot) this.dots();
        }
        this.scalar();
        this.stampMatrix(step);
        this.stamp(step);
      }
    }
    return this.found;
  }

  /** Notes of what kind an instruction is. */
  private stamp({ isScalarWrite, isTrans, isPart, wideData }: Step): void {
    const { last, code } = this;
    if (isTrans) last.transcendental = code.index;
    if (isPart) last.part = code.index;
    if (wideData.length > 0) last.wideStore = code.index;
    if (isScalarWrite) last.scalarWrite = code.index;
  }

  /** Whether an instruction of a kind can stand less than a wait before this one: in the block, or in a block before it. */
  private isNear(kind: Kind, key: keyof WaitTable): boolean {
    const oldest = this.code.index - this.table[key];
    return this.last[kind] >= oldest || oldest < (this.context.program.blocks[this.block]?.first ?? 0);
  }

  /** Reports the nearest `matches` that is nearer than the table's wait. */
  private need(
    rule: RuleId,
    key: keyof WaitTable,
    registers: readonly SlotRange[],
    matches: (step: Step) => boolean,
  ): void {
    const wait = this.table[key];
    const nearest = this.walker.nearest(this.code.index, this.block, wait, matches);
    if (nearest === undefined) return;
    const [producer, consumer] = [nearest.step, this.step].map(({ instruction }) => instruction.row.operation);
    this.report(rule, wait, seenStates(key, producer as string, consumer as string), registers, nearest);
  }

  /** The same with a wait that all targets have, and that no shipped code goes without. */
  private needStates(
    rule: RuleId,
    wait: number,
    registers: readonly SlotRange[],
    matches: (step: Step) => boolean,
  ): void {
    const nearest = this.walker.nearest(this.code.index, this.block, wait, matches);
    if (nearest !== undefined) this.report(rule, wait, undefined, registers, nearest);
  }

  private report(
    rule: RuleId,
    wait: number,
    seen: number | undefined,
    registers: readonly SlotRange[],
    { pc: producer, step, between }: Nearest,
  ): void {
    const { pc, instruction } = this.code;
    const slots = registers.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i));
    const names = slotNames(slots);
    const about = names.length === 0 ? '' : ` (${names.join(', ')})`;
    const { mnemonic } = step.instruction.row;
    const isShipped = seen !== undefined && between >= seen;
    this.found.push(
      finding({
        rule,
        severity: isShipped ? 'note' : ruleInfo(rule).severity,
        basis: isShipped ? 'shipped' : 'manual',
        kernel: this.context.subject.name,
        place: placeAt(this.context.program, pc),
        related: [relatedAt(this.context.program, producer, 'is too near')],
        registers: names,
        message:
          `${instruction.row.mnemonic} needs ${wait} wait state${wait === 1 ? '' : 's'} after ${mnemonic}${about}, ` +
          `there ${between === 1 ? 'is' : 'are'} ${between}.`,
        edits: [insertStates(pc, wait - between)],
      }),
    );
  }

  /** Like `nearest`, after asking whether any matrix instruction near enough names the registers. */
  private nearestMatrix(registers: SlotRange, matches: (step: Step) => boolean): Nearest | undefined {
    const { index } = this.code;
    const oldest = index - MAX_WAIT_STATES;
    let isNear = oldest < (this.context.program.blocks[this.block]?.first ?? 0);
    for (let slot = registers.first; !isNear && slot < registers.first + registers.count; slot++) {
      isNear = (this.matrixUse[slot] as number) >= oldest;
    }
    return isNear ? this.walker.nearest(index, this.block, MAX_WAIT_STATES, matches) : undefined;
  }

  /** Notes the registers that a matrix instruction names. */
  private stampMatrix({ effects, matrix }: Step): void {
    if (matrix === undefined) return;
    for (const ranges of [effects.defs, effects.uses]) {
      for (const { first, count } of ranges) this.matrixUse.fill(this.code.index, first, first + count);
    }
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
    if (this.hasPackedFlaw && special === 'low-from-high') this.packedHighHalf();
    if (special === 'fma64') {
      this.need('hazards/matrix-to-fma64', 'doubleToFma', [], (p) => p.matrix?.isDouble === true);
    }
  }

  /** An instruction that the chip executes wrongly now and then, whatever stands before it. */
  private packedHighHalf(): void {
    const { pc, instruction } = this.code;
    this.found.push(
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
      if (before.between < wait) this.report('hazards/matrix-source', wait, undefined, [use], before);
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
        this.report('hazards/matrix-result', wait, seenMatrixStates(p, wait, waits, step.isMemory), [use], before);
    }
    for (const def of effects.defs) {
      if (!isVectorSlot(def)) continue;
      const written = this.nearestMatrix(def, (p) => writesMatrix(p, def));
      const w = written?.step.matrix;
      const overwrite = w === undefined ? 0 : matrixOverwriteWait(w, waits);
      if (written !== undefined && w !== undefined && written.between < overwrite) {
        this.report(
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
        this.report('hazards/matrix-overwrite', wait, undefined, [def], read);
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

/** Scalar and LDS instructions that read M0 without a hold. Source: LLVM 22, checkReadM0Hazards. */
const READS_M0 = /^(?:s_(?:sendmsg|sendmsghalt|ttracedata|movrel[sd]_b(?:32|64))|ds_(?:read|write)_addtid_b32)$/;

/** The hardware register of trap status, and the wait from writing it to the return from the trap handler. Source: LLVM 22, checkRFEHazards. */
const TRAPSTS = 3;
const TRAPSTS_TO_RFE = 1;

/**
 * The sources src_vccz and src_execz, and the wait from a vector instruction that writes VCC or EXEC to one that reads them.
 * Source: Vega and CDNA ISA manuals, "Manually Inserted Wait States".
 */
const VCCZ = 251;
const EXECZ = 252;
const ZERO_FLAG = 5;

/** The registers of the operands that are written out and read. */
function explicitUses(instruction: Instruction): SlotRange[] {
  const out: SlotRange[] = [];
  instruction.row.operands.forEach(({ isOut }, i) => {
    const operand = instruction.operands[i];
    const isFlag = operand?.kind === 'reg' && (operand.encoding === VCCZ || operand.encoding === EXECZ);
    const range = !isOut && !isFlag && operand?.kind === 'reg' ? slotsOf(operand) : undefined;
    if (range !== undefined) out.push(range);
  });
  return out;
}

function operandSlots(instruction: Instruction, name: string): SlotRange[] {
  const operand = operandNamed(instruction, name);
  const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
  return range === undefined ? [] : [range];
}

function immediateOf(instruction: Instruction, name: string): number | undefined {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'imm' ? operand.value : undefined;
}

/** The number of the hardware register that s_getreg and s_setreg name. */
function hardwareRegister(instruction: Instruction): number | undefined {
  const bits = immediateOf(instruction, 'simm16');
  return bits === undefined ? undefined : bits & 63;
}

const SDWA_DWORD = 6;
const DESTINATION_HIGH = 8;
const OP_SEL = 4;

/** Whether a vector instruction writes only a part of its destination register. */
function writesPart(instruction: Instruction): boolean {
  const { flags, operation } = instruction.row;
  if (flags.has('SDWA')) return (immediateOf(instruction, 'dst_sel') ?? SDWA_DWORD) !== SDWA_DWORD;
  // LLVM 22, getDstSelForwardingOperand: the byte is chosen by op_sel of src2; 4-bit results are parts whatever is chosen.
  if (/^v_cvt_scalef32_sr_pk_fp4_/.test(operation)) return true;
  const isByte = /^v_cvt_(?:scalef32_)?sr_(?:fp8|bf8)_/.test(operation);
  if (isByte && ((immediateOf(instruction, 'src2_modifiers') ?? 0) & OP_SEL) !== 0) return true;
  return flags.has('VOP3_OPSEL') && ((immediateOf(instruction, 'src0_modifiers') ?? 0) & DESTINATION_HIGH) !== 0;
}

/** Whether the low result of packed f32 arithmetic comes from the high half of its second source alone. Source: see `hazards/packed-high-half`. */
function isLowFromHigh(instruction: Instruction): boolean {
  if (!/^v_pk_(?:fma|mul|add)_f32$/.test(instruction.row.operation)) return false;
  const selects = (name: string): boolean => ((immediateOf(instruction, name) ?? 0) & OP_SEL) !== 0;
  return selects('src1_modifiers') && !selects('src0_modifiers');
}

/** The data registers of a store of more than 64 bits that may still be read when the next instruction issues. */
function wideStoreData(instruction: Instruction): SlotRange[] {
  const { flags } = instruction.row;
  if (!flags.has('mayStore') || flags.has('DS')) return [];
  return operandSlots(instruction, 'vdata').filter(({ count }) => count > 2);
}

function writesMatrix(step: Step, registers: SlotRange): boolean {
  return step.matrix !== undefined && overlaps(step.effects.defs, [registers]);
}

function readsAccumulator(step: Step, registers: SlotRange): boolean {
  if (step.matrix === undefined || matrixSourceWait(step.matrix) === 0) return false;
  return overlaps(operandSlots(step.instruction, 'src2'), [registers]);
}

/** All missing wait states of one function. */
export function checkHazards(context: CheckContext): Finding[] {
  return new HazardCheck(context).run();
}
