// What executes a wavefront's instructions: the reference interpreter (interpreter/), compiled code (wasm/). Both act on the wave block.
import { ENCODINGS, type LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import type { Launch } from './launch.ts';

/** Instructions a wave runs before the next wave of its workgroup gets a turn. */
export const QUANTUM = 20_000;

export interface Engine {
  /** Instructions between two looks at the clock. */
  readonly slice: number;
  /** Vector registers that the code run so far can name, `[vgprs, agprs]`, at least one each: no others need clearing after it. */
  readonly registers: readonly [number, number];
  /** Makes ready what a wave runs first, so that the time of a dispatch is not that of its compilation. */
  prepare?(w: Wave): void;
  /**
   * Runs a wave until it ends or reaches a barrier, or has executed about `limit` instructions. True ends its turn early: the next
   * instruction begins a row of loads into LDS. `isTurnStart` says that nothing of the turn has run yet. `w.executed` and `workgroup.clock` are exact
   * afterwards; when it throws (KernelStop, MemoryFault), `w.pc` is the failing instruction.
   */
  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean;
  /** Adds the instructions executed since the last call to `counts`, by index in ENCODINGS. */
  takeCounts(counts: number[]): void;
}

/** The instructions an engine has executed since this was last asked, by encoding family. */
export function countsByEncoding(engine: Engine): Record<string, number> {
  const counts: number[] = [];
  engine.takeCounts(counts);
  const byEncoding: Record<string, number> = {};
  counts.forEach((n, i) => {
    if (n > 0) byEncoding[ENCODINGS[i] as string] = n;
  });
  return byEncoding;
}

/** What an engine is made for. */
export interface EngineJob {
  readonly loaded: LoadedCode;
  readonly launch: Launch;
  readonly memory: DeviceMemory;
}
