import { expect, test } from 'vitest';
import type { ObjectModel, ObjectSection } from '../../codeobject/elf/object-model.ts';
import { RelocationType, SymbolBinding, SymbolType } from '../../codeobject/elf/object-model.ts';
import { decodeDescriptor } from '../../codeobject/kernel/descriptor.ts';
import { assemble } from './assemble.ts';
import type { AssembleOptions } from './options.ts';
import { formatDiagnostic } from './source.ts';

const HEADER = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n';

function build(source: string, options: AssembleOptions = {}): ObjectModel {
  const { object, diagnostics } = assemble(HEADER + source, options);
  expect(diagnostics.map(formatDiagnostic).join('')).toBe('');
  return object!;
}

function section(object: ObjectModel, name: string): ObjectSection {
  const found = object.sections.find((s) => s.name === name);
  expect(found, `section ${name}`).toBeDefined();
  return found!;
}

function bytesOf(source: string, name = '.text'): number[] {
  return [...section(build(source), name).bytes];
}

function errors(source: string, options: AssembleOptions = {}): string[] {
  const { object, diagnostics } = assemble(HEADER + source, { file: 'k.s', ...options });
  expect(object).toBeUndefined();
  return diagnostics.filter((d) => d.severity === 'error').map((d) => `${d.line - 1}:${d.column}: ${d.message}`);
}

test.each([
  [".byte 1, -1, 0xff, 'a'", [1, 255, 255, 97]],
  ['.short 0x1234, -2', [0x34, 0x12, 0xfe, 0xff]],
  ['.2byte 1\n.4byte 2\n.8byte 3', [1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]],
  ['.octa 0x100000000000000002', [2, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]],
  ['.float 1.0, -2, nan', [0, 0, 128, 63, 0, 0, 0, 192, 255, 255, 255, 127]],
  ['.double 0.5', [0, 0, 0, 0, 0, 0, 0xe0, 0x3f]],
  ['.ascii "a\\n\\x41\\101" "b"', [97, 10, 65, 65, 98]],
  ['.asciz "x", "y"', [120, 0, 121, 0]],
  ['.uleb128 300\n.sleb128 -70', [0xac, 2, 0xba, 0x7f]],
  ['.fill 2, 3, 0x112233', [0x33, 0x22, 0x11, 0x33, 0x22, 0x11]],
  ['.skip 2, 7\n.zero 1', [7, 7, 0]],
  ['.byte 1\n.p2align 2, 9', [1, 9, 9, 9]],
  ['.byte 1\n.p2align 3', [1, 0, 0, 0, 0, 0, 128, 191]],
  ['.byte 1\n.p2align 3,,4', [1]],
  ['.byte 1\n.org 4, 5', [1, 5, 5, 5]],
  ['.byte 3 # 4\n'.replace('# 4', '; 4'), [3]],
  ['.byte 1 /* two\n lines */\n.byte 2 // end', [1, 2]],
])('%s', (source, expected) => {
  expect(bytesOf(source)).toEqual(expected);
});

test('labels: local branches and distances resolve, numeric labels look back and forward', () => {
  expect(bytesOf('1: s_nop 0\ns_branch 1b\ns_branch 1f\n1: .byte end-start\nstart: .short 1\nend:')).toEqual([
    0, 0, 0x80, 0xbf, 0xfe, 0xff, 0x82, 0xbf, 0, 0, 0x82, 0xbf, 2, 1, 0,
  ]);
});

test('symbols: assignments, forward references, reassignment keeps what was read before', () => {
  const object = build('.quad y\ny = foo\n.quad y\ny = bar\n.quad y\nfoo:\nbar: .long x\nx = 5\n.globl x\n');
  const relocations = section(object, '.text').relocations;
  expect(relocations.map((r) => [r.offset, r.type, r.addend])).toEqual([
    [0, RelocationType.ABS64, 24n],
    [8, RelocationType.ABS64, 24n],
    [16, RelocationType.ABS64, 24n],
  ]);
  const x = object.symbols.find((s) => s.name === 'x')!;
  expect([x.section, x.value, x.binding]).toEqual(['absolute', 5n, SymbolBinding.GLOBAL]);
  expect([...section(object, '.text').bytes.subarray(24)]).toEqual([5, 0, 0, 0]);
});

