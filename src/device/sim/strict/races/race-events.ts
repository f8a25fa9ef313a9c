// Who has touched global memory, where, when, and after how many stores: the events that the records of dwords (race-details.ts) name by
// number. Several dwords share one event, so a record is a word. Events that no record names any longer are given back when the table is full.

import type { CompleteStores } from './synchronisation.ts';

/** Wavefronts of a workgroup have numbers below this: 1,024 work-items are 16 wavefronts. */
export const WAVES = 16;

/** Who accesses memory, at which moment of its workgroup. */
export interface Toucher {
  /** Workgroup × 16 + wavefront, + 1. */
  readonly actor: number;
  /** Barriers that the workgroup has passed. */
  readonly epoch: number;
  /** Stores that the wavefront has issued before. */
  readonly store: number;
  /** Of its stores, those that others may know of, and not of later ones; none when left out. */
  readonly told?: number;
  readonly pc: number;
  /** By wavefront of its workgroup: stores of which it has heard through LDS. */
  readonly before?: CompleteStores | undefined;
}

/** The actor of a wavefront; 0 is nobody. */
export function actorOf(group: number, wave: number): number {
  return group * WAVES + wave + 1;
}

export function groupOf(actor: number): number {
  return Math.floor((actor - 1) / WAVES);
}

export function waveOf(actor: number): number {
  return (actor - 1) % WAVES;
}

/** Whether two actors are of one workgroup. */
export function isSameGroup(a: number, b: number): boolean {
  return (a - 1) >>> 4 === (b - 1) >>> 4;
}

/** Words of an event: the actor, the place in the image, the epoch, and for stores the number of those before. */
export const EVENT_ACTOR = 0;
export const EVENT_PC = 1;
export const EVENT_EPOCH = 2;
export const EVENT_STORE = 3;
const EVENT_WORDS = 4;
export const EVENT_BYTES = 4 * EVENT_WORDS;
/** Where the number of an event is in a word of a record. Number 0 is no event. */
export const EVENT_SHIFT = 9;
const MOST_EVENTS = 2 ** (32 - EVENT_SHIFT);
/** Of an event that has been given back: EVENT_ACTOR has the next such one and this bit, which no actor has. */
export const EVENT_IS_FREE = 0x80000000;

/**
 * Bytes of the head of the table: where its events are, the next number that was never given out, their end, and the first one given back; then all ones as long as
 * none has ever been given back, so that what has a lower number than another one is older.
 */
export const EVENTS_AT = 0;
export const EVENTS_NEXT = 4;
export const EVENTS_END = 8;
export const EVENTS_FREE = 12;
export const EVENTS_IN_ORDER = 16;
export const EVENTS_HEAD_BYTES = 20;

/** Events of the first table; a table that is full gets twice the size or is swept. */
const FIRST_EVENTS = 4096;
/** A sweep looks at all records: a table has at least one event for so many words of them, so that sweeps cost no more than what fills it. */
const WORDS_OF_EVENT = 8;
/** Events that TypeScript remembers having made. */
const RECENT = 256;

/** What a table of events needs of the memory that it is in. */
export interface EventRoom {
  /**
   * The memory, which may be another object after it has grown. No accessor: that of an object literal is kept, with all that it sees, until a large
   * garbage collection.
   */
  buffer(): ArrayBufferLike;
  /** Where room for a table of so many bytes is; undefined when there is none, but for the first one. */
  reserve(bytes: number): number | undefined;
  /** A table is no longer used. */
  release(offset: number): void;
  /** The words of all records that may name events. */
  records(): Iterable<Uint32Array>;
  /** All records have been forgotten: there is no room for what they would name. */
  forgotten(): void;
}

/** The table of a dispatch. Compiled code takes events from it, too (compiled/events.ts). */
export class RaceEvents {
  private readonly room: EventRoom;
  private readonly headAt: number;
  /** The events where the table is now: bytes that memory had before it has grown are still it. */
  private kept: Uint32Array | undefined;
  private readonly recent = new Uint32Array(RECENT);

  /** `headAt`: where the EVENTS_HEAD_BYTES of the head are. */
  constructor(room: EventRoom, headAt: number) {
    this.room = room;
    this.headAt = headAt;
    this.head[EVENTS_IN_ORDER / 4] = 0xffffffff;
    if (!this.resize(FIRST_EVENTS)) throw new Error('there is no room for the first events');
  }

  private get head(): Uint32Array {
    return new Uint32Array(this.room.buffer(), this.headAt, EVENTS_HEAD_BYTES / 4);
  }

