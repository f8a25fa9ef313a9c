// Modelled time between events: kernels behind each other on the device, and no closer than the host sends them.
import { describe, expect, it } from 'vitest';
import { makeChip } from '../device/sim/timing/chip.ts';
import { chipFile } from '../device/sim/timing/chips/index.ts';
import { ModelClock } from './model-clock.ts';

const base = chipFile('mi300a');
const chip = makeChip({
  ...base,
  numbers: {
    ...base.numbers,
    'launch.eventUs': [3, 'test'],
    'launch.floorUs': [4, 'test'],
    'launch.gapUs': [1, 'test'],
    'launch.hostUs': [2, 'test'],
    'l2.writeRate': [10, 'test'],
  },
});

/** Microseconds between two events around kernels that take so many each. */
function between(kernels: readonly number[]): number {
  const clock = new ModelClock(chip);
  const { end: from } = clock.mark();
  for (const microseconds of kernels) clock.kernel(1000 * microseconds, 0);
  const { end: to } = clock.mark();
  return Number(to - from) / 100;
}

describe('two events', () => {
  it('should show the floor around a short kernel, and more than the kernel around a long one', () => {
    expect(between([0.1])).toBe(4);
    expect(between([0.9])).toBe(4);
    expect(between([10])).toBe(13);
    expect(between([])).toBe(0);
  });
  it('should show what the host takes to send short kernels, and gaps between long ones', () => {
    expect(between([0.1, 0.1, 0.1])).toBe(8);
    expect(between([10, 10, 10])).toBe(35);
    // The second kernel is sent while the first one runs.
    expect(between([10, 0.1])).toBe(14.1);
  });
  it('should wait for what a kernel has changed to be written back, as the next kernel does', () => {
    // 6 dies of 16 channels write 10 bytes each in a cycle: 2016 bytes in a nanosecond.
    const clock = new ModelClock(chip);
    const { end: from } = clock.mark();
    clock.kernel(20_000, 2016 * 5000);
    const { start } = clock.kernel(20_000, 2016 * 7000);
    const { end: to } = clock.mark();
    expect(Number(start - from) / 100).toBe(1 + 20 + 5 + 1);
    expect(Number(to - start) / 100).toBe(20 + 7 + 2);
  });
  it('should begin anew behind a mark and behind a copy that the host waits for', () => {
    const clock = new ModelClock(chip);
    clock.kernel(100, 0);
    clock.kernel(100, 0);
    const { end: from } = clock.mark();
    clock.kernel(100, 0);
    expect(Number(clock.mark().end - from) / 100).toBe(4);
    const { end: copied } = clock.copy('host', 4096, 0);
    expect(Number(clock.kernel(100, 0).start - copied) / 100).toBe(1);
  });
});
