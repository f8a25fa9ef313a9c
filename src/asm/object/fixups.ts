// Resolves fixups after layout: patches bytes or makes relocations, and builds the object's symbols.
// Sources: llvm/lib/MC/ELFObjectWriter.cpp, AMDGPUAsmBackend.cpp (applyFixup), AMDGPUELFObjectWriter.cpp (getRelocType).
import {
  type ObjectGroup,
  type ObjectModel,
  type ObjectRelocation,
  type ObjectSection,
  type ObjectSymbol,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
} from '../../codeobject/elf/object-model.ts';
import type { Specifier } from '../../isa/text/expr-tree.ts';
import { fromByteText, type Location } from '../assemble/source.ts';
import { type Evaluation, encodeLeb, type Report } from './layout.ts';
import type { AsmFixup, AsmFixupKind, AsmSection, AsmSymbol, DataFragment, Fragment } from './model.ts';
import type { SymbolTable } from './symbols.ts';

const FIXUP_BYTES: Readonly<Record<AsmFixupKind, number>> = {
  fixup_si_sopp_br: 2,
  FK_PCRel_4: 4,
  FK_Data_1: 1,
  FK_Data_2: 2,
  FK_Data_4: 4,
  FK_Data_8: 8,
  literal: 0,
};

const SPECIFIER_RELOCATION: Readonly<Partial<Record<Specifier, number>>> = {
  gotpcrel: RelocationType.GOTPCREL,
  'gotpcrel32@lo': RelocationType.GOTPCREL32_LO,
  'gotpcrel32@hi': RelocationType.GOTPCREL32_HI,
  'rel32@lo': RelocationType.REL32_LO,
  'rel32@hi': RelocationType.REL32_HI,
  rel64: RelocationType.REL64,
  'abs32@lo': RelocationType.ABS32_LO,
  'abs32@hi': RelocationType.ABS32_HI,
  abs64: RelocationType.ABS64,
};

interface PendingRelocation {
  readonly offset: number;
  readonly type: number;
  readonly symbol: AsmSymbol | undefined;
  readonly addend: bigint;
  /** From a `.reloc` directive. */
  readonly isExplicit: boolean;
}

/** What the object needs beside sections and symbols. */
export interface ObjectHeader {
  readonly flags: number;
  readonly osAbi: number;
  readonly abiVersion: number;
}

/** Turns laid-out sections and symbols into an object. Problems go to `report`. */
export class ObjectBuilder {
  private readonly symbols: SymbolTable;
  private readonly evaluation: Evaluation;
  private readonly report: Report;
  private readonly objectSections = new Map<AsmSection, ObjectSection>();
  private readonly objectSymbols = new Map<AsmSymbol, ObjectSymbol>();
  private readonly pending = new Map<AsmSection, PendingRelocation[]>();

  private readonly end: Location;

  /** `end` is where problems without a place of their own are reported: the end of the source. */
  constructor(symbols: SymbolTable, evaluation: Evaluation, report: Report, end: Location) {
    this.end = end;
    this.symbols = symbols;
    this.evaluation = evaluation;
    this.report = report;
  }

  build(
    sections: readonly AsmSection[],
    addressSignificant: readonly AsmSymbol[] | undefined,
    header: ObjectHeader,
  ): ObjectModel {
    const groups = new Map<string, ObjectGroup>();
    for (const section of sections) this.objectSections.set(section, this.makeSection(section, groups));
    for (const section of sections) {
      const target = section.description.linkedTo;
      const place = target === undefined ? undefined : this.evaluation.place(target);
      if (place !== undefined) this.objectSection(section).linkedTo = this.objectSection(place.fragment.section);
    }
    const symbols = this.makeSymbols();
    for (const [section, relocations] of this.pending) {
      const out: ObjectRelocation[] = [];
      relocations.sort((a, b) => a.offset - b.offset || Number(b.isExplicit) - Number(a.isExplicit));
      for (const { offset, type, symbol, addend } of relocations) {
        out.push({ offset, type, symbol: symbol === undefined ? undefined : this.objectSymbols.get(symbol), addend });
      }
      this.objectSection(section).relocations = out;
    }
    const made = sections.map((section) => this.objectSection(section));
    if (addressSignificant !== undefined) made.push(this.addressSection(addressSignificant, symbols));
    return { ...header, sections: made, symbols };
  }

