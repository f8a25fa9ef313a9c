// Branches over code that no lane runs (`s_cbranch_execz`): vector instructions do nothing without lanes, so they may run, or begin, before the branch.
import { branchTarget } from '../../isa/index.ts';
import { type BasicBlock, type CodeInstruction, execChange, Slot, waitRole } from '../../program/index.ts';
import { dependsOn, isMemory, joined, type KernelView, type Move } from './view.ts';

/** Instructions that may run for nothing: more of them take longer than the branch. */
const MOST_SKIPPED = 24;
/** Instructions of the code behind the branch that begin before it. */
const MOST_ACROSS = 8;

/** `s_cbranch_execz`, the code behind it, and where it goes. */
interface Skip {
  readonly branch: CodeInstruction;
  readonly skipped: readonly CodeInstruction[];
  readonly next: BasicBlock;
}

function skipsOf(view: KernelView): Skip[] {
  const { program, subject } = view;
  return subject.blocks.flatMap((index) => {
    const block = program.blocks[index] as BasicBlock;
    const branch = program.instructions[block.end - 1] as CodeInstruction;
    if (branch.instruction.row.operation !== 's_cbranch_execz') return [];
    const next = program.blocks[index + 1];
    if (next === undefined || next.predecessors.some((p) => p !== index) || !block.successors.includes(index + 1))
      return [];
    return [{ branch, skipped: program.instructions.slice(next.first, next.end), next }];
  });
}

/** Whether an instruction without lanes does nothing that anybody could see: what it writes is in vector registers and memory. */
function isNothingWithoutLanes({ instruction: { row }, effects }: CodeInstruction): boolean {
  const { isWait, kind } = waitRole(row);
  if (isWait) return true;
  if (
    kind === 'scalar' ||
    row.flags.has('LDSDMA') ||
    /^(?:v_mfma|v_smfma|v_readlane|v_readfirstlane|v_writelane|v_permlane|v_accvgpr)/.test(row.operation)
  )
    return false;
  const isVector =
    row.flags.has('VALU') ||
    ((kind === 'vm' || kind === 'lds') && /^(?:global|buffer|ds)_(?:load|store|read|write)/.test(row.operation));
  return isVector && effects.defs.every(({ first }) => first >= Slot.VGPR0);
}

/** The branch goes where all that it would skip is nothing without lanes. */
export function droppedSkips(view: KernelView): Move[] {
  return skipsOf(view).flatMap(({ branch, skipped, next }) => {
    const target = branchTarget(branch.instruction, branch.pc);
    const behind = skipped.at(-1) as CodeInstruction;
    const isStraight = next.exit === 'fallthrough' && target === behind.pc + behind.instruction.size;
    if (!isStraight || skipped.length > MOST_SKIPPED || !skipped.every(isNothingWithoutLanes)) return [];
    const text = `${skipped.length} instructions run without lanes where they were skipped`;
    return [{ kind: 'drop-skip' as const, pc: branch.pc, text, replace: new Map([[branch.pc, new Uint8Array()]]) }];
  });
}

/** The first loads behind the branch, with the arithmetic of their addresses, before it. */
export function hoistedAcross(view: KernelView): Move[] {
  return skipsOf(view).flatMap(({ branch, skipped }) => {
    const moved: CodeInstruction[] = [];
    const staying: CodeInstruction[] = [];
    for (const code of skipped) {
      if (moved.length >= MOST_ACROSS || execChange(code) !== 'same') break;
      const isLoad = !waitRole(code.instruction.row).stores;
      const { isWait } = waitRole(code.instruction.row);
      const isFree =
        !isWait &&
        isLoad &&
        view.isFree(code) &&
        isNothingWithoutLanes(code) &&
        staying.every((s) => !dependsOn(s, code));
      // Counts of waits stay as they are: no operation of memory passes another or a wait.
      const passes = isMemory(code) && staying.some((s) => isMemory(s) || waitRole(s.instruction.row).isWait);
      if (isFree && !passes) moved.push(code);
      else staying.push(code);
    }
    const last = moved.findLastIndex(isMemory);
    const wanted = moved.slice(0, last + 1);
    if (wanted.length === 0) return [];
    const replace = new Map(wanted.map((code) => [code.pc, new Uint8Array() as Uint8Array]));
    const before = new Map([[branch.pc, [joined(wanted.map((code) => view.bytes(code)))]]]);
    const text = `${wanted.length} instructions before ${view.text(branch)}`;
    return [{ kind: 'hoist-across' as const, pc: branch.pc, text, replace, before }];
  });
}
