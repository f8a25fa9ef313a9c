// Prints statements as llvm-mc does: directives normalised, instructions with encoding and fixups.
// Sources: llvm/lib/MC/MCAsmStreamer.cpp, MCSectionELF.cpp; AMDGPUTargetStreamer.cpp (AMDGPUTargetAsmStreamer).

import { SectionFlag, SectionType } from '../../codeobject/elf/object-model.ts';
import { metadataToYaml } from '../../codeobject/kernel/metadata-yaml.ts';
import type { MsgPackValue } from '../../codeobject/kernel/msgpack.ts';
import { printInstruction } from '../../isa/print/print.ts';
import type { TargetInfo } from '../../isa/table/targets.ts';
import { exprText, symbolText } from '../../isa/text/expr.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Instruction, Operand, TargetName } from '../../isa/types.ts';
import { type Evaluation, encodeLeb } from '../object/layout.ts';
import type { InstructionFixup, SectionDescription } from '../object/model.ts';
import { FIELD_DIRECTIVES, getBits, type KernelBlock } from './directives/kernel-block.ts';
import { simplifyKnownBits } from './known-bits.ts';
import { fromByteText, toByteText } from './source.ts';

/** What a kernel block is printed with. */
export interface KernelContext {
  readonly evaluation: Evaluation;
  readonly codeObjectVersion: number;
  readonly xnack: boolean;
}

/** Where encodings start: llvm-mc's comment column. */
const COMMENT_COLUMN = 40;
/** Values that stand for symbols while an instruction is printed; no other operand prints like them. */
const LITERAL_MARK = 0x5eed1234;
const BRANCH_MARK = 0xbead;
const IMMEDIATE_MARK = 0x2ead;

const SECTION_TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [SectionType.INIT_ARRAY, 'init_array'],
  [SectionType.FINI_ARRAY, 'fini_array'],
  [SectionType.PREINIT_ARRAY, 'preinit_array'],
  [SectionType.NOBITS, 'nobits'],
  [SectionType.NOTE, 'note'],
  [SectionType.PROGBITS, 'progbits'],
  [0x70000001, 'unwind'],
  [0x6fff4c00, 'llvm_odrtab'],
  [0x6fff4c01, 'llvm_linker_options'],
  [0x6fff4c04, 'llvm_dependent_libraries'],
  [0x6fff4c05, 'llvm_sympart'],
  [0x6fff4c09, 'llvm_call_graph_profile'],
  [0x6fff4c0a, 'llvm_bb_addr_map'],
  [0x6fff4c0b, 'llvm_offloading'],
  [0x6fff4c0c, 'llvm_lto'],
]);

const FLAG_LETTERS: readonly (readonly [number, string])[] = [
  [SectionFlag.ALLOC, 'a'],
  [SectionFlag.EXCLUDE, 'e'],
  [SectionFlag.EXECINSTR, 'x'],
  [SectionFlag.WRITE, 'w'],
  [SectionFlag.MERGE, 'M'],
  [SectionFlag.STRINGS, 'S'],
  [SectionFlag.TLS, 'T'],
  [SectionFlag.LINK_ORDER, 'o'],
  [SectionFlag.GROUP, 'G'],
  [SectionFlag.GNU_RETAIN, 'R'],
];

const DATA_NAMES: Readonly<Record<number, string>> = { 1: '.byte', 2: '.short', 4: '.long', 8: '.quad' };
const OMITTED = ['.text', '.data', '.hsatext', '.hsadata_global_agent', '.hsadata_global_program'];

/** A name as section directives print it. */
function sectionName(name: string): string {
  return /^[0-9_.A-Za-z]*$/.test(name) ? name : `"${name.replaceAll('"', '\\"')}"`;
}

/** A string in quotes, with LLVM's escapes. */
export function quoteString(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.charCodeAt(0);
    const simple = '\b\f\n\r\t'.indexOf(char);
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (code >= 0x20 && code < 0x7f) out += char;
    else if (simple >= 0) out += `\\${'bfnrt'[simple]}`;
    else out += `\\${code.toString(8).padStart(3, '0')}`;
  }
  return `${out}"`;
}

/** Removes the sources of key suffixes: clones print under their own name. */
function printable(expr: Expr): string {
  return exprText(withoutKeys(expr));
}

