// What modifiers, named fields and helper calls of operands mean. Source: CDNA3 ISA manual (SDWA, DPP, VOP3, VOP3P, MUBUF,
// FLAT, DS and MIMG encodings), LLVM's AMDGPUModifierSyntax.

type Entry = readonly [syntax: string, meaning: string];

/** By the word that stands in the text; `name:value` modifiers without the colon. */
export const OPERAND_DOCS: Readonly<Record<string, Entry>> = {
  offset: [
    'offset:N',
    'Bytes added to the address. Unsigned 12 bits (buffer), 16 bits (LDS), signed 13 bits (global, scratch), 21 bits (scalar memory).',
  ],
  inst_offset: ['inst_offset:N', 'Older spelling of `offset`.'],
  offset0: ['offset0:N', 'First address of a two-address LDS access, in elements (0–255).'],
  offset1: ['offset1:N', 'Second address of a two-address LDS access, in elements (0–255).'],
  glc: [
    'glc',
    'Atomics: return the old value. Loads and stores on gfx90a: coherent in the workgroup’s scope and beyond.',
  ],
  slc: ['slc', 'Streaming: the line is not kept in L2 (gfx90a).'],
  scc: ['scc', 'System coherence of a memory access (gfx90a); elsewhere the register SCC.'],
  dlc: ['dlc', 'Of newer GPUs; not supported here.'],
  sc0: [
    'sc0',
    'Scope bit 0 (gfx942, gfx950): with sc1 selects wave, group, agent, system. Atomics: return the old value.',
  ],
  sc1: ['sc1', 'Scope bit 1 (gfx942, gfx950): with sc0 selects wave, group, agent, system.'],
  nt: ['nt', 'Non-temporal: the line is not expected to be used again (gfx942, gfx950).'],
  gds: ['gds', 'The access goes to GDS instead of LDS.'],
  lds: ['lds', 'The data goes to LDS at the address in M0 instead of to VGPRs.'],
  offen: ['offen', 'The VGPR operand holds a byte offset.'],
  idxen: ['idxen', 'The VGPR operand holds an index of an element.'],
  addr64: ['addr64', 'Of older GPUs: a 64-bit address in VGPRs.'],
  off: ['off', 'No register here: no VGPR offset, or no SGPR base.'],
  tfe: ['tfe', 'Return a status dword behind the data.'],
  lwe: ['lwe', 'Return a warning dword for unmapped mip levels.'],
  unorm: ['unorm', 'Image coordinates are not normalised.'],
  da: ['da', 'The image is an array.'],
  d16: ['d16', 'Data are 16 bits wide.'],
  r128: ['r128', 'The image resource is 128 bits wide; not on these GPUs.'],
  a16: ['a16', 'Image addresses are 16 bits wide.'],
  dmask: ['dmask:N', 'Which components of an image element are transferred, a bit each.'],
  format: ['format:[DATA,NUMBER]', 'Data and number format of a typed buffer access, by name or number.'],
  dfmt: ['dfmt:N', 'Data format of a typed buffer access.'],
  nfmt: ['nfmt:N', 'Number format of a typed buffer access.'],
  clamp: ['clamp', 'Floats are clamped to 0…1, integers saturate instead of wrapping; compares signal NaNs.'],
  mul: ['mul:2 | mul:4', 'The f16 or f32 result is multiplied; denormals must be flushed.'],
  div: ['div:2', 'The f16 or f32 result is halved; denormals must be flushed.'],
  neg: ['neg(SRC), -SRC; neg:[0,1,…] on matrix instructions', 'The source is negated (floats: the sign bit changes).'],
  abs: ['abs(SRC), |SRC|', 'The sign of the source is cleared.'],
  sext: ['sext(SRC)', 'The selected part of the source is sign-extended (SDWA).'],
  op_sel: [
    'op_sel:[0,1,…]',
    'Which half of each 32-bit source (and of the result) is used; for packed operations: for the low result.',
  ],
  op_sel_hi: [
    'op_sel_hi:[0,1,…]',
    'Which half of each source the high result of a packed operation uses; all 1 when left out.',
  ],
  neg_lo: ['neg_lo:[0,1,…]', 'Sources to negate for the low result of a packed operation.'],
  neg_hi: ['neg_hi:[0,1,…]', 'Sources to negate for the high result of a packed operation.'],
  quad_perm: ['quad_perm:[A,B,C,D]', 'DPP: lane i of each group of four reads lane A, B, C or D of the group.'],
  row_shl: ['row_shl:N', 'DPP: each lane reads the lane N above in its row of 16.'],
  row_shr: ['row_shr:N', 'DPP: each lane reads the lane N below in its row of 16.'],
  row_ror: ['row_ror:N', 'DPP: rows of 16 lanes rotate by N.'],
  row_newbcast: ['row_newbcast:N', 'DPP: each lane reads lane N of its row of 16.'],
  row_bcast: ['row_bcast:15 | row_bcast:31', 'DPP: lane 15 (31) of a row is read by the next row (rows).'],
  row_mirror: ['row_mirror', 'DPP: rows of 16 lanes reversed.'],
  row_half_mirror: ['row_half_mirror', 'DPP: half rows of 8 lanes reversed.'],
  wave_shl: ['wave_shl:1', 'DPP: the wavefront shifts left by one lane.'],
  wave_shr: ['wave_shr:1', 'DPP: the wavefront shifts right by one lane.'],
  wave_rol: ['wave_rol:1', 'DPP: the wavefront rotates left by one lane.'],
  wave_ror: ['wave_ror:1', 'DPP: the wavefront rotates right by one lane.'],
  row_mask: ['row_mask:N', 'DPP: rows of 16 lanes that are written, a bit each. Default 0xf.'],
  bank_mask: ['bank_mask:N', 'DPP: groups of four lanes in each row that are written, a bit each. Default 0xf.'],
  bound_ctrl: ['bound_ctrl:1', 'DPP: lanes without a source read 0 instead of keeping their value.'],
  fi: ['fi:1', 'DPP of newer GPUs: read inactive lanes too.'],
  dst_sel: ['dst_sel:BYTE_n | WORD_n | DWORD', 'SDWA: which part of the destination is written.'],
  dst_unused: [
    'dst_unused:UNUSED_PAD | UNUSED_SEXT | UNUSED_PRESERVE',
    'SDWA: what becomes of the rest of the destination.',
  ],
  src0_sel: ['src0_sel:BYTE_n | WORD_n | DWORD', 'SDWA: which part of source 0 is used.'],
  src1_sel: ['src1_sel:BYTE_n | WORD_n | DWORD', 'SDWA: which part of source 1 is used.'],
  cbsz: ['cbsz:N', 'Matrix: broadcast of A to 2^N blocks; with f8f6f4 the format of A.'],
  abid: ['abid:N', 'Matrix: which block of A is broadcast.'],
  blgp: ['blgp:N', 'Matrix: lane permutation of B (or negation of f64 sources); with f8f6f4 the format of B.'],
  bitop3: ['bitop3:N', 'Truth table of the three sources, eight bits.'],
  vmcnt: ['vmcnt(N)', 'Wait until at most N vector memory operations are outstanding (0–63; 63 is no wait).'],
  lgkmcnt: [
    'lgkmcnt(N)',
    'Wait until at most N LDS, scalar memory and message operations are outstanding (0–15; 15 is no wait). Scalar loads come back out of order: only 0 is safe for them.',
  ],
  expcnt: ['expcnt(N)', 'Wait until at most N exports and GDS operations are outstanding (0–7; 7 is no wait).'],
  vmcnt_sat: ['vmcnt_sat(N)', 'As `vmcnt`, values beyond the field become its largest.'],
  lgkmcnt_sat: ['lgkmcnt_sat(N)', 'As `lgkmcnt`, values beyond the field become its largest.'],
  expcnt_sat: ['expcnt_sat(N)', 'As `expcnt`, values beyond the field become its largest.'],
  hwreg: ['hwreg(NAME [, OFFSET, WIDTH])', 'Bits of a hardware register.'],
  sendmsg: ['sendmsg(NAME [, OPERATION [, STREAM]])', 'A message to the processor’s interrupt or graphics logic.'],
  gpr_idx: ['gpr_idx(SRC0, SRC1, SRC2, DST)', 'Which operands are indexed with M0.'],
  swizzle: [
    'offset:swizzle(MODE, …)',
    'Lane exchange of `ds_swizzle_b32`: `QUAD_PERM`, `BITMASK_PERM`, `BROADCAST`, `SWAP`, `REVERSE`.',
  ],
  lit: ['lit(VALUE)', 'The value as a 32-bit literal, even when an inline constant would do.'],
};

