// Positions and structure of half-typed and odd texts, without a server.

import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { completions, signatureHelp } from './completion.ts';
import { analyseNow } from './diagnostics.ts';
import { SourceDocument } from './document.ts';
import { hover } from './hover.ts';
import { Scan } from './scan.ts';
import { SEMANTIC_LEGEND, semanticTokens } from './semantic-tokens.ts';
import { documentSymbols, foldingRanges, highlights, references, rename } from './symbols.ts';

const doc = (text: string): SourceDocument => new SourceDocument('file:///t.s', 1, text);

test.each([
  ['v_bad v0', 1, 1, 0],
  ['é v_bad', 1, 4, 2],
  ['😀 x', 1, 6, 3],
  ['a\r\nüb', 2, 3, 4],
])("byte columns of '%s' become offsets", (text, line, column, offset) => {
  expect(doc(text).assemblerOffset(line, column)).toBe(offset);
});

test('labels, heads and comments of statements', () => {
  const scan = new Scan('a: b: s_nop 0 ; end\n1: /* two\nlines */ s_endpgm\n\t// whole\n');
  expect(scan.statements.map((s) => scan.headText(s))).toEqual(['s_nop', 's_endpgm']);
  expect(scan.comments.map(({ start, end }) => scan.text.slice(start, end))).toEqual([
    '; end',
    '/* two\nlines */',
    '// whole',
  ]);
});

test('a comment over lines is coloured line by line', () => {
  const data = semanticTokens(doc('/* one\ntwo */ s_nop 0'));
  const comment = SEMANTIC_LEGEND.tokenTypes.indexOf('comment');
  expect(data.slice(0, 10)).toEqual([0, 0, 6, comment, 0, 1, 0, 6, comment, 0]);
});

test('blocks that are still open reach to the end', () => {
  const { blocks } = new Scan('.macro m\n.if 1\ns_nop 0\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 1\n');
  expect(blocks.map((b) => [b.kind, b.open, b.close])).toEqual([
    ['macro', 0, 4],
    ['conditional', 1, 4],
    ['kernel', 3, 4],
  ]);
});

test('a line marker of the preprocessor does not move diagnostics', () => {
  const text = `# 70 "other.s"
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
s_bad
`;
  expect(analyseNow(doc(text))[0]?.range.start).toEqual({ line: 2, character: 0 });
});

test('runaway expansions end with a diagnostic', () => {
  const found = analyseNow(doc('.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.rept 1000000000\ns_nop 0\n.endr\n'));
  expect(found.length).toBeGreaterThan(0);
  const fill = analyseNow(doc('.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.fill 1000000000, 4\n'));
  expect(fill.map((d) => d.code)).toEqual(['asm/too-large']);
});

const PIECE = fc.oneof(
  fc.constantFrom(
    '\n',
    '\r',
    '\r\n',
    ' ',
    ',',
    ':',
    '.',
    '[',
    ']',
    '"',
    '\\',
    '/*',
    '*/',
    ';',
    '#',
    '1:',
    '1b',
    '2f',
    '\u2028',
    '💥',
  ),
  fc.constantFrom('v0', 's[0:1]', 'vcc', 'k', 'k.kd', 'foo@rel32@lo', 'v_add_f32 ', 's_waitcnt ', 'offset:', 'hwreg('),
  fc.constantFrom(
    '.macro m a\n',
    '.endm\n',
    'm \\a\n',
    '.amdhsa_kernel k\n',
    '.end_amdhsa_kernel\n',
    '.set x, 1\n',
    'x = 2\n',
  ),
  fc.constantFrom(
    '.amdgpu_metadata\n',
    '  - .name: k\n',
    '    .symbol: k.kd\n',
    '.end_amdgpu_metadata\n',
    '.if 1\n',
    '.endif\n',
  ),
  fc.string({ maxLength: 6 }),
);

test('any text and any position get an answer, and ranges lie in the text', () => {
  fc.assert(
    fc.property(fc.array(PIECE, { maxLength: 40 }), fc.nat(300), (pieces, at) => {
      const document = doc(pieces.join(''));
      const offset = Math.min(at, document.text.length);
      const end = document.position(document.text.length);
      for (const { range } of analyseNow(document)) {
        expect(document.offset(range.start)).toBeLessThanOrEqual(document.offset(range.end));
        expect(range.end.line).toBeLessThanOrEqual(end.line);
      }
      hover(document, offset, 'gfx942');
      completions(document, offset, 'gfx942');
      signatureHelp(document, document.position(offset), 'gfx942');
      documentSymbols(document);
      foldingRanges(document);
      for (const location of references(document, offset, true)) {
        expect(document.offset(location.range.end)).toBeGreaterThan(document.offset(location.range.start));
      }
      const data = semanticTokens(document);
      for (let i = 0; i < data.length; i += 5) {
        expect(data[i] as number).toBeGreaterThanOrEqual(0);
        if (data[i] === 0) expect(data[i + 1] as number).toBeGreaterThanOrEqual(0);
        expect(data[i + 2] as number).toBeGreaterThan(0);
      }
    }),
    { numRuns: 300 },
  );
});

test('a rename changes every occurrence and nothing else', () => {
  const text = 'x1:\n s_branch x1\n s_branch x10\nx10:\n .long x1-x10, "x1"\n .size x1, .-x1\n';
  const document = doc(text);
  const edits = rename(document, 0, 'other');
  expect(edits).toHaveLength(highlights(document, 0).length);
  let renamed = text;
  for (const { range, newText } of edits.reverse()) {
    renamed = renamed.slice(0, document.offset(range.start)) + newText + renamed.slice(document.offset(range.end));
  }
  expect(renamed).toBe(
    'other:\n s_branch other\n s_branch x10\nx10:\n .long other-x10, "other"\n .size other, .-other\n',
  );
});