  /** The events, EVENT_WORDS words each. */
  get words(): Uint32Array {
    if (this.kept === undefined) {
      const [at = 0, , end = 0] = this.head;
      this.kept = new Uint32Array(this.room.buffer(), at, EVENT_WORDS * end);
    }
    return this.kept;
  }

  /** Events that have never been given out. */
  get left(): number {
    const { head } = this;
    return (head[EVENTS_END / 4] as number) - (head[EVENTS_NEXT / 4] as number);
  }

  /** Gives the table so many events; false when there is no room for them. */
  private resize(count: number): boolean {
    const [old = 0, next = 0, end = 0, free = 0] = this.head;
    const at = this.room.reserve(EVENT_BYTES * count);
    if (at === undefined) return false;
    const bytes = new Uint8Array(this.room.buffer());
    if (end === 0) bytes.fill(0, at, at + EVENT_BYTES);
    else {
      bytes.copyWithin(at, old, old + EVENT_BYTES * end);
      this.room.release(old);
    }
    this.head.set([at, Math.max(1, next), count, free]);
    this.kept = undefined;
    return true;
  }

  /** The number of the event that `who` accesses memory; `store` is the number of its stores before, 0 for loads. */
  of({ actor, pc, epoch }: Toucher, store: number): number {
    const slot = (31 * actor + (pc >>> 2)) % RECENT;
    const known = this.recent[slot] as number;
    if (this.is(known, actor, pc, epoch, store)) return known;
    const event = this.take();
    this.words.set([actor, pc, epoch, store], EVENT_WORDS * event);
    this.recent[slot] = event;
    return event;
  }

  private is(event: number, actor: number, pc: number, epoch: number, store: number): boolean {
    const { words } = this;
    const at = EVENT_WORDS * event;
    return (
      words[at + EVENT_ACTOR] === actor &&
      words[at + EVENT_PC] === pc &&
      words[at + EVENT_EPOCH] === epoch &&
      words[at + EVENT_STORE] === store
    );
  }

  /** The number of an event for use. */
  private take(): number {
    for (;;) {
      const { head } = this;
      const free = head[EVENTS_FREE / 4] as number;
      if (free !== 0) {
        head[EVENTS_FREE / 4] = (this.words[EVENT_WORDS * free + EVENT_ACTOR] as number) & ~EVENT_IS_FREE;
        return free;
      }
      const next = head[EVENTS_NEXT / 4] as number;
      if (next < (head[EVENTS_END / 4] as number)) {
        head[EVENTS_NEXT / 4] = next + 1;
        return next;
      }
      this.makeRoom();
    }
  }

  /** The table is full: it becomes larger, or events that no record names are given back. */
  private makeRoom(): void {
    const end = this.head[EVENTS_END / 4] as number;
    let named = 0;
    for (const words of this.room.records()) named += words.length;
    const larger = Math.min(MOST_EVENTS, 2 * end);
    if (end * WORDS_OF_EVENT < named && larger > end && this.resize(larger)) return;
    const given = this.sweep();
    if (given < end / 2 && larger > end && this.resize(larger)) return;
    if (given > 0) return;
    for (const words of this.room.records()) words.fill(0);
    this.room.forgotten();
    this.sweep();
  }

  /** Gives events back that no record names; their number. */
  private sweep(): number {
    const { words, head } = this;
    const end = head[EVENTS_END / 4] as number;
    const isNamed = new Uint8Array(end);
    for (const records of this.room.records()) {
      for (let i = 0; i < records.length; i++) isNamed[(records[i] as number) >>> EVENT_SHIFT] = 1;
    }
    let [free, given] = [0, 0];
    // From the last one on: they are used again in ascending order.
    for (let event = end - 1; event > 0; event--) {
      if (isNamed[event] !== 0) continue;
      words[EVENT_WORDS * event + EVENT_ACTOR] = (free | EVENT_IS_FREE) >>> 0;
      free = event;
      given++;
    }
    head[EVENTS_FREE / 4] = free;
    head[EVENTS_IN_ORDER / 4] = 0;
    return given;
  }
}

/** A table in memory of its own. `records` are the words that may name events. */
export function ownEvents(records: () => Iterable<Uint32Array> = () => []): RaceEvents {
  let bytes = new Uint8Array(EVENTS_HEAD_BYTES);
  return new RaceEvents(
    {
      buffer: () => bytes.buffer,
      reserve: (size) => {
        const larger = new Uint8Array(bytes.length + size);
        larger.set(bytes);
        const at = bytes.length;
        bytes = larger;
        return at;
      },
      release: () => {},
      records,
      forgotten: () => {},
    },
    0,
  );
}
