// What instructions do, for hover and completion: the table's meaning, syntax, operands, wait counter and matrix passes
// (`wavesmith isa`), and a sentence for those whose effect is no expression. Source: CDNA3 ISA manual.

import { encodeInto } from '../isa/codec/encode.ts';
import { InstructionParser } from '../isa/parse/parse.ts';
import { describeInstruction, type EncodingDescription, type InstructionDescription } from '../isa/print/describe.ts';
import { printerFor } from '../isa/print/print.ts';
import { Lexer } from '../isa/text/lexer.ts';
import type { TargetName } from '../isa/types.ts';

const CACHE = 'Cache control:';

/** Effects that the table has only a name for, by operation. */
const EFFECTS: Readonly<Record<string, string>> = {
  s_nop: 'Does nothing for SIMM16 + 1 cycles (0 to 7 more): the wait states of hazards.',
  s_waitcnt: 'Waits until the counters named are at most the values given: memory results are in their registers then.',
  s_barrier: 'Waits until all wavefronts of the workgroup are here.',
  s_endpgm: 'Ends the wavefront.',
  s_endpgm_saved: 'Ends the wavefront after a context save.',
  s_endpgm_ordered_ps_done: 'Ends the wavefront and tells pixel ordering.',
  s_branch: 'Goes to the target.',
  s_cbranch_scc0: 'Goes to the target when SCC is 0.',
  s_cbranch_scc1: 'Goes to the target when SCC is 1.',
  s_cbranch_vccz: 'Goes to the target when VCC is zero.',
  s_cbranch_vccnz: 'Goes to the target when VCC is not zero.',
  s_cbranch_execz: 'Goes to the target when EXEC is zero: no lane is active.',
  s_cbranch_execnz: 'Goes to the target when EXEC is not zero: some lane is active.',
  s_cbranch_cdbgsys: 'Goes to the target when the system debug flag is set.',
  s_cbranch_cdbguser: 'Goes to the target when the user debug flag is set.',
  s_cbranch_cdbgsys_or_user: 'Goes to the target when one debug flag is set.',
  s_cbranch_cdbgsys_and_user: 'Goes to the target when both debug flags are set.',
  s_getpc_b64: 'The address of the next instruction.',
  s_setpc_b64: 'Goes to an address in SGPRs.',
  s_swappc_b64: 'Calls: goes to an address in SGPRs and keeps that of the next instruction.',
  s_call_b64: 'Calls: goes to the target and keeps the address of the next instruction.',
  s_getreg_b32: 'Reads bits of a hardware register.',
  s_setreg_b32: 'Writes bits of a hardware register.',
  s_setreg_imm32_b32: 'Writes bits of a hardware register with a literal.',
  s_sendmsg: 'Sends a message; M0 is its data.',
  s_sendmsghalt: 'Sends a message and halts.',
  s_sleep: 'Sleeps for about 64 × SIMM16 cycles.',
  s_setprio: 'Sets the wavefront’s issue priority, 0 to 3.',
  s_sethalt: 'Halts or resumes the wavefront.',
  s_setkill: 'Marks the wavefront to be ended.',
  s_setvskip: 'Skips vector instructions while on.',
  s_trap: 'Enters the trap handler.',
  s_wakeup: 'Wakes sleeping wavefronts of the workgroup.',
  s_ttracedata: 'Writes M0 to the thread trace.',
  s_incperflevel: 'Raises a performance counter level.',
  s_decperflevel: 'Lowers a performance counter level.',
  s_memtime: 'The cycle counter, 64 bits.',
  s_memrealtime: 'The constant-rate clock, 64 bits.',
  s_icache_inv: `${CACHE} invalidates the instruction cache.`,
  s_dcache_inv: `${CACHE} invalidates the scalar data cache.`,
  s_dcache_inv_vol: `${CACHE} invalidates the volatile lines of the scalar data cache.`,
  s_dcache_wb: `${CACHE} writes the scalar data cache back.`,
  s_dcache_wb_vol: `${CACHE} writes the volatile lines of the scalar data cache back.`,
  s_dcache_discard: `${CACHE} discards a line of the scalar data cache.`,
  s_dcache_discard_x2: `${CACHE} discards two lines of the scalar data cache.`,
  s_atc_probe: 'Asks for an address translation ahead of use.',
  s_atc_probe_buffer: 'Asks for the address translation of a buffer ahead of use.',
  buffer_wbl2: `${CACHE} writes dirty lines of L2 back, to make stores visible outside the device.`,
  buffer_inv: `${CACHE} invalidates vector caches up to the scope sc0, sc1, so that later loads see others’ stores.`,
  buffer_invl2: `${CACHE} invalidates lines of L2.`,
  buffer_wbinvl1: `${CACHE} invalidates the vector L1 cache.`,
  buffer_wbinvl1_vol: `${CACHE} invalidates the volatile lines of the vector L1 cache.`,
  s_movrels_b32: 'Reads the SGPR at the source’s number plus M0.',
  s_movrels_b64: 'Reads the SGPR pair at the source’s number plus M0.',
  s_movreld_b32: 'Writes the SGPR at the destination’s number plus M0.',
  s_movreld_b64: 'Writes the SGPR pair at the destination’s number plus M0.',
  s_set_gpr_idx_on: 'VGPR indexing on: the index goes to M0, the operands named are indexed.',
  s_set_gpr_idx_off: 'VGPR indexing off.',
  s_set_gpr_idx_idx: 'Sets the index of VGPR indexing in M0.',
  s_set_gpr_idx_mode: 'Chooses the operands that VGPR indexing applies to.',
  v_nop: 'Does nothing.',
  v_clrexcp: 'Clears the wavefront’s exceptions.',
  v_readfirstlane_b32: 'An SGPR gets the value of the first active lane (lane 0 when none is).',
  v_readlane_b32: 'An SGPR gets the value of one lane, active or not.',
  v_writelane_b32: 'One lane of a VGPR gets a scalar value, active or not.',
  v_swap_b32: 'Two VGPRs change places.',
  v_permlane16_swap_b32: 'Odd rows of 16 lanes of the first register change places with even rows of the second.',
  v_permlane32_swap_b32: 'The upper 32 lanes of the first register change places with the lower 32 of the second.',
  v_mfma_ld_scale_b32: 'Loads the block scales for the matrix instruction that follows.',
  ds_nop: 'Does nothing.',
  ds_append: 'Adds the number of active lanes to a counter in LDS; returns the old value.',
  ds_consume: 'Subtracts the number of active lanes from a counter in LDS; returns the old value.',
  ds_permute_b32: 'Each lane sends its data to the lane addr / 4.',
  ds_bpermute_b32: 'Each lane reads the data of the lane addr / 4.',
  ds_swizzle_b32: 'Lanes exchange data by the pattern in `offset`.',
  ds_condxchg32_rtn_b64: 'Exchanges each dword whose bit 31 is set.',
  ds_read_addtid_b32: 'Reads LDS at M0 + offset + 4 × lane.',
  ds_write_addtid_b32: 'Writes LDS at M0 + offset + 4 × lane.',
  ds_read_b64_tr_b4: 'Reads LDS and transposes 4-bit elements across 16 lanes, for matrix operands.',
  ds_read_b64_tr_b8: 'Reads LDS and transposes 8-bit elements across 16 lanes, for matrix operands.',
  ds_read_b64_tr_b16: 'Reads LDS and transposes 16-bit elements across 16 lanes, for matrix operands.',
  ds_read_b96_tr_b6: 'Reads LDS and transposes 6-bit elements across 16 lanes, for matrix operands.',
};

