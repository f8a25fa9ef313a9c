// Expressions of the debugger, in the manner of C: registers, arguments, memory, casts, arithmetic. A value is an integer (a bigint) or a
// float (a number). A vector register stands for the lane that the expression is evaluated for.
//
//   v3 == 7 && lane < 32      s[2:3] + 16      f32(v5) > 1e-3      *u32(x + 4 * v0)      lds.f16(2 * v1)      v3[5]      workgroup.x
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import { convert, isTypeWord, typeOfWords } from './cast.ts';
import { bitsOf, fromBits, type Value, valueType } from './value.ts';

/** What names mean where an expression is evaluated. What cannot be read throws. */
export interface Scope {
  /** The lane that vector registers without a lane of their own stand for. */
  readonly lane: number;
  /** A register or pair by its text (`s4`, `s[2:3]`, `v7`, `vcc`), as unsigned integer. */
  register(text: string, lane: number): bigint;
  /**
   * An argument or variable, or a part of one: its name, then members (texts), elements (numbers) and `*` for what a pointer points to.
   * Undefined when there is none of that name.
   */
  path(path: readonly (string | number)[], lane: number): Value | undefined;
  /** Bytes of a variable or a part of one; undefined when there is none of that name. */
  sizeOf(path: readonly (string | number)[], lane: number): number | undefined;
  /** What was printed before (`$1`, `$$`), or a variable of the session. */
  remembered(name: string): Value | undefined;
  /** Bytes of global memory, LDS or the lane's scratch. */
  load(space: 'global' | 'lds' | 'scratch', address: bigint, bytes: number, lane: number): Uint8Array;
}

interface Node {
  (scope: Scope): Value;
  /** Of a cast to a pointer: what it points to. */
  readonly pointee?: ElementType | undefined;
  /** Of a value in memory: where it is. */
  readonly memory?: MemoryOperand | undefined;
  /** Of a name: its bytes. */
  readonly sizeOf?: ((scope: Scope) => number | undefined) | undefined;
}

/** Where a value of a type is in memory. */
interface MemoryOperand {
  readonly space: 'global' | 'lds' | 'scratch';
  readonly type: ElementType;
  address(scope: Scope): bigint;
}

/** A parsed expression. */
export interface Expression {
  /** When it is a value in memory that is written with its type, as `*f32(x)`. */
  readonly memory: MemoryOperand | undefined;
  readonly text: string;
  /** Whether the value may differ from lane to lane. */
  readonly isPerLane: boolean;
  evaluate(scope: Scope): Value;
}

function bad(text: string, message: string): WavesmithError {
  return new WavesmithError('run/bad-expression', `'${text}': ${message}`, {
    hint: 'Write it as in C: v3 == 7 && lane < 32, s[2:3] + 16, f32(v5) > 1e-3, *u32(x + 4), lds.f32(64).',
  });
}

const TOKEN =
  /\s*(?:(0x[0-9a-f]+|(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?)|(\.?\$?[a-z_][\w.]*|\$\$?\d*)|(->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()[\]{}?:]))/iy;

interface Token {
  readonly kind: 'number' | 'name' | 'operator' | 'end';
  readonly text: string;
}

function tokens(text: string): Token[] {
  const out: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw bad(text, `'${text.slice(from).trim().slice(0, 10)}' is not understood.`);
    const [, number, name, operator] = match;
    if (number !== undefined) out.push({ kind: 'number', text: number });
    else if (name !== undefined) out.push({ kind: 'name', text: name.replace(/^\$(?=[a-z_])/i, '') });
    else out.push({ kind: 'operator', text: operator as string });
  }
  return out;
}

const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];

const truth = (value: boolean): bigint => (value ? 1n : 0n);
export const isTrue = (value: Value): boolean => value !== 0n && value !== 0;
/** Integers have at most this many bits: longer ones come from shifts only. */
const MAX_BITS = 128n;

