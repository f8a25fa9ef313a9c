// Who touched the dwords of 4 KiB of global memory, and when: the wavefront, the barrier interval of its workgroup, and which of the
// wavefront's stores it was. Lines of 256 bytes that one wavefront alone touches are kept as a whole.

/** Dwords of a page, and of a line. */
export const PAGE = 1024;
const LINE = 64;
const LINES = PAGE / LINE;

/** Wavefronts of a workgroup have numbers below this: 1,024 work-items are 16 wavefronts. */
const WAVES = 16;

/** Who accesses memory, at which moment of its workgroup. */
export interface Toucher {
  /** Workgroup × 16 + wavefront, + 1. */
  readonly actor: number;
  /** Barriers that the workgroup has passed. */
  readonly epoch: number;
  /** Stores that the wavefront has issued before. */
  readonly store: number;
  readonly pc: number;
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

/** By dword: the last writer and reader, and the bytes they touched. */
export interface RaceDetails {
  readonly writer: Uint32Array;
  readonly reader: Uint32Array;
  readonly writerPc: Int32Array;
  readonly readerPc: Int32Array;
  readonly writerEpoch: Uint32Array;
  readonly readerEpoch: Uint32Array;
  /** Stores that the writer had issued before. */
  readonly writerStore: Uint32Array;
  /** Low nibble: bytes written; high nibble: bytes read. */
  readonly bytes: Uint8Array;
  /** ATOMIC_WRITE, MANY_WAVES; high nibble: bytes read by several workgroups. */
  readonly flags: Uint8Array;
}

export const ATOMIC_WRITE = 1;
/** Several wavefronts of the reader's workgroup have read in `readerEpoch`. */
export const MANY_WAVES = 2;

function newDetails(): RaceDetails {
  return {
    writer: new Uint32Array(PAGE),
    reader: new Uint32Array(PAGE),
    writerPc: new Int32Array(PAGE),
    readerPc: new Int32Array(PAGE),
    writerEpoch: new Uint32Array(PAGE),
    readerEpoch: new Uint32Array(PAGE),
    writerStore: new Uint32Array(PAGE),
    bytes: new Uint8Array(PAGE),
    flags: new Uint8Array(PAGE),
  };
}

/** Bits of `count` dwords from `first` on within one word of 32. */
function maskOf(first: number, count: number): number {
  return count === 32 ? -1 : ((1 << count) - 1) << first;
}

/** Where the fields of a page's lines begin in its words; one array costs less than nine. */
const OWNER = 0;
const READ_PC = LINES;
const WRITTEN_PC = 2 * LINES;
const READ_EPOCH = 3 * LINES;
/** Of the oldest store whose bytes the line may still hold, as WRITTEN_STORE. */
const WRITTEN_EPOCH = 4 * LINES;
const WRITTEN_STORE = 5 * LINES;
/** A bit for each dword. */
const READ_BITS = 6 * LINES;
const WRITTEN_BITS = READ_BITS + PAGE / 32;
const WORDS = WRITTEN_BITS + PAGE / 32;

export class RacePage {
  private readonly words = new Uint32Array(WORDS);
  private details: RaceDetails | undefined;

  /** Notes whole dwords of lines that nobody else has touched; false when there are others. */
  note(who: Toucher, first: number, end: number, isWrite: boolean): boolean {
    if (this.details !== undefined) return false;
    const { actor } = who;
    const { words } = this;
    const last = (end - 1) >> 6;
    for (let line = first >> 6; line <= last; line++) {
      const known = words[OWNER + line] as number;
      if (known !== 0 && known !== actor) return false;
    }
    for (let line = first >> 6; line <= last; line++) {
      words[OWNER + line] = actor;
      const from = Math.max(first, line * LINE);
      const to = Math.min(end, (line + 1) * LINE);
      if (isWrite) this.noteWrite(who, line, from, to);
      else {
        this.mark(READ_BITS, from, to);
        words[READ_PC + line] = who.pc;
        words[READ_EPOCH + line] = who.epoch;
      }
    }
    return true;
  }

  private noteWrite({ epoch, store, pc }: Toucher, line: number, first: number, end: number): void {
    const { words } = this;
    const before = (words[WRITTEN_BITS + 2 * line] as number) | (words[WRITTEN_BITS + 2 * line + 1] as number);
    // Where older bytes of the line stay, their store is the one that counts: that may miss a race and invents none.
    if (before === 0 || end - first === LINE) {
      words[WRITTEN_EPOCH + line] = epoch;
      words[WRITTEN_STORE + line] = store;
    }
    this.mark(WRITTEN_BITS, first, end);
    words[WRITTEN_PC + line] = pc;
  }

