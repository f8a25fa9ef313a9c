// What registers are known to hold where instructions of a function execute: constants, and addresses of kernel arguments.
// Vector registers are known in the lanes that were active when they were written, so they are forgotten where EXEC can widen.
import {
  type BasicBlock,
  type CodeInstruction,
  execChange,
  joinKnowledge,
  type Knowledge,
  type Program,
  type ProgramFunction,
  Slot,
  solveForward,
  stepKnowledge,
} from '../program/index.ts';

/** Values of one register that are followed; loops make more, and then nothing is known. */
const MOST_VALUES = 2;

const solved = new WeakMap<ProgramFunction, { program: Program; inputs: ReadonlyMap<number, Knowledge> }>();

/** What is known where each reachable block of a function begins, by block index. */
export function knowledgeAtBlocks(program: Program, subject: ProgramFunction): ReadonlyMap<number, Knowledge> {
  const known = solved.get(subject);
  if (known?.program === program) return known.inputs;
  const inputs = solve(program, subject);
  solved.set(subject, { program, inputs });
  return inputs;
}

/** Visits the instructions of a block with what is known before each. */
export function stepThroughValues(
  program: Program,
  block: BasicBlock,
  input: Knowledge,
  visit: (code: CodeInstruction, known: Knowledge) => void,
): void {
  const known: Knowledge = new Map(input);
  for (let i = block.first; i < block.end; i++) {
    const code = program.instructions[i] as CodeInstruction;
    visit(code, known);
    step(code, known);
  }
}

function step(code: CodeInstruction, known: Knowledge): void {
  stepKnowledge(code, known, true);
  const change = execChange(code);
  if (change === 'same' || change === 'narrower') return;
  for (const slot of known.keys()) if (slot >= Slot.VGPR0) known.delete(slot);
}

function solve(program: Program, subject: ProgramFunction): Map<number, Knowledge> {
  return solveForward<Knowledge>(program, subject, {
    entry: () => entryKnowledge(subject),
    copy: (known) => new Map(known),
    transfer: (block, known) => {
      for (let i = block.first; i < block.end; i++) step(program.instructions[i] as CodeInstruction, known);
      // Who is called may write anything.
      if (block.exit === 'call') known.clear();
    },
    join: (input, known) => joinKnowledge(input, known, MOST_VALUES),
  });
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
