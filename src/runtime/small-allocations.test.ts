import { describe, expect, it } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { BLOCK_BYTES, SmallAllocations } from './small-allocations.ts';

function blocks() {
  const live = new Set<number>();
  let next = 0x4800_0000_0000;
  const small = new SmallAllocations({
    take: () => {
      next += 2 * BLOCK_BYTES;
      live.add(next);
      return next;
    },
    give: (base) => live.delete(base),
  });
  return { small, live };
}

describe('SmallAllocations', () => {
  it('should place what fits side by side in one block', () => {
    const { small, live } = blocks();
    const first = small.allocate(100, 1);
    expect(small.allocate(5000, 4096)).toBe(first + 4096);
    expect(small.allocate(1, 1)).toBe(first + 3 * 4096);
    expect(live.size).toBe(1);
  });

  it('should take another block when none has room, and give empty ones back', () => {
    const { small, live } = blocks();
    const first = small.allocate(BLOCK_BYTES, 1);
    const second = small.allocate(1, 1);
    expect(live.size).toBe(2);
    expect(small.free(second)).toBe(true);
    expect(small.free(second)).toBe(false);
    expect(small.free(first + 1)).toBe(false);
    expect(small.free(first)).toBe(true);
    expect(live.size).toBe(0);
  });

  it('should never place two allocations over each other, whatever ends in between', () => {
    const step = fc.record({
      size: fc.integer({ min: 0, max: BLOCK_BYTES }),
      alignment: fc.constantFrom(1, 4096, 65536, BLOCK_BYTES),
      ends: fc.option(fc.nat()),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { small, live } = blocks();
        const all: { base: number; size: number }[] = [];
        for (const { size, alignment, ends } of steps) {
          const base = small.allocate(size, alignment);
          expect(base % Math.max(4096, alignment)).toBe(0);
          expect(small.pieceAt(base)).toMatchObject({ base, isFree: false });
          for (const other of all) expect(base + size <= other.base || other.base + other.size <= base).toBe(true);
          all.push({ base, size: Math.max(size, 1) });
          if (ends !== null) expect(small.free(all.splice(ends % all.length, 1)[0]?.base ?? 0)).toBe(true);
        }
        for (const { base } of all) expect(small.free(base)).toBe(true);
        expect(live.size).toBe(0);
      }),
    );
  });
});
