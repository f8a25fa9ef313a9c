// Matched operands to the row's operand list: sources and their modifiers, defaults, tied operands, op_sel and neg bits.
// Source: AMDGPUAsmParser's cvt… functions (cvtVOP3, cvtVOP3P, cvtVOP3OpSel, cvtSDWA, cvtDPP, cvtMubuf, cvtScaledMFMA).

import { immediate } from '../codec/decode.ts';
import { operandIndex } from '../operand.ts';
import { type OperandClass, operandClass } from '../table/operand-classes.ts';
import { special } from '../table/registers.ts';
import type { Immediate, InstructionRow, Operand, Register } from '../types.ts';
import { bits64, encodeConstant } from './constant.ts';
import { KIND_EXPR, KIND_IMM, MOD_ABS, MOD_NEG, MOD_SEXT, type ParsedOperand } from './state.ts';
import type { Fixup, FixupKind } from './types.ts';

/** How a row's operands are completed. */
interface Plan {
  readonly classes: readonly OperandClass[];
  /** Values of operands that the text leaves out. */
  readonly defaults: readonly Operand[];
  /** For each operand the one it equals, or -1. */
  readonly tied: readonly number[];
  readonly anyTied: boolean;
  /** op_sel and friends are folded into the source modifiers. */
  readonly folds: boolean;
  readonly gathers: readonly Gather[];
  readonly modifiers: readonly number[];
  /** Number of sources; the bit of op_sel after them selects the destination half. */
  readonly destinationBit: number;
}

interface Gather {
  readonly operand: number;
  readonly bit: number;
  /** The operand has no bits of its own: it mirrors the modifiers, as the decoder yields it. */
  readonly mirrored: boolean;
  readonly destination: boolean;
}

const FOLDED: Readonly<Record<string, number>> = { op_sel: 4, op_sel_hi: 8, neg_lo: 1, neg_hi: 2 };
const DESTINATION = 8;
/** Bit of integer source modifiers that asks for sign extension. */
const SEXT = 16;
/** SDWA operands that are left out: whole dwords, unselected destination bits kept. */
const SDWA_DEFAULTS: Readonly<Record<string, number>> = { dst_sel: 6, src0_sel: 6, src1_sel: 6, dst_unused: 2 };

function planOf(row: InstructionRow): Plan {
  const { operands } = row;
  const at = (name: string): number => operandIndex(row, name);
  const classes = operands.map((o) => operandClass(o.cls));
  const sdwa = row.conversion.startsWith('cvtSdwa');
  const packed = row.flags.has('IsPacked');
  const defaults = operands.map((o, i): Operand => {
    if (sdwa && Object.hasOwn(SDWA_DEFAULTS, o.name)) return immediate(SDWA_DEFAULTS[o.name]);
    if (o.name === 'op_sel_hi' && packed) return immediate(15);
    return immediate(classes[i].fallback);
  });
  const tied = operands.map((o) => o.tiedTo);
  const scaled = row.conversion === 'cvtScaledMFMA';
  const modifiers = ['src0_modifiers', 'src1_modifiers', 'src2_modifiers'].map(at);
  const folds = row.conversion === 'cvtVOP3P' || row.conversion === 'cvtVOP3OpSel';
  const destination = row.flags.has('VOP3_OPSEL') || row.conversion === 'cvtVOP3OpSel';
  const gathers = scaled
    ? []
    : Object.entries(FOLDED)
        .map(([name, bit]) => ({ operand: at(name), bit, destination: name === 'op_sel' && destination }))
        .filter(({ operand }) => operand >= 0)
        .map((g) => ({ ...g, mirrored: !row.fields.some((f) => f.operand === g.operand) }));
  const destinationBit = ['src0', 'src1', 'src2'].filter((name) => at(name) >= 0).length;
  return { classes, defaults, tied, anyTied: tied.some((t) => t >= 0), folds, gathers, modifiers, destinationBit };
}

/** By number of the shape. */
const plans: (Plan | undefined)[] = [];

function plan(row: InstructionRow): Plan {
  let found = plans[row.shape];
  if (found === undefined) {
    found = planOf(row);
    plans[row.shape] = found;
  }
  return found;
}

const NO_FIXUPS: readonly Fixup[] = [];

/** A row's operands under construction. */
export class Conversion {
  readonly row: InstructionRow;
  readonly operands: (Operand | undefined)[];
  fixups: readonly Fixup[] = NO_FIXUPS;
  /** Offset in the text of each row operand that the text gives; undefined for others. */
  readonly starts: (number | undefined)[] = [];
  private readonly plan: Plan;

  constructor(row: InstructionRow) {
    this.row = row;
    this.plan = plan(row);
    this.operands = new Array(row.operands.length);
  }