const HARDWARE: Readonly<Record<string, string>> = {
  HW_REG_MODE: 'Rounding and denormal modes, exceptions, VGPR index mode of the wavefront.',
  HW_REG_STATUS: 'State of the wavefront: SCC, EXECZ, VCCZ, in barrier, halted, trap handler present.',
  HW_REG_TRAPSTS: 'Exceptions that have happened, and which of them trap.',
  HW_REG_HW_ID: 'Where the wavefront runs: slot, SIMD, compute unit, shader engine.',
  HW_REG_GPR_ALLOC: 'Base and size of the register allocation.',
  HW_REG_LDS_ALLOC: 'Base and size of the LDS allocation.',
  HW_REG_IB_STS: 'Instruction buffer: the wait counters now.',
  HW_REG_SH_MEM_BASES: 'Apertures of LDS and scratch.',
  HW_REG_TBA_LO: 'Trap handler address, bits 31:0.',
  HW_REG_TBA_HI: 'Trap handler address, bits 63:32.',
  HW_REG_TMA_LO: 'Trap memory address, bits 31:0.',
  HW_REG_TMA_HI: 'Trap memory address, bits 63:32.',
  HW_REG_XCC_ID: 'Number of the accelerator die the wavefront runs on.',
  HW_REG_SQ_PERF_SNAPSHOT_DATA: 'Sampled state of the wavefront for profilers.',
  HW_REG_SQ_PERF_SNAPSHOT_DATA1: 'Sampled state of the wavefront for profilers, second word.',
  HW_REG_SQ_PERF_SNAPSHOT_PC_LO: 'Sampled program counter, bits 31:0.',
  HW_REG_SQ_PERF_SNAPSHOT_PC_HI: 'Sampled program counter, bits 63:32.',
};

