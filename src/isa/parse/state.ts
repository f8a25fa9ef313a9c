// A parsed assembler operand (LLVM's AMDGPUOperand) and the state shared by the instruction parser's parts.
// Source: llvm/lib/Target/AMDGPU/AsmParser/AMDGPUAsmParser.cpp.

import { targetInfo } from '../table/targets.ts';
import type { Expr } from '../text/expr-tree.ts';
import type { Lexer } from '../text/lexer.ts';
import type { Register, TargetName } from '../types.ts';
import type { ParseContext } from './types.ts';

export const KIND_TOKEN = 0;
export const KIND_IMM = 1;
export const KIND_REG = 2;
export const KIND_EXPR = 3;

/** Operand modifiers, as bits. */
export const MOD_ABS = 1;
export const MOD_NEG = 2;
export const MOD_SEXT = 4;
/** `lit(…)`: the constant must be a literal. */
export const MOD_LIT = 8;
export const MODS_FP = MOD_ABS | MOD_NEG;
export const MODS_ANY = MOD_ABS | MOD_NEG | MOD_SEXT;

/** How a constant ended up: what LLVM looks for to point an error at an operand. */
export const CONSTANT_NONE = 0;
export const CONSTANT_LITERAL = 1;
export const CONSTANT_MANDATORY = 2;
export const CONSTANT_INLINE = 3;

/** Kinds of named immediates (LLVM's ImmTy); `None` is a plain number. */
export enum ImmType {
  None,
  GDS,
  LDS,
  Offset,
  InstOffset,
  Offset0,
  Offset1,
  SMEMOffsetMod,
  CPol,
  TFE,
  D16,
  Clamp,
  OModSI,
  SDWADstSel,
  SDWASrc0Sel,
  SDWASrc1Sel,
  SDWADstUnused,
  DMask,
  UNorm,
  DA,
  R128A16,
  LWE,
  Hwreg,
  SendMsg,
  OpSel,
  OpSelHi,
  NegLo,
  NegHi,
  DppCtrl,
  RowMask,
  BankMask,
  BoundCtrl,
  FI,
  Swizzle,
  GPRIdxMode,
  BLGP,
  CBSZ,
  ABID,
  Endpgm,
  BitOp3,
  Format,
}

/** Cache policy bits. */
export const CPOL_GLC = 1;
export const CPOL_SLC = 2;
export const CPOL_DLC = 4;
export const CPOL_SCC = 16;

/** One operand of the line being parsed. Objects are reused from line to line. */
export class ParsedOperand {
  kind = KIND_TOKEN;
  /** Offset in the text. */
  start = 0;
  register: Register | undefined;
  mods = 0;
  type = ImmType.None;
  /** Integer value when `wide` is undefined; the double when `isFloat`. */
  number = 0;
  /** Signed 64-bit value that a number cannot hold exactly. */
  wide: bigint | undefined;
  isFloat = false;
  constant = CONSTANT_NONE;
  /** Bits of a double were dropped to make it a literal. */
  lossy = false;
  expr: Expr | undefined;
  token = '';
}

export const NO_MATCH = 0;
export const SUCCESS = 1;
export const FAILURE = 2;
export type ParseStatus = typeof NO_MATCH | typeof SUCCESS | typeof FAILURE;

/** The state of parsing one instruction. */
export class ParseState {
  readonly lexer: Lexer;
  readonly context: ParseContext;
  readonly target: TargetName;
  /** gfx940 family: gfx942, gfx950. */
  readonly isGfx940: boolean;
  readonly operands: ParsedOperand[] = [];
  count = 0;
  mnemonic = '';
  mnemonicStart = 0;
  /** 0, 32 or 64 from `_e32`, `_e64`. */
  forcedSize = 0;
  forcedDpp = false;
  forcedSdwa = false;

  constructor(lexer: Lexer, context: ParseContext) {
    this.lexer = lexer;
    this.context = context;
    this.target = context.target;
    this.isGfx940 = targetInfo(context.target).features.has('GFX940Insts');
  }

  private push(kind: number, start: number): ParsedOperand {
    let op = this.operands[this.count];
    if (op === undefined) {
      op = new ParsedOperand();
      this.operands[this.count] = op;
    }
    this.count++;
    op.kind = kind;
    op.start = start;
    op.register = undefined;
    op.mods = 0;
    op.type = ImmType.None;
    op.number = 0;
    op.wide = undefined;
    op.isFloat = false;
    op.constant = CONSTANT_NONE;
    op.lossy = false;
    op.expr = undefined;
    op.token = '';
    return op;
  }

  pushToken(token: string, start: number): ParsedOperand {
    const op = this.push(KIND_TOKEN, start);
    op.token = token;
    return op;
  }

  pushImm(value: number, start: number, type = ImmType.None): ParsedOperand {
    const op = this.push(KIND_IMM, start);
    op.number = value;
    op.type = type;
    return op;
  }

  pushRegister(register: Register, start: number): ParsedOperand {
    const op = this.push(KIND_REG, start);
    op.register = register;
    return op;
  }

  pushExpr(expr: Expr, start: number): ParsedOperand {
    const op = this.push(KIND_EXPR, start);
    op.expr = expr;
    return op;
  }

  /** Reports an error; the value is what failing parsers return. */
  error(offset: number, message: string): typeof FAILURE {
    this.lexer.fail(offset, message);
    return FAILURE;
  }

  /** Steps over the identifier `name` if it is next. */
  skipId(name: string): boolean {
    if (!this.lexer.isIdentifier(name)) return false;
    this.lexer.lex();
    return true;
  }

  /** Steps over a token or reports `message` there. */
  expect(kind: number, message: string): boolean {
    if (this.lexer.skip(kind)) return true;
    this.lexer.fail(this.lexer.start(), message);
    return false;
  }
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Stores a 64-bit integer in an operand. */
export function setInteger(op: ParsedOperand, value: bigint): void {
  op.number = Number(value);
  op.wide = value > MAX_SAFE || value < -MAX_SAFE ? value : undefined;
}

/** The operand's integer as a bigint. */
export function integerOf(op: ParsedOperand): bigint {
  return op.wide ?? BigInt(op.number);
}
