// Values with a type: variables of the source program, memory, what was cast. Numbers of the machine have none.
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import { type DebugType, declaration } from '../../../codeobject/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { Wave } from '../state/wave.ts';
import { bitsOf, fromBits, type Value, valueType } from './value.ts';

/** Where bytes are. `flat`: the address says which of the others it is, as pointers of the source program do. */
export type SpaceName = 'global' | 'lds' | 'scratch' | 'flat';

/** Bytes as a lane sees them; what is not there is `run/bad-address`. */
export type Load = (space: SpaceName, address: bigint, bytes: number, lane: number) => Uint8Array;

/** Where the bytes of a variable are. */
export type VariableHome =
  | { readonly kind: 'memory'; readonly space: SpaceName; readonly address: number }
  /** From a byte of these registers on, one word each. */
  | { readonly kind: 'registers'; readonly names: readonly string[]; readonly offset: number };

/** What a variable is of: a parameter or another variable of a function, or of the whole program. */
export type VariableKind = 'parameter' | 'local' | 'global';

/** A value with a type: a variable, or a part of one, what a pointer points to, the result of an operation; with its bytes. */
export interface ShownVariable {
  readonly name: string;
  readonly kind: VariableKind;
  readonly type: DebugType;
  /** Of what a reference of C++ refers to, by the name of the reference: the reference's type. */
  readonly reference?: DebugType | undefined;
  /** Undefined when it cannot be read; `why` says why. */
  readonly bytes: Uint8Array | undefined;
  readonly why: string;
  /** What is said behind its value. */
  readonly note?: string | undefined;
  /** Of structs and arrays: bytes that cannot be read though others can. */
  readonly holes?: readonly Hole[] | undefined;
  /** Undefined when it cannot be set. */
  readonly home: VariableHome | undefined;
  /** Of bit fields: the bytes at `home` that hold it, and which of their bits. */
  readonly field?: { readonly holder: Uint8Array; readonly first: number; readonly count: number } | undefined;
  readonly wave: Wave | undefined;
  readonly lane: number;
  /** Reads what it points to. */
  readonly load: Load;
}

