// The assembler: reads statements of LLVM-dialect AMDGPU assembly and builds a relocatable object in memory.
// Sources: llvm/lib/MC/MCParser/AsmParser.cpp (statements), AMDGPUAsmParser.cpp (target side), MCELFStreamer.cpp.
import { WavesmithError } from '../base/index.ts';
import type { ObjectModel } from '../codeobject/object-model.ts';
import { flagsOfTargetId, formatTargetId, parseTargetId, type TargetId } from '../codeobject/target-id.ts';
import type { ParseContext } from '../isa/parse-types.ts';
import { isTargetName, type TargetInfo, targetInfo } from '../isa/targets.ts';
import { type Expr, parseExpression } from '../isa/text/expr.ts';
import { Lexer, type Diagnostic as LexerDiagnostic, Tok } from '../isa/text/lexer.ts';
import { Conditionals } from './conditionals.ts';
import { DebugInfo } from './debug-info.ts';
import { DIRECTIVES, GENERIC_DIRECTIVES } from './directives.ts';
import { Emitter } from './emit.ts';
import { ObjectBuilder } from './fixups.ts';
import { assembleInstruction } from './instructions.ts';
import { Evaluation, layoutSections } from './layout.ts';
import { instantiateMacro, type Macro } from './macros.ts';
import {
  type Diagnostic,
  fromByteText,
  type Location,
  lineAndColumn,
  makeDiagnostic,
  type Severity,
  type SourceBuffer,
  toByteText,
} from './source.ts';
import type { AsmStreamer } from './streamer.ts';
import { type AsmSymbol, SymbolTable } from './symbols.ts';

/** Limits that keep hostile input bounded. */
export interface AssembleLimits {
  /** Bytes of all sections together. */
  readonly maxOutputBytes: number;
  /** Characters of all macro and repeat expansions together. */
  readonly maxExpandedCharacters: number;
  /** Statements executed. */
  readonly maxStatements: number;
}

export const DEFAULT_LIMITS: AssembleLimits = {
  maxOutputBytes: 1 << 30,
  maxExpandedCharacters: 1 << 29,
  maxStatements: 100_000_000,
};

export interface AssembleOptions {
  /** Target id (`gfx942:xnack-`). Needed when the source has no `.amdgcn_target`; a conflict is an error. */
  readonly target?: string | undefined;
  /** Name of the source in diagnostics. */
  readonly file?: string | undefined;
  /** Symbols set before the first statement (`-D`). */
  readonly defines?: Readonly<Record<string, bigint>> | undefined;
  /** Content of an included file, undefined when there is none. */
  readonly readFile?: ((name: string) => Uint8Array | undefined) | undefined;
  readonly limits?: Partial<AssembleLimits> | undefined;
  /** OS of the triple: `amdhsa` (default), or `none` as in `llvm-mc -triple=amdgcn`. */
  readonly os?: 'amdhsa' | 'none' | undefined;
  /** Code object version until a directive sets it. */
  readonly codeObjectVersion?: number | undefined;
  /** Report every line of a kernel block that follows a wrong one, as LLVM does, and not only the first. */
  readonly reportCascades?: boolean | undefined;
  /** Say in the diagnostic how to resolve a target that differs from the source's directive. */
  readonly explainConflicts?: boolean | undefined;
  /** `+tgsplit` of LLVM's subtarget features. */
  readonly tgSplit?: boolean | undefined;
  /** Prints each statement as llvm-mc does; there is no object then. */
  readonly streamer?: AsmStreamer | undefined;
}

export interface AssembleResult {
  /** Absent when there were errors. */
  readonly object?: ObjectModel;
  readonly diagnostics: readonly Diagnostic[];
  /** The target of the object, once known. */
  readonly target?: TargetId | undefined;
}

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
const MAX_DIAGNOSTICS = 10_000;
/** Only so many diagnostics tell the macro calls that led to them. */
const MAX_DIAGNOSTICS_WITH_CALLS = 500;

