// What the edited kernel does that is safe under a condition only: touch an address, ask for the first lane. It may do so where the
// baseline does the same, has done it on every way there, or will do it on every way on; then both fault, or neither.
import type { CodeInstruction } from '../program/index.ts';
import type { Budget } from './budget.ts';
import type { Observer } from './product.ts';
import type { Risk } from './step.ts';
import type { Subsets } from './subsets.ts';
import type { Term, Terms } from './terms.ts';

type Condition = Exclude<Risk, { kind: 'bufferOffset' | 'cancelled' }>;

interface Taken {
  readonly point: number;
  readonly code: CodeInstruction;
  readonly risk: Condition;
}

/** Predecessors of each point by its number; undefined among them is the entry. */
type Predecessors = ReadonlyMap<number, readonly (number | undefined)[]>;

const groupOf = (risk: Condition): string => (risk.kind === 'reach' ? `${risk.address.id}` : 'first lane');

/** Collects the risks of both programs in a solved product. */
export class Risks {
  private readonly terms: Terms;
  private readonly subsets: Subsets;
  private readonly budget: Budget;
  /** The baseline's, by what they are about; each once per point. */
  private readonly baseline = new Map<string, Taken[]>();
  private readonly edited = new Map<string, Taken>();
  private readonly seen = new Set<string>();
  private readonly cancelled = [new Map<string, CodeInstruction>(), new Map<string, CodeInstruction>()] as const;
  private readonly splits = [new Set<string>(), new Set<string>()] as const;

  constructor(terms: Terms, subsets: Subsets, budget: Budget) {
    this.terms = terms;
    this.budget = budget;
    this.subsets = subsets;
  }

  /** To be told every risk of the solved product. */
  readonly observe: NonNullable<Observer['risk']> = (side, point, code, risk) => {
    if (risk.kind === 'bufferOffset') {
      this.splits[side].add(`${risk.register.id}+${risk.constant}`);
      return;
    }
    if (risk.kind === 'cancelled') {
      const key = risk.from.map(({ id }) => id).join();
      if (!this.cancelled[side].has(key)) this.cancelled[side].set(key, code);
      return;
    }
    const detail = risk.kind === 'reach' ? risk.bytes : 0;
    const key = `${point}:${groupOf(risk)}:${detail}:${risk.lanes?.id ?? 'scalar'}`;
    if (side === 1) {
      if (!this.edited.has(key)) this.edited.set(key, { point, code, risk });
      return;
    }
    if (this.seen.has(key)) return;
    this.seen.add(key);
    const group = groupOf(risk);
    const list = this.baseline.get(group);
    if (list === undefined) this.baseline.set(group, [{ point, code, risk }]);
    else list.push({ point, code, risk });
  };

  /** Whether the edited kernel adds up the offset of a buffer from other parts than the baseline. */
  get hasOtherOffsets(): boolean {
    return [...this.splits[1]].some((split) => !this.splits[0].has(split));
  }

  /** An instruction of the edited kernel, and of no baseline, that takes registers which nobody has written for equal. */
  get equalised(): CodeInstruction | undefined {
    return [...this.cancelled[1]].find(([key]) => !this.cancelled[0].has(key))?.[1];
  }

  /** The first risk that only the edited kernel takes; undefined: none. `isAnywhere`: every address may be touched. */
  firstNew(predecessors: Predecessors, isAnywhere: boolean): Taken | undefined {
    const open: { taken: Taken; covers: readonly Taken[] }[] = [];
    for (const taken of this.edited.values()) {
      this.budget.check();
      if (isAnywhere && taken.risk.kind === 'reach') continue;
      const covers = (this.baseline.get(groupOf(taken.risk)) ?? []).filter(({ risk }) => this.covers(risk, taken.risk));
      if (covers.some(({ point }) => point === taken.point)) continue;
      if (covers.length === 0) return taken;
      open.push({ taken, covers });
    }
    if (open.length === 0) return undefined;
    const flow = new Flow(predecessors, this.terms, [...new Set(open.flatMap(({ covers }) => covers))], this.budget);
    return open.find(({ taken, covers }) => !covers.some((cover) => flow.isSure(cover, taken.point)))?.taken;
  }

  /** Whether what the baseline does makes it safe for the other. */
  private covers(known: Condition, asked: Condition): boolean {
    if (known.kind === 'firstLane' || asked.kind === 'firstLane') {
      return known.kind === asked.kind && this.subsets.isSubset(known.lanes as Term, asked.lanes as Term);
    }
    if (known.bytes < asked.bytes) return false;
    if (known.lanes === undefined || asked.lanes === undefined) return known.lanes === asked.lanes;
    return this.subsets.isSubset(asked.lanes, known.lanes);
  }
}

