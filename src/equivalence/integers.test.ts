// Normal forms keep the value: random expressions are built through the constructors and evaluated beside plain arithmetic.

import { describe, expect, it } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { Integers } from './integers.ts';
import { Masks } from './masks.ts';
import { Memories, type Place } from './memory.ts';
import { MASK32, MASK64, type Term, Terms, widthMask } from './terms.ts';

/** A term beside what it must evaluate to. */
interface Both {
  readonly term: Term;
  readonly value: (inputs: ReadonlyMap<string, bigint>) => bigint;
}

const signed = (v: bigint, kind: Term['kind']): bigint => BigInt.asIntN(kind === 'i64' ? 64 : 32, v);

/** The value of a term for inputs of its symbols. */
function evaluate(term: Term, inputs: ReadonlyMap<string, bigint>): bigint {
  const mask = widthMask(term.kind);
  const args = term.args.map((a) => evaluate(a, inputs));
  const [a = 0n, b = 0n, c = 0n] = args;
  const kind = term.args[0]?.kind ?? term.kind;
  const count = (n: bigint): bigint => n & (term.kind === 'i64' ? 63n : 31n);
  switch (term.op) {
    case 'const':
      return term.value;
    case 'sym':
      return (inputs.get(term.attr) as bigint) & mask;
    case 'sum':
      return args.reduce((sum, v, i) => sum + v * (term.factors[i] as bigint), term.value) & mask;
    case 'mul':
      return (a * b) & mask;
    case 'and':
      return args.reduce((x, y) => x & y);
    case 'or':
      return args.reduce((x, y) => x | y);
    case 'xor':
      return args.reduce((x, y) => x ^ y);
    case 'not':
      return ~a & mask;
    case 'shl':
      return (a << count(b)) & mask;
    case 'shrU':
      return a >> count(b);
    case 'shrS':
      return (signed(a, term.kind) >> count(b)) & mask;
    case 'extU':
      return a;
    case 'extS':
      return signed(a, 'i32') & mask;
    case 'lo':
      return a & MASK32;
    case 'hi':
      return a >> 32n;
    case 'select':
      return a === 1n ? b : c;
    case 'eq':
      return a === b ? 1n : 0n;
    case 'ltU':
      return a < b ? 1n : 0n;
    case 'ltS':
      return signed(a, kind) < signed(b, kind) ? 1n : 0n;
    default:
      throw new Error(`no value for ${term.op}`);
  }
}

