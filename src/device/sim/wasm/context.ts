// What code generators of instructions share: the function being written, the wave block, the imports of compiled kernels.
import { AGPR_BASE, VGPR_BYTES, WAVE_VGPRS } from '../state/layout.ts';
import type { WasmFunction, WasmModule } from './emit.ts';
import { exactFmaIndex, trigTableIndex } from './math-exact.ts';
import { declareMemoryImports } from './memory/index.ts';

/** One instruction of a function being written. */
export interface FunctionContext {
  readonly fn: WasmFunction;
  readonly module: WasmModule;
  /** Local (i32) with the address of the wave block. */
  readonly wave: number;
  /** Byte offset of the instruction in the code's image, as the imports `interpret` and `resume` take it. */
  readonly pc: number;
}

/** Index of the import `interpret(wave, pc)`: the reference interpreter executes one instruction on the wave block. */
export function interpretIndex(module: WasmModule): number {
  return module.importFunction('env', 'interpret', ['i32', 'i32'], []);
}

/** Declares everything compiled code imports; to be done before the module's first function. */
export function declareImports(module: WasmModule): void {
  interpretIndex(module);
  declareMemoryImports(module);
  exactFmaIndex(module);
  trigTableIndex(module);
}

/** Offset in the wave block of lane 0 of a vector register (accumulation registers from 256). */
export function registerAt(register: number): number {
  return WAVE_VGPRS + register * VGPR_BYTES;
}

/** Number of a vector register in the wave block. */
export function registerNumber(register: { readonly file: string; readonly index: number }): number {
  return register.file === 'a' ? AGPR_BASE + register.index : register.index;
}
