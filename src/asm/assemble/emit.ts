// What statements put into sections: labels, bytes, values with fixups, padding. The object side of LLVM's MCStreamer.
// Source: llvm/lib/MC/MCObjectStreamer.cpp, MCELFStreamer.cpp.
import { WavesmithError } from '../../base/index.ts';
import { SectionFlag, SectionType, SymbolBinding, SymbolType } from '../../codeobject/elf/object-model.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Evaluation } from '../object/layout.ts';
import { type AsmFixupKind, type AsmSection, AsmSymbol, type SectionDescription } from '../object/model.ts';
import { SectionTable } from '../object/sections.ts';
import type { SymbolTable } from '../object/symbols.ts';
import type { AssembleLimits } from './options.ts';
import { type Location, lineAndColumn } from './source.ts';

const DATA_KIND: Readonly<Record<number, AsmFixupKind>> = {
  1: 'FK_Data_1',
  2: 'FK_Data_2',
  4: 'FK_Data_4',
  8: 'FK_Data_8',
};

/** Fills up to this size become bytes at once; larger ones stay a count until the end. */
const MAX_INLINE_FILL = 4096;

export const TEXT_SECTION: SectionDescription = {
  name: '.text',
  type: SectionType.PROGBITS,
  flags: SectionFlag.ALLOC | SectionFlag.EXECINSTR,
  entrySize: 0,
};

/** What the emitter asks of the assembly it belongs to. */
export interface EmitterHost {
  readonly symbols: SymbolTable;
  readonly evaluation: Evaluation;
  readonly limits: AssembleLimits;
  /** Where the current statement is. */
  readonly currentLocation: Location;
}

export class Emitter {
  readonly sections: SectionTable;
  private readonly a: EmitterHost;
  private sectionSymbols = 0;
  /** Bytes that single statements put in bulk so far; keeps repeats of large data bounded. */
  private bulkBytes = 0;

  constructor(a: EmitterHost) {
    this.a = a;
    this.sections = new SectionTable(() => a.currentLocation);
  }

  /** Starts in `.text`, 4-byte aligned, as LLVM does. */
  initSections(): void {
    const section = this.section(TEXT_SECTION);
    this.switchTo(section);
    section.alignment = 4;
  }

  /** The section with a description, created when it is new. */
  section(description: SectionDescription): AsmSection {
    return this.sections.section(description, (name) => this.sectionSymbol(name));
  }

  /** The symbol of a section: the name itself means it when nothing else has taken the name. */
  private sectionSymbol(name: string): AsmSymbol {
    const { symbols } = this.a;
    let symbol = symbols.lookup(name);
    if (symbol === undefined) symbol = symbols.getOrCreate(name);
    else if (symbol.isDefined) symbol = new AsmSymbol(`\0section${this.sectionSymbols++}`, name, false);
    symbol.type = SymbolType.SECTION;
    symbol.binding = SymbolBinding.LOCAL;
    return symbol;
  }

  /** Makes a section current; its first use gives it its place in the file. */
  switchTo(section: AsmSection, subsection = 0): void {
    const isNew = !section.isRegistered;
    this.sections.switchTo(section, subsection);
    if (isNew) this.registerSection(section);
  }

  private registerSection(section: AsmSection): void {
    const { group } = section.description;
    if (group !== undefined) {
      const signature = this.a.symbols.getOrCreate(group.signature);
      signature.isSignature = true;
      this.a.symbols.register(signature);
    }
    this.a.symbols.register(section.symbol);
  }

  get currentSection(): AsmSection {
    return this.sections.position!.section;
  }

  /** Whether padding here is made of instructions. */
  get isCode(): boolean {
    return (this.currentSection.description.flags & SectionFlag.EXECINSTR) !== 0;
  }

  /** Puts a label here. */
  label(symbol: AsmSymbol): void {
    const fragment = this.sections.data();
    symbol.fragment = fragment;
    symbol.offset = fragment.data.length;
    this.a.symbols.register(symbol);
  }

  /** Notes the first content of a section that must not have any. */
  private noteContent(): void {
    const section = this.currentSection;
    if (section.description.type === SectionType.NOBITS) section.firstContent ??= this.a.currentLocation;
  }

