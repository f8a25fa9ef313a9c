// What the linker takes in: input sections after COMDAT selection, merged strings and constants, resolved symbols.
// Source: lld/ELF/{InputFiles,InputSection,SymbolTable,SyntheticSections}.cpp, whose orders this keeps.
import { WavesmithError } from '../../base/index.ts';
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
  SymbolVisibility,
} from '../elf/object-model.ts';
import { xxh3 } from './xxh3.ts';

/** A section on its way into the output. Mergeable sections are replaced by the section they merge into. */
export interface InputSection {
  readonly name: string;
  type: number;
  flags: number;
  alignment: number;
  entrySize: number;
  size: number;
  bytes: Uint8Array;
  readonly relocations: readonly ObjectRelocation[];
  /** Object the section comes from; undefined for sections that the linker makes. */
  readonly object: number | undefined;
  /** Offset in its output section; set by the layout. */
  offset: number;
  /** Set by the layout. */
  output: OutputSection | undefined;
}

/** A section of the linked file. */
export interface OutputSection {
  readonly name: string;
  type: number;
  flags: number;
  alignment: number;
  entrySize: number;
  size: number;
  address: number;
  offset: number;
  /** Section header index. */
  index: number;
  link: number;
  info: number;
  readonly inputs: InputSection[];
  rank: number;
  isRelro: boolean;
  /** Content of sections that the linker makes; others are put together from `inputs`. */
  content: Uint8Array | undefined;
}

/** A mergeable input section: pieces that map into the merged section. */
export interface MergeSource {
  readonly section: ObjectSection;
  readonly offsets: readonly number[];
  readonly target: { section: InputSection | undefined; offsets: number[] };
}

/** Where a symbol is defined. */
export type Definition =
  | { readonly kind: 'section'; readonly section: ObjectSection; readonly value: number }
  | { readonly kind: 'input'; readonly section: InputSection; readonly value: number }
  | { readonly kind: 'absolute'; readonly value: bigint }
  | { readonly kind: 'undefined' };

/** A symbol of the output: a local symbol of one object, or a global resolved over all objects. */
export interface LinkedSymbol {
  readonly name: string;
  type: number;
  binding: number;
  visibility: number;
  size: bigint;
  definition: Definition;
  readonly object: number;
  dynamicIndex: number;
  gotIndex: number;
}

/** The resolved symbols of a link. */
export interface SymbolResolution {
  /** For each object the linked symbol of each of its symbols. */
  readonly of: ReadonlyMap<ObjectSymbol, LinkedSymbol>;
  /** Local symbols that go to .symtab, in file order. */
  readonly locals: readonly LinkedSymbol[];
  /** Global symbols in order of first appearance. */
  readonly globals: readonly LinkedSymbol[];
  /** Sections made for common symbols. */
  readonly common: readonly InputSection[];
}

/** The sections that take part: EXCLUDE sections, stack notes and repeated COMDAT groups are left out. */
export function selectSections(objects: readonly ObjectModel[]): Map<ObjectSection, number> {
  const selected = new Map<ObjectSection, number>();
  const seenGroups = new Map<string, ObjectGroup>();
  objects.forEach((object, index) => {
    for (const section of object.sections) {
      const isExcluded = (section.flags & SectionFlag.EXCLUDE) !== 0 || section.name === '.note.GNU-stack';
      if (isExcluded || section.type === SectionType.LLVM_ADDRSIG) continue;
      const group = section.group;
      if (group?.comdat) {
        const first = seenGroups.get(group.signature) ?? group;
        seenGroups.set(group.signature, first);
        if (first !== group) continue;
      }
      selected.set(section, index);
    }
  });
  return selected;
}

/** True when lld merges the section's pieces. */
export function isMergeable(section: ObjectSection): boolean {
  return (
    (section.flags & SectionFlag.MERGE) !== 0 &&
    section.entrySize > 0 &&
    section.size > 0 &&
    section.bytes.length % section.entrySize === 0 &&
    section.type !== SectionType.NOBITS
  );
}

/** Start offsets of a mergeable section's pieces. */
export function mergePieces(section: ObjectSection): number[] {
  const { bytes, entrySize } = section;
  const offsets: number[] = [];
  if ((section.flags & SectionFlag.STRINGS) === 0) {
    for (let at = 0; at < bytes.length; at += entrySize) offsets.push(at);
    return offsets;
  }
  let start = 0;
  for (let at = 0; at < bytes.length; at += entrySize) {
    let isEnd = true;
    for (let i = 0; i < entrySize; i++) isEnd &&= bytes[at + i] === 0;
    if (!isEnd) continue;
    offsets.push(start);
    start = at + entrySize;
  }
  if (start !== bytes.length) {
    throw new WavesmithError('link/unterminated-string', `Section ${section.name} has a string without an end.`);
  }
  return offsets;
}

const SHARDS = 32;

