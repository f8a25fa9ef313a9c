// Room `device/sim/strict/registers`: what strict mode knows of a wavefront's registers: what is defined, what is still under way, and
// the wait states between instructions.
// Begin with this file, then shadow-layout.ts (where all that lies), waits.ts (outstanding operations) and register-checks.ts.
//
// Which lanes of which registers of a wavefront hold a value that something has written: a bit per lane and half register, a bit per
// scalar register. Loads of bytes that nothing has written leave registers undefined; using such a register is the finding.
import { descriptorRegisters, type KernelDescriptor } from '../../../../codeobject/index.ts';
import { FLAT_LGKM, FLAT_VM, Slot } from '../../../../program/index.ts';
import { ALWAYS_DEFINED, HIGH, LOW, type VectorRead } from '../plan.ts';
import {
  ARE_OTHER,
  FLAT_LEFT_SHIFT,
  HAS_FETCHED,
  HAS_MET,
  LOG_BACK,
  LOG_ENTRIES,
  LOG_ENTRY_BYTES,
  LOG_KIND,
  LOG_PART,
  LOG_PART_BYTES,
  LOG_PARTS,
  LOG_PC,
  LOG_SLOT,
  LOGGED_BACK,
  LOGGED_FETCH,
  LOGGED_FLAT,
  LOGGED_FLIGHT,
  LOGGED_READ,
  LOGGED_STORE,
  LOGGED_VM,
  MUST_TELL,
  SCALAR_WORDS,
  SHADOW_ACTOR,
  SHADOW_ANNOUNCES,
  SHADOW_BARRIERS,
  SHADOW_BYTES,
  SHADOW_DROP_TABLE,
  SHADOW_FETCHES,
  SHADOW_FIRST_EVENT,
  SHADOW_INVALIDATED,
  SHADOW_KERNARG,
  SHADOW_KERNARG_BYTES,
  SHADOW_KNOWN,
  SHADOW_LAST_BARRIER,
  SHADOW_LDS,
  SHADOW_LDS_TAG,
  SHADOW_LEARNS,
  SHADOW_LEFT,
  SHADOW_LOG,
  SHADOW_LOGGED,
  SHADOW_LOGGED_FLATS,
  SHADOW_LOGGED_VM,
  SHADOW_MET,
  SHADOW_ORIGINS,
  SHADOW_OVERLAPS,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_PENDING,
  SHADOW_PLAIN,
  SHADOW_POLL,
  SHADOW_RELEASED,
  SHADOW_RELEASES,
  SHADOW_SCALARS,
  SHADOW_SCRATCH,
  SHADOW_SCRATCH_ORIGINS,
  SHADOW_SETTLED,
  SHADOW_SYNC,
  SHADOW_TOLD,
  SHADOW_TOTAL,
  SHADOW_TRAIL,
  SHADOW_VECTORS,
  SHADOW_WAYS,
  SHADOW_WRITE_BACK,
  SHADOW_WRITTEN_BACK,
  TRAIL_VECTORS,
} from './shadow-layout.ts';

/** What counts entries of the log, or stands for one. */
const LOG_COUNTS = [
  SHADOW_LOGGED,
  SHADOW_LOGGED_VM,
  SHADOW_LOGGED_FLATS,
  SHADOW_LEFT,
  SHADOW_OVERLAPS,
  SHADOW_FETCHES,
  SHADOW_WRITE_BACK,
] as const;

/** What counts entries of a kind. */
const COUNTED = [
  [LOGGED_VM, SHADOW_LOGGED_VM],
  [LOGGED_FLAT, SHADOW_LOGGED_FLATS],
] as const;

/** Where an undefined value came from: memory, or a register (its slot is the address) that nothing has written. */
export interface Origin {
  readonly space: 'global' | 'lds' | 'scratch' | 'kernarg' | 'register';
  readonly address: number;
  readonly pc: number;
}

/** An operation that compiled code has issued, and what it writes to LDS, or reads there: the first byte of all lanes, or one address a lane. */
export interface LoggedOperation {
  readonly pc: number;
  readonly isRead: boolean;
  /** Of flat operations: the counters that have not been drained since (IssuedOperation.left). */
  readonly left: number;
  /** The number of its entry in the log of atomics (sync-log.ts). */
  readonly fetch: number | undefined;
  /** When it is complete, a write-back is done before which the wavefront had issued so many stores. */
  readonly writtenBack: number | undefined;
  readonly lds: readonly { readonly isRun: boolean; readonly addresses: Uint32Array }[];
}