/** Random terms of both widths, grown by random operations. */
function grow(integers: Integers, choices: readonly number[]): Both[] {
  const { terms } = integers;
  const pool: Both[] = [];
  for (const name of ['x', 'y', 'z'])
    pool.push({ term: terms.symbol(name, 'i32'), value: (i) => (i.get(name) as bigint) & MASK32 });
  for (const name of ['p', 'q'])
    pool.push({ term: terms.symbol(name, 'i64'), value: (i) => (i.get(name) as bigint) & MASK64 });
  for (const v of [0n, 1n, 4n, 31n, 32n, 0xffn, 0xffff_0000n, 0xffff_ffffn])
    pool.push({ term: terms.constant('i32', v), value: () => v });
  for (const v of [0n, 1n, 1n << 32n, MASK64]) pool.push({ term: terms.constant('i64', v), value: () => v });
  const of = (kind: Term['kind'], n: number): Both => {
    const list = pool.filter((b) => b.term.kind === kind);
    return list[n % list.length] as Both;
  };
  for (let at = 0; at + 3 < choices.length; at += 4) {
    const [op, width, n, m] = choices.slice(at, at + 4) as [number, number, number, number];
    const kind = width % 2 === 0 ? 'i32' : 'i64';
    const mask = widthMask(kind);
    const [a, b] = [of(kind, n), of(kind, m)];
    const small = of('i32', m);
    const bits = kind === 'i64' ? 63n : 31n;
    const add = (term: Term, value: Both['value']): void => {
      pool.push({ term, value });
    };
    switch (op % 17) {
      case 0:
        add(integers.add(a.term, b.term), (i) => (a.value(i) + b.value(i)) & mask);
        break;
      case 1:
        add(integers.sub(a.term, b.term), (i) => (a.value(i) - b.value(i)) & mask);
        break;
      case 2:
        add(integers.mul(a.term, b.term), (i) => (a.value(i) * b.value(i)) & mask);
        break;
      case 3:
        add(integers.and(a.term, b.term), (i) => a.value(i) & b.value(i));
        break;
      case 4:
        add(integers.or(a.term, b.term), (i) => a.value(i) | b.value(i));
        break;
      case 5:
        add(integers.xor(a.term, b.term), (i) => a.value(i) ^ b.value(i));
        break;
      case 6:
        add(integers.not(a.term), (i) => ~a.value(i) & mask);
        break;
      case 7:
        add(integers.shl(a.term, small.term), (i) => (a.value(i) << (small.value(i) & bits)) & mask);
        break;
      case 8:
        add(integers.shrU(a.term, small.term), (i) => a.value(i) >> (small.value(i) & bits));
        break;
      case 9:
        add(integers.shrS(a.term, small.term), (i) => (signed(a.value(i), kind) >> (small.value(i) & bits)) & mask);
        break;
      case 10:
        add(integers.extendU(small.term), small.value);
        break;
      case 11:
        add(integers.extendS(small.term), (i) => signed(small.value(i), 'i32') & MASK64);
        break;
      case 12:
        add(integers.lo(of('i64', n).term), lowOf(of('i64', n)));
        break;
      case 13: {
        const wide = of('i64', n);
        add(integers.hi(wide.term), (i) => wide.value(i) >> 32n);
        break;
      }
      case 14: {
        const low = of('i32', n);
        add(integers.pair(low.term, small.term), (i) => low.value(i) | (small.value(i) << 32n));
        break;
      }
      case 15:
        add(integers.eq(a.term, b.term), (i) => (a.value(i) === b.value(i) ? 1n : 0n));
        break;
      default: {
        const condition = integers.less(m % 2 === 0 ? 'ltU' : 'ltS', a.term, b.term);
        const holds = (i: ReadonlyMap<string, bigint>): boolean =>
          m % 2 === 0 ? a.value(i) < b.value(i) : signed(a.value(i), kind) < signed(b.value(i), kind);
        add(integers.select(condition, a.term, b.term), (i) => (holds(i) ? a.value(i) : b.value(i)));
      }
    }
  }
  return pool;
}

const lowOf =
  (wide: Both): Both['value'] =>
  (i) =>
    wide.value(i) & MASK32;

const EDGES = [0n, 1n, 0x7fff_ffffn, 0x8000_0000n, 0xffff_ffffn, 0x1_0000_0000n, MASK64, 0x8000_0000_0000_0000n];
const word = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MASK64 }));

it('keeps the value of every expression, and knows only zeros that are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(1000), { minLength: 8, maxLength: 80 }),
      fc.array(word, { minLength: 5, maxLength: 5 }),
      (choices, words) => {
        const inputs = new Map(['x', 'y', 'z', 'p', 'q'].map((name, i) => [name, words[i] as bigint]));
        for (const { term, value } of grow(new Integers(new Terms()), choices)) {
          const expected = value(inputs);
          expect(evaluate(term, inputs)).toBe(expected);
          expect(expected & term.zeros).toBe(0n);
        }
      },
    ),
    { numRuns: 600 },
  );
});

