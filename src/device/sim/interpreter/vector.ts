// Executes vector ALU operations: one closure per instruction that reads sources, evaluates the expression and writes the result
// for each active lane. SDWA, DPP, op_sel, omod and clamp are handled here for every operation alike.

import {
  BF16,
  bitsFromF16,
  bitsFromF32,
  encodeSmall,
  f64HighWord,
  f64LowWord,
  roundToF32,
  roundToPrecision,
} from '../../../base/elements/formats.ts';
import { hasOperand, immediateOf, maskSource, operandNamed } from '../../../isa/operand.ts';
import { mulF64 } from '../../../isa/semantics/exact.ts';
import type { Expr, OperandType, VectorOperation } from '../../../isa/semantics/index.ts';
import { floatSources, INFINITE_AT_ZERO, isMadeOfBits } from '../../../isa/semantics/modifiers.ts';
import type { Instruction } from '../../../isa/types.ts';
import { EXEC, LANES, maskBit, VCC, type Wave } from '../state/wave.ts';
import { dppSourceLane } from './dpp.ts';
import { type Context, compileBig, compileNumber, compileTest } from './evaluate.ts';
import {
  bindSource,
  isFloatType,
  type LaneReader,
  OP_SEL_1,
  opSelOf,
  registerOf,
  sdwaField,
  vectorBase,
} from './operands.ts';

export type Step = (w: Wave) => void;
type LaneWriter = (w: Wave, lane: number) => void;

/** Binds a vector operation. */
export function bindVector(instruction: Instruction, op: VectorOperation): Step {
  const { row } = instruction;
  const context: Context = { types: op.sources.map((s) => s.type), denormals: op.denormals };
  const readers = op.sources.map((s, k) => bindSource(instruction, k, s, op.sourcePart));
  const write = op.resultType === undefined ? undefined : bindResult(instruction, op, context);
  const mask = op.mask === undefined ? undefined : compileTest(op.mask, context);
  const maskTarget = mask === undefined ? -1 : maskDestination(instruction);
  const writesExec = mask !== undefined && row.defs.includes('EXEC');
  const carryAt = usesCarry(op) ? carrySource(instruction) : -1;
  const dpp = operandNamed(instruction, 'dpp_ctrl') === undefined ? undefined : bindDpp(instruction, op);

  return (w) => {
    const { env, sgprs } = w;
    const low = sgprs[EXEC] as number;
    const high = sgprs[EXEC + 1] as number;
    const carryLow = carryAt < 0 ? 0 : (sgprs[carryAt] as number);
    const carryHigh = carryAt < 0 ? 0 : (sgprs[carryAt + 1] as number);
    let maskLow = 0;
    let maskHigh = 0;
    dpp?.collect(w);
    for (let lane = 0; lane < LANES; lane++) {
      if (!maskBit(low, high, lane)) continue;
      if (dpp !== undefined) {
        if (!dpp.read(w, lane)) continue;
      } else readers[0]?.(w, lane);
      for (let k = 1; k < readers.length; k++) (readers[k] as LaneReader)(w, lane);
      env.lane = lane;
      env.carry = maskBit(carryLow, carryHigh, lane);
      if (mask?.(env)) {
        if (lane < 32) maskLow |= 1 << lane;
        else maskHigh |= 1 << (lane - 32);
      }
      write?.(w, lane);
    }
    if (maskTarget >= 0) {
      sgprs[maskTarget] = maskLow;
      sgprs[maskTarget + 1] = maskHigh;
    }
    if (writesExec) {
      sgprs[EXEC] = maskLow;
      sgprs[EXEC + 1] = maskHigh;
    }
  };
}

function usesCarry(op: VectorOperation): boolean {
  const uses = (e: Expr): boolean => e.op === 'carry' || e.args.some(uses);
  return op.result.some(uses) || (op.mask !== undefined && uses(op.mask));
}

/** The mask input: the last source of the VOP3 form, VCC otherwise. */
function carrySource(instruction: Instruction): number {
  const operand = maskSource(instruction);
  return operand?.kind === 'reg' ? operand.encoding : VCC;
}

