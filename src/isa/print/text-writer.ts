// Encoded instructions straight to the bytes of their text, without an object for the instruction or its operands.
//
// A row's text is a list of pieces (print.ts), and what a piece prints depends on a few fields of the encoding. For each
// piece there is a table from the value of those fields to its text, which rows with the same kind of piece share. An entry
// is made the first time its value is met, from what the decoder says of these fields and the printer of these operands, so this
// file knows nothing of instructions. Wide numbers (offsets, distances) and literals have forms instead: what stands before and behind the digits.
// Whatever has neither (other fields of more than 16 bits, codes that do not decode, rows that change with their operands) goes
// through the decoder and the printer each time.
import { type Candidate, decoderFor, gathered, type OperandSources, type TargetDecoder } from '../codec/decode.ts';
import { type FieldPart, immediate, type LiteralState, readU32, type Step } from '../codec/decode-operand.ts';
import type { Immediate, Instruction, InstructionRow, Operand, TargetName } from '../types.ts';
import { isPlainLiteral, type NumberText, type Piece, type Printer, printerFor } from './print.ts';

/** Room that `TextWriter.writeText` needs in its output: more than the longest text with all its remarks. */
export const MAX_INSTRUCTION_TEXT = 2048;

/** Widest key of a table. */
const MAX_KEY_BITS = 16;
/** An entry is the text's place in the pool, and in the low bits its length. */
const LENGTH_BITS = 8;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

/** Numbers of more bits have a form instead of a table. */
const MAX_NUMBER_BITS = 8;
const LITERAL_BYTES = 4;

/** How a number is written: what stands around its digits, as places in the pool. */
interface Form {
  readonly prefix: number;
  readonly suffix: number;
  readonly style: NumberText['style'];
  readonly mask: number;
  readonly omitsZero: boolean;
  /** By how much a value is moved up and down again, so that its sign fills it; 0 for one without sign. */
  readonly signShift: number;
}

/** A piece of one row: where the bits of its key are, and how to make a text that is missing. */
interface Gap {
  /**
   * By value of the fields that decide the text: the entry of the text, minus the number of a form for a literal, 0 for values that were
   * not met. None for a number.
   */
  readonly entries: Int32Array;
  /** The number of the form of a number; 0 for a table. */
  readonly form: number;
  readonly parts: readonly FieldPart[];
  /** The operands that the text reads, each behind those that it depends on. */
  readonly operands: readonly number[];
  readonly text: (operands: readonly Operand[]) => string;
}

const NO_ENTRIES = new Int32Array(0);

function isDirectBranch(row: InstructionRow): boolean {
  return row.operands.some((o) => o.cls === 'SOPPBrTarget');
}

/**
 * How the rows of a shape are written behind their mnemonic. `code` has for each gap its form and the number of its parts, then four
 * numbers for each part.
 */
class Plan {
  readonly isBranch: boolean;
  /** What stands between the mnemonic and the first gap. */
  readonly start: string;
  readonly sources: OperandSources;
  readonly gaps: readonly Gap[];
  readonly tables: readonly Int32Array[];
  readonly code: Int32Array;

  constructor(row: InstructionRow, start: string, sources: OperandSources, gaps: readonly Gap[]) {
    this.isBranch = isDirectBranch(row);
    this.start = start;
    this.sources = sources;
    this.gaps = gaps;
    this.tables = gaps.map((gap) => gap.entries);
    const code: number[] = [];
    for (const { form, parts } of gaps) {
      code.push(form, parts.length);
      for (const { word, low, mask, shift } of parts) code.push(word, low, mask, shift);
    }
    this.code = Int32Array.from(code);
  }
}

/** A literal that is no constant of any type and whose halves differ, to find where a text has it. */
const PROBE: Operand = { kind: 'literal', bits: 0x2fb1e5d3 };
const PROBE_TEXT = '0x2fb1e5d3';
const HALF_PROBE_TEXT = '0xe5d3';

