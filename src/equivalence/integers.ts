// Normal forms of integer arithmetic: sums of multiples, halves and pairs of 64-bit values, bitwise operations as sorted sets.
// Two ways to compute one address (add and carry on halves, one 64-bit add, shift and add) end in the same term.
import { Subsets } from './subsets.ts';
import { isConstant, MASK32, MASK64, type Term, type TermKind, type Terms, widthMask } from './terms.ts';

type IntegerKind = 'i32' | 'i64';

/** Σ factor·term + constant, modulo 2^width. */
interface Linear {
  constant: bigint;
  readonly terms: Map<Term, bigint>;
}

function signed(value: bigint, kind: IntegerKind): bigint {
  return BigInt.asIntN(kind === 'i64' ? 64 : 32, value);
}

function trailingZeros(value: bigint, limit: number): number {
  for (let n = 0; n < limit; n++) if (((value >> BigInt(n)) & 1n) !== 0n) return n;
  return limit;
}

/** Low zero bits that a term is known to have. */
export function knownTrailingZeros(term: Term): number {
  const width = term.kind === 'i64' ? 64 : 32;
  return trailingZeros(~term.zeros & widthMask(term.kind), width);
}

/** Longer sums and sets are one part of others: a chain of thousands would take the square of that. Measured: addresses have up to 20. */
const MOST_PARTS = 128;

/** Constructors that simplify. Every method returns a term whose value equals that of the operation on its arguments, always. */
export class Integers {
  readonly terms: Terms;
  readonly subsets = new Subsets();
  private readonly lows = new Map<Term, Term>();
  private readonly highs = new Map<Term, Term>();

  constructor(terms: Terms) {
    this.terms = terms;
  }

  // Sums ----------------------------------------------------------------------------------------------------------------------

  private accumulate(into: Linear, term: Term, factor: bigint): void {
    if (factor === 0n) return;
    if (term.op === 'const') into.constant += factor * term.value;
    else if (term.op === 'sum' && term.args.length <= MOST_PARTS) {
      into.constant += factor * term.value;
      term.args.forEach((a, i) => {
        this.put(into, a, factor * (term.factors[i] as bigint));
      });
    } else this.put(into, term, factor);
  }

  private put(into: Linear, term: Term, factor: bigint): void {
    // Of a 32-bit value that is moved to the upper half only the value modulo 2^32 counts: its sum comes apart.
    if (term.op === 'extU' && (factor & MASK32) === 0n) {
      const inner = term.args[0] as Term;
      if (inner.op === 'sum') {
        into.constant += factor * inner.value;
        inner.args.forEach((a, i) => {
          this.put(into, this.extendU(a), factor * (inner.factors[i] as bigint));
        });
        return;
      }
    }
    into.terms.set(term, (into.terms.get(term) ?? 0n) + factor);
  }

  private finish(kind: IntegerKind, linear: Linear): Term {
    const mask = widthMask(kind);
    if (kind === 'i64') this.joinHalves(linear);
    const parts: [Term, bigint][] = [];
    for (const [term, factor] of linear.terms) {
      const reduced = factor & mask;
      if (reduced !== 0n) parts.push([term, reduced]);
    }
    const constant = linear.constant & mask;
    if (parts.length === 0) return this.terms.constant(kind, constant);
    const [only] = parts;
    if (parts.length === 1 && constant === 0n && only?.[1] === 1n) return only[0];
    parts.sort((a, b) => a[0].id - b[0].id);
    return this.terms.make(
      'sum',
      kind,
      parts.map((p) => p[0]),
      {
        attr: `${constant.toString(16)}:${parts.map((p) => p[1].toString(16)).join(',')}`,
        value: constant,
        factors: parts.map((p) => p[1]),
        zeros: this.sumZeros(kind, constant, parts),
      },
    );
  }

  private sumZeros(kind: IntegerKind, constant: bigint, parts: readonly (readonly [Term, bigint])[]): bigint {
    const mask = widthMask(kind);
    const width = kind === 'i64' ? 64 : 32;
    let low = trailingZeros(constant, width);
    let most = constant;
    for (const [term, factor] of parts) {
      low = Math.min(low, knownTrailingZeros(term) + trailingZeros(factor, width));
      most += factor * (~term.zeros & mask);
    }
    const bottom = low >= width ? mask : (1n << BigInt(low)) - 1n;
    if (most > mask) return bottom;
    const top = mask & ~((1n << BigInt(most.toString(2).length)) - 1n);
    return bottom | top;
  }