/** A set of small numbers, as bits. */
class BitSet {
  readonly words: Uint32Array;

  constructor(words: Uint32Array) {
    this.words = words;
  }

  static of(size: number, isFull = false): BitSet {
    return new BitSet(new Uint32Array((size + 31) >> 5).fill(isFull ? 0xffff_ffff : 0));
  }

  add(n: number): void {
    this.words[n >> 5] = (this.words[n >> 5] as number) | (1 << (n & 31));
  }

  has(n: number): boolean {
    return (((this.words[n >> 5] as number) >>> (n & 31)) & 1) === 1;
  }

  /** Keeps what is in the other one too, or was put in by `made`. */
  meet(other: BitSet | undefined, made: BitSet | undefined): void {
    for (let i = 0; i < this.words.length; i++) {
      const kept = (other?.words[i] ?? 0) | (made?.words[i] ?? 0);
      this.words[i] = (this.words[i] as number) & kept;
    }
  }

  remove(other: BitSet | undefined): void {
    if (other === undefined) return;
    for (let i = 0; i < this.words.length; i++) this.words[i] = (this.words[i] as number) & ~(other.words[i] as number);
  }

  equals({ words }: BitSet): boolean {
    return this.words.every((word, i) => word === words[i]);
  }
}

/** Which things were done on every way to a point, or will be done on every way on from it. */
class Flow {
  private readonly before = new Map<number, BitSet>();
  private readonly after = new Map<number, BitSet>();
  private readonly ids = new Map<Taken, number>();

  constructor(predecessors: Predecessors, terms: Terms, things: readonly Taken[], budget: Budget) {
    // The same risk at several points is one thing.
    const names = new Map<string, number>();
    const kept: Taken[] = [];
    for (const thing of things) {
      const { risk } = thing;
      const name = `${groupOf(risk)}:${risk.kind === 'reach' ? risk.bytes : 0}:${risk.lanes?.id ?? 'scalar'}`;
      const id = names.get(name) ?? names.size;
      if (!names.has(name)) {
        names.set(name, id);
        kept.push(thing);
      }
      this.ids.set(thing, id);
    }
    const size = kept.length;
    const points = [...predecessors.keys()];
    budget.hold((4 * points.length * size) / 8);
    const made = new Map<number, BitSet>();
    for (const [thing, id] of this.ids) {
      const set = made.get(thing.point) ?? BitSet.of(size);
      set.add(id);
      made.set(thing.point, set);
    }
    // A value that is named at a point is another one before it.
    const lost = new Map<number, BitSet>();
    for (const point of points) {
      budget.check();
      const set = BitSet.of(size);
      for (const [id, { risk }] of kept.entries()) {
        const parts = risk.kind === 'reach' ? [risk.address, risk.lanes] : [risk.lanes];
        if (parts.some((term) => term !== undefined && terms.mentions(term, point))) set.add(id);
      }
      lost.set(point, set);
    }
    const successors = new Map<number, number[]>(points.map((point) => [point, []]));
    for (const [point, list] of predecessors) {
      for (const from of list) if (from !== undefined) successors.get(from)?.push(point);
    }
    const settle = (into: Map<number, BitSet>, order: readonly number[], at: (point: number) => BitSet): void => {
      for (const point of points) into.set(point, BitSet.of(size, true));
      for (let isChanged = true; isChanged; ) {
        isChanged = false;
        for (const point of order) {
          budget.check();
          const now = at(point);
          if (now.equals(into.get(point) as BitSet)) continue;
          into.set(point, now);
          isChanged = true;
        }
      }
    };
    settle(this.before, points, (point) => {
      const ways = predecessors.get(point) ?? [];
      const set = BitSet.of(size, ways.length > 0);
      for (const from of ways) {
        set.meet(
          from === undefined ? undefined : this.before.get(from),
          from === undefined ? undefined : made.get(from),
        );
      }
      set.remove(lost.get(point));
      return set;
    });
    settle(this.after, [...points].reverse(), (point) => {
      const ways = successors.get(point) ?? [];
      const set = BitSet.of(size, ways.length > 0);
      for (const to of ways) {
        const then = BitSet.of(size, true);
        then.meet(this.after.get(to), made.get(to));
        then.remove(lost.get(to));
        set.meet(then, undefined);
      }
      return set;
    });
  }

  isSure(thing: Taken, point: number): boolean {
    const id = this.ids.get(thing) as number;
    return this.before.get(point)?.has(id) === true || this.after.get(point)?.has(id) === true;
  }
}
