// A log of what compiled code knows of atomics that put workgroups in order (synchronisation.ts): who has executed which, at which addresses, and when
// their values have come back. Somebody who asks who comes before whom has it worked off first; most kernels have nobody who asks.
import { gpuWindow } from '../../state/layout.ts';
import type { DeviceMemory } from '../../state/memory.ts';
import { LANES } from '../../state/wave.ts';
import type { KnownStores } from '../registers/wave-shadow.ts';
import { pcOf } from './race-events.ts';

// The head, in bytes: where the next entry goes, the end of the room for entries, the number of the last atomic, 1 when entries are made, how often what is
// known of the order has changed without an entry, where what has been found of it is (found-orders.ts) or 0, how often somebody has told or may have learnt something by
// an entry, 1 once somebody may have told something before all of its own stores were complete; then by place in the image, as AHEAD_SLOTS says, places of loads that may look ahead of atomics (GlobalRaces.mayLookAhead), and of stores of what others store at the same place (setRepeated); then by dword, as STORED_SLOTS says, its offset in wasm memory and the place of the store that STORED stands for
// (race-details.ts).
export const SYNC_NEXT = 0;
export const SYNC_END = 4;
export const SYNC_COUNT = 8;
export const SYNC_IS_KEPT = 12;
export const SYNC_CHANGES = 16;
export const SYNC_FOUND = 20;
export const SYNC_NEWS = 24;
export const SYNC_EARLY = 28;
export const SYNC_AHEAD = 32;
export const AHEAD_SLOTS = 1024;
export const SYNC_REPEATED = SYNC_AHEAD + 4 * AHEAD_SLOTS;
export const REPEATED_SLOTS = 1024;
export const SYNC_STORED = SYNC_REPEATED + 4 * REPEATED_SLOTS;
export const STORED_SLOTS = 1024;
export const STORED_BYTES = 8;
export const SYNC_HEAD = SYNC_STORED + STORED_BYTES * STORED_SLOTS;

// An entry: i32 what it is, i32 the actor (race-events.ts), i32 the place in the image, or that of a call; i32 the number of the atomic. An entry of an atomic
// goes on: i32 the stores of the wavefront that are issued, i32 those that are complete, i32 its epoch, i32 its releases; i64 lanes, i64 those of them that leave memory as it is;
// i32 what it has written back (SHADOW_WRITTEN_BACK); and the lanes' offsets in wasm memory.
export const ENTRY_KIND = 0;
export const ENTRY_ACTOR = 4;
export const ENTRY_PC = 8;
export const ENTRY_NUMBER = 12;
export const ENTRY_BYTES = 16;
export const ENTRY_STORES = 16;
export const ENTRY_COMPLETE = 20;
export const ENTRY_EPOCH = 24;
export const ENTRY_RELEASES = 28;
export const ENTRY_LANES = 32;
export const ENTRY_ATTEMPTS = 40;
export const ENTRY_BACK = 48;
export const ENTRY_ADDRESSES = 64;
export const ATOMIC_BYTES = ENTRY_ADDRESSES + 4 * LANES;
/** An atomic that returns nothing; one that returns values, or a load, all of whose lanes leave memory as it is; values that have come back, something that TypeScript does at this point, and an invalidation of caches. */
export const ENTRY_UPDATE = 1;
export const ENTRY_FETCH = 2;
export const ENTRY_ARRIVAL = 3;
export const ENTRY_CALL = 4;
/** What the wavefront knows of stores from here on, by its place among what has been told. */
const ENTRY_KNOWN = 5;
export const ENTRY_INVALIDATE = 6;
/** Beside the first two: of each lane the dword behind its address, too. */
export const ENTRY_TWO = 8;

/** Bytes for entries; only what is used is touched. */
const LOG_BYTES = 2 ** 26;
/** The same where memory is short, or no entry stays. */
const LEAST_BYTES = 2 ** 14;

/** Bytes behind the entries that may be read. */
const SPARE = 4 * LANES;

/** Dwords whose lanes are told apart. */
const PLACES = 1024;