  /** f·extU(lo(x)) + f·2^32·extU(hi(x)) is f·x. */
  private joinHalves(linear: Linear): void {
    for (const [term, factor] of [...linear.terms]) {
      if (term.op !== 'extU') continue;
      const half = term.args[0] as Term;
      if (half.op !== 'hi') continue;
      const whole = half.args[0] as Term;
      const low = this.extendU(this.lo(whole));
      const lowFactor = linear.terms.get(low);
      if (lowFactor === undefined || ((lowFactor << 32n) & MASK64) !== (factor & MASK64)) continue;
      linear.terms.delete(term);
      linear.terms.delete(low);
      this.accumulate(linear, whole, lowFactor);
      this.joinHalves(linear);
      return;
    }
  }

  private linear(kind: IntegerKind, parts: readonly (readonly [Term, bigint])[]): Term {
    const sum: Linear = { constant: 0n, terms: new Map() };
    for (const [term, factor] of parts) this.accumulate(sum, term, factor);
    return this.finish(kind, sum);
  }

  add(a: Term, b: Term): Term {
    return this.linear(a.kind as IntegerKind, [
      [a, 1n],
      [b, 1n],
    ]);
  }

  sub(a: Term, b: Term): Term {
    return this.linear(a.kind as IntegerKind, [
      [a, 1n],
      [b, -1n],
    ]);
  }

  scale(a: Term, factor: bigint): Term {
    return this.linear(a.kind as IntegerKind, [[a, factor]]);
  }

  addConstant(a: Term, value: number): Term {
    return this.add(a, this.terms.constant(a.kind, BigInt(value)));
  }

  mul(a: Term, b: Term): Term {
    if (a.op === 'const') return this.scale(b, signed(a.value, a.kind as IntegerKind));
    if (b.op === 'const') return this.scale(a, signed(b.value, b.kind as IntegerKind));
    return this.commutative('mul', a.kind, [a, b]);
  }

  commutative(op: string, kind: TermKind, args: readonly Term[]): Term {
    return this.terms.make(
      op,
      kind,
      [...args].sort((x, y) => x.id - y.id),
    );
  }

  /** A value that no value of the term is above. */
  most(term: Term): bigint {
    const mask = widthMask(term.kind);
    const known = ~term.zeros & mask;
    if (term.op === 'const') return term.value;
    if (term.op !== 'sum') return known;
    const sum = term.args.reduce((all, t, i) => all + (term.factors[i] as bigint) * this.most(t), term.value);
    const isTighter = sum < known;
    return isTighter ? sum : known;
  }

  // Shifts --------------------------------------------------------------------------------------------------------------------

  shl(a: Term, count: Term): Term {
    const width = a.kind === 'i64' ? 63n : 31n;
    if (count.op === 'const') return this.scale(a, 1n << (count.value & width));
    return this.terms.make('shl', a.kind, [a, count]);
  }

  shrU(a: Term, count: Term): Term {
    if (count.op !== 'const') return this.terms.make('shrU', a.kind, [a, count]);
    const k = count.value & (a.kind === 'i64' ? 63n : 31n);
    if (k === 0n) return a;
    if (a.op === 'const') return this.terms.constant(a.kind, a.value >> k);
    if (a.kind === 'i64' && k >= 32n) return this.extendU(this.shrU(this.hi(a), this.terms.constant('i32', k - 32n)));
    if (a.op === 'shrU' && a.args[1]?.op === 'const') {
      const sum = (a.args[1].value & (a.kind === 'i64' ? 63n : 31n)) + k;
      if (sum < (a.kind === 'i64' ? 64n : 32n)) {
        return this.shrU(a.args[0] as Term, this.terms.constant('i32', sum));
      }
      return this.terms.constant(a.kind, 0n);
    }
    const mask = widthMask(a.kind);
    const zeros = (a.zeros >> k) | (mask & ~(mask >> k));
    if (zeros === mask) return this.terms.constant(a.kind, 0n);
    return this.terms.make('shrU', a.kind, [a, this.terms.constant('i32', k)], { zeros });
  }

