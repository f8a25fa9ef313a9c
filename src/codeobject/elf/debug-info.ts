// Variables of the source program: names, types and places from .debug_info, DWARF 4 and 5. Nothing is decoded before the first question.
// Source: DWARF Debugging Information Format 5, chapters 2 to 5 and 7. Damaged units give what was read up to the damage.

import { isFunctionNamed } from '../../base/index.ts';
import { declaration } from './debug-declaration.ts';
import {
  type AttributeValue,
  DebugEntries,
  type Entry,
  type SectionName,
  type Sections,
  type Unit,
} from './debug-entries.ts';
import { IN_LDS, type LocationContext, MAY_BE_IN_LDS, placeOf, registerOf, SCRATCH_START } from './debug-location.ts';
import { type Names, namesOf } from './debug-names.ts';
import type { DebugPlace, IntegerType } from './debug-place.ts';
import { debugSection } from './debug-section.ts';
import { SharedVariables } from './debug-shared.ts';
import type { DebugCall, DebugFrame, DebugInfo, DebugMember, DebugType, DebugVariable } from './debug-types.ts';
import { Damaged, DwarfCursor } from './dwarf-cursor.ts';
import { type ListContext, type ListEntry, lists5, pairs } from './dwarf-lists.ts';
import { AT, PASS_BY_REFERENCE, TAG } from './dwarf-numbers.ts';
import type { ElfFile } from './read.ts';

/** Nesting of types. */
const MAX_TYPE_DEPTH = 40;
/** Addresses whose functions are remembered. */
const MAX_FRAMES = 100_000;
/** Places whose variables are remembered. */
const MAX_PLACES = 4096;

/** The variables of a code object, or undefined when it has no debug information. */
export function debugInfo(elf: ElfFile): DebugInfo | undefined {
  const section = (name: SectionName): Uint8Array => debugSection(elf, `.debug_${name}`) ?? new Uint8Array();
  if (!elf.sections.some(({ name, bytes }) => name === '.debug_info' && bytes.length > 0)) return undefined;
  let reader: Reader | undefined;
  const read = (): Reader => {
    reader ??= new Reader(elf, {
      info: section('info'),
      abbrev: section('abbrev'),
      str: section('str'),
      line_str: section('line_str'),
      str_offsets: section('str_offsets'),
      addr: section('addr'),
      loclists: section('loclists'),
      loc: section('loc'),
      rnglists: section('rnglists'),
      ranges: section('ranges'),
    });
    return reader;
  };
  return {
    variables: (address, inlined = 0) => read().variables(address, inlined),
    parameters: (address) => read().parameters(address),
    frames: (address) => read().frames(address),
    blockAt: (address) => read().blockAt(address),
    entries: (name) => read().entries(name),
    typeNamed: (name) => read().typeNamed(name),
    enumerator: (name) => read().enumerator(name),
    constant: (name) => read().constant(name),
    withoutVariables: () => read().withoutVariables(),
  };
}

/**
 * LLVM's address classes of pointers that are no addresses: local has been 3 since they are DWARF address spaces, and 2 before; private is 5. (1 is a generic
 * pointer now, and was a private one.)
 */
const POINTER_SPACES: ReadonlyMap<number, 'lds' | 'scratch'> = new Map([
  [2, 'lds'],
  [3, 'lds'],
  [5, 'scratch'],
]);

class Reader extends DebugEntries {
  private readonly types = new Map<Entry, DebugType>();
  private readonly framesByAddress = new Map<number, DebugFrame[]>();
  private readonly variablesByPlace = new Map<string, DebugVariable[]>();
  private known: Names | undefined;
  private readonly shared: SharedVariables;

  constructor(elf: ElfFile, sections: Sections) {
    super(sections);
    this.shared = new SharedVariables(elf, {
      units: this.units,
      byOffset: this.byOffset,
      nameOf: (entry) => this.nameOf(entry),
      typeOf: (entry) => this.typeOf(entry),
      beginOf: (entry) => this.beginOf(entry),
      isWithoutPlace: (entry) => this.isWithoutPlace(entry),
      inherited: (entry, attribute) => this.inherited(entry, attribute)?.value,
    });
  }

