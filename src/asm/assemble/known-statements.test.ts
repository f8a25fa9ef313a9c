// Lines that were read before mean what they would mean if they were read again. The same source with another indentation in
// every line has no line twice, so nothing of it is taken from memory.

import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
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
    [
      'quotes around what begins a comment',
      ["s_mov_b32 s0, ';'", "s_mov_b32 s0, ';/'", 's_mov_b32 s0, ";"', "s_mov_b32 s0, '/'"],
    ],
    ['a comment that begins in a comment', [`${MOV} /* // */`, `${MOV} /* // x`, MOV, '*/', MOV]],
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

/** Instructions; `V1` to `A16` stand for registers of a file and width. */
const SHAPES = [
  'v_mov_b32 V1, V1',
  'v_add_u32_e32 V1, S1, V1',
  'v_add3_u32 V1, S1, S1, V1',
  'v_fma_f32 V1, S1, -V1, |S1|',
  'v_mad_u64_u32 V2, vcc, V1, S1, V2',
  'v_add_co_u32 V1, S2, V1, S1',
  'v_cndmask_b32 V1, V1, V1, S2',
  'v_readlane_b32 S1, V1, S1',
  'v_writelane_b32 V1, S1, m0',
  'v_lshlrev_b64 V2, S1, V2',
  'v_div_fmas_f32 V1, S1, V1, vcc',
  'v_pk_fma_f32 V2, V2, S2, V2 op_sel_hi:[0,1,1]',
  'v_mfma_f32_16x16x16f16 A4, V2, V2, A4',
  'v_mfma_f32_32x32x8f16 V16, V2, V2, V16 cbsz:1',
  'v_accvgpr_read_b32 V1, A1',
  'v_mov_b32_dpp V1, V1 row_shr:1',
  'v_add_f16_sdwa V1, V1, V1 dst_sel:BYTE_0 src0_sel:WORD_1',
  's_add_u32 S1, S1, 0x1234',
  's_load_dwordx4 S4, S2, 0x10',
  's_load_dwordx8 S8, S2, S1',
  's_buffer_load_dwordx2 S2, S4, 0x0',
  's_mov_b64 S2, exec',
  's_movk_i32 S1, 0x7f',
  'global_load_dwordx4 V4, V1, S2 offset:16',
  'global_store_dwordx2 V2, A2, off',
  'flat_atomic_add V1, V2, V1 glc',
  'buffer_load_dwordx3 V3, V1, S4, S1 offen offset:8',
  'buffer_store_dword A1, V2, S4, 0 idxen offen',
  'ds_read_b128 V4, V1 offset:32',
  'ds_write2_b64 V1, V2, A2 offset0:1 offset1:3',
  'ds_gws_init V1 gds',
  'v_cmp_lt_f32 vcc, S1, V1',
  'v_mov_b32 V1, V1 // V1',
];

/** First registers: most lines of a shape are alike modulo 4, some end behind the file. */
const FIRSTS = [0, 4, 4, 8, 8, 12, 100, 252, 2, 3];

/** A line of a shape, with registers that often are the same, overlap, or do not exist. */
function shapedLine(shape: string) {
  const places = [...shape.matchAll(/\b([VSA])(\d+)\b/g)];
  return fc.tuple(...places.map(() => fc.constantFrom(...FIRSTS))).map((firsts) => {
    let i = 0;
    return shape.replace(/\b([VSA])(\d+)\b/g, (_, file, width) => {
      const first = firsts[i++] as number;
      const name = (file as string).toLowerCase();
      return width === '1' ? `${name}${first}` : `${name}[${first}:${first + Number(width) - 1}]`;
    });
  });
}

const shapedLines = fc
  .uniqueArray(fc.constantFrom(...SHAPES), { minLength: 3, maxLength: 3 })
  .chain((shapes) => fc.array(fc.oneof(...shapes.map(shapedLine)), { minLength: 20, maxLength: 60 }));

test.each(['gfx90a', 'gfx942', 'gfx950'])('lines that differ in registers, %s', (target) => {
  fc.assert(
    fc.property(shapedLines, (lines) => {
      // What is refused would hide what is encoded: both are compared.
      expectSame(lines, '\n', { target });
      const accepted = lines.filter((line) => outcome(`${line}\n`, { target }).bytes !== undefined);
      expectSame(accepted, '\n', { target });
      expect(outcome(accepted.join('\n'), { target }).bytes).toBeDefined();
    }),
    { numRuns: 25 },
  );
});
