// Who has touched global memory, where, when, and after how many stores: the events that the records of dwords (race-details.ts) name by
// number. Several dwords share one event, so a record is a word. Events that no record names any longer are given back when the table is full: the
// others move down, so that a lower number is always an earlier event.

import type { CompleteStores } from './releases.ts';

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
  /** How often it has told other workgroups something before, where that is known. */
  readonly releases?: number;
  /** Of its stores, those that others may know of, and not of later ones; none when left out. */
  readonly told?: number;
  readonly pc: number;
  /** By wavefront of its workgroup: stores of which it has heard through LDS. */
  readonly before?: CompleteStores | undefined;
}

/** The place of an instruction, from that of an event. */
export function pcOf(place: number): number {
  return (place & EARLY) === 0 ? place & ~ANNOUNCES : place & (EARLY_PLACES - 1) & ~EARLY;
}

/** How many stores were outstanding at a store that may be an announcement that comes too early; 0 for others. */
export function earlyOf(place: number): number {
  return (place & EARLY) === 0 ? 0 : place >>> EARLY_SHIFT;
}

/** The place of such a store. */
export function earlyPlace(pc: number, outstanding: number): number {
  return (pc | EARLY | (Math.min(outstanding, MOST_EARLY) << EARLY_SHIFT)) >>> 0;
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

/** Words of an event: the actor, the place in the image, the epoch, and for stores the number of those before, for loads that of releases. */
export const EVENT_ACTOR = 0;
export const EVENT_PC = 1;
export const EVENT_EPOCH = 2;
export const EVENT_STORE = 3;
const EVENT_WORDS = 4;
/**
 * In the place of a store: it may be an announcement (announcements.ts); or it may be one that comes too early, which has how many stores of its wavefront were outstanding
 * from EARLY_SHIFT on. Instructions are at multiples of 4; those behind EARLY_PLACES never have the second mark.
 */
export const ANNOUNCES = 1;
export const EARLY = 2;
export const EARLY_SHIFT = 26;
export const EARLY_PLACES = 2 ** EARLY_SHIFT;
/** No more stores can be outstanding: vmcnt has 6 bits. */
export const MOST_EARLY = 63;
export const EVENT_BYTES = 4 * EVENT_WORDS;
/** Where the number of an event is in a word of a record. Number 0 is no event. */
export const EVENT_SHIFT = 9;
/** Below the number of the last event that a word can have, which is not used. */
const MOST_EVENTS = 2 ** (32 - EVENT_SHIFT) - 1;
/** Above all words of records. */
const NO_WORD = MOST_EVENTS * 2 ** EVENT_SHIFT;
/**
 * Bytes of the head of the table: where its events are, the next number that was never given out, and their end. What has a lower number than another one is
 * older. How often events have been given other numbers. Then what is known of words of records by their numbers alone: from the first one up to the second the
 * workgroup that runs has made them before its last barrier, from the third one on the wavefront that runs has. Below the last ones everybody has made them, and
 * handed them over to the workgroup (handed-over.ts): words of readers, and of writers.
 */
export const EVENTS_AT = 0;
export const EVENTS_NEXT = 4;
export const EVENTS_END = 8;
export const EVENTS_RENUMBERED = 12;
export const EVENTS_BEFORE = 16;
export const EVENTS_BEHIND = 20;
export const EVENTS_OWN = 24;
export const EVENTS_KNOWN_READS = 28;
export const EVENTS_KNOWN = 32;
export const EVENTS_HEAD_BYTES = 36;

/** Events of the first table; a table that is full gets twice the size or is swept. */
const FIRST_EVENTS = 16_384;
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
  /** Bytes that memory had before it has grown are still it. */
  private readonly head: Uint32Array;
  /** The events where the table is now: bytes that memory had before it has grown are still it. */
  private kept: Uint32Array | undefined;
  private readonly recent = new Uint32Array(RECENT);
  /** The wavefront that runs; 0 for nobody. */
  private actor = 0;

  /** `headAt`: where the EVENTS_HEAD_BYTES of the head are. */
  constructor(room: EventRoom, headAt: number) {
    this.room = room;
    this.head = new Uint32Array(room.buffer(), headAt, EVENTS_HEAD_BYTES / 4);
    if (!this.resize(FIRST_EVENTS)) throw new Error('there is no room for the first events');
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
    const [old = 0, next = 0, end = 0] = this.head;
    const at = this.room.reserve(EVENT_BYTES * count);
    if (at === undefined) return false;
    const bytes = new Uint8Array(this.room.buffer());
    if (end === 0) bytes.fill(0, at, at + EVENT_BYTES);
    else {
      bytes.copyWithin(at, old, old + EVENT_BYTES * end);
      this.room.release(old);
    }
    this.head.set([at, Math.max(1, next), count]);
    if (end === 0) this.mixed();
    this.kept = undefined;
    return true;
  }

  /** The number of the event that `who` accesses memory; `store` is the number of its stores before, for loads that of its releases. */
  of({ actor, pc, epoch }: Toucher, store: number): number {
    const slot = (31 * actor + (pc >>> 2)) % RECENT;
    const known = this.recent[slot] as number;
    if (this.is(known, actor, pc, epoch, store)) return known;
    const event = this.take();
    this.words.set([actor, pc, epoch, store], EVENT_WORDS * event);
    if (actor !== this.actor) this.mixed();
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

  /** Gives events back that no record names; their number. The others keep their order. */
  private sweep(): number {
    const { words, head } = this;
    const next = head[EVENTS_NEXT / 4] as number;
    const isNamed = new Uint8Array(next);
    for (const records of this.room.records()) {
      for (let i = 0; i < records.length; i++) isNamed[(records[i] as number) >>> EVENT_SHIFT] = 1;
    }
    /** By number: what it is from now on, or where it would be. */
    const numbers = new Uint32Array(next + 1);
    let end = 1;
    for (let event = 1; event < next; event++) {
      numbers[event] = end;
      if (isNamed[event] === 0) continue;
      words.copyWithin(EVENT_WORDS * end, EVENT_WORDS * event, EVENT_WORDS * (event + 1));
      end++;
    }
    if (end === next) return 0;
    numbers[next] = end;
    // What remembers a number compares what is there with what it wants.
    words.fill(0, EVENT_WORDS * end, EVENT_WORDS * next);
    for (const records of this.room.records()) {
      for (let i = 0; i < records.length; i++) {
        const word = records[i] as number;
        records[i] = ((numbers[word >>> EVENT_SHIFT] as number) << EVENT_SHIFT) | (word & (2 ** EVENT_SHIFT - 1));
      }
    }
    head[EVENTS_NEXT / 4] = end;
    head[EVENTS_RENUMBERED / 4] = this.renumberings + 1;
    this.know(0, 0);
    for (const bound of [EVENTS_BEFORE, EVENTS_BEHIND, EVENTS_OWN]) {
      const event = (head[bound / 4] as number) >>> EVENT_SHIFT;
      head[bound / 4] = (numbers[event] as number) << EVENT_SHIFT;
    }
    return next - end;
  }

  /** A wavefront runs from now on: what events that come now are is known by their numbers. */
  run(actor: number): void {
    if (isSameGroup(actor, this.actor)) this.head[EVENTS_OWN / 4] = this.nextWord;
    else {
      this.mixed();
      this.know(0, 0);
    }
    this.actor = actor;
  }

  /** A workgroup has come to a barrier: what it has done comes before what it does. */
  passBarrier(group: number): void {
    if (group === groupOf(this.actor)) this.head[EVENTS_BEHIND / 4] = this.nextWord;
  }

  /** Has `note` note accesses of others than who runs. */
  ofOthers<T>(note: () => T): T {
    this.setBounds(NO_WORD);
    try {
      return note();
    } finally {
      this.mixed();
    }
  }

  /** Events have got numbers later than they were, or of others than who runs: of those up to now nothing is known by their numbers. */
  private mixed(): void {
    this.setBounds(this.nextWord);
  }

  private setBounds(word: number): void {
    this.head.fill(word, EVENTS_BEFORE / 4, EVENTS_OWN / 4 + 1);
  }

  /** Words of readers below the first one, and of writers below the second, come before what who runs does. */
  know(reads: number, writes: number): void {
    this.head[EVENTS_KNOWN_READS / 4] = reads;
    this.head[EVENTS_KNOWN / 4] = writes;
  }

  /** The word below which all words of writers come before what the running workgroup does; 0 for none. */
  get knownWrites(): number {
    return this.head[EVENTS_KNOWN / 4] as number;
  }

  /** How often events have been given other numbers. */
  get renumberings(): number {
    return this.head[EVENTS_RENUMBERED / 4] as number;
  }

  /** One of EVENTS_BEFORE, EVENTS_BEHIND and EVENTS_OWN. */
  bound(at: number): number {
    return this.head[at / 4] as number;
  }

  /** The word that the next event will have in a record. */
  get nextWord(): number {
    return (this.head[EVENTS_NEXT / 4] as number) << EVENT_SHIFT;
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
