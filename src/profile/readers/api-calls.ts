// Calls of APIs, as traces and tables of sums have them.
import { StringTable } from '../columns.ts';
import { type Recording, Timing } from '../recording.ts';
import { baseName, dirName } from '../source.ts';
import type { CellsHandler, Header, RowHandler } from './csv.ts';
import { CellIds, END } from './csv-row.ts';
import { processKey } from './file-process.ts';
import { badRow, reportTiming } from './row-problems.ts';
import { kernelName, number } from './values.ts';

/** When a call was: as its interval has it, on the clock of `clock`; and who made it. */
export interface CallTime {
  readonly start: number;
  readonly end: number;
  readonly state: number;
  readonly clock: number;
  readonly process: number;
  /** -1 where it is not recorded, like the next. */
  readonly thread: number;
  readonly correlation: number;
}

/** Adds one call to the recording's sums and, while there are few, to those that the timeline shows. */
export function addCall(r: Recording, domain: string, name: string, call: CallTime): void {
  addCallOf(r, r.calls.id(domain, name), call);
}

/** The same of a function that has the id in the sums. */
function addCallOf(r: Recording, id: number, call: CallTime): void {
  const { start, end, state } = call;
  const isTimed = state === Timing.KNOWN || state === Timing.EQUAL;
  const ns = isTimed ? end - start : 0;
  const least = isTimed ? ns : Number.POSITIVE_INFINITY;
  r.calls.add(id, 1, isTimed ? 0 : 1, ns, least, ns);
  const spans = r.callSpans;
  spans.laneOf[id] ??= r.callNames.id(r.calls.domainOf(id));
  const lane = spans.laneOf[id];
  if (!isTimed || !spans.takes(lane)) return;
  spans.start.push(start);
  spans.end.push(end);
  spans.nameOf[id] ??= r.callNames.id(r.calls.nameOf(id));
  spans.name.push(spans.nameOf[id]);
  spans.lane.push(lane);
  spans.domain.push(call.clock);
  spans.process.push(call.process);
  spans.thread.push(call.thread);
  spans.correlation.push(call.correlation);
}

export function apiTrace(h: Header, file: string, r: Recording): RowHandler {
  const [domain, name, start, end, pid] = [['Domain'], ['Function'], ['Start_Timestamp'], END, ['Process_Id']].map(
    (n) => h.at(...n),
  );
  const [threadAt, correlationAt] = [h.at('Thread_Id'), h.at('Correlation_Id')];
  const clock = r.machineDomain(r.machines.ofFolder(dirName(file)));
  const processes = firstOf(r, file, 'API calls', `${dirName(file)} csv`);
  const domainNames = new StringTable();
  const domains = new CellIds((text) => domainNames.id(text ?? ''));
  const functions: CellIds[] = [];
  /** The same object for all rows: V8 puts those of a row each where only a full collection finds that they are dead. */
  const call = { start: 0, end: 0, state: 0, clock, process: 0, thread: -1, correlation: -1 };
  return (row) => {
    if (row.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    const process = row.id(processes, pid);
    if (process < 0) return;
    const time = r.clock.interval(row.value(start), row.value(end));
    if (time.state !== Timing.EQUAL) reportTiming(r, file, time.state, 'API calls');
    call.start = time.start;
    call.end = time.end;
    call.state = time.state;
    call.process = process;
    call.thread = row.count(threadAt);
    call.correlation = row.count(correlationAt);
    const of = row.id(domains, domain);
    functions[of] ??= new CellIds((text) => r.calls.id(domainNames.get(of), text ?? ''));
    addCallOf(r, row.id(functions[of], name), call);
  };
}

/** The numbers of the processes of a column, -1 for one of which another file has told already what it did. */
export function firstOf(r: Recording, file: string, what: string, source: string): CellIds {
  const folder = dirName(file);
  const domain = r.machineDomain(r.machines.ofFolder(folder));
  return new CellIds((pid) => {
    const ordinal = r.processOrdinal(folder, processKey(file, pid ?? ''));
    return r.isFirstSource(what, domain, ordinal, source, file) ? ordinal : -1;
  });
}

/** What rocprof 1 calls its tables of sums: `results.stats.csv` is of kernels. */
const OF_ROCPROF_1: Readonly<Record<string, string>> = {
  '': 'kernel',
  copy_: 'memory_copy',
  hip_: 'hip_api',
  hsa_: 'hsa_api',
};

/** What the sums of a table are of, by its name. */
function domainOf(file: string): string {
  const first = /\.((?:copy_|hip_|hsa_)?)stats\.csv(?:\.gz)?$/.exec(baseName(file))?.[1];
  const of = first === undefined ? undefined : OF_ROCPROF_1[first];
  return `${of ?? (baseName(file).replace(/^(\d+_)?(.*?)[_.]?stats\.csv$/, '$2') || 'stats')} (stats)`;
}

/** `*_stats.csv`: sums that the profiler made itself; used for calls that have no trace. */
export function stats(h: Header, file: string, r: Recording): CellsHandler {
  const at = ['Name', 'Calls', 'TotalDurationNs', 'MinNs', 'MaxNs'].map((n) => h.at(n));
  const domain = domainOf(file);
  return (cells) => {
    if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    const name = cells[at[0]];
    // A header within the file may have other columns.
    if (name === undefined) return badRow(r, file, 'there is no column Name');
    // Sums of kernels whose dispatches were read are no calls of an API.
    if (r.kernels.find(kernelName(name)) !== undefined) return;
    const [calls, total, min, max] = at.slice(1).map((index) => number(cells[index]));
    if (calls === undefined || total === undefined) return badRow(r, file, 'a sum is not a number');
    r.calls.add(r.calls.id(domain, name), calls, 0, total, min ?? Number.POSITIVE_INFINITY, max ?? 0);
  };
}
