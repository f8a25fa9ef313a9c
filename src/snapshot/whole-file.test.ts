import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readWholeFile } from './whole-file.ts';

test('a device without an end, a folder and a missing file are refused; an empty device is empty', () => {
  expect(() => readWholeFile('/dev/zero')).toThrow('more than 1 GiB');
  expect(() => readWholeFile('/')).toThrow('EISDIR');
  expect(() => readWholeFile('/no/such/file')).toThrow('ENOENT');
  expect(readWholeFile('/dev/null').length).toBe(0);
});

test('files and pipes are read to their ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  const bytes = Buffer.alloc(3000000, 'wave');
  try {
    const [file, pipe] = [join(folder, 'file'), join(folder, 'pipe')];
    writeFileSync(file, bytes);
    expect(bytes.equals(readWholeFile(file))).toBe(true);
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    spawn('bash', ['-c', 'cat "$0" > "$1"', file, pipe]);
    expect(bytes.equals(readWholeFile(pipe))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
