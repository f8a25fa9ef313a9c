// Operand fields to operands: every field becomes a table lookup, filled on first use of a value.
// Source: the operand decoders of LLVM's AMDGPUDisassembler.cpp.
import { operandIndex } from '../operand.ts';
import { SDWA_SELECTORS } from '../table/field-names.ts';
import { type OperandClass, operandClass } from '../table/operand-classes.ts';
import { agpr, registerFromEncoding, special, vgpr } from '../table/registers.ts';
import type { Immediate, InlineConstant, InstructionRow, Operand } from '../types.ts';

const LITERAL_CODE = 255;
const VCC_CODE = 106;

const immediates: Immediate[] = [];

/** An interned immediate for small values, a new one otherwise. */
export function immediate(value: number): Immediate {
  if (value < 0 || value >= 65536) return { kind: 'imm', value };
  let known = immediates[value];
  if (known === undefined) {
    known = { kind: 'imm', value };
    immediates[value] = known;
  }
  return known;
}

const inlines: (InlineConstant | undefined)[] = [];

/** The interned inline constant of a source encoding (128–208, 240–248). */
export function inlineConstant(encoding: number): InlineConstant {
  let known = inlines[encoding];
  if (known === undefined) {
    known = { kind: 'inline', encoding };
    inlines[encoding] = known;
  }
  return known;
}

/** Where a literal would be, and the literal once it was read. */
export interface LiteralState {
  /** The constant of V_MADMK and the like, which a literal source of the same instruction repeats. */
  constant: number | undefined;
  bytes: Uint8Array;
  /** Where a literal would start, and the end of the readable bytes. */
  next: number;
  end: number;
  literal: number;
  hasLiteral: boolean;
}

/** The little-endian dword at `at`, unsigned. */
export function readU32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

function decodeLiteral(state: LiteralState): Operand | undefined {
  if (state.constant !== undefined) return { kind: 'literal', bits: state.constant };
  if (!state.hasLiteral) {
    if (state.next + 4 > state.end) return undefined;
    state.literal = readU32(state.bytes, state.next);
    state.next += 4;
    state.hasLiteral = true;
  }
  return { kind: 'literal', bits: state.literal };
}

type Lookup = (value: number) => Operand | undefined;

/** Scalar registers and inline constants of an 8-bit source code. */
function scalarSource(value: number, dwords: number): Operand | undefined {
  if ((value >= 128 && value <= 208) || (value >= 240 && value <= 248)) return inlineConstant(value);
  return value === LITERAL_CODE ? undefined : registerFromEncoding(value, dwords);
}

function vector(value: number, dwords: number, accumulator: boolean): Operand | undefined {
  return accumulator ? agpr(value & 255, dwords) : vgpr(value & 255, dwords);
}

const FLOAT_CODES: readonly number[] = [
  0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
];

/** The constant of V_MADMK and the like, with what LLVM shows for it (see `Literal.shown`). */
function mandatoryLiteral(bits: number, half: boolean): Operand {
  if (bits >= 240 && bits <= 248) return { kind: 'literal', bits, shown: FLOAT_CODES[bits - 240] as number };
  if (bits < 128 || bits > 208) return { kind: 'literal', bits };
  const integer = bits <= 192 ? bits - 128 : 192 - bits;
  return { kind: 'literal', bits, shown: half ? integer & 0xffff : integer >>> 0 };
}

function isSelector(cls: OperandClass): boolean {
  return cls.parse.startsWith('SDWASel');
}

/** What a field of this class and width means, literals aside. */
function lookupOf(cls: OperandClass, width: number, signed: boolean): Lookup {
  const { dwords } = cls;
  switch (cls.decode) {
    case 'imm':
      if (signed) return (value) => immediate((value << (32 - width)) >> (32 - width));
      // Selector 7 has no meaning; LLVM crashes printing it.
      if (isSelector(cls)) return (v) => (v < SDWA_SELECTORS.length ? immediate(v) : undefined);
      return immediate;
    case 'vgpr':
      return (value) => vgpr(value, dwords);
    case 'agpr':
      return (value) => agpr(value, dwords);
    case 'sreg':
      return (value) => scalarSource(value, dwords);
    case 'src9':
    case 'bool':
      return (value) => (value >= 256 ? vgpr(value - 256, dwords) : scalarSource(value, dwords));
    case 'srcA9':
      return (value) => (value >= 256 ? agpr(value - 256, dwords) : scalarSource(value, dwords));
    case 'srcAV10':
      return (v) => ((v & 256) !== 0 ? vector(v, dwords, (v & 512) !== 0) : scalarSource(v & 255, dwords));
    case 'av10':
    case 'avLdSt':
      return (value) => vector(value, dwords, (value & 512) !== 0);
    case 'sdwaSrc':
      return (value) => (value < 256 ? vgpr(value, dwords) : scalarSource(value - 256, dwords));
    case 'sdwaDst':
      return (value) => ((value & 128) !== 0 ? registerFromEncoding(value & 127, 2) : special(VCC_CODE, 2));
    case 'literal':
      return (value) => mandatoryLiteral(value >>> 0, cls.operandType === 'KIMM16');
  }
}

