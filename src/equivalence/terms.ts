// Values as hash-consed terms: two terms are the same object exactly when they were built the same way, so `===` asks for equality.
// A term is what one lane (or the scalar unit) computes; `effect` terms are states of a memory and what happened to it, in order.
import type { Budget } from './budget.ts';

/** What a term stands for: a 32- or 64-bit word, a condition, or the state of a memory. */
export type TermKind = 'i32' | 'i64' | 'bool' | 'effect';

/** One term. Compare with `===`; never build one by hand, ask `Terms`. */
export interface Term {
  readonly id: number;
  /** `const`, `sym`, `phi`, `sum`, or the name of an operation. */
  readonly op: string;
  readonly kind: TermKind;
  readonly args: readonly Term[];
  /** Parameters of the operation that are no terms: modifiers, offsets, names. */
  readonly attr: string;
  /** `const`: the value, unsigned. `sum`: the constant part. */
  readonly value: bigint;
  /** `sum`: the factor of each argument, unsigned modulo the width. */
  readonly factors: readonly bigint[];
  /** The same for every lane of the wavefront. */
  readonly isUniform: boolean;
  /** Bits that are known to be zero. */
  readonly zeros: bigint;
  /** Number of the set of merge points whose values the term contains; see `Terms.mentions`. */
  readonly points: number;
  /** Computed from a register that nobody has written. What is loaded from memory does not count. */
  readonly isUnspecified: boolean;
  /** What is known of it only where the code lies: see `Code`. Of effects, what went into them beside earlier effects. */
  readonly code: number;
  /** The lanes of a vector register that `code` is true of; other values have it in all. */
  readonly codeLanes: bigint;
}

/** Bits of `Term.code`. */
export const Code = {
  /** Computed from the address of something in a code section. */
  ADDRESS: 1,
  /** Computed from a place in the code that has moved: one symbol for both programs, and another number in each. */
  PLACE: 2,
} as const;

export const MASK32 = 0xffff_ffffn;
export const MASK64 = 0xffff_ffff_ffff_ffffn;

/** All bits of a kind's width. */
export function widthMask(kind: TermKind): bigint {
  return kind === 'i64' ? MASK64 : kind === 'i32' ? MASK32 : 1n;
}

/** What a term takes with what is known of it beside, and each of its arguments. Measured: sums of two and of a thousand values. */
const TERM_BYTES = 450;
const ARGUMENT_BYTES = 32;

const NO_TERMS: readonly Term[] = [];
const NO_FACTORS: readonly bigint[] = [];

export interface TermOptions {
  readonly attr?: string;
  readonly isUniform?: boolean;
  readonly zeros?: bigint;
  readonly value?: bigint;
  readonly factors?: readonly bigint[];
  readonly isUnspecified?: boolean;
  readonly code?: number;
  readonly codeLanes?: bigint;
}

/** The terms of one comparison. Terms of different pools must not meet. */
export class Terms {
  private readonly budget: Budget | undefined;
  private readonly known = new Map<string, Term>();
  private readonly pointSets: (readonly number[])[] = [[]];
  private readonly pointIds = new Map<string, number>([['', 0]]);
  private readonly unions = new Map<number, number>();
  /** Terms that were found to be equal to others. */
  private readonly replaced = new Map<Term, Term>();
  readonly true_: Term;
  readonly false_: Term;
  /** Told of every effect that something of `Code` goes into. */
  onCode: (effect: Term) => void = () => {};
  /** Whether a sum is the address of something in a code section. */
  isInCode: (sum: readonly Term[], constant: bigint) => boolean = () => false;

  /** `budget`: told what the terms take. */
  constructor(budget?: Budget) {
    this.budget = budget;
    this.true_ = this.constant('bool', 1n);
    this.false_ = this.constant('bool', 0n);
  }

  /** How many different terms exist. */
  get size(): number {
    return this.known.size;
  }

  constant(kind: TermKind, value: bigint): Term {
    const bits = value & widthMask(kind);
    return this.make('const', kind, NO_TERMS, {
      attr: bits.toString(16),
      value: bits,
      isUniform: true,
      zeros: ~bits & widthMask(kind),
    });
  }

  i32(value: number): Term {
    return this.constant('i32', BigInt(value >>> 0));
  }

  i64(value: bigint): Term {
    return this.constant('i64', value);
  }

  bool(value: boolean): Term {
    return value ? this.true_ : this.false_;
  }

  /** An unknown that both programs share: an initial register, an address the loader chooses. */
  symbol(name: string, kind: TermKind, options: TermOptions = {}): Term {
    return this.make('sym', kind, NO_TERMS, { attr: name, isUniform: true, ...options });
  }

  /**
   * The value of a class of registers where paths meet; `point` numbers the place, `name` the class, and the lowest `even` bits of the
   * value are zero on every path. `isUnspecified`: on one path at least it is. `code`: what it is on any path.
   */
  phi(
    point: number,
    name: number,
    kind: TermKind,
    options: Required<Pick<TermOptions, 'isUniform' | 'isUnspecified' | 'code' | 'codeLanes'>> & {
      readonly even: number;
    },
  ): Term {
    const { even, isUnspecified, code, codeLanes } = options;
    const key = `phi|${kind}|${point}.${name}|${even}|${isUnspecified}|${code}.${codeLanes}`;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const zeros = (1n << BigInt(even)) - 1n;
    const attr = `${point}.${name}`;
    return this.add(key, 'phi', kind, NO_TERMS, { ...options, attr, zeros }, this.internPoints([point]));
  }