describe('one form', () => {
  const integers = new Integers(new Terms());
  const { terms } = integers;
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => terms.symbol(name, 'i32')) as [Term, Term, Term, Term];

  it('a 64-bit sum on halves with carry is the 64-bit sum', () => {
    const wide = integers.add(integers.extendU(a), integers.extendU(b));
    const carry = integers.select(
      integers.not(integers.eq(integers.shrU(wide, terms.i32(32)), terms.i64(0n))),
      terms.i32(1),
      terms.i32(0),
    );
    const high = integers.lo(
      integers.add(integers.add(integers.extendU(c), integers.extendU(d)), integers.extendU(carry)),
    );
    expect(integers.pair(integers.add(a, b), high)).toBe(integers.add(integers.pair(a, c), integers.pair(b, d)));
  });

  it('halves of a value are the value', () => {
    const p = terms.symbol('p', 'i64');
    expect(integers.pair(integers.lo(p), integers.hi(p))).toBe(p);
  });

  it('shift and add is multiply and add; or of separate bits is add', () => {
    const shifted = integers.shl(a, terms.i32(2));
    expect(integers.add(shifted, a)).toBe(integers.mul(a, terms.i32(5)));
    expect(integers.or(shifted, terms.i32(3))).toBe(integers.add(shifted, terms.i32(3)));
  });

  it('what if and else leave of EXEC is the whole again', () => {
    const masks = new Masks(integers);
    const exec = terms.symbol('exec', 'i64');
    const condition = integers.less('ltU', a, b);
    const taken = integers.and(masks.ballot(exec, condition), exec);
    const other = integers.xor(taken, exec);
    expect(taken).toBe(masks.ballot(exec, condition));
    expect(integers.or(integers.xor(other, exec), exec)).toBe(exec);
    // What the else side wrote is not what the then side sees.
    const register = masks.merge(other, c, masks.merge(taken, d, a));
    expect(masks.view(taken, register)).toBe(d);
    expect(masks.view(other, register)).toBe(c);
  });
});

describe('memory', () => {
  const integers = new Integers(new Terms());
  const { terms } = integers;
  const lane = terms.symbol('lane', 'i32', { isUniform: false, zeros: 0xffff_ffc0n });
  const uniform = terms.symbol('s', 'i32');
  const at = (offset: Term, bytes = 4): Place => ({ base: undefined, offset, bytes, isPrivate: false });
  const scaled = (factor: bigint, add: number): Term =>
    integers.addConstant(integers.add(uniform, integers.scale(lane, factor)), add);

  const areApart = (a: Place, b: Place): boolean => new Memories(integers).areApart(a, b);

  it('lanes of one access do not reach those of another only when no lane can', () => {
    expect(areApart(at(scaled(16n, 0)), at(scaled(16n, 4)))).toBe(true);
    // Lane 1 of the first is lane 0 of the second.
    expect(areApart(at(scaled(4n, 0)), at(scaled(4n, 4)))).toBe(false);
    expect(areApart(at(scaled(8n, 0), 8), at(scaled(8n, 4)))).toBe(false);
    expect(areApart(at(integers.addConstant(uniform, 0)), at(integers.addConstant(uniform, 4)))).toBe(true);
    expect(areApart(at(uniform), at(terms.symbol('t', 'i32')))).toBe(false);
    expect(areApart({ ...at(scaled(4n, 0)), isPrivate: true }, { ...at(scaled(4n, 4)), isPrivate: true })).toBe(true);
  });

  it('independent stores in any order lead to one state, dependent ones do not', () => {
    const memories = new Memories(integers);
    const start = terms.symbol('memory', 'effect');
    const exec = terms.symbol('exec', 'i64');
    const value = terms.symbol('v', 'i32');
    const write = (state: Term, offset: Term): Term => memories.store(state, exec, at(offset), value, '');
    const offsets = [0, 4, 8, 12].map((n) => scaled(16n, n));
    const orders = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
    ].map((order) => order.reduce((state, n) => write(state, offsets[n] as Term), start));
    expect(new Set(orders).size).toBe(1);
    const close = [0, 4].map((n) => scaled(4n, n)) as [Term, Term];
    expect(write(write(start, close[0]), close[1])).not.toBe(write(write(start, close[1]), close[0]));
    // A load looks past what it cannot meet.
    expect(memories.load(orders[0] as Term, at(scaled(16n, 4)), '', false, exec)).not.toBe(
      memories.load(start, at(scaled(16n, 4)), '', false, exec),
    );
    const apart = write(start, scaled(16n, 8));
    expect(memories.load(apart, at(scaled(16n, 0)), '', false, exec)).toBe(
      memories.load(start, at(scaled(16n, 0)), '', false, exec),
    );
  });
});
