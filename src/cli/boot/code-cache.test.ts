import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CodeCache, codeCacheFolder } from './code-cache.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wavesmith-code-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = '(function () { function inner(x) { return x + 1; } return inner(41); })';

/** A run of a command that loads modules; returns whether each was accepted from the cache. */
function run(modules: readonly string[], build = 'b1', command = 'disasm', at: string | null = folder) {
  const cache = new CodeCache(at ?? undefined, build, command);
  const accepted = modules.map((name) => {
    const cachedData = cache.get(name);
    const script = new Script(SOURCE, { filename: `${name}.js`, cachedData });
    expect(script.runInThisContext()()).toBe(42);
    cache.add(name, script);
    return cachedData !== undefined && script.cachedDataRejected === false;
  });
  return { cache, accepted };
}

function fileOf(build: string, command: string): string {
  return join(folder, `${build}-${process.version}-${process.arch}`, command);
}

test('the second run takes what the first has compiled; another build, command or folder does not', () => {
  const first = run(['cli', 'chunks/a']);
  expect(first.accepted).toEqual([false, false]);
  expect(first.cache.isWorthWriting).toBe(true);
  first.cache.write();
  expect(run(['cli', 'chunks/a']).accepted).toEqual([true, true]);
  expect(run(['cli'], 'b2').accepted).toEqual([false]);
  expect(run(['cli'], 'b1', 'asm').accepted).toEqual([false]);
  expect(run(['cli'], 'b1', 'disasm', null).accepted).toEqual([false]);
});

test('it is written by the first runs and by a run that loads another module, and keeps the modules of other runs', () => {
  for (let i = 0; i < 3; i++) {
    const { cache } = run(['cli', 'chunks/a']);
    expect(cache.isWorthWriting).toBe(true);
    cache.write();
  }
  expect(run(['cli', 'chunks/a']).cache.isWorthWriting).toBe(false);
  const { cache, accepted } = run(['cli', 'chunks/b']);
  expect(accepted).toEqual([true, false]);
  expect(cache.isWorthWriting).toBe(true);
  cache.write();
  expect(run(['cli', 'chunks/a', 'chunks/b']).accepted).toEqual([true, true, true]);
});

test('a damaged or cut file is not used', () => {
  run(['cli', 'chunks/a']).cache.write();
  const path = fileOf('b1', 'disasm');
  const good = readFileSync(path);
  for (let at = 0; at < good.length; at += 7) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] as number) ^ 16;
    writeFileSync(path, bad);
    expect(run(['cli']).accepted, `byte ${at}`).toEqual([false]);
  }
  for (const size of [0, 1, 7, 8, 16, good.length - 8]) {
    writeFileSync(path, good.subarray(0, size));
    expect(run(['cli']).accepted, `${size} bytes`).toEqual([false]);
  }
});

test('a folder that cannot be made or written is no error and leaves nothing', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  run(['cli'], 'b1', 'disasm', join(file, 'code')).cache.write();
  expect(readFileSync(file, 'utf8')).toBe('');
  chmodSync(folder, 0o500);
  run(['cli']).cache.write();
  chmodSync(folder, 0o700);
  // The superuser may write everywhere.
  const written = existsSync(fileOf('b1', 'disasm'));
  expect(readdirSync(folder).length).toBe(written ? 2 : 1);
});

test('what is no name of a command is never a file', () => {
  for (const name of ['', '..', '../x', '/etc/x', '--help', 'a b']) run(['cli'], 'b1', name).cache.write();
  expect(readdirSync(folder)).toEqual([]);
});

test('of the folders of builds the latest stay', () => {
  for (let i = 0; i < 6; i++) {
    run(['cli'], `b${i}`).cache.write();
    utimesSync(join(folder, `b${i}-${process.version}-${process.arch}`), 1000 + i, 1000 + i);
  }
  run(['cli'], 'b9').cache.write();
  expect(readdirSync(folder).map((name) => name.slice(0, 2))).toEqual(['b3', 'b4', 'b5', 'b9']);
});

test('the folder is that of the environment, or none', () => {
  expect(codeCacheFolder({ WAVESMITH_CACHE: '/w', XDG_CACHE_HOME: '/x' })).toBe('/w/code');
  expect(codeCacheFolder({ XDG_CACHE_HOME: '/x' })).toBe('/x/wavesmith/code');
  expect(codeCacheFolder({ WAVESMITH_CACHE: '/w', NODE_DISABLE_COMPILE_CACHE: '1' })).toBeUndefined();
});
