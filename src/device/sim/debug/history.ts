// Going back: what a dispatch's state was at moments of its past, and what the user changed since. The dispatch runs the same way every
// time, so any moment is reached from the checkpoint before it by running on.
import type { Rewindable, RunnerState } from '../dispatch/monitor.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { forLines, StoredLines, StoreNoter } from './stored-lines.ts';
import type { SpaceName } from './typed.ts';
import { WrittenLines } from './written-lines.ts';

/** Memory is kept in pieces of this size; those that did not change are kept once. */
const CHUNK = 65536;
/** Fewest instructions between two checkpoints. Measured: the interpreter runs these in 10 to 25 ms, and fewer cost as much to keep. */
const FEWEST = 20_000;
/** A checkpoint may take this share of the time since the one before. */
const SHARE = 0.15;
/** Most checkpoints; for each one more the least useful is dropped. */
const MOST = 200;
/** Most bytes of memory in all checkpoints, pieces of zeros aside. */
const MOST_BYTES = 2 ** 30;

/** A piece that nobody has written. */
const ZEROS = new Uint8Array(CHUNK);

/** A moment that can be gone back to. `own` is the state of whoever made it. */
export interface Checkpoint<T> {
  /** Instructions executed before it by all waves of the dispatch. */
  readonly time: number;
  readonly state: RunnerState;
  readonly own: T;
  /** By offset in wasm memory. */
  readonly chunks: ReadonlyMap<number, Uint8Array>;
  /** Offsets of those pieces that nobody but the dispatch writes: registers and LDS. */
  readonly ofDispatch: ReadonlySet<number>;
  /** What instructions have stored from then to the next checkpoint, or to the latest moment. */
  readonly stored: StoredLines;
}

/** A part of the past. */
export interface Stretch<T> {
  readonly checkpoint: Checkpoint<T>;
  readonly end: number;
}

/** Bytes as a lane of a wave sees them. */
export interface ChangedBytes {
  readonly wave: Wave | undefined;
  readonly space: SpaceName;
  readonly address: number;
  readonly bytes: number;
  readonly lane: number;
}

/** Something the user changed. */
interface Edit {
  readonly time: number;
  readonly apply: () => void;
}

export class History<T> {
  private readonly memory: DeviceMemory;
  private readonly checkpoints: Checkpoint<T>[] = [];
  private edits: Edit[] = [];
  /** Edits before this one have been made. */
  private made = 0;
  private lastEnd = performance.now();
  private lastCost = 0;
  private bytes = 0;
  private readonly noter: StoreNoter;
  private readonly written = new WrittenLines();
  /** The last checkpoint before the moment at which execution is. */
  private current = 0;
  /** Memory is so large that not even one checkpoint is kept. */
  isTooLarge = false;

  constructor(memory: DeviceMemory) {
    this.memory = memory;
    this.noter = new StoreNoter(memory);
  }

  /** Before each instruction: keeps what it is about to store. Where execution has been before that is known. */
  note(time: number, w: Wave, pc: number, bound: BoundInstruction): void {
    const all = this.checkpoints;
    while (this.current < all.length - 1 && time >= (all[this.current + 1] as Checkpoint<T>).time) this.current++;
    const last = all[this.current];
    if (last !== undefined && this.current === all.length - 1) this.noter.note(last.stored, w, pc, bound);
  }

  /** The first moment that can be gone back to. */
  get start(): number | undefined {
    return this.checkpoints[0]?.time;
  }

  /** Between two slices: keeps the state if that is worth it. */
  offer(time: number, dispatch: Rewindable, state: () => T): void {
    if (this.isTooLarge) return;
    const last = this.checkpoints.at(-1);
    if (last !== undefined) {
      if (time - last.time < FEWEST) return;
      if (this.lastCost > SHARE * (performance.now() - this.lastEnd)) return;
    }
    const began = performance.now();
    const chunks = new Map<number, Uint8Array>();
    let added = 0;
    const all = this.memory.spans();
    const { length: others } = all;
    all.push(...dispatch.spans());
    const ofDispatch = new Set<number>();
    for (const [n, { offset, size }] of all.entries()) {
      for (let at = 0; at < size; at += CHUNK) {
        const now = this.memory.bytesAt(offset + at, Math.min(CHUNK, size - at));
        if (n >= others) ofDispatch.add(offset + at);
        const before = last?.chunks.get(offset + at);
        if (before !== undefined && isSame(before, now)) chunks.set(offset + at, before);
        else if (isSame(ZEROS.subarray(0, now.length), now)) chunks.set(offset + at, ZEROS.subarray(0, now.length));
        else {
          added += now.length;
          if (added > MOST_BYTES) {
            // What is kept already stays; without anything there is no past.
            this.isTooLarge = true;
            return;
          }
          chunks.set(offset + at, now.slice());
        }
      }
    }
    this.bytes += added;
    const stored = new StoredLines(this.written);
    this.checkpoints.push({ time, state: dispatch.save(), own: state(), chunks, ofDispatch, stored });
    this.current = this.checkpoints.length - 1;
    if (this.checkpoints.length > MOST) this.dropOne();
    if (this.bytes > MOST_BYTES) this.thin();
    this.lastEnd = performance.now();
    this.lastCost = this.lastEnd - began;
  }

