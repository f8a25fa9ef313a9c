// Vector ALU instructions in a run: sources, expression, output modifiers, and the way a result goes into its register or mask.
// The interpreter's counterpart is interpreter/vector.ts; both must agree bit for bit.
import { hasOperand, immediateOf, maskSource, operandNamed } from '../../../isa/operand.ts';
import type { Expr, OperandType, VectorOperation } from '../../../isa/semantics/index.ts';
import { floatSources, INFINITE_AT_ZERO, isMadeOfBits } from '../../../isa/semantics/modifiers.ts';
import type { Instruction } from '../../../isa/types.ts';
import { isFloatType, OP_SEL_1, opSelOf, registerOf, sdwaField } from '../interpreter/operands.ts';
import { resultsOf } from '../interpreter/vector.ts';
import { EXEC, VCC } from '../state/wave.ts';
import { pushWords } from './bit-forms.ts';
import { type FunctionContext, registerNumber } from './context.ts';
import { crossLanes, endsBeforeCrossing, hasDpp, writesPartly } from './dpp.ts';
import type { WasmModule } from './emit.ts';
import { choosing, matrixFeatures } from './features.ts';
import { type Above, decodeHalf, encodeHalf, encodeSize, encodeTruncated } from './half.ts';
import { pushTabled } from './half-tables.ts';
import { addIndexed, pushOffsets, releaseOffsets } from './indexed.ts';
import type { LaneMode } from './lane-writer.ts';
import { LaneCode, splat4 } from './lanes.ts';
import { callMath } from './math.ts';
import { pushDirectedFma } from './math-directed.ts';
import { ROUNDING_NAMES } from './math-tools.ts';
import { bindLaneOperand } from './operand-lanes.ts';
import { canonical, canonicalDouble, type Directed, flushDenormals, flushHalfValues } from './rounding.ts';
import { Run, type RunPools } from './run.ts';
import { NoCode, scalarRegister } from './scalar.ts';
import { type Crossing, type LaneTarget, replay, templateFor } from './template.ts';

const carryUsers = new WeakMap<VectorOperation, boolean>();

function usesCarry(op: VectorOperation): boolean {
  let known = carryUsers.get(op);
  if (known === undefined) {
    const uses = (e: Expr): boolean => e.op === 'carry' || e.args.some(uses);
    known = op.result.some(uses) || (op.mask !== undefined && uses(op.mask));
    carryUsers.set(op, known);
  }
  return known;
}

/** The scalar pair of the mask input, if the operation has one. */
function carrySource(instruction: Instruction, op: VectorOperation): number | undefined {
  if (!usesCarry(op)) return undefined;
  const operand = maskSource(instruction);
  return operand?.kind === 'reg' ? operand.encoding : VCC;
}

/** The scalar pairs that get the mask result. */
function maskTargets(instruction: Instruction, op: VectorOperation): number[] {
  if (op.mask === undefined) return [];
  const operand = operandNamed(instruction, 'sdst');
  const target = operand?.kind === 'reg' ? operand.encoding : VCC;
  return instruction.row.defs.includes('EXEC') ? [...new Set([target, EXEC])] : [target];
}

/** Whether the run must end before an instruction: it reads as a scalar what the run writes, or crosses lanes of what it changed. */
export function endsRun(run: Run, instruction: Instruction, op: VectorOperation): boolean {
  if (run.writesMasks && readsWrittenMask(run, instruction, op)) return true;
  return hasDpp(instruction) && endsBeforeCrossing(run, instruction, op);
}

function readsWrittenMask(run: Run, instruction: Instruction, op: VectorOperation): boolean {
  for (const spec of op.sources) {
    const operand = operandNamed(instruction, spec.operand);
    if (operand?.kind !== 'reg') continue;
    const register = scalarRegister(operand);
    if (register !== undefined && run.hasWritten(register, Math.max(2, operand.dwords))) return true;
  }
  const carry = carrySource(instruction, op);
  const pairs = carry === undefined ? maskTargets(instruction, op) : [carry, ...maskTargets(instruction, op)];
  return pairs.some((pair) => run.hasWritten(pair - 1, 1) || run.overlaps(pair));
}

