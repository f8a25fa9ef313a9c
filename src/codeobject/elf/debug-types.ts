// What is known of a source program: its variables, their types, and which calls were inlined where.
import type { DebugPlace } from './debug-location.ts';

/** A type of the source program, typedefs and qualifiers resolved. */
export interface DebugType {
  readonly name: string;
  readonly kind: 'integer' | 'float' | 'bool' | 'char' | 'pointer' | 'enum' | 'struct' | 'array' | 'unknown';
  readonly bytes: number;
  readonly isSigned: boolean;
  /** Of structs, unions and classes. */
  readonly members: readonly DebugMember[];
  /** Of arrays: elements, of the outermost dimension; of pointers: what they point to. */
  readonly of: (() => DebugType) | undefined;
  readonly count: number;
  /** Of enumerations: names by value. */
  readonly names: ReadonlyMap<number, string>;
}

export interface DebugMember {
  readonly name: string;
  readonly offset: number;
  readonly type: () => DebugType;
}

/** A variable that is in scope somewhere. */
export interface DebugVariable {
  readonly name: string;
  readonly isParameter: boolean;
  readonly type: DebugType;
  /** Where its value is before the instruction at an address. */
  place(address: number): DebugPlace;
}

/** What the debug information says of an address. */
export interface DebugInfo {
  /** Variables in scope at an address: those of inner blocks before outer ones, then globals. A name that is hidden is left out. */
  variables(address: number): readonly DebugVariable[];
  /** Functions at an address, inlined ones first, by name. */
  functions(address: number): readonly string[];
  /** Where the inlined functions at an address are called, the innermost call first. */
  calls(address: number): readonly DebugCall[];
}

/** A call that was inlined. */
export interface DebugCall {
  /** Offset of the unit's line table in .debug_line. */
  readonly table: number;
  /** Number of the file in that table. */
  readonly file: number;
  readonly line: number;
}
