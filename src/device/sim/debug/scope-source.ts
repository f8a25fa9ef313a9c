// Where the names of expressions get their values from.
import type { DebugInfo } from '../../../codeobject/index.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { DebuggedArgument } from './stop.ts';

/** Where arguments, addresses of code and memory come from. */
export interface ScopeSource {
  /** Memory of the device, from the dispatch's start on. */
  readonly memory: DeviceMemory | undefined;
  readonly arguments: () => readonly DebuggedArgument[];
  /** The address, in the file, of a wave's next instruction. */
  pcOf(w: Wave): number | undefined;
  /** Variables of the source program, when there is debug information. */
  readonly info: DebugInfo | undefined;
  /** Address at which the file's address 0 is loaded. */
  readonly codeBase: number;
}
