// Copies and calls that are in the input twice: a list of them that was read or merged twice counts twice.
import { type Recording, Timing } from '../recording.ts';

/** Of calls, which have no thread here, a few may be alike by chance. */
const CHANCE = 0.01;

/** Reports copies and API calls that have the times and all else of another. They are counted: what they are is not known. */
export function reportRepeated(r: Recording): void {
  if (r.simulated !== undefined) return;
  const [c, s] = [r.copies, r.callSpans];
  const timed = Array.from({ length: c.length }, (_, row) => row).filter((row) => c.timing.get(row) === Timing.KNOWN);
  const copies = repeatedOf(Int32Array.from(timed), c.start.view(), (row) =>
    [c.domain, c.process, c.end, c.direction, c.bytes, c.stream].map((column) => column.get(row)).join(),
  );
  if (copies > 0) report(r, copies, timed.length, 'memory copies', 'times, direction and size');
  const rows = Int32Array.from({ length: s.length }, (_, row) => row);
  const calls = repeatedOf(rows, s.start.view(), (row) =>
    s.end.get(row) === s.start.get(row)
      ? undefined
      : [s.domain, s.end, s.name, s.lane].map((column) => column.get(row)).join(),
  );
  if (calls > CHANCE * s.length) report(r, calls, s.length, 'API calls', 'times and name');
}

function report(r: Recording, repeated: number, all: number, what: string, like: string): void {
  r.report(
    'profile/repeated-rows',
    r.sources[0]?.path ?? '',
    `${repeated} of ${all} ${what} have the ${like} of another: they may be in the input twice. All are counted.`,
  );
}

/** How many rows have the start and the key of another one; rows without a key have none. */
function repeatedOf(rows: Int32Array, start: Float64Array, keyOf: (row: number) => string | undefined): number {
  const sorted = Float64Array.from(rows, (row) => start[row]).sort();
  const shared = new Set<number>();
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) shared.add(sorted[i]);
  if (shared.size === 0) return 0;
  const seen = new Set<string>();
  let repeated = 0;
  for (const row of rows) {
    if (!shared.has(start[row])) continue;
    const key = keyOf(row);
    if (key === undefined) continue;
    const whole = `${start[row]},${key}`;
    if (seen.has(whole)) repeated++;
    seen.add(whole);
  }
  return repeated;
}
