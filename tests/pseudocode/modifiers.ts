// Instructions with every modifier against AMD's pseudo-code: neg, abs, op_sel, SDWA selections, DPP, omod and clamp in any MODE, with
// part of the lanes. What surrounds the text of an operation is written here a second time, from the chapters of the ISA documents.
import { bindInstruction } from '../../src/device/sim/interpreter/loaded-code.ts';
import { EXEC, LANES, VCC, type Wave } from '../../src/device/sim/state/wave.ts';
import { decoderFor, printInstruction, tableFor } from '../../src/isa/index.ts';
import { OPERAND_TYPES, type OperandType, semanticsOf, type VectorOperation } from '../../src/isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../src/isa/types.ts';
import { makeWave } from '../support/one-instruction.ts';
import { compareBits, operandBits, type Random, randomBits } from './compare.ts';
import type { Evaluator } from './evaluate.ts';
import * as x from './exact.ts';
import type { FloatMode, FloatRules, Machine, Outcome } from './machine.ts';
import type { Soft } from './values.ts';

/** First registers of the operands, and the pairs that masks are in when they are not in VCC. */
const PLACES = [8, 16, 24] as const;
const MASK_OUT = 20;
const MASK_IN = 30;
const INLINE_FLOATS = [0.5, -0.5, 1, -1, 2, -2, 4, -4];
const ROUNDINGS: readonly x.RoundingMode[] = ['even', 'up', 'down', 'zero'];
const FP16_OVFL = 0x800000;
const NEG = 1;
const ABS = 2;
const OP_SEL = 4;
const OP_SEL_HI = 8;
const SEXT = 16;

/** Steps of a division and a reduction, which have no other rounding than to nearest. */
const TO_NEAREST = /^V_(DIV_SCALE|TRIG_PREOP)_/;
/** Operations on the bits of floats, which MODE has nothing to say to. */
const BITS = /_CLASS_|^V_PACK_B32_F16/;

const isFloat = (type: OperandType | undefined): boolean => /^(bf|f)/.test(type ?? '');
const widthOf = (type: OperandType): 16 | 32 | 64 => (/16/.test(type) ? 16 : /64/.test(type) ? 64 : 32);
const ones = (width: number): bigint => (1n << BigInt(width)) - 1n;
const bitAt = (n: bigint, at: number): boolean => ((n >> BigInt(at)) & 1n) === 1n;

/** An encoding and what was put into its fields. */
interface Choice {
  readonly instruction: Instruction;
  /** Fields by name of the operand, as numbers of the encoding; what has no field is absent. */
  readonly fields: ReadonlyMap<string, number>;
}

/** The rows that are compared: every encoding of a vector operation that has a text. */
export function modifiedRows(target: TargetName): InstructionRow[] {
  return tableFor(target).rows.filter(
    (row) =>
      !row.asmOnly &&
      !row.codeGenOnly &&
      // Its result is a pair that dst_sel would choose from; nothing emits it.
      row.mnemonic !== 'v_pk_fmac_f16_sdwa' &&
      semanticsOf(row.operation)?.kind === 'vector' &&
      /^(VOP[123C]|VOP3P|SDWA|DPP)$/.test(row.encoding),
  );
}

function isInlined(row: InstructionRow, type: OperandType, width: number, random: Random): boolean {
  return width === 9 && !/^(SDWA|DPP)$/.test(row.encoding) && type !== 'i128' && random() < 0.12;
}

function inlineOf(random: Random): number {
  return random() < 0.5 ? 240 + Math.floor(random() * 8) : 128 + Math.floor(random() * 81);
}

function choose(target: TargetName, row: InstructionRow, op: VectorOperation, random: Random): Choice | undefined {
  const literal = Number(randomBits(random, 32));
  const words = [...row.fixedBits, literal];
  const fields = new Map<string, number>([['literal', literal]]);
  for (const f of row.fields) {
    const { name, cls } = row.operands[f.operand] as InstructionRow['operands'][number];
    let value = fields.get(name);
    if (value === undefined) {
      const full = row.fields
        .filter((g) => g.operand === f.operand)
        .reduce((n, g) => Math.max(n, g.shift + g.width), 0);
      value = fieldValue(row, op, name, cls, full, literal, random);
      fields.set(name, value);
    }
    const bits = ((value >>> f.shift) & (f.width === 32 ? -1 : 2 ** f.width - 1)) >>> 0;
    words[f.at >> 5] = ((words[f.at >> 5] as number) | (bits << (f.at & 31))) >>> 0;
  }
  const instruction = decoderFor(target).decode(new Uint8Array(Uint32Array.from(words).buffer), 0);
  return instruction?.row === row ? { instruction, fields } : undefined;
}

