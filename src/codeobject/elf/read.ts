// Room `codeobject/elf`: ELF64 files of AMDGPU: reading, writing, notes, symbols' hash tables, line tables, and the text of
// llvm-readelf.
// Begin with this file; object-model.ts is what the assembler and the linker hand to write.ts.
//
// Reads ELF64 little-endian files: AMDGPU objects and shared objects, and host objects that embed them.
// Source: System V gABI chapters 4 and 5; LLVM's AMDGPUUsage, "ELF Code Object". Nothing is trusted: every offset,
// size and count is checked against the file before it is used.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { NameTable } from './name-table.ts';

export const ElfType = { NONE: 0, REL: 1, EXEC: 2, DYN: 3, CORE: 4 } as const;
export const ElfMachine = { X86_64: 62, AARCH64: 183, AMDGPU: 224 } as const;
/** Values of sh_type that the reader, the writer and the linker use, beside those of `SectionType`. */
export const ElfSectionType = {
  NULL: 0,
  SYMTAB: 2,
  STRTAB: 3,
  RELA: 4,
  HASH: 5,
  DYNAMIC: 6,
  NOTE: 7,
  NOBITS: 8,
  REL: 9,
  DYNSYM: 11,
  GROUP: 17,
  SYMTAB_SHNDX: 18,
  GNU_HASH: 0x6ffffff6,
} as const;
export const SegmentType = {
  NULL: 0,
  LOAD: 1,
  DYNAMIC: 2,
  INTERP: 3,
  NOTE: 4,
  PHDR: 6,
  GNU_STACK: 0x6474e551,
  GNU_RELRO: 0x6474e552,
} as const;
export const SectionIndex = { UNDEF: 0, LORESERVE: 0xff00, AMDGPU_LDS: 0xff00, ABS: 0xfff1, COMMON: 0xfff2 } as const;

export interface ElfHeader {
  /** The 16 identification bytes. */
  readonly ident: Uint8Array;
  readonly osAbi: number;
  readonly abiVersion: number;
  readonly type: number;
  readonly machine: number;
  readonly version: number;
  readonly entry: bigint;
  readonly programHeaderOffset: number;
  readonly sectionHeaderOffset: number;
  readonly flags: number;
  readonly headerSize: number;
  readonly programHeaderSize: number;
  /** e_phnum, e_shnum and e_shstrndx as stored (extended numbering not applied). */
  readonly programHeaderCount: number;
  readonly sectionHeaderSize: number;
  readonly sectionHeaderCount: number;
  readonly sectionNameIndex: number;
}

export interface ElfSection {
  readonly index: number;
  readonly name: string;
  readonly type: number;
  readonly flags: bigint;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
  readonly alignment: number;
  readonly entrySize: number;
  /** The content in the file; empty for NOBITS. A view, not a copy. */
  readonly bytes: Uint8Array;
}

export interface ElfSegment {
  readonly index: number;
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly virtualAddress: number;
  readonly physicalAddress: number;
  readonly fileSize: number;
  readonly memorySize: number;
  readonly alignment: number;
}

export interface ElfSymbol {
  readonly index: number;
  readonly name: string;
  readonly value: bigint;
  readonly size: bigint;
  readonly binding: number;
  readonly type: number;
  readonly visibility: number;
  /** st_other without the visibility bits. */
  readonly other: number;
  /** st_shndx as stored; `section` is resolved through SHT_SYMTAB_SHNDX. */
  readonly sectionIndex: number;
  /** The defining section, or undefined for undefined, absolute, common and LDS symbols. */
  readonly section: ElfSection | undefined;
}

export interface ElfRelocation {
  readonly offset: number;
  readonly type: number;
  readonly symbolIndex: number;
  /** Undefined when the symbol index is 0. */
  readonly symbol: ElfSymbol | undefined;
  /** The addend of a RELA record; undefined for REL. */
  readonly addend: bigint | undefined;
}

export interface ElfRelocationSection {
  readonly section: ElfSection;
  /** The section that the records patch; undefined for dynamic relocations. */
  readonly target: ElfSection | undefined;
  readonly relocations: readonly ElfRelocation[];
}

export interface ElfDynamicEntry {
  readonly tag: bigint;
  readonly value: bigint;
}

const HEADER_SIZE = 64;
const SECTION_HEADER_SIZE = 64;
const PROGRAM_HEADER_SIZE = 56;
const SYMBOL_SIZE = 24;

/** True when the bytes start with the ELF magic. */
export function isElf(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
}

