// What the assembler expects at each operand position of a row: match predicates and operand parsers by operand class.
// Sources: the match classes of LLVM's SIInstrInfo.td, AMDGPUAsmParser.cpp (the is… predicates), AsmMatcherEmitter.cpp.

import { type OperandClass, operandClass, type RegisterClass, registerClass } from '../table/operand-classes.ts';
import type { Register } from '../types.ts';
import { bits64, type ConstantType, isInlinable, isLiteral } from './constant.ts';
import {
  parseBranchTarget,
  parseEndProgram,
  parseGprIndexMode,
  parseHwreg,
  parseKeyword,
  parseSendMessage,
  parseSwizzle,
  parseWaitCount,
} from './macro-operands.ts';
import {
  parseBitArray,
  parseBlgp,
  parseCachePolicy,
  parseDppControl,
  parseFlatOffset,
  parseFormat,
  parseNamedBit,
  parseNamedInt,
  parseOutputModifier,
  parseR128A16,
  parseSdwaSelector,
  parseSdwaUnused,
} from './named-operands.ts';
import { isInlineValue, parseRegisterOperand } from './register.ts';
import {
  CPOL_GLC,
  ImmType,
  KIND_EXPR,
  KIND_IMM,
  KIND_REG,
  KIND_TOKEN,
  MODS_ANY,
  type ParsedOperand,
  type ParseState,
  type ParseStatus,
} from './state.ts';
import { parseRegOrImm, parseWithFloatMods, parseWithIntMods } from './value.ts';

export type OperandParser = (p: ParseState) => ParseStatus;
export type Predicate = (op: ParsedOperand) => boolean;

/** A parser with the order in which LLVM tries it at one position: specific syntax before plain operands. */
export interface RankedParser {
  readonly key: string;
  readonly rank: number;
  readonly parse: OperandParser;
}

/** One operand position of a row's assembler syntax. */
export interface Formal {
  /** Index of the operand in the row, -1 for keywords and fixed registers. */
  readonly operand: number;
  readonly matches: Predicate;
  readonly optional: boolean;
  readonly parser: RankedParser | undefined;
  /** The formal is source modifiers followed by the source itself. */
  readonly withMods: boolean;
}

const IMM_TYPES: Readonly<Record<string, ImmType>> = {
  'NamedInt:abid:4': ImmType.ABID,
  'NamedInt:bank_mask:0': ImmType.BankMask,
  'NamedInt:bitop3:0': ImmType.BitOp3,
  'NamedInt:bound_ctrl:0': ImmType.BoundCtrl,
  'NamedInt:cbsz:3': ImmType.CBSZ,
  'NamedInt:dmask:0': ImmType.DMask,
  'NamedInt:fi:0': ImmType.FI,
  'NamedInt:offset0:8': ImmType.Offset0,
  'NamedInt:offset1:8': ImmType.Offset1,
  'NamedInt:offset:0': ImmType.Offset,
  'NamedInt:row_mask:0': ImmType.RowMask,
  'NamedBit:clamp': ImmType.Clamp,
  'NamedBit:d16': ImmType.D16,
  'NamedBit:da': ImmType.DA,
  'NamedBit:gds': ImmType.GDS,
  'NamedBit:lwe': ImmType.LWE,
  'NamedBit:unorm': ImmType.UNorm,
  'Array:op_sel': ImmType.OpSel,
  'Array:op_sel_hi': ImmType.OpSelHi,
  'Array:neg_lo': ImmType.NegLo,
  'Array:neg_hi': ImmType.NegHi,
  'SDWASel:dst_sel': ImmType.SDWADstSel,
  'SDWASel:src0_sel': ImmType.SDWASrc0Sel,
  'SDWASel:src1_sel': ImmType.SDWASrc1Sel,
  SDWADstUnused: ImmType.SDWADstUnused,
  BLGP: ImmType.BLGP,
  CPol: ImmType.CPol,
  DPPCtrl: ImmType.DppCtrl,
  Endpgm: ImmType.Endpgm,
  FORMAT: ImmType.Format,
  FlatOffset: ImmType.Offset,
  GPRIdxMode: ImmType.GPRIdxMode,
  Hwreg: ImmType.Hwreg,
  OModSI: ImmType.OModSI,
  R128A16: ImmType.R128A16,
  SendMsg: ImmType.SendMsg,
  Swizzle: ImmType.Swizzle,
};

