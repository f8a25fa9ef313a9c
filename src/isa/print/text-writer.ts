// Encoded instructions straight to the bytes of their text, without an object for the instruction or its operands.
//
// A row's text is a list of pieces (print.ts), and what a piece prints depends on a few fields of the encoding. For each
// piece there is a table from the value of those fields to its text, which rows with the same kind of piece share. An entry
// is made the first time its value is met, from the decoder and the printer themselves, so this file knows nothing of
// instructions. Whatever has no table (literals, fields of more than 16 bits, codes that do not decode, rows that change
// with their operands) goes through the decoder and the printer each time.
import { type Candidate, decoderFor, type OperandSources, type TargetDecoder } from '../codec/decode.ts';
import { type FieldPart, readU32, type Step } from '../codec/decode-operand.ts';
import type { Instruction, InstructionRow, Operand, TargetName } from '../types.ts';
import { type Piece, type Printer, printerFor } from './print.ts';

/** Room that `TextWriter.writeText` needs in its output: more than the longest text with all its remarks. */
export const MAX_INSTRUCTION_TEXT = 2048;

/** Widest key of a table. */
const MAX_KEY_BITS = 16;
/** An entry is the text's place in the pool, and in the low bits its length. */
const LENGTH_BITS = 8;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

/** A piece of one row: where the bits of the table's key are, and how to make a text that is missing. */
interface Gap {
  /** By value of the fields that decide the text; 0 for values that were not met. */
  readonly entries: Int32Array;
  readonly parts: readonly FieldPart[];
  readonly text: (operands: readonly Operand[]) => string;
}

function isDirectBranch(row: InstructionRow): boolean {
  return row.operands.some((o) => o.cls === 'SOPPBrTarget');
}

/** How one row is written. `code` has for each gap the number of its parts, then four numbers for each part. */
class Plan {
  readonly row: InstructionRow;
  readonly isBranch: boolean;
  /** The entry of the text before the first gap. */
  readonly head: number;
  readonly gaps: readonly Gap[];
  readonly tables: readonly Int32Array[];
  readonly code: Int32Array;

  constructor(row: InstructionRow, head: number, gaps: readonly Gap[]) {
    this.row = row;
    this.isBranch = isDirectBranch(row);
    this.head = head;
    this.gaps = gaps;
    this.tables = gaps.map((gap) => gap.entries);
    const code: number[] = [];
    for (const { parts } of gaps) {
      code.push(parts.length);
      for (const { word, low, mask, shift } of parts) code.push(word, low, mask, shift);
    }
    this.code = Int32Array.from(code);
  }
}

/** Which fields decide an operand, and how: equal recipes make equal operands of equal values. */
class Recipe {
  /** The operands with bits of their own that take part, in the order of the key. */
  readonly sources: number[] = [];
  private readonly from: OperandSources;

  constructor(from: OperandSources) {
    this.from = from;
  }

  of(operand: number): string {
    const { steps, copies, gathers, cpol } = this.from;
    const gather = gathers.find((g) => g.index === operand);
    if (gather !== undefined) {
      const { bit, sources, destination } = gather;
      return `gather(${bit},${destination},${sources.map((s) => (s < 0 ? '-' : this.of(s))).join(',')})`;
    }
    for (let i = 0; i < copies.length; i += 2) if (copies[i] === operand) return this.of(copies[i + 1] as number);
    const step = steps[operand] as Step;
    const leader = step.leader < 0 ? '' : `,${this.of(step.leader)}`;
    let place = this.sources.indexOf(operand);
    if (place < 0) place = this.sources.push(operand) - 1;
    return `${step.key}@${place}${leader}${operand === cpol ? '|1' : ''}`;
  }
}

/** Most gaps of a row. */
const MAX_GAPS = 32;

/**
 * Finds the instruction at a place in code (`match`) and writes its text (`writeText`). What the fields say is about the
 * instruction matched last.
 */
export class TextWriter {
  /** The row of the instruction. */
  row: InstructionRow | undefined;
  /** Whether it is a branch or call with its target in the encoding. */
  isBranch = false;
  private readonly decoder: TargetDecoder;
  private readonly printer: Printer;
  /** By row id; null for rows that always go through decoder and printer. */
  private readonly plans: (Plan | null | undefined)[] = [];
  private readonly tables = new Map<string, Int32Array>();
  private readonly words = new Int32Array(4);
  /** The entries of the instruction's texts in order; none when it is in `instruction`. */
  private readonly found = new Int32Array(MAX_GAPS + 1);
  private foundCount = 0;
  private instruction: Instruction | undefined;
  /** All texts, one behind the other. Byte 0 is unused, so that no entry is 0. */
  private pool = new Uint8Array(1 << 16);
  private poolSize = 1;

  constructor(target: TargetName) {
    this.decoder = decoderFor(target);
    this.printer = printerFor(target);
  }

  /**
   * Matches the instruction at `offset`, looking at no byte from `end` on. Returns its size in bytes, literal included; 0
   * when there is none, as LLVM would report an invalid encoding.
   */
  match(bytes: Uint8Array, offset: number, end: number): number {
    const words = this.words;
    const available = end - offset;
    if (available < 4) return 0;
    words[0] = readU32(bytes, offset);
    words[1] = available >= 8 ? readU32(bytes, offset + 4) : 0;
    if (available >= 16) {
      words[2] = readU32(bytes, offset + 8);
      words[3] = readU32(bytes, offset + 12);
    }
    const candidate = this.decoder.firstMatch(words, available);
    if (candidate === undefined) return 0;
    const plan = this.plans[candidate.row.id];
    if (plan === undefined || plan === null) return this.matchSlowly(candidate, bytes, offset, end);
    const { code, tables } = plan;
    const found = this.found;
    found[0] = plan.head;
    let c = 0;
    for (let i = 0; i < tables.length; i++) {
      let key = 0;
      for (let parts = code[c++] as number; parts > 0; parts--) {
        const bits = ((words[code[c] as number] as number) >>> (code[c + 1] as number)) & (code[c + 2] as number);
        key |= bits << (code[c + 3] as number);
        c += 4;
      }
      const entry = (tables[i] as Int32Array)[key] as number;
      if (entry === 0) return this.matchSlowly(candidate, bytes, offset, end);
      found[i + 1] = entry;
    }
    this.foundCount = tables.length + 1;
    this.row = plan.row;
    this.isBranch = plan.isBranch;
    return candidate.size;
  }

