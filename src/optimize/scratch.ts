// Folders for work that go with it; those of processes that were killed go with the next one.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'wavesmith-optimize-';
const OWNER = 'owner';

/** A new folder of this process. */
export function newScratch(): string {
  for (const name of readdirSync(tmpdir()).filter((n) => n.startsWith(PREFIX))) {
    const owner = join(tmpdir(), name, OWNER);
    if (!existsSync(owner)) continue;
    const pid = Number(readFileSync(owner, 'utf8'));
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, OWNER), String(process.pid));
  return folder;
}
