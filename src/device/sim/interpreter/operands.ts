// Binds operands of a decoded instruction to register files: scalar words, vector words with modifiers, lane masks.
// Sources: AMD CDNA3 ISA, "Scalar operands", "SDWA", "DPP", "Packed math"; modifier bits are LLVM's SISrcMods.

import {
  BF16,
  bitsFromF32,
  encodeSmall,
  F16,
  f16FromBits,
  f64HighWord,
  f64LowWord,
} from '../../../base/elements/formats.ts';
import { immediateOf, operandIndex, operandNamed, requireOperand } from '../../../isa/operand.ts';
import type { OperandType, SourceSpec } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand, Register } from '../../../isa/types.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import { SOURCE_STRIDE } from '../state/lane-env.ts';
import { AGPR_BASE, EXEC, FLAT_SCRATCH, LANES, M0, VCC, type Wave } from '../state/wave.ts';
import { notSimulated } from './kernel-stop.ts';

/** Bits of a `srcN_modifiers` operand. */
export const NEG = 1;
export const ABS = 2;
export const OP_SEL_0 = 4;
export const OP_SEL_1 = 8;
export const SEXT = 16;

/** The register of an operand; bits that name something else there are not simulated. */
export function registerOf(instruction: Instruction, name: string): Register {
  const operand = requireOperand(instruction, name);
  if (operand.kind !== 'reg') throw notSimulated(`its ${name} is not a register`);
  return operand;
}

/** Index in `vgprs` of lane 0 of a vector register. */
export function vectorBase(register: Register): number {
  return (register.file === 'a' ? AGPR_BASE + register.index : register.index) * LANES;
}

export function isVector(operand: Operand): operand is Register {
  return operand.kind === 'reg' && (operand.file === 'v' || operand.file === 'a');
}

/** Values of inline constants 240–248: ±0.5, ±1, ±2, ±4, 1/(2π). */
const INLINE_FLOATS = [0.5, -0.5, 1, -1, 2, -2, 4, -4];
const INV_2PI = { f16: 0x3118, bf16: 0x3e22, f32: 0x3e22f983, low: 0x6dc9c882, high: 0x3fc45f30 };

/** The words of an inline constant as an operand of a type. */
export function inlineWords(encoding: number, type: OperandType): [number, number] {
  if (encoding <= 192) return [encoding - 128, 0];
  if (encoding <= 208) return [192 - encoding, -1];
  const wide = type === 'f64' || type === 'i64';
  if (encoding === 248) {
    if (wide) return [INV_2PI.low, INV_2PI.high];
    if (type === 'f16' || type === 'f16x2' || type === 'mix') return [INV_2PI.f16, 0];
    return [type === 'bf16' || type === 'bf16x2' ? INV_2PI.bf16 : INV_2PI.f32, 0];
  }
  const value = INLINE_FLOATS[encoding - 240] as number;
  if (wide) return [f64LowWord(value), f64HighWord(value)];
  if (type === 'f16' || type === 'f16x2' || type === 'mix') return [encodeSmall(F16, value), 0];
  if (type === 'bf16' || type === 'bf16x2') return [encodeSmall(BF16, value), 0];
  return [bitsFromF32(value), 0];
}

export function isFloatType(type: OperandType): boolean {
  return type.startsWith('f') || type.startsWith('bf');
}

type ScalarWord = (w: Wave, n: number) => number;