  private mark(bits: number, first: number, end: number): void {
    const { words } = this;
    for (let i = first; i < end; ) {
      const count = Math.min(32 - (i & 31), end - i);
      const at = bits + (i >>> 5);
      words[at] = (words[at] as number) | maskOf(i & 31, count);
      i += count;
    }
  }

  /** The records by dword, from now on. */
  get detailed(): RaceDetails {
    if (this.details !== undefined) return this.details;
    const details = newDetails();
    const { words } = this;
    for (let i = 0; i < PAGE; i++) {
      const bit = 1 << (i & 31);
      const line = i >> 6;
      const owner = words[OWNER + line] as number;
      if (((words[WRITTEN_BITS + (i >>> 5)] as number) & bit) !== 0) {
        details.writer[i] = owner;
        details.writerPc[i] = words[WRITTEN_PC + line] as number;
        details.writerEpoch[i] = words[WRITTEN_EPOCH + line] as number;
        details.writerStore[i] = words[WRITTEN_STORE + line] as number;
        details.bytes[i] = 15;
      }
      if (((words[READ_BITS + (i >>> 5)] as number) & bit) !== 0) {
        details.reader[i] = owner;
        details.readerPc[i] = words[READ_PC + line] as number;
        details.readerEpoch[i] = words[READ_EPOCH + line] as number;
        details.bytes[i] = (details.bytes[i] as number) | 0xf0;
      }
    }
    this.details = details;
    return details;
  }
}

/** Whether two actors are of one workgroup. */
export function isSameGroup(a: number, b: number): boolean {
  return (a - 1) >>> 4 === (b - 1) >>> 4;
}

/** Reads of dwords that nobody else has written since a barrier; several readers are left to the closer look. */
export function readDwords(page: RaceDetails, first: number, end: number, who: Toucher): boolean {
  const { actor, epoch, pc } = who;
  const { writer, reader, readerPc, readerEpoch, writerEpoch, bytes } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || writerEpoch[i] === epoch)) return false;
    const r = reader[i] as number;
    if (r !== actor || readerEpoch[i] !== epoch) {
      noteReader(page, i, r, who);
      reader[i] = actor;
      readerPc[i] = pc;
      readerEpoch[i] = epoch;
    }
    bytes[i] = (bytes[i] as number) | 0xf0;
  }
  return true;
}

/** What is known of readers before `actor` becomes the last one; `mask` has the bytes that it reads. */
export function noteReader(page: RaceDetails, i: number, before: number, { actor, epoch }: Toucher, mask = 15): void {
  const { flags, bytes, readerEpoch } = page;
  if (before === 0) return;
  if (!isSameGroup(before, actor))
    flags[i] = ((flags[i] as number) & ~MANY_WAVES) | ((bytes[i] as number) & (mask << 4));
  else if (readerEpoch[i] !== epoch) flags[i] = (flags[i] as number) & ~MANY_WAVES;
  else if (before !== actor) flags[i] = (flags[i] as number) | MANY_WAVES;
}

/** Writes of dwords that nobody else has touched since a barrier. */
export function writeDwords(page: RaceDetails, first: number, end: number, who: Toucher): boolean {
  const { actor, epoch, store, pc } = who;
  const { writer, reader, writerPc, writerEpoch, writerStore, readerEpoch, bytes, flags } = page;
  for (let i = first; i < end; i++) {
    const w = writer[i] as number;
    if (w !== 0 && w !== actor && (!isSameGroup(w, actor) || writerEpoch[i] === epoch)) return false;
    const r = reader[i] as number;
    if (r !== 0 && r !== actor && (!isSameGroup(r, actor) || readerEpoch[i] === epoch)) return false;
    if (((flags[i] as number) & ~MANY_WAVES) !== 0) return false;
    if (((flags[i] as number) & MANY_WAVES) !== 0 && readerEpoch[i] === epoch) return false;
    writer[i] = actor;
    writerPc[i] = pc;
    writerEpoch[i] = epoch;
    writerStore[i] = store;
    bytes[i] = (bytes[i] as number) | 15;
  }
  return true;
}
