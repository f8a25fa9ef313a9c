// Sets variables of the source program and memory: where their bytes are, in registers or memory of the selected lane.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import type { Wave } from '../state/wave.ts';
import { isTrue, truth } from './arithmetic.ts';
import { bytesOf, setBytes, setRegister } from './change.ts';
import type { Debugger } from './debugger.ts';
import { evaluate, operandOf } from './look.ts';
import { elementOf, inMemory, MOST_BYTES, type ShownVariable } from './typed.ts';
import { bitsOf, type Value } from './value.ts';

/** What `sum`, `q.b[1]`, `p->next` or `*(p + 1)` means; undefined when it is a number of the machine. */
export function variableAt(d: Debugger, text: string): ShownVariable | undefined {
  const operand = operandOf(d, text);
  return typeof operand === 'object' ? operand : undefined;
}

/** Sets a variable, or a part of one, to the value of an expression or the name of an enumerator. */
export function setVariable(d: Debugger, w: Wave, variable: ShownVariable, text: string, name = variable.name): void {
  const { type, bytes, home, why } = variable;
  if (bytes === undefined || home === undefined) {
    throw new WavesmithError('run/bad-value', `'${name}' cannot be set here: ${why || 'it is no variable'}.`);
  }
  const value = dataOf(d, name, type, text);
  const { field } = variable;
  const data = field === undefined ? value : fieldData(field, value);
  if (home.kind === 'registers') {
    const whole = new Uint8Array(4 * home.names.length);
    home.names.forEach((register, i) => {
      new DataView(whole.buffer).setUint32(4 * i, Number(evaluateBits(d, register)), true);
    });
    whole.set(data, home.offset);
    home.names.forEach((register, i) => {
      setRegister(d, w, register, bitsOf(whole.subarray(4 * i, 4 * i + 4)));
    });
  } else {
    setBytes(d, w, home.space, home.address, data);
  }
  bytes.set(value);
}

/** So many of a variable's kind from it on, one behind the other in memory. */
export function partsBehind(variable: ShownVariable, n: number): ShownVariable[] {
  const { name, type, home, why } = variable;
  if (home?.kind !== 'memory' || type.bytes === 0) {
    throw new WavesmithError('run/bad-expression', `'${name}' is not in memory, so nothing stands behind it.`, {
      hint: why || undefined,
    });
  }
  const { space, address } = home;
  return Array.from({ length: n }, (_, i) =>
    inMemory(variable, `[${i}]`, type, space, BigInt(address + i * type.bytes)),
  );
}

function evaluateBits(d: Debugger, register: string): bigint {
  return evaluate(d, `$${register}`) as bigint;
}

/** The bytes that hold a bit field, with another value in it. */
function fieldData({ holder, first, count }: NonNullable<ShownVariable['field']>, value: Uint8Array): Uint8Array {
  const mask = ((1n << BigInt(count)) - 1n) << BigInt(first);
  const bits = (bitsOf(holder) & ~mask) | ((bitsOf(value) << BigInt(first)) & mask);
  return Uint8Array.from(holder, (_, i) => Number((bits >> BigInt(8 * i)) & 0xffn));
}

/** Whether a text names an enumerator, with or without the namespaces and classes around it. */
const isNameOf = (label: string, text: string): boolean => label === text || label.endsWith(`::${text}`);

/** A text between quotes, or one letter. */
const PIECE = /"(?:\\.|[^\\"])*"|'(?:\\.|[^\\'])*'|./gs;

/** What stands between the commas of `{1, {2, 3}, f(4, 5)}`, which are in no inner brackets; undefined for what is in no braces. */
function listed(text: string): string[] | undefined {
  const [, inside] = /^\s*\{(.*)\}\s*$/s.exec(text) ?? [];
  if (inside === undefined) return undefined;
  const all = [''];
  let depth = 0;
  for (const [piece] of inside.matchAll(PIECE)) {
    if ('([{'.includes(piece)) depth++;
    else if (')]}'.includes(piece)) depth--;
    if (piece === ',' && depth === 0) all.push('');
    else all.push(`${all.pop() ?? ''}${piece}`);
  }
  return all;
}

/** The bytes of an array or a vector whose elements are listed. */
function dataOfElements(d: Debugger, name: string, { of, count }: DebugType, texts: readonly string[]): Uint8Array {
  if (texts.length !== count) {
    throw new WavesmithError('run/bad-value', `'${name}' has ${count} elements, and ${texts.length} are listed.`);
  }
  const element = of?.() as DebugType;
  const data = new Uint8Array(count * element.bytes);
  texts.forEach((text, i) => {
    data.set(dataOf(d, `${name}[${i}]`, element, text), i * element.bytes);
  });
  return data;
}

/** Whether elements stand one behind the other in whole bytes, all of which are read: vectors of truth values have bits. */
const hasElements = ({ kind, of, count, bytes }: DebugType): boolean =>
  kind === 'array' && of !== undefined && count > 0 && count * of().bytes <= Math.min(bytes, MOST_BYTES);

/** The bytes of a value of a type; a struct's are those of another one of its type, an array's too, or those of its elements in braces. */
function dataOf(d: Debugger, name: string, type: DebugType, text: string): Uint8Array {
  const element = elementOf(type);
  if (element === undefined) {
    const texts = listed(text);
    if (texts !== undefined && hasElements(type)) return dataOfElements(d, name, type, texts);
    const other = texts === undefined ? operandOf(d, text) : undefined;
    if (typeof other === 'object' && other.type.name === type.name && other.bytes?.length === type.bytes)
      return other.bytes;
    throw new WavesmithError('run/bad-value', `'${name}' of type ${type.name} cannot be set as a whole.`, {
      hint: 'Set its members or elements one by one.',
    });
  }
  const trimmed = text.trim();
  const enumerator =
    type.kind === 'enum' ? [...type.names].find(([, label]) => isNameOf(label, trimmed))?.[0] : undefined;
  const value: Value = enumerator === undefined ? evaluate(d, trimmed) : BigInt(enumerator);
  return bytesOf(type.kind === 'bool' ? truth(isTrue(value)) : value, element);
}
