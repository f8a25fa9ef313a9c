// How the hardware writes the token stream, which no field of a token tells: packets of 32 bytes, each filled to its end with
// empty tokens, one a cycle, so that a step of the clock (four cycles) has four of them at most. A longer pause stands only
// at the start of a packet. Traces that are not written so (other producers) are recognised by their own tokens and not judged.
// Source: measured on the 64 traces of a gfx950 of tinygrad's examples; there is no exception in 36,427 empty tokens.
import { HEADER_BYTES, Misc, Token } from './layout.ts';

/** Bytes of a packet. */
export const PACKET_BYTES = 32;
/** Empty tokens in a step of the clock. */
const FILLERS_PER_STEP = 4;
/** A delta of two steps stands here, too: at the end of a step that a long token takes. */
const SECOND_STEP = 8;
/** The delta that a time reset has: the counter is full. */
const FULL = 255;
/** Fewer pauses or steps than these say nothing about how a trace is written. */
const LEAST = 3;
/** Share of a trace's pauses, and of its steps, that must be in order for the rest to be a contradiction. */
const MOST = 0.75;
/** Steps after a token that may be shorter, because the token takes the cycles of empty ones. */
const SHORTER_AFTER: Readonly<Record<number, number>> = {
  [Token.REG]: 1,
  [Token.WAVE_START]: 2,
  [Token.WAVE_END]: 2,
};

/** What does not fit how the trace is written; zeros for traces that are not written in packets. */
export interface RhythmBreaks {
  /** Pauses in the middle of a packet, and time resets whose delta is not full. */
  readonly pauses: number;
  /** Steps of the clock with more or fewer empty tokens than cycles. */
  readonly steps: number;
  /** Bytes after the last whole packet. */
  readonly rest: number;
}

/** Follows the tokens of a trace in file order. */
export class PacketRhythm {
  private pausesAtStart = 0;
  private pausesInside = 0;
  private resets = 0;
  private partialResets = 0;
  private stepsInOrder = 0;
  private stepsBroken = 0;
  private fillers = 0;
  private others = 0;
  /** Whether the current step lies in one packet, and follows a step of the same packet. */
  private isWhole = false;
  private mayBeShort = 0;

  /** One token: its type, its first 16 bits, its delta in units of four cycles, and its offset in the file. */
  token(type: number, low: number, delta: number, offset: number): void {
    const place = (offset - HEADER_BYTES) % PACKET_BYTES;
    const isStart = place === 0;
    const isEmpty = type === Token.MISC && low >> 13 === Misc.TIME;
    if (type === Token.MISC && low >> 13 === Misc.TIME_RESET) {
      this.resets++;
      if (delta !== FULL) this.partialResets++;
    }
    if (delta > 1) {
      if (isStart) this.pausesAtStart++;
      else if (delta > 2 || place !== SECOND_STEP) this.pausesInside++;
    }
    if (delta > 0) {
      if (isStart) this.isWhole = false;
      this.endStep();
      this.isWhole = !isStart && delta === 1;
      this.fillers = 0;
      this.others = 0;
    } else if (isStart) this.isWhole = false;
    this.mayBeShort = Math.max(this.mayBeShort, SHORTER_AFTER[type] ?? 0);
    if (isEmpty) this.fillers++;
    else this.others++;
  }

  private endStep(): void {
    const isShort = this.isWhole && this.mayBeShort === 0 && this.fillers + this.others < FILLERS_PER_STEP - 1;
    if (this.fillers > FILLERS_PER_STEP || isShort) this.stepsBroken++;
    else this.stepsInOrder++;
    if (this.mayBeShort > 0) this.mayBeShort--;
  }

  /** What contradicts the way the trace is written; `size` is that of the file. */
  finish(size: number): RhythmBreaks {
    const pauses = this.pausesAtStart + this.pausesInside;
    const steps = this.stepsInOrder + this.stepsBroken;
    const isPacked =
      pauses >= LEAST && this.pausesAtStart >= MOST * pauses && steps >= LEAST && this.stepsInOrder >= MOST * steps;
    if (!isPacked) return { pauses: 0, steps: 0, rest: 0 };
    const partial = this.partialResets < (1 - MOST) * this.resets ? this.partialResets : 0;
    return {
      pauses: this.pausesInside + partial,
      steps: this.stepsBroken,
      rest: (size - HEADER_BYTES) % PACKET_BYTES,
    };
  }
}
