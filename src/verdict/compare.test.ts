import { describe, expect, it, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { bytesOfElements, ELEMENT_NAMES, elementType, fillRandom, randomBytes, randomNumbers } from '../base/index.ts';
import { type CompareOptions, compareElements, comparisonVerdict } from './compare.ts';

type Value = number | bigint;

function array(type: string, values: readonly Value[]): Uint8Array {
  const t = elementType(type);
  const bytes = new Uint8Array(bytesOfElements(t, values.length / t.numbers));
  for (const [n, value] of values.entries()) t.write(new DataView(bytes.buffer), n, value);
  return bytes;
}

const verdict = (type: string, a: readonly Value[], b: readonly Value[], options?: CompareOptions) =>
  comparisonVerdict(compareElements(array(type, a), array(type, b), type, options));

const INTEGERS = ELEMENT_NAMES.filter((name) => elementType(name).kind === 'integer');
const FLOATS = ELEMENT_NAMES.filter((name) => elementType(name).kind === 'float' && elementType(name).fraction > 0);

describe('what the first comparison got wrong', () => {
  it('should see 2^60 + 1 beside 2^60', () => {
    const c = compareElements(array('i64', [2n ** 60n]), array('i64', [2n ** 60n + 1n]), 'i64');
    expect(c).toMatchObject({ different: 1, outside: 1, maxAbsolute: 1, scale: null });
    expect(c.first).toEqual({ index: 0, baseline: 2n ** 60n, modified: 2n ** 60n + 1n });
    expect(comparisonVerdict(c)).toBe('different');
  });

  it.each(['f16', 'f32', 'f64', 'i32', 'complex<f32>'])(
    'should see bytes that do not fill an element of %s',
    (type) => {
      const bytes = randomBytes(16 * 5 + 1, 1);
      const other = bytes.slice();
      other[other.length - 1] = (other[other.length - 1] as number) ^ 1;
      expect(compareElements(bytes, other, type)).toMatchObject({ different: 0, trailing: { bytes: 1, different: 1 } });
      expect(comparisonVerdict(compareElements(bytes, other, type))).toBe('different');
      expect(comparisonVerdict(compareElements(bytes, bytes, type))).toBe('equal');
    },
  );

  it.each(FLOATS)('should not let one huge %s hide all others', (type) => {
    const t = elementType(type);
    const [small, huge] = t.bits <= 8 ? [1, 4] : [1e-3, 1e4];
    for (const columns of [1024, 32, 3, undefined]) {
      const a = Array.from({ length: 1024 }, (_, i) => (i === 500 ? huge : small));
      const b = Array.from({ length: 1024 }, (_, i) => (i === 500 ? huge : 0));
      const shape = columns === undefined ? undefined : [1024 / columns, columns];
      expect(verdict(type, a, b, { shape })).toBe('different');
    }
  });
});

describe.each(INTEGERS)('%s', (type) => {
  it('should be different when any bit is flipped, whatever the tolerance', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 60 }),
        fc.nat(),
        fc.option(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }), { nil: undefined }),
        (bytes, at, shape) => {
          const other = bytes.slice();
          const bit = at % (8 * bytes.length);
          other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
          const c = compareElements(bytes, other, type, { shape, tolerance: 1e9, changedShare: 1 });
          expect(comparisonVerdict(c)).toBe('different');
          expect(c.different + c.trailing.different).toBe(1);
          expect(comparisonVerdict(compareElements(bytes, bytes.slice(), type, { shape }))).toBe('equal');
        },
      ),
    );
  });
});

/** Finite numbers in very different sizes: uniform, normal, spread over all exponents, with outliers. */
const series = fc
  .record({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    length: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 41, max: 3000 })),
    kind: fc.constantFrom('uniform', 'spread', 'outlier', 'rectified', 'tiny'),
    columns: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 1500 })),
  })
  .map(({ seed, length, kind, columns }) => {
    const random = randomNumbers(seed);
    const values = Array.from({ length }, (_, i) => {
      const x = random() * 2 - 1;
      if (kind === 'spread') return x * 2 ** Math.floor(random() * 20 - 10);
      if (kind === 'outlier') return i % 97 === 0 ? x * 6e4 : x * 1e-2;
      if (kind === 'rectified') return Math.max(0, x);
      return kind === 'tiny' ? x * 6e-5 : x;
    });
    const shape = columns === undefined ? undefined : [null, columns];
    return { seed, shape, values };
  });

