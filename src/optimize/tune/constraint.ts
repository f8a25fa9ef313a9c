// Constraints between parameters: `tile * unroll <= 256 && bounds != 64`. Numbers, texts in quotes, names, + - * / %, comparisons, ! && ||, parentheses.
import type { Configuration, Value } from './configuration.ts';

export type Constraint = (configuration: Configuration) => boolean;

type Term = (configuration: Configuration) => Value;

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|'([^']*)'|"([^"]*)"|([A-Za-z_]\w*)|(&&|\|\||[<>=!]=|[-+*/%<>!()]))/y;
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];
const MAX_DEPTH = 100;

const OPERATORS: Readonly<Record<string, (a: Value, b: Value) => Value>> = {
  '||': (a, b) => Boolean(a) || Boolean(b),
  '&&': (a, b) => Boolean(a) && Boolean(b),
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => Number(a) < Number(b),
  '<=': (a, b) => Number(a) <= Number(b),
  '>': (a, b) => Number(a) > Number(b),
  '>=': (a, b) => Number(a) >= Number(b),
  '+': (a, b) => Number(a) + Number(b),
  '-': (a, b) => Number(a) - Number(b),
  '*': (a, b) => Number(a) * Number(b),
  '/': (a, b) => Number(a) / Number(b),
  '%': (a, b) => Number(a) % Number(b),
};

/** Reads a constraint over these names; a string says why it is none. */
export function parseConstraint(text: string, names: readonly string[]): Constraint | string {
  try {
    const term = new Parser(text, names).whole();
    return (configuration) => Boolean(term(configuration));
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

class Parser {
  private readonly text: string;
  private readonly names: readonly string[];
  private at = 0;
  private depth = 0;
  private token: RegExpExecArray | undefined;

  constructor(text: string, names: readonly string[]) {
    this.text = text;
    this.names = names;
    this.next();
  }

  whole(): Term {
    const term = this.level(0);
    if (this.token !== undefined) throw new SyntaxError(`'${this.token[0].trim()}' is not expected`);
    return term;
  }

  private next(): void {
    TOKEN.lastIndex = this.at;
    const found = TOKEN.exec(this.text);
    if (found === null && this.text.slice(this.at).trim() !== '') {
      throw new SyntaxError(`'${this.text.slice(this.at).trim().slice(0, 20)}' is not understood`);
    }
    this.token = found ?? undefined;
    this.at = TOKEN.lastIndex;
  }

  private take(symbols: readonly string[]): string | undefined {
    const symbol = this.token?.[5];
    if (symbol === undefined || !symbols.includes(symbol)) return undefined;
    this.next();
    return symbol;
  }

  private level(n: number): Term {
    const symbols = LEVELS[n];
    if (symbols === undefined) return this.single();
    let left = this.level(n + 1);
    for (let symbol = this.take(symbols); symbol !== undefined; symbol = this.take(symbols)) {
      const [a, b, apply] = [left, this.level(n + 1), OPERATORS[symbol] as (a: Value, b: Value) => Value];
      left = (c) => apply(a(c), b(c));
    }
    return left;
  }

  private single(): Term {
    if (++this.depth > MAX_DEPTH) throw new SyntaxError('it is nested too deeply');
    const term = this.primary();
    this.depth--;
    return term;
  }

  private primary(): Term {
    const sign = this.take(['!', '-', '(']);
    if (sign === '(') {
      const term = this.level(0);
      if (this.take([')']) === undefined) throw new SyntaxError("a ')' is missing");
      return term;
    }
    if (sign !== undefined) {
      const term = this.single();
      return sign === '!' ? (c) => !term(c) : (c) => -Number(term(c));
    }
    const [, number, single, double, name] = this.token ?? [];
    if (this.token === undefined || this.token[5] !== undefined) throw new SyntaxError('a value is missing');
    this.next();
    if (number !== undefined) return () => Number(number);
    if (name === undefined) return () => single ?? double ?? '';
    if (name === 'true' || name === 'false') return () => name === 'true';
    if (!this.names.includes(name)) throw new SyntaxError(`there is no parameter '${name}'`);
    return (c) => c[name] as Value;
  }
}
