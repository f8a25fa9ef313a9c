// Location expressions of optimized code, whose values are computed from registers, and of ROCm's compilers.
import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { placeOf } from './debug-location.ts';
import { Damaged } from './dwarf-cursor.ts';

const integer = (offset: number) => (offset === 40 ? { bits: 8, isSigned: true } : undefined);
const context = { frameBase: undefined, address: () => 0, integer };
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
  expect(placeOf(Uint8Array.from([...v3(), 0xa8, 41, ...VALUE]), context)).toEqual(absent);
  expect(placeOf(Uint8Array.from([...v3(), 0x19, ...VALUE]), context)).toEqual(absent);
});

test('numbers of 64 bits are exact', () => {
  const constant = (...bytes: number[]) => placeOf(Uint8Array.from([...bytes, ...VALUE]), context);
  // 2^64 - 56, as LLVM writes an unsigned char of 200.
  const leb = [0xc8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
  expect(constant(0x10, ...leb)).toEqual({ kind: 'constant', value: 2n ** 64n - 56n });
  expect(constant(0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80)).toEqual({ kind: 'constant', value: 2n ** 63n + 1n });
  expect(constant(0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80)).toEqual({ kind: 'constant', value: 1n - 2n ** 63n });
  expect(constant(0x0b, 0xfe, 0xff)).toEqual({ kind: 'constant', value: -2n });
  expect(constant(0x11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)).toEqual({
    kind: 'constant',
    value: -1n,
  });
});

test('conversions and comparisons', () => {
  const convert = (to: object) => ({ kind: 'convert', to });
  const computed = (...bytes: number[]) => placeOf(Uint8Array.from([...v3(), ...bytes, ...VALUE]), context);
  const int8 = { bits: 8, isSigned: true };
  const generic = { bits: 64, isSigned: false };
  expect(computed(0xa8, 40, 0xa8, 0)).toEqual({ kind: 'computed', steps: [register, convert(int8), convert(generic)] });
  expect(computed(0x32, 0x2b)).toEqual({ kind: 'computed', steps: [register, number(2), operation('gt')] });
});

test('pieces: a value, registers, what is nowhere, bytes that are given', () => {
  const piece = [0x93, 4];
  const found = placeOf(
    Uint8Array.from([0x33, 0x9f, ...piece, ...v3(), ...piece, ...piece, 0x9e, 2, 1, 2, 0x93, 2]),
    context,
  );
  expect(found).toEqual({
    kind: 'pieces',
    pieces: [
      { bytes: 4, place: { kind: 'constant', value: 3n } },
      { bytes: 4, place: { kind: 'registers', parts: [{ register: register.register, bytes: 4 }] } },
      { bytes: 4, place: { kind: 'absent', why: 'optimized out' } },
      { bytes: 2, place: { kind: 'constant', value: 0x0201n } },
    ],
  });
});

/** DW_OP_regx of scalar register 33, and DW_OP_LLVM_user with an operation. */
const s33 = [0x90, 65];
const user = (...operation: number[]): number[] => [0xe9, ...operation];
const LANE = [...user(3), 0x34, 0x1e, ...user(4)];
/** A constant that is read as four bytes. */
const constant = (value: number): number[] => [0x30 + value, 0x9f, 0x94, 4];

describe('what ROCm compilers write', () => {
  test.each([
    [
      'scratch, by bytes of the wave',
      [
        ...s33,
        ...constant(6),
        0x16,
        0x94,
        4,
        0x16,
        0x25,
        0x9f,
        0x94,
        4,
        0x10,
        5,
        ...user(2),
        ...constant(8),
        ...user(4),
      ],
      { kind: 'scratch', base: { file: 's', index: 33 }, offset: 8 },
    ],
    [
      'scratch, by bytes of the lane',
      [...s33, 0x94, 4, 0x10, 5, ...user(2), ...constant(16), ...user(4)],
      { kind: 'scratch', base: { file: 's', index: 33 }, offset: 16 },
    ],
    [
      'the same of older compilers',
      [...s33, 0x94, 4, 0x10, 5, 0xe1, ...constant(16), 0xe3],
      { kind: 'scratch', base: { file: 's', index: 33 }, offset: 16 },
    ],
    ['LDS', [...constant(12), 0x10, 3, ...user(2)], { kind: 'lds', offset: 12 }],
    ['global memory', [0x03, 0x40, 0x12, 0, 0, 0, 0, 0, 0, 0x30, ...user(2)], { kind: 'global', address: 0x1240 }],
    ['a scalar register', [0x90, 74], { kind: 'registers', parts: [{ register: { file: 's', index: 42 }, bytes: 4 }] }],
    [
      'vector registers',
      [0x90, 0xaa, 0x14, ...LANE, 0x93, 4, 0x90, 0xab, 0x14, ...LANE, 0x93, 4, ...user(10)],
      { kind: 'registers', parts: [42, 43].map((index) => ({ register: { file: 'v', index }, bytes: 4 })) },
    ],
    [
      'where a variable in scratch is',
      [...s33, 0x94, 4, 0x36, 0x25, 0x30, 0x22, 0x9f],
      {
        kind: 'computed',
        steps: [
          { kind: 'register', register: { file: 's', index: 33 } },
          ...[number(6), operation('shr'), number(0), operation('plus')],
        ],
      },
    ],
    ['nothing', user(8), { kind: 'absent', why: 'optimized out here' }],
    [
      'the upper half of a register',
      [0x90, 0xaa, 0x14, ...LANE, ...user(5, 2)],
      { kind: 'absent', why: 'its location needs a part of a register' },
    ],
    [
      'what a pointer in memory points to',
      [...s33, 0x94, 4, 0x10, 5, ...user(2), 0x94, 8, 0x30, ...user(2)],
      { kind: 'absent', why: 'its location needs what is in memory' },
    ],
    ['another operation', user(11), { kind: 'absent', why: "its location needs operation 11 of LLVM's own" }],
  ])('%s', (_, expression, place) => {
    expect(placeOf(Uint8Array.from(expression), context)).toEqual(place);
  });
});

const FRAME = { ...context, frameBase: { file: 's', index: 33 } as const };

test('what is on the frame is in scratch, also where LLVM up to 19 gives no address class; its value is computed', () => {
  const scratch = { kind: 'scratch', base: { file: 's', index: 33 }, offset: 8 };
  expect(placeOf(Uint8Array.from([0x91, 8]), FRAME)).toEqual(scratch);
  expect(placeOf(Uint8Array.from([0x91, 8, 0x31, 0x16, 0x18]), FRAME)).toEqual(scratch);
  const base = { kind: 'register', register: { file: 's', index: 33 } };
  const value = { kind: 'computed', steps: [base, number(8), operation('plus')] };
  expect(placeOf(Uint8Array.from([0x91, 8, 0x9f]), FRAME)).toEqual(value);
  expect(placeOf(Uint8Array.from([...v3(8)]), FRAME)).toMatchObject({ kind: 'absent' });
});

test('an address of LDS that no linker knew is none', () => {
  const local = (address: number): number[] => [0x03, address, 0, 0, 0, 0, 0, 0, 0, 0x32, 0x16, 0x18];
  expect(placeOf(Uint8Array.from(local(16)), context)).toEqual({ kind: 'lds', offset: 16 });
  expect(placeOf(Uint8Array.from(local(0)), context)).toMatchObject({
    kind: 'absent',
    why: expect.stringMatching(/^in LDS/),
  });
});

test('a few bytes of a value are read as such', () => {
  const steps = (bytes: number) => placeOf(Uint8Array.from([0x90, 0x83, 0x14, 0x94, bytes, 0x9f]), context);
  expect(steps(2)).toEqual({ kind: 'computed', steps: [register, number(0xffff), operation('and')] });
  expect(steps(4)).toEqual({ kind: 'computed', steps: [register] });
});

test('property: any bytes have a place, none, or end too early', () => {
  const bytes = fc.uint8Array({ maxLength: 30 });
  const common = fc.constantFrom(
    ...[0x30, 0x34, 0x36, 0x90, 0x92, 0x91, 0x94, 0x9f, 0x16, 0x18, 0x22, 0xe9, 0xe1, 2, 3, 4, 5, 65],
  );
  fc.assert(
    fc.property(fc.oneof(bytes, fc.array(common, { maxLength: 30 })), (expression) => {
      try {
        expect(placeOf(Uint8Array.from(expression), FRAME).kind).toBeTruthy();
      } catch (error) {
        expect(error).toBeInstanceOf(Damaged);
      }
    }),
    { numRuns: 3000 },
  );
});
