// Recordings of which no counter is above 0: profilers write zeros where they may not count, or do not know how on a GPU.
import type { Recording } from '../recording.ts';

/** Reports that all counters of a recording are 0. */
export function reportZeroCounters(r: Recording): void {
  const columns = r.counters.names.flatMap((name) => r.counters.column(name) ?? []);
  if (r.simulated !== undefined || columns.length === 0) return;
  if (columns.some(({ sum }) => sum.some((value) => value > 0))) return;
  const what = columns.length === 1 ? `The counter ${columns[0].name} is` : `All counters are`;
  r.report(
    'profile/zero-counters',
    r.sources[0]?.path ?? '',
    `${what} 0 in all dispatches: the kernels did nothing of what is counted, or the profiler counted nothing.`,
  );
}
