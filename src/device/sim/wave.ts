// The state of one wavefront: register files, masks, program counter.
// Scalar registers are indexed by their source encoding (SGPRs 0–101, flat_scratch 102, vcc 106, ttmp 108, m0 124, exec 126).

import { LaneEnv } from './lane-env.ts';
import type { DeviceMemory } from './memory.ts';
import type { Workgroup } from './workgroup.ts';

export const FLAT_SCRATCH = 102;
export const VCC = 106;
export const TTMP0 = 108;
export const M0 = 124;
export const EXEC = 126;

/** Lanes of a wavefront. */
export const LANES = 64;
/** First register number of the accumulation file in `vgprs`. */
export const AGPR_BASE = 256;

export type WaveState = 'running' | 'barrier' | 'ended';

export class Wave {
  /** Registers × lanes; the 64 lanes of a register are contiguous, AGPRs start at register AGPR_BASE. */
  readonly vgprs = new Int32Array(2 * AGPR_BASE * LANES);
  readonly sgprs = new Int32Array(128);
  readonly env = new LaneEnv();
  readonly memory: DeviceMemory;
  scc = false;
  mode = 0;
  pc = 0;
  state: WaveState = 'running';
  /** Position in the workgroup. */
  index = 0;
  workgroup: Workgroup;
  /** Instructions this wave has executed. */
  executed = 0;
  /** Lane being accessed, for fault messages. */
  lane = 0;
  /** s_set_gpr_idx mode is on. */
  gprIndexing = false;
  /** s_setvskip: vector instructions are passed over. */
  vskip = false;

  constructor(memory: DeviceMemory, workgroup: Workgroup) {
    this.memory = memory;
    this.workgroup = workgroup;
  }

  /** Clears all registers for a new workgroup. */
  reset(workgroup: Workgroup, index: number): void {
    this.vgprs.fill(0);
    this.sgprs.fill(0);
    this.scc = false;
    this.state = 'running';
    this.workgroup = workgroup;
    this.index = index;
    this.executed = 0;
    this.gprIndexing = false;
    this.vskip = false;
  }

  setMode(mode: number): void {
    this.mode = mode;
    this.env.setMode(mode);
  }
  /** A 64-bit scalar register pair. */
  s64(at: number): bigint {
    return (BigInt((this.sgprs[at + 1] as number) >>> 0) << 32n) | BigInt((this.sgprs[at] as number) >>> 0);
  }
  setS64(at: number, value: bigint): void {
    this.sgprs[at] = Number(BigInt.asIntN(32, value));
    this.sgprs[at + 1] = Number(BigInt.asIntN(32, value >> 32n));
  }
  /** A 64-bit scalar pair as an address (exact below 2^53). */
  address(at: number): number {
    return ((this.sgprs[at + 1] as number) >>> 0) * 4294967296 + ((this.sgprs[at] as number) >>> 0);
  }
  isActive(lane: number): boolean {
    const word = this.sgprs[EXEC + (lane >> 5)] as number;
    return ((word >>> (lane & 31)) & 1) !== 0;
  }
}

/** Bit `lane` of a mask in two words. */
export function maskBit(low: number, high: number, lane: number): boolean {
  return (((lane < 32 ? low : high) >>> (lane & 31)) & 1) !== 0;
}