  /** Puts a parsed operand at a row operand; with modifiers, those go there and the source to the next. */
  put(index: number, op: ParsedOperand, withMods: boolean): void {
    this.starts[withMods ? index + 1 : index] = op.start;
    if (withMods) {
      const { mods } = op;
      const bits = mods & MOD_SEXT ? SEXT : (mods & MOD_NEG ? 1 : 0) | (mods & MOD_ABS ? 2 : 0);
      this.operands[index] = immediate(bits);
      this.operands[index + 1] = this.value(index + 1, op, false);
    } else this.operands[index] = this.value(index, op, true);
  }

  private value(index: number, op: ParsedOperand, applyMods: boolean): Operand {
    const cls = this.plan.classes[index];
    if (op.kind === KIND_IMM) {
      if (cls.inline || cls.operandType === 'KIMM32' || cls.operandType === 'KIMM16') {
        return encodeConstant(op, cls, applyMods);
      }
      if (cls.operandType === 'PCREL' && op.number < 0) return { kind: 'imm', value: op.number, written: true };
      if (op.wide === undefined && !op.isFloat) return immediate(op.number);
      // Offsets keep their value for the range check; other fields take the low bits.
      const bits = bits64(op);
      return immediate(Number(this.row.operands[index].name === 'offset' ? bits : BigInt.asIntN(32, bits)));
    }
    if (op.kind === KIND_EXPR) return this.fixup(index, op, cls);
    const register = op.register as Register;
    if (cls.dwords !== register.dwords && register.file === 'special') {
      return special(register.encoding, cls.dwords) ?? register;
    }
    return register;
  }

  private fixup(index: number, op: ParsedOperand, cls: OperandClass): Operand {
    const literal = cls.inline;
    const kind: FixupKind = literal ? 'literal32' : cls.operandType === 'PCREL' ? 'branch16' : 'simm16';
    const fixup: Fixup = {
      operandIndex: index,
      kind,
      byteOffset: literal ? this.row.size : 0,
      expr: op.expr as NonNullable<ParsedOperand['expr']>,
    };
    this.fixups = this.fixups.length === 0 ? [fixup] : [...this.fixups, fixup];
    return literal ? { kind: 'literal', bits: 0 } : immediate(0);
  }

  /** Fills what the text leaves out and folds op_sel and neg into the source modifiers. */
  finish(): Operand[] {
    const { defaults, tied, anyTied, folds, gathers } = this.plan;
    const operands = this.operands as Operand[];
    if (anyTied) {
      for (let i = 0; i < operands.length; i++) {
        const to = tied[i];
        if (to < 0) continue;
        if (operands[i] === undefined) operands[i] = operands[to];
        else if (operands[to] === undefined) operands[to] = operands[i];
      }
    }
    for (let i = 0; i < operands.length; i++) if (operands[i] === undefined) operands[i] = defaults[i];
    if (folds) this.fold();
    else if (gathers.length === 0 && this.row.conversion === 'cvtScaledMFMA') this.scale();
    return operands;
  }

  private fold(): void {
    const { gathers, modifiers, destinationBit } = this.plan;
    const operands = this.operands as Operand[];
    const values = gathers.map((g) => (operands[g.operand] as Immediate).value);
    for (let j = 0; j < 3; j++) {
      const index = modifiers[j];
      if (index < 0) continue;
      let bits = (operands[index] as Immediate).value;
      gathers.forEach((g, i) => {
        if ((values[i] >> j) & 1) bits |= g.bit;
        if (j === 0 && g.destination && (values[i] >> destinationBit) & 1) bits |= DESTINATION;
      });
      operands[index] = immediate(bits);
    }
    for (const g of gathers) {
      if (!g.mirrored) continue;
      let value = 0;
      for (let j = 0; j < 3; j++) {
        const index = modifiers[j];
        if (index >= 0 && (operands[index] as Immediate).value & g.bit) value |= 1 << j;
      }
      if (g.destination && modifiers[0] >= 0 && (operands[modifiers[0]] as Immediate).value & DESTINATION) value |= 8;
      operands[g.operand] = immediate(value);
    }
  }

  /** Scaled MFMA: `op_sel` and `op_sel_hi` are written where the modifiers of the two scales are kept. */
  private scale(): void {
    const { modifiers } = this.plan;
    const operands = this.operands as Operand[];
    const low = (operands[modifiers[0]] as Immediate).value;
    const high = (operands[modifiers[1]] as Immediate).value;
    for (let j = 0; j < 2; j++) {
      operands[modifiers[j]] = immediate(((low >> j) & 1 ? 4 : 0) | ((high >> j) & 1 ? 8 : 0));
    }
  }
}
