// Lines that were read before mean what they would mean if they were read again. The same source with another indentation in
// every line has no line twice, so nothing of it is taken from memory.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeObject } from '../../codeobject/index.ts';
import { assemble } from './assemble.ts';
import { AsmStreamer } from './llvm-mc-printer.ts';
import type { AssembleOptions } from './options.ts';

/** What an assembly says and makes; columns are left out, since indentation moves them. */
function outcome(source: string, options: AssembleOptions) {
  const { object, diagnostics, lines } = assemble(source, { target: 'gfx942', trackLines: true, ...options });
  return {
    bytes: object === undefined ? undefined : Buffer.from(writeObject(object)).toString('hex'),
    diagnostics: diagnostics.map(({ severity, message, line }) => `${line}: ${severity}: ${message}`),
    lines: lines === undefined ? undefined : [...lines].map(([name, places]) => [name, [...places]]),
  };
}

function expectSame(lines: readonly string[], end = '\n', options: AssembleOptions = {}): void {
  const plain = lines.map((line) => line + end).join('');
  // A line marker is one at the start of a line only.
  const unlike = lines.map((line, i) => (line.startsWith('#') ? '' : ' '.repeat(i + 1)) + line + end).join('');
  expect(outcome(plain, options), plain).toEqual(outcome(unlike, options));
}

const MOV = 'v_mov_b32 v1, v2';

describe('a line that comes again', () => {
  test.each([
    ['a label between', [MOV, 'a:', MOV, 'b: v_mov_b32 v1, v2', MOV]],
    ['a symbol that changes', ['.set x, 1', 's_mov_b32 s0, x', '.set x, 2', 's_mov_b32 s0, x']],
    ['a register named by a symbol', ['.set n, 1', 'v_mov_b32 v[n], v2', '.set n, 7', 'v_mov_b32 v[n], v2']],
    ['a symbol with the name of an operand', ['s_mov_b32 s0, off', '.set off, 3', 's_mov_b32 s0, off']],
    ['a label of its own', ['1: s_branch 1b', 's_branch 1b', '1: s_nop 0', 's_branch 1b']],
    ['the place', ['s_branch .+8', 's_branch .+8', 's_nop 0', 's_nop 0', 's_nop 0']],
    ['a macro of its name', [MOV, '.macro v_mov_b32 a, b', 's_nop 3', '.endm', MOV, '.purgem v_mov_b32', MOV]],
    ['a condition', [MOV, '.if 0', MOV, '.else', 's_nop 1', '.endif', MOV, 's_nop 1']],
    ['the end', [MOV, '.end', MOV]],
    [
      'comments',
      [MOV, `${MOV} // v1`, `${MOV} ; v2`, `${MOV} /* v3 */`, `/* v_mov_b32 */ ${MOV}`, '// s_nop 1', 's_nop 1'],
    ],
    ['a comment of several lines', [MOV, '/*', MOV, '*/', MOV, `${MOV} /*`, MOV, `*/ ${MOV}`]],
    ['an error', ['v_mov_b32 v1', 'v_mov_b32 v1', MOV, 'v_mov_b32 v999, v2']],
    [
      'register counts',
      [
        'v_mov_b32 v9, s5',
        '.set .amdgcn.next_free_vgpr, 0',
        '.long .amdgcn.next_free_vgpr',
        'v_mov_b32 v9, s5',
        '.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr',
      ],
    ],
    ['register counts that are none', [MOV, '.set .amdgcn.next_free_vgpr, nothing', MOV]],
    ['other sections', [MOV, '.section .text2,"ax",@progbits', MOV, '.text', MOV]],
    ['source lines', ['.file 1 "a.c"', '.loc 1 3', MOV, '.loc 1 4', MOV, MOV]],
    ['a line marker', [MOV, '# 50 "b.s"', MOV]],
    ['a repeat', ['.rept 3', MOV, 's_nop 1', '.endr', MOV]],
    ['a warning', ['v_add_f64 v[0:1], v[2:3], 1.1', 'v_add_f64 v[0:1], v[2:3], 1.1']],
  ])('%s', (_, lines) => {
    expectSame(lines);
    expectSame(lines, '\r\n');
  });

  test('carriage returns end statements', () => {
    expectSame([MOV, `${MOV} // x\r${MOV}`, `${MOV}\r${MOV}`, MOV]);
  });

  test('counts against the limit of statements', () => {
    const limits = { maxStatements: 10 };
    expect(() => assemble(`${MOV}\n`.repeat(11), { target: 'gfx942', limits })).toThrow(/more than 10 statements/);
  });

  test('is printed as llvm-mc prints it', () => {
    const printed = (source: string) => {
      const streamer = new AsmStreamer({ showEncoding: true });
      assemble(source, { target: 'gfx942', streamer });
      return streamer.text();
    };
    expect(printed(`${MOV}\n\n${MOV}\n${MOV} // c\n`)).toBe(printed(`${MOV}\n\n ${MOV}\n  ${MOV} // c\n`));
  });
});

const LINES = [
  ...[
    MOV,
    's_nop 0',
    's_mov_b32 s0, x',
    's_branch a',
    'v_mov_b32 v[x], v2',
    'a:',
    'b: s_nop 0',
    '.set x, 1',
    '.set x, 2',
    '',
  ],
  ...[
    '.if x == 1',
    '.else',
    '.endif',
    '.macro s_nop n',
    '.endm',
    '.rept 2',
    '.endr',
    's_nop 0 // c',
    '/* c',
    '*/',
    '.text',
    '.data',
  ],
  ...[
    'v_mov_b32 v1',
    '.long .amdgcn.next_free_vgpr',
    'buffer_load_dword v1, off, s[4:7], 0',
    '1:',
    's_branch 1b',
    's_branch 1f',
  ],
];

test('random sources', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 40 }), (lines) => expectSame(lines)),
    { numRuns: 400 },
  );
});
