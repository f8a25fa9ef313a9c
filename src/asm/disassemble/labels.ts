// Labels of a disassembly: which positions need a name, what they are called, and how a position is written.
// Branch targets are `.LBB<function>_<n>` with n in address order, so names do not depend on who refers to them first.
import { SymbolBinding, SymbolType } from '../../codeobject/index.ts';
import { type Image, type ImageSection, type ImageSymbol, isPreemptible, type Place } from './image.ts';
import { isOperandName } from './names.ts';

interface SectionLabels {
  /** Positions that references need; a label goes to the start of the item that holds the position. */
  readonly wanted: Set<number>;
  /** Branch targets; only those at the start of an item get a label. */
  readonly branches: Set<number>;
  /** One bit per byte: an instruction or data item of a code section starts here. */
  readonly starts: Uint32Array | undefined;
  readonly symbolsAt: Map<number, ImageSymbol[]>;
  /** Symbols with a size that references may use, in ascending order of offset. */
  readonly covering: readonly ImageSymbol[];
  names: Map<number, string>;
}

/** How a position is written: a name and what to add to it. */
export interface Written {
  readonly name: string;
  readonly delta: number;
}

/** Collects wanted positions (first pass), names them, and then writes positions (second pass). */
export class Labels {
  private readonly image: Image;
  private readonly sections = new Map<ImageSection, SectionLabels>();

  constructor(image: Image) {
    this.image = image;
    for (const section of image.sections) {
      const symbolsAt = new Map<number, ImageSymbol[]>();
      for (const symbol of section.symbols) {
        const there = symbolsAt.get(symbol.offset);
        if (there === undefined) symbolsAt.set(symbol.offset, [symbol]);
        else there.push(symbol);
      }
      this.sections.set(section, {
        wanted: new Set(),
        branches: new Set(),
        starts: section.kind === 'code' ? new Uint32Array((section.size >>> 5) + 1) : undefined,
        symbolsAt,
        covering: section.symbols.filter((s) => s.size > 0 && this.isReferable(s)),
        names: new Map(),
      });
    }
  }

  private of(section: ImageSection): SectionLabels {
    return this.sections.get(section) as SectionLabels;
  }

  /** Records that an item starts at an offset of a code section. */
  markStart(section: ImageSection, offset: number): void {
    const starts = this.of(section).starts as Uint32Array;
    starts[offset >>> 5] |= 1 << (offset & 31);
  }

  /** True when a label can stand at the offset. */
  isStart(section: ImageSection, offset: number): boolean {
    if (offset === section.size) return true;
    const { starts } = this.of(section);
    return starts === undefined || ((starts[offset >>> 5] >>> (offset & 31)) & 1) === 1;
  }

  /** Symbols defined at an offset, in table order. */
  symbolsAt(section: ImageSection, offset: number): readonly ImageSymbol[] {
    return this.of(section).symbolsAt.get(offset) ?? [];
  }

  /** Asks for a branch target; only names that the assembler resolves by itself may stand there. */
  wantBranch(place: Place): void {
    if (this.localSymbol(place) === undefined) this.of(place.section).branches.add(place.offset);
  }

  /** Asks for a position that data or pc-relative code refers to. */
  wantReference(place: Place): void {
    if (this.symbolFor(place) === undefined) this.of(place.section).wanted.add(place.offset);
  }

  /** Asks for a label whatever symbols there are (label differences need assembler-local names). */
  wantLabel(place: Place): void {
    this.of(place.section).wanted.add(place.offset);
  }

  /** Names every wanted position. Call once, between the passes. */
  assign(): void {
    let functions = 0;
    for (const section of this.image.sections) {
      const labels = this.of(section);
      const offsets = this.labelOffsets(section, labels);
      if (section.kind !== 'code') {
        const stem = section.name.replace(/[^A-Za-z0-9_]/g, '_');
        for (const offset of offsets)
          labels.names.set(offset, this.image.names.take(`.L${stem}_${offset.toString(16)}`));
        continue;
      }
      const entries = section.symbols.filter((s) => s.elf.type === SymbolType.FUNC);
      let current = -1;
      let count = 0;
      for (const offset of offsets) {
        while (current + 1 < entries.length && entries[current + 1].offset <= offset) {
          current++;
          count = 0;
        }
        const index = functions + Math.max(0, current);
        labels.names.set(offset, this.image.names.take(`.LBB${index}_${count++}`));
      }
      functions += Math.max(1, entries.length);
    }
  }

