// Checks after a syntax matched: one constant bus read, one literal, offset ranges, register files and alignment, cache policy.
// Source: AMDGPUAsmParser::validateInstruction and the functions it calls, reduced to what gfx90a, gfx942 and gfx950 need.
import { operandIndex } from '../operand.ts';
import { type OperandClass, operandClass } from '../table/operand-classes.ts';
import { targetInfo } from '../table/targets.ts';
import type { Immediate, Instruction, InstructionRow, Operand, Register } from '../types.ts';
import { inline32 } from './constant.ts';
import { isInlineValue } from './register.ts';
import {
  CONSTANT_INLINE,
  CPOL_GLC,
  CPOL_SCC,
  ImmType,
  KIND_EXPR,
  KIND_IMM,
  KIND_REG,
  type ParsedOperand,
  type ParseState,
} from './state.ts';

/** What there is to check about a row. */
interface Plan {
  readonly checks: readonly Check[];
  readonly registerRules: readonly RegisterRule[];
}

/** Offsets in the text of the row's operands. */
type Starts = readonly (number | undefined)[];

type Check = (p: ParseState, row: InstructionRow, operands: readonly Operand[], starts: Starts) => boolean;

/** A rule about which registers go together: the operand that breaks it, -1 when none does. */
type RegisterRule = (operands: readonly Operand[]) => number;

function loc(p: ParseState, test: (op: ParsedOperand) => boolean): number {
  for (let i = p.count - 1; i > 0; i--) if (test(p.operands[i])) return p.operands[i].start;
  return p.mnemonicStart;
}

function immLoc(p: ParseState, type: ImmType): number {
  return loc(p, (op) => op.kind === KIND_IMM && op.type === type);
}

function registerLoc(p: ParseState, register: Operand | undefined): number {
  return loc(p, (op) => {
    if (op.kind !== KIND_REG || register?.kind !== 'reg' || op.register === undefined) return false;
    return op.register === register || (isInlineValue(register) && op.register.encoding === register.encoding);
  });
}

function fail(p: ParseState, at: number, message: string): boolean {
  p.error(at, message);
  return false;
}

function sourcesOf(row: InstructionRow): number[] {
  return ['src0', 'src1', 'src2'].map((name) => operandIndex(row, name)).filter((i) => i >= 0);
}

function numberAt(operands: readonly Operand[], index: number): number {
  return (operands[index] as Immediate).value;
}

function isVop(row: InstructionRow): boolean {
  return ['VOP1', 'VOP2', 'VOPC', 'VOP3', 'VOP3P', 'SDWA'].some((flag) => row.flags.has(flag));
}

function isScalar(operand: Operand): operand is Register {
  return (
    operand.kind === 'reg' &&
    operand.encoding !== 254 &&
    (operand.file === 's' || operand.file === 'ttmp' || operand.file === 'special')
  );
}

/** Identity of a scalar source for counting: pairs and their halves are different registers, as in LLVM. */
function scalarKey(register: Register): number {
  return isInlineValue(register) ? register.encoding * 64 : register.encoding * 64 + register.dwords;
}

const IMPLICIT_SCALARS: Readonly<Record<string, number>> = {
  FLAT_SCR: 102 * 64 + 2,
  VCC: 106 * 64 + 2,
  M0: 124 * 64 + 1,
};

function checkLdsDirect(row: InstructionRow): Check {
  const sources = sourcesOf(row);
  return (p, _, operands) => {
    for (const i of sources) {
      const operand = operands[i];
      if (operand.kind === 'reg' && operand.encoding === 254) {
        return fail(p, registerLoc(p, operand), 'lds_direct is not supported on this GPU');
      }
    }
    return true;
  };
}

/** The first operand that needs a literal other than the one before it, or -1; `limit` literals are allowed. */
function literalBeyond(
  p: ParseState,
  row: InstructionRow,
  operands: readonly Operand[],
  starts: Starts,
  indices: readonly number[],
  limit: number,
): number {
  let count = 0;
  let previous = -1;
  for (const i of indices) {
    const operand = operands[i];
    if (operand.kind !== 'literal') continue;
    const parsed = parsedAt(p, starts[i]);
    if (parsed !== undefined && isInlineAnyway(parsed, operandClass(row.operands[i].cls), operand.bits)) continue;
    const symbolic = parsed?.kind === KIND_EXPR;
    if (count > 0 && !symbolic && operand.bits === previous) continue;
    if (++count > limit) return i;
    previous = symbolic ? -1 : operand.bits;
  }
  return -1;
}

