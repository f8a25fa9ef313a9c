// Counters as the native tool of rocprof-compute (2026) writes them: `<pid>_native_counter_collection.csv.gz`, a row for each instance of a
// counter. Kernels and times are in the rocpd database of the process, `<pid>/<pid>.db` beside it, which is read before.
// Source: rocm-systems projects/rocprofiler-compute, src/lib/rocprofiler_compute_tool/counters_writer.cpp, src/utils/rocpd_data.py.
import type { Recording } from '../recording.ts';
import { type ByteSource, baseName, dirName } from '../source.ts';
import { readCsv } from './csv.ts';
import { runFolder } from './rocpd.ts';
import { badRow, counterCell, reportEmpty, textProblems } from './row-problems.ts';
import { count, counterName } from './values.ts';

/** The dispatches that were read from the database of a process, by their ids. */
function dispatchesOf(r: Recording, database: string, pid: string): ReadonlyMap<number, number> {
  const domain = r.machineDomain(r.machines.ofFolder(dirName(database)));
  const process = r.processOrdinal(runFolder(database), pid);
  const d = r.dispatches;
  const rows = new Map<number, number>();
  for (let row = 0; row < d.length; row++) {
    if (d.domain.get(row) === domain && d.process.get(row) === process) rows.set(d.dispatchId.get(row), row);
  }
  return rows;
}

/** The process that a file of counters is of, by its name. */
function processOf(file: string): string {
  return /^(.+?)_native_counter_collection\./.exec(baseName(file))?.[1] ?? '';
}

/** Reads the counters of one process; those of dispatches that its database, one of `databases`, does not have are reported. */
export function readNativeCounters(source: ByteSource, databases: readonly string[], r: Recording): void {
  const file = source.path;
  const pid = processOf(file);
  const below = `${dirName(file)}/`;
  const database = databases.find((db) => db.startsWith(below) && baseName(db).split(/[._]/)[0] === pid);
  const dispatches = database === undefined ? new Map<number, number>() : dispatchesOf(r, database, pid);
  const sums = new Map<string, Map<number, number>>();
  let orphans = 0;
  const rows = readCsv(
    source,
    (h) => {
      const [dispatch, name, value] = ['dispatch_id', 'counter_name', 'counter_value'].map((column) => h.at(column));
      return (cells) => {
        if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
        const row = dispatches.get(count(cells[dispatch]));
        if (row === undefined) {
          orphans++;
          return;
        }
        const counter = counterName(cells[name] ?? '');
        const amount = counterCell(r, file, counter, cells[value]) ?? Number.NaN;
        const ofCounter = sums.get(counter) ?? new Map<number, number>();
        sums.set(counter, ofCounter);
        ofCounter.set(row, (ofCounter.get(row) ?? 0) + amount);
      };
    },
    textProblems(file, r),
  );
  for (const [counter, ofCounter] of sums) {
    for (const [row, sum] of ofCounter) if (!Number.isNaN(sum)) r.addCounter(counter, row, sum, file, 'sums');
  }
  for (const row of dispatches.values()) r.serialised.add(r.dispatches.domain.get(row));
  if (orphans > 0) {
    r.report(
      'rocpd/orphan-counters',
      file,
      `${orphans} counter values belong to no dispatch of ${database ?? 'a rocpd database of their process, which is not there'}; they are left out.`,
    );
  }
  if (rows === 0) reportEmpty(r, file);
}