function withoutKeys(expr: Expr): Expr {
  switch (expr.kind) {
    case 'const':
      return expr;
    case 'symbol': {
      const end = expr.name.indexOf('\0');
      return end < 0 ? expr : { ...expr, name: expr.name.slice(0, end) };
    }
    case 'unary':
      return { ...expr, sub: withoutKeys(expr.sub) };
    case 'binary':
      return { ...expr, lhs: withoutKeys(expr.lhs), rhs: withoutKeys(expr.rhs) };
    case 'call':
      return { ...expr, args: expr.args.map(withoutKeys) };
  }
}

export interface StreamerOptions {
  /** `-show-encoding`. */
  readonly showEncoding?: boolean | undefined;
  /** Receives what `.print` prints. */
  readonly onPrint?: ((text: string) => void) | undefined;
}

/** Collects the printed statements. */
export class AsmStreamer {
  /** Texts of instructions without symbols: a line that comes again gives the same object (known-statements.ts). */
  private readonly texts = new WeakMap<Instruction, string>();
  private readonly options: StreamerOptions;
  private readonly out: string[] = [];
  private current: SectionDescription | undefined;
  private currentSubsection = 0;

  constructor(options: StreamerOptions = {}) {
    this.options = options;
  }

  /** Everything printed so far. */
  text(): string {
    return fromByteText(this.out.join(''));
  }

  /** One complete line. */
  line(text: string): void {
    this.out.push(text, '\n');
  }

  blank(): void {
    this.out.push('\n');
  }

  print(text: string): void {
    this.options.onPrint?.(text);
  }

  target(id: string): void {
    this.line(`\t.amdgcn_target "${id}"`);
  }

  label(name: string): void {
    this.line(`${symbolText(name)}:`);
  }

  assignment(name: string, value: Expr, noDeadStrip: boolean, constant: bigint | undefined): void {
    this.line(`.set ${symbolText(name)}, ${constant === undefined ? printable(value) : constant}`);
    if (noDeadStrip) this.line(`\t.no_dead_strip\t${symbolText(name)}`);
  }

  attribute(directive: string, name: string): void {
    this.line(`\t${directive}\t${symbolText(name)}`);
  }

  type(name: string, type: string): void {
    this.line(`\t.type\t${symbolText(name)},@${type}`);
  }

  size(name: string, value: Expr): void {
    this.line(`\t.size\t${symbolText(name)}, ${printable(value)}`);
  }

  common(directive: string, name: string, size: bigint, power: bigint): void {
    this.line(`\t${directive}\t${symbolText(name)},${size}${directive === '.lcomm' ? '' : `,${power}`}`);
  }

  /** A switch of section; nothing when it is the current one. */
  section(section: SectionDescription, subsection: number): void {
    if (section === this.current && subsection === this.currentSubsection) return;
    this.current = section;
    this.currentSubsection = subsection;
    const { name, type, flags, entrySize, group, linkedTo, uniqueId } = section;
    if (uniqueId === undefined && OMITTED.includes(name)) {
      this.line(subsection === 0 ? `\t${name}` : `\t${name}\t${subsection}`);
      return;
    }
    const letters = FLAG_LETTERS.map(([flag, letter]) => ((flags & flag) !== 0 ? letter : '')).join('');
    const typeName = SECTION_TYPE_NAMES.get(type) ?? `0x${type.toString(16).toUpperCase()}`;
    let text = `\t.section\t${sectionName(name)},"${letters}",@${typeName}`;
    if (entrySize !== 0) text += `,${entrySize}`;
    if ((flags & SectionFlag.LINK_ORDER) !== 0) text += `,${linkedTo === undefined ? '0' : sectionName(linkedTo.name)}`;
    if (group !== undefined) text += `,${sectionName(group.signature)}${group.comdat ? ',comdat' : ''}`;
    if (uniqueId !== undefined) text += `,unique,${uniqueId}`;
    this.line(text);
    if (subsection !== 0) this.line(`\t.subsection\t${subsection}`);
  }

  /** A data value; `constant` is what it is without knowing where labels are. */
  value(value: Expr, size: number, constant: bigint | undefined): void {
    this.line(`\t${DATA_NAMES[size]}\t${constant === undefined ? printable(value) : BigInt.asIntN(64, constant)}`);
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (bytes.length === 1) this.line(`\t.byte\t${bytes[0]}`);
    else {
      const isTerminated = bytes[bytes.length - 1] === 0;
      let text = '';
      for (const byte of isTerminated ? bytes.subarray(0, -1) : bytes) text += String.fromCharCode(byte);
      this.line(`\t${isTerminated ? '.asciz' : '.ascii'}\t${quoteString(text)}`);
    }
  }