function fieldValue(
  row: InstructionRow,
  op: VectorOperation,
  name: string,
  cls: string,
  width: number,
  literal: number,
  random: Random,
): number {
  const below = (n: number): number => Math.floor(random() * n);
  const often = (usual: number, n: number): number => (random() < 0.6 ? usual : below(n));
  if (name === 'imm') return literal;
  if (name === 'vdst') return 0;
  if (name === 'sdst') return row.encoding === 'VOP3' ? (random() < 0.5 ? MASK_OUT : VCC) : 0;
  const source = /^src([012])$/.exec(name);
  if (source !== null) {
    const k = Number(source[1]) as 0 | 1 | 2;
    if (cls === 'SSrc_i1') return random() < 0.5 ? MASK_IN : VCC;
    const type = op.sources.find((s) => s.operand === name)?.type ?? 'i32';
    if (isInlined(row, type, width, random)) return inlineOf(random);
    return width === 9 && row.encoding !== 'SDWA' ? 256 + PLACES[k] : PLACES[k];
  }
  switch (name) {
    case 'dpp_ctrl': {
      const kinds = [0, 0x100, 0x110, 0x120, 0x150];
      const kind = kinds[below(kinds.length)] as number;
      if (random() < 0.4) return [0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143][below(8)] as number;
      return kind === 0 ? below(256) : kind === 0x150 ? kind + below(16) : kind + 1 + below(15);
    }
    case 'row_mask':
    case 'bank_mask':
      return often(15, 16);
    case 'dst_sel':
    case 'src0_sel':
    case 'src1_sel':
      return often(6, 7);
    case 'dst_unused':
      return below(3);
    case 'omod':
      return often(0, 4);
    case 'clamp':
      return often(0, 2);
  }
  // What is no modifier of the operand's kind is left out: its bits belong to other fields.
  if (/modifiers$/.test(name)) return below(2 ** width);
  return below(2 ** Math.min(width, 31));
}

/**
 * Bits of an inline constant as an operand. Integers have their sign in all bits. Floats are of the operand's format; f32 as integers
 * of 16 bits, too, and zeros above f16. Source: the comment at `getInlineEncodingV216` in LLVM's AMDGPUBaseInfo.cpp.
 */
function inlineBits(code: number, type: OperandType): bigint {
  const isWide = type === 'i64' || type === 'f64';
  const isPair = type === 'f32x2' || type === 'i32x2';
  let bits: bigint;
  if (code < 240) bits = BigInt.asUintN(isWide ? 64 : 32, BigInt(code <= 192 ? code - 128 : 192 - code));
  else {
    const value = x.fromNumber(INLINE_FLOATS[code - 240] as number);
    const single = x.encode(value, x.formatOf(32), 'even');
    if (isWide) bits = x.encode(value, x.formatOf(64), 'even');
    else if (/^bf16/.test(type)) bits = single >> 16n;
    else bits = /^f16/.test(type) ? x.encode(value, x.formatOf(16), 'even') : single;
  }
  return isPair ? bits | (bits << 32n) : bits;
}