/** Where compiled code finds what the wavefronts of a dispatch share: places in wasm memory. */
export interface Identity {
  /** The table of pages (race-pages.ts). */
  readonly pages: Uint32Array;
  /** Where the kernel's arguments are, and their bytes; zeros where they are elsewhere. */
  readonly kernargPlace: readonly [number, number];
  /** The table of instructions that drop lanes (drops.ts). */
  readonly drops: number;
  /** The table of the ways that have been looked at (trails.ts). */
  readonly ways: number;
  /** Whether wavefronts can learn what others have done, other than at barriers. */
  readonly learns: boolean;
  /** Whether any store may announce something (announcements.ts). */
  readonly announces: boolean;
  /** The log of atomics (sync-log.ts). */
  readonly syncLog: number;
}

/** By slot: the load that left it undefined, as TypeScript or compiled code has noted it. */
export class Origins {
  /** SHADOW_ORIGINS. */
  private readonly word: Uint32Array;
  /** SHADOW_SCRATCH_ORIGINS. */
  private readonly ofScratch: Uint32Array;
  private readonly others = new Map<number, Origin>();

  constructor(buffer: ArrayBufferLike, offset: number) {
    this.word = new Uint32Array(buffer, offset + SHADOW_ORIGINS, 1);
    this.ofScratch = new Uint32Array(buffer, offset + SHADOW_SCRATCH_ORIGINS, 2 * 512);
  }

  get(slot: number): Origin | undefined {
    const place = slot < 256 ? 0 : (this.ofScratch[2 * (slot - 256)] as number);
    if (place === 0) return this.others.get(slot);
    return { space: 'scratch', address: this.ofScratch[2 * (slot - 256) + 1] as number, pc: place - 1 };
  }

  set(slot: number, origin: Origin): void {
    this.word[0] = (this.word[0] as number) | ARE_OTHER;
    if (slot >= 256) this.ofScratch[2 * (slot - 256)] = 0;
    this.others.set(slot, origin);
  }

  delete(slot: number): void {
    if (slot >= 256) this.ofScratch[2 * (slot - 256)] = 0;
    this.others.delete(slot);
  }

  clear(): void {
    if (this.word[0] === 0) return;
    this.word[0] = 0;
    this.ofScratch.fill(0);
    this.others.clear();
  }
}

export class RegisterShadow {
  /** Per VGPR and AGPR: lanes 0–31 and 32–63 with a defined low half, then the same for the high half. */
  readonly vectors: Uint32Array;
  readonly scalars: Uint32Array;
  /** Slots that outstanding operations write. */
  readonly pending: Uint32Array;
  /**
   * From SHADOW_TOTAL on: operations outstanding, what is known of the next access (ACCESS_*), stores issued, stores complete, loads into
   * LDS issued, those complete.
   */
  readonly outstanding: Int32Array;
  /** SHADOW_TRAIL, and the two words from SHADOW_WAYS on. */
  readonly trail: Uint16Array;
  private readonly ways: Int32Array;
  /** From SHADOW_ACTOR up to the log; then the log. */
  private readonly machine: Uint32Array;
  private readonly log: Uint32Array;
  readonly origins: Origins;

  constructor(buffer: ArrayBufferLike = new ArrayBuffer(SHADOW_BYTES), offset = 0) {
    this.vectors = new Uint32Array(buffer, offset + SHADOW_VECTORS, 512 * 4);
    this.scalars = new Uint32Array(buffer, offset + SHADOW_SCALARS, SCALAR_WORDS);
    this.pending = new Uint32Array(buffer, offset + SHADOW_PENDING, 24);
    this.outstanding = new Int32Array(buffer, offset + SHADOW_TOTAL, 6);
    this.trail = new Uint16Array(buffer, offset + SHADOW_TRAIL, 8 * TRAIL_VECTORS);
    this.ways = new Int32Array(buffer, offset + SHADOW_WAYS, 2);
    this.machine = new Uint32Array(buffer, offset + SHADOW_ACTOR, (SHADOW_LOG - SHADOW_ACTOR) / 4);
    this.log = new Uint32Array(buffer, offset + SHADOW_LOG, (LOG_ENTRIES * LOG_ENTRY_BYTES) / 4);
    this.origins = new Origins(buffer, offset);
  }