/** The mask result: the `sdst` operand, VCC in the short forms. */
function maskDestination(instruction: Instruction): number {
  const operand = operandNamed(instruction, 'sdst');
  return operand?.kind === 'reg' ? operand.encoding : VCC;
}

/** Source 0 through the DPP lane crossing: collected for all lanes first, because the result may overwrite it. */
interface DppSource {
  readonly collect: (w: Wave) => void;
  /** Puts the lane's value into the environment; false when the lane is not written. */
  readonly read: (w: Wave, lane: number) => boolean;
}

function bindDpp(instruction: Instruction, op: VectorOperation): DppSource {
  const first = op.sources[0];
  if (first === undefined) throw new Error(`${instruction.row.name} has no source for DPP`);
  const read = bindSource(instruction, 0, first, undefined);
  const readZero = bindSource(instruction, 0, first, undefined, { kind: 'inline', encoding: 128 });
  const control = immediateOf(instruction, 'dpp_ctrl');
  const rowMask = immediateOf(instruction, 'row_mask');
  const bankMask = immediateOf(instruction, 'bank_mask');
  const zeroFill = immediateOf(instruction, 'bound_ctrl') !== 0;
  const low = new Int32Array(LANES);
  const high = new Int32Array(LANES);
  const written = new Uint8Array(LANES);
  return {
    collect: (w) => {
      const { words } = w.env;
      for (let lane = 0; lane < LANES; lane++) {
        const from = dppSourceLane(control, lane);
        const exists = from >= 0 && w.isActive(from);
        const enabled = ((rowMask >> (lane >> 4)) & (bankMask >> ((lane >> 2) & 3)) & 1) !== 0;
        written[lane] = enabled && (exists || zeroFill) ? 1 : 0;
        if (written[lane] === 0) continue;
        if (exists) read(w, from);
        else readZero(w, lane);
        low[lane] = words[0] as number;
        high[lane] = words[1] as number;
      }
    },
    read: (w, lane) => {
      if (written[lane] === 0) return false;
      w.env.words[0] = low[lane] as number;
      w.env.words[1] = high[lane] as number;
      return true;
    },
  };
}

/** Output modifier: ×2, ×4, ÷2. */
const OMOD = [1, 2, 4, 0.5];

/**
 * Whether an output modifier has an effect on results of a type: hardware ignores it with MODE.IEEE and where it keeps denormal
 * results. Source: AMD CDNA3 Instruction Set Architecture, "Output Modifiers".
 */
function omodActs(env: Wave['env'], type: OperandType): boolean {
  return !env.ieee && !(type === 'f32' || type === 'f32x2' ? env.denormalOut32 : env.denormalOut64);
}

/** A result times the output modifier, rounded to its type. Denormals before and after are zeros, and every zero a positive one. */
function scaled(value: number, factor: number, kind: Expr['type'], w: Wave): number {
  const { round32, round64 } = w.env;
  const smallest = kind === 'f64' ? 2 ** -1022 : kind === 'f16' ? 2 ** -14 : 2 ** -126;
  if (Math.abs(value) < smallest) return 0;
  let rounded = value;
  if (kind === 'f64') rounded = mulF64(value, factor, round64);
  else if (kind === 'f16') rounded = roundToPrecision(value * factor, 10, -14, 15, round64);
  else rounded = roundToF32(value * factor, round32);
  return Math.abs(rounded) < smallest ? 0 : rounded;
}