function parsedAt(p: ParseState, start: number | undefined): ParsedOperand | undefined {
  for (let i = 1; i < p.count; i++) if (p.operands[i].start === start) return p.operands[i];
  return undefined;
}

/** `lit(1)`: written as a literal though its value is inline; LLVM allows it beside another literal and in VOP3. */
function isInlineAnyway(parsed: ParsedOperand, cls: OperandClass, bits: number): boolean {
  if (parsed.constant !== CONSTANT_INLINE) return false;
  // Of a double only the high half is in the literal, and LLVM looks at that as an integer.
  return !parsed.isFloat || cls.dwords === 1 || inline32(bits | 0) !== 0;
}

function checkSopLiteral(row: InstructionRow): Check {
  const sources = sourcesOf(row).filter((i) => operandClass(row.operands[i].cls).inline);
  return (p, _, operands, starts) => {
    const beyond = literalBeyond(p, row, operands, starts, sources, 1);
    if (beyond < 0) return true;
    return fail(p, starts[beyond] ?? p.mnemonicStart, 'only one unique literal operand is allowed');
  };
}

function checkVopLiteral(row: InstructionRow): Check {
  const constant = operandIndex(row, 'imm');
  const mandatory = constant >= 0;
  const sources = mandatory ? [...sourcesOf(row), constant] : sourcesOf(row);
  return (p, _, operands, starts) => {
    const beyond = literalBeyond(p, row, operands, starts, sources, mandatory ? 1 : 0);
    if (beyond < 0) return true;
    const message = mandatory ? 'only one unique literal operand is allowed' : 'literal operands are not supported';
    return fail(p, starts[beyond] ?? p.mnemonicStart, message);
  };
}

/** One scalar register or literal is read through the constant bus. */
function constantBusRule(row: InstructionRow): RegisterRule {
  const sources = sourcesOf(row);
  const implicit = row.uses.find((name) => Object.hasOwn(IMPLICIT_SCALARS, name));
  const hasConstant = operandIndex(row, 'imm') >= 0;
  const writeLane = row.operation === 'v_writelane_b32';
  const widths = row.operands.map((o) => Math.max(1, operandClass(o.cls).dwords));
  return (operands) => {
    if (writeLane && operands[2].kind === 'reg' && operands[2].encoding === 124) return -1;
    let uses = implicit === undefined ? 0 : 1;
    let literals = hasConstant ? 1 : 0;
    let literalWidth = 1;
    let seen0 = implicit === undefined ? -1 : IMPLICIT_SCALARS[implicit];
    let seen1 = -1;
    for (const i of sources) {
      const operand = operands[i];
      if (isScalar(operand)) {
        const key = scalarKey(operand);
        if (key === seen0 || key === seen1) continue;
        uses++;
        seen1 = seen0;
        seen0 = key;
      } else if (operand.kind === 'literal') {
        if (literals === 0) {
          literals = 1;
          literalWidth = widths[i];
        } else if (literalWidth !== widths[i]) literals = 2;
      }
      if (uses + literals > 1) return i;
    }
    return -1;
  };
}

/** A check of a rule, with the message when an operand breaks it. */
function checkRule(rule: RegisterRule, message: string): Check {
  return (p, _, operands, starts) => {
    const broken = rule(operands);
    return broken < 0 || fail(p, starts[broken] ?? p.mnemonicStart, message);
  };
}

function checkDotOpSel(p: ParseState): boolean {
  for (let i = 1; i < p.count; i++) {
    const op = p.operands[i];
    if (op.kind !== KIND_IMM) continue;
    if ((op.type === ImmType.OpSel && op.number !== 0) || op.type === ImmType.OpSelHi) {
      return fail(p, immLoc(p, ImmType.OpSel), 'invalid op_sel operand');
    }
  }
  return true;
}

function checkNeg(row: InstructionRow): Check {
  const without = [0, 1, 2].filter((i) => operandIndex(row, `src${i}_modifiers`) < 0);
  return (p) => {
    for (const [type, name] of [
      [ImmType.NegLo, 'neg_lo'],
      [ImmType.NegHi, 'neg_hi'],
    ] as const) {
      for (let i = 1; i < p.count; i++) {
        const op = p.operands[i];
        if (op.kind !== KIND_IMM || op.type !== type) continue;
        if (without.some((bit) => (op.number >> bit) & 1)) return fail(p, immLoc(p, type), `invalid ${name} operand`);
      }
    }
    return true;
  };
}

