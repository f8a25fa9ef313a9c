// Block-scaled conversions of gfx950 (v_cvt_scalef32_*) in SIMD: FP8, BF8, FP6, BF6 and FP4 from and to f32, f16 and bf16.
// Counterpart: interpreter/scale-convert.ts. MODE does not matter to them.
import { requireOperand } from '../../../isa/operand.ts';
import type { ScaleConvertOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import { inlineWords, isVector, opSelOf, registerOf } from '../interpreter/operands.ts';
import { registerNumber } from './context.ts';
import type { WasmModule } from './emit.ts';
import { decodeHalf, decodeHighHalf, encodeHalf } from './half.ts';
import { roundBrain } from './lanes-small.ts';
import { callMath } from './math.ts';
import { single, word } from './math-tools.ts';
import type { Run } from './run.ts';
import { NoCode, scalarRegister } from './scalar.ts';

type Format = ScaleConvertOperation['from'];

const BITS: Readonly<Record<Format, number>> = { f32: 32, f16: 16, bf16: 16, fp8: 8, bf8: 8, fp6: 6, bf6: 6, fp4: 4 };

/** Adds a conversion to a run. Throws NoCode, with the run unchanged, for operands that only the interpreter has. */
export function addScaleConvert(
  run: Run,
  module: WasmModule,
  instruction: Instruction,
  op: ScaleConvertOperation,
): void {
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
    this.fromBits = BITS[op.from];
    this.toBits = BITS[op.to];
  }

  write(): void {
    const { run, op, instruction, toBits } = this;
    const { fn } = run;
    const [value, factor] = [fn.local('v128'), this.factor()];
    const seed = op.stochastic ? fn.local('v128') : undefined;
    if (seed !== undefined) {
      this.pushWord(requireOperand(instruction, 'src1'), 0, false);
      fn.set(seed);
    }
    const bits = toBits * op.count;
    const opSel = opSelOf(instruction);
    const shift = bits >= 32 ? 0 : bits === 16 ? 16 * (opSel >> 3) : 8 * (opSel >> 2);
    const words: number[] = [];
    for (let n = 0; n < op.count; n++) {
      this.pushElement(n);
      // The factor is a power of two: products are exact but beyond the range of f32, which decides nothing.
      fn.get(factor).op('f32x4.mul');
      this.encode(seed);
      fn.set(value);
      this.insert(words, shift + n * toBits, value);
      if (seed !== undefined && n + 1 < op.count) this.nextSeed(seed);
    }
    const first = registerNumber(registerOf(instruction, 'vdst'));
    for (const [n, result] of words.entries()) {
      fn.get(result);
      if (bits < 32) {
        // What is less than a register leaves the rest as it is.
        run.pushRegister(first, false);
        word(fn, (2 ** bits - 1) << shift);
        fn.op('v128.bitselect');
      }
      run.setRegister(first + n, op.to === 'f32');
    }
    for (const local of [value, factor, ...words, ...(seed === undefined ? [] : [seed])]) fn.release('v128', local);
  }

  /** Puts the code in a local into the result's words, from bit `at` on. */
  private insert(words: number[], at: number, code: number): void {
    const { toBits } = this;
    const { fn } = this.run;
    const place = (n: number, move: () => void): void => {
      fn.get(code);
      move();
      const known = words[n];
      if (known !== undefined) fn.get(known).op('v128.or');
      const local = known ?? fn.local('v128');
      fn.set(local);
      words[n] = local;
    };
    const shift = at & 31;
    place(at >> 5, () => {
      if (shift > 0) fn.i32(shift).op('i32x4.shl');
    });
    if (shift + toBits > 32) place((at >> 5) + 1, () => void fn.i32(32 - shift).op('i32x4.shr_u'));
  }

  /** The step of v_prng_b32 between stochastic elements. */
  private nextSeed(seed: number): void {
    const { fn } = this.run;
    fn.get(seed).i32(1).op('i32x4.shl').get(seed).i32(31).op('i32x4.shr_s');
    word(fn, 197);
    fn.op('v128.and').op('v128.xor').set(seed);
  }

  /** A local with the power of two that a scale operand names, or its inverse: the exponent of an f32, all of whose values count. */
  private factor(): number {
    const { run, instruction, op } = this;
    const { fn } = run;
    const [field, scale] = [fn.local('v128'), fn.local('v128')];
    const operand = requireOperand(instruction, op.twoSources || op.stochastic ? 'src2' : 'src1');
    this.pushWord(operand, 0, false, 'f32');
    word(fn, 0x7f800000);
    fn.op('v128.and').set(field);
    // 2^-127 is denormal; the largest is no number.
    fn.get(field).v128(0, 0, 0, 0).op('i32x4.eq').get(field);
    word(fn, 0x7f800000);
    fn.op('i32x4.eq').op('v128.or');
    word(fn, 0x00400000);
    fn.op('v128.and').get(field).op('v128.or').set(scale);
    if (this.toBits < this.fromBits) {
      single(fn, 1);
      fn.get(scale).op('f32x4.div').set(scale);
    }
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
    const operand = requireOperand(instruction, op.twoSources && n % 2 === 1 ? 'src1' : 'src0');
    const all = (fromBits * op.count) / (op.twoSources ? 2 : 1);
    const opSel = opSelOf(instruction);
    const first = all >= 32 ? 0 : all === 16 ? 16 * (opSel & 1) : 8 * (opSel & 3);
    const at = first + (op.twoSources ? n >> 1 : n) * fromBits;
    const shift = at & 31;
    this.pushWord(operand, at >> 5, op.from === 'f32');
    if (op.from === 'f32') return;
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
      if (shift + fromBits > 32) {
        this.pushWord(operand, (at >> 5) + 1, false);
        fn.i32(32 - shift)
          .op('i32x4.shl')
          .op('v128.or');
      }
      callMath({ fn, module }, `from_${op.from}.ocp`);
    }
  }

  /** Turns the f32 on the stack into the code of the result's format, in the low bits. */
  private encode(seed: number | undefined): void {
    const { op, module } = this;
    const { fn } = this.run;
    if (op.to === 'f32') return;
    if (op.to === 'f16') encodeHalf(fn);
    else if (op.to === 'bf16') {
      roundBrain(fn);
      fn.i32(16).op('i32x4.shr_u');
    } else if (seed === undefined) callMath({ fn, module }, `to_${op.to}.ocp.saturate`);
    else {
      fn.get(seed);
      callMath({ fn, module }, `stochastic_${op.to}.ocp.saturate${op.from === 'f32' ? '' : `.${op.from}`}`);
    }
  }
}
