// Lanes: what a vector instruction sees of a register under EXEC, what it leaves there, and masks made of one bit per lane.
import type { Integers } from './integers.ts';
import type { Subsets } from './subsets.ts';
import { isConstant, MASK64, type Term } from './terms.ts';

/** Constructors of per-lane values and lane masks. `mask` arguments are 64-bit terms. */
export class Masks {
  private readonly integers: Integers;
  private readonly subsets: Subsets;
  private readonly bits = new Map<number, Term>();

  constructor(integers: Integers) {
    this.integers = integers;
    this.subsets = integers.subsets;
  }

  /** The mask of the lanes of `exec` in which a condition holds (v_cmp). */
  ballot(exec: Term, condition: Term): Term {
    const { terms } = this.integers;
    if (condition === terms.true_) return exec;
    if (condition === terms.false_) return terms.i64(0n);
    if (isConstant(exec, 0n)) return exec;
    return terms.make('ballot', 'i64', [exec, condition], { isUniform: true });
  }

  /** The lane's bit of a mask, for lanes of `exec`. */
  bit(exec: Term, mask: Term): Term {
    const key = exec.id * 0x400_0000 + mask.id;
    let bit = this.bits.get(key);
    if (bit === undefined) {
      bit = this.makeBit(exec, mask);
      this.bits.set(key, bit);
    }
    return this.integers.terms.current(bit);
  }

  private makeBit(exec: Term, mask: Term): Term {
    const { integers } = this;
    const { terms } = integers;
    if (this.subsets.isSubset(exec, mask)) return terms.true_;
    if (this.subsets.areDisjoint(exec, mask)) return terms.false_;
    switch (mask.op) {
      case 'ballot': {
        const [lanes, condition] = mask.args as readonly [Term, Term];
        return integers.and(this.bit(exec, lanes), condition);
      }
      case 'and':
        return mask.args.map((m) => this.bit(exec, m)).reduce((a, b) => integers.and(a, b));
      case 'or':
        return mask.args.map((m) => this.bit(exec, m)).reduce((a, b) => integers.or(a, b));
      case 'xor':
        return mask.args.map((m) => this.bit(exec, m)).reduce((a, b) => integers.xor(a, b));
      case 'not':
        return integers.not(this.bit(exec, mask.args[0] as Term));
      default:
        return terms.make('laneBit', 'bool', [mask], { isUniform: false });
    }
  }

  /** A register after an instruction wrote `value` to the lanes of `exec`. */
  merge(exec: Term, value: Term, old: Term): Term {
    if (value === old || isConstant(exec, 0n)) return old;
    if (isConstant(exec, MASK64)) return value;
    let below = old;
    // What a narrower or equal earlier write left is gone.
    while (below.op === 'merge' && this.subsets.isSubset(below.args[0] as Term, exec)) below = below.args[2] as Term;
    if (value === below) return below;
    return this.integers.terms.make('merge', value.kind, [exec, value, below], { isUniform: false });
  }

  /** What the lanes of `exec` see of a register. */
  view(exec: Term, register: Term): Term {
    let seen = register;
    while (seen.op === 'merge') {
      const lanes = seen.args[0] as Term;
      if (this.subsets.isSubset(exec, lanes)) seen = seen.args[1] as Term;
      else if (this.subsets.areDisjoint(exec, lanes)) seen = seen.args[2] as Term;
      else break;
    }
    return seen;
  }
}
