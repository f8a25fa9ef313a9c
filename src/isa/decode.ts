// Bytes to instructions. One decoder per target: rows are tried in the order of LLVM's decoder tables (namespaces), the most
// specific fixed bits first within a table; an operand that cannot be decoded ends that table.
// Source: LLVM's AMDGPUDisassembler.cpp and the decoder tables TableGen makes of the rows.
import { SDWA_SELECTORS } from './names.ts';
import { isMember, operandClass } from './operands.ts';
import { agpr, fitsFile, registerFromEncoding, registerTuple, special, vgpr } from './registers.ts';
import { tableFor } from './table.ts';
import { targetInfo } from './targets.ts';
import type { Immediate, InlineConstant, Instruction, InstructionRow, Operand, Register, TargetName } from './types.ts';

/** Decodes instructions of one target. Stateless between calls as far as callers can see. */
export interface Decoder {
  readonly target: TargetName;
  /**
   * How often so far an encoding matched but one of its operands could not be decoded (unused source code, literal cut off).
   * LLVM 22 itself crashes on most of these inputs, so comparisons leave them out.
   */
  readonly operandFailures: number;
  /**
   * The instruction at `offset`, looking at no byte from `end` on; undefined when LLVM would report an invalid encoding. An
   * undecodable position has no size: disassemblers step over 4 bytes.
   */
  decode(bytes: Uint8Array, offset: number, end?: number): Instruction | undefined;
}

/** Order in which LLVM tries its tables, by size in bytes and namespace. */
const TABLE_ORDER: readonly (readonly [number, string])[] = [
  [16, 'GFX940'],
  [8, 'GFX9_DL'],
  [8, 'GFX950'],
  [8, 'GFX940'],
  [8, 'GFX90A'],
  [8, 'GFX8'],
  [8, 'GFX9'],
  [4, 'GFX8'],
  [4, 'GFX950'],
  [4, 'GFX9'],
  [4, 'GFX90A'],
];

const LITERAL_CODE = 255;

const immediates: Immediate[] = [];

