// Types as C names them, and conversions to them: `(float)x`, `*(int *)p`, `sizeof(double)`.
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { elementOf, machineType, plainType } from './typed.ts';
import { fromBits, type Value, valueType } from './value.ts';

/** Element types by their names in C, words in alphabetical order. Sources: System V ABI of x86-64 and AMDGPU, HIP's half types. */
const C_TYPES: Readonly<Record<string, string>> = {
  char: 'i8',
  'char signed': 'i8',
  'char unsigned': 'u8',
  bool: 'u8',
  _Bool: 'u8',
  short: 'i16',
  'short unsigned': 'u16',
  int: 'i32',
  signed: 'i32',
  'int signed': 'i32',
  unsigned: 'u32',
  'int unsigned': 'u32',
  long: 'i64',
  'int long': 'i64',
  'long unsigned': 'u64',
  'int long unsigned': 'u64',
  'long long': 'i64',
  'long long unsigned': 'u64',
  size_t: 'u64',
  float: 'f32',
  double: 'f64',
  half: 'f16',
  __half: 'f16',
  _Float16: 'f16',
  __bf16: 'bf16',
};

/** What C calls them. */
const C_NAMES: Readonly<Record<string, string>> = {
  u16: 'unsigned short',
  i32: 'int',
  u32: 'unsigned int',
  i64: 'long',
  u64: 'unsigned long',
};

/** A word that may stand in the name of a type, behind `const` too. */
export function isTypeWord(word: string): boolean {
  return /^(?:const|volatile|void)$/.test(word) || typeNamed(word) !== undefined;
}

const made = new Map<string, DebugType>();

function typeNamed(name: string): DebugType | undefined {
  const known = made.get(name);
  if (known !== undefined) return known;
  const sized = /^u?int(8|16|32|64)_t$/.test(name)
    ? name.replace('int', name[0] === 'u' ? '' : 'i').slice(0, -2)
    : undefined;
  const isOfC = sized !== undefined || Object.hasOwn(C_TYPES, name);
  // `i1` and `index` are names of variables.
  if (!isOfC && !/^(?:[iuf](?:8|16|32|64)|bf16|f8E\w+)$/i.test(name)) return undefined;
  const element = valueType(sized ?? (isOfC ? (C_TYPES[name] as string) : name));
  if (element === undefined) return undefined;
  const type = isOfC ? ofC(name, element) : machineType(element);
  made.set(name, type);
  return type;
}

function ofC(name: string, element: ElementType): DebugType {
  const kind = /char/.test(name)
    ? 'char'
    : /bool/i.test(name)
      ? 'bool'
      : element.kind === 'integer'
        ? 'integer'
        : 'float';
  const shown = name.includes('char') ? name.split(' ').reverse().join(' ') : (C_NAMES[element.name] ?? name);
  return plainType(shown, kind, element);
}

/** The type that words mean; undefined for `void` and for what is none. */
export function typeOfWords(words: readonly string[]): DebugType | undefined {
  return typeNamed(
    words
      .filter((word) => word !== 'const' && word !== 'volatile')
      .sort()
      .join(' '),
  );
}

/** A value converted as C converts it: floats to integers are cut off, integers wrap, floats are rounded to the type. */
export function convert(value: Value, type: DebugType, text: string): Value {
  const element = elementOf(type);
  if (element === undefined) {
    throw new WavesmithError('run/bad-expression', `'${text}': nothing is converted to ${type.name}.`);
  }
  const bits = element.storageBits;
  if (element.kind === 'integer') {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new WavesmithError('run/bad-expression', `'${text}': ${value} is no integer.`);
    }
    if (type.kind === 'bool') return value === 0n || value === 0 ? 0n : 1n;
    return fromBits(BigInt.asUintN(bits, typeof value === 'number' ? BigInt(Math.trunc(value)) : value), element);
  }
  const view = new DataView(new ArrayBuffer(8));
  element.write(view, 0, Number(value));
  return element.exact(view, 0);
}
