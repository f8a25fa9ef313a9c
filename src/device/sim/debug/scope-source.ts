// Where the names of expressions get their values from.
import type { DebugInfo } from '../../../codeobject/index.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { Remembered } from './remembered.ts';
import type { DebuggedArgument } from './stop.ts';
import type { Load } from './typed.ts';

/** The function whose variables are meant. */
export interface SelectedFrame {
  /** Address of its next instruction, or of the call that it waits for, in the file. */
  readonly pc: number;
  /** Functions at that address that are inlined further inside. */
  readonly inlined: number;
  /** Of a function that has called another one: scalar registers at the call. Vector registers are the innermost function's. */
  readonly scalars: Int32Array | undefined;
  /** Calls that have not returned, its own included. */
  readonly depth: number;
}

/** Where arguments, addresses of code and memory come from. */
export interface ScopeSource {
  /** Memory of the device, from the dispatch's start on. */
  readonly memory: DeviceMemory | undefined;
  readonly arguments: () => readonly DebuggedArgument[];
  /** The address, in the file, of a wave's next instruction. */
  pcOf(w: Wave): number;
  /** The function whose variables are meant; undefined while the wave runs: its innermost one. */
  selectedFrame?(w: Wave): SelectedFrame | undefined;
  /** The function of a key among those in so many calls; undefined when the wave is not in it. */
  frameOfKey?(w: Wave, key: number, depth: number): SelectedFrame | undefined;
  /** The innermost call of a function of a name in the source that has not returned; undefined when the wave is in none. */
  frameNamed?(w: Wave, name: string): SelectedFrame | undefined;
  /** How many inlined functions that begin at an address are none that a place, as it was written, means. */
  hiddenAt?(pc: number, meant: string | undefined): number;
  /** The address, in the file, of a function or label. */
  codeNamed?(name: string): number | undefined;
  /** Variables of the source program, when there is debug information. */
  readonly info: DebugInfo | undefined;
  /** Where the kernel begins, in the file; undefined before the dispatch starts. */
  readonly kernelAt?: number | undefined;
  /** Address at which the file's address 0 is loaded. */
  readonly codeBase: number;
  /** Workgroups of the dispatch and work-items of a workgroup; undefined before it starts. */
  readonly shape?: { readonly grid: readonly number[]; readonly block: readonly number[] } | undefined;
  /** Bytes of LDS of a workgroup that the kernel itself has, and with what the dispatch adds; undefined before it starts. */
  readonly shared?: { readonly fixed: number; readonly all: number } | undefined;
  /** Reads memory as a wave sees it; without a wave, global memory. */
  loadAs(w: Wave | undefined): Load;
  /** Told of bytes at an offset of device memory that a variable is read from. */
  wasRead?(offset: number, bytes: number): void;
  /** Values that were printed and variables of the session. */
  readonly remembered?: Remembered | undefined;
}
