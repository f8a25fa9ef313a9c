// Folders of a profiler's files, written and read for a test file; they are removed behind its last test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../../src/profile/index.ts';

/** Files by their names: their text, or what writes them at a path. */
type Files = Readonly<Record<string, string | ((path: string) => void)>>;

/** Where the folders are, and what writes files below a folder of their own and reads it. */
export function profileFolders(): { readonly temporary: string; readonly read: (files: Files) => ProfileDocument } {
  const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-profile-'));
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));
  let folders = 0;
  const read = (files: Files): ProfileDocument => {
    const folder = join(temporary, `f${folders++}`);
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(join(path, '..'), { recursive: true });
      if (typeof content === 'string') writeFileSync(path, content);
      else content(path);
    }
    return analyse(loadProfile([folder]).recording);
  };
  return { temporary, read };
}

/** The codes of a profile's findings, each once. */
export const codes = (document: ProfileDocument): string[] => [...new Set(document.findings.map((f) => f.code))];
