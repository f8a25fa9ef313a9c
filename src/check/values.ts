// What registers are known to hold where instructions of a function execute: constants, and addresses of kernel arguments.
// Vector registers are known in the lanes that were active when they were written, so they are forgotten where EXEC can widen.
// Rules ask for a few registers, and only what those depend on is followed.
import {
  addSlots,
  type BasicBlock,
  type CodeInstruction,
  computedFrom,
  execChange,
  hasSlot,
  joinKnowledge,
  type Knowledge,
  type Program,
  type ProgramFunction,
  SLOT_WORDS,
  Slot,
  type SlotRange,
  solveForward,
  stepKnowledge,
} from '../program/index.ts';

/** Values of one register that are followed; loops make more, and then nothing is known. */
const MOST_VALUES = 2;

/** What the registers of `asked` are known to hold in a function; nothing is said of others. */
export class KnownValues {
  private readonly program: Program;
  /** The registers asked for, and those that their values are computed from. */
  private readonly followed: Uint32Array;
  /** By block index: the instructions that write one of them, or after which lanes may come back. */
  private readonly steps = new Map<number, readonly CodeInstruction[]>();
  /** Where each reachable block begins. */
  private readonly inputs: ReadonlyMap<number, Knowledge>;

  constructor(program: Program, subject: ProgramFunction, asked: readonly SlotRange[]) {
    this.program = program;
    this.followed = closure(program, subject, asked);
    for (const index of subject.blocks) {
      const { first, end } = program.blocks[index] as BasicBlock;
      const steps: CodeInstruction[] = [];
      for (let i = first; i < end; i++) {
        const code = program.instructions[i] as CodeInstruction;
        if (code.effects.defs.some((range) => this.isFollowed(range)) || widens(code)) steps.push(code);
      }
      this.steps.set(index, steps);
    }
    this.inputs = this.solve(subject);
  }

  private isFollowed({ first, count }: SlotRange): boolean {
    for (let slot = first; slot < first + count; slot++) if (hasSlot(this.followed, slot)) return true;
    return false;
  }

  private solve(subject: ProgramFunction): Map<number, Knowledge> {
    return solveForward<Knowledge>(this.program, subject, {
      entry: () => entryKnowledge(subject),
      copy: (known) => new Map(known),
      transfer: (block, known) => {
        for (const code of this.steps.get(block.index) ?? []) step(code, known);
        // Who is called may write anything.
        if (block.exit === 'call') known.clear();
      },
      join: (input, known) => joinKnowledge(input, known, MOST_VALUES),
    });
  }

  /** Visits the instructions of a block, if it is reachable, with what is known before each. */
  stepThrough({ index, first, end }: BasicBlock, visit: (code: CodeInstruction, known: Knowledge) => void): void {
    const input = this.inputs.get(index);
    if (input === undefined) return;
    const known: Knowledge = new Map(input);
    const steps = this.steps.get(index) ?? [];
    let next = 0;
    for (let i = first; i < end; i++) {
      const code = this.program.instructions[i] as CodeInstruction;
      visit(code, known);
      if (steps[next] !== code) continue;
      step(code, known);
      next++;
    }
  }
}

/** Whether lanes may be active behind an instruction that were not before it. */
function widens(code: CodeInstruction): boolean {
  const change = execChange(code);
  return change !== 'same' && change !== 'narrower';
}

function step(code: CodeInstruction, known: Knowledge): void {
  stepKnowledge(code, known, true);
  if (!widens(code)) return;
  for (const slot of known.keys()) if (slot >= Slot.VGPR0) known.delete(slot);
}

const sourcesOfFunctions = new WeakMap<ProgramFunction, ReadonlyMap<number, ReadonlySet<number>>>();

/** By slot: what its values are computed from, wherever in the function that is done. */
function sourcesIn(program: Program, subject: ProgramFunction): ReadonlyMap<number, ReadonlySet<number>> {
  const known = sourcesOfFunctions.get(subject);
  if (known !== undefined) return known;
  const sources = new Map<number, Set<number>>();
  for (const index of subject.blocks) {
    const { first, end } = program.blocks[index] as BasicBlock;
    for (let i = first; i < end; i++) {
      const computed = computedFrom((program.instructions[i] as CodeInstruction).instruction);
      if (computed === undefined) continue;
      const all = sources.get(computed.slot);
      if (all === undefined) sources.set(computed.slot, new Set(computed.from));
      else for (const slot of computed.from) all.add(slot);
    }
  }
  sourcesOfFunctions.set(subject, sources);
  return sources;
}

/** Slots with all that their values may be computed from. */
function closure(program: Program, subject: ProgramFunction, asked: readonly SlotRange[]): Uint32Array {
  const sources = sourcesIn(program, subject);
  const out = new Uint32Array(SLOT_WORDS);
  const open: number[] = [];
  const add = (slot: number): void => {
    if (hasSlot(out, slot)) return;
    addSlots(out, [{ first: slot, count: 1 }]);
    open.push(slot);
  };
  for (const { first, count } of asked) for (let slot = first; slot < first + count; slot++) add(slot);
  for (let slot = open.pop(); slot !== undefined; slot = open.pop()) sources.get(slot)?.forEach(add);
  return out;
}

/** Where the kernarg segment's address is when a kernel starts. Source: LLVM's AMDGPUUsage, "Initial Kernel Execution State". */
function entryKnowledge({ kernel }: ProgramFunction): Knowledge {
  const properties = kernel?.descriptor?.properties;
  if (properties === undefined || properties.enableSgprKernargSegmentPtr === 0) return new Map();
  const slot =
    4 * properties.enableSgprPrivateSegmentBuffer +
    2 * properties.enableSgprDispatchPtr +
    2 * properties.enableSgprQueuePtr;
  return new Map([[slot, [{ low: 0, base: 'kernarg' as const }]]]);
}
