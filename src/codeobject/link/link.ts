// Room `codeobject/link`: the linker: relocatable objects to a loadable code object with the bytes that `ld.lld -shared` writes.
// Begin with this file, whose steps follow each other: input.ts, collect.ts, layout.ts, dynamic.ts, relocations.
//
// Links relocatable objects to a loadable code object: the same sections, addresses and bytes as `ld.lld -shared`.
// Source: LLVM's AMDGPUUsage, "Relocation Records"; lld/ELF/{Writer,Relocations,Arch/AMDGPU}.cpp.
import { ByteWriter, WavesmithError } from '../../base/index.ts';
import {
  type ObjectModel,
  type ObjectRelocation,
  type ObjectSection,
  type ObjectSymbol,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
} from '../elf/object-model.ts';
import { ElfSectionType, ElfType, SectionIndex } from '../elf/read.ts';
import { relocationName, relocationWidth } from '../elf/relocation.ts';
import { AppendedStringTable } from '../elf/string-table.ts';
import {
  ELF_HEADER_SIZE,
  elfHeaderBytes,
  MAX_GAP_BYTES,
  SECTION_HEADER_SIZE,
  SYMBOL_SIZE,
  writeSectionHeader,
  writeSymbol,
} from '../elf/write.ts';
import { LinkAddresses } from './address.ts';
import { collectInputs } from './collect.ts';
import {
  buildDynamicSymbols,
  type DynamicRelocation,
  type DynamicSymbols,
  dynamicBytes,
  relaDynBytes,
} from './dynamic.ts';
import { mergeFlags } from './flags.ts';
import {
  type InputSection,
  type LinkedSymbol,
  type OutputSection,
  resolveSymbols,
  type SymbolResolution,
  selectSections,
} from './input.ts';
import {
  assignAddresses,
  assignOffsets,
  createSegments,
  newOutputSection,
  placeInputs,
  programHeaderBytes,
  sortOutputSections,
} from './layout.ts';

export interface LinkOptions {
  /** The linker's line in .comment; lld writes its own name and version here. */
  comment?: string | undefined;
  /** What to do with a reference to a symbol that no object defines: an error (default), or leave it to the loader. */
  undefinedSymbols?: 'error' | 'dynamic' | undefined;
}

/** Links the objects into a shared object that the ROCm loader accepts. */
export function link(objects: readonly ObjectModel[], options: LinkOptions = {}): Uint8Array {
  if (objects.length === 0) throw new WavesmithError('link/no-input', 'There is nothing to link.');
  return new Linker(objects, options).run();
}

/** A place of a linked file whose content depends on where a symbol is. */
export interface LinkReference {
  /** Virtual address of the place. */
  readonly place: number;
  /** A `RelocationType`: how the content follows from the two addresses. GOT entries are ABS64. */
  readonly type: number;
  readonly symbol: ObjectSymbol;
  /** What is added to the symbol's address. */
  readonly addend: bigint;
}

/** Links as `link` does, and tells every reference of loaded sections to a symbol. */
export function linkWithReferences(objects: readonly ObjectModel[]): {
  readonly code: Uint8Array;
  readonly references: readonly LinkReference[];
} {
  const linker = new Linker(objects, {});
  return { code: linker.run(), references: linker.references() };
}

class Linker {
  private readonly objects: readonly ObjectModel[];
  private readonly options: LinkOptions;
  private readonly outputs: OutputSection[];
  private readonly inputOf: ReadonlyMap<ObjectSection, InputSection>;
  private readonly addresses: LinkAddresses;
  private readonly selected: Map<ObjectSection, number>;
  private readonly symbols: SymbolResolution;
  private readonly got: LinkedSymbol[] = [];
  private readonly dynamicRelocations: DynamicRelocation[] = [];

