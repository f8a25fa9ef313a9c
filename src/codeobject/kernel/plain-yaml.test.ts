import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { WavesmithError } from '../../base/index.ts';
import { metadataFromAnyYaml, metadataFromYaml } from './metadata-yaml.ts';
import type { MsgPackValue } from './msgpack.ts';
import { readPlainYaml } from './plain-yaml.ts';

/** The value, or the message and place of the error. */
function outcome(read: (text: string) => MsgPackValue, text: string): unknown {
  try {
    return { value: read(text) };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { error: error.message, position: error.position };
  }
}

/** Both readers say the same of a text. */
function expectSame(text: string): void {
  expect(outcome(metadataFromYaml, text), text).toEqual(outcome(metadataFromAnyYaml, text));
}

const isPlain = (text: string): boolean => readPlainYaml(text, (scalar) => scalar) !== undefined;

describe('what it reads', () => {
  test.each([
    ['---\namdhsa.version:\n  - 1\n  - 2\n...\n'],
    ['a: 1\nb: x y\nc: []\nd: {}\n'],
    ['k:\n- .args:\n  - .offset: 0\n    .size: 8\n  - .offset: 8\n  .name: n\n- .name: m\n'],
    ["t: 'amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-'\ns: 'it''s # no comment: here'\n"],
    ['-   a:   1\n    b: 2\n- x:y\n- .5\n- 0x1F\n- true\n- 1e3\n'],
  ])('%j', (text) => {
    expect(isPlain(text)).toBe(true);
    expectSame(text);
  });
});

describe('what it leaves to the package', () => {
  test.each([
    ['an empty text', ''],
    ['an empty value', 'a:\nb: 1\n'],
    ['a comment', 'a: 1 # one\n'],
    ['a tag', 'a: !str 1\n'],
    ['an anchor', 'a: &x 1\nb: *x\n'],
    ['double quotes', 'a: "x"\n'],
    ['a quoted key', "'a': 1\n"],
    ['a flow list', 'a: [1, 2]\n'],
    ['a tab', 'a:\t1\n'],
    ['a space at the end', 'a: 1 \n'],
    ['two spaces in a scalar', 'a: x  y\n'],
    ['a scalar of several lines', 'a: x\n  y\n'],
    ['a list that continues a scalar', 'a: x\n  - y\n'],
    ['a block scalar', 'a: |\n  x\n'],
    ['lists in one line', '- - 1\n'],
    ['a key twice', 'a: 1\na: 2\n'],
    ['an indentation of nobody', 'a:\n    b: 1\n  c: 2\n'],
    ['no newline at the end', 'a: 1'],
    ['carriage returns', 'a: 1\r\n'],
    ['a second document', 'a: 1\n---\nb: 2\n'],
    ['a negative number', 'a: -1\n'],
    ['letters of other scripts', 'a: ä\n'],
    ['a scalar alone', 'a\n'],
    ['a key and a value in a key', 'a: b: c\n'],
    ['a map in a list item that goes back', '- a: 1\n b: 2\n'],
    ['a list in the column of its item', '- a:\n- b\n'],
    ['deep nesting', Array.from({ length: 70 }, (_, i) => `${' '.repeat(i)}a:\n`).join('') + `${' '.repeat(70)}b: 1\n`],
  ])('%s', (_, text) => {
    expect(isPlain(text)).toBe(false);
    expectSame(text);
  });
});

test('two keys of one value are an error of both', () => {
  expectSame('1: a\n0x1: b\n');
});

/** Parts of lines that meet YAML's rules and break them. */
const part = fc.constantFrom(
  ...[
    'a',
    'b.c',
    '.d',
    '1',
    '0',
    'true',
    'x y',
    '-',
    '- ',
    '-  ',
    ':',
    ': ',
    ':  ',
    ' ',
    '  ',
    '    ',
    "'",
    "''",
    "'q'",
  ],
  ...[
    '#',
    ' #',
    '[]',
    '{}',
    '[',
    '...',
    '---',
    '?',
    '&',
    '*',
    '!',
    '|',
    '>',
    '%',
    '@',
    '"',
    ',',
    '~',
    '\t',
    'ä',
    '=',
    '<<',
    '+',
    '/',
    '$',
  ],
);
const anyLine = fc.array(part, { maxLength: 7 }).map((parts) => parts.join(''));
const likelyLine = fc
  .tuple(
    fc.constantFrom('', '  ', '    ', '      '),
    fc.constantFrom('', '', '- ', '-   '),
    fc.constantFrom('', 'a:', 'b:', '.c:', 'd.e:'),
  )
  .chain(([indent, dash, key]) =>
    fc
      .constantFrom('', 'x', ' x', '  1', ' []', " 'q: r'", ' u:v', ' x y', ' {}')
      .map((value) => indent + dash + key + value),
  );
const line = fc.oneof({ weight: 6, arbitrary: likelyLine }, { weight: 1, arbitrary: anyLine });

test('random texts, most of them wrong, are the same to both readers', () => {
  const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => `${lines.join('\n')}\n`);
  let plain = 0;
  fc.assert(
    fc.property(text, (t) => {
      expectSame(t);
      if (isPlain(t)) plain++;
    }),
    { numRuns: 2000 },
  );
  expect(plain).toBeGreaterThan(10);
});

const folder = join('..', 'shared', 'corpus', 'triton');

test.skipIf(!existsSync(folder))("Triton's metadata is plain", () => {
  let blocks = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.amdgcn')) continue;
    const source = readFileSync(join(folder, name), 'utf8');
    const yaml = /^\s*\.amdgpu_metadata\n(.*?)^\s*\.end_amdgpu_metadata/ms.exec(source)?.[1];
    if (yaml === undefined) continue;
    blocks++;
    expect(isPlain(yaml), name).toBe(true);
    expectSame(yaml);
  }
  expect(blocks).toBeGreaterThan(0);
});
