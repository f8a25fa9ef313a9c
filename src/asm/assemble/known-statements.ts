// Instruction statements that this assembly has read before. Code repeats itself: nine of ten lines of a compiled kernel are
// lines that it had already, and a line that asks nothing of the text around it means the same each time.
import type { ParseContext } from '../../isa/parse/types.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Instruction } from '../../isa/types.ts';

/** An instruction as its line gives it, wherever the line stands. */
export interface KnownStatement {
  readonly mnemonic: string;
  /** Where in the line the mnemonic begins. */
  readonly indent: number;
  readonly instruction: Instruction;
  readonly bytes: Uint8Array;
  /** The last register of each file that it names, -1 for none. */
  readonly lastRegisters: Readonly<Record<'v' | 'a' | 's', number>>;
}

/** Lines that are kept at most. */
const MAX_LINES = 1 << 17;
/** After so many new lines it is asked whether lines come again: looking for them costs a tenth of reading them. */
const TRIAL_LINES = 1 << 13;

/** The lines, and the context through which they are parsed: it notices what a line asks of the assembler. */
export class KnownStatements implements ParseContext {
  private readonly assembler: Required<ParseContext>;
  private readonly lines = new Map<string, KnownStatement>();
  private hits = 0;
  private isGivenUp = false;
  private isAlone = true;
  private lastRegisters = { v: -1, a: -1, s: -1 };

  constructor(assembler: Required<ParseContext>) {
    this.assembler = assembler;
  }

  /** Whether it is worth to ask `get` and `add`: false in a text whose lines do not come again. */
  get isUseful(): boolean {
    return !this.isGivenUp;
  }

  get(line: string): KnownStatement | undefined {
    const known = this.lines.get(line);
    if (known !== undefined) this.hits++;
    return known;
  }

  /** Call it before a line is parsed. */
  begin(): void {
    this.isAlone = true;
    this.lastRegisters = { v: -1, a: -1, s: -1 };
  }

  /** Keeps the line that was parsed since `begin` if it asked for nothing. */
  add(line: string, statement: Omit<KnownStatement, 'lastRegisters'>): void {
    const { lines, hits } = this;
    if (!this.isAlone || lines.size >= MAX_LINES) return;
    lines.set(line, { ...statement, lastRegisters: this.lastRegisters });
    if (lines.size % TRIAL_LINES !== 0 || hits * 2 > lines.size) return;
    this.isGivenUp = true;
    lines.clear();
  }

  /** Forgets everything: the target has changed. */
  clear(): void {
    this.lines.clear();
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

  usesRegister(file: 'v' | 'a' | 's', lastIndex: number): void {
    if (lastIndex > this.lastRegisters[file]) this.lastRegisters[file] = lastIndex;
    this.assembler.usesRegister(file, lastIndex);
  }
}