/** The lane that a DPP control reads; undefined beyond the row or the wavefront. */
function crossed(control: number, lane: number): number | undefined {
  const [row, at, n] = [lane & ~15, lane & 15, control & 15];
  const inRow = (k: number): number | undefined => (k >= 0 && k < 16 ? row + k : undefined);
  if (control < 0x100) return (lane & ~3) + ((control >> (2 * (lane & 3))) & 3);
  switch (control >> 4) {
    case 0x10:
      return inRow(at + n);
    case 0x11:
      return inRow(at - n);
    case 0x12:
      return row + ((at + 16 - n) % 16);
    case 0x15:
      return row + n;
  }
  const whole: Readonly<Record<number, number | undefined>> = {
    304: lane === 63 ? undefined : lane + 1,
    308: (lane + 1) % 64,
    312: lane === 0 ? undefined : lane - 1,
    316: (lane + 63) % 64,
    320: row + 15 - at,
    321: (lane & ~7) + 7 - (lane & 7),
    322: row === 0 ? undefined : row - 1,
    323: lane < 32 ? undefined : 31,
  };
  return whole[control];
}

/** One word of a 32-bit operand after SDWA's selection. */
function selected(raw: bigint, select: number, signed: boolean): bigint {
  if (select === 6) return raw & ones(32);
  const [width, at] = select < 4 ? [8, 8 * select] : [16, 16 * (select - 4)];
  const part = (raw >> BigInt(at)) & ones(width);
  return signed ? BigInt.asUintN(32, BigInt.asIntN(width, part)) : part;
}

/** A source of one lane as the text sees it: selected, made positive, negated. */
function sourceBits(choice: Choice, name: string, type: OperandType, raw: bigint): bigint {
  const { row } = choice.instruction;
  const modifiers = choice.fields.get(`${name}_modifiers`) ?? 0;
  const cls = row.operands.find((o) => o.name === `${name}_modifiers`)?.cls ?? '';
  const floats = /^FP|F16InputMods$/.test(cls) && !/^Int/.test(cls);
  const width = widthOf(type);
  const sign = 1n << BigInt(width - 1);
  const apply = (bits: bigint, abs: boolean, neg: boolean): bigint => {
    const positive = abs ? bits & ~sign : bits;
    return neg ? positive ^ sign : positive;
  };
  if (row.encoding === 'VOP3P') {
    if (/x2$/.test(type)) {
      const half = (high: boolean): bigint => (raw >> BigInt(high ? width : 0)) & ones(width);
      const low = half((modifiers & OP_SEL) !== 0);
      const high = half((modifiers & OP_SEL_HI) !== 0);
      const [negLow, negHigh] = floats ? [(modifiers & NEG) !== 0, (modifiers & ABS) !== 0] : [false, false];
      return apply(low, false, negLow) | (apply(high, false, negHigh) << BigInt(width));
    }
    if (type === 'mix') return mixed(choice, name, modifiers, raw);
    return floats && isFloat(type) ? apply(raw, false, (modifiers & NEG) !== 0) : raw;
  }
  let bits = raw;
  const select = choice.fields.get(`${name}_sel`);
  if (select !== undefined) bits = selected(raw, select, !floats && (modifiers & SEXT) !== 0);
  else if (width === 16 && row.flags.has('VOP3_OPSEL') && (modifiers & OP_SEL) !== 0) bits = raw >> 16n;
  if (/x2$/.test(type)) {
    // The two-element operands of VOP2 and its SDWA and DPP forms: a sign is that of both.
    const neg = floats && (modifiers & NEG) !== 0;
    return neg ? bits ^ sign ^ (sign << BigInt(width)) : bits;
  }
  return floats ? apply(bits, (modifiers & ABS) !== 0, (modifiers & NEG) !== 0) : bits;
}

/** A source of v_fma_mix in f32. Its op_sel_hi says that it is f16. */
function mixed(choice: Choice, name: string, modifiers: number, raw: bigint): bigint {
  const code = choice.fields.get(name) as number;
  const isHalf = (modifiers & OP_SEL_HI) !== 0;
  let bits = raw & ones(32);
  if (isHalf) {
    const word = code < 256 ? inlineBits(code, 'f16') : raw;
    const half = (word >> ((modifiers & OP_SEL) !== 0 ? 16n : 0n)) & ones(16);
    const value = x.decode(half, x.formatOf(16));
    const isNegative = bitAt(half, 15);
    bits = x.encode(value, x.formatOf(32), 'even') | (isNegative ? 1n << 31n : 0n);
  } else if (code < 256) bits = inlineBits(code, 'f32');
  if ((modifiers & ABS) !== 0) bits &= ones(31);
  return (modifiers & NEG) !== 0 ? bits ^ (1n << 31n) : bits;
}

