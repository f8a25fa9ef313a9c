// Expressions of the debugger, in the manner of C: variables of the source program, registers, arguments, memory, casts, arithmetic.
// What has a type of the source program follows C; a number of the machine is an integer (a bigint) or a float (a number). A vector register
// stands for the lane that the expression is evaluated for.
//
//   v3 == 7 && lane < 32      s[2:3] + 16      f32(v5) > 1e-3      *u32(x + 4 * v0)      v3[5]      *(p + i)      q->items[n - 1].x
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { asEither, badExpression as bad, binary, isTrue, truth, UnknownName, unary } from './arithmetic.ts';
import { convert, isTypeWord, typeOfWords } from './cast.ts';
import { elementAt, memberOf, pointedTo } from './source-variables.ts';
import { bytesOfText, numberOfToken, type Token, tokensOf, typeOfToken } from './tokens.ts';
import {
  flatAddress,
  inMemory,
  isFunctionPointer,
  type Load,
  lettersType,
  machineType,
  numberOf,
  type Operand,
  pointerTo,
  type ShownVariable,
  type SpaceName,
  typedValue,
  VOID,
} from './typed.ts';
import { fromBits, type Value, valueType } from './value.ts';

/** What names mean where an expression is evaluated. What cannot be read throws. */
export interface Scope {
  /** The lane that vector registers without a lane of their own stand for. */
  readonly lane: number;
  /** A register or pair by its text (`s4`, `s[2:3]`, `v7`, `vcc`), as unsigned integer. */
  register(text: string, lane: number): bigint;
  /** A variable of the source program; undefined when there is none of that name. */
  variable(name: string, lane: number): ShownVariable | undefined;
  /** An argument, or a place in the dispatch; undefined when there is none of that name. */
  named(name: string, lane: number): Operand | undefined;
  /** A type of the source program. */
  typeNamed(name: string): DebugType | undefined;
  /** The address, in the file, of a function or label; undefined when there is none of that name. */
  codeNamed(name: string): number | undefined;
  /** What was printed before (`$1`, `$$`), or a variable of the session. */
  remembered(name: string): Operand | undefined;
  /** Why a name means nothing here, where that is more than that there is none. */
  readonly whyUnknown?: string | undefined;
  readonly load: Load;
  /** Where the code was loaded that names of functions and labels stand for by their address in the file. */
  readonly codeBase: number;
}

