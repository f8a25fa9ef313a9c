// Which folders of the input are of other processes, machines or runs than their siblings. Passes of one program run one after the other and
// collect different counters: folders of which that is not so are no passes, whatever their names are.
import { WavesmithError } from '../../base/index.ts';
import { launchedAlike } from '../pairing.ts';
import { isAnalysisDatabase } from '../readers/analysis-db.ts';
import { readCsv } from '../readers/csv.ts';
import { rocpdProcesses, runFolder } from '../readers/rocpd.ts';
import { jsonSample, rocpdSample, type SampledDispatch } from '../readers/samples.ts';
import { kernelName, number, truncatedName } from '../readers/values.ts';
import type { Recording } from '../recording.ts';
import { type ByteSource, baseName, dirName } from '../source.ts';
import type { DiskFile } from './files.ts';
import { launchesOfAll } from './launch-files.ts';
import { withDatabase } from './sqlite.ts';

/** Bytes at the beginning and at the end of a table that are looked at. */
const SAMPLE = 1 << 16;
/** The same of a JSON file, which has long lists before its dispatches. */
const JSON_SAMPLE = 1 << 24;
/** Dispatches that are looked at in JSON files and databases. */
const SAMPLED = 256;
/** Folders that are compared with each other. */
const MAX_FOLDERS = 1024;

/** Folders that rocprofv3 makes for the passes of a program. */
const PASS = /^(?:pmc|pass)[_-]?[0-9]+$/i;

/** Folders whose names say that they are of processes, not of hosts. */
const OF_PROCESS = /^[0-9]+$|(?:^|[_.-])(?:rank|mpi|process|proc|task|worker|pid|gpu|device)[_.-]?[0-9]+$/i;

/** Whether a folder is one that rocprofv3 makes for a pass, or within one. */
export const isPassFolder = (folder: string): boolean => folder.split('/').some((name) => PASS.test(name));

/** What files say of the run that they are of. */
export interface Run {
  readonly folder: string;
  readonly entries: { readonly file: DiskFile; readonly format: string }[];
  readonly pids: Set<string>;
  /** First start and last end; NaN where there are none. */
  first: number;
  last: number;
  hasTrace: boolean;
  /** There are files that say more than tables do: what machine they are of. */
  hasOthers: boolean;
  readonly counters: Set<string>;
  /** The kernels of dispatches by their numbers, without what options of the profiler leave out of a name. */
  readonly kernels: Map<string, string>;
}

/** Whether a file tells of the run that it is of. */
export const tellsRun = ({ format }: { readonly format: string }): boolean => Object.hasOwn(LOOK, format);

/** Adds what a file says to its run. */
export function lookAt(entry: { readonly file: DiskFile; readonly format: string }, run: Run): void {
  const { file, format } = entry;
  run.entries.push(entry);
  try {
    LOOK[format](file, run);
  } catch (error) {
    // Its reader says what is wrong with it.
    if (!(error instanceof WavesmithError)) throw error;
  }
}

