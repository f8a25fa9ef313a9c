// Room `isa/codec`: machine words to instructions and back, for every target, from the bit patterns of the table's rows.
// Begin with this file, which finds the row that a word belongs to; operands are read by the classes of ../table; encode.ts is the
// inverse.
//
// Bytes to instructions. One decoder per target: rows are tried in the order of LLVM's decoder tables (namespaces), the most
// specific fixed bits first within a table; an operand that cannot be decoded ends that table.
// Source: LLVM's AMDGPUDisassembler.cpp and the decoder tables TableGen makes of the rows.

import { operandIndex } from '../operand.ts';
import { isMember, operandClass } from '../table/operand-classes.ts';
import { fitsFile, registerTuple } from '../table/registers.ts';
import { tableFor } from '../table/table.ts';
import { targetInfo } from '../table/targets.ts';
import type { Immediate, Instruction, InstructionRow, Operand, Register, TargetName } from '../types.ts';
import { immediate, inlineConstant, type LiteralState, readU32, Step } from './decode-operand.ts';

export { immediate, inlineConstant };

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

const TABLE_RANKS: ReadonlyMap<string, number> = new Map(
  TABLE_ORDER.map(([size, namespace], i) => [`${size}${namespace}`, i]),
);

const MODIFIERS = ['src0_modifiers', 'src1_modifiers', 'src2_modifiers'];
/** Source modifier bits that the combined operands gather, and whether bit 3 is the destination's. */
const GATHERED: Readonly<Record<string, number>> = { op_sel: 4, op_sel_hi: 8, neg_lo: 1, neg_hi: 2 };

/** A combined modifier (`op_sel`, …) that has no bits of its own mirrors bits of the source modifiers. */
export interface Gather {
  readonly index: number;
  readonly bit: number;
  readonly sources: readonly number[];
  /** The destination's op_sel, bit 3 of the result, lives in bit 3 of src0_modifiers. */
  readonly destination: boolean;
}

function gathersOf(row: InstructionRow): Gather[] {
  const sources = MODIFIERS.map((name) => operandIndex(row, name));
  const gathers: Gather[] = [];
  row.operands.forEach((operand, index) => {
    const bit = GATHERED[operand.name];
    if (bit === undefined || row.fields.some((f) => f.operand === index)) return;
    gathers.push({ index, bit, sources, destination: operand.name === 'op_sel' && row.flags.has('VOP3_OPSEL') });
  });
  return gathers;
}

/** Where the operands of a row come from: the same for all rows of a shape. */
export interface OperandSources {
  /** Per operand; undefined for those that copy another. */
  readonly steps: readonly (Step | undefined)[];
  /** Pairs: operand, operand it copies. */
  readonly copies: readonly number[];
  readonly gathers: readonly Gather[];
  /** The cache policy of an atomic that returns a value, whose first bit is implied; else -1. */
  readonly cpol: number;
  /** Whether the encoding has a constant of V_MADMK and the like, which literal sources repeat. */
  readonly hasConstant: boolean;
}

/** By number of the shape. */
const sourcesOfShapes: (OperandSources | undefined)[] = [];

function operandSourcesOf(row: InstructionRow): OperandSources {
  let known = sourcesOfShapes[row.shape];
  if (known === undefined) {
    known = prepare(row);
    sourcesOfShapes[row.shape] = known;
  }
  return known;
}

function prepare(row: InstructionRow): OperandSources {
  const hasBits = row.operands.map((_, i) => row.fields.some((f) => f.operand === i));
  const copyFrom = row.operands.map((operand, i) => (operand.tiedTo >= 0 && !hasBits[i] ? operand.tiedTo : -1));
  row.operands.forEach((operand, i) => {
    if (operand.tiedTo >= 0 && hasBits[i] && !hasBits[operand.tiedTo]) copyFrom[operand.tiedTo] = i;
  });
  const returns = row.flags.has('IsAtomicRet') && row.encoding !== 'MIMG';
  return {
    steps: copyFrom.map((from, index) => (from >= 0 ? undefined : new Step(row, index))),
    copies: copyFrom.flatMap((from, i) => (from >= 0 ? [i, from] : [])),
    gathers: gathersOf(row),
    cpol: returns ? operandIndex(row, 'cpol') : -1,
    hasConstant: row.operands.some((o) => operandClass(o.cls).decode === 'literal'),
  };
}

/** A row made ready for decoding. */
export class Candidate {
  readonly row: InstructionRow;
  /** Position of the row's table in LLVM's order. */
  readonly rank: number;
  readonly size: number;
  readonly specificity: number;
  private readonly m0: number;
  private readonly m1: number;
  private readonly m2: number;
  private readonly m3: number;
  private readonly b0: number;
  private readonly b1: number;
  private readonly b2: number;
  private readonly b3: number;
  private prepared: OperandSources | undefined;

  constructor(row: InstructionRow) {
    this.row = row;
    this.rank = TABLE_RANKS.get(`${row.size}${row.namespace}`) ?? -1;
    this.size = row.size;
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
  }

