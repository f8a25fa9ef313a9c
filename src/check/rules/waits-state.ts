// The memory operations that may be outstanding at one point of a program, over all paths to it.
// An operation is its instruction; its age is the number of operations of its kind issued since, the smallest of all paths.
// Because results of one kind come back in order, `counter <= age` proves an operation complete even when other kinds share
// the counter: they can only raise it. Source: LLVM's SIInsertWaitcnts.cpp (score brackets), CDNA3 ISA manual.
import {
  type CodeInstruction,
  FLAT_LGKM,
  FLAT_VM,
  LGKM_FULL,
  type MemoryKind,
  SLOT_COUNT,
  type SlotRange,
  VM_FULL,
  type WaitCounts,
} from '../../program/index.ts';

/**
 * By instruction index, for in-order kinds: the age on the path with the fewest operations since, and on the one with the most as
 * `MOST * age`. For flat the undrained counters, for scalar 0.
 */
const MOST = 256;
type Pending = Map<number, number>;

const KINDS: readonly MemoryKind[] = ['vm', 'lds', 'scalar', 'flat'];

/** An outstanding operation that an instruction collides with. */
export interface Collision {
  readonly kind: MemoryKind;
  readonly operation: CodeInstruction;
  readonly age: number;
  /** No path from the operation to the instruction waits for it; otherwise some do, and the others may never be taken. */
  readonly isCertain: boolean;
}

/** The instructions that a state is about: indexes `first` up to `end`. */
export interface CodeRange {
  readonly code: readonly CodeInstruction[];
  readonly first: number;
  readonly end: number;
  /** By instruction from `first` on: the number of the memory operation, -1 for other instructions. */
  readonly numbers: Int32Array;
  /** Memory operations in all. */
  readonly operations: number;
  /** By slot: the memory operations that write it, as instruction indexes; none where no operation does. */
  readonly writers: readonly (readonly number[] | undefined)[];
}

/** A set of memory operations, by instruction index: a bit for each. */
export class OperationSet {
  private readonly range: CodeRange;
  private readonly bits: Uint32Array;

  constructor(range: CodeRange, bits = new Uint32Array((range.operations + 31) >>> 5)) {
    this.range = range;
    this.bits = bits;
  }

  copy(): OperationSet {
    return new OperationSet(this.range, this.bits.slice());
  }

  private bitOf(site: number): number {
    return this.range.numbers[site - this.range.first] as number;
  }

  has(site: number): boolean {
    const bit = this.bitOf(site);
    return (((this.bits[bit >>> 5] as number) >>> (bit & 31)) & 1) !== 0;
  }

  add(site: number): void {
    const bit = this.bitOf(site);
    this.bits[bit >>> 5] = ((this.bits[bit >>> 5] as number) | (1 << (bit & 31))) >>> 0;
  }

  delete(site: number): void {
    const bit = this.bitOf(site);
    this.bits[bit >>> 5] = (this.bits[bit >>> 5] as number) & ~(1 << (bit & 31));
  }

  /** Adds all of another set; whether anything changed. */
  addAll(other: OperationSet): boolean {
    let changed = false;
    for (let i = 0; i < this.bits.length; i++) {
      const mine = this.bits[i] as number;
      const joined = (mine | (other.bits[i] as number)) >>> 0;
      if (joined === mine) continue;
      this.bits[i] = joined;
      changed = true;
    }
    return changed;
  }
}

export class WaitState {
  readonly range: CodeRange;
  private readonly pending: Readonly<Record<MemoryKind, Pending>>;
  /** How many outstanding operations write each slot. */
  private readonly writers = new Uint16Array(SLOT_COUNT);
  /** Issued and complete on some path. */
  private readonly complete: OperationSet;
  /** What `pending` has of any kind. */
  private readonly issued: OperationSet;
  private total = 0;
  /** Loads into LDS that were issued again while outstanding, as in a pipelined loop: the ages of the issues before, youngest first. */
  private readonly older: Map<number, readonly number[]>;
  /** Such loads of which the issue before the last has been proved complete. */
  private readonly provedOlder: Set<number>;
  /** Such loads of which one further back has. */
  private readonly provedOldest: Set<number>;
  /** On every path a wait has proved a load into LDS complete. */
  private hasLanded: boolean;

  constructor(range: CodeRange, from?: WaitState) {
    this.range = range;
    this.complete = from?.complete.copy() ?? new OperationSet(range);
    this.issued = from?.issued.copy() ?? new OperationSet(range);
    this.pending = {
      vm: new Map(from?.pending.vm),
      lds: new Map(from?.pending.lds),
      scalar: new Map(from?.pending.scalar),
      flat: new Map(from?.pending.flat),
    };
    if (from !== undefined) this.writers.set(from.writers);
    this.older = new Map(from?.older);
    this.provedOlder = new Set(from?.provedOlder);
    this.provedOldest = new Set(from?.provedOldest);
    this.hasLanded = from?.hasLanded ?? false;
    this.total = from?.total ?? 0;
  }

  /** Whether anything is outstanding. */
  get isEmpty(): boolean {
    return this.total === 0;
  }

