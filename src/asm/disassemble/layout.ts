// What stands between the items of a section: symbol definitions, sizes, generated labels, and the alignment of
// functions, which must survive an edit of the code before them.
import { SymbolType } from '../../codeobject/index.ts';
import { hex, type LineSink, wordAt } from './data.ts';
import type { ImageSection, ImageSymbol } from './image.ts';
import type { Labels } from './labels.ts';
import { definitionLines } from './symbols.ts';

const MAX_ALIGNMENT = 256;
const WORD = 4;
/** Padding before a label inside a function counts as alignment from this many bytes on. */
const MIN_LABEL_PADDING = 32;
/** s_nop 0: what `.p2align` fills code with. */
export const NOP_WORD = 0xbf800000;

/** Writes symbols, sizes and labels of one section as its items pass by, in ascending order of offset. */
export class LayoutPrinter {
  private readonly section: ImageSection;
  private readonly labels: Labels;
  private readonly out: LineSink;
  private readonly isProtectedByDirective: (symbol: ImageSymbol) => boolean;
  /** Every offset at which `arrive` has something to write, then the section's end. */
  private readonly stops: readonly number[];
  private nextStop = 0;
  private nextSymbol = 0;
  /** Symbols with a size whose end is still ahead, nearest end first. */
  private readonly ends: readonly { readonly at: number; readonly name: string; readonly symbol: ImageSymbol }[];
  private nextEnd = 0;
  private functionEnd = 0;
  private alignedAt = -1;
  private readonly selfDefined = new Set<ImageSymbol>();

  constructor(
    section: ImageSection,
    labels: Labels,
    out: LineSink,
    isProtectedByDirective: (symbol: ImageSymbol) => boolean = () => false,
  ) {
    this.section = section;
    this.labels = labels;
    this.out = out;
    this.isProtectedByDirective = isProtectedByDirective;
    this.ends = section.symbols
      .filter((s) => this.hasEndLabel(s))
      .map((s) => ({ at: s.offset + s.size, name: s.name, symbol: s }))
      .sort((a, b) => a.at - b.at);
    const stops = new Set([...section.symbols.map((s) => s.offset), ...this.ends.map((e) => e.at)]);
    for (const offset of labels.offsetsOf(section)) stops.add(offset);
    stops.add(section.size);
    this.stops = [...stops].sort((a, b) => a - b);
  }

  /** True when the size can be written as a difference at its end; other sizes are plain numbers. */
  private hasEndLabel(symbol: ImageSymbol): boolean {
    const end = symbol.offset + symbol.size;
    return symbol.size > 0 && end <= this.section.size && this.labels.isStart(this.section, end);
  }

  /** The nearest offset behind `at` with something to write. */
  stopAfter(at: number): number {
    while (this.nextStop < this.stops.length - 1 && this.stops[this.nextStop] <= at) this.nextStop++;
    return this.stops[this.nextStop];
  }

  /** True inside a function with a known size. Offsets must not decrease between calls. */
  isInFunction(at: number): boolean {
    return at < this.functionEnd;
  }

  /**
   * Alignment of the function that starts at an offset, or of another label that unreachable `padding` leads up to (the
   * second entry of a kernel with preloaded arguments); 1 when there is none.
   */
  alignmentAt(offset: number, padding = 0): number {
    if (offset % WORD !== 0) return 1;
    const limit = Math.min(MAX_ALIGNMENT, powerOfTwoUpTo(this.section.elf.alignment));
    const symbols = this.labels.symbolsAt(this.section, offset);
    if (symbols.some((s) => s.elf.type === SymbolType.FUNC)) {
      return offset === 0 ? limit : Math.min(limit, offset & -offset);
    }
    if (padding < MIN_LABEL_PADDING) return 1;
    if (symbols.length === 0 && this.labels.labelAt(this.section, offset) === undefined) return 1;
    const alignment = 2 ** (32 - Math.clz32(padding));
    return alignment <= limit && offset % alignment === 0 ? alignment : 1;
  }

  /** Passes everything up to an offset without writing it; what starts at the offset itself is still ahead. */
  skip(at: number): void {
    while (this.nextEnd < this.ends.length && this.ends[this.nextEnd].at <= at) this.nextEnd++;
    const { symbols } = this.section;
    while (this.nextSymbol < symbols.length && symbols[this.nextSymbol].offset < at) this.nextSymbol++;
  }

  /** Writes what belongs at an offset, before the item there, except a symbol that the item defines by itself. */
  arrive(at: number, except?: ImageSymbol): void {
    while (this.nextEnd < this.ends.length && this.ends[this.nextEnd].at <= at) {
      const { name, symbol } = this.ends[this.nextEnd++];
      if (!this.selfDefined.has(symbol)) this.out.push(`\t.size\t${name}, .-${name}`);
    }
    if (except !== undefined) this.selfDefined.add(except);
    const { symbols } = this.section;
    if (this.nextSymbol < symbols.length && symbols[this.nextSymbol].offset <= at) {
      const alignment = this.alignmentAt(at);
      if (at > 0 && alignment > 1 && this.alignedAt !== at) this.out.push(`\t.p2align\t${Math.log2(alignment)}`);
    }
    while (this.nextSymbol < symbols.length && symbols[this.nextSymbol].offset <= at) {
      const symbol = symbols[this.nextSymbol++];
      if (symbol === except) continue;
      this.out.push(...definitionLines(symbol.name, symbol.elf, this.isProtectedByDirective(symbol)));
      if (symbol.size > 0 && !this.hasEndLabel(symbol)) this.out.push(`\t.size\t${symbol.name}, ${symbol.size}`);
      if (symbol.elf.type === SymbolType.FUNC) {
        this.functionEnd = Math.max(this.functionEnd, symbol.offset + symbol.size);
      }
    }
    const label = this.labels.labelAt(this.section, at);
    if (label !== undefined) this.out.push(`${label}:`);
  }

  /** Equal words: as alignment when they lead up to an aligned function or label, the rest as `.fill`. */
  run(at: number, count: number, isBehindJump: boolean): void {
    const word = wordAt(this.section.bytes, at);
    const end = at + count * WORD;
    const alignment = this.alignmentAt(end, isBehindJump ? count * WORD : 0);
    const isFiller = word === NOP_WORD || word === 0;
    const padding = isFiller && alignment > 1 ? Math.min(end - at, alignment - WORD) : 0;
    const comment = word === NOP_WORD ? '\t; s_nop 0' : '';
    const fill = count - padding / WORD;
    if (fill > 0) this.out.push(`\t.fill ${fill}, 4, ${hex(word)}${comment}`);
    if (padding > 0) {
      const log2 = Math.log2(alignment);
      this.out.push(word === NOP_WORD ? `\t.p2align\t${log2}` : `\t.p2alignl\t${log2}, ${hex(word)}`);
      this.alignedAt = end;
    }
  }
}

function powerOfTwoUpTo(value: number): number {
  return value >= 2 ** 31 ? 2 ** 31 : value < 1 ? 1 : 2 ** (31 - Math.clz32(value));
}