/** Whether nothing can follow in the run: EXEC changes. */
export function closesRun(instruction: Instruction, op: VectorOperation): boolean {
  return op.mask !== undefined && maskTargets(instruction, op).some((pair) => pair + 1 >= EXEC);
}

/** Whether an instruction without DPP has code. */
export function canAddVector(
  module: WasmModule,
  instruction: Instruction,
  op: VectorOperation,
  mode: LaneMode,
): boolean {
  try {
    checkMasks(instruction, op);
    vectorTemplate(module, instruction, op, mode);
    return true;
  } catch (error) {
    if (error instanceof NoCode) return false;
    throw error;
  }
}

function checkMasks(instruction: Instruction, op: VectorOperation): void {
  const carry = carrySource(instruction, op);
  for (const pair of [...maskTargets(instruction, op), ...(carry === undefined ? [] : [carry])]) {
    if (pair > EXEC) throw new NoCode('mask register');
  }
}

/** Adds an instruction to a run. Throws NoCode, with the run unchanged, when it cannot be compiled. */
export function addVector(
  run: Run,
  module: WasmModule,
  instruction: Instruction,
  op: VectorOperation,
  mode: LaneMode,
): void {
  if (op.mask !== undefined || usesCarry(op) || hasDpp(instruction)) {
    checkMasks(instruction, op);
    if (hasDpp(instruction)) {
      const template = vectorTemplate(module, instruction, op, mode);
      run.add(() => {
        const crossing = crossLanes(run, module, instruction, op);
        replay(template, run, instruction, crossing);
        crossing.close();
      });
      return;
    }
  }
  run.addFrom(vectorTemplate(module, instruction, op, mode), instruction);
}

function vectorTemplate(
  module: WasmModule,
  instruction: Instruction,
  op: VectorOperation,
  mode: LaneMode,
): ReturnType<typeof templateFor> {
  return templateFor(instruction, mode, module, (target, form) =>
    new VectorInstruction(
      target,
      hasDpp(form) ? target.crossing(writesPartly(form)) : undefined,
      module,
      form,
      op,
      mode,
      carrySource(form, op),
      maskTargets(form, op),
    ).write(),
  );
}

/**
 * Writes an instruction under s_set_gpr_idx, where no run is open; `otherwise` writes what happens when it reaches beyond the registers.
 * Throws NoCode, with nothing written, when it cannot be compiled.
 */
export function addIndexedVector(
  context: FunctionContext,
  pools: RunPools,
  instruction: Instruction,
  op: VectorOperation,
  mode: LaneMode,
  otherwise: () => void,
): void {
  const { fn, module, wave } = context;
  if (
    hasDpp(instruction) ||
    [carrySource(instruction, op), ...maskTargets(instruction, op)].some((n) => n !== undefined && n > EXEC)
  )
    throw new NoCode('indexed operands');
  const template = vectorTemplate(module, instruction, op, mode);
  const offsets = pushOffsets(context, instruction);
  fn.if();
  otherwise();
  fn.else();
  const run = new Run(fn, wave, pools);
  addIndexed(run, template, instruction, offsets);
  run.flush();
  fn.end();
  releaseOffsets(fn, offsets);
}

class VectorInstruction {
  private readonly run: LaneTarget;
  private readonly instruction: Instruction;
  private readonly op: VectorOperation;
  private readonly mode: LaneMode;
  private readonly targets: readonly number[];
  private readonly code: LaneCode;
  private readonly results: readonly Expr[];
  /** The results are bits of floats that MODE's denormals apply to. */
  private readonly isBits: boolean;
  private readonly clamp: boolean;
  private readonly omod: number;
  /** The source that DPP moves, and what it writes. */
  private readonly crossing: Crossing | undefined;
  private readonly written: (() => void) | undefined;

