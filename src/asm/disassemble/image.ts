// What of a code object becomes text: its sections, symbols with unique printable names, and the references that
// relocations record. One model for linked objects (positions are addresses) and relocatable ones (section offsets).
// Source: AMDGPUUsage, "Sections", "Symbols" and "Relocation Records".
import {
  type ElfFile,
  type ElfRelocation,
  type ElfSection,
  ElfSectionType,
  type ElfSymbol,
  ElfType,
  RelocationType,
  SectionFlag,
  SectionIndex,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
} from '../../codeobject/index.ts';
import { wordAt } from './data.ts';
import { printableName, UniqueNames } from './names.ts';

/** A position in a section that is printed. */
export interface Place {
  readonly section: ImageSection;
  readonly offset: number;
}

/** A symbol with its printed name. */
export interface ImageSymbol {
  /** Unique in the output; quoted where the assembler needs it. */
  readonly name: string;
  readonly elf: ElfSymbol;
  readonly section: ImageSection;
  readonly offset: number;
  readonly size: number;
}

/** What a relocation says: `base + addend`, where the base is a symbol by name or a place. */
export interface ImageReference {
  /** Offset in the section that holds the patched field. */
  readonly offset: number;
  readonly type: number;
  readonly symbol: string | undefined;
  readonly place: Place | undefined;
  readonly addend: bigint;
}

/** A section that is printed. */
export interface ImageSection {
  readonly elf: ElfSection;
  readonly name: string;
  readonly kind: 'code' | 'data' | 'nobits';
  /** Address of the first byte; 0 in a relocatable object. */
  readonly base: number;
  readonly size: number;
  readonly bytes: Uint8Array;
  /** In ascending order of offset. */
  readonly symbols: ImageSymbol[];
  /** In ascending order of offset. */
  readonly references: ImageReference[];
}

/** Sections that a linker makes from its inputs; they come back when the output is linked again. */
const LINKER_SECTIONS = new Set(['.got', '.got.plt', '.plt', '.relro_padding', '.eh_frame_hdr', '.interp']);
/** Section types that hold the file's own tables. */
const TABLE_TYPES: ReadonlySet<number> = new Set([
  ElfSectionType.NULL,
  ElfSectionType.SYMTAB,
  ElfSectionType.STRTAB,
  ElfSectionType.RELA,
  ElfSectionType.REL,
  ElfSectionType.HASH,
  ElfSectionType.GNU_HASH,
  ElfSectionType.DYNAMIC,
  ElfSectionType.DYNSYM,
  ElfSectionType.GROUP,
  ElfSectionType.SYMTAB_SHNDX,
  SectionType.LLVM_ADDRSIG,
]);

/** The printable view of a code object. */
export class Image {
  readonly elf: ElfFile;
  /** Names in use; generated labels must avoid them. */
  readonly names = new UniqueNames();
  readonly isRelocatable: boolean;
  /** In file order for relocatable objects, by address otherwise. */
  readonly sections: readonly ImageSection[];
  /** Non-loaded sections with content that are left out (`.debug_info`, `.comment`). */
  readonly omitted: readonly ElfSection[];
  /** Absolute symbols, one per name. */
  readonly absolutes: readonly { readonly name: string; readonly elf: ElfSymbol }[];
  /** Undefined and LDS symbols. */
  readonly externals: readonly { readonly name: string; readonly elf: ElfSymbol }[];
  private readonly byIndex = new Map<number, ImageSection>();
  private readonly symbolNames = new Map<ElfSymbol, string>();
  private readonly gotSlots = new Map<number, ImageReference>();
  private readonly recoveredSlots = new Set<ImageReference>();
  private readonly gotRanges: readonly ElfSection[];
  private groups: Map<number, string> | undefined;