const SIMPLE_PARSERS: Readonly<Record<string, OperandParser>> = {
  BLGP: parseBlgp,
  BoolReg: parseRegisterOperand,
  CPol: parseCachePolicy,
  DPPCtrl: parseDppControl,
  Endpgm: parseEndProgram,
  FORMAT: parseFormat,
  FlatOffset: parseFlatOffset,
  GPRIdxMode: parseGprIndexMode,
  Hwreg: parseHwreg,
  OModSI: parseOutputModifier,
  R128A16: parseR128A16,
  RegOrImm: (p) => parseRegOrImm(p),
  RegOrImmWithFPInputMods: (p) => parseWithFloatMods(p, true),
  RegOrImmWithIntInputMods: (p) => parseWithIntMods(p, true),
  RegWithFPInputMods: (p) => parseWithFloatMods(p, false),
  RegWithIntInputMods: (p) => parseWithIntMods(p, false),
  SDWADstUnused: parseSdwaUnused,
  SOPPBrTarget: parseBranchTarget,
  SWaitCnt: parseWaitCount,
  SendMsg: parseSendMessage,
  Swizzle: parseSwizzle,
};

/** Parsers that take any operand come after those that look for a word, forms with modifiers first. */
const RANKS: Readonly<Record<string, number>> = {
  RegOrImmWithFPInputMods: 1,
  RegOrImmWithIntInputMods: 2,
  RegOrImm: 3,
  RegWithFPInputMods: 4,
  RegWithIntInputMods: 5,
  BoolReg: 6,
};

function convertBoundCtrl(value: number): number | undefined {
  return value === 0 || value === 1 ? 1 : undefined;
}

function parserOf(cls: OperandClass): RankedParser | undefined {
  const key = cls.parse;
  if (key === '') return undefined;
  const rank = RANKS[key] ?? 0;
  const simple = SIMPLE_PARSERS[key];
  if (simple !== undefined) return { key, rank, parse: simple };
  const [kind, name, bits] = key.split(':');
  const type = immTypeOf(cls);
  if (kind === 'NamedBit') return { key, rank, parse: (p) => parseNamedBit(p, name, type) };
  if (kind === 'Array') return { key, rank, parse: (p) => parseBitArray(p, name, type) };
  if (kind === 'SDWASel') return { key, rank, parse: (p) => parseSdwaSelector(p, name, type) };
  const limit = 2 ** Number(bits);
  const convert =
    name === 'bound_ctrl'
      ? convertBoundCtrl
      : name === 'bitop3'
        ? (value: number) => value & 255
        : limit > 1
          ? (value: number) => (value >= 0 && value < limit ? value : undefined)
          : undefined;
  return { key: `${key}:${type}`, rank, parse: (p) => parseNamedInt(p, name, type, convert) };
}

/** The immediate type that a class's parser produces. */
function immTypeOf(cls: OperandClass): ImmType {
  if (cls.name === 'SMEMOffsetMod') return ImmType.SMEMOffsetMod;
  return IMM_TYPES[cls.parse] ?? ImmType.None;
}

function inClass(register: Register, cls: RegisterClass): boolean {
  if (register.dwords !== cls.dwords) return false;
  switch (register.file) {
    case 'v':
      return cls.vgpr && !(cls.even && (register.index & 1) !== 0);
    case 'a':
      return cls.agpr && !(cls.even && (register.index & 1) !== 0);
    default:
      if (register.encoding === 254) return /^VRegOrLds_|^VS_32|^SRegOrLds/.test(cls.name);
      return cls.scalar && !cls.excluded.has(register.encoding);
  }
}

/** A register operand; apertures and status bits can only be read as sources. */
function isRegister(cls: RegisterClass): Predicate {
  return (op) =>
    op.kind === KIND_REG &&
    (op.mods & MODS_ANY) === 0 &&
    inClass(op.register as Register, cls) &&
    !isAperture(op.register as Register);
}

function isAperture(register: Register): boolean {
  return register.file === 'special' && register.encoding >= 235 && register.encoding <= 238;
}

interface SourceRule {
  readonly cls: RegisterClass;
  readonly inline: ConstantType;
  readonly literal?: ConstantType;
  readonly expr?: boolean;
}

function rule(cls: string, inline: ConstantType, literal?: ConstantType, expr = false): SourceRule {
  return literal === undefined
    ? { cls: registerClass(cls), inline }
    : { cls: registerClass(cls), inline, literal, expr };
}

