import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkCircles } from '../scripts/check-layers.mjs';
import { circles, importGraph, specifiers } from '../scripts/import-graph.mjs';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The circles of a tree of files, as paths below its folder. */
function circlesOf(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'circles-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return circles(importGraph(folder)).map((circle) => circle.map((path) => relative(folder, path)).join(' > '));
}

describe('import circles', () => {
  it('are absent from src/', () => {
    expect(checkCircles()).toEqual([]);
  });

  it.each([
    ['a value import', "import { b } from './b.ts';"],
    ['a type import', "import type { B } from './b.ts';"],
    ['a type among values', "import { type B, c } from './b.ts';"],
    ['an import over several lines', "import {\n  type B,\n  c,\n} from './b.ts';"],
    ['a re-export', "export * from './b.ts';"],
    ['a re-export of types', "export type { B } from './b.ts';"],
    ['a dynamic import', "const b = () => import('./b.ts');"],
    ['a type of a dynamic import', "type B = import('./b.ts').B;"],
    ['an import for its effects', "import './b.ts';"],
  ])('are found through %s', (_name, text) => {
    expect(circlesOf({ 'a.ts': text, 'b.ts': "import { a } from './a.ts';" })).toEqual(['a.ts > b.ts > a.ts']);
  });

  it('are found over folders and several files, once each, by a shortest way', () => {
    const found = circlesOf({
      'x/index.ts': "export * from './one.ts';",
      'x/one.ts': "import { two } from '../y/two.ts';\nimport { three } from './three.ts';",
      'y/two.ts': "import type { Three } from '../x/three.ts';",
      'x/three.ts': "import type { One } from './index.ts';",
      'z.ts': "import { one } from './x/index.ts';",
      'self.ts': "import { me } from './self.ts';",
    });
    expect(found).toEqual(['self.ts > self.ts', 'x/index.ts > x/one.ts > x/three.ts > x/index.ts']);
  });

  it('are not made of comments, strings, tests or files that are not there', () => {
    const found = circlesOf({
      'a.ts': "import './b.ts';",
      'b.ts':
        "// import './a.ts';\n/* import { a } from './a.ts'; */\nconst s = \"import('./a.ts')\";\nimport './c.ts';",
      'c.test.ts': "import './a.ts';",
    });
    expect(found).toEqual([]);
  });

  it('a diamond is none', () => {
    const found = circlesOf({
      'a.ts': "import './b.ts'; import './c.ts';",
      'b.ts': "import './d.ts';",
      'c.ts': "import './d.ts';",
      'd.ts': '',
    });
    expect(found).toEqual([]);
  });
});

it('specifiers are listed in order, with what stands behind strings that hold comment marks', () => {
  const text = "import a from 'x';\nconst u = 'https://y/*'; const v = import('./z.ts');\nexport * from \"./w.ts\";";
  expect(specifiers(text)).toEqual(['x', './z.ts', './w.ts']);
});
