// Commands that print values: `print`, `printf`, `echo`, `display`, in formats of gdb.
import { WavesmithError } from '../../../base/index.ts';
import { UnknownName } from './arithmetic.ts';
import { partsBehind, variableAt } from './assign.ts';
import { bad, type CommandLine, type CommandSession, MOST, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { examined, textBytesAt } from './examine.ts';
import { formatted } from './format.ts';
import { evaluate, operandOf } from './look.ts';
import { hasAssignment, set } from './set-command.ts';
import { addressOf, codeAt, codeText } from './type-commands.ts';
import { numberOf, type Operand } from './typed.ts';
import type { Value } from './value.ts';
import { operandText, plainText } from './variable-text.ts';

const FORMATS = 'x d u t f o c a z s';

/** `print[/F] EXPRESSION`, `print EXPRESSION@N`; an assignment is made, and `&NAME` is where a variable is. */
export function printCommand(session: CommandSession, { rest, format }: CommandLine): undefined {
  const d = session.debugger;
  if (rest === '' && d.remembered.value('$') === undefined) {
    throw bad('An expression is missing.', 'For example: print v3 + 1, print/f v3, print *f32(x + 4).');
  }
  if (rest === '') return show(session, [`$ = ${shownValue(d, '$', format).text}`]);
  if (hasAssignment(rest)) return set(session, { words: [], rest, format: '' });
  if (/^&\s*[A-Za-z_][\w.[\]>-]*$/.test(rest) && codeAt(d, rest) === undefined) {
    return show(session, [`${rest} = ${addressOf(session, rest.slice(1).trim())}`]);
  }
  const { text, value } = shownValue(d, rest, format);
  if (value !== undefined) d.remembered.keep(value);
  return show(session, [`${rest} = ${text}`]);
}

/** What an expression is, as text; its value where it is one number. */
export function shownValue(
  d: Debugger,
  text: string,
  format: string,
): { readonly text: string; readonly value: Operand | undefined } {
  const letter = format === '' ? '' : (/^[a-z]$/.exec(format)?.[0] ?? '?');
  if (letter !== '' && !FORMATS.includes(letter)) {
    throw bad(`'/${format}' is no format of a value.`, `Formats: ${FORMATS}; 'x/${format}' shows memory.`);
  }
  const several = /^(.+)@([^@"]+)$/s.exec(text.trim());
  if (several !== null) {
    const [, first = '', times = ''] = several;
    return { text: elements(d, first, evaluate(d, times), letter), value: undefined };
  }
  const code = letter === '' || letter === 'a' ? codeAt(d, text) : undefined;
  if (code !== undefined) return { text: codeText(d, code), value: BigInt(code.address) };
  const value = operandOf(d, text);
  // Memory that is not there is an error; a variable without a value is shown so.
  if (typeof value === 'object' && value.bytes === undefined && value.home?.kind === 'memory') numberOf(value);
  return { text: operandText(value, letter, d.remembered), value };
}

/** `EXPRESSION@N`: so many of its kind, one behind the other in memory. */
function elements(d: Debugger, text: string, times: Value, format: string): string {
  const n = Number(times);
  if (!(Number.isInteger(n) && n >= 1 && n <= MOST))
    throw bad(`'@${times}' is not a number of elements from 1 to ${MOST}.`);
  const first = variableAt(d, text);
  if (first === undefined) {
    throw bad(
      `'${text.trim()}' is not in memory, so nothing stands behind it.`,
      "'registers v0-3' shows several registers.",
    );
  }
  const all = partsBehind(first, n).map((one) => (format === '' ? plainText(one) : operandText(one, format)));
  return `{${all.join(', ')}}`;
}

/** Whether a format is one of `x`: with a count, a size, or for code or text. */
const isOfMemory = (format: string): boolean => /\d|[ibhwg]/.test(format) || format === 's';

/** Throws when an expression has a name that means nothing here. That it has no value now is no error. */
export function refuseUnknownNames(d: Debugger, text: string): void {
  try {
    shownValue(d, text, '');
  } catch (error) {
    if (error instanceof UnknownName) throw error;
    if (!(error instanceof WavesmithError)) throw error;
  }
}

/** Values that are shown at each stop where their names mean something; `display/i PLACE` shows instructions. */
export function displayText(session: CommandSession): string[] {
  const d = session.debugger;
  const shown = session.displays.filter((one) => one.isOff !== true);
  return shown.flatMap(({ id, text, format }) => {
    const name = `${id}: ${format === '' ? '' : `/${format} `}${text}`;
    try {
      if (!isOfMemory(format)) return `${name} = ${shownValue(d, text, format).text}`;
      return [`${name}:`, ...examined(session, text, format, undefined).lines].join('\n');
    } catch (error) {
      // A variable of another function is not there.
      if (error instanceof UnknownName) return [];
      if (!(error instanceof WavesmithError)) throw error;
      return `${name} = (${error.message})`;
    }
  });
}

/** Escapes of C in a text. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', a: '', e: '\u001b', '\\': '\\', '"': '"' };
const unescaped = (text: string): string => text.replace(/\\(.)/gs, (_, c: string) => ESCAPES[c] ?? c);

/** `echo TEXT`. */
export function echo(session: CommandSession, { rest }: CommandLine): undefined {
  return show(session, [unescaped(rest).replace(/\n$/, '')]);
}

/** `printf "FORMAT", EXPRESSION, …`: conversions %d %i %u %x %X %o %c %p %f %g %e %s %%, with width and precision. */
export function printf(session: CommandSession, { rest }: CommandLine): undefined {
  const [, format, tail = ''] = /^"((?:[^"\\]|\\.)*)"\s*(?:,\s*(.*))?$/s.exec(rest) ?? [];
  if (format === undefined) throw bad('A format is missing.', 'For example: printf "%d %f\\n", s4, f32(v3).');
  const values = listed(tail);
  let at = 0;
  const text = unescaped(format).replace(
    /%([-0 +#]*)(\d{0,3})(?:\.(\d{1,2}))?(?:hh|h|ll|l|z)?(.)/gs,
    (all, flags: string, width: string, precision: string | undefined, kind: string) => {
      if (kind === '%') return '%';
      const expression = values[at++];
      if (expression === undefined) throw bad(`There is no value for '${all}'.`);
      const { debugger: d } = session;
      const shown = kind === 's' ? textIn(d, expression) : converted(evaluate(d, expression), kind, precision, all);
      if (flags.includes('-')) return shown.padEnd(Number(width));
      const sign = flags.includes('0') && /^[-+]/.test(shown) ? (shown[0] as string) : '';
      return sign + shown.slice(sign.length).padStart(Number(width) - sign.length, flags.includes('0') ? '0' : ' ');
    },
  );
  if (at < values.length) throw bad(`'${values[at]}' has no place in the format.`);
  return show(session, [text.replace(/\n$/, '')]);
}

/** `%s`: the text that an array of letters is, or that a pointer to letters points to; of others the number. */
function textIn(d: Debugger, expression: string): string {
  const operand = operandOf(d, expression);
  const ofLetters = typeof operand === 'object' && operand.type.of?.().kind === 'char';
  if (!ofLetters || operand.bytes === undefined) return String(numberOf(operand));
  if (operand.type.kind === 'pointer') return decoded(textBytesAt(d, 'flat', numberOf(operand) as bigint));
  const end = operand.bytes.indexOf(0);
  return decoded(end < 0 ? operand.bytes : operand.bytes.subarray(0, end));
}

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function converted(value: Value, kind: string, precision: string | undefined, all: string): string {
  const whole = (): bigint =>
    typeof value === 'bigint' ? value : BigInt(Number.isFinite(value) ? Math.trunc(value) : 0);
  const unsigned = (): bigint => (whole() < 0n ? BigInt.asUintN(64, whole()) : whole());
  const digits = precision === undefined ? 6 : Number(precision);
  switch (kind) {
    case 'd':
    case 'i':
      return formatted(whole(), 'd');
    case 'u':
      return String(unsigned());
    case 'x':
      return unsigned().toString(16);
    case 'X':
      return unsigned().toString(16).toUpperCase();
    case 'p':
      return `0x${unsigned().toString(16)}`;
    case 'o':
      return unsigned().toString(8);
    case 'c':
      return String.fromCharCode(Number(BigInt.asUintN(8, whole())));
    case 'f':
      return Number(value).toFixed(digits);
    case 'e':
      return Number(value).toExponential(digits);
    case 'g':
      return String(Number(Number(value).toPrecision(Math.max(1, digits))));
    default:
      throw bad(`'${all}' is no conversion.`, 'Conversions: %d %i %u %x %X %o %c %p %f %g %e %s %%.');
  }
}

/** Expressions between commas that are in no parentheses. */
function listed(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if ('([{'.includes(text[i] as string)) depth++;
    else if (')]}'.includes(text[i] as string)) depth--;
    else if (text[i] === ',' && depth === 0) {
      out.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  if (text.trim() !== '') out.push(text.slice(from).trim());
  return out;
}
