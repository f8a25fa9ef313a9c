import { describe, expect, it, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import {
  bytesOfElements,
  ELEMENT_NAMES,
  elementType,
  fillElements,
  fillRandom,
  findElementType,
  getElement,
  putElement,
  randomBytes,
  randomNumbers,
} from './index.ts';

const values = (name: string, bytes: Uint8Array): (number | bigint)[] => {
  const type = elementType(name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.floor((8 * bytes.length) / type.storageBits) * type.numbers;
  return Array.from({ length: count }, (_, n) => type.exact(view, n));
};

function written(name: string, list: readonly (number | bigint)[]): Uint8Array {
  const type = elementType(name);
  const bytes = new Uint8Array(bytesOfElements(type, list.length / type.numbers));
  for (const [n, value] of list.entries()) type.write(new DataView(bytes.buffer), n, value);
  return bytes;
}

test.each([
  ['f16', [0x00, 0x3c], 1],
  ['f16', [0x01, 0x00], 2 ** -24],
  ['f16', [0xff, 0x7b], 65504],
  ['f16', [0x00, 0x7c], Number.POSITIVE_INFINITY],
  ['f16', [0x00, 0x7e], Number.NaN],
  ['bf16', [0xf7, 0xc2], -123.5],
  ['f8E4M3FNUZ', [0x7f], 240],
  ['f8E4M3FNUZ', [0x80], Number.NaN],
  ['f8E5M2FNUZ', [0x7f], 57344],
  ['f8E4M3FN', [0x7e], 448],
  ['f8E4M3FN', [0x7f], Number.NaN],
  ['f8E5M2', [0x7b], 57344],
  ['f8E4M3', [0x77], 240],
  ['f8E4M3', [0x78], Number.POSITIVE_INFINITY],
  ['f8E3M4', [0x6f], 15.5],
  ['f8E4M3B11FNUZ', [0x7f], 30],
  ['f8E8M0FNU', [0x00], 2 ** -127],
  ['f8E8M0FNU', [0xff], Number.NaN],
  ['f6E2M3FN', [0x1f], 7.5],
  ['f6E3M2FN', [0x3f], -28],
  ['i1', [0xff], 255],
  ['i8', [0x80], -128],
  ['si8', [0x80], -128],
  ['ui8', [0x80], 128],
  ['u16', [0xff, 0xff], 65535],
  ['i32', [0, 0, 0, 0x80], -(2 ** 31)],
  ['u32', [0xff, 0xff, 0xff, 0xff], 2 ** 32 - 1],
  ['i3', [0x07], -1],
  ['u24', [0xff, 0xff, 0xff, 0x12], 0xffffff],
  ['i64', [1, 0, 0, 0, 0, 0, 0, 0x10], 2n ** 60n + 1n],
  ['index', [255, 255, 255, 255, 255, 255, 255, 255], -1n],
  ['u64', [255, 255, 255, 255, 255, 255, 255, 255], 2n ** 64n - 1n],
])('%s reads %j as %s', (name, bytes, expected) => {
  expect(values(name, Uint8Array.from(bytes))).toEqual([expected]);
});

test('4-bit elements lie two in a byte, the first in the low half', () => {
  expect(values('i4', Uint8Array.of(0x1f))).toEqual([-1, 1]);
  expect(values('u4', Uint8Array.of(0x1f))).toEqual([15, 1]);
  expect(values('f4E2M1FN', Uint8Array.of(0xf1))).toEqual([0.5, -6]);
  expect(written('i4', [-1, 1, 7])).toEqual(Uint8Array.of(0x1f, 0x07));
  expect(bytesOfElements(elementType('i4'), 3)).toBe(2);
  expect(bytesOfElements(elementType('i2'), 9)).toBe(3);
});

test('a complex element is two numbers', () => {
  const type = elementType('complex<f32>');
  expect(type).toMatchObject({ kind: 'complex', storageBits: 64, numbers: 2, fraction: 23 });
  expect(values('complex<f32>', written('complex<f32>', [1, -2, 3, 4]))).toEqual([1, -2, 3, 4]);
});

test('a name that is none is an error that lists the types', () => {
  for (const name of ['f17', 'i0', 'i65', 'u', '', 'complex<i8>', '__proto__', 'constructor']) {
    expect(findElementType(name)).toBeUndefined();
    expect(() => elementType(name)).toThrowError(`There is no element type '${name}'.`);
  }
});

describe.each(ELEMENT_NAMES)('%s', (name) => {
  const type = elementType(name);

  it('should write what it reads as the same bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: type.storageBits, maxLength: type.storageBits }), (noise) => {
        if (type.bits === 1) return;
        if (type.bits === 6) for (const [n, byte] of noise.entries()) noise[n] = byte & 0x3f;
        const read = values(name, noise);
        const again = values(name, written(name, read));
        expect(again).toEqual(read);
        // Of a number there is one pattern; NaNs have several.
        if (!read.some(Number.isNaN)) expect(written(name, read)).toEqual(noise);
      }),
    );
  });

  it('should be filled by seed alone, with numbers of its range', () => {
    const fill = (seed: number): Uint8Array => {
      const bytes = new Uint8Array(4096);
      fillRandom(bytes, type, randomNumbers(seed));
      return bytes;
    };
    expect(fill(7)).toEqual(fill(7));
    expect(fill(7)).not.toEqual(fill(8));
    const seen = values(name, fill(1)).map(Number);
    expect(seen.every(Number.isFinite)).toBe(true);
    expect(new Set(seen).size).toBeGreaterThan(1);
    const bound = type.kind !== 'integer' ? (type.bits <= 6 ? 6 : type.isSigned ? 1 : 2) : type.bits > 16 ? 7 : 65535;
    expect(Math.max(...seen.map(Math.abs))).toBeLessThanOrEqual(bound);
    if (type.kind === 'integer' && type.isSigned && type.bits <= 16) expect(Math.min(...seen)).toBeLessThan(0);
  });
});

