// Executes matrix operations: gathers A and B by their register layouts, computes every element of D, scatters it. EXEC is ignored.
// Sources: AMD CDNA2/CDNA3/CDNA4 ISA, "Matrix Arithmetic Instructions" (cbsz, abid, blgp, sparse indices, block scales).

import {
  BF6,
  BF8_FNUZ,
  BF8_OCP,
  bf16FromBits,
  bitsFromF32,
  decodeSmall,
  FP4,
  FP6,
  FP8_FNUZ,
  FP8_OCP,
  f16FromBits,
  f32FromBits,
  f64FromWords,
  f64HighWord,
  f64LowWord,
  type SmallFormat,
} from '../../../base/elements/formats.ts';
import { immediateOf, operandNamed, requireOperand } from '../../../isa/operand.ts';
import { inputPosition, type MatrixOperation, type MatrixType, outputPosition } from '../../../isa/semantics/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { notSimulated } from './kernel-stop.ts';
import {
  chainAdd,
  chainF32,
  chainF64,
  flushInput,
  groupedTruncating,
  type Operands,
  operandExponent,
  pairwise,
  truncating,
} from './matrix-math.ts';
import { bindWord, isVector, registerOf, vectorBase } from './operands.ts';
import type { Step } from './vector.ts';

/** How elements of a matrix type are read. */
interface Element {
  readonly bits: number;
  /** Smallest normal exponent. */
  readonly emin: number;
  readonly decode: (w: Wave, low: number, high: number) => number;
}

const small = (format: SmallFormat): Element => {
  const table = Float64Array.from({ length: 1 << format.bits }, (_, code) => decodeSmall(format, code));
  return { bits: format.bits, emin: 1 - format.bias, decode: (_w, code) => table[code] as number };
};
/** Formats of f8f6f4 by the cbsz/blgp field. */
const F8F6F4: readonly Element[] = [FP8_OCP, BF8_OCP, FP6, BF6, FP4].map(small);

const ELEMENTS: Record<Exclude<MatrixType, 'f8f6f4'>, Element> = {
  f64: { bits: 64, emin: -1022, decode: (_w, low, high) => f64FromWords(low, high) },
  f32: { bits: 32, emin: -126, decode: (_w, bits) => f32FromBits(bits) },
  xf32: { bits: 32, emin: -126, decode: (_w, bits) => f32FromBits(bits & ~0x1fff) },
  f16: { bits: 16, emin: -14, decode: (_w, bits) => f16FromBits(bits) },
  bf16: { bits: 16, emin: -126, decode: (_w, bits) => bf16FromBits(bits) },
  i8: { bits: 8, emin: 0, decode: (_w, bits) => (bits << 24) >> 24 },
  fp8: small(FP8_FNUZ),
  bf8: small(BF8_FNUZ),
};

/** The element of an operand: FP8 and BF8 are OCP formats on some targets; f8f6f4 chooses by a field. */
function elementOf(type: MatrixType, code: number, target: TargetName): Element | undefined {
  if (type === 'f8f6f4') return F8F6F4[code];
  if (targetInfo(target).ocpFloat8 && (type === 'fp8' || type === 'bf8')) return F8F6F4[type === 'fp8' ? 0 : 1];
  return ELEMENTS[type];
}

/** The lane B is read from under a blgp pattern. */
function groupLane(blgp: number, lane: number): number {
  switch (blgp) {
    case 1:
      return lane & 31;
    case 2:
      return 32 | (lane & 31);
    case 3:
      return (lane + 16) & 63;
    case 4:
    case 5:
    case 6:
    case 7:
      return 16 * (blgp - 4) + (lane & 15);
    default:
      return lane;
  }
}

/** Reads `bits` bits at a bit position of a lane's operand registers. */
function extractBits(w: Wave, base: number, lane: number, position: number, bits: number): number {
  const word = position >> 5;
  const shift = position & 31;
  const low = w.vgprs[base + word * LANES + lane] as number;
  if (bits === 32) return low;
  let value = low >>> shift;
  if (shift + bits > 32) value |= (w.vgprs[base + (word + 1) * LANES + lane] as number) << (32 - shift);
  return value & ((1 << bits) - 1);
}

/** `exact`: the numerics of the silicon where they are published; `fast`: every sum is a chain in f32 (`chainAdd`). */
export type MatrixMode = 'exact' | 'fast';

/** Index in `vgprs` of an operand that must be a vector register. */
function vectorRegister(instruction: Instruction, name: string): number {
  const register = registerOf(instruction, name);
  if (!isVector(register)) throw notSimulated(`its ${name} is not a vector register`);
  return vectorBase(register);
}

