// Rung 6: the least time that a launch can take on a chip. What is faster was not measured right, or did not do the work.
import type { Chip } from '../../device/sim/timing/chip.ts';

/** Bytes of memory that a launch reads before it writes them, and that it writes; each counts once. */
export interface Traffic {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** What a launch does at least, counted exactly. */
export interface Work extends Traffic {
  /** Executed wave instructions by encoding family. */
  readonly byEncoding: Readonly<Record<string, number>>;
}

/** A bound and what it comes from. */
export interface Floor {
  readonly microseconds: number;
  readonly reason: string;
}

const VECTOR = /^(?:VOP|SDWA|DPP)/;
const MATRIX = /^MFMA|MAI/;
/** Cycles that a vector instruction of 64 lanes keeps a SIMD of 16 lanes. Sources: CDNA3 ISA manual; the chip's `issue.interval`. */
const VECTOR_CYCLES = 4;
/** The shortest matrix instruction has 4 passes of 4 cycles (v_mfma_f32_4x4x4: 2 passes on gfx942). Source: LLVM 22 SISchedule.td. */
const MATRIX_CYCLES = 8;
/** Instructions of different kinds that a compute unit issues in one cycle. Source: CDNA3 ISA manual, "Instruction issue". */
const ISSUE_WIDTH = 5;

/** The highest of all bounds. Caches may hold everything before the launch, so rates are those of the fastest memory beside L2. */
export function physicsFloor(chip: Chip, { bytesRead, bytesWritten, byEncoding }: Work): Floor {
  const units = chip.get('xccs') * chip.get('cusPerXcc');
  const simds = units * chip.get('simdsPerCu');
  const perMicrosecond = chip.get('clockMhz');
  const rate = (which: 'read' | 'write'): number =>
    1000 * Math.max(chip.get(`mall.${which}Gbps`), chip.get(`hbm.${which}Gbps`));
  const l2 = chip.get('l2.bytes') * chip.get('xccs');
  const count = (family: RegExp): number =>
    Object.entries(byEncoding).reduce((sum, [name, n]) => sum + (family.test(name) ? n : 0), 0);
  const all = Object.values(byEncoding).reduce((sum, n) => sum + n, 0);
  const floors: Floor[] = [
    {
      microseconds: Math.max(0, bytesRead - l2) / rate('read'),
      reason: `${bytesRead} bytes are read, ${rate('read') / 1000} GB/s`,
    },
    {
      microseconds: Math.max(0, bytesWritten - l2) / rate('write'),
      reason: `${bytesWritten} bytes are written, ${rate('write') / 1000} GB/s`,
    },
    {
      microseconds: (count(VECTOR) * VECTOR_CYCLES) / simds / perMicrosecond,
      reason: `${count(VECTOR)} vector instructions on ${simds} SIMDs`,
    },
    {
      microseconds: (count(MATRIX) * MATRIX_CYCLES) / simds / perMicrosecond,
      reason: `${count(MATRIX)} matrix instructions on ${simds} SIMDs`,
    },
    {
      microseconds: all / (units * ISSUE_WIDTH) / perMicrosecond,
      reason: `${all} instructions on ${units} compute units`,
    },
  ];
  return floors.reduce((a, b) => (b.microseconds > a.microseconds ? b : a));
}

/** Why a time is impossible; undefined when it is not. */
export function impossibility(microseconds: number, floor: Floor): string | undefined {
  if (microseconds >= floor.microseconds) return undefined;
  return `${microseconds.toPrecision(4)} µs is below the least possible ${floor.microseconds.toPrecision(4)} µs: ${floor.reason}.`;
}
