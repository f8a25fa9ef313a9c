// Writes a relocatable object (ET_REL) with llvm-mc's layout, and reads one back into the object model.
// Source: System V gABI chapter 4; LLVM's lib/MC/ELFObjectWriter.cpp for the order of sections and tables.
import { ByteReader, ByteWriter, WavesmithError } from '../../base/index.ts';
import {
  type ObjectGroup,
  type ObjectModel,
  type ObjectRelocation,
  type ObjectSection,
  type ObjectSymbol,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
} from './object-model.ts';
import { type ElfFile, ElfMachine, type ElfSection, ElfSectionType, ElfType, SectionIndex } from './read.ts';
import { TailMergedStringTable } from './string-table.ts';

export const ELF_HEADER_SIZE = 64;
export const SECTION_HEADER_SIZE = 64;
export const SYMBOL_SIZE = 24;
export const RELA_SIZE = 24;

/** Files do not get more padding than this; only excessive alignments ask for more. */
export const MAX_GAP_BYTES = 16 << 20;

function tooBig(name: string): WavesmithError {
  return new WavesmithError('elf/too-big', `Aligning section ${name} would pad the file by more than 16 MiB.`, {
    hint: 'Ask for a smaller alignment.',
  });
}

/** Throws unless an alignment is a power of two. */
export function checkAlignment(name: string, alignment: number): void {
  if (alignment >= 1 && Number.isInteger(Math.log2(alignment))) return;
  throw new WavesmithError('elf/bad-alignment', `The alignment ${alignment} of section ${name} is no power of two.`);
}

/** The fields of the ELF header that differ between files. */
export interface ElfHeaderFields {
  osAbi: number;
  abiVersion: number;
  type: number;
  flags: number;
  programHeaderOffset: number;
  programHeaderCount: number;
  sectionHeaderOffset: number;
  sectionHeaderCount: number;
  sectionNameIndex: number;
}

/** The 64 bytes of an AMDGPU ELF header. */
export function elfHeaderBytes(fields: ElfHeaderFields): Uint8Array {
  const hasSegments = fields.programHeaderCount > 0;
  return new ByteWriter(ELF_HEADER_SIZE)
    .u32(0x464c457f)
    .u8(2)
    .u8(1)
    .u8(1)
    .u8(fields.osAbi)
    .u8(fields.abiVersion)
    .fill(7)
    .u16(fields.type)
    .u16(ElfMachine.AMDGPU)
    .u32(1)
    .u64(0)
    .u64(fields.programHeaderOffset)
    .u64(fields.sectionHeaderOffset)
    .u32(fields.flags)
    .u16(ELF_HEADER_SIZE)
    .u16(hasSegments ? 56 : 0)
    .u16(fields.programHeaderCount)
    .u16(SECTION_HEADER_SIZE)
    .u16(fields.sectionHeaderCount)
    .u16(fields.sectionNameIndex)
    .finish();
}

/** One section header. */
export interface SectionHeaderFields {
  name: number;
  type: number;
  flags: number | bigint;
  address: number;
  offset: number;
  size: number;
  link: number;
  info: number;
  alignment: number;
  entrySize: number;
}

/** Appends a section header. */
export function writeSectionHeader(writer: ByteWriter, h: SectionHeaderFields): void {
  writer.u32(h.name).u32(h.type).u64(h.flags).u64(h.address).u64(h.offset).u64(h.size);
  writer.u32(h.link).u32(h.info).u64(h.alignment).u64(h.entrySize);
}

/** Appends a symbol table entry. */
export function writeSymbol(
  writer: ByteWriter,
  name: number,
  binding: number,
  type: number,
  other: number,
  sectionIndex: number,
  value: bigint,
  size: bigint,
): void {
  writer
    .u32(name)
    .u8((binding << 4) | type)
    .u8(other)
    .u16(sectionIndex)
    .u64(value)
    .u64(size);
}

const NULL_HEADER: SectionHeaderFields = {
  name: 0,
  type: 0,
  flags: 0,
  address: 0,
  offset: 0,
  size: 0,
  link: 0,
  info: 0,
  alignment: 0,
  entrySize: 0,
};

interface PlannedSection extends SectionHeaderFields {
  nameText: string;
}