function binary(operator: string, text: string): (a: Value, b: Value) => Value {
  const compare = (test: (a: Value, b: Value) => boolean) => (a: Value, b: Value) => truth(test(a, b));
  const integers = (name: (a: bigint, b: bigint) => bigint) => (a: Value, b: Value) => {
    if (typeof a === 'number' || typeof b === 'number') throw bad(text, `${operator} needs integers.`);
    return name(a, b);
  };
  const arithmetic =
    (whole: (a: bigint, b: bigint) => bigint, float: (a: number, b: number) => number) => (a: Value, b: Value) =>
      typeof a === 'bigint' && typeof b === 'bigint' ? whole(a, b) : float(Number(a), Number(b));
  const divisor = (b: bigint): bigint => {
    if (b === 0n) throw bad(text, 'division by zero.');
    return b;
  };
  const shift = (b: bigint): bigint => {
    if (b < 0n || b > MAX_BITS) throw bad(text, `a shift by ${b} is not possible.`);
    return b;
  };
  switch (operator) {
    case '|':
      return integers((a, b) => a | b);
    case '^':
      return integers((a, b) => a ^ b);
    case '&':
      return integers((a, b) => a & b);
    case '<<':
      return integers((a, b) => BigInt.asIntN(256, a << shift(b)));
    case '>>':
      return integers((a, b) => a >> shift(b));
    case '==':
      // biome-ignore lint/suspicious/noDoubleEquals: an integer and a float are compared by value
      return compare((a, b) => a == b);
    case '!=':
      // biome-ignore lint/suspicious/noDoubleEquals: an integer and a float are compared by value
      return compare((a, b) => a != b);
    case '<':
      return compare((a, b) => a < b);
    case '<=':
      return compare((a, b) => a <= b);
    case '>':
      return compare((a, b) => a > b);
    case '>=':
      return compare((a, b) => a >= b);
    case '+':
      return arithmetic(
        (a, b) => a + b,
        (a, b) => a + b,
      );
    case '-':
      return arithmetic(
        (a, b) => a - b,
        (a, b) => a - b,
      );
    case '*':
      return arithmetic(
        (a, b) => BigInt.asIntN(256, a * b),
        (a, b) => a * b,
      );
    case '/':
      return arithmetic(
        (a, b) => a / divisor(b),
        (a, b) => a / b,
      );
    default:
      return arithmetic(
        (a, b) => a % divisor(b),
        (a, b) => a % b,
      );
  }
}

/** What `v3.f` and its like read a register as. */
const VIEWS: Readonly<Record<string, string>> = { f: 'f32', u: 'u32', i: 'i32', d: 'i32' };

/** Nested parentheses at most. */
const MAX_DEPTH = 100;

class Parser {
  private readonly text: string;
  private readonly all: readonly Token[];
  private at = 0;
  private depth = 0;
  isPerLane = false;

  constructor(text: string) {
    this.text = text;
    this.all = tokens(text);
  }

  parse(): Node {
    if (this.all.length === 0) throw bad(this.text, 'there is nothing to evaluate.');
    const node = this.choice();
    if (this.peek.kind !== 'end') throw bad(this.text, `'${this.peek.text}' does not belong here.`);
    return node;
  }

  private get peek(): Token {
    return this.all[this.at] ?? { kind: 'end', text: 'the end' };
  }
  private take(text: string): boolean {
    if (this.peek.kind !== 'operator' || this.peek.text !== text) return false;
    this.at++;
    return true;
  }
  private expect(text: string): void {
    if (!this.take(text)) throw bad(this.text, `'${text}' is missing before ${this.peek.text}.`);
  }

  /** `a ? b : c`, or without it what binds more tightly. */
  private choice(): Node {
    if (++this.depth > MAX_DEPTH) throw bad(this.text, 'it is nested too deeply.');
    try {
      const condition = this.level(0);
      if (!this.take('?')) return condition;
      const yes = this.choice();
      this.expect(':');
      const no = this.choice();
      return (s) => (isTrue(condition(s)) ? yes(s) : no(s));
    } finally {
      this.depth--;
    }
  }