/** Binds a matrix operation. */
export function bindMatrix(
  instruction: Instruction,
  op: MatrixOperation,
  target: TargetName,
  mode: MatrixMode = 'exact',
): Step {
  const isScaled = op.a === 'f8f6f4';
  const cbsz = immediateOf(instruction, 'cbsz');
  const abid = immediateOf(instruction, 'abid');
  const blgp = immediateOf(instruction, 'blgp');
  const elementA = elementOf(op.a, cbsz, target);
  const elementB = elementOf(op.b, blgp, target);
  if (elementA === undefined || elementB === undefined) {
    throw notSimulated(`element format ${cbsz}/${blgp} does not exist`);
  }
  const { m, n, k, blocks } = op;
  const aBase = vectorRegister(instruction, 'src0');
  const bBase = vectorRegister(instruction, 'src1');
  const destination = vectorRegister(instruction, 'vdst');
  const readC = op.sparse
    ? bindWord(requireOperand(instruction, 'vdst'), 'f32')
    : bindWord(requireOperand(instruction, 'src2'), op.d === 'f64' ? 'f64' : op.d === 'i32' ? 'i32' : 'f32');
  const cIsRegister = op.sparse || operandNamed(instruction, 'src2')?.kind === 'reg';
  // In f64 operations blgp negates A, B and C.
  const negate = op.a === 'f64' ? blgp : 0;
  const pattern = op.a === 'f64' || isScaled ? 0 : blgp;
  const sizeA = m * k;
  const sizeB = n * k;
  const a: Operands = { values: new Float64Array(blocks * sizeA), exponents: new Int32Array(blocks * sizeA) };
  const b: Operands = { values: new Float64Array(blocks * sizeB), exponents: new Int32Array(blocks * sizeB) };
  const words = op.d === 'f64' ? 2 : 1;
  const results = new Int32Array(blocks * m * n * words);
  const pairs = targetInfo(target).matrixSums === 'pairwise' && mode === 'exact' && (op.a === 'f16' || op.a === 'bf16');
  const flushBelow = pairs ? 2 ** elementA.emin : 0;
  const index = op.sparse ? vectorRegister(instruction, 'idx') : 0;
  const scaleA = bindScale(instruction, 'scale_src0', 0);
  const scaleB = bindScale(instruction, 'scale_src1', 1);

  const read = (w: Wave, e: Element, base: number, lane: number, position: number): number => {
    if (e.bits === 64) {
      const at = base + (position >> 5) * LANES + lane;
      return e.decode(w, w.vgprs[at] as number, w.vgprs[at + LANES] as number);
    }
    return e.decode(w, extractBits(w, base, lane, position, e.bits), 0);
  };
  const put = (to: Operands, at: number, value: number, e: Element): void => {
    const v = flushBelow === 0 ? value : flushInput(value, flushBelow);
    to.values[at] = v;
    to.exponents[at] = operandExponent(v, e.emin);
  };

  const gatherA = (w: Wave): void => {
    for (let block = 0; block < blocks; block++) {
      // cbsz broadcasts one block of A to groups of 2^cbsz blocks; abid picks which.
      const group = isScaled ? 1 : Math.min(1 << cbsz, blocks);
      const from = (block & ~(group - 1)) + (abid & (group - 1));
      for (let i = 0; i < m; i++) {
        for (let kk = 0; kk < k; kk++) {
          const [lane, position] = inputPosition(op, elementA.bits, from, i, kk);
          let value = read(w, elementA, aBase, lane, position);
          if (scaleA !== undefined) value *= scaleA(w, i + m * Math.floor(kk / 32));
          put(a, block * sizeA + i * k + kk, negate & 1 ? -value : value, elementA);
        }
      }
    }
  };
  const gatherB = (w: Wave): void => {
    for (let block = 0; block < blocks; block++) {
      for (let j = 0; j < n; j++) {
        for (let kk = 0; kk < k; kk++) {
          const [lane, position] = inputPosition(op, elementB.bits, block, j, kk);
          let value = read(w, elementB, bBase, groupLane(pattern, lane), position);
          if (scaleB !== undefined) value *= scaleB(w, j + n * Math.floor(kk / 32));
          put(b, block * sizeB + j * k + kk, negate & 2 ? -value : value, elementB);
        }
      }
    }
  };
  // Two of every four elements of a row are stored; two index bits each say which. Each stored element meets its row of B, in stored order.
  const perLane = (m * k) / LANES;
  const stored = op.sparse ? k / 2 : k;
  const partner = new Int32Array(op.sparse ? m * stored : 0);
  const gatherSparse = (w: Wave): void => {
    const sets = 32 / perLane;
    const shift = cbsz === 0 ? (abid % sets) * perLane : 0;
    for (let i = 0; i < m; i++) {
      for (let n = 0; n < stored; n++) {
        const group = Math.floor(n / (perLane / 2));
        const pair = n % (perLane / 2);
        const lane = i + m * group;
        const which = ((w.vgprs[index + lane] as number) >>> (shift + 2 * pair)) & 3;
        partner[i * stored + n] = group * perLane + (pair >> 1) * 4 + which;
        put(a, i * stored + n, read(w, elementA, aBase, lane, pair * elementA.bits), elementA);
      }
    }
  };
  const row: Operands = { values: new Float64Array(stored), exponents: new Int32Array(stored) };
  const computeSparse = bindCompute(op, target, mode, a, row, stored);
  /** Row i of sparse A times column j. */
  const sparseElement = (i: number, j: number, c: number): number => {
    for (let n = 0; n < stored; n++) {
      row.values[n] = b.values[j * k + (partner[i * stored + n] as number)] as number;
    }
    return computeSparse(i * stored, 0, c);
  };
  const dense = bindCompute(op, target, mode, a, b, k);

  return (w) => {
    if (op.sparse) gatherSparse(w);
    else gatherA(w);
    gatherB(w);
    let at = 0;
    for (let block = 0; block < blocks; block++) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++, at += words) {
          const [register, lane] = outputPosition(op, block, i, j);
          const ao = block * sizeA + i * k;
          const bo = block * sizeB + j * k;
          const compute = (c: number): number => (op.sparse ? sparseElement(i, j, c) : dense(ao, bo, c));
          if (op.d === 'i32') {
            results[at] = compute(readC(w, lane, cIsRegister ? register : 0));
            continue;
          }
          if (op.d === 'f64') {
            const c = f64FromWords(
              readC(w, lane, cIsRegister ? 2 * register : 0),
              readC(w, lane, cIsRegister ? 2 * register + 1 : 1),
            );
            const d = compute(negate & 4 ? -c : c);
            results[at] = f64LowWord(d);
            results[at + 1] = f64HighWord(d);
            continue;
          }
          const c = f32FromBits(readC(w, lane, cIsRegister ? register : 0));
          results[at] = bitsFromF32(compute(c));
        }
      }
    }
    // D may overlap A, B and C, so it is written last.
    at = 0;
    for (let block = 0; block < blocks; block++) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          const [register, lane] = outputPosition(op, block, i, j);
          for (let word = 0; word < words; word++, at++) {
            w.vgprs[destination + (words * register + word) * LANES + lane] = results[at] as number;
          }
        }
      }
    }
  };
}