/** An atomic of the log. It is another one with the next. */
export interface LoggedAtomic {
  readonly returns: boolean;
  readonly actor: number;
  readonly pc: number;
  readonly number: number;
  readonly storesIssued: number;
  readonly storesComplete: number;
  /** Of the last write-back that is done since the wavefront was last told what it knows: the stores that it had issued before it. */
  readonly writtenBack: number | undefined;
  /** As of Toucher (race-events.ts). */
  readonly epoch: number;
  readonly releases: number;
  readonly lanes: LoggedLanes;
}

/** Lanes of an atomic, in their order: their addresses, and 1 for each that leaves memory as it is; one for several that look at the same place. */
export interface LoggedLanes {
  count: number;
  /** Of an atomic that returns nothing, the offsets in wasm memory are in place of the other two. */
  readonly offsets: Uint32Array;
  readonly addresses: Float64Array;
  readonly leaves: Uint8Array;
}

/** Of an address in wasm memory; also addresses beyond it have one. */
const offsetOf = (address: number): number => (address - gpuWindow.base) >>> 0;

/** Who works the log off. */
export interface SyncReader {
  /** Whether anybody has told anything: else who only looks learns nothing. */
  readonly isTold: boolean;
  atomic(one: LoggedAtomic): void;
  /** The values of an atomic have come back. */
  arrive(actor: number, number: number): void;
  /** What a wavefront knows of stores from here on. */
  know(actor: number, stores: KnownStores): void;
  /** The caches of the compute unit of a wavefront's workgroup have been invalidated. */
  invalidated(actor: number): void;
}

export class SyncLog {
  readonly storage: Uint8Array;
  private readonly memory: DeviceMemory;
  private readonly words: Uint32Array;
  /** Where the first entry is. */
  private readonly first: number;
  private calls: (() => void)[] = [];
  private told: KnownStores[] = [];
  private isReading = false;
  private readonly lanes: LoggedLanes = {
    count: 0,
    offsets: new Uint32Array(2 * LANES),
    addresses: new Float64Array(2 * LANES),
    leaves: new Uint8Array(2 * LANES),
  };
  /** The one that the reader sees now. */
  private readonly atomic: { -readonly [K in keyof LoggedAtomic]: LoggedAtomic[K] } = {
    returns: false,
    actor: 0,
    pc: 0,
    number: 0,
    storesIssued: 0,
    storesComplete: 0,
    writtenBack: undefined,
    epoch: 0,
    releases: 0,
    lanes: this.lanes,
  };
  /** By place of a dword, the last address that a lane has had there, and in which entry. */
  private readonly places = new Float64Array(2 * PLACES);
  /** Entries of atomics so far. */
  private round = 0;
  reader: SyncReader | undefined;

  /** `isKept`: entries are made. */
  constructor(memory: DeviceMemory, isKept: boolean) {
    this.memory = memory;
    this.storage =
      (isKept ? memory.tryReserveUncleared(SYNC_HEAD + LOG_BYTES) : undefined) ??
      memory.reserveUncleared(SYNC_HEAD + LEAST_BYTES, 'strict mode');
    const { buffer, byteOffset, byteLength } = this.storage;
    this.words = new Uint32Array(buffer, byteOffset, byteLength / 4);
    this.first = byteOffset + SYNC_HEAD;
    this.words.set([this.first, byteOffset + byteLength - SPARE, 0, isKept ? 1 : 0, 0, 0, 0, 0]);
    this.words.fill(0xffffffff, SYNC_AHEAD / 4, SYNC_HEAD / 4);
  }

  release(): void {
    this.memory.release(this.storage);
  }

  private get next(): number {
    return this.words[SYNC_NEXT / 4] as number;
  }
  private set next(value: number) {
    this.words[SYNC_NEXT / 4] = value;
  }

  get isEmpty(): boolean {
    return this.next === this.first;
  }

  /** How often somebody has told or may have learnt something by an entry, and how often without one: while both are the same, nobody has learnt anything. */
  get state(): readonly [news: number, changes: number] {
    return [this.words[SYNC_NEWS / 4] as number, this.words[SYNC_CHANGES / 4] as number];
  }

