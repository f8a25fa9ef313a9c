import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

// What importers of the package see. A name that goes, comes or changes its kind shows here; `npx vitest run tests/public-names.test.ts -u`
// writes the lists anew, and the change of the list belongs into CHANGELOG.md.

interface Entry {
  readonly types: string;
  readonly default: string;
}
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, Entry | string>>;
};

/** Entry of the package (`isa`, `device/node`) → the file under src/ that it is made of. */
const entries = Object.entries(manifest.exports).flatMap(([name, entry]) =>
  typeof entry === 'string'
    ? []
    : [[name.slice(2), entry.types.replace('./dist/types/', 'src/').replace(/\.d\.ts$/, '.ts')] as const],
);

const LIST = /^export (type )?\{([^}]*)\}(?: from '([^']+)')?;/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract |async )*(function\*?|class|const|let|enum|interface|type) (\w+)/gm;

/** The names of a module with their kind, as its text lists them. */
function namesOf(file: string): Map<string, 'type' | 'value'> {
  const text = readFileSync(file, 'utf8');
  const names = new Map<string, 'type' | 'value'>();
  for (const [, kind, name] of text.matchAll(DECLARATION))
    names.set(name as string, kind === 'interface' || kind === 'type' ? 'type' : 'value');
  for (const [, type, list] of text.matchAll(LIST)) {
    for (const part of (list as string).split(',').map((item) => item.trim())) {
      if (part === '') continue;
      const name = (part.split(' as ').at(-1) as string).replace(/^type /, '').trim();
      names.set(name, type !== undefined || part.startsWith('type ') ? 'type' : 'value');
    }
  }
  return names;
}

describe.each(entries)('wavesmith/%s', (name, file) => {
  it('names what is public instead of exporting everything', () => {
    expect(readFileSync(file, 'utf8')).not.toMatch(/^export \* from/m);
  });

  it('has the public names of the list', async () => {
    const lines = [...namesOf(file)].map(([id, kind]) => `${kind} ${id}`).sort();
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`fixtures/public-names/${name.replace('/', '-')}.txt`);
  });

  it('has at run time the values that its text names', async () => {
    const module = (await import(resolve(file))) as Record<string, unknown>;
    const values = [...namesOf(file)].filter(([, kind]) => kind === 'value').map(([id]) => id);
    expect(Object.keys(module).sort()).toEqual(values.sort());
  });
});

it('every list belongs to an entry', () => {
  const lists = readdirSync(join(dirname(import.meta.filename), 'fixtures/public-names'));
  expect(lists.sort()).toEqual(entries.map(([name]) => `${name.replace('/', '-')}.txt`).sort());
});