describe.each(FLOATS)('%s', (type) => {
  const t = elementType(type);
  const step = new DataView(new ArrayBuffer(16));

  /** One step of the last place, up or down. */
  function nudge(bytes: Uint8Array, random: () => number): Uint8Array {
    const out = bytes.slice();
    const size = Math.max(1, t.storageBits / 8);
    for (let at = 0; at < out.length; at += size) {
      const before = out.slice(at, at + size);
      const low = out[at] as number;
      out[at] = random() < 0.5 ? Math.max(0, low - 1) : Math.min(255, low + 1);
      for (let n = 0; n < size; n++) step.setUint8(n, out[at + n] as number);
      if (t.storageBits < 8 || !Number.isFinite(t.read(step, 0)) || random() < 0.3) out.set(before, at);
    }
    return out;
  }

  it('should be different when any 1 % of the elements is zeroed, the smallest ones too', () => {
    fc.assert(
      fc.property(series, fc.constantFrom('smallest', 'random', 'last'), ({ seed, shape, values }, which) => {
        const a = array(type, values);
        const view = new DataView(a.buffer);
        const alive = values.map((_, i) => i).filter((i) => t.read(view, i) !== 0 && !Number.isNaN(t.read(view, i)));
        const count = Math.ceil(values.length / 100);
        if (alive.length < count) return;
        const random = randomNumbers(seed);
        if (which === 'smallest') alive.sort((i, j) => Math.abs(t.read(view, i)) - Math.abs(t.read(view, j)));
        if (which === 'random') alive.sort(() => random() - 0.5);
        const b = a.slice();
        for (const i of which === 'last' ? alive.slice(-count) : alive.slice(0, count)) {
          t.write(new DataView(b.buffer), i, 0);
        }
        expect(comparisonVerdict(compareElements(a, b, type, { shape }))).toBe('different');
      }),
      { numRuns: 150 },
    );
  });

  it('should accept one step in the last place of normal numbers', () => {
    if (t.bits < 16) return;
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 600 }), (seed, count) => {
        const a = new Uint8Array(bytesOfElements(t, count));
        fillRandom(a, t, randomNumbers(seed));
        const c = compareElements(a, nudge(a, randomNumbers(seed + 1)), type);
        expect(c.outside).toBe(0);
        expect(comparisonVerdict(c)).not.toBe('different');
      }),
      { numRuns: 60 },
    );
  });
});

