// Room `isa/parse`: the text of one instruction to an instruction: mnemonic, operands, modifiers, and the candidates among encodings,
// with the diagnostics of LLVM's assembler.
// Begin with this file; each kind of operand has a file of its own.
//
// The instruction parser: text of one instruction to a row with operands, or a diagnostic with LLVM's wording and position.
// Source: AMDGPUAsmParser::parseInstruction, matchAndEmitInstruction; the matcher that AsmMatcherEmitter.cpp generates.

import { operandIndex } from '../operand.ts';
import { operandClass } from '../table/operand-classes.ts';
import { suggestions } from '../table/suggest.ts';
import { type Lexer, Tok } from '../text/lexer.ts';
import type { Instruction, InstructionRow } from '../types.ts';
import { checkInstruction } from './check.ts';
import { Conversion } from './convert.ts';
import { isForeignMnemonic } from './foreign-mnemonics.ts';
import { FAILURE, NO_MATCH, ParseState, type ParseStatus, SUCCESS } from './state.ts';
import {
  hasWideDpp,
  isLaneAccess,
  type Matchable,
  type Mnemonic,
  type MnemonicTable,
  mnemonicsFor,
  Variant,
} from './syntax-table.ts';
import type { ParseContext, ParsedInstruction } from './types.ts';
import { parseRegOrImm } from './value.ts';

export type { Fixup, FixupKind, ParseContext, ParsedInstruction } from './types.ts';

const ALL_VARIANTS: readonly Variant[] = [Variant.Default, Variant.VOP3, Variant.SDWA, Variant.DPP];
const ONLY: readonly (readonly Variant[])[] = ALL_VARIANTS.map((v) => [v]);
const NO_VARIANTS: readonly Variant[] = [];

/** Why no syntax of a mnemonic matched. */
const INVALID_OPERAND = 0;
const MISSING_FEATURE = 1;
const MNEMONIC_FAIL = 2;
const MATCHED = 3;

const LOSSY = "Can't encode literal as exact 64-bit floating-point operand. Low 32-bits will be set to zero";

/** Vector instructions that read or write a bit per lane in VCC or a scalar pair. */
function usesLaneMask(row: InstructionRow): boolean {
  if (!row.flags.has('VALU')) return false;
  if (row.uses.includes('VCC') || row.defs.includes('VCC')) return true;
  return row.operands.some((o) => ['bool', 'sdwaDst'].includes(operandClass(o.cls).decode));
}

/** Parses instructions of one assembly text; reuse it for all its lines. */
export class InstructionParser {
  private readonly state: ParseState;
  private readonly table: MnemonicTable;
  private conversion: Conversion | undefined;
  /** Index of the operand that a failed match stumbled over, -1 when there is none. */
  private wrongOperand = -1;

  constructor(lexer: Lexer, context: ParseContext) {
    this.state = new ParseState(lexer, context);
    this.table = mnemonicsFor(context.target);
  }

  /**
   * Parses the instruction whose mnemonic is the current token and leaves the lexer at the end of the statement. Undefined after
   * an error; the lexer holds the diagnostics.
   */
  parse(): ParsedInstruction | undefined {
    const p = this.state;
    const { lexer } = p;
    const before = lexer.diagnostics.length;
    p.count = 0;
    p.mnemonicStart = lexer.start();
    this.readMnemonic(lexer.tokenText());
    p.pushToken(p.mnemonic, p.mnemonicStart);
    lexer.lex();
    const mnemonic = this.table.get(p.mnemonic);
    if (!this.readOperands(mnemonic, before)) {
      lexer.skipStatement();
      return undefined;
    }
    if (lexer.diagnostics.length > before) return undefined;
    return this.match(mnemonic, before);
  }

  private readMnemonic(text: string): void {
    const p = this.state;
    p.forcedSize = 0;
    p.forcedDpp = false;
    p.forcedSdwa = false;
    let name = text;
    const last = text.charCodeAt(text.length - 1);
    if (last === 52 /* 4 */ && text.endsWith('_e64')) {
      p.forcedSize = 64;
      name = text.slice(0, -4);
    } else if (last === 50 /* 2 */ && text.endsWith('_e32')) {
      p.forcedSize = 32;
      name = text.slice(0, -4);
    } else if (last === 112 /* p */ && text.endsWith('_dpp')) {
      p.forcedDpp = true;
      const wide = text.endsWith('_e64_dpp');
      if (wide) p.forcedSize = 64;
      name = text.slice(0, wide ? -8 : -4);
    } else if (last === 97 /* a */ && text.endsWith('_sdwa')) {
      p.forcedSdwa = true;
      name = text.slice(0, -5);
    }
    p.mnemonic = name;
  }