function checkDpp(row: InstructionRow): Check | undefined {
  const control = operandIndex(row, 'dpp_ctrl');
  const wide = row.operands.some((o) => operandClass(o.cls).dwords === 2 && operandClass(o.cls).decode === 'vgpr');
  if (control < 0 || !wide) return undefined;
  return (p, _, operands) => {
    const value = numberAt(operands, control);
    if (value >= 0x150 && value <= 0x15f) return true;
    return fail(p, immLoc(p, ImmType.DppCtrl), 'DP ALU dpp only supports row_newbcast');
  };
}

function checkOffset(row: InstructionRow): Check | undefined {
  const index = operandIndex(row, 'offset');
  if (index < 0) return undefined;
  if (row.flags.has('FLAT')) {
    const negative = row.flags.has('FlatGlobal') || row.flags.has('FlatScratch');
    return (p, _, operands) => {
      const value = numberAt(operands, index);
      if (value <= 4095 && value >= (negative ? -4096 : 0)) return true;
      const at = flatOffsetLoc(p);
      return fail(p, at, negative ? 'expected a 13-bit signed offset' : 'expected a 12-bit unsigned offset');
    };
  }
  if (row.flags.has('SMRD')) {
    const buffer = row.operation.includes('buffer');
    return (p, _, operands) => {
      const value = numberAt(operands, index);
      if (value >= 0 && value < 1 << 20) return true;
      if (!buffer && value >= -(1 << 20) && value < 1 << 20) return true;
      const at = smemOffsetLoc(p);
      return fail(p, at, buffer ? 'expected a 20-bit unsigned offset' : 'expected a 21-bit signed offset');
    };
  }
  return (p, _, operands) => {
    const value = numberAt(operands, index);
    if (value >= 0 && value <= 0xffff) return true;
    return fail(p, flatOffsetLoc(p), 'expected a 16-bit unsigned offset');
  };
}

function flatOffsetLoc(p: ParseState): number {
  for (let i = 1; i < p.count; i++) {
    const op = p.operands[i];
    if (op.kind === KIND_IMM && (op.type === ImmType.Offset || op.type === ImmType.InstOffset)) return op.start;
  }
  return p.lexer.start();
}

function smemOffsetLoc(p: ParseState): number {
  for (let i = 2; i < p.count; i++) {
    const op = p.operands[i];
    if (op.kind === KIND_IMM && (op.type === ImmType.None || op.type === ImmType.SMEMOffsetMod)) return op.start;
  }
  return p.lexer.start();
}

function overlaps(a: Register, b: Register): boolean {
  return a.file === b.file && a.index < b.index + b.dwords && b.index < a.index + a.dwords;
}

/** Registers of an F8F6F4 matrix operand by its format (cbsz or blgp). */
const F8F6F4_DWORDS = [8, 8, 6, 6, 4];

/** A matrix accumulator of more than four registers is the destination or lies beside it. */
function accumulatorRule(row: InstructionRow): RegisterRule {
  const source = operandIndex(row, 'src2');
  return (operands) => {
    const src2 = operands[source];
    const dst = operands[0];
    if (source < 0 || src2.kind !== 'reg' || dst.kind !== 'reg' || src2 === dst || dst.dwords <= 4) return -1;
    return overlaps(src2, dst) ? source : -1;
  };
}

function checkMatrixFormats(row: InstructionRow): Check {
  const formats = /_F8F6F4_/.test(row.name)
    ? ([
        ['src0', 'cbsz'],
        ['src1', 'blgp'],
      ] as const)
    : [];
  const pairs = formats.map(([src, format]) => [operandIndex(row, src), operandIndex(row, format), format] as const);
  return (p, _, operands, starts) => {
    let ok = true;
    for (const [src, format, name] of pairs) {
      const value = numberAt(operands, format);
      const register = operands[src] as Register;
      if ((F8F6F4_DWORDS[value] ?? 8) === register.dwords) continue;
      ok = fail(p, starts[src] ?? p.mnemonicStart, `wrong register tuple size for ${name} value ${value}`);
    }
    return ok;
  };
}

function textLoc(p: ParseState, type: ImmType, word: string): number {
  const at = immLoc(p, type);
  const found = p.lexer.text.indexOf(word, at);
  return found < 0 ? at : found;
}

