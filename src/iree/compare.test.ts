import { describe, expect, test } from 'vitest';
import { compareBuffers, elementType, fillRandom, randomSource } from './compare.ts';

function buffer(type: string, values: readonly number[]): Uint8Array {
  const t = elementType(type);
  const bytes = new Uint8Array(values.length * t.bytes);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    t.write(view, i * t.bytes, value);
  });
  return bytes;
}

const values = (type: string, bytes: Uint8Array): number[] => {
  const t = elementType(type);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / t.bytes }, (_, i) => t.read(view, i * t.bytes));
};

describe('element types', () => {
  test.each([
    ['f16', 0x3c00, 1],
    ['f16', 0x0001, 2 ** -24],
    ['f16', 0xc000, -2],
    ['f16', 0x7bff, 65504],
    ['f16', 0x7c00, Number.POSITIVE_INFINITY],
    ['bf16', 0x3f80, 1],
    ['bf16', 0xc2f7, -123.5],
    ['f8E4M3FNUZ', 0x40, 1],
    ['f8E4M3FNUZ', 0x7f, 240],
    ['f8E5M2FNUZ', 0x7f, 57344],
    ['f8E4M3FN', 0x7e, 448],
    ['f8E4M3FN', 0x38, 1],
    ['f8E5M2', 0x7b, 57344],
  ])('%s reads 0x%s as %s', (type, bits, expected) => {
    const bytes = new Uint8Array(elementType(type).bytes);
    bytes[0] = bits & 0xff;
    if (bytes.length === 2) bytes[1] = bits >> 8;
    expect(values(type, bytes)).toEqual([expected]);
  });

  test.each([
    ['f16', 0x7e00],
    ['f8E4M3FNUZ', 0x80],
    ['f8E4M3FN', 0x7f],
  ])('%s reads 0x%s as NaN', (type, bits) => {
    const bytes = new Uint8Array([bits & 0xff, bits >> 8]).subarray(0, elementType(type).bytes);
    expect(values(type, bytes.slice())).toEqual([Number.NaN]);
  });

  test.each(['f16', 'bf16', 'f32', 'f64', 'f8E4M3FNUZ', 'f8E5M2FNUZ', 'f8E4M3FN', 'f8E5M2'])(
    'every value that %s reads is written back as the same bits',
    (type) => {
      const t = elementType(type);
      const random = randomSource(3);
      for (let i = 0; i < 2000; i++) {
        const bytes = Uint8Array.from({ length: t.bytes }, () => Math.floor(random() * 256));
        const [value] = values(type, bytes);
        if (!Number.isFinite(value) || value === 0) continue;
        expect(buffer(type, [value])).toEqual(bytes);
      }
    },
  );

  test('an unknown type names those that exist', () => {
    expect(() => elementType('f17')).toThrowError(/no element type 'f17'/);
  });
});

describe('seeded inputs', () => {
  test('are the same for the same seed and differ for another', () => {
    const fill = (seed: number): Uint8Array => {
      const bytes = new Uint8Array(256);
      fillRandom(bytes, 'f16', randomSource(seed));
      return bytes;
    };
    expect(fill(7)).toEqual(fill(7));
    expect(fill(7)).not.toEqual(fill(8));
  });

  test('floats lie in [-1, 1), integers in 0…7, i1 is 0 or 1', () => {
    for (const [type, low, high] of [
      ['f16', -1, 1],
      ['f32', -1, 1],
      ['i32', 0, 7],
      ['i1', 0, 1],
    ] as const) {
      const bytes = new Uint8Array(4096);
      fillRandom(bytes, type, randomSource(1));
      const got = values(type, bytes);
      expect(Math.min(...got)).toBeGreaterThanOrEqual(low);
      expect(Math.max(...got)).toBeLessThanOrEqual(high);
      expect(new Set(got).size).toBeGreaterThan(1);
    }
  });
});

describe('compareBuffers', () => {
  test('a rounding difference of f16 is inside its tolerance and counted as different bits', () => {
    const result = compareBuffers(buffer('f16', [1, 2, 3]), buffer('f16', [1 + 2 ** -10, 2, 3]), 'f16');
    expect(result).toMatchObject({ different: 1, outside: 0, maxAbsolute: 2 ** -10 });
  });

  test('the same difference fails with a tolerance that is too tight for f16', () => {
    const result = compareBuffers(buffer('f16', [1, 2, 3]), buffer('f16', [1 + 2 ** -10, 2, 3]), 'f16', 1e-6);
    expect(result).toMatchObject({
      different: 1,
      outside: 1,
      first: { index: 0, baseline: 1, modified: 1 + 2 ** -10 },
    });
  });

  test('an element that nearly cancels is judged by the size of the buffer, not its own', () => {
    const a = buffer('f32', [1e-6, 100, -100]);
    const b = buffer('f32', [3e-6, 100, -100]);
    expect(compareBuffers(a, b, 'f32').outside).toBe(0);
  });

  test('integers have no tolerance', () => {
    expect(compareBuffers(buffer('i32', [1000000]), buffer('i32', [1000001]), 'i32').outside).toBe(1);
  });

  test('NaN equals NaN whatever its payload; NaN against a number is outside', () => {
    const nan = new Uint8Array([0x01, 0x7e]);
    expect(compareBuffers(new Uint8Array([0x00, 0x7e]), nan, 'f16')).toMatchObject({ different: 1, outside: 0 });
    expect(compareBuffers(buffer('f16', [1]), nan, 'f16').outside).toBe(1);
  });

  test('infinities are equal only with the same sign', () => {
    const inf = Number.POSITIVE_INFINITY;
    expect(compareBuffers(buffer('f32', [inf]), buffer('f32', [inf]), 'f32').different).toBe(0);
    expect(compareBuffers(buffer('f32', [inf]), buffer('f32', [-inf]), 'f32').outside).toBe(1);
  });

  test('an all-zero baseline still sees a value', () => {
    expect(compareBuffers(buffer('f32', [0, 0]), buffer('f32', [0, 1e-20]), 'f32').outside).toBe(1);
  });
});
