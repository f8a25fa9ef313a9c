// What an operation does, keyed by InstructionRow.operation. Pure per-lane and scalar operations are expressions; cross-lane and
// stateful ones are structural kinds with parameters. Both backends (interpreter, compiler) consume exactly these records.
import type { Expr, ValueType } from './expr.ts';

/**
 * How an operand's words are read: width, meaning of inline constants, sign bits for neg/abs, which denormal mode applies.
 * `…x2` operands have two elements; VOP3P's op_sel, op_sel_hi, neg_lo and neg_hi choose and negate them.
 * `u16`, `i16`, `u24`, `i24` are fields of a 32-bit operand, zero or sign extended.
 */
export type OperandType =
  | 'i32'
  | 'u16'
  | 'i16'
  | 'u24'
  | 'i24'
  | 'i64'
  | 'i128'
  | 'f16'
  | 'bf16'
  | 'f32'
  | 'f64'
  | 'i16x2'
  | 'f16x2'
  | 'bf16x2'
  | 'f32x2'
  | 'i32x2'
  /** f32, or f16 in the half op_sel chooses when op_sel_hi is set (v_fma_mix). */
  | 'mix';

export interface OperandTypeInfo {
  /** 32-bit words of the register operand. */
  readonly words: number;
  /** Type of the value an expression sees. */
  readonly value: ValueType;
  readonly elements: 1 | 2;
}

export const OPERAND_TYPES: Readonly<Record<OperandType, OperandTypeInfo>> = {
  i32: { words: 1, value: 'i32', elements: 1 },
  u16: { words: 1, value: 'i32', elements: 1 },
  i16: { words: 1, value: 'i32', elements: 1 },
  u24: { words: 1, value: 'i32', elements: 1 },
  i24: { words: 1, value: 'i32', elements: 1 },
  i64: { words: 2, value: 'i64', elements: 1 },
  i128: { words: 4, value: 'i32', elements: 1 },
  f16: { words: 1, value: 'f16', elements: 1 },
  bf16: { words: 1, value: 'bf16', elements: 1 },
  f32: { words: 1, value: 'f32', elements: 1 },
  f64: { words: 2, value: 'f64', elements: 1 },
  i16x2: { words: 1, value: 'i32', elements: 2 },
  f16x2: { words: 1, value: 'f16', elements: 2 },
  bf16x2: { words: 1, value: 'bf16', elements: 2 },
  f32x2: { words: 2, value: 'f32', elements: 2 },
  i32x2: { words: 2, value: 'i32', elements: 2 },
  mix: { words: 1, value: 'f32', elements: 1 },
};

/** A source operand: its type and, when not the usual `srcN`, the name of the operand. */
export interface SourceSpec {
  readonly type: OperandType;
  /** `src0`, `src1`, `src2`, `imm`, `vdst`, `sdst`, `simm16`. A missing `src2` means the destination is read. */
  readonly operand: string;
}

/** A 16-bit result: zeroes the high half, keeps it, or goes into the high half and keeps the low one. */
export type HighBits = 'zero' | 'preserve' | 'intoHigh';

/** A vector ALU operation on each active lane. */
export interface VectorOperation {
  readonly kind: 'vector';
  readonly sources: readonly SourceSpec[];
  /** Result words; `x2` results have one expression per element. Absent for compares. */
  readonly result: readonly Expr[];
  readonly resultType: OperandType | undefined;
  /** The result as register bits, where these tell NaNs apart: for instructions that neither clamp nor scale their result. */
  readonly resultBits: readonly Expr[] | undefined;
  /** The lane's bit of the mask result (VCC, an SGPR pair, EXEC for v_cmpx). */
  readonly mask: Expr | undefined;
  /** Result when the `clamp` bit is set, for integer saturation (float clamping is generic). */
  readonly clamped: readonly Expr[] | undefined;
  readonly highBits: HighBits;
  /** Denormals: `mode` follows MODE, `flush` always flushes f32, `keep` never touches them. */
  readonly denormals: 'mode' | 'flush' | 'keep';
  /** A result narrower than a register goes into the byte or word that op_sel's high bits name; the rest is kept. */
  readonly part: 'byte' | 'word' | undefined;
  /** Source 0 is an f16/fp8 part chosen by op_sel's low bits: `byte` of four or `word` of two. */
  readonly sourcePart: 'byte' | 'word' | undefined;
}

/** A scalar ALU operation. */
export interface ScalarOperation {
  readonly kind: 'scalar';
  readonly sources: readonly SourceSpec[];
  readonly result: Expr | undefined;
  readonly resultType: 'i32' | 'i64' | undefined;
  /** New SCC; `nonzero` tests the result. */
  readonly scc: Expr | 'nonzero' | undefined;
  /** New EXEC. */
  readonly exec: Expr | undefined;
  /** The result is written only when this holds. */
  readonly when: Expr | undefined;
}

/** A relative branch by simm16 words. */
export interface BranchOperation {
  readonly kind: 'branch';
  readonly condition: Expr | undefined;
}

/** Address spaces of memory instructions. */
export type MemorySpace =
  | 'flat'
  | 'global'
  | 'scratch'
  | 'lds'
  | 'buffer'
  | 'tbuffer'
  | 'scalar'
  | 'scalarBuffer'
  | 'scalarScratch';

