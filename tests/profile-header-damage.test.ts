// Tables of all fixtures with a second header in which one column is lost, as tables that were joined or damaged have it: whatever is read, nothing
// ends but with an error that says what is wrong.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { WavesmithError } from '../src/base/index.ts';
import { analyse, loadProfile } from '../src/profile/index.ts';

const root = join(import.meta.dirname, 'fixtures', 'profile');
const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-headers-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const tables = readdirSync(root).flatMap((folder) =>
  readdirSync(join(root, folder, 'input'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.csv'))
    .map((name) => [folder, name] as const),
);

/** Reads the folder with other text in a file: how many findings, or the code of the error. */
function readWith(folder: string, name: string, text: string): number | string {
  const copy = join(temporary, 'copy');
  cpSync(join(root, folder, 'input'), copy, { recursive: true });
  writeFileSync(join(copy, name), text);
  try {
    return analyse(loadProfile([copy]).recording).findings.length;
  } catch (error) {
    if (error instanceof WavesmithError) return error.code;
    throw error;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

test('there are tables of many kinds', () => expect(tables.length).toBeGreaterThan(12));

test.each(tables)('%s: %s', (folder, name) => {
  const text = readFileSync(join(root, folder, 'input', name), 'utf8');
  const [header = '', ...rows] = text.split('\n');
  const columns = header.split(',');
  for (let lost = 0; lost < columns.length; lost++) {
    for (const as of ['x', '']) {
      const second = columns.map((column, i) => (i === lost ? as : column)).join(',');
      const made = readWith(folder, name, [header, ...rows.slice(0, -1), second, ...rows].join('\n'));
      expect(typeof made === 'number' || made.startsWith('profile/')).toBe(true);
    }
  }
});
