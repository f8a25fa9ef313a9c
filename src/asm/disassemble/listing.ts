// The executable sections of a code object as a listing, one line per instruction, in the text of llvm-objdump -d.
// Source: llvm-objdump's disassembleObject (decoding restarts at symbols) and AMDGPUSymbolizer (names of branch targets).
import {
  type ElfFile,
  type ElfSection,
  ElfSectionType,
  type ElfSymbol,
  ElfType,
  SectionFlag,
  SymbolType,
} from '../../codeobject/index.ts';
import { type ListingLine, listing } from '../../isa/print/listing.ts';
import { readHeader } from './analysis.ts';

/** The lines of one executable section. */
export interface SectionListing {
  readonly section: ElfSection;
  readonly lines: Iterable<ListingLine>;
}

/** Lists every executable section in file order; the lines are made while they are read. */
export function listCodeObject(elf: ElfFile): SectionListing[] {
  const { target } = readHeader(elf);
  const isExecutable = (s: ElfSection) => (s.flags & BigInt(SectionFlag.EXECINSTR)) !== 0n && s.bytes.length > 0;
  return elf.sections
    .filter((s) => isExecutable(s) && s.type !== ElfSectionType.NOBITS)
    .map((section) => ({ section, lines: sectionLines(elf, section, target) }));
}

function* sectionLines(
  elf: ElfFile,
  section: ElfSection,
  target: ReturnType<typeof readHeader>['target'],
): IterableIterator<ListingLine> {
  const base = elf.header.type === ElfType.REL ? 0 : section.address;
  const table = elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols;
  const symbols = table.filter((s) => s.section === section && isNamed(s));
  const labels = new Map<number, string>();
  for (const symbol of symbols) {
    // Of several names at an address llvm-objdump takes the first in byte order.
    const address = Number(symbol.value);
    const known = labels.get(address);
    if (symbol.type === SymbolType.NOTYPE && (known === undefined || symbol.name < known)) {
      labels.set(address, symbol.name);
    }
  }
  const starts = new Set<number>([0]);
  for (const symbol of symbols) {
    const offset = Number(symbol.value) - base;
    if (offset > 0 && offset < section.size) starts.add(offset);
  }
  const ordered = [...starts].sort((a, b) => a - b);
  for (let i = 0; i < ordered.length; i++) {
    const start = ordered[i];
    const end = base + (ordered[i + 1] ?? section.size);
    for (const line of listing(section.bytes.subarray(start), base + start, target, { labels })) {
      if (line.address >= end) break;
      yield line;
    }
  }
}

function isNamed(symbol: ElfSymbol): boolean {
  return symbol.name !== '' && symbol.type !== SymbolType.SECTION && symbol.type !== SymbolType.FILE;
}

/** `ADDRESS<TAB>WORDS<TAB>TEXT`: twelve hexadecimal digits, the encoding in words (a tail in bytes), all lower-case. */
export function listingLine(line: ListingLine): string {
  const digits = line.size < 4 ? 2 : 8;
  const words = line.words.map((word) => word.toString(16).padStart(digits, '0')).join(' ');
  return `${line.address.toString(16).padStart(12, '0')}\t${words}\t${line.text}`;
}
