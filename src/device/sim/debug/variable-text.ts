// Values of the source program as text: as C would write them, or in a format of gdb.
import type { DebugType } from '../../../codeobject/index.ts';
import { escaped, formatted, formattedBits, letterText, shortest } from './format.ts';
import { elementAt, partsOf } from './source-variables.ts';
import { ELEMENTS, isMachineType, type Operand, type ShownVariable, scalarOf } from './typed.ts';
import { bitsOf, type Value } from './value.ts';

/** Letters that are shown of a text at most. */
const MOST_LETTERS = 200;

/** An array of letters as text: of signed ones always, of bytes when it is one. The zeros at its end are left out. */
function textOf({ type }: ShownVariable, bytes: Uint8Array, room: Room): string | undefined {
  const letters = type.of?.();
  if (letters?.kind !== 'char') return undefined;
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  const whole = bytes.subarray(0, end);
  const isText = whole.every((byte) => (byte >= 32 && byte < 127) || byte === 9 || byte === 10);
  if (end === 0 || !(isText || letters.isSigned)) return undefined;
  const shown = whole.subarray(0, room.left);
  room.left -= shown.length;
  return `${escaped(shown)}${shown.length < end ? '...' : ''}`;
}

/** The text that a pointer to letters points to. */
function textBehind(variable: ShownVariable): string {
  if (variable.type.of?.().kind !== 'char') return '';
  const bytes: number[] = [];
  for (let i = 0n; bytes.length < MOST_LETTERS; i++) {
    const byte = elementAt(variable, i)?.bytes?.[0] ?? 255;
    if (byte === 0) return bytes.length === 0 ? '' : ` ${escaped(Uint8Array.from(bytes))}`;
    if (byte !== 9 && byte !== 10 && (byte < 32 || byte > 126)) return '';
    bytes.push(byte);
  }
  return ` ${escaped(Uint8Array.from(bytes))}…`;
}

/** So many equal elements in a row are shown as one, and count as so many. */
const REPEATS = 10;

/** How a value is shown. */
interface Room {
  /** Elements that may still be shown. */
  left: number;
  /** Members of structs stand on lines of their own, this far from the left; undefined: all is one line. */
  readonly indent?: number | undefined;
}

/** The elements of an array: `1, 2, 0 <repeats 14 times>`, `...` where there are more than are shown. */
function elementTexts(variable: ShownVariable, format: string, room: Room): string {
  const parts = partsOf(variable);
  const texts: string[] = [];
  let at = 0;
  while (at < parts.length && room.left > 0) {
    const part = parts[at] as ShownVariable;
    const isNested = part.type.kind === 'array';
    let end = at + 1;
    while (end < parts.length && isSameValue(part, parts[end] as ShownVariable)) end++;
    const times = end - at;
    const isRepeated = times >= REPEATS;
    if (!isNested) room.left -= isRepeated ? REPEATS : 1;
    texts.push(variableText(part, format, room) + (isRepeated ? ` <repeats ${times} times>` : ''));
    at = isRepeated ? end : at + 1;
  }
  return `${texts.join(', ')}${at < variable.type.count ? '...' : ''}`;
}

function isSameValue(a: ShownVariable, b: ShownVariable): boolean {
  const { bytes } = b;
  return a.bytes !== undefined && a.bytes.length === bytes?.length && a.bytes.every((byte, i) => byte === bytes[i]);
}

/** The members of a struct; those without a name stand for themselves. */
function structText(variable: ShownVariable, format: string, room: Room): string {
  const { indent } = room;
  const parts = partsOf(variable).map((part) => {
    const within: Room = indent === undefined ? room : { left: room.left, indent: indent + 2 };
    const text = variableText(part, format, within);
    room.left = within.left;
    return `${part.name === '(anonymous)' ? '' : `${part.name} = `}${text}`;
  });
  if (indent === undefined) return `{${parts.join(', ')}}`;
  const blanks = ' '.repeat(indent);
  return `{\n${parts.map((part) => `${blanks}  ${part}`).join(',\n')}\n${blanks}}`;
}

/**
 * A variable as text, as C would write it; `format`: a letter of gdb for its numbers; `room`: how many elements of arrays it shows.
 */
export function variableText(variable: ShownVariable, format = '', room: Room = { left: ELEMENTS }): string {
  const { type, bytes, why } = variable;
  if (bytes === undefined) return `(${why})`;
  const value = scalarOf(variable);
  if (format === 's') return variableText(variable, '', room);
  const letters = type.kind === 'array' && format === '' ? textOf(variable, bytes, room) : undefined;
  if (letters !== undefined) return letters;
  if (value === undefined) {
    if (type.kind === 'unknown') return '(a type that is not known)';
    if (type.kind === 'array') return `{${elementTexts(variable, format, room)}}`;
    return structText(variable, format, room);
  }
  if (isMachineType(type) && typeof value === 'bigint')
    return formatted(/[xtozuf]/.test(format) ? bitsOf(bytes) : value, format);
  if (format !== '') return formattedBits(value, bitsOf(bytes), type.bytes, format);
  if (type.kind === 'pointer') return `0x${BigInt(value).toString(16)}${textBehind(variable)}`;
  if (type.kind === 'bool') return value === 0n ? 'false' : value === 1n ? 'true' : String(value);
  if (type.kind === 'enum') return enumText(type, value);
  if (typeof value === 'number' && type.bytes < 8) return shortest(value);
  return type.kind === 'char' && typeof value === 'bigint' ? letterText(value) : String(value);
}

/** The name of a value; of flags, the names of those that are set, as gdb shows them: `(A | C)`. */
function enumText({ names }: DebugType, value: Value): string {
  const own = names.get(Number(value));
  if (own !== undefined || typeof value === 'number' || value <= 0n) return own ?? String(value);
  const flags = [...names].map(([bits, name]) => ({ bits: BigInt(bits), name })).filter(({ bits }) => bits !== 0n);
  let all = 0n;
  for (const { bits } of flags) {
    // Numbers that share bits are no flags.
    if (bits < 0n || (all & bits) !== 0n) return String(value);
    all |= bits;
  }
  const set = flags.filter(({ bits }) => (value & bits) === bits);
  const rest = set.reduce((left, { bits }) => left & ~bits, value);
  if (set.length === 0) return String(value);
  const unknown = rest === 0n ? [] : [`unknown: 0x${rest.toString(16)}`];
  return `(${[...set.map(({ name }) => name), ...unknown].join(' | ')})`;
}

/** How a session shows values: `set print elements`, `set print pretty`. */
export interface Shown {
  readonly elements: number;
  readonly isPretty: boolean;
}

/** What an expression gives, as text: in a letter of gdb, or as its type is shown. */
export function operandText(operand: Operand | undefined, format = '', shown: Partial<Shown> = {}): string {
  if (typeof operand !== 'object') return formatted(operand, format);
  const { elements = ELEMENTS, isPretty = false } = shown;
  const note = operand.note === undefined ? '' : ` (${operand.note})`;
  return `${variableText(operand, format, { left: elements, indent: isPretty ? 0 : undefined })}${note}`;
}

/** The same, numbers of the machine in decimal alone. */
export function plainText(operand: Operand): string {
  if (typeof operand !== 'object') return operandText(operand, 'u');
  return variableText(operand, isMachineType(operand.type) && operand.type.kind === 'integer' ? 'u' : '');
}
