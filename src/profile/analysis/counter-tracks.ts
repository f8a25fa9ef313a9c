// Counters over time: what each dispatch reached, for tracks on the timeline. A value holds from its dispatch's start to its end.
import { isKnown, type Measure } from '../measure.ts';
import type { MetricSum } from './metrics.ts';
import type { KernelRoofline } from './roofline.ts';

/** One track: its values in start order. */
export interface CounterTrack {
  readonly name: string;
  readonly unit: 'GB/s' | 'GFLOP/s' | 'fraction' | 'waves';
  /** Start and end in ns since the first start, and the value between. */
  readonly points: readonly (readonly [start: number, end: number, value: number])[];
}

/** A dispatch with known times, and what its counters say. */
export interface TrackedDispatch {
  readonly start: number;
  readonly end: number;
  readonly roofline: KernelRoofline;
  readonly sums: readonly MetricSum[];
}

interface TrackKind {
  readonly name: string;
  readonly unit: CounterTrack['unit'];
  readonly value: (one: TrackedDispatch) => Measure | undefined;
}

const bandwidth = (level: string) => ({
  name: `${level} bandwidth`,
  unit: 'GB/s' as const,
  value: ({ roofline }: TrackedDispatch) => roofline.points.find((point) => point.level === level)?.bandwidth,
});
const metric = (name: string, unit: CounterTrack['unit'], ...ids: readonly string[]) => ({
  name,
  unit,
  value: ({ sums }: TrackedDispatch) =>
    ids
      .map((id) => sums.find((sum) => sum.metric.id === id)?.value)
      .find((value) => value !== undefined && isKnown(value)),
});

const KINDS: readonly TrackKind[] = [
  { ...bandwidth('HBM') },
  { name: 'FLOP rate', unit: 'GFLOP/s', value: ({ roofline }) => roofline.gflops },
  metric('Resident waves per CU', 'waves', 'waves.resident', 'waves.resident.derived', 'waves.resident.cycles'),
  { ...bandwidth('L2') },
  metric('VALU issues', 'fraction', 'issue.valu'),
  metric('Matrix units busy', 'fraction', 'mfma.busy'),
  metric('L2 hits', 'fraction', 'l2.hit'),
];

/** The tracks of dispatches, which are added in any order; what their counters say is not kept beyond the values. */
export class CounterTracks {
  private readonly added: { readonly start: number; readonly end: number; readonly values: (number | undefined)[] }[] =
    [];

  add(one: TrackedDispatch): void {
    const values = KINDS.map(({ value }) => {
      const found = value(one);
      return found !== undefined && isKnown(found) ? found.value : undefined;
    });
    this.added.push({ start: one.start, end: one.end, values });
  }

  /** The tracks; one that has no known value, or only zeros, is left out. */
  tracks(): CounterTrack[] {
    const inOrder = [...this.added].sort((a, b) => a.start - b.start);
    return KINDS.flatMap(({ name, unit }, kind) => {
      const points = inOrder.flatMap(({ start, end, values }) => {
        const value = values[kind];
        return value === undefined ? [] : [[start, end, value] as const];
      });
      return points.some(([, , height]) => height > 0) ? [{ name, unit, points }] : [];
    });
  }
}