/** State of one assembly; directive handlers work on it. */
export class Assembler implements ParseContext {
  readonly options: AssembleOptions;
  readonly limits: AssembleLimits;
  readonly diagnostics: Diagnostic[] = [];
  readonly symbols: SymbolTable;
  readonly evaluation: Evaluation;
  readonly emitter: Emitter;
  readonly macros = new Map<string, Macro>();
  readonly streamer: AsmStreamer | undefined;
  readonly os: 'amdhsa' | 'none';
  private readonly conditionals = new Conditionals();
  altMacro = false;
  readonly debug: DebugInfo;
  /** Symbols of `.addrsig_sym`; undefined without `.addrsig`. */
  addressSignificant: AsmSymbol[] | undefined;
  /** Macro instantiations so far (`\@`). */
  instantiations = 0;
  codeObjectVersion: number;
  targetId: TargetId | undefined;
  private info: TargetInfo | undefined;
  hasErrors = false;
  private ended = false;
  private readonly frames: Frame[] = [];
  private lexer = new Lexer('');
  private statements = 0;
  private expandedCharacters = 0;
  /** Highest register indexes used, plus one (`.amdgcn.next_free_vgpr`, `.kernel.…`). */
  readonly registerCounts = { v: 0, a: 0, s: 0 };
  readonly kernelCounts = { v: 0, a: 0, s: 0 };
  /** `.amdgcn.next_free_{v,s}gpr` was set to something that is no number: instructions cannot count on. */
  brokenRegisterCounts = false;
  /** Numeric labels that must get a definition, with their place. */
  /** Lengths of the marked ranges of diagnostics that still wait in a lexer. */
  private readonly rangeLengths = new WeakMap<LexerDiagnostic, number>();
  /** The last line marker: line `line + 1` of the buffer is line `number` of `file`. */
  private marker: { buffer: SourceBuffer; line: number; file: string; number: number } | undefined;
  private readonly forwardLabels: { symbol: AsmSymbol; location: Location }[] = [];

