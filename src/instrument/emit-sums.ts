// Code before the end of a wave that adds its counters in scalar registers to memory: a few by lane 0, more of them one in each lane. Nothing
// of the wave is needed any more, so nothing is kept.
import type { Line } from './assemble.ts';

/** What is added to the counters of one state. */
export interface Sum {
  readonly state: string;
  readonly counts: readonly {
    /** How many counters behind the first of the state's. */
    readonly at: number;
    /** A scalar register or a number of 32 bits. */
    readonly low: string;
    /** The register of the upper half; undefined where it is zero. */
    readonly high: string | undefined;
  }[];
}

const LANES = 64;
/** Counters that the offset of an instruction reaches. */
const REACH = 512;

/** Registers for the code; `base` is the address of the first counter. */
export interface SumRegisters {
  readonly base: string;
  /** The first of two vector registers, and another. */
  readonly data: number;
  readonly offset: number;
  readonly scalar: number;
}

/** The code of one sum. Errors: none; there are fewer registers than `REACH`. */
export function sumLines({ counts }: Sum, { base, data, offset, scalar }: SumRegisters): Line[] {
  const pair = `v[${data}:${data + 1}]`;
  const isSmall = counts.length <= 2 && counts.every(({ at, high }) => high === undefined && at < REACH);
  if (isSmall) {
    const lines = ['s_mov_b64 exec, 1', `v_mov_b32_e32 v${data + 1}, 0`];
    for (const { at, low } of counts)
      lines.push(
        `v_mov_b32_e32 v${data}, ${low}`,
        `global_atomic_add_x2 v${data + 1}, ${pair}, ${base} offset:${8 * at}`,
      );
    return lines;
  }
  const lines: Line[] = [];
  /** Lane instructions take small numbers only. */
  const operand = (text: string): string => {
    if (text.startsWith('s') || Number(text) <= LANES) return text;
    lines.push(`s_mov_b32 s${scalar}, ${text}`);
    return `s${scalar}`;
  };
  for (let from = 0; from < counts.length; from += LANES) {
    const part = counts.slice(from, from + LANES);
    lines.push(
      part.length === LANES ? 's_mov_b64 exec, -1' : `s_bfm_b64 exec, ${part.length}, 0`,
      `v_mbcnt_lo_u32_b32 v${offset}, -1, 0`,
      `v_mbcnt_hi_u32_b32 v${offset}, -1, v${offset}`,
      `v_lshlrev_b32_e32 v${offset}, 3, v${offset}`,
      `v_mov_b32_e32 v${data + 1}, 0`,
    );
    for (const [lane, { at, low, high }] of part.entries()) {
      lines.push(`v_writelane_b32 v${data}, ${operand(low)}, ${lane}`);
      if (high !== undefined) lines.push(`v_writelane_b32 v${data + 1}, ${high}, ${lane}`);
      if (at !== lane) lines.push(`v_writelane_b32 v${offset}, ${operand(String(8 * at))}, ${lane}`);
    }
    lines.push(`global_atomic_add_x2 v${offset}, ${pair}, ${base}`);
  }
  return lines;
}
