import { expect, test } from 'vitest';
import { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { FreeGroups } from './free-groups.ts';
import { SHADOW_BYTES } from './registers.ts';

test('a workgroup for whose shadows there is no room leaves what there was', () => {
  const memory = new DeviceMemory();
  const waves = Array.from({ length: 4 }, () => ({ memory }) as Wave);
  // Room for the shadows of two of four wavefronts.
  const room = 2.5 * SHADOW_BYTES;
  for (let size = 2 ** 30; size >= 4096; size /= 2) {
    for (;;) {
      const both = memory.tryReserveUncleared(size + room);
      if (both === undefined) break;
      memory.release(both);
      memory.reserveUncleared(size, 'what is taken');
    }
  }
  const groups = new FreeGroups();
  for (let n = 0; n < 3; n++) {
    expect(() => groups.take(memory, 1024, waves)).toThrow(expect.objectContaining({ code: 'device/out-of-memory' }));
    groups.release(memory);
  }
  const { lds, waves: shadows } = groups.take(memory, 1024, waves.slice(0, 1));
  expect(shadows).toHaveLength(1);
  expect(lds.fits(1024, 1)).toBe(true);
  groups.release(memory);
});
