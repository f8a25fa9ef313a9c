// Instruction statements that this assembly has read before. Code repeats itself: nine of ten lines of a compiled kernel are
// lines that it had already, and a line that asks nothing of the text around it means the same each time.
import { readU32 } from '../../isa/codec/decode-operand.ts';
import { encodeInto } from '../../isa/codec/encode.ts';
import type { ParseContext, ParsedInstruction } from '../../isa/parse/types.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Lexer } from '../../isa/text/lexer.ts';
import type { Instruction } from '../../isa/types.ts';
import { LineShapes } from './line-shapes.ts';

/** An instruction as its line gives it, wherever the line stands. */
export interface KnownStatement {
  readonly mnemonic: string;
  /** Where in the line the mnemonic begins. */
  readonly indent: number;
  /** Its encoding as dwords: four bytes that are one number are half the work to copy. */
  readonly words: readonly number[];
  /** For an assembly that is printed. */
  readonly instruction: Instruction | undefined;
  /** The last register of each file that it names, -1 for none. */
  readonly lastRegisters: LastRegisters;
}

export interface LastRegisters {
  v: number;
  a: number;
  s: number;
}

/** The assembly that the statements are of. */
interface Assembling extends Required<ParseContext> {
  /** What prints the statements; undefined when they become an object. */
  readonly streamer: object | undefined;
}

/** A statement and the text of its line. */
interface Line {
  readonly hash: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly statement: KnownStatement;
}

/** Lines that are kept at most. */
const MAX_LINES = 1 << 17;
/** After so many lines that were parsed it is asked whether lines come again: looking for them costs a tenth of reading them. */
const TRIAL_LINES = 1 << 13;

const scratch = new Uint8Array(32);

/** The encoding of an instruction. */
function wordsOf(instruction: Instruction): number[] {
  const size = encodeInto(instruction, scratch, 0);
  const words: number[] = [];
  for (let at = 0; at < size; at += 4) words.push(readU32(scratch, at));
  return words;
}

/** Whether the line that a lexer peeked at is this one. */
function isSameLine({ text, start, end }: Line, lexer: Lexer): boolean {
  const length = end - start;
  if (lexer.peekedEnd - lexer.peekedStart !== length) return false;
  const other = lexer.text;
  const otherStart = lexer.peekedStart;
  for (let i = 0; i < length; i++) if (text.charCodeAt(start + i) !== other.charCodeAt(otherStart + i)) return false;
  return true;
}

/**
 * The lines, and the context through which they are parsed: it notices what a line asks of the assembler. They are in a hash table of
 * their own, because a Map wants a string for each line that is looked up: that took longer than all else about a line that is known.
 */
export class KnownStatements implements ParseContext {
  private readonly assembler: Assembling;
  private readonly lines: Line[] = [];
  private readonly shapes = new LineShapes();
  /** Whether `shapes` has read the line that `find` was asked about last. */
  private hasShape = false;
  /** Open addressing: the number of a line plus one, at its hash or behind it; 0 where there is none. At least half of them are 0. */
  private table = new Int32Array(1 << 10);
  private parsed = 0;
  private hits = 0;
  private isGivenUp = false;
  private isAlone = true;
  private lastRegisters: LastRegisters = { v: -1, a: -1, s: -1 };

  constructor(assembler: Assembling) {
    this.assembler = assembler;
  }

  /** Whether it is worth to ask `find` and `add`: false in a text whose lines do not come again. */
  get isUseful(): boolean {
    return !this.isGivenUp;
  }

  /** The statement of the next line, if it or another line of its shape was read before. */
  find(lexer: Lexer): KnownStatement | undefined {
    if (!lexer.peekLine()) return undefined;
    return this.findLine(lexer) ?? this.findShape(lexer);
  }

  private findLine(lexer: Lexer): KnownStatement | undefined {
    const { table, lines } = this;
    const { peekedHash } = lexer;
    const mask = table.length - 1;
    for (let at = peekedHash & mask; ; at = (at + 1) & mask) {
      const number = table[at] as number;
      if (number === 0) return undefined;
      const line = lines[number - 1] as Line;
      if (line.hash !== peekedHash || !isSameLine(line, lexer)) continue;
      this.hits++;
      return line.statement;
    }
  }