  constructor(objects: readonly ObjectModel[], options: LinkOptions) {
    this.objects = objects;
    this.options = options;
    this.selected = selectSections(objects);
    this.symbols = resolveSymbols(objects, this.selected);
    const collected = collectInputs(this.selected, this.symbols.common, options.comment ?? 'Linker: Wavesmith');
    this.outputs = collected.outputs;
    this.inputOf = collected.inputOf;
    this.addresses = new LinkAddresses(collected.inputOf, collected.mergeOf, this.symbols.of);
  }

  run(): Uint8Array {
    const flags = mergeFlags(this.objects);
    const dynamicSymbols = buildDynamicSymbols(this.symbols.globals.filter((s) => this.isExported(s)));
    this.scanRelocations();
    const made = this.addMadeSections(dynamicSymbols);
    placeInputs(this.outputs);
    sortOutputSections(this.outputs);
    const names = new AppendedStringTable();
    const nameOffsets = this.outputs.map((s) => names.addShared(s.name));
    made.sectionNames.size = names.length;
    const segments = createSegments(this.outputs);
    assignAddresses(this.outputs, segments);
    const contentEnd = assignOffsets(this.outputs, segments);

    made.sectionNames.content = names.finish();
    this.fillMadeSections(made, dynamicSymbols);
    const sectionHeaderOffset = Math.ceil(contentEnd / 8) * 8;
    const size = sectionHeaderOffset + (this.outputs.length + 1) * SECTION_HEADER_SIZE;
    this.checkFileSize(size);
    const file = new Uint8Array(size);
    const first = this.objects[0];
    file.set(
      elfHeaderBytes({
        osAbi: first.osAbi,
        abiVersion: first.abiVersion,
        type: ElfType.DYN,
        flags,
        programHeaderOffset: ELF_HEADER_SIZE,
        programHeaderCount: segments.length,
        sectionHeaderOffset,
        sectionHeaderCount: this.outputs.length + 1,
        sectionNameIndex: made.sectionNames.index,
      }),
    );
    file.set(programHeaderBytes(segments), ELF_HEADER_SIZE);
    for (const s of this.outputs) this.writeContent(file, s);
    for (const [section] of this.selected) this.applyRelocations(file, section);
    const headers = new ByteWriter(1024).fill(SECTION_HEADER_SIZE);
    this.outputs.forEach((s, i) => {
      writeSectionHeader(headers, { ...s, name: nameOffsets[i] });
    });
    file.set(headers.finish(), sectionHeaderOffset);
    return file;
  }

  /** References in the order of sections, then those of the GOT; after `run`. */
  references(): LinkReference[] {
    const references: LinkReference[] = [];
    const symbolOf = new Map<LinkedSymbol, ObjectSymbol>();
    for (const [section] of this.selected) {
      const input = this.inputOf.get(section);
      if (input?.output === undefined || (section.flags & SectionFlag.ALLOC) === 0) continue;
      for (const { offset, type, symbol, addend } of section.relocations) {
        if (symbol === undefined) continue;
        symbolOf.set(this.symbols.of.get(symbol)!, symbol);
        references.push({ place: input.output.address + input.offset + offset, type, symbol, addend });
      }
    }
    const got = this.outputs.find((s) => s.name === '.got');
    for (const [index, linked] of this.got.entries()) {
      const symbol = symbolOf.get(linked);
      if (got === undefined || symbol === undefined) continue;
      references.push({ place: got.address + index * 8, type: RelocationType.ABS64, symbol, addend: 0n });
    }
    return references;
  }

  /** Alignments leave gaps; a file far bigger than what goes into it is refused before it is allocated. */
  private checkFileSize(size: number): void {
    let content = 0;
    for (const output of this.outputs) for (const input of output.inputs) content += input.bytes.length;
    if (size <= 4 * content + MAX_GAP_BYTES) return;
    throw new WavesmithError(
      'elf/too-big',
      `The linked file would have ${size} bytes for ${content} bytes of content.`,
      {
        hint: 'Lower the alignment of the sections.',
      },
    );
  }

  private isExported(symbol: LinkedSymbol): boolean {
    return this.bindingOf(symbol) !== SymbolBinding.LOCAL;
  }