  private at(site: number): CodeInstruction {
    return this.range.code[site] as CodeInstruction;
  }

  private countWriters(site: number, by: number): void {
    this.total += by;
    for (const { first, count } of this.at(site).effects.defs) {
      for (let slot = first; slot < first + count; slot++) this.writers[slot] = (this.writers[slot] as number) + by;
    }
  }

  private drop(kind: MemoryKind, site: number): void {
    if (!this.pending[kind].delete(site)) return;
    this.countWriters(site, -1);
    this.issued.delete(site);
    this.complete.add(site);
  }

  /** An in-order operation has these ages; from `limit` on it is complete. */
  private setAges(kind: MemoryKind, site: number, least: number, most: number, limit: number): void {
    if (least >= limit) this.drop(kind, site);
    else {
      if (most >= limit) this.complete.add(site);
      this.pending[kind].set(site, least + MOST * Math.min(most, limit - 1));
    }
  }

  /**
   * Adds the operations that have been issued and proved complete on some path, or of which an earlier issue has. One further back than the last
   * but one counts where the path into the loop has waited for a load, too: otherwise the first round reads what no wait has proved.
   */
  addProved(proved: OperationSet): void {
    proved.addAll(this.complete);
    for (const site of this.provedOlder) proved.add(site);
    if (this.hasLanded) for (const site of this.provedOldest) proved.add(site);
  }

  /** Earlier issues that a wait for fewer than `limit` operations proves complete. */
  private proveOlder(limit: number): void {
    for (const [site, issues] of this.older) {
      const left = issues.findIndex((ages) => ages % MOST >= limit);
      if (left < 0) continue;
      (left === 0 ? this.provedOlder : this.provedOldest).add(site);
      this.keepOlder(site, issues.slice(0, left));
    }
  }

  /** An operation is issued: earlier issues that so many have followed are complete, which only the last of them is known by. */
  private ageOlder(): void {
    for (const [site, issues] of this.older) {
      if (((issues[0] as number) % MOST) + 1 >= VM_FULL) this.provedOlder.add(site);
      const aged = issues.map((ages) => addAges(ages, 1));
      this.keepOlder(
        site,
        aged.filter((ages) => ages % MOST < VM_FULL),
      );
    }
  }

  private keepOlder(site: number, issues: readonly number[]): void {
    if (issues.length === 0) this.older.delete(site);
    else this.older.set(site, issues);
  }

  private set(kind: MemoryKind, site: number, value: number): void {
    if (!this.pending[kind].has(site)) {
      this.countWriters(site, 1);
      this.issued.add(site);
    }
    this.pending[kind].set(site, value);
  }

  /** An operation is issued. */
  issue(kind: MemoryKind, code: CodeInstruction): void {
    this.complete.delete(code.index);
    if (kind === 'scalar') this.set(kind, code.index, 0);
    else if (kind === 'flat') this.set(kind, code.index, FLAT_VM | FLAT_LGKM);
    else {
      const full = kind === 'vm' ? VM_FULL : LGKM_FULL;
      for (const [site, ages] of this.pending[kind]) {
        this.setAges(kind, site, (ages % MOST) + 1, Math.floor(ages / MOST) + 1, full);
      }
      if (kind === 'vm') {
        this.ageOlder();
        const before = this.pending.vm.get(code.index);
        if (before !== undefined && isLdsLoad(code)) {
          this.older.set(code.index, [before, ...(this.older.get(code.index) ?? [])]);
        }
      }
      this.set(kind, code.index, 0);
    }
  }

  /** An s_waitcnt is passed. */
  wait({ vm, lgkm }: WaitCounts): void {
    if (vm < VM_FULL) {
      this.hasLanded ||= this.provesLanding(vm);
      this.dropFrom('vm', vm);
      this.proveOlder(vm);
    }
    if (lgkm < LGKM_FULL) this.dropFrom('lds', lgkm);
    if (lgkm === 0) this.dropFrom('scalar', 0);
    const drained = (vm === 0 ? FLAT_VM : 0) | (lgkm === 0 ? FLAT_LGKM : 0);
    if (drained === 0) return;
    for (const [site, left] of this.pending.flat) {
      if ((left & ~drained) === 0) this.drop('flat', site);
      else this.pending.flat.set(site, left & ~drained);
    }
  }

  /** Whether a load into LDS is outstanding that at least `limit` operations have followed on every path that has issued it. */
  private provesLanding(limit: number): boolean {
    for (const [site, ages] of this.pending.vm) {
      if (ages % MOST >= limit && isLdsLoad(this.at(site))) return true;
    }
    return false;
  }

  private dropFrom(kind: MemoryKind, age: number): void {
    for (const [site, ages] of this.pending[kind]) {
      this.setAges(kind, site, ages % MOST, Math.floor(ages / MOST), age);
    }
  }

  /** Whether an outstanding operation writes one of the slots. */
  touches(ranges: readonly SlotRange[]): boolean {
    for (const { first, count } of ranges) {
      for (let slot = first; slot < first + count; slot++) if (this.writers[slot] !== 0) return true;
    }
    return false;
  }

