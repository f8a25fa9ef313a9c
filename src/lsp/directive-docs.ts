// What each directive does, in a line or two, with its operands and default. Sources: LLVM's AMDGPUUsage ("AMDHSA Kernel
// Assembler Directives"), the GNU assembler manual, and what src/asm does with them.

export interface DirectiveDocumentation {
  /** The operands as written; empty when there are none. */
  readonly operands: string;
  readonly meaning: string;
  /** The value when it is left out. */
  readonly fallback?: string;
}

type Entry = readonly [operands: string, meaning: string, fallback?: string];

const TARGET: Readonly<Record<string, Entry>> = {
  '.amdgcn_target': [
    '"amdgcn-amd-amdhsa--gfx942:xnack-"',
    'The target id of the file: processor, then `:sramecc±` and `:xnack±` where they matter. Stands before the first instruction.',
  ],
  '.amdhsa_code_object_version': [
    '4 | 5 | 6',
    'Version of the code object; decides ELF flags and metadata version.',
    '6',
  ],
  '.amdhsa_kernel': [
    'NAME',
    'Starts the kernel descriptor of the function NAME and defines `NAME.kd` (64 bytes) here; ends at `.end_amdhsa_kernel`. ' +
      'Usually in `.rodata`, aligned to 64 bytes.',
  ],
  '.end_amdhsa_kernel': ['', 'Ends the kernel descriptor.'],
  '.amdgpu_metadata': [
    '',
    'YAML of the code object’s metadata note (kernels, arguments, sizes), up to `.end_amdgpu_metadata`.',
  ],
  '.end_amdgpu_metadata': ['', 'Ends the metadata.'],
  '.amdgpu_lds': ['NAME, SIZE [, ALIGN]', 'Declares a symbol in LDS; the linker assigns its offset.', 'ALIGN 4'],
  '.amdgpu_hsa_kernel': [
    'NAME',
    'Marks a symbol as a kernel of the oldest code objects (only without an OS in the triple).',
  ],
  '.amd_amdgpu_hsa_metadata': ['', 'Metadata of the oldest code objects; not supported.'],
  '.amd_amdgpu_pal_metadata': ['', 'Metadata for the PAL driver; not supported.'],
};