  /** Hidden and internal symbols become local. */
  private bindingOf(symbol: LinkedSymbol): number {
    const { visibility } = symbol;
    const isVisible = visibility === SymbolVisibility.DEFAULT || visibility === SymbolVisibility.PROTECTED;
    return isVisible ? symbol.binding : SymbolBinding.LOCAL;
  }

  /** True when another module could define the symbol instead, so that its address is not known here. */
  private isPreemptible(symbol: LinkedSymbol): boolean {
    return (
      symbol.binding !== SymbolBinding.LOCAL &&
      this.isExported(symbol) &&
      symbol.visibility === SymbolVisibility.DEFAULT
    );
  }

  /** True when the value does not depend on where the file is loaded: absolute values, and weak symbols left undefined. */
  private isFixed(symbol: LinkedSymbol): boolean {
    const { kind } = symbol.definition;
    return (kind === 'absolute' || kind === 'undefined') && !this.isPreemptible(symbol);
  }

  /** Decides which relocations need the GOT or the loader. */
  private scanRelocations(): void {
    const wantGot = new Set<LinkedSymbol>();
    const gotUsers: LinkedSymbol[] = [];
    for (const [section] of this.selected) {
      if ((section.flags & SectionFlag.ALLOC) === 0) {
        for (const r of section.relocations) this.linkedSymbol(r, section);
        continue;
      }
      for (const r of section.relocations) this.scanRelocation(section, r, wantGot);
    }
    for (const symbol of this.symbols.globals) if (wantGot.has(symbol)) gotUsers.push(symbol);
    for (const symbol of this.symbols.of.values()) {
      if (symbol.binding === SymbolBinding.LOCAL && wantGot.delete(symbol)) gotUsers.push(symbol);
    }
    for (const symbol of gotUsers) {
      if (symbol.gotIndex >= 0) continue;
      symbol.gotIndex = this.got.length;
      this.got.push(symbol);
    }
  }

  private linkedSymbol(r: ObjectRelocation, section: ObjectSection): LinkedSymbol | undefined {
    if (r.symbol === undefined) return undefined;
    const symbol = this.symbols.of.get(r.symbol)!;
    const isMissing = symbol.definition.kind === 'undefined' && symbol.binding !== SymbolBinding.WEAK;
    const isDiscarded = symbol.binding === SymbolBinding.LOCAL && typeof r.symbol.section !== 'string';
    if (isMissing && !isDiscarded && this.options.undefinedSymbols !== 'dynamic') {
      throw new WavesmithError(
        'link/undefined-symbol',
        `Symbol '${symbol.name}' is used in ${section.name}+0x${r.offset.toString(16)} but not defined.`,
        { hint: 'Define the symbol, or link the object that defines it.' },
      );
    }
    return symbol;
  }

  private scanRelocation(section: ObjectSection, r: ObjectRelocation, wantGot: Set<LinkedSymbol>): void {
    const symbol = this.linkedSymbol(r, section);
    const where = `${section.name}+0x${r.offset.toString(16)}`;
    if (r.offset + relocationWidth(r.type, where) > section.bytes.length) {
      throw new WavesmithError('link/bad-relocation', `A relocation at ${where} lies outside its section.`);
    }
    if (symbol === undefined) return;
    const cannot = (why: string) =>
      new WavesmithError(
        'link/bad-relocation',
        `${relocationName(r.type)} at ${where} cannot refer to '${symbol.name}': ${why}.`,
        {
          hint: "Make the symbol hidden or protected ('.protected NAME'), or use a GOT-relative or 64-bit reference.",
        },
      );
    const isAbsolute = symbol.definition.kind === 'absolute';
    const isPreemptible = this.isPreemptible(symbol);
    switch (r.type) {
      case RelocationType.NONE:
        return;
      case RelocationType.GOTPCREL:
      case RelocationType.GOTPCREL32_LO:
      case RelocationType.GOTPCREL32_HI:
        wantGot.add(symbol);
        return;
      case RelocationType.ABS64: {
        if (this.isFixed(symbol)) return;
        if ((section.flags & SectionFlag.WRITE) === 0)
          throw cannot('the section is read-only and the address is not known');
        const input = this.inputOf.get(section)!;
        this.dynamicRelocations.push(this.dynamicRelocation(input, r, symbol, isPreemptible));
        return;
      }
      case RelocationType.ABS32:
      case RelocationType.ABS32_LO:
      case RelocationType.ABS32_HI:
        if (!this.isFixed(symbol)) throw cannot('the address is not known before loading');
        return;
      default: {
        const isWeakZero = symbol.definition.kind === 'undefined';
        if (isPreemptible && !isWeakZero) throw cannot('another module may define it');
        if (isPreemptible) throw cannot('it is not defined here');
        if (isAbsolute) throw cannot('it is an absolute value');
      }
    }
  }

