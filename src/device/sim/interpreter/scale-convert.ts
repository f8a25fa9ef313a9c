// Executes the block-scaled conversions of gfx950 (v_cvt_scalef32_*): value × 2^e on the way up, ÷ 2^e on the way down, where 2^e is
// the exponent of the f32 scale operand. Source: AMD CDNA4 ISA, V_CVT_SCALEF32_*; formats are OCP. Results of 8 bits and fewer saturate.
import {
  BF6,
  BF8_OCP,
  BF16,
  bitsFromF32,
  decodeSmall,
  encodeSmall,
  F16,
  FP4,
  FP6,
  FP8_OCP,
  f32FromBits,
  pow2,
  type SmallFormat,
} from '../../../base/elements/formats.ts';
import { requireOperand } from '../../../isa/operand.ts';
import type { ScaleConvertOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { EXEC, LANES, maskBit, type Wave } from '../state/wave.ts';
import { bindWord, opSelOf, registerOf, vectorBase } from './operands.ts';
import { stochastic } from './operators.ts';
import type { Step } from './vector.ts';

const FORMATS: Record<Exclude<ScaleConvertOperation['from'], 'f32'>, SmallFormat> = {
  f16: F16,
  bf16: BF16,
  fp8: FP8_OCP,
  bf8: BF8_OCP,
  fp6: FP6,
  bf6: BF6,
  fp4: FP4,
};
const bitsOf = (format: ScaleConvertOperation['from']): number => (format === 'f32' ? 32 : FORMATS[format].bits);

function decode(format: ScaleConvertOperation['from'], code: number): number {
  return format === 'f32' ? f32FromBits(code) : decodeSmall(FORMATS[format], code);
}

/** The step of v_prng_b32 between stochastic elements. */
function nextSeed(seed: number): number {
  return (seed << 1) ^ (seed < 0 ? 197 : 0);
}

/** The power of two of a scale operand: its biased exponent field, taken literally. */
function scaleOf(bits: number): number {
  const field = (bits >>> 23) & 255;
  return field === 255 ? NaN : pow2(field - 127);
}

/** Reads element n of `bits` bits from consecutive register words. */
function element(words: Int32Array, n: number, bits: number): number {
  const position = n * bits;
  const at = position >> 5;
  const shift = position & 31;
  if (bits === 32) return words[at] as number;
  let value = (words[at] as number) >>> shift;
  if (shift + bits > 32) value |= (words[at + 1] as number) << (32 - shift);
  return value & ((1 << bits) - 1);
}

function insert(words: Int32Array, n: number, bits: number, code: number): void {
  const position = n * bits;
  const at = position >> 5;
  const shift = position & 31;
  if (bits === 32) {
    words[at] = code;
    return;
  }
  words[at] = (words[at] as number) | (code << shift);
  if (shift + bits > 32) words[at + 1] = (words[at + 1] as number) | (code >>> (32 - shift));
}

/** Binds a block-scaled conversion. */
export function bindScaleConvert(instruction: Instruction, op: ScaleConvertOperation): Step {
  const { from, to, count } = op;
  const fromBits = bitsOf(from);
  const toBits = bitsOf(to);
  const narrowing = toBits < fromBits;
  const first = bindWord(requireOperand(instruction, 'src0'), 'i32');
  const second = op.twoSources ? bindWord(requireOperand(instruction, 'src1'), 'i32') : undefined;
  const readSeed = op.stochastic ? bindWord(requireOperand(instruction, 'src1'), 'i32') : undefined;
  const scaleName = op.twoSources || op.stochastic ? 'src2' : 'src1';
  const scaleWord = bindWord(requireOperand(instruction, scaleName), 'f32');
  const destination = vectorBase(registerOf(instruction, 'vdst'));
  const opSel = opSelOf(instruction);
  const perSource = second === undefined ? count : count / 2;
  const sourceWords = Math.max(1, (perSource * fromBits) / 32);
  // Small sources and results that fill less than a register live in the part of it that op_sel names.
  const sourceShift = perSource * fromBits >= 32 ? 0 : perSource * fromBits === 16 ? 16 * (opSel & 1) : 8 * (opSel & 3);
  const resultBits = count * toBits;
  const resultShift = resultBits >= 32 ? 0 : resultBits === 16 ? 16 * (opSel >> 3) : 8 * (opSel >> 2);
  const a = new Int32Array(sourceWords + 1);
  const b = new Int32Array(sourceWords + 1);
  const result = new Int32Array(Math.max(1, resultBits / 32) + 1);

  const encode = (x: number, seed: number): number => {
    if (to === 'f32') return bitsFromF32(x);
    const format = FORMATS[to];
    const value = op.stochastic
      ? stochastic(x, seed, format, from === 'f32' ? 23 : FORMATS[from as 'f16'].fraction)
      : x;
    return encodeSmall(format, value, 0, narrowing);
  };

  const convertLane = (w: Wave, lane: number): void => {
    for (let n = 0; n < sourceWords; n++) {
      a[n] = first(w, lane, n) >>> sourceShift;
      if (second !== undefined) b[n] = second(w, lane, n);
    }
    const scale = scaleOf(scaleWord(w, lane, 0));
    let seed = readSeed === undefined ? 0 : readSeed(w, lane, 0);
    result.fill(0);
    for (let n = 0; n < count; n++) {
      const words = second !== undefined && (n & 1) === 1 ? b : a;
      const x = decode(from, element(words, second === undefined ? n : n >> 1, fromBits));
      insert(result, n, toBits, encode(narrowing ? x / scale : x * scale, seed));
      if (op.stochastic) seed = nextSeed(seed);
    }
    if (resultBits < 32) {
      const mask = (2 ** resultBits - 1) << resultShift;
      const at = destination + lane;
      w.vgprs[at] = ((w.vgprs[at] as number) & ~mask) | (((result[0] as number) << resultShift) & mask);
      return;
    }
    for (let n = 0; n < resultBits / 32; n++) w.vgprs[destination + n * LANES + lane] = result[n] as number;
  };

  return (w) => {
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    for (let lane = 0; lane < LANES; lane++) if (maskBit(low, high, lane)) convertLane(w, lane);
  };
}
