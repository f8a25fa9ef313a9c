// Counters that were collected in turns: `rocprof-compute profile --iteration-multiplexing` runs a program once and takes another set of counters
// for each launch of a kernel. No dispatch has all terms of a ratio then. The launches of one turn do the same work: what one of them counted is
// taken for what each did, as rocprof-compute does (src/utils/utils.py, impute_counters_iteration_multiplex).
import type { CounterColumn } from '../counters.ts';
import type { Recording } from '../recording.ts';

/** Sets of a turn: rocprof-compute has about twenty of them. */
const MOST_SETS = 256;
/**
 * Fewer sets in turn are taken for a turn only where the profiler says that it took turns, and so are sets that overlap: counters that were lost
 * can look so.
 */
const LEAST_SETS = 4;

/** Fills in what other launches of the same turn counted. */
export function completeTurns(r: Recording): void {
  const columns = r.counters.names.flatMap((name) => r.counters.column(name) ?? []);
  const most = columns.reduce((n, { rows }) => Math.max(n, rows), 0);
  if (r.simulated !== undefined || columns.every(({ rows }) => rows === most)) return;
  const sizes = new Map<number, { sets: number; launches: number }>();
  for (const rows of launchesOfOneSize(r, columns)) {
    const sets = setsOfTurn(rows, columns, r.isMultiplexed);
    if (sets === undefined) continue;
    fill(r, rows, sets, columns);
    const kernel = r.dispatches.kernel.get(rows[0]);
    const before = sizes.get(kernel)?.launches ?? 0;
    sizes.set(kernel, { sets, launches: before + rows.length });
  }
  for (const [kernel, { sets, launches }] of sizes) {
    const name = r.kernels.get(kernel);
    r.report(
      'profile/counters-in-turns',
      r.sources[0]?.path ?? '',
      `Counters of ${name} were collected in turns, ${sets} sets in ${launches} launches: what ${sets} launches in a row counted is taken for what each of them did.`,
      name,
    );
  }
}

const has = ({ sum }: CounterColumn, row: number): boolean => row < sum.length && !Number.isNaN(sum[row]);

/** The dispatches that have counters: those of one kernel, size, GPU and process, in the order of their numbers. */
function launchesOfOneSize(r: Recording, columns: readonly CounterColumn[]): number[][] {
  const d = r.dispatches;
  const groups = new Map<string, number[]>();
  for (let row = 0; row < d.length; row++) {
    if (!columns.some((column) => has(column, row))) continue;
    const ids = [d.kernel, d.config, d.agent, d.process, d.domain].map((column) => column.get(row)).join();
    const rows = groups.get(ids);
    if (rows === undefined) groups.set(ids, [row]);
    else rows.push(row);
  }
  return [...groups.values()].map((rows) => rows.sort((a, b) => d.dispatchId.get(a) - d.dispatchId.get(b)));
}

/** How many sets of counters the rows have in turn, each one once; undefined where they do not take turns. `isSure`: the profiler says that they do. */
function setsOfTurn(rows: readonly number[], columns: readonly CounterColumn[], isSure: boolean): number | undefined {
  const setOf = (row: number): string => columns.flatMap((column, i) => (has(column, row) ? [i] : [])).join();
  const sets: string[] = [];
  for (const row of rows.slice(0, MOST_SETS + 1)) {
    const set = setOf(row);
    if (sets.includes(set)) break;
    sets.push(set);
  }
  if (sets.length < (isSure ? 2 : LEAST_SETS) || sets.length > MOST_SETS) return undefined;
  const turn = rows.slice(0, sets.length);
  const isApart = (column: CounterColumn): boolean =>
    [0, 1, turn.length].includes(turn.filter((row) => has(column, row)).length);
  if (!isSure && !columns.every(isApart)) return undefined;
  return rows.every((row, i) => setOf(row) === sets[i % sets.length]) ? sets.length : undefined;
}

/** Gives each launch of a whole turn what a later one of the turn counted, else an earlier one. */
function fill(r: Recording, rows: readonly number[], sets: number, columns: readonly CounterColumn[]): void {
  for (let first = 0; first + sets <= rows.length; first += sets) {
    const turn = rows.slice(first, first + sets);
    for (const column of columns) {
      const counted = turn.map((row) => (has(column, row) ? column.sum[row] : undefined));
      for (const [i, row] of turn.entries()) {
        if (counted[i] !== undefined) continue;
        const value =
          counted.slice(i).find((one) => one !== undefined) ?? counted.slice(0, i).findLast((one) => one !== undefined);
        if (value !== undefined) r.counters.add(column.name, row, value, '');
      }
    }
  }
}