  private dynamicRelocation(
    input: InputSection,
    r: ObjectRelocation,
    symbol: LinkedSymbol,
    isPreemptible: boolean,
  ): DynamicRelocation {
    return {
      get section() {
        return input.output!;
      },
      get offset() {
        return input.offset + r.offset;
      },
      type: isPreemptible ? RelocationType.ABS64 : RelocationType.RELATIVE64,
      symbol: isPreemptible ? symbol : undefined,
      addend: () => (isPreemptible ? r.addend : this.addresses.valueOf(r)),
    };
  }

  /** Creates the sections that no object has, in lld's order of creation. */
  private addMadeSections(dynamicSymbols: DynamicSymbols) {
    const make = (name: string, type: number, flags: number, alignment: number, entrySize: number, size: number) => {
      const section = newOutputSection(name, type, flags, alignment);
      section.entrySize = entrySize;
      section.size = size;
      this.outputs.push(section);
      return section;
    };
    const { ALLOC, WRITE } = SectionFlag;
    const dynamicCount = dynamicSymbols.symbols.length + 1;
    const dynsym = make('.dynsym', ElfSectionType.DYNSYM, ALLOC, 8, SYMBOL_SIZE, dynamicCount * SYMBOL_SIZE);
    const gnuHash = make('.gnu.hash', ElfSectionType.GNU_HASH, ALLOC, 8, 0, dynamicSymbols.gnuHash.length);
    const hash = make('.hash', ElfSectionType.HASH, ALLOC, 4, 4, dynamicSymbols.hash.length);
    const dynamic = make('.dynamic', ElfSectionType.DYNAMIC, ALLOC | WRITE, 8, 16, 0);
    const dynstr = make('.dynstr', ElfSectionType.STRTAB, ALLOC, 1, 0, dynamicSymbols.strings.length);
    for (const [index, symbol] of this.got.entries()) {
      const isPreemptible = this.isPreemptible(symbol);
      if (this.isFixed(symbol)) continue;
      this.dynamicRelocations.push(this.gotRelocation(index, symbol, isPreemptible));
    }
    const relaCount = this.dynamicRelocations.length;
    const rela = relaCount === 0 ? undefined : make('.rela.dyn', ElfSectionType.RELA, ALLOC, 8, 24, relaCount * 24);
    const got =
      this.got.length === 0 ? undefined : make('.got', SectionType.PROGBITS, ALLOC | WRITE, 8, 0, this.got.length * 8);
    make('.relro_padding', SectionType.NOBITS, ALLOC | WRITE, 1, 0, 0);
    const locals = [...this.symbols.locals];
    const globals = [...this.symbols.globals];
    const symtab = make('.symtab', ElfSectionType.SYMTAB, 0, 8, SYMBOL_SIZE, 0);
    const sectionNames = make('.shstrtab', ElfSectionType.STRTAB, 0, 1, 0, 0);
    const strtab = make('.strtab', ElfSectionType.STRTAB, 0, 1, 0, 0);
    const strings = new AppendedStringTable();
    const entries: { symbol: LinkedSymbol | undefined; name: number; file: number }[] = [];
    for (const symbol of [...locals, ...globals]) {
      entries.push({ symbol, name: strings.add(symbol.name), file: symbol.object });
    }
    entries.push({ symbol: undefined, name: strings.add('_DYNAMIC'), file: this.objects.length });
    const isLocal = (e: { symbol: LinkedSymbol | undefined }) =>
      e.symbol === undefined || this.bindingOf(e.symbol) === SymbolBinding.LOCAL;
    const localEntries = entries.filter(isLocal).sort((a, b) => a.file - b.file);
    const symbolEntries = [...localEntries, ...entries.filter((e) => !isLocal(e))];
    symtab.size = (symbolEntries.length + 1) * SYMBOL_SIZE;
    symtab.info = localEntries.length + 1;
    strtab.size = strings.length;
    strtab.content = strings.finish();
    dynsym.info = 1;
    dynamic.size = dynamicBytes(this.dynamicInputs()).length;
    return { dynsym, gnuHash, hash, dynamic, dynstr, rela, got, symtab, sectionNames, strtab, symbolEntries };
  }

