import { describe, expect, it } from 'vitest';
import { roundTripDifferences } from '../../../tests/support/compare.ts';
import { buildWithWavesmith } from '../../../tests/support/round-trip.ts';
import { sampleText } from '../../../tests/support/sample.ts';
import { readCodeObject, readElf } from '../../codeobject/index.ts';
import { disassembleCodeObject } from './disassemble.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950', 'gfx90a:xnack-', 'gfx942:sramecc+:xnack+'];

function linked(text: string): Uint8Array {
  return buildWithWavesmith(text, false);
}

/** Text around `body` in one function. */
function functionText(body: string): string {
  return `\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\t.globl f\n\t.p2align 8\n\t.type f,@function\nf:\n${body}\n.Lend:\n\t.size f, .Lend-f\n`;
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim());
}

describe('disassembleCodeObject', () => {
  it.each(TARGETS)('should round-trip a linked code object for %s', (target) => {
    const original = linked(sampleText(target));
    expect(roundTripDifferences(original, linked(disassembleCodeObject(original)))).toEqual([]);
  });

  it.each(TARGETS)('should round-trip a relocatable object for %s', (target) => {
    const original = buildWithWavesmith(sampleText(target), true);
    const again = buildWithWavesmith(disassembleCodeObject(original), true);
    expect(roundTripDifferences(original, again)).toEqual([]);
  });

  it('should turn code object version 3 into version 4, which LLVM still writes', () => {
    const original = linked(sampleText());
    original[8] = 1;
    original[49] = 0x02;
    const text = disassembleCodeObject(original);
    expect(text).toContain('.amdhsa_code_object_version 4');
    expect(text).toContain('.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"');
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
  });

  it('should write source lines, addresses and encodings as comments that both assemblers leave out', () => {
    const body =
      '\t.file 1 "kernels" "k.mlir"\n\t.loc 1 7 3\n\ts_nop 0\n\ts_nop 1\n\t.loc 1 9 0\n\ts_mov_b32 s0, 0x12345\n\ts_endpgm';
    const original = linked(functionText(body));
    const text = disassembleCodeObject(original, { sourceLines: true, addresses: true, encodings: true });
    expect(text).toMatch(
      /\n\t\/\/ kernels\/k\.mlir:7\n\ts_nop 0\t\/\/ [0-9A-F]{12}: BF800000\n\ts_nop 1\t.*\n\t\/\/ kernels\/k\.mlir:9\n\ts_mov_b32 s0, 0x12345\t\/\/ \w+: BE8000FF 00012345\n/,
    );
    expect(linked(text)).toEqual(linked(disassembleCodeObject(original)));
    expect(disassembleCodeObject(original)).not.toContain('//');
  });

  it('should give the same text again', () => {
    const text = disassembleCodeObject(linked(sampleText()));
    expect(disassembleCodeObject(linked(text))).toBe(text);
  });

  it('should name branch targets by function and order', () => {
    const lines = linesOf(disassembleCodeObject(linked(sampleText())));
    expect(lines).toContain('s_cbranch_scc1 .LBB1_1');
    expect(lines).toContain('s_cbranch_scc1 .LBB1_0');
    expect(lines.indexOf('.LBB1_0:')).toBeLessThan(lines.indexOf('.LBB1_1:'));
  });

  it('should recover pc-relative references to data, functions and labels', () => {
    const lines = linesOf(disassembleCodeObject(linked(sampleText())));
    expect(lines).toContain('s_add_u32 s4, s4, table@rel32@lo+4');
    expect(lines).toContain('s_addc_u32 s5, s5, table@rel32@hi+12');
    expect(lines).toContain('s_add_u32 s6, s6, helper@rel32@lo+4');
    expect(lines).toContain('s_add_u32 s8, s8, (.LBB1_3-.LBB1_2)&4294967295');
    expect(lines).toContain('s_addc_u32 s9, s9, (.LBB1_3-.LBB1_2)>>32');
    expect(lines).toContain('s_add_u32 s10, s10, shared_value@gotpcrel32@lo+4');
    expect(lines).toContain('.quad table+8');
  });

  it('should follow an edit: code inserted before a table keeps references and branches right', () => {
    const text = disassembleCodeObject(linked(sampleText()));
    const edited = text.replace('\ts_cmp_eq_u32 s0, 0\n', '\ts_cmp_eq_u32 s0, 0\n\ts_nop 7\n\ts_nop 7\n');
    expect(edited).not.toBe(text);
    const again = disassembleCodeObject(linked(edited));
    expect(again).toBe(edited);
  });

  it('should recover the branch that adds an offset to the program counter', () => {
    const body =
      '\ts_getpc_b64 s[4:5]\n\ts_add_i32 s6, target, 4\n\ts_add_u32 s4, s4, s6\n\ts_addc_u32 s5, s5, 0\n\ts_setpc_b64 s[4:5]\n\ts_nop 0\ntarget:\n\ts_endpgm';
    const original = linked(functionText(body));
    const text = disassembleCodeObject(original);
    expect(linesOf(text)).toContain('s_add_i32 s6, target, 4');
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
  });

  it('should write literals that could be inline constants so that they stay literals', () => {
    expect(linesOf(disassembleCodeObject(linked(sampleText())))).toContain('s_mov_b32 s12, lit(0x5)');
  });

  it.each([
    ['an undecodable word', '.long 0xffffffff'],
    ['bits that the text does not show', '.long 0xd3ac6000, 0x371bc, 0xd3ad8c00, 0x84021148'],
  ])('should write %s as data', (_what, line) => {
    const target = 'gfx950';
    const source = functionText(`\t${line}\n\ts_endpgm`).replace('gfx942', target);
    const original = linked(source);
    const text = disassembleCodeObject(original);
    expect(linesOf(text).some((l) => l.startsWith(line))).toBe(true);
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
  });

  it('should write branches into the middle of an instruction or out of the section as numbers', () => {
    const original = linked(functionText('\ts_branch 1\n\ts_mov_b32 s0, 0x12345678\n\ts_branch 1000\n\ts_endpgm'));
    const lines = linesOf(disassembleCodeObject(original));
    expect(lines).toContain('s_branch 1');
    expect(lines).toContain('s_branch 1000');
  });

  it('should write data in code as data with its references', () => {
    const body = '\ts_branch .Lafter\nlist:\n\t.quad list\n\t.quad list+8\n.Lafter:\n\ts_endpgm';
    const original = buildWithWavesmith(functionText(body), true);
    const text = disassembleCodeObject(original);
    expect(linesOf(text)).toContain('.quad list');
    expect(linesOf(text).filter((line) => line.startsWith('.quad'))).toHaveLength(2);
    expect(roundTripDifferences(original, buildWithWavesmith(text, true))).toEqual([]);
  });

  it('should keep the alignment of functions as directives', () => {
    const text = disassembleCodeObject(linked(sampleText()));
    expect(text).toMatch(/\.p2align\t8\n\t\.globl\tfirst/);
    expect(text).not.toContain('s_nop 0');
  });

  it('should give kernels with the same register counts as the metadata', () => {
    const text = disassembleCodeObject(linked(sampleText()));
    expect(text).toMatch(/\.amdhsa_kernel second\n\t\t\.amdhsa_group_segment_fixed_size 1024\n/);
    expect(linesOf(text)).toContain('.amdhsa_next_free_sgpr 16');
  });

  it('should write a descriptor that no directive makes as data and say why', () => {
    const original = linked(sampleText());
    const { descriptorSymbol } = readCodeObject(original).kernels[1];
    const section = descriptorSymbol?.section;
    if (descriptorSymbol === undefined || section === undefined) throw new Error('no descriptor');
    const rsrc1 = section.offset + Number(descriptorSymbol.value) - section.address + 48;
    original[rsrc1 + 1] |= 0x0c;
    const text = disassembleCodeObject(original);
    expect(text).toContain(
      '; The descriptor of second is data: no directive sets compute_pgm_rsrc1.priority (it is 3).',
    );
    expect(text).toContain('.quad second-second.kd');
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
  });

  it('should warn about global offset table entries that no recovered code asks for', () => {
    const original = linked(sampleText());
    expect(disassembleCodeObject(original)).not.toContain('Warning');
    const section = readElf(original).section('.text');
    const second = readCodeObject(original).kernels[1].entry;
    if (section === undefined || second === undefined) throw new Error('no code');
    original.set([0, 0, 0x80, 0xbf], section.offset + second - section.address);
    expect(disassembleCodeObject(original)).toContain('; Warning: 1 entries of the global offset table');
  });

  it('should write metadata that the assembler refuses as a raw note', () => {
    const original = linked(sampleText());
    const at = Buffer.from(original).indexOf('global_buffer');
    original[at] = 0x78;
    const text = disassembleCodeObject(original);
    expect(text).toContain('\t.section\t.note,"a",@note');
    expect(text).not.toContain('.amdgpu_metadata');
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
  });

  it('should leave out other kernels when one is asked for', () => {
    const text = disassembleCodeObject(linked(sampleText()), { kernel: 'second' });
    const rebuilt = readCodeObject(linked(text));
    expect(rebuilt.kernels.map((kernel) => kernel.name)).toEqual(['second']);
    expect(text).not.toContain('first:');
    expect(text).toContain('helper:');
  });

  it('should refuse an unknown kernel with the names there are', () => {
    expect(() => disassembleCodeObject(linked(sampleText()), { kernel: 'third' })).toThrow(/no kernel 'third'/);
  });

  it('should keep names that are no identifiers or look like registers', () => {
    const body = '\ts_branch v0\n\ts_nop 1\nv0:\n"a b":\n\ts_endpgm';
    const original = linked(functionText(body.replace('s_branch v0', 's_branch "a b"')));
    const text = disassembleCodeObject(original);
    expect(linesOf(text)).toContain('"a b":');
    expect(linesOf(text)).toContain('v0:');
    expect(roundTripDifferences(original, linked(text))).toEqual([]);
    expect(readElf(linked(text)).symbols.map((s) => s.name)).toContain('a b');
  });

  it('should refuse what is no AMDGPU code object', () => {
    const original = linked(sampleText());
    const broken = original.slice();
    broken[18] = 62;
    expect(() => disassembleCodeObject(broken)).toThrow(/not for AMDGPU/);
    const foreign = original.slice();
    foreign[48] = 0x41;
    expect(() => disassembleCodeObject(foreign)).toThrow(/no instruction table for gfx1100/);
  });
});
