import { expect, it } from 'vitest';
import type { Launch } from '../dispatch/launch.ts';
import { DeviceMemory } from './memory.ts';
import { type Place, PlacePool } from './places.ts';

const launch = { target: 'gfx942', wavesPerGroup: 4, scratchPerWave: 0 } as Launch;
const MEGABYTE = 2 ** 20;

/** Megabytes that are free in one piece. */
function largest(memory: DeviceMemory): number {
  let size = 0;
  for (let step = 2048; step >= 1; step /= 2) {
    const piece = memory.tryReserveUncleared((size + step) * MEGABYTE);
    if (piece === undefined) continue;
    memory.release(piece);
    size += step;
  }
  return size;
}

it('should keep places that have come back, until their memory is needed for something else', () => {
  const memory = new DeviceMemory();
  const pool = new PlacePool(memory);
  const take = () => Array.from({ length: 64 }, () => pool.take(launch));
  const give = (places: readonly Place[]): void => {
    for (const place of places) pool.give(place);
  };
  const blocks = (places: readonly Place[]) => new Set(places.flatMap(({ waveBlocks, lds }) => [...waveBlocks, lds]));
  const first = take();
  expect(largest(memory)).toBeLessThan(largest(new DeviceMemory()));
  give(first);
  const again = take();
  expect(blocks(again)).toEqual(blocks(first));
  give(again);
  expect(largest(memory)).toBe(largest(new DeviceMemory()));
  expect([...blocks(take())].some((block) => blocks(first).has(block))).toBe(false);
});
