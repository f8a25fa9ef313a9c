// Room `device/sim/wasm/matrix`: matrix instructions as WebAssembly: operands are staged, multiplied in tiles and summed with the
// rounding of each chip.
// Begin with plan.ts (the shape of one instruction), then this file; the kinds of sums have a file each.
//
// Matrix instructions (MFMA, SMFMAC, scaled MFMA) as WebAssembly SIMD: one helper function a (shape, types, modifiers), called with the
// addresses of its registers. Sources: AMD CDNA2/CDNA3/CDNA4 ISA, "Matrix Arithmetic Instructions"; numerics in interpreter/matrix-math.ts.
//
// A and B are staged in the wave's scratch area as f32; a helper computes from there and stores D. What SIMD code leaves out (infinities and
// NaNs under truncating sums, products outside f32's range) makes it return 0 with nothing written; the caller then runs the interpreter.
// Sparse, scaled and f64 operations stage in that helper, the others before it, once for several instructions (staged-operands.ts).

import { immediateOf, operandNamed, requireOperand } from '../../../../isa/operand.ts';
import type { MatrixOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction, Operand, Register, TargetName } from '../../../../isa/types.ts';
import type { MatrixMode } from '../../interpreter/matrix.ts';
import { inlineWords, isVector } from '../../interpreter/operands.ts';
import { AGPR_BASE, MATRIX_SCRATCH, VGPR_BYTES, WAVE_VGPRS } from '../../state/layout.ts';
import { registerNumber } from '../context.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { type MatrixFeatures, matrixFeatures } from '../features.ts';
import { chainStep, emitChain } from './chain.ts';
import { emitDouble, emitStageDouble } from './double.ts';
import { emitNarrow } from './narrow.ts';
import { emitPairwise, resultBytes } from './pairwise.ts';
import { type Plan, planMatrix } from './plan.ts';
import { emitReduce, emitScales, type ScaleRange, scaleRun } from './scales.ts';
import {
  Constants,
  INDICES,
  RAW_SCALES_A,
  RAW_SCALES_B,
  RESULT,
  ROW,
  SCALES_A,
  SCALES_B,
  STAGED_A,
  STAGED_B,
} from './scratch.ts';
import { emitSparse, multiplyAdd } from './sparse.ts';
import { emitStage, emitStageIntegers } from './stage.ts';
import { isWide, pushPower, recordOf, StagedOperands, stageHelper } from './staged-operands.ts';
import { emitTruncating } from './truncating.ts';

/**
 * Locals of a helper: addresses, except for constants of C (bits) and operands a shape has no use for (0). A and B are records of
 * operands that are staged before it, registers otherwise. Its parameters are the wave block and offsets in it.
 */
const [SCRATCH, A, B, C, D, X, Y] = [0, 1, 2, 3, 4, 5, 6];

/** Makes addresses of a helper's parameters. */
function locateOperands(f: WasmFunction, { plan, constantC, scaleBytes }: Form): void {
  const places = [A, B, D];
  if (!constantC) places.push(C);
  if (plan.op.sparse) places.push(X);
  if (scaleBytes !== undefined) places.push(X, Y);
  for (const place of places) f.get(SCRATCH).get(place).op('i32.add').set(place);
  f.get(SCRATCH).i32(MATRIX_SCRATCH).op('i32.add').set(SCRATCH);
}

interface Form {
  readonly plan: Plan;
  readonly features: MatrixFeatures;
  readonly constantC: boolean;
  /** D overlaps C without being C: results wait in the scratch area. */
  readonly deferred: boolean;
  /** First index bit of a sparse instruction. */
  readonly indexShift: number;
  /** Byte of the scale registers, or undefined without scales. */
  readonly scaleBytes: readonly [number, number] | undefined;
}

function registerOffset(operand: Operand): number {
  if (operand.kind !== 'reg') throw new Error('not a register');
  return WAVE_VGPRS + (operand.file === 'a' ? AGPR_BASE + operand.index : operand.index) * VGPR_BYTES;
}

/** A scalar operand: its value, or its register by source encoding; undefined for what only the interpreter reads. */
function scalarSource(operand: Operand): { constant: number } | { register: number } | undefined {
  if (operand.kind === 'inline') return { constant: inlineWords(operand.encoding, 'i32')[0] };
  return operand.kind === 'reg' && operand.encoding < 128 ? { register: operand.encoding } : undefined;
}