/** Turns a float expression into the bits of its type, output modifiers and clamp applied. */
function compileFloatBits(
  e: Expr,
  context: Context,
  type: OperandType,
  omod: number,
  clamp: boolean,
): (w: Wave) => number {
  const evaluate = compileNumber(e, context);
  const factor = OMOD[omod] as number;
  const kind = e.type;
  const keep = context.denormals === 'keep';
  const flush = context.denormals === 'flush';
  const adjust = (value: number, w: Wave): number => {
    let v = factor === 1 ? value : scaled(value, factor, kind, w);
    if (clamp) v = Number.isNaN(v) ? (w.env.dx10Clamp ? 0 : v) : Math.min(1, Math.max(0, v));
    return v;
  };
  const plain = factor === 1 && !clamp;
  if (kind === 'f32') {
    return (w) => {
      const raw = evaluate(w.env);
      const value = plain ? raw : Math.fround(adjust(raw, w));
      const bits = bitsFromF32(value);
      const denormal = (bits & 0x7f800000) === 0 && !keep && (flush || !w.env.denormalOut32);
      return denormal ? bits & -0x80000000 : bits;
    };
  }
  if (kind === 'f16') {
    const keepsInfinity = compileInfinite(e, context);
    const isMade = isMadeOfBits(e);
    return (w) => {
      const raw = evaluate(w.env);
      const bits = bitsFromF16(plain ? raw : adjust(raw, w));
      const isInfinite = w.env.saturate && (bits & 0x7fff) === 0x7c00;
      if (isInfinite && !(isMade && Math.abs(raw) === Infinity) && !keepsInfinity(w.env)) return bits - 1;
      return (bits & 0x7c00) === 0 && !w.env.denormalOut64 ? bits & 0x8000 : bits;
    };
  }
  if (kind === 'bf16') return (w) => encodeSmall(BF16, adjust(evaluate(w.env), w));
  throw new Error(`no float result of type ${type}`);
}

/**
 * Whether an infinite result is one with MODE.FP16_OVFL, too: an operand is infinite, or it divides by zero. Others are overflows, which
 * become the largest number.
 */
function compileInfinite(e: Expr, context: Context): (env: Wave['env']) => boolean {
  const operands = floatSources(e, context.types).map((x) => compileNumber(x, context));
  const ofZero = INFINITE_AT_ZERO.has(e.op);
  return (env) =>
    operands.some((f) => {
      const x = Math.abs(f(env));
      return x === Infinity || (ofZero && x === 0);
    });
}

function bindResult(instruction: Instruction, op: VectorOperation, context: Context): LaneWriter {
  const type = op.resultType as OperandType;
  const plain = bindScaledResult(instruction, op, context, 0);
  const omod = isFloatType(type) ? immediateOf(instruction, 'omod') : 0;
  if (omod === 0) return plain;
  const withOmod = bindScaledResult(instruction, op, context, omod);
  return (w, lane) => (omodActs(w.env, type) ? withOmod : plain)(w, lane);
}

function bindScaledResult(instruction: Instruction, op: VectorOperation, context: Context, omod: number): LaneWriter {
  const type = op.resultType as OperandType;
  const base = vectorBase(registerOf(instruction, 'vdst'));
  const clamp = immediateOf(instruction, 'clamp') !== 0;
  const results = resultsOf(op, clamp, omod !== 0);
  const [first, second] = results as [Expr, Expr?];

  const isBits = results === op.resultBits && context.denormals === 'mode';
  if (first.type === 'i64') {
    const evaluate = compileBig(first, context);
    return (w, lane) => {
      const bits = evaluate(w.env);
      const value = isBits && !w.env.denormalOut64 && (bits & EXPONENT_F64) === 0n ? bits & SIGN_F64 : bits;
      w.vgprs[base + lane] = Number(BigInt.asIntN(32, value));
      w.vgprs[base + LANES + lane] = Number(BigInt.asIntN(32, value >> 32n));
    };
  }
  if (first.type === 'f64') return bindF64(first, context, base, omod, clamp);
  const words = results.map((e) => {
    if (e.type !== 'i32') return compileFloatBits(e, context, type, omod, clamp);
    const word = wordOf(compileNumber(e, context));
    return isBits ? withoutDenormals(word, type) : word;
  });
  if (type === 'f32x2' || type === 'i32x2' || type === 'i128') {
    const values = new Int32Array(words.length);
    return (w, lane) => {
      // All words first: the destination may overlap a source that is read word by word.
      words.forEach((f, n) => {
        values[n] = f(w);
      });
      for (let n = 0; n < values.length; n++) w.vgprs[base + n * LANES + lane] = values[n] as number;
    };
  }
  const [low, high] = words as [(w: Wave) => number, ((w: Wave) => number) | undefined];
  if (second !== undefined && high !== undefined) {
    return (w, lane) => {
      w.vgprs[base + lane] = (low(w) & 0xffff) | (high(w) << 16);
    };
  }
  return bindNarrow(instruction, op, type, base, low);
}