  /** Tells compiled code where everything is; `lds` is the shadow of the workgroup's LDS, `tag` that of the wavefront in it. */
  identify({ pages, kernargPlace, drops, ways, learns, announces, syncLog }: Identity, lds: number, tag: number): void {
    const put = (at: number, word: number): void => {
      this.machine[(at - SHADOW_ACTOR) / 4] = word;
    };
    put(SHADOW_PAGES, pages.byteOffset);
    put(SHADOW_PAGE_COUNT, pages.length);
    put(SHADOW_LDS, lds);
    put(SHADOW_LDS_TAG, tag);
    put(SHADOW_KERNARG, kernargPlace[0]);
    put(SHADOW_KERNARG_BYTES, kernargPlace[1]);
    put(SHADOW_DROP_TABLE, drops);
    put(SHADOW_LEARNS, learns ? -1 : 0);
    put(SHADOW_ANNOUNCES, announces ? -1 : 0);
    put(SHADOW_SYNC, syncLog);
    this.ways[0] = ways;
  }

  /** Who the wavefront is (race-page.ts). */
  get actor(): number {
    return this.machine[0] as number;
  }
  set actor(value: number) {
    this.machine[0] = value;
  }

  /** Barriers that count for races: those of a workgroup that has other wavefronts. */
  get epoch(): number {
    return this.machine[1] as number;
  }
  set epoch(value: number) {
    this.machine[1] = value;
  }

  /** Stores that others may know of, and not of later ones. */
  get told(): number {
    const released = this.machine[(SHADOW_RELEASED - SHADOW_ACTOR) / 4] as number;
    const complete = (this.outstanding[3] as number) & (this.machine[(SHADOW_LEARNS - SHADOW_ACTOR) / 4] as number);
    return Math.max(released, complete);
  }

  /** Stores that the wavefront had issued when it last told others something. */
  set released(value: number) {
    this.machine[(SHADOW_RELEASED - SHADOW_ACTOR) / 4] = value;
  }

  /** Stores of the wavefront up to the last one that is no atomic. */
  get plainStores(): number {
    return this.machine[(SHADOW_PLAIN - SHADOW_ACTOR) / 4] as number;
  }
  set plainStores(value: number) {
    this.machine[(SHADOW_PLAIN - SHADOW_ACTOR) / 4] = value;
  }

  /** How often the wavefront has told other workgroups something, or may have by its stores. */
  get releases(): number {
    return this.counted + ((this.outstanding[2] as number) & this.announces);
  }
  /** What is counted of that apart from stores that may tell something. */
  get counted(): number {
    return this.machine[(SHADOW_RELEASES - SHADOW_ACTOR) / 4] as number;
  }
  /** All ones where any store may tell something. */
  private get announces(): number {
    return this.machine[(SHADOW_ANNOUNCES - SHADOW_ACTOR) / 4] as number;
  }
  /** The wavefront tells something by a store or an atomic. */
  countRelease(): void {
    if (this.announces === 0) this.countGridBarrier();
  }
  /** It does at a barrier of the grid. */
  countGridBarrier(): void {
    this.machine[(SHADOW_RELEASES - SHADOW_ACTOR) / 4] = this.counted + 1;
  }

  /** Where the bits of the workgroup's scratch are, which begins at an offset of wasm memory; undefined where compiled code does not see them. */
  set scratch(bits: { readonly place: number; readonly offset: number } | undefined) {
    this.machine[(SHADOW_SCRATCH - SHADOW_ACTOR) / 4] = bits === undefined ? 0 : bits.place - bits.offset / 8;
  }

  set firstEvent(value: number) {
    this.machine[(SHADOW_FIRST_EVENT - SHADOW_ACTOR) / 4] = value;
  }

  /** Whether the wavefront may know something of stores that others of its workgroup do not (SHADOW_SETTLED). */
  get hasNews(): boolean {
    return this.machine[(SHADOW_SETTLED - SHADOW_ACTOR) / 4] !== this.storesMoved;
  }
  /** Stores that are issued, and those that are complete, added up. */
  private get storesMoved(): number {
    return ((this.outstanding[2] as number) + (this.outstanding[3] as number)) >>> 0;
  }
  /** The same with loads into LDS that are complete. */
  private get toTell(): number {
    return (this.storesMoved + (this.outstanding[5] as number)) >>> 0;
  }
  /** Whether the log of atomics has what the wavefront knows of stores. */
  set isKnown(value: boolean) {
    this.machine[(SHADOW_KNOWN - SHADOW_ACTOR) / 4] = value ? 1 : 0;
  }

