import { describe, expect, test } from 'vitest';
import { known, unknown } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { fullestUnits, lasting } from './fullest.ts';

/** Launches of one size, by workgroups for each compute unit, waves of a workgroup and the part of the wave slots that can be used. */
const launch = (groups: number, waves: number, fits = 1, launches = 1): ClassifierInput =>
  ({ groupsPerCu: known(groups), wavesPerGroup: known(waves), fits: known(fits), launches }) as ClassifierInput;

describe('work of the fullest compute units over the mean', () => {
  test('workgroups that are all resident: some compute units have one more than others', () => {
    expect(fullestUnits(launch(1.5, 4))).toBeCloseTo(2 / 1.5);
    expect(fullestUnits(launch(4, 4))).toBe(1);
    expect(fullestUnits(launch(0.25, 4))).toBe(4);
  });

  test('workgroups that follow others go where there is room', () => {
    expect(fullestUnits(launch(8.5, 4))).toBe(1);
    expect(fullestUnits(launch(1.5, 4, 0.125))).toBe(1);
  });

  test('nothing is said of launches of other sizes, or of unknown ones', () => {
    expect(fullestUnits(launch(1.5, 4, 1, 2))).toBe(1);
    expect(fullestUnits({ ...launch(1.5, 4), groupsPerCu: unknown('no grid') })).toBe(1);
  });
});

describe('part of a launch in which the mean wave is there', () => {
  test('waves that all begin with it: of 8 waves a compute unit 4 are there in the mean', () => {
    expect(lasting({ ...launch(2, 4), occupancy: known(4 / 32) })).toBeCloseTo(0.5);
  });

  test('waves that follow others say nothing of it', () => {
    expect(lasting({ ...launch(16, 4), occupancy: known(0.5) })).toBe(1);
    expect(lasting({ ...launch(2, 4), occupancy: unknown('not counted') })).toBe(1);
  });
});