/** The bytes of a relocatable object file, laid out as llvm-mc lays it out (the address significance table last). */
export function writeObject(object: ObjectModel): Uint8Array {
  const planned: PlannedSection[] = [];
  const plan = (nameText: string, fields: Partial<SectionHeaderFields>): PlannedSection => {
    const section = { ...NULL_HEADER, nameText, ...fields };
    planned.push(section);
    return section;
  };
  const stringTable = plan('.strtab', { type: ElfSectionType.STRTAB, alignment: 1 });
  const indexOf = new Map<ObjectSection, number>();
  const symbolIndex = new Map<ObjectSymbol, number>(object.symbols.map((s, i) => [s, i + 1]));
  const groups = new Map<ObjectGroup, { header: PlannedSection; members: number[] }>();
  const plannedOf = new Map<ObjectSection, PlannedSection>();
  const relocationTables: { header: PlannedSection; section: ObjectSection }[] = [];
  for (const section of object.sections) {
    let members: number[] | undefined;
    if (section.group !== undefined) {
      let group = groups.get(section.group);
      if (group === undefined) {
        const header = plan('.group', { type: ElfSectionType.GROUP, alignment: 4, entrySize: 4 });
        group = { header, members: [] };
        groups.set(section.group, group);
      }
      members = group.members;
    }
    const { type, flags, size, alignment, entrySize } = section;
    plannedOf.set(section, plan(section.name, { type, flags, size, alignment, entrySize }));
    indexOf.set(section, planned.length);
    members?.push(planned.length);
    if (section.relocations.length === 0) continue;
    const header = plan(`.rela${section.name}`, {
      type: ElfSectionType.RELA,
      flags: section.group === undefined ? SectionFlag.INFO_LINK : SectionFlag.GROUP,
      info: planned.length,
      alignment: 8,
      entrySize: RELA_SIZE,
      size: section.relocations.length * RELA_SIZE,
    });
    members?.push(planned.length);
    relocationTables.push({ header, section });
  }
  const symbolTable = plan('.symtab', { type: ElfSectionType.SYMTAB, alignment: 8, entrySize: SYMBOL_SIZE, link: 1 });
  const symbolTableIndex = planned.length;
  if (planned.length >= SectionIndex.LORESERVE) {
    throw new WavesmithError('elf/too-many-sections', `The object has ${planned.length} sections; ELF allows 65279.`);
  }
  const strings = new TailMergedStringTable([...planned.map((s) => s.nameText), ...object.symbols.map((s) => s.name)]);

  const writer = new ByteWriter(4096).fill(ELF_HEADER_SIZE);
  let gaps = 0;
  const begin = (header: PlannedSection) => {
    checkAlignment(header.nameText, header.alignment);
    const gap = (header.alignment - (writer.length % header.alignment)) % header.alignment;
    gaps += gap;
    if (gaps > MAX_GAP_BYTES) throw tooBig(header.nameText);
    writer.fill(gap);
    header.offset = writer.length;
  };
  for (const [group, { header, members }] of groups) {
    const signature = object.symbols.find((s) => s.name === group.signature);
    header.link = symbolTableIndex;
    header.info = signature === undefined ? 0 : symbolIndex.get(signature)!;
    header.size = 4 * (members.length + 1);
  }
  const writeContent = (section: ObjectSection) => {
    const header = plannedOf.get(section)!;
    begin(header);
    if (section.type !== SectionType.NOBITS) writer.raw(section.bytes);
  };
  for (const section of object.sections) {
    if (section.type === SectionType.LLVM_ADDRSIG) continue;
    writeContent(section);
    if (section.linkedTo !== undefined) plannedOf.get(section)!.link = indexOf.get(section.linkedTo) ?? 0;
  }
  for (const [group, { header, members }] of groups) {
    begin(header);
    writer.u32(group.comdat ? 1 : 0);
    for (const member of members) writer.u32(member);
  }
  begin(symbolTable);
  symbolTable.size = (object.symbols.length + 1) * SYMBOL_SIZE;
  const firstGlobal = object.symbols.findIndex((s) => s.binding !== SymbolBinding.LOCAL);
  symbolTable.info = (firstGlobal < 0 ? object.symbols.length : firstGlobal) + 1;
  writer.fill(SYMBOL_SIZE);
  for (const s of object.symbols) {
    const index = sectionIndexOf(s, indexOf);
    writeSymbol(writer, strings.offsetOf(s.name), s.binding, s.type, s.visibility, index, s.value, s.size);
  }
  for (const { header, section } of relocationTables) {
    header.link = symbolTableIndex;
    begin(header);
    for (const r of section.relocations) {
      const symbol = r.symbol === undefined ? 0 : symbolIndex.get(r.symbol);
      if (symbol === undefined) {
        throw new WavesmithError(
          'elf/bad-relocation',
          `A relocation of ${section.name} uses a symbol that is not listed.`,
        );
      }
      writer
        .u64(r.offset)
        .u64((BigInt(symbol) << 32n) | BigInt(r.type))
        .u64(r.addend);
    }
  }
  for (const section of object.sections.filter((s) => s.type === SectionType.LLVM_ADDRSIG)) {
    plannedOf.get(section)!.link = symbolTableIndex;
    writeContent(section);
  }
  begin(stringTable);
  stringTable.size = strings.bytes.length;
  writer.raw(strings.bytes).align(8);
  const sectionHeaderOffset = writer.length;
  writeSectionHeader(writer, NULL_HEADER);
  for (const section of planned) {
    writeSectionHeader(writer, { ...section, name: strings.offsetOf(section.nameText) });
  }
  const file = writer.finish();
  file.set(
    elfHeaderBytes({
      osAbi: object.osAbi,
      abiVersion: object.abiVersion,
      type: ElfType.REL,
      flags: object.flags,
      programHeaderOffset: 0,
      programHeaderCount: 0,
      sectionHeaderOffset,
      sectionHeaderCount: planned.length + 1,
      sectionNameIndex: 1,
    }),
  );
  return file;
}

