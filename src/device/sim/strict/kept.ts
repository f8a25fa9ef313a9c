// What strict dispatches of a device hand on to the next ones, so that a short dispatch does not begin with making it: the shadows of workgroups
// that have ended, and tables that are as a dispatch that begins needs them. It lies in the device's memory until something else needs the place.
import type { DeviceMemory } from '../state/memory.ts';
import type { LdsShadow } from './lds/lds.ts';
import { type TrailBlocks, waysBytes } from './races/trails.ts';
import type { WaveShadow } from './registers/wave-shadow.ts';

/** Bytes of shadows that are kept; those of a wavefront are 87 KiB, so that these are 1,500 workgroups of four that wait for each other. */
const MOST_SHADOWS = 2 ** 29;
/** Tables of ways that are kept, of 32 or 80 KB. */
const MOST_WAYS = 16;

/** The shadows of one workgroup: its LDS, and its wavefronts by their number. */
export interface GroupShadows {
  readonly lds: LdsShadow;
  readonly waves: readonly WaveShadow[];
}

const ALL = new WeakMap<DeviceMemory, Kept>();

export class Kept {
  private readonly memory: DeviceMemory;
  /** The shadows that no workgroup has, those given back last at the end. */
  private readonly shadows: GroupShadows[] = [];
  private shadowBytes = 0;
  /** Tables of ways (trails.ts) without one on which something is missing, by the code that they are of; the one given back last at the end. */
  private readonly ways = new Map<TrailBlocks, Uint8Array>();
  /** Tables of a kind, by their size, all zeros. */
  private readonly zeros = new Map<number, Uint8Array>();

  private constructor(memory: DeviceMemory) {
    this.memory = memory;
    memory.addKeeper(() => this.release());
  }

  static of(memory: DeviceMemory): Kept {
    let kept = ALL.get(memory);
    if (kept === undefined) {
      kept = new Kept(memory);
      ALL.set(memory, kept);
    }
    return kept;
  }

  /** Shadows for so many bytes of LDS and wavefronts; undefined where none are kept. They are as the last workgroup has left them. */
  takeShadows(bytes: number, waves: number): GroupShadows | undefined {
    const { shadows } = this;
    for (let n = shadows.length - 1; n >= 0; n--) {
      const one = shadows[n] as GroupShadows;
      if (!one.lds.fits(bytes, waves)) continue;
      shadows.splice(n, 1);
      this.shadowBytes -= bytesOf(one);
      return one;
    }
    return undefined;
  }

  giveShadows(one: GroupShadows): void {
    this.shadows.push(one);
    this.shadowBytes += bytesOf(one);
  }

  /** Gives memory back, of the shadows that have not been used for longest, until those that are left are few. */
  trimShadows(): void {
    while (this.shadowBytes > MOST_SHADOWS) {
      const one = this.shadows.shift() as GroupShadows;
      this.shadowBytes -= bytesOf(one);
      this.releaseShadows(one);
    }
  }

  /** Gives the memory of all back. */
  private release(): void {
    for (const one of this.shadows.splice(0)) this.releaseShadows(one);
    this.shadowBytes = 0;
    for (const table of [...this.ways.values(), ...this.zeros.values()]) this.memory.release(table);
    this.ways.clear();
    this.zeros.clear();
  }

  /** Gives the memory of shadows back that somebody has taken or made. */
  releaseShadows({ lds, waves }: GroupShadows): void {
    for (const storage of lds.storages) this.memory.release(storage);
    for (const { bytes } of waves) this.memory.release(bytes);
  }

  /** The table of the ways to blocks that are known to be clean. */
  takeWays(blocks: TrailBlocks): Uint8Array {
    const known = this.ways.get(blocks);
    this.ways.delete(blocks);
    return known ?? this.memory.reserve(waysBytes(blocks.vectors), 'strict mode');
  }

  /** `isClean`: the table has no way on which something is missing, which each dispatch is to look at. */
  giveWays(blocks: TrailBlocks, table: Uint8Array, isClean: boolean): void {
    if (!isClean || blocks.areMany || this.ways.has(blocks)) {
      this.memory.release(table);
      return;
    }
    this.ways.set(blocks, table);
    const [oldest] = this.ways;
    if (this.ways.size <= MOST_WAYS || oldest === undefined) return;
    this.ways.delete(oldest[0]);
    this.memory.release(oldest[1]);
  }

  takeZeros(size: number): Uint8Array {
    const known = this.zeros.get(size);
    this.zeros.delete(size);
    return known ?? this.memory.reserve(size, 'strict mode');
  }

  /** `areZeros`: nothing has been written to the table. */
  giveZeros(table: Uint8Array, areZeros: boolean): void {
    if (areZeros && !this.zeros.has(table.length)) this.zeros.set(table.length, table);
    else this.memory.release(table);
  }
}

function bytesOf({ lds, waves }: GroupShadows): number {
  return [...lds.storages, ...waves.map(({ bytes }) => bytes)].reduce((sum, { length }) => sum + length, 0);
}