  /** The wavefront knows of more stores of others. */
  learn(): void {
    this.isKnown = false;
    this.machine[(SHADOW_SETTLED - SHADOW_ACTOR) / 4] = 0xffffffff;
  }
  /** The wavefronts know of each other's stores. */
  settle(): void {
    this.machine[(SHADOW_SETTLED - SHADOW_ACTOR) / 4] = this.storesMoved;
    this.machine[(SHADOW_TOLD - SHADOW_ACTOR) / 4] = this.toTell;
  }

  /** What the wavefront knows of stores is more than what it has told and heard. */
  setMustTell(): void {
    this.machine[(SHADOW_TOLD - SHADOW_ACTOR) / 4] = MUST_TELL;
  }

  /** Whether it knows more of stores than it has told others of its workgroup; from now on it has told that. */
  takeMustTell(): boolean {
    const at = (SHADOW_TOLD - SHADOW_ACTOR) / 4;
    const mustTell = this.machine[at] !== this.toTell;
    this.machine[at] = this.toTell;
    return mustTell;
  }

  get barriers(): number {
    return this.machine[(SHADOW_BARRIERS - SHADOW_ACTOR) / 4] as number;
  }
  get lastBarrier(): number {
    return this.machine[(SHADOW_LAST_BARRIER - SHADOW_ACTOR) / 4] as number;
  }
  /** An s_barrier is executed. */
  passBarrier(pc: number): void {
    this.machine[(SHADOW_BARRIERS - SHADOW_ACTOR) / 4] = this.barriers + 1;
    this.machine[(SHADOW_LAST_BARRIER - SHADOW_ACTOR) / 4] = pc;
  }

  /** Entries of the log. */
  get logged(): number {
    return this.machine[(SHADOW_LOGGED - SHADOW_ACTOR) / 4] as number;
  }

  /** Where the entries of the log begin whose operations are outstanding, in words, the oldest first. */
  private liveEntries(): number[] {
    const { logged, log } = this;
    const all = Array.from({ length: logged }, (_, n) => (n * LOG_ENTRY_BYTES) / 4);
    return all.filter((entry) => log[entry + LOG_KIND / 4] !== 0);
  }

  /** Where the operations in the log are in the image that `isRead` takes for loads of LDS and that may be outstanding there, and what they read where that is noted. */
  loggedReads(
    isRead: (pc: number) => boolean,
  ): { readonly pc: number; readonly lds: LoggedOperation['lds'] | undefined }[] {
    const { logged, log } = this;
    const out: { readonly pc: number; readonly lds: LoggedOperation['lds'] | undefined }[] = [];
    for (let n = 0; n < logged; n++) {
      const entry = (n * LOG_ENTRY_BYTES) / 4;
      const kind = log[entry + LOG_KIND / 4] as number;
      const isInLds = (kind & LOGGED_FLAT) === 0 || ((kind >>> FLAT_LEFT_SHIFT) & FLAT_LGKM) !== 0;
      const pc = log[entry + LOG_PC / 4] as number;
      if (kind === 0 || !isInLds || !isRead(pc)) continue;
      out.push({ pc, lds: (kind & LOGGED_READ) !== 0 ? this.partsAt(entry) : undefined });
    }
    return out;
  }

  /** The loads into LDS in the log: their places in the image, and the operations of vector memory behind each. */
  loggedFlights(): { readonly pc: number; readonly behind: number }[] {
    const { log } = this;
    const out: { pc: number; behind: number }[] = [];
    for (const entry of this.liveEntries()) {
      const kind = log[entry + LOG_KIND / 4] as number;
      if ((kind & LOGGED_VM) !== 0) for (const flight of out) flight.behind++;
      if ((kind & LOGGED_FLIGHT) !== 0) out.push({ pc: log[entry + LOG_PC / 4] as number, behind: 0 });
    }
    return out;
  }

  /** Operations of vector memory in the log. */
  get loggedVm(): number {
    return this.machine[(SHADOW_LOGGED_VM - SHADOW_ACTOR) / 4] as number;
  }

