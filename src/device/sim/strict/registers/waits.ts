// The memory operations of one wavefront that its wait counters have not proved complete, and the registers they write.
// The rules are those of the static checker (src/check/rules/waits-state.ts) along the one path that is executed: results of one in-order
// kind come back in order, so `counter <= n` proves all but its last n operations complete; a full counter stalls issue.
// Sources: CDNA3 ISA manual, section "Data Dependency Resolution"; LLVM's SIInsertWaitcnts.cpp.
import {
  FLAT_LGKM,
  FLAT_VM,
  LGKM_FULL,
  type MemoryKind,
  SLOT_COUNT,
  type SlotRange,
  VM_FULL,
  type WaitCounts,
} from '../../../../program/index.ts';
import type { StrictPlan } from '../plan.ts';

/** Bytes of LDS that an operation writes, or reads: the lanes' addresses, each with this many bytes. */
export interface LdsBytes {
  readonly addresses: Uint32Array;
  readonly count: number;
  readonly bytes: number;
}

/** An operation that has been issued. */
export class IssuedOperation {
  kind: MemoryKind;
  pc: number;
  plan: StrictPlan;
  wave: number;
  /** Barrier interval in which it was issued. */
  epoch: number;
  /** Position among the operations of its kind. */
  sequence: number;
  /** What it writes to LDS; undefined for none. */
  lds: readonly LdsBytes[] | undefined;
  /** What a load reads there that may be outstanding at a barrier. */
  reads: readonly LdsBytes[] | undefined;
  /** Flat operations: counters not drained since. */
  left = FLAT_VM | FLAT_LGKM;
  /** Its registers are no longer watched: a collision has been reported. */
  isReported = false;
  /** Barrier interval in which it was known to be complete. */
  completeEpoch = Number.POSITIVE_INFINITY;
  /** Its age (see `WaitQueue.ageOf`) at the first barrier after it. */
  barrierAge = 0;
  /** Id in the workgroup's table of LDS bytes in flight; 0 for none. */
  ldsId = 0;
  /** Called when it is known to be complete. */
  onComplete: (() => void) | undefined;

  constructor(kind: MemoryKind, pc: number, plan: StrictPlan, wave: number, epoch: number, sequence: number) {
    this.kind = kind;
    this.pc = pc;
    this.plan = plan;
    this.wave = wave;
    this.epoch = epoch;
    this.sequence = sequence;
  }

  /** Becomes another operation: nobody keeps one that writes no LDS once it is complete. */
  reuse(kind: MemoryKind, pc: number, plan: StrictPlan, wave: number, epoch: number, sequence: number): this {
    this.kind = kind;
    this.pc = pc;
    this.plan = plan;
    this.wave = wave;
    this.epoch = epoch;
    this.sequence = sequence;
    this.left = FLAT_VM | FLAT_LGKM;
    this.isReported = false;
    this.completeEpoch = Number.POSITIVE_INFINITY;
    this.barrierAge = 0;
    this.reads = undefined;
    this.onComplete = undefined;
    return this;
  }

  get isComplete(): boolean {
    return this.completeEpoch !== Number.POSITIVE_INFINITY;
  }
}

const MAX_FREE = 64;

/** Loads from memory into LDS, which come back in order. */
function isFlight(kind: MemoryKind, { access }: StrictPlan): boolean {
  return kind === 'vm' && access?.toLds === true;
}

/** Stores and atomics of what others can see are numbered: those of vector memory come back in order, flat ones only all at once. */
export function isNumberedStore(kind: MemoryKind | undefined, { access }: StrictPlan): boolean {
  const isStore = access !== undefined && access.kind !== 'load' && access.space !== 'scratch';
  return isStore && (kind === 'vm' || kind === 'flat');
}

export class WaitQueue {
  private readonly vm: IssuedOperation[] = [];
  private readonly lds: IssuedOperation[] = [];
  private readonly scalar: IssuedOperation[] = [];
  private readonly flat: IssuedOperation[] = [];
  /** Complete operations that are used again. */
  private readonly free: IssuedOperation[] = [];
  private readonly issued = { vm: 0, lds: 0, scalar: 0, flat: 0 };
  /** How many outstanding operations write each slot, and the same as a bit set. */
  private readonly writers = new Uint8Array(SLOT_COUNT);
  readonly pending: Uint32Array;
  private readonly outstanding: Int32Array;
  private readonly completed: (operation: IssuedOperation) => void;

  /** `pending` has a bit per slot; `outstanding` has six numbers (registers.ts), which compiled code reads and changes too. */
  constructor(pending: Uint32Array, outstanding: Int32Array, completed: (operation: IssuedOperation) => void) {
    this.pending = pending;
    this.outstanding = outstanding;
    this.completed = completed;
  }

  /** Operations outstanding. */
  get total(): number {
    return this.outstanding[0] as number;
  }