/** Which fields decide an operand, and how: equal recipes make equal operands of equal values. */
class Recipe {
  /** The operands with bits of their own that take part, in the order of the key. */
  readonly sources: number[] = [];
  /** All that take part, each behind those that it depends on. */
  readonly operands: number[] = [];
  private readonly from: OperandSources;

  constructor(from: OperandSources) {
    this.from = from;
  }

  of(operand: number): string {
    const recipe = this.recipeOf(operand);
    if (!this.operands.includes(operand)) this.operands.push(operand);
    return recipe;
  }

  private recipeOf(operand: number): string {
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
const ZERO = 48;
const LETTERS = 97 - 10;
const MINUS = 45;
const SMALL_X = 120;

/** Writes `0x` and the digits of an unsigned number. */
function writeHexadecimal(out: Uint8Array, at: number, value: number): number {
  out[at] = ZERO;
  out[at + 1] = SMALL_X;
  const digits = value === 0 ? 1 : (35 - Math.clz32(value)) >> 2;
  for (let i = at + 1 + digits, rest = value; i > at + 1; i--) {
    const digit = rest & 15;
    out[i] = digit < 10 ? ZERO + digit : LETTERS + digit;
    rest >>>= 4;
  }
  return at + 2 + digits;
}

/** Writes the digits of a number that is not negative. */
function writeDecimal(out: Uint8Array, at: number, value: number): number {
  let end = at + 1;
  for (let limit = 10; value >= limit; limit *= 10) end++;
  for (let i = end - 1, rest = value; i >= at; i--) {
    const tens = Math.floor(rest / 10);
    out[i] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return end;
}

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
  /** By row id: the entry of the text before the first gap. */
  private readonly heads: number[] = [];
  /** By what the printer has for the rows of a shape. */
  private readonly sharedPlans = new Map<readonly (string | Piece)[], Plan | null>();
  private readonly tables = new Map<string, Int32Array>();
  private readonly words = new Int32Array(4);
  /** The entries of the instruction's texts in order, minus the form of a number; none when it is in `instruction`. */
  private readonly found = new Int32Array(MAX_GAPS + 1);
  /** The numbers of those that have a form. */
  private readonly numbers = new Int32Array(MAX_GAPS + 1);
  private foundCount = 0;
  private instruction: Instruction | undefined;
  /** Operands of a text that is missing, and where its literal is. */
  private readonly operands: Operand[] = [];
  private readonly literal: LiteralState = {
    constant: undefined,
    bytes: new Uint8Array(0),
    next: 0,
    end: 0,
    literal: 0,
    hasLiteral: false,
  };
  /** All texts, one behind the other. Byte 0 is unused, so that no entry is 0. */
  private pool = new Uint8Array(1 << 16);
  private poolSize = 1;
  /** By number, from 1 on. */
  private readonly forms: (Form | undefined)[] = [undefined];
  private readonly formNumbers = new Map<string, number>();

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
    const stop = Math.min(end, offset + this.decoder.maxBytes);
    const candidate = this.decoder.firstMatch(words, available);
    if (candidate === undefined) return 0;
    const { row } = candidate;
    let plan = this.plans[row.id];
    if (plan === undefined) plan = this.addPlan(candidate);
    const size = plan === null ? 0 : this.find(plan, row, candidate.size, bytes, offset, stop);
    return size === 0 ? this.matchSlowly(bytes, offset, end) : size;
  }

  /**
   * Finds all texts of an instruction whose encoding is in `words`, and makes those that are missing; returns the instruction's
   * size, 0 when one cannot be made.
   */
  private find(
    plan: Plan,
    row: InstructionRow,
    rowSize: number,
    bytes: Uint8Array,
    offset: number,
    end: number,
  ): number {
    const { code, tables } = plan;
    const { found, words } = this;
    let size = rowSize;
    found[0] = this.heads[row.id] as number;
    let c = 0;
    for (let i = 0; i < tables.length; i++) {
      const form = code[c] as number;
      let key = 0;
      let parts = code[c + 1] as number;
      for (c += 2; parts > 0; parts--) {
        const bits = ((words[code[c] as number] as number) >>> (code[c + 1] as number)) & (code[c + 2] as number);
        key |= bits << (code[c + 3] as number);
        c += 4;
      }
      if (form > 0) {
        found[i + 1] = -form;
        this.numbers[i + 1] = key;
        continue;
      }
      const at = offset + rowSize;
      let entry = (tables[i] as Int32Array)[key] as number;
      if (entry === 0) {
        entry = this.make(plan, plan.gaps[i] as Gap, bytes, at, end);
        if (entry === 0) return 0;
        (tables[i] as Int32Array)[key] = entry;
      }
      if (entry < 0) {
        if (at + LITERAL_BYTES > end) return 0;
        const literal = readU32(bytes, at);
        if (!isPlainLiteral(literal)) return 0;
        this.numbers[i + 1] = literal;
        size = rowSize + LITERAL_BYTES;
      }
      found[i + 1] = entry;
    }
    this.foundCount = tables.length + 1;
    this.row = row;
    this.isBranch = plan.isBranch;
    return size;
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
      if (entry < 0) {
        to = this.writeNumber(this.forms[-entry] as Form, this.numbers[i] as number, out, to);
        continue;
      }
      for (let from = entry >>> LENGTH_BITS, stop = from + (entry & LENGTH_MASK); from < stop; from++) {
        out[to++] = pool[from] as number;
      }
    }
    return to;
  }

