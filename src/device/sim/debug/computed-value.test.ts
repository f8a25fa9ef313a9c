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
  mod: (a, b) => (b === 0 ? 0 : a % b),
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
  // A register has 32 bits, whatever the variable has.
  expect(computedValue(minus, word, 8)).toBe(2n ** 32n - 2n);
  expect(computedValue([{ kind: 'operation', name: 'plus' }], word, 4)).toBe(0n);
});

test('conversions: cut off, extended with and without sign, wider than the variable', () => {
  const from = (word: number, bytes: number, ...more: ComputedStep[]) =>
    computedValue([register(0), ...more], () => word, bytes);
  const to = (bits: number, isSigned: boolean): ComputedStep => ({ kind: 'convert', to: { bits, isSigned } });
  const number = (value: bigint): ComputedStep => ({ kind: 'number', value });
  const operation = (name: ValueOperation): ComputedStep => ({ kind: 'operation', name });
  expect(from(0x1ff, 4, to(32, false), to(8, false))).toBe(0xffn);
  expect(from(0x1ff, 4, to(8, true), to(32, true))).toBe(0xffff_ffffn);
  expect(from(-5, 8, to(32, true), to(64, true))).toBe(2n ** 64n - 5n);
  expect(from(-5, 8, to(32, false), to(64, false))).toBe(2n ** 32n - 5n);
  expect(from(3, 1, to(1, false), to(8, false))).toBe(1n);
  // (int)((long)x * 2^20 >> 32)
  const high = [to(32, true), to(64, true), number(1n << 20n), operation('mul'), number(32n), operation('shra')];
  expect(from(-(2 ** 30), 4, ...high)).toBe(2n ** 32n - 2n ** 18n);
});

test('comparisons tell where the sign matters and is not known', () => {
  const compared = (name: ValueOperation, a: number, b: bigint) =>
    computedValue([register(0), { kind: 'number', value: b }, { kind: 'operation', name }], () => a, 1);
  expect([compared('gt', 3, 2n), compared('gt', 2, 2n), compared('ge', 2, 2n)]).toEqual([1n, 0n, 1n]);
  expect([compared('lt', 3, 2n), compared('le', 2, 2n)]).toEqual([0n, 1n]);
  expect([compared('eq', -1, -1n), compared('ne', -1, -1n)]).toEqual([1n, 0n]);
  expect([compared('gt', -1, 2n), compared('gt', -1, -2n)]).toEqual([undefined, 1n]);
});