  /** Adds the slots that outstanding operations write to a set. */
  addTouched(set: Uint32Array): void {
    if (this.isEmpty) return;
    const { writers } = this;
    for (let slot = 0; slot < writers.length; slot++) {
      if (writers[slot] !== 0) set[slot >>> 5] = ((set[slot >>> 5] as number) | (1 << (slot & 31))) >>> 0;
    }
  }

  /**
   * Outstanding operations that write one of the slots, taken out of the state so that each is reported at its first use only.
   * Those of kind `except` stay: an instruction of the same in-order kind writes later anyway.
   */
  take(ranges: readonly SlotRange[], except: MemoryKind | undefined): Collision[] {
    const found = this.collisions(ranges, except);
    for (const { kind, operation } of found) this.drop(kind, operation.index);
    return found;
  }

  /** The same operations, left in the state. */
  collisions(ranges: readonly SlotRange[], except: MemoryKind | undefined): Collision[] {
    const sites = this.outstandingWriters(ranges);
    const found: Collision[] = [];
    for (const kind of KINDS) {
      if (kind === except) continue;
      const pending = this.pending[kind];
      const own = [...sites].filter((site) => pending.has(site));
      // In the order of their issue.
      const order = own.length > 1 ? [...pending.keys()].filter((site) => sites.has(site)) : own;
      for (const site of order) {
        const age = (pending.get(site) as number) % MOST;
        found.push({ kind, operation: this.at(site), age, isCertain: !this.complete.has(site) });
      }
    }
    return found;
  }

  /** The outstanding operations that write one of the slots. Code without waits has thousands of others. */
  private outstandingWriters(ranges: readonly SlotRange[]): ReadonlySet<number> {
    const sites = new Set<number>();
    for (const { first, count } of ranges) {
      for (let slot = first; slot < first + count; slot++) {
        let left = this.writers[slot] as number;
        const all = this.range.writers[slot] ?? [];
        for (let i = all.length - 1; i >= 0 && left > 0; i--) {
          const site = all[i] as number;
          if (!this.issued.has(site)) continue;
          left--;
          sites.add(site);
        }
      }
    }
    return sites;
  }

  /** Outstanding operations of one kind, youngest last. */
  *outstanding(kind: MemoryKind): IterableIterator<CodeInstruction> {
    for (const site of this.pending[kind].keys()) yield this.at(site);
  }

  /** Outstanding operations of one kind with their ages on the paths with the fewest and the most operations since. */
  *ages(kind: MemoryKind): IterableIterator<{ operation: CodeInstruction; least: number; most: number }> {
    for (const [site, value] of this.pending[kind]) {
      const most = kind === 'flat' ? value : Math.floor(value / MOST);
      const before = kind === 'vm' ? (this.older.get(site) ?? []) : [];
      const mosts = before.map((ages) => Math.floor(ages / MOST));
      yield { operation: this.at(site), least: value % MOST, most: Math.max(most, ...mosts) };
    }
  }

  /** Adds what may be outstanding on another path; whether anything changed. */
  join(other: WaitState): boolean {
    let changed = false;
    for (const kind of KINDS) {
      for (const [site, value] of other.pending[kind]) {
        const mine = this.pending[kind].get(site);
        const joined = mine === undefined ? value : kind === 'flat' ? mine | value : joinAges(mine, value);
        if (joined === mine) continue;
        this.set(kind, site, joined);
        changed = true;
      }
    }
    for (const [site, issues] of other.older) {
      const mine = this.older.get(site) ?? [];
      const joined = joinIssues(mine, issues);
      if (joined.length === mine.length && joined.every((ages, i) => ages === mine[i])) continue;
      this.older.set(site, joined);
      changed = true;
    }
    changed = addTo(this.provedOlder, other.provedOlder) || changed;
    changed = addTo(this.provedOldest, other.provedOldest) || changed;
    if (this.hasLanded && !other.hasLanded) {
      this.hasLanded = false;
      changed = true;
    }
    return this.complete.addAll(other.complete) || changed;
  }
}

function joinAges(a: number, b: number): number {
  return Math.min(a % MOST, b % MOST) + MOST * Math.max(Math.floor(a / MOST), Math.floor(b / MOST));
}

const addAges = (ages: number, by: number): number =>
  (ages % MOST) + by + MOST * Math.min(Math.floor(ages / MOST) + by, VM_FULL - 1);

/** Earlier issues on two paths: the first ones, the second ones… of both. */
function joinIssues(a: readonly number[], b: readonly number[]): number[] {
  const [more, less] = a.length < b.length ? [b, a] : [a, b];
  return more.map((ages, i) => (i < less.length ? joinAges(ages, less[i] as number) : ages));
}

/** Whether anything was new. */
function addTo(into: Set<number>, from: ReadonlySet<number>): boolean {
  const before = into.size;
  for (const site of from) into.add(site);
  return into.size > before;
}

const isLdsLoad = ({ instruction }: CodeInstruction): boolean => instruction.row.flags.has('LDSDMA');