  constructor(elf: ElfFile) {
    this.elf = elf;
    this.isRelocatable = elf.header.type === ElfType.REL;
    const printed: ImageSection[] = [];
    const omitted: ElfSection[] = [];
    for (const section of elf.sections) {
      if (isPrinted(section)) printed.push(this.addSection(section));
      else if (isOmittedContent(section)) omitted.push(section);
    }
    if (!this.isRelocatable) printed.sort((a, b) => a.base - b.base || a.elf.index - b.elf.index);
    this.sections = printed;
    this.omitted = omitted;
    this.gotRanges = elf.sections.filter((s) => s.name === '.got' || s.name === '.got.plt');
    const { absolutes, externals } = this.addSymbols();
    this.absolutes = absolutes;
    this.externals = externals;
    this.addReferences();
    for (const section of printed) {
      section.symbols.sort((a, b) => a.offset - b.offset || a.elf.index - b.elf.index);
      section.references.sort((a, b) => a.offset - b.offset);
    }
  }

  private addSection(elf: ElfSection): ImageSection {
    const isCode = (elf.flags & BigInt(SectionFlag.EXECINSTR)) !== 0n;
    const section: ImageSection = {
      elf,
      name: elf.name,
      kind: elf.type === ElfSectionType.NOBITS ? 'nobits' : isCode ? 'code' : 'data',
      base: this.isRelocatable ? 0 : elf.address,
      size: elf.size,
      bytes: elf.bytes,
      symbols: [],
      references: [],
    };
    this.byIndex.set(elf.index, section);
    return section;
  }

  private addSymbols() {
    const { names } = this;
    const absolutes: { name: string; elf: ElfSymbol }[] = [];
    const externals: { name: string; elf: ElfSymbol }[] = [];
    // Global names must stay as they are, so they are taken first; locals that clash get a suffix.
    const table = this.elf.symbols.length > 0 ? this.elf.symbols : this.elf.dynamicSymbols;
    const ordered = [...table].sort((a, b) => rank(a) - rank(b) || a.index - b.index);
    for (const symbol of ordered) {
      if (symbol.name === '' || symbol.type === SymbolType.SECTION || symbol.type === SymbolType.FILE) continue;
      if (symbol.section !== undefined) {
        const section = this.byIndex.get(symbol.section.index);
        const offset = section && this.offsetOf(symbol, section);
        if (section === undefined || offset === undefined) continue;
        const name = printableName(names.take(symbol.name));
        this.symbolNames.set(symbol, name);
        section.symbols.push({ name, elf: symbol, section, offset, size: safeNumber(symbol.size) });
      } else if (symbol.sectionIndex === SectionIndex.ABS) {
        if (names.has(symbol.name)) continue;
        absolutes.push({ name: printableName(names.take(symbol.name)), elf: symbol });
      } else if (!names.has(symbol.name)) {
        const name = printableName(names.take(symbol.name));
        this.symbolNames.set(symbol, name);
        externals.push({ name, elf: symbol });
      }
    }
    absolutes.sort((a, b) => a.elf.index - b.elf.index);
    externals.sort((a, b) => a.elf.index - b.elf.index);
    return { absolutes, externals };
  }

  /** Offset in its section, or undefined when the value lies outside it. */
  private offsetOf(symbol: ElfSymbol, section: ImageSection): number | undefined {
    const offset = safeNumber(symbol.value) - section.base;
    return offset >= 0 && offset <= section.size ? offset : undefined;
  }

  private addReferences(): void {
    for (const table of this.elf.relocationSections) {
      for (const relocation of table.relocations) {
        if (relocation.type === RelocationType.NONE) continue;
        const target = this.isRelocatable ? table.target && this.byIndex.get(table.target.index) : undefined;
        const at = this.isRelocatable
          ? target && relocation.offset < target.size
            ? { section: target, offset: relocation.offset }
            : undefined
          : this.placeOf(relocation.offset);
        if (at !== undefined) at.section.references.push(this.reference(relocation, at.offset));
        else if (!this.isRelocatable && this.isInGot(relocation.offset)) {
          this.gotSlots.set(relocation.offset, this.reference(relocation, 0));
        }
      }
    }
  }

