// What an operation of AMD's pseudo-code sees of the machine, and what it leaves.
import type { RoundingMode } from './exact.ts';
import type { Soft } from './values.ts';

/** What an operation reads and writes. Bit strings are as wide as they must be. */
export interface Machine {
  readonly sources: readonly bigint[];
  readonly destination: bigint;
  readonly literal: bigint;
  /** The table of v_bitop3. */
  readonly truthTable: bigint;
  readonly lane: number;
  readonly vcc: bigint;
  readonly exec: bigint;
  readonly scc: boolean;
  readonly ieee: boolean;
  /** What MODE says of roundings and denormals; to nearest and kept where it is absent. */
  readonly floats?: FloatMode;
  /** Integers that are stored saturate. */
  readonly saturates?: boolean;
}

/** Roundings and denormals of one width, f32 or f16 and f64. */
export interface FloatRules {
  readonly rounding: RoundingMode;
  readonly readsDenormals: boolean;
  readonly writesDenormals: boolean;
}

export interface FloatMode {
  readonly single: FloatRules;
  readonly other: FloatRules;
}

export interface Outcome {
  readonly destination: bigint;
  /** The bits of the destination that were written. */
  readonly written: bigint;
  readonly soft: readonly Soft[];
  readonly vcc: bigint | undefined;
  readonly exec: bigint | undefined;
  readonly scc: boolean | undefined;
  /** Of comparisons: the lane's bit of the mask. */
  readonly mask: boolean | undefined;
  /** The lowest bit of the second destination: the carry of v_mad_u64_u32. */
  readonly carry: boolean | undefined;
}
