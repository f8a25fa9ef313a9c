// Compiled matrix instructions: what the compiler of kernels calls.
import type { MatrixOperation } from '../../../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../../../isa/types.ts';
import type { MatrixMode } from '../../matrix.ts';
import { type FunctionContext, interpretIndex } from '../context.ts';
import type { WasmModule } from '../emit.ts';
import { emitMatrixInstruction } from './emit-matrix.ts';
import type { MatrixFeatures } from './features.ts';

export { type MatrixFeatures, matrixFeatures, PLAIN_SIMD } from './features.ts';

/**
 * Emits a matrix instruction; false when it has no compiled form here. Operands that SIMD code does not handle (infinities and NaNs
 * under truncating sums) go to the import `interpret` at run time, before anything is written.
 */
export function emitMatrix(
  context: FunctionContext,
  module: WasmModule,
  instruction: Instruction,
  operation: MatrixOperation,
  target: TargetName,
  mode: MatrixMode,
  features?: MatrixFeatures,
): boolean {
  const { fn, wave, pc } = context;
  const fallback = (): void => {
    fn.get(wave).i32(pc).call(interpretIndex(module));
  };
  return emitMatrixInstruction(fn, module, wave, instruction, operation, target, mode, fallback, features);
}