const KERNEL: Readonly<Record<string, Entry>> = {
  '.amdhsa_group_segment_fixed_size': ['BYTES', 'LDS that every workgroup gets; dynamic LDS comes on top.', '0'],
  '.amdhsa_private_segment_fixed_size': ['BYTES', 'Scratch of each lane.', '0'],
  '.amdhsa_kernarg_size': ['BYTES', 'Size of the kernel arguments.', '0'],
  '.amdhsa_user_sgpr_count': [
    'N',
    'User SGPRs, when it is not the sum of those enabled.',
    'the sum of the enabled ones',
  ],
  '.amdhsa_user_sgpr_private_segment_buffer': ['0 | 1', 'User SGPRs 4: resource of the scratch buffer (gfx90a).', '0'],
  '.amdhsa_user_sgpr_dispatch_ptr': ['0 | 1', 'User SGPRs 2: address of the dispatch packet.', '0'],
  '.amdhsa_user_sgpr_queue_ptr': ['0 | 1', 'User SGPRs 2: address of the queue.', '0'],
  '.amdhsa_user_sgpr_kernarg_segment_ptr': ['0 | 1', 'User SGPRs 2: address of the kernel arguments.', '0'],
  '.amdhsa_user_sgpr_dispatch_id': ['0 | 1', 'User SGPRs 2: number of the dispatch.', '0'],
  '.amdhsa_user_sgpr_flat_scratch_init': ['0 | 1', 'User SGPRs 2: base and size for FLAT_SCRATCH (gfx90a).', '0'],
  '.amdhsa_user_sgpr_private_segment_size': ['0 | 1', 'User SGPR 1: scratch of one lane in bytes.', '0'],
  '.amdhsa_user_sgpr_kernarg_preload_length': [
    'DWORDS',
    'Arguments loaded into user SGPRs before the wavefront starts; the entry then has a 256-byte block for older firmware.',
    '0',
  ],
  '.amdhsa_user_sgpr_kernarg_preload_offset': ['DWORDS', 'Where in the arguments preloading starts.', '0'],
  '.amdhsa_uses_dynamic_stack': ['0 | 1', 'The scratch size is not known at compile time (recursion, alloca).', '0'],
  '.amdhsa_system_sgpr_private_segment_wavefront_offset': [
    '0 | 1',
    'SGPR with the wavefront’s scratch offset; enables scratch (gfx90a).',
    '0',
  ],
  '.amdhsa_enable_private_segment': ['0 | 1', 'Enables scratch (gfx942, gfx950).', '0'],
  '.amdhsa_system_sgpr_workgroup_id_x': ['0 | 1', 'SGPR with the workgroup id in x.', '1'],
  '.amdhsa_system_sgpr_workgroup_id_y': ['0 | 1', 'SGPR with the workgroup id in y.', '0'],
  '.amdhsa_system_sgpr_workgroup_id_z': ['0 | 1', 'SGPR with the workgroup id in z.', '0'],
  '.amdhsa_system_sgpr_workgroup_info': ['0 | 1', 'SGPR with workgroup information.', '0'],
  '.amdhsa_system_vgpr_workitem_id': [
    '0 | 1 | 2',
    'Work-item ids packed in v0: x; x and y; x, y and z (10 bits each).',
    '0',
  ],
  '.amdhsa_next_free_vgpr': [
    'N',
    'Vector registers used, AGPRs included: one more than the highest number (AGPRs count from `.amdhsa_accum_offset`).',
    'required',
  ],
  '.amdhsa_next_free_sgpr': [
    'N',
    'SGPRs used, without VCC, FLAT_SCRATCH and XNACK_MASK: one more than the highest number.',
    'required',
  ],
  '.amdhsa_accum_offset': [
    'N',
    'Where the AGPRs start in the unified register file; 4 to 256 in steps of 4.',
    'required',
  ],
  '.amdhsa_reserve_vcc': ['0 | 1', 'Two SGPRs for VCC.', '1'],
  '.amdhsa_reserve_flat_scratch': ['0 | 1', 'SGPRs for FLAT_SCRATCH (gfx90a).', '1'],
  '.amdhsa_reserve_xnack_mask': ['0 | 1', 'SGPRs for XNACK_MASK; must match the target id.', 'as the target id says'],
  '.amdhsa_float_round_mode_32': ['0–3', 'Rounding of f32: nearest even, up, down, to zero.', '0'],
  '.amdhsa_float_round_mode_16_64': ['0–3', 'Rounding of f16 and f64: nearest even, up, down, to zero.', '0'],
  '.amdhsa_float_denorm_mode_32': [
    '0–3',
    'Denormals of f32: flush sources and results, flush results, flush sources, keep.',
    '0',
  ],
  '.amdhsa_float_denorm_mode_16_64': [
    '0–3',
    'Denormals of f16 and f64: flush sources and results, flush results, flush sources, keep.',
    '3',
  ],
  '.amdhsa_dx10_clamp': ['0 | 1', '`clamp` turns NaN into 0.', '1'],
  '.amdhsa_ieee_mode': ['0 | 1', 'Signalling NaNs become quiet, as IEEE 754 asks.', '1'],
  '.amdhsa_fp16_overflow': [
    '0 | 1',
    'f16 results beyond the range become the largest number instead of infinity.',
    '0',
  ],
  '.amdhsa_tg_split': [
    '0 | 1',
    'Wavefronts of one workgroup may run on different compute units.',
    'as the target feature tgsplit',
  ],
  '.amdhsa_exception_fp_ieee_invalid_op': ['0 | 1', 'Trap on an invalid operation.', '0'],
  '.amdhsa_exception_fp_denorm_src': ['0 | 1', 'Trap on a denormal source.', '0'],
  '.amdhsa_exception_fp_ieee_div_zero': ['0 | 1', 'Trap on a division by zero.', '0'],
  '.amdhsa_exception_fp_ieee_overflow': ['0 | 1', 'Trap on overflow.', '0'],
  '.amdhsa_exception_fp_ieee_underflow': ['0 | 1', 'Trap on underflow.', '0'],
  '.amdhsa_exception_fp_ieee_inexact': ['0 | 1', 'Trap on an inexact result.', '0'],
  '.amdhsa_exception_int_div_zero': ['0 | 1', 'Trap on an integer division by zero.', '0'],
};

