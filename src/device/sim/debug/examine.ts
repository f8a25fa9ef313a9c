// `x`: memory, code and text in the formats of gdb. `display` shows the same at each stop.
import { elementType } from '../../../base/index.ts';
import { hex } from '../tools/lanes.ts';
import { bad, type CommandLine, type CommandSession, count, MOST, place, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { escaped } from './format.ts';
import { codeAround, disassembly, dump, evaluate, examine } from './look.ts';
import { addressNumber, scopeOf } from './scope.ts';
import { codeAt } from './type-commands.ts';
import { flatAddress, inMemory, machineType, type Operand, pointerTo, type SpaceName, typedValue } from './typed.ts';
import { valueType } from './value.ts';

/** `memory ADDRESS [BYTES]`. */
export function memory(session: CommandSession, [where, bytes]: readonly string[]): undefined {
  if (where === undefined) throw bad('An address is missing.');
  const d = session.debugger;
  const value = evaluate(d, where);
  if (typeof value === 'number') throw bad(`'${where}' is a float, not an address.`);
  const address = addressNumber(value);
  const argument = d.options
    .arguments()
    .find((a) => a.name === where || `arg${d.options.arguments().indexOf(a)}` === where);
  if (argument !== undefined && argument.address === undefined) throw bad(`Argument ${where} is not a buffer.`);
  const region = d.memory?.find(address, 1);
  if (region === undefined)
    throw bad(`Nothing is allocated at ${hex(address)}.`, "'info arguments' shows the buffers.");
  const offset = address - region.base;
  const size = Math.min(count(bytes, 64, MOST, 'bytes'), region.size - offset);
  return show(session, [`${region.label}+${offset}`, ...dump(region.bytes.subarray(offset, offset + size), address)]);
}

const UNITS: Readonly<Record<string, number>> = { b: 8, h: 16, w: 32, g: 64 };

/** The space that `lds + 16` or `scratch` names, and the rest as an offset in it; an argument of that name is meant by it. */
function spaceNamed(
  d: Debugger,
  text: string,
): { readonly space: 'lds' | 'scratch'; readonly offset: string } | undefined {
  const [, name, offset = ''] = /^\s*(lds|scratch)\s*(?:\+\s*(.+)|$)/i.exec(text) ?? [];
  if (name === undefined || d.options.arguments().some((a) => a.name === name)) return undefined;
  return { space: name.toLowerCase() as 'lds' | 'scratch', offset: offset === '' ? '0' : offset };
}

/** The address that an expression is. */
export function addressIn(d: Debugger, text: string): bigint {
  const value = evaluate(d, text);
  if (typeof value === 'number') throw bad(`'${text}' is a float, not an address.`);
  return value;
}

/** `x/NFU EXPRESSION`: N elements; F of x d u f i; U of b h w g. Without a format: `memory`. */
export function examineCommand(session: CommandSession, { rest, format }: CommandLine): undefined {
  if (format === '' && rest !== '' && spaceNamed(session.debugger, rest) === undefined) {
    memory(session, [rest]);
    session.examined = { place: `(${rest}) + 64`, letters: 'xw' };
    return undefined;
  }
  const d = session.debugger;
  const { lines, next, last, value } = examined(session, rest, format, session.examined);
  session.examined = next;
  // `$_` is the address that was shown last, `$__` what stands there.
  d.remembered.variables.set('_', last);
  if (value === undefined) d.remembered.variables.delete('__');
  else d.remembered.variables.set('__', value);
  return show(session, lines);
}

/** What `x` shows. */
interface Examined {
  readonly lines: readonly string[];
  /** Where `x` alone goes on, and the letters of the format. */
  readonly next: NonNullable<CommandSession['examined']>;
  /** The address that was shown last, and what stands there where that is a number. */
  readonly last: Operand;
  readonly value: Operand | undefined;
}

/** What stands at an address; without one, behind what was shown `before`. */
export function examined(
  session: CommandSession,
  asked: string,
  format: string,
  before: CommandSession['examined'],
): Examined {
  const d = session.debugger;
  const match = /^(-?)(\d{0,5})([a-z]*)$/i.exec(format);
  const rest = asked === '' ? (before?.place ?? '') : asked;
  if (match === null || rest === '') {
    throw bad(
      match === null ? `'/${format}' is no format.` : 'An address is missing.',
      'Write x/16xw ADDRESS: a count, a format (x d u f t o c a s i), a size (b h w g).',
    );
  }
  // Without letters those of the last time.
  const letters = ((match[3] ?? '') === '' ? (before?.letters ?? '') : (match[3] as string)).toLowerCase();
  const isBefore = match[1] === '-';
  const unknown = [...letters].find((c) => !'xdufotcazsibhwg'.includes(c));
  if (unknown !== undefined)
    throw bad(`'${unknown}' is neither a format nor a size.`, 'Formats: x d u f t o c a s i; sizes: b h w g.');
  const { space, offset } = spaceNamed(d, rest) ?? { space: 'flat', offset: rest };
  const n = count(match[2] === '' ? undefined : match[2], 1, MOST, 'elements');
  if (letters.includes('s') && isBefore) throw bad('Texts have no fixed size: only those behind an address are shown.');
  if (letters.includes('s')) {
    let at = addressIn(d, offset);
    let last = at;
    const lines: string[] = [];
    for (let i = 0; i < n; i++) {
      const { text, size } = textAt(d, space, at);
      lines.push(`${hex(addressNumber(at)).padStart(16)}  ${text}`);
      last = at;
      at += BigInt(size);
    }
    return { lines, next: { place: placeIn(space, at), letters }, last, value: undefined };
  }
  if (letters.includes('i')) {
    const from = codeAt(d, rest)?.address ?? place(session, rest.trim());
    if (isBefore) {
      const shown = codeAround(d, from, n, 0);
      if (shown.length === 0) throw bad(`No instruction stands before ${hex(from)}.`);
      const first = shown[0]?.address ?? from;
      const next = { place: `*${hex(first)}`, letters };
      return { lines: disassembly(d, from, n, 0), next, last: BigInt(first), value: undefined };
    }
    const { address, size } = codeAround(d, from, 0, n).at(-1) ?? { address: from, size: 0 };
    const next = { place: `*${hex(address + size)}`, letters };
    return { lines: disassembly(d, from, 0, n), next, last: BigInt(address), value: undefined };
  }
  const unit = letters.includes('c') ? 'b' : letters.includes('a') ? 'g' : 'w';
  const bits = UNITS[[...letters].find((c) => c in UNITS) ?? unit] as number;
  const kind = letters.includes('f') ? 'f' : letters.includes('d') ? 'i' : 'u';
  const type = valueType(`${kind}${kind === 'f' ? Math.max(16, bits) : bits}`) ?? elementType('u32');
  const [shown = 'x'] = /[dufotca]/.exec(letters) ?? [];
  const size = BigInt(type.storageBits / 8);
  const value = addressIn(d, offset) - (isBefore ? BigInt(n) * size : 0n);
  const lines = examine(d, space, value, n, type, 'duf'.includes(shown) ? '' : shown);
  const next = value + BigInt(n) * size;
  const { load, lane } = scopeOf(d.selected, d.lane, d);
  const last = inMemory({ kind: 'local', wave: d.selected, lane, load }, '', machineType(type), space, next - size);
  return {
    lines,
    next: { place: placeIn(space, next), letters },
    last: typedValue(pointerTo(last.type), BigInt(flatAddress(last) ?? 0), { load, lane }),
    value: last.bytes === undefined ? undefined : last,
  };
}

const placeIn = (space: SpaceName, at: bigint): string => (space === 'flat' ? hex(Number(at)) : `${space} + ${at}`);

/** Letters of a text that are read at most. */
const MOST_LETTERS = 200;

/** The bytes of the text at an address, without the 0 at its end. */
export function textBytesAt(d: Debugger, space: SpaceName, address: bigint): Uint8Array {
  const { load } = scopeOf(d.selected, d.lane, d);
  const bytes: number[] = [];
  while (bytes.length < MOST_LETTERS) {
    const [byte = 0] = load(space, address + BigInt(bytes.length), 1, d.lane);
    if (byte === 0) break;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** `x/s ADDRESS`: text up to its end, and the bytes that it takes. */
function textAt(d: Debugger, space: SpaceName, address: bigint): { readonly text: string; readonly size: number } {
  const bytes = textBytesAt(d, space, address);
  const isWhole = bytes.length < MOST_LETTERS;
  return { text: `${escaped(bytes)}${isWhole ? '' : '…'}`, size: bytes.length + (isWhole ? 1 : 0) };
}
