// Orders that are looked for among many acquisitions: none is taken to be there only because there are many.
import { describe, expect, it } from 'vitest';
import type { Released } from './releases.ts';
import { Synchronisation } from './synchronisation.ts';

const told = (stores: number): Released => ({
  complete: [stores],
  written: [stores],
  pc: 4 * stores,
  wave: 0,
  issued: stores,
  isEarly: false,
  epoch: stores,
  releases: stores,
});

/** A workgroup has acquired what has been released at an address. */
function acquire(order: Synchronisation, group: number, address: number): void {
  order.acquire(group, order.seenAt(address) ?? expect.fail());
  order.invalidate(group);
}

describe('Synchronisation', () => {
  it('should find no order behind the last of many barriers, each with an address of its own', () => {
    const order = new Synchronisation();
    const rounds = 2000;
    for (let round = 0; round < rounds; round++) {
      for (const group of [0, 1, 2]) order.release(group, 64 * round, told(round));
      for (const group of [0, 1, 2]) acquire(order, group, 64 * round);
    }
    expect(order.orderOf(1, 0, 0, rounds - 2, true)).toBe('ordered');
    expect(order.orderOf(1, 0, 0, rounds - 1, true)).toEqual({ releasePc: expect.any(Number), isComplete: false });
    const read = { wave: 0, releases: 0, isMany: false };
    expect(order.isReadBefore(1, 0, { ...read, epoch: rounds - 2 })).toBe(true);
    expect(order.isReadBefore(1, 0, { ...read, epoch: rounds })).toBe(false);
  });

  it('should find an order through many workgroups, and none where one of them is missing', () => {
    for (const missing of [-1, 700]) {
      const order = new Synchronisation();
      for (let group = 0; group < 1000; group++) {
        if (group > 0 && group !== missing) acquire(order, group, 64 * (group - 1));
        order.release(group, 64 * group, told(1));
      }
      acquire(order, 1000, 64 * 999);
      expect(order.orderOf(1000, 0, 0, 0, true)).toBe(missing < 0 ? 'ordered' : 'unordered');
    }
  });

  it('should name what came too early for a store, not what was told before it', () => {
    const order = new Synchronisation();
    order.release(0, 64, told(1));
    acquire(order, 1, 64);
    expect(order.orderOf(1, 0, 0, 2, true)).toBe('unordered');
    order.release(0, 128, { ...told(2), pc: 400, issued: 3, isEarly: true });
    acquire(order, 1, 128);
    expect(order.orderOf(1, 0, 0, 2, true)).toEqual({ releasePc: 400, isComplete: false });
    // Of another wavefront it is not known when that was.
    expect(order.orderOf(1, 0, 1, 2, true)).toMatchObject({ isComplete: false });
  });
});