  private gotRelocation(index: number, symbol: LinkedSymbol, isPreemptible: boolean): DynamicRelocation {
    const find = () => this.outputs.find((s) => s.name === '.got')!;
    return {
      get section() {
        return find();
      },
      offset: index * 8,
      type: isPreemptible ? RelocationType.ABS64 : RelocationType.RELATIVE64,
      symbol: isPreemptible ? symbol : undefined,
      addend: () => (isPreemptible ? 0n : this.addresses.addressOf(symbol)),
    };
  }

  private dynamicInputs() {
    return {
      section: (name: string) => this.outputs.find((s) => s.name === name),
      relativeCount: this.dynamicRelocations.filter((r) => r.type === RelocationType.RELATIVE64).length,
    };
  }

  private fillMadeSections(made: ReturnType<Linker['addMadeSections']>, dynamicSymbols: DynamicSymbols): void {
    const { dynsym, gnuHash, hash, dynamic, dynstr, rela, got, symtab, strtab } = made;
    dynsym.link = dynstr.index;
    gnuHash.link = dynsym.index;
    hash.link = dynsym.index;
    dynamic.link = dynstr.index;
    symtab.link = strtab.index;
    const symbols = new ByteWriter(dynsym.size).fill(SYMBOL_SIZE);
    for (const symbol of dynamicSymbols.symbols) {
      this.writeLinkedSymbol(symbols, symbol, dynamicSymbols.nameOffsets.get(symbol)!);
    }
    dynsym.content = symbols.finish();
    gnuHash.content = dynamicSymbols.gnuHash;
    hash.content = dynamicSymbols.hash;
    dynstr.content = dynamicSymbols.strings;
    dynamic.content = dynamicBytes(this.dynamicInputs());
    if (rela !== undefined) {
      rela.link = dynsym.index;
      rela.content = relaDynBytes(this.dynamicRelocations);
    }
    if (got !== undefined) {
      const writer = new ByteWriter(got.size);
      for (const symbol of this.got) {
        writer.u64(symbol.definition.kind === 'absolute' && !this.isPreemptible(symbol) ? symbol.definition.value : 0n);
      }
      got.content = writer.finish();
    }
    const table = new ByteWriter(symtab.size).fill(SYMBOL_SIZE);
    for (const { symbol, name } of made.symbolEntries) {
      if (symbol !== undefined) this.writeLinkedSymbol(table, symbol, name);
      else {
        const { HIDDEN } = SymbolVisibility;
        writeSymbol(
          table,
          name,
          SymbolBinding.LOCAL,
          SymbolType.NOTYPE,
          HIDDEN,
          dynamic.index,
          BigInt(dynamic.address),
          0n,
        );
      }
    }
    symtab.content = table.finish();
  }