  constructor(
    run: LaneTarget,
    crossing: Crossing | undefined,
    module: WasmModule,
    instruction: Instruction,
    op: VectorOperation,
    mode: LaneMode,
    carry: number | undefined,
    targets: readonly number[],
  ) {
    this.run = run;
    this.instruction = instruction;
    this.op = op;
    this.mode = mode;
    this.targets = targets;
    this.crossing = crossing;
    this.written = this.crossing?.written;
    const moved = this.crossing?.push;
    const operands = op.sources.map((s, k) =>
      bindLaneOperand(instruction, k, s, op.sourcePart, k === 0 ? moved : undefined),
    );
    this.clamp = immediateOf(instruction, 'clamp') !== 0;
    const isSingle = op.resultType === 'f32' || op.resultType === 'f32x2';
    const omodActs = !mode.ieee && !(isSingle ? mode.out32 : mode.out64);
    const isFloat = op.resultType !== undefined && isFloatType(op.resultType);
    this.omod = isFloat && omodActs ? immediateOf(instruction, 'omod') : 0;
    this.results = resultsOf(op, this.clamp, this.omod !== 0);
    this.isBits = this.results === op.resultBits && op.denormals === 'mode';
    this.code = new LaneCode(run, module, mode, op, this.results, operands, () => run.pushMask(carry as number));
  }

  write(): void {
    const { run, op, code, targets } = this;
    const { fn } = run;
    const registers = this.pushResult();
    if (op.mask !== undefined) {
      code.push(op.mask);
      this.written?.();
      if (this.written !== undefined) fn.op('v128.and');
      if (targets.length === 2) {
        const mask = code.temporary();
        fn.tee(mask);
        run.setMask(targets[0] as number);
        fn.get(mask);
      }
      run.setMask(targets.at(-1) as number);
    }
    for (const { register, payload } of [...registers].reverse()) {
      if (this.written !== undefined) {
        if (payload) canonicalSingle(run);
        run.pushRegister(register, false);
        this.written();
        fn.op(choosing());
      }
      run.setRegister(register, payload && this.written === undefined);
    }
    code.close();
    this.crossing?.close();
  }

  /** Pushes the result words; their registers, in the order of the stack. */
  private pushResult(): { register: number; payload: boolean }[] {
    const { op, results, run } = this;
    const { fn } = run;
    const type = op.resultType;
    if (type === undefined) return [];
    const base = registerNumber(registerOf(this.instruction, 'vdst'));
    const [first, second] = results as [Expr, Expr?];
    if (first.type === 'i64' || first.type === 'f64') {
      const words = [base, base + 1].map((register) => ({ register, payload: false }));
      if (this.omod === 0 && !this.clamp && this.mode.out64 && pushWords(this.code, first)) return words;
      this.pushDouble(first);
      return words;
    }
    if (type === 'f32x2' || type === 'i32x2' || type === 'i128') {
      return results.map((e, n) => {
        this.pushBits(e);
        return { register: base + n, payload: e.type === 'f32' };
      });
    }
    if (second !== undefined) {
      this.pushBits(first, 'anything');
      this.pushBits(second, 'anything');
      fn.i32(16).op('i32x4.shl').shuffle(LOW_HALVES);
      return [{ register: base, payload: false }];
    }
    const payload = this.pushNarrow(first, type, base);
    return [{ register: base, payload }];
  }

  private pushDouble(e: Expr): void {
    const { code, run, omod, clamp, mode } = this;
    const { fn } = run;
    if (e.op === 'f64.fma' && mode.round64 !== 0 && omod === 0 && !clamp && matrixFeatures().fused) {
      this.pushDirectedFma(e, mode.round64);
      return;
    }
    const halves = [code.temporary(), code.temporary()] as const;
    this.pushHalves(e, halves);
    fn.get(halves[0]).get(halves[1]).shuffle32(0, 2, 4, 6);
    fn.get(halves[0]).get(halves[1]).shuffle32(1, 3, 5, 7);
  }

  /** Pushes the words of a·b + c. */
  private pushDirectedFma(e: Expr, rounding: Directed): void {
    const { code, run, mode } = this;
    const { fn } = run;
    const operands = [0, 1].map((half) =>
      e.args.map((argument) => {
        const local = code.temporary();
        code.push(argument, half);
        fn.set(local);
        return local;
      }),
    ) as [number, number, number][];
    pushDirectedFma(fn, rounding, operands, (half) => {
      for (const operand of operands[half] as readonly number[]) fn.get(operand);
      callMath(code, `fma.f64${ROUNDING_NAMES[rounding]}`);
      canonicalDouble(fn);
      if (!mode.out64) flushDenormals(fn, 'f64');
    });
  }