  private reference(relocation: ElfRelocation, offset: number): ImageReference {
    const { symbol, type } = relocation;
    const addend = relocation.addend ?? 0n;
    if (symbol === undefined) {
      const address = safeNumber(BigInt.asUintN(64, addend));
      return { offset, type, symbol: undefined, place: this.placeOf(address), addend: 0n };
    }
    const section = symbol.section && this.byIndex.get(symbol.section.index);
    if (symbol.type === SymbolType.SECTION && section !== undefined) {
      return { offset, type, symbol: undefined, place: { section, offset: 0 }, addend };
    }
    return { offset, type, symbol: this.nameOf(symbol), place: undefined, addend };
  }

  /** The printed name of a symbol of either table. */
  nameOf(symbol: ElfSymbol): string {
    const known = this.symbolNames.get(symbol);
    if (known !== undefined) return known;
    // Symbols of .dynsym are global, and global names are unique.
    return printableName(symbol.name);
  }

  /** The printed section and offset of a loaded address; the end of a section belongs to it when nothing follows. */
  placeOf(address: number): Place | undefined {
    if (this.isRelocatable) return undefined;
    let atEnd: Place | undefined;
    for (const section of this.sections) {
      if ((section.elf.flags & BigInt(SectionFlag.ALLOC)) === 0n) continue;
      const offset = address - section.base;
      if (offset >= 0 && offset < section.size) return { section, offset };
      if (offset === section.size) atEnd ??= { section, offset };
    }
    return atEnd;
  }

  private isInGot(address: number): boolean {
    return this.gotRanges.some((s) => address >= s.address && address < s.address + s.size);
  }

  /** What the global offset table slot at an address holds, when a relocation says so. */
  gotSlot(address: number): ImageReference | undefined {
    return this.gotSlots.get(address);
  }

  /** Records that code was found which makes the linker create this slot again. */
  recoverGotSlot(slot: ImageReference): void {
    this.recoveredSlots.add(slot);
  }

  /** How many slots of the global offset table no recovered reference asks for. */
  get lostGotSlots(): number {
    return this.gotSlots.size - this.recoveredSlots.size;
  }

  /** The section group (`comdat` signature) of a section of a relocatable object. */
  groupSignature(section: ElfSection): string | undefined {
    this.groups ??= groupSignatures(this.elf);
    return this.groups.get(section.index);
  }
}

/** Signatures of section groups by the index of their members. */
function groupSignatures(elf: ElfFile): Map<number, string> {
  const signatures = new Map<number, string>();
  for (const group of elf.sections) {
    const table = elf.sections[group.link];
    if (group.type !== ElfSectionType.GROUP || table?.type !== ElfSectionType.SYMTAB) continue;
    const signature = elf.symbolsOf(table)[group.info]?.name;
    if (signature === undefined || signature === '') continue;
    for (let at = 4; at + 4 <= group.bytes.length; at += 4) {
      signatures.set(wordAt(group.bytes, at), printableName(signature));
    }
  }
  return signatures;
}

function rank(symbol: ElfSymbol): number {
  const isDefined = symbol.section !== undefined;
  if (symbol.binding !== SymbolBinding.LOCAL) return isDefined ? 0 : 1;
  return isDefined ? 2 : 3;
}

function safeNumber(value: bigint): number {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : Number.MAX_SAFE_INTEGER;
}

function isPrinted(section: ElfSection): boolean {
  if (TABLE_TYPES.has(section.type) || section.type === ElfSectionType.NOTE) return false;
  if (LINKER_SECTIONS.has(section.name)) return false;
  return (section.flags & BigInt(SectionFlag.ALLOC)) !== 0n;
}

function isOmittedContent(section: ElfSection): boolean {
  return !TABLE_TYPES.has(section.type) && (section.flags & BigInt(SectionFlag.ALLOC)) === 0n && section.size > 0;
}

/** True when another module could replace the definition, so that the linker refuses pc-relative references to it. */
export function isPreemptible(symbol: ElfSymbol): boolean {
  return symbol.binding !== SymbolBinding.LOCAL && symbol.visibility === SymbolVisibility.DEFAULT;
}