  private countBulk(size: number): void {
    this.bulkBytes += size;
    const { maxOutputBytes } = this.a.limits;
    if (this.bulkBytes <= maxOutputBytes) return;
    const { line, column } = lineAndColumn(this.a.currentLocation);
    const file = this.a.currentLocation.buffer.name;
    throw new WavesmithError('asm/too-large', `The sections hold more than ${maxOutputBytes} bytes.`, {
      file,
      line,
      column,
    });
  }

  bytes(bytes: Uint8Array): void {
    this.noteContent();
    this.countBulk(bytes.length);
    this.sections.data().data.raw(bytes);
  }

  /** A 32-bit word. */
  word(value: number): void {
    this.sections.data().data.u32(value);
  }

  /** An integer of 1, 2, 4 or 8 bytes, truncated to its size. */
  integer(value: bigint, size: number): void {
    if (value !== 0n) this.noteContent();
    const { data } = this.sections.data();
    if (size === 4) data.u32(Number(BigInt.asUintN(32, value)));
    else if (size === 8) data.u64(BigInt.asUintN(64, value));
    else if (size === 2) data.u16(Number(BigInt.asUintN(16, value)));
    else data.u8(Number(BigInt.asUintN(8, value)));
  }

  /** A value that may depend on symbols. */
  value(expr: Expr, size: number, location: Location): void {
    if (expr.kind === 'const') {
      this.integer(expr.value, size);
      return;
    }
    this.useSymbols(expr);
    const fragment = this.sections.data();
    fragment.fixups.push({ offset: fragment.data.length, kind: DATA_KIND[size], expr, location });
    fragment.data.fill(size);
  }

  /** Notes a fixup in bytes that are about to be written at the current place. */
  fixup(kind: AsmFixupKind, byteOffset: number, expr: Expr, location: Location): void {
    this.useSymbols(expr);
    const fragment = this.sections.data();
    fragment.fixups.push({ offset: fragment.data.length + byteOffset, kind, expr, location });
  }

  /** `count` values of `valueSize` bytes. */
  fill(count: Expr, valueSize: number, value: bigint, location: Location): void {
    const total = count.kind === 'const' ? count.value * BigInt(valueSize) : undefined;
    if (total !== undefined && total >= 0n && total <= MAX_INLINE_FILL && valueSize > 0) {
      this.countBulk(Number(total));
      const pattern = BigInt.asUintN(valueSize * 8, value);
      const { data } = this.sections.data();
      if (valueSize === 1 || pattern === 0n) {
        data.fill(Number(total), Number(pattern & 0xffn));
        return;
      }
      for (let left = total; left > 0n; left -= BigInt(valueSize)) {
        for (let i = 0; i < valueSize; i++) data.u8(Number((pattern >> BigInt(8 * i)) & 0xffn));
      }
      return;
    }
    this.useSymbols(count);
    this.sections.fill({ count, value, valueSize, location });
  }

  align(
    alignment: number,
    fill: { readonly value: bigint; readonly size: number; readonly code: boolean },
    maxBytes: number,
    location: Location,
  ): void {
    this.sections.align({
      alignment,
      fill: BigInt.asUintN(fill.size * 8, fill.value),
      fillSize: fill.size,
      maxBytes: maxBytes === 0 ? alignment : maxBytes,
      code: fill.code,
      location,
    });
  }

  org(target: Expr, value: number, location: Location): void {
    this.useSymbols(target);
    this.sections.org({ target, value: value & 0xff, location });
  }

  leb(value: Expr, signed: boolean, location: Location): void {
    this.useSymbols(value);
    this.sections.leb({ value, signed, location });
  }

  /** Bytes that `encode` makes of a distance: at once when it is known, else in layout. */
  computed(distance: Expr, encode: (distance: bigint) => readonly number[]): void {
    const known = this.a.evaluation.absolute(distance);
    if (known !== undefined) this.bytes(Uint8Array.from(encode(known)));
    else this.sections.computed({ distance, encode });
  }

  /** Registers the symbols of an expression, in order, as their mention does in LLVM. */
  useSymbols(expr: Expr): void {
    switch (expr.kind) {
      case 'const':
        return;
      case 'symbol': {
        const symbol = this.a.symbols.get(expr.name) ?? this.a.symbols.getOrCreate(expr.name);
        this.a.symbols.register(symbol);
        return;
      }
      case 'unary':
        this.useSymbols(expr.sub);
        return;
      case 'binary':
        this.useSymbols(expr.lhs);
        this.useSymbols(expr.rhs);
        return;
      case 'call':
        for (const arg of expr.args) this.useSymbols(arg);
    }
  }
}