  private findShape(lexer: Lexer): KnownStatement | undefined {
    this.hasShape = this.shapes.read(lexer.text, lexer.peekedStart, lexer.peekedEnd);
    const found = this.hasShape ? this.shapes.find() : undefined;
    if (found === undefined) return undefined;
    const { mnemonic, indent, instruction, registers } = found;
    this.begin();
    for (const { file, index, dwords } of registers) this.noteRegister(file as 'v' | 'a' | 's', index + dwords - 1);
    this.hits++;
    return this.keep(lexer, mnemonic, indent, instruction);
  }

  /** Call it before a line is parsed. */
  begin(): void {
    this.isAlone = true;
    this.lastRegisters = { v: -1, a: -1, s: -1 };
  }

  /** Keeps the statement that was parsed since `begin`, if it is the line that `find` did not find and asked for nothing. */
  add(lexer: Lexer, mnemonic: string, indent: number, parsed: ParsedInstruction): void {
    if (!this.isAlone || !lexer.isPeeked || parsed.fixups.length > 0) return;
    if (this.hasShape) this.shapes.add(mnemonic, indent, parsed);
    this.keep(lexer, mnemonic, indent, parsed.instruction);
    if (++this.parsed % TRIAL_LINES !== 0 || this.hits * 2 > this.parsed) return;
    this.isGivenUp = true;
    this.clear();
  }

  private keep(lexer: Lexer, mnemonic: string, indent: number, instruction: Instruction): KnownStatement {
    const { lastRegisters } = this;
    const isPrinted = this.assembler.streamer !== undefined;
    const statement: KnownStatement = {
      mnemonic,
      indent,
      words: wordsOf(instruction),
      instruction: isPrinted ? instruction : undefined,
      lastRegisters,
    };
    if (this.lines.length < MAX_LINES) {
      const { text, peekedHash: hash, peekedStart: start, peekedEnd: end } = lexer;
      this.enter(this.lines.push({ hash, text, start, end, statement }));
    }
    return statement;
  }

  /** Puts the number of a line into the table, which grows when it is half full. */
  private enter(number: number): void {
    if (number * 2 > this.table.length) {
      this.table = new Int32Array(this.table.length * 4);
      for (let each = 1; each < number; each++) this.enter(each);
    }
    const { table } = this;
    const mask = table.length - 1;
    let at = (this.lines[number - 1] as Line).hash & mask;
    while (table[at] !== 0) at = (at + 1) & mask;
    table[at] = number;
  }

  /** Forgets everything: the target has changed. */
  clear(): void {
    this.lines.length = 0;
    this.table.fill(0);
    this.shapes.clear();
  }

  // ── what the parser asks for ──────────────────────────────────────────────────────────────────────────────────────

  get target() {
    return this.assembler.target;
  }

  get xnack() {
    return this.assembler.xnack;
  }

  get wave32() {
    return this.assembler.wave32;
  }

  constant(name: string): bigint | undefined {
    this.isAlone = false;
    return this.assembler.constant(name);
  }

  here(): string {
    this.isAlone = false;
    return this.assembler.here();
  }

  numericLabel(label: bigint, direction: 'b' | 'f'): string | undefined {
    this.isAlone = false;
    return this.assembler.numericLabel(label, direction);
  }

  evaluate(expr: Expr): bigint | undefined {
    this.isAlone = false;
    return this.assembler.evaluate(expr);
  }

  warn(offset: number, message: string): void {
    this.isAlone = false;
    this.assembler.warn(offset, message);
  }

  private noteRegister(file: 'v' | 'a' | 's', lastIndex: number): void {
    if (lastIndex > this.lastRegisters[file]) this.lastRegisters[file] = lastIndex;
  }

  usesRegister(file: 'v' | 'a' | 's', lastIndex: number): void {
    this.noteRegister(file, lastIndex);
    this.assembler.usesRegister(file, lastIndex);
  }
}