/** A value of MODE, and what a text is told of it. */
function randomMode(random: Random): { mode: number; floats: FloatMode } {
  const mode = Math.floor(random() * 1024) | (random() < 0.3 ? FP16_OVFL : 0);
  const rules = (shift: number, denormals: number) => ({
    rounding: ROUNDINGS[(mode >> shift) & 3] as x.RoundingMode,
    readsDenormals: ((mode >> denormals) & 1) !== 0,
    writesDenormals: ((mode >> (denormals + 1)) & 1) !== 0,
  });
  return { mode, floats: { single: rules(0, 4), other: rules(2, 6) } };
}

/** Whether an output modifier has an effect on results of a type. */
const modifiesOutput = (type: OperandType, mode: number, floats: FloatMode): boolean =>
  (mode & 0x200) === 0 && !(widthOf(type) === 32 ? floats.single : floats.other).writesDenormals;

type Result = Pick<Outcome, 'destination' | 'written' | 'soft'>;

/** A float result after the output modifier and clamp, element by element. */
function adjusted(r: Result, type: OperandType, omod: number, clamp: boolean, mode: number, floats: FloatMode): Result {
  const width = widthOf(type);
  const f = x.formatOf(width);
  const rules = width === 32 ? floats.single : floats.other;
  const acts = omod !== 0 && modifiesOutput(type, mode, floats);
  if (!acts && !clamp) return r;
  let destination = 0n;
  const soft: Soft[] = [];
  for (let low = 0; low < (/x2$/.test(type) ? 2 : 1) * width; low += width) {
    let bits = (r.destination >> BigInt(low)) & ones(width);
    let isApproximate = r.soft.some((s) => s.low === low && s.why === 'approximate');
    const isNone = x.decode(bits, f).kind === 'nan';
    if (acts && !isNone) {
      // Denormals are zeros before and after, and no zero is negative.
      if (x.exponentField(bits, f) === 0) bits = 0n;
      const exponent = [0, 1, 2, -1][omod] as number;
      bits = x.encode(x.scale(x.decode(bits, f), exponent), f, rules.rounding);
      if (x.exponentField(bits, f) === 0) bits = 0n;
    }
    if (clamp) {
      const one = x.encode(x.fromNumber(1), f, 'even');
      if (isNone) bits = (mode & 0x100) !== 0 ? 0n : bits;
      else if (bitAt(bits, width - 1)) bits = 0n;
      else if (bits > one) bits = one;
      if (bits === one || bits === 0n) isApproximate = false;
    }
    destination |= bits << BigInt(low);
    if (x.decode(bits, f).kind === 'nan') soft.push({ low, width, why: 'nan' });
    else if (isApproximate) soft.push({ low, width, why: 'approximate' });
  }
  return { ...r, destination, soft };
}

/** A result in its register: the part that op_sel or dst_sel names, and what becomes of the rest. */
function placed(choice: Choice, r: Result, width: number, before: bigint): Result {
  const { row } = choice.instruction;
  if (r.written === 0n) return r;
  const select = choice.fields.get('dst_sel');
  const modifiers = choice.fields.get('src0_modifiers') ?? 0;
  if (select === undefined || select === 6) {
    const isHigh = row.flags.has('VOP3_OPSEL') && (modifiers & OP_SEL_HI) !== 0;
    if (width !== 16 || !(isHigh || /mixhi/.test(row.operation))) return r;
    const bits = ((r.destination & ones(16)) << 16n) | (before & ones(16));
    return { destination: bits, written: ones(32), soft: r.soft.map((s) => ({ ...s, low: s.low + 16 })) };
  }
  const [size, at] = select < 4 ? [8, 8 * select] : [16, 16 * (select - 4)];
  const part = (r.destination & ones(size)) << BigInt(at);
  const unused = choice.fields.get('dst_unused') as number;
  const field = ones(size) << BigInt(at);
  const extended = BigInt.asUintN(32, BigInt.asIntN(size, r.destination & ones(size)) << BigInt(at));
  const destination = unused === 2 ? (before & ones(32) & ~field) | part : unused === 1 ? extended : part;
  const soft = r.soft.flatMap((s): Soft[] => (s.low + s.width <= size ? [{ ...s, low: s.low + at }] : []));
  // A part of a NaN or of an approximation says nothing.
  const isCut = r.soft.some((s) => s.low + s.width > size);
  return { destination, written: isCut ? 0n : ones(32), soft };
}