  private copy(entry: number, out: Uint8Array, at: number): number {
    const { pool } = this;
    let to = at;
    for (let from = entry >>> LENGTH_BITS, stop = from + (entry & LENGTH_MASK); from < stop; from++) {
      out[to++] = pool[from] as number;
    }
    return to;
  }

  private writeNumber(form: Form, bits: number, out: Uint8Array, at: number): number {
    const { style, signShift } = form;
    const value = ((bits << signShift) >> signShift) & form.mask;
    if (value === 0 && form.omitsZero) return this.copy(form.suffix, out, at);
    let to = this.copy(form.prefix, out, at);
    if (style === 'hex') to = writeHexadecimal(out, to, value);
    else {
      if (value < 0) out[to++] = MINUS;
      to = style === 'decimal' ? writeDecimal(out, to, Math.abs(value)) : writeHexadecimal(out, to, Math.abs(value));
    }
    return this.copy(form.suffix, out, to);
  }

  /** Through the decoder and, when it is written, the printer. */
  private matchSlowly(bytes: Uint8Array, offset: number, end: number): number {
    const instruction = this.decoder.decode(bytes, offset, end);
    if (instruction === undefined) return 0;
    this.instruction = instruction;
    this.foundCount = 0;
    this.row = instruction.row;
    this.isBranch = isDirectBranch(instruction.row);
    return instruction.size;
  }

  /**
   * The entry of a gap for the encoding in `words`, whose literal would be at `at`; 0 when an operand does not decode or the text is
   * too long.
   */
  private make(plan: Plan, gap: Gap, bytes: Uint8Array, at: number, end: number): number {
    const { steps, copies, gathers, cpol } = plan.sources;
    const { operands, literal } = this;
    literal.bytes = bytes;
    literal.next = at;
    literal.end = end;
    literal.hasLiteral = false;
    for (const index of gap.operands) {
      const step = steps[index];
      const gather = gathers.find((g) => g.index === index);
      const copied = copies.findIndex((operand, i) => i % 2 === 0 && operand === index);
      const operand =
        gather !== undefined
          ? gathered(gather, operands)
          : copied >= 0
            ? operands[copies[copied + 1] as number]
            : step?.decode(this.words, operands, literal);
      if (operand === undefined) return 0;
      operands[index] = index === cpol ? immediate((operand as Immediate).value | 1) : operand;
    }
    if (!literal.hasLiteral) return this.store(gap.text(operands));
    return -this.literalForm(gap.text, operands);
  }