  private nameOf(entry: Entry): string {
    const found = this.inherited(entry, AT.name)?.value ?? this.inherited(entry, AT.linkageName)?.value;
    return typeof found === 'string' ? found : '';
  }

  /** Whether an address belongs to an entry. */
  private covers(entry: Entry, address: number): boolean {
    const low = this.address(entry, AT.lowPc);
    const high = entry.values.get(AT.highPc);
    if (low !== undefined && high !== undefined) {
      const end = typeof high === 'bigint' ? low + Number(high) : (this.address(entry, AT.highPc) ?? low);
      return address >= low && address < end;
    }
    return this.rangesOf(entry).some(([from, to]) => address >= from && address < to);
  }

  private rangesOf(entry: Entry): (readonly [number, number])[] {
    const value = entry.values.get(AT.ranges);
    const { unit } = entry;
    if (value === undefined) return [];
    const lists = this.listsOf(unit);
    if (unit.version < 5) {
      const from = typeof value === 'number' ? value : this.sections.ranges.length;
      return [...pairs(this.sections.ranges, from, lists, false)].map(({ from, to }) => [from, to] as const);
    }
    const { rnglists } = this.sections;
    const start = this.number(unit.root, AT.rnglistsBase) ?? (unit.is64 ? 20 : 12);
    const at = typeof value === 'number' ? value : start + this.entryOffset(rnglists, start, value, unit);
    return [...lists5(rnglists, at, lists, false)].map(({ from, to }) => [from, to] as const);
  }

  /** What the lists of a unit are relative to. */
  private listsOf(unit: Unit): ListContext {
    const base = (unit.root && this.address(unit.root, AT.lowPc)) ?? 0;
    return { base, address: (index) => this.indexedAddress(index, unit) };
  }

  private entryOffset(bytes: Uint8Array, start: number, value: AttributeValue, unit: Unit): number {
    if (typeof value !== 'object' || value instanceof Uint8Array) throw new Damaged();
    const size = unit.is64 ? 8 : 4;
    const c = new DwarfCursor(bytes, start + size * value.index, bytes.length);
    return unit.is64 ? c.u64() : c.u32();
  }

  frames(address: number): DebugFrame[] {
    const known = this.framesByAddress.get(address);
    if (known !== undefined) return known;
    const frames: DebugFrame[] = [];
    this.walk(address, (entry) => {
      if (entry.tag === TAG.lexicalBlock) return;
      const isInlined = entry.tag === TAG.inlinedSubroutine;
      const call = isInlined ? this.callOf(entry) : undefined;
      frames.unshift({
        name: this.nameOf(entry),
        key: entry.at,
        isInlined,
        call,
        begins: this.beginOf(entry),
        returns: () => this.typeOf(entry),
        signature: () => declaration(this.functionType(entry)),
      });
    });
    if (this.framesByAddress.size >= MAX_FRAMES) this.framesByAddress.clear();
    this.framesByAddress.set(address, frames);
    return frames;
  }

  parameters(address: number): { name: string; type: DebugType }[] {
    let own: Entry | undefined;
    this.walk(address, (entry) => {
      if (entry.tag === TAG.subprogram) own = entry;
    });
    const parameters = own?.children.filter((child) => child.tag === TAG.formalParameter) ?? [];
    return parameters.map((child) => ({ name: this.nameOf(child), type: this.typeOf(child) ?? UNKNOWN }));
  }

  blockAt(address: number): number | undefined {
    let innermost: number | undefined;
    this.walk(address, ({ at }) => {
      innermost = at;
    });
    return innermost;
  }

  /** The types of a function's parameters. */
  private parametersOf(entry: Entry): string {
    const parameters = entry.children.filter((child) => child.tag === TAG.formalParameter);
    const names = parameters.map((child) => this.typeOf(child)?.name ?? UNKNOWN.name);
    return names.length === 0 ? 'void' : names.join(', ');
  }

  private callOf(entry: Entry): DebugCall | undefined {
    const table = this.number(entry.unit.root, AT.stmtList);
    const file = this.number(entry, AT.callFile);
    const line = this.number(entry, AT.callLine);
    return table === undefined || file === undefined || line === undefined ? undefined : { table, file, line };
  }