/** Source match classes by name; `VISrc_*` and `AISrc_*` are derived. */
const SOURCES: Readonly<Record<string, SourceRule>> = {
  SCSrc_b32: rule('SReg_32', 'i32'),
  SCSrc_b64: rule('SReg_64', 'i64'),
  SSrc_b32: rule('SReg_32', 'i32', 'i32', true),
  SSrc_b64: rule('SReg_64', 'i64', 'i64'),
  VCSrc_b32: rule('VS_32', 'i32'),
  VCSrc_f16: rule('VS_32', 'f16'),
  VSrc_b16: rule('VS_32', 'i16', 'i16'),
  VSrc_b32: rule('VS_32', 'f32', 'i32', true),
  VSrc_b64: rule('VS_64', 'f64', 'i64'),
  VSrc_bf16: rule('VS_32', 'bf16', 'bf16'),
  VSrc_f16: rule('VS_32', 'f16', 'f16'),
  VSrc_f32: rule('VS_32', 'f32', 'f32', true),
  VSrc_f64: rule('VS_64', 'f64', 'f64'),
  VSrc_v2b16: rule('VS_32', 'i16', 'v2i16'),
  VSrc_v2b32: rule('VS_64', 'f64', 'v2i32'),
  VSrc_v2bf16: rule('VS_32', 'bf16', 'v2bf16'),
  VSrc_v2f16: rule('VS_32', 'f16', 'v2f16'),
  VSrc_v2f16_splat: rule('VS_32', 'f16', 'v2f16'),
  VSrc_v2f32: rule('VS_64', 'f64', 'v2f32'),
};

/** Other literal types a class takes besides its main one: `VSrc_v2f16` is `VSrc_f16` or a packed literal. */
const ALSO: Readonly<Record<string, ConstantType>> = {
  VSrc_v2b16: 'i16',
  VSrc_v2bf16: 'bf16',
  VSrc_v2f16: 'f16',
  VSrc_v2f16_splat: 'f16',
  VSrc_v2f32: 'f64',
  VSrc_v2b32: 'i64',
};

function sourcePredicate(name: string): Predicate | undefined {
  let source = SOURCES[name];
  if (source === undefined) {
    const match = /^([VA])ISrc_(\d+)_([bf]\d+)$/.exec(name);
    if (match === null) return undefined;
    const type = match[3] === 'b32' ? 'i32' : (match[3] as ConstantType);
    source = rule(`${match[1]}Reg_${match[2]}`, type);
  }
  const { cls, inline, literal, expr } = source;
  const also = ALSO[name];
  return (op) => {
    if (op.kind === KIND_REG) {
      const register = op.register as Register;
      return (op.mods & MODS_ANY) === 0 && (inClass(register, cls) || isInlineValue(register));
    }
    if (op.kind === KIND_EXPR) return expr === true;
    if ((op.mods & MODS_ANY) === 0 && isInlinable(op, inline)) return true;
    return (literal !== undefined && isLiteral(op, literal)) || (also !== undefined && isLiteral(op, also));
  };
}

function modsPredicate(cls: string, type: ConstantType, literal: boolean): Predicate {
  const registers = registerClass(cls);
  return (op) => {
    if (op.kind === KIND_REG) {
      const register = op.register as Register;
      return inClass(register, registers) || isInlineValue(register);
    }
    return op.kind === KIND_IMM && (isInlinable(op, type) || (literal && isLiteral(op, type)));
  };
}

const VGPR_32 = registerClass('VGPR_32');
const VREG_64 = registerClass('VReg_64');
const SREG_64 = registerClass('SReg_64');

function isPlain(op: ParsedOperand): boolean {
  return op.kind === KIND_IMM && op.type === ImmType.None;
}

/** Whether the operand's bits, those of a double included, are a number in the range. */
function inRange(op: ParsedOperand, low: number, high: number): boolean {
  if (op.wide !== undefined) return false;
  const value = op.isFloat ? Number(bits64(op)) : op.number;
  return value >= low && value <= high;
}

function isCachePolicy(op: ParsedOperand): boolean {
  return op.kind === KIND_IMM && op.type === ImmType.CPol;
}

