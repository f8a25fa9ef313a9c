// Block-scaled conversions of gfx950 (v_cvt_scalef32_*) of one and two elements in SIMD: FP8, BF8 and FP4 from and to f32, f16 and bf16.
// Counterpart: interpreter/scale-convert.ts, which has the others. MODE does not matter to them.
import { requireOperand } from '../../../isa/operand.ts';
import type { ScaleConvertOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import { inlineWords, isVector, opSelOf, registerOf } from '../interpreter/operands.ts';
import { registerNumber } from './context.ts';
import type { WasmModule } from './emit.ts';
import { decodeHalf, decodeHighHalf, encodeHalf } from './half.ts';
import { roundBrain } from './lanes-small.ts';
import { callMath } from './math.ts';
import { word } from './math-tools.ts';
import type { Run } from './run.ts';
import { NoCode, scalarRegister } from './scalar.ts';

type Format = ScaleConvertOperation['from'];

const BITS: Readonly<Partial<Record<Format, number>>> = { f32: 32, f16: 16, bf16: 16, fp8: 8, bf8: 8, fp4: 4 };

/** Adds a conversion to a run. Throws NoCode, with the run unchanged, for those that only the interpreter has. */
export function addScaleConvert(
  run: Run,
  module: WasmModule,
  instruction: Instruction,
  op: ScaleConvertOperation,
): void {
  if (op.count > 2 || op.stochastic || BITS[op.from] === undefined || BITS[op.to] === undefined) {
    throw new NoCode(instruction.row.operation);
  }
  run.add(() => new ScaleConvert(run, module, instruction, op).write());
}

class ScaleConvert {
  private readonly run: Run;
  private readonly module: WasmModule;
  private readonly instruction: Instruction;
  private readonly op: ScaleConvertOperation;
  private readonly fromBits: number;
  private readonly toBits: number;

  constructor(run: Run, module: WasmModule, instruction: Instruction, op: ScaleConvertOperation) {
    this.run = run;
    this.module = module;
    this.instruction = instruction;
    this.op = op;
    this.fromBits = BITS[op.from] as number;
    this.toBits = BITS[op.to] as number;
  }

  write(): void {
    const { run, op, toBits } = this;
    const { fn } = run;
    const scale = this.scale();
    const codes = Array.from({ length: op.count }, (_, n) => {
      const value = fn.local('v128');
      this.pushElement(n);
      fn.set(value);
      // The scale is a power of two: products and quotients are exact but beyond the range of f32, which decides nothing.
      fn.get(value)
        .get(scale)
        .op(toBits < this.fromBits ? 'f32x4.div' : 'f32x4.mul');
      this.encode();
      fn.set(value);
      return value;
    });
    const first = registerNumber(registerOf(this.instruction, 'vdst'));
    if (toBits === 32) for (const [n, code] of codes.entries()) this.setResult(first + n, code, op.to === 'f32');
    else this.setPacked(first, codes);
    for (const local of [scale, ...codes]) fn.release('v128', local);
  }

  private setResult(register: number, value: number, payload: boolean): void {
    this.run.fn.get(value);
    this.run.setRegister(register, payload);
  }

  /** Results that share a register; where they are less than a register, op_sel names their place in it and the rest stays. */
  private setPacked(register: number, codes: readonly number[]): void {
    const { run, toBits } = this;
    const { fn } = run;
    const bits = toBits * codes.length;
    const opSel = opSelOf(this.instruction);
    const shift = bits >= 32 ? 0 : bits === 16 ? 16 * (opSel >> 3) : 8 * (opSel >> 2);
    for (const [n, code] of codes.entries()) {
      fn.get(code);
      const at = shift + n * toBits;
      if (at > 0) fn.i32(at).op('i32x4.shl');
      if (n > 0) fn.op('v128.or');
    }
    if (bits < 32) {
      run.pushRegister(register, false);
      word(fn, (2 ** bits - 1) << shift);
      fn.op('v128.bitselect');
    }
    run.setRegister(register, false);
  }

  /** A local with the power of two that a scale operand names: the exponent of an f32, all of whose values count. */
  private scale(): number {
    const { fn } = this.run;
    const [field, scale] = [fn.local('v128'), fn.local('v128')];
    const operand = requireOperand(this.instruction, this.op.twoSources ? 'src2' : 'src1');
    this.pushWord(operand, 0, false, 'f32');
    word(fn, 0x7f800000);
    fn.op('v128.and').set(field);
    // 2^-127 is denormal; the largest is no number.
    fn.get(field).v128(0, 0, 0, 0).op('i32x4.eq').get(field);
    word(fn, 0x7f800000);
    fn.op('i32x4.eq').op('v128.or');
    word(fn, 0x00400000);
    fn.op('v128.and').get(field).op('v128.or').set(scale);
    fn.release('v128', field);
    return scale;
  }

  /** Pushes word `n` of a source operand. */
  private pushWord(operand: Operand, n: number, raw: boolean, type: 'f32' | 'i32' = 'i32'): void {
    const { run } = this;
    if (isVector(operand)) {
      run.pushRegister(registerNumber(operand) + n, raw);
      return;
    }
    const register = scalarRegister(operand);
    if (n > 0) throw new NoCode('scalar pair');
    if (register !== undefined) {
      if (run.writesMasks) throw new NoCode('scalar of a run');
      run.pushSplat(register);
    } else if (operand.kind === 'inline') word(run.fn, inlineWords(operand.encoding, type)[0]);
    else throw new NoCode('operand');
  }

  /** Pushes element n as f32. */
  private pushElement(n: number): void {
    const { op, fromBits, instruction, module } = this;
    const { fn } = this.run;
    const operand = requireOperand(instruction, op.twoSources && n === 1 ? 'src1' : 'src0');
    const at = op.twoSources ? 0 : n * fromBits;
    this.pushWord(operand, at >> 5, op.from === 'f32');
    if (op.from === 'f32') return;
    const all = fromBits * op.count;
    const opSel = opSelOf(instruction);
    const shift = at + (all >= 32 ? 0 : all === 16 ? 16 * (opSel & 1) : 8 * (opSel & 3));
    if (op.from === 'f16') {
      if (shift === 0) decodeHalf(fn);
      else decodeHighHalf(fn);
    } else if (op.from === 'bf16') {
      if (shift === 0) fn.i32(16).op('i32x4.shl');
      else {
        word(fn, -0x10000);
        fn.op('v128.and');
      }
    } else {
      if (shift > 0) fn.i32(shift).op('i32x4.shr_u');
      callMath({ fn, module }, `from_${op.from}.ocp`);
    }
  }

  /** Turns the f32 on the stack into the code of the result's format, in the low bits. */
  private encode(): void {
    const { op, module } = this;
    const { fn } = this.run;
    if (op.to === 'f32') return;
    if (op.to === 'f16') encodeHalf(fn);
    else if (op.to === 'bf16') {
      roundBrain(fn);
      fn.i32(16).op('i32x4.shr_u');
    } else callMath({ fn, module }, `to_${op.to}.ocp.saturate`);
  }
}