  constructor(options: AssembleOptions = {}) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.os = options.os ?? 'amdhsa';
    this.codeObjectVersion = options.codeObjectVersion ?? 6;
    this.streamer = options.streamer;
    this.symbols = new SymbolTable(options.streamer !== undefined);
    const extraSgprs = (vcc: boolean, flatScratch: boolean, xnack: boolean) => this.extraSgprs(vcc, flatScratch, xnack);
    this.evaluation = new Evaluation(this.symbols, { extraSgprs }, options.streamer === undefined);
    this.emitter = new Emitter(this);
    this.debug = new DebugInfo(this);
    if (options.target !== undefined) this.setTarget(parseTargetId(options.target));
    for (const [name, value] of Object.entries(options.defines ?? {})) {
      const symbol = this.symbols.getOrCreate(name);
      symbol.value = { kind: 'const', value };
      symbol.redefinable = true;
      this.symbols.register(symbol);
    }
  }

  /** Assembles a whole source. */
  run(source: string | Uint8Array): AssembleResult {
    const buffer: SourceBuffer = { name: this.options.file ?? '<stdin>', text: toByteText(source) };
    this.push({ buffer, lexer: new Lexer(buffer.text), kind: 'file', conditionDepth: 0 });
    if (this.targetId !== undefined && this.os === 'amdhsa') this.streamer?.target(formatTargetId(this.targetId));
    this.emitter.initSections();
    while (this.frames.length > 0 && !this.ended) {
      if (!this.lexer.nextStatement()) {
        if (this.frames.length === 1) break;
        this.popFrame();
        continue;
      }
      if (++this.statements > this.limits.maxStatements) {
        throw new WavesmithError(
          'asm/too-long',
          `The source expands to more than ${this.limits.maxStatements} statements.`,
        );
      }
      this.statement(this.lexer);
      if (this.lexer.diagnostics.length > 0) this.drain();
    }
    const end = this.location(buffer.text.length, buffer);
    if (this.conditionals.isOpen) this.error(end, 'unmatched .ifs or .elses');
    for (const { symbol, location } of this.forwardLabels) {
      if (!symbol.isDefined) this.error(location, 'directional label undefined');
    }
    const object = this.hasErrors || this.streamer !== undefined ? undefined : this.finish(end);
    return {
      ...(object !== undefined && !this.hasErrors ? { object } : {}),
      diagnostics: this.diagnostics,
      target: this.targetId,
    };
  }

  private finish(end: Location): ObjectModel | undefined {
    const target = this.targetId;
    if (target === undefined) {
      this.error(end, "the target is not known: the source has no '.amdgcn_target' (or use --target gfx942)");
      return undefined;
    }
    const report = (location: Location, message: string) => this.error(location, message);
    this.debug.finish();
    const sections = this.emitter.sections.list;
    if (!layoutSections(sections, this.evaluation, report, this.limits.maxOutputBytes)) {
      throw new WavesmithError('asm/too-large', `The sections hold more than ${this.limits.maxOutputBytes} bytes.`, {
        file: this.options.file,
        hint: 'Check the counts of .fill, .zero, .org and .p2align.',
      });
    }
    if (this.hasErrors) return undefined;
    const isHsa = this.os === 'amdhsa';
    const builder = new ObjectBuilder(this.symbols, this.evaluation, report, end);
    return builder.build(sections, this.addressSignificant, {
      flags: flagsOfTargetId(target, isHsa ? this.codeObjectVersion : 3),
      osAbi: isHsa ? 64 : 0,
      abiVersion: isHsa ? this.codeObjectVersion - 2 : 0,
    });
  }

  // ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────

  private statement(lexer: Lexer): void {
    for (;;) {
      const { at } = lexer;
      const offset = lexer.start();
      const kind = lexer.kind();
      let name: string;
      switch (kind) {
        case Tok.EndOfStatement: {
          if (this.streamer !== undefined) this.printBlank(lexer, offset);
          return;
        }
        case Tok.HashDirective:
          this.lineMarker(lexer);
          return;
        case Tok.Integer:
          if (this.conditionals.ignore) return;
          if (lexer.kind(1) !== Tok.Colon) {
            lexer.fail(offset, 'unexpected token at start of statement');
            return;
          }
          this.defineNumericLabel(lexer, offset);
          if (lexer.is(Tok.EndOfStatement)) return;
          continue;
        case Tok.Identifier:
          name = lexer.tokenText();
          lexer.lex();
          break;
        case Tok.Dot:
          name = '.';
          lexer.lex();
          break;
        default: {
          const read = this.identifier(lexer);
          if (read === undefined) {
            if (!this.conditionals.ignore) {
              const message = kind === Tok.Error ? lexer.errorText() : 'unexpected token at start of statement';
              lexer.fail(offset, message);
            }
            return;
          }
          name = read;
        }
      }
      const isDirective = name.charCodeAt(0) === 46 && name.length > 1;
      if (isDirective && this.conditionals.handle(this, lexer, name.toLowerCase(), offset)) return;
      if (this.conditionals.ignore) return;
      const next = lexer.kind();
      if (next === Tok.Colon) {
        lexer.lex();
        if (name === '.') {
          lexer.fail(offset, "invalid use of pseudo-symbol '.' as a label");
          return;
        }
        this.defineLabel(lexer, this.symbols.getOrCreate(name), offset);
        if (lexer.is(Tok.EndOfStatement)) return;
        continue;
      }
      if (next === Tok.Equal) {
        lexer.lex();
        this.assign(lexer, name, true, false);
        return;
      }
      const macro = this.macros.size > 0 ? this.macros.get(name) : undefined;
      if (macro !== undefined) {
        instantiateMacro(this, lexer, macro, offset);
        return;
      }
      if (isDirective) this.directive(lexer, name, offset);
      else {
        lexer.at = at;
        assembleInstruction(this, lexer, offset);
      }
      return;
    }
  }

  private directive(lexer: Lexer, name: string, offset: number): void {
    const handler = DIRECTIVES.get(name) ?? GENERIC_DIRECTIVES.get(name.toLowerCase());
    if (handler === undefined) lexer.fail(offset, 'unknown directive');
    else handler(this, lexer, name, offset);
  }

  /** `# 12 "file"` of the C preprocessor: where the following lines come from. */
  private lineMarker(lexer: Lexer): void {
    const match = /^#[ \t]*([0-9]+)[ \t]+"([^"]*)"/.exec(lexer.tokenText());
    const { line } = lineAndColumn(this.currentLocation);
    if (match !== null && !this.isInMacro) {
      const { buffer } = this.currentLocation;
      const number = Number(match[1]);
      this.marker = number === 0 ? undefined : { buffer, line, file: fromByteText(match[2]), number };
    }
    lexer.lex();
    this.leaveEndOfStatement(lexer);
  }

  /** Prints the blank line that llvm-mc prints for an empty statement. */
  private printBlank(lexer: Lexer, offset: number): void {
    const first = lexer.text.charCodeAt(offset);
    if (Number.isNaN(first) ? false : first === 10 || first === 13) this.streamer?.blank();
  }

  /** For directives after which LLVM sees the end of the line as another, empty statement. */
  leaveEndOfStatement(lexer: Lexer): void {
    if (this.streamer !== undefined && lexer.is(Tok.EndOfStatement)) this.printBlank(lexer, lexer.start());
  }

  // ── labels and variables ──────────────────────────────────────────────────────────────────────────────────────────

  private defineNumericLabel(lexer: Lexer, offset: number): void {
    const symbol = this.symbols.defineDirectional(lexer.bigint());
    lexer.lex();
    lexer.lex();
    this.defineLabel(lexer, symbol, offset);
  }

  private defineLabel(lexer: Lexer, symbol: AsmSymbol, offset: number): void {
    if (symbol.isDefined) {
      lexer.fail(offset, `symbol '${symbol.name}' is already defined`);
      return;
    }
    symbol.location = this.location(offset);
    this.emitter.label(symbol);
    this.streamer?.label(symbol.name);
  }

  /** A new label at the current place, for `.` in expressions. */
  here(): string {
    const symbol = this.symbols.createTemporary();
    this.emitter.label(symbol);
    this.streamer?.label(symbol.name);
    return symbol.key;
  }

  numericLabel(label: bigint, direction: 'b' | 'f'): string | undefined {
    const symbol = this.symbols.referDirectional(label, direction);
    if (symbol === undefined) return undefined;
    if (direction === 'f') this.forwardLabels.push({ symbol, location: this.location(this.lexer.start()) });
    return symbol.key;
  }

  /** `name = expr`, `.set`, `.equ` (redefinable) and `.equiv`. */
  assign(lexer: Lexer, name: string, redefinable: boolean, noDeadStrip: boolean): void {
    const at = lexer.start();
    const value = this.expression(lexer);
    if (value === undefined) {
      if (this.options.reportCascades === true) lexer.fail(lexer.start(), 'missing expression');
      return;
    }
    if (!this.endOfStatement(lexer)) return;
    if (name === '.') {
      this.emitter.org(value, 0, this.location(at));
      this.streamer?.org(value, 0);
      return;
    }
    if (this.assignRegisterCount(lexer, name, value, at, noDeadStrip)) return;
    let symbol = this.symbols.lookup(name);
    if (symbol !== undefined && (symbol.isDefined || symbol.value !== undefined)) {
      if (!redefinable || !symbol.redefinable) {
        lexer.fail(at, `redefinition of '${name}'`);
        return;
      }
      symbol = this.symbols.clone(symbol);
    }
    symbol ??= this.symbols.getOrCreate(name);
    symbol.location = this.location(at);
    symbol.redefinable = redefinable;
    this.symbols.register(symbol);
    this.emitter.useSymbols(value);
    if (this.streamer === undefined && this.refersTo(value, symbol.key, 0)) {
      lexer.fail(at, `cyclic dependency detected for symbol '${name}'`);
      return;
    }
    symbol.value = value;
    this.streamer?.assignment(name, value, noDeadStrip, this.constantOf(symbol));
  }

  private constantOf(symbol: AsmSymbol): bigint | undefined {
    return symbol.value?.kind === 'const' ? symbol.value.value : undefined;
  }

  private refersTo(expr: Expr, key: string, depth: number): boolean {
    if (depth > 200) return true;
    switch (expr.kind) {
      case 'const':
        return false;
      case 'symbol': {
        if (expr.name === key) return true;
        const value = this.symbols.get(expr.name)?.value;
        return value !== undefined && this.refersTo(value, key, depth + 1);
      }
      case 'unary':
        return this.refersTo(expr.sub, key, depth + 1);
      case 'binary':
        return this.refersTo(expr.lhs, key, depth + 1) || this.refersTo(expr.rhs, key, depth + 1);
      case 'call':
        return expr.args.some((arg) => this.refersTo(arg, key, depth + 1));
    }
  }

  /** Whether `.ifdef` sees the name as defined. */
  isDefined(name: string): boolean {
    return this.predefined(name) !== undefined || this.symbols.lookup(name)?.isDefined === true;
  }

  constant(name: string): bigint | undefined {
    const symbol = this.symbols.lookup(name);
    if (symbol !== undefined) {
      const { value } = symbol;
      return value !== undefined && value.kind === 'const' ? value.value : undefined;
    }
    return name.charCodeAt(0) === 46 ? this.predefined(name) : undefined;
  }

  /** Symbols that the target defines. */
  private predefined(name: string): bigint | undefined {
    if (this.info === undefined) return undefined;
    const version = this.os === 'amdhsa' ? VERSION_SYMBOLS.get(name) : OPTION_SYMBOLS.get(name);
    if (version !== undefined) return BigInt(versionOf(this.info.name)[version]);
    if (this.os === 'amdhsa') {
      if (name === '.amdgcn.next_free_vgpr') return BigInt(Math.max(this.registerCounts.v, this.registerCounts.a));
      return name === '.amdgcn.next_free_sgpr' ? BigInt(this.registerCounts.s) : undefined;
    }
    if (name === '.kernel.sgpr_count') return BigInt(this.kernelCounts.s);
    if (name === '.kernel.agpr_count') return BigInt(this.kernelCounts.a);
    if (name !== '.kernel.vgpr_count') return undefined;
    const { v, a } = this.kernelCounts;
    return BigInt(a > 0 ? Math.ceil(v / 4) * 4 + a : v);
  }

  private assignRegisterCount(lexer: Lexer, name: string, value: Expr, at: number, noDeadStrip: boolean): boolean {
    if (this.os !== 'amdhsa' || (name !== '.amdgcn.next_free_vgpr' && name !== '.amdgcn.next_free_sgpr')) return false;
    const constant = this.evaluation.absolute(value);
    if (constant === undefined) {
      this.brokenRegisterCounts = true;
      this.streamer?.assignment(name, value, noDeadStrip, undefined);
      return true;
    }
    if (constant < 0n || constant > 0xffffffffn) {
      lexer.fail(at, `'${name}' is out of range`);
      return true;
    }
    if (name === '.amdgcn.next_free_sgpr') this.registerCounts.s = Number(constant);
    else {
      this.registerCounts.v = Number(constant);
      this.registerCounts.a = 0;
    }
    this.streamer?.assignment(name, value, noDeadStrip, constant);
    return true;
  }

  usesRegister(file: 'v' | 'a' | 's', lastIndex: number): void {
    const count = lastIndex + 1;
    if (count > this.registerCounts[file]) this.registerCounts[file] = count;
    if (count > this.kernelCounts[file]) this.kernelCounts[file] = count;
  }

  /** `.amdgpu_hsa_kernel` without an OS: starts counting the registers of a kernel. */
  startKernelScope(): void {
    this.kernelCounts.v = 0;
    this.kernelCounts.a = 0;
    this.kernelCounts.s = 0;
  }

  evaluate(expr: Expr): bigint | undefined {
    return this.evaluation.unplaced(this.bind(expr));
  }

  // ── target ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Makes a target id the target of the assembly. */
  setTarget(id: TargetId): void {
    if (!isTargetName(id.processor)) {
      throw new WavesmithError('asm/unsupported-target', `The assembler does not support '${id.processor}'.`, {
        file: this.options.file,
        hint: "Supported targets are gfx90a, gfx942 and gfx950; '--engine llvm' assembles others with clang.",
      });
    }
    this.targetId = id;
    this.info = targetInfo(id.processor);
  }

  /** The target's properties, or undefined after a diagnostic at `offset`. */
  requireTarget(lexer: Lexer, offset: number): TargetInfo | undefined {
    if (this.info === undefined) {
      lexer.fail(
        offset,
        "the target is not known here: start the source with '.amdgcn_target' (or use --target gfx942)",
      );
    }
    return this.info;
  }

  get target(): TargetInfo['name'] {
    if (this.info === undefined) throw new WavesmithError('asm/no-target', 'The target is not known.');
    return this.info.name;
  }

  /** LLVM counts a feature that may be on or off as on. */
  get xnack(): boolean {
    return this.targetId?.xnack === 'on' || this.targetId?.xnack === 'any';
  }

  /** SGPRs that the hardware needs behind the kernel's own (AMDGPUBaseInfo.cpp, getNumExtraSGPRs, GFX9). */
  private extraSgprs(vcc: boolean, flatScratch: boolean, xnack: boolean): bigint {
    if (flatScratch || this.info?.architectedFlatScratch === true) return 6n;
    if (xnack) return 4n;
    return vcc ? 2n : 0n;
  }

  // ── parsing helpers ───────────────────────────────────────────────────────────────────────────────────────────────

  /** An expression, with names bound to the symbols they mean now; undefined after a diagnostic. */
  expression(lexer: Lexer): Expr | undefined {
    const parsed = parseExpression(lexer, this);
    if (parsed === undefined || parsed.kind === 'const') return parsed;
    const expr = this.bind(parsed);
    const value = this.evaluation.unplaced(expr);
    return value === undefined ? expr : { kind: 'const', value };
  }

  /** Replaces names by the keys of the symbols they mean now. */
  bind(expr: Expr): Expr {
    if (!this.symbols.hasClones || expr.kind === 'const') return expr;
    switch (expr.kind) {
      case 'symbol': {
        const key = this.symbols.lookup(expr.name)?.key;
        return key === undefined || key === expr.name ? expr : { ...expr, name: key };
      }
      case 'unary':
        return { ...expr, sub: this.bind(expr.sub) };
      case 'binary':
        return { ...expr, lhs: this.bind(expr.lhs), rhs: this.bind(expr.rhs) };
      case 'call':
        return { ...expr, args: expr.args.map((arg) => this.bind(arg)) };
    }
  }

  /** An expression that must be constant now. */
  absolute(lexer: Lexer): bigint | undefined {
    const at = lexer.start();
    const expr = this.expression(lexer);
    if (expr === undefined) return undefined;
    const value = this.evaluation.absolute(expr);
    return value === undefined ? lexer.fail(at, 'expected absolute expression') : value;
  }

  /** An identifier or a string at the cursor; undefined (without a diagnostic) when there is none. */
  identifier(lexer: Lexer): string | undefined {
    if (lexer.is(Tok.Identifier)) {
      const name = lexer.tokenText();
      lexer.lex();
      return name;
    }
    if (lexer.is(Tok.String)) {
      const name = lexer.stringValue();
      lexer.lex();
      return name;
    }
    const isPrefix = lexer.is(Tok.Dollar) || lexer.is(Tok.At);
    const following = lexer.kind(1);
    if (!isPrefix || (following !== Tok.Identifier && following !== Tok.Integer)) return undefined;
    if (lexer.end() !== lexer.start(1)) return undefined;
    const name = lexer.tokenText() + lexer.tokenText(1);
    lexer.lex();
    lexer.lex();
    return name;
  }

  /** True at the end of the statement, else a diagnostic. */
  endOfStatement(lexer: Lexer): boolean {
    if (lexer.is(Tok.EndOfStatement)) return true;
    lexer.fail(lexer.start(), lexer.is(Tok.Error) ? lexer.errorText() : 'expected newline');
    return false;
  }

  /** A diagnostic that marks `length` characters. */
  failRange(lexer: Lexer, offset: number, length: number, message: string): void {
    lexer.fail(offset, message);
    const last = lexer.diagnostics[lexer.diagnostics.length - 1];
    if (last !== undefined) this.rangeLengths.set(last, Math.max(1, length));
  }

  // ── buffers ───────────────────────────────────────────────────────────────────────────────────────────────────────

  private push(frame: Frame): void {
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
    if (this.diagnostics.length === MAX_DIAGNOSTICS) this.ended = true;
    if (this.diagnostics.length > MAX_DIAGNOSTICS) return;
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

  private drain(): void {
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

const VERSION_SYMBOLS: ReadonlyMap<string, 0 | 1 | 2> = new Map([
  ['.amdgcn.gfx_generation_number', 0],
  ['.amdgcn.gfx_generation_minor', 1],
  ['.amdgcn.gfx_generation_stepping', 2],
]);
const OPTION_SYMBOLS: ReadonlyMap<string, 0 | 1 | 2> = new Map([
  ['.option.machine_version_major', 0],
  ['.option.machine_version_minor', 1],
  ['.option.machine_version_stepping', 2],
]);

/** Major, minor and stepping of `gfx90a`: 9, 0, 10. */
function versionOf(processor: string): readonly [number, number, number] {
  const digits = processor.slice(3);
  return [
    Number.parseInt(digits.slice(0, -2), 10),
    Number.parseInt(digits.slice(-2, -1), 16),
    Number.parseInt(digits.slice(-1), 16),
  ];
}

/** Assembles source text to a relocatable object; problems in the source are diagnostics, not exceptions. */
export function assemble(source: string | Uint8Array, options: AssembleOptions = {}): AssembleResult {
  return new Assembler(options).run(source);
}