test('relocations: specifiers, pc-relative literals, differences with symbols of other sections', () => {
  const object = build(`
here: s_add_u32 s0, s0, ext@rel32@lo+4
 s_mov_b32 s1, local@gotpcrel32@hi+12
 s_mov_b32 s2, ext@abs32@lo
 s_mov_b32 s3, ext
 s_branch global
.data
local: .long ext - .
 .quad here + 8
 .quad ext@rel64
.globl global
.text
global: s_endpgm
`);
  const show = (name: string) =>
    section(object, name).relocations.map((r) => {
      const type = Object.entries(RelocationType).find(([, value]) => value === r.type)?.[0];
      const symbol = r.symbol!;
      const label = symbol.type === SymbolType.SECTION ? (symbol.section as ObjectSection).name : symbol.name;
      return `${r.offset.toString(16)} ${type} ${label}+${r.addend}`;
    });
  expect(show('.text')).toEqual([
    '4 REL32_LO ext+4',
    'c GOTPCREL32_HI .data+12',
    '14 ABS32_LO ext+0',
    '1c REL32 ext+0',
    '20 REL16 global+0',
  ]);
  expect(show('.data')).toEqual(['0 REL32 ext+0', '4 ABS64 .text+8', 'c REL64 ext+0']);
});

test('sections: flags, groups, stacks, subsections; commons and local commons', () => {
  const object = build(`
.section .a,"aMS",@progbits,1
.pushsection .b,"axG",@progbits,sig,comdat
.byte 1
.popsection
.byte 2
.text 1
.byte 4
.text 0
.byte 3
.previous
.byte 5
.comm shared, 16, 4
.lcomm mine, 8
`);
  const a = section(object, '.a');
  expect([a.flags, a.entrySize, [...a.bytes]]).toEqual([0x32, 1, [2]]);
  const b = section(object, '.b');
  expect([b.flags, b.group?.signature, b.group?.comdat]).toEqual([0x206, 'sig', true]);
  expect([...section(object, '.text').bytes]).toEqual([3, 4, 5]);
  expect(section(object, '.bss').size).toBe(8);
  const shared = object.symbols.find((s) => s.name === 'shared')!;
  expect([shared.section, shared.value, shared.size]).toEqual(['common', 16n, 16n]);
});

test('macros: defaults, keywords, required, variable arguments, counters, nesting', () => {
  const source = `
.macro emit a:req, b=7, rest:vararg
 .byte \\a, \\b
 .ifnb \\rest
  .byte \\rest
 .endif
 .byte \\@, \\+
.endm
emit 1
emit 2, 3, 4, 5
emit b=8, a=9
.macro outer n
 .macro inner_\\n
  .byte \\n\\()0
 .endm
 inner_\\n
.endm
outer 6
`;
  expect(bytesOf(source)).toEqual([1, 7, 0, 0, 2, 3, 4, 5, 1, 1, 9, 8, 2, 2, 60]);
});

test('repeats and alternate macros', () => {
  expect(bytesOf('.rept 2\n.irp x, 1, (2 + 3)\n.byte \\x\n.endr\n.endr\n.irpc c, 12\n.byte \\c\\()0\n.endr')).toEqual([
    1, 5, 1, 5, 10, 20,
  ]);
  expect(bytesOf('.altmacro\n.macro m a, b\n.byte a&1, b\n.endm\nm %(1+2), <9>\n')).toEqual([31, 9]);
  const source = '.macro count n\n.if \\n\n.byte \\n\ncount \\n-1\n.exitm\n.endif\n.byte 99\n.endm\ncount 3';
  expect(bytesOf(source)).toEqual([3, 2, 1, 99]);
});

test('conditionals', () => {
  const source = `
x = 3
.if x > 2
 .byte 1
 .ifdef undefined_name
  .byte 2
 .elseif x == 3
  .byte 3
 .else
  .byte 4
 .endif
.else
 .byte 5
.endif
.ifc a b , a b
 .byte 6
.endif
.ifeqs "s", "t"
 .byte 7
.endif
.iflt x - 4
 .byte 8
.endif
`;
  expect(bytesOf(source)).toEqual([1, 3, 6, 8]);
});

test('includes, binary includes and -D symbols', () => {
  const files: Record<string, string> = { 'a.inc': '.byte N\n.include "b.inc"\n', 'b.inc': '.byte 2\n', bin: 'wxyz' };
  const readFile = (name: string) => (name in files ? new TextEncoder().encode(files[name]) : undefined);
  const object = build('.include "a.inc"\n.incbin "bin", 1, 2\n', { readFile, defines: { N: 9n } });
  expect([...section(object, '.text').bytes]).toEqual([9, 2, 120, 121]);
  expect(errors('.include "missing"', { readFile })).toEqual(["1:10: Could not find include file 'missing'"]);
  const loop = (name: string) => (name === 'me' ? new TextEncoder().encode('.include "me"\n') : undefined);
  expect(errors('.include "me"', { readFile: loop }).join()).toContain('includes cannot be nested more than');
});

