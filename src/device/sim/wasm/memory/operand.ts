// Operands of memory and lane-crossing instructions as wasm values.

import { operandNamed } from '../../../../isa/operand.ts';
import type { Instruction, Operand } from '../../../../isa/types.ts';
import { inlineWords, isVector } from '../../interpreter/operands.ts';
import { AGPR_BASE } from '../../state/wave.ts';
import type { WasmFunction } from '../emit.ts';
import { registerAt } from './pair.ts';

/** What the compiler gives for one instruction: the function being written, the local of the wave block, the instruction's pc. */
export interface MemoryContext {
  readonly fn: WasmFunction;
  readonly wave: number;
  /** As the imports `interpret` and `resume` take it. */
  readonly pc: number;
}

/** Whether `pushScalar` can read an operand. */
export function isPlainScalar(operand: Operand): boolean {
  return operand.kind !== 'reg' || operand.encoding < 128;
}

/** Pushes the 32-bit value of a scalar operand; false (nothing pushed) for special sources that need the interpreter. */
export function pushScalar({ fn, wave }: MemoryContext, operand: Operand): boolean {
  if (!isPlainScalar(operand)) return false;
  if (operand.kind === 'imm') fn.i32(operand.value);
  else if (operand.kind === 'literal') fn.i32(operand.bits | 0);
  else if (operand.kind === 'inline') fn.i32(inlineWords(operand.encoding, 'i32')[0]);
  else fn.get(wave).memory('i32.load', 4 * operand.encoding);
  return true;
}

/** Place of a vector register operand in the wave block. */
export function vectorAt(operand: Operand | undefined): number | undefined {
  if (operand === undefined || !isVector(operand)) return undefined;
  return registerAt(operand.file === 'a' ? AGPR_BASE + operand.index : operand.index);
}

/** Place of the first vector register among the named operands. */
export function namedVector(instruction: Instruction, ...names: string[]): number | undefined {
  for (const name of names) {
    const at = vectorAt(operandNamed(instruction, name));
    if (at !== undefined) return at;
  }
  return undefined;
}