/** Bytes of a value that cannot be read, from its start. */
export interface Hole {
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

/** What an expression gives: a number of the machine, of any size, or a value with a type. */
export type Operand = Value | ShownVariable;

/** Elements that a value shows at most, those of all its arrays, as gdb's `print elements`. */
export const ELEMENTS = 200;

const PLAIN = { isSigned: false, members: [], of: undefined, count: 0, names: new Map<number, string>() };

/** Types that are read as bits: `f32`, `u8`. As numbers they have no type. */
const machineTypes = new Map<ElementType, DebugType>();
const elements = new WeakMap<DebugType, ElementType>();

export function machineType(element: ElementType): DebugType {
  const known = machineTypes.get(element);
  if (known !== undefined) return known;
  const { name, storageBits, isSigned } = element;
  const kind = element.kind === 'integer' ? 'integer' : 'float';
  const made: DebugType = { ...PLAIN, name, kind, bytes: storageBits / 8, isSigned };
  machineTypes.set(element, made);
  elements.set(made, element);
  return made;
}

export const isMachineType = (type: DebugType): boolean => elements.has(type);

/** A type of the source program that is one number. */
export function plainType(name: string, kind: 'integer' | 'float' | 'char' | 'bool', of: ElementType): DebugType {
  return { ...PLAIN, name, kind, bytes: of.storageBits / 8, isSigned: of.isSigned };
}

export const VOID: DebugType = { ...PLAIN, name: 'void', kind: 'unknown', bytes: 0 };

export function pointerTo(type: DebugType): DebugType {
  const pointer: DebugType = { ...PLAIN, name: '', kind: 'pointer', bytes: 8, of: () => type };
  return { ...pointer, name: declaration(pointer) };
}

const CHAR: DebugType = { ...PLAIN, name: 'char', kind: 'char', bytes: 1, isSigned: true };

/** An array of so many letters: a text of C. */
export function lettersType(count: number): DebugType {
  return { ...PLAIN, name: `char[${count}]`, kind: 'array', bytes: count, count, of: () => CHAR };
}

/** A struct of three words: `threadIdx`. */
export const THREE_WORDS: DebugType = {
  ...PLAIN,
  name: 'dim3',
  kind: 'struct',
  bytes: 12,
  members: ['x', 'y', 'z'].map((name, i) => ({ name, offset: 4 * i, type: () => UNSIGNED })),
};
const UNSIGNED: DebugType = { ...PLAIN, name: 'unsigned int', kind: 'integer', bytes: 4 };

/** Whether a value is the address of a function. */
export const isFunctionPointer = (operand: Operand): operand is ShownVariable =>
  typeof operand === 'object' && operand.type.kind === 'pointer' && operand.type.of?.().signature !== undefined;

/** How the bytes of a type are a number; undefined for structs and arrays. */
export function elementOf(type: DebugType): ElementType | undefined {
  const known = elements.get(type);
  if (known !== undefined) return known;
  if (type.kind === 'struct' || type.kind === 'array' || type.kind === 'unknown') return undefined;
  if (type.kind === 'float') return valueType(type.name === '__bf16' ? 'bf16' : `f${8 * type.bytes}`);
  return valueType(`${type.isSigned ? 'i' : 'u'}${8 * type.bytes}`);
}

/** Bytes of the largest number that memory has elements of; `__int128` has more. */
const LARGEST_ELEMENT = 8;

/** High words of flat addresses in a space. */
const HIGH_WORDS = { lds: SHARED_APERTURE_HIGH, scratch: PRIVATE_APERTURE_HIGH, global: 0, flat: 0 } as const;

/** The number that a value is, of pointers the flat address; undefined for structs, arrays, and what cannot be read. */
export function scalarOf({ type, bytes }: ShownVariable): Value | undefined {
  if (bytes !== undefined && type.kind === 'integer' && type.bytes > LARGEST_ELEMENT) {
    return type.isSigned ? BigInt.asIntN(8 * type.bytes, bitsOf(bytes)) : bitsOf(bytes);
  }
  const element = elementOf(type);
  if (bytes === undefined || element === undefined) return undefined;
  if (type.space === undefined) return fromBits(bitsOf(bytes), element);
  return BigInt(HIGH_WORDS[type.space] * HIGH_WORD) + bitsOf(bytes);
}

/** The lane for which pointers mean what they point to, and how that is read. */
export type Reader = Pick<ShownVariable, 'load' | 'lane'>;

/** A value that stands nowhere. */
export function typedValue(type: DebugType, value: Value, { load, lane }: Reader): ShownVariable {
  const bytes = new Uint8Array(type.bytes);
  elementOf(type)?.write(new DataView(bytes.buffer), 0, value);
  return { name: '', kind: 'local', type, bytes, why: '', home: undefined, wave: undefined, lane, load };
}

/** A value in memory. */
export function inMemory(
  like: Pick<ShownVariable, 'kind' | 'wave' | 'lane' | 'load'>,
  name: string,
  type: DebugType,
  space: SpaceName,
  address: bigint,
): ShownVariable {
  const { kind, wave, lane, load } = like;
  const home = { kind: 'memory', space, address: Number(address) } as const;
  const base = { name, kind, type, wave, lane, load, home };
  try {
    return { ...base, bytes: load(space, address, Math.min(type.bytes, MOST_BYTES), lane), why: '' };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { ...base, bytes: undefined, why: error.message.replace(/\.$/, '') };
  }
}

/** Bytes of a value that are read at most. */
export const MOST_BYTES = 1 << 16;
const HIGH_WORD = 4294967296;

/** The address as pointers of the source program hold it; undefined for what is in no memory. */
export function flatAddress({ home }: ShownVariable): number | undefined {
  if (home?.kind !== 'memory') return undefined;
  return HIGH_WORDS[home.space] * HIGH_WORD + home.address;
}

/** The space that an address of a pointer means, and the address in it. */
export function spaceOfFlat(address: number): { readonly space: 'global' | 'lds' | 'scratch'; readonly at: number } {
  const high = Math.floor(address / HIGH_WORD);
  if (high === SHARED_APERTURE_HIGH) return { space: 'lds', at: address % HIGH_WORD };
  if (high === PRIVATE_APERTURE_HIGH) return { space: 'scratch', at: address % HIGH_WORD };
  return { space: 'global', at: address };
}

/** The number that an operand is; an array is its address. Structs, vectors and what cannot be read throw. */
export function numberOf(operand: Operand): Value {
  if (typeof operand !== 'object') return operand;
  const { name, type, bytes, why } = operand;
  const isAddress = type.kind === 'array' && type.isVector !== true;
  const value = isAddress ? arrayAddress(operand) : scalarOf(operand);
  if (value !== undefined) return value;
  const what = name === '' ? 'this' : `'${name}'`;
  const reason = bytes === undefined ? why : `of type ${type.name} is no number`;
  throw new WavesmithError(
    'run/bad-expression',
    `${what} ${bytes === undefined ? 'has no value here: ' : ''}${reason}.`,
  );
}

function arrayAddress(operand: ShownVariable): bigint | undefined {
  const address = flatAddress(operand);
  return address === undefined ? undefined : BigInt(address);
}

/** Whether two operands are the same, bit by bit. */
export function isSameOperand(a: Operand | undefined, b: Operand | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return Object.is(a, b);
  const [x, y] = [a.bytes, b.bytes];
  if (x === undefined || y === undefined || x.length !== y.length) return x === y;
  return x.every((byte, i) => byte === y[i]);
}
