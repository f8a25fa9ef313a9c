// What workgroups share with their neighbours of the grid, and with which of them.
import { describe, expect, it } from 'vitest';
import type { Launch } from '../dispatch/launch.ts';
import { chipNamed } from './chips/index.ts';
import { Int32List } from './growing.ts';
import type { KernelCode } from './kernel-code.ts';
import { edgeLines, foreignNeighbours, freshParts, laterNeighbours } from './neighbours.ts';
import type { GroupTrace } from './record.ts';

const chip = chipNamed('mi300a');
const grid = (width: number, height: number): Launch =>
  ({ grid: [width, height, 1], workgroups: width * height }) as unknown as Launch;

/** A workgroup whose waves store into sectors, one store each. */
function storing(number: number, ...waves: readonly (readonly number[])[]): GroupTrace {
  return {
    number,
    waves: waves.map((sectors) => {
      const path = new Int32List(1);
      path.push(0);
      const accesses = new Int32List(8);
      accesses.push(sectors.length);
      for (const sector of sectors) accesses.push(sector);
      return { path, accesses, isWhole: true };
    }),
  };
}
const code = {
  list: [{ unit: 'vmem', stores: true, isAtomic: false, dwords: 1, plan: {} }],
} as unknown as Pick<KernelCode, 'list'>;

describe('neighbours of a workgroup', () => {
  it('should be on the same die where the row is as long as the round over the dies', () => {
    expect(laterNeighbours(chip, grid(12, 4), 13)).toEqual([12]);
    expect(laterNeighbours(chip, grid(13, 4), 14)).toEqual([12]);
    expect(laterNeighbours(chip, grid(16, 4), 20)).toEqual([]);
    expect(laterNeighbours(chip, grid(12, 4), 40)).toEqual([]);
    expect(laterNeighbours(chip, grid(1024, 1), 5)).toEqual([]);
  });
  it('should be on other dies beside it, and below it where the row is not', () => {
    expect(foreignNeighbours(chip, grid(12, 4), 13)).toEqual([1]);
    expect(foreignNeighbours(chip, grid(16, 4), 20)).toEqual([1, 16]);
    expect(foreignNeighbours(chip, grid(1, 1), 0)).toEqual([]);
    expect(foreignNeighbours(chip, grid(2, 1), 1)).toEqual([-1]);
  });
});

describe('what neighbours share', () => {
  const sectorsOf = (trace: GroupTrace, stores: boolean): number[] =>
    stores ? [] : trace.waves.flatMap((w) => [...w.accesses.data.subarray(1, 1 + (w.accesses.data[0] as number))]);
  it('should be fetched once, as long as L2 holds it', () => {
    const [own, next] = [storing(0, [0, 1, 2, 3]), storing(6, [3, 4, 5, 6])];
    expect(freshParts(chip, own, [{ step: 6, trace: next }], sectorsOf)).toEqual({ loads: 0.75, stores: 1 });
    expect(freshParts(chip, own, [{ step: 6_000_000, trace: next }], sectorsOf)).toEqual({ loads: 1, stores: 1 });
    expect(freshParts(chip, own, [], sectorsOf)).toEqual({ loads: 1, stores: 1 });
  });
  it('should be the lines that the ends of stores cut, but not those between its own waves', () => {
    expect([...edgeLines(chip, [storing(0, [1, 2, 3, 4], [5, 6, 7, 8])], code)]).toEqual([0, 4]);
    expect([...edgeLines(chip, [storing(0, [0, 1, 2, 3], [4, 5, 6, 7])], code)]).toEqual([]);
    // Five sectors of 64 dwords: the store begins inside the first.
    expect([...edgeLines(chip, [storing(0, [0, 1, 2, 3, 4], [4, 5, 6, 7, 8])], code)]).toEqual([0, 4]);
  });
});
