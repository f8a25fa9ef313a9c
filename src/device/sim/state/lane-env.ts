// What a semantics expression sees while it is evaluated for one lane (or for the scalar unit): operand words, masks, MODE.
// MODE fields: AMD CDNA3 ISA, table "MODE register".
import type { Rounding } from '../../../base/elements/formats.ts';

/** Words kept per source operand. */
export const SOURCE_STRIDE = 16;

export class LaneEnv {
  /** Operand words after modifiers: source k, word or element n at k·SOURCE_STRIDE + n. */
  readonly words = new Int32Array(5 * SOURCE_STRIDE);
  lane = 0;
  carry = false;
  scc = false;
  exec = 0n;
  vccz = false;
  execz = false;
  round32: Rounding = 0;
  round64: Rounding = 0;
  /** Denormals of f32 are read, and written, as they are (else as zeros of their sign). */
  denormalIn32 = true;
  denormalOut32 = true;
  /** The same for f16 and f64. */
  denormalIn64 = true;
  denormalOut64 = true;
  /** NaN clamps to 0. */
  dx10Clamp = true;
  /** Signalling NaNs are quieted by v_min and v_max; output modifiers are ignored. */
  ieee = true;
  /** Conversions to small floats saturate (MODE.fp16_ovfl). */
  saturate = false;
  /** FP8/BF8 are the OCP formats (CDNA4), not FNUZ (CDNA3). */
  ocp = false;

  /** Takes over a MODE register value. */
  setMode(mode: number): void {
    this.round32 = (mode & 3) as Rounding;
    this.round64 = ((mode >> 2) & 3) as Rounding;
    this.denormalIn32 = (mode & 0x10) !== 0;
    this.denormalOut32 = (mode & 0x20) !== 0;
    this.denormalIn64 = (mode & 0x40) !== 0;
    this.denormalOut64 = (mode & 0x80) !== 0;
    this.dx10Clamp = (mode & 0x100) !== 0;
    this.ieee = (mode & 0x200) !== 0;
    this.saturate = (mode & 0x800000) !== 0;
  }
}
