// docs/glossary.md: one word for one thing. A word that the glossary gives to one thing does not name another in the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FILES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('generated'))
  .map((name) => ({ path: join('src', name), text: readFileSync(join('src', name), 'utf8') }));

/** What is declared with a word that belongs elsewhere, and the files that may declare it. */
const WORDS: readonly { readonly what: string; readonly declared: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'a diagnostic is about a text; what checker, strict mode and profile report is a finding',
    declared: /\b(?:class|interface|type|function|const|let) \w*[dD]iagnostics?\b/g,
    allowed: /^src\/(?:asm|isa|lsp)\/|^src\/cli\/(?:asm|mc|check\/input)\.ts$/,
  },
  {
    what: 'a crew is all workers of a device',
    declared: /\b(?:class|interface|type|function|const|let) \w*[cC]rew\b/g,
    allowed: /^src\/device\/sim\/(?:workers|dispatch)\/|^src\/device\/sim\/sim-device\.ts$/,
  },
  {
    what: 'a helper is a WebAssembly function that compiled kernels call',
    declared: /\b(?:class|interface|type|function|const|let) \w*[hH]elper\b/g,
    allowed: /^src\/device\/sim\/(?:wasm|strict)\//,
  },
  {
    what: 'a wavefront is a wave in names',
    declared: /\b(?:class|interface|type|function|const|let) \w*[wW]avefront\b/g,
    allowed: /^$/,
  },
  {
    what: 'a work-item is not a thread',
    declared: /\b(?:class|interface|type|function|const|let) \w*(?:[tT]hreadIndex|[tT]hreadId)\b/g,
    allowed: /^$/,
  },
];

test.each(WORDS)('$what', ({ declared, allowed }) => {
  const found = FILES.filter(({ path }) => !allowed.test(path)).flatMap(({ path, text }) =>
    [...text.matchAll(declared)].map(([name]) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});

test('every term of the glossary is explained once', () => {
  const terms = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, term]) => term);
  expect(terms.length).toBeGreaterThan(40);
  expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
});