/** Markdown about a modifier, a helper call or a named value of an operand. */
export function operandMarkdown(word: string): string | undefined {
  if (Object.hasOwn(HARDWARE, word)) return `**\`${word}\`** — ${HARDWARE[word]}`;
  const negated = word.startsWith('no') ? word.slice(2) : '';
  const name = Object.hasOwn(OPERAND_DOCS, word) ? word : negated;
  if (!Object.hasOwn(OPERAND_DOCS, name)) return undefined;
  const [syntax, meaning] = OPERAND_DOCS[name] as Entry;
  return name === word ? `**\`${syntax}\`** — ${meaning}` : `**\`${word}\`** — not \`${name}\`: ${meaning}`;
}

/** Whether a word is a modifier or named operand. */
export function isModifier(word: string): boolean {
  return Object.hasOwn(OPERAND_DOCS, word) || (word.startsWith('no') && Object.hasOwn(OPERAND_DOCS, word.slice(2)));
}

/** Markdown about a number: hexadecimal, decimal, the f32 with these bits, and whether it is an inline constant. */
export function numberMarkdown(text: string): string | undefined {
  if (/^(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)$/.test(text) && text.length <= 66) {
    const isOctal = /^0[0-7]+$/.test(text);
    const value = BigInt(isOctal ? `0o${text.slice(1)}` : text.toLowerCase());
    const lines = [`\`${value}\` = \`0x${value.toString(16)}\``];
    if (value <= 0xffffffffn) {
      const view = new DataView(new ArrayBuffer(4));
      view.setUint32(0, Number(value));
      const float = view.getFloat32(0);
      if (value > 64n) lines.push(`as f32 bits: \`${float}\``);
      if (value >= 0x80000000n) lines.push(`as i32: \`${view.getInt32(0)}\``);
      const isInline = value <= 64n || INLINE_FLOATS.includes(float);
      lines.push(isInline ? 'inline constant: takes no literal' : 'needs a 32-bit literal as a source operand');
    }
    return lines.join('\n\n');
  }
  const value = Number(text);
  if (!/^(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat32(0, value);
  const f32 = view.getUint32(0).toString(16).padStart(8, '0');
  view.setFloat64(0, value);
  const f64 = view.getBigUint64(0).toString(16).padStart(16, '0');
  const inline = INLINE_FLOATS.includes(value) ? '\n\ninline constant: takes no literal' : '';
  return `f32 \`0x${f32}\`, f64 \`0x${f64}\`${inline}`;
}

/** Source codes 240–248; negative ones have a minus sign before them in the text. */
const INLINE_FLOATS = [0, 0.5, 1, 2, 4, -0.5, -1, -2, -4, Math.fround(0.15915494309189535), 0.15915494309189532];