/** Reader of word n of a scalar operand (register, constant or special value). */
export function bindScalarWord(operand: Operand, type: OperandType): ScalarWord {
  if (operand.kind === 'imm') {
    const value = operand.value | 0;
    return (_w, n) => (n === 0 ? value : value >> 31);
  }
  if (operand.kind === 'literal') {
    const bits = operand.bits | 0;
    // A 32-bit literal is the high word of an f64 and is zero-extended to an i64.
    if (type === 'f64') return (_w, n) => (n === 1 ? bits : 0);
    return (_w, n) => (n === 0 ? bits : 0);
  }
  if (operand.kind === 'inline') {
    const words = inlineWords(operand.encoding, type);
    // Both elements of a packed f32 pair see the constant.
    if (type === 'f32x2' || type === 'i32x2') return () => words[0];
    return (_w, n) => words[n === 0 ? 0 : 1] as number;
  }
  const e = operand.encoding;
  if (e < 128) return (w, n) => w.sgprs[e + n] as number;
  switch (e) {
    case 230:
    case 231:
      return (w, n) => w.sgprs[FLAT_SCRATCH + (e & 1) + n] as number;
    case 235:
      return (_w, n) => (n === 1 ? SHARED_APERTURE_HIGH : 0);
    case 236:
      return (_w, n) => (n === 1 ? SHARED_APERTURE_HIGH : -1);
    case 237:
      return (_w, n) => (n === 1 ? PRIVATE_APERTURE_HIGH : 0);
    case 238:
      return (_w, n) => (n === 1 ? PRIVATE_APERTURE_HIGH : -1);
    case 239:
      return () => 0;
    case 251:
      return (w, n) => (n === 0 && ((w.sgprs[VCC] as number) | (w.sgprs[VCC + 1] as number)) === 0 ? 1 : 0);
    case 252:
      return (w, n) => (n === 0 && ((w.sgprs[EXEC] as number) | (w.sgprs[EXEC + 1] as number)) === 0 ? 1 : 0);
    case 253:
      return (w, n) => (n === 0 && w.scc ? 1 : 0);
    case 254:
      return (w) => w.workgroup.ldsDirect(w.sgprs[M0] as number);
    default:
      throw notSimulated(`scalar source ${operand.text} cannot be read`);
  }
}

type VectorWord = (w: Wave, lane: number, n: number) => number;

/** Reader of word n of any source operand at a lane. */
export function bindWord(operand: Operand, type: OperandType): VectorWord {
  if (isVector(operand)) {
    const base = vectorBase(operand);
    return (w, lane, n) => w.vgprs[base + n * LANES + lane] as number;
  }
  const scalar = bindScalarWord(operand, type);
  return (w, _lane, n) => scalar(w, n);
}

export type LaneReader = (w: Wave, lane: number) => void;

/** SDWA selections: BYTE_0 … BYTE_3, WORD_0, WORD_1, DWORD. */
export function sdwaField(select: number): { shift: number; bits: number } {
  if (select < 4) return { shift: 8 * select, bits: 8 };
  return select < 6 ? { shift: 16 * (select - 4), bits: 16 } : { shift: 0, bits: 32 };
}

function extract(raw: number, shift: number, bits: number, signed: boolean): number {
  if (bits === 32) return raw;
  const left = 32 - bits - shift;
  return signed ? (raw << left) >> (32 - bits) : (raw << left) >>> (32 - bits);
}

/** The four op_sel bits of a VOP3 instruction, gathered from the modifier operands. */
export function opSelOf(instruction: Instruction): number {
  let bits = 0;
  for (const k of [0, 1, 2]) {
    const modifiers = immediateOf(instruction, `src${k}_modifiers`);
    if (modifiers & OP_SEL_0) bits |= 1 << k;
    if (k === 0 && modifiers & OP_SEL_1) bits |= 8;
  }
  return bits;
}

const isFloatModifier = (cls: string | undefined): boolean =>
  cls !== undefined && (/^FP/.test(cls) || /^Packed.*F/.test(cls));

/**
 * A reader that puts source `k`, modifiers applied, into the lane environment. `part` picks a byte or word of the register
 * (FP8 conversions); `operand` overrides the operand (DPP's zero).
 */