  private readOperands(mnemonic: Mnemonic | undefined, before: number): boolean {
    const p = this.state;
    const { lexer } = p;
    while (!lexer.is(Tok.EndOfStatement)) {
      const status = this.readOperand(mnemonic);
      if (status !== SUCCESS) {
        if (!this.reportUnsupported(mnemonic, before) && lexer.diagnostics.length === before) {
          p.error(lexer.start(), status === FAILURE ? 'failed parsing operand.' : 'not a valid operand.');
        }
        return false;
      }
      lexer.skip(Tok.Comma);
    }
    return true;
  }

  private readOperand(mnemonic: Mnemonic | undefined): ParseStatus {
    const p = this.state;
    const parsers = mnemonic?.parsers[p.count - 1];
    if (parsers !== undefined) {
      for (let i = 0; i < parsers.length; i++) {
        const status = parsers[i].parse(p);
        if (status !== NO_MATCH) return status;
      }
    }
    return parseRegOrImm(p);
  }

  private variants(): readonly Variant[] {
    const p = this.state;
    if (p.forcedDpp && p.forcedSize === 64) return NO_VARIANTS;
    if (p.forcedSize === 32) return ONLY[Variant.Default];
    if (p.forcedSize === 64) return ONLY[Variant.VOP3];
    if (p.forcedSdwa) return ONLY[Variant.SDWA];
    if (p.forcedDpp) return ONLY[Variant.DPP];
    return ALL_VARIANTS;
  }

  private match(mnemonic: Mnemonic | undefined, before: number): ParsedInstruction | undefined {
    const p = this.state;
    let result = MNEMONIC_FAIL;
    let wrong = -1;
    if (mnemonic !== undefined) {
      for (const variant of this.variants()) {
        const outcome = this.matchVariant(mnemonic.variants[variant]);
        if (outcome === MATCHED) return this.finish(before);
        if (outcome === MISSING_FEATURE || (outcome === INVALID_OPERAND && result !== MISSING_FEATURE)) {
          result = outcome;
          wrong = this.wrongOperand;
        }
      }
      if (this.variants() === ALL_VARIANTS) {
        const last = this.wideDppMismatch(mnemonic.variants[Variant.VOP3]);
        if (last >= 0) wrong = last;
      }
    }
    if (this.reportUnsupported(mnemonic, before)) return undefined;
    if (result === MISSING_FEATURE) {
      p.error(p.mnemonicStart, 'operands are not valid for this GPU or mode');
    } else if (wrong >= p.count) p.error(p.mnemonicStart, 'too few operands for instruction');
    else p.error(wrong < 0 ? p.mnemonicStart : p.operands[wrong].start, 'invalid operand for instruction');
    return undefined;
  }

  private matchVariant(list: readonly Matchable[]): number {
    const p = this.state;
    if (list.length === 0) return MNEMONIC_FAIL;
    const { operands, count } = p;
    let missingFeature = false;
    let rejected = false;
    let wrong = -1;
    for (let m = 0; m < list.length; m++) {
      const { row, formals, foreign } = list[m];
      let actual = 1;
      let formal = 0;
      for (; formal < formals.length; formal++) {
        const f = formals[formal];
        if (actual < count && f.matches(operands[actual])) actual++;
        else if (!f.optional) break;
      }
      if (formal < formals.length || actual < count) {
        if (m === 0 || wrong <= actual) wrong = actual;
        continue;
      }
      if (foreign || !this.available(row)) {
        missingFeature = true;
        continue;
      }
      if (!this.sizeAllowed(list[m])) {
        rejected = true;
        continue;
      }
      this.convert(list[m]);
      if (list[m].wholeDestination && this.destinationSelected()) {
        rejected = true;
        continue;
      }
      if (p.context.wave32 === true && usesLaneMask(row)) {
        p.error(p.mnemonicStart, 'lane masks of 32 lanes are not supported by this assembler');
      }
      return MATCHED;
    }
    this.wrongOperand = wrong;
    return missingFeature && !rejected ? MISSING_FEATURE : INVALID_OPERAND;
  }