/**
 * Emits one matrix instruction. `wave` is the local of the wave pointer; `fallback` emits a call of the reference interpreter for this
 * instruction. `staged` knows which operands earlier instructions have staged. False when this form has no code: the caller uses the
 * interpreter for it.
 */
export function emitMatrixInstruction(
  f: WasmFunction,
  module: WasmModule,
  wave: number,
  instruction: Instruction,
  op: MatrixOperation,
  target: TargetName,
  mode: MatrixMode,
  fallback: () => void,
  features: MatrixFeatures = matrixFeatures(),
  staged = new StagedOperands(),
): boolean {
  const fields = {
    cbsz: immediateOf(instruction, 'cbsz'),
    abid: immediateOf(instruction, 'abid'),
    blgp: immediateOf(instruction, 'blgp'),
  };
  const plan = planMatrix(op, target, mode, fields);
  if (plan === undefined || (plan.numerics === 'fma64' && !features.fused)) return false;
  const a = requireOperand(instruction, 'src0');
  const b = requireOperand(instruction, 'src1');
  const d = requireOperand(instruction, 'vdst');
  const c = op.sparse ? d : requireOperand(instruction, 'src2');
  if (!isVector(a) || !isVector(b) || !isVector(d) || !(isVector(c) || c.kind === 'inline')) return false;
  const index = op.sparse ? requireOperand(instruction, 'idx') : undefined;
  // Words that no assembler makes: the interpreter says what is wrong with them.
  if (index !== undefined && !isVector(index)) return false;
  const constantC = c.kind === 'inline';
  const distance = isVector(c) ? Math.abs(registerOffset(c) - registerOffset(d)) : 0;
  const scales = [operandNamed(instruction, 'scale_src0'), operandNamed(instruction, 'scale_src1')];
  const byteOf = (n: number): number => (immediateOf(instruction, `src${n}_modifiers`) >> 2) & 3;
  const sets = op.sparse ? 32 / plan.perLane : 1;
  const form: Form = {
    plan,
    features,
    constantC,
    deferred: distance > 0 && distance < resultBytes(plan),
    indexShift: op.sparse && fields.cbsz === 0 ? (fields.abid % sets) * plan.perLane : 0,
    scaleBytes: scales[0] === undefined ? undefined : [byteOf(0), byteOf(1)],
  };

  /** Where 64 scales are; those of scalar operands are spread over the lanes first. */
  const scaleOffset = (operand: Operand | undefined, raw: number): number => {
    if (operand === undefined) return 0;
    return isVector(operand) ? registerOffset(operand) : MATRIX_SCRATCH + raw;
  };
  for (let n = 0; n < scales.length; n++) {
    const operand = scales[n];
    if (operand === undefined || isVector(operand)) continue;
    const scalar = scalarSource(operand);
    if (scalar === undefined) return false;
    const raw = MATRIX_SCRATCH + (n === 0 ? RAW_SCALES_A : RAW_SCALES_B);
    for (let lane = 0; lane < 64; lane += 4) {
      f.get(wave);
      if ('constant' in scalar) f.i32(scalar.constant);
      else f.get(wave).memory('i32.load', 4 * scalar.register);
      f.op('i32x4.splat').memory('v128.store', raw + 4 * lane);
    }
  }
  const helper = matrixHelper(module, form);
  /** Stages an operand, if it is not; where its record is. */
  const stageOperand = (operand: Register, side: 'a' | 'b'): number => {
    const { offset, isStaged } = staged.place(plan, side, registerNumber(operand), operand.dwords);
    const record = MATRIX_SCRATCH + offset;
    if (!isStaged) {
      const stage = stageHelper(module, plan, side);
      f.get(wave).i32(record).op('i32.add');
      f.get(wave).i32(registerOffset(operand)).op('i32.add');
      f.call(stage);
    }
    return record;
  };
  const isBefore = isStagedBefore(form);
  const placeA = isBefore ? stageOperand(a, 'a') : registerOffset(a);
  const placeB = isBefore ? stageOperand(b, 'b') : registerOffset(b);
  // What is staged in the helper lies where records do.
  if (!isBefore) staged.forget();
  const words = c.kind === 'inline' ? inlineWords(c.encoding, op.d) : undefined;
  f.get(wave);
  f.i32(placeA).i32(placeB);
  f.i32(words === undefined ? registerOffset(c) : words[0]);
  f.i32(registerOffset(d));
  if (index !== undefined) f.i32(registerOffset(index));
  else f.i32(op.a === 'f64' ? (words?.[1] ?? 0) : scaleOffset(scales[0], RAW_SCALES_A));
  f.i32(scaleOffset(scales[1], RAW_SCALES_B));
  f.call(helper);
  if (canFail(form)) {
    f.op('i32.eqz').if();
    fallback();
    f.end();
  } else f.drop();
  return true;
}

