// Which moments of a long dispatch are kept: the way from one to the next is short for what has just happened, and grows with the age.
import { expect, test, vi } from 'vitest';
import { DeviceMemory } from '../state/memory.ts';
import { History } from './history.ts';

test('moments of long ago stand further apart, in proportion to their age', () => {
  const memory = new DeviceMemory();
  const { base, bytes } = memory.alloc(65_536, 'data');
  const ofHost = memory.alloc(65_536, 'data of the host').bytes;
  const history = new History<number>(memory);
  history.change(0, () => {}, { wave: undefined, space: 'global', address: base, bytes: 1, lane: 0 });
  const dispatch = { spans: () => [], save: () => ({}), rewind: () => {} } as never;
  const clock = vi.spyOn(performance, 'now');
  const end = 20_000_000;
  for (let time = 0; time <= end; time += 5_000) {
    // Keeping them costs nothing here.
    clock.mockReturnValue(time);
    bytes[0] = time / 5_000;
    bytes[300] = time / 5_000;
    ofHost[7] = time / 5_000;
    history.offer(time, dispatch, () => time);
  }
  clock.mockRestore();
  expect(history.start).toBe(0);
  const kept = new Set<number>();
  for (let back = 1_000; back < end; back += 1_000) {
    const found = history.at(end - back);
    kept.add(found?.time ?? -1);
    const way = end - back - (found?.time ?? 0);
    expect({ back, isNear: way <= Math.max(25_000, 0.08 * (back + way)) }).toEqual({ back, isNear: true });
  }
  expect(kept.size).toBeGreaterThan(150);
  expect(kept.size).toBeLessThanOrEqual(200);
  // The memory is that of the moment.
  const early = history.at(10_000_000);
  if (early === undefined) throw new Error('nothing is kept');
  history.restore(early);
  expect(bytes[0]).toBe((early.time / 5_000) & 255);
  // Nothing else is changed back: it is the host's, or of other kernels.
  expect([bytes[300], ofHost[7]]).toEqual([(end / 5_000) & 255, (end / 5_000) & 255]);
});
