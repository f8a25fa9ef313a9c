// The small arithmetic language of metric formulas: counters, constants, + - * / and parentheses. Formulas stay text, so
// that evidence can show them; they compile to closures over counter columns.
import { WavesmithError } from '../../base/index.ts';

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string }
  | {
      readonly kind: 'binary';
      readonly op: '+' | '-' | '*' | '/';
      readonly left: Expression;
      readonly right: Expression;
    };

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_$][A-Za-z0-9_:.$]*)|([-+*/()]))/y;

/** Parses a formula; formulas are our own data, so a mistake is a programming error with a position. */
export function parseExpression(text: string): Expression {
  const tokens: { text: string; number: boolean; at: number }[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) throw bad(text, at);
    tokens.push({ text: match[1] ?? match[2] ?? match[3], number: match[1] !== undefined, at });
  }
  let next = 0;
  const sum = (): Expression => {
    let left = product();
    while (tokens[next]?.text === '+' || tokens[next]?.text === '-') {
      const op = tokens[next++].text as '+' | '-';
      left = { kind: 'binary', op, left, right: product() };
    }
    return left;
  };
  const product = (): Expression => {
    let left = atom();
    while (tokens[next]?.text === '*' || tokens[next]?.text === '/') {
      const op = tokens[next++].text as '*' | '/';
      left = { kind: 'binary', op, left, right: atom() };
    }
    return left;
  };
  const atom = (): Expression => {
    const token = tokens[next++];
    if (token === undefined) throw bad(text, text.length);
    if (token.text === '(') {
      const inner = sum();
      if (tokens[next++]?.text !== ')') throw bad(text, token.at);
      return inner;
    }
    if (token.number) return { kind: 'number', value: Number(token.text) };
    if (/^[A-Za-z_$]/.test(token.text)) return { kind: 'name', name: token.text };
    throw bad(text, token.at);
  };
  const result = sum();
  if (next < tokens.length) throw bad(text, tokens[next].at);
  return result;
}

function bad(text: string, at: number): WavesmithError {
  return new WavesmithError('profile/bad-formula', `The formula '${text}' is wrong at column ${at + 1}.`);
}

/** The distinct names a formula uses, in order. */
export function namesOf(expression: Expression, into: Set<string> = new Set()): Set<string> {
  if (expression.kind === 'name') into.add(expression.name);
  if (expression.kind === 'binary') {
    namesOf(expression.left, into);
    namesOf(expression.right, into);
  }
  return into;
}

/** Compiles a formula; `resolve` gives for each name a function of the row. NaN marks an unknown operand. */
export function compile(
  expression: Expression,
  resolve: (name: string) => (row: number) => number,
): (row: number) => number {
  if (expression.kind === 'number') {
    const { value } = expression;
    return () => value;
  }
  if (expression.kind === 'name') return resolve(expression.name);
  const left = compile(expression.left, resolve);
  const right = compile(expression.right, resolve);
  switch (expression.op) {
    case '+':
      return (row) => left(row) + right(row);
    case '-':
      return (row) => left(row) - right(row);
    case '*':
      return (row) => left(row) * right(row);
    case '/':
      return (row) => left(row) / right(row);
  }
}