  /**
   * Where VOP3 with DPP stumbles, the variant of other GPUs that LLVM tries last and therefore reports: as VOP3, but the first
   * source must be a VGPR and a DPP control is missing at the end. -1 when no such variant exists.
   */
  private wideDppMismatch(list: readonly Matchable[]): number {
    const { operands, count } = this.state;
    let wrong = -1;
    for (const { row, formals, foreign } of list) {
      if (foreign || !hasWideDpp(row)) continue;
      let actual = 1;
      // v_cmpx has no mask operand there.
      for (const f of row.operation.startsWith('v_cmpx_') ? formals.slice(1) : formals) {
        const op = operands[actual];
        const source = f.operand >= 0 && row.operands[f.operand].name.startsWith('src0');
        if (actual < count && f.matches(op) && !(source && op.register?.file !== 'v')) actual++;
        else if (!f.optional) break;
      }
      if (wrong <= actual) wrong = actual;
    }
    return wrong;
  }

  private available(row: InstructionRow): boolean {
    return this.state.context.wave32 !== true || !row.predicates.includes('isWave64');
  }

  private sizeAllowed({ row }: Matchable): boolean {
    const p = this.state;
    if (p.forcedSize === 0) return true;
    const vop3 = (row.flags.has('VOP3') || row.flags.has('VOP3P')) && !isLaneAccess(row);
    return (p.forcedSize === 64) === vop3;
  }

  /** Whether the destination is a part of a dword. */
  private destinationSelected(): boolean {
    const conversion = this.conversion as Conversion;
    const index = operandIndex(conversion.row, 'dst_sel');
    const selector = conversion.operands[index];
    return selector !== undefined && selector.kind === 'imm' && selector.value !== 6;
  }

  /** Assigns operands to formals once more, now that the syntax is known to match, and converts them. */
  private convert({ row, formals }: Matchable): void {
    const { operands, count } = this.state;
    const conversion = new Conversion(row);
    let actual = 1;
    for (let formal = 0; formal < formals.length && actual < count; formal++) {
      const f = formals[formal];
      const op = operands[actual];
      if (!f.matches(op)) continue;
      actual++;
      if (f.operand >= 0) conversion.put(f.operand, op, f.withMods);
    }
    this.conversion = conversion;
    conversion.finish();
  }

  private finish(before: number): ParsedInstruction | undefined {
    const { row, operands, fixups, starts } = this.conversion as Conversion;
    const values = operands as Instruction['operands'];
    this.warnOfLoss();
    checkInstruction(this.state, row, values, starts);
    if (this.state.lexer.diagnostics.length > before) return undefined;
    let { size } = row;
    if (size === 4) {
      for (const operand of values) if (operand.kind === 'literal') size = 8;
    }
    return { instruction: { row, operands: values, size }, fixups, starts };
  }

  private warnOfLoss(): void {
    const { operands, count, context, mnemonicStart } = this.state;
    if (context.warn === undefined) return;
    for (let i = 1; i < count; i++) {
      if (operands[i].lossy) context.warn(mnemonicStart, LOSSY);
    }
  }

  /** Reports a mnemonic, or a forced variant of it, that the target does not have; earlier errors of the line are dropped. */
  private reportUnsupported(mnemonic: Mnemonic | undefined, before: number): boolean {
    const p = this.state;
    const has = (variants: readonly Variant[]): boolean =>
      mnemonic?.variants.some(
        (list, v) => variants.includes(v) && list.some((m) => !m.foreign && this.available(m.row)),
      ) ?? false;
    const wanted = this.variants();
    if (has(wanted)) return false;
    p.lexer.diagnostics.length = before;
    if (wanted !== ALL_VARIANTS && has(ALL_VARIANTS)) {
      const variant = p.forcedDpp
        ? p.forcedSize === 64
          ? 'e64_dpp'
          : 'dpp'
        : p.forcedSdwa
          ? 'sdwa'
          : `e${p.forcedSize}`;
      p.error(p.mnemonicStart, `${variant} variant of this instruction is not supported`);
    } else if (mnemonic !== undefined || isForeignMnemonic(p.mnemonic))
      p.error(p.mnemonicStart, 'instruction not supported on this GPU');
    else p.error(p.mnemonicStart, `invalid instruction${suggestions(p.mnemonic, this.table)}`);
    return true;
  }
}

/** Parses one instruction at the lexer's current token; see `InstructionParser`. */
export function parseInstruction(lexer: Lexer, context: ParseContext): ParsedInstruction | undefined {
  return new InstructionParser(lexer, context).parse();
}
