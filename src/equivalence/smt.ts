// Terms as SMT-LIB 2 text, for a solver of bit vectors: whether two terms are equal whatever their unknown parts are.
// Operations of the normal forms are written out; floating point, memory and lane operations become free variables.
import { type Term, type TermKind, widthMask } from './terms.ts';

/**
 * What z3 counts in a millisecond of processor time, to bound its work alike on every machine, whatever else runs there. Measured:
 * 600 to 1,800 with z3 in WebAssembly, on multiplications and divisions of 64 bits.
 */
const STEPS_PER_MILLISECOND = 1_000;
/** Terms of one question; larger ones are not asked about. */
const MAX_NODES = 1_000;

const SORTS: Readonly<Record<'i32' | 'i64' | 'bool', string>> = {
  i32: '(_ BitVec 32)',
  i64: '(_ BitVec 64)',
  bool: 'Bool',
};

const widthOf = (kind: TermKind): number => (kind === 'i64' ? 64 : 32);
const literal = (value: bigint, kind: TermKind): string =>
  kind === 'bool' ? String(value === 1n) : `#x${value.toString(16).padStart(widthOf(kind) / 4, '0')}`;

const BITWISE: Readonly<Record<string, readonly [string, string]>> = {
  and: ['bvand', 'and'],
  or: ['bvor', 'or'],
  xor: ['bvxor', 'xor'],
  not: ['bvnot', 'not'],
};
const SHIFTS: Readonly<Record<string, string>> = { shl: 'bvshl', shrU: 'bvlshr', shrS: 'bvashr' };
const CHOICES: Readonly<Record<string, string>> = { min_s: 'bvsle', min_u: 'bvule', max_s: 'bvsge', max_u: 'bvuge' };

/** Whether the solver knows what an operation means. */
function isWritten({ op }: Term): boolean {
  return (
    op in BITWISE ||
    op in SHIFTS ||
    op in CHOICES ||
    /^(?:sum|mul|mulhi_[su]|extU|extS|lo|hi|eq|ltS|ltU|select)$/.test(op)
  );
}

/** Writes one question. */
class Question {
  readonly lines: string[] = [];
  private readonly names = new Map<Term, string>();

  /** The name or constant of a term; undefined when the question becomes too large. */
  write(term: Term): string | undefined {
    if (term.op === 'const') return literal(term.value, term.kind);
    const known = this.names.get(term);
    if (known !== undefined) return known;
    if (this.names.size >= MAX_NODES) return undefined;
    const name = `t${term.id}`;
    const sort = SORTS[term.kind as keyof typeof SORTS];
    if (sort === undefined) return undefined;
    this.names.set(term, name);
    if (!isWritten(term)) {
      this.lines.push(`(declare-const ${name} ${sort})`);
      if (term.kind !== 'bool' && term.zeros !== 0n) {
        this.lines.push(`(assert (= (bvand ${name} ${literal(term.zeros, term.kind)}) ${literal(0n, term.kind)}))`);
      }
      return name;
    }
    const args: string[] = [];
    for (const arg of term.args) {
      const text = this.write(arg);
      if (text === undefined) return undefined;
      args.push(text);
    }
    this.lines.push(`(define-fun ${name} () ${sort} ${expression(term, args)})`);
    return name;
  }
}

/** A shift count is taken modulo the width; that of a 64-bit value may be a 32-bit one. */
function count(term: Term, text: string): string {
  const value = term.args[1] as Term;
  const masked = `(bvand ${text} ${literal(BigInt(widthOf(term.kind) - 1), value.kind)})`;
  if (value.kind === term.kind) return masked;
  return term.kind === 'i64' ? `((_ zero_extend 32) ${masked})` : `((_ extract 31 0) ${masked})`;
}

function expression(term: Term, args: readonly string[]): string {
  const { op, kind } = term;
  const [a = '', b = '', c = ''] = args;
  const bitwise = BITWISE[op];
  if (bitwise !== undefined) return `(${bitwise[kind === 'bool' ? 1 : 0]} ${args.join(' ')})`;
  const shift = SHIFTS[op];
  if (shift !== undefined) return `(${shift} ${a} ${count(term, b)})`;
  const choice = CHOICES[op];
  if (choice !== undefined) return `(ite (${choice} ${a} ${b}) ${a} ${b})`;
  switch (op) {
    case 'sum': {
      const parts = args.map((arg, i) => `(bvmul ${literal(term.factors[i] as bigint, kind)} ${arg})`);
      return `(bvadd ${[literal(term.value & widthMask(kind), kind), ...parts].join(' ')})`;
    }
    case 'mul':
      return `(bvmul ${a} ${b})`;
    case 'mulhi_s':
    case 'mulhi_u': {
      const width = widthOf(kind);
      const wide = (x: string): string => `((_ ${op === 'mulhi_s' ? 'sign' : 'zero'}_extend ${width}) ${x})`;
      return `((_ extract ${2 * width - 1} ${width}) (bvmul ${wide(a)} ${wide(b)}))`;
    }
    case 'extU':
      return `((_ zero_extend 32) ${a})`;
    case 'extS':
      return `((_ sign_extend 32) ${a})`;
    case 'lo':
      return `((_ extract 31 0) ${a})`;
    case 'hi':
      return `((_ extract 63 32) ${a})`;
    case 'eq':
      return `(= ${a} ${b})`;
    case 'ltS':
      return `(bvslt ${a} ${b})`;
    case 'ltU':
      return `(bvult ${a} ${b})`;
    default:
      return `(ite ${a} ${b} ${c})`;
  }
}

/** A script whose answer is `unsat` when two terms are always equal; undefined when it would be too large, or nothing is known of them. `milliseconds`:
 * about so much processor time the answer may take. */
export function inequality(a: Term, b: Term, milliseconds: number): string | undefined {
  if (a.kind !== b.kind || a.kind === 'effect' || (!isWritten(a) && !isWritten(b))) return undefined;
  const question = new Question();
  const [x, y] = [question.write(a), question.write(b)];
  if (x === undefined || y === undefined) return undefined;
  return [
    `(set-option :rlimit ${Math.max(1, Math.round(STEPS_PER_MILLISECOND * milliseconds))})`,
    '(set-logic QF_BV)',
    ...question.lines,
    `(assert (not (= ${x} ${y})))`,
    '(check-sat)',
  ].join('\n');
}

/** Pairs of terms inside two different ones that would make these equal, the innermost first. */
export function openPairs(a: Term, b: Term): (readonly [Term, Term])[] {
  const out: (readonly [Term, Term])[] = [];
  const seen = new Set<string>();
  const visit = (x: Term, y: Term): void => {
    const key = `${x.id}:${y.id}`;
    if (x === y || seen.has(key) || seen.size >= MAX_NODES || x.kind !== y.kind) return;
    seen.add(key);
    if (x.op === y.op && x.attr === y.attr && x.args.length === y.args.length) {
      for (const [i, arg] of x.args.entries()) visit(arg, y.args[i] as Term);
    }
    if (x.kind !== 'effect' && (isWritten(x) || isWritten(y))) out.push([x, y]);
  };
  visit(a, b);
  return out;
}