  matches(words: Int32Array): boolean {
    return (
      (((words[0] as number) ^ this.b0) & this.m0) === 0 &&
      (((words[1] as number) ^ this.b1) & this.m1) === 0 &&
      (this.size < 16 ||
        ((((words[2] as number) ^ this.b2) & this.m2) === 0 && (((words[3] as number) ^ this.b3) & this.m3) === 0))
    );
  }

  /** How the operands come from the encoding. */
  get operandSources(): OperandSources {
    this.prepared ??= operandSourcesOf(this.row);
    return this.prepared;
  }

  decode(words: Int32Array, state: LiteralState): Operand[] | undefined {
    const { steps, copies, gathers, cpol, hasConstant } = this.operandSources;
    const count = steps.length;
    const operands: Operand[] = new Array(count);
    state.constant = hasConstant ? (words[1] as number) >>> 0 : undefined;
    for (let i = 0; i < count; i++) {
      const step = steps[i];
      if (step === undefined) continue;
      const operand = step.decode(words, operands, state);
      if (operand === undefined) return undefined;
      operands[i] = operand;
    }
    for (let i = 0; i < copies.length; i += 2) {
      operands[copies[i] as number] = operands[copies[i + 1] as number] as Operand;
    }
    for (let i = 0; i < gathers.length; i++) {
      const gather = gathers[i] as Gather;
      operands[gather.index] = gathered(gather, operands);
    }
    if (cpol >= 0) operands[cpol] = immediate((operands[cpol] as Immediate).value | 1);
    return operands;
  }
}

