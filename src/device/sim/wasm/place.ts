// Where code is: a program counter and what changes what code does there, as a key for tables.

/** Bits of MODE that change what code does: rounding, denormals, DX10 clamp, IEEE, saturating conversions. */
export const MODE_MASK = 0x8003ff;

/** What else than MODE changes what code does, in bits of a place's mode that MODE_MASK leaves free: s_set_gpr_idx is on; s_setvskip is. */
export const INDEXES_REGISTERS = 1 << 10;
export const SKIPS_VECTORS = 1 << 11;
export const STATE_MASK = INDEXES_REGISTERS | SKIPS_VECTORS;

/** A program counter (byte offset), and there the bits of MODE, INDEXES_REGISTERS and SKIPS_VECTORS. */
export interface Place {
  readonly pc: number;
  readonly mode: number;
}

/** Places of one mode. */
const MODE_PLACES = 2 ** 28;
/** The first key of each mode met so far. There are few, so that keys are small integers: tables of larger ones take 1.4 times the processor time. */
const firstKeys = new Map<number, number>();
let lastMode = -1;
let lastFirst = 0;

/** A number for a place: the same for the same place, for all code of this thread. */
export function keyOf({ pc, mode }: Place): number {
  const bits = mode & (MODE_MASK | STATE_MASK);
  if (bits !== lastMode) {
    lastMode = bits;
    lastFirst = firstKeys.get(bits) ?? firstKeys.size * MODE_PLACES;
    firstKeys.set(bits, lastFirst);
  }
  return lastFirst + pc;
}
