// Folders for work that go with it; those of processes that were killed go with the next one.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'wavesmith-optimize-';
const OWNER = 'owner';

/** Removes a folder whose process is gone. Several processes may do it at once: what one of them finds gone is done. */
function removeDead(folder: string): void {
  try {
    const pid = Number(readFileSync(join(folder, OWNER), 'utf8'));
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(folder, { recursive: true, force: true });
  } catch {
    // It has no owner yet, is another user's, or goes while it is looked at.
  }
}

/** A new folder of this process. */
export function newScratch(): string {
  for (const name of readdirSync(tmpdir()).filter((n) => n.startsWith(PREFIX))) removeDead(join(tmpdir(), name));
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, OWNER), String(process.pid));
  return folder;
}
