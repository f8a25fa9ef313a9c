// Where memory helpers find what they need in the wave block, and the import they call.
import { EXEC, FLAT_SCRATCH, M0 } from '../../state/wave.ts';
import type { WasmModule } from '../emit.ts';

export const EXEC_AT = 4 * EXEC;
export const M0_AT = 4 * M0;
export const FLAT_SCRATCH_AT = 4 * FLAT_SCRATCH;

/** The import that has the interpreter execute an instruction for the active lanes from a lane on. */
export function resumeIndex(module: WasmModule): number {
  return module.importFunction('env', 'resume', ['i32', 'i32', 'i32'], []);
}
