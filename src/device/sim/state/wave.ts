// The state of one wavefront: register files, masks, program counter, as views of its block in wasm memory (layout.ts).
// Scalar registers are indexed by their source encoding (SGPRs 0–101, flat_scratch 102, vcc 106, ttmp 108, m0 124, exec 126).

import { LaneEnv } from './lane-env.ts';
import {
  AGPR_BASE,
  FLAG_GPR_INDEXING,
  FLAG_VSKIP,
  LANES,
  RUNNING,
  VGPR_BYTES,
  WAVE_ADDRESS_TABLE,
  WAVE_BYTES,
  WAVE_CODE_BASE,
  WAVE_EXECUTED,
  WAVE_FLAGS,
  WAVE_LDS_BASE,
  WAVE_LDS_BYTES,
  WAVE_LOAD_ROW,
  WAVE_MODE,
  WAVE_PC,
  WAVE_SCC,
  WAVE_SCRATCH_BYTES,
  WAVE_START,
  WAVE_START_BYTES,
  WAVE_STATE,
  WAVE_USED,
  WAVE_VGPRS,
} from './layout.ts';
import type { DeviceMemory } from './memory.ts';
import type { Workgroup } from './workgroup.ts';

export { AGPR_BASE, LANES } from './layout.ts';

export const FLAT_SCRATCH = 102;
export const VCC = 106;
export const TTMP0 = 108;
export const M0 = 124;
export const EXEC = 126;

export type WaveState = 'running' | 'barrier' | 'ended' | 'grid barrier';
/** By RUNNING, AT_BARRIER, ENDED, AT_GRID_BARRIER. */
const STATES: readonly WaveState[] = ['running', 'barrier', 'ended', 'grid barrier'];

/** What of a wave is not in its block of memory. */
export interface WaveRemainder {
  readonly index: number;
  readonly workgroup: Workgroup;
  readonly base: number;
  readonly stray: number;
}

/** Largest image whose program counters are kept as offsets. */
const MAX_OFFSET = 2 ** 31;
/** The program counter where `stray` has it: no multiple of 4. */
const STRAY = -1;

export class Wave {
  /** Registers × lanes; the 64 lanes of a register are contiguous, AGPRs start at register AGPR_BASE. */
  readonly vgprs: Int32Array;
  readonly sgprs: Int32Array;
  readonly env = new LaneEnv();
  readonly memory: DeviceMemory;
  /** Wasm offset of the block. */
  readonly pointer: number;
  private readonly words: Int32Array;
  private readonly counter: Float64Array;
  /** Position in the workgroup. */
  index = 0;
  /** Instructions that compiled code has executed and not yet added to `executed`; exact where a clock is read. */
  running = 0;
  workgroup: Workgroup;
  private base = 0;
  /** Whose state is kept. */
  private startOf:
    | { readonly launch: object; readonly scratch: object | undefined; readonly index: number }
    | undefined;
  /** The program counter when it is no offset in an image. */
  private stray = 0;
  /** The MODE that `env` holds. */
  private envMode = 0;
  /** Lane being accessed, for fault messages. */
  lane = 0;
  /** A wave whose state is in `block` (WAVE_BYTES of the device's own memory). */
  constructor(
    memory: DeviceMemory,
    workgroup: Workgroup,
    block: Uint8Array = memory.reserve(WAVE_BYTES, 'wave state'),
  ) {
    const { buffer, byteOffset } = block;
    this.memory = memory;
    this.pointer = byteOffset;
    this.words = new Int32Array(buffer, byteOffset, WAVE_VGPRS / 4);
    this.sgprs = new Int32Array(buffer, byteOffset, 128);
    this.vgprs = new Int32Array(buffer, byteOffset + WAVE_VGPRS, 2 * AGPR_BASE * LANES);
    this.counter = new Float64Array(buffer, byteOffset + WAVE_EXECUTED, 1);
    this.workgroup = workgroup;
    this.join(workgroup);
  }

  /** Clears all registers for a new workgroup. */
  reset(workgroup: Workgroup, index: number, codeBase: number): void {
    const [vgprs, agprs] = this.used;
    const { memory, pointer } = this;
    // The vector registers follow the rest of the block.
    memory.clear(pointer, WAVE_VGPRS + vgprs * VGPR_BYTES);
    memory.clear(pointer + WAVE_VGPRS + AGPR_BASE * VGPR_BYTES, agprs * VGPR_BYTES);
    this.used = [AGPR_BASE, AGPR_BASE];
    this.join(workgroup);
    this.index = index;
    this.codeBase = codeBase;
  }

  /** Keeps the state as it is now, before the first instruction, for `startAgain` with the same `launch` and `scratch`. */
  keepStart(launch: object, scratch: object | undefined): void {
    this.memory.copy(this.pointer + WAVE_START, this.pointer, WAVE_START_BYTES);
    this.startOf = { launch, scratch, index: this.index };
  }

  /** After older bytes have been put back into the block. */
  forgetStart(): void {
    this.startOf = undefined;
  }