const PREDICATES: Readonly<Record<string, Predicate>> = {
  BLGP: (op) => op.kind === KIND_IMM && op.type === ImmType.BLGP && inRange(op, 0, 7),
  CPolGLC: (op) => isCachePolicy(op) && (op.number & CPOL_GLC) !== 0,
  CPolNonGLC: (op) => isCachePolicy(op) && (op.number & CPOL_GLC) === 0,
  FORMAT: (op) => op.kind === KIND_IMM && op.type === ImmType.Format && op.number <= 127,
  FlatOffset: (op) => op.kind === KIND_IMM && (op.type === ImmType.Offset || op.type === ImmType.InstOffset),
  KImmFP16: (op) => isLiteral(op, 'f16'),
  KImmFP32: (op) => isLiteral(op, 'f32'),
  PackedFP16InputMods: modsPredicate('VS_32', 'v2f16', true),
  PackedVGPRFP32InputMods: (op) => op.kind === KIND_REG && inClass(op.register as Register, VREG_64),
  RegOrImm: (op) => op.kind === KIND_IMM || (op.kind === KIND_REG && (op.mods & MODS_ANY) === 0),
  RegOrImmWithFP16InputMods: modsPredicate('VS_32', 'f16', true),
  RegOrImmWithFP32InputMods: modsPredicate('VS_32', 'f32', true),
  RegOrImmWithFP64InputMods: modsPredicate('VS_64', 'f64', true),
  RegOrImmWithInt32InputMods: modsPredicate('VS_32', 'i32', true),
  S16Imm: (op) => isPlain(op) && inRange(op, -0x8000, 0xffff),
  SDWAFP16Operand: modsPredicate('VS_32', 'f16', false),
  SDWAFP32Operand: modsPredicate('VS_32', 'f32', false),
  SDWAInt16Operand: modsPredicate('VS_32', 'i16', false),
  SDWAInt32Operand: modsPredicate('VS_32', 'i32', false),
  SMEMOffset: isPlain,
  SOPPBrTarget: (op) => op.kind === KIND_IMM || op.kind === KIND_EXPR,
  SWaitCnt: (op) => op.kind === KIND_IMM,
  U16Imm: (op) => isPlain(op) && inRange(op, 0, 0xffff),
  VRegWithInputMods: (op) =>
    op.kind === KIND_REG && (inClass(op.register as Register, VGPR_32) || inClass(op.register as Register, VREG_64)),
};

function isBoolean(op: ParsedOperand): boolean {
  if (op.kind !== KIND_REG || (op.mods & MODS_ANY) !== 0) return false;
  const register = op.register as Register;
  return inClass(register, SREG_64) || isInlineValue(register);
}

function predicateOf(cls: OperandClass): Predicate {
  if (cls.match === 'BoolReg') return isBoolean;
  const known = PREDICATES[cls.predicate];
  if (known !== undefined) return known;
  const source = sourcePredicate(cls.match);
  if (source !== undefined) return source;
  const type = immTypeOf(cls);
  if (type !== ImmType.None) return (op) => op.kind === KIND_IMM && op.type === type;
  if (cls.registers !== undefined) return isRegister(cls.registers);
  return (op) => op.kind === KIND_IMM;
}

interface Compiled {
  readonly matches: Predicate;
  readonly parser: RankedParser | undefined;
  readonly optional: boolean;
  readonly withMods: boolean;
}

const compiled = new Map<string, Compiled>();

function compile(clsName: string): Compiled {
  let found = compiled.get(clsName);
  if (found === undefined) {
    const cls = operandClass(clsName);
    found = {
      matches: predicateOf(cls),
      parser: parserOf(cls),
      optional: cls.optional,
      withMods: cls.operandType === 'INPUT_MODS',
    };
    compiled.set(clsName, found);
  }
  return found;
}

/** By class, then operand index. */
const formals = new Map<string, Formal[]>();

/** The formal of an operand class at an operand index. */
export function operandFormal(clsName: string, operand: number): Formal {
  let known = formals.get(clsName);
  if (known === undefined) {
    known = [];
    formals.set(clsName, known);
  }
  known[operand] ??= { operand, ...compile(clsName) };
  return known[operand];
}

const VCC_ENCODING = 106;

/** A keyword of the template: a token, `gds`, or the fixed register `vcc`. */
export function keywordFormal(word: string): Formal {
  if (word === 'vcc' || word === 'vcc_lo') {
    const dwords = word === 'vcc' ? 2 : 1;
    const matches: Predicate = (op) =>
      op.kind === KIND_REG &&
      (op.mods & MODS_ANY) === 0 &&
      op.register?.encoding === VCC_ENCODING &&
      op.register.dwords === dwords;
    return { operand: -1, matches, optional: false, parser: undefined, withMods: false };
  }
  const parser: RankedParser = { key: `word:${word}`, rank: 0, parse: (p) => parseKeyword(p, word) };
  const matches: Predicate =
    word === 'gds'
      ? (op) => op.kind === KIND_IMM && op.type === ImmType.GDS
      : (op) => op.kind === KIND_TOKEN && op.token === word;
  return { operand: -1, matches, optional: false, parser, withMods: false };
}
