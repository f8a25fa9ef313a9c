// Instruction lines that differ from an earlier one in the numbers of their registers only. A compiled kernel has thousands of lines
// and some hundred such shapes. What the parser decides about a line depends on the file, the width and the alignment of its registers,
// which are part of the shape, and on nothing else about them but what `registersFit` asks and the end of a file.
import { registersFit } from '../../isa/parse/check.ts';
import type { ParsedInstruction } from '../../isa/parse/types.ts';
import { fitsFile, registerTuple } from '../../isa/table/registers.ts';
import { CLASS, IDENT } from '../../isa/text/tokens.ts';
import type { Instruction, Operand, Register } from '../../isa/types.ts';

/** A line with such a shape, and which of its operands are which of its registers. */
interface Shape {
  readonly hash: number;
  /** Where its key lies in `keys`. */
  readonly start: number;
  readonly length: number;
  readonly mnemonic: string;
  readonly indent: number;
  readonly instruction: Instruction;
  /** For each operand the number of the register in the line; -1 for an operand that every line of the shape has. */
  readonly registerOf: readonly number[];
}

/** A line that has the shape of an earlier one. */
export interface ShapedLine {
  readonly mnemonic: string;
  readonly indent: number;
  readonly instruction: Instruction;
  readonly registers: readonly Register[];
}

type File = 'v' | 'a' | 's';

/** Longer lines have no shape. */
const MAX_LINE = 160;
const MAX_SHAPES = 1 << 16;
/** Marks a register in a key: no character of a line that has a shape. Its file, alignment and width follow. */
const REGISTER = 1;

/** The shapes of one assembly. `read` comes first, then `find` or `add`, all about the same line. */
export class LineShapes {
  private readonly shapes: Shape[] = [];
  /** Open addressing, as in known-statements.ts. */
  private readonly table = new Int32Array(MAX_SHAPES * 2);
  private keys = new Uint8Array(1 << 14);
  private keysUsed = 0;
  /** What `read` found: the key, and of each register its file, first number, width and place in the text. */
  private readonly key = new Uint8Array(MAX_LINE * 2);
  private keyLength = 0;
  private hash = 0;
  private readonly files: File[] = [];
  private readonly firsts: number[] = [];
  private readonly widths: number[] = [];
  private readonly places: number[] = [];

  /** Forgets everything. */
  clear(): void {
    if (this.shapes.length === 0) return;
    this.shapes.length = 0;
    this.table.fill(0);
    this.keysUsed = 0;
  }

  /** Reads the shape of text[start, end); false when it has none. */
  read(text: string, start: number, end: number): boolean {
    this.keyLength = 0;
    this.places.length = 0;
    if (end - start > MAX_LINE) return false;
    let hash = 0;
    let isInWord = false;
    for (let p = start; p < end; ) {
      const c = text.charCodeAt(p);
      if (c <= REGISTER || c > 255) return false;
      const isFile = !isInWord && (c === 118 || c === 115 || c === 97);
      const next = isFile ? this.register(text, c, p, end) : p;
      if (next > p) {
        hash = Math.imul(hash ^ (this.key[this.keyLength - 1] as number), 0x01000193);
        hash = Math.imul(hash ^ (this.key[this.keyLength - 2] as number), 0x01000193) ^ c;
        p = next;
        isInWord = true;
        continue;
      }
      this.key[this.keyLength++] = c;
      hash = Math.imul(hash ^ c, 0x01000193);
      isInWord = ((CLASS[c] as number) & IDENT) !== 0;
      p++;
    }
    this.hash = hash ^ (hash >>> 15);
    return this.places.length > 0;
  }

  /** Reads the register at `at`, whose file is the character `c`, to the key; returns its end, `at` when there is none. */
  private register(text: string, c: number, at: number, end: number): number {
    const isTuple = text.charCodeAt(at + 1) === 91; // [
    let p = at + (isTuple ? 2 : 1);
    let from = p;
    let first = 0;
    for (let d = digit(text, p); d >= 0; d = digit(text, ++p)) first = first * 10 + d;
    if (!isNumber(text, from, p)) return at;
    let last = first;
    if (isTuple) {
      if (text.charCodeAt(p) !== 58) return at; // :
      from = ++p;
      last = 0;
      for (let d = digit(text, p); d >= 0; d = digit(text, ++p)) last = last * 10 + d;
      if (!isNumber(text, from, p) || last < first || text.charCodeAt(p) !== 93) return at; // ]
      p++;
    } else if (p < end && ((CLASS[text.charCodeAt(p) & 255] as number) & IDENT) !== 0) return at;
    const width = last - first + 1;
    if (p > end || width > 32) return at;
    const i = this.places.length;
    this.places.push(at);
    this.files[i] = c === 118 ? 'v' : c === 115 ? 's' : 'a';
    this.firsts[i] = first;
    this.widths[i] = width;
    this.key[this.keyLength++] = REGISTER;
    this.key[this.keyLength++] = c;
    this.key[this.keyLength++] = 1 + (first & 3);
    this.key[this.keyLength++] = width;
    return p;
  }