  private pushHalves(e: Expr, halves: readonly [number, number]): void {
    const { code, run, omod, clamp, mode } = this;
    const { fn } = run;
    for (const half of [0, 1] as const) {
      code.push(e, half);
      if (e.type === 'f64') {
        if (omod !== 0) {
          const high = [0, 0x40000000, 0x40100000, 0x3fe00000][omod] as number;
          flushDenormals(fn, 'f64', false);
          fn.v128(0, high, 0, high);
          if (mode.round64 === 0) fn.op('f64x2.mul');
          else if (matrixFeatures().fused) callMath(code, `mul.f64${ROUNDING_NAMES[mode.round64]}`);
          else throw new NoCode('directed product');
          flushDenormals(fn, 'f64', false);
        }
        if (clamp) clampFloat(run, 'f64x2', mode.dx10Clamp);
        if (omod !== 0 || clamp || !hasDefaultNaN(e)) canonicalDouble(code.fn);
        if (!mode.out64) flushDenormals(fn, 'f64');
      } else if (this.isBits && !mode.out64) flushDenormals(fn, 'f64');
      fn.set(halves[half]);
    }
  }

  /** Pushes a result of at most 32 bits as register bits (f32: NaNs with any payload; f16: with zeros or anything above). */
  private pushBits(e: Expr, above: Above = 'zero'): void {
    const { code, run, omod, clamp, mode, op } = this;
    const { fn } = run;
    if (e.type === 'i32') {
      code.push(e);
      if (!this.isBits) return;
      const single = op.resultType === 'f32' || op.resultType === 'f32x2';
      if (!(single ? mode.out32 : mode.out64)) flushDenormals(fn, single ? 'f32' : 'f16');
      return;
    }
    const isUnscaled = omod === 0;
    // None of them is infinite where its operand is neither infinite nor zero, so none is limited.
    if (isUnscaled && mode.round64 === 0 && pushTabled(code, e)) {
      if (clamp) clampHalfBits(run, mode.dx10Clamp);
      if (!mode.out64) flushDenormals(fn, 'f16');
      return;
    }
    // Clamping and rounding can change places: 0 and 1 are numbers of every format.
    if (isUnscaled && e.type === 'f16') code.encoded = e;
    code.push(e);
    // An infinity that stands before the output modifier is kept.
    const made = e.type === 'f16' && mode.saturate && isMadeOfBits(e) ? fn.local('v128') : undefined;
    if (made !== undefined) fn.tee(made);
    if (omod !== 0) this.scale(e);
    if (e.type === 'f16') {
      if (clamp) clampFloat(run, 'f32x4', mode.dx10Clamp);
      const isSize = clamp ? mode.dx10Clamp : isUnscaled && NEVER_NEGATIVE.has(e.op);
      if (isSize && mode.round64 === 0) encodeSize(fn, above);
      else if (isUnscaled && mode.round64 === 3 && SUMS.has(e.op)) encodeTruncated(fn, above, true);
      else encodeHalf(fn, mode.round64, above);
      if (mode.saturate) this.limitHalf(e, made);
      if (made !== undefined) fn.release('v128', made);
      if (!mode.out64) flushDenormals(fn, 'f16');
      return;
    }
    if (clamp) clampFloat(run, 'f32x4', mode.dx10Clamp);
    if (e.type === 'bf16') throw new NoCode('bf16 result');
    const flushes = op.denormals === 'flush' || (op.denormals === 'mode' && !mode.out32);
    if (flushes && !isNeverDenormal(e, mode.in32)) flushDenormals(fn, 'f32');
  }

