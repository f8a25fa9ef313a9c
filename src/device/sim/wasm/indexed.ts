// Vector instructions under s_set_gpr_idx: M0[7:0] is added to the numbers of the vector registers that M0[15:12] names. Registers are
// read and written in the wave block, at addresses made when the code runs. The interpreter's counterpart is `indexedStep`
// (interpreter/loaded-code.ts). Source: AMD CDNA3 ISA, "VGPR Indexing".
import type { StructuralOperation } from '../../../isa/semantics/index.ts';
import type { Instruction, Operand, Register } from '../../../isa/types.ts';
import { INDEXED_OPERANDS } from '../interpreter/loaded-code.ts';
import { VGPR_BYTES } from '../state/layout.ts';
import { AGPR_BASE, M0 } from '../state/wave.ts';
import { type FunctionContext, registerAt, registerNumber } from './context.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { choosing } from './features.ts';
import { decodeHalf, decodeHighHalf } from './half.ts';
import { emitCrossLane } from './memory/index.ts';
import { canonical } from './rounding.ts';
import type { Run } from './run.ts';
import { type LaneTarget, placeholder, type Template, VECTOR_STRIDE } from './template.ts';

/** Bytes to add to the place of an operand's registers: a local (i32), by the operand's number. None: it is not indexed. */
export type IndexOffsets = ReadonlyMap<number, number>;

/**
 * Pushes whether an operand of the instruction reaches beyond the last vector register, and sets the locals that `releaseOffsets` gives
 * back.
 */
export function pushOffsets({ fn, wave }: FunctionContext, instruction: Instruction): IndexOffsets {
  const offsets = new Map<number, number>();
  fn.i32(0);
  for (const [k, operand] of instruction.operands.entries()) {
    const bit = INDEXED_OPERANDS.indexOf(instruction.row.operands[k]?.name ?? '');
    if (bit < 0 || operand.kind !== 'reg' || operand.file !== 'v') continue;
    const offset = fn.local('i32');
    offsets.set(k, offset);
    const m0 = (): void => void fn.get(wave).memory('i32.load', 4 * M0);
    m0();
    fn.i32(0xff).op('i32.and').i32(0);
    m0();
    fn.i32(0x1000 << bit)
      .op('i32.and')
      .select()
      .tee(offset);
    fn.i32(AGPR_BASE - operand.index - operand.dwords)
      .op('i32.gt_s')
      .op('i32.or');
    fn.get(offset).i32(VGPR_BYTES).op('i32.mul').set(offset);
  }
  return offsets;
}

export function releaseOffsets(fn: WasmFunction, offsets: IndexOffsets): void {
  for (const local of offsets.values()) fn.release('i32', local);
}

/** Writes one instruction of a run from its template; the run has no other. */
export function addIndexed(run: Run, template: Template, instruction: Instruction, offsets: IndexOffsets): void {
  const operands = instruction.operands.map((o, k) => slotOf(o, k));
  run.addFrom(template, { ...instruction, operands }, new IndexedTarget(run, instruction, offsets));
}

/** Writes v_readlane or v_writelane; false: nothing was written. */
export function addIndexedLane(
  context: FunctionContext,
  module: WasmModule,
  instruction: Instruction,
  op: StructuralOperation,
  otherwise: () => void,
): boolean {
  const { fn, wave } = context;
  const mark = fn.size;
  const offsets = pushOffsets(context, instruction);
  const [offset] = offsets.values();
  const vectors = fn.local('i32');
  fn.if();
  otherwise();
  fn.else();
  fn.get(wave);
  if (offset !== undefined) fn.get(offset).op('i32.add');
  fn.set(vectors);
  const isWritten = emitCrossLane({ fn, wave, vectors }, module, instruction, op);
  fn.end();
  fn.release('i32', vectors);
  releaseOffsets(fn, offsets);
  if (!isWritten) fn.truncate(mark);
  return isWritten;
}

/** A vector register operand as the register whose number says which operand it is. */
const slotOf = (operand: Operand, k: number): Operand =>
  operand.kind === 'reg' && (operand.file === 'v' || operand.file === 'a') ? placeholder(operand, k) : operand;

/** A run whose vector registers are those of an instruction's operands, VECTOR_STRIDE numbers for each. */
class IndexedTarget implements LaneTarget {
  readonly fn: WasmFunction;
  readonly wave: number;
  private readonly run: Run;
  private readonly operands: readonly Operand[];
  private readonly offsets: IndexOffsets;

  constructor(run: Run, { operands }: Instruction, offsets: IndexOffsets) {
    this.fn = run.fn;
    this.wave = run.wave;
    this.run = run;
    this.operands = operands;
    this.offsets = offsets;
  }

  /** Pushes the address of the chunk's lanes but for the constant that is the result. */
  private pushAddress(slot: number): number {
    const { fn, run } = this;
    const k = Math.floor(slot / VECTOR_STRIDE);
    const offset = this.offsets.get(k);
    fn.get(run.at);
    if (offset !== undefined) fn.get(offset).op('i32.add');
    return registerAt(registerNumber(this.operands[k] as Register) + (slot % VECTOR_STRIDE));
  }

  pushRegister(slot: number): void {
    this.fn.memory('v128.load', this.pushAddress(slot), 4);
  }
  pushHalf(slot: number, isHigh: boolean): void {
    this.pushRegister(slot);
    if (isHigh) decodeHighHalf(this.fn);
    else decodeHalf(this.fn);
  }
  setRegister(slot: number, payload: boolean): void {
    const { fn, run } = this;
    const value = fn.local('v128');
    fn.set(value);
    if (payload) {
      canonical(fn, value);
      fn.set(value);
    }
    const place = this.pushAddress(slot);
    fn.get(value);
    this.pushRegister(slot);
    run.pushExec();
    fn.op(choosing()).memory('v128.store', place, 4);
    fn.release('v128', value);
  }
  pushSplat(register: number): void {
    this.run.pushSplat(register);
  }
  pushScalarWord(register: number): void {
    this.run.pushScalarWord(register);
  }
  pushMask(register: number): void {
    this.run.pushMask(register);
  }
  setMask(register: number): void {
    this.run.setMask(register);
  }
  pushLanes(): void {
    this.run.pushLanes();
  }
}
