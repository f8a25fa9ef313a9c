// Operators of C. Operands with a type of the source program are converted as C converts them, and integers wrap; numbers of the machine are
// integers of any size and floats of 64 bits. What is added to a pointer counts what it points to.
// Source: ISO C, "Usual arithmetic conversions" and "Additive operators".
import { WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { convert, typeOfWords } from './cast.ts';
import { elementAt } from './source-variables.ts';
import {
  elementOf,
  isMachineType,
  numberOf,
  type Operand,
  pointerTo,
  type Reader,
  type ShownVariable,
  typedValue,
} from './typed.ts';
import type { Value } from './value.ts';

/** Integers have at most this many bits: longer ones come from shifts only. */
const MAX_BITS = 128n;

export function badExpression(text: string, message: string): WavesmithError {
  return new WavesmithError('run/bad-expression', `'${text}': ${message}`, { hint: HINT });
}

const HINT = 'Write it as in C: v3 == 7 && lane < 32, s[2:3] + 16, f32(v5) > 1e-3, *u32(x + 4), lds.f32(64).';

/** A name that means nothing where execution is. */
export class UnknownName extends WavesmithError {
  constructor(text: string, message: string) {
    super('run/bad-expression', `'${text}': ${message}`, { hint: HINT });
  }
}

export const isTrue = (value: Value): boolean => value !== 0n && value !== 0;
export const truth = (value: boolean): bigint => (value ? 1n : 0n);

type Apply = (a: Value, b: Value) => Value;

function compare(operator: string): Apply | undefined {
  const test = (name: (a: Value, b: Value) => boolean): Apply => {
    return (a, b) => truth(name(a, b));
  };
  switch (operator) {
    case '==':
      // biome-ignore lint/suspicious/noDoubleEquals: an integer and a float are compared by value
      return test((a, b) => a == b);
    case '!=':
      // biome-ignore lint/suspicious/noDoubleEquals: an integer and a float are compared by value
      return test((a, b) => a != b);
    case '<':
      return test((a, b) => a < b);
    case '<=':
      return test((a, b) => a <= b);
    case '>':
      return test((a, b) => a > b);
    case '>=':
      return test((a, b) => a >= b);
    default:
      return undefined;
  }
}

function compute(operator: string, text: string): Apply {
  const integers = (name: (a: bigint, b: bigint) => bigint): Apply => {
    return (a, b) => {
      if (typeof a === 'number' || typeof b === 'number') throw badExpression(text, `${operator} needs integers.`);
      return name(a, b);
    };
  };
  const arithmetic = (whole: (a: bigint, b: bigint) => bigint, float: (a: number, b: number) => number): Apply => {
    return (a, b) => (typeof a === 'bigint' && typeof b === 'bigint' ? whole(a, b) : float(Number(a), Number(b)));
  };
  const divisor = (b: bigint): bigint => {
    if (b === 0n) throw badExpression(text, 'division by zero.');
    return b;
  };
  const shift = (b: bigint): bigint => {
    if (b < 0n || b > MAX_BITS) throw badExpression(text, `a shift by ${b} is not possible.`);
    return b;
  };
  switch (operator) {
    case '|':
      return integers((a, b) => a | b);
    case '^':
      return integers((a, b) => a ^ b);
    case '&':
      return integers((a, b) => a & b);
    case '<<':
      return integers((a, b) => BigInt.asIntN(256, a << shift(b)));
    case '>>':
      return integers((a, b) => a >> shift(b));
    case '+':
      return arithmetic(
        (a, b) => a + b,
        (a, b) => a + b,
      );
    case '-':
      return arithmetic(
        (a, b) => a - b,
        (a, b) => a - b,
      );
    case '*':
      return arithmetic(
        (a, b) => BigInt.asIntN(256, a * b),
        (a, b) => a * b,
      );
    case '/':
      return arithmetic(
        (a, b) => a / divisor(b),
        (a, b) => a / b,
      );
    default:
      return arithmetic(
        (a, b) => a % divisor(b),
        (a, b) => a % b,
      );
  }
}

/** What an operator of two operands gives. */
export function binary(operator: string, text: string): (a: Operand, b: Operand) => Operand {
  const test = compare(operator);
  const apply = test ?? compute(operator, text);
  const isSum = operator === '+' || operator === '-';
  const isShift = operator === '<<' || operator === '>>';
  return (a, b) => {
    if (typeof a !== 'object' && typeof b !== 'object') return apply(a, b);
    if (isVector(a) || isVector(b)) return ofVectors(operator, a, b, text);
    const pointed = isSum || test !== undefined ? pointers(a, b, operator, text) : undefined;
    if (pointed !== undefined) return pointed;
    const [x, y] = [numberOf(a), numberOf(b)];
    const type = isShift ? commonType(a, 0n) : commonType(a, b);
    if (type === undefined) return apply(x, y);
    const result = apply(convert(x, type, text), isShift ? y : convert(y, type, text));
    return test === undefined ? typedValue(type, wrapped(result, type, text), readerOf(a, b)) : result;
  };
}

const wrapped = (value: Value, type: DebugType, text: string): Value => convert(value, type, text);
const readerOf = (a: Operand, b: Operand): Reader => (typeof a === 'object' ? a : (b as Reader));

const isVector = (operand: Operand): operand is ShownVariable =>
  typeof operand === 'object' && operand.type.isVector === true;

/** A vector of what is made of each element of one. */
function eachElement(vector: ShownVariable, make: (element: Operand, n: bigint) => Operand, text: string): Operand {
  const { type } = vector;
  const bytes = new Uint8Array(type.bytes);
  for (let n = 0; n < type.count; n++) {
    const element = elementAt(vector, BigInt(n)) as ShownVariable;
    const value = convert(numberOf(make(element, BigInt(n))), element.type, text);
    bytes.set(typedValue(element.type, value, vector).bytes as Uint8Array, n * element.type.bytes);
  }
  return { ...typedValue(type, 0n, vector), bytes };
}

/** Operators of vectors go element by element, and a number stands for a vector of it; they are the same, or not, as a whole. */
function ofVectors(operator: string, a: Operand, b: Operand, text: string): Operand {
  const vector = isVector(a) ? a : (b as ShownVariable);
  const other = isVector(a) && isVector(b) ? b : vector;
  if (vector.type.count !== other.type.count || vector.type.of?.().kind !== other.type.of?.().kind)
    throw badExpression(text, `${vector.type.name} and ${other.type.name} do not go together.`);
  const elementsOf = (operand: Operand, n: bigint): Operand =>
    isVector(operand) ? (elementAt(operand, n) as ShownVariable) : operand;
  const apply = binary(operator, text);
  if (compare(operator) === undefined)
    return eachElement(vector, (_, n) => apply(elementsOf(a, n), elementsOf(b, n)), text);
  if (operator !== '==' && operator !== '!=')
    throw badExpression(text, `vectors have no order, so ${operator} means nothing.`);
  let areEqual = true;
  for (let n = 0n; n < vector.type.count; n++) {
    if (!isTrue(numberOf(binary('==', text)(elementsOf(a, n), elementsOf(b, n))))) areEqual = false;
  }
  return truth(areEqual === (operator === '=='));
}

/** What a pointer points to; an array is a pointer to its first element. */
function targetOf(operand: Operand): DebugType | undefined {
  if (typeof operand !== 'object') return undefined;
  const { kind, of, isVector: isNone } = operand.type;
  if (isNone === true) return undefined;
  return kind === 'pointer' || kind === 'array' ? of?.() : undefined;
}

/** Sums and comparisons with pointers; undefined where none is one. */
function pointers(a: Operand, b: Operand, operator: string, text: string): Operand | undefined {
  const [left, right] = [targetOf(a), targetOf(b)];
  if (left === undefined && right === undefined) return undefined;
  const address = (operand: Operand): bigint => {
    const value = numberOf(operand);
    if (typeof value === 'number') throw badExpression(text, 'an address is an integer.');
    return value;
  };
  const [x, y] = [address(a), address(b)];
  const test = compare(operator);
  if (test !== undefined) return test(x, y);
  // What points to void counts bytes.
  const size = BigInt(Math.max(1, (left ?? right)?.bytes ?? 1));
  if (left !== undefined && right !== undefined) {
    if (operator === '+') throw badExpression(text, 'two pointers have no sum.');
    return typedValue(named('long'), (x - y) / size, readerOf(a, b));
  }
  if (left === undefined && operator === '-') throw badExpression(text, 'a pointer cannot be taken from a number.');
  const value = left === undefined ? x * size + y : operator === '+' ? x + y * size : x - y * size;
  return typedValue(pointerTo((left ?? right) as DebugType), BigInt.asUintN(64, value), readerOf(a, b));
}

/** The type in which C computes with two operands; undefined for numbers of the machine. */
function commonType(a: Operand, b: Operand): DebugType | undefined {
  const isTyped = (operand: Operand): boolean => typeof operand === 'object' && !isMachineType(operand.type);
  if (!isTyped(a) && !isTyped(b)) return undefined;
  // Integers of more than 64 bits are computed with as those of any size.
  if ([a, b].some((one) => typeof one === 'object' && one.type.kind === 'integer' && elementOf(one.type) === undefined))
    return undefined;
  const [x, y] = [promoted(a), promoted(b)];
  if (x.kind === 'float' || y.kind === 'float') {
    if (x.kind !== 'float') return y;
    if (y.kind !== 'float') return x;
    return x.bytes === y.bytes && x.name !== y.name && x.bytes < 4 ? named('float') : x.bytes >= y.bytes ? x : y;
  }
  if (x.isSigned === y.isSigned) return x.bytes >= y.bytes ? x : y;
  const [signed, unsigned] = x.isSigned ? [x, y] : [y, x];
  return unsigned.bytes >= signed.bytes ? unsigned : signed;
}

/** What `?:` gives: the one that is taken, converted to the type that it and the other one have together. */
export function asEither(taken: Operand, other: Operand | undefined, text: string): Operand {
  if (other === undefined || !isNumber(taken) || !isNumber(other)) return taken;
  if (typeof taken === 'object' && typeof other === 'object' && taken.type.name === other.type.name) return taken;
  const type = commonType(taken, other);
  if (type !== undefined) return typedValue(type, convert(numberOf(taken), type, text), readerOf(taken, other));
  return typeof other === 'number' && typeof taken === 'bigint' ? Number(taken) : taken;
}

/** Whether an operand is a number whose type C would convert. */
const isNumber = (operand: Operand): boolean =>
  typeof operand !== 'object' ||
  (operand.bytes !== undefined && operand.type.kind !== 'pointer' && elementOf(operand.type) !== undefined);

function named(name: string): DebugType {
  return typeOfWords(name.split(' ')) as DebugType;
}

/** The type that C gives an operand before it computes. */
function promoted(operand: Operand): DebugType {
  const value = numberOf(operand);
  if (typeof operand === 'object' && !isMachineType(operand.type)) {
    const { type } = operand;
    if (type.kind === 'float' || (type.bytes >= 4 && elementOf(type) !== undefined && type.kind !== 'enum'))
      return type;
    return type.bytes < 4 || type.isSigned ? named('int') : named('unsigned int');
  }
  if (typeof value === 'number')
    return typeof operand === 'object' && operand.type.bytes <= 4 ? named('float') : named('double');
  if (value >= -0x8000_0000n && value < 0x8000_0000n) return named('int');
  if (value >= 0n && value < 0x1_0000_0000n) return named('unsigned int');
  return value < 1n << 63n ? named('long') : named('unsigned long');
}

/** `-a`, `~a`: of a type, in that type. */
export function unary(operator: '-' | '~', operand: Operand, text: string): Operand {
  if (isVector(operand)) return eachElement(operand, (element) => unary(operator, element, text), text);
  const value = numberOf(operand);
  if (operator === '~' && typeof value === 'number') throw badExpression(text, '~ needs an integer.');
  const result = operator === '-' ? -value : ~(value as bigint);
  const type = typeof operand === 'object' && targetOf(operand) === undefined ? commonType(operand, 0n) : undefined;
  if (type === undefined) return result;
  return typedValue(type, wrapped(result, type, text), readerOf(operand, operand));
}
