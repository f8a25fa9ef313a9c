import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/cli/explain/registry.ts';
import { explain } from '../src/cli/explain.ts';
import { isRuleId, PROFILE_RULES } from '../src/finding/index.ts';
import { errorFiles, profileFindingsPage } from '../tools/gen-errors/pages.ts';
import { wavesmith } from './support/cli.ts';

const HOW = 'add or remove the code in src/cli/explain/, then run: node scripts/run-ts.mjs tools/gen-errors/main.ts';

/** Literals of the form `area/name` that are no codes. */
const OTHER = new Set(['in/out', 'wavesmith/v1', 'application/json']);
/** Flags of iree-compile, rocprof-compute and clang's tools. */
const OTHERS_FLAGS = new Set([
  '--iree-hal-link-executables',
  '--dump-compilation-phases-to',
  '--output-format',
  '--unbundle',
]);
/** `area/name` as a whole literal; not where a module is named. */
const LITERAL = /(?<!from |import\()'([a-z][a-z0-9-]*\/[a-z0-9][a-z0-9-]*)'/g;
/** A message that is written without an exception. */
const WRITTEN = /error\[([a-z-]+\/[a-z-]+)\]/g;
/** A helper that puts its area before the name: `const bad = (code: string…) => new WavesmithError(`area/${code}`…`. */
const HELPER = /const (\w+) = \(code: string[^`]*`([a-z-]+)\/\$\{code\}`/g;

/** Every error code that hand-written sources name, with a file that names it. */
function codesOfSources(): Map<string, string> {
  const codes = new Map<string, string>();
  const files = (folder: string, ending: RegExp): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => ending.test(name) && !/\.test\.ts$|(^|\/)generated\/|^build\//.test(name))
      .map((name) => join(folder, name));
  for (const file of files('src', /\.ts$/)) {
    if (file.startsWith('src/cli/explain/') || file.startsWith('src/finding/rules')) continue;
    const text = readFileSync(file, 'utf8');
    for (const [, code] of text.matchAll(LITERAL)) codes.set(code as string, file);
    for (const [, code] of text.matchAll(WRITTEN)) codes.set(code as string, file);
    for (const [, helper, area] of text.matchAll(HELPER)) {
      for (const [, name] of text.matchAll(new RegExp(`\\b${helper}\\(\\s*'([a-z0-9-]+)'`, 'g'))) {
        codes.set(`${area}/${name}`, file);
      }
    }
  }
  for (const file of files('native', /\.(?:cc|cpp|h)$/)) {
    for (const [, code] of readFileSync(file, 'utf8').matchAll(/"(native\/[a-z-]+)"/g)) codes.set(code as string, file);
  }
  for (const code of codes.keys()) if (OTHER.has(code) || isRuleId(code)) codes.delete(code);
  return codes;
}

describe('error codes', () => {
  it('of the sources are in the registry, and those of the registry are in the sources', () => {
    const found = codesOfSources();
    const missing = [...found].filter(([code]) => !(code in ERRORS)).map(([code, file]) => `${code} (${file})`);
    expect(missing, HOW).toEqual([]);
    expect(
      Object.keys(ERRORS).filter((code) => !found.has(code)),
      HOW,
    ).toEqual([]);
    expect(found.size).toBeGreaterThan(300);
  });

  it('have a cause and a next step, as sentences', () => {
    for (const [code, [cause, next]] of Object.entries(ERRORS)) {
      expect(cause, code).toMatch(/^\S.{10,}[.]$/);
      expect(next, code).toMatch(/^\S.*[.)]$/);
      expect(`${cause}${next}`, code).not.toContain('${');
    }
  });

  it('name only flags that a command, or the tool of others that is named, has', () => {
    const commands = readdirSync('src/cli', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.ts$/.test(name) && !name.startsWith('explain/') && !/\.test\.ts$/.test(name))
      .map((name) => readFileSync(join('src/cli', name), 'utf8'))
      .join('');
    for (const [code, texts] of Object.entries(ERRORS)) {
      for (const [flag] of texts.join(' ').matchAll(/(?<![\w-])--[a-z][a-z-]+/g)) {
        if (!OTHERS_FLAGS.has(flag)) expect(commands.includes(flag), `${code}: ${flag}`).toBe(true);
      }
    }
  });

  it('have the pages of docs/errors/', () => {
    const pages = errorFiles();
    const there = readdirSync('docs/errors', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    );
    expect(there.sort(), HOW).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages) expect(readFileSync(join('docs/errors', name), 'utf8'), HOW).toBe(text);
    expect(readFileSync('docs/profile-findings.md', 'utf8'), HOW).toBe(profileFindingsPage());
  });

  it('of the profile are rules with a title and a next step, and every one is reported somewhere', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.ts$/.test(name));
    const text = sources
      .filter((name) => !name.startsWith('finding/'))
      .map((name) => readFileSync(join('src', name), 'utf8'))
      .join('');
    for (const [rule, { title, advice }] of Object.entries(PROFILE_RULES)) {
      expect(title, rule).toMatch(/^\S.{10,}[^.]$/);
      expect(advice, rule).toMatch(/^\S.*[.)]$/);
      expect(text.includes(`'${rule}'`), rule).toBe(true);
    }
  });
});

describe('wavesmith explain', () => {
  it('says cause and next step of a code, however it was copied', async () => {
    const { code, out } = await wavesmith('explain', 'elf/truncated');
    expect(code).toBe(0);
    expect(out).toContain(
      'error[elf/truncated]\n  The file ends inside a structure.\n  What to do next: Get a fresh copy',
    );
    expect((await wavesmith('explain', 'error[elf/truncated]:')).out).toBe(out);
  });

  it('knows the rules of the checker and of strict mode', () => {
    expect(explain('waits/read-before-return')).toMatchObject({ kind: 'rule', severity: 'error' });
    expect(explain('memory/out-of-bounds')).toMatchObject({ kind: 'rule' });
  });

  it('lists the codes and prints JSON', async () => {
    const { out } = await wavesmith('explain', '--list');
    expect(out.trim().split('\n')).toEqual(Object.keys(ERRORS).sort());
    expect(JSON.parse((await wavesmith('explain', '--json', 'io/read')).out)).toMatchObject({
      code: 'io/read',
      kind: 'error',
    });
  });

  it('names what is close to a wrong code, and needs one', async () => {
    const wrong = await wavesmith('explain', 'elf/trunkated');
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain("error[explain/unknown-code]: There is no error code or rule 'elf/trunkated'.");
    expect(wrong.err).toContain('elf/truncated');
    expect((await wavesmith('explain')).code).toBe(2);
  });
});
