// Loops in which a wave waits for others: short ones that sleep, or read memory past the caches, and change nothing.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { Reached } from './reachable.ts';

/** Longest loop, in bytes, that is taken for waiting. */
export const MAX_LOOP = 512;

const known = new WeakMap<LoadedCode, Map<number, boolean>>();

/** Whether the instruction at an address is in a loop that waits. */
export function isSpinLoop(loaded: LoadedCode, pc: number): boolean {
  let answers = known.get(loaded);
  if (answers === undefined) {
    answers = new Map();
    known.set(loaded, answers);
  }
  let answer = answers.get(pc);
  if (answer === undefined) {
    answer = findSpinLoop(loaded, pc);
    answers.set(pc, answer);
  }
  return answer;
}

function findSpinLoop(loaded: LoadedCode, pc: number): boolean {
  return shortLoop(loaded, pc)?.some(({ instruction }) => sleepsOrPolls(instruction)) ?? false;
}

/**
 * The innermost loop around an address, from the target of the next backward branch over it to that branch. Undefined when there is
 * none, or it is long or changes memory.
 */
export function shortLoop(loaded: LoadedCode, pc: number): readonly Reached[] | undefined {
  for (let at = pc; at < pc + MAX_LOOP; ) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined) return undefined;
    const target = branchTarget(instruction, at);
    if (target !== undefined && target <= pc) return at - target <= MAX_LOOP ? quiet(loaded, target, at) : undefined;
    at += instruction.size;
  }
  return undefined;
}

function quiet(loaded: LoadedCode, from: number, to: number): readonly Reached[] | undefined {
  const loop: Reached[] = [];
  for (let at = from; at <= to; ) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined || changesMemory(instruction)) return undefined;
    loop.push({ at, instruction });
    at += instruction.size;
  }
  return loop;
}

function changesMemory({ row }: Instruction): boolean {
  const op = semanticsOf(row.operation);
  return (
    op?.kind === 'store' ||
    op?.kind === 'matrix' ||
    (op?.kind === 'structural' && (op.name === 'barrier' || op.name === 'gridBarrier')) ||
    ((op?.kind === 'format' || op?.kind === 'image') && row.flags.has('mayStore'))
  );
}

/** s_sleep, a cache invalidation, an atomic that returns a value, or a load that bypasses caches. */
function sleepsOrPolls(instruction: Instruction): boolean {
  const { row } = instruction;
  const op = semanticsOf(row.operation);
  if (op?.kind === 'structural') return op.name === 'sleep' || op.name === 'cacheControl';
  if (op?.kind === 'atomic') return op.space !== 'lds' && row.operands.some((o) => o.isOut);
  if (op?.kind !== 'load' || op.space === 'lds') return false;
  return row.operands.some((o, i) => {
    const value = instruction.operands[i];
    return /^(cpol|glc|sc0|sc1)$/.test(o.name) && value?.kind === 'imm' && value.value !== 0;
  });
}