  /** Writes the text to `out` at `at`, where there must be room for MAX_INSTRUCTION_TEXT bytes. Returns where it ends. */
  writeText(out: Uint8Array, at: number): number {
    if (this.foundCount === 0) {
      const text = this.printer.print(this.instruction as Instruction);
      for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i);
      return at + text.length;
    }
    const { pool, found } = this;
    let to = at;
    for (let i = 0; i < this.foundCount; i++) {
      const entry = found[i] as number;
      for (let from = entry >>> LENGTH_BITS, stop = from + (entry & LENGTH_MASK); from < stop; from++) {
        out[to++] = pool[from] as number;
      }
    }
    return to;
  }

  /** Through the decoder; fills the tables of the row with what was missing. */
  private matchSlowly(candidate: Candidate, bytes: Uint8Array, offset: number, end: number): number {
    const instruction = this.decoder.decode(bytes, offset, end);
    if (instruction === undefined) return 0;
    const { row, operands, size } = instruction;
    if (row === candidate.row && size === row.size) this.learn(candidate, operands);
    this.instruction = instruction;
    this.foundCount = 0;
    this.row = row;
    this.isBranch = isDirectBranch(row);
    return size;
  }

  /** Puts the texts of an instruction without a literal, whose encoding is in `words`, into the tables of its row. */
  private learn(candidate: Candidate, operands: readonly Operand[]): void {
    const { row } = candidate;
    let plan = this.plans[row.id];
    if (plan === undefined) {
      plan = this.decoder.hasVariants(row) ? null : this.planOf(candidate);
      this.plans[row.id] = plan;
    }
    if (plan === null) return;
    for (const { entries, parts, text } of plan.gaps) {
      let key = 0;
      for (const { word, low, mask, shift } of parts) key |= (((this.words[word] as number) >>> low) & mask) << shift;
      if (entries[key] === 0) entries[key] = this.store(text(operands));
    }
  }

  private planOf(candidate: Candidate): Plan | null {
    const { row } = candidate;
    const pieces = this.printer.pieces(row);
    const from = candidate.operandSources;
    const gaps: Gap[] = [];
    const read = new Set<number>();
    let head = '';
    for (let i = 0; i < pieces.length; i++) {
      const piece = pieces[i] as string | Piece;
      if (typeof piece === 'string') {
        head = piece;
        continue;
      }
      const next = pieces[i + 1];
      const suffix = typeof next === 'string' ? next : '';
      if (suffix !== '') i++;
      const gap = this.gapOf(from, piece.reads, `${piece.key}\n${suffix}`, (ops) => piece.text(ops) + suffix);
      if (gap === undefined) return null;
      gaps.push(gap);
      for (const operand of piece.reads) read.add(operand);
    }
    // An operand that is not printed may still have codes that do not decode.
    from.steps.forEach((step, operand) => {
      if (step !== undefined && step.parts.length > 0 && !read.has(operand)) {
        const gap = this.gapOf(from, [operand], 'not printed', () => '');
        if (gap !== undefined) gaps.push(gap);
      }
    });
    const start = this.store(head);
    return start === 0 || gaps.length > MAX_GAPS ? null : new Plan(row, start, gaps);
  }

  /** The gap of a piece; undefined when its fields have too many bits for a table. */
  private gapOf(
    from: OperandSources,
    reads: readonly number[],
    key: string,
    text: (operands: readonly Operand[]) => string,
  ): Gap | undefined {
    const recipe = new Recipe(from);
    const recipes = reads.map((operand) => recipe.of(operand));
    const parts: FieldPart[] = [];
    let width = 0;
    for (const source of recipe.sources) {
      const step = from.steps[source] as Step;
      for (const part of step.parts) parts.push({ ...part, shift: part.shift + width });
      width += step.width;
    }
    if (width > MAX_KEY_BITS) return undefined;
    const name = `${key}\n${recipes.join('\n')}`;
    let entries = this.tables.get(name);
    if (entries === undefined) {
      entries = new Int32Array(1 << width);
      this.tables.set(name, entries);
    }
    return { entries, parts, text };
  }

  /** Appends a text to the pool and returns its entry; 0 for one that is too long or finds no room, which stays slow. */
  private store(text: string): number {
    const start = this.poolSize;
    if (text.length > LENGTH_MASK || start + text.length >= 2 ** (31 - LENGTH_BITS)) return 0;
    if (start + text.length > this.pool.length) {
      const bigger = new Uint8Array(this.pool.length * 2);
      bigger.set(this.pool);
      this.pool = bigger;
    }
    for (let i = 0; i < text.length; i++) this.pool[start + i] = text.charCodeAt(i);
    this.poolSize = start + text.length;
    return (start << LENGTH_BITS) | text.length;
  }
}

const writers = new Map<TargetName, TextWriter>();

/** The text writer of a target. */
export function textWriterFor(target: TargetName): TextWriter {
  let writer = writers.get(target);
  if (writer === undefined) {
    writer = new TextWriter(target);
    writers.set(target, writer);
  }
  return writer;
}