  /** The form of a piece that prints the literal; 0 when its text has none. */
  private literalForm(text: (operands: readonly Operand[]) => string, operands: readonly Operand[]): number {
    const probed = text(operands.map((operand) => (operand?.kind === 'literal' ? PROBE : operand)));
    for (const [digits, mask] of [[PROBE_TEXT, -1] as const, [HALF_PROBE_TEXT, 0xffff] as const]) {
      const [prefix, suffix, more] = probed.split(digits);
      if (prefix === undefined || suffix === undefined || more !== undefined) continue;
      return this.formOf({ prefix, style: 'hex', mask, omitsZero: false }, suffix, 0);
    }
    return 0;
  }

  /** The number of a form; 0 when its texts find no room. */
  private formOf({ prefix, style, mask, omitsZero }: NumberText, suffix: string, signShift: number): number {
    const name = `${prefix}\n${suffix}\n${style}\n${mask}\n${omitsZero}\n${signShift}`;
    let number = this.formNumbers.get(name);
    if (number === undefined) {
      const form = { prefix: this.store(prefix), suffix: this.store(suffix), style, mask, omitsZero, signShift };
      number = form.prefix === 0 || form.suffix === 0 ? 0 : this.forms.push(form) - 1;
      this.formNumbers.set(name, number);
    }
    return number;
  }

  /** Makes the plan of a row, or takes that of its shape. */
  private addPlan({ row, operandSources }: Candidate): Plan | null {
    let plan: Plan | null = null;
    if (!this.decoder.hasVariants(row)) {
      const pieces = this.printer.pieces(row);
      const shared = this.sharedPlans.get(pieces);
      plan = shared === undefined ? this.planOf(row, operandSources, pieces) : shared;
      this.sharedPlans.set(pieces, plan);
    }
    if (plan !== null) {
      const head = this.store(row.mnemonic + plan.start);
      this.heads[row.id] = head;
      if (head === 0) plan = null;
    }
    this.plans[row.id] = plan;
    return plan;
  }

  private planOf(row: InstructionRow, from: OperandSources, pieces: readonly (string | Piece)[]): Plan | null {
    if (from.hasConstant) return null;
    const gaps: Gap[] = [];
    const read = new Set<number>();
    let start = '';
    for (let i = 0; i < pieces.length; i++) {
      const piece = pieces[i] as string | Piece;
      if (typeof piece === 'string') {
        start = piece;
        continue;
      }
      const next = pieces[i + 1];
      const suffix = typeof next === 'string' ? next : '';
      if (suffix !== '') i++;
      const gap =
        this.numberGap(from, piece, suffix) ??
        this.tableGap(from, piece.reads, `${piece.key}\n${suffix}`, (ops) => piece.text(ops) + suffix);
      if (gap === undefined) return null;
      gaps.push(gap);
      for (const operand of piece.reads) read.add(operand);
    }
    // An operand that is not printed may still have codes that do not decode.
    from.steps.forEach((step, operand) => {
      if (step !== undefined && step.parts.length > 0 && !read.has(operand)) {
        const gap = this.tableGap(from, [operand], 'not printed', () => '');
        if (gap !== undefined) gaps.push(gap);
      }
    });
    return gaps.length > MAX_GAPS ? null : new Plan(row, start, from, gaps);
  }

  /** The gap of a piece that is a wide number with bits of its own; undefined for others. */
  private numberGap(from: OperandSources, { number, reads: [operand], text }: Piece, suffix: string): Gap | undefined {
    const step = operand === undefined ? undefined : from.steps[operand];
    if (number === undefined || step === undefined || !step.isNumber || step.leader >= 0) return undefined;
    if (step.width <= MAX_NUMBER_BITS || operand === from.cpol || from.gathers.some((g) => g.index === operand))
      return undefined;
    const form = this.formOf(number, suffix, step.isSigned ? 32 - step.width : 0);
    return form === 0 ? undefined : { entries: NO_ENTRIES, form, parts: step.parts, operands: [], text };
  }

  /** The gap of a piece with a table; undefined when its fields have too many bits for one. */
  private tableGap(
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
    return { entries, form: 0, parts, operands: recipe.operands, text };
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
