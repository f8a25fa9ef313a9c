// Where wavefronts were with their global stores, and their loads into LDS, when they told others of their workgroup something through LDS: by their times (lds-order.ts). Who has heard of a
// time of a wavefront knows of its stores what is noted up to that time, when somebody asks. Since the last barrier, at which all learn of all.
// Compiled code notes, too (compiled/order.ts).
import type { CompleteStores } from '../races/releases.ts';
import { latest } from '../races/synchronisation.ts';

// An entry, in bytes: the time, the stores that are issued, those that are complete, the loads into LDS that are complete. In front of the entries of all, by wavefront where its next one goes.
const MOST_WAVES = 16;
export const TOLD_TIME = 0;
export const TOLD_ISSUED = 4;
export const TOLD_COMPLETE = 8;
export const TOLD_FLIGHTS = 12;
export const TOLD_BYTES = 16;
/** Entries of a wavefront; what is older then is kept here. */
const ENTRIES = 64;
/** The last entry ends at a multiple of this, and no other one. */
export const TOLD_SIZE = ENTRIES * TOLD_BYTES;
export const TOLD_STORAGE = TOLD_SIZE + MOST_WAVES * TOLD_SIZE;

/** Where a wavefront is with its stores and its loads into LDS, and what it knows of those of others other than by what it has heard here. */
export interface Standing {
  readonly issued: number;
  readonly complete: number;
  readonly flights: number;
  readonly known: CompleteStores;
  readonly written: CompleteStores | undefined;
}

/** What a wavefront has heard of the stores of its workgroup, by wavefront. A compute unit keeps the order of what is issued, and what its wavefronts read behind it. */
export interface HeardStores {
  readonly issued: CompleteStores;
  readonly complete: CompleteStores;
  readonly written: CompleteStores;
}

/** What a wavefront has known since a time of its own. */
interface KnownAt {
  readonly time: number;
  readonly known: CompleteStores;
  readonly written: CompleteStores | undefined;
}

/** An entry that has left wasm memory. */
interface OldEntry {
  readonly time: number;
  readonly issued: number;
  readonly complete: number;
  readonly flights: number;
}

const NOTHING: CompleteStores = Array.from({ length: MOST_WAVES }, () => 0);

/** Setting the length of an array is a call, even where it stays the same. */
function forget(all: unknown[]): void {
  if (all.length > 0) all.length = 0;
}

export class ToldStores {
  private readonly words: Uint32Array;
  private readonly first: number;
  private readonly waves: number;
  private readonly old: OldEntry[][];
  private readonly known: KnownAt[][];
  /** By wavefront, the times of the others of which it has been told what they say of stores. */
  private readonly taken: Uint32Array[];
  private areTaken = false;

  /** In TOLD_STORAGE bytes of wasm memory from an offset on, a multiple of TOLD_SIZE. */
  constructor(buffer: ArrayBufferLike, offset: number, waves: number) {
    if (offset % TOLD_SIZE !== 0) throw new Error('entries would not end where they should');
    this.words = new Uint32Array(buffer, offset, TOLD_STORAGE / 4);
    [this.first, this.waves] = [offset + TOLD_SIZE, waves];
    this.old = Array.from({ length: waves }, () => []);
    this.known = Array.from({ length: waves }, () => []);
    this.taken = Array.from({ length: waves }, () => new Uint32Array(waves));
    this.clear(true);
  }

  /** The times begin again. `isTold`: something has been told. */
  clear(isTold: boolean): void {
    const { waves, words, old, known, taken } = this;
    for (let wave = 0; wave < waves && isTold; wave++) {
      words[wave] = this.begin(wave);
      forget(old[wave] as OldEntry[]);
      forget(known[wave] as KnownAt[]);
    }
    if (this.areTaken) for (const times of taken) times.fill(0);
    this.areTaken = false;
  }

  /** Where the entries of a wavefront begin in wasm memory. */
  private begin(wave: number): number {
    return this.first + wave * TOLD_SIZE;
  }

  /** A wavefront tells at a time of its own where it is. */
  tell(wave: number, time: number, { issued, complete, flights, known, written }: Standing): void {
    const { words, first } = this;
    const all = this.known[wave] as KnownAt[];
    const last = all.at(-1);
    if (last?.known !== known || last.written !== written) all.push({ time, known, written });
    const begin = this.begin(wave);
    if ((words[wave] as number) === begin + TOLD_SIZE - TOLD_BYTES) {
      const old = this.old[wave] as OldEntry[];
      for (let at = begin; at < (words[wave] as number); at += TOLD_BYTES) old.push(this.entry(at));
      words[wave] = begin;
    }
    const at = ((words[wave] as number) - first + TOLD_SIZE) / 4;
    words[at + TOLD_TIME / 4] = time;
    words[at + TOLD_ISSUED / 4] = issued;
    words[at + TOLD_COMPLETE / 4] = complete;
    words[at + TOLD_FLIGHTS / 4] = flights;
    words[wave] = (words[wave] as number) + TOLD_BYTES;
  }

  private entry(place: number): OldEntry {
    const at = (place - this.first + TOLD_SIZE) / 4;
    const word = (field: number): number => this.words[at + field / 4] as number;
    return {
      time: word(TOLD_TIME),
      issued: word(TOLD_ISSUED),
      complete: word(TOLD_COMPLETE),
      flights: word(TOLD_FLIGHTS),
    };
  }

  /** The last entry of a wavefront up to a time of it. */
  private upTo(wave: number, time: number): OldEntry | undefined {
    const begin = this.begin(wave);
    for (let at = (this.words[wave] as number) - TOLD_BYTES; at >= begin; at -= TOLD_BYTES) {
      const entry = this.entry(at);
      if (entry.time <= time) return entry;
    }
    return this.old[wave]?.findLast((entry) => entry.time <= time);
  }

  /** How many loads into LDS of a wavefront were complete as it told last up to a time of it; 0 where no more were than at the last barrier. */
  flights(wave: number, time: number): number {
    return this.upTo(wave, time)?.flights ?? 0;
  }

  /** What a wavefront that has heard of these times of the others has been told since it was last asked; undefined for nothing. */
  take(wave: number, times: Uint32Array): HeardStores | undefined {
    const taken = this.taken[wave] as Uint32Array;
    let heard: { issued: number[]; complete: number[]; written: CompleteStores } | undefined;
    for (let other = 0; other < this.waves; other++) {
      const time = times[other] as number;
      if (other === wave || time === taken[other]) continue;
      taken[other] = time;
      this.areTaken = true;
      const entry = this.upTo(other, time);
      const known = this.known[other]?.findLast((one) => one.time <= time);
      if (entry === undefined && known === undefined) continue;
      heard ??= { issued: [...NOTHING], complete: [...NOTHING], written: NOTHING };
      if (known !== undefined) heard.complete = [...latest(heard.complete, known.known)];
      if (known?.written !== undefined) heard.written = latest(heard.written, known.written);
      if (entry === undefined) continue;
      heard.issued[other] = entry.issued;
      heard.complete[other] = Math.max(heard.complete[other] as number, entry.complete);
    }
    return heard;
  }
}
