// Executes matrix operations: gathers A and B by their register layouts, computes every element of D, scatters it. EXEC is ignored.
// Sources: AMD CDNA2/CDNA3/CDNA4 ISA, "Matrix Arithmetic Instructions" (cbsz, abid, blgp, sparse indices, block scales).
import {
  BF6,
  BF8_OCP,
  bf16FromBits,
  bitsFromF32,
  decodeSmall,
  FP4,
  FP6,
  FP8_OCP,
  f16FromBits,
  f32FromBits,
  f64FromWords,
  f64HighWord,
  f64LowWord,
  type SmallFormat,
} from '../../isa/semantics/formats.ts';
import { inputPosition, type MatrixOperation, type MatrixType, outputPosition } from '../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../isa/types.ts';
import {
  chainF32,
  chainF64,
  flushInput,
  groupedTruncating,
  type Operands,
  operandExponent,
  pairwise,
  truncating,
} from './matrix-math.ts';
import { bindWord, immediateOf, operandNamed, registerOf, requireOperand, vectorBase } from './operands.ts';
import { bf8Format, fp8Format } from './operators.ts';
import type { Step } from './vector.ts';
import { LANES, type Wave } from './wave.ts';

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
  fp8: { bits: 8, emin: -7, decode: (w, bits) => decodeSmall(fp8Format(w.env), bits) },
  bf8: { bits: 8, emin: -15, decode: (w, bits) => decodeSmall(bf8Format(w.env), bits) },
};

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

/** Binds a matrix operation. */
export function bindMatrix(instruction: Instruction, op: MatrixOperation, target: TargetName): Step {
  const isScaled = op.a === 'f8f6f4';
  const cbsz = immediateOf(instruction, 'cbsz');
  const abid = immediateOf(instruction, 'abid');
  const blgp = immediateOf(instruction, 'blgp');
  const elementA = isScaled ? (F8F6F4[cbsz] as Element) : ELEMENTS[op.a as 'f32'];
  const elementB = isScaled ? (F8F6F4[blgp] as Element) : ELEMENTS[op.b as 'f32'];
  if (elementA === undefined || elementB === undefined) {
    throw new Error(`${instruction.row.mnemonic}: element format ${cbsz}/${blgp} does not exist`);
  }
  const { m, n, k, blocks } = op;
  const aBase = vectorBase(registerOf(instruction, 'src0'));
  const bBase = vectorBase(registerOf(instruction, 'src1'));
  const destination = vectorBase(registerOf(instruction, 'vdst'));
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
  const flushBelow = target === 'gfx90a' && (op.a === 'f16' || op.a === 'bf16') ? 2 ** elementA.emin : 0;
  const index = op.sparse ? vectorBase(registerOf(instruction, 'idx')) : 0;
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
      const group = isScaled ? 1 : 1 << cbsz;
      const from = group === 1 ? block : (block & ~(group - 1)) + abid;
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
  const gatherSparse = (w: Wave): void => {
    // Two of every four elements of a row are stored; two index bits each say which.
    const perLane = (m * k) / LANES;
    a.values.fill(0);
    a.exponents.fill(elementA.emin);
    const setBits = perLane;
    const sets = 32 / setBits;
    const shift = cbsz === 0 ? (abid % sets) * setBits : 0;
    for (let i = 0; i < m; i++) {
      for (let group = 0; group < k / perLane; group++) {
        const lane = i + m * group;
        const positions = (w.vgprs[index + lane] as number) >>> shift;
        for (let stored = 0; stored < perLane / 2; stored++) {
          const which = (positions >>> (2 * stored)) & 3;
          const kk = group * perLane + (stored >> 1) * 4 + which;
          const value = read(w, elementA, aBase, lane, stored * elementA.bits);
          put(a, i * k + kk, value, elementA);
        }
      }
    }
  };
  const compute = bindCompute(op, target, a, b);

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
          if (op.d === 'i32') {
            results[at] = compute(ao, bo, readC(w, lane, cIsRegister ? register : 0));
            continue;
          }
          if (op.d === 'f64') {
            const c = f64FromWords(
              readC(w, lane, cIsRegister ? 2 * register : 0),
              readC(w, lane, cIsRegister ? 2 * register + 1 : 1),
            );
            const d = compute(ao, bo, negate & 4 ? -c : c);
            results[at] = f64LowWord(d);
            results[at + 1] = f64HighWord(d);
            continue;
          }
          const c = f32FromBits(readC(w, lane, cIsRegister ? register : 0));
          results[at] = bitsFromF32(compute(ao, bo, c));
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
  slot: string,
  which: 0 | 1,
): ((w: Wave, lane: number) => number) | undefined {
  const operand = operandNamed(instruction, slot);
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
  a: Operands,
  b: Operands,
): (ao: number, bo: number, c: number) => number {
  const { k } = op;
  if (op.a === 'i8') {
    return (ao, bo, c) => {
      let sum = c;
      for (let n = 0; n < k; n++) sum += (a.values[ao + n] as number) * (b.values[bo + n] as number);
      return sum | 0;
    };
  }
  if (op.a === 'f64') return (ao, bo, c) => chainF64(a.values, ao, b.values, bo, k, c);
  if (op.a === 'f32' || op.sparse || op.a === 'f8f6f4')
    return (ao, bo, c) => chainF32(a.values, ao, b.values, bo, k, c);
  if (target === 'gfx90a') return (ao, bo, c) => pairwise(a.values, ao, b.values, bo, k, c, op.pairing);
  if (op.a === 'fp8' || op.a === 'bf8') return (ao, bo, c) => groupedTruncating(a, ao, b, bo, k, c);
  const group = op.a === 'xf32' ? 4 : 8;
  return (ao, bo, c) => truncating(a, ao, b, bo, k, c, group);
}