function bad(code: string, message: string, byteOffset: number, hint?: string): WavesmithError {
  return new WavesmithError(code, message, { byteOffset, hint });
}

/** An ELF64 file. Sections and segments are read at once; symbols and relocations when asked for. */
export class ElfFile {
  readonly bytes: Uint8Array;
  readonly header: ElfHeader;
  readonly sections: readonly ElfSection[];
  readonly segments: readonly ElfSegment[];
  private readonly reader: ByteReader;
  private symbolTables = new Map<number, readonly ElfSymbol[]>();
  private relocationTables: readonly ElfRelocationSection[] | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.reader = new ByteReader(bytes, 'ELF file', 'elf/truncated');
    this.header = readHeader(this.reader);
    this.segments = readSegments(this.reader, this.header);
    this.sections = readSections(this.reader, this.header);
  }

  /** The first section with this name. */
  section(name: string): ElfSection | undefined {
    return this.sections.find((s) => s.name === name);
  }

  /** The symbols of .symtab (the first SHT_SYMTAB), entry 0 included; empty when there is none. */
  get symbols(): readonly ElfSymbol[] {
    return this.symbolsOfType(ElfSectionType.SYMTAB);
  }

  /** The symbols of .dynsym, entry 0 included; empty when there is none. */
  get dynamicSymbols(): readonly ElfSymbol[] {
    return this.symbolsOfType(ElfSectionType.DYNSYM);
  }

  private symbolsOfType(type: number): readonly ElfSymbol[] {
    const section = this.sections.find((s) => s.type === type);
    return section === undefined ? [] : this.symbolsOf(section);
  }

  /** The symbols of one symbol table section. */
  symbolsOf(section: ElfSection): readonly ElfSymbol[] {
    const known = this.symbolTables.get(section.index);
    if (known !== undefined) return known;
    const symbols = readSymbols(this.sections, section);
    this.symbolTables.set(section.index, symbols);
    return symbols;
  }

  /** Every RELA and REL section with its records. */
  get relocationSections(): readonly ElfRelocationSection[] {
    this.relocationTables ??= this.sections
      .filter((s) => s.type === ElfSectionType.RELA || s.type === ElfSectionType.REL)
      .map((s) => this.readRelocations(s));
    return this.relocationTables;
  }

  private readRelocations(section: ElfSection): ElfRelocationSection {
    const hasAddend = section.type === ElfSectionType.RELA;
    const size = hasAddend ? 24 : 16;
    const table = this.sections[section.link];
    const isSymbolTable = table?.type === ElfSectionType.SYMTAB || table?.type === ElfSectionType.DYNSYM;
    const symbols = table !== undefined && isSymbolTable ? this.symbolsOf(table) : [];
    const reader = new ByteReader(section.bytes, `section ${section.name}`, 'elf/truncated');
    const relocations: ElfRelocation[] = [];
    for (let at = 0; at + size <= reader.length; at += size) {
      const info = reader.u64(at + 8);
      const symbolIndex = Number(info >> 32n);
      if (symbolIndex !== 0 && symbolIndex >= symbols.length) {
        throw bad(
          'elf/bad-relocation',
          `A relocation in ${section.name} refers to symbol ${symbolIndex} of ${symbols.length}.`,
          section.offset + at,
        );
      }
      relocations.push({
        offset: reader.u64AsNumber(at),
        type: Number(info & 0xffffffffn),
        symbolIndex,
        symbol: symbolIndex === 0 ? undefined : symbols[symbolIndex],
        addend: hasAddend ? reader.i64(at + 16) : undefined,
      });
    }
    const target = section.info === 0 ? undefined : this.sections[section.info];
    return { section, target, relocations };
  }

  /** The dynamic table up to and including DT_NULL; empty when there is none. */
  get dynamicEntries(): readonly ElfDynamicEntry[] {
    const section = this.sections.find((s) => s.type === ElfSectionType.DYNAMIC);
    const segment = this.segments.find((s) => s.type === SegmentType.DYNAMIC);
    let table = section?.bytes;
    if (table === undefined && segment !== undefined) table = this.reader.slice(segment.offset, segment.fileSize);
    if (table === undefined) return [];
    const reader = new ByteReader(table, 'dynamic table', 'elf/truncated');
    const entries: ElfDynamicEntry[] = [];
    for (let at = 0; at + 16 <= reader.length; at += 16) {
      const entry = { tag: reader.u64(at), value: reader.u64(at + 8) };
      entries.push(entry);
      if (entry.tag === 0n) break;
    }
    return entries;
  }

  /** `size` bytes at a loaded address, through the section that holds them; undefined when no content is there. */
  bytesAt(address: number, size: number): Uint8Array | undefined {
    const found = this.sections.find(
      (s) =>
        (s.flags & 2n) !== 0n &&
        s.type !== ElfSectionType.NOBITS &&
        address >= s.address &&
        address + size <= s.address + s.size,
    );
    if (found !== undefined) return found.bytes.subarray(address - found.address, address - found.address + size);
    if (this.sections.length > 0) return undefined;
    const segment = this.segments.find(
      (s) =>
        s.type === SegmentType.LOAD && address >= s.virtualAddress && address + size <= s.virtualAddress + s.fileSize,
    );
    return segment && this.reader.slice(segment.offset + (address - segment.virtualAddress), size);
  }

  /**
   * The content behind a symbol. In a relocatable object the value counts from the section's start, otherwise it is
   * an address. Undefined when the symbol has no content in the file.
   */
  bytesOf(symbol: ElfSymbol, size = Number(symbol.size)): Uint8Array | undefined {
    const section = symbol.section;
    if (section === undefined || symbol.value > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
    const value = Number(symbol.value);
    const start = this.header.type === ElfType.REL ? value : value - section.address;
    return start >= 0 && size >= 0 && start + size <= section.bytes.length
      ? section.bytes.subarray(start, start + size)
      : undefined;
  }
}