  private level(n: number): Node {
    const operators = LEVELS[n];
    if (operators === undefined) return this.unary();
    let left = this.level(n + 1);
    while (this.peek.kind === 'operator' && operators.includes(this.peek.text)) {
      const { text: operator } = this.peek;
      this.at++;
      const a = left;
      const b = this.level(n + 1);
      if (operator === '||') left = (s) => truth(isTrue(a(s)) || isTrue(b(s)));
      else if (operator === '&&') left = (s) => truth(isTrue(a(s)) && isTrue(b(s)));
      else {
        const apply = binary(operator, this.text);
        const { pointee } = a;
        // As in C, what is added to a cast pointer counts what it points to.
        const scale = pointee !== undefined && (operator === '+' || operator === '-') ? pointee.storageBits / 8 : 1;
        left = Object.assign(
          (s: Scope) => {
            const right = b(s);
            return apply(a(s), scale === 1 ? right : typeof right === 'bigint' ? right * BigInt(scale) : right * scale);
          },
          scale === 1 ? {} : { pointee },
        );
      }
    }
    return left;
  }

  private unary(): Node {
    if (++this.depth > MAX_DEPTH) throw bad(this.text, 'it is nested too deeply.');
    try {
      if (this.take('-')) {
        const value = this.unary();
        return (s) => -value(s);
      }
      if (this.take('+')) return this.unary();
      if (this.take('!')) {
        const value = this.unary();
        return (s) => truth(!isTrue(value(s)));
      }
      if (this.take('~')) {
        const value = this.unary();
        return (s) => {
          const number = value(s);
          if (typeof number === 'number') throw bad(this.text, '~ needs an integer.');
          return ~number;
        };
      }
      if (this.take('*')) {
        const { kind, text } = this.peek;
        if (kind === 'operator' && text === '(') return this.pointed(this.unary());
        this.at++;
        const type = kind === 'name' ? valueType(text) : undefined;
        if (type !== undefined) return this.memory('global', type);
        if (kind !== 'name')
          throw bad(this.text, `a type or a pointer follows '*', as in *f32(address), not '${text}'.`);
        return this.path(text, true);
      }
      if (this.take('{')) {
        const type = this.typeWords();
        this.expect('}');
        const address = this.unary();
        if (type === undefined) throw bad(this.text, 'a type stands in {}, as in {float} address.');
        return this.loaded('global', type, address);
      }
      if (this.peek.kind === 'name' && this.peek.text === 'sizeof') {
        this.at++;
        return this.sizeof();
      }
      return this.indexed(this.primary());
    } finally {
      this.depth--;
    }
  }

  /** What a pointer that was cast points to. */
  private pointed(address: Node): Node {
    if (address.pointee !== undefined) return this.loaded('global', address.pointee, address);
    throw bad(
      this.text,
      'what is in parentheses has no type to point to: write p[i], *f32(address), or *(float *)address.',
    );
  }

  /** `[i]` behind a pointer that was cast. */
  private indexed(base: Node): Node {
    const { pointee } = base;
    if (pointee === undefined || !this.take('[')) return base;
    const index = this.choice();
    this.expect(']');
    const size = BigInt(pointee.storageBits / 8);
    return this.loaded('global', pointee, (s) => {
      const [at, i] = [base(s), index(s)];
      if (typeof at === 'number' || typeof i === 'number') throw bad(this.text, 'an address is an integer.');
      return at + i * size;
    });
  }

  /** Words of a type from here on; undefined when they mean none, as `void`. */
  private typeWords(): ElementType | undefined {
    const words: string[] = [];
    for (; this.peek.kind === 'name' && isTypeWord(this.peek.text); this.at++) words.push(this.peek.text);
    return typeOfWords(words);
  }

