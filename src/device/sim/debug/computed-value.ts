// Values that optimized code keeps nowhere, and that the debug information computes from registers.
import type { ComputedStep, DebugRegister, IntegerType, ValueOperation } from '../../../codeobject/index.ts';

/** An integer that a step gives; below zero only as a constant, or behind a conversion to a signed type. A constant has as many bits as what it meets. */
interface Integer {
  readonly value: bigint;
  readonly bits?: number | undefined;
}

/** A register; values of more bits are in several, of which LLVM computes nothing. */
const REGISTER_BITS = 32;

/**
 * What the steps give, as an unsigned number of `bytes`, or of four where that is less. LLVM writes div and mod for signed operations alone
 * (getDwarfOpForBinOp), and the same comparison for signed and unsigned ones: undefined where these differ. Zero for a division by zero.
 */
export function computedValue(
  steps: readonly ComputedStep[],
  word: (register: DebugRegister) => number,
  bytes: number,
): bigint | undefined {
  const own = 8 * Math.max(4, bytes);
  const stack: Integer[] = [];
  const take = (): Integer => stack.pop() ?? { value: 0n };
  for (const step of steps) {
    if (step.kind === 'register') stack.push({ value: BigInt(word(step.register) >>> 0), bits: REGISTER_BITS });
    else if (step.kind === 'number') stack.push({ value: step.value });
    else if (step.kind === 'convert') stack.push(converted(take(), step.to));
    else {
      const last = take();
      const isUnary = step.name === 'neg' || step.name === 'not';
      const first = isUnary ? last : take();
      const bits = first.bits ?? last.bits;
      const value = operate(step.name, first.value, last.value, bits ?? own);
      if (value === undefined) return undefined;
      stack.push({ value: BigInt.asUintN(bits ?? own, value), bits });
    }
  }
  return BigInt.asUintN(own, take().value);
}

/** Cut off, or extended: as what it is converted from had a sign, which it got by the conversion before. */
const converted = ({ value }: Integer, { bits, isSigned }: IntegerType): Integer => ({
  value: (isSigned ? BigInt.asIntN : BigInt.asUintN)(bits, value),
  bits,
});

function operate(name: ValueOperation, first: bigint, last: bigint, bits: number): bigint | undefined {
  const signed = (value: bigint): bigint => BigInt.asIntN(bits, value);
  const a = BigInt.asUintN(bits, first);
  const b = BigInt.asUintN(bits, last);
  switch (name) {
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'plus':
      return a + b;
    case 'minus':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return b === 0n ? 0n : signed(a) / signed(b);
    case 'mod':
      return b === 0n ? 0n : signed(a) % signed(b);
    case 'neg':
      return -b;
    case 'not':
      return ~b;
    case 'shl':
      return b >= BigInt(bits) ? 0n : a << b;
    case 'shr':
      return b >= BigInt(bits) ? 0n : a >> b;
    case 'shra':
      return signed(a) >> (b >= BigInt(bits) ? BigInt(bits - 1) : b);
    case 'eq':
      return a === b ? 1n : 0n;
    case 'ne':
      return a === b ? 0n : 1n;
    default:
      return compare(name, a, b, bits);
  }
}

/** LLVM writes the same operation for signed and unsigned comparisons. */
function compare(name: 'ge' | 'gt' | 'le' | 'lt', a: bigint, b: bigint, bits: number): bigint | undefined {
  const holds = (x: bigint, y: bigint): boolean =>
    name === 'ge' ? x >= y : name === 'gt' ? x > y : name === 'le' ? x <= y : x < y;
  const asUnsigned = holds(a, b);
  const asSigned = holds(BigInt.asIntN(bits, a), BigInt.asIntN(bits, b));
  if (asUnsigned !== asSigned) return undefined;
  return asUnsigned ? 1n : 0n;
}