  zero(count: Expr, value: bigint): void {
    if (count.kind === 'const' && count.value === 0n) return;
    this.line(`\t.zero\t${printable(count)}${value === 0n ? '' : `,${BigInt.asIntN(32, value)}`}`);
  }

  fill(count: Expr, size: number, value: bigint): void {
    this.line(`\t.fill\t${printable(count)}, ${size}, 0x${BigInt.asUintN(32, value).toString(16)}`);
  }

  align(alignment: number, value: bigint, size: number, maxBytes: number, code: boolean): void {
    const name = code || size === 1 ? '\t.p2align\t' : size === 2 ? '.p2alignw ' : '.p2alignl ';
    let text = `${name}${Math.log2(alignment)}`;
    if (!code) text += `, 0x${BigInt.asUintN(8 * size, value).toString(16)}`;
    else if (maxBytes !== 0) text += ', ';
    this.line(maxBytes === 0 ? text : `${text}, ${maxBytes}`);
  }

  org(target: Expr, value: number): void {
    this.line(`.org ${printable(target)}, ${value}`);
  }

  leb(value: Expr, signed: boolean): void {
    if (value.kind === 'const') this.bytes(encodeLeb(value.value, signed));
    else this.line(`\t.${signed ? 's' : 'u'}leb128 ${printable(value)}`);
  }

  metadata(document: MsgPackValue): void {
    this.out.push(`\t.amdgpu_metadata\n${toByteText(metadataToYaml(document))}\n\t.end_amdgpu_metadata\n`);
  }

  instruction(
    target: TargetName,
    instruction: Instruction,
    bytes: Uint8Array,
    fixups: readonly InstructionFixup[],
  ): void {
    let text = fixups.length === 0 ? this.texts.get(instruction) : undefined;
    if (text === undefined) {
      text = `\t${printWithSymbols(target, instruction, fixups)}`;
      if (fixups.length === 0) this.texts.set(instruction, text);
    }
    if (this.options.showEncoding !== true) {
      this.line(text);
      return;
    }
    const width = text.length - 1;
    const padding = width < COMMENT_COLUMN ? ' '.repeat(COMMENT_COLUMN - width) : ' ';
    this.line(`${text}${padding}; encoding: [${encodingText(bytes, fixups)}]`);
    fixups.forEach((fixup, i) => {
      const letter = String.fromCharCode(65 + i);
      const value = `offset: ${fixup.byteOffset}, value: ${printable(fixup.expr)}, kind: ${fixup.kind}`;
      this.line(`${' '.repeat(COMMENT_COLUMN)};   fixup ${letter} - ${value}`);
    });
  }

  /** A whole `.amdhsa_kernel` block, every directive of the target in LLVM's order. */
  kernel(assembly: KernelContext, info: TargetInfo, kernel: KernelBlock): void {
    const value = (expr: Expr): string => {
      const constant = assembly.evaluation.unplaced(expr);
      return constant === undefined ? printable(simplifyKnownBits(expr)) : BigInt.asUintN(64, constant).toString();
    };
    const line = (name: string, expr: Expr) => this.line(`\t\t.amdhsa_${name} ${value(expr)}`);
    const field = (...names: string[]) => {
      for (const name of names) {
        const directive = FIELD_DIRECTIVES.get(`.amdhsa_${name}`);
        if (directive !== undefined) line(name, getBits(kernel[directive.word], directive.field));
      }
    };
    const isFlat = info.architectedFlatScratch;
    this.line(`\t.amdhsa_kernel ${kernel.name}`);
    line('group_segment_fixed_size', kernel.groupSegmentFixedSize);
    line('private_segment_fixed_size', kernel.privateSegmentFixedSize);
    line('kernarg_size', kernel.kernargSize);
    line('user_sgpr_count', getBits(kernel.rsrc2, USER_SGPR_COUNT));
    if (!isFlat) field('user_sgpr_private_segment_buffer');
    field('user_sgpr_dispatch_ptr', 'user_sgpr_queue_ptr', 'user_sgpr_kernarg_segment_ptr', 'user_sgpr_dispatch_id');
    if (!isFlat) field('user_sgpr_flat_scratch_init');
    line('user_sgpr_kernarg_preload_length', getBits(kernel.preload, PRELOAD_LENGTH));
    line('user_sgpr_kernarg_preload_offset', getBits(kernel.preload, PRELOAD_OFFSET));
    field('user_sgpr_private_segment_size');
    if (assembly.codeObjectVersion >= 5) field('uses_dynamic_stack');
    field(isFlat ? 'enable_private_segment' : 'system_sgpr_private_segment_wavefront_offset');
    field('system_sgpr_workgroup_id_x', 'system_sgpr_workgroup_id_y', 'system_sgpr_workgroup_id_z');
    field('system_sgpr_workgroup_info', 'system_vgpr_workitem_id');
    line('next_free_vgpr', kernel.nextFreeVgpr);
    line('next_free_sgpr', kernel.nextFreeSgpr);
    line('accum_offset', accumOffset(kernel));
    line('reserve_vcc', kernel.reserveVcc);
    if (!isFlat) line('reserve_flat_scratch', kernel.reserveFlatScratch);
    if (assembly.codeObjectVersion <= 5 && info.supportsXnack)
      this.line(`\t\t.amdhsa_reserve_xnack_mask ${assembly.xnack ? 1 : 0}`);
    field('float_round_mode_32', 'float_round_mode_16_64', 'float_denorm_mode_32', 'float_denorm_mode_16_64');
    field('dx10_clamp', 'ieee_mode', 'fp16_overflow', 'tg_split');
    field('exception_fp_ieee_invalid_op', 'exception_fp_denorm_src', 'exception_fp_ieee_div_zero');
    field('exception_fp_ieee_overflow', 'exception_fp_ieee_underflow', 'exception_fp_ieee_inexact');
    field('exception_int_div_zero');
    this.line('\t.end_amdhsa_kernel');
  }
}

