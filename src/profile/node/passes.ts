// Runs of one program in one folder. `rocprofv3 --kernel-trace -d out` and then `rocprofv3 --pmc … -d out` write into the same folder, with
// the number of each process in the names: the dispatches of the second are those of the first, and count once.

import { processKey } from '../readers/file-process.ts';
import { runFolder } from '../readers/rocpd.ts';
import type { Recording } from '../recording.ts';
import { baseName, dirName } from '../source.ts';
import type { DiskFile } from './files.ts';
import { lookAt, lookInto, newRun, type Run, ranAlike, tellsRun } from './runs.ts';

/** Processes of a folder that are compared with each other. */
const MAX_PROCESSES = 256;
/** Names that say that the files are of processes of one run. */
const RANK = /(?:rank|mpi|process|proc|task|worker|node|gpu)[_.-]?[0-9]+/i;

type Entry = { readonly file: DiskFile; readonly format: string };
/** The files of one process. */
interface Process {
  readonly key: string;
  readonly run: Run;
}

/** Tells the recording which processes of a folder are further runs of one that ran before. */
export function joinPasses(files: readonly Entry[], r: Recording): void {
  const folders = new Map<string, Map<string, Entry[]>>();
  for (const entry of files.filter(tellsRun)) {
    const folder = entry.format === 'rocpd' ? runFolder(entry.file.path) : dirName(entry.file.path);
    const keys = folders.get(folder) ?? new Map<string, Entry[]>();
    folders.set(folder, keys);
    const key = processKey(entry.file.path, undefined);
    keys.set(key, [...(keys.get(key) ?? []), entry]);
  }
  for (const [folder, keys] of folders) {
    if (keys.size < 2 || keys.size > MAX_PROCESSES) continue;
    const processes = [...keys].map(([key, entries]) => {
      const run = newRun(folder);
      for (const entry of entries) lookAt(entry, run);
      return { key, run };
    });
    // Processes of one run are as many as its ranks: all that is known of them is that they ran at once.
    if (batches(processes).length === 1 && batches(processes)[0]?.length === processes.length) continue;
    for (const { key, run } of processes) for (const entry of keys.get(key) ?? []) lookInto(entry, run);
    for (const [first, ...further] of programs(processes)) {
      for (const { key } of further) r.joinProcess(folder, key, first.key);
      if (further.length === 0) continue;
      const [name, ...names] = [first, ...further].map(({ key }) => baseName(keys.get(key)?.[0].file.path ?? key));
      r.report(
        'profile/joined-passes',
        folder,
        `${names.join(', ')} and files named alike are of later runs of the program of ${name}, with other counters: their dispatches are the same, and count once.`,
      );
    }
  }
}

/** The processes that are of one program each: the first is the one that ran first. */
function programs(processes: readonly Process[]): Process[][] {
  const found: Process[][] = [];
  for (const batch of batches(processes)) {
    const taken = new Set<Process[]>();
    for (const one of batch) {
      const program = found.find((members) => !taken.has(members) && members.every((other) => isPass(other, one)));
      if (program === undefined) found.push([one]);
      else program.push(one);
      taken.add(program ?? (found.at(-1) as Process[]));
    }
  }
  return found;
}

/** Processes that ran at once, in the order of time; those without times are left out. */
function batches(processes: readonly Process[]): Process[][] {
  const timed = processes.filter(({ run }) => run.first <= run.last).sort((a, b) => a.run.first - b.run.first);
  const found: Process[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const one of timed) {
    if (one.run.first > end) found.push([]);
    found.at(-1)?.push(one);
    end = Math.max(end, one.run.last);
  }
  // Within a batch the order of the names is that in which processes were started, as a rule.
  return found.map((batch) => batch.sort((a, b) => a.key.localeCompare(b.key, 'en', { numeric: true })));
}

/** Whether `b` is a later run of the program that `a` ran, for other counters. */
function isPass(a: Process, b: Process): boolean {
  if (RANK.test(a.key) && RANK.test(b.key)) return false;
  const isSame = a.run.counters.size === b.run.counters.size && [...a.run.counters].every((x) => b.run.counters.has(x));
  if (isSame) return false;
  if (ranAlike(a.run, b.run)) return true;
  const common = [...a.run.kernels].filter(([id]) => b.run.kernels.has(id));
  return common.length > 0 && common.every(([id, name]) => b.run.kernels.get(id) === name);
}
