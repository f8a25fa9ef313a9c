import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WavesmithError } from '../base/index.ts';
import { readInput } from './support.ts';

test('a device without an end, a folder and a missing file are refused; an empty device is empty', () => {
  for (const [path, reason] of [
    ['/dev/zero', 'more than 1 GiB'],
    ['/', 'EISDIR'],
    ['/no/such/file', 'no such file'],
  ] as const) {
    const read = (): Uint8Array => readInput(path);
    expect(read).toThrow(WavesmithError);
    expect(read).toThrow(reason);
  }
  expect(readInput('/dev/null').length).toBe(0);
});

test('a pipe is read to its end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    const pipe = join(folder, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    spawn('bash', ['-c', 'head -c 3000000 /dev/zero > "$0"', pipe]);
    expect(Buffer.alloc(3000000).equals(readInput(pipe))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
