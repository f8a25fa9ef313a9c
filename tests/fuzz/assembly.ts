// Assembly text: statements, directives, macros, expressions, metadata, DWARF directives; object writer behind it.
import { assembleToObject } from '../../src/asm/index.ts';
import type { FuzzTarget } from './mutate.ts';

const SOURCES = [
  `.amdgcn_target "amdgcn-amd-amdhsa--gfx942:xnack-"
.amdhsa_code_object_version 5
.text
.globl k
.p2align 8
.type k,@function
k:
 s_load_dwordx2 s[2:3], s[0:1], 0x0
 s_getpc_b64 s[4:5]
 s_add_u32 s4, s4, table@rel32@lo+4
 s_addc_u32 s5, s5, table@rel32@hi+12
1: s_cbranch_scc0 1b
 v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]
 s_cbranch_scc1 .Lend
 v_mov_b32 v0, value
.Lend: s_endpgm
.size k, .Lend-k
.set k.num_vgpr, max(8, 3)
value = (1 << 4) | 3
.rodata
table: .long k-table, 0x12345678 ; comment
.quad table + 8, 1.5
.byte 'a', -1, ~0
.p2align 6, 0x0
.amdhsa_kernel k
 .amdhsa_next_free_vgpr k.num_vgpr
 .amdhsa_next_free_sgpr 16
 .amdhsa_accum_offset 8
 .amdhsa_user_sgpr_kernarg_segment_ptr 1
 .amdhsa_group_segment_fixed_size lds
 .amdhsa_kernarg_size 16
.end_amdhsa_kernel
.set lds, 1024
.amdgpu_lds shared, 64, 16
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]
...
.end_amdgpu_metadata
`,
  `.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.macro twice op:req, dst=v0, rest:vararg
 .if \\dst == 0
  \\op \\rest
 .elseif \\dst < 4
  .rept 2
   .long \\@, \\+
  .endr
 .else
  .exitm
 .endif
.endm
twice s_nop, 0, 3
twice s_nop, 1
twice s_nop, dst=5
.altmacro
.macro pair a, b
 .byte a&0, b
.endm
pair %(1+2), <4>
.noaltmacro
.irp x, 1, 2, (3 + 4)
 .short \\x
.endr
.irpc c, 0123
 .byte \\c\\()0
.endr
.ifdef undefined
 .error "no"
.endif
.ifc a, a
.ifnb b
 .print "x"
.endif
.endif
.section .foo,"aMS",@progbits,1
.asciz "text\\n\\x41\\101"
.pushsection .bar,"axG",@progbits,group,comdat
 .fill 3, 4, 0x11223344
.popsection
.previous
.subsection 2
.uleb128 end-start, 300
.sleb128 -5
start: .org 64, 1
 .skip 8
end: .zero 4
.comm common, 16, 4
.lcomm local, 8
.octa 0x112233445566778899aabbccddeeff
.float 1.5, -2e10, inf
.set a, b
.set b, a2 + 1
.purgem twice
.weak w
.hidden w
.ident "fuzz"
.addrsig
.addrsig_sym w
`,
  `.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.file 0 "/src" "k.py" md5 0x0123456789abcdef0123456789abcdef
.file 1 "/src/lib" "b.py"
.cfi_sections .debug_frame
f:
.cfi_startproc
.loc 0 10 3 prologue_end
 s_nop 0
.loc 1 900 2 is_stmt 0 discriminator 4
 s_nop 1
.p2align 8
.loc 0 1
 s_endpgm
.cfi_endproc
.section .debug_line,"",@progbits
.Lline:
.long .Lline
# 7 "other.s"
 v_bad
 . = . + 8
`,
];

const INCLUDED = new TextEncoder().encode('.include "self"\n.byte 1\n');

const target: FuzzTarget = {
  name: 'assembly',
  seeds: () => SOURCES.map((source) => new TextEncoder().encode(source)),
  run: (bytes) => {
    assembleToObject(bytes, {
      readFile: (name) => (name === 'self' ? INCLUDED : undefined),
      limits: { maxOutputBytes: 1 << 20, maxExpandedCharacters: 1 << 18, maxStatements: 5000 },
    });
  },
};

export default target;
