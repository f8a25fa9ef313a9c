// Which lanes of which registers of a wavefront hold a value that something has written: a bit per lane and half register, a bit per
// scalar register. Loads of bytes that nothing has written leave registers undefined; using such a register is the finding.
import { descriptorRegisters, type KernelDescriptor } from '../../../codeobject/index.ts';
import { Slot } from '../../../program/index.ts';
import { ALWAYS_DEFINED, HIGH, LOW, type VectorRead } from './plan.ts';

/** Bytes of the shadow of one wavefront: vector registers, scalar registers, pending slots. */
export const SHADOW_VECTORS = 0;
export const SHADOW_SCALARS = 512 * 16;
export const SHADOW_PENDING = SHADOW_SCALARS + 32;
/** i32: operations that are outstanding; then ACCESS_* of the access that compiled code is about to execute. */
export const SHADOW_TOTAL = SHADOW_PENDING + 96;
export const SHADOW_ACCESS = SHADOW_TOTAL + 4;
/** i32: a number for the last blocks executed, one for the dispatch, how many blocks, and the last TRAIL_BLOCKS of them (wait-states.ts). */
export const SHADOW_TRAIL = SHADOW_TOTAL + 8;
export const TRAIL_DISPATCH = SHADOW_TRAIL + 4;
export const TRAIL_COUNT = SHADOW_TRAIL + 8;
export const TRAIL_RING = SHADOW_TRAIL + 12;
export const TRAIL_BLOCKS = 8;
export const SHADOW_BYTES = (TRAIL_RING + 4 * TRAIL_BLOCKS + 15) & -16;

/** All lanes are active and their offsets follow each other. */
export const ACCESS_CONSECUTIVE = 1;
/** Every register that is read is defined, and none that is named is in flight. */
export const ACCESS_REGISTERS = 2;

/** Where an undefined value came from: memory, or a register (its slot is the address) that nothing has written. */
export interface Origin {
  readonly space: 'global' | 'lds' | 'scratch' | 'kernarg' | 'register';
  readonly address: number;
  readonly pc: number;
}

export class RegisterShadow {
  /** Per VGPR and AGPR: lanes 0–31 and 32–63 with a defined low half, then the same for the high half. */
  readonly vectors: Uint32Array;
  readonly scalars: Uint32Array;
  /** Slots that outstanding operations write. */
  readonly pending: Uint32Array;
  /** Operations that are outstanding; what is known of the next access (ACCESS_*). */
  readonly outstanding: Int32Array;
  /** From SHADOW_TRAIL on. */
  readonly trail: Int32Array;
  /** By slot: the load that left it undefined. */
  readonly origins = new Map<number, Origin>();

  constructor(buffer: ArrayBufferLike = new ArrayBuffer(SHADOW_BYTES), offset = 0) {
    this.vectors = new Uint32Array(buffer, offset + SHADOW_VECTORS, 512 * 4);
    this.scalars = new Uint32Array(buffer, offset + SHADOW_SCALARS, 8);
    this.pending = new Uint32Array(buffer, offset + SHADOW_PENDING, 24);
    this.outstanding = new Int32Array(buffer, offset + SHADOW_TOTAL, 2);
    this.trail = new Int32Array(buffer, offset + SHADOW_TRAIL, 3 + TRAIL_BLOCKS);
  }

  /** The blocks that a wavefront has executed, the latest last; none since it left compiled code. */
  lastBlocks(): number[] {
    const count = this.trail[2] as number;
    const length = Math.min(count, TRAIL_BLOCKS);
    return Array.from({ length }, (_, n) => this.trail[3 + ((count - length + n) & (TRAIL_BLOCKS - 1))] as number);
  }

  /** The wavefront begins, or what it executes next is not known to follow. */
  forgetBlocks(): void {
    this.trail[0] = 0;
    this.trail[2] = 0;
  }

  clear(): void {
    this.vectors.fill(0);
    this.scalars.fill(0);
    this.pending.fill(0);
    this.outstanding[0] = 0;
    this.origins.clear();
    this.forgetBlocks();
  }