const KERNEL = `
.globl k
k: s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_kernarg_size 24
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 3
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr vgprs
  .amdhsa_next_free_sgpr max(16, 20)
  .amdhsa_accum_offset accum
  .amdhsa_float_round_mode_32 1
  .amdhsa_ieee_mode 0
  .amdhsa_tg_split 1
.end_amdhsa_kernel
.set vgprs, 100
accum = 64
`;

test('kernel descriptors: fields, defaults, values set later', () => {
  const object = build(KERNEL);
  const rodata = section(object, '.rodata');
  const d = decodeDescriptor(rodata.bytes);
  expect([d.groupSegmentFixedSize, d.kernargSize, d.rsrc2.userSgprCount, d.preload.length]).toEqual([512, 24, 5, 3]);
  expect(d.rsrc1.granulatedWorkitemVgprCount).toBe(12);
  expect(d.rsrc1.granulatedWavefrontSgprCount).toBe(3);
  expect([d.rsrc3.accumOffset, d.rsrc3.tgSplit]).toEqual([15, 1]);
  const { floatRoundMode32, floatDenormMode16_64, enableDx10Clamp, enableIeeeMode } = d.rsrc1;
  expect([floatRoundMode32, floatDenormMode16_64, enableDx10Clamp, enableIeeeMode]).toEqual([1, 3, 1, 0]);
  expect([d.rsrc2.enableSgprWorkgroupIdX, d.rsrc2.enableVgprWorkitemId]).toEqual([1, 2]);
  expect(rodata.relocations.map((r) => [r.offset, r.type, r.symbol?.name, r.addend])).toEqual([
    [16, RelocationType.REL64, 'k', 16n],
  ]);
  const kd = object.symbols.find((s) => s.name === 'k.kd')!;
  expect([kd.size, kd.type, kd.binding]).toEqual([64n, SymbolType.OBJECT, SymbolBinding.GLOBAL]);
  expect([object.flags, object.osAbi, object.abiVersion]).toEqual([0x54c, 64, 4]);
});

function kernelBlock(...lines: string[]): string {
  return `.amdhsa_kernel k\n${lines.join('\n')}\n.end_amdhsa_kernel\n.byte 300`;
}
const REQUIRED = ['.amdhsa_next_free_vgpr 8', '.amdhsa_next_free_sgpr 8', '.amdhsa_accum_offset 4'];

test.each([
  [['.amdhsa_next_free_sgpr 8'], '3:19: .amdhsa_next_free_vgpr directive is required'],
  [REQUIRED.slice(0, 2), '4:19: .amdhsa_accum_offset directive is required'],
  [[...REQUIRED, '.amdhsa_kernarg_size -1'], '5:22: value out of range'],
  [['.amdhsa_next_free_vgpr 513', ...REQUIRED.slice(1)], '2:24: value out of range'],
  [['.amdhsa_next_free_vgpr 8', '.amdhsa_next_free_sgpr 103', '.amdhsa_accum_offset 4'], '3:24: value out of range'],
  [[...REQUIRED, '.amdhsa_dx10_clamp 2'], '5:20: value out of range'],
  [[...REQUIRED, '.amdhsa_next_free_vgpr 8'], '5:24: .amdhsa_ directives cannot be repeated'],
  [[...REQUIRED, '.amdhsa_wavefront_size32 0'], '5:1: directive requires gfx10+'],
  [
    [...REQUIRED, '.amdhsa_user_sgpr_flat_scratch_init 1'],
    '5:1: directive is not supported with architected flat scratch',
  ],
  [[...REQUIRED, '.amdhsa_unknown 1'], '5:1: unknown .amdhsa_kernel directive'],
  [
    ['.amdhsa_accum_offset 6', ...REQUIRED.slice(0, 2)],
    '5:19: accum_offset should be in range [4..256] in increments of 4',
  ],
  [['.amdhsa_accum_offset 12', ...REQUIRED.slice(0, 2)], '5:19: accum_offset exceeds total VGPR allocation'],
])('kernel block %s: one diagnostic, then the rest of the file', (lines, message) => {
  const found = errors(kernelBlock(...lines));
  expect(found[0]).toBe(message);
  expect(found).toHaveLength(2);
  expect(found[1]).toContain('out of range literal value');
});

