// Reads the pseudo-code of AMD's ISA documents: statements, expressions, bit slices, sized literals.

export type Node =
  | { readonly kind: 'number'; readonly value: bigint; readonly width: number; readonly type: 'I' | 'U' }
  | { readonly kind: 'float'; readonly value: number; readonly width: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly of: Node; readonly name: string }
  | { readonly kind: 'index'; readonly of: Node; readonly index: Node }
  | { readonly kind: 'slice'; readonly of: Node; readonly high: Node; readonly low: Node; readonly form: ':' | '+:' }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: 'cast'; readonly width: number; readonly type: string; readonly of: Node }
  | { readonly kind: 'unary'; readonly op: string; readonly of: Node }
  | { readonly kind: 'binary'; readonly op: string; readonly left: Node; readonly right: Node }
  | { readonly kind: 'choose'; readonly test: Node; readonly yes: Node; readonly no: Node }
  | { readonly kind: 'join'; readonly parts: readonly Node[] };

export type Statement =
  | { readonly kind: 'assign'; readonly targets: readonly Node[]; readonly op: string; readonly value: Node }
  | {
      readonly kind: 'declare';
      readonly name: string;
      readonly width: number;
      readonly type: string;
      readonly count: number;
    }
  | {
      readonly kind: 'lambda';
      readonly name: string;
      readonly parameters: readonly string[];
      readonly body: Statement[];
    }
  | { readonly kind: 'if'; readonly arms: readonly { readonly test: Node | undefined; readonly body: Statement[] }[] }
  | { readonly kind: 'for'; readonly name: string; readonly from: Node; readonly to: Node; readonly body: Statement[] }
  | { readonly kind: 'return'; readonly value: Node }
  | { readonly kind: 'break' };

const TOKEN =
  /\s+|\/\/[^\n]*|(\d+'(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)U?|\d+'[A-Z]+|0x[0-9a-fA-F]+(?:U?LL)?|\d+\.\d+F?|\d+(?:U?LL|U)?|[A-Za-z_]\w*|\*\*|\+:|<<|>>|<>|<=|>=|==|!=|&&|\|\||[+\-*]=|[{}()[\]:;,.?~!&|^<>=+\-*/])/gy;

export class PseudocodeError extends Error {}

function tokens(text: string): string[] {
  const list: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new PseudocodeError(`cannot read '${text.slice(at, at + 20)}'`);
    if (match[1] !== undefined) list.push(match[1]);
  }
  return list;
}

const LEVELS = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!=', '<>'],
  ['<', '<=', '>', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/'],
];
const ENDS = new Set(['endif', 'endfor', 'else', 'elsif', ')', undefined]);