export interface ModifiedCase {
  /** The instruction, its MODE, EXEC. */
  readonly text: string;
  readonly differences: readonly string[];
}

/** Texts of operations that AMD's documents do not have under the name of these targets. */
export const EXTRA_TEXTS: Readonly<Record<string, string>> = {
  V_FMA_MIX_F32: 'D0.f32 = fma(S0.f32, S1.f32, S2.f32)',
  V_FMA_MIXLO_F16: 'D0[15 : 0].f16 = f32_to_f16(fma(S0.f32, S1.f32, S2.f32))',
  V_FMA_MIXHI_F16: 'D0[15 : 0].f16 = f32_to_f16(fma(S0.f32, S1.f32, S2.f32))',
  V_MAC_F16: 'D0.f16 = S0.f16 * S1.f16 + D0.f16',
  V_MADMK_F16: 'D0.f16 = S0.f16 * SIMM16.f16 + S1.f16',
  V_MADAK_F16: 'D0.f16 = S0.f16 * S1.f16 + SIMM16.f16',
  V_MAD_LEGACY_F16: 'D0.f16 = S0.f16 * S1.f16 + S2.f16',
  V_FMA_LEGACY_F16: 'D0.f16 = fma(S0.f16, S1.f16, S2.f16)',
  V_MAD_LEGACY_U16: 'D0.u16 = S0.u16 * S1.u16 + S2.u16',
  V_MAD_LEGACY_I16: 'D0.i16 = S0.i16 * S1.i16 + S2.i16',
};