  /** An operation that is only known by its name, parameters and arguments. */
  make(op: string, kind: TermKind, args: readonly Term[], options: TermOptions = {}): Term {
    let key = `${op}|${kind}|${options.attr ?? ''}|`;
    for (const a of args) key += `${a.id},`;
    const found = this.known.get(key);
    if (found !== undefined) {
      if (kind === 'effect' && found.code !== 0) this.onCode(found);
      return this.replaced.size === 0 ? found : this.current(found);
    }
    let points = 0;
    for (const a of args) points = this.union(points, a.points);
    const made = this.add(key, op, kind, args, options, points);
    if (kind === 'effect' && made.code !== 0) this.onCode(made);
    return made;
  }

  /** What stands for a term now, since some were found to be equal; for those who keep terms that they have made. */
  current(term: Term): Term {
    let now = term;
    for (let next = this.replaced.get(now); next !== undefined; next = this.replaced.get(now)) now = next;
    return now;
  }

  /** From now on the younger of two terms, which are known to be equal, is made as the elder; any term as a constant. */
  unite(a: Term, b: Term): void {
    const [x, y] = [this.current(a), this.current(b)];
    if (x === y) return;
    const [kept, other] = y.op === 'const' || (x.op !== 'const' && y.id < x.id) ? [y, x] : [x, y];
    this.replaced.set(other, kept);
  }

  private add(
    key: string,
    op: string,
    kind: TermKind,
    args: readonly Term[],
    options: TermOptions,
    points: number,
  ): Term {
    const [code, codeLanes] = this.codeOf(op, args, options);
    const term: Term = {
      id: this.known.size,
      op,
      kind,
      args,
      attr: options.attr ?? '',
      value: options.value ?? 0n,
      factors: options.factors ?? NO_FACTORS,
      isUniform: options.isUniform ?? args.every((a) => a.isUniform),
      zeros: options.zeros ?? 0n,
      points,
      isUnspecified: options.isUnspecified ?? (kind !== 'effect' && args.some((a) => a.isUnspecified)),
      code,
      codeLanes,
    };
    this.known.set(key, term);
    this.budget?.hold(TERM_BYTES + ARGUMENT_BYTES * args.length + key.length);
    return term;
  }

  /** `code` and `codeLanes` of a term. */
  private codeOf(op: string, args: readonly Term[], { code: given, codeLanes, value }: TermOptions): [number, bigint] {
    if (given !== undefined) return [given, codeLanes ?? MASK64];
    let code = op === 'sum' && this.isInCode(args, value ?? 0n) ? Code.ADDRESS : 0;
    for (const a of args) if (a.kind !== 'effect') code |= a.code;
    if (code === 0) return [0, 0n];
    const [first, second, third] = args as [Term, Term | undefined, Term | undefined];
    const lane = second?.op === 'const' ? 1n << (second.value & 63n) : undefined;
    if (op === 'readlane' && lane !== undefined) return (first.codeLanes & lane) === 0n ? [0, 0n] : [code, MASK64];
    if (op === 'writelane' && lane !== undefined) {
      const kept = first.codeLanes & ~lane;
      const written = (third?.code ?? 0) === 0 ? 0n : lane;
      return (kept | written) === 0n ? [0, 0n] : [code, kept | written];
    }
    if (op === 'merge' && first.code === 0) return [code, (second?.codeLanes ?? 0n) | (third?.codeLanes ?? 0n)];
    return [code, MASK64];
  }

  /** Whether a term contains a value that was named at a merge point. */
  mentions(term: Term, point: number): boolean {
    return term.points !== 0 && (this.pointSets[term.points] as readonly number[]).includes(point);
  }

  private internPoints(points: readonly number[]): number {
    const key = points.join(',');
    let id = this.pointIds.get(key);
    if (id === undefined) {
      id = this.pointSets.length;
      this.pointSets.push(points);
      this.budget?.hold(ARGUMENT_BYTES * points.length + key.length);
      this.pointIds.set(key, id);
    }
    return id;
  }

  private union(a: number, b: number): number {
    if (a === b || b === 0) return a;
    if (a === 0) return b;
    const key = a < b ? a * 0x100000 + b : b * 0x100000 + a;
    let id = this.unions.get(key);
    if (id === undefined) {
      const all = new Set([...(this.pointSets[a] as readonly number[]), ...(this.pointSets[b] as readonly number[])]);
      id = this.internPoints([...all].sort((x, y) => x - y));
      this.unions.set(key, id);
    }
    return id;
  }
}

/** Whether a term is this constant. */
export function isConstant(term: Term, value: bigint): boolean {
  return term.op === 'const' && term.value === value;
}

/** A term as text to a depth, for reasons and tests. */
export function termText(term: Term, depth = 3): string {
  if (term.op === 'const') return term.kind === 'bool' ? String(term.value === 1n) : `0x${term.value.toString(16)}`;
  if (term.op === 'sym') return term.attr;
  if (term.op === 'phi') return `loop${term.attr}`;
  if (depth === 0) return '…';
  const inner = term.args.map((a, i) => {
    const factor = term.factors[i];
    return factor === undefined || factor === 1n ? termText(a, depth - 1) : `${factor}·${termText(a, depth - 1)}`;
  });
  if (term.op === 'sum')
    return `(${[...inner, ...(term.value === 0n ? [] : [`0x${term.value.toString(16)}`])].join(' + ')})`;
  return `${term.op}${term.attr === '' ? '' : `[${term.attr}]`}(${inner.join(', ')})`;
}