  shrS(a: Term, count: Term): Term {
    if (count.op === 'const') {
      const k = count.value & (a.kind === 'i64' ? 63n : 31n);
      if (k === 0n) return a;
      if (a.op === 'const') return this.terms.constant(a.kind, signed(a.value, a.kind as IntegerKind) >> k);
      return this.terms.make('shrS', a.kind, [a, this.terms.constant('i32', k)]);
    }
    return this.terms.make('shrS', a.kind, [a, count]);
  }

  // Bits ----------------------------------------------------------------------------------------------------------------------

  private flatten(op: string, args: readonly Term[]): Term[] {
    return args.flatMap((a) => (a.op === op && a.args.length <= MOST_PARTS ? this.flatten(op, a.args) : [a]));
  }

  and(a: Term, b: Term): Term {
    const { kind } = a;
    const mask = widthMask(kind);
    let constant = mask;
    const set = new Set<Term>();
    for (const t of this.flatten('and', [a, b])) {
      if (t.op === 'const') constant &= t.value;
      else set.add(t);
    }
    for (const t of set) if (this.hasComplement(set, t)) return this.terms.constant(kind, 0n);
    const kept = [...set].filter(
      (t) =>
        ![...set].some((u) => u !== t && this.subsets.isSubset(u, t) && !(this.subsets.isSubset(t, u) && u.id > t.id)),
    );
    if (kept.length === 0) return this.terms.constant(kind, constant);
    let zeros = ~constant & mask;
    for (const t of kept) zeros |= t.zeros;
    if (zeros === mask) return this.terms.constant(kind, 0n);
    const only = kept[0] as Term;
    // A mask that covers every bit which can be set changes nothing.
    const isNeedless = kept.every((t) => (~t.zeros & mask & ~constant) === 0n);
    if (kept.length === 1 && isNeedless) return only;
    kept.sort((x, y) => x.id - y.id);
    const args = isNeedless ? kept : [...kept, this.terms.constant(kind, constant)];
    return this.terms.make('and', kind, args, { zeros });
  }

  or(a: Term, b: Term): Term {
    const { kind } = a;
    const mask = widthMask(kind);
    let constant = 0n;
    const set = new Set<Term>();
    for (const t of this.flatten('or', [a, b])) {
      if (t.op === 'const') constant |= t.value;
      else set.add(t);
    }
    if (constant === mask) return this.terms.constant(kind, mask);
    for (const t of set) if (this.hasComplement(set, t)) return this.terms.constant(kind, mask);
    const kept = [...set].filter(
      (t) =>
        ![...set].some((u) => u !== t && this.subsets.isSubset(t, u) && !(this.subsets.isSubset(u, t) && u.id > t.id)),
    );
    if (kept.length === 0) return this.terms.constant(kind, constant);
    if (kind === 'i32' && this.areDisjoint(kept, constant)) {
      return this.linear('i32', [...kept.map((t) => [t, 1n] as const), [this.terms.constant('i32', constant), 1n]]);
    }
    if (kept.length === 1 && constant === 0n) return kept[0] as Term;
    kept.sort((x, y) => x.id - y.id);
    let zeros = ~constant & mask;
    for (const t of kept) zeros &= t.zeros;
    return this.terms.make('or', kind, constant === 0n ? kept : [...kept, this.terms.constant(kind, constant)], {
      zeros,
    });
  }

  /** No two of the values can have a bit in common, so that OR adds. */
  private areDisjoint(list: readonly Term[], constant: bigint): boolean {
    let seen = constant;
    for (const t of list) {
      const possible = ~t.zeros & MASK32;
      if ((seen & possible) !== 0n) return false;
      seen |= possible;
    }
    return true;
  }

  private hasComplement(set: ReadonlySet<Term>, t: Term): boolean {
    return t.op === 'not' && set.has(t.args[0] as Term);
  }

