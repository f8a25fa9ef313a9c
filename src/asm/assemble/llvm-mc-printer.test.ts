import { expect, test } from 'vitest';
import { assemble } from './assemble.ts';
import { AsmStreamer } from './llvm-mc-printer.ts';

function print(source: string, showEncoding = false): string {
  const streamer = new AsmStreamer({ showEncoding });
  const { diagnostics } = assemble(source, { target: 'gfx942', streamer });
  expect(diagnostics).toEqual([]);
  return streamer.text().replace('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n', '');
}

test('directives are printed in their normal form', () => {
  const source = `.globl foo
foo: ; comment
.balign 16
.data
.p2align 2
.asciz "ab\\n"
.string "c"
.skip 3
.long x - y + 4, 0xffffffff
.quad 0xffffffffffffffff
.set v, 1 + 2
w = v
.section .s,"aM",@progbits,4
.type foo,STT_FUNC
.fill 2, 4, -1
.uleb128 300
`;
  expect(print(source)).toBe(
    [
      '\t.globl\tfoo',
      'foo:',
      '\t.p2align\t4',
      '\t.data',
      '\t.p2align\t2, 0x0',
      '\t.ascii\t"ab\\n"',
      '\t.byte\t0',
      '\t.byte\t99',
      '\t.byte\t0',
      '\t.zero\t3',
      '\t.long\tx-y+4',
      '\t.long\t4294967295',
      '\t.quad\t-1',
      '.set v, 3',
      '\t.no_dead_strip\tv',
      '.set w, 3',
      '\t.section\t.s,"aM",@progbits,4',
      '\t.type\tfoo,@function',
      '\t.fill\t2, 4, 0xffffffff',
      '\t.ascii\t"\\254\\002"',
      '',
    ].join('\n'),
  );
});

test('instructions show their encoding and fixups', () => {
  expect(print('s_nop 0\ns_branch there\ns_add_u32 s0, s0, x@rel32@lo+4\n', true)).toBe(
    '\ts_nop 0                                 ; encoding: [0x00,0x00,0x80,0xbf]\n' +
      '\ts_branch there                          ; encoding: [A,A,0x82,0xbf]\n' +
      '                                        ;   fixup A - offset: 0, value: there, kind: fixup_si_sopp_br\n' +
      '\ts_add_u32 s0, s0, x@rel32@lo+4          ; encoding: [0x00,0xff,0x00,0x80,A,A,A,A]\n' +
      '                                        ;   fixup A - offset: 4, value: x@rel32@lo+4, kind: FK_PCRel_4\n',
  );
});

test('kernel blocks are complete; fields over unknown symbols are simplified', () => {
  const text = print(
    '.amdhsa_code_object_version 5\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr n\n.amdhsa_next_free_sgpr 8\n' +
      '.amdhsa_accum_offset 4\n.amdhsa_enable_private_segment n\n.end_amdhsa_kernel\n',
  );
  expect(text).toContain('\t\t.amdhsa_next_free_vgpr n\n');
  expect(text).toContain('\t\t.amdhsa_enable_private_segment ((128|n)&~62)&1\n');
  expect(text).toContain('\t\t.amdhsa_system_sgpr_workgroup_id_x 1\n');
  expect(text).toContain('\t\t.amdhsa_reserve_xnack_mask 1\n');
  expect(text.split('\n').filter((line) => line.startsWith('\t\t.amdhsa_'))).toHaveLength(38);
});
