import { expect, test } from 'vitest';
import { DeviceMemory } from '../../state/memory.ts';
import type { Wave } from '../../state/wave.ts';
import type { LdsShadow } from '../lds/lds.ts';
import { SHADOW_BYTES } from '../registers/shadow-layout.ts';
import { RunningGroups } from './running-groups.ts';

/** A memory with room for `room` bytes, and no second time for as much. */
function nearlyFull(room: number): DeviceMemory {
  const memory = new DeviceMemory();
  for (let size = 2 ** 30; size >= 4096; size /= 2) {
    for (;;) {
      const both = memory.tryReserveUncleared(size + room);
      if (both === undefined) break;
      memory.release(both);
      memory.reserveUncleared(size, 'what is taken');
    }
  }
  return memory;
}

test('a workgroup for whose shadows there is no room leaves what there was', () => {
  // Room for the shadows of two of four wavefronts.
  const memory = nearlyFull(2.5 * SHADOW_BYTES);
  const waves = Array.from({ length: 4 }, () => ({ memory }) as Wave);
  for (let n = 0; n < 3; n++) {
    const groups = new RunningGroups(memory);
    expect(() => groups.begin(1024, waves)).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
    groups.release();
  }
  const groups = new RunningGroups(memory);
  const { lds, waves: shadows } = groups.begin(1024, waves.slice(0, 1));
  expect(shadows).toHaveLength(1);
  expect(lds.fits(1024, 1)).toBe(true);
  groups.release();
});

test.each(['reserve', 'tryReserveUncleared'] as const)(
  'the shadows of a workgroup that has ended are those of the next, of whichever dispatch, until %s needs their place',
  (reserve) => {
    const memory = nearlyFull(8 * SHADOW_BYTES);
    const begin = (groups: RunningGroups): LdsShadow => groups.begin(1024, [{ memory } as Wave]).lds;
    const first = new RunningGroups(memory);
    const lds = begin(first);
    const second = new RunningGroups(memory);
    expect(begin(second)).not.toBe(lds);
    second.release();
    first.end(lds);
    first.release();
    const third = new RunningGroups(memory);
    expect(begin(third)).toBe(lds);
    third.end(lds);
    third.release();
    // As much in one piece as there is without them.
    const least = 4096;
    const whole = nearlyFull(8 * SHADOW_BYTES);
    let most = 0;
    for (let size = least; size < 16 * SHADOW_BYTES; size += least) {
      const piece = whole.tryReserveUncleared(size);
      if (piece === undefined) break;
      most = size;
      whole.release(piece);
    }
    expect(memory[reserve](most, 'what needs the place')).toHaveLength(most);
    expect(memory.tryReserveUncleared(most)).toBeUndefined();
    expect(() => begin(new RunningGroups(memory))).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
  },
);
