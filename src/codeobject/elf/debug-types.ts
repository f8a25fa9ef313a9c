// What is known of a source program: its variables, their types, and which calls were inlined where.
import type { DebugPlace } from './debug-place.ts';

/** A type of the source program, typedefs and qualifiers resolved. */
export interface DebugType {
  readonly name: string;
  readonly kind: 'integer' | 'float' | 'bool' | 'char' | 'pointer' | 'enum' | 'struct' | 'array' | 'unknown';
  readonly bytes: number;
  /** Of structs: as it was declared, in bytes. */
  readonly alignment?: number | undefined;
  readonly isSigned: boolean;
  /** Of pointers: it is a reference of C++, which stands for what it points to. */
  readonly isReference?: boolean | undefined;
  /** Of pointers into LDS or scratch alone, which are an offset there of 32 bits. */
  readonly space?: 'lds' | 'scratch' | undefined;
  /** Of structs: it is in memory when a function takes or returns it. */
  readonly isByReference?: boolean | undefined;
  /** Of structs: its members lie over each other. */
  readonly isUnion?: boolean | undefined;
  /** Of structs, unions and classes. */
  readonly members: readonly DebugMember[];
  /** Of arrays: elements, of the outermost dimension; of pointers: what they point to. */
  readonly of: (() => DebugType) | undefined;
  readonly count: number;
  /** Of arrays: it is a vector, which is as long, and aligned to, the next power of two. */
  readonly isVector?: boolean | undefined;
  /** A typedef names it. */
  readonly hasOwnName?: boolean | undefined;
  /** Of functions. */
  readonly signature?: { readonly returns: DebugType | undefined; readonly parameters: string } | undefined;
  /** Of enumerations: names by value, with the namespaces and classes around them. */
  readonly names: ReadonlyMap<number, string>;
}

export interface DebugMember {
  readonly name: string;
  readonly offset: number;
  readonly type: () => DebugType;
  /** Of bit fields: the first bit from the struct's start, and how many there are. */
  readonly bits?: { readonly first: number; readonly count: number } | undefined;
}

/** A variable that is in scope somewhere. */
export interface DebugVariable {
  readonly name: string;
  readonly isParameter: boolean;
  /** Of the whole program. */
  readonly isGlobal: boolean;
  /** Its place is described once, and not for each stretch of the code. */
  readonly isFixed: boolean;
  readonly type: DebugType;
  /**
   * Where its value is before the instruction at an address. `kernel`: an address of the kernel that runs, where the instruction is of a function that
   * it has called; variables in LDS are in each kernel's own places.
   */
  place(address: number, kernel?: number): DebugPlace;
}

/** A function at an address: the one that the code belongs to, or one that was inlined there. */
export interface DebugFrame {
  readonly name: string;
  /** The same for all addresses of one function, or of one call that was inlined; different for others. */
  readonly key: number;
  readonly isInlined: boolean;
  /** Where it is called, of inlined ones. */
  readonly call: DebugCall | undefined;
  /** The address at which execution enters it. */
  readonly begins: number | undefined;
  /** What it returns; undefined for `void`. */
  returns(): DebugType | undefined;
  /** Its type as C writes it: `int (float, int *)`. */
  signature(): string;
}

/** What the debug information says of an address. */
export interface DebugInfo {
  /**
   * Variables of a function at an address: those of inner blocks before outer ones, then globals. A name that is hidden is left out.
   * `inlined`: how many of the functions at the address, the innermost first, are left out; 0 means the innermost.
   */
  variables(address: number, inlined?: number): readonly DebugVariable[];
  /** Parameters of the function that an address belongs to, in order; of none that was inlined there. */
  parameters(address: number): readonly { readonly name: string; readonly type: DebugType }[];
  /** Functions at an address, inlined ones first: the innermost, the one into which it was inlined, to the one that is code of its own. */
  frames(address: number): readonly DebugFrame[];
  /** The innermost block, inlined function or function at an address, by a number of its own; undefined outside of all. */
  blockAt(address: number): number | undefined;
  /** Addresses at which functions of a name in the source begin, wherever they were inlined; in order. */
  entries(name: string): readonly number[];
  /** The type of a name in the source, as `float`, `Point` or `unsigned int`. */
  typeNamed(name: string): DebugType | undefined;
  /** The enumeration that an enumerator of a name belongs to, and its value. */
  enumerator(name: string): { readonly type: DebugType; readonly value: number } | undefined;
  /** A constant of a class, as `Box::SIZE`, and its value. */
  constant(name: string): { readonly type: DebugType; readonly value: bigint } | undefined;
  /** What made it, where it describes no variable at all: some compilers describe lines and functions alone. */
  readonly withoutVariables: () => { readonly producer: string } | undefined;
}

/** A call that was inlined. */
export interface DebugCall {
  /** Offset of the unit's line table in .debug_line. */
  readonly table: number;
  /** Number of the file in that table. */
  readonly file: number;
  readonly line: number;
}
