// Values of optimized code that are computed from registers: as C computes them in the type of the variable.
import { expect, test } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import type { ComputedStep, ValueOperation } from '../../../codeobject/index.ts';
import { computedValue } from './computed-value.ts';

const register = (index: number): ComputedStep => ({ kind: 'register', register: { file: 'v', index } });
const steps = (name: ValueOperation): ComputedStep[] => [register(0), register(1), { kind: 'operation', name }];

const OPERATIONS: Partial<Record<ValueOperation, (a: number, b: number) => number>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  plus: (a, b) => a + b,
  minus: (a, b) => a - b,
  mul: (a, b) => Math.imul(a, b),
  shl: (a, b) => (b >>> 0 < 32 ? a << b : 0),
  shr: (a, b) => (b >>> 0 < 32 ? a >>> b : 0),
  shra: (a, b) => a >> Math.min(b >>> 0, 31),
  div: (a, b) => (b === 0 ? 0 : Math.trunc(a / b)),
  mod: (a, b) => (b === 0 ? 0 : (a >>> 0) % (b >>> 0)),
};

test.each(Object.entries(OPERATIONS))('%s of 32 bits', (name, operation) => {
  const small = fc.oneof(fc.integer(), fc.nat(40), fc.constantFrom(-1, 0, 2 ** 31 - 1, -(2 ** 31)));
  fc.assert(
    fc.property(small, small, (a, b) => {
      const value = computedValue(steps(name as ValueOperation), ({ index }) => (index === 0 ? a : b), 4);
      expect(value).toBe(BigInt(operation(a, b) >>> 0));
    }),
  );
});

test('one operand, constants below zero, eight bytes, steps that are missing', () => {
  const word = (): number => 5;
  expect(computedValue([register(0), { kind: 'operation', name: 'neg' }], word, 4)).toBe(2n ** 32n - 5n);
  expect(computedValue([register(0), { kind: 'operation', name: 'not' }], word, 1)).toBe(2n ** 32n - 6n);
  const minus: ComputedStep[] = [register(0), { kind: 'number', value: -7n }, { kind: 'operation', name: 'plus' }];
  expect(computedValue(minus, word, 4)).toBe(2n ** 32n - 2n);
  expect(computedValue(minus, word, 8)).toBe(2n ** 64n - 2n);
  expect(computedValue([{ kind: 'operation', name: 'plus' }], word, 4)).toBe(0n);
});