  /** Where execution enters a function. */
  private beginOf(entry: Entry): number | undefined {
    const read = (): number | undefined =>
      this.address(entry, AT.entryPc) ?? this.address(entry, AT.lowPc) ?? this.rangesOf(entry)[0]?.[0];
    return quiet(read);
  }

  entries(name: string): number[] {
    const found = new Set<number>();
    const inside = (entry: Entry): void => {
      for (const child of entry.children) {
        const isFunction = child.tag === TAG.subprogram || child.tag === TAG.inlinedSubroutine;
        const begin = isFunction && this.isNamed(child, name) ? this.beginOf(child) : undefined;
        if (begin !== undefined) found.add(begin);
        inside(child);
      }
    };
    for (const { root } of this.units) if (root !== undefined) inside(root);
    return [...found].sort((a, b) => a - b);
  }

  /** Whether a function is called so, with or without namespaces, arguments of its template and parameters. */
  private isNamed(entry: Entry, name: string): boolean {
    const own = this.nameOf(entry);
    if (own === name || own.replace(/<.*>$/, '') === name) return true;
    const symbol = /[:(<]/.test(name) ? this.inherited(entry, AT.linkageName)?.value : undefined;
    return typeof symbol === 'string' && isFunctionNamed(symbol, name);
  }

  /** Visits functions and blocks around an address, outer ones first, then every unit's own variables. */
  private walk(address: number, visit: (entry: Entry) => void): void {
    const inside = (entry: Entry): void => {
      for (const child of entry.children) {
        const isScope =
          child.tag === TAG.subprogram || child.tag === TAG.lexicalBlock || child.tag === TAG.inlinedSubroutine;
        if (child.tag === TAG.namespace || child.tag === TAG.class || child.tag === TAG.structure) inside(child);
        else if (isScope && quiet(() => this.covers(child, address)) === true) {
          visit(child);
          inside(child);
        }
      }
    };
    for (const { root } of this.units) if (root !== undefined) inside(root);
  }

  variables(address: number, inlined: number): DebugVariable[] {
    const key = `${address} ${inlined}`;
    const known = this.variablesByPlace.get(key);
    if (known !== undefined) return known;
    const all = this.variablesAt(address, inlined);
    if (this.variablesByPlace.size >= MAX_PLACES) this.variablesByPlace.clear();
    this.variablesByPlace.set(key, all);
    return all;
  }

  private variablesAt(address: number, inlined: number): DebugVariable[] {
    const around: Entry[] = [];
    this.walk(address, (entry) => around.unshift(entry));
    const frame = around.find((entry) => entry.tag === TAG.subprogram);
    // The blocks of a function lie between it and the functions that were inlined into it.
    const ends = around.flatMap((entry, i) => (entry.tag === TAG.lexicalBlock ? [] : [i]));
    const end = ends[inlined];
    const scopes =
      end === undefined ? [] : around.slice(inlined === 0 ? 0 : (ends[inlined - 1] as number) + 1, end + 1);
    const out: DebugVariable[] = [];
    const known = new Set<string>();
    const add = (entry: Entry, isGlobal: boolean, prefix = ''): void => {
      if (entry.tag !== TAG.variable && entry.tag !== TAG.formalParameter) return;
      const own = this.nameOf(entry);
      const name = isGlobal && own !== '' ? `${this.classOf(entry) ?? prefix}${own}` : own;
      if (name === '' || known.has(name) || entry.values.has(AT.declaration)) return;
      known.add(name);
      const made = this.variable(entry, name, isGlobal, frame);
      // Headers of HIP declare words like threadIdx as objects of classes without members.
      if (!isGlobal || made.type.kind !== 'struct' || made.type.members.length > 0) out.push(made);
    };
    for (const scope of scopes) {
      for (const child of scope.children) add(child, false);
      for (const child of this.shared.of(scope)) add(child, false);
      for (const child of this.removedFrom(scope)) add(child, false);
    }
    const globals = (children: readonly Entry[], prefix: string): void => {
      for (const child of children) {
        if (child.tag === TAG.namespace) {
          const name = this.nameOf(child);
          globals(child.children, name === '' ? prefix : `${prefix}${name}::`);
        } else add(child, true, prefix);
      }
    };
    for (const { root } of this.units) globals(root?.children ?? [], '');
    return out;
  }

  /** Variables of an inlined function that the optimizer has left nothing of: those of its abstract entry that have none of their own. */
  private removedFrom(scope: Entry): readonly Entry[] {
    const origin = this.number(scope, AT.abstractOrigin);
    if (origin === undefined) return [];
    const left = new Set(scope.children.map((child) => this.number(child, AT.abstractOrigin)));
    return this.byOffset.get(origin)?.children.filter(({ at }) => !left.has(at)) ?? [];
  }

  /** The class of which a variable of the whole program is a member, with what is around it. */
  private classOf(entry: Entry): string | undefined {
    const declared = this.number(entry, AT.specification);
    return declared === undefined ? undefined : this.names().around.get(declared);
  }

  /** The type of a variable, or what a function returns; undefined where none is given. */
  private typeOf(entry: Entry): DebugType | undefined {
    const typeAt = this.inherited(entry, AT.type)?.value;
    return typeof typeAt === 'number' ? this.type(this.byOffset.get(typeAt), 0) : undefined;
  }

  private variable(entry: Entry, name: string, isGlobal: boolean, frame: Entry | undefined): DebugVariable {
    const type = this.typeOf(entry) ?? UNKNOWN;
    const location = entry.values.get(AT.location);
    const context: LocationContext = {
      frameBase: frame && this.frameBaseOf(frame),
      address: (index) => this.indexedAddress(index, entry.unit),
      integer: (offset) => this.integerType(entry.unit.start + offset),
    };
    return {
      name,
      isParameter: entry.tag === TAG.formalParameter,
      isGlobal,
      isFixed: location === undefined || location instanceof Uint8Array,
      type,
      place: (address, kernel) => quiet(() => this.placeIn(kernel, entry, address, context)) ?? DAMAGED,
    };
  }

  /** What places on a function's frame count from. LLVM gives kernels that never move their stack no register for it. */
  private frameBaseOf(frame: Entry): LocationContext['frameBase'] {
    const base = frame.values.get(AT.frameBase);
    if (base instanceof Uint8Array) return quiet(() => registerOf(base));
    const begin = this.beginOf(frame);
    return begin !== undefined && this.shared.isKernel(begin) ? SCRATCH_START : undefined;
  }

  /** A base type that an expression converts to; undefined for what is no integer. */
  private integerType(at: number): IntegerType | undefined {
    const entry = this.byOffset.get(at);
    if (entry?.tag !== TAG.baseType) return undefined;
    const encoding = this.number(entry, AT.encoding);
    // DW_ATE_signed and _signed_char; _boolean, _unsigned and _unsigned_char.
    const isSigned = encoding === 5 || encoding === 6;
    if (!isSigned && encoding !== 2 && encoding !== 7 && encoding !== 8) return undefined;
    // LLVM's types of a single bit have a whole byte and tell it by their name.
    const named = /^DW_ATE_\w+_(\d{1,3})$/.exec(this.nameOf(entry))?.[1];
    const bits = named === undefined ? 8 * (this.number(entry, AT.byteSize) ?? 0) : Number(named);
    return bits > 0 ? { bits, isSigned } : undefined;
  }

  private isWithoutPlace({ tag, values, unit }: Entry): boolean {
    if (tag !== TAG.variable || values.has(AT.constValue) || values.has(AT.declaration)) return false;
    const location = values.get(AT.location);
    if (!(location instanceof Uint8Array)) return location === undefined;
    const address = (index: number): number => this.indexedAddress(index, unit);
    const context = { frameBase: undefined, address, integer: () => undefined };
    const place = quiet(() => placeOf(location, context));
    return place?.kind === 'absent' && place.why === IN_LDS;
  }

  private placeIn(kernel: number | undefined, entry: Entry, address: number, context: LocationContext): DebugPlace {
    if (!this.isWithoutPlace(entry)) return this.place(entry, address, context);
    const offset = this.shared.offset(entry, kernel ?? address);
    if (offset !== undefined) return { kind: 'lds', offset };
    const isKnown = entry.values.has(AT.location) || !this.shared.mayHave(entry, kernel ?? address);
    return isKnown ? this.place(entry, address, context) : { kind: 'absent', why: MAY_BE_IN_LDS };
  }

  private place(entry: Entry, address: number, context: LocationContext): DebugPlace {
    const constant = constantOf(entry.values.get(AT.constValue));
    if (constant !== undefined) return constant;
    const location = entry.values.get(AT.location);
    if (location === undefined) return { kind: 'absent', why: 'optimized out' };
    if (location instanceof Uint8Array) return placeOf(location, context);
    const { unit } = entry;
    const lists = this.listsOf(unit);
    const found = unit.version < 5 ? this.locations4(location, lists) : this.locations5(location, unit, lists);
    for (const { from, to, expression } of found) {
      if (address >= from && address < to) return placeOf(expression, context);
    }
    return { kind: 'absent', why: 'optimized out here' };
  }

  private locations4(location: AttributeValue, lists: ListContext): Iterable<ListEntry> {
    if (typeof location !== 'number') throw new Damaged();
    return pairs(this.sections.loc, location, lists, true);
  }

  private locations5(location: AttributeValue, unit: Unit, lists: ListContext): Iterable<ListEntry> {
    const { loclists } = this.sections;
    const start = this.number(unit.root, AT.loclistsBase) ?? (unit.is64 ? 20 : 12);
    const at = typeof location === 'number' ? location : start + this.entryOffset(loclists, start, location, unit);
    return lists5(loclists, at, lists, true);
  }

  private type(entry: Entry | undefined, depth: number): DebugType {
    if (entry === undefined || depth > MAX_TYPE_DEPTH) return UNKNOWN;
    const known = this.types.get(entry);
    if (known !== undefined) return known;
    const made = this.makeType(entry, depth);
    this.types.set(entry, made);
    return made;
  }

  private makeType(entry: Entry, depth: number): DebugType {
    const name = this.typeName(entry);
    const bytes = this.number(entry, AT.byteSize) ?? 0;
    const target = this.number(entry, AT.type);
    const inner = (): DebugType => (target === undefined ? VOID : this.type(this.byOffset.get(target), depth + 1));
    const plain = { ...UNKNOWN, name, bytes };
    switch (entry.tag) {
      case TAG.typedef:
        return { ...inner(), name, hasOwnName: true };
      case TAG.constType:
      case TAG.volatileType:
      case TAG.restrictType:
      case TAG.atomicType:
        return inner();
      case TAG.pointer:
      case TAG.reference:
      case TAG.rvalueReference: {
        const isReference = entry.tag !== TAG.pointer;
        const space = POINTER_SPACES.get(this.number(entry, AT.addressClass) ?? 0);
        const size = bytes || (space === undefined ? 8 : 4);
        return named({ ...plain, kind: 'pointer', bytes: size, of: inner, isReference, space });
      }
      case TAG.baseType: {
        const encoding = this.number(entry, AT.encoding) ?? 0;
        const isSigned = encoding === 5 || encoding === 6;
        if (encoding === 4) return { ...plain, kind: 'float' };
        if (encoding === 2) return { ...plain, kind: 'bool' };
        return { ...plain, kind: encoding === 6 || encoding === 8 ? 'char' : 'integer', isSigned };
      }
      case TAG.enumeration: {
        const names = new Map<number, string>();
        const scope = entry.values.has(AT.enumClass) ? `${name}::` : (this.names().around.get(entry.at) ?? '');
        for (const child of entry.children) {
          const value = this.number(child, AT.constValue);
          if (child.tag === TAG.enumerator && value !== undefined) names.set(value, `${scope}${this.nameOf(child)}`);
        }
        return { ...plain, kind: 'enum', names, isSigned: target !== undefined && inner().isSigned };
      }
      case TAG.structure:
      case TAG.class:
      case TAG.union:
        return {
          ...{ ...plain, kind: 'struct', members: this.members(entry), alignment: this.number(entry, AT.alignment) },
          isByReference: this.number(entry, AT.callingConvention) === PASS_BY_REFERENCE,
          isUnion: entry.tag === TAG.union,
        };
      case TAG.array:
        return this.arrayType(entry, inner);
      case TAG.subroutine:
        return this.functionType(entry);
      default:
        return plain;
    }
  }

  private functionType(entry: Entry): DebugType {
    return named({ ...UNKNOWN, signature: { returns: this.typeOf(entry), parameters: this.parametersOf(entry) } });
  }

  /** With the namespaces and classes around it; what a type without a name is. */
  private typeName(entry: Entry): string {
    const own = this.nameOf(entry);
    if (own !== '') return `${this.names().around.get(entry.at) ?? ''}${own}`;
    const word = UNNAMED[entry.tag];
    return word === undefined ? '' : `${word} {...}`;
  }

  private members(entry: Entry): DebugMember[] {
    return entry.children.flatMap((child): DebugMember[] => {
      const isBase = child.tag === TAG.inheritance;
      const target = this.number(child, AT.type);
      if ((child.tag !== TAG.member && !isBase) || target === undefined) return [];
      const offset = this.number(child, AT.dataMemberLocation);
      const first = this.number(child, AT.dataBitOffset);
      const count = this.number(child, AT.bitSize);
      const bits = first === undefined || count === undefined ? undefined : { first, count };
      if (offset === undefined && bits === undefined && entry.tag !== TAG.union) return [];
      const type = (): DebugType => this.type(this.byOffset.get(target), 0);
      const name = isBase ? `(base ${type().name})` : this.nameOf(child) || '(anonymous)';
      return [{ name, offset: offset ?? 0, type, bits }];
    });
  }

  typeNamed(name: string): DebugType | undefined {
    const entry = this.names().types.get(name);
    return entry === undefined ? undefined : this.type(entry, 0);
  }

  enumerator(name: string): { type: DebugType; value: number } | undefined {
    const found = this.names().enumerators.get(name);
    return found === undefined ? undefined : { type: this.type(found.of, 0), value: found.value };
  }

  constant(name: string): { type: DebugType; value: bigint } | undefined {
    const entry = this.names().constants.get(name);
    const place = entry && constantOf(entry.values.get(AT.constValue));
    const type = entry && this.typeOf(entry);
    return place?.kind === 'constant' && type !== undefined ? { type, value: place.value } : undefined;
  }

  private names(): Names {
    const roots = this.units.flatMap(({ root }) => root ?? []);
    this.known ??= namesOf(roots, (entry) => this.nameOf(entry));
    return this.known;
  }

  withoutVariables(): { readonly producer: string } | undefined {
    for (const { tag } of this.byOffset.values()) {
      if (tag === TAG.variable || tag === TAG.formalParameter) return undefined;
    }
    const names = this.units.map(({ root }) => root?.values.get(AT.producer));
    return { producer: String(names.find((one) => typeof one === 'string') ?? 'an unknown compiler') };
  }

  private arrayType(entry: Entry, element: () => DebugType): DebugType {
    const counts = entry.children
      .filter((child) => child.tag === TAG.subrange)
      .map((child) => this.number(child, AT.count) ?? (this.number(child, AT.upperBound) ?? -1) + 1);
    const nest = (at: number): DebugType => {
      const count = counts[at] ?? 0;
      const of = (): DebugType => (at + 1 < counts.length ? nest(at + 1) : element());
      return named({ ...UNKNOWN, kind: 'array', bytes: count * of().bytes, of, count });
    };
    const array = nest(0);
    if (!entry.values.has(AT.gnuVector)) return array;
    return { ...array, bytes: 2 ** Math.ceil(Math.log2(Math.max(1, array.bytes))), isVector: true };
  }
}

/** What types without a name are. */
const UNNAMED: Readonly<Record<number, string>> = {
  [TAG.structure]: 'struct',
  [TAG.class]: 'class',
  [TAG.union]: 'union',
  [TAG.enumeration]: 'enum',
};

const named = (type: DebugType): DebugType => ({ ...type, name: declaration(type) });

const DAMAGED: DebugPlace = { kind: 'absent', why: 'damaged debug information' };

const UNKNOWN: DebugType = {
  name: '?',
  kind: 'unknown',
  bytes: 0,
  isSigned: false,
  members: [],
  of: undefined,
  count: 0,
  names: new Map(),
};
const VOID: DebugType = { ...UNKNOWN, name: 'void' };

/** The place of a constant; undefined for a value that is none. */
function constantOf(value: AttributeValue | undefined): DebugPlace | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return { kind: 'constant', value: BigInt(value) };
  if (!(value instanceof Uint8Array)) return undefined;
  return { kind: 'constant', value: value.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) };
}

/** What a table says, or undefined where it is damaged. */
function quiet<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Damaged) return undefined;
    throw error;
  }
}
