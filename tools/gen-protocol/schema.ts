// What a protocol is made of: constants, enumerations and structs, from which the C++ and the TypeScript side are written.

/**
 * `u32`, `u64` and `i64` are what they say (TypeScript: number, bigint, bigint). `place` is an address or a number of bytes: 64 bits, of which
 * TypeScript takes 53. `text` is a u32 length and UTF-8 bytes, `bytes` a u32 length and bytes; `rest` is UTF-8 to the end of the message. These
 * three come last.
 */
export type FieldType = 'u32' | 'u64' | 'i64' | 'place' | 'text' | 'bytes' | 'rest';
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly says?: string;
}
const field =
  (type: FieldType) =>
  (name: string, says?: string): Field => ({ name, type, ...(says ? { says } : {}) });
export const u32 = field('u32');
export const u64 = field('u64');
export const i64 = field('i64');
export const place = field('place');
export const text = field('text');
export const bytes = field('bytes');
export const rest = field('rest');

/** A constant of both languages. */
export interface Constant {
  readonly name: string;
  readonly value: number | string;
  readonly says: string;
}

export const constant = (name: string, value: number | string, says: string): Constant => ({ name, value, says });

export interface Enumeration {
  readonly name: string;
  readonly says: string;
  readonly values: readonly (readonly [name: string, value: number, says?: string])[];
}

export const enumeration = (name: string, says: string, values: Enumeration['values']): Enumeration => ({
  name,
  says,
  values,
});

export interface Struct {
  readonly name: string;
  readonly says: string;
  /** Who sends it: the device reads what the program sends. Without, it is in shared memory or both send it. */
  readonly sender?: 'program' | 'device';
  readonly fields: readonly Field[];
  /** Its bytes are in shared memory: TypeScript gets offsets, and C++ gets the alignment. */
  readonly shared?: { readonly alignment: number; readonly size: number };
}

const struct =
  (sender: 'program' | 'device') =>
  (name: string, says: string, fields: readonly Field[]): Struct => ({ name, sender, says, fields });
export const fromProgram = struct('program');
export const fromDevice = struct('device');

/** One protocol between a program and Wavesmith. */
export interface Protocol {
  /** One sentence: the heads of both generated files. */
  readonly says: string;
  /** Who waits for whom; sentences at the head of both generated files. */
  readonly whoWaits: readonly string[];
  /** Source file in tools/gen-protocol. */
  readonly source: string;
  readonly typescript: string;
  readonly cpp: string;
  /** C++ namespace. */
  readonly namespace: string;
  readonly constants: readonly Constant[];
  readonly enumerations: readonly Enumeration[];
  readonly structs: readonly Struct[];
}
