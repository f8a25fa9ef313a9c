// What an instance of compiled code calls where vector code cannot compute: a fused multiply-add of any operands and rounding, and the table of
// v_trig_preop_f64 in the device's memory. The code that calls it is in math-exact.ts.
import type { Rounding } from '../../../base/elements/formats.ts';
import { fmaScaledF64 } from '../../../isa/semantics/exact.ts';
import { DIGITS, TRIG_EXPONENT, TRIG_LARGE, trigDigits } from '../interpreter/division.ts';
import { TRIG_READY, TRIG_TABLE } from '../state/layout.ts';
import type { DeviceMemory } from '../state/memory.ts';

/** The import `fmaExactly`. */
export function fmaExactly(a: number, b: number, c: number, scale: number, rounding: number): number {
  return fmaScaledF64(a, b, c, scale, rounding as Rounding);
}

/** Past the last digit of 2/π there are zeros: shifts end here. */
export const LAST_SHIFT = DIGITS;
/** The least shift of a large operand. */
const LARGE_SHIFT = TRIG_LARGE - TRIG_EXPONENT;
/** By so much the place of a large operand's result is behind that of another one with its shift. */
export const LARGE_PLACE = LAST_SHIFT + 1 - LARGE_SHIFT;

/** The import `fillTrigTable`: all results of v_trig_preop_f64, by shift those of operands that are not large, then of others. */
export function fillTrigTable(memory: DeviceMemory): () => void {
  const { buffer } = memory.wasm;
  return () => {
    const table = new Float64Array(buffer, TRIG_TABLE, LAST_SHIFT + 1 + LARGE_PLACE);
    for (let shift = 0; shift <= LAST_SHIFT; shift++) {
      table[shift] = trigDigits(shift, false);
      if (shift >= LARGE_SHIFT) table[LARGE_PLACE + shift] = trigDigits(shift, true);
    }
    Atomics.store(new Int32Array(buffer, TRIG_READY, 1), 0, 1);
  };
}
