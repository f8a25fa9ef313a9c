// What a thread of the virtual GPU loads late (scripts/late-modules.mjs).
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { LATE_IMPORTS, lateModules, namesFrom } from '../scripts/late-modules.mjs';

const root = join(import.meta.dirname, '..');
const imports = [...LATE_IMPORTS].flatMap(([importer, specifiers]) =>
  specifiers.map((specifier) => [relative(root, importer), specifier] as const),
);

test.each(imports)('%s imports nothing but functions from %s', async (importer, specifier) => {
  const from = join(root, importer);
  const url = specifier.startsWith('.') ? pathToFileURL(join(dirname(from), specifier)).href : specifier;
  const module = (await import(url)) as Record<string, unknown>;
  const names = namesFrom(from, specifier);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    expect([name, typeof module[name]]).toEqual([name, 'function']);
    expect(String(module[name])).not.toMatch(/^class\b/);
  }
});

test('a thread begins without tables of instructions, the compiler and the interpreter of instructions', async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/device/node/sim-worker.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    plugins: [lateModules],
    define: { 'import.meta.url': 'urlOfScript' },
    metafile: true,
    write: false,
  });
  const early = new Set(['src/device/node/sim-worker.ts']);
  for (const path of early) {
    const { imports = [] } = metafile.inputs[path] ?? {};
    for (const one of imports) if (one.kind === 'import-statement' && one.external !== true) early.add(one.path);
  }
  const late = Object.keys(metafile.inputs).filter((path) => !early.has(path));
  expect([...early].filter((path) => /^src\/(isa\/(codec|generated\/(rows|shapes))|program)/.test(path))).toEqual([]);
  expect(late).toEqual(
    expect.arrayContaining([
      'src/isa/generated/rows.ts',
      'src/isa/table/table.ts',
      'src/isa/semantics/index.ts',
      'src/device/sim/wasm/compile.ts',
      'src/device/sim/wasm/emit.ts',
      'src/device/sim/interpreter/vector.ts',
    ]),
  );
});