/** Whether A and B are staged before the helper is called. */
function isStagedBefore({ plan, scaleBytes }: Form): boolean {
  return plan.numerics !== 'fma64' && !plan.op.sparse && scaleBytes === undefined;
}

/** Whether a helper may return 0. */
function canFail({ plan, scaleBytes }: Form): boolean {
  return plan.numerics === 'truncating' || plan.numerics === 'grouped' || scaleBytes !== undefined;
}

/** What of a plan a helper depends on, as text. */
const planTexts = new WeakMap<Plan, string>();

function planText(plan: Plan): string {
  let text = planTexts.get(plan);
  if (text === undefined) {
    const { m, k, blocks, a, b, pairing } = plan.op;
    const formats = [plan.formatA, plan.formatB].map((x) => `${x?.bits}.${x?.fraction}.${x?.bias}`).join(' ');
    const shape = `${m}x${k}x${blocks} ${a} ${b} ${formats} ${plan.numerics} ${pairing} ${plan.op.sparse}`;
    text = `matrix ${shape} ${plan.broadcast} ${plan.abid} ${plan.pattern} ${plan.negate}`;
    planTexts.set(plan, text);
  }
  return text;
}

function matrixHelper(module: WasmModule, form: Form): WasmFunction {
  const { plan, features } = form;
  const own = `${form.constantC} ${form.deferred} ${form.indexShift} ${form.scaleBytes?.join('.')}`;
  const key = `${planText(plan)} ${own} ${features.relaxed} ${features.fused}`;
  const written = module.writtenHelper(key);
  if (written !== undefined) return written;
  // Helpers that other helpers call must exist before their body is begun.
  const step = plan.numerics === 'fma64' ? undefined : chainStep(module, plan, form.features);
  return module.helper(key, ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32'], (f) => {
    locateOperands(f, form);
    const constants = new Constants(f);
    const result = form.deferred ? SCRATCH : D;
    const isStaged = isStagedBefore(form);
    const locals = {
      staged: isStaged ? { a: A, b: B } : { a: SCRATCH, b: SCRATCH },
      offsetA: isStaged ? 0 : STAGED_A,
      offsetB: isStaged ? 0 : STAGED_B,
      c: { local: C, isConstant: form.constantC },
      result,
      resultOffset: form.deferred ? RESULT : 0,
    };
    switch (plan.numerics) {
      case 'fma64':
        emitStageDouble(f, A, SCRATCH, STAGED_A, plan.negate & 1 ? -0x80000000 : 0);
        emitStageDouble(f, B, SCRATCH, STAGED_B, plan.negate & 2 ? -0x80000000 : 0);
        emitDouble(f, constants, plan, { scratch: SCRATCH, c: C, constantHigh: form.constantC ? X : undefined });
        emitCopyResult(f, plan);
        break;
      case 'truncating':
      case 'grouped':
        emitTruncatingForm(f, constants, form);
        emitCopyResult(f, plan);
        break;
      default:
        if (!isStaged) emitStaged(f, constants, form);
        if (plan.op.sparse) {
          const sparseStep = plan.numerics === 'integer' ? multiplyAdd : step;
          if (sparseStep === undefined) throw new Error('a sparse f64 product does not exist');
          emitSparse(f, constants, plan, sparseStep, { scratch: SCRATCH, d: D, shift: form.indexShift });
        } else if (plan.numerics === 'pairwise') emitPairwise(f, constants, plan, locals);
        else if (step !== undefined) emitChain(f, constants, plan, step, locals);
        if (form.deferred) emitCopyResult(f, plan);
    }
    f.i32(1);
  });
}

function emitCopyResult(f: WasmFunction, plan: Plan): void {
  f.get(D).get(SCRATCH).i32(RESULT).op('i32.add').i32(resultBytes(plan)).memoryCopy();
}

