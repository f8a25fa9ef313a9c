// Reads the semantics table's expressions as terms: the third reader of the table, beside the interpreter and the compiler.
import type { Expr } from '../isa/semantics/index.ts';
import type { Integers } from './integers.ts';
import type { Term, TermKind } from './terms.ts';

/** What the leaves of an expression stand for at one instruction. */
export interface Leaves {
  /** Element or word `part` of source operand `index`. */
  readonly source: (index: number, part: number) => Term;
  readonly scc?: Term | undefined;
  readonly exec?: Term | undefined;
  /** The lane's bit of the mask input. */
  readonly carry?: Term | undefined;
  readonly vccz?: Term | undefined;
  readonly execz?: Term | undefined;
}

const COMMUTATIVE = new Set(['min_s', 'min_u', 'max_s', 'max_u', 'mulhi_s', 'mulhi_u']);

/** Whether an expression computes with integers and conditions only. */
export function isInteger(e: Expr): boolean {
  return (e.type === 'i32' || e.type === 'i64' || e.type === 'bool') && e.args.every(isInteger);
}

function kindOf(e: Expr): TermKind {
  if (e.type === 'i32' || e.type === 'i64' || e.type === 'bool') return e.type;
  throw new Error(`no term for a value of type ${e.type}`);
}

function leaf(term: Term | undefined, name: string): Term {
  if (term === undefined) throw new Error(`${name} is not known here`);
  return term;
}

/** The term of an integer expression. Shared parts of the expression are read once. */
export function readExpression(integers: Integers, e: Expr, leaves: Leaves): Term {
  const seen = new Map<Expr, Term>();
  const read = (x: Expr): Term => {
    let term = seen.get(x);
    if (term === undefined) {
      term = readOne(integers, x, leaves, read);
      seen.set(x, term);
    }
    return term;
  };
  return read(e);
}

function readOne(integers: Integers, e: Expr, leaves: Leaves, read: (x: Expr) => Term): Term {
  const { terms } = integers;
  switch (e.op) {
    case 'const':
      return terms.constant(kindOf(e), BigInt(e.value));
    case 'source':
      return leaves.source(Number(e.value), e.part);
    case 'lane':
      return laneNumber(integers);
    case 'scc':
      return leaf(leaves.scc, 'SCC');
    case 'exec':
      return leaf(leaves.exec, 'EXEC');
    case 'carry':
      return leaf(leaves.carry, 'the mask input');
    case 'vccz':
      return leaf(leaves.vccz, 'VCCZ');
    case 'execz':
      return leaf(leaves.execz, 'EXECZ');
  }
  const args = e.args.map(read);
  const name = e.op.slice(e.op.indexOf('.') + 1);
  return applyOperator(integers, name, kindOf(e), args);
}

/** The number of the lane, 0 to 63. */
export function laneNumber({ terms }: Integers): Term {
  return terms.symbol('lane', 'i32', { isUniform: false, zeros: 0xffff_ffc0n });
}

function applyOperator(integers: Integers, name: string, kind: TermKind, args: readonly Term[]): Term {
  const { terms } = integers;
  const [a, b, c] = args as readonly [Term, Term, Term];
  switch (name) {
    case 'add':
      return integers.add(a, b);
    case 'sub':
      return integers.sub(a, b);
    case 'mul':
      return integers.mul(a, b);
    case 'neg':
      return integers.scale(a, -1n);
    case 'and':
      return integers.and(a, b);
    case 'or':
      return integers.or(a, b);
    case 'xor':
      return integers.xor(a, b);
    case 'not':
      return integers.not(a);
    case 'shl':
      return integers.shl(a, b);
    case 'shr_u':
      return integers.shrU(a, b);
    case 'shr_s':
      return integers.shrS(a, b);
    case 'eq':
      return integers.eq(a, b);
    case 'ne':
      return integers.not(integers.eq(a, b));
    case 'lt_s':
      return integers.less('ltS', a, b);
    case 'lt_u':
      return integers.less('ltU', a, b);
    case 'select':
      return integers.select(a, b, c);
    case 'extend_s':
      return integers.extendS(a);
    case 'extend_u':
      return integers.extendU(a);
    case 'wrap':
      return integers.lo(a);
  }
  if (COMMUTATIVE.has(name)) return integers.commutative(name, kind, args);
  return terms.make(name, kind, args);
}