/** Tells the recording which folders are of processes of their own, and which of other machines or runs. */
export function placeRuns(files: readonly { readonly file: DiskFile; readonly format: string }[], r: Recording): void {
  const known = files.filter(tellsRun);
  const folderOf = ({ file, format }: (typeof known)[number]): string =>
    format === 'rocpd' ? runFolder(file.path) : dirName(file.path);
  const folders = new Set(known.map(folderOf));
  if (folders.size < 2 || folders.size > MAX_FOLDERS) return;
  const runs = new Map<string, Run>();
  for (const entry of known) {
    const folder = folderOf(entry);
    const run = runs.get(folder) ?? newRun(folder);
    runs.set(folder, run);
    lookAt(entry, run);
  }
  const [ranks, machines, hosts] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const list = [...runs.values()];
  for (const [i, a] of list.entries()) {
    let told = false;
    for (const b of list.slice(0, i)) {
      const names = apart(a.folder, b.folder);
      const why = names === undefined ? undefined : difference(a, b);
      if (names === undefined || why === undefined) continue;
      for (const name of names) (why === 'at once' ? ranks : machines).add(name);
      if (why === 'at once' && !names.some((name) => OF_PROCESS.test(name))) for (const name of names) hosts.add(name);
      if (why === 'at once' || told) continue;
      told = true;
      const text = `${b.folder} and ${a.folder} ${why}: they are taken for runs or machines of their own, and are not joined.`;
      r.report('profile/several-recordings', a.folder, `${text} Passes of one program are in folders pmc_1, pmc_2.`);
    }
  }
  if (hosts.size > 0) {
    r.report(
      'profile/host-clocks',
      list[0].folder,
      `The processes of ${[...hosts].sort().slice(0, 8).join(', ')} ran at once; rocprofv3 names such folders after hosts. If they are of several hosts, each has times of its own clock: what ran before what on another host, time in which nothing ran, and the critical path from one to another are then as sure as their clocks agree.`,
    );
  }
  const label = (folder: string, of: ReadonlySet<string>) =>
    folder
      .split('/')
      .filter((name) => of.has(name))
      .join('/');
  for (const { folder } of list) {
    const [rank, machine] = [label(folder, ranks), label(folder, machines)];
    if (rank !== '') r.setRank(folder, rank);
    const host = label(folder, hosts);
    if (host !== '') r.setHost(folder, host);
    if (machine !== '') r.machines.own(folder, machine);
  }
}

/** A run of which nothing is known yet. */
export function newRun(folder: string): Run {
  const none = { first: Number.NaN, last: Number.NaN, hasTrace: false, hasOthers: false };
  return { folder, entries: [], pids: new Set(), ...none, counters: new Set(), kernels: new Map() };
}

/** The names in which two folders part, where neither is within the other nor of a pass. */
function apart(a: string, b: string): readonly [string, string] | undefined {
  const [left, right] = [a.split('/'), b.split('/')];
  const at = left.findIndex((name, i) => name !== right[i]);
  const [x, y] = [left[at], right[at]];
  return x === undefined || y === undefined || PASS.test(x) || PASS.test(y) ? undefined : [x, y];
}

/** Why two folders cannot be of passes of one program; undefined where they can. */
function difference(a: Run, b: Run): string | undefined {
  if ([...a.pids].some((pid) => b.pids.has(pid))) return undefined;
  // One run in two forms, or a part of one.
  if (a.first === b.first || a.last === b.last) return undefined;
  if (a.first < b.last && b.first < a.last) return 'at once';
  if (a.hasOthers || b.hasOthers) return undefined;
  const isSame = a.counters.size === b.counters.size && [...a.counters].every((name) => b.counters.has(name));
  if (differs(a, b) && (isSame || !ranAlike(a, b))) return 'ran other kernels under the same numbers';
  if (!isSame) return undefined;
  if (a.counters.size > 0) return 'hold the same counters';
  return a.hasTrace && b.hasTrace ? 'hold a trace without counters each' : undefined;
}

/** Whether two runs launched the same kernels with the same sizes as often, under whatever numbers. */
export function ranAlike(a: Run, b: Run): boolean {
  return launchedAlike(launchesOfAll(a.entries), launchesOfAll(b.entries));
}

/** Whether most dispatches of one number are of different kernels. */
function differs(a: Run, b: Run): boolean {
  if (a.pids.size > 1 || b.pids.size > 1) return false;
  const common = [...a.kernels].filter(([id]) => b.kernels.has(id));
  return 2 * common.filter(([id, name]) => b.kernels.get(id) !== name).length > common.length;
}

/** Adds a time in which a process of the run worked. */
function extend(run: Run, from: number, to: number): void {
  if (!(from > 0) || to < from) return;
  run.first = Number.isNaN(run.first) ? from : Math.min(run.first, from);
  run.last = Number.isNaN(run.last) ? to : Math.max(run.last, to);
}