/** The expressions of a result: register bits where nothing is done to them, saturated integers, or values. */
export function resultsOf(op: VectorOperation, clamp: boolean, omod: boolean): readonly Expr[] {
  if (!clamp && !omod && op.resultBits !== undefined) return op.resultBits;
  const float = op.result[0]?.type !== 'i32' && op.result[0]?.type !== 'i64';
  return clamp && !float && op.clamped !== undefined ? op.clamped : op.result;
}

const EXPONENT_F64 = 0x7ff0000000000000n;
const SIGN_F64 = 0x8000000000000000n;

/** The bits of an f32 or f16, a denormal as a zero of its sign where MODE keeps no denormal results. */
function withoutDenormals(f: (w: Wave) => number, type: OperandType): (w: Wave) => number {
  const single = type === 'f32' || type === 'f32x2';
  const [exponent, sign] = single ? [0x7f800000, -0x80000000] : [0x7c00, 0x8000];
  return (w) => {
    const bits = f(w);
    const keeps = single ? w.env.denormalOut32 : w.env.denormalOut64;
    return !keeps && (bits & exponent) === 0 ? bits & sign : bits;
  };
}

function wordOf(f: (env: Wave['env']) => number): (w: Wave) => number {
  return (w) => f(w.env);
}

function bindF64(e: Expr, context: Context, base: number, omod: number, clamp: boolean): LaneWriter {
  const evaluate = compileNumber(e, context);
  const factor = OMOD[omod] as number;
  return (w, lane) => {
    let value = evaluate(w.env);
    if (factor !== 1) value = scaled(value, factor, 'f64', w);
    if (clamp) value = Number.isNaN(value) ? (w.env.dx10Clamp ? 0 : value) : Math.min(1, Math.max(0, value));
    if (!w.env.denormalOut64 && Math.abs(value) < 2 ** -1022) value *= 0;
    w.vgprs[base + lane] = f64LowWord(value);
    w.vgprs[base + LANES + lane] = f64HighWord(value);
  };
}

/** One result word, maybe narrower than the register or going to a part of it. */
function bindNarrow(
  instruction: Instruction,
  op: VectorOperation,
  type: OperandType,
  base: number,
  value: (w: Wave) => number,
): LaneWriter {
  const { row } = instruction;
  if (hasOperand(row, 'dst_sel')) {
    const { shift, bits } = sdwaField(immediateOf(instruction, 'dst_sel'));
    const unused = immediateOf(instruction, 'dst_unused');
    if (bits < 32) return sdwaWriter(base, shift, bits, unused, value);
  }
  const narrow = type === 'f16' || type === 'bf16' || type === 'i16' || type === 'u16';
  if (op.part !== undefined) {
    const opSel = opSelOf(instruction);
    const bits = op.part === 'byte' ? 8 : 16;
    return sdwaWriter(base, op.part === 'byte' ? 8 * (opSel >> 2) : 16 * (opSel >> 3), bits, 2, value);
  }
  if (!narrow) {
    return (w, lane) => {
      w.vgprs[base + lane] = value(w);
    };
  }
  const toHigh =
    op.highBits === 'intoHigh' ||
    (row.flags.has('VOP3_OPSEL') && (immediateOf(instruction, 'src0_modifiers') & OP_SEL_1) !== 0);
  if (toHigh) return sdwaWriter(base, 16, 16, 2, value);
  if (op.highBits === 'preserve') return sdwaWriter(base, 0, 16, 2, value);
  return (w, lane) => {
    w.vgprs[base + lane] = value(w) & 0xffff;
  };
}

/** Writes a field; the rest is zeroed (0), sign-filled above (1) or kept (2). */
function sdwaWriter(base: number, shift: number, bits: number, unused: number, value: (w: Wave) => number): LaneWriter {
  const field = bits === 32 ? -1 : ((1 << bits) - 1) << shift;
  return (w, lane) => {
    const raw = value(w);
    const placed = (raw << shift) & field;
    const at = base + lane;
    if (unused === 2) w.vgprs[at] = ((w.vgprs[at] as number) & ~field) | placed;
    else if (unused === 1) w.vgprs[at] = ((raw << (32 - bits)) >> (32 - bits)) << shift;
    else w.vgprs[at] = placed;
  };
}
