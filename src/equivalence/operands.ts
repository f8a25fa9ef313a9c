// Operands as terms: words of registers, of constants, and of what else a source field can name.
import { inlineWords } from '../device/sim/interpreter/operands.ts';
import { operandNamed } from '../isa/operand.ts';
import type { OperandType } from '../isa/semantics/index.ts';
import type { Instruction, Operand, Register } from '../isa/types.ts';
import { Slot, slotsOf } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import type { Integers } from './integers.ts';
import type { State } from './state.ts';
import type { Step } from './step.ts';
import type { Term } from './terms.ts';

/** The register in a named operand, or undefined when there is none or it holds something else. */
export function registerAt(instruction: Instruction, ...names: readonly string[]): Register | undefined {
  for (const name of names) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind === 'reg') return operand;
  }
  return undefined;
}

export function isVectorRegister(operand: Operand | undefined): operand is Register {
  return operand?.kind === 'reg' && (operand.file === 'v' || operand.file === 'a');
}

/** Encodings of source operands that are registers by syntax only. */
const VCCZ = 251;
const EXECZ = 252;
const SCC = 253;
const NULL = 125;
const LDS_DIRECT = 254;

function readSpecial(integers: Integers, register: Register, word: number, state: State): Term {
  const { terms } = integers;
  const { encoding } = register;
  const bit = (condition: Term): Term => integers.select(condition, terms.i32(1), terms.i32(0));
  const isZero = (slot: number): Term =>
    integers.eq(integers.pair(state[slot] as Term, state[slot + 1] as Term), terms.i64(0n));
  if (word > 0 && (encoding === SCC || encoding === VCCZ || encoding === EXECZ)) return terms.i32(0);
  switch (encoding) {
    case VCCZ:
      return bit(isZero(Slot.VCC));
    case EXECZ:
      return bit(isZero(Slot.EXEC));
    case SCC:
      return bit(state[Slot.SCC] as Term);
    case NULL:
      return terms.i32(0);
    case LDS_DIRECT:
      throw new NotFollowed('reads of LDS as a source operand (lds_direct) are not followed');
    default:
      // Apertures and the like: the same constant for every kernel of a device.
      return terms.symbol(`${register.text} word ${word}`, 'i32');
  }
}

/** Word `n` of a register: the slot's term as it is, lanes that are off included. */
export function readRegisterWord(step: Step, register: Register, n: number): Term {
  const { state, algebra } = step;
  if (register.encoding >= VCCZ && register.encoding <= LDS_DIRECT && register.file === 'special') {
    return readSpecial(algebra.integers, register, n, state);
  }
  const slots = slotsOf(register);
  if (slots === undefined) return readSpecial(algebra.integers, register, n, state);
  return state[slots.first + n] as Term;
}

/** Word `n` of a constant operand as an operand of a type. */
export function readConstantWord(step: Step, operand: Exclude<Operand, Register>, n: number, type: OperandType): Term {
  const { terms } = step.algebra;
  switch (operand.kind) {
    case 'imm':
      return terms.i32(n === 0 ? operand.value : operand.value >> 31);
    case 'literal':
      // A 32-bit literal is the high word of an f64 and is zero-extended to an i64.
      return terms.i32((type === 'f64' ? n === 1 : n === 0) ? operand.bits : 0);
    case 'inline': {
      const words = inlineWords(operand.encoding, type);
      return terms.i32(type === 'f32x2' || type === 'i32x2' ? words[0] : (words[n === 0 ? 0 : 1] as number));
    }
  }
}

/** Word `n` of a source operand as the active lanes see it. */
export function readWord(step: Step, operand: Operand, n: number, type: OperandType): Term {
  if (operand.kind !== 'reg') return readConstantWord(step, operand, n, type);
  const word = readRegisterWord(step, operand, n);
  return isVectorRegister(operand) ? step.algebra.masks.view(step.exec, word) : word;
}

/** A 64-bit scalar operand. */
export function readPair(step: Step, operand: Operand): Term {
  return step.algebra.integers.pair(readWord(step, operand, 0, 'i64'), readWord(step, operand, 1, 'i64'));
}

/**
 * Tells when registers that nobody has written are taken for equal: a result does not depend on them though it is computed from several,
 * or several are operands and hold the same unspecified value.
 */
export function watchUnspecified(
  { watcher, code }: Step,
  sources: readonly (readonly [Operand, Term])[],
  results: readonly Term[],
): void {
  const names = new Map<Term, string>();
  const open = sources.filter(([operand, value]) => operand.kind === 'reg' && value.isUnspecified);
  let isTwice = false;
  for (const [operand, value] of open) {
    const { text } = operand as Register;
    isTwice ||= (names.get(value) ?? text) !== text;
    names.set(value, text);
  }
  const isOne = new Set(open.map(([operand]) => (operand as Register).text)).size < 2;
  if (!isTwice && (isOne || results.every(({ isUnspecified }) => isUnspecified))) return;
  watcher.risk(code, { kind: 'cancelled', from: open.map(([, value]) => value) });
}

/** Writes word `n` of a vector register in the active lanes. */
export function writeLanes(step: Step, register: Register, n: number, value: Term): void {
  const slot = (slotsOf(register)?.first ?? 0) + n;
  const { state, algebra, exec } = step;
  state[slot] = algebra.masks.merge(exec, value, state[slot] as Term);
}

/** Writes word `n` of a scalar register; `null` discards. */
export function writeScalar(step: Step, register: Register, n: number, value: Term): void {
  const slots = slotsOf(register);
  if (slots === undefined) return;
  step.state[slots.first + n] = value;
}

/** Writes both words of a 64-bit scalar register. */
export function writePair(step: Step, register: Register, value: Term): void {
  writeScalar(step, register, 0, step.algebra.integers.lo(value));
  writeScalar(step, register, 1, step.algebra.integers.hi(value));
}