export interface LoadOperation {
  readonly kind: 'load';
  readonly space: MemorySpace;
  /** Bytes of one element in memory: 1, 2, 4, or a multiple of 4. */
  readonly bytes: number;
  readonly signed: boolean;
  /** Written to that half, the other half becomes zero (SRAM-ECC is on in all three targets). */
  readonly half: 'low' | 'high' | undefined;
  /** DS read2: two elements at offset0/offset1 × this stride in bytes. */
  readonly pairStride: number | undefined;
  /** Data goes to LDS at M0 instead of VGPRs. */
  readonly toLds: boolean;
}

export interface StoreOperation {
  readonly kind: 'store';
  readonly space: MemorySpace;
  readonly bytes: number;
  readonly half: 'low' | 'high' | undefined;
  readonly pairStride: number | undefined;
}

/** memory' = update(memory, data, data2); the old value is returned when the instruction returns. */
export interface AtomicOperation {
  readonly kind: 'atomic';
  readonly space: MemorySpace;
  readonly type: 'i32' | 'i64' | 'f32' | 'f64' | 'f16x2' | 'bf16x2';
  /** Sources 0: memory, 1: data, 2: second datum (cmpswap: 1 new value, 2 compare value). */
  readonly update: readonly Expr[];
  /** Where the two data of a compare-and-swap live: consecutive (new, compare) or DS data0 = compare, data1 = new. */
  readonly data: 'one' | 'newThenCompare' | 'twoOperands' | 'compareThenNew';
  /** DS wrxchg2: two exchanges with this stride. */
  readonly pairStride: number | undefined;
}

/** Typed buffer access: `components` elements converted by the descriptor's or instruction's format. */
export interface FormatOperation {
  readonly kind: 'format';
  readonly direction: 'load' | 'store';
  readonly space: 'buffer' | 'tbuffer';
  readonly components: number;
  readonly d16: 'packed' | 'high' | undefined;
}

/** Access to an image through its descriptor; `sample` reads a sampler, too. */
export interface ImageOperation {
  readonly kind: 'image';
  readonly action: 'load' | 'store' | 'sample' | 'size';
  /** The coordinates end with a mipmap level. */
  readonly mip: boolean;
}

/** Element types of matrix operations. */
export type MatrixType = 'f64' | 'f32' | 'xf32' | 'f16' | 'bf16' | 'i8' | 'fp8' | 'bf8' | 'f8f6f4';

/** D = A × B + C on `blocks` independent M×N×K products. */
export interface MatrixOperation {
  readonly kind: 'matrix';
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly blocks: number;
  readonly a: MatrixType;
  readonly b: MatrixType;
  readonly d: 'f32' | 'f64' | 'i32';
  /** A is 4:2 structured sparse with indices in a VGPR; the accumulator is the destination. */
  readonly sparse: boolean;
  /** Products added pairwise at a time on CDNA2 (4, or 2 for the first bf16 generation). */
  readonly pairing: 2 | 4;
}

/** Block-scaled conversions of gfx950 between wide and small formats. */
export interface ScaleConvertOperation {
  readonly kind: 'scaleConvert';
  readonly from: 'f32' | 'f16' | 'bf16' | 'fp8' | 'bf8' | 'fp6' | 'bf6' | 'fp4';
  readonly to: 'f32' | 'f16' | 'bf16' | 'fp8' | 'bf8' | 'fp6' | 'bf6' | 'fp4';
  readonly count: number;
  /** Stochastic rounding with a seed operand. */
  readonly stochastic: boolean;
  /** Two f32 sources interleaved (2xpk16), or one f32 pair from src0 and src1. */
  readonly twoSources: boolean;
}

/** Everything else that is not an expression, by name. Parameters are the row's operands. */
export interface StructuralOperation {
  readonly kind: 'structural';
  readonly name:
    | 'nop'
    | 'waitcnt'
    | 'endpgm'
    | 'barrier'
    | 'gridBarrier'
    | 'sleep'
    | 'sendmsg'
    | 'trap'
    | 'sethalt'
    | 'getpc'
    | 'setpc'
    | 'swappc'
    | 'call'
    | 'getreg'
    | 'setreg'
    | 'memtime'
    | 'cacheControl'
    | 'movrels'
    | 'movreld'
    | 'setGprIndexOn'
    | 'setGprIndexOff'
    | 'setGprIndexMode'
    | 'setGprIndex'
    | 'setVskip'
    | 'readfirstlane'
    | 'readlane'
    | 'writelane'
    | 'swap'
    | 'permlaneSwap'
    | 'permute'
    | 'bpermute'
    | 'swizzle'
    | 'append'
    | 'readTransposed'
    | 'addtid'
    | 'condxchg'
    | 'matrixLoadScale';
  /** A number that tells siblings apart: bits of read_tr, rows of a permlane swap, +1/-1 for append/consume, words of movrel. */
  readonly parameter: number;
  readonly direction: 'load' | 'store' | undefined;
}

/** In the table, but out of a compute kernel's reach; executing it is `sim/unsupported-instruction` with this reason. */
export interface UnreachableOperation {
  readonly kind: 'unreachable';
  readonly reason: string;
}

export type Operation =
  | VectorOperation
  | ScalarOperation
  | BranchOperation
  | LoadOperation
  | StoreOperation
  | AtomicOperation
  | FormatOperation
  | ImageOperation
  | MatrixOperation
  | ScaleConvertOperation
  | StructuralOperation
  | UnreachableOperation;