  /** `.llvm_addrsig`: the indexes of the symbols in the symbol table. */
  private addressSection(significant: readonly AsmSymbol[], symbols: readonly ObjectSymbol[]): ObjectSection {
    const indexes = new Map(symbols.map((symbol, i) => [symbol, i + 1]));
    const bytes: number[] = [];
    for (const symbol of significant) {
      const object = this.objectSymbols.get(symbol);
      const index = object === undefined ? undefined : indexes.get(object);
      if (index !== undefined) bytes.push(...encodeLeb(BigInt(index), false));
    }
    return {
      name: '.llvm_addrsig',
      type: SectionType.LLVM_ADDRSIG,
      flags: SectionFlag.EXCLUDE,
      alignment: 1,
      entrySize: 0,
      size: bytes.length,
      bytes: Uint8Array.from(bytes),
      relocations: [],
    };
  }

  private objectSection(section: AsmSection): ObjectSection {
    return this.objectSections.get(section) as ObjectSection;
  }

  private makeSection(section: AsmSection, groups: Map<string, ObjectGroup>): ObjectSection {
    const { name, type, flags, entrySize, group } = section.description;
    const isNobits = type === SectionType.NOBITS;
    const bytes = new Uint8Array(isNobits ? 0 : section.size);
    for (const fragment of section.fragments()) {
      if (isNobits) this.checkNobits(name, fragment, section.firstContent);
      else this.writeFragment(bytes, fragment);
    }
    let shared: ObjectGroup | undefined;
    if (group !== undefined) {
      shared = groups.get(group.signature) ?? group;
      groups.set(group.signature, shared);
    }
    return {
      name: fromByteText(name),
      type,
      flags,
      alignment: section.alignment,
      entrySize,
      size: section.size,
      bytes,
      relocations: [],
      group: shared,
    };
  }

  private checkNobits(name: string, fragment: Fragment, firstContent: Location | undefined): void {
    const message = `SHT_NOBITS section '${name}' cannot have non-zero initializers`;
    if (fragment.kind === 'data') {
      if (fragment.fixups.length > 0) this.report(fragment.fixups[0].location, message);
      else if (fragment.data.finish().some((byte) => byte !== 0))
        this.report(firstContent ?? fragment.location, message);
    } else if (fragment.kind === 'fill' || fragment.kind === 'org') {
      if (BigInt(fragment.value) !== 0n && fragment.size > 0) this.report(fragment.location, message);
    } else if (fragment.kind === 'align') {
      if (fragment.fill !== 0n && fragment.size > 0) this.report(fragment.location, message);
    } else if (fragment.kind === 'leb' && fragment.bytes.some((byte) => byte !== 0))
      this.report(fragment.location, message);
  }

  private writeFragment(bytes: Uint8Array, fragment: Fragment): void {
    const { start, size } = fragment;
    switch (fragment.kind) {
      case 'data':
        bytes.set(fragment.data.finish(), start);
        for (const fixup of fragment.fixups) this.resolve(bytes, fragment, fixup);
        return;
      case 'align':
        if (fragment.code) writeNops(bytes, start, size);
        else writePattern(bytes, start, size, fragment.fill, fragment.fillSize);
        return;
      case 'fill':
        writePattern(bytes, start, size, fragment.value, fragment.valueSize);
        return;
      case 'org':
        bytes.fill(fragment.value, start, start + size);
        return;
      case 'computed':
      case 'leb':
        bytes.set(fragment.bytes, start);
    }
  }

  private resolve(bytes: Uint8Array, fragment: DataFragment, fixup: AsmFixup): void {
    const value = this.evaluation.relocatable(fixup.expr);
    if (value === undefined) {
      this.report(fixup.location, 'expected relocatable expression');
      return;
    }
    const at = fragment.start + fixup.offset;
    let isPcRelative = fixup.kind === 'fixup_si_sopp_br' || fixup.kind === 'FK_PCRel_4';
    let constant = value.constant;
    const add = value.add === undefined ? undefined : this.symbols.get(value.add.name);
    if (value.sub === undefined && fixup.kind !== 'literal') {
      const specifier = value.add?.specifier;
      if (!isPcRelative && add === undefined) {
        this.patch(bytes, at, fixup, constant);
        return;
      }
      if (isPcRelative && add !== undefined && specifier === undefined && !this.isPreemptible(add)) {
        const place = this.evaluation.place(add);
        if (place !== undefined && place.fragment.section === fragment.section) {
          this.patch(bytes, at, fixup, BigInt(place.fragment.start) + place.offset + constant - BigInt(at));
          return;
        }
      }
    }
    if (value.sub !== undefined) {
      const subtracted = this.symbols.get(value.sub.name);
      const place = subtracted === undefined ? undefined : this.evaluation.place(subtracted);
      if (place === undefined) {
        const name = subtracted?.name ?? value.sub.name;
        this.report(fixup.location, `symbol '${name}' can not be undefined in a subtraction expression`);
        return;
      }
      if (place.fragment.section !== fragment.section || isPcRelative) {
        this.report(fixup.location, 'Cannot represent a difference across sections');
        return;
      }
      isPcRelative = true;
      constant += BigInt(at) - BigInt(place.fragment.start) - place.offset;
    }
    const type = this.relocationType(fixup, isPcRelative, add, value.add?.specifier);
    if (type === undefined) return;
    // LLVM leaves the branch offset of the address itself in the instruction word.
    if (fixup.kind === 'fixup_si_sopp_br') this.patch(bytes, at, fixup, 0n);
    this.relocate(fragment.section, at, type, add, constant, fixup.kind === 'literal');
  }

