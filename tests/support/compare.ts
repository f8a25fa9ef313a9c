// Compares two code objects as a round trip must leave them: code, descriptors, metadata, data, symbols, relocations.
import {
  type ElfFile,
  type ElfSection,
  ElfSectionType,
  type ElfSymbol,
  ElfType,
  metadataNotes,
  readElf,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
} from '../../src/codeobject/index.ts';

/** Sections whose content a linker makes anew, and notes, which are compared record by record. */
const REBUILT_TYPES: ReadonlySet<number> = new Set([
  ElfSectionType.NULL,
  ElfSectionType.SYMTAB,
  ElfSectionType.STRTAB,
  ElfSectionType.RELA,
  ElfSectionType.REL,
  ElfSectionType.HASH,
  ElfSectionType.GNU_HASH,
  ElfSectionType.DYNAMIC,
  ElfSectionType.DYNSYM,
  ElfSectionType.NOTE,
  ElfSectionType.GROUP,
  ElfSectionType.SYMTAB_SHNDX,
  SectionType.LLVM_ADDRSIG,
]);

/** What differs, one line each; empty when the round trip kept everything. */
export function roundTripDifferences(original: Uint8Array, rebuilt: Uint8Array): string[] {
  const a = readElf(original);
  const b = readElf(rebuilt);
  const found: string[] = [];
  if (a.header.flags !== b.header.flags && a.header.abiVersion > 1) {
    found.push(`e_flags 0x${a.header.flags.toString(16)} -> 0x${b.header.flags.toString(16)}`);
  }
  if (a.header.abiVersion !== b.header.abiVersion && a.header.abiVersion > 1) found.push('ABI version');
  found.push(...sectionDifferences(a, b), ...metadataDifferences(a, b));
  found.push(...listDifferences('symbols', publicSymbols(a), publicSymbols(b)));
  found.push(...listDifferences('relocations', relocations(a), relocations(b)));
  return found;
}

function loadedSections(elf: ElfFile): ElfSection[] {
  return elf.sections.filter(
    (s) =>
      (s.flags & BigInt(SectionFlag.ALLOC)) !== 0n &&
      !REBUILT_TYPES.has(s.type) &&
      s.name !== '.relro_padding' &&
      s.size > 0,
  );
}

function sectionDifferences(a: ElfFile, b: ElfFile): string[] {
  const found: string[] = [];
  const others = loadedSections(b);
  for (const section of loadedSections(a)) {
    const at = others.findIndex((s) => s.name === section.name);
    if (at < 0) {
      found.push(`section ${section.name} is missing`);
      continue;
    }
    const [other] = others.splice(at, 1);
    if (other.size !== section.size) found.push(`${section.name} has ${other.size} bytes instead of ${section.size}`);
    const first = firstDifference(section.bytes, other.bytes);
    if (first >= 0) found.push(`${section.name} differs at +0x${first.toString(16)}`);
    if (other.alignment !== section.alignment)
      found.push(`${section.name} alignment ${section.alignment} -> ${other.alignment}`);
  }
  for (const section of others) found.push(`section ${section.name} is new`);
  return found;
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return i;
  return -1;
}

function metadataDifferences(a: ElfFile, b: ElfFile): string[] {
  const x = metadataNotes(a);
  const y = metadataNotes(b);
  if (x.length !== y.length) return [`${y.length} metadata notes instead of ${x.length}`];
  return x.flatMap((note, i) => {
    const isSame = note.description.length === y[i].description.length;
    return isSame && firstDifference(note.description, y[i].description) < 0 ? [] : [`metadata note ${i} differs`];
  });
}

/** Symbols that others can see (and in relocatable objects undefined ones), with where they are. */
function publicSymbols(elf: ElfFile): string[] {
  const table = elf.header.type === ElfType.REL ? elf.symbols : elf.dynamicSymbols;
  return table
    .filter((s) => s.binding !== SymbolBinding.LOCAL && s.type !== SymbolType.SECTION)
    .map((s) => `${s.name} ${s.binding} ${s.type} ${s.visibility} ${s.size} ${placeOf(elf, s)}`)
    .sort();
}

function placeOf(elf: ElfFile, symbol: ElfSymbol): string {
  if (symbol.section === undefined) return `#${symbol.sectionIndex}`;
  const base = elf.header.type === ElfType.REL ? 0 : symbol.section.address;
  return `${symbol.section.name}+${Number(symbol.value) - base}`;
}

function relocations(elf: ElfFile): string[] {
  const lines: string[] = [];
  for (const { target, relocations: records } of elf.relocationSections) {
    if (target !== undefined && (target.flags & BigInt(SectionFlag.ALLOC)) === 0n) continue;
    for (const r of records) {
      const where = target === undefined ? addressText(elf, r.offset) : `${target.name}+${r.offset}`;
      const isSection = r.symbol?.type === SymbolType.SECTION;
      const name = isSection ? r.symbol?.section?.name : r.symbol?.name;
      const addend = r.symbol === undefined ? addressText(elf, Number(r.addend ?? 0n)) : `${r.addend}`;
      lines.push(`${where} ${r.type} ${name ?? ''} ${addend}`);
    }
  }
  return lines.sort();
}

function addressText(elf: ElfFile, address: number): string {
  const section = elf.sections.find(
    (s) => (s.flags & BigInt(SectionFlag.ALLOC)) !== 0n && address >= s.address && address < s.address + s.size,
  );
  return section === undefined ? `${address}` : `${section.name}+${address - section.address}`;
}

function listDifferences(what: string, a: string[], b: string[]): string[] {
  const inA = new Set(a);
  const inB = new Set(b);
  const gone = a.filter((x) => !inB.has(x));
  const added = b.filter((x) => !inA.has(x));
  if (gone.length === 0 && added.length === 0) return [];
  return [
    `${what}: -[${gone.slice(0, 3).join('; ')}] +[${added.slice(0, 3).join('; ')}] (${gone.length}, ${added.length})`,
  ];
}