test('floats round to nearest even, integers wrap, truth values become 0 or 1', () => {
  expect(written('f16', [0.1])).toEqual(Uint8Array.of(0x66, 0x2e));
  expect(values('i8', written('i8', [200, -129]))).toEqual([-56, 127]);
  expect(values('i64', written('i64', [2n ** 63n, -1]))).toEqual([-(2n ** 63n), -1n]);
  expect(values('i32', written('i32', [Number.NaN, 1.9]))).toEqual([0, 1]);
  expect(values('bool', written('bool', [5, 0]))).toEqual([1, 0]);
});

test('named fills', () => {
  expect(values('i16', fillElements('i16', 4, { kind: 'iota' }))).toEqual([0, 1, 2, 3]);
  expect(values('i64', fillElements('i64', 2, { kind: 'value', value: 2n ** 60n + 1n }))).toEqual([
    2n ** 60n + 1n,
    2n ** 60n + 1n,
  ]);
  const random = values('i32', fillElements('i32', 5000, { kind: 'random', seed: 1 })).map(Number);
  expect([Math.min(...random), Math.max(...random)]).toEqual([0, 99]);
  const view = new DataView(new ArrayBuffer(8));
  putElement(view, 'u32', 1, 7);
  expect(getElement(view, 'u32', 1)).toBe(7);
});

test('seeds above 32 bits are seeds of their own, and noise has every length', () => {
  const first = (seed: number): number => randomNumbers(seed)();
  expect(new Set([1, 2 ** 32 + 1, -1, 2 ** 53 - 1].map(first)).size).toBe(4);
  for (const length of [0, 1, 3, 4, 5]) expect(randomBytes(length, 3)).toHaveLength(length);
  expect([...randomBytes(256, 3)].filter((byte) => byte === 0).length).toBeLessThan(8);
});