/** The operation of a mnemonic as written. */
function operation(mnemonic: string): string {
  return mnemonic.replace(/_(?:e32|e64|sdwa|dpp)$/, '');
}

/** What an instruction does, as lines. */
function meaningLines({ mnemonic, meaning }: InstructionDescription): readonly string[] {
  const effect = EFFECTS[operation(mnemonic)];
  if (effect !== undefined) return [effect];
  return meaning.map((line) => line.replace(/^unreachable: reason /, 'Not used by compute kernels: '));
}

const descriptions = new Map<string, InstructionDescription | undefined>();

/** The description of a mnemonic, kept. */
export function descriptionOf(mnemonic: string, target: TargetName): InstructionDescription | undefined {
  const key = `${target} ${mnemonic}`;
  if (!descriptions.has(key)) descriptions.set(key, describeInstruction(mnemonic, target));
  return descriptions.get(key);
}

function operandRows(encoding: EncodingDescription): string[] {
  return encoding.operands.map(
    (o) => `| \`${o.name}\` | ${o.direction} | ${o.kind} | ${o.accepts.replaceAll('|', '\\|')} |`,
  );
}

/** The syntax with a space before each optional operand. */
export function syntaxText({ syntax }: EncodingDescription): string {
  return syntax.replace(/(\S)\[/g, '$1 [');
}

/** An instruction of a text as the table sees it: its encoding and bytes, when it is complete and names no symbols. */
export interface Encoded {
  readonly record: string;
  readonly hex: string;
  readonly text: string;
}

/** Parses and encodes one statement; undefined when it is not a complete instruction. */
export function encodeStatement(text: string, target: TargetName): Encoded | undefined {
  const lexer = new Lexer(text);
  if (!lexer.nextStatement()) return undefined;
  const context = { target, xnack: false, constant: () => undefined, here: () => '.', numericLabel: () => '.Lnumeric' };
  const parsed = new InstructionParser(lexer, context).parse();
  if (parsed === undefined || lexer.diagnostics.length > 0) return undefined;
  const bytes = new Uint8Array(32);
  const size = encodeInto(parsed.instruction, bytes, 0);
  const hex: string[] = [];
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < size; at += 4) hex.push(view.getUint32(at, true).toString(16).toUpperCase().padStart(8, '0'));
  const shown = printerFor(target).print(parsed.instruction);
  return { record: parsed.instruction.row.name, hex: hex.join(' '), text: parsed.fixups.length > 0 ? '' : shown };
}