const DATA: Readonly<Record<string, Entry>> = {
  '.byte': ['EXPR, …', '1-byte values.'],
  '.short': ['EXPR, …', '2-byte values.'],
  '.value': ['EXPR, …', '2-byte values.'],
  '.2byte': ['EXPR, …', '2-byte values.'],
  '.long': ['EXPR, …', '4-byte values.'],
  '.int': ['EXPR, …', '4-byte values.'],
  '.4byte': ['EXPR, …', '4-byte values.'],
  '.quad': ['EXPR, …', '8-byte values.'],
  '.8byte': ['EXPR, …', '8-byte values.'],
  '.octa': ['NUMBER, …', '16-byte values.'],
  '.single': ['NUMBER, …', 'f32 values.'],
  '.float': ['NUMBER, …', 'f32 values.'],
  '.double': ['NUMBER, …', 'f64 values.'],
  '.ascii': ['"TEXT", …', 'The bytes of strings.'],
  '.asciz': ['"TEXT", …', 'The bytes of strings, each with a zero behind it.'],
  '.string': ['"TEXT", …', 'The bytes of strings, each with a zero behind it.'],
  '.uleb128': ['EXPR, …', 'Unsigned LEB128 values.'],
  '.sleb128': ['EXPR, …', 'Signed LEB128 values.'],
  '.skip': ['COUNT [, VALUE]', 'COUNT bytes of VALUE.', 'VALUE 0'],
  '.space': ['COUNT [, VALUE]', 'COUNT bytes of VALUE.', 'VALUE 0'],
  '.zero': ['COUNT [, VALUE]', 'COUNT bytes of VALUE.', 'VALUE 0'],
  '.fill': ['COUNT [, SIZE [, VALUE]]', 'COUNT values of SIZE bytes.', 'SIZE 1, VALUE 0'],
  '.org': ['OFFSET [, VALUE]', 'Moves to an offset of the section; the gap is filled with VALUE.', 'VALUE 0'],
  '.align': ['BYTES [, VALUE [, MAX]]', 'Aligns to a multiple of BYTES; code is filled with `s_nop`.'],
  '.align32': ['BYTES [, VALUE [, MAX]]', 'Aligns to a multiple of BYTES with 4-byte fill values.'],
  '.balign': ['BYTES [, VALUE [, MAX]]', 'Aligns to a multiple of BYTES; code is filled with `s_nop`.'],
  '.balignw': ['BYTES [, VALUE [, MAX]]', 'Aligns to a multiple of BYTES with 2-byte fill values.'],
  '.balignl': ['BYTES [, VALUE [, MAX]]', 'Aligns to a multiple of BYTES with 4-byte fill values.'],
  '.p2align': [
    'POWER [, VALUE [, MAX]]',
    'Aligns to 2^POWER bytes; code is filled with `s_nop`. A kernel’s entry needs `.p2align 8`.',
  ],
  '.p2alignw': ['POWER [, VALUE [, MAX]]', 'Aligns to 2^POWER bytes with 2-byte fill values.'],
  '.p2alignl': ['POWER [, VALUE [, MAX]]', 'Aligns to 2^POWER bytes with 4-byte fill values.'],
  '.incbin': ['"FILE" [, SKIP [, COUNT]]', 'The bytes of a file.'],
  '.reloc': ['OFFSET, NAME [, EXPR]', 'Adds a relocation at an offset.'],
};

const SECTIONS: Readonly<Record<string, Entry>> = {
  '.text': ['[SUBSECTION]', 'Continues in the code section.'],
  '.data': ['[SUBSECTION]', 'Continues in the section of writable data.'],
  '.bss': ['[SUBSECTION]', 'Continues in the section of zeroed data.'],
  '.rodata': ['', 'Continues in the section of constants, where kernel descriptors stand.'],
  '.tdata': ['', 'Continues in the section of thread-local data.'],
  '.tbss': ['', 'Continues in the section of zeroed thread-local data.'],
  '.data.rel': ['', 'Continues in the section of data with relocations.'],
  '.data.rel.ro': ['', 'Continues in the section of data that is constant after relocation.'],
  '.eh_frame': ['', 'Continues in the section of unwind tables.'],
  '.section': [
    'NAME [, "FLAGS" [, @TYPE [, ENTSIZE]]]',
    'Continues in a section. Flags: a loaded, w writable, x code, M mergeable, S strings, G group.',
  ],
  '.pushsection': ['NAME …', 'Continues in a section; `.popsection` comes back.'],
  '.popsection': ['', 'Back to the section before `.pushsection`.'],
  '.previous': ['', 'Back to the section before this one.'],
  '.subsection': ['NUMBER', 'Continues in a part of the section; parts are laid out in order of their numbers.'],
  '.ident': ['"TEXT"', 'Adds a string to `.comment`.'],
};

