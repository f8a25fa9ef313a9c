import { describe, expect, it } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import type { Pattern } from '../base/index.ts';
import { comparisonVerdict } from './compare.ts';
import { type Allocation, compareMemory, gapsOf, type MemoryResult, makeContents } from './memory.ts';

/** An input, two outputs with a gap between them and one behind them, and an allocation of gaps only. */
const ALLOCATIONS: readonly Allocation[] = [
  { bytes: 64, tensors: [{ offset: 0, bytes: 64, elementType: 'i32', access: 'read' }] },
  {
    bytes: 100,
    tensors: [
      { offset: 8, bytes: 16, elementType: 'f32', shape: [4], access: 'write' },
      { offset: 40, bytes: 32, elementType: 'f32', shape: [2, 4], access: 'readwrite' },
    ],
  },
  { bytes: 12, tensors: [] },
];

type Kernel = (memory: readonly Uint8Array[]) => void;

/** Writes 1.5 to every element of the first output and doubles the first bytes of the second. */
const proper: Kernel = ([, out]) => {
  const view = new DataView(out!.buffer, out!.byteOffset);
  for (let i = 0; i < 4; i++) view.setFloat32(8 + 4 * i, 1.5, true);
  for (let i = 0; i < 8; i++) view.setFloat32(40 + 4 * i, 2 * view.getFloat32(40 + 4 * i, true), true);
};

function compare(
  baseline: Kernel,
  modified: Kernel,
  patterns: readonly Pattern[] = ['noise', 'inverse'],
): MemoryResult {
  const runs = patterns.map((pattern) => {
    const before = makeContents(ALLOCATIONS, 5, pattern);
    const [a, b] = [baseline, modified].map((kernel) => {
      const memory = before.map((bytes) => bytes.slice());
      kernel(memory);
      return memory;
    });
    return { before, baseline: a!, modified: b! };
  });
  return compareMemory(ALLOCATIONS, runs);
}

const verdicts = ({ tensors, gaps }: MemoryResult): string[] =>
  [...tensors.flat(), ...gaps].map((place) => comparisonVerdict(place.comparison));

describe('makeContents', () => {
  it('should give read tensors the same data under every pattern, and all else another byte', () => {
    const [noise, inverse, zeros] = (['noise', 'inverse', 'zeros'] as const).map((p) =>
      makeContents(ALLOCATIONS, 5, p),
    );
    expect(noise![0]).toEqual(inverse![0]);
    expect(noise![0]).toEqual(zeros![0]);
    const read = (at: number): boolean => at >= 40 && at < 72;
    for (let at = 0; at < 100; at++) {
      const [a, b, z] = [noise, inverse, zeros].map((contents) => contents![1]![at]!);
      if (read(at)) expect([b, z]).toEqual([a, a]);
      else expect([b! ^ 255, z, a === 0]).toEqual([a, 0, false]);
    }
    expect(makeContents(ALLOCATIONS, 6, 'noise')).not.toEqual(noise);
  });
});

describe('gapsOf', () => {
  it('should be what no tensor covers', () => {
    expect(gapsOf(ALLOCATIONS[1]!)).toEqual([
      { offset: 0, bytes: 8 },
      { offset: 24, bytes: 16 },
      { offset: 72, bytes: 28 },
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 30 }))),
        (bytes, list) => {
          const tensors = list.map(([offset, size]) => ({
            offset,
            bytes: size,
            elementType: 'i8',
            access: 'write' as const,
          }));
          const covered = new Uint8Array(bytes);
          for (const t of tensors) covered.fill(1, t.offset, t.offset + t.bytes);
          const again = new Uint8Array(bytes).fill(1);
          for (const gap of gapsOf({ bytes, tensors })) again.fill(0, gap.offset, gap.offset + gap.bytes);
          expect(again).toEqual(covered);
        },
      ),
    );
  });
});

