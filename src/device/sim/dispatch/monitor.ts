// Observers of a dispatch. A dispatch with monitors runs on one thread, in workgroup order, and on the reference interpreter unless
// its monitor brings an engine of its own.

import type { DeviceFault } from '../../fault.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Region } from '../state/region.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import type { Engine, EngineJob } from './engine.ts';
import type { Launch } from './launch.ts';

export interface DispatchInfo {
  readonly loaded: LoadedCode;
  readonly launch: Launch;
  readonly memory: DeviceMemory;
  /** The allocation that holds the kernarg segment (at `launch.kernarg`). */
  readonly kernarg: Region;
}

/** All of an observed dispatch between two slices, but its memory. */
export interface RunnerState {
  readonly residents: readonly unknown[];
}

/** A dispatch that can go back to where it was: the memory spans that hold its state, and the rest of it. */
export interface Rewindable {
  /** Where in wasm memory wave blocks, LDS and scratch are. Device memory is beside them. */
  spans(): readonly { readonly offset: number; readonly size: number }[];
  save(): RunnerState;
}

/** Thrown by an observer: the dispatch goes on from a saved state. The observer has put memory back already. */
export class Rewind extends Error {
  readonly to: RunnerState;
  /** Called when the state is in place. */
  readonly arrived: () => void;

  constructor(to: RunnerState, arrived: () => void) {
    super('rewind');
    this.to = to;
    this.arrived = arrived;
  }
}

/** Every method is optional. What one throws ends the dispatch. */
export interface Monitor {
  startDispatch?(info: DispatchInfo): void;
  /** Between two slices: the only moments whose state can be saved. */
  betweenSlices?(dispatch: Rewindable): void;
  /** Registers of `waves` are in their initial state. Waves are used again for later workgroups. */
  startWorkgroup?(group: Workgroup, waves: readonly Wave[]): void;
  /** Before the instruction at `pc`; execution waits for a promise. */
  before?(w: Wave, pc: number, bound: BoundInstruction): void | Promise<void>;
  /** After it; `w.pc` is the next instruction. Not called when it faults. */
  after?(w: Wave, pc: number, bound: BoundInstruction): void;
  /** What an instruction did ends the dispatch, unless this throws a Rewind. `w.pc` is the instruction. */
  fault?(w: Wave, error: DeviceFault): void | Promise<void>;
  /** Every workgroup has ended; a Rewind goes back. */
  ended?(): void | Promise<void>;
  /** All live waves of the workgroup have reached a barrier. */
  barrier?(group: Workgroup): void;
  /** A wave of each workgroup of the grid has come to the grid's barrier, and is there yet. */
  gridBarrier?(groups: readonly Workgroup[]): void;
  endWave?(w: Wave): void;
  endWorkgroup?(group: Workgroup): void;
  /** Also called when the dispatch fails or is aborted. */
  endDispatch?(): void;
  /** An engine that does what `before` and `after` do; used on the compiled engine's behalf when there is no other monitor. */
  engine?(job: EngineJob): Engine;
}
