import { describe, expect, it } from 'vitest';
import { METRICS } from '../arch/metrics.ts';
import { known, type Measure, numberOf } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import type { MetricSum } from './metrics.ts';
import { apart, perWave } from './per-wave.ts';

/** A count of dispatches, one number each; NaN where its pass did not collect it. */
function counted(id: string, values: readonly number[]): MetricSum {
  const metric = METRICS.gfx942.find((m) => m.id === id);
  if (metric === undefined) throw new Error(id);
  const make = (chosen: (i: number) => boolean): MetricSum => {
    const has = (i: number): boolean => chosen(i) && !Number.isNaN(values[i]);
    const covered = Uint8Array.from(values, (_, i) => (has(i) ? 1 : 0));
    const sum = values.reduce((all, one, i) => (has(i) ? all + one : all), 0);
    return {
      metric,
      value: known(sum),
      dispatches: covered.reduce((n, one) => n + one, 0),
      timedNs: 0,
      timed: 0,
      timedValue: 0,
      covered,
      within: (some) => make((i) => some[i] === 1),
    };
  };
  return make(() => true);
}

const of = (loads: readonly number[], waves: readonly number[], launches?: number): ClassifierInput =>
  ({ metrics: [counted('insts.vmem', loads), counted('waves', waves)], launches }) as unknown as ClassifierInput;
const value = (measure: Measure): number | undefined => numberOf(measure);
const NONE = Number.NaN;

describe('counts for each wave', () => {
  it('should be of the dispatches that have both', () => {
    expect(value(perWave(of([40, 80, NONE], [10, 20, 400]), 'insts.vmem'))).toBe(4);
  });

  it('should be means of passes that share no dispatch, where all are one launch', () => {
    expect(value(perWave(of([40, NONE, NONE], [NONE, 10, 10], 1), 'insts.vmem'))).toBe(4);
  });

  it('should be unknown where those launches differ, or where nothing says that they do not', () => {
    for (const launches of [2, undefined]) {
      expect(perWave(of([40, NONE], [NONE, 80], launches), 'insts.vmem')).toEqual({
        unknown: 'no dispatch has both insts.vmem and waves, and launches differ',
      });
    }
  });
});

describe('metrics of other dispatches', () => {
  it('should be told apart where launches differ', () => {
    const ids = ['insts.vmem', 'waves'];
    expect(apart(of([40, NONE], [10, 80], 2), ids)).toContain('waves is of other dispatches than insts.vmem');
    expect(apart(of([40, NONE], [10, 80], 1), ids)).toBeUndefined();
    expect(apart(of([40, 90], [10, 80], 2), ids)).toBeUndefined();
  });
});