  /** Stores to memory that the wavefront has issued, and those of them that are known to be complete. */
  get storesIssued(): number {
    return this.outstanding[2] as number;
  }
  get storesComplete(): number {
    return this.outstanding[3] as number;
  }

  /** Forgets all operations; what is shared with compiled code is zero already. */
  clear(): void {
    const { vm, lds, scalar, flat } = this;
    // Setting the length of an array that is empty is a call all the same.
    if (vm.length + lds.length + scalar.length + flat.length === 0) return;
    for (const queue of [vm, lds, scalar, flat]) queue.length = 0;
    this.writers.fill(0);
  }

  private count(operation: IssuedOperation, by: 1 | -1): void {
    for (const { first, count } of operation.plan.effects.defs) {
      for (let slot = first; slot < first + count; slot++) {
        const n = (this.writers[slot] as number) + by;
        this.writers[slot] = n;
        const word = slot >>> 5;
        if (n === 0) this.pending[word] = (this.pending[word] as number) & ~(1 << (slot & 31));
        else this.pending[word] = (this.pending[word] as number) | (1 << (slot & 31));
      }
    }
  }

  private complete(operation: IssuedOperation, epoch: number): void {
    this.outstanding[0] = this.total - 1;
    if (operation.kind === 'vm' && isNumberedStore('vm', operation.plan)) this.outstanding[3] = this.storesComplete + 1;
    if (isFlight(operation.kind, operation.plan)) this.outstanding[5] = (this.outstanding[5] as number) + 1;
    if (!operation.isReported) this.count(operation, -1);
    if (!operation.isComplete) this.finish(operation, epoch);
    if (operation.lds === undefined && this.free.length < MAX_FREE) this.free.push(operation);
  }

  private finish(operation: IssuedOperation, epoch: number): void {
    operation.completeEpoch = epoch;
    if (operation.lds !== undefined || operation.onComplete !== undefined) this.completed(operation);
  }

  private keepLast(queue: IssuedOperation[], n: number, epoch: number): void {
    if (n > 0) {
      while (queue.length > n) this.complete(queue.shift() as IssuedOperation, epoch);
      return;
    }
    for (const operation of queue) this.complete(operation, epoch);
    // Popping keeps the array's memory, unlike setting its length.
    while (queue.length > 0) queue.pop();
  }

  /** An operation is issued. */
  issue(kind: MemoryKind, pc: number, plan: StrictPlan, wave: number, epoch: number): IssuedOperation {
    if (isNumberedStore(kind, plan)) this.outstanding[2] = this.storesIssued + 1;
    if (isFlight(kind, plan)) this.outstanding[4] = (this.outstanding[4] as number) + 1;
    return this.add(kind, pc, plan, wave, epoch);
  }

  /** An operation joins those outstanding; it has been counted as a store or a load into LDS. */
  add(kind: MemoryKind, pc: number, plan: StrictPlan, wave: number, epoch: number): IssuedOperation {
    const sequence = this.nextSequence(kind);
    const operation =
      this.free.pop()?.reuse(kind, pc, plan, wave, epoch, sequence) ??
      new IssuedOperation(kind, pc, plan, wave, epoch, sequence);
    this.outstanding[0] = this.total + 1;
    this.count(operation, 1);
    if (kind === 'vm') {
      this.vm.push(operation);
      this.keepLast(this.vm, VM_FULL, epoch);
    } else if (kind === 'lds') {
      this.lds.push(operation);
      this.keepLast(this.lds, LGKM_FULL, epoch);
    } else {
      const queue = kind === 'scalar' ? this.scalar : this.flat;
      queue.push(operation);
      this.boundUnordered(queue, epoch);
    }
    return operation;
  }

  /**
   * Takes all outstanding operations, those of a kind in their order, if the log of compiled code can say what they are (registers.ts); else
   * none. At most `most` of them.
   */
  takePlain(most: number): { readonly kind: MemoryKind; readonly pc: number; readonly plan: StrictPlan }[] {
    const all = [...this.vm, ...this.lds, ...this.scalar];
    const isPlain = ({ lds, reads, onComplete, isReported, plan }: IssuedOperation): boolean =>
      lds === undefined &&
      reads === undefined &&
      onComplete === undefined &&
      !isReported &&
      plan.effects.defs.length < 2;
    if (this.flat.length > 0 || all.length > most || !all.every(isPlain)) return [];
    for (const operation of all) this.count(operation, -1);
    for (const queue of [this.vm, this.lds, this.scalar]) queue.length = 0;
    this.outstanding[0] = this.total - all.length;
    return all;
  }

  private nextSequence(kind: MemoryKind): number {
    switch (kind) {
      case 'vm':
        return this.issued.vm++;
      case 'lds':
        return this.issued.lds++;
      case 'scalar':
        return this.issued.scalar++;
      default:
        return this.issued.flat++;
    }
  }