/** Reads one operation's text. */
export function parsePseudocode(text: string): Statement[] {
  const list = tokens(text);
  let at = 0;
  const peek = (): string | undefined => list[at];
  const accept = (token: string): boolean => {
    if (list[at] !== token) return false;
    at++;
    return true;
  };
  const expect = (token: string): void => {
    if (!accept(token)) throw new PseudocodeError(`'${token}' expected before '${list.slice(at, at + 5).join(' ')}'`);
  };
  const word = (): string => {
    const token = list[at++];
    if (token === undefined) throw new PseudocodeError('ends early');
    return token;
  };

  function number(token: string): Node | undefined {
    const sized = /^(\d+)'(0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(U?)$/.exec(token);
    if (sized !== null) {
      const [, width, digits, suffix] = sized as unknown as [string, string, string, string];
      if (digits.includes('.')) return { kind: 'float', value: Number(digits), width: Number(width) };
      return { kind: 'number', value: BigInt(digits), width: Number(width), type: suffix === 'U' ? 'U' : 'I' };
    }
    if (/^\d+\.\d+F?$/.test(token))
      return { kind: 'float', value: Number.parseFloat(token), width: token.endsWith('F') ? 32 : 64 };
    const plain = /^(0x[0-9a-fA-F]+|\d+)(ULL|LL|U)?$/.exec(token);
    if (plain === null) return undefined;
    const suffix = plain[2] ?? '';
    const width = suffix.includes('LL') ? 64 : 32;
    return { kind: 'number', value: BigInt(plain[1] as string), width, type: suffix.startsWith('U') ? 'U' : 'I' };
  }

  function primary(): Node {
    const token = word();
    if (token === '(') {
      const inner = expression();
      expect(')');
      return inner;
    }
    if (token === '{') {
      const parts = [expression()];
      while (accept(',')) parts.push(expression());
      expect('}');
      return { kind: 'join', parts };
    }
    const cast = /^(\d+)'([A-Z]+)$/.exec(token);
    if (cast !== null) {
      expect('(');
      const of = expression();
      expect(')');
      return { kind: 'cast', width: Number(cast[1]), type: cast[2] as string, of };
    }
    const literal = number(token);
    if (literal !== undefined) return literal;
    if (!/^[A-Za-z_]/.test(token)) throw new PseudocodeError(`unexpected '${token}'`);
    if (!accept('(')) return { kind: 'name', name: token };
    const args: Node[] = [];
    if (!accept(')')) {
      do args.push(expression());
      while (accept(','));
      expect(')');
    }
    return { kind: 'call', name: token, args };
  }

  function postfix(): Node {
    let node = primary();
    for (;;) {
      if (accept('.')) node = { kind: 'member', of: node, name: word() };
      else if (accept('[')) {
        const high = expression();
        if (accept(':')) node = { kind: 'slice', of: node, high, low: expression(), form: ':' };
        else if (accept('+:')) node = { kind: 'slice', of: node, high, low: expression(), form: '+:' };
        else node = { kind: 'index', of: node, index: high };
        expect(']');
      } else return node;
    }
  }

  function unary(): Node {
    for (const op of ['-', '+', '~', '!']) if (accept(op)) return { kind: 'unary', op, of: unary() };
    const base = postfix();
    return accept('**') ? { kind: 'binary', op: '**', left: base, right: unary() } : base;
  }

  function level(n: number): Node {
    if (n === LEVELS.length) return unary();
    let left = level(n + 1);
    for (;;) {
      const op = peek();
      if (op === undefined || !(LEVELS[n] as string[]).includes(op)) return left;
      at++;
      left = { kind: 'binary', op, left, right: level(n + 1) };
    }
  }

  function expression(): Node {
    const test = level(0);
    if (!accept('?')) return test;
    const yes = expression();
    expect(':');
    return { kind: 'choose', test, yes, no: expression() };
  }

  function block(): Statement[] {
    const body: Statement[] = [];
    for (;;) {
      while (accept(';'));
      if (ENDS.has(peek())) return body;
      body.push(statement());
    }
  }

  function lambda(name: string): Statement {
    expect('(');
    const parameters: string[] = [];
    do parameters.push(word());
    while (accept(','));
    expect(')');
    expect('(');
    // A body is statements, or one expression.
    const start = at;
    let body: Statement[];
    try {
      body = block();
      if (peek() !== ')') throw new PseudocodeError('an expression');
    } catch {
      at = start;
      body = [{ kind: 'return', value: expression() }];
    }
    expect(')');
    return { kind: 'lambda', name, parameters, body };
  }

  function statement(): Statement {
    if (accept('if')) {
      const arms: { test: Node | undefined; body: Statement[] }[] = [];
      const test = expression();
      expect('then');
      arms.push({ test, body: block() });
      while (accept('elsif')) {
        const other = expression();
        expect('then');
        arms.push({ test: other, body: block() });
      }
      if (accept('else')) arms.push({ test: undefined, body: block() });
      expect('endif');
      return { kind: 'if', arms };
    }
    if (accept('for')) {
      const name = word();
      expect('in');
      const from = expression();
      expect(':');
      const to = expression();
      expect('do');
      const body = block();
      expect('endfor');
      return { kind: 'for', name, from, to, body };
    }
    if (accept('break')) return { kind: 'break' };
    if (accept('return')) return { kind: 'return', value: expression() };
    if (accept('declare')) {
      const name = word();
      expect(':');
      const type = /^(\d+)'([A-Z]+)$/.exec(word());
      if (type === null) throw new PseudocodeError('a type expected');
      let count = 1;
      if (accept('[')) {
        count = Number(word());
        expect(']');
      }
      return { kind: 'declare', name, width: Number(type[1]), type: type[2] as string, count };
    }
    const targets = [postfix()];
    const op = word();
    if (!/^[+\-*]?=$/.test(op)) throw new PseudocodeError(`an assignment expected, not '${op}'`);
    if (list[at] === 'lambda' && targets[0]?.kind === 'name') {
      at++;
      return lambda(targets[0].name);
    }
    let value = expression();
    while (accept('=')) {
      targets.push(value);
      value = expression();
    }
    return { kind: 'assign', targets, op, value };
  }

  const result = block();
  if (at < list.length) throw new PseudocodeError(`unexpected '${list.slice(at, at + 5).join(' ')}'`);
  return result;
}
