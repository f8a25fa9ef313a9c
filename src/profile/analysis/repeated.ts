// Copies and calls that are in the input twice: a list of them that was read or merged twice counts twice.
import { type Recording, Timing } from '../recording.ts';
import { inOrder } from './order.ts';

/** Of calls, which have no thread here, a few may be alike by chance. */
const CHANCE = 0.01;

/** Reports copies and API calls that have the times and all else of another. They are counted: what they are is not known. */
export function reportRepeated(r: Recording): void {
  if (r.simulated !== undefined) return;
  const [c, s] = [r.copies, r.callSpans];
  const copies = rowsWhere(c.length, (row) => c.timing.get(row) === Timing.KNOWN);
  const alikeCopies = repeatedOf(copies, c.start, [c.domain, c.process, c.end, c.direction, c.bytes, c.stream]);
  if (alikeCopies > 0) report(r, alikeCopies, copies.length, 'memory copies', 'times, direction and size');
  const calls = rowsWhere(s.length, (row) => s.end.get(row) !== s.start.get(row));
  const alikeCalls = repeatedOf(calls, s.start, [s.domain, s.end, s.name, s.lane]);
  if (alikeCalls > CHANCE * s.length) report(r, alikeCalls, s.length, 'API calls', 'times and name');
}

function rowsWhere(length: number, isTaken: (row: number) => boolean): Int32Array {
  const rows = new Int32Array(length);
  let used = 0;
  for (let row = 0; row < length; row++) if (isTaken(row)) rows[used++] = row;
  return rows.subarray(0, used);
}

function report(r: Recording, repeated: number, all: number, what: string, like: string): void {
  r.report(
    'profile/repeated-rows',
    r.sources[0]?.path ?? '',
    `${repeated} of ${all} ${what} have the ${like} of another: they may be in the input twice. All are counted.`,
  );
}

type Numbers = Pick<Recording['copies']['start'], 'get'>;

/** How many rows have the start and all other numbers of another one. */
function repeatedOf(rows: Int32Array, start: Recording['copies']['start'], others: readonly Numbers[]): number {
  const starts = start.view();
  const sorted = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) sorted[i] = starts[rows[i]];
  sorted.sort();
  const shared = new Set<number>();
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) shared.add(sorted[i]);
  if (shared.size === 0) return 0;
  const alike = rows.filter((row) => shared.has(starts[row]));
  const compare = (a: number, b: number): number => {
    let order = starts[a] - starts[b];
    for (let i = 0; i < others.length && order === 0; i++) order = others[i].get(a) - others[i].get(b);
    return order;
  };
  const order = inOrder(alike.length, (a, b) => compare(alike[a], alike[b]) || a - b);
  let repeated = 0;
  for (let i = 1; i < order.length; i++) if (compare(alike[order[i - 1]], alike[order[i]]) === 0) repeated++;
  return repeated;
}
