import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OutputPlace } from './output-place.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-output-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file gets its name when it is complete', () => {
  const path = join(folder, 'a');
  writeFileSync(path, 'old');
  const place = new OutputPlace(path);
  writeFileSync(place.temporary, 'new');
  expect(readFileSync(path, 'utf8')).toBe('old');
  place.finish();
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['a']);
});

test('what failed leaves the file that was there', () => {
  const path = join(folder, 'a');
  writeFileSync(path, 'old');
  const place = new OutputPlace(path);
  writeFileSync(place.temporary, 'half');
  place.discard();
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['a']);
});

test.each([true, false])('a symbolic link stays, and the file behind it is replaced or made', (isThere) => {
  const [path, link] = [join(folder, 'a'), join(folder, 'link')];
  if (isThere) writeFileSync(path, 'old');
  symlinkSync('a', link);
  const place = new OutputPlace(link);
  writeFileSync(place.temporary, 'new');
  place.finish();
  expect(readlinkSync(link)).toBe('a');
  expect(readFileSync(path, 'utf8')).toBe('new');
});

test('a pipe is written in place and stays one, whether the writing ends well or not', () => {
  const path = join(folder, 'pipe');
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  const reader = openSync(path, constants.O_RDWR);
  try {
    for (const isGood of [true, false]) {
      const place = new OutputPlace(path);
      writeFileSync(place.temporary, 'text');
      if (isGood) place.finish();
      else place.discard();
      const bytes = Buffer.alloc(16);
      expect(bytes.toString('utf8', 0, readSync(reader, bytes))).toBe('text');
      expect(lstatSync(path).isFIFO()).toBe(true);
    }
  } finally {
    closeSync(reader);
  }
});