  private isPreemptible(symbol: AsmSymbol): boolean {
    return symbol.elfBinding(symbol.isDefined) !== SymbolBinding.LOCAL;
  }

  private patch(bytes: Uint8Array, at: number, fixup: AsmFixup, value: bigint): void {
    let stored = value;
    if (fixup.kind === 'fixup_si_sopp_br') {
      stored = (value - 4n) / 4n;
      if (stored < -32768n || stored > 32767n) {
        this.report(fixup.location, 'branch size exceeds simm16');
        return;
      }
    }
    const count = FIXUP_BYTES[fixup.kind];
    let rest = BigInt.asUintN(64, stored);
    for (let i = 0; i < count; i++) {
      bytes[at + i] |= Number(rest & 0xffn);
      rest >>= 8n;
    }
  }

  private relocationType(
    fixup: AsmFixup,
    isPcRelative: boolean,
    add: AsmSymbol | undefined,
    specifier: Specifier | undefined,
  ): number | undefined {
    if (fixup.relocation !== undefined) return fixup.relocation;
    if (add?.name === 'SCRATCH_RSRC_DWORD0' || add?.name === 'SCRATCH_RSRC_DWORD1') return RelocationType.ABS32_LO;
    if (specifier !== undefined && SPECIFIER_RELOCATION[specifier] !== undefined)
      return SPECIFIER_RELOCATION[specifier];
    switch (fixup.kind) {
      case 'FK_PCRel_4':
        return RelocationType.REL32;
      case 'FK_Data_4':
        return isPcRelative ? RelocationType.REL32 : RelocationType.ABS32;
      case 'FK_Data_8':
        return isPcRelative ? RelocationType.REL64 : RelocationType.ABS64;
      case 'fixup_si_sopp_br':
        if (add === undefined) {
          this.report(fixup.location, 'expected a label as the target of the branch');
          return undefined;
        }
        if (this.evaluation.place(add) === undefined) {
          this.report(fixup.location, `undefined label '${add.name}'`);
          return undefined;
        }
        return RelocationType.REL16;
      default:
        this.report(
          fixup.location,
          add === undefined || add.isDefined
            ? 'unsupported relocation: AMDGPU has none for 8 and 16 bits'
            : `undefined label '${add.name}'`,
        );
        return undefined;
    }
  }

  private relocate(
    section: AsmSection,
    offset: number,
    type: number,
    add: AsmSymbol | undefined,
    constant: bigint,
    isExplicit: boolean,
  ): void {
    let symbol = add;
    let addend = constant;
    if (add !== undefined) {
      const place = this.evaluation.place(add);
      const isNamed = isExplicit && !add.isTemporary;
      if (place !== undefined && !isNamed && !this.needsSymbol(add, place.fragment.section, constant)) {
        symbol = place.fragment.section.symbol;
        addend += BigInt(place.fragment.start) + place.offset;
      }
    }
    if (symbol !== undefined) {
      symbol.usedInRelocation = true;
      this.symbols.register(symbol);
    }
    let list = this.pending.get(section);
    if (list === undefined) {
      list = [];
      this.pending.set(section, list);
    }
    list.push({ offset, type, symbol, addend: BigInt.asIntN(64, addend), isExplicit });
  }

  /** Whether a relocation names the symbol itself; local ones become their section plus an offset. */
  private needsSymbol(symbol: AsmSymbol, section: AsmSection, constant: bigint): boolean {
    if (this.isPreemptible(symbol)) return true;
    const { flags } = section.description;
    return ((flags & SectionFlag.MERGE) !== 0 && constant !== 0n) || (flags & SectionFlag.TLS) !== 0;
  }

