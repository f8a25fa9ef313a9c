// Types as C names them, and conversions to them: `(float)x`, `*(int *)p`, `sizeof(double)`.
import { type ElementType, WavesmithError } from '../../../base/index.ts';
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

/** A word that may stand in the name of a type, behind `const` too. */
export function isTypeWord(word: string): boolean {
  return /^(?:const|volatile|void)$/.test(word) || elementNamed(word) !== undefined;
}

const elementNamed = (name: string): ElementType | undefined =>
  Object.hasOwn(C_TYPES, name)
    ? valueType(C_TYPES[name] as string)
    : valueType(
        /^u?int(8|16|32|64)_t$/.test(name) ? name.replace('int', name[0] === 'u' ? '' : 'i').slice(0, -2) : name,
      );

/** The type that words mean; undefined for `void` and for what is none. */
export function typeOfWords(words: readonly string[]): ElementType | undefined {
  return elementNamed(
    words
      .filter((word) => word !== 'const' && word !== 'volatile')
      .sort()
      .join(' '),
  );
}

/** A value converted as C converts it: floats to integers are cut off, integers wrap, floats are rounded to the type. */
export function convert(value: Value, type: ElementType, text: string): Value {
  const bits = type.storageBits;
  if (type.kind === 'integer') {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new WavesmithError('run/bad-expression', `'${text}': ${value} is no integer.`);
    }
    return fromBits(BigInt.asUintN(bits, typeof value === 'number' ? BigInt(Math.trunc(value)) : value), type);
  }
  const view = new DataView(new ArrayBuffer(8));
  type.write(view, 0, Number(value));
  return type.exact(view, 0);
}
