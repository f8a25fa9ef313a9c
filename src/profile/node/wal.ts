// The write-ahead log beside a SQLite database: what SQLite leaves out of it without a word. Source: sqlite.org/fileformat2.html, section 4.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

const [HEADER, FRAME_HEADER] = [32, 24];

/** What is wrong with the log of a database; undefined when it has none, or a whole one. */
export function logProblem(path: string): string | undefined {
  const log = `${path}-wal`;
  if (!existsSync(log)) {
    // SQLite removes both when the last program closes the database.
    return existsSync(`${path}-shm`)
      ? 'The write-ahead log of the database is not here (its -shm file is): what was written last is missing.'
      : undefined;
  }
  const fd = openSync(log, 'r');
  try {
    return isWhole(fd)
      ? undefined
      : 'The write-ahead log of the database ends within a transaction: it is cut, or the program still writes. What came last is missing.';
  } finally {
    closeSync(fd);
  }
}

/** Whether each frame of the log's last writer is there and the last one ends a transaction. */
function isWhole(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return true;
  const header = Buffer.alloc(HEADER);
  if (readSync(fd, header, 0, HEADER, 0) < HEADER) return false;
  const pageSize = header.readUInt32BE(8);
  if (pageSize < 512 || pageSize > 65536) return false;
  const frame = Buffer.alloc(FRAME_HEADER);
  let isEnded = true;
  for (let at = HEADER; at < size; at += FRAME_HEADER + pageSize) {
    if (readSync(fd, frame, 0, FRAME_HEADER, at) < FRAME_HEADER) return false;
    // Frames with another salt are left of an older log, which this one overwrites from its beginning.
    if (frame.compare(header, 16, 24, 8, 16) !== 0) break;
    if (at + FRAME_HEADER + pageSize > size) return false;
    isEnded = frame.readUInt32BE(4) > 0;
  }
  return isEnded;
}