function checkCachePolicy(row: InstructionRow): Check | undefined {
  const index = operandIndex(row, 'cpol');
  if (index < 0) return undefined;
  const memory = ['MUBUF', 'MTBUF', 'MIMG', 'FLAT'].some((flag) => row.flags.has(flag));
  const smem = row.flags.has('SMRD');
  const returns = row.flags.has('IsAtomicRet') && !row.flags.has('MIMG');
  const noReturn = row.flags.has('IsAtomicNoRet') && !row.flags.has('IsAtomicRet');
  return (p, _, operands) => {
    const policy = numberAt(operands, index);
    const bit = p.isGfx940 ? 'sc0' : 'glc';
    if (smem && (policy & ~5) !== 0) return fail(p, p.mnemonicStart, 'invalid cache policy for SMEM instruction');
    if (!p.isGfx940 && (policy & CPOL_SCC) !== 0 && !memory) {
      const at = textLoc(p, ImmType.CPol, 'scc');
      return fail(p, at, 'scc modifier is not supported for this instruction on this GPU');
    }
    if (returns && (policy & CPOL_GLC) === 0) return fail(p, p.mnemonicStart, `instruction must use ${bit}`);
    if (noReturn && (policy & CPOL_GLC) !== 0) {
      return fail(p, textLoc(p, ImmType.CPol, bit), `instruction must not use ${bit}`);
    }
    return true;
  };
}

function isAgpr(operands: readonly Operand[], index: number): boolean | undefined {
  const operand = index < 0 ? undefined : operands[index];
  return operand?.kind === 'reg' ? operand.file === 'a' : undefined;
}

function checkAgprData(row: InstructionRow): Check | undefined {
  const memory = ['FLAT', 'MUBUF', 'MTBUF', 'MIMG', 'DS'].some((flag) => row.flags.has(flag));
  if (!memory) return undefined;
  const ds = row.flags.has('DS');
  const destination = operandIndex(row, 'vdst');
  const data = operandIndex(row, ds ? 'data0' : 'vdata');
  const second = ds ? operandIndex(row, 'data1') : -1;
  return (p, _, operands) => {
    const dst = isAgpr(operands, destination);
    const src = isAgpr(operands, data);
    const other = isAgpr(operands, second);
    const same =
      (src === undefined || other === undefined || src === other) &&
      (src === undefined || dst === undefined || src === dst);
    if (same) return true;
    return fail(p, p.mnemonicStart, 'invalid register class: data and dst should be all VGPR or AGPR');
  };
}

function checkAlignment(p: ParseState, row: InstructionRow, operands: readonly Operand[]): boolean {
  for (let i = 0; i < operands.length; i++) {
    const operand = operands[i];
    if (operand.kind !== 'reg' || operand.dwords === 1 || (operand.index & 1) === 0) continue;
    if (operand.file !== 'v' && operand.file !== 'a') continue;
    if (operandClass(row.operands[i].cls).registers?.even === false && row.name.startsWith('DS_READ_B96_TR')) continue;
    return fail(p, p.mnemonicStart, 'invalid register class: vgpr tuples must be 64 bit aligned');
  }
  return true;
}

function checkDs(row: InstructionRow): Check | undefined {
  if (row.flags.has('GWS')) {
    const data = operandIndex(row, 'data0');
    if (!/^ds_gws_(init|barrier|sema_br)$/.test(row.operation) || data < 0) return undefined;
    return (p, _, operands) => {
      if (((operands[data] as Register).index & 1) === 0) return true;
      return fail(p, registerLoc(p, operands[data]), 'vgpr must be even aligned');
    };
  }
  const gds = operandIndex(row, 'gds');
  if (gds < 0) return undefined;
  return (p, _, operands) => {
    if (numberAt(operands, gds) === 0 || targetInfo(p.target).features.has('GDS')) return true;
    return fail(p, immLoc(p, ImmType.GDS), 'gds modifier is not supported on this GPU');
  };
}

function checkBlgp(row: InstructionRow): Check | undefined {
  if (operandIndex(row, 'blgp') < 0) return undefined;
  const usesNeg = /^V_MFMA_F64_.*_gfx940/.test(row.name);
  return (p) => {
    for (let i = 1; i < p.count; i++) {
      const op = p.operands[i];
      if (op.kind !== KIND_IMM || op.type !== ImmType.BLGP) continue;
      const isNeg = p.lexer.text.startsWith('neg:', op.start);
      if (isNeg === usesNeg) return true;
      return fail(p, op.start, `invalid modifier: ${usesNeg ? 'blgp' : 'neg'} is not supported`);
    }
    return true;
  };
}

function checkDivScale(row: InstructionRow): Check | undefined {
  if (!row.operation.startsWith('v_div_scale_')) return undefined;
  const modifiers = ['src0_modifiers', 'src2_modifiers'].map((name) => operandIndex(row, name));
  return (p, _, operands) => {
    if (modifiers.every((i) => (numberAt(operands, i) & 2) === 0)) return true;
    return fail(p, p.mnemonicStart, 'ABS not allowed in VOP3B instructions');
  };
}