/** An interned immediate for small values, a new one otherwise. */
export function immediate(value: number): Immediate {
  if (value < 0 || value >= 8192) return { kind: 'imm', value };
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

/** What operand decoding sees of the instruction so far. */
interface State {
  /** The constant of V_MADMK and the like, which a literal source of the same instruction repeats. */
  constant: number | undefined;
  /** Operands already decoded. */
  operands: Operand[];
  bytes: Uint8Array;
  /** Where a literal would start, and the end of the readable bytes. */
  next: number;
  end: number;
  literal: number;
  hasLiteral: boolean;
}

type DecodeOperand = (value: number, state: State) => Operand | undefined;

function readU32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

function decodeLiteral(state: State): Operand | undefined {
  if (state.constant !== undefined) return { kind: 'literal', bits: state.constant };
  if (!state.hasLiteral) {
    if (state.next + 4 > state.end) return undefined;
    state.literal = readU32(state.bytes, state.next);
    state.next += 4;
    state.hasLiteral = true;
  }
  return { kind: 'literal', bits: state.literal };
}

/** Scalar registers, constants, literal and special registers of an 8-bit source code. */
function decodeScalarSource(value: number, dwords: number, state: State): Operand | undefined {
  if (value >= 128 && value <= 208) return inlineConstant(value);
  if (value >= 240 && value <= 248) return inlineConstant(value);
  if (value === LITERAL_CODE) return decodeLiteral(state);
  return registerFromEncoding(value, dwords);
}

function source(dwords: number, accumulators: 'never' | 'always' | 'bit9'): DecodeOperand {
  return (value, state) => {
    if ((value & 256) !== 0) {
      const accumulator = accumulators === 'always' || (accumulators === 'bit9' && (value & 512) !== 0);
      return accumulator ? agpr(value & 255, dwords) : vgpr(value & 255, dwords);
    }
    return decodeScalarSource(value & 255, dwords, state);
  };
}

function isAgpr(operand: Operand | undefined): boolean {
  return operand?.kind === 'reg' && operand.file === 'a';
}

/** Memory data: bit 9 selects AGPRs; without it the data follows `vdst`, and a second DS data operand follows the first. */
function memoryData(row: InstructionRow, index: number, dwords: number): DecodeOperand {
  const name = row.operands[index]?.name;
  const isDs = row.encoding === 'DS';
  const leader = isDs && name === 'data1' ? 'data0' : name === (isDs ? 'data0' : 'vdata') ? 'vdst' : undefined;
  const leaderIndex = leader === undefined ? -1 : row.operands.findIndex((o) => o.name === leader);
  return (value, state) => {
    const accumulator = (value & 512) !== 0 || (leaderIndex >= 0 && isAgpr(state.operands[leaderIndex]));
    return accumulator ? agpr(value & 255, dwords) : vgpr(value & 255, dwords);
  };
}

function sdwaSource(dwords: number): DecodeOperand {
  return (value) => {
    if (value < 256) return vgpr(value, dwords);
    const scalar = value - 256;
    if (scalar >= 128 && scalar <= 208) return inlineConstant(scalar);
    if (scalar >= 240 && scalar <= 248) return inlineConstant(scalar);
    return scalar > 255 ? undefined : registerFromEncoding(scalar, dwords);
  };
}

function signExtend(width: number): DecodeOperand {
  const shift = 32 - width;
  return (value) => immediate((value << shift) >> shift);
}

function decoderOf(row: InstructionRow, index: number, width: number): DecodeOperand {
  const cls = operandClass((row.operands[index] as { cls: string }).cls);
  switch (cls.decode) {
    case 'imm': {
      const flat = cls.name === 'flat_offset' && (row.flags.has('FlatGlobal') || row.flags.has('FlatScratch'));
      if (cls.parse.startsWith('SDWASel'))
        return (value) => (value < SDWA_SELECTORS.length ? immediate(value) : undefined);
      return cls.signed || flat ? signExtend(width) : (value) => immediate(value);
    }
    case 'vgpr':
      return (value) => vgpr(value, cls.dwords);
    case 'agpr':
      return (value) => agpr(value, cls.dwords);
    case 'sreg':
      return (value, state) => decodeScalarSource(value, cls.dwords, state);
    case 'src9':
    case 'bool':
      return source(cls.dwords, 'never');
    case 'srcA9':
      return source(cls.dwords, 'always');
    case 'srcAV10':
      return source(cls.dwords, 'bit9');
    case 'av10':
      return (value) => ((value & 512) !== 0 ? agpr(value & 255, cls.dwords) : vgpr(value & 255, cls.dwords));
    case 'avLdSt':
      return memoryData(row, index, cls.dwords);
    case 'sdwaSrc':
      return sdwaSource(cls.dwords);
    case 'sdwaDst':
      return (value) => ((value & 128) !== 0 ? registerFromEncoding(value & 127, 2) : special(106, 2));
    case 'literal':
      return (value) => ({ kind: 'literal', bits: value >>> 0 });
  }
}

/** A piece of an operand's bits. */
interface Part {
  readonly word: number;
  readonly low: number;
  readonly mask: number;
  readonly shift: number;
}

/** How one operand of a row is decoded. */
interface Step {
  /** Index of the operand this one copies, or -1. */
  readonly copy: number;
  readonly part: Part | undefined;
  readonly more: readonly Part[];
  readonly decode: DecodeOperand;
}

function partsOf(row: InstructionRow, index: number): { parts: Part[]; width: number } {
  const parts: Part[] = [];
  let width = 0;
  for (const field of row.fields) {
    if (field.operand !== index) continue;
    const mask = field.width === 32 ? 0xffffffff : (1 << field.width) - 1;
    parts.push({ word: field.at >> 5, low: field.at & 31, mask, shift: field.shift });
    width = Math.max(width, field.shift + field.width);
  }
  return { parts, width };
}

const MODIFIERS = ['src0_modifiers', 'src1_modifiers', 'src2_modifiers'];
/** Source modifier bits that the combined operands gather, and whether bit 3 is the destination's. */
const GATHERED: Readonly<Record<string, number>> = { op_sel: 4, op_sel_hi: 8, neg_lo: 1, neg_hi: 2 };

/** A combined modifier (`op_sel`, …) that has no bits of its own mirrors bits of the source modifiers. */
interface Gather {
  readonly index: number;
  readonly bit: number;
  readonly sources: readonly number[];
  /** The destination's op_sel, bit 3 of the result, lives in bit 3 of src0_modifiers. */
  readonly destination: boolean;
}

function gathersOf(row: InstructionRow): Gather[] {
  const sources = MODIFIERS.map((name) => row.operands.findIndex((o) => o.name === name));
  const gathers: Gather[] = [];
  row.operands.forEach((operand, index) => {
    const bit = GATHERED[operand.name];
    if (bit === undefined || row.fields.some((f) => f.operand === index)) return;
    gathers.push({ index, bit, sources, destination: operand.name === 'op_sel' && row.flags.has('VOP3_OPSEL') });
  });
  return gathers;
}

/** A row made ready for decoding. */
class Candidate {
  readonly row: InstructionRow;
  readonly rank: number;
  readonly specificity: number;
  private readonly m0: number;
  private readonly m1: number;
  private readonly m2: number;
  private readonly m3: number;
  private readonly b0: number;
  private readonly b1: number;
  private readonly b2: number;
  private readonly b3: number;
  private steps: Step[] | undefined;
  private gathers: Gather[] = [];
  private readonly atomicReturn: boolean;
  private cpol = -1;
  private hasConstant = false;

  constructor(row: InstructionRow, rank: number) {
    this.row = row;
    this.rank = rank;
    const mask = row.fixedMask;
    const bits = row.fixedBits;
    this.m0 = (mask[0] ?? 0) | 0;
    this.m1 = (mask[1] ?? 0) | 0;
    this.m2 = (mask[2] ?? 0) | 0;
    this.m3 = (mask[3] ?? 0) | 0;
    this.b0 = (bits[0] ?? 0) | 0;
    this.b1 = (bits[1] ?? 0) | 0;
    this.b2 = (bits[2] ?? 0) | 0;
    this.b3 = (bits[3] ?? 0) | 0;
    this.specificity = popcount(this.m0) + popcount(this.m1) + popcount(this.m2) + popcount(this.m3);
    this.atomicReturn = row.flags.has('IsAtomicRet') && row.encoding !== 'MIMG';
  }

  matches(words: Int32Array): boolean {
    return (
      (((words[0] as number) ^ this.b0) & this.m0) === 0 &&
      (((words[1] as number) ^ this.b1) & this.m1) === 0 &&
      (this.row.size < 16 ||
        ((((words[2] as number) ^ this.b2) & this.m2) === 0 && (((words[3] as number) ^ this.b3) & this.m3) === 0))
    );
  }

  decode(words: Int32Array, state: State): Operand[] | undefined {
    const steps = this.steps ?? this.prepare();
    const count = steps.length;
    const operands: Operand[] = new Array(count);
    state.operands = operands;
    state.constant = this.hasConstant ? (words[1] as number) >>> 0 : undefined;
    let copies = false;
    for (let i = 0; i < count; i++) {
      const step = steps[i] as Step;
      if (step.copy >= 0) {
        copies = true;
        continue;
      }
      const part = step.part;
      let value = 0;
      if (part !== undefined) {
        value = (((words[part.word] as number) >>> part.low) & part.mask) << part.shift;
        for (const more of step.more) value |= (((words[more.word] as number) >>> more.low) & more.mask) << more.shift;
      }
      const operand = step.decode(value, state);
      if (operand === undefined) return undefined;
      operands[i] = operand;
    }
    if (copies) {
      for (let i = 0; i < count; i++) {
        const from = (steps[i] as Step).copy;
        if (from >= 0) operands[i] = operands[from] as Operand;
      }
    }
    for (const gather of this.gathers) operands[gather.index] = gathered(gather, operands);
    if (this.atomicReturn && this.cpol >= 0) {
      operands[this.cpol] = immediate((operands[this.cpol] as Immediate).value | 1);
    }
    return operands;
  }

  private prepare(): Step[] {
    const row = this.row;
    const hasBits = row.operands.map((_, i) => row.fields.some((f) => f.operand === i));
    const copyFrom = row.operands.map((operand, i) => (operand.tiedTo >= 0 && !hasBits[i] ? operand.tiedTo : -1));
    row.operands.forEach((operand, i) => {
      if (operand.tiedTo >= 0 && hasBits[i] && !hasBits[operand.tiedTo]) copyFrom[operand.tiedTo] = i;
    });
    this.steps = row.operands.map((_, index): Step => {
      const { parts, width } = partsOf(row, index);
      const cls = operandClass((row.operands[index] as { cls: string }).cls);
      const decode: DecodeOperand =
        parts.length === 0 && cls.decode === 'imm' ? () => immediate(0) : decoderOf(row, index, width);
      return { copy: copyFrom[index] as number, part: parts[0], more: parts.slice(1), decode };
    });
    this.gathers = gathersOf(row);
    this.hasConstant = row.operands.some((o) => operandClass(o.cls).decode === 'literal');
    this.cpol = row.operands.findIndex((o) => o.name === 'cpol');
    return this.steps;
  }
}

function gathered(gather: Gather, operands: readonly Operand[]): Immediate {
  let value = 0;
  for (let i = 0; i < 3; i++) {
    const from = gather.sources[i] as number;
    if (from >= 0 && ((operands[from] as Immediate).value & gather.bit) !== 0) value |= 1 << i;
  }
  const first = gather.sources[0] as number;
  if (gather.destination && first >= 0 && ((operands[first] as Immediate).value & 8) !== 0) value |= 8;
  return immediate(value);
}

function popcount(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** Formats of the scaled F8F6F4 matrix operands, by cbsz/blgp: registers each takes. */
const F8F6F4_DWORDS: readonly number[] = [8, 8, 6, 6, 4];

/**
 * The first `dwords` registers of a matrix operand. LLVM's decoder turns small positive constants there into 0 and crashes on
 * other constants and on trap temporaries, for which this is undefined.
 */
function narrowed(operand: Operand, dwords: number): Operand | undefined {
  if (operand.kind === 'reg') {
    if (operand.dwords <= dwords) return operand;
    return operand.file === 'ttmp' && dwords === 6 ? undefined : registerTuple(operand.file, operand.index, dwords);
  }
  return operand.kind === 'inline' && operand.encoding <= 192 && dwords < 8 ? inlineConstant(128) : undefined;
}

/** Rows of the F8F6F4 matrix instructions by the widths of A and B. */
function formatVariants(rows: readonly InstructionRow[]): Map<InstructionRow, Map<string, InstructionRow>> {
  const families = new Map<string, Map<string, InstructionRow>>();
  const size: Record<string, number> = { f8: 8, f6: 6, f4: 4 };
  for (const row of rows) {
    const match = /^(.*_F8F6F4)_(f[864])_(f[864])(_gfx940_[av]cd)$/.exec(row.name);
    if (match === null) continue;
    const key = `${match[1]}${match[4]}`;
    let family = families.get(key);
    if (family === undefined) {
      family = new Map();
      families.set(key, family);
    }
    family.set(`${size[match[2] as string]},${size[match[3] as string]}`, row);
  }
  const byRow = new Map<InstructionRow, Map<string, InstructionRow>>();
  for (const family of families.values()) for (const row of family.values()) byRow.set(row, family);
  return byRow;
}

class TargetDecoder implements Decoder {
  readonly target: TargetName;
  operandFailures = 0;
  private readonly maxBytes: number;
  /** Candidates by bits 31:23 of the first dword, in the order to try. */
  private readonly buckets: (Candidate[] | undefined)[] = new Array(512);
  private readonly all: Candidate[];
  private readonly words = new Int32Array(4);
  private readonly state: State;
  private readonly formats: Map<InstructionRow, Map<string, InstructionRow>>;

  constructor(target: TargetName) {
    this.target = target;
    this.maxBytes = targetInfo(target).maxInstructionBytes;
    const rank = new Map(TABLE_ORDER.map(([size, namespace], i) => [`${size}${namespace}`, i]));
    const rows = tableFor(target).rows;
    this.all = rows
      .filter((row) => !row.asmOnly && !row.codeGenOnly)
      .map((row) => new Candidate(row, rank.get(`${row.size}${row.namespace}`) ?? -1))
      .sort((a, b) => a.rank - b.rank || b.specificity - a.specificity || a.row.id - b.row.id);
    this.formats = formatVariants(rows);
    this.state = {
      constant: undefined,
      operands: [],
      bytes: new Uint8Array(0),
      next: 0,
      end: 0,
      literal: 0,
      hasLiteral: false,
    };
  }

  private bucket(top: number): Candidate[] {
    let found = this.buckets[top];
    if (found === undefined) {
      found = this.all.filter(({ row }) => {
        const mask = (row.fixedMask[0] as number) >>> 23;
        return ((((row.fixedBits[0] as number) >>> 23) ^ top) & mask) === 0;
      });
      this.buckets[top] = found;
    }
    return found;
  }

  decode(bytes: Uint8Array, offset: number, end: number = bytes.length): Instruction | undefined {
    const available = Math.min(this.maxBytes, end - offset);
    if (available < 4) return undefined;
    const words = this.words;
    words[0] = readU32(bytes, offset);
    words[1] = available >= 8 ? readU32(bytes, offset + 4) : 0;
    if (available >= 16) {
      words[2] = readU32(bytes, offset + 8);
      words[3] = readU32(bytes, offset + 12);
    }
    const state = this.state;
    state.bytes = bytes;
    state.end = offset + available;
    let failed = -1;
    for (const candidate of this.bucket((words[0] as number) >>> 23)) {
      if (candidate.rank === failed || candidate.row.size > available || !candidate.matches(words)) continue;
      state.next = offset + candidate.row.size;
      state.hasLiteral = false;
      const operands = candidate.decode(words, state);
      if (operands !== undefined) return this.finish(candidate.row, operands, state.next - offset);
      failed = candidate.rank;
      this.operandFailures++;
    }
    return undefined;
  }

  private finish(row: InstructionRow, operands: Operand[], size: number): Instruction {
    if (row.encoding === 'MIMG') return this.widenImage(row, operands, size);
    const family = this.formats.get(row);
    return family === undefined ? { row, operands, size } : this.pickFormat(family, row, operands, size);
  }

  /** Images: dmask says how many components the data has, d16 packs two into a dword. */
  private widenImage(row: InstructionRow, operands: Operand[], size: number): Instruction {
    const find = (name: string) => row.operands.findIndex((o) => o.name === name);
    const number = (name: string) => (find(name) < 0 ? 0 : (operands[find(name)] as Immediate).value);
    const components = Math.max(1, popcount(number('dmask') & 15));
    const dwords = number('d16') !== 0 ? (components + 1) >> 1 : components;
    const wider = tableFor(this.target).byName(row.name.replace(/_V\d_V1_/, `_V${dwords}_V1_`));
    if (wider === undefined || wider === row) return { row, operands, size };
    const data = operands[find('vdata')] as Register;
    const wide = data.file === 'a' ? agpr(data.index, dwords) : vgpr(data.index, dwords);
    const cls = operandClass((wider.operands[find('vdata')] as { cls: string }).cls).registers;
    if (wide === undefined || !fitsFile(wide) || cls === undefined || !isMember(wide, cls))
      return { row, operands, size };
    for (const name of ['vdata', 'vdst']) if (find(name) >= 0) operands[find(name)] = wide;
    return { row: wider, operands, size };
  }

  /** F8F6F4: cbsz and blgp decide how many registers A and B take, hence the row. */
  private pickFormat(
    family: Map<string, InstructionRow>,
    row: InstructionRow,
    operands: Operand[],
    size: number,
  ): Instruction {
    const at = (name: string) => row.operands.findIndex((o) => o.name === name);
    const width = (name: string) => F8F6F4_DWORDS[(operands[at(name)] as Immediate).value] ?? 8;
    const a = width('cbsz');
    const b = width('blgp');
    const chosen = family.get(`${a},${b}`) ?? row;
    if (chosen === row) return { row, operands, size };
    const narrow = (name: string, dwords: number) => {
      const operand = operands[at(name)] as Operand;
      const done = narrowed(operand, dwords);
      if (done === undefined) this.operandFailures++;
      else operands[at(name)] = done;
    };
    narrow('src0', a);
    narrow('src1', b);
    return { row: chosen, operands, size };
  }
}

const decoders = new Map<TargetName, Decoder>();

/** The decoder of a target. */
export function decoderFor(target: TargetName): Decoder {
  let decoder = decoders.get(target);
  if (decoder === undefined) {
    decoder = new TargetDecoder(target);
    decoders.set(target, decoder);
  }
  return decoder;
}

/** Decodes one instruction; see `Decoder.decode`. */
export function decode(target: TargetName, bytes: Uint8Array, offset = 0, end = bytes.length): Instruction | undefined {
  return decoderFor(target).decode(bytes, offset, end);
}
