// Executes one instruction on terms. Both programs of a comparison share the pool, so equal computations become the same term.
// The meaning of integer operations is the semantics table's expression; floating point, matrix and conversion operations stay
// whole: the same operation with the same modifiers, mode and operands gives the same bits.
import { type Expr, type Operation, semanticsOf } from '../isa/semantics/index.ts';
import { type CodeInstruction, Slot, type SlotRange } from '../program/index.ts';
import { stepControlled } from './control-modes.ts';
import { NotFollowed } from './errors.ts';
import { type Leaves, readExpression } from './expressions.ts';
import { stepMemory } from './memory-step.ts';
import { stepScalar } from './scalar-step.ts';
import type { State } from './state.ts';
import type { Algebra, CodePlaces, Outcome, Step } from './step.ts';
import { stepStructural } from './structural-step.ts';
import type { Term } from './terms.ts';
import { stepOpaque, stepVector } from './vector-step.ts';

const slotsIn = ({ first, count }: SlotRange): number[] => Array.from({ length: count }, (_, n) => first + n);

/**
 * Executes instructions of one program. `imageShift`, `places` and `watcher`: see `Step`. What instructions of `early` (indexes) leave is what
 * they compute when they come too early, before what they read is there: another value, of which nothing else is known.
 */
export class Machine {
  private readonly algebra: Algebra;
  private readonly imageShift: bigint | undefined;
  private readonly early: ReadonlySet<number>;
  private readonly places: CodePlaces | undefined;

  constructor(
    algebra: Algebra,
    imageShift: bigint | undefined,
    early: ReadonlySet<number>,
    places: CodePlaces | undefined,
  ) {
    this.algebra = algebra;
    this.imageShift = imageShift;
    this.early = early;
    this.places = places;
  }

  /** Executes one instruction, changing `state`. Throws `NotFollowed` for what has no terms. */
  step(code: CodeInstruction, state: State, watcher: Step['watcher']): Outcome {
    if (!this.early.has(code.index)) return this.execute(code, state, watcher);
    const before = state.slice();
    const outcome = this.execute(code, state, watcher);
    const { terms } = this.algebra;
    const early = (term: Term): Term => terms.make('early', term.kind, [term], { isUniform: term.isUniform });
    const written = new Set([...code.effects.defs, ...code.effects.keeps].flatMap(slotsIn));
    for (const [slot, now] of state.entries()) {
      if (now === before[slot] && !written.has(slot)) continue;
      // Of a register that some lanes keep, what is new.
      const [lanes, value, old] = now.op === 'merge' ? now.args : [];
      state[slot] =
        lanes !== undefined && value !== undefined && old !== undefined
          ? this.algebra.masks.merge(lanes, early(value), old)
          : early(now);
    }
    return outcome?.kind === 'branch' ? { ...outcome, condition: early(outcome.condition) } : outcome;
  }

  private execute(code: CodeInstruction, state: State, watcher: Step['watcher']): Outcome {
    const { instruction } = code;
    const exec = this.algebra.integers.pair(state[Slot.EXEC] as Term, state[Slot.EXEC + 1] as Term);
    const { algebra, imageShift, places } = this;
    algebra.mustBeNumber(exec);
    const step = { algebra, code, instruction, state, exec, imageShift, places, watcher };
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
      return branch(step, operation.condition);
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
    case 'image':
      throw new NotFollowed(
        `'${step.instruction.row.mnemonic}' is not followed: where an image lies is in its descriptor`,
      );
    case 'unreachable':
      throw new NotFollowed(`'${step.instruction.row.mnemonic}' is not followed: ${operation.reason}`);
  }
}

function branch(step: Step, on: Expr | undefined): Outcome {
  const condition = branchCondition(step, on);
  step.algebra.mustBeNumber(condition);
  return { kind: 'branch', condition };
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