export function bindSource(
  instruction: Instruction,
  k: number,
  spec: SourceSpec,
  part: 'byte' | 'word' | undefined,
  override?: Operand,
): LaneReader {
  const { row } = instruction;
  const own =
    operandNamed(instruction, spec.operand) ??
    (spec.operand === 'src2' ? operandNamed(instruction, 'vdst') : undefined);
  const operand = override ?? own;
  if (operand === undefined) throw new Error(`${row.name} has no operand ${spec.operand}`);
  const at = k * SOURCE_STRIDE;
  const { type } = spec;
  const fetch = bindWord(operand, type);
  const modifierName = `${spec.operand}_modifiers`;
  const modifiers = immediateOf(instruction, modifierName);
  const cls = row.operands.find((o) => o.name === modifierName)?.cls;
  const packed = row.encoding === 'VOP3P';
  const isFloat = isFloatModifier(cls);
  const neg = isFloat && (modifiers & NEG) !== 0;

  if (type === 'i16x2' || type === 'f16x2' || type === 'bf16x2') {
    const shiftLow = packed && modifiers & OP_SEL_0 ? 16 : 0;
    const shiftHigh = packed && !(modifiers & OP_SEL_1) ? 0 : 16;
    const flipLow = neg ? 0x8000 : 0;
    const flipHigh = isFloat && packed && modifiers & ABS ? 0x8000 : !packed && neg ? 0x8000 : 0;
    return (w, lane) => {
      const raw = fetch(w, lane, 0);
      w.env.words[at] = ((raw >>> shiftLow) & 0xffff) ^ flipLow;
      w.env.words[at + 1] = ((raw >>> shiftHigh) & 0xffff) ^ flipHigh;
    };
  }
  if (type === 'f32x2' || type === 'i32x2') {
    const low = packed && modifiers & OP_SEL_0 ? 1 : 0;
    const high = packed && !(modifiers & OP_SEL_1) && type === 'f32x2' ? 0 : 1;
    const flipLow = neg ? -0x80000000 : 0;
    const flipHigh = isFloat && modifiers & ABS ? -0x80000000 : 0;
    return (w, lane) => {
      w.env.words[at] = fetch(w, lane, low) ^ flipLow;
      w.env.words[at + 1] = fetch(w, lane, high) ^ flipHigh;
    };
  }
  const abs = isFloat && (modifiers & ABS) !== 0 && !(packed && type !== 'mix');
  if (type === 'mix') {
    const half = (modifiers & OP_SEL_1) !== 0;
    const shift = modifiers & OP_SEL_0 ? 16 : 0;
    const single = half ? fetch : bindWord(operand, 'f32');
    return (w, lane) => {
      let raw = single(w, lane, 0);
      if (half) raw = bitsFromF32(f16FromBits(raw >>> shift));
      if (abs) raw &= 0x7fffffff;
      w.env.words[at] = neg ? raw ^ -0x80000000 : raw;
    };
  }
  if (type === 'f64' || type === 'i64') {
    const plain = !neg && !abs;
    return (w, lane) => {
      w.env.words[at] = fetch(w, lane, 0);
      const high = fetch(w, lane, 1);
      if (plain) w.env.words[at + 1] = high;
      else {
        const positive = abs ? high & 0x7fffffff : high;
        w.env.words[at + 1] = neg ? positive ^ -0x80000000 : positive;
      }
    };
  }
  if (type === 'i128') {
    return (w, lane) => {
      for (let n = 0; n < 4; n++) w.env.words[at + n] = fetch(w, lane, n);
    };
  }
  // One register word, maybe a part of it.
  const narrow = type === 'f16' || type === 'bf16' || type === 'u16' || type === 'i16';
  let shift = 0;
  let bits = 32;
  let signed = false;
  const select = operandIndex(row, `${spec.operand}_sel`);
  if (select >= 0) {
    const field = sdwaField(immediateOf(instruction, `${spec.operand}_sel`));
    shift = field.shift;
    bits = field.bits;
    signed = !isFloat && (modifiers & SEXT) !== 0;
  } else if (part !== undefined && k === 0) {
    const opSel = opSelOf(instruction);
    shift = part === 'byte' ? 8 * (opSel & 3) : 16 * (opSel & 1);
    bits = part === 'byte' ? 8 : 16;
  } else if (narrow && row.flags.has('VOP3_OPSEL') && modifiers & OP_SEL_0) {
    shift = 16;
    bits = 16;
  }
  const sign = narrow ? 0x8000 : -0x80000000;
  const clear = ~sign;
  if (!neg && !abs && bits === 32) {
    if (isVector(operand)) {
      const base = vectorBase(operand);
      return (w, lane) => {
        w.env.words[at] = w.vgprs[base + lane] as number;
      };
    }
    return (w, lane) => {
      w.env.words[at] = fetch(w, lane, 0);
    };
  }
  return (w, lane) => {
    let raw = extract(fetch(w, lane, 0), shift, bits, signed);
    if (abs) raw &= clear;
    w.env.words[at] = neg ? raw ^ sign : raw;
  };
}
