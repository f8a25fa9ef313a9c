// How far a dispatch has come, shared by everything that runs its workgroups: in one thread, or in several through the control words
// of the device's memory.
import {
  CONTROL_ABORT,
  CONTROL_CLOCK,
  CONTROL_DONE,
  CONTROL_FAILED,
  CONTROL_NEXT,
  CONTROL_SHARED,
  SHARED_THREADS,
} from '../state/layout.ts';

export interface Progress {
  /** The number of the next workgroup to run, or -1. */
  take(): number;
  /** Counts instructions; gives the sum over all threads, or less when it is not worth asking. */
  add(instructions: number): number;
  /** Makes everything counted so far known to the other threads; gives the sum. */
  settle(): number;
  finish(): void;
  /** Workgroups that run. */
  readonly total: number;
  /** Workgroups that have begun. */
  readonly taken: number;
  /** A workgroup failed: it ends, and later ones need not run. */
  fail(group: number): void;
  /** Whether a workgroup need not go on, because of an abort or an earlier failure. */
  isCut(group: number): boolean;
  abort(): void;
  readonly isAborted: boolean;
  readonly done: number;
  readonly instructions: number;
  /** Instructions that this thread has counted. */
  readonly ran: number;
  /** Lowest workgroup that failed; infinite without. */
  readonly failed: number;
}

/** How far one thread has come. */
export interface LocalProgressState {
  readonly next: number;
  readonly done: number;
  readonly instructions: number;
  readonly failed: number;
}

/** Progress in one thread. */
export class LocalProgress implements Progress {
  readonly total: number;
  private next = 0;
  done = 0;
  instructions = 0;
  failed = Number.POSITIVE_INFINITY;
  isAborted = false;

  constructor(workgroups: number) {
    this.total = workgroups;
  }
  take(): number {
    if (this.next >= this.total || this.isCut(this.next)) return -1;
    return this.next++;
  }
  add(instructions: number): number {
    this.instructions += instructions;
    return this.instructions;
  }
  settle(): number {
    return this.instructions;
  }
  get ran(): number {
    return this.instructions;
  }
  finish(): void {
    this.done++;
  }
  get taken(): number {
    return this.next;
  }
  /** What `restore` goes back to. */
  save(): LocalProgressState {
    const { next, done, instructions, failed } = this;
    return { next, done, instructions, failed };
  }
  restore(state: LocalProgressState): void {
    this.next = state.next;
    this.done = state.done;
    this.instructions = state.instructions;
    this.failed = state.failed;
  }
  fail(): void {
    // What comes first in one thread comes first every time, so nothing else has to run.
    this.failed = 0;
  }
  isCut(group: number): boolean {
    return this.isAborted || group >= this.failed;
  }
  abort(): void {
    this.isAborted = true;
  }
}

/** Most workgroups that threads can share: their numbers are 32-bit. */
export const MAX_SHARED_WORKGROUPS = 2 ** 31 - 2 ** 16;
const NONE = 2 ** 31 - 1;
/** Instructions a thread counts for itself before it tells the others. */
const SETTLE_AFTER = 100_000;

/** Progress in several threads. */
export class SharedProgress implements Progress {
  readonly total: number;
  private readonly words: Int32Array;
  private readonly clock: BigInt64Array;
  /** Counted, but not yet known to the others. */
  private unsettled = 0;
  ran = 0;

  constructor(buffer: ArrayBufferLike, workgroups: number) {
    this.total = workgroups;
    this.words = new Int32Array(buffer, 0, CONTROL_SHARED / 4 + 1);
    this.clock = new BigInt64Array(buffer, CONTROL_CLOCK, 1);
  }
  /** Goes on from the progress of one thread; while nothing else runs. */
  takeOver(from: LocalProgress): void {
    Atomics.store(this.words, CONTROL_ABORT / 4, from.isAborted ? 1 : 0);
    Atomics.store(this.words, CONTROL_NEXT / 4, from.taken);
    Atomics.store(this.words, CONTROL_DONE / 4, from.done);
    Atomics.store(this.words, CONTROL_FAILED / 4, NONE);
    Atomics.store(this.clock, 0, BigInt(from.instructions));
    this.ran = from.instructions;
    Atomics.or(this.words, CONTROL_SHARED / 4, SHARED_THREADS);
  }
  /** Nothing else runs any more. */
  end(): void {
    Atomics.and(this.words, CONTROL_SHARED / 4, ~SHARED_THREADS);
  }
  take(): number {
    if (Atomics.load(this.words, CONTROL_NEXT / 4) >= this.total) return -1;
    const group = Atomics.add(this.words, CONTROL_NEXT / 4, 1);
    return group < this.total && !this.isCut(group) ? group : -1;
  }
  add(instructions: number): number {
    this.unsettled += instructions;
    this.ran += instructions;
    return this.unsettled < SETTLE_AFTER ? 0 : this.settle();
  }
  settle(): number {
    const added = this.unsettled;
    this.unsettled = 0;
    return Number(Atomics.add(this.clock, 0, BigInt(added))) + added;
  }
  get taken(): number {
    return Math.min(this.total, Atomics.load(this.words, CONTROL_NEXT / 4));
  }
  finish(): void {
    Atomics.add(this.words, CONTROL_DONE / 4, 1);
  }
  fail(group: number): void {
    for (;;) {
      const known = Atomics.load(this.words, CONTROL_FAILED / 4);
      if (group >= known) return;
      if (Atomics.compareExchange(this.words, CONTROL_FAILED / 4, known, group) === known) return;
    }
  }
  isCut(group: number): boolean {
    return this.isAborted || group >= Atomics.load(this.words, CONTROL_FAILED / 4);
  }
  abort(): void {
    Atomics.store(this.words, CONTROL_ABORT / 4, 1);
  }
  get isAborted(): boolean {
    return Atomics.load(this.words, CONTROL_ABORT / 4) !== 0;
  }
  get done(): number {
    return Atomics.load(this.words, CONTROL_DONE / 4);
  }
  get instructions(): number {
    return Number(Atomics.load(this.clock, 0));
  }
  get failed(): number {
    const group = Atomics.load(this.words, CONTROL_FAILED / 4);
    return group === NONE ? Number.POSITIVE_INFINITY : group;
  }
}