/** Runs a row once with random modifiers, MODE, EXEC and operands; undefined when the encoding is not the row's. */
export function compareModified(
  evaluator: Evaluator,
  name: string,
  target: TargetName,
  row: InstructionRow,
  random: Random,
): ModifiedCase | undefined {
  const op = semanticsOf(row.operation) as VectorOperation;
  const choice = choose(target, row, op, random);
  if (choice === undefined) return undefined;
  const { mode, floats } = randomMode(random);
  const exec = random() < 0.4 ? ones(64) : randomBits(random, 64);
  const w = makeWave(target, { mode, vcc: randomBits(random, 64), exec });
  w.setS64(MASK_IN, randomBits(random, 64));
  w.setS64(MASK_OUT, randomBits(random, 64));
  const maskIn = choice.fields.get('src2') === MASK_IN ? w.s64(MASK_IN) : w.s64(VCC);
  const types = [0, 1, 2].map((k) => op.sources.find((s) => s.operand === `src${k}`)?.type);
  const raws = types.map((type, k) => sourceLanes(w, row, choice, type ?? 'i32', k, random));
  const resultType = op.resultType ?? 'i32';
  const before = Array.from({ length: LANES }, () => operandBits(random, resultType));
  storeLanes(w, 0, before);
  const text = `${printInstruction(target, choice.instruction).trim()} mode=${mode.toString(16)} exec=${exec.toString(16)}`;
  bindInstruction(choice.instruction, target)(w);
  const width = op.resultType === undefined ? 0 : 32 * OPERAND_TYPES[op.resultType].words;
  const differences: string[] = [];
  const isClamped = (choice.fields.get('clamp') ?? 0) !== 0;
  const always = op.denormals === 'flush';
  const omod = choice.fields.get('omod') ?? 0;
  const isNearest = TO_NEAREST.test(name);
  const rules = (r: FloatRules, isAlways: boolean): FloatRules => ({
    rounding: isNearest ? 'even' : r.rounding,
    readsDenormals: r.readsDenormals && !isAlways,
    writesDenormals: r.writesDenormals && !isAlways,
  });
  const told = { single: rules(floats.single, always), other: rules(floats.other, false) };
  const clampsFloat = isClamped && isFloat(op.resultType);
  const maskAt = row.defs.includes('EXEC') ? EXEC : choice.fields.get('sdst') === MASK_OUT ? MASK_OUT : VCC;
  for (let lane = 0; lane < LANES; lane++) {
    const got = loadLane(w, 0, lane);
    const gotMask = op.mask === undefined ? false : bitAt(w.s64(maskAt), lane);
    const from = sourceLane(choice, lane, exec);
    if (!bitAt(exec, lane) || from === undefined) {
      if (width > 0 && got !== storedBits(before[lane] as bigint, width, got))
        differences.push(`lane ${lane} is off: ${got.toString(16)}`);
      if (gotMask) differences.push(`lane ${lane} is off, its bit of the mask is set`);
      continue;
    }
    const sources = types.map((type, k) => {
      const raw = raws[k] as readonly bigint[];
      const bits = k === 0 ? (from < 0 ? 0n : (raw[from] as bigint)) : (raw[lane] as bigint);
      return type === undefined ? bits : sourceBits(choice, `src${k}`, type, bits);
    });
    const machine: Machine = {
      sources,
      destination: before[lane] as bigint,
      literal: BigInt((choice.fields.get('literal') as number) >>> 0),
      truthTable: BigInt(choice.fields.get('bitop3') ?? 0),
      lane,
      vcc: maskIn,
      exec,
      scc: false,
      ieee: (mode & 0x200) !== 0,
      saturates: isClamped && op.clamped !== undefined && !clampsFloat,
      ...(BITS.test(name) || op.denormals === 'keep' ? {} : { floats: told }),
    };
    const outcome = evaluator.run(name, machine);
    const shown = sources.slice(0, op.sources.length).map((s) => s.toString(16));
    const carry =
      outcome.carry ?? (width > 0 ? bitAt(outcome.vcc ?? 0n, name.startsWith('V_DIV_SCALE') ? 0 : lane) : undefined);
    if (width > 0) {
      let result: Result = outcome;
      if (isFloat(op.resultType))
        result = adjusted(approximated(name, outcome, resultType), resultType, omod, clampsFloat, mode, floats);
      else if (machine.saturates === true && /_CO_/.test(name) && carry === true)
        result = { ...outcome, destination: /ADD/.test(name) ? ones(32) : 0n };
      if ((mode & FP16_OVFL) !== 0 && HALVES.test(name) && !isQuotient(name, outcome)) {
        const added = /_F?MAC_/.test(name) ? [...sources.slice(0, 2), before[lane] as bigint] : sources;
        result = limited(name, result, types, added);
      }
      result = placed(choice, result, widthOf(resultType), before[lane] as bigint);
      const difference = compareBits(result, got, width);
      if (difference !== undefined)
        differences.push(`lane ${lane} (${shown}): ${difference.what} ${difference.expected}, got ${difference.got}`);
    }
    if (op.mask !== undefined) {
      const expected = carry ?? outcome.mask ?? false;
      if (expected !== gotMask) differences.push(`lane ${lane} (${shown}): mask ${expected}, got ${gotMask}`);
    }
  }
  return { text, differences };
}

/** What a register that is not written holds; 64-bit destinations are compared whole, wider ones by their 128 bits. */
const storedBits = (before: bigint, width: number, got: bigint): bigint =>
  (before & ones(width)) | (got & ~ones(width));

/** Results that are f16 and can overflow. */
const HALVES = /^V_(?!FREXP|CMP|PACK|CVT_(PK)?NORM|CVT_[IU]\d+_|CVT_F32_|DOT)(PK_)?.*F16(_F32|_[IU]16)?$/;

/** An infinite quotient, which the fix-up of a division makes by a zero or of an infinity: it is no overflow. */
const isQuotient = (name: string, { destination }: Outcome): boolean =>
  name.startsWith('V_DIV_FIXUP') && (destination & ones(15)) === 0x7c00n;