/** The value of a combined modifier, from its source modifiers among the operands. */
export function gathered(gather: Gather, operands: readonly Operand[]): Immediate {
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

/** The table that has the F8F6F4 matrix instructions. */
const FORMAT_NAMESPACE = 'GFX940';

/** Formats of the scaled F8F6F4 matrix operands, by cbsz/blgp: registers each takes. */
const F8F6F4_DWORDS: readonly number[] = [8, 8, 6, 6, 4];

/**
 * The first `dwords` registers of a matrix operand. LLVM's decoder turns small positive constants there into 0 and crashes on
 * other constants and on trap temporaries, for which this is undefined.
 */
function narrowed(operand: Operand, dwords: number): Operand | undefined {
  if (operand.kind === 'reg') {
    if (operand.dwords <= dwords) return operand;
    return operand.file === 'ttmp' ? undefined : registerTuple(operand.file, operand.index, dwords);
  }
  return operand.kind === 'inline' && operand.encoding <= 192 && dwords < 8 ? inlineConstant(128) : undefined;
}

/** Rows of the F8F6F4 matrix instructions by the widths of A and B. */
function formatVariants(rows: readonly InstructionRow[]): Map<InstructionRow, Map<string, InstructionRow>> {
  const families = new Map<string, Map<string, InstructionRow>>();
  const size: Record<string, number> = { f8: 8, f6: 6, f4: 4 };
  for (const row of rows) {
    if (row.namespace !== FORMAT_NAMESPACE) continue;
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

/** The rows that a decoder may yield, with mask and value of the fixed bits of their first dword. */
class DecodableRows {
  readonly rows: readonly InstructionRow[];
  readonly masks: Int32Array;
  readonly bits: Int32Array;
  private readonly candidates: (Candidate | undefined)[] = [];

  constructor(rows: readonly InstructionRow[]) {
    this.rows = rows;
    this.masks = new Int32Array(rows.length);
    this.bits = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as InstructionRow;
      this.masks[i] = row.fixedMask[0] as number;
      this.bits[i] = row.fixedBits[0] as number;
    }
  }

  /** The rows, as indexes, by bits 31:23 of the first dwords that they match. */
  byTop(): (number[] | undefined)[] {
    const tops: (number[] | undefined)[] = new Array(512);
    for (let i = 0; i < this.rows.length; i++) {
      const fixed = (this.masks[i] as number) >>> 23;
      const own = ((this.bits[i] as number) >>> 23) & fixed;
      const free = ~fixed & 511;
      // Every subset of the free bits, the empty one last.
      for (let subset = free; ; subset = (subset - 1) & free) {
        const list = tops[own | subset];
        if (list === undefined) tops[own | subset] = [i];
        else list.push(i);
        if (subset === 0) break;
      }
    }
    return tops;
  }

  candidate(index: number): Candidate {
    let candidate = this.candidates[index];
    if (candidate === undefined) {
      candidate = new Candidate(this.rows[index] as InstructionRow);
      this.candidates[index] = candidate;
    }
    return candidate;
  }
}

/** Most bits that a bucket's index has. */
const INDEX_BITS = 12;

/** Candidates that share bits 31:23 of the first dword, by the bits below in which those that fix them differ. */
class Bucket {
  private readonly rows: DecodableRows;
  private readonly members: readonly number[];
  private readonly shift: number;
  private readonly mask: number;
  private readonly lists: (readonly Candidate[] | undefined)[];

  constructor(rows: DecodableRows, members: readonly number[]) {
    this.rows = rows;
    this.members = members;
    const first = rows.bits[members[0] ?? 0] as number;
    let fixed = 0x7fffff;
    let different = 0;
    for (const i of members) {
      fixed &= rows.masks[i] as number;
      different |= (rows.bits[i] as number) ^ first;
    }
    const telling = fixed & different;
    this.shift = telling === 0 ? 0 : 31 - Math.clz32(telling & -telling);
    this.mask = (telling >>> this.shift) & (2 ** INDEX_BITS - 1);
    this.lists = new Array(this.mask + 1);
  }

  /** The candidates for a first dword, in the order to try. */
  candidates(word: number): readonly Candidate[] {
    return this.lists[(word >>> this.shift) & this.mask] ?? this.fill(word);
  }

  private fill(word: number): readonly Candidate[] {
    const telling = this.mask << this.shift;
    const list = this.members
      .filter((i) => (((this.rows.bits[i] as number) ^ word) & telling) === 0)
      .map((i) => this.rows.candidate(i))
      .sort((a, b) => a.rank - b.rank || b.specificity - a.specificity || a.row.id - b.row.id);
    this.lists[(word >>> this.shift) & this.mask] = list;
    return list;
  }
}

/** The decoder of one target. */
export class TargetDecoder implements Decoder {
  readonly target: TargetName;
  operandFailures = 0;
  /** No instruction with its literal is longer. */
  readonly maxBytes: number;
  /** Candidates by bits 31:23 of the first dword. */
  private readonly buckets: (Bucket | undefined)[] = new Array(512);
  private readonly rows: DecodableRows;
  private readonly tops: readonly (readonly number[] | undefined)[];
  private readonly words = new Int32Array(4);
  private readonly state: LiteralState;
  private formatFamilies: Map<InstructionRow, Map<string, InstructionRow>> | undefined;

  constructor(target: TargetName) {
    this.target = target;
    this.maxBytes = targetInfo(target).maxInstructionBytes;
    this.rows = new DecodableRows(tableFor(target).rows.filter((row) => !row.asmOnly && !row.codeGenOnly));
    this.tops = this.rows.byTop();
    this.state = {
      constant: undefined,
      bytes: new Uint8Array(0),
      next: 0,
      end: 0,
      literal: 0,
      hasLiteral: false,
    };
  }

  private bucket(top: number): Bucket {
    const found = new Bucket(this.rows, this.tops[top] ?? []);
    this.buckets[top] = found;
    return found;
  }

  private get formats(): Map<InstructionRow, Map<string, InstructionRow>> {
    this.formatFamilies ??= formatVariants(tableFor(this.target).rows);
    return this.formatFamilies;
  }

  /** The first row in LLVM's order whose fixed bits match and that fits into `available` bytes, operands not looked at. */
  firstMatch(words: Int32Array, available: number): Candidate | undefined {
    const first = words[0] as number;
    const candidates = (this.buckets[first >>> 23] ?? this.bucket(first >>> 23)).candidates(first);
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i] as Candidate;
      if (candidate.size <= available && candidate.matches(words)) return candidate;
    }
    return undefined;
  }

  /** Whether other rows can take an instruction of this row over, by the values of its operands. */
  hasVariants(row: InstructionRow): boolean {
    return row.encoding === 'MIMG' || (row.namespace === FORMAT_NAMESPACE && this.formats.has(row));
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
    const first = words[0] as number;
    const candidates = (this.buckets[first >>> 23] ?? this.bucket(first >>> 23)).candidates(first);
    for (let i = 0; i < candidates.length; i++) {
      const candidate = candidates[i] as Candidate;
      if (candidate.rank === failed || candidate.size > available || !candidate.matches(words)) continue;
      state.next = offset + candidate.size;
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
    const family = row.namespace === FORMAT_NAMESPACE ? this.formats.get(row) : undefined;
    return family === undefined ? { row, operands, size } : this.pickFormat(family, row, operands, size);
  }

  /** Images: dmask says how many components the data has, d16 packs two into a dword. */
  private widenImage(row: InstructionRow, operands: Operand[], size: number): Instruction {
    const find = (name: string) => operandIndex(row, name);
    const number = (name: string) => (find(name) < 0 ? 0 : (operands[find(name)] as Immediate).value);
    const components = Math.max(1, popcount(number('dmask') & 15));
    const dwords = number('d16') !== 0 ? (components + 1) >> 1 : components;
    const wider = tableFor(this.target).byName(row.name.replace(/_V\d_V1_/, `_V${dwords}_V1_`));
    if (wider === undefined || wider === row) return { row, operands, size };
    const data = operands[find('vdata')] as Register;
    const wide = registerTuple(data.file, data.index, dwords);
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
    const at = (name: string) => operandIndex(row, name);
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

const decoders = new Map<TargetName, TargetDecoder>();

/** The decoder of a target. */
export function decoderFor(target: TargetName): TargetDecoder {
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