/** Adds what a table says at its beginning and at its end. */
function lookAtTable(file: DiskFile, run: Run): void {
  const pid = /^[0-9]+/.exec(baseName(file.path))?.[0];
  if (pid !== undefined) run.pids.add(pid);
  file.open((source) => {
    for (const part of [head(source), tail(source)]) {
      readCsv(part, (header) => {
        const names = ['Start_Timestamp', 'End_Timestamp', 'Counter_Name', 'Dispatch_Id', 'Kernel_Name'];
        const [start, end, counter, id, kernel] = names.map((name) => header.at(name));
        if (counter < 0) run.hasTrace = true;
        return (cells) => {
          if (cells.length !== header.names.length) return;
          if (counter >= 0) run.counters.add(cells[counter]);
          if (id >= 0 && kernel >= 0) run.kernels.set(cells[id], truncatedName(kernelName(cells[kernel])));
          extend(run, number(cells[start]) ?? 0, number(cells[end]) ?? 0);
        };
      });
    }
  });
}

/** Adds what the metadata at the beginning of a JSON file say. */
function lookAtJson(file: DiskFile, run: Run): void {
  run.hasOthers = true;
  const text = file.open((source) => new TextDecoder().decode(source.read(0, SAMPLE)));
  const [pid, from, to] = ['pid', 'init_time', 'fini_time'].map(
    (name) => new RegExp(`"${name}" *: *([0-9]+)`).exec(text)?.[1],
  );
  if (pid !== undefined) run.pids.add(pid);
  extend(run, number(from) ?? 0, number(to) ?? 0);
}

function lookAtDatabase(file: DiskFile, run: Run): void {
  run.hasOthers = true;
  withDatabase(file, (db) => {
    if (isAnalysisDatabase(db)) return;
    for (const { pid, from, to } of rocpdProcesses(db, file.path)) {
      run.pids.add(pid);
      extend(run, from, to);
    }
  });
}

/** Adds what the first dispatches of a JSON file or database say; those of tables were read with all else. */
export function lookInto({ file, format }: { readonly file: DiskFile; readonly format: string }, run: Run): void {
  try {
    if (format === 'rocpd') intoDatabase(file, run);
    else if (format === 'rocprofv3-json') file.open((source) => intoJson(source, run));
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
  }
}

function addDispatch(run: Run, { id, kernel, from, to }: SampledDispatch): void {
  run.kernels.set(String(id), truncatedName(kernelName(kernel)));
  extend(run, from, to);
}

function intoDatabase(file: DiskFile, run: Run): void {
  withDatabase(file, (db) => {
    if (isAnalysisDatabase(db)) return;
    const { dispatches, counters } = rocpdSample(db, file.path, SAMPLED);
    for (const one of dispatches) addDispatch(run, one);
    for (const name of counters) run.counters.add(name);
  });
}

function intoJson(source: ByteSource, run: Run): void {
  const { dispatches, counters } = jsonSample(head(source, JSON_SAMPLE), SAMPLED);
  for (const one of dispatches) addDispatch(run, one);
  for (const name of counters) run.counters.add(name);
}

const LOOK: Readonly<Record<string, (file: DiskFile, run: Run) => void>> = {
  'csv:kernel-trace': lookAtTable,
  'csv:counter-collection': lookAtTable,
  'rocprofv3-json': lookAtJson,
  rocpd: lookAtDatabase,
};

/** The beginning of a text, up to the last line that is whole. */
function head(source: ByteSource, size = SAMPLE): ByteSource {
  const bytes = source.read(0, size).slice();
  return bytesOf(source.path, source.size <= size ? bytes : bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1));
}

/** The first line of a table and its last ones. */
function tail(source: ByteSource): ByteSource {
  const top = source.read(0, Math.min(SAMPLE, source.size)).slice();
  const header = top.subarray(0, top.indexOf(0x0a) + 1);
  const rest = source.read(Math.max(header.length, source.size - SAMPLE), SAMPLE);
  const lines = source.size - SAMPLE > header.length ? rest.subarray(rest.indexOf(0x0a) + 1) : rest;
  const bytes = new Uint8Array(header.length + lines.length);
  bytes.set(header);
  bytes.set(lines, header.length);
  return bytesOf(source.path, bytes);
}

function bytesOf(path: string, bytes: Uint8Array): ByteSource {
  return { path, size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}
