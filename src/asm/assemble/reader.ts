// Reads statements from a stack of buffers (files, includes, macro instantiations) and collects diagnostics about them.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp (enterIncludeFile, handleMacroEntry, handleMacroExit, printError).
import { WavesmithError } from '../../base/index.ts';
import { Lexer, type Diagnostic as LexerDiagnostic } from '../../isa/text/lexer.ts';
import { Conditionals } from './conditionals.ts';
import { type AssembleLimits, type AssembleOptions, DEFAULT_LIMITS } from './options.ts';
import {
  type Diagnostic,
  fromByteText,
  type Location,
  lineAndColumn,
  makeDiagnostic,
  type Severity,
  type SourceBuffer,
  type SourceLine,
  toByteText,
} from './source.ts';

interface Frame {
  readonly buffer: SourceBuffer;
  readonly lexer: Lexer;
  readonly kind: 'file' | 'include' | 'macro' | 'repeat';
  /** Where the macro was called. */
  readonly calledAt?: Location;
  /** Depth of conditionals at the call. */
  readonly conditionDepth: number;
}

/** llvm-mc's default for nested macros. */
const MAX_MACRO_NESTING = 20;
const MAX_INCLUDE_NESTING = 64;
/** Only so many diagnostics tell the macro calls that led to them. */
const MAX_DIAGNOSTICS_WITH_CALLS = 500;

/** The source side of an assembly. */
export class SourceReader {
  readonly options: AssembleOptions;
  readonly limits: AssembleLimits;
  readonly diagnostics: Diagnostic[] = [];
  protected readonly conditionals = new Conditionals();
  /** Macro instantiations so far (`\@`). */
  instantiations = 0;
  hasErrors = false;
  protected ended = false;
  private readonly frames: Frame[] = [];
  protected lexer = new Lexer('');
  private statements = 0;
  private expandedCharacters = 0;
  /** Lengths of the marked ranges of diagnostics that still wait in a lexer. */
  private readonly rangeLengths = new WeakMap<LexerDiagnostic, number>();
  /** The last line marker: line `line + 1` of the buffer is line `number` of `file`. */
  private marker: { buffer: SourceBuffer; line: number; file: string; number: number } | undefined;