  /** What follows `(` when it is a cast: `float) x`, `int *) p`. */
  private cast(): Node | undefined {
    const { kind, text } = this.peek;
    const from = this.at;
    if (kind !== 'name' || !isTypeWord(text)) return undefined;
    const type = this.typeWords();
    let stars = 0;
    while (this.take('*')) stars++;
    // `f32(x)` in parentheses is no cast.
    if (!this.take(')')) {
      this.at = from;
      return undefined;
    }
    const value = this.unary();
    if (stars === 0) {
      if (type === undefined) throw bad(this.text, `'${text}' is no type of a value.`);
      return (s) => convert(value(s), type, this.text);
    }
    // A pointer to a pointer points to an address.
    return Object.assign((s: Scope) => value(s), { pointee: stars > 1 ? valueType('u64') : type });
  }

  /** What follows `sizeof`: a type in parentheses, or a value. */
  private sizeof(): Node {
    const from = this.at;
    if (this.take('(')) {
      const isType = this.peek.kind === 'name' && isTypeWord(this.peek.text);
      const type = this.typeWords();
      const isPointer = this.take('*');
      if (isType && this.take(')') && (isPointer || type !== undefined)) {
        const bytes = isPointer ? 8n : BigInt((type as ElementType).storageBits / 8);
        return () => bytes;
      }
      this.at = from;
    }
    const { sizeOf } = this.unary();
    if (sizeOf === undefined) throw bad(this.text, 'sizeof takes a type or a variable of the source program.');
    return (s) => {
      const bytes = sizeOf(s);
      if (bytes === undefined) throw bad(this.text, 'there is no such variable here.');
      return BigInt(bytes);
    };
  }

  private memory(space: 'global' | 'lds' | 'scratch', type: ElementType): Node {
    this.expect('(');
    const address = this.choice();
    this.expect(')');
    return this.loaded(space, type, address);
  }

  private loaded(space: 'global' | 'lds' | 'scratch', type: ElementType, address: Node): Node {
    if (space === 'scratch') this.isPerLane = true;
    const addressIn = (s: Scope): bigint => {
      const at = address(s);
      if (typeof at === 'number') throw bad(this.text, 'an address is an integer.');
      return at;
    };
    const value = (s: Scope): Value =>
      fromBits(bitsOf(s.load(space, addressIn(s), type.storageBits / 8, s.lane)), type);
    return Object.assign(value, { memory: { space, type, address: addressIn } });
  }

  private primary(): Node {
    if (this.take('(')) {
      const cast = this.cast();
      if (cast !== undefined) return cast;
      const inner = this.choice();
      this.expect(')');
      return inner;
    }
    const { kind, text } = this.peek;
    this.at++;
    if (kind === 'number') {
      const value = /^0x|^\d+$/i.test(text) ? BigInt(text) : Number(text);
      return () => value;
    }
    if (kind !== 'name') throw bad(this.text, `a value is missing before ${text}.`);
    if (text.startsWith('$')) {
      return (s) => {
        const value = s.remembered(text);
        if (value === undefined) throw bad(this.text, `nothing has been printed that is '${text}'.`);
        return value;
      };
    }
    return this.named(text);
  }

