// What is known of lane masks: which contain others, which have no lane in common. Answers are remembered, because masks share parts.
import { isConstant, type Term, widthMask } from './terms.ts';

/** More answers than this are forgotten. */
const REMEMBERED = 1_000_000;

/** Relations of masks. A false answer means: not known. */
export class Subsets {
  private readonly subset = new Map<number, boolean>();
  private readonly disjoint = new Map<number, boolean>();

  /** Whether every set bit of one mask is known to be set in the other. */
  isSubset(a: Term, b: Term): boolean {
    if (a === b || isConstant(a, 0n)) return true;
    if (b.op === 'const' && b.value === widthMask(b.kind)) return true;
    return remembered(this.subset, a, b, () => this.findSubset(a, b));
  }

  private findSubset(a: Term, b: Term): boolean {
    if (b.op === 'or' && b.args.some((t) => this.isSubset(a, t))) return true;
    if (b.op === 'and' && b.args.every((t) => this.isSubset(a, t))) return true;
    switch (a.op) {
      case 'and':
        return a.args.some((t) => this.isSubset(t, b));
      case 'or':
        return a.args.every((t) => this.isSubset(t, b));
      case 'ballot':
        return this.isSubset(a.args[0] as Term, b);
      case 'select':
        return a.kind !== 'bool' && this.isSubset(a.args[1] as Term, b) && this.isSubset(a.args[2] as Term, b);
      default:
        return false;
    }
  }

  /** Whether two masks are known to have no bit in common. */
  areDisjoint(a: Term, b: Term): boolean {
    if (isConstant(a, 0n) || isConstant(b, 0n)) return true;
    return remembered(this.disjoint, a, b, () => this.findDisjoint(a, b));
  }

  private findDisjoint(a: Term, b: Term): boolean {
    if (b.op === 'not' && this.isSubset(a, b.args[0] as Term)) return true;
    if (a.op === 'not' && this.isSubset(b, a.args[0] as Term)) return true;
    if (a.op === 'and' && a.args.some((t) => this.areDisjoint(t, b))) return true;
    if (b.op === 'and' && b.args.some((t) => this.areDisjoint(a, t))) return true;
    if (a.op === 'ballot' && b.op === 'ballot') {
      const c = a.args[1] as Term;
      const d = b.args[1] as Term;
      if ((c.op === 'not' && c.args[0] === d) || (d.op === 'not' && d.args[0] === c)) return true;
    }
    return (
      (a.op === 'ballot' && this.areDisjoint(a.args[0] as Term, b)) ||
      (b.op === 'ballot' && this.areDisjoint(a, b.args[0] as Term))
    );
  }
}

function remembered(known: Map<number, boolean>, a: Term, b: Term, find: () => boolean): boolean {
  const key = a.id * 0x400_0000 + b.id;
  let answer = known.get(key);
  if (answer === undefined) {
    answer = find();
    if (known.size > REMEMBERED) known.clear();
    known.set(key, answer);
  }
  return answer;
}