  private writeLinkedSymbol(writer: ByteWriter, symbol: LinkedSymbol, name: number): void {
    const { definition } = symbol;
    let index: number = SectionIndex.UNDEF;
    if (definition.kind === 'absolute') index = SectionIndex.ABS;
    else if (definition.kind === 'section') index = this.addresses.outputOf(definition.section)?.index ?? 0;
    else if (definition.kind === 'input') index = definition.section.output!.index;
    const isDefined = definition.kind !== 'undefined';
    const value = isDefined ? this.addresses.addressOf(symbol) : 0n;
    const size = isDefined ? symbol.size : 0n;
    writeSymbol(writer, name, this.bindingOf(symbol), symbol.type, symbol.visibility, index, value, size);
  }

  private writeContent(file: Uint8Array, s: OutputSection): void {
    if (s.type === SectionType.NOBITS) return;
    if (s.content !== undefined) file.set(s.content, s.offset);
    for (const input of s.inputs) {
      if (input.type !== SectionType.NOBITS) file.set(input.bytes, s.offset + input.offset);
    }
  }

  private applyRelocations(file: Uint8Array, section: ObjectSection): void {
    if (section.relocations.length === 0) return;
    const input = this.inputOf.get(section);
    if (input === undefined) {
      throw new WavesmithError('link/bad-relocation', `Mergeable section ${section.name} has relocations.`);
    }
    const output = input.output!;
    const view = new DataView(file.buffer);
    const isAllocated = (section.flags & SectionFlag.ALLOC) !== 0;
    for (const r of section.relocations) {
      const width = relocationWidth(r.type, section.name);
      if (width === 0) continue;
      if (r.offset + width > input.size || section.type === SectionType.NOBITS) {
        throw new WavesmithError('link/bad-relocation', `A relocation of ${section.name} lies outside its section.`);
      }
      const at = output.offset + input.offset + r.offset;
      const place = BigInt(output.address + input.offset + r.offset);
      if (isAllocated && r.type === RelocationType.ABS64 && !this.isConstant(r)) continue;
      const value = this.relocationValue(r, isAllocated ? place : 0n, section);
      if (width === 8) view.setBigUint64(at, BigInt.asUintN(64, value), true);
      else if (width === 4) view.setUint32(at, Number(BigInt.asUintN(32, value)), true);
      else view.setUint16(at, Number(BigInt.asUintN(16, value)), true);
    }
  }

  private isConstant(r: ObjectRelocation): boolean {
    if (r.symbol === undefined) return true;
    const symbol = this.symbols.of.get(r.symbol)!;
    return this.isFixed(symbol);
  }

  private relocationValue(r: ObjectRelocation, place: bigint, section: ObjectSection): bigint {
    switch (r.type) {
      case RelocationType.ABS32:
      case RelocationType.ABS32_LO:
      case RelocationType.ABS64:
        return this.addresses.valueOf(r);
      case RelocationType.ABS32_HI:
        return this.addresses.valueOf(r) >> 32n;
      case RelocationType.REL32:
      case RelocationType.REL32_LO:
      case RelocationType.REL64:
        return this.addresses.valueOf(r) - place;
      case RelocationType.REL32_HI:
        return (this.addresses.valueOf(r) - place) >> 32n;
      case RelocationType.REL16: {
        const words = (this.addresses.valueOf(r) - place - 4n) / 4n;
        if (words < -32768n || words > 32767n) {
          throw new WavesmithError(
            'link/out-of-range',
            `A branch in ${section.name} is out of range (${words} words).`,
            {
              hint: 'Place the code closer, or jump with s_setpc_b64.',
            },
          );
        }
        return words;
      }
      default: {
        const symbol = this.symbols.of.get(r.symbol!)!;
        const got = this.outputs.find((s) => s.name === '.got')!;
        const value = BigInt(got.address + symbol.gotIndex * 8) + r.addend - place;
        return r.type === RelocationType.GOTPCREL32_HI ? value >> 32n : value;
      }
    }
  }
}
