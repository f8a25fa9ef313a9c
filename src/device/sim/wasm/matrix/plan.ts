// The shape of one matrix instruction as compiled code needs it: element formats, positions, numerics, loop bounds.
// Sources: AMD CDNA2/CDNA3/CDNA4 ISA, "Matrix Arithmetic Instructions"; numerics as in interpreter/matrix-math.ts.

import { inputPosition, type MatrixOperation, type MatrixType } from '../../../../isa/semantics/index.ts';
import { targetInfo } from '../../../../isa/table/targets.ts';
import type { TargetName } from '../../../../isa/types.ts';
import type { MatrixMode } from '../../interpreter/matrix.ts';

/** A floating-point format whose magnitude, shifted so that the exponent starts at bit 23, times a power of two is its f32. */
export interface FloatFormat {
  readonly bits: number;
  readonly fraction: number;
  readonly bias: number;
  /** `ieee`: top exponent is infinity or NaN; `fn`: all ones is NaN; `fnuz`: the code of -0 is NaN; `finite`: neither. */
  readonly specials: 'ieee' | 'fn' | 'fnuz' | 'finite';
}

const IEEE_32: FloatFormat = { bits: 32, fraction: 23, bias: 127, specials: 'ieee' };
const FORMATS = {
  f32: IEEE_32,
  xf32: IEEE_32,
  f16: { bits: 16, fraction: 10, bias: 15, specials: 'ieee' },
  bf16: { bits: 16, fraction: 7, bias: 127, specials: 'ieee' },
} as const satisfies Partial<Record<MatrixType, FloatFormat>>;
const E4M3 = { bits: 8, fraction: 3 } as const;
const E5M2 = { bits: 8, fraction: 2 } as const;
/** Formats of f8f6f4 by the cbsz/blgp field: FP8, BF8, FP6, BF6, FP4. */
const F8F6F4: readonly FloatFormat[] = [
  { ...E4M3, bias: 7, specials: 'fn' },
  { ...E5M2, bias: 15, specials: 'ieee' },
  { bits: 6, fraction: 3, bias: 1, specials: 'finite' },
  { bits: 6, fraction: 2, bias: 3, specials: 'finite' },
  { bits: 4, fraction: 1, bias: 1, specials: 'finite' },
];

function formatOf(type: MatrixType, code: number, target: TargetName): FloatFormat | undefined {
  const ocp = targetInfo(target).ocpFloat8;
  switch (type) {
    case 'f8f6f4':
      return F8F6F4[code];
    case 'fp8':
      return ocp ? { ...E4M3, bias: 7, specials: 'fn' } : { ...E4M3, bias: 8, specials: 'fnuz' };
    case 'bf8':
      return ocp ? { ...E5M2, bias: 15, specials: 'ieee' } : { ...E5M2, bias: 16, specials: 'fnuz' };
    case 'i8':
    case 'f64':
      return undefined;
    default:
      return FORMATS[type];
  }
}

/**
 * How products are added: `integer`; `fma64`, `fma32`: fused chains; `chain`: product and sum rounded to f32 each (the product is exact
 * for formats of at most 12 significant bits inside f32's range); `pairwise` (CDNA2); `truncating`, `grouped` (CDNA3).
 */
export type Numerics = 'integer' | 'fma64' | 'fma32' | 'chain' | 'pairwise' | 'truncating' | 'grouped';

/** The numerics of an operation. */
export function numericsOf(op: MatrixOperation, target: TargetName, mode: MatrixMode): Numerics {
  if (op.a === 'i8') return 'integer';
  if (op.a === 'f64') return 'fma64';
  if (op.a === 'f32') return 'fma32';
  if (op.sparse || op.a === 'f8f6f4' || mode === 'fast') return 'chain';
  if (targetInfo(target).matrixSums === 'pairwise') return 'pairwise';
  return op.a === 'fp8' || op.a === 'bf8' ? 'grouped' : 'truncating';
}

/** Where element k of a row is staged: lane group and number within the lane. */
export interface StagedElement {
  readonly group: number;
  readonly element: number;
}

export interface Plan {
  readonly op: MatrixOperation;
  readonly numerics: Numerics;
  readonly target: TargetName;
  /** Absent for i8 and f64. */
  readonly formatA: FloatFormat | undefined;
  readonly formatB: FloatFormat | undefined;
  /** Dense elements of a row that one lane holds. */
  readonly perLane: number;
  /** Staged elements of k = 0, 1, …; A and B of a scaled operation may differ. */
  readonly stagedA: readonly StagedElement[];
  readonly stagedB: readonly StagedElement[];
  /** Blocks that share one block of A, and which one. */
  readonly broadcast: number;
  readonly abid: number;
  /** Lane pattern of B. */
  readonly pattern: number;
  /** f64: negated operands, bits A, B, C. */
  readonly negate: number;
  /** 32-bit registers of D. */
  readonly outputs: number;
}

function staged(op: MatrixOperation, bits: number): StagedElement[] {
  return Array.from({ length: op.k }, (_, k) => {
    const [lane, position] = inputPosition(op, bits, 0, 0, k);
    return { group: lane / (op.m * op.blocks), element: position / bits };
  });
}

/** Fields of a matrix instruction that decide what it does. */
interface Fields {
  readonly cbsz: number;
  readonly abid: number;
  readonly blgp: number;
}

const plans = new WeakMap<MatrixOperation, Map<string, Plan | undefined>>();

/** The plan of an instruction, or undefined when its element format does not exist: one object for all instructions with the same fields. */
export function planMatrix(
  op: MatrixOperation,
  target: TargetName,
  mode: MatrixMode,
  fields: Fields,
): Plan | undefined {
  let known = plans.get(op);
  if (known === undefined) {
    known = new Map();
    plans.set(op, known);
  }
  const key = `${target} ${mode} ${fields.cbsz} ${fields.abid} ${fields.blgp}`;
  if (!known.has(key)) known.set(key, makePlan(op, target, mode, fields));
  return known.get(key);
}

function makePlan(op: MatrixOperation, target: TargetName, mode: MatrixMode, fields: Fields): Plan | undefined {
  const scaled = op.a === 'f8f6f4';
  const formatA = formatOf(op.a, fields.cbsz, target);
  const formatB = formatOf(op.b, fields.blgp, target);
  if (scaled && (formatA === undefined || formatB === undefined)) return undefined;
  const bits = (format: FloatFormat | undefined): number => format?.bits ?? (op.a === 'f64' ? 64 : 8);
  const broadcast = scaled || op.sparse ? 1 : Math.min(1 << fields.cbsz, op.blocks);
  return {
    op,
    numerics: numericsOf(op, target, mode),
    target,
    formatA,
    formatB,
    perLane: (op.m * op.k * op.blocks) / 64,
    stagedA: staged(op, bits(formatA)),
    stagedB: staged(op, bits(formatB)),
    broadcast,
    abid: fields.abid & (broadcast - 1),
    pattern: op.a === 'f64' || scaled || op.sparse ? 0 : fields.blgp,
    negate: op.a === 'f64' ? fields.blgp : 0,
    outputs: ((op.m * op.n * op.blocks) / 64) * (op.d === 'f64' ? 2 : 1),
  };
}