  private makeSymbols(): ObjectSymbol[] {
    const locals: ObjectSymbol[] = [];
    const others: ObjectSymbol[] = [];
    for (const symbol of this.symbols.registered) {
      const made = this.makeSymbol(symbol);
      if (made === undefined) continue;
      this.objectSymbols.set(symbol, made);
      (made.binding === SymbolBinding.LOCAL ? locals : others).push(made);
    }
    return [...locals, ...others];
  }

  private makeSymbol(symbol: AsmSymbol): ObjectSymbol | undefined {
    const isUsed = symbol.usedInRelocation || symbol.isSignature;
    if (!isUsed && (symbol.isReplaced || symbol.isTemporary || symbol.type === SymbolType.SECTION)) return undefined;
    if (symbol.type === SymbolType.SECTION) return this.sectionSymbol(symbol);
    const place = this.evaluation.place(symbol);
    const absolute = symbol.value === undefined ? undefined : this.evaluation.absolute(symbol.value);
    if (symbol.value !== undefined && place === undefined && absolute === undefined) {
      if (!this.isResolvable(symbol)) {
        this.report(this.locationOf(symbol), `the value of symbol '${symbol.name}' could not be evaluated`);
      }
      if (!isUsed) return undefined;
    }
    const isDefined = place !== undefined || absolute !== undefined || symbol.common !== undefined;
    if (symbol.isTemporary && !isDefined) {
      this.report(this.locationOf(symbol), `Undefined temporary symbol ${symbol.name}`);
      return undefined;
    }
    const base = place === undefined ? undefined : this.evaluation.base(symbol);
    const result: ObjectSymbol = {
      name: fromByteText(symbol.name),
      binding: symbol.elfBinding(isDefined),
      type: base === undefined ? symbol.type : mergeTypes(symbol.type, base),
      visibility: symbol.visibility,
      section: 'undefined',
      value: 0n,
      size: this.symbolSize(symbol, base),
    };
    if (place !== undefined) {
      result.section = this.objectSection(place.fragment.section);
      result.value = BigInt(place.fragment.start) + place.offset;
    } else if (symbol.common !== undefined) {
      result.section = symbol.common.lds ? 'lds' : 'common';
      result.value = symbol.common.alignment;
    } else if (absolute !== undefined) {
      result.section = 'absolute';
      result.value = BigInt.asUintN(64, absolute);
    }
    return result;
  }

  private sectionSymbol(symbol: AsmSymbol): ObjectSymbol | undefined {
    for (const [section, object] of this.objectSections) {
      if (section.symbol !== symbol) continue;
      const { LOCAL } = SymbolBinding;
      return {
        name: '',
        binding: LOCAL,
        type: SymbolType.SECTION,
        visibility: 0,
        section: object,
        value: 0n,
        size: 0n,
      };
    }
    return undefined;
  }

  /** An alias of an undefined symbol is fine; a value that is no symbol plus offset is not. */
  private isResolvable(symbol: AsmSymbol): boolean {
    const value = symbol.value === undefined ? undefined : this.evaluation.relocatable(symbol.value);
    return value !== undefined && value.sub === undefined;
  }

  private symbolSize(symbol: AsmSymbol, base: AsmSymbol | undefined): bigint {
    const expr = symbol.size ?? base?.size;
    if (expr === undefined) return 0n;
    const size = this.evaluation.absolute(expr);
    if (size === undefined) {
      this.report(this.locationOf(symbol), `the size of symbol '${symbol.name}' is not absolute`);
      return 0n;
    }
    return BigInt.asUintN(64, size);
  }

  private locationOf(symbol: AsmSymbol): Location {
    return symbol.location ?? this.end;
  }
}

/** The type of an alias: the more telling of its own and its base's (llvm's mergeTypeForSet). */
function mergeTypes(own: number, base: AsmSymbol): number {
  if (own === SymbolType.FUNC || base.type === SymbolType.NOTYPE) return own;
  return base.type;
}

function writeNops(bytes: Uint8Array, start: number, size: number): void {
  const view = new DataView(bytes.buffer);
  const first = start + (size % 4);
  for (let at = first; at < start + size; at += 4) view.setUint32(at, 0xbf800000, true);
}

function writePattern(bytes: Uint8Array, start: number, size: number, value: bigint, valueSize: number): void {
  if (value === 0n || valueSize === 0) return;
  const pattern = new Uint8Array(valueSize);
  let rest = BigInt.asUintN(64, value);
  for (let i = 0; i < valueSize; i++) {
    pattern[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  for (let at = 0; at < size; at++) bytes[start + at] = pattern[at % valueSize];
}