/** Merges equal pieces; lld spreads pieces over 32 shards by hash and puts the shards one after the other. */
export function mergeSections(sources: readonly MergeSource[], alignment: number): Uint8Array {
  const shards = Array.from({ length: SHARDS }, () => ({ size: 0, pieces: [] as Uint8Array[], at: [] as number[] }));
  const known = new Map<string, { shard: number; offset: number }>();
  const up = (value: number) => Math.ceil(value / alignment) * alignment;
  const places = sources.map(({ section, offsets }) =>
    offsets.map((from, i) => {
      const piece = section.bytes.subarray(from, offsets[i + 1] ?? section.bytes.length);
      const key = pieceKey(piece);
      let place = known.get(key);
      if (place === undefined) {
        const isString = (section.flags & SectionFlag.STRINGS) !== 0;
        const hashed = isString ? piece.subarray(0, piece.length - section.entrySize) : piece;
        const shard = Number((xxh3(hashed) & 0xffffffffn) >> 27n);
        const target = shards[shard];
        place = { shard, offset: up(target.size) };
        target.size = place.offset + piece.length;
        target.pieces.push(piece);
        target.at.push(place.offset);
        known.set(key, place);
      }
      return place;
    }),
  );
  let size = 0;
  const starts = shards.map((shard) => {
    if (shard.size > 0) size = up(size);
    const start = size;
    size += shard.size;
    return start;
  });
  const bytes = new Uint8Array(size);
  shards.forEach((shard, i) => {
    shard.pieces.forEach((piece, p) => {
      bytes.set(piece, starts[i] + shard.at[p]);
    });
  });
  sources.forEach((source, i) => {
    source.target.offsets = places[i].map((place) => starts[place.shard] + place.offset);
  });
  return bytes;
}

function mergedVisibility(a: number, b: number): number {
  if (a === SymbolVisibility.DEFAULT) return b;
  if (b === SymbolVisibility.DEFAULT) return a;
  return Math.min(a, b);
}

/** Resolves symbols over all objects: strong before weak before common before undefined; two strong ones are an error. */
export function resolveSymbols(
  objects: readonly ObjectModel[],
  selected: ReadonlyMap<ObjectSection, number>,
): SymbolResolution {
  const of = new Map<ObjectSymbol, LinkedSymbol>();
  const locals: LinkedSymbol[] = [];
  const byName = new Map<string, LinkedSymbol>();
  const strength = new Map<LinkedSymbol, number>();
  const commonOf = new Map<LinkedSymbol, ObjectSymbol>();
  objects.forEach((object, index) => {
    for (const symbol of object.symbols) {
      const definition = definitionOf(symbol, selected);
      if (symbol.binding === SymbolBinding.LOCAL) {
        const linked = newSymbol(symbol, definition, index);
        of.set(symbol, linked);
        if (isKeptLocal(symbol, definition)) locals.push(linked);
        continue;
      }
      let linked = byName.get(symbol.name);
      if (linked === undefined) {
        linked = newSymbol(symbol, { kind: 'undefined' }, index);
        byName.set(symbol.name, linked);
        strength.set(linked, 0);
        linked.visibility = SymbolVisibility.DEFAULT;
      }
      of.set(symbol, linked);
      linked.visibility = mergedVisibility(linked.visibility, symbol.visibility);
      const isCommon = symbol.section === 'common';
      const strong = symbol.binding !== SymbolBinding.WEAK;
      const level = isCommon ? 2 : definition.kind === 'undefined' ? 0 : strong ? 3 : 1;
      const before = strength.get(linked)!;
      if (level === 3 && before === 3) {
        throw new WavesmithError('link/duplicate-symbol', `Symbol '${symbol.name}' is defined more than once.`, {
          hint: 'Remove one of the definitions, or make one weak or local.',
        });
      }
      if (level === 0 && before === 0 && strong) linked.binding = symbol.binding;
      const isBiggerCommon = level === 2 && before === 2 && symbol.size > linked.size;
      if (level > before || isBiggerCommon) {
        strength.set(linked, level);
        Object.assign(linked, { binding: symbol.binding, type: symbol.type, size: symbol.size, definition });
        if (isCommon) commonOf.set(linked, symbol);
        else commonOf.delete(linked);
      }
    }
  });
  const common: InputSection[] = [];
  for (const [linked, symbol] of commonOf) {
    const section: InputSection = {
      name: 'COMMON',
      type: SectionType.NOBITS,
      flags: SectionFlag.ALLOC | SectionFlag.WRITE,
      alignment: Math.max(1, Number(symbol.value)),
      entrySize: 0,
      size: Number(symbol.size),
      bytes: new Uint8Array(0),
      relocations: [],
      object: undefined,
      offset: 0,
      output: undefined,
    };
    common.push(section);
    linked.type = SymbolType.OBJECT;
    linked.definition = { kind: 'input', section, value: 0 };
  }
  return { of, locals, globals: [...byName.values()], common };
}

function newSymbol(symbol: ObjectSymbol, definition: Definition, object: number): LinkedSymbol {
  const { name, type, binding, visibility, size } = symbol;
  return { name, type, binding, visibility, size, definition, object, dynamicIndex: 0, gotIndex: -1 };
}

function definitionOf(symbol: ObjectSymbol, selected: ReadonlyMap<ObjectSection, number>): Definition {
  if (symbol.section === 'absolute') return { kind: 'absolute', value: symbol.value };
  if (symbol.section === 'lds') {
    throw new WavesmithError('link/lds-symbol', `'${symbol.name}' is an LDS symbol, which this linker cannot place.`, {
      hint: 'Give LDS variables fixed offsets with .set.',
    });
  }
  if (typeof symbol.section === 'string' || !selected.has(symbol.section)) return { kind: 'undefined' };
  return { kind: 'section', section: symbol.section, value: Number(symbol.value) };
}

/** Section symbols, locals of dropped sections, and `.L` names in mergeable sections are not kept. */
function isKeptLocal(symbol: ObjectSymbol, definition: Definition): boolean {
  if (symbol.type === SymbolType.SECTION || definition.kind === 'undefined') return false;
  const isMerged = definition.kind === 'section' && (definition.section.flags & SectionFlag.MERGE) !== 0;
  return !(isMerged && symbol.name.startsWith('.L'));
}

/** A string that is equal for equal pieces only. */
function pieceKey(piece: Uint8Array): string {
  let key = '';
  for (let at = 0; at < piece.length; at += 4096) key += String.fromCharCode(...piece.subarray(at, at + 4096));
  return key;
}
