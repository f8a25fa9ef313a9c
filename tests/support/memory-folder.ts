// A folder of a process's own, in memory where the system has such a file system: captures are written through to the disk, which takes long on one.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';

/** Makes the folder; it is gone when the process ends. */
export function memoryFolder(): string {
  const root = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'wavesmith-fuzz-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  return root;
}