  /** Whether all outstanding operations are in the log, and are of vector memory. */
  get isOnlyVm(): boolean {
    const { machine, logged, loggedVm } = this;
    return (
      this.outstanding[0] === logged && logged === loggedVm + (machine[(SHADOW_LEFT - SHADOW_ACTOR) / 4] as number)
    );
  }

  /** Whether an operation in the log writes LDS by the LDS unit. */
  get logsLds(): boolean {
    const { log } = this;
    return this.liveEntries().some(
      (entry) => log[entry + LOG_PARTS / 4] !== 0 && ((log[entry + LOG_KIND / 4] as number) & LOGGED_READ) === 0,
    );
  }

  /** Whether a slot is written by an operation that no wait has proved complete. */
  isPending(ranges: readonly { readonly first: number; readonly count: number }[]): boolean {
    const { pending } = this;
    for (const { first, count } of ranges) {
      for (let slot = first; slot < first + count; slot++) {
        if ((((pending[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0) return true;
      }
    }
    return false;
  }

  /**
   * Puts an operation into the log as compiled code does, so that compiled code can wait for it; false when the log is full, or operations
   * are outstanding that are not in it. `lds`: the addresses that it writes, up to 64 for each of two parts.
   */
  tryLog(pc: number, kind: number, first: number, count: number, lds: readonly Uint32Array[]): boolean {
    const { logged, outstanding } = this;
    if (outstanding[0] !== logged || logged >= LOG_ENTRIES) return false;
    this.enter(pc, kind, first, count, lds);
    if ((kind & LOGGED_STORE) !== 0) outstanding[2] = (outstanding[2] as number) + 1;
    if ((kind & LOGGED_FLIGHT) !== 0) outstanding[4] = (outstanding[4] as number) + 1;
    return true;
  }

  /** An entry of the log, which has room; a store or a load into LDS has been counted as issued. */
  enter(pc: number, kind: number, first: number, count: number, lds: readonly Uint32Array[]): void {
    const { log, logged, outstanding, pending } = this;
    const entry = (logged * LOG_ENTRY_BYTES) / 4;
    log[entry + LOG_PC / 4] = pc;
    log[entry + LOG_PARTS / 4] = lds.length;
    log[entry + LOG_KIND / 4] = kind;
    log[entry + LOG_SLOT / 4] = first | (count << 16);
    lds.forEach((addresses, part) => {
      const at = entry + (LOG_PART + part * LOG_PART_BYTES) / 4;
      const { length } = addresses;
      log[at] = length >= 32 ? -1 : (1 << length) - 1;
      log[at + 1] = length >= 64 ? -1 : length > 32 ? (1 << (length - 32)) - 1 : 0;
      log[at + 2] = 0;
      log.set(addresses, at + 4);
    });
    if (this.isPending([{ first, count }])) this.machine[(SHADOW_OVERLAPS - SHADOW_ACTOR) / 4] = 1;
    for (let slot = first; slot < first + count; slot++) {
      pending[slot >>> 5] = (pending[slot >>> 5] as number) | (1 << (slot & 31));
    }
    this.machine[(SHADOW_LOGGED - SHADOW_ACTOR) / 4] = logged + 1;
    outstanding[0] = logged + 1;
    for (const [which, count] of COUNTED) {
      const at = (count - SHADOW_ACTOR) / 4;
      if ((kind & which) !== 0) this.machine[at] = (this.machine[at] as number) + 1;
    }
  }

  /** Takes the operations that compiled code has issued out of the log; they are no longer among those outstanding. */
  takeLog(): LoggedOperation[] {
    const { logged, log, outstanding } = this;
    outstanding[0] = (outstanding[0] as number) - logged;
    const entries = this.liveEntries();
    for (const at of LOG_COUNTS) this.machine[(at - SHADOW_ACTOR) / 4] = 0;
    return entries.map((entry) => {
      const lds = this.partsAt(entry);
      const kind = log[entry + LOG_KIND / 4] as number;
      const isFetch = (kind & LOGGED_FETCH) !== 0;
      return {
        pc: log[entry + LOG_PC / 4] as number,
        isRead: (kind & LOGGED_READ) !== 0,
        left: (kind >>> FLAT_LEFT_SHIFT) & (FLAT_VM | FLAT_LGKM),
        fetch: isFetch ? (log[entry + LOG_PART / 4] as number) || undefined : undefined,
        writtenBack: (kind & LOGGED_BACK) === 0 ? undefined : (log[entry + LOG_BACK / 4] as number) - 1,
        lds,
      };
    });
  }

  /** The addresses that an entry of the log has. */
  private partsAt(entry: number): LoggedOperation['lds'] {
    const { log } = this;
    return Array.from({ length: log[entry + LOG_PARTS / 4] as number }, (_, part) => {
      const at = entry + (LOG_PART + part * LOG_PART_BYTES) / 4;
      const lanes = [log[at] as number, log[at + 1] as number] as const;
      if (log[at + 2] === 1) return { isRun: true, addresses: log.slice(at + 4, at + 5) };
      const isActive = (_: number, lane: number): boolean =>
        (((lanes[lane >>> 5] as number) >>> (lane & 31)) & 1) !== 0;
      return { isRun: false, addresses: log.slice(at + 4, at + 4 + 64).filter(isActive) };
    });
  }

  /** Of the last load with device scope by one lane (SHADOW_POLL); nothing when the next one is to be looked at. */
  set poll(words: readonly [number, number, number, number, number, number] | undefined) {
    this.machine.set(words ?? [0], (SHADOW_POLL - SHADOW_ACTOR) / 4);
  }

  /** The wavefront has invalidated its caches when the log of atomics was so (SyncLog.state). */
  set invalidated(state: readonly [news: number, changes: number]) {
    this.machine.set(state, (SHADOW_INVALIDATED - SHADOW_ACTOR) / 4);
  }

  /** Whether a write-back that compiled code has noted is not done. */
  get isWritingBack(): boolean {
    return this.machine[(SHADOW_WRITE_BACK - SHADOW_ACTOR) / 4] !== 0;
  }

  /** The stores that the wavefront had issued before the last write-back that is done and that nobody has taken, taken now. */
  takeWrittenBack(): number | undefined {
    const at = (SHADOW_WRITTEN_BACK - SHADOW_ACTOR) / 4;
    const stores = this.machine[at] as number;
    if (stores === 0) return undefined;
    this.machine[at] = 0;
    return stores - 1;
  }

  /** The workgroup has come to a barrier since it was last found to have been handed over something. */
  set hasMet(value: boolean) {
    this.setMeeting(HAS_MET, value);
  }
  /** The wavefront may have learnt something since nothing new was found to have been handed over to the workgroup. */
  get hasFetched(): boolean {
    return ((this.machine[(SHADOW_MET - SHADOW_ACTOR) / 4] as number) & HAS_FETCHED) !== 0;
  }
  set hasFetched(value: boolean) {
    this.setMeeting(HAS_FETCHED, value);
  }
  private setMeeting(bit: number, value: boolean): void {
    const at = (SHADOW_MET - SHADOW_ACTOR) / 4;
    const before = this.machine[at] as number;
    this.machine[at] = value ? before | bit : before & ~bit;
  }

  /** Tells compiled code whether nothing is missing on the way that has been looked at. */
  setClean(isClean: boolean): void {
    this.ways[1] = isClean ? 1 : 0;
  }

  /** The wavefront begins, or what it executes next is not known to follow. */
  forgetBlocks(): void {
    this.trail.fill(0);
  }

  isScalarDefined(slot: number): boolean {
    return (((this.scalars[slot >>> 5] as number) >>> (slot & 31)) & 1) !== 0;
  }

  /** Scalar registers become defined, a bit each. */
  defineScalars(words: Uint32Array): void {
    for (let i = 0; i < SCALAR_WORDS; i++) this.scalars[i] = (this.scalars[i] as number) | (words[i] as number);
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

/** The SGPRs that a wavefront starts with, a bit each (`defineScalars`). Source: LLVM AMDGPUUsage, "Initial Kernel Execution State". */
export function initialScalars(descriptor: KernelDescriptor, isScratchArchitected: boolean): Uint32Array {
  const words = new Uint32Array(SCALAR_WORDS);
  for (const slot of scalarsOf(descriptor, isScratchArchitected)) {
    words[slot >>> 5] = (words[slot >>> 5] as number) | (1 << (slot & 31));
  }
  return words;
}

/** Their numbers, in the order of the ABI. */
function scalarsOf(descriptor: KernelDescriptor, isScratchArchitected: boolean): number[] {
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
    // Kernels that call functions compute where their scratch is even when none of these has any.
    !isScratchArchitected && (Number(rsrc2.enablePrivateSegment) || Number(properties.enableSgprPrivateSegmentBuffer)),
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