  /**
   * Makes f16 bits on the stack that are infinite by overflow those of the largest number. Counterpart: interpreter/vector.ts. `made`: the values before the
   * output modifier of a result that is put together from bits.
   */
  private limitHalf(e: Expr, made: number | undefined): void {
    const { code, run, op } = this;
    const { fn } = run;
    const bits = fn.local('v128');
    fn.tee(bits);
    fn.get(bits)
      .v128(...splat4(0x7fff))
      .op('v128.and')
      .v128(...splat4(0x7c00))
      .op('i32x4.eq');
    const types = op.sources.map((s) => s.type);
    if (made !== undefined)
      fn.get(made)
        .abs('f32x4')
        .v128(...splat4(0x7f800000))
        .op('f32x4.eq')
        .op('v128.andnot');
    for (const source of floatSources(e, types)) {
      const x = fn.local('v128');
      code.push(source);
      fn.abs('f32x4')
        .tee(x)
        .v128(...splat4(0x7f800000))
        .op('f32x4.eq')
        .op('v128.andnot');
      if (INFINITE_AT_ZERO.has(e.op))
        fn.get(x)
          .v128(...splat4(0))
          .op('f32x4.eq')
          .op('v128.andnot');
      fn.release('v128', x);
    }
    // An infinity's bits follow those of the largest number.
    fn.v128(...splat4(1))
      .op('v128.and')
      .op('i32x4.sub');
    fn.release('v128', bits);
  }

  /** Applies the output modifier to the f32 or f16 values on the stack. Denormals before and after, and zeros, become positive zeros. */
  private scale(e: Expr): void {
    const { run, omod, mode } = this;
    const { fn } = run;
    if (e.type === 'f16') flushHalfValues(fn);
    else flushDenormals(fn, 'f32');
    fn.v128(...splat4([0, 0x40000000, 0x40800000, 0x3f000000][omod] as number));
    if (e.type === 'f16') {
      fn.op('f32x4.mul');
      encodeHalf(fn, mode.round64);
      flushDenormals(fn, 'f16', false);
      decodeHalf(fn);
      return;
    }
    if (mode.round32 === 0) fn.op('f32x4.mul');
    else callMath(this.code, `mul.f32${ROUNDING_NAMES[mode.round32]}`);
    flushDenormals(fn, 'f32', false);
  }

  /** Pushes a result of one word, merged with the register where it is narrower; whether it may be a NaN with payload. */
  private pushNarrow(e: Expr, type: OperandType, base: number): boolean {
    const { op, instruction, run } = this;
    const { row } = instruction;
    if (hasOperand(row, 'dst_sel')) {
      const { shift, bits } = sdwaField(immediateOf(instruction, 'dst_sel'));
      if (bits < 32) {
        this.pushField(e, base, shift, bits, immediateOf(instruction, 'dst_unused'));
        return false;
      }
    }
    if (op.part !== undefined) {
      const opSel = opSelOf(instruction);
      if (op.part === 'byte') this.pushField(e, base, 8 * (opSel >> 2), 8, 2);
      else this.pushField(e, base, 16 * (opSel >> 3), 16, 2);
      return false;
    }
    const narrow = type === 'f16' || type === 'bf16' || type === 'i16' || type === 'u16';
    if (!narrow) {
      this.pushBits(e);
      return e.type === 'f32' && (this.omod !== 0 || this.clamp || !hasDefaultNaN(e));
    }
    const toHigh =
      op.highBits === 'intoHigh' ||
      (row.flags.has('VOP3_OPSEL') && (immediateOf(instruction, 'src0_modifiers') & OP_SEL_1) !== 0);
    if (toHigh || op.highBits === 'preserve') this.pushField(e, base, toHigh ? 16 : 0, 16, 2);
    else {
      this.pushBits(e);
      if (e.type === 'i32') run.fn.v128(...splat4(0xffff)).op('v128.and');
    }
    return false;
  }

  /** Pushes a field of a register; the rest is zero (0), the sign above (1) or kept (2). */
  private pushField(e: Expr, base: number, shift: number, bits: number, unused: number): void {
    const { run } = this;
    const { fn } = run;
    const value = fn.local('v128');
    this.pushBits(e, 'anything');
    if (e.type === 'f32') canonicalSingle(run);
    fn.set(value);
    if (unused === 2 && bits === 16) {
      fn.get(value);
      if (shift !== 0) fn.i32(shift).op('i32x4.shl');
      run.pushRegister(base, false);
      fn.shuffle(shift === 0 ? LOW_HALVES : HIGH_HALVES);
      fn.release('v128', value);
      return;
    }
    const field = ((1 << bits) - 1) << shift;
    if (unused === 1) {
      fn.get(value)
        .i32(32 - bits)
        .op('i32x4.shl')
        .i32(32 - bits)
        .op('i32x4.shr_s')
        .i32(shift)
        .op('i32x4.shl');
    } else {
      fn.get(value)
        .i32(shift)
        .op('i32x4.shl')
        .v128(...splat4(field))
        .op('v128.and');
      if (unused === 2) {
        run.pushRegister(base, false);
        fn.v128(...splat4(~field))
          .op('v128.and')
          .op('v128.or');
      }
    }
    fn.release('v128', value);
  }
}

