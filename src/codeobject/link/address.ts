// Addresses in a linked file: of object sections (through merged pieces), of symbols, and S + A of relocations.

import { type ObjectRelocation, type ObjectSection, type ObjectSymbol, SymbolType } from '../elf/object-model.ts';
import type { InputSection, LinkedSymbol, MergeSource, OutputSection } from './input.ts';

/** Answers where things are once the layout is done. */
export class LinkAddresses {
  private readonly inputOf: ReadonlyMap<ObjectSection, InputSection>;
  private readonly mergeOf: ReadonlyMap<ObjectSection, MergeSource>;
  private readonly symbols: ReadonlyMap<ObjectSymbol, LinkedSymbol>;

  constructor(
    inputOf: ReadonlyMap<ObjectSection, InputSection>,
    mergeOf: ReadonlyMap<ObjectSection, MergeSource>,
    symbols: ReadonlyMap<ObjectSymbol, LinkedSymbol>,
  ) {
    this.inputOf = inputOf;
    this.mergeOf = mergeOf;
    this.symbols = symbols;
  }

  /** The output section that an object's section went to. */
  outputOf(section: ObjectSection): OutputSection | undefined {
    return (this.inputOf.get(section) ?? this.mergeOf.get(section)?.target.section)?.output;
  }

  /** Address of an offset in an object's section; offsets in merged sections follow their piece. */
  private addressIn(section: ObjectSection, offset: number): bigint {
    const merge = this.mergeOf.get(section);
    if (merge !== undefined) {
      let low = 0;
      let high = merge.offsets.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (merge.offsets[middle] <= offset) low = middle;
        else high = middle - 1;
      }
      const input = merge.target.section!;
      const inPiece = offset - merge.offsets[low];
      return BigInt(input.output!.address + input.offset + merge.target.offsets[low] + inPiece);
    }
    const input = this.inputOf.get(section);
    return input === undefined ? 0n : BigInt(input.output!.address + input.offset + offset);
  }

  /** The address of a symbol; 0 while it is undefined. */
  addressOf(symbol: LinkedSymbol): bigint {
    const { definition } = symbol;
    switch (definition.kind) {
      case 'absolute':
        return definition.value;
      case 'undefined':
        return 0n;
      case 'input':
        return BigInt(definition.section.output!.address + definition.section.offset + definition.value);
      default:
        return this.addressIn(definition.section, definition.value);
    }
  }

  /** S + A; for a section symbol the addend picks the piece of a merged section. */
  valueOf(r: ObjectRelocation): bigint {
    if (r.symbol === undefined) return r.addend;
    const symbol = this.symbols.get(r.symbol)!;
    const { definition } = symbol;
    const picksPiece = symbol.type === SymbolType.SECTION && definition.kind === 'section';
    if (picksPiece && this.mergeOf.has(definition.section)) {
      return this.addressIn(definition.section, definition.value + Number(r.addend));
    }
    return this.addressOf(symbol) + r.addend;
  }
}