  /** The state that `keepStart` kept, in another workgroup; false when it has kept none of such a wave. */
  startAgain(launch: object, scratch: object | undefined, workgroup: Workgroup, index: number): boolean {
    const { memory, pointer, startOf } = this;
    if (startOf?.launch !== launch || startOf.scratch !== scratch || startOf.index !== index) return false;
    const [vgprs, agprs] = this.used;
    memory.copy(pointer, pointer + WAVE_START, WAVE_START_BYTES);
    memory.clear(pointer + WAVE_START_BYTES, (vgprs - 1) * VGPR_BYTES);
    memory.clear(pointer + WAVE_VGPRS + AGPR_BASE * VGPR_BYTES, agprs * VGPR_BYTES);
    this.join(workgroup);
    this.refresh();
    return true;
  }

  /** Vector registers of each file that may hold something since the last reset. */
  get used(): readonly [number, number] {
    return [this.words[WAVE_USED / 4] as number, this.words[WAVE_USED / 4 + 1] as number];
  }
  set used([vgprs, agprs]: readonly [number, number]) {
    this.words[WAVE_USED / 4] = vgprs;
    this.words[WAVE_USED / 4 + 1] = agprs;
  }

  /** What of the wave is not in its block. */
  save(): WaveRemainder {
    const { index, workgroup, base, stray } = this;
    return { index, workgroup, base, stray };
  }
  /** After the block's bytes have been put back. */
  restore(state: WaveRemainder): void {
    this.index = state.index;
    this.workgroup = state.workgroup;
    this.base = state.base;
    this.stray = state.stray;
    this.setMode(this.mode);
  }

  private join(workgroup: Workgroup): void {
    this.workgroup = workgroup;
    this.words[WAVE_LDS_BASE / 4] = workgroup.lds.byteOffset;
    this.words[WAVE_LDS_BYTES / 4] = workgroup.lds.byteLength;
    this.words[WAVE_SCRATCH_BYTES / 4] = workgroup.dispatch.scratchPerLane;
    this.words[WAVE_ADDRESS_TABLE / 4] = this.memory.addressTable;
  }

  /** Sets an i32 field of the block by its WAVE_* offset. */
  setField(field: number, value: number): void {
    this.words[field / 4] = value;
  }

  /** An i32 field of the block by its WAVE_* offset. */
  field(field: number): number {
    return this.words[field / 4] as number;
  }

  get scc(): boolean {
    return this.words[WAVE_SCC / 4] !== 0;
  }
  set scc(value: boolean) {
    this.words[WAVE_SCC / 4] = value ? 1 : 0;
  }

  /** Loaded address of the code's image. */
  get codeBase(): number {
    return this.base;
  }
  set codeBase(address: number) {
    this.base = address;
    this.words[WAVE_CODE_BASE / 4] = address;
    this.words[WAVE_CODE_BASE / 4 + 1] = Math.floor(address / 2 ** 32);
  }
  /** Loaded address of the next instruction. */
  get pc(): number {
    const offset = this.words[WAVE_PC / 4] as number;
    // Compiled code leaves places in front of the image as they are.
    return offset === STRAY ? this.stray : this.base + offset;
  }
  set pc(address: number) {
    const offset = address - this.base;
    if (offset >= 0 && offset < MAX_OFFSET) this.words[WAVE_PC / 4] = offset;
    else {
      this.words[WAVE_PC / 4] = STRAY;
      this.stray = address;
    }
  }

  get isRunning(): boolean {
    return this.words[WAVE_STATE / 4] === RUNNING;
  }
  get state(): WaveState {
    return STATES[this.words[WAVE_STATE / 4] as number] as WaveState;
  }
  set state(value: WaveState) {
    this.words[WAVE_STATE / 4] = STATES.indexOf(value);
  }

  /** Instructions this wave has executed. */
  get executed(): number {
    return this.counter[0] as number;
  }
  set executed(value: number) {
    this.counter[0] = value;
  }

  /** s_set_gpr_idx mode is on. */
  get gprIndexing(): boolean {
    return ((this.words[WAVE_FLAGS / 4] as number) & FLAG_GPR_INDEXING) !== 0;
  }
  set gprIndexing(value: boolean) {
    this.setFlag(FLAG_GPR_INDEXING, value);
  }

  /** s_setvskip: vector instructions are passed over. */
  get vskip(): boolean {
    return ((this.words[WAVE_FLAGS / 4] as number) & FLAG_VSKIP) !== 0;
  }
  set vskip(value: boolean) {
    this.setFlag(FLAG_VSKIP, value);
  }

  /** The wave is in a row of loads into LDS: it goes on with the next one in the same turn. */
  get inLoadRow(): boolean {
    return this.words[WAVE_LOAD_ROW / 4] !== 0;
  }
  set inLoadRow(value: boolean) {
    this.words[WAVE_LOAD_ROW / 4] = value ? 1 : 0;
  }

  private setFlag(flag: number, value: boolean): void {
    const flags = this.words[WAVE_FLAGS / 4] as number;
    this.words[WAVE_FLAGS / 4] = value ? flags | flag : flags & ~flag;
  }

  get mode(): number {
    return this.words[WAVE_MODE / 4] as number;
  }
  setMode(mode: number): void {
    this.words[WAVE_MODE / 4] = mode;
    this.envMode = mode;
    this.env.setMode(mode);
  }
  /** Takes over a MODE that compiled code has changed in the block. */
  refresh(): void {
    if (this.mode !== this.envMode) this.setMode(this.mode);
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
