// Values that optimized code keeps nowhere, and that the debug information computes from registers.
import type { ComputedStep, DebugRegister, ValueOperation } from '../../../codeobject/index.ts';

/**
 * What the steps give, as an unsigned number of `bytes`, or of four where that is less: LLVM's operations are those of the variable's own type.
 * Zero for a division by zero.
 */
export function computedValue(
  steps: readonly ComputedStep[],
  word: (register: DebugRegister) => number,
  bytes: number,
): bigint {
  const bits = 8 * Math.max(4, bytes);
  const stack: bigint[] = [];
  for (const step of steps) {
    if (step.kind === 'register') stack.push(BigInt(word(step.register) >>> 0));
    else if (step.kind === 'number') stack.push(BigInt.asUintN(bits, step.value));
    else {
      const last = stack.pop() ?? 0n;
      const isUnary = step.name === 'neg' || step.name === 'not';
      const first = isUnary ? 0n : (stack.pop() ?? 0n);
      stack.push(BigInt.asUintN(bits, operate(step.name, first, last, bits)));
    }
  }
  return stack.pop() ?? 0n;
}

function operate(name: ValueOperation, a: bigint, b: bigint, bits: number): bigint {
  const signed = (value: bigint): bigint => BigInt.asIntN(bits, value);
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
      return b === 0n ? 0n : a % b;
    case 'neg':
      return -b;
    case 'not':
      return ~b;
    case 'shl':
      return b >= BigInt(bits) ? 0n : a << b;
    case 'shr':
      return b >= BigInt(bits) ? 0n : a >> b;
    default:
      return signed(a) >> (b >= BigInt(bits) ? BigInt(bits - 1) : b);
  }
}