  /** Somebody has learnt something that has no entry, or none any more. */
  changed(): void {
    this.words[SYNC_CHANGES / 4] = (this.words[SYNC_CHANGES / 4] as number) + 1;
  }

  /** Where what has been found is (FoundOrders.place). */
  set found(place: number) {
    this.words[SYNC_FOUND / 4] = place;
  }

  /** Somebody has told something before all of its own stores were complete. */
  setEarly(): void {
    this.words[SYNC_EARLY / 4] = 1;
  }

  /** A load at a place of the image may look ahead of atomics. */
  setAhead(pc: number): void {
    this.words[SYNC_AHEAD / 4 + ((pc >>> 2) % AHEAD_SLOTS)] = pc;
  }

  /** The store at a place of the image stores what another wavefront has stored there without any order, or what other lanes store. */
  setRepeated(pc: number): void {
    this.words[SYNC_REPEATED / 4 + ((pc >>> 2) % REPEATED_SLOTS)] = pc;
  }

  /** The place of the store of a dword at an address that comes before its workgroup's atomics there. */
  noteStored(address: number, pc: number): void {
    const slot = this.storedSlot(address);
    this.words[slot] = offsetOf(address);
    this.words[slot + 1] = pc;
  }
  /** The same, where no other dword has taken its slot since. */
  storedBy(address: number): number | undefined {
    const slot = this.storedSlot(address);
    return this.words[slot] === offsetOf(address) ? pcOf(this.words[slot + 1] as number) : undefined;
  }
  private storedSlot(address: number): number {
    return (SYNC_STORED + STORED_BYTES * ((offsetOf(address) >>> 2) % STORED_SLOTS)) / 4;
  }

  /** Does something behind all that the log has so far: now if there is nothing. */
  behind(call: () => void): void {
    if (this.tryEnter(ENTRY_CALL, 0, this.calls.length)) this.calls.push(call);
    else {
      this.workOff();
      call();
    }
  }

  /** A wavefront knows this of stores, as far as what it does behind all that the log has so far is concerned. */
  know(actor: number, stores: KnownStores): void {
    if (this.tryEnter(ENTRY_KNOWN, actor, this.told.length)) this.told.push(stores);
    else {
      this.workOff();
      this.reader?.know(actor, stores);
    }
  }

  /** An entry behind others; false where there are none, or there is no room. */
  private tryEnter(kind: number, actor: number, pc: number): boolean {
    const { next, words, first } = this;
    if (next === first || next + ENTRY_BYTES > (words[SYNC_END / 4] as number)) return false;
    const at = (next - first + SYNC_HEAD) / 4;
    words[at + ENTRY_KIND / 4] = kind;
    words[at + ENTRY_ACTOR / 4] = actor;
    words[at + ENTRY_PC / 4] = pc;
    this.next = next + ENTRY_BYTES;
    return true;
  }

  /** The reader sees what is in the log, which is empty then. */
  workOff(): void {
    const { words, first, reader, isReading } = this;
    if (isReading || this.isEmpty || reader === undefined) return;
    this.isReading = true;
    this.changed();
    const end = (this.next - first + SYNC_HEAD) / 4;
    for (let at = SYNC_HEAD / 4; at < end; ) {
      const kind = (words[at + ENTRY_KIND / 4] as number) & ~ENTRY_TWO;
      const isAtomic = kind === ENTRY_UPDATE || kind === ENTRY_FETCH;
      if (!isAtomic) this.read(reader, kind, at);
      else if (reader.isTold || !this.leavesMemory(at)) reader.atomic(this.atomicAt(at, kind === ENTRY_FETCH));
      at += (isAtomic ? ATOMIC_BYTES : ENTRY_BYTES) / 4;
    }
    this.calls = [];
    this.told = [];
    this.next = first;
    this.isReading = false;
  }

  /** The entry at a place, which is of no atomic. */
  private read(reader: SyncReader, kind: number, at: number): void {
    const { words } = this;
    const actor = words[at + ENTRY_ACTOR / 4] as number;
    const what = words[at + ENTRY_PC / 4] as number;
    if (kind === ENTRY_ARRIVAL) reader.arrive(actor, words[at + ENTRY_NUMBER / 4] as number);
    else if (kind === ENTRY_INVALIDATE) reader.invalidated(actor);
    else if (kind === ENTRY_KNOWN) reader.know(actor, this.told[what] as KnownStores);
    else if (kind === ENTRY_CALL) (this.calls[what] as () => void)();
  }