const USER_SGPR_COUNT = { name: 'userSgprCount', shift: 1, width: 5 };
const PRELOAD_LENGTH = { name: 'length', shift: 0, width: 7 };
const PRELOAD_OFFSET = { name: 'offset', shift: 7, width: 9 };
const ACCUM_OFFSET = { name: 'accumOffset', shift: 0, width: 6 };

/** `(stored + 1) * 4`. */
function accumOffset(kernel: KernelBlock): Expr {
  const stored = getBits(kernel.rsrc3, ACCUM_OFFSET);
  const next: Expr = { kind: 'binary', op: '+', lhs: stored, rhs: { kind: 'const', value: 1n } };
  return { kind: 'binary', op: '*', lhs: next, rhs: { kind: 'const', value: 4n } };
}

/** The text of an instruction with the expressions of its fixups in place of their operands. */
function printWithSymbols(target: TargetName, instruction: Instruction, fixups: readonly InstructionFixup[]): string {
  if (fixups.length === 0) return printInstruction(target, instruction);
  const operands: Operand[] = [...instruction.operands];
  const marks: (readonly [string, string])[] = [];
  for (const { kind, operandIndex, expr } of fixups) {
    const text = printable(expr);
    if (operands[operandIndex].kind === 'literal') {
      operands[operandIndex] = { kind: 'literal', bits: LITERAL_MARK };
      marks.push([`0x${LITERAL_MARK.toString(16)}`, text]);
    } else if (kind === 'fixup_si_sopp_br') {
      operands[operandIndex] = { kind: 'imm', value: BRANCH_MARK };
      marks.push([String(BRANCH_MARK), text]);
    } else {
      operands[operandIndex] = { kind: 'imm', value: IMMEDIATE_MARK };
      marks.push([`0x${IMMEDIATE_MARK.toString(16)}`, text], [String(IMMEDIATE_MARK), text]);
    }
  }
  let text = printInstruction(target, { ...instruction, operands });
  for (const [mark, symbol] of marks) text = text.replace(mark, () => symbol);
  return text;
}

/** Encoding bytes; bytes of a fixup are its letter, in quotes after bits that are already set. */
function encodingText(bytes: Uint8Array, fixups: readonly InstructionFixup[]): string {
  const letters: string[] = [];
  fixups.forEach((fixup, i) => {
    const size = fixup.kind === 'fixup_si_sopp_br' || fixup.kind === 'FK_Data_2' ? 2 : 4;
    for (let at = 0; at < size; at++) letters[fixup.byteOffset + at] = String.fromCharCode(65 + i);
  });
  const parts: string[] = [];
  bytes.forEach((byte, i) => {
    const hex = `0x${byte.toString(16).padStart(2, '0')}`;
    const letter = letters[i];
    parts.push(letter === undefined ? hex : byte === 0 ? letter : `${hex}'${letter}'`);
  });
  return parts.join(',');
}