  private named(text: string): Node {
    const space = /^(lds|scratch)\.(\w+)$/i.exec(text);
    const spaceType = valueType(space?.[2] ?? '');
    if (space !== null && spaceType !== undefined) {
      return this.memory((space[1] as string).toLowerCase() as 'lds' | 'scratch', spaceType);
    }
    const type = valueType(text);
    if (type !== undefined && this.take('(')) {
      const inner = this.choice();
      this.expect(')');
      // An integer's bits are read as the type; a float is converted.
      return (s) => {
        const value = inner(s);
        if (typeof value === 'bigint') return fromBits(value, type);
        if (type.kind === 'float') return value;
        if (!Number.isFinite(value)) throw bad(this.text, `${value} is no integer.`);
        return fromBits(BigInt(Math.trunc(value)), type);
      };
    }
    const [, register, view = ''] = /^([sva]\d+)\.([a-z]\w*)$/i.exec(text) ?? [];
    const viewType = valueType(Object.hasOwn(VIEWS, view) ? (VIEWS[view] as string) : view);
    if (register !== undefined && viewType !== undefined) {
      const word = this.vector(register);
      return (s) => fromBits(word(s) as bigint, viewType);
    }
    if (/^[sva]$/i.test(text) && this.take('[')) return this.range(text);
    if (/^[va]\d+$/i.test(text)) return this.vector(text);
    if (/^(s\d+|ttmp\d+|vcc(_lo|_hi)?|exec(_lo|_hi)?|flat_scratch(_lo|_hi)?|m0|scc|mode)$/i.test(text)) {
      return (s) => s.register(text, s.lane);
    }
    if (text.toLowerCase() === 'lane') {
      this.isPerLane = true;
      return (s) => BigInt(s.lane);
    }
    return this.path(text, false);
  }

  /** `name`, `name.member`, `name[2]`, `name->member`; with `*` before it what it points to. */
  private path(text: string, isPointer: boolean): Node {
    this.isPerLane = true;
    const parts: (string | Node)[] = text.split('.');
    // `workgroup.x` is one name.
    if (parts[0] === 'workgroup') parts.splice(0, parts.length, text);
    for (;;) {
      if (this.take('[')) {
        parts.push(this.choice());
        this.expect(']');
      } else if (this.take('->')) {
        parts.push('*', ...this.peek.text.split('.'));
        this.at++;
      } else if (this.peek.kind === 'name' && this.peek.text.startsWith('.')) {
        parts.push(...this.peek.text.slice(1).split('.'));
        this.at++;
      } else break;
    }
    if (isPointer) parts.push('*');
    const pathIn = (s: Scope) => parts.map((part) => (typeof part === 'string' ? part : Number(part(s))));
    const value = (s: Scope): Value => {
      const found = s.path(pathIn(s), s.lane) ?? (parts.length === 1 ? s.remembered(text) : undefined);
      if (found === undefined) throw bad(this.text, `'${text}' is no register, argument or variable here.`);
      return found;
    };
    return Object.assign(value, { sizeOf: (s: Scope) => s.sizeOf(pathIn(s), s.lane) });
  }

  /** `s[2:3]`, `v[0:1]`. */
  private range(file: string): Node {
    const from = this.peek.text;
    this.at++;
    this.expect(':');
    const to = this.peek.text;
    this.at++;
    this.expect(']');
    if (!/^\d{1,3}$/.test(from) || !/^\d{1,3}$/.test(to))
      throw bad(this.text, `${file}[${from}:${to}] is no register range.`);
    if (Number(to) - Number(from) > 3) throw bad(this.text, 'at most four registers are one value.');
    return this.vector(`${file}[${from}:${to}]`);
  }

  /** A register, for vectors with `[lane]` behind it where that is not the scope's. */
  private vector(text: string): Node {
    if (/^s/i.test(text)) return (s) => s.register(text, s.lane);
    if (!this.take('[')) {
      this.isPerLane = true;
      return (s) => s.register(text, s.lane);
    }
    const lane = this.choice();
    this.expect(']');
    return (s) => {
      const value = lane(s);
      if (typeof value === 'number' || value < 0n || value > 63n)
        throw bad(this.text, `${value} is no lane from 0 to 63.`);
      return s.register(text, Number(value));
    };
  }
}

/** Longest expression. */
const MAX_LENGTH = 1000;

/** Parses an expression; what is none is `run/bad-expression`. */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_LENGTH) throw bad(`${text.slice(0, 40)}…`, `it has more than ${MAX_LENGTH} characters.`);
  const parser = new Parser(text.trim());
  const node = parser.parse();
  return { text: text.trim(), isPerLane: parser.isPerLane, memory: node.memory, evaluate: node };
}