  constructor(options: AssembleOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** Reads the next statement of the innermost buffer; false at the end of the source. */
  protected nextStatement(): boolean {
    for (;;) {
      if (this.ended) return false;
      if (this.lexer.nextStatement()) break;
      if (this.frames.length === 1) return false;
      this.popFrame();
    }
    this.countStatement();
    return true;
  }

  protected countStatement(): void {
    if (++this.statements <= this.limits.maxStatements) return;
    throw new WavesmithError(
      'asm/too-long',
      `The source expands to more than ${this.limits.maxStatements} statements.`,
    );
  }

  /** `# 12 "file"` of the C preprocessor: where the following lines come from. */
  protected readLineMarker(lexer: Lexer): void {
    const match = /^#[ \t]*([0-9]+)[ \t]+"([^"]*)"/.exec(lexer.tokenText());
    if (match === null || this.isInMacro) return;
    const { buffer } = this.currentLocation;
    const { line } = lineAndColumn(this.currentLocation);
    const number = Number(match[1]);
    this.marker = number === 0 ? undefined : { buffer, line, file: fromByteText(match[2]), number };
  }

  /** A diagnostic that marks `length` characters. */
  failRange(lexer: Lexer, offset: number, length: number, message: string): void {
    lexer.fail(offset, message);
    const last = lexer.diagnostics[lexer.diagnostics.length - 1];
    if (last !== undefined) this.rangeLengths.set(last, Math.max(1, length));
  }

  // ── buffers ───────────────────────────────────────────────────────────────────────────────────────────────────────

  protected push(frame: Frame): void {
    this.frames.push(frame);
    this.lexer = frame.lexer;
  }

  private popFrame(): void {
    this.frames.pop();
    const top = this.frames[this.frames.length - 1];
    if (top !== undefined) this.lexer = top.lexer;
  }

  /** Stops at the end of this statement (`.end`). */
  end(): void {
    this.ended = true;
  }

  /** False (with a diagnostic) when macros nest too deeply. */
  mayNest(lexer: Lexer): boolean {
    let active = 0;
    for (const frame of this.frames) if (frame.kind === 'macro' || frame.kind === 'repeat') active++;
    if (active < MAX_MACRO_NESTING) return true;
    lexer.fail(lexer.start(), `macros cannot be nested more than ${MAX_MACRO_NESTING} levels deep`);
    return false;
  }

  /** False (with a diagnostic) when expansions grow beyond the limit. */
  mayExpand(lexer: Lexer, offset: number, characters: number): boolean {
    this.expandedCharacters += characters;
    if (this.expandedCharacters <= this.limits.maxExpandedCharacters) return true;
    this.expandedCharacters -= characters;
    lexer.fail(offset, `macro expansions exceed ${this.limits.maxExpandedCharacters} characters`);
    return false;
  }

  /** Continues with the text of an expanded macro or repeat. */
  enterInstantiation(lexer: Lexer, text: string, offset: number, kind: 'macro' | 'repeat'): void {
    if (kind === 'repeat' && !this.mayNest(lexer)) return;
    if (kind === 'macro') {
      if (!this.mayExpand(lexer, offset, text.length)) return;
    }
    this.instantiations++;
    const buffer: SourceBuffer = { name: '<instantiation>', text };
    const calledAt = this.location(offset);
    this.push({ buffer, lexer: new Lexer(text), kind, calledAt, conditionDepth: this.conditionals.depth });
    if (lexer.diagnostics.length > 0) this.drainOf(lexer, this.frames.length - 2);
  }

  /** Leaves the innermost macro instantiation (`.exitm`); false outside one. */
  exitMacro(): boolean {
    const top = this.frames[this.frames.length - 1];
    if (top.kind !== 'macro' && top.kind !== 'repeat') return false;
    this.conditionals.unwind(top.conditionDepth);
    this.popFrame();
    return true;
  }

  get isInMacro(): boolean {
    const { kind } = this.frames[this.frames.length - 1];
    return kind === 'macro' || kind === 'repeat';
  }

  /** Continues with an included file. False when there is no such file. */
  enterInclude(lexer: Lexer, name: string, offset: number): boolean {
    if (this.frames.filter((frame) => frame.kind === 'include').length >= MAX_INCLUDE_NESTING) {
      lexer.fail(offset, `includes cannot be nested more than ${MAX_INCLUDE_NESTING} levels deep`);
      return true;
    }
    const bytes = this.options.readFile?.(name);
    if (bytes === undefined) return false;
    const includedFrom = this.location(offset);
    const buffer: SourceBuffer = { name, text: toByteText(bytes), includedFrom };
    this.push({ buffer, lexer: new Lexer(buffer.text), kind: 'include', conditionDepth: this.conditionals.depth });
    return true;
  }

  // ── diagnostics ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** A position in the current buffer. */
  location(offset: number, buffer = this.frames[this.frames.length - 1].buffer): Location {
    return { buffer, offset };
  }

  /** Where the current statement is. */
  get currentLocation(): Location {
    return this.location(this.lexer.start());
  }

  /** The line of a file that a place of the innermost buffer comes from: inside a macro, the line of the outermost call. */
  fileLine(offset: number): SourceLine {
    const inner = this.frames.find((frame) => frame.calledAt !== undefined);
    const location = inner?.calledAt ?? this.location(offset);
    const { line } = lineAndColumn(location);
    const { marker } = this;
    if (marker === undefined || marker.buffer !== location.buffer) return { file: location.buffer.name, line };
    return { file: marker.file, line: marker.number - 1 + line - marker.line };
  }

  error(location: Location, message: string): void {
    this.report('error', location, message, []);
  }

  /** A warning at an offset of the current buffer. */
  warn(offset: number, message: string): void {
    this.report('warning', this.location(offset), message, this.macroNotes(this.frames.length - 1));
  }

  private report(
    severity: Severity,
    location: Location,
    message: string,
    notes: readonly Diagnostic[],
    length = 1,
  ): void {
    if (severity === 'error') this.hasErrors = true;
    const { maxDiagnostics } = this.limits;
    if (this.diagnostics.length > maxDiagnostics) return;
    if (this.diagnostics.length === maxDiagnostics) {
      this.ended = true;
      this.hasErrors = true;
      this.diagnostics.push(
        makeDiagnostic('error', `more than ${maxDiagnostics} diagnostics, stopping here`, location),
      );
      return;
    }
    let diagnostic = makeDiagnostic(severity, message, location, notes, length);
    const { marker } = this;
    if (marker !== undefined && marker.buffer === location.buffer) {
      const line = marker.number - 1 + diagnostic.line - marker.line;
      diagnostic = { ...diagnostic, file: marker.file, line };
    }
    this.diagnostics.push(diagnostic);
  }

  private macroNotes(from: number): Diagnostic[] {
    const notes: Diagnostic[] = [];
    if (this.diagnostics.length > MAX_DIAGNOSTICS_WITH_CALLS) return notes;
    for (let i = from; i > 0; i--) {
      const { calledAt } = this.frames[i];
      if (calledAt !== undefined) notes.push(makeDiagnostic('note', 'while in macro instantiation', calledAt));
    }
    return notes;
  }

  protected drain(): void {
    this.drainOf(this.lexer, this.frames.length - 1);
  }

  /** Moves the problems that a lexer has noted into the list, with the macro calls that led there. */
  private drainOf(lexer: Lexer, frame: number): void {
    const { buffer } = this.frames[frame];
    const notes = this.macroNotes(frame);
    for (const noted of lexer.diagnostics) {
      const location = { buffer, offset: noted.offset };
      this.report('error', location, noted.message, notes, this.rangeLengths.get(noted));
    }
    lexer.diagnostics.length = 0;
  }
}
