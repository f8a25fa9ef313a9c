// The state of one assembly, which directives, macros and instructions work on: symbols, places, target, expressions. What reads the
// statements and calls them is assemble.ts.
// Sources: llvm/lib/MC/MCParser/AsmParser.cpp (statements), AMDGPUAsmParser.cpp (target side).
import { WavesmithError } from '../../base/index.ts';
import { parseTargetId, type TargetId } from '../../codeobject/elf/target-id.ts';
import type { ParseContext } from '../../isa/parse/types.ts';
import { isTargetName, TARGET_LIST, type TargetInfo, targetInfo } from '../../isa/table/targets.ts';
import { parseExpression } from '../../isa/text/expr.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import { type Lexer, Tok } from '../../isa/text/lexer.ts';
import { Evaluation } from '../object/layout.ts';
import type { AsmSymbol } from '../object/model.ts';
import { SymbolTable } from '../object/symbols.ts';
import { DebugInfo } from './directives/debug-info.ts';
import { Emitter } from './emit.ts';
import { KnownStatements, type LastRegisters } from './known-statements.ts';
import { LineTable } from './lines.ts';
import type { AsmStreamer } from './llvm-mc-printer.ts';
import type { Macro } from './macro-definition.ts';
import type { AssembleOptions } from './options.ts';
import { SourceReader } from './reader.ts';
import type { Location } from './source.ts';

/** A relocation whose place is a label that may come later. */
export interface PendingRelocation {
  readonly place: Expr;
  readonly type: number;
  readonly expr: Expr;
  readonly location: Location;
}

/** State of one assembly; directive handlers work on it. */
export class Assembler extends SourceReader implements ParseContext {
  readonly symbols: SymbolTable;
  readonly evaluation: Evaluation;
  readonly emitter: Emitter;
  readonly macros = new Map<string, Macro>();
  readonly streamer: AsmStreamer | undefined;
  readonly os: 'amdhsa' | 'none';
  altMacro = false;
  readonly debug: DebugInfo;
  readonly known = new KnownStatements(this);
  /** Source lines of instructions, when they are asked for. */
  readonly lines: LineTable | undefined;
  /** Relocations of `.reloc` at labels, placed after the last statement. */
  readonly pendingRelocations: PendingRelocation[] = [];
  /** Symbols of `.addrsig_sym`; undefined without `.addrsig`. */
  addressSignificant: AsmSymbol[] | undefined;
  codeObjectVersion: number;
  targetId: TargetId | undefined;
  private info: TargetInfo | undefined;
  /** Highest register indexes used, plus one (`.amdgcn.next_free_vgpr`, `.kernel.…`). */
  readonly registerCounts = { v: 0, a: 0, s: 0 };
  readonly kernelCounts = { v: 0, a: 0, s: 0 };
  /** `.amdgcn.next_free_{v,s}gpr` was set to something that is no number: instructions cannot count on. */
  brokenRegisterCounts = false;
  /** Numeric labels that must get a definition, with their place. */
  protected readonly forwardLabels: { symbol: AsmSymbol; location: Location }[] = [];

  constructor(options: AssembleOptions = {}) {
    super(options);
    this.os = options.os ?? 'amdhsa';
    this.codeObjectVersion = options.codeObjectVersion ?? 6;
    this.streamer = options.streamer;
    this.lines = options.trackLines === true ? new LineTable() : undefined;
    this.symbols = new SymbolTable(options.streamer !== undefined);
    const extraSgprs = (vcc: boolean, flatScratch: boolean, xnack: boolean) => this.extraSgprs(vcc, flatScratch, xnack);
    this.evaluation = new Evaluation(this.symbols, { extraSgprs }, options.streamer === undefined);
    this.emitter = new Emitter(this);
    this.debug = new DebugInfo(this);
    if (options.target !== undefined) this.setTarget(parseTargetId(options.target));
    for (const [name, value] of Object.entries(options.defines ?? {})) {
      const symbol = this.symbols.getOrCreate(name);
      symbol.value = { kind: 'const', value };
      this.symbols.register(symbol);
    }
  }

  // ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Prints the blank line that llvm-mc prints for an empty statement. */
  protected printBlank(lexer: Lexer, offset: number): void {
    const first = lexer.text.charCodeAt(offset);
    if (Number.isNaN(first) ? false : first === 10 || first === 13) this.streamer?.blank();
  }

  /** For directives after which LLVM sees the end of the line as another, empty statement. */
  leaveEndOfStatement(lexer: Lexer): void {
    if (this.streamer !== undefined && lexer.is(Tok.EndOfStatement)) this.printBlank(lexer, lexer.start());
  }

  // ── labels and variables ──────────────────────────────────────────────────────────────────────────────────────────

  protected defineLabel(lexer: Lexer, symbol: AsmSymbol, offset: number): void {
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

  /** What `usesRegister` does, for each file; -1 is none. */
  usesRegisters({ v, a, s }: LastRegisters): void {
    const { registerCounts, kernelCounts } = this;
    if (v >= registerCounts.v) registerCounts.v = v + 1;
    if (a >= registerCounts.a) registerCounts.a = a + 1;
    if (s >= registerCounts.s) registerCounts.s = s + 1;
    if (v >= kernelCounts.v) kernelCounts.v = v + 1;
    if (a >= kernelCounts.a) kernelCounts.a = a + 1;
    if (s >= kernelCounts.s) kernelCounts.s = s + 1;
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
        hint: `Supported targets are ${TARGET_LIST}; '--engine llvm' assembles others with clang.`,
      });
    }
    this.targetId = id;
    this.info = targetInfo(id.processor);
    this.known.clear();
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
  get wave32(): boolean {
    return this.options.wave32 === true;
  }

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

  /** `name ,` at the start of a directive's operands; undefined after a diagnostic, which uses `missing` when there is no name. */
  identifierAndComma(lexer: Lexer, missing = 'expected identifier'): string | undefined {
    const name = this.identifier(lexer);
    if (name === undefined) {
      lexer.fail(lexer.start(), missing);
      return undefined;
    }
    if (lexer.skip(Tok.Comma)) return name;
    lexer.fail(lexer.start(), 'expected comma');
    return undefined;
  }

  /** True at the end of the statement, else a diagnostic. */
  endOfStatement(lexer: Lexer): boolean {
    if (lexer.is(Tok.EndOfStatement)) return true;
    lexer.fail(lexer.start(), lexer.is(Tok.Error) ? lexer.errorText() : 'expected newline');
    return false;
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
