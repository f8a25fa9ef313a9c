// How arrays are shown: as gdb does with `print elements 200` and `print repeats 10`.
import { expect, test } from 'vitest';
import type { DebugType } from '../../../codeobject/index.ts';
import type { ShownVariable } from './typed.ts';
import { variableText } from './variable-text.ts';

const PLAIN = { isSigned: true, members: [], of: undefined, count: 0, names: new Map<number, string>() };
const INT: DebugType = { ...PLAIN, name: 'int', kind: 'integer', bytes: 4 };
const arrayOf = (type: DebugType, count: number): DebugType => ({
  ...PLAIN,
  name: `${type.name}[${count}]`,
  kind: 'array',
  bytes: count * type.bytes,
  count,
  of: () => type,
});

function text(type: DebugType, values: readonly number[], most?: number): string {
  const bytes = new Uint8Array(Int32Array.from(values).buffer);
  const variable: ShownVariable = {
    name: 'a',
    kind: 'local',
    type,
    bytes,
    why: '',
    home: undefined,
    wave: undefined,
    lane: 0,
    load,
  };
  return variableText(variable, '', most === undefined ? undefined : { left: most });
}

/** Nothing of these values is in memory. */
const load = (): Uint8Array => new Uint8Array();

const counted = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('200 elements, then dots', () => {
  expect(text(arrayOf(INT, 9), counted(9))).toBe('{0, 1, 2, 3, 4, 5, 6, 7, 8}');
  expect(text(arrayOf(INT, 200), counted(200))).toBe(`{${counted(200).join(', ')}}`);
  expect(text(arrayOf(INT, 201), counted(201))).toBe(`{${counted(200).join(', ')}...}`);
  expect(text(arrayOf(INT, 9), counted(9), 3)).toBe('{0, 1, 2...}');
});

test('ten equal ones are one, which counts as ten', () => {
  const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
  expect(text(arrayOf(INT, 12), [1, 2, ...zeros(9), 5])).toBe('{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}');
  expect(text(arrayOf(INT, 13), [1, 2, ...zeros(10), 5])).toBe('{1, 2, 0 <repeats 10 times>, 5}');
  expect(text(arrayOf(INT, 4096), zeros(4096))).toBe('{0 <repeats 4096 times>}');
  expect(text(arrayOf(INT, 24), [...zeros(20), 1, 2, 3, 4], 12)).toBe('{0 <repeats 20 times>, 1, 2...}');
});

test('arrays of arrays share the room', () => {
  const type = arrayOf(arrayOf(INT, 3), 2);
  expect(text(type, counted(6))).toBe('{{0, 1, 2}, {3, 4, 5}}');
  expect(text(type, counted(6), 4)).toBe('{{0, 1, 2}, {3...}}');
});