/** What an expression gives; undefined where it has no value, as what a condition says not to look at. */
function valueIfAny(of: Node, scope: Scope): Operand | undefined {
  try {
    return of(scope);
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

/** A pointer to a function as the address in the file that the function's name is. */
function inFile(operand: Operand, { codeBase }: Scope): Operand {
  const value = isFunctionPointer(operand) ? numberOf(operand) : undefined;
  return typeof value === 'bigint' && value >= codeBase ? value - BigInt(codeBase) : operand;
}

type Node = (scope: Scope) => Operand;
type TypeNode = (scope: Scope) => DebugType;

/** A parsed expression. */
export interface Expression {
  readonly text: string;
  /** Whether the value may differ from lane to lane. */
  readonly isPerLane: boolean;
  /** The number that it is. */
  evaluate(scope: Scope): Value;
  /** The same with its type and where it stands; structs and arrays too. */
  operand(scope: Scope): Operand;
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

/** What `v3.f` and its like read a register as. */
const VIEWS: Readonly<Record<string, string>> = { f: 'f32', u: 'u32', i: 'i32', d: 'i32' };
const TAGS = new Set(['struct', 'union', 'class', 'enum']);
const SCALAR = /^(?:s\d+|ttmp\d+|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?|flat_scratch(?:_lo|_hi)?|m0|scc|mode)$/i;

/** Nested parentheses at most. */
const MAX_DEPTH = 100;
const END: Token = { kind: 'end', text: 'the end', isDollar: false };

class Parser {
  private readonly text: string;
  private readonly all: readonly Token[];
  private at = 0;
  private depth = 0;
  isPerLane = false;

  constructor(text: string) {
    this.text = text;
    this.all = tokensOf(text);
  }

  parse(): Node {
    if (this.all.length === 0) throw bad(this.text, 'there is nothing to evaluate.');
    const node = this.choice();
    if (this.peek.kind !== 'end') throw bad(this.text, `'${this.peek.text}' does not belong here.`);
    return node;
  }

  /** The whole text as a type; undefined when it is none. */
  parseType(): TypeNode | undefined {
    const type = this.type(true);
    return this.peek.kind === 'end' ? type : undefined;
  }

  private get peek(): Token {
    return this.all[this.at] ?? END;
  }
  private isAhead(n: number, text: string): boolean {
    const { kind, text: found } = this.all[this.at + n] ?? END;
    return kind === 'operator' && found === text;
  }
  private take(text: string): boolean {
    if (!this.isAhead(0, text)) return false;
    this.at++;
    return true;
  }
  private expect(text: string): void {
    if (!this.take(text)) throw bad(this.text, `'${text}' is missing before ${this.peek.text}.`);
  }

  private nested<T>(make: () => T): T {
    if (++this.depth > MAX_DEPTH) throw bad(this.text, 'it is nested too deeply.');
    try {
      return make();
    } finally {
      this.depth--;
    }
  }

  /** `a ? b : c`, or without it what binds more tightly. */
  private choice(): Node {
    return this.nested(() => {
      const condition = this.level(0);
      if (!this.take('?')) return condition;
      const yes = this.choice();
      this.expect(':');
      const no = this.choice();
      return (s) => {
        const [taken, left] = isTrue(numberOf(condition(s))) ? [yes, no] : [no, yes];
        return asEither(taken(s), valueIfAny(left, s), this.text);
      };
    });
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
      if (operator === '||') left = (s) => truth(isTrue(numberOf(a(s))) || isTrue(numberOf(b(s))));
      else if (operator === '&&') left = (s) => truth(isTrue(numberOf(a(s))) && isTrue(numberOf(b(s))));
      else {
        const apply = binary(operator, this.text);
        const isComparison = /^[=!<>]=?$/.test(operator);
        left = (s) => (isComparison ? apply(inFile(a(s), s), inFile(b(s), s)) : apply(a(s), b(s)));
      }
    }
    return left;
  }

  private unary(): Node {
    return this.nested(() => {
      for (const operator of ['-', '~'] as const) {
        if (!this.take(operator)) continue;
        const value = this.unary();
        return (s) => unary(operator, value(s), this.text);
      }
      if (this.take('+')) return this.unary();
      if (this.take('!')) {
        const value = this.unary();
        return (s) => truth(!isTrue(numberOf(value(s))));
      }
      if (this.take('&')) {
        const { kind, text } = this.peek;
        return this.addressOf(this.unary(), kind === 'name' ? text : undefined);
      }
      if (this.take('*')) {
        const { kind, text } = this.peek;
        const type = kind === 'name' && this.isAhead(1, '(') ? valueType(text) : undefined;
        if (type === undefined) return this.pointed(this.unary());
        this.at++;
        return this.memory('global', type);
      }
      if (this.take('{')) {
        const type = this.type(true);
        this.expect('}');
        const address = this.unary();
        if (type === undefined) throw bad(this.text, 'a type stands in {}, as in {float} address.');
        return this.loaded('flat', type, address);
      }
      if (this.peek.kind === 'name' && this.peek.text === 'sizeof') {
        this.at++;
        return this.sizeof();
      }
      return this.postfix(this.primary());
    });
  }

  /** `name` is what stands behind `&`. A function's name is its address, with `&` or without. */
  private addressOf(of: Node, name: string | undefined): Node {
    return (s) => {
      const operand = of(s);
      const code = name === undefined ? undefined : s.codeNamed(name);
      if (code !== undefined && operand === BigInt(code)) return operand;
      const address = typeof operand === 'object' ? flatAddress(operand) : undefined;
      if (typeof operand === 'object' && address !== undefined) {
        return typedValue(pointerTo(operand.type), BigInt(address), s);
      }
      const home = typeof operand === 'object' ? operand.home : undefined;
      const where = home?.kind === 'registers' ? `: it is in ${home.names.join(', ')}` : '';
      throw bad(this.text, `what '&' is applied to is not in memory${where}.`);
    };
  }

  /** What a pointer points to, an array's first element. */
  private pointed(of: Node): Node {
    return (s) => {
      const operand = of(s);
      const found =
        typeof operand !== 'object'
          ? undefined
          : operand.type.kind === 'array'
            ? elementAt(operand, 0n)
            : pointedTo(operand);
      if (found !== undefined) return found;
      throw bad(
        this.text,
        `what '*' is applied to has no type to point to: write p[i], *f32(address), or *(float *)address.`,
      );
    };
  }

  /** What stands behind a value: `[i]`, `.member`, `->member`. */
  private postfix(first: Node): Node {
    let base = first;
    for (;;) {
      const of = base;
      if (this.take('[')) {
        const index = this.choice();
        this.expect(']');
        base = (s) => this.element(of(s), numberOf(index(s)));
      } else if (this.isAhead(0, '.') || this.isAhead(0, '->')) {
        this.at++;
        const { kind, text } = this.peek;
        if (kind !== 'name') throw bad(this.text, `the name of a member is missing before ${text}.`);
        this.at++;
        base = (s) => this.member(of(s), text);
      } else return base;
    }
  }

  private element(of: Operand, index: Value): Operand {
    if (typeof index === 'number') throw bad(this.text, `${index} is no number of an element.`);
    const found = typeof of === 'object' ? elementAt(of, index) : undefined;
    if (found !== undefined) return found;
    const what = typeof of === 'object' ? `what is of type ${of.type.name}` : 'a number';
    throw bad(this.text, `${what} has no element ${index}.`);
  }

  private member(of: Operand, name: string): Operand {
    const found = typeof of === 'object' ? memberOf(of, name) : undefined;
    if (found !== undefined) return found;
    // What cannot be read says why.
    if (typeof of === 'object' && of.bytes === undefined) numberOf(of);
    const what = typeof of === 'object' ? `what is of type ${of.type.name}` : 'a number';
    throw bad(this.text, `${what} has no member '${name}'.`);
  }

  /** A type from here on, with its `*`; undefined when there is none. `alone`: a name that stands for itself may be a type. */
  private type(alone: boolean): TypeNode | undefined {
    const from = this.at;
    const words: string[] = [];
    for (; this.peek.kind === 'name' && isTypeWord(this.peek.text); this.at++) words.push(this.peek.text);
    let type: TypeNode | undefined;
    if (words.length > 0) {
      const known = typeOfWords(words);
      const isConst = words.every((word) => word === 'const' || word === 'volatile');
      type = known !== undefined ? () => known : isConst ? undefined : () => VOID;
    }
    if (type === undefined && this.peek.kind === 'name') {
      const isTagged = TAGS.has(this.peek.text) && this.all[this.at + 1]?.kind === 'name';
      if (isTagged) this.at++;
      const { text } = this.peek;
      // `(n) - 1` is a value; `(Point *) p` and `(color) x` are none.
      const next = this.all[this.at + 2] ?? END;
      const isCast = this.isAhead(1, '*')
        ? this.isTypeWithStars(1)
        : this.isAhead(1, ')') && (next.kind === 'name' || next.kind === 'number' || next.text === '(');
      if (alone || isTagged || isCast) {
        this.at++;
        type = (s) => {
          const found = s.typeNamed(text);
          if (found === undefined) throw bad(this.text, `there is no type '${text}'.`);
          return found;
        };
      }
    }
    if (type === undefined) {
      this.at = from;
      return undefined;
    }
    for (let of = type; this.take('*'); of = type) type = (s) => pointerTo(of(s));
    return type;
  }

  /** Whether nothing but `*` stands between a token from here on and `)`. */
  private isTypeWithStars(n: number): boolean {
    let at = n;
    while (this.isAhead(at, '*')) at++;
    return this.isAhead(at, ')');
  }

  /** What follows `(` when it is a cast: `float) x`, `int *) p`. */
  private cast(): Node | undefined {
    const from = this.at;
    const { text } = this.peek;
    const type = this.type(false);
    // `f32(x)` in parentheses is no cast.
    if (type === undefined || !this.take(')')) {
      this.at = from;
      return undefined;
    }
    const value = this.unary();
    return (s) => {
      const to = type(s);
      if (to === VOID) throw bad(this.text, `'${text}' is no type of a value.`);
      return typedValue(to, convert(numberOf(value(s)), to, this.text), s);
    };
  }

  /** What follows `sizeof`: a type in parentheses, or a value. */
  private sizeof(): Node {
    const from = this.at;
    if (this.take('(')) {
      const isName = this.peek.kind === 'name' && this.isAhead(1, ')') && !isTypeWord(this.peek.text);
      const type = isName ? undefined : this.type(true);
      if (type !== undefined && this.take(')')) return (s) => BigInt(this.bytesOf(type(s)));
    }
    this.at = from;
    const name = this.take('(') && this.peek.kind === 'name' && this.isAhead(1, ')') ? this.peek.text : undefined;
    this.at = from;
    const value = this.unary();
    return (s) => {
      const named = name === undefined || s.variable(name, s.lane) !== undefined ? undefined : s.typeNamed(name);
      const operand = named === undefined ? value(s) : undefined;
      if (named !== undefined) return BigInt(this.bytesOf(named));
      if (typeof operand === 'object') return BigInt(this.bytesOf(operand.type));
      throw bad(this.text, 'sizeof takes a type or a variable of the source program.');
    };
  }

  private bytesOf(type: DebugType): number {
    if (type.bytes > 0) return type.bytes;
    throw bad(this.text, `${type.name} has no size.`);
  }

  private memory(space: SpaceName, type: ElementType): Node {
    this.expect('(');
    const address = this.choice();
    this.expect(')');
    const shown = machineType(type);
    return this.loaded(space, () => shown, address);
  }

  private loaded(space: SpaceName, type: TypeNode, address: Node): Node {
    if (space === 'scratch') this.isPerLane = true;
    const text = this.text;
    return (s) => {
      const at = numberOf(address(s));
      if (typeof at === 'number') throw bad(text, 'an address is an integer.');
      return inMemory({ kind: 'local', wave: undefined, lane: s.lane, load: s.load }, text, type(s), space, at);
    };
  }

  private primary(): Node {
    if (this.take('(')) {
      const cast = this.cast();
      if (cast !== undefined) return cast;
      const inner = this.choice();
      this.expect(')');
      return inner;
    }
    const token = this.peek;
    const { kind, text } = token;
    this.at++;
    if (kind === 'number') {
      const value = numberOfToken(text);
      const type = typeOfWords(typeOfToken(text) ?? []);
      return type === undefined ? () => value : (s) => typedValue(type, value, s);
    }
    if (kind === 'text') {
      const bytes = bytesOfText(text);
      return (s) => ({ ...typedValue(lettersType(bytes.length), 0n, s), bytes });
    }
    if (kind !== 'name') throw bad(this.text, `a value is missing before ${text}.`);
    if (text.startsWith('$')) return this.remembered(text);
    return this.named(token);
  }

  private remembered(text: string): Node {
    return (s) => {
      const value = s.remembered(text);
      if (value === undefined) throw bad(this.text, `nothing has been printed that is '${text}'.`);
      return value;
    };
  }

  private named(token: Token): Node {
    const { text } = token;
    const name = text.toLowerCase();
    const second = this.all[this.at + 1];
    if ((name === 'lds' || name === 'scratch') && this.isAhead(0, '.') && this.isAhead(2, '(')) {
      const type = valueType(second?.text ?? '');
      if (type !== undefined) {
        this.at += 2;
        return this.memory(name, type);
      }
    }
    const type = this.isAhead(0, '(') ? valueType(text) : undefined;
    if (type !== undefined) return this.bitsAs(type);
    if (this.isAhead(0, '(')) throw bad(this.text, `functions are not called from here, so '${text}(' means nothing.`);
    if (/^[sva]$/i.test(text) && this.isRange()) return this.range(text);
    if (/^[sva]\d+$/i.test(text) && this.isAhead(0, '.') && second?.kind === 'name') {
      const { text: view } = second;
      const viewed = valueType(Object.hasOwn(VIEWS, view) ? (VIEWS[view] as string) : view);
      if (viewed !== undefined) {
        this.at += 2;
        const word = this.register(token);
        return (s) => typedValue(machineType(viewed), fromBits(numberOf(word(s)) as bigint, viewed), s);
      }
    }
    if (/^[va]\d+$/i.test(text) || SCALAR.test(text)) return this.register(token);
    if (name === 'lane') {
      this.isPerLane = true;
      return this.unlessVariable(token, (s) => BigInt(s.lane));
    }
    return this.variable(token);
  }

  /** `f32(v3)`: an integer's bits are read as the type; a float is converted. */
  private bitsAs(type: ElementType): Node {
    this.expect('(');
    const inner = this.choice();
    this.expect(')');
    return (s) => {
      const value = numberOf(inner(s));
      const shown = machineType(type);
      if (typeof value === 'bigint') return typedValue(shown, fromBits(value, type), s);
      if (type.kind === 'float') return typedValue(shown, value, s);
      if (!Number.isFinite(value)) throw bad(this.text, `${value} is no integer.`);
      return typedValue(shown, fromBits(BigInt(Math.trunc(value)), type), s);
    };
  }

  /** A variable, an argument, or a place in the dispatch; with `$`, first a value of the session. */
  private variable({ text, isDollar }: Token): Node {
    this.isPerLane = true;
    return (s) => {
      const own = isDollar ? s.remembered(text) : s.variable(text, s.lane);
      const found = own ?? s.named(text, s.lane) ?? (isDollar ? s.variable(text, s.lane) : undefined);
      if (found !== undefined) return found;
      if (text === 'true' || text === 'false')
        return typedValue(typeOfWords(['bool']) as DebugType, truth(text === 'true'), s);
      const more = s.whyUnknown === undefined ? '' : ` ${s.whyUnknown}`;
      throw new UnknownName(this.text, `'${text}' is no register, argument or variable here.${more}`);
    };
  }

  /** What a name is, but a variable of the source program hides it where no `$` stands before it. */
  private unlessVariable({ text, isDollar }: Token, other: Node): Node {
    return isDollar ? other : (s) => s.variable(text, s.lane) ?? other(s);
  }

  /** A register, for vectors with `[lane]` behind it where that is not the scope's. */
  private register(token: Token): Node {
    const { text } = token;
    if (!/^[va]/i.test(text)) return this.unlessVariable(token, (s) => s.register(text, s.lane));
    if (!this.take('[')) {
      this.isPerLane = true;
      return this.unlessVariable(token, (s) => s.register(text, s.lane));
    }
    const lane = this.choice();
    this.expect(']');
    return (s) => {
      const index = numberOf(lane(s));
      const own = token.isDollar ? undefined : s.variable(text, s.lane);
      if (own !== undefined) return this.element(own, index);
      return s.register(text, this.lane(index));
    };
  }

  private lane(value: Value): number {
    if (typeof value === 'number' || value < 0n || value > 63n)
      throw bad(this.text, `${value} is no lane from 0 to 63.`);
    return Number(value);
  }

  private isRange(): boolean {
    const [from, to] = [this.all[this.at + 1], this.all[this.at + 3]];
    return this.isAhead(0, '[') && this.isAhead(2, ':') && from?.kind === 'number' && to?.kind === 'number';
  }

  /** `s[2:3]`, `v[0:1]`. */
  private range(file: string): Node {
    const [from = '', to = ''] = [this.all[this.at + 1]?.text, this.all[this.at + 3]?.text];
    this.at += 4;
    this.expect(']');
    if (!/^\d{1,3}$/.test(from) || !/^\d{1,3}$/.test(to))
      throw bad(this.text, `${file}[${from}:${to}] is no register range.`);
    if (Number(to) - Number(from) > 3) throw bad(this.text, 'at most four registers are one value.');
    return this.register({ kind: 'name', text: `${file}[${from}:${to}]`, isDollar: true });
  }
}

/** Longest expression. */
const MAX_LENGTH = 1000;

function parserOf(text: string): Parser {
  if (text.length > MAX_LENGTH) throw bad(`${text.slice(0, 40)}…`, `it has more than ${MAX_LENGTH} characters.`);
  return new Parser(text.trim());
}

/** Parses an expression; what is none is `run/bad-expression`. */
export function parseExpression(text: string): Expression {
  const parser = parserOf(text);
  const node = parser.parse();
  const { isPerLane } = parser;
  return { text: text.trim(), isPerLane, operand: node, evaluate: (s) => numberOf(node(s)) };
}

/** Whether a text is an expression, whatever its names mean. */
export function isExpression(text: string): boolean {
  try {
    parseExpression(text);
    return true;
  } catch (error) {
    if (error instanceof WavesmithError) return false;
    throw error;
  }
}

/** The type that a text names, as `int *` or `struct pair`; undefined when it names none. */
export function typeOfText(text: string, scope: Scope): DebugType | undefined {
  const words = text.trim().split(/[\s*]+/);
  const isType = isTypeWord(words[0] as string) || TAGS.has(words[0] as string);
  if (!isType && scope.typeNamed(words[0] as string) === undefined) return undefined;
  return parserOf(text).parseType()?.(scope);
}
