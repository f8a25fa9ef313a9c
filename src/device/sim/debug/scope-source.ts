// Where the names of expressions get their values from.
import type { DebugInfo } from '../../../codeobject/index.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { DebuggedArgument } from './stop.ts';

/** A function that waits for one that it has called. */
export interface OuterFrame {
  /** Address of the call in the file. */
  readonly pc: number;
  /** Scalar registers when it was made. Vector registers are the innermost function's. */
  readonly scalars: Int32Array;
}

/** Where arguments, addresses of code and memory come from. */
export interface ScopeSource {
  /** Memory of the device, from the dispatch's start on. */
  readonly memory: DeviceMemory | undefined;
  readonly arguments: () => readonly DebuggedArgument[];
  /** The address, in the file, of a wave's next instruction. */
  pcOf(w: Wave): number | undefined;
  /** The function whose variables are meant, when it is not the one where the wave is. */
  outerFrame?(w: Wave): OuterFrame | undefined;
  /** Variables of the source program, when there is debug information. */
  readonly info: DebugInfo | undefined;
  /** Address at which the file's address 0 is loaded. */
  readonly codeBase: number;
}
