// Registers as written in a source: which file a token names, and what each special register is.
// Source: CDNA3 ISA manual, sections "Scalar ALU Operands" and "Program State".
import { registerFromText } from '../isa/table/registers.ts';
import type { RegisterFile } from '../isa/types.ts';

const TUPLE = /^(v|a|s|ttmp)\[/;

/** The file of a register text (`v3`, `s[4:5]`, `vcc`), or undefined when it is no register. */
export function registerFile(text: string): RegisterFile | undefined {
  const tuple = TUPLE.exec(text);
  if (tuple !== null) return tuple[1] as RegisterFile;
  return registerFromText(text)?.file;
}

/** Whether an identifier alone names a register. */
export function isRegisterName(name: string): boolean {
  return registerFromText(name) !== undefined;
}

/** What special registers are, by name. */
export const SPECIAL_REGISTERS: Readonly<Record<string, string>> = {
  vcc: 'Vector condition code: one bit per lane, written by `v_cmp` and carries, read by `v_cndmask_b32` and carries. 64 bits.',
  vcc_lo: 'Bits 31:0 of VCC: lanes 0–31.',
  vcc_hi: 'Bits 63:32 of VCC: lanes 32–63.',
  exec: 'Execute mask: one bit per lane; lanes whose bit is 0 do not execute vector instructions. 64 bits.',
  exec_lo: 'Bits 31:0 of EXEC: lanes 0–31.',
  exec_hi: 'Bits 63:32 of EXEC: lanes 32–63.',
  m0: 'Memory register: LDS address of `lds` loads, index of `s_movrel*` and of `ds_*_addtid`, data of `s_sendmsg`.',
  scc: 'Scalar condition code, one bit: written by scalar compares, arithmetic and logic, read by `s_cbranch_scc*`, `s_cselect`, `s_addc_u32`.',
  src_scc: 'The SCC bit as a source operand.',
  vccz: '1 when VCC is zero.',
  src_vccz: '1 when VCC is zero, as a source operand.',
  execz: '1 when EXEC is zero.',
  src_execz: '1 when EXEC is zero, as a source operand.',
  flat_scratch:
    'Base address of the scratch aperture for flat instructions (two SGPRs; on gfx942 and gfx950 the hardware keeps it).',
  flat_scratch_lo: 'Bits 31:0 of FLAT_SCRATCH.',
  flat_scratch_hi: 'Bits 63:32 of FLAT_SCRATCH.',
  src_flat_scratch_base_lo: 'Bits 31:0 of the scratch base, as a source operand.',
  src_flat_scratch_base_hi: 'Bits 63:32 of the scratch base, as a source operand.',
  xnack_mask: 'Lanes whose memory access is replayed after a page fault (targets with XNACK on).',
  xnack_mask_lo: 'Bits 31:0 of XNACK_MASK.',
  xnack_mask_hi: 'Bits 63:32 of XNACK_MASK.',
  src_shared_base: 'Base of the LDS aperture in flat addresses; as a 64-bit source its upper half is in bits 63:32.',
  src_shared_limit: 'Last address of the LDS aperture in flat addresses.',
  src_private_base: 'Base of the scratch aperture in flat addresses.',
  src_private_limit: 'Last address of the scratch aperture in flat addresses.',
  src_pops_exiting_wave_id: 'Id of the exiting wave for pixel ordering; without use in compute.',
  src_lds_direct: 'A dword read from LDS at the address in M0, as a source operand of a vector instruction.',
  null: 'Reads as zero, writes are dropped.',
  shared_base: 'Another spelling of `src_shared_base`.',
  shared_limit: 'Another spelling of `src_shared_limit`.',
  private_base: 'Another spelling of `src_private_base`.',
  private_limit: 'Another spelling of `src_private_limit`.',
  pops_exiting_wave_id: 'Another spelling of `src_pops_exiting_wave_id`.',
  lds_direct: 'Another spelling of `src_lds_direct`.',
};

const FILES: Readonly<Record<Exclude<RegisterFile, 'special'>, string>> = {
  v: 'vector register: one dword per lane',
  a: 'accumulation register: one dword per lane, next to the VGPRs behind `.amdhsa_accum_offset`; matrix instructions, loads and stores use it directly',
  s: 'scalar register: one dword per wavefront',
  ttmp: 'trap temporary: scalar, for the trap handler; kernels may only read it',
};

/** Markdown about a register text, or undefined when it is none. */
export function registerDocumentation(text: string): string | undefined {
  if (Object.hasOwn(SPECIAL_REGISTERS, text)) return `**\`${text}\`** — ${SPECIAL_REGISTERS[text]}`;
  const register = registerFromText(text.replaceAll(/\s/g, ''));
  if (register === undefined || register.file === 'special') return undefined;
  const name = { v: 'VGPR', a: 'AGPR', s: 'SGPR', ttmp: 'TTMP' }[register.file];
  const { index, dwords } = register;
  const range = dwords === 1 ? `${name} ${index}` : `${name}s ${index} to ${index + dwords - 1}, ${dwords * 32} bits`;
  return `**\`${register.text}\`** — ${range}; ${FILES[register.file]}.`;
}