  /** Drops the one whose gap is smallest for its age: those of long ago stand further apart. The first and the last stay. */
  private dropOne(): void {
    const all = this.checkpoints;
    const now = (all.at(-1) as Checkpoint<T>).time;
    let [least, at] = [Number.POSITIVE_INFINITY, 1];
    for (let i = 1; i < all.length - 1; i++) {
      const [before, one, behind] = all.slice(i - 1, i + 2) as [Checkpoint<T>, Checkpoint<T>, Checkpoint<T>];
      const share = (behind.time - before.time) / (now - one.time);
      if (share < least) [least, at] = [share, i];
    }
    const [before, one, behind] = all.slice(at - 1, at + 2) as [Checkpoint<T>, Checkpoint<T>, Checkpoint<T>];
    // Pieces that have not changed are those of the checkpoints beside it.
    for (const [offset, chunk] of one.chunks) {
      const isShared = before.chunks.get(offset) === chunk || behind.chunks.get(offset) === chunk;
      if (!isShared && chunk.buffer !== ZEROS.buffer) this.bytes -= chunk.length;
    }
    before.stored.join(one.stored);
    all.splice(at, 1);
    this.current = all.length - 1;
  }

  /** Drops every second checkpoint but the first and the last. */
  private thin(): void {
    const isKept = (i: number): boolean => i % 2 === 0 || i === this.checkpoints.length - 1;
    this.checkpoints.forEach(({ stored }, i) => {
      if (!isKept(i)) this.checkpoints[i - 1]?.stored.join(stored);
    });
    const kept = this.checkpoints.filter((_, i) => isKept(i));
    this.checkpoints.splice(0, this.checkpoints.length, ...kept);
    const all = new Set(this.checkpoints.flatMap(({ chunks }) => [...chunks.values()]));
    this.current = kept.length - 1;
    this.bytes = 0;
    for (const chunk of all) if (chunk.buffer !== ZEROS.buffer) this.bytes += chunk.length;
  }

  /** The last checkpoint at or before a time. */
  at(time: number): Checkpoint<T> | undefined {
    return this.checkpoints.findLast((c) => c.time <= time);
  }

  /**
   * The last part before a time in which instructions may have stored to one of some lines, or the user has changed something; undefined when there is
   * none. Without lines: the last part.
   */
  before(time: number, lines: readonly number[] | undefined): Stretch<T> | undefined {
    const all = this.checkpoints;
    for (let i = all.findLastIndex((c) => c.time < time); i >= 0; i--) {
      const checkpoint = all[i] as Checkpoint<T>;
      const end = Math.min(time, all[i + 1]?.time ?? time);
      const isChanged = (): boolean => this.edits.some((e) => e.time >= checkpoint.time && e.time <= end);
      if (lines === undefined || lines.some((line) => checkpoint.stored.has(line)) || isChanged())
        return { checkpoint, end };
    }
    return undefined;
  }

  /** Puts a checkpoint's memory back, as far as the dispatch and the user have changed it. The caller rewinds the dispatch to its state. */
  restore(checkpoint: Checkpoint<T>): void {
    this.current = Math.max(0, this.checkpoints.indexOf(checkpoint));
    for (const [offset, bytes] of checkpoint.chunks) {
      const put = (from: number, to: number): void =>
        this.memory.bytesAt(from, to - from).set(bytes.subarray(from - offset, to - offset));
      if (checkpoint.ofDispatch.has(offset)) put(offset, offset + bytes.length);
      else this.written.forParts(offset, bytes.length, put);
    }
    const first = this.edits.findIndex((e) => e.time >= checkpoint.time);
    this.made = first < 0 ? this.edits.length : first;
    this.lastEnd = performance.now();
  }

  /** Whether the user has changed something at a moment, which has not been made again yet. */
  isChangedAt(time: number): boolean {
    const edit = this.edits[this.made];
    return edit !== undefined && edit.time <= time;
  }

  /** Makes again what the user changed at a moment that is reached again. */
  replay(time: number): void {
    for (;;) {
      const edit = this.edits[this.made];
      if (edit === undefined || edit.time > time) return;
      this.made++;
      edit.apply();
    }
  }

  /** Forgets all changes, and the checkpoints of what came of them. */
  forgetChanges(): void {
    const first = this.edits[0]?.time ?? Number.POSITIVE_INFINITY;
    const later = this.checkpoints.findIndex((c) => c.time > first);
    if (later >= 0) this.checkpoints.splice(later);
    this.edits = [];
    this.made = 0;
  }

  /** Makes and remembers a change, of `changed` where it is of memory. What came after this moment has not happened any more. */
  change(time: number, apply: () => void, changed?: ChangedBytes): void {
    if (changed !== undefined) {
      const { wave, space, address, bytes, lane } = changed;
      forLines(this.memory, wave, space, address, bytes, lane, (line) => this.written.add(line));
    }
    apply();
    this.edits = this.edits.filter((e) => e.time <= time);
    this.edits.push({ time, apply });
    this.made = this.edits.length;
    const later = this.checkpoints.findIndex((c) => c.time > time);
    if (later >= 0) this.checkpoints.splice(later);
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  const words = a.length >> 2;
  const x = new Int32Array(a.buffer, a.byteOffset, words);
  const y = new Int32Array(b.buffer, b.byteOffset, words);
  for (let i = 0; i < words; i++) if (x[i] !== y[i]) return false;
  for (let i = 4 * words; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
