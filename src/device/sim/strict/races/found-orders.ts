// What has been found to come before what a workgroup does, by wavefront of another one: its stores up to a number, and its reads up to a release. Who comes
// before whom is looked for in what they have told each other (synchronisation.ts), which takes long; what has been found stays so, and compiled code asks here
// (compiled/found.ts).
import type { DeviceMemory } from '../../state/memory.ts';
import { actorOf } from './race-events.ts';
import type { Released } from './releases.ts';

// An entry, in bytes: i32 the workgroup and one, i32 the wavefront of another one as an actor (race-events.ts), 0 for whether the workgroup has learnt anything;
// i32 its stores below this number come before the workgroup's loads, i32 and before its stores; i32 so do its reads behind fewer barriers than this, i32 and those
// behind as many of them and fewer releases than this.
export const FOUND_GROUP = 0;
export const FOUND_ACTOR = 4;
export const FOUND_FOR_LOADS = 8;
export const FOUND_FOR_STORES = 12;
export const FOUND_EPOCH = 16;
export const FOUND_RELEASES = 20;
export const FOUND_BYTES = 32;
/** Entries, each for all pairs that have its place. */
export const FOUND_PLACES = 4096;
/** By how many places the entries of a workgroup are behind those of the one before; and those of wavefronts 4, 8 and 12 behind those of 0, 4 and 8. */
export const FOUND_STRIDE = 67;
export const FOUND_WAVE_STRIDE = 1031;

/** Actors are workgroup × 16 + wavefront, + 1: most workgroups have at most four wavefronts. */
function placeOf(group: number, actor: number): number {
  const other = actor - 1;
  const place = ((other >> 2) & ~3) + (other & 3) + FOUND_WAVE_STRIDE * ((other >> 2) & 3);
  return (FOUND_STRIDE * group + place) & (FOUND_PLACES - 1);
}

export class FoundOrders {
  private readonly memory: DeviceMemory;
  private words: Uint32Array | undefined;
  private storage: Uint8Array | undefined;
  private isFull = false;

  constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  release(): void {
    if (this.storage !== undefined) this.memory.release(this.storage);
  }

  /** Where the entries are in wasm memory; 0 as long as there are none. */
  get place(): number {
    return this.storage?.byteOffset ?? 0;
  }

  /** The entry of two, in words; undefined where there is no room for any. */
  private entry(group: number, actor: number): number | undefined {
    if (this.words === undefined) {
      if (this.isFull) return undefined;
      this.storage = this.memory.tryReserve(FOUND_BYTES * FOUND_PLACES);
      this.isFull = this.storage === undefined;
      if (this.storage === undefined) return undefined;
      const { buffer, byteOffset, byteLength } = this.storage;
      this.words = new Uint32Array(buffer, byteOffset, byteLength / 4);
    }
    const { words } = this;
    const at = (placeOf(group, actor) * FOUND_BYTES) / 4;
    if (words[at] !== group + 1 || words[at + FOUND_ACTOR / 4] !== actor) {
      words.fill(0, at, at + FOUND_BYTES / 4);
      words[at] = group + 1;
      words[at + FOUND_ACTOR / 4] = actor;
    }
    return at;
  }

  private raise(at: number, field: number, value: number): void {
    const words = this.words as Uint32Array;
    if (value > (words[at + field / 4] as number)) words[at + field / 4] = value;
  }

  /** A workgroup has learnt something. */
  learn(group: number): void {
    const at = this.entry(group, 0);
    if (at !== undefined) this.raise(at, FOUND_FOR_LOADS, 1);
  }

  /** What another workgroup has handed over of its stores comes before what a workgroup stores, or also before what it loads. */
  stores(group: number, other: number, by: Released, isForLoads: boolean): void {
    const { complete, written } = by;
    for (let wave = 0; wave < complete.length; wave++) {
      const count = Math.min(complete[wave] as number, written[wave] as number);
      const at = count > 0 ? this.entry(group, actorOf(other, wave)) : undefined;
      if (at === undefined) continue;
      this.raise(at, FOUND_FOR_STORES, count);
      if (isForLoads) this.raise(at, FOUND_FOR_LOADS, count);
    }
  }

  /** The same for loads, and of what it has read: of the wavefronts that have stored anything, and the one that has told it. */
  handedOver(group: number, other: number, by: Released): void {
    const { complete, written, wave: teller } = by;
    for (let wave = 0; wave < complete.length; wave++) {
      const count = Math.min(complete[wave] as number, written[wave] as number);
      if (count === 0 && wave !== teller) continue;
      const at = this.entry(group, actorOf(other, wave));
      if (at === undefined) return;
      this.raise(at, FOUND_FOR_STORES, count);
      this.raise(at, FOUND_FOR_LOADS, count);
      this.raiseReads(at, by, wave);
    }
  }

  /** Whether a store of another workgroup's wavefront, by its number, is known to come before what a workgroup loads. */
  hasStore(group: number, actor: number, store: number): boolean {
    const { words } = this;
    if (words === undefined) return false;
    const at = (placeOf(group, actor) * FOUND_BYTES) / 4;
    if (words[at] !== group + 1 || words[at + FOUND_ACTOR / 4] !== actor) return false;
    return store < (words[at + FOUND_FOR_LOADS / 4] as number);
  }

  /** Reads of another workgroup come before what a workgroup stores, up to what one of its wavefronts has told. */
  reads(group: number, other: number, by: Released): void {
    const { complete } = by;
    for (let wave = 0; wave < complete.length; wave++) {
      const at = this.entry(group, actorOf(other, wave));
      if (at === undefined) return;
      this.raiseReads(at, by, wave);
    }
  }

  private raiseReads(at: number, { wave: teller, epoch, releases }: Released, wave: number): void {
    const words = this.words as Uint32Array;
    const known = words[at + FOUND_EPOCH / 4] as number;
    if (epoch < known) return;
    if (epoch > known) words[at + FOUND_RELEASES / 4] = 0;
    words[at + FOUND_EPOCH / 4] = epoch;
    if (wave === teller) this.raise(at, FOUND_RELEASES, releases + 1);
  }
}