/** Bytes of a shuffle: the low or the high halves of words of the first vector, and the others of the second. Hosts have an instruction for it. */
const halvesFrom = (isFirst: (byte: number) => boolean): readonly number[] =>
  Array.from({ length: 16 }, (_, byte) => (isFirst(byte) ? byte : 16 + byte));
const LOW_HALVES = halvesFrom((byte) => (byte & 2) === 0);
const HIGH_HALVES = halvesFrom((byte) => (byte & 2) !== 0);

/** Operators of f32 whose results are no denormals, whatever they are given; the sine's are none of other numbers than denormals. */
const NEVER_DENORMAL = new Set(['f32.rsq', 'f32.sqrt', 'f32.cos_turns', 'f32.from_i32_s', 'f32.from_i32_u']);
const isNeverDenormal = ({ op }: Expr, readsDenormals: boolean): boolean =>
  NEVER_DENORMAL.has(op) || (op === 'f32.sin_turns' && !readsDenormals);

/** Operators of f16 whose results before rounding are multiples of the least f16. */
const SUMS = new Set(['f16.add', 'f16.sub']);

/** Operators of f16 whose results are not below zero, nor negative zeros. */
const NEVER_NEGATIVE = new Set(['f16.exp2', 'f16.fract']);

/** Operators whose code gives no NaN but the default quiet one. */
const DEFAULT_NAN = new Set([
  ...['exp2', 'log2', 'sin_turns', 'cos_turns', 'from_i32_s', 'from_i32_u'].map((name) => `f32.${name}`),
  'f64.trig_preop',
]);
const hasDefaultNaN = ({ op }: Expr): boolean => DEFAULT_NAN.has(op);

/** Replaces f32 NaNs on the stack by the default quiet one. */
function canonicalSingle({ fn }: LaneTarget): void {
  const x = fn.local('v128');
  fn.set(x);
  canonical(fn, x);
  fn.release('v128', x);
}

/** Clamps the floats on the stack to [0, 1], zeros to the positive one; a NaN becomes 0 with DX10 clamping. */
function clampFloat({ fn }: LaneTarget, type: 'f32x4' | 'f64x2', dx10: boolean): void {
  const constant = (value: 0 | 1): void => {
    if (type === 'f64x2') fn.v128(0, value * 0x3ff00000, 0, value * 0x3ff00000);
    else fn.v128(...splat4(value * 0x3f800000));
  };
  const x = fn.local('v128');
  fn.set(x);
  // Of the pseudo-minimum and maximum the first operand is left where the comparison fails.
  if (dx10) {
    constant(0);
    fn.get(x).op(`${type}.pmax`);
  } else {
    fn.get(x);
    constant(0);
    fn.op(`${type}.pmax`);
    constant(0);
    fn.op(`${type}.add`);
  }
  constant(1);
  fn.op(`${type}.pmin`);
  fn.release('v128', x);
}

/** The same of f16 bits in the low halves of words, whose NaNs are the default one. */
function clampHalfBits({ fn }: LaneTarget, dx10: boolean): void {
  const size = fn.local('v128');
  fn.i32(16)
    .op('i32x4.shl')
    .i32(16)
    .op('i32x4.shr_s')
    .v128(0, 0, 0, 0)
    .op('i32x4.max_s')
    .tee(size)
    .v128(...splat4(0x3c00))
    .op('i32x4.min_s');
  fn.get(size)
    .v128(...splat4(0x7c00))
    .op('i32x4.gt_s');
  if (dx10) fn.op('v128.andnot');
  else
    fn.v128(...splat4(0x7e00 ^ 0x3c00))
      .op('v128.and')
      .op('v128.xor');
  fn.release('v128', size);
}
