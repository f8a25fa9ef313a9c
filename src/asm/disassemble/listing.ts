// The executable sections of a code object as a listing, one line per instruction, in the text of llvm-objdump -d.
// Source: llvm-objdump's disassembleObject (decoding restarts at symbols) and AMDGPUSymbolizer (names of branch targets).

import { type TextOutput, writeHex } from '../../base/index.ts';
import {
  type ElfFile,
  type ElfSection,
  ElfSectionType,
  type ElfSymbol,
  ElfType,
  SectionFlag,
  SymbolType,
} from '../../codeobject/index.ts';
import { type Decoder, decoderFor } from '../../isa/codec/decode.ts';
import type { Instruction, TargetName } from '../../isa/index.ts';
import { branchTarget, type ListingLine, labelsByAddress, listing, symbolText } from '../../isa/print/listing.ts';
import { MAX_INSTRUCTION_TEXT, type TextWriter, textWriterFor } from '../../isa/print/text-writer.ts';
import { wordAt } from './data.ts';
import { readHeader } from './header.ts';

/** The lines of one executable section. */
export interface SectionListing {
  readonly section: ElfSection;
  readonly lines: Iterable<ListingLine>;
}

/** Lists every executable section in file order; the lines are made while they are read. */
export function listCodeObject(elf: ElfFile): SectionListing[] {
  const { target } = readHeader(elf);
  return listedSections(elf).map((section) => ({ section, lines: sectionLines(elf, section, target) }));
}

function listedSections(elf: ElfFile): ElfSection[] {
  const isExecutable = (s: ElfSection) => (s.flags & BigInt(SectionFlag.EXECINSTR)) !== 0n && s.bytes.length > 0;
  return elf.sections.filter((s) => isExecutable(s) && s.type !== ElfSectionType.NOBITS);
}

/** Where decoding starts anew in a section, and what is at which address. */
interface Region {
  /** Address of the section's first byte. */
  readonly base: number;
  /** Offsets at which decoding starts: 0 and every symbol, ascending. */
  readonly starts: readonly number[];
  readonly labels: ReadonlyMap<number, string>;
}

function regionOf(elf: ElfFile, section: ElfSection): Region {
  const base = elf.header.type === ElfType.REL ? 0 : section.address;
  const table = elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols;
  const symbols = table
    .filter((s) => s.section === section && isNamed(s))
    .map(({ name, value, type }) => ({ name, address: Number(value), type }));
  const starts = new Set<number>([0]);
  for (const { address } of symbols) if (address > base && address - base < section.size) starts.add(address - base);
  return {
    base,
    starts: [...starts].sort((a, b) => a - b),
    labels: labelsByAddress(symbols.filter((s) => s.type === SymbolType.NOTYPE)),
  };
}

function* sectionLines(elf: ElfFile, section: ElfSection, target: TargetName): IterableIterator<ListingLine> {
  const { base, starts, labels } = regionOf(elf, section);
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i];
    const end = base + (starts[i + 1] ?? section.size);
    for (const line of listing(section.bytes.subarray(start), base + start, target, { labels })) {
      if (line.address >= end) break;
      yield line;
    }
  }
}

function isNamed(symbol: ElfSymbol): boolean {
  return symbol.name !== '' && symbol.type !== SymbolType.SECTION && symbol.type !== SymbolType.FILE;
}

/** A line of a listing as text: see `writeListing`. */
export function listingLine(line: ListingLine): string {
  const digits = line.size < 4 ? 2 : 8;
  const words = line.words.map((word) => word.toString(16).padStart(digits, '0')).join(' ');
  return `${line.address.toString(16).padStart(ADDRESS_DIGITS, '0')}\t${words}\t${line.text}`;
}

/** Digits of an address in a listing. */
const ADDRESS_DIGITS = 12;
/** Room for a line: address, encoding, text. */
const LINE_ROOM = MAX_INSTRUCTION_TEXT + 128;
const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;

/**
 * Writes every executable section in file order as lines `ADDRESS<TAB>WORDS<TAB>TEXT`: twelve hexadecimal digits, the
 * encoding in words (a tail in bytes), all lower-case. The lines are those of `listCodeObject`.
 */
export function writeListing(elf: ElfFile, out: TextOutput): void {
  const { target } = readHeader(elf);
  for (const section of listedSections(elf)) {
    const { base, starts, labels } = regionOf(elf, section);
    const writer = new LineWriter(section.bytes, base, target, labels, out);
    for (let i = 0; i < starts.length; i++) {
      // Instructions may reach over the next symbol, at which decoding starts again.
      for (let at = starts[i], end = starts[i + 1] ?? section.size; at < end; ) at += writer.write(at);
    }
  }
}

/** Writes the lines of one section. */
class LineWriter {
  private readonly bytes: Uint8Array;
  private readonly base: number;
  private readonly labels: ReadonlyMap<number, string>;
  private readonly target: TargetName;
  private readonly decoder: Decoder;
  private readonly writer: TextWriter;
  private readonly out: TextOutput;

  constructor(
    bytes: Uint8Array,
    base: number,
    target: TargetName,
    labels: ReadonlyMap<number, string>,
    out: TextOutput,
  ) {
    this.bytes = bytes;
    this.base = base;
    this.target = target;
    this.labels = labels;
    this.decoder = decoderFor(target);
    this.writer = textWriterFor(target);
    this.out = out;
  }

  /** Writes the line at an offset and returns how many bytes of code it covers. */
  write(offset: number): number {
    const { bytes, out, writer } = this;
    out.room(LINE_ROOM);
    const to = out.bytes;
    const address = this.base + offset;
    const start = out.at;
    writeHex(to, start, Math.floor(address / 2 ** 32), ADDRESS_DIGITS - 8);
    writeHex(to, start + ADDRESS_DIGITS - 8, address >>> 0, 8);
    to[start + ADDRESS_DIGITS] = TAB;
    const size = writer.match(bytes, offset, bytes.length);
    if (size === 0) return this.writeData(offset, address, start + ADDRESS_DIGITS + 1);
    let at = start + ADDRESS_DIGITS + 1;
    for (let word = offset; word < offset + size; word += 4) {
      writeHex(to, at, wordAt(bytes, word), 8);
      to[at + 8] = SPACE;
      at += 9;
    }
    to[at - 1] = TAB;
    at = writer.writeText(to, at);
    if (writer.isBranch && this.labels.size > 0) {
      const target = branchTarget(this.decoder.decode(bytes, offset) as Instruction, address);
      const label = target === undefined ? undefined : this.labels.get(target);
      if (label !== undefined) {
        // The distance is the last operand.
        while (isDigit(to[at - 1])) at--;
        out.at = at;
        out.push(symbolText(label));
        return size;
      }
    }
    to[at] = NEWLINE;
    out.at = at + 1;
    return size;
  }

  /** The line of a word that is no instruction, or of the bytes of a tail. */
  private writeData(offset: number, address: number, wordsAt: number): number {
    const { bytes, out, target } = this;
    const [line] = listing(bytes.subarray(offset), address, target);
    const digits = line.size < 4 ? 2 : 8;
    let at = wordsAt;
    for (const word of line.words) {
      writeHex(out.bytes, at, word, digits);
      out.bytes[at + digits] = SPACE;
      at += digits + 1;
    }
    out.bytes[at - 1] = TAB;
    out.at = at;
    out.push(line.text);
    return line.size;
  }
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}
