import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';

/** Folders of src/ that hold hand-written code. */
function rooms(folder = 'src'): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const below = entries.filter((e) => e.isDirectory()).flatMap((e) => rooms(join(folder, e.name)));
  const hasCode = entries.some((e) => e.isFile() && e.name.endsWith('.ts') && !e.name.endsWith('.test.ts'));
  return hasCode && !/\/generated$/.test(folder) ? [folder, ...below] : below;
}

/** The first paragraph of a file's head comment, without comment marks. */
function headOf(path: string): string {
  const lines = readFileSync(path, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('// '));
  return lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join(' ');
}

describe('every room of src/ says what lives there and where to begin', () => {
  it.each(rooms())('%s', (folder) => {
    const name = folder.slice('src/'.length);
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const heads = files.filter((file) => headOf(join(folder, file)).startsWith(`Room \`${name}\`: `));
    const how = `start index.ts, or the file to read first, with '// Room \`${name}\`: WHAT LIVES HERE. Begin with FILE.'`;
    expect(heads, how).toHaveLength(1);
    const head = headOf(join(folder, heads[0] as string));
    expect(head, how).toMatch(/\. Begin with /);
    const begin = head.slice(head.indexOf('. Begin with '));
    const named = begin.match(/[\w./-]+\.ts\b/g) ?? [];
    expect(named.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    if (!/this file|either file/.test(begin)) expect(named, how).not.toEqual([]);
  });
});

test('no file of the device interface but its index imports a device', () => {
  const files = readdirSync('src/device').filter((file) => file.endsWith('.ts') && file !== 'index.ts');
  expect(files).toContain('device.ts');
  const importers = files.filter((file) =>
    /from '\.\/(?:sim|rocm|node)\//.test(readFileSync(`src/device/${file}`, 'utf8')),
  );
  expect(importers.filter((file) => !file.endsWith('.test.ts'))).toEqual([]);
  const rocm = readdirSync('src/device/rocm').filter((file) => file.endsWith('.ts'));
  expect(rocm.filter((file) => readFileSync(`src/device/rocm/${file}`, 'utf8').includes('/sim/'))).toEqual([]);
});

test('docs/architecture.md lists every layer with what it may import, each below what it imports', () => {
  const { layers } = JSON.parse(readFileSync('tools/layers.json', 'utf8')) as { layers: Record<string, string[]> };
  const listed: Record<string, string[]> = {};
  for (const [, name, imports] of readFileSync('docs/architecture.md', 'utf8').matchAll(
    /^\| `src\/(\w+)\/` \|.*\| (.*) \|$/gm,
  )) {
    const above = Object.keys(listed);
    const all = /^all above(?: but (.*))?$/.exec(imports as string);
    const names = (all === null ? (imports as string) : (all[1] ?? ''))
      .split(', ')
      .filter((n) => n !== '–' && n !== '');
    listed[name as string] = all === null ? names : above.filter((layer) => !names.includes(layer));
    expect(
      listed[name as string]?.filter((layer) => !above.includes(layer)),
      name,
    ).toEqual([]);
  }
  const sorted = (map: Record<string, string[]>) =>
    Object.entries(map)
      .map(([name, imports]) => [name, [...imports].sort()] as const)
      .sort();
  expect(sorted(listed)).toEqual(sorted(layers));
});