  xor(a: Term, b: Term): Term {
    const { kind } = a;
    const mask = widthMask(kind);
    let constant = 0n;
    const odd = new Set<Term>();
    for (const raw of this.flatten('xor', [a, b])) {
      if (raw.op === 'const') {
        constant ^= raw.value;
        continue;
      }
      let t = raw;
      if (t.op === 'not') {
        constant ^= mask;
        t = t.args[0] as Term;
      }
      if (odd.has(t)) odd.delete(t);
      else odd.add(t);
    }
    const list = [...odd].sort((x, y) => x.id - y.id);
    const [x, y] = list;
    if (x === undefined) return this.terms.constant(kind, constant);
    let base: Term;
    if (y === undefined) base = x;
    else if (list.length === 2 && this.subsets.isSubset(x, y)) base = this.and(y, this.not(x));
    else if (list.length === 2 && this.subsets.isSubset(y, x)) base = this.and(x, this.not(y));
    else {
      let zeros = mask;
      for (const t of list) zeros &= t.zeros;
      base = this.terms.make('xor', kind, list, { zeros });
    }
    if (constant === 0n) return base;
    if (constant === mask) return this.not(base);
    return this.terms.make('xor', kind, [
      ...(base.op === 'xor' ? base.args : [base]),
      this.terms.constant(kind, constant),
    ]);
  }

  not(a: Term): Term {
    if (a.op === 'const') return this.terms.constant(a.kind, ~a.value);
    if (a.op === 'not') return a.args[0] as Term;
    return this.terms.make('not', a.kind, [a]);
  }

  // Widths --------------------------------------------------------------------------------------------------------------------

  extendU(a: Term): Term {
    if (a.op === 'const') return this.terms.constant('i64', a.value);
    return this.terms.make('extU', 'i64', [a], { zeros: (MASK64 & ~MASK32) | a.zeros });
  }

  extendS(a: Term): Term {
    if (a.op === 'const') return this.terms.constant('i64', signed(a.value, 'i32'));
    if ((a.zeros & 0x8000_0000n) !== 0n) return this.extendU(a);
    return this.terms.make('extS', 'i64', [a]);
  }

  /** The low 32 bits. */
  lo(a: Term): Term {
    let half = this.lows.get(a);
    if (half === undefined) {
      half = this.makeLow(a);
      this.lows.set(a, half);
    }
    return this.terms.current(half);
  }

  private makeLow(a: Term): Term {
    switch (a.op) {
      case 'const':
        return this.terms.constant('i32', a.value);
      case 'extU':
      case 'extS':
        return a.args[0] as Term;
      case 'sum':
        return this.linear('i32', [
          ...a.args.map((t, i) => [this.lo(t), (a.factors[i] as bigint) & MASK32] as const).filter(([, f]) => f !== 0n),
          [this.terms.constant('i32', a.value), 1n],
        ]);
      case 'mul':
        return this.mul(this.lo(a.args[0] as Term), this.lo(a.args[1] as Term));
      case 'select':
        return this.select(a.args[0] as Term, this.lo(a.args[1] as Term), this.lo(a.args[2] as Term));
      default:
        return this.terms.make('lo', 'i32', [a], { zeros: a.zeros & MASK32 });
    }
  }

  /** The high 32 bits. */
  hi(a: Term): Term {
    let half = this.highs.get(a);
    if (half === undefined) {
      half = this.makeHigh(a);
      this.highs.set(a, half);
    }
    return this.terms.current(half);
  }

  private makeHigh(a: Term): Term {
    switch (a.op) {
      case 'const':
        return this.terms.constant('i32', a.value >> 32n);
      case 'extU':
        return this.terms.i32(0);
      case 'extS':
        return this.shrS(a.args[0] as Term, this.terms.i32(31));
      case 'select':
        return this.select(a.args[0] as Term, this.hi(a.args[1] as Term), this.hi(a.args[2] as Term));
      case 'sum': {
        const upper = this.upperHalf(a);
        if (upper !== undefined) return upper;
        break;
      }
    }
    const zeros = a.zeros >> 32n;
    if (zeros === MASK32) return this.terms.i32(0);
    return this.terms.make('hi', 'i32', [a], { zeros });
  }

  /** The upper half of a sum in which nothing can carry out of the lower one. */
  private upperHalf(a: Term): Term | undefined {
    let low = a.value & MASK32;
    const parts: (readonly [Term, bigint])[] = [[this.terms.constant('i32', a.value >> 32n), 1n]];
    for (const [i, t] of a.args.entries()) {
      const factor = a.factors[i] as bigint;
      if ((factor & MASK32) === 0n) parts.push([this.lo(t), factor >> 32n]);
      else if (t.op === 'extU') low += factor * (~t.zeros & MASK64);
      else return undefined;
    }
    return low > MASK32 ? undefined : this.linear('i32', parts);
  }