/** The E8M0 block scale of a row: a byte, chosen by op_sel, of the scale register's lane. */
function bindScale(
  instruction: Instruction,
  name: string,
  which: 0 | 1,
): ((w: Wave, lane: number) => number) | undefined {
  const operand = operandNamed(instruction, name);
  if (operand === undefined) return undefined;
  const read = bindWord(operand, 'i32');
  const byte = (immediateOf(instruction, `src${which}_modifiers`) >> 2) & 3;
  return (w, lane) => {
    const code = (read(w, lane, 0) >>> (8 * byte)) & 255;
    return code === 255 ? NaN : 2 ** (code - 127);
  };
}

function bindCompute(
  op: MatrixOperation,
  target: TargetName,
  mode: MatrixMode,
  a: Operands,
  b: Operands,
  k: number,
): (ao: number, bo: number, c: number) => number {
  if (op.a === 'i8') {
    return (ao, bo, c) => {
      let sum = c;
      for (let n = 0; n < k; n++) sum += (a.values[ao + n] as number) * (b.values[bo + n] as number);
      return sum | 0;
    };
  }
  if (op.a === 'f64') return (ao, bo, c) => chainF64(a.values, ao, b.values, bo, k, c);
  // Scaled elements may leave f32's range, so their chain is fused: one rounding a step, as in `chainAdd` within that range.
  if (op.a === 'f32' || op.a === 'f8f6f4') return (ao, bo, c) => chainF32(a.values, ao, b.values, bo, k, c);
  if (op.sparse || mode === 'fast') return (ao, bo, c) => chainAdd(a.values, ao, b.values, bo, k, c);
  if (targetInfo(target).matrixSums === 'pairwise')
    return (ao, bo, c) => pairwise(a.values, ao, b.values, bo, k, c, op.pairing);
  if (op.a === 'fp8' || op.a === 'bf8') return (ao, bo, c) => groupedTruncating(a, ao, b, bo, k, c);
  const group = op.a === 'xf32' ? 4 : 8;
  return (ao, bo, c) => truncating(a, ao, b, bo, k, c, group);
}
