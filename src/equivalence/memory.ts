// States of a memory: the accesses that led to them, in an order that does not depend on how independent ones were scheduled.
// Two accesses are independent only when no lane of one can touch a byte of any lane of the other.
import { type Integers, knownTrailingZeros } from './integers.ts';
import { type Term, widthMask } from './terms.ts';

/** Some bytes that each lane of an access touches. */
export interface Place {
  /** `buffer[…]` with the resource and index for buffers; undefined where `offset` is the whole address. */
  readonly base: Term | undefined;
  /** Address or offset of the first byte; per lane unless uniform. */
  readonly offset: Term;
  readonly bytes: number;
  /** Every lane has memory of its own at the same addresses (scratch). */
  readonly isPrivate: boolean;
  /** One lane's offset says nothing about another's: the lanes count from records of their own. */
  readonly isPerRecord?: boolean;
  /** Bytes before `offset` that are touched where hardware aligns it down. */
  readonly slack?: number;
}

/** The power of two that divides every value of factor × term. */
function stride(term: Term, factor: bigint): bigint {
  let power = 1n << BigInt(knownTrailingZeros(term));
  for (let f = factor; f !== 0n && (f & 1n) === 0n; f >>= 1n) power <<= 1n;
  return power & widthMask(term.kind);
}

function parts(term: Term): { constant: bigint; list: (readonly [Term, bigint])[] } {
  if (term.op === 'const') return { constant: term.value, list: [] };
  if (term.op === 'sum') {
    return { constant: term.value, list: term.args.map((t, i) => [t, term.factors[i] as bigint] as const) };
  }
  return { constant: 0n, list: [[term, 1n]] };
}

/**
 * The power of two that the distance of two addresses is a multiple of, beside their constants; 2^width when nothing else is different.
 * Values that differ between lanes count as unknown multiples of their stride, because two lanes need not have the same.
 */
function modulusOf(a: Term, b: Term, isPrivate: boolean): bigint {
  const uniform = new Map<Term, bigint>();
  let gcd = 0n;
  const vary = (term: Term, factor: bigint): void => {
    const power = stride(term, factor);
    if (power !== 0n && (gcd === 0n || power < gcd)) gcd = power;
  };
  for (const [address, sign] of [
    [a, 1n],
    [b, -1n],
  ] as const) {
    for (const [term, factor] of parts(address).list) {
      if (term.isUniform || isPrivate) uniform.set(term, (uniform.get(term) ?? 0n) + sign * factor);
      else vary(term, factor);
    }
  }
  const mask = widthMask(a.kind);
  for (const [term, factor] of uniform) if ((factor & mask) !== 0n) vary(term, factor & mask);
  return gcd === 0n ? mask + 1n : gcd;
}

/** The pointer argument an address counts from: the one that it adds once; undefined when unclear. */
function pointerOf(address: Term, isPointer: (term: Term) => boolean): Term | undefined {
  let found: Term | undefined;
  for (const [term, factor] of parts(address).list) {
    const half = term.op === 'extU' ? (term.args[0] as Term) : term;
    if (!isPointer(half) || factor !== 1n) continue;
    if (found !== undefined) return undefined;
    found = half;
  }
  return found;
}

/** An address as a constant and the rest. */
interface Address {
  readonly rest: Term;
  readonly constant: bigint;
}

/**
 * A store that is moved further keeps its place among those before. Terms are numbered in the order of the baseline, and so are most
 * stores: a thousand of them take 10 ms instead of the square of their number.
 */
const MOST_PASSED = 256;

/** Where and how a store writes: kept beside its term. */
interface StoreRecord {
  readonly place: Place;
  readonly rest: Term;
  readonly args: readonly Term[];
  readonly attr: string;
  /** What decides the order among independent stores. */
  readonly rank: readonly number[];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    const d = (a[i] as number) - (b[i] as number);
    if (d !== 0) return d;
  }
  return 0;
}

/** Builds memory states and what is read from them. */
export class Memories {
  /** Tells the low halves of pointer arguments, when what is reached through different ones never overlaps. */
  isPointer: ((term: Term) => boolean) | undefined;
  private readonly integers: Integers;
  private readonly stores = new Map<Term, StoreRecord>();
  private readonly addresses = new Map<Term, Address>();
  private readonly moduli = new Map<number, bigint>();

  constructor(integers: Integers) {
    this.integers = integers;
  }

  /** The name of one write, whatever came before it. */
  write(place: Place, value: Term, attr: string): Term {
    const args = [place.offset, value, ...(place.base === undefined ? [] : [place.base])];
    return this.integers.terms.make('write', 'effect', args, { attr });
  }

