// A folder of a process's own, in memory where the system has such a file system: captures are written through to the disk, which takes long on one.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Bytes that must be free there; containers have 64 MB. */
const ENOUGH = 512e6;

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize > ENOUGH;
  } catch {
    return false;
  }
}

/** Makes the folder; it is gone when the process ends. */
export function memoryFolder(): string {
  const root = mkdtempSync(join(hasRoom() ? SHARED_MEMORY : tmpdir(), 'wavesmith-fuzz-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  return root;
}
