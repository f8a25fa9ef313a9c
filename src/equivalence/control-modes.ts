// Modes that change how vector instructions execute: registers chosen by an index (s_set_gpr_idx_on), and skipping (s_setvskip).
// Source: CDNA3 ISA manual, "SOPC" (s_setvskip, s_set_gpr_idx_on) and "VGPR Indexing".
import type { Register } from '../isa/types.ts';
import { Slot } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import { isVectorRegister } from './operands.ts';
import { Control } from './state.ts';
import type { Outcome, Step } from './step.ts';
import { isConstant, type Term } from './terms.ts';

type Execute = (step: Step) => Outcome;

/** Executes a vector instruction under the modes that are on. */
export function stepControlled(step: Step, execute: Execute): Outcome {
  const { state, algebra } = step;
  const skip = state[Control.SKIP] as Term;
  if (skip === algebra.terms.false_) return stepIndexed(step, execute);
  if (skip === algebra.terms.true_) return undefined;
  const before = state.slice();
  const outcome = stepIndexed(step, execute);
  if (outcome !== undefined) throw new NotFollowed('control flow depends on vector skip mode');
  for (let i = 0; i < before.length; i++) {
    const [old, now] = [before[i] as Term, state[i] as Term];
    if (old !== now) state[i] = algebra.integers.select(skip, old, now);
  }
  return undefined;
}

/** The bit of the index mode for each operand. */
const OPERAND_BITS: Readonly<Record<string, number>> = { src0: 1, src1: 2, src2: 4, vdst: 8 };

interface IndexedOperand {
  readonly register: Register;
  readonly isDestination: boolean;
}

function indexedOperands({ instruction }: Step, bits: number): IndexedOperand[] {
  return instruction.row.operands.flatMap((o, i) => {
    const register = instruction.operands[i];
    const isChosen = ((OPERAND_BITS[o.name] ?? 0) & bits) !== 0;
    return isChosen && isVectorRegister(register) && register.file === 'v'
      ? [{ register, isDestination: o.isOut }]
      : [];
  });
}

function stepIndexed(step: Step, execute: Execute): Outcome {
  const { state, instruction } = step;
  const mode = state[Control.INDEXING] as Term;
  if (isConstant(mode, 0n) || !instruction.row.flags.has('VALU') || instruction.row.flags.has('MAI'))
    return execute(step);
  if (mode.op !== 'const') throw new NotFollowed('the register index mode is not known');
  const operands = indexedOperands(step, Number(mode.value) & 15);
  if (operands.length === 0) return execute(step);
  if (!step.algebra.isSameAllocation)
    throw new NotFollowed('the kernels have other numbers of registers, and an index can reach past them');
  if (state[Slot.M0] !== state[Control.INDEX_M0]) throw new NotFollowed('M0 changes while it indexes registers');
  return stepThroughIndex(step, operands, execute);
}

/** Executes on a copy in which indexed sources hold what the index chooses; then puts results where they belong. */
function stepThroughIndex(step: Step, operands: readonly IndexedOperand[], execute: Execute): Outcome {
  const { algebra, state, exec, instruction } = step;
  const { integers, terms, masks } = algebra;
  const index = integers.and(state[Slot.M0] as Term, terms.i32(0xff));
  const copy = state.slice();
  for (const { register, isDestination } of operands) {
    if (isDestination) continue;
    const uses = instruction.operands.filter((o, i) => o === register && !instruction.row.operands[i]?.isOut);
    if (uses.length > 1) throw new NotFollowed('one register is an indexed and a plain source');
    for (let n = 0; n < register.dwords; n++) {
      const first = Slot.VGPR0 + register.index + n;
      const choices = state.slice(first, Slot.AGPR0).map((word) => masks.view(exec, word));
      copy[first] = terms.make('indexed', 'i32', [index, ...choices], { isUniform: false });
    }
  }
  const outcome = execute({ ...step, state: copy });
  const results = instruction.operands.flatMap((o, i) =>
    instruction.row.operands[i]?.isOut && isVectorRegister(o) ? [o] : [],
  );
  // Scalars and masks as the copy has them; vector registers only in the lanes that were written.
  for (let slot = 0; slot < Slot.VGPR0; slot++) state[slot] = copy[slot] as Term;
  for (const register of results) {
    const isIndexed = operands.some((o) => o.isDestination && o.register === register);
    for (let n = 0; n < register.dwords; n++) {
      const first = (register.file === 'a' ? Slot.AGPR0 : Slot.VGPR0) + register.index + n;
      const value = masks.view(exec, copy[first] as Term);
      const end = isIndexed ? Slot.AGPR0 : first + 1;
      for (let slot = first; slot < end; slot++) {
        const old = state[slot] as Term;
        const isChosen = isIndexed ? integers.eq(index, terms.i32(slot - first)) : terms.true_;
        state[slot] = masks.merge(exec, integers.select(isChosen, value, masks.view(exec, old)), old);
      }
    }
  }
  return outcome;
}
