// Branches that only save time: s_cbranch_execz over code that does nothing while no lane is on. A person puts them in and takes them out.
import { branchTarget } from '../isa/index.ts';
import { type CodeInstruction, type Program, Slot } from '../program/index.ts';

/** Ignore EXEC, act on other lanes than their own, or on caches and exceptions. */
const ACTIVE =
  /^(?:v_(?:readlane|readfirstlane|writelane|permlane|clrexcp)|ds_(?:gws|append|consume|ordered)|buffer_(?:inv|wb))/;
const HARMLESS = /^(?:s_nop|s_waitcnt|s_sleep|s_setprio)/;
const VECTOR = ['VALU', 'DS', 'FLAT', 'MUBUF'];

/** Whether an instruction changes nothing and orders nothing while no lane is on. */
function isIdle({ instruction: { row }, effects }: CodeInstruction): boolean {
  if (HARMLESS.test(row.operation)) return true;
  const isVector = VECTOR.some((name) => row.flags.has(name)) && !row.flags.has('MAI') && !ACTIVE.test(row.operation);
  const isOrdered = !row.flags.has('VALU') && !row.flags.has('mayLoad') && !row.flags.has('mayStore');
  return isVector && !isOrdered && effects.defs.every(({ first }) => first >= Slot.VGPR0);
}

/** Whether a branch is passed over code that does nothing when it is taken: with it and without it the program is the same function. */
export function isIdleSkip(program: Program, code: CodeInstruction): boolean {
  if (code.instruction.row.operation !== 's_cbranch_execz') return false;
  const target = branchTarget(code.instruction, code.pc);
  if (target === undefined || target <= code.pc) return false;
  for (let i = code.index + 1; ; i++) {
    const next = program.instructions[i];
    if (next === undefined || next.pc > target) return false;
    if (next.pc === target) return true;
    if (!isIdle(next)) return false;
  }
}

/** How many such branches a program has. */
export const idleSkips = (program: Program): number =>
  program.instructions.filter((code) => isIdleSkip(program, code)).length;
