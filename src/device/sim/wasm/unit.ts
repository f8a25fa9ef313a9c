// A compiled module as the engine knows it: no instructions, only what has to be known of them while it runs. It can be sent to other threads.
import type { Place } from './place.ts';

/** Why compiled code came back; program counter and state are in the wave block. */
export const LEFT = -1;
/** The next instruction begins a row of loads into LDS: the wave's turn is over. */
export const LATE = -2;

/** A block of a unit. */
export interface UnitBlock extends Place {
  /** As `Block.late`. */
  readonly late: boolean;
  /** A row of loads into LDS ends on the way from here, before a next one; a unit with loads sees to that itself. */
  readonly endsRow: boolean;
  /** Offset of each instruction, a branch that ends the block among them; none where nothing can be decoded: the interpreter says so. */
  readonly pcs: readonly number[];
  /** And where its encoding family stands in `CompiledUnit.families`. */
  readonly families: readonly number[];
  /** Operations that the interpreter executes. */
  readonly interpreted: readonly string[];
}

/**
 * How a unit came to be: waves `reached` its place, or `strayed` to where they were not expected when the code that begins at `root` was compiled; or all that
 * they had reached from there was `gathered`, and takes the place of the units that had it before.
 */
export type UnitOrigin = 'reached' | 'strayed' | 'gathered';

/** A compiled module. Structured clones of it are as good. */
export interface CompiledUnit {
  readonly module: WebAssembly.Module;
  readonly blocks: readonly UnitBlock[];
  /** Names of encoding families. */
  readonly families: readonly string[];
  readonly origin: UnitOrigin;
  readonly root: Place;
  /** Where branches lead that were left out. */
  readonly leftOut: readonly Place[];
  /** Vector registers of each file that it can name. */
  readonly registers: readonly [number, number];
}