const SYMBOLS: Readonly<Record<string, Entry>> = {
  '.globl': ['NAME, …', 'The symbols are visible to other objects.'],
  '.global': ['NAME, …', 'The symbols are visible to other objects.'],
  '.weak': ['NAME, …', 'As `.globl`, but another definition wins.'],
  '.local': ['NAME, …', 'The symbols stay in this object.'],
  '.hidden': ['NAME, …', 'Not visible outside the code object.'],
  '.protected': ['NAME, …', 'Visible outside, but not replaceable: what kernels need.'],
  '.internal': ['NAME, …', 'As `.hidden`.'],
  '.type': ['NAME, @function | @object | …', 'What a symbol is. A kernel’s entry is a `@function`.'],
  '.size': ['NAME, EXPR', 'Size of a symbol, usually `.Lend-NAME`.'],
  '.set': ['NAME, EXPR', 'Gives a symbol a value; it may be given another one later.'],
  '.equ': ['NAME, EXPR', 'As `.set`.'],
  '.equiv': ['NAME, EXPR', 'Gives a symbol a value, once.'],
  '.comm': ['NAME, SIZE [, ALIGN]', 'Space that the linker merges and places.'],
  '.common': ['NAME, SIZE [, ALIGN]', 'As `.comm`.'],
  '.lcomm': ['NAME, SIZE [, ALIGN]', 'Local zeroed space.'],
  '.addrsig': ['', 'Starts the table of address-significant symbols.'],
  '.addrsig_sym': ['NAME', 'The address of the symbol matters, so it is not merged with equal code.'],
  '.extern': ['NAME', 'Accepted and ignored: unknown symbols are external anyway.'],
  '.symver': ['NAME, VERSION', 'Symbol versions; not supported.'],
  '.weakref': ['ALIAS, NAME', 'Weak alias; not supported.'],
};

const MACROS: Readonly<Record<string, Entry>> = {
  '.macro': [
    'NAME [PARAMETER[:req | :vararg][=DEFAULT], …]',
    'Defines a macro up to `.endm`; in its text `\\PARAMETER` is the argument, `\\@` counts the calls.',
  ],
  '.endm': ['', 'Ends a macro.'],
  '.endmacro': ['', 'Ends a macro.'],
  '.exitm': ['', 'Leaves the macro’s expansion here.'],
  '.purgem': ['NAME', 'Forgets a macro.'],
  '.rep': ['COUNT', 'Repeats the text up to `.endr`.'],
  '.rept': ['COUNT', 'Repeats the text up to `.endr`.'],
  '.irp': ['NAME, VALUE, …', 'Repeats the text up to `.endr` with `\\NAME` as each value.'],
  '.irpc': ['NAME, TEXT', 'Repeats the text up to `.endr` with `\\NAME` as each character.'],
  '.endr': ['', 'Ends `.rept`, `.irp`, `.irpc`.'],
  '.altmacro': ['', 'Macro arguments may be `<text>` and `%expression`.'],
  '.noaltmacro': ['', 'Ends `.altmacro`.'],
  '.include': ['"FILE"', 'The text of a file, as if it stood here.'],
  '.error': ['"TEXT"', 'An error with this text.'],
  '.err': ['', 'An error.'],
  '.warning': ['"TEXT"', 'A warning with this text.'],
  '.print': ['"TEXT"', 'Prints a text while assembling.'],
  '.end': ['', 'The source ends here.'],
  '.line': ['NUMBER', 'Accepted for compilers; the number is not used.'],
  '.if': ['EXPR', 'Text up to `.else` or `.endif` when the value is not 0.'],
  '.ifne': ['EXPR', 'Text when the value is not 0.'],
  '.ifeq': ['EXPR', 'Text when the value is 0.'],
  '.ifge': ['EXPR', 'Text when the value is 0 or more.'],
  '.ifgt': ['EXPR', 'Text when the value is more than 0.'],
  '.ifle': ['EXPR', 'Text when the value is 0 or less.'],
  '.iflt': ['EXPR', 'Text when the value is less than 0.'],
  '.ifb': ['TEXT', 'Text when the argument is blank.'],
  '.ifnb': ['TEXT', 'Text when the argument is not blank.'],
  '.ifc': ['TEXT, TEXT', 'Text when both are the same.'],
  '.ifnc': ['TEXT, TEXT', 'Text when they differ.'],
  '.ifeqs': ['"TEXT", "TEXT"', 'Text when both strings are the same.'],
  '.ifnes': ['"TEXT", "TEXT"', 'Text when the strings differ.'],
  '.ifdef': ['NAME', 'Text when the symbol is defined before.'],
  '.ifndef': ['NAME', 'Text when the symbol is not defined before.'],
  '.ifnotdef': ['NAME', 'Text when the symbol is not defined before.'],
  '.elseif': ['EXPR', 'Text when no condition before held and the value is not 0.'],
  '.else': ['', 'Text when no condition before held.'],
  '.endif': ['', 'Ends a condition.'],
};

