// What an object is made of while it is assembled: symbols, sections, fragments of bytes, and fixups that wait for symbols. They refer
// to each other, so they stand in one file; the tables that make them are symbols.ts and sections.ts.
// Sources: llvm/lib/MC/MCSymbol.cpp, MCSymbolELF.cpp, MCFragment.cpp, MCSection.cpp.
import type { ByteWriter } from '../../base/index.ts';
import { type ObjectGroup, SymbolBinding, SymbolType } from '../../codeobject/elf/object-model.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Location } from '../assemble/source.ts';

/** A common block (`.comm`, `.amdgpu_lds`): space that the linker or loader places. */
export interface CommonBlock {
  readonly size: bigint;
  readonly alignment: bigint;
  /** `.amdgpu_lds`: in LDS instead of memory. */
  readonly lds: boolean;
}

/** One symbol. `key` is unique; `name` is what is printed and written to the object. */
export class AsmSymbol {
  readonly key: string;
  readonly name: string;
  /** Assembler-local labels (`.L…`) stay out of the symbol table. */
  readonly isTemporary: boolean;
  /** A `SymbolBinding` once a directive has set one. */
  binding: number | undefined;
  type: number = SymbolType.NOTYPE;
  visibility = 0;
  size: Expr | undefined;
  /** Place of a label. */
  fragment: Fragment | undefined;
  offset = 0;
  /** Value of a variable (`.set`, `=`). */
  value: Expr | undefined;
  /** Assigned by `.set` or `=`, so it may be assigned again. */
  redefinable = false;
  common: CommonBlock | undefined;
  /** Where it was defined or first mentioned. */
  location: Location | undefined;
  /** Known to the object; position in the symbol table follows the order of registration. */
  registered = false;
  usedInRelocation = false;
  /** Assigned again since; only expressions read before refer to it, and the object does not list it. */
  isReplaced = false;
  isSignature = false;

  constructor(key: string, name: string, isTemporary: boolean) {
    this.key = key;
    this.name = name;
    this.isTemporary = isTemporary;
  }

  /** A label with a place. */
  get isLabel(): boolean {
    return this.fragment !== undefined;
  }

  get isDefined(): boolean {
    return this.fragment !== undefined || this.value !== undefined || this.common !== undefined;
  }

  /** The ELF binding, defaulted as LLVM does: local when defined, else global. */
  elfBinding(isDefined: boolean): number {
    if (this.binding !== undefined) return this.binding;
    if (isDefined) return SymbolBinding.LOCAL;
    if (this.usedInRelocation) return SymbolBinding.GLOBAL;
    return this.isSignature ? SymbolBinding.LOCAL : SymbolBinding.GLOBAL;
  }
}

/** How a value that depends on symbols goes into the bytes; the names are LLVM's. */
export type AsmFixupKind =
  | 'fixup_si_sopp_br'
  | 'FK_PCRel_4'
  | 'FK_Data_1'
  | 'FK_Data_2'
  | 'FK_Data_4'
  | 'FK_Data_8'
  | 'literal';

/** A place in a data fragment that waits for symbols. */
export interface AsmFixup {
  readonly offset: number;
  readonly kind: AsmFixupKind;
  readonly expr: Expr;
  readonly location: Location;
  /** Relocation type forced by `.reloc` (kind `literal`). */
  readonly relocation?: number;
}

/** A fixup of one instruction, resolved to LLVM's kind, with its expression bound. */
export interface InstructionFixup {
  readonly kind: AsmFixupKind;
  readonly byteOffset: number;
  readonly expr: Expr;
  readonly operandIndex: number;
}

export interface FragmentBase {
  readonly section: AsmSection;
  /** Index in the list of fragments of its subsection. */
  readonly index: number;
  readonly subsection: Fragment[];
  /** Offset in the section and size, set by layout. */
  start: number;
  size: number;
}

export interface DataFragment extends FragmentBase {
  readonly kind: 'data';
  readonly data: ByteWriter;
  readonly fixups: AsmFixup[];
  /** Where its first byte was written in the source. */
  readonly location: Location;
}
export interface AlignFragment extends FragmentBase {
  readonly kind: 'align';
  readonly alignment: number;
  readonly fill: bigint;
  readonly fillSize: number;
  readonly maxBytes: number;
  /** Pad with s_nop. */
  readonly code: boolean;
  readonly location: Location;
}
export interface FillFragment extends FragmentBase {
  readonly kind: 'fill';
  readonly count: Expr;
  readonly value: bigint;
  readonly valueSize: number;
  readonly location: Location;
}
export interface OrgFragment extends FragmentBase {
  readonly kind: 'org';
  readonly target: Expr;
  readonly value: number;
  readonly location: Location;
}
export interface LebFragment extends FragmentBase {
  readonly kind: 'leb';
  readonly value: Expr;
  readonly signed: boolean;
  readonly location: Location;
  bytes: Uint8Array;
}
/** Bytes that follow from a distance of labels. */
export interface ComputedFragment extends FragmentBase {
  readonly kind: 'computed';
  readonly distance: Expr;
  readonly encode: (distance: bigint) => readonly number[];
  bytes: Uint8Array;
}
export type Fragment = DataFragment | AlignFragment | FillFragment | OrgFragment | LebFragment | ComputedFragment;

/** What `.section` says about a section. */
export interface SectionDescription {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly entrySize: number;
  readonly group?: ObjectGroup | undefined;
  readonly linkedTo?: AsmSymbol | undefined;
  readonly uniqueId?: number | undefined;
}

export class AsmSection {
  readonly description: SectionDescription;
  readonly symbol: AsmSymbol;
  alignment = 1;
  /** Subsections in ascending order of number. */
  readonly subsections: { readonly number: number; readonly fragments: Fragment[] }[] = [];
  /** Size after layout. */
  size = 0;
  isRegistered = false;
  /** Where something other than zero was first written; wrong in a section without content. */
  firstContent: Location | undefined;

  constructor(description: SectionDescription, symbol: AsmSymbol) {
    this.description = description;
    this.symbol = symbol;
  }

  /** The fragments of a subsection, created at its place when new. */
  subsection(number: number): Fragment[] {
    let at = 0;
    for (; at < this.subsections.length; at++) {
      const entry = this.subsections[at];
      if (entry.number === number) return entry.fragments;
      if (entry.number > number) break;
    }
    const fragments: Fragment[] = [];
    this.subsections.splice(at, 0, { number, fragments });
    return fragments;
  }

  /** All fragments in file order. */
  *fragments(): Iterable<Fragment> {
    for (const { fragments } of this.subsections) yield* fragments;
  }
}