describe('floats', () => {
  test.each([
    ['rounding within two units of f16', 'f16', [1, 2, 3], [1 + 2 ** -10, 2, 3], 'within-tolerance'],
    ['more than two units of f16', 'f16', [1, 2, 3], [1.01, 2, 3], 'different'],
    ['a sum that cancels, beside its neighbours', 'f32', [1e-6, 100, -100], [1.4e-6, 100, -100], 'within-tolerance'],
    ['a sum that lost its value', 'f32', [1e-6, 100, -100], [3e-6, 100, -100], 'different'],
    ['another sign of zero', 'f32', [0, 1], [-0, 1], 'within-tolerance'],
    ['zeros that became tiny', 'f32', [0, 0], [0, 1e-20], 'different'],
    ['a denormal that was flushed', 'f32', [1e-40, 1], [0, 1], 'different'],
    ['all zeros', 'f32', [0, 0, 0], [0, 0, 0], 'equal'],
    ['one element', 'f32', [1], [1.00005], 'within-tolerance'],
    ['one wrong element', 'f32', [1], [1.001], 'different'],
    ['one zeroed element', 'f16', [1e-3], [0], 'different'],
    ['infinities of the same sign', 'f32', [Infinity, 1], [Infinity, 1], 'equal'],
    ['infinities of another sign', 'f32', [Infinity, 1], [-Infinity, 1], 'different'],
    ['infinity for the largest number', 'f16', [65504, 1], [Infinity, 1], 'different'],
    ['a number for infinity', 'f32', [Infinity, 1], [3e38, 1], 'different'],
    ['NaN for a number', 'f32', [1, 1], [Number.NaN, 1], 'different'],
    ['a number for NaN', 'f32', [Number.NaN, 1], [1, 1], 'different'],
    ['the largest f64 and its opposite', 'f64', [1.7e308], [-1.7e308], 'different'],
    ['one part of a complex number', 'complex<f32>', [1, 2, 3, 4], [1, 2, 3, -4], 'different'],
    ['the small part of a complex number', 'complex<f32>', [1, 1e-9, 3, 4], [1, -1e-9, 3, 4], 'within-tolerance'],
    ['a zeroed complex number', 'complex<f64>', [1e-9, 1e-9, 3, 4], [0, 0, 3, 4], 'different'],
    ['a scale', 'f8E8M0FNU', [1, 2], [1, 4], 'different'],
  ] as const)('%s', (_name, type, a, b, expected) => {
    expect(verdict(type, a, b)).toBe(expected);
  });

  it('should take NaN for NaN whatever the payload, and say how many there are', () => {
    const nans = (low: number) => Uint8Array.of(low, 0x7e, 0x00, 0x3c);
    expect(compareElements(nans(0), nans(1), 'f16')).toMatchObject({ different: 1, outside: 0, changed: 0, nans: 1 });
    expect(compareElements(nans(0), nans(0), 'f16')).toMatchObject({ different: 0, nans: 1 });
    expect(compareElements(nans(0), nans(1), 'f16', { bitwise: true })).toMatchObject({ different: 1, outside: 1 });
  });

  it('should count what a tolerance of its own accepts, and still cap the share of changed elements', () => {
    const a = Array.from({ length: 4000 }, (_, i) => 1 + i / 4000);
    const b = a.map((x, i) => (i < 5 ? x * 3 : x));
    expect(verdict('f32', a, b, { tolerance: 10 })).toBe('different');
    expect(verdict('f32', a, b, { tolerance: 10, changedShare: 0.01 })).toBe('within-tolerance');
    expect(compareElements(array('f32', a), array('f32', b), 'f32', { tolerance: 10 })).toMatchObject({
      outside: 0,
      changed: 5,
      changedLimit: 4,
    });
    expect(
      verdict(
        'f32',
        a,
        a.map((x) => x * (1 + 1e-6)),
        { tolerance: 1e-9 },
      ),
    ).toBe('different');
    expect(verdict('f32', [0, 1], [-0, 1], { tolerance: 0 })).toBe('within-tolerance');
  });

  test.each([
    [[4, 64], 256, 'median magnitude of each row of 64'],
    [[64, 4096], 2 ** 13, 'median magnitude of each block of 1024 elements of a row'],
    [[2, 1500], 3000, 'median magnitude of each block of 750 elements of a row'],
    [[50, 3], 150, 'median magnitude of each block of 66 elements'],
    [[null, 32], 64, 'median magnitude of each row of 32'],
    [undefined, 1024, 'median magnitude of each block of 256 elements'],
    [[], 1, 'median magnitude of all 1 elements'],
  ])('shape %j: the report names the scale', (shape, count, scale) => {
    const a = array('f32', new Array(count).fill(1));
    expect(compareElements(a, a, 'f32', { shape })).toMatchObject({ elements: count, scale });
  });

  it('should accept sums taken in another order', () => {
    const [m, n, depth] = [32, 48, 512];
    for (const seed of [1, 2, 3]) {
      const random = randomNumbers(seed);
      const factors = Float32Array.from({ length: (m + n) * depth }, () => random() * 2 - 1);
      const sums = (order: (k: number) => number): Float32Array =>
        Float32Array.from({ length: m * n }, (_, i) => {
          let sum = 0;
          for (let step = 0; step < depth; step++) {
            const k = order(step);
            const [a, b] = [factors[Math.floor(i / n) * depth + k], factors[(m + (i % n)) * depth + k]];
            sum = Math.fround(sum + Math.fround((a as number) * (b as number)));
          }
          return sum;
        });
      const [forward, backward] = [sums((k) => k), sums((k) => depth - 1 - k)];
      const c = compareElements(new Uint8Array(forward.buffer), new Uint8Array(backward.buffer), 'f32', {
        shape: [m, n],
      });
      expect(c.different).toBeGreaterThan(m);
      expect(comparisonVerdict(c)).toBe('within-tolerance');
      for (const type of ['f16', 'bf16']) {
        expect(verdict(type, [...forward], [...backward], { shape: [m, n] })).not.toBe('different');
      }
    }
  });

  it('should judge a small row beside a large one by itself', () => {
    const a = Array.from({ length: 128 }, (_, i) => (i < 64 ? 1e4 : 1e-3));
    const b = a.map((x, i) => (i === 100 ? 1.1e-3 : x));
    expect(verdict('f32', a, b, { shape: [2, 64] })).toBe('different');
  });
});

describe('sizes', () => {
  it('should call arrays of different lengths different', () => {
    for (const type of ['f32', 'i8', 'f4E2M1FN']) {
      expect(comparisonVerdict(compareElements(new Uint8Array(8), new Uint8Array(12), type))).toBe('different');
      expect(comparisonVerdict(compareElements(new Uint8Array(8), new Uint8Array(0), type))).toBe('different');
    }
  });

  it('should compare what lies behind a shape as bytes', () => {
    const a = array('f32', [1, 2, 3, 4]);
    const b = array('f32', [1, 2, 3, 4 + 2 ** -20]);
    expect(compareElements(a, b, 'f32', { shape: [3] })).toMatchObject({
      elements: 3,
      trailing: { bytes: 4, different: 1 },
    });
    expect(verdict('f32', [1, 2, 3, 4], [1, 2, 3, 4 + 2 ** -20])).toBe('within-tolerance');
  });

  it('should compare unused bits of a packed byte, and each of its elements once', () => {
    expect(compareElements(Uint8Array.of(0x21, 0x03), Uint8Array.of(0x21, 0x13), 'i4', { shape: [3] })).toMatchObject({
      elements: 3,
      different: 0,
      trailing: { bytes: 1, different: 1 },
    });
    expect(compareElements(Uint8Array.of(0x21, 0x03), Uint8Array.of(0x21, 0x04), 'i4', { shape: [3] })).toMatchObject({
      different: 1,
      trailing: { bytes: 1, different: 0 },
      first: { index: 2, baseline: 3, modified: 4 },
    });
  });

  it('should find nothing in nothing', () => {
    expect(compareElements(new Uint8Array(), new Uint8Array(), 'f32')).toMatchObject({ elements: 0, different: 0 });
  });
});
