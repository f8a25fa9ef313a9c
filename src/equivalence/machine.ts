// Executes one instruction on terms. Both programs of a comparison share the pool, so equal computations become the same term.
// The meaning of integer operations is the semantics table's expression; floating point, matrix and conversion operations stay
// whole: the same operation with the same modifiers, mode and operands gives the same bits.
import { type Expr, type Operation, semanticsOf } from '../isa/semantics/index.ts';
import { type CodeInstruction, Slot } from '../program/index.ts';
import { stepControlled } from './control-modes.ts';
import { NotFollowed } from './errors.ts';
import { type Leaves, readExpression } from './expressions.ts';
import { stepMemory } from './memory-step.ts';
import { stepScalar } from './scalar-step.ts';
import type { State } from './state.ts';
import type { Algebra, Outcome, Step } from './step.ts';
import { stepStructural } from './structural-step.ts';
import type { Term } from './terms.ts';
import { stepOpaque, stepVector } from './vector-step.ts';

/** Executes instructions of one program. `imageShift` and `watcher`: see `Step`. */
export class Machine {
  private readonly algebra: Algebra;
  private readonly imageShift: bigint | undefined;

  constructor(algebra: Algebra, imageShift: bigint | undefined) {
    this.algebra = algebra;
    this.imageShift = imageShift;
  }

  /** Executes one instruction, changing `state`. Throws `NotFollowed` for what has no terms. */
  step(code: CodeInstruction, state: State, watcher: Step['watcher']): Outcome {
    const { instruction } = code;
    const exec = this.algebra.integers.pair(state[Slot.EXEC] as Term, state[Slot.EXEC + 1] as Term);
    const step = { algebra: this.algebra, code, instruction, state, exec, imageShift: this.imageShift, watcher };
    const operation = semanticsOf(instruction.row.operation);
    if (operation === undefined) throw new NotFollowed(`'${instruction.row.mnemonic}' has no semantics`);
    const isVector = VECTOR_CLASSES.some((name) => instruction.row.flags.has(name));
    return isVector ? stepControlled(step, (inner) => dispatch(inner, operation)) : dispatch(step, operation);
  }
}

/** Instruction classes that vector skip mode passes over. */
const VECTOR_CLASSES = ['VALU', 'DS', 'FLAT', 'MUBUF', 'MTBUF', 'MIMG', 'EXP'];

function dispatch(step: Step, operation: Operation): Outcome {
  switch (operation.kind) {
    case 'vector':
      stepVector(step, operation);
      return undefined;
    case 'scalar':
      stepScalar(step, operation);
      return undefined;
    case 'branch':
      return { kind: 'branch', condition: branchCondition(step, operation.condition) };
    case 'load':
    case 'store':
    case 'atomic':
    case 'format':
      stepMemory(step, operation);
      return undefined;
    case 'matrix':
    case 'scaleConvert':
      stepOpaque(step, operation);
      return undefined;
    case 'structural':
      return stepStructural(step, operation);
    case 'unreachable':
      throw new NotFollowed(`'${step.instruction.row.mnemonic}' is not followed: ${operation.reason}`);
  }
}

function branchCondition({ algebra, state, exec }: Step, condition: Expr | undefined): Term {
  const { integers, terms } = algebra;
  if (condition === undefined) return terms.true_;
  const leaves: Leaves = {
    source: () => {
      throw new NotFollowed('a branch reads an operand');
    },
    scc: state[Slot.SCC] as Term,
    vccz: integers.eq(integers.pair(state[Slot.VCC] as Term, state[Slot.VCC + 1] as Term), terms.i64(0n)),
    execz: integers.eq(exec, terms.i64(0n)),
  };
  return readExpression(integers, condition, leaves);
}