const DEBUG: Readonly<Record<string, Entry>> = {
  '.file': ['[NUMBER] "NAME" …', 'Names a source file for line information.'],
  '.loc': ['FILE LINE [COLUMN] …', 'The following instruction comes from this source line.'],
  '.cfi_sections': ['SECTION, …', 'Which unwind tables to write.'],
  '.cfi_startproc': ['[simple]', 'Starts the unwind entry of a function.'],
  '.cfi_endproc': ['', 'Ends the unwind entry.'],
};

const UNSUPPORTED =
  '.loc_label .cfi_def_cfa .cfi_def_cfa_offset .cfi_def_cfa_register .cfi_llvm_def_aspace_cfa .cfi_adjust_cfa_offset .cfi_offset ' +
  '.cfi_rel_offset .cfi_register .cfi_undefined .cfi_same_value .cfi_restore .cfi_remember_state .cfi_restore_state .cfi_escape ' +
  '.cfi_return_column .cfi_signal_frame .cfi_personality .cfi_lsda .version .cg_profile .pseudoprobe .lto_discard .stabs ' +
  '.bundle_align_mode .bundle_lock .bundle_unlock .dcb .ds .cv_file .cv_loc';

function table(...groups: Readonly<Record<string, Entry>>[]): ReadonlyMap<string, DirectiveDocumentation> {
  const map = new Map<string, DirectiveDocumentation>();
  for (const group of groups) {
    for (const [name, [operands, meaning, fallback]] of Object.entries(group)) {
      if (map.has(name)) throw new Error(`directive '${name}' is documented twice`);
      map.set(name, { operands, meaning, ...(fallback === undefined ? {} : { fallback }) });
    }
  }
  return map;
}

/** Directives of `.amdhsa_kernel` blocks. */
export const KERNEL_DIRECTIVES = table(KERNEL);

/** All other directives. */
export const DIRECTIVE_DOCS = table(TARGET, DATA, SECTIONS, SYMBOLS, MACROS, DEBUG);

const REFUSED: ReadonlySet<string> = new Set(UNSUPPORTED.split(' '));

/** Documentation of a directive; undefined for a name that LLVM does not have either. */
export function directiveDocumentation(name: string): DirectiveDocumentation | undefined {
  const lower = name.toLowerCase();
  const found = DIRECTIVE_DOCS.get(name) ?? KERNEL_DIRECTIVES.get(name) ?? DIRECTIVE_DOCS.get(lower);
  if (found !== undefined || !REFUSED.has(lower)) return found;
  return { operands: '…', meaning: 'LLVM’s assembler has this directive; Wavesmith’s does not support it.' };
}

/** Markdown about a directive. */
export function directiveMarkdown(name: string): string | undefined {
  const found = directiveDocumentation(name);
  if (found === undefined) return undefined;
  const { operands, meaning, fallback } = found;
  const lines = [`\`\`\`asm\n${operands === '' ? name : `${name} ${operands}`}\n\`\`\``, meaning];
  if (fallback !== undefined) lines.push(fallback === 'required' ? 'Required.' : `Default: ${fallback}.`);
  return lines.join('\n\n');
}