  /**
   * The writes and other effects that led to a state, oldest first, each once: writes by their name, others by the state they made.
   * Fences are left out: they differ when something before them does.
   */
  history(memory: Term): Term[] {
    const out: Term[] = [];
    const seen = new Set<Term>();
    const stack: { term: Term; isDone: boolean }[] = [{ term: memory, isDone: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { term, isDone } = top;
      const store = this.stores.get(term);
      if (isDone) {
        if (store !== undefined) out.push(this.write(store.place, store.args[2] as Term, store.attr));
        else if (term.op !== 'part' && term.op !== 'fence') out.push(term);
        continue;
      }
      if (seen.has(term)) continue;
      seen.add(term);
      stack.push({ term, isDone: true });
      for (const arg of term.args) if (arg.kind === 'effect') stack.push({ term: arg, isDone: false });
    }
    return out;
  }

  /** Whether no byte of one place can be a byte of the other, whichever lanes they belong to. */
  areApart(a: Place, b: Place): boolean {
    if (a.isPerRecord || b.isPerRecord) return false;
    if (a.base !== b.base || a.offset.kind !== b.offset.kind || a.isPrivate !== b.isPrivate) return false;
    const [x, y] = [this.address(a.offset), this.address(b.offset)];
    const modulus = this.modulus(x.rest, y.rest, a.isPrivate);
    const distance = (((x.constant - y.constant) % modulus) + modulus) % modulus;
    return distance >= BigInt(b.bytes + (a.slack ?? 0)) && modulus - distance >= BigInt(a.bytes + (b.slack ?? 0));
  }

  /** An address without its constant, and the constant. */
  private address(offset: Term): Address {
    let known = this.addresses.get(offset);
    if (known === undefined) {
      const { constant } = parts(offset);
      known = { constant, rest: this.integers.sub(offset, this.integers.terms.constant(offset.kind, constant)) };
      this.addresses.set(offset, known);
    }
    return known;
  }

  private modulus(a: Term, b: Term, isPrivate: boolean): bigint {
    const key = (2 * a.id + (isPrivate ? 1 : 0)) * 0x400_0000 + b.id;
    let modulus = this.moduli.get(key);
    if (modulus === undefined) {
      modulus = modulusOf(a, b, isPrivate);
      this.moduli.set(key, modulus);
    }
    return modulus;
  }

  private areIndependent(a: Place, b: Place): boolean {
    return this.areApart(a, b) || this.areOtherPointers(a.offset, b.offset);
  }

  /** Whether two addresses count from pointer arguments that are said to reach different memory. */
  areOtherPointers(a: Term, b: Term): boolean {
    const { isPointer } = this;
    if (isPointer === undefined) return false;
    const [x, y] = [pointerOf(a, isPointer), pointerOf(b, isPointer)];
    return x !== undefined && y !== undefined && x !== y;
  }

  /** The state after the lanes of `exec` wrote `value`. `attr` tells access size and cache policy. */
  store(memory: Term, exec: Term, place: Place, value: Term, attr: string): Term {
    const args = [exec, place.offset, value, ...(place.base === undefined ? [] : [place.base])];
    const { constant } = parts(place.offset);
    const rank = [place.base?.id ?? -1, place.offset.id, Number(BigInt.asIntN(48, constant)), exec.id, value.id];
    const record = { place, args, attr, rank };
    return this.insert(memory, record);
  }

  private insert(memory: Term, record: Omit<StoreRecord, 'rest'>): Term {
    // Back past independent stores, to the earliest place that the order of independent stores gives this one.
    const passed: StoreRecord[] = [];
    let keep = 0;
    let under = memory;
    for (;;) {
      const other = this.stores.get(under);
      if (other === undefined || passed.length === MOST_PASSED || !this.areIndependent(record.place, other.place))
        break;
      passed.push(other);
      under = other.rest;
      if (compareRanks(record.rank, other.rank) < 0) keep = passed.length;
    }
    let at = memory;
    for (let i = 0; i < keep; i++) at = (passed[i] as StoreRecord).rest;
    let state = this.put(at, record);
    for (let i = keep - 1; i >= 0; i--) state = this.put(state, passed[i] as StoreRecord);
    return state;
  }

  private put(rest: Term, record: Omit<StoreRecord, 'rest'>): Term {
    const term = this.integers.terms.make('store', 'effect', [rest, ...record.args], { attr: record.attr });
    if (!this.stores.has(term)) this.stores.set(term, { ...record, rest });
    return term;
  }

  /** What a load reads: `kind` word of a state, independent later stores left out. */
  load(memory: Term, place: Place, attr: string, isUniform: boolean, exec: Term): Term {
    let state = memory;
    for (;;) {
      const other = this.stores.get(state);
      if (other === undefined) break;
      if (this.areIndependent(place, other.place)) state = other.rest;
      else if (place.isPrivate && this.isReload(place, attr, exec, other)) return other.args[2] as Term;
      else break;
    }
    const args = [state, place.offset, ...(place.base === undefined ? [] : [place.base])];
    return this.integers.terms.make('load', 'i32', args, { attr, isUniform });
  }

  /** A whole dword of the lane's own memory, as the same lanes stored it. */
  private isReload(place: Place, attr: string, exec: Term, other: StoreRecord): boolean {
    return (
      place.bytes === 4 &&
      other.place.bytes === 4 &&
      attr === other.attr &&
      place.offset === other.place.offset &&
      exec === other.args[0]
    );
  }
}
