// Scalar ALU instructions on terms.
import { operandNamed } from '../isa/operand.ts';
import type { ScalarOperation } from '../isa/semantics/index.ts';
import type { Operand, Register } from '../isa/types.ts';
import { Slot, slotsOf } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import { type Leaves, readExpression } from './expressions.ts';
import { readPair, readWord, registerAt, watchUnspecified, writePair, writeScalar } from './operands.ts';
import type { Step } from './step.ts';
import type { Term } from './terms.ts';

/** Executes a scalar operation. */
export function stepScalar(step: Step, operation: ScalarOperation): void {
  const { algebra, instruction, state } = step;
  const { integers, terms } = algebra;
  const sources = operation.sources.map((spec): readonly [Operand, Term] => {
    const operand = operandNamed(instruction, spec.operand);
    if (operand === undefined) throw new NotFollowed(`'${instruction.row.mnemonic}' has no operand ${spec.operand}`);
    return [operand, spec.type === 'i64' ? readPair(step, operand) : readWord(step, operand, 0, spec.type)];
  });
  const leaves: Leaves = {
    source: (index, part) => {
      const [, whole] = sources[index] as readonly [Operand, Term];
      return part === 0 ? whole : integers.hi(whole);
    },
    scc: state[Slot.SCC] as Term,
    exec: step.exec,
  };
  const read = (e: NonNullable<ScalarOperation['result']>): Term => readExpression(integers, e, leaves);
  const isWide = operation.resultType === 'i64';
  const result = operation.result === undefined ? undefined : read(operation.result);
  const exec = operation.exec === undefined ? undefined : read(operation.exec);
  const when = operation.when === undefined ? undefined : read(operation.when);
  let scc: Term | undefined;
  if (operation.scc === 'nonzero') {
    if (result !== undefined) scc = integers.not(integers.eq(result, terms.constant(result.kind, 0n)));
  } else if (operation.scc !== undefined) scc = read(operation.scc);

  watchUnspecified(
    step,
    sources,
    [result, exec, scc].filter((term) => term !== undefined),
  );

  const target = registerAt(instruction, 'sdst');
  if (result !== undefined && target === undefined) {
    throw new NotFollowed(`'${instruction.row.mnemonic}' has no destination register`);
  }
  if (exec !== undefined) {
    state[Slot.EXEC] = integers.lo(exec);
    state[Slot.EXEC + 1] = integers.hi(exec);
  }
  if (scc !== undefined)
    state[Slot.SCC] = when === undefined ? scc : integers.select(when, scc, state[Slot.SCC] as Term);
  if (result === undefined || target === undefined) return;
  if (when === undefined) {
    if (isWide) writePair(step, target, result);
    else writeScalar(step, target, 0, result);
    nameFunction(step, target);
    return;
  }
  const words = isWide ? [integers.lo(result), integers.hi(result)] : [result];
  for (const [n, word] of words.entries()) {
    const old = readWord(step, target, n, 'i32');
    writeScalar(step, target, n, integers.select(when, word, old));
  }
}

/** Two registers that hold the address of a function from the upper half of a sum on: from then on by its symbol. */
function nameFunction(step: Step, upper: Register): void {
  const { places, algebra, imageShift, state, instruction } = step;
  if (places === undefined || imageShift === undefined || instruction.row.operation !== 's_addc_u32') return;
  const slot = slotsOf(upper)?.first ?? 0;
  if (upper.file !== 's' || slot === 0) return;
  const { integers, terms } = algebra;
  const address = integers.pair(state[slot - 1] as Term, state[slot] as Term);
  const offset = integers.sub(address, terms.symbol('image', 'i64'));
  if (offset.op !== 'const') return;
  const symbol = places.entries.get(Number(BigInt.asIntN(64, offset.value + imageShift)));
  if (symbol === undefined) return;
  state[slot - 1] = integers.lo(symbol);
  state[slot] = integers.hi(symbol);
}