/** Reads an ELF64 little-endian file; throws `elf/…` when it is not one or is damaged. */
export function readElf(bytes: Uint8Array): ElfFile {
  return new ElfFile(bytes);
}

function readHeader(reader: ByteReader): ElfHeader {
  if (!isElf(reader.bytes)) {
    throw bad('elf/not-elf', 'The file does not start with the ELF magic.', 0, 'Give an AMDGPU code object.');
  }
  reader.check(0, HEADER_SIZE);
  if (reader.u8(4) !== 2) throw bad('elf/not-64-bit', 'Only 64-bit ELF files are supported.', 4);
  if (reader.u8(5) !== 1) throw bad('elf/big-endian', 'Only little-endian ELF files are supported.', 5);
  return {
    ident: reader.slice(0, 16),
    osAbi: reader.u8(7),
    abiVersion: reader.u8(8),
    type: reader.u16(16),
    machine: reader.u16(18),
    version: reader.u32(20),
    entry: reader.u64(24),
    programHeaderOffset: reader.u64AsNumber(32),
    sectionHeaderOffset: reader.u64AsNumber(40),
    flags: reader.u32(48),
    headerSize: reader.u16(52),
    programHeaderSize: reader.u16(54),
    programHeaderCount: reader.u16(56),
    sectionHeaderSize: reader.u16(58),
    sectionHeaderCount: reader.u16(60),
    sectionNameIndex: reader.u16(62),
  };
}

function readSegments(reader: ByteReader, header: ElfHeader): ElfSegment[] {
  if (header.programHeaderOffset === 0 || header.programHeaderCount === 0) return [];
  if (header.programHeaderSize !== PROGRAM_HEADER_SIZE) {
    throw bad('elf/bad-header', `e_phentsize is ${header.programHeaderSize}, not ${PROGRAM_HEADER_SIZE}.`, 54);
  }
  reader.check(header.programHeaderOffset, header.programHeaderCount * PROGRAM_HEADER_SIZE);
  const segments: ElfSegment[] = [];
  for (let index = 0; index < header.programHeaderCount; index++) {
    const at = header.programHeaderOffset + index * PROGRAM_HEADER_SIZE;
    const segment: ElfSegment = {
      index,
      type: reader.u32(at),
      flags: reader.u32(at + 4),
      offset: reader.u64AsNumber(at + 8),
      virtualAddress: reader.u64AsNumber(at + 16),
      physicalAddress: reader.u64AsNumber(at + 24),
      fileSize: reader.u64AsNumber(at + 32),
      memorySize: reader.u64AsNumber(at + 40),
      alignment: reader.u64AsNumber(at + 48),
    };
    if (segment.offset + segment.fileSize > reader.length) {
      throw bad('elf/segment-bounds', `Segment ${index} lies outside the file.`, at);
    }
    segments.push(segment);
  }
  return segments;
}