function sectionIndexOf(symbol: ObjectSymbol, indexOf: ReadonlyMap<ObjectSection, number>): number {
  switch (symbol.section) {
    case 'undefined':
      return SectionIndex.UNDEF;
    case 'absolute':
      return SectionIndex.ABS;
    case 'common':
      return SectionIndex.COMMON;
    case 'lds':
      return SectionIndex.AMDGPU_LDS;
    default: {
      const index = indexOf.get(symbol.section);
      if (index === undefined) {
        throw new WavesmithError('elf/bad-symbol', `Symbol '${symbol.name}' is in a section that is not listed.`);
      }
      return index;
    }
  }
}

const WRITER_OWNED: readonly number[] = [
  ElfSectionType.NULL,
  ElfSectionType.SYMTAB,
  ElfSectionType.STRTAB,
  ElfSectionType.RELA,
  ElfSectionType.REL,
  ElfSectionType.GROUP,
  ElfSectionType.SYMTAB_SHNDX,
];

/** The object model of a relocatable AMDGPU ELF file. */
export function readObject(elf: ElfFile): ObjectModel {
  if (elf.header.type !== ElfType.REL || elf.header.machine !== ElfMachine.AMDGPU) {
    throw new WavesmithError('elf/not-relocatable', 'The file is not a relocatable AMDGPU object.', {
      hint: "Linked code objects (.co, .hsaco) cannot be linked again; give the '.o'.",
    });
  }
  const sections = new Map<ElfSection, ObjectSection>();
  for (const s of elf.sections) {
    if (WRITER_OWNED.includes(s.type)) continue;
    sections.set(s, {
      name: s.name,
      type: s.type,
      flags: Number(s.flags),
      alignment: Math.max(1, s.alignment),
      entrySize: s.entrySize,
      size: s.size,
      bytes: s.bytes,
      relocations: [],
    });
  }
  readGroups(elf, sections);
  for (const [from, to] of sections) {
    if ((to.flags & SectionFlag.LINK_ORDER) !== 0) to.linkedTo = sections.get(elf.sections[from.link]);
  }
  const symbols: ObjectSymbol[] = elf.symbols.slice(1).map((s) => ({
    name: s.type === SymbolType.SECTION ? '' : s.name,
    binding: s.binding,
    type: s.type,
    visibility: s.visibility,
    section: symbolSection(s.sectionIndex, s.section && sections.get(s.section), s.name),
    value: s.value,
    size: s.size,
  }));
  for (const table of elf.relocationSections) {
    const section = table.target && sections.get(table.target);
    if (section === undefined) continue;
    section.relocations = table.relocations.map((r): ObjectRelocation => {
      if (r.addend === undefined) {
        throw new WavesmithError('elf/rel-unsupported', `${table.section.name} has no addends; AMDGPU uses RELA.`);
      }
      const symbol = r.symbolIndex === 0 ? undefined : symbols[r.symbolIndex - 1];
      return { offset: r.offset, type: r.type, symbol, addend: r.addend };
    });
  }
  return {
    flags: elf.header.flags,
    osAbi: elf.header.osAbi,
    abiVersion: elf.header.abiVersion,
    sections: [...sections.values()],
    symbols,
  };
}

function symbolSection(index: number, section: ObjectSection | undefined, name: string): ObjectSymbol['section'] {
  if (section !== undefined) return section;
  switch (index) {
    case SectionIndex.UNDEF:
      return 'undefined';
    case SectionIndex.ABS:
      return 'absolute';
    case SectionIndex.COMMON:
      return 'common';
    case SectionIndex.AMDGPU_LDS:
      return 'lds';
    default:
      throw new WavesmithError(
        'elf/bad-symbol',
        `Symbol '${name}' is in section 0x${index.toString(16)}, which cannot hold it.`,
      );
  }
}

function readGroups(elf: ElfFile, sections: ReadonlyMap<ElfSection, ObjectSection>): void {
  for (const group of elf.sections.filter((s) => s.type === ElfSectionType.GROUP)) {
    const reader = new ByteReader(group.bytes, `section ${group.name}`, 'elf/truncated');
    const table = elf.sections[group.link];
    const symbols = table?.type === ElfSectionType.SYMTAB ? elf.symbolsOf(table) : [];
    const value: ObjectGroup = { signature: symbols[group.info]?.name ?? '', comdat: (reader.u32(0) & 1) !== 0 };
    for (let at = 4; at + 4 <= reader.length; at += 4) {
      const member = elf.sections[reader.u32(at)];
      const section = member && sections.get(member);
      if (section !== undefined) section.group = value;
    }
  }
}
