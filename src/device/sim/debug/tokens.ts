// The words of an expression.
import { badExpression } from './arithmetic.ts';
import type { Value } from './value.ts';

export interface Token {
  readonly kind: 'number' | 'name' | 'text' | 'operator' | 'end';
  readonly text: string;
  /** Of names: `$` stands before it, so that it is a register or a value of the session. */
  readonly isDollar: boolean;
}

const NUMBER = /0x[0-9a-f]+u?l{0,2}\b|0b[01]+\b|(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?(?:f|u?l{0,2})\b|'(?:\\.|[^\\'])'/;
const NAME = /\$?[a-z_]\w*(?:::[a-z_]\w*)*|\$\$?\d*/;
const OPERATOR = /->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()[\]{}?:.,]/;
/** A name that is no word, in quotes as gdb takes it: `'Box<float>::count'`. A letter in quotes is a number. */
const QUOTED_NAME = /'[a-z_][^'\\]+'/;
const TEXT = /"(?:\\.|[^\\"])*"/;
const TOKEN = new RegExp(
  `\\s*(?:(${NUMBER.source})|(${NAME.source}|${QUOTED_NAME.source})|(${OPERATOR.source})|(${TEXT.source}))`,
  'iy',
);

export function tokensOf(text: string): Token[] {
  const out: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw badExpression(text, `'${text.slice(from).trim().slice(0, 10)}' is not understood.`);
    const [, number, name, operator, quoted] = match;
    if (number !== undefined) out.push({ kind: 'number', text: number, isDollar: false });
    else if (name !== undefined) {
      const isNamed = /^\$[a-z_]/i.test(name);
      const text = name.startsWith("'") ? name.slice(1, -1) : isNamed ? name.slice(1) : name;
      out.push({ kind: 'name', text, isDollar: isNamed });
    } else if (quoted !== undefined) out.push({ kind: 'text', text: quoted, isDollar: false });
    else out.push({ kind: 'operator', text: operator as string, isDollar: false });
  }
  return out;
}

const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, '0': 0 };

/** The bytes of a text between quotes, with the 0 at its end. */
export function bytesOfText(text: string): Uint8Array {
  const letters = text.slice(1, -1).replace(/\\([0-7]{1,3}|x[0-9a-f]{1,2}|.)/gis, (_, c: string) => {
    if (/^x./i.test(c)) return String.fromCharCode(Number.parseInt(c.slice(1), 16));
    if (/^[0-7]/.test(c)) return String.fromCharCode(Number.parseInt(c, 8) & 255);
    const code = ESCAPES[c];
    return code === undefined ? c : String.fromCharCode(code);
  });
  return new TextEncoder().encode(`${letters}\0`);
}

/** The words of the type that a number of C has by the letters behind it: `7u`, `1ull`; those without are numbers of the machine. */
export function typeOfToken(text: string): readonly string[] | undefined {
  const suffix = /^(?:0x[0-9a-f]+|\d+)(u?l{0,2})$/i.exec(text)?.[1]?.toLowerCase() ?? '';
  if (suffix === '') return undefined;
  const isLong = suffix.includes('l') || numberOfToken(text) >= 1n << 32n;
  return [...(suffix.includes('u') ? ['unsigned'] : []), isLong ? 'long' : 'int'];
}

/** What a number, or a character between quotes, means. */
export function numberOfToken(text: string): Value {
  if (text.startsWith("'")) {
    const [, special, plain = ''] = /^'(?:\\(.)|(.))'$/su.exec(text) ?? [];
    return BigInt(special === undefined ? (plain.codePointAt(0) ?? 0) : (ESCAPES[special] ?? special.charCodeAt(0)));
  }
  const isHex = /^0x/i.test(text);
  const digits = isHex ? text.replace(/[ul]+$/i, '') : text.replace(/[uflUFL]+$/, '');
  if (isHex || /^0b/i.test(text)) return BigInt(digits);
  if (/^0[0-7]+$/.test(digits)) return BigInt(`0o${digits.slice(1)}`);
  return /^\d+$/.test(digits) && !/f$/i.test(text) ? BigInt(digits) : Number(digits);
}