/** Markdown about an instruction; with the statement's text also how it is encoded here. */
export function instructionMarkdown(mnemonic: string, target: TargetName, statement?: string): string | undefined {
  const description = descriptionOf(mnemonic, target);
  if (description === undefined) return undefined;
  const encoded = statement === undefined ? undefined : encodeStatement(statement, target);
  const own = description.encodings.find((e) => e.record === encoded?.record);
  const encoding = own ?? (description.encodings[0] as EncodingDescription);
  const lines = [
    `**\`${mnemonic}\`** on ${target}`,
    ...meaningLines(description).map((l) => (EFFECTS[operation(mnemonic)] ? l : `\`${l}\``)),
  ];
  const shown = own === undefined ? description.encodings : [own];
  lines.push(
    `\`\`\`asm\n${shown.map((e) => `${syntaxText(e)}    ; ${e.encoding}, ${e.bytes} bytes`).join('\n')}\n\`\`\``,
  );
  if (encoded !== undefined) {
    lines.push(`Encoded \`${encoded.hex}\`${encoded.text === '' ? ' without its symbol' : ''}`);
  }
  if (encoding.operands.length > 0) {
    lines.push(`| operand | | kind | accepts |\n|---|---|---|---|\n${operandRows(encoding).join('\n')}`);
  }
  const facts: string[] = [];
  if (encoding.reads.length > 0) facts.push(`reads ${encoding.reads.join(', ')}`);
  if (encoding.writes.length > 0) facts.push(`writes ${encoding.writes.join(', ')}`);
  if (encoding.waitCounters.length > 0) facts.push(`increments **${encoding.waitCounters.join(', ')}**`);
  const { matrixPasses } = encoding;
  if (matrixPasses !== undefined) facts.push(`${matrixPasses} matrix passes (${4 * matrixPasses} cycles)`);
  if (facts.length > 0) lines.push(facts.join(' · '));
  if (own !== undefined) {
    const bits = own.fields.map((f) => `${`${f.high}:${f.low}`.padEnd(7)}${f.content}`);
    lines.push(`\`\`\`text\n${bits.join('\n')}\n\`\`\``);
  }
  return lines.join('\n\n');
}

/** One line about an instruction, for completion lists. */
export function instructionSummary(mnemonic: string, target: TargetName): string {
  const description = descriptionOf(mnemonic, target);
  return description === undefined ? '' : syntaxText(description.encodings[0] as EncodingDescription);
}
