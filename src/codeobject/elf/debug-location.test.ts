// Location expressions that LLVM writes for optimized code: values that are computed from registers.
import { expect, test } from 'vitest';
import { placeOf } from './debug-location.ts';

const context = { frameBase: undefined, address: () => 0 };
/** DW_OP_bregx of vector register 3, with an offset. */
const v3 = (offset = 0): number[] => [0x92, 0x83, 0x14, offset];
/** litN, swap, xderef, stack_value: how LLVM ends a value. */
const VALUE = [0x31, 0x16, 0x18, 0x9f];
const register = { kind: 'register', register: { file: 'v', index: 3 } };
const number = (value: number) => ({ kind: 'number', value: BigInt(value) });
const operation = (name: string) => ({ kind: 'operation', name });

test.each([
  ['v3 + 32', [...v3(), 0x11, 32, 0x22, ...VALUE], [register, number(32), operation('plus')]],
  ['v3 >> 6', [...v3(), 0x36, 0x25, ...VALUE], [register, number(6), operation('shr')]],
  ['v3 + 4, in its base', [...v3(4), ...VALUE], [register, number(4), operation('plus')]],
  ['v3 + v3', [...v3(), ...v3(), 0x22, ...VALUE], [register, register, operation('plus')]],
  ['-(v3 & 5)', [...v3(), 0x35, 0x1a, 0x1f, ...VALUE], [register, number(5), operation('and'), operation('neg')]],
  [
    '(v3 | 1) + 200',
    [...v3(), 0x31, 0x21, 0x23, 0xc8, 1, ...VALUE],
    [register, number(1), operation('or'), number(200), operation('plus')],
  ],
])('%s', (_, expression, steps) => {
  expect(placeOf(Uint8Array.from(expression), context)).toEqual({ kind: 'computed', steps });
});

test('what is computed and no value has no place; operations without operands, and those that are not known, say so', () => {
  const absent = { kind: 'absent', why: expect.stringMatching(/^its location needs /) };
  expect(placeOf(Uint8Array.from([...v3(), 0x31, 0x22, 0x31, 0x16, 0x18]), context)).toEqual(absent);
  expect(placeOf(Uint8Array.from([0x22]), context)).toEqual(absent);
  expect(placeOf(Uint8Array.from([...v3(), 0x22, ...VALUE]), context)).toEqual(absent);
  expect(placeOf(Uint8Array.from([...v3(), 0xa8, 0, ...VALUE]), context)).toEqual(absent);
});