  /** Where labels go: starts of items, in ascending order. */
  private labelOffsets(section: ImageSection, labels: SectionLabels): number[] {
    const offsets = new Set<number>();
    for (const offset of labels.wanted) offsets.add(this.startBefore(section, offset));
    for (const offset of labels.branches) if (this.isStart(section, offset)) offsets.add(offset);
    return [...offsets].sort((a, b) => a - b);
  }

  /** The start of the item that holds an offset. */
  private startBefore(section: ImageSection, offset: number): number {
    const { starts } = this.of(section);
    if (starts === undefined || offset >= section.size) return offset;
    let index = offset >>> 5;
    let word = starts[index] & (0xffffffff >>> (31 - (offset & 31)));
    while (word === 0 && index > 0) word = starts[--index];
    return word === 0 ? 0 : index * 32 + 31 - Math.clz32(word);
  }

  /** The generated label to define at an offset, if any. */
  labelAt(section: ImageSection, offset: number): string | undefined {
    return this.of(section).names.get(offset);
  }

  /** Offsets with generated labels, ascending. */
  offsetsOf(section: ImageSection): number[] {
    return [...this.of(section).names.keys()].sort((a, b) => a - b);
  }

  /** The name to branch to, or undefined when no label can stand at the place. */
  branchTarget(place: Place): string | undefined {
    if (!this.isStart(place.section, place.offset)) return undefined;
    return this.localSymbol(place)?.name ?? this.labelAt(place.section, place.offset);
  }

  /** A reference to a place as `name` plus a difference. */
  write(place: Place): Written {
    const symbol = this.symbolFor(place);
    if (symbol !== undefined) return { name: symbol.name, delta: place.offset - symbol.offset };
    const start = this.startBefore(place.section, place.offset);
    const name = this.labelAt(place.section, start) as string;
    return { name, delta: place.offset - start };
  }

  /** The generated label at a place that `wantLabel` asked for, as a name plus a difference. */
  writeLabel(place: Place): Written {
    const start = this.startBefore(place.section, place.offset);
    return { name: this.labelAt(place.section, start) as string, delta: place.offset - start };
  }

  private localSymbol(place: Place): ImageSymbol | undefined {
    return this.symbolsAt(place.section, place.offset).find(
      (s) => s.elf.binding === SymbolBinding.LOCAL && isOperandName(s.name),
    );
  }

  /** The symbol by which a place is referred to: one that starts there, or in data one that covers it. */
  private symbolFor(place: Place): ImageSymbol | undefined {
    const here = this.symbolsAt(place.section, place.offset).filter((s) => this.isReferable(s));
    if (here.length > 0) return here.find((s) => s.elf.type !== SymbolType.NOTYPE) ?? here[0];
    if (place.section.kind === 'code') return undefined;
    return lastCovering(this.of(place.section).covering, place.offset);
  }

  private isReferable(symbol: ImageSymbol): boolean {
    return isOperandName(symbol.name) && (this.image.isRelocatable || !isPreemptible(symbol.elf));
  }
}

/** How far back a symbol that covers an offset is looked for; symbols rarely nest. */
const NESTING = 16;

function lastCovering(symbols: readonly ImageSymbol[], offset: number): ImageSymbol | undefined {
  let low = 0;
  let high = symbols.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (symbols[middle].offset <= offset) low = middle + 1;
    else high = middle;
  }
  for (let i = low - 1; i >= Math.max(0, low - NESTING); i--) {
    if (offset < symbols[i].offset + symbols[i].size) return symbols[i];
  }
  return undefined;
}