describe('compareMemory', () => {
  it('should find equal kernels equal, and say what they wrote', () => {
    const result = compare(proper, proper);
    expect(verdicts(result)).toEqual(['equal', 'equal', 'equal']);
    expect(result).toMatchObject({ gaps: [], gapBytes: 64, unwrittenReads: { baseline: 0, modified: 0, first: null } });
    expect(result.tensors[1]![0]!.written).toEqual({ baseline: 16, modified: 16 });
    expect(result.tensors[0]![0]!.written).toEqual({ baseline: 0, modified: 0 });
  });

  it('should see any byte that is written elsewhere, also with what lies there already', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 1, 2),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom<Pattern[]>(['noise', 'inverse'], ['zeros', 'noise']),
        (n, at, value, patterns) => {
          const offset = at % ALLOCATIONS[n]!.bytes;
          const inOutput = n === 1 && ((offset >= 8 && offset < 24) || (offset >= 40 && offset < 72));
          if (inOutput) return;
          const stray: Kernel = (memory) => {
            proper(memory);
            memory[n]![offset] = value;
          };
          const result = compare(proper, stray, patterns);
          const unchanged = n === 0 && makeContents(ALLOCATIONS, 5, 'noise')[0]![offset] === value;
          expect(verdicts(result).includes('different')).toBe(!unchanged);
          if (n > 0) expect(result.gaps).toMatchObject([{ allocation: n, written: { baseline: 0 } }]);
          expect(verdicts(compare(stray, stray, patterns))).not.toContain('different');
        },
      ),
    );
  });

  it('should see an output that is not written, whatever value was expected there', () => {
    const value = new DataView(makeContents(ALLOCATIONS, 5, 'noise')[1]!.buffer).getFloat32(8, true);
    const writes: Kernel = ([, out]) => new DataView(out!.buffer, out!.byteOffset).setFloat32(8, value, true);
    const result = compare(writes, () => {});
    expect(comparisonVerdict(result.tensors[1]![0]!.comparison)).toBe('different');
    expect(result.tensors[1]![0]!.written).toMatchObject({ baseline: 4, modified: 0 });
  });

  it('should see a result that depends on memory nobody wrote', () => {
    const leaky: Kernel = (memory) => {
      proper(memory);
      memory[1]![8] = memory[1]![90]!;
    };
    expect(compare(proper, leaky).unwrittenReads).toEqual({
      baseline: 0,
      modified: 1,
      first: { allocation: 1, offset: 8 },
    });
    expect(compare(leaky, leaky).unwrittenReads).toEqual({ baseline: 1, modified: 1, first: null });
    expect(compare(leaky, leaky, ['noise']).unwrittenReads).toBeNull();
  });

  it('should accept rounding in an output and none in an input', () => {
    const rounded: Kernel = (memory) => {
      proper(memory);
      memory[1]![8] = memory[1]![8]! ^ 1;
    };
    expect(verdicts(compare(proper, rounded))).toEqual(['equal', 'within-tolerance', 'equal']);
    const shared: Allocation[] = [
      {
        bytes: 16,
        tensors: [
          { offset: 0, bytes: 16, elementType: 'f32', access: 'read' },
          { offset: 0, bytes: 16, elementType: 'f32', access: 'write' },
        ],
      },
    ];
    const before = makeContents(shared, 1, 'noise');
    const modified = [before[0]!.slice()];
    modified[0]![0] = modified[0]![0]! ^ 1;
    const inPlace = compareMemory(shared, [{ before, baseline: before, modified }]);
    expect(inPlace.tensors[0]!.map((p) => comparisonVerdict(p.comparison))).toEqual([
      'within-tolerance',
      'within-tolerance',
    ]);
    const readOnly = [{ bytes: 16, tensors: [shared[0]!.tensors[0]!] }];
    const input = compareMemory(readOnly, [{ before, baseline: before, modified }]);
    expect(comparisonVerdict(input.tensors[0]![0]!.comparison)).toBe('different');
  });
});
