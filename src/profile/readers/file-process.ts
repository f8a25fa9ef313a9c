// Which process of its folder a row of a table is of. rocprofv3 writes files for each process; people join and rename them.
import { StringTable } from '../columns.ts';
import type { Recording } from '../recording.ts';
import { baseName, dirName } from '../source.ts';

const FILES = [
  /^(.*?)_?(?:(?:kernel|memory_copy|memory_allocation|scratch_memory|[a-z]+_api)_trace|counter_collection|agent_info)(.*)\.csv(?:\.gz)?$/,
  /^(.*?)_?results(.*)\.(?:csv|json|db)(?:\.gz)?$/,
];
/** What follows the name of a table where it tells the process, as in `kernel_trace_1.csv`; `kernel_trace (1).csv` is a copy. */
const NUMBER = /^[_.-](?:rank|node|proc|pid)?[_.-]?[0-9]+$/i;

/**
 * Which process of its folder a file is of. rocprofv3 writes files for each process, named after it or as `-o` says: `<name>_kernel_trace.csv`.
 * Those of one name are of one process, as not all have a column for it. Other names tell nothing, and `pid` decides.
 */
export function processKey(file: string, pid: string | undefined): string {
  const found = FILES.map((pattern) => pattern.exec(baseName(file))).find((match) => match !== null);
  if (found == null) return pid ?? '';
  const [, name, rest] = found;
  return NUMBER.test(rest) ? name + rest : name;
}

/**
 * The processes of one table. Its name tells the first one. Tables that were joined have more: rows of another process id, or below a header
 * that is repeated. They are counted in the order in which a table has them, so that those of trace and counters are the same.
 */
export class FileProcesses {
  private readonly r: Recording;
  private readonly file: string;
  private readonly pids = new StringTable();
  /** The number of each process id, of the part of the table that is read. */
  private numbers: (number | undefined)[] = [];
  private part = 0;
  private count = 0;

  constructor(r: Recording, file: string) {
    this.r = r;
    this.file = file;
  }

  /** The id of a process id; undefined where the table has no column for it. */
  idOf(pid: string | undefined): number {
    return this.pids.id(pid ?? '');
  }

  /** The process of a row, as the recording numbers it; undefined for the first row of a process id in a part. */
  of(id: number, part: number): number | undefined {
    if (part !== this.part) {
      this.part = part;
      this.numbers = [];
    }
    return this.numbers[id];
  }

  /** The same of such a first row. `isTaken` tells of a process that came before in the table whether it cannot be that of the row. */
  choose(id: number, isTaken: (process: number) => boolean): number {
    let n = 0;
    let process = this.ordinal(n, id);
    while (n < this.count && isTaken(process)) process = this.ordinal(++n, id);
    this.count = Math.max(this.count, n + 1);
    this.numbers[id] = process;
    return process;
  }

  private ordinal(n: number, id: number): number {
    const key = processKey(this.file, this.pids.get(id));
    return this.r.processOrdinal(dirName(this.file), n === 0 ? key : `${key} process ${n}`, n > 0);
  }
}
