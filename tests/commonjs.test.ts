// The built modules as scripts (scripts/commonjs.mjs) and the command line that runs them (src/cli/boot).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';

type Convert = (source: string, idOf: (specifier: string) => string) => string;
const { commonJsOf } = (await import(new URL('../scripts/commonjs.mjs', import.meta.url).href)) as {
  commonJsOf: Convert;
};

const BANNER =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);";

/** Runs a converted module; `require` gives the name it is asked for. */
async function exportsOf(lines: readonly string[]) {
  const source = [BANNER, ...lines].join('\n');
  const text = commonJsOf(source, (specifier) => `id:${specifier}`);
  expect(text.split('\n').length).toBe(source.split('\n').length);
  expect(text).toMatch(/^[\t -~\n]*$/);
  const module = { exports: {} as Record<string, unknown> };
  const require = (id: string) =>
    id === 'node:url' ? { pathToFileURL: (path: string) => new URL(`file://${path}`) } : { id, a: id, b: 2 };
  new Script(`(function (require, module, __filename) { ${text}\n})`).runInThisContext()(require, module, '/x/y.js');
  return module.exports;
}

test('imports, exports, the URL of the module and imports at run time keep their meaning and their lines', async () => {
  const { one, two, named, all, late, where, text } = await exportsOf([
    'import {',
    '  a,',
    '  b as other',
    '} from "./chunk-1.js";',
    'import "./chunk-2.js";',
    'import * as all from "node:fs";',
    'import whole from "./chunk-3.js";',
    'function late() { return import("./chunk-4.js"); }',
    'var where = import.meta.url, text = /^[–é]$/u.test("–"), two = other, named = whole;',
    'export {',
    '  a as one,',
    '  two,',
    '  named,',
    '  all,',
    '  late,',
    '  where,',
    '  text',
    '};',
  ]);
  expect({ one, two, where, text }).toEqual({ one: 'id:./chunk-1.js', two: 2, where: 'file:///x/y.js', text: true });
  expect(named).toMatchObject({ id: 'id:./chunk-3.js' });
  expect(all).toMatchObject({ id: 'id:node:fs' });
  expect(await (late as () => Promise<unknown>)()).toMatchObject({ id: 'id:./chunk-4.js' });
});

test('a form that esbuild does not write today is an error of the build', () => {
  expect(() => commonJsOf(`${BANNER}\nimport a, { b } from './single-quoted';`, String)).toThrow(/another form/);
  expect(() => commonJsOf('export {};', String)).toThrow(/banner/);
});

test('the command line gives the same output with a new, a known, a damaged and no cache', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-code-'));
  const inspect = (cache: string) => {
    const args = ['bin/wavesmith', 'isa', 'v_add_f32', '--target', 'gfx942', '--json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, WAVESMITH_CACHE: cache },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
  try {
    const expected = inspect(folder);
    const [build] = readdirSync(join(folder, 'code'));
    const file = join(folder, 'code', build as string, 'isa');
    expect(inspect(folder)).toBe(expected);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 100, 2000));
    expect(inspect(folder)).toBe(expected);
    writeFileSync(join(folder, 'file'), '');
    expect(inspect(join(folder, 'file'))).toBe(expected);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