test.each([
  ['.bogus', ['1:1: unknown directive']],
  ['.byte 256', ['1:7: out of range literal value']],
  ['v_add_f32 v0, v1', ['1:1: too few operands for instruction']],
  ['s_branch nowhere', ["1:10: undefined label 'nowhere'"]],
  ['foo:\nfoo:', ["2:1: symbol 'foo' is already defined"]],
  ['.set foo 3', ['1:10: expected comma']],
  ['.if 1', ['1:6: unmatched .ifs or .elses']],
  ['.endif', ["1:1: Encountered a .endif that doesn't follow an .if or .else"]],
  ['.macro m\n.byte 1', ["1:1: no matching '.endmacro' in definition"]],
  ['.rept -1\n.endr', ['1:7: Count is negative']],
  ['.p2align 40', ['1:10: invalid alignment value']],
  ['.popsection', ['1:12: .popsection without corresponding .pushsection']],
  ['.section .x,"q"', ['1:16: unknown flag']],
  ['s_branch 1f', ['1:11: directional label undefined']],
  ['a = b\nb = a\n.long a', ["2:5: cyclic dependency detected for symbol 'b'"]],
  ['.bss\n.byte 1', ["2:8: SHT_NOBITS section '.bss' cannot have non-zero initializers"]],
  ['.data\na:\n.section .z\nb:\n.text\n.long a - b', ['6:7: Cannot represent a difference across sections']],
  ['.long a - b', ["1:7: symbol 'b' can not be undefined in a subtraction expression"]],
  ['.byte 1\n.reloc 0, R_WRONG', ['2:11: unknown relocation name']],
  ['.byte 1\n.reloc nowhere, R_AMDGPU_NONE', ['2:8: unresolved relocation offset']],
  ['.symver a, b@V1', ["1:1: '.symver' is not supported by this assembler; use '--engine llvm'"]],
])('%j is rejected where it is wrong', (source, expected) => {
  expect(errors(source)).toEqual(expected);
});

test('a branch that is too far is an error', () => {
  expect(errors('a: .fill 40000, 4, 0\ns_branch a')).toEqual(['2:10: branch size exceeds simm16']);
});

test('metadata: what LLVM rejects is rejected with its reason', () => {
  const wrap = (text: string) => `.amdgpu_metadata\n${text}\n.end_amdgpu_metadata\n.byte 300`;
  expect(errors(wrap('amdhsa.version: [1]\namdhsa.kernels: []'))[0]).toContain(
    'amdhsa.version of the metadata has a wrong',
  );
  expect(errors(wrap('amdhsa.version: [1, 2]'))[0]).toContain('no amdhsa.kernels');
  expect(errors(wrap('a: [1'))[0]).toContain('invalid HSA metadata');
  expect(errors('.amdgpu_metadata\na: 1')[0]).toContain('.end_amdgpu_metadata not found');
});

test('diagnostics print as LLVM prints them, with macro calls', () => {
  const { diagnostics } = assemble(`${HEADER}.macro m\n\tv_bogus\n.endm\nm`, { file: 'k.s' });
  expect(diagnostics.map(formatDiagnostic).join('')).toBe(
    '<instantiation>:1:1: error: invalid instruction\nv_bogus\n^\n' +
      'k.s:5:1: note: while in macro instantiation\nm\n^\n',
  );
});

test('the target: from the directive, from the option, conflicts, none', () => {
  expect(assemble('s_nop 0').diagnostics[0].message).toContain('the target is not known here');
  expect(assemble('s_nop 0', { target: 'gfx90a:xnack+' }).object?.flags).toBe(0x73f);
  const newer = assemble('.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"\ns_nop 0', { target: 'gfx942' });
  expect(newer.diagnostics).toEqual([]);
  const [conflict] = assemble(HEADER, { target: 'gfx90a', explainConflicts: true }).diagnostics;
  expect(conflict.message).toContain('fix: --target gfx942, or edit the directive to gfx90a');
  expect(assemble('.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"').diagnostics[0].message).toContain('gfx1100');
});

test('hostile sizes stay bounded', () => {
  const limits = { maxOutputBytes: 1 << 20, maxExpandedCharacters: 1 << 16, maxStatements: 1000 };
  expect(errors('v_bad\n'.repeat(5), { limits: { maxDiagnostics: 2 } })).toHaveLength(3);
  expect(errors('v_bad\n'.repeat(5), { limits: { maxDiagnostics: 2 } })[2]).toContain('more than 2 diagnostics');
  expect(() => assemble(`${HEADER}.zero 1 << 40`, { limits })).toThrow('more than 1048576 bytes');
  expect(() => assemble(`${HEADER}.rept 2000\n.byte 1\n.endr`, { limits })).toThrow('more than 1000 statements');
  expect(() => assemble(`${HEADER}.rept 900\n.zero 4096\n.endr`, { limits })).toThrow('more than 1048576 bytes');
  expect(errors('.rept 1 << 40\n.byte 1\n.endr', { limits })[0]).toContain('macro expansions exceed');
  expect(errors('.macro m\nm\n.endm\nm', { limits })[0]).toContain('macros cannot be nested more than 20 levels deep');
});