/** Stages A and B of sparse and scaled operations, and sparse indices or block scales. */
function emitStaged(f: WasmFunction, k: Constants, form: Form): void {
  const { plan, scaleBytes } = form;
  const { op, perLane, formatA, formatB, pattern } = plan;
  const countA = op.sparse ? perLane / 2 : perLane;
  if (op.sparse) f.get(SCRATCH).i32(INDICES).op('i32.add').get(X).i32(ROW).memoryCopy();
  if (formatA === undefined || formatB === undefined) {
    const a = { source: A, scratch: SCRATCH, target: STAGED_A, registers: countA / 4 };
    const b = { source: B, scratch: SCRATCH, target: STAGED_B, registers: perLane / 4 };
    emitStageIntegers(f, a);
    emitStageIntegers(f, b);
    return;
  }
  if (scaleBytes !== undefined) emitScaleStage(f, k, form);
  const truncate = op.a === 'xf32';
  const flush = plan.numerics === 'pairwise';
  const scaled = (bits: number, at: number) =>
    scaleBytes === undefined ? {} : { scale: (element: number) => at + ROW * scaleRun(bits, element) };
  emitStage(f, k, {
    format: formatA,
    count: countA,
    source: A,
    scratch: SCRATCH,
    target: STAGED_A,
    truncate,
    flush,
    ...scaled(formatA.bits, SCALES_A),
  });
  emitStage(f, k, {
    format: formatB,
    count: perLane,
    source: B,
    scratch: SCRATCH,
    target: STAGED_B,
    truncate,
    flush,
    pattern,
    ...scaled(formatB.bits, SCALES_B),
  });
}

/** Reads the block scales; leaves (returning 0) when a scaled element or product could leave f32's range. */
function emitScaleStage(f: WasmFunction, k: Constants, form: Form): void {
  const { plan, scaleBytes } = form;
  const codes: [number, number][] = [];
  for (const side of [0, 1] as const) {
    const range: ScaleRange = { largest: f.local('v128'), smallest: f.local('v128') };
    f.get(k.word(0)).set(range.largest);
    f.get(k.word(255)).set(range.smallest);
    emitScales(f, k, {
      source: side === 0 ? X : Y,
      scratch: SCRATCH,
      target: side === 0 ? SCALES_A : SCALES_B,
      byte: scaleBytes?.[side] ?? 0,
      width: plan.op.m,
      bits: (side === 0 ? plan.formatA : plan.formatB)?.bits ?? 8,
      staged: side === 0 ? plan.stagedA : plan.stagedB,
      range,
    });
    const largest = f.local('i32');
    const smallest = f.local('i32');
    emitReduce(f, range.largest, 'i32x4.max_s');
    f.set(largest);
    emitReduce(f, range.smallest, 'i32x4.min_s');
    f.set(smallest);
    codes.push([largest, smallest]);
  }
  const [[maxA, minA], [maxB, minB]] = codes as [[number, number], [number, number]];
  // Elements lie in 2^-16 … 2^16, E8M0 codes have bias 127; code 255 is NaN.
  f.get(maxA).i32(239).op('i32.gt_s').get(maxB).i32(239).op('i32.gt_s').op('i32.or');
  f.get(maxA)
    .get(maxB)
    .op('i32.add')
    .i32(254 + 95)
    .op('i32.gt_s')
    .op('i32.or');
  f.get(minA)
    .get(minB)
    .op('i32.add')
    .i32(254 - 117)
    .op('i32.lt_s')
    .op('i32.or');
  f.if().i32(0).return().end();
}

/** Computes truncating sums of staged operands into the scratch area, and leaves with 0 when it must. */
function emitTruncatingForm(f: WasmFunction, k: Constants, form: Form): void {
  const { plan, features } = form;
  const record = recordOf(plan);
  const leave = (): void => {
    f.if().i32(0).return().end();
  };
  f.get(A).memory('i32.load', record.isUsable).get(B).memory('i32.load', record.isUsable).op('i32.and').op('i32.eqz');
  leave();
  const bad = f.local('v128');
  f.get(k.word(0)).set(bad);
  const locals = {
    scratch: SCRATCH,
    staged: { a: A, b: B },
    c: { local: C, isConstant: form.constantC },
    bad,
  };
  if (isWide(plan)) {
    const scaledBias = f.local('v128');
    const largest = [A, B].map((side) => {
      const local = f.local('i32');
      f.get(side).memory('i32.load', record.largest).set(local);
      return local;
    }) as [number, number];
    // A product of 2^128 or more counts as infinite.
    f.get(largest[0])
      .get(largest[1])
      .op('i32.add')
      .i32(254 + 126)
      .op('i32.ge_s');
    leave();
    f.i32(254);
    for (const local of largest) {
      pushPower(f, local);
      f.op('i32.sub');
    }
    f.op('i32x4.splat').set(scaledBias);
    emitTruncating(f, k, plan, features, locals, scaledBias);
  } else emitNarrow(f, k, plan, features, locals);
  f.get(bad).op('v128.any_true');
  leave();
}