function bitCount(value: number): number {
  let count = 0;
  for (let v = value; v !== 0; v &= v - 1) count++;
  return count;
}

function checkImage(row: InstructionRow): Check | undefined {
  if (!row.flags.has('MIMG')) return undefined;
  const data = operandIndex(row, 'vdata');
  const mask = operandIndex(row, 'dmask');
  const d16 = operandIndex(row, 'd16');
  const atomic = row.flags.has('mayLoad') && row.flags.has('mayStore');
  return (p, _, operands) => {
    const dmask = numberAt(operands, mask) & 15;
    const components = Math.max(1, bitCount(dmask));
    const dwords = d16 >= 0 && numberAt(operands, d16) !== 0 ? (components + 1) >> 1 : components;
    if ((operands[data] as Register).dwords !== dwords) {
      const what = d16 >= 0 ? 'dmask and d16' : 'dmask';
      return fail(p, p.mnemonicStart, `image data size does not match ${what}`);
    }
    if (!atomic || dmask === 1 || dmask === 3 || dmask === 15) return true;
    return fail(p, immLoc(p, ImmType.DMask), 'invalid atomic image dmask');
  };
}

function isDot(row: InstructionRow): boolean {
  return row.flags.has('VOP3P') && row.operation.startsWith('v_dot');
}

/** The checks of a row in LLVM's order. */
function planOf(row: InstructionRow): Plan {
  const checks: (Check | undefined)[] = [];
  const registerRules: RegisterRule[] = [];
  const addRule = (rule: RegisterRule, message: string): void => {
    registerRules.push(rule);
    checks.push(checkRule(rule, message));
  };
  const vop = isVop(row);
  if (vop) checks.push(checkLdsDirect(row));
  if (row.flags.has('SOP2') || row.flags.has('SOPC')) checks.push(checkSopLiteral(row));
  if (row.flags.has('VOP3') || row.flags.has('VOP3P') || operandIndex(row, 'imm') >= 0) {
    if (vop) checks.push(checkVopLiteral(row));
  }
  if (vop) addRule(constantBusRule(row), 'invalid operand (violates constant bus restrictions)');
  if (isDot(row)) {
    checks.push((p) => !p.isGfx940 || checkDotOpSel(p));
    checks.push(checkNeg(row));
  }
  checks.push(checkDpp(row), checkImage(row), checkOffset(row));
  if (row.flags.has('MAI')) {
    checks.push(checkMatrixFormats(row));
    addRule(accumulatorRule(row), 'source 2 operand must not partially overlap with dst');
  }
  checks.push(checkCachePolicy(row), checkAgprData(row));
  if (row.flags.has('DPP') || row.operands.some((o) => operandClass(o.cls).dwords > 1)) checks.push(checkAlignment);
  checks.push(checkDs(row), checkBlgp(row), checkDivScale(row));
  return { checks: checks.filter((c) => c !== undefined), registerRules };
}

/** Rows whose checks depend on their name or operation, by one of both. */
const NAMED = /^(?:v_writelane_|v_div_scale_|v_dot|ds_gws_|s_.*buffer)|_F8F6F4_|^V_MFMA_F64_/;

/** By row id, and by number of the shape for rows whose name does not matter: they share the checks. */
const plans: (Plan | undefined)[] = [];
const plansOfShapes: (Plan | undefined)[] = [];

function planFor(row: InstructionRow): Plan {
  return plans[row.id] ?? addPlan(row);
}

function addPlan(row: InstructionRow): Plan {
  const isNamed = NAMED.test(row.operation) || NAMED.test(row.name);
  const plan = (isNamed ? undefined : plansOfShapes[row.shape]) ?? planOf(row);
  if (!isNamed) plansOfShapes[row.shape] = plan;
  plans[row.id] = plan;
  return plan;
}

/** Reports the first thing that LLVM would refuse about a converted instruction. */
export function checkInstruction(
  p: ParseState,
  row: InstructionRow,
  operands: readonly Operand[],
  starts: Starts,
): void {
  const { checks } = planFor(row);
  for (let i = 0; i < checks.length; i++) if (!checks[i](p, row, operands, starts)) return;
}

/**
 * Whether an instruction that `checkInstruction` accepts is still accepted with other registers in the place of its SGPRs, VGPRs and
 * AGPRs, each of the same file and width and with the same number modulo 4.
 */
export function registersFit({ row, operands }: Instruction): boolean {
  const { registerRules } = planFor(row);
  for (let i = 0; i < registerRules.length; i++) if (registerRules[i](operands) >= 0) return false;
  return true;
}