/** MODE.FP16_OVFL: an infinity that no operand has is the largest number, but where the operation divides by zero. */
function limited(
  name: string,
  r: Result,
  types: readonly (OperandType | undefined)[],
  sources: readonly bigint[],
): Result {
  let { destination } = r;
  const isPair = /_PK_|PKRTZ/.test(name);
  for (const [n, low] of (isPair ? [0n, 16n] : [0n]).entries()) {
    if (((destination >> low) & ones(15)) !== 0x7c00n) continue;
    const operands = sources.flatMap((s, k) => {
      const type = types[k];
      if (type === undefined || !(isFloat(type) || type === 'mix') || (/CVT_PK/.test(name) && k !== n)) return [];
      const f = x.formatOf(type === 'mix' ? 32 : widthOf(type));
      return [x.decode(/x2$/.test(type) ? (s >> low) & ones(16) : s & ones(f.width), f)];
    });
    const isZero = (v: x.Real): boolean => v.kind === 'finite' && v.m === 0n;
    const keeps = operands.some((v) => v.kind === 'infinite' || (isZero(v) && /_(RCP|RSQ|LOG)_/.test(name)));
    if (!keeps) destination -= 1n << low;
  }
  return { ...r, destination };
}

/** Units of approximations may round as they like. */
function approximated(name: string, r: Outcome, type: OperandType): Result {
  if (!/_(RCP|RSQ|SQRT|LOG|EXP)_/.test(name) || r.soft.some((s) => s.why === 'nan')) return r;
  const f = x.formatOf(widthOf(type));
  const exponent = x.exponentField(r.destination, f);
  // Beside infinity and below the normal numbers one unit more or less is another case of what follows.
  if (exponent === 0 || exponent >= 2 * f.bias - 1) return { ...r, written: 0n };
  return { ...r, soft: [{ low: 0, width: f.width, why: 'approximate' }] };
}

/** Where source 0 of a lane comes from: -1 for zeros, undefined when the lane is not written. */
function sourceLane(choice: Choice, lane: number, exec: bigint): number | undefined {
  const control = choice.fields.get('dpp_ctrl');
  if (control === undefined) return lane;
  const rows = choice.fields.get('row_mask') as number;
  const banks = choice.fields.get('bank_mask') as number;
  if (((rows >> (lane >> 4)) & 1) === 0 || ((banks >> ((lane & 15) >> 2)) & 1) === 0) return undefined;
  const from = crossed(control, lane);
  if (from !== undefined && bitAt(exec, from)) return from;
  return choice.fields.get('bound_ctrl') === 0 ? undefined : -1;
}

/** Puts random operands into the registers of a source; the bits of each lane. */
function sourceLanes(
  w: Wave,
  row: InstructionRow,
  choice: Choice,
  type: OperandType,
  k: number,
  random: Random,
): bigint[] {
  const code = choice.fields.get(`src${k}`);
  const place = PLACES[k] as number;
  const isNarrow = row.encoding === 'SDWA' || type === 'mix' || widthOf(type) === 16;
  const values = Array.from({ length: LANES }, () => {
    if (!isNarrow) return operandBits(random, type);
    // Both halves, or all bytes, can be chosen.
    if (random() < 0.3 && !/16/.test(type)) return operandBits(random, 'f32');
    return operandBits(random, /^i|^u/.test(type) ? 'i16x2' : 'f16x2');
  });
  storeLanes(w, place, values);
  const isConstant = code !== undefined && code >= 128 && code < 249 && /^VOP/.test(row.encoding) && isNineBits(row, k);
  if (!isConstant || type === 'mix') return values;
  return values.map(() => inlineBits(code, type));
}

const isNineBits = (row: InstructionRow, k: number): boolean =>
  row.fields.some((f) => row.operands[f.operand]?.name === `src${k}` && f.width === 9);

function storeLanes(w: Wave, register: number, values: readonly bigint[]): void {
  for (let n = 0; n < 4; n++)
    for (let lane = 0; lane < LANES; lane++)
      w.vgprs[(register + n) * LANES + lane] = Number(BigInt.asIntN(32, (values[lane] as bigint) >> BigInt(32 * n)));
}

function loadLane(w: Wave, register: number, lane: number): bigint {
  let bits = 0n;
  for (let n = 3; n >= 0; n--) bits = (bits << 32n) | BigInt((w.vgprs[(register + n) * LANES + lane] as number) >>> 0);
  return bits;
}