/** Classes whose code 255 (in the low 8 bits, bit 8 clear) is a literal. */
const TAKES_LITERAL = new Set(['sreg', 'src9', 'bool', 'srcA9', 'srcAV10']);

function isAgpr(operand: Operand | undefined): boolean {
  return operand?.kind === 'reg' && operand.file === 'a';
}

/** Memory data without an accumulator bit follows another operand into the AGPR file: `vdst`, or `data0` for `data1` of DS. */
function leaderOf(row: InstructionRow, index: number): number {
  const name = row.operands[index]?.name;
  const isDs = row.encoding === 'DS';
  const leader = isDs && name === 'data1' ? 'data0' : name === (isDs ? 'data0' : 'vdata') ? 'vdst' : undefined;
  return leader === undefined ? -1 : operandIndex(row, leader);
}

/** A piece of an operand's bits: `mask` from bit `low` of a dword on, at `shift` of the operand's value. */
export interface FieldPart {
  readonly word: number;
  readonly low: number;
  readonly mask: number;
  readonly shift: number;
}

/** Operands by field value for one class of operand and width of field; rows share it, and a value is looked up once. */
class FieldTable {
  private readonly lookup: Lookup;
  private readonly takesLiteral: boolean;
  /** Operands by value, where the field is narrow enough. */
  private readonly values: (Operand | undefined)[] | undefined;

  constructor(cls: OperandClass, width: number, signed: boolean) {
    this.lookup = lookupOf(cls, width, signed);
    this.takesLiteral = TAKES_LITERAL.has(cls.decode);
    this.values = width <= 10 ? [] : undefined;
  }

  operand(value: number, state: LiteralState): Operand | undefined {
    if (this.values === undefined) return this.lookup(value);
    const known = this.values[value];
    if (known !== undefined) return known;
    if (this.takesLiteral && (value & 0x1ff) === LITERAL_CODE) return decodeLiteral(state);
    const made = this.lookup(value);
    this.values[value] = made;
    return made;
  }
}

const fieldTables = new Map<string, FieldTable>();

/** How one operand of a row is decoded. */
export class Step {
  /** What tells apart how two operands are decoded from their values: class, width and sign of the field. */
  readonly key: string;
  /** The bits of the encoding that make the operand's value; none for an operand without bits. */
  readonly parts: readonly FieldPart[];
  /** Number of bits of the value. */
  readonly width: number;
  /** The operand before this one that decides whether it is an AGPR, or -1. */
  readonly leader: number;
  /** Whether every value is an immediate, and whether its highest bit is a sign. */
  readonly isNumber: boolean;
  readonly isSigned: boolean;
  private readonly word: number;
  private readonly low: number;
  private readonly mask: number;
  private readonly shift: number;
  private readonly isSplit: boolean;
  private readonly table: FieldTable;

  constructor(row: InstructionRow, index: number) {
    const cls = operandClass((row.operands[index] as { cls: string }).cls);
    const parts: FieldPart[] = [];
    let width = 0;
    for (const field of row.fields) {
      if (field.operand !== index) continue;
      const mask = field.width === 32 ? 0xffffffff : (1 << field.width) - 1;
      parts.push({ word: field.at >> 5, low: field.at & 31, mask, shift: field.shift });
      width = Math.max(width, field.shift + field.width);
    }
    const first = parts[0] ?? { word: 0, low: 0, mask: 0, shift: 0 };
    this.parts = parts;
    this.width = width;
    this.word = first.word;
    this.low = first.low;
    this.mask = first.mask;
    this.shift = first.shift;
    this.isSplit = parts.length > 1;
    const flat = cls.name === 'flat_offset' && (row.flags.has('FlatGlobal') || row.flags.has('FlatScratch'));
    const signed = cls.signed || flat;
    this.isSigned = signed;
    this.isNumber = cls.decode === 'imm' && (signed || !isSelector(cls));
    this.key = `${cls.name}:${width}:${signed}`;
    let table = fieldTables.get(this.key);
    if (table === undefined) {
      table = new FieldTable(cls, width, signed);
      fieldTables.set(this.key, table);
    }
    this.table = table;
    this.leader = cls.decode === 'avLdSt' ? leaderOf(row, index) : -1;
  }

  /** The operand in an encoding, or undefined when its code has no meaning. `operands` are those before it. */
  decode(words: Int32Array, operands: readonly Operand[], state: LiteralState): Operand | undefined {
    let value = (((words[this.word] as number) >>> this.low) & this.mask) << this.shift;
    if (this.isSplit) {
      for (let i = 1; i < this.parts.length; i++) {
        const part = this.parts[i] as FieldPart;
        value |= (((words[part.word] as number) >>> part.low) & part.mask) << part.shift;
      }
    }
    if (this.leader >= 0 && isAgpr(operands[this.leader])) value |= 512;
    return this.table.operand(value, state);
  }
}