  isScalarDefined(slot: number): boolean {
    return (((this.scalars[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0;
  }

  setScalar(slot: number, isDefined: boolean): void {
    const bit = 1 << (slot & 31);
    const old = this.scalars[slot >>> 5] as number;
    this.scalars[slot >>> 5] = isDefined ? old | bit : old & ~bit;
  }

  /** Lanes of one half of the wave (word 0: 0–31) that an operand reads although they are undefined. */
  undefinedLanes(read: VectorRead, mask: number, word: 0 | 1): number {
    const at = read.register * 4 + word;
    const low = this.vectors[at] as number;
    const high = this.vectors[at + 2] as number;
    const defined = read.half === LOW ? low : read.half === HIGH ? high : low | high;
    return (mask & ~defined) >>> 0;
  }

  /** Whether no lane of what an operand reads is defined. */
  isNeverWritten({ register, half }: VectorRead): boolean {
    const at = register * 4;
    const { vectors } = this;
    const low = (vectors[at] as number) | (vectors[at + 1] as number);
    const high = (vectors[at + 2] as number) | (vectors[at + 3] as number);
    return (half === LOW ? low : half === HIGH ? high : low | high) === 0;
  }

  /** Lanes of a register's halves become defined. */
  define(register: number, halves: number, low: number, high: number): void {
    const at = register * 4;
    const { vectors } = this;
    if (halves & LOW) {
      vectors[at] = (vectors[at] as number) | low;
      vectors[at + 1] = (vectors[at + 1] as number) | high;
    }
    if (halves & HIGH) {
      vectors[at + 2] = (vectors[at + 2] as number) | low;
      vectors[at + 3] = (vectors[at + 3] as number) | high;
    }
  }

  /** Lanes of a register's halves become undefined. */
  undefine(register: number, halves: number, low: number, high: number): void {
    const at = register * 4;
    const { vectors } = this;
    if (halves & LOW) {
      vectors[at] = (vectors[at] as number) & ~low;
      vectors[at + 1] = (vectors[at + 1] as number) & ~high;
    }
    if (halves & HIGH) {
      vectors[at + 2] = (vectors[at + 2] as number) & ~low;
      vectors[at + 3] = (vectors[at + 3] as number) & ~high;
    }
  }

  /** Both halves of a register in these lanes take over what another register's lanes are. */
  copy(to: number, from: number, low: number, high: number): void {
    const { vectors } = this;
    for (let n = 0; n < 4; n++) {
      const mask = (n & 1) === 0 ? low : high;
      const at = to * 4 + n;
      vectors[at] = ((vectors[at] as number) & ~mask) | ((vectors[from * 4 + n] as number) & mask);
    }
  }

  /** Whether a lane's register has anything defined. */
  isLaneDefined(register: number, lane: number): boolean {
    const at = register * 4 + (lane >>> 5);
    return (((((this.vectors[at] as number) | (this.vectors[at + 2] as number)) >>> (lane & 31)) & 1) as number) !== 0;
  }
}

/** Numbers of the SGPRs that a wavefront starts with, in the order of the ABI (LLVM AMDGPUUsage, "Initial Kernel Execution State"). */
export function initialScalars(descriptor: KernelDescriptor, isScratchArchitected: boolean): number[] {
  const { rsrc2, properties, preload } = descriptor;
  const user: readonly [number, number][] = [
    [properties.enableSgprPrivateSegmentBuffer, 4],
    [properties.enableSgprDispatchPtr, 2],
    [properties.enableSgprQueuePtr, 2],
    [properties.enableSgprKernargSegmentPtr, 2],
    [properties.enableSgprDispatchId, 2],
    [properties.enableSgprFlatScratchInit, 2],
    [properties.enableSgprPrivateSegmentSize, 1],
    [1, preload.length],
  ].map(([flag, words]) => [Number(flag), words as number]);
  const system = [
    rsrc2.enableSgprWorkgroupIdX,
    rsrc2.enableSgprWorkgroupIdY,
    rsrc2.enableSgprWorkgroupIdZ,
    rsrc2.enableSgprWorkgroupInfo,
    isScratchArchitected ? 0 : rsrc2.enablePrivateSegment,
  ].reduce<number>((sum, flag) => sum + Number(flag), 0);
  const userWords = user.reduce((sum, [flag, words]) => sum + (flag === 0 ? 0 : words), 0);
  const out = [...ALWAYS_DEFINED];
  for (let n = 0; n < userWords; n++) out.push(n);
  for (let n = 0; n < system; n++) out.push(rsrc2.userSgprCount + n);
  if (isScratchArchitected) out.push(Slot.FLAT_SCRATCH, Slot.FLAT_SCRATCH + 1);
  return out;
}

/** How many registers of each file the descriptor allocates to a wavefront. */
export function allocatedRegisters(descriptor: KernelDescriptor): { v: number; a: number; s: number } {
  const { vgprs, agprs, sgprs } = descriptorRegisters(descriptor);
  return { v: vgprs, a: agprs, s: sgprs };
}