  private isKeyOf({ hash, start, length }: Shape): boolean {
    if (hash !== this.hash || length !== this.keyLength) return false;
    for (let i = 0; i < length; i++) if (this.keys[start + i] !== this.key[i]) return false;
    return true;
  }

  /** The line that was read last, if its shape is known and its registers are possible. */
  find(): ShapedLine | undefined {
    const mask = this.table.length - 1;
    for (let at = this.hash & mask; ; at = (at + 1) & mask) {
      const number = this.table[at] as number;
      if (number === 0) return undefined;
      const shape = this.shapes[number - 1] as Shape;
      if (!this.isKeyOf(shape)) continue;
      return this.withRegisters(shape);
    }
  }

  private withRegisters({ mnemonic, indent, instruction, registerOf }: Shape): ShapedLine | undefined {
    const registers: Register[] = [];
    for (let i = 0; i < this.places.length; i++) {
      const register = registerTuple(this.files[i] as File, this.firsts[i] as number, this.widths[i] as number);
      if (register === undefined || !fitsFile(register)) return undefined;
      registers.push(register);
    }
    const { row, size } = instruction;
    const operands = instruction.operands.map((operand, i) => {
      const register = registerOf[i] as number;
      return register < 0 ? operand : (registers[register] as Register);
    });
    const own = { row, operands, size };
    return registersFit(own) ? { mnemonic, indent, instruction: own, registers } : undefined;
  }

  /** Keeps the shape of the line that was read last, which was parsed to this instruction. */
  add(mnemonic: string, indent: number, { instruction, fixups, starts }: ParsedInstruction): void {
    if (fixups.length > 0 || this.shapes.length >= MAX_SHAPES) return;
    const registerOf = this.registersOf(instruction, starts);
    if (registerOf === undefined) return;
    const start = this.keysUsed;
    if (start + this.keyLength > this.keys.length) {
      const bigger = new Uint8Array(this.keys.length * 2);
      bigger.set(this.keys);
      this.keys = bigger;
    }
    this.keys.set(this.key.subarray(0, this.keyLength), start);
    this.keysUsed += this.keyLength;
    const { hash, keyLength: length } = this;
    const number = this.shapes.push({ hash, start, length, mnemonic, indent, instruction, registerOf });
    const mask = this.table.length - 1;
    let at = hash & mask;
    while (this.table[at] !== 0) at = (at + 1) & mask;
    this.table[at] = number;
  }

  /** Which operand is which register of the line; undefined when an operand or a register has no counterpart. */
  private registersOf({ row, operands }: Instruction, starts: ParsedInstruction['starts']): number[] | undefined {
    const { places } = this;
    let used = 0;
    const registerOf: number[] = [];
    for (let i = 0; i < operands.length; i++) {
      const operand = operands[i] as Operand;
      registerOf.push(-1);
      if (operand.kind !== 'reg' || operand.file === 'special' || operand.file === 'ttmp') continue;
      const tied = row.operands.findIndex((o, j) => o.tiedTo === i || row.operands[i]?.tiedTo === j);
      const start = starts[i] ?? starts[tied];
      const register = start === undefined ? -1 : places.indexOf(start);
      if (register < 0) return undefined;
      const is = operand.file === this.files[register] && operand.index === this.firsts[register];
      if (!is || operand.dwords !== this.widths[register]) return undefined;
      registerOf[i] = register;
      used |= 1 << register;
    }
    return places.length < 31 && used === (1 << places.length) - 1 ? registerOf : undefined;
  }
}

/** The decimal digit at a place of the text, -1 when there is none. */
function digit(text: string, at: number): number {
  const c = text.charCodeAt(at);
  return c >= 48 && c <= 57 ? c - 48 : -1;
}

/** Whether text[from, to), which is digits, is a number as it is usually written, small enough for a register. */
function isNumber(text: string, from: number, to: number): boolean {
  const length = to - from;
  return length === 1 || (length > 1 && length <= 3 && text.charCodeAt(from) !== 48);
}