  /** The atomic at a place. */
  private atomicAt(at: number, returns: boolean): LoggedAtomic {
    const { words, atomic } = this;
    const back = words[at + ENTRY_BACK / 4] as number;
    const areTwo = ((words[at + ENTRY_KIND / 4] as number) & ENTRY_TWO) !== 0;
    atomic.returns = returns;
    atomic.actor = words[at + ENTRY_ACTOR / 4] as number;
    atomic.pc = words[at + ENTRY_PC / 4] as number;
    atomic.number = words[at + ENTRY_NUMBER / 4] as number;
    atomic.storesIssued = words[at + ENTRY_STORES / 4] as number;
    atomic.storesComplete = words[at + ENTRY_COMPLETE / 4] as number;
    atomic.writtenBack = back === 0 ? undefined : back - 1;
    atomic.epoch = words[at + ENTRY_EPOCH / 4] as number;
    atomic.releases = words[at + ENTRY_RELEASES / 4] as number;
    if (returns) this.takeLanes(at, areTwo);
    else this.takeOffsets(at, areTwo);
    return atomic;
  }

  /** Whether all lanes of the atomic at a place leave memory as it is. */
  private leavesMemory(at: number): boolean {
    const { words } = this;
    const [lanes, attempts] = [at + ENTRY_LANES / 4, at + ENTRY_ATTEMPTS / 4];
    const low = (words[lanes] as number) & ~(words[attempts] as number);
    const high = (words[lanes + 1] as number) & ~(words[attempts + 1] as number);
    return (low | high) === 0;
  }

  /** Of the atomic at a place, which returns nothing; `areTwo`: each lane has the dword behind its address, too. */
  private takeOffsets(at: number, areTwo: boolean): void {
    const { words, lanes } = this;
    const { offsets } = lanes;
    let count = 0;
    for (let half = 0; half < 2; half++) {
      const from = at + ENTRY_ADDRESSES / 4 + 32 * half;
      const active = words[at + ENTRY_LANES / 4 + half] as number;
      for (let lane = 0; lane < 32; lane++) {
        if (((active >>> lane) & 1) === 0) continue;
        const offset = words[from + lane] as number;
        offsets[count++] = offset;
        if (areTwo) offsets[count++] = offset + 4;
      }
    }
    lanes.count = count;
  }

  /** Of the atomic or load at a place, which returns values. */
  private takeLanes(at: number, areTwo: boolean): void {
    const { words, lanes, places } = this;
    const { addresses, leaves } = lanes;
    let looked = -1;
    let last = -1;
    lanes.count = 0;
    // What several lanes look at in one place is the same where none of them tells anything.
    const isPlain = this.leavesMemory(at);
    const round = ++this.round;
    for (let half = 0; half < 2; half++) {
      const attempts = words[at + ENTRY_ATTEMPTS / 4 + half] as number;
      const from = at + ENTRY_ADDRESSES / 4 + 32 * half;
      for (let left = words[at + ENTRY_LANES / 4 + half] as number; left !== 0; left &= left - 1) {
        const lane = 31 - Math.clz32(left & -left);
        const offset = words[from + lane] as number;
        if (isPlain && offset === last) continue;
        last = offset;
        const address = gpuWindow.base + offset;
        const isLeft = (attempts >>> lane) & 1;
        if (isPlain) {
          const place = 2 * ((address >>> 2) & (PLACES - 1));
          if (places[place] === address && places[place + 1] === round) continue;
          places[place] = address;
          places[place + 1] = round;
        }
        // Who looks at one place in all lanes learns as much as one of them does.
        if (isLeft === 1 && looked === address) continue;
        looked = isLeft === 1 ? address : -1;
        for (let word = 0; word < (areTwo ? 2 : 1); word++) {
          addresses[lanes.count] = address + 4 * word;
          leaves[lanes.count++] = isLeft;
        }
      }
    }
  }
}
