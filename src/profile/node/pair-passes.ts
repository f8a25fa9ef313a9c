// Pairs the dispatches of further passes with those of the first one, where they have other numbers.
import { type Launches, pair } from '../pairing.ts';
import { processKey } from '../readers/file-process.ts';
import { runFolder } from '../readers/rocpd.ts';
import type { Recording } from '../recording.ts';
import { baseName, dirName } from '../source.ts';
import type { DiskFile } from './files.ts';
import { type FileLaunches, launchesOf } from './launch-files.ts';
import { isPassFolder, tellsRun } from './runs.ts';

type Entry = { readonly file: DiskFile; readonly format: string };

/** One run of the program: its files, in reading order. */
interface Pass {
  readonly name: string;
  readonly pid: string | undefined;
  readonly inPassFolder: boolean;
  readonly files: string[];
  readonly launches: Launches;
}

const folderOf = ({ file, format }: Entry): string => (format === 'rocpd' ? runFolder(file.path) : dirName(file.path));

/**
 * Tells the recording which dispatches of further passes are which of the first: passes are files that are of one process by the recording's
 * count, and of several by their own. `files` are in the order in which they are read.
 */
export function pairPasses(files: readonly Entry[], r: Recording): void {
  const known = files.filter(tellsRun);
  // One process is one pass: most inputs are not read twice.
  if (new Set(known.map((entry) => `${folderOf(entry)}\0${processKey(entry.file.path, '')}`)).size < 2) return;
  const programs = new Map<string, Map<string, Pass>>();
  for (const entry of known) {
    const found = launchesOf(entry);
    if (found === undefined || found.launches.size === 0) continue;
    const { program, key, pass } = placed(entry, found, r);
    const passes = programs.get(program) ?? new Map<string, Pass>();
    programs.set(program, passes);
    const before = passes.get(key) ?? pass;
    passes.set(key, before);
    before.files.push(entry.file.path);
    if (before !== pass) before.launches.addAll(pass.launches);
  }
  for (const passes of programs.values()) pairAll([...passes.values()], r);
}

function placed(
  entry: Entry,
  { launches, pid, host }: FileLaunches,
  r: Recording,
): { program: string; key: string; pass: Pass } {
  const folder = folderOf(entry);
  const key = processKey(entry.file.path, pid);
  const machine = host ?? r.machineDomain(r.machines.ofFolder(folder));
  const named = /^[0-9]+/.exec(baseName(entry.file.path))?.[0];
  return {
    program: `${machine}\0${r.processOrdinal(folder, key)}`,
    key: `${folder}\0${key}`,
    pass: {
      name: entry.file.path,
      pid: pid ?? named,
      inPassFolder: isPassFolder(folder),
      files: [],
      launches,
    },
  };
}

function pairAll([first, ...further]: readonly Pass[], r: Recording): void {
  for (const pass of further) {
    // Files of one process have its numbers, unless they are of folders of passes: in a container each run may have the same one.
    const isOneProcess = pass.pid !== undefined && pass.pid === first.pid && !pass.inPassFolder && !first.inPassFolder;
    const found = isOneProcess ? undefined : pair(first.launches, pass.launches);
    if (found === undefined || found.kind === 'same numbers') {
      first.launches.addAll(pass.launches);
      continue;
    }
    for (const file of pass.files) r.passNumbers.set(file, found.numbers);
    if (found.paired > 0) {
      r.report(
        'profile/joined-passes',
        pass.name,
        `Dispatches have other numbers here than in ${first.name}: the n-th launch of a kernel, grid and block on a GPU is taken for the n-th there, as rocprof-compute does.`,
      );
    }
    for (const { kernel, here, there } of found.unlike) {
      r.report(
        'profile/other-kernel',
        pass.name,
        `${kernel} was launched ${here} times here and ${there} times with the same sizes in ${first.name}: which is which is not known, so what is said of these launches here is left out.`,
        kernel,
      );
    }
  }
}