  /** A 64-bit value from its halves. */
  pair(low: Term, high: Term): Term {
    return this.linear('i64', [
      [this.extendU(low), 1n],
      [this.extendU(high), 1n << 32n],
    ]);
  }

  // Conditions ----------------------------------------------------------------------------------------------------------------

  select(condition: Term, a: Term, b: Term): Term {
    if (condition.op === 'const') return condition.value === 1n ? a : b;
    if (a === b) return a;
    if (condition.op === 'not') return this.select(condition.args[0] as Term, b, a);
    if (a.kind === 'bool') {
      if (a === this.terms.true_ && b === this.terms.false_) return condition;
      if (b === this.terms.true_ && a === this.terms.false_) return this.not(condition);
    }
    // A bit that is 0 or 1 already.
    if (a.kind === 'i32' && isConstant(a, 0n) && isConstant(b, 1n) && condition.op === 'eq') {
      const [x, y] = condition.args as readonly [Term, Term];
      for (const [value, zero] of [
        [x, y],
        [y, x],
      ] as const) {
        if (value.kind === 'i32' && isConstant(zero, 0n) && (~value.zeros & MASK32) === 1n) return value;
      }
    }
    const zeros = a.zeros & b.zeros;
    return this.terms.make('select', a.kind, [condition, a, b], { zeros });
  }

  eq(a: Term, b: Term): Term {
    if (a === b) return this.terms.true_;
    if (a.op === 'const' && b.op !== 'const') return this.eq(b, a);
    if (a.kind === 'i32' || a.kind === 'i64') {
      const difference = this.sub(a, b);
      if (difference.op === 'const') return this.terms.bool(difference.value === 0n);
      if (this.isOdd(difference)) return this.terms.false_;
    } else if (a.op === 'const' && b.op === 'const') return this.terms.bool(a.value === b.value);
    if (b.op === 'const') {
      if (a.op === 'extU' && b.value <= MASK32) return this.eq(a.args[0] as Term, this.terms.constant('i32', b.value));
      if ((b.value & a.zeros) !== 0n) return this.terms.false_;
      if (a.op === 'select') {
        const [condition, x, y] = a.args as readonly [Term, Term, Term];
        if (x.op === 'const' && y.op === 'const') {
          return this.select(condition, this.terms.bool(x.value === b.value), this.terms.bool(y.value === b.value));
        }
      }
    }
    return this.commutative('eq', 'bool', [a, b]);
  }

  /** Whether a sum is no multiple of a power of two of which its unknown parts are multiples. */
  private isOdd(sum: Term): boolean {
    if (sum.op !== 'sum') return false;
    const width = sum.kind === 'i64' ? 64 : 32;
    const low = sum.args.map((t, i) => knownTrailingZeros(t) + trailingZeros(sum.factors[i] as bigint, width));
    return trailingZeros(sum.value, width) < Math.min(...low);
  }

  less(op: 'ltS' | 'ltU', a: Term, b: Term): Term {
    if (a === b) return this.terms.false_;
    if (a.op === 'const' && b.op === 'const') {
      const kind = a.kind as IntegerKind;
      const isLess = op === 'ltU' ? a.value < b.value : signed(a.value, kind) < signed(b.value, kind);
      return this.terms.bool(isLess);
    }
    const kind = a.kind as IntegerKind;
    const mask = widthMask(kind);
    const [least, most] = op === 'ltU' ? [0n, mask] : [(mask >> 1n) + 1n, mask >> 1n];
    // Nothing is below the least value or above the most; c < x is not (x < c + 1).
    if (isConstant(b, least) || isConstant(a, most)) return this.terms.false_;
    if (a.op === 'const') return this.not(this.less(op, b, this.terms.constant(kind, a.value + 1n)));
    if (op === 'ltU' && isConstant(b, 1n)) return this.eq(a, this.terms.constant(kind, 0n));
    return this.terms.make(op, 'bool', [a, b]);
  }
}
