// The assembly of one small kernel, so that a test says only what is particular about it.
import { assembleAndLink } from '../../src/asm/index.ts';
import { type CodeObject, readCodeObject } from '../../src/codeobject/index.ts';

export interface KernelSource {
  readonly name?: string;
  readonly target?: string;
  readonly version?: number;
  /** Instructions; `s_endpgm` follows. */
  readonly code?: string;
  /** Directives of the descriptor block that replace or extend the ordinary ones. */
  readonly descriptor?: Readonly<Record<string, number>>;
  /** Lines of the kernel's metadata, `key: value`, that replace or extend the ordinary ones. */
  readonly metadata?: Readonly<Record<string, string | number>>;
  /** Arguments: size and value kind, laid out one after the other. */
  readonly args?: readonly (readonly [size: number, kind: string])[];
}

/** The text of a kernel. */
export function kernelSource(options: KernelSource = {}): string {
  const { name = 'k', target = 'gfx942', version = 5, code = '', args = [[8, 'global_buffer']] } = options;
  const kernargSize = args.reduce((sum, [size]) => sum + size, 0);
  const descriptor = {
    kernarg_size: kernargSize,
    user_sgpr_kernarg_segment_ptr: 1,
    next_free_vgpr: 8,
    next_free_sgpr: 16,
    accum_offset: 8,
    ...options.descriptor,
  };
  const metadata = {
    '.name': name,
    '.symbol': `${name}.kd`,
    '.kernarg_segment_size': kernargSize,
    '.kernarg_segment_align': 8,
    '.group_segment_fixed_size': 0,
    '.private_segment_fixed_size': 0,
    '.wavefront_size': 64,
    '.sgpr_count': 16,
    '.vgpr_count': 8,
    '.max_flat_workgroup_size': 256,
    ...options.metadata,
  };
  let offset = 0;
  const argLines = args.flatMap(([size, kind]) => {
    const lines = [`      - .size: ${size}`, `        .offset: ${offset}`, `        .value_kind: ${kind}`];
    offset += size;
    return lines;
  });
  return [
    `\t.amdgcn_target "amdgcn-amd-amdhsa--${target}"`,
    `\t.amdhsa_code_object_version ${version}`,
    '\t.text',
    `\t.globl ${name}`,
    '\t.p2align 8',
    `\t.type ${name},@function`,
    `${name}:`,
    ...code.split('\n').map((line) => (/:$|^\s*$/.test(line) ? line.trim() : `\t${line.trim()}`)),
    '\ts_endpgm',
    '.Lend:',
    `\t.size ${name}, .Lend-${name}`,
    '\t.section .rodata,"a",@progbits',
    '\t.p2align 6',
    `\t.amdhsa_kernel ${name}`,
    ...Object.entries(descriptor).map(([key, value]) => `\t\t.amdhsa_${key} ${value}`),
    '\t.end_amdhsa_kernel',
    '\t.amdgpu_metadata',
    '---',
    'amdhsa.version: [1, 2]',
    'amdhsa.kernels:',
    ...Object.entries(metadata).map(([key, value], i) => `  ${i === 0 ? '-' : ' '} ${key}: ${value}`),
    ...(argLines.length === 0 ? [] : ['    .args:', ...argLines]),
    '...',
    '\t.end_amdgpu_metadata',
    '',
  ].join('\n');
}

/** The linked code object of a kernel. */
export function kernelObject(options: KernelSource = {}): CodeObject {
  return readCodeObject(assembleAndLink(kernelSource(options)));
}

/** Code that counts to `rounds` and adds 1 for each work-item to the first dword of its buffer: work for as many threads as there are. */
export const countingCode = (rounds: number): string => `s_load_dwordx2 s[2:3], s[0:1], 0x0
s_mov_b32 s4, ${rounds}
.Lloop:
v_add_u32_e32 v2, 1, v2
s_sub_u32 s4, s4, 1
s_cmp_lg_u32 s4, 0
s_cbranch_scc1 .Lloop
v_mov_b32_e32 v1, 0
v_mov_b32_e32 v3, 1
s_waitcnt lgkmcnt(0)
global_atomic_add v1, v3, s[2:3]`;