  /**
   * Operations that come back out of order are proved complete by a count of 0 only. One per instruction is watched: another
   * from the same place writes the same registers.
   */
  private boundUnordered(queue: IssuedOperation[], epoch: number): void {
    const last = queue[queue.length - 1] as IssuedOperation;
    const same = queue.findIndex((o) => o.pc === last.pc);
    if (same < queue.length - 1) this.complete(queue.splice(same, 1)[0] as IssuedOperation, epoch);
  }

  /** Calls back when the vector memory operations outstanding now are known to be complete. */
  whenDrained(callback: () => void): void {
    const last = this.vm[this.vm.length - 1];
    if (last === undefined) {
      callback();
      return;
    }
    const { onComplete } = last;
    last.onComplete = () => {
      onComplete?.();
      callback();
    };
  }

  /** An s_waitcnt is passed. */
  wait({ vm, lgkm }: WaitCounts, epoch: number): void {
    if (vm < VM_FULL) this.keepLast(this.vm, vm, epoch);
    if (lgkm < LGKM_FULL) this.keepLast(this.lds, lgkm, epoch);
    if (lgkm === 0) this.keepLast(this.scalar, 0, epoch);
    // Whatever is in flight to LDS by flat stores, their part of memory is counted by vmcnt.
    if (vm === 0) this.outstanding[3] = this.storesIssued;
    const drained = (vm === 0 ? FLAT_VM : 0) | (lgkm === 0 ? FLAT_LGKM : 0);
    if (drained === 0) return;
    for (let i = this.flat.length - 1; i >= 0; i--) {
      const operation = this.flat[i] as IssuedOperation;
      operation.left &= ~drained;
      // What goes to LDS is counted by lgkmcnt.
      if (lgkm === 0 && operation.lds !== undefined && !operation.isComplete) this.finish(operation, epoch);
      if (operation.left === 0) this.complete(this.flat.splice(i, 1)[0] as IssuedOperation, epoch);
    }
  }

  /** Whether an outstanding operation writes one of the slots. */
  touches(ranges: readonly SlotRange[]): boolean {
    for (const { first, count } of ranges) {
      for (let slot = first; slot < first + count; slot++) if (this.writers[slot] !== 0) return true;
    }
    return false;
  }

  /**
   * The outstanding operations that write one of the slots; they are reported once, so their registers are no longer watched.
   * Those of kind `except` are left out: an instruction of the same in-order kind writes later anyway.
   */
  take(ranges: readonly SlotRange[], except: MemoryKind | undefined): IssuedOperation[] {
    const found: IssuedOperation[] = [];
    for (const queue of [this.vm, this.lds, this.scalar, this.flat]) {
      for (const operation of queue) {
        if (operation.kind === except || operation.isReported) continue;
        const hits = operation.plan.effects.defs.some((d) =>
          ranges.some((r) => d.first < r.first + r.count && r.first < d.first + d.count),
        );
        if (hits) found.push(operation);
      }
    }
    for (const operation of found) {
      this.count(operation, -1);
      operation.isReported = true;
    }
    return found;
  }

  /** The outstanding loads into LDS, and the operations of vector memory behind each. */
  flights(): { readonly operation: IssuedOperation; readonly behind: number }[] {
    return this.vm
      .map((operation, n) => ({ operation, behind: this.vm.length - n - 1 }))
      .filter(({ operation }) => isFlight(operation.kind, operation.plan));
  }

  /** Operations of its kind issued after it; for flat the undrained counters. */
  ageOf(operation: IssuedOperation): number {
    return operation.kind === 'flat' ? operation.left : this.issued[operation.kind] - operation.sequence - 1;
  }

  /** Operations that may be outstanding in LDS, whose instructions `matches`. Of flat ones what goes there is counted by lgkmcnt. */
  outstandingOf(matches: (plan: StrictPlan) => boolean): IssuedOperation[] {
    const flat = this.flat.filter(({ left }) => (left & FLAT_LGKM) !== 0);
    return [...this.lds, ...flat].filter(({ plan }) => matches(plan));
  }

  /** Whether an outstanding operation writes LDS. */
  get writesLds(): boolean {
    const writes = ({ lds }: IssuedOperation): boolean => lds !== undefined;
    return this.lds.some(writes) || this.vm.some(writes) || this.flat.some(writes);
  }

  /** Outstanding operations that write LDS, when a barrier is passed. */
  *writingLds(epoch: number): IterableIterator<IssuedOperation> {
    for (const queue of [this.vm, this.lds, this.flat]) {
      for (const operation of queue) {
        if (operation.lds === undefined || operation.isComplete) continue;
        if (operation.epoch === epoch) operation.barrierAge = this.ageOf(operation);
        yield operation;
      }
    }
  }
}
