// The built modules as scripts (scripts/commonjs.mjs) and the command line that runs them (src/cli/boot).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { countingCode, kernelObject } from './support/kernel-source.ts';

interface CommonJs {
  commonJsOf(source: string, idOf: (specifier: string) => string): string;
  withoutLongTexts(script: string, name: string): { rest: string; texts: string[] };
}
const { commonJsOf, withoutLongTexts } = (await import(
  new URL('../scripts/commonjs.mjs', import.meta.url).href
)) as CommonJs;

const BANNER =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);";

/** Runs a converted module; `require` gives the name it is asked for. */
async function exportsOf(lines: readonly string[]) {
  const source = [BANNER, ...lines].join('\n');
  const text = commonJsOf(source, (specifier) => `id:${specifier}`);
  // One line more: the end of the function.
  expect(text.split('\n').length).toBe(source.split('\n').length + 1);
  expect(text).toMatch(/^[\t -~\n]*$/);
  const module = { exports: {} as Record<string, unknown> };
  const require = (id: string) =>
    id === 'node:url' ? { pathToFileURL: (path: string) => new URL(`file://${path}`) } : { id, a: id, b: 2 };
  new Script(text).runInThisContext()(require, module, '/x/y.js');
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

test('long texts leave the script, which keeps its lines; short texts and those with a substitution or an escape stay', () => {
  const long = 'a $row\n'.repeat(20_000);
  const others = ['`short`', `\`${long}\\t\``, `\`${long}$\{x}\``];
  for (const other of others) {
    const script = `var A = \`${long}\`;\nvar B = ${other};\nthrow 0;`;
    const { rest, texts } = withoutLongTexts(script, 'chunks/x');
    expect(texts).toEqual([long]);
    expect(rest.split('\n').length).toBe(script.split('\n').length);
    expect(rest.replaceAll('\n', '')).toBe(
      `var A = require("text:chunks/x.0");var B = ${other};throw 0;`.replaceAll('\n', ''),
    );
  }
});

test('functions of slow modules of Node are there, and the module is asked for when one is called', () => {
  const source = [
    BANNER,
    'import {',
    '  createHash as hash,',
    '  randomBytes',
    '} from "node:crypto";',
    'export {',
    '  hash',
    '};',
  ];
  const asked: string[] = [];
  const text = commonJsOf(source.join('\n'), String);
  expect(text.split('\n').length).toBe(source.length + 1);
  const module = { exports: {} as { hash: (name: string) => string } };
  const require = (id: string) => {
    asked.push(id);
    return { createHash: (name: string) => `${name}!` };
  };
  new Script(text).runInThisContext()(require, module, '/x/y.js');
  expect(asked).toEqual([]);
  expect(module.exports.hash('sha1')).toBe('sha1!');
  expect(asked).toEqual(['node:crypto']);
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

test('Node starts without reading extra certificates, and programs that Wavesmith starts find the variable', () => {
  const [name, value] = ['NODE_EXTRA_CA_CERTS', '/no/such/file'];
  const started = spawnSync('bin/wavesmith', ['--version'], {
    encoding: 'utf8',
    env: { ...process.env, [name]: value },
  });
  // Node would complain that the file is missing.
  expect({ status: started.status, stderr: started.stderr }).toEqual({ status: 0, stderr: '' });
  const script = `process.argv.splice(1, 9, '', '--version'); require('./bin/wavesmith'); console.log(process.env.${name});`;
  const env = { ...process.env, WAVESMITH_SAVED_CA_CERTS: value };
  const inside = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', env });
  expect(inside.stdout).toContain(value);
});

test('a command that changes flags of V8 loads its modules from the cache', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-code-'));
  try {
    const env = { ...process.env, WAVESMITH_CACHE: folder };
    const files = () =>
      readdirSync(join(folder, 'code')).map((build) => statSync(join(folder, 'code', build, 'disasm')));
    const run = () =>
      spawnSync('bin/wavesmith', ['disasm', 'fixtures/matmul_f16.gfx942/baseline.vmfb'], { encoding: 'utf8', env });
    for (let i = 0; i < 3; i++) expect(run().status).toBe(0);
    // Only a run that found a module without compiled code would write the file again.
    const [{ mtimeMs } = { mtimeMs: 0 }] = files();
    run();
    expect(files().map((file) => file.mtimeMs)).toEqual([mtimeMs]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('threads of the virtual GPU run with the code that an earlier one has kept, with a damaged one and with none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-code-'));
  const object = join(folder, 'k.co');
  const run = (cache: string) => {
    const launch = ['--kernel', 'k', '--grid', '400', '--block', '64', '--arg', 'u32[1]', '--workers', '2', '--json'];
    const { status, stdout, stderr } = spawnSync('bin/wavesmith', ['run', object, ...launch], {
      encoding: 'utf8',
      env: { ...process.env, WAVESMITH_CACHE: cache },
    });
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ buffers: [{ first: [25_600] }] });
  };
  try {
    writeFileSync(object, kernelObject({ code: countingCode(80_000) }).bytes);
    for (let i = 0; i < 3; i++) run(folder);
    const [build = ''] = readdirSync(join(folder, 'code'));
    const [name = '', ...others] = readdirSync(join(folder, 'code', build)).filter((file) => file !== 'run');
    expect(name).toMatch(/^thread[a-p]+$/);
    expect(others).toEqual([]);
    // Only a thread that found a module without compiled code would write the file again.
    const file = join(folder, 'code', build, name);
    const { mtimeMs } = statSync(file);
    run(folder);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    writeFileSync(file, readFileSync(file).fill(0x5a, 100, 2000));
    run(folder);
    expect(statSync(file).mtimeMs).not.toBe(mtimeMs);
    run(object);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