function readSections(reader: ByteReader, header: ElfHeader): ElfSection[] {
  const table = header.sectionHeaderOffset;
  if (table === 0) return [];
  if (header.sectionHeaderSize !== SECTION_HEADER_SIZE) {
    throw bad('elf/bad-header', `e_shentsize is ${header.sectionHeaderSize}, not ${SECTION_HEADER_SIZE}.`, 58);
  }
  reader.check(table, SECTION_HEADER_SIZE);
  const count = header.sectionHeaderCount === 0 ? reader.u64AsNumber(table + 32) : header.sectionHeaderCount;
  if (count === 0) return [];
  reader.check(table, count * SECTION_HEADER_SIZE);
  const namesIndex = header.sectionNameIndex === 0xffff ? reader.u32(table + 40) : header.sectionNameIndex;
  if (namesIndex >= count) {
    throw bad('elf/bad-header', `The section name table is section ${namesIndex} of ${count}.`, 62);
  }
  const noNames = new NameTable(new Uint8Array(0));
  const names = namesIndex === 0 ? noNames : new NameTable(readSection(reader, table, namesIndex, noNames).bytes);
  const sections: ElfSection[] = [];
  for (let index = 0; index < count; index++) sections.push(readSection(reader, table, index, names));
  return sections;
}

function readSection(reader: ByteReader, table: number, index: number, names: NameTable): ElfSection {
  const at = table + index * SECTION_HEADER_SIZE;
  const type = reader.u32(at + 4);
  const offset = reader.u64AsNumber(at + 24);
  const size = reader.u64AsNumber(at + 32);
  const hasContent = type !== ElfSectionType.NOBITS && type !== ElfSectionType.NULL;
  if (hasContent && offset + size > reader.length) {
    throw bad('elf/section-bounds', `Section ${index} lies outside the file (0x${offset.toString(16)}+${size}).`, at);
  }
  return {
    index,
    name: stringAt(names, reader.u32(at), at),
    type,
    flags: reader.u64(at + 8),
    address: reader.u64AsNumber(at + 16),
    offset,
    size,
    link: reader.u32(at + 40),
    info: reader.u32(at + 44),
    alignment: reader.u64AsNumber(at + 48),
    entrySize: reader.u64AsNumber(at + 56),
    bytes: hasContent ? reader.slice(offset, size) : new Uint8Array(0),
  };
}

function stringAt(table: NameTable, offset: number, where: number): string {
  if (table.size === 0) return '';
  if (offset >= table.size) {
    throw bad('elf/bad-string', `A name starts at ${offset}, beyond its string table of ${table.size} bytes.`, where);
  }
  return table.at(offset);
}

function readSymbols(sections: readonly ElfSection[], table: ElfSection): ElfSymbol[] {
  const strings = sections[table.link];
  if (strings === undefined || strings.type !== ElfSectionType.STRTAB) {
    throw bad('elf/bad-symbol-table', `${table.name} has no string table (sh_link is ${table.link}).`, table.offset);
  }
  const extended = sections.find((s) => s.type === ElfSectionType.SYMTAB_SHNDX && s.link === table.index);
  const reader = new ByteReader(table.bytes, `section ${table.name}`, 'elf/truncated');
  const shndx = extended && new ByteReader(extended.bytes, `section ${extended.name}`, 'elf/truncated');
  const count = Math.floor(reader.length / SYMBOL_SIZE);
  const symbols: ElfSymbol[] = [];
  const names = new NameTable(strings.bytes);
  let nameBudget = Math.max(1 << 20, 16 * strings.size);
  for (let index = 0; index < count; index++) {
    const at = index * SYMBOL_SIZE;
    const info = reader.u8(at + 4);
    const other = reader.u8(at + 5);
    const sectionIndex = reader.u16(at + 6);
    let real = sectionIndex;
    if (sectionIndex === 0xffff && shndx !== undefined) real = shndx.u32(index * 4);
    const isReserved = sectionIndex >= SectionIndex.LORESERVE && sectionIndex !== 0xffff;
    const section = isReserved || real === 0 ? undefined : sections[real];
    if (section === undefined && !isReserved && real !== 0) {
      throw bad(
        'elf/bad-symbol',
        `Symbol ${index} of ${table.name} is in section ${real} of ${sections.length}.`,
        table.offset + at,
      );
    }
    const name = stringAt(names, reader.u32(at), table.offset + at);
    nameBudget -= name.length;
    if (nameBudget < 0) {
      throw bad(
        'elf/bad-string',
        `The names of ${table.name} overlap far beyond their string table.`,
        table.offset + at,
      );
    }
    symbols.push({
      index,
      name,
      binding: info >> 4,
      type: info & 0xf,
      visibility: other & 3,
      other: other & ~3,
      sectionIndex,
      section,
      value: reader.u64(at + 8),
      size: reader.u64(at + 16),
    });
  }
  return symbols;
}
