// `__shared__` variables of kernels in the debug information: which ones a kernel may have, and where they are (debug-lds.ts). Those of functions that
// are called are in the kernel's structure too, unless functions of several kernels have them: then they are in a structure of the whole program.
// Source: LLVM 22, AMDGPULowerModuleLDSPass (strategy `hybrid`).
import { codeUses } from './code-calls.ts';
import type { AttributeValue, Entry, Unit } from './debug-entries.ts';
import { alignmentsOf, kernelLds, type LdsVariable, ldsLayout, ldsPlaces } from './debug-lds.ts';
import type { DebugType } from './debug-types.ts';
import { AT, TAG } from './dwarf-numbers.ts';
import type { ElfFile } from './read.ts';

/** What is asked of the reader of entries. */
export interface EntryReader {
  readonly units: readonly Unit[];
  readonly byOffset: ReadonlyMap<number, Entry>;
  nameOf(entry: Entry): string;
  typeOf(entry: Entry): DebugType | undefined;
  beginOf(entry: Entry): number | undefined;
  /** Whether an entry is a variable that is described without a place, or as one of LDS without an address. */
  isWithoutPlace(entry: Entry): boolean;
  /** An attribute of an entry, or of the one it was made from. */
  inherited(entry: Entry, attribute: number): AttributeValue | undefined;
}

/** Entries of a function that stand for no data. */
const NO_DATA = new Set<number>([
  ...[TAG.structure, TAG.class, TAG.union, TAG.enumeration, TAG.typedef, TAG.baseType],
  ...[TAG.templateType, TAG.templateValue],
]);

/** From this version on clang's LLVM lays variables out so: of 16, 19 and 22 it was tried, 15 orders those that are alike otherwise. */
const LEAST_VERSION = 16;
/** From this version on variables of the same kernels are in the structure of the whole program; before (tried: 16, 19) those of some of them too. */
const SAME_KERNELS_VERSION = 22;

/** A function with code of its own. */
interface CodeEntry {
  readonly entry: Entry;
  /** What it and the functions inlined into it share. */
  readonly shared: readonly Entry[];
}

/** What a kernel may have in LDS. */
interface KernelUse {
  readonly own: readonly Entry[];
  /** Of the functions that it calls, and that these call. */
  readonly called: readonly Entry[];
  /** Whether one of those functions touches LDS: it may use variables of the whole program. */
  readonly touches: boolean;
}

/** The places of shared variables, found when they are asked for first. */
export class SharedVariables {
  private readonly elf: ElfFile;
  private readonly reader: EntryReader;
  private readonly byKernel = new Map<number, ReadonlyMap<Entry, number>>();
  private readonly symbols = new Map<Entry, string>();
  private found: ReturnType<SharedVariables['survey']> | undefined;

  constructor(elf: ElfFile, reader: EntryReader) {
    this.elf = elf;
    this.reader = reader;
  }

  /**
   * Variables of a function, or of one that was inlined, that may be `__shared__`: they have no place, and stand before its parameters, or they say that
   * they are.
   */
  of(scope: Entry): readonly Entry[] {
    const { byOffset, isWithoutPlace } = this.reader;
    const origin = scope.values.get(AT.abstractOrigin);
    const { children } = (typeof origin === 'number' ? byOffset.get(origin) : undefined) ?? scope;
    const found = children.findIndex(({ tag }) => tag !== TAG.variable && !NO_DATA.has(tag));
    const end = found < 0 ? children.length : found;
    return children.filter((one, i) => isWithoutPlace(one) && (i < end || one.values.has(AT.location)));
  }

  /** Whether a kernel begins at an address. */
  isKernel(address: number): boolean {
    this.found ??= this.survey();
    return this.found.kernels.some(({ begin }) => begin === address);
  }

  /** Where a variable is in the LDS of the kernel that an address belongs to; undefined where that cannot be told. */
  offset(entry: Entry, address: number): number | undefined {
    this.found ??= this.survey();
    const kernel = this.found.kernels.find(({ begin, end }) => address >= begin && address < end);
    if (kernel === undefined) return undefined;
    const known = this.byKernel.get(kernel.begin) ?? this.places(kernel.begin, kernel.bytes);
    this.byKernel.set(kernel.begin, known);
    return known.get(entry);
  }

  /** Whether a variable may be in the LDS of the kernel that an address belongs to. */
  mayHave(entry: Entry, address: number): boolean {
    this.found ??= this.survey();
    const kernel = this.found.kernels.find(({ begin, end }) => address >= begin && address < end);
    const bytes = kernel?.bytes ?? Number.POSITIVE_INFINITY;
    return bytes > 0 && this.found.candidates.has(entry) && this.mayBeShared(entry, bytes);
  }

  /** Kernels, and functions by where they begin. */
  private survey() {
    const { elf, reader } = this;
    const functions = new Map<number, CodeEntry>();
    const globals: Entry[] = [];
    const orphans: Entry[] = [];
    const inside = (children: readonly Entry[], isProgram: boolean): void => {
      for (const child of children) {
        if (child.tag === TAG.namespace) inside(child.children, isProgram);
        else if (child.tag === TAG.class || child.tag === TAG.structure) inside(child.children, false);
        else if (child.tag === TAG.subprogram) {
          const begin = reader.beginOf(child);
          if (begin !== undefined) functions.set(begin, { entry: child, shared: this.sharedInside(child) });
          // LLVM up to 20 puts those of inlined functions into one that is nobody's.
          else if (reader.nameOf(child) === '') orphans.push(...this.of(child));
        } else if (isProgram && reader.isWithoutPlace(child)) {
          globals.push(child);
          this.symbols.set(child, this.symbolOf(child));
        }
      }
    };
    for (const { root } of reader.units) inside(root?.children ?? [], true);
    const lds = kernelLds(elf);
    const uses = codeUses(elf);
    const kernels = [...lds].flatMap(([begin, bytes]) => {
      const size = elf.symbols.find(({ name, value }) => !name.endsWith('.kd') && Number(value) === begin)?.size ?? 0n;
      return [{ begin, end: begin + Number(size), bytes }];
    });
    const used = new Map<number, KernelUse | undefined>();
    const begins = new Set(kernels.map(({ begin }) => begin));
    const hidesNothing = ![...functions].some(([begin, { shared }]) => !begins.has(begin) && shared.length > 0);
    for (const { begin } of kernels) used.set(begin, this.useOf(begin, functions, uses, hidesNothing));
    const version = Math.min(...reader.units.map(({ root }) => versionOf(root?.values.get(AT.producer))));
    const candidates = new Set([...globals, ...orphans, ...[...functions.values()].flatMap(({ shared }) => shared)]);
    return { kernels, globals, orphans, candidates, used, version, ...this.ofSeveral(used) };
  }

  /** What a function and those that were inlined into it share. */
  private sharedInside(entry: Entry): Entry[] {
    const { nameOf } = this.reader;
    const own = this.symbolOf(entry);
    const shared = this.of(entry);
    for (const one of shared) {
      const name = nameOf(one);
      this.symbols.set(one, own.startsWith('_Z') ? `_ZZ${own.slice(2)}E${name.length}${name}` : `${own}.${name}`);
    }
    const inlined = (children: readonly Entry[]): Entry[] =>
      children.flatMap((child) => {
        if (child.tag === TAG.inlinedSubroutine) return this.sharedInside(child);
        return child.tag === TAG.lexicalBlock ? inlined(child.children) : [];
      });
    return [...new Set([...shared, ...inlined(entry.children)])];
  }

  private symbolOf(entry: Entry): string {
    return String(this.reader.inherited(entry, AT.linkageName) ?? this.reader.nameOf(entry));
  }

  /** Undefined where the kernel calls what is not known, unless that has no variables: `hidesNothing`. */
  private useOf(
    kernel: number,
    functions: ReadonlyMap<number, CodeEntry>,
    uses: ReturnType<typeof codeUses>,
    hidesNothing: boolean,
  ): KernelUse | undefined {
    const called = new Set<Entry>();
    const seen = new Set([kernel]);
    const open = [kernel];
    let touches = false;
    for (let begin = open.pop(); begin !== undefined; begin = open.pop()) {
      const use = uses(begin);
      if (use?.calls === undefined && !hidesNothing) return undefined;
      touches ||= use?.calls === undefined;
      if (begin !== kernel) {
        touches ||= use?.touchesLds !== false;
        for (const one of functions.get(begin)?.shared ?? []) called.add(one);
      }
      for (const next of use?.calls ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
    return { own: functions.get(kernel)?.shared ?? [], called: [...called], touches };
  }

  /**
   * Variables of functions that several kernels call: those that the same kernels as the first one have, and those that some of these have. `areKnown`:
   * whether that can be told.
   */
  private ofSeveral(used: ReadonlyMap<number, KernelUse | undefined>): {
    same: readonly Entry[];
    some: readonly Entry[];
    areKnown: boolean;
  } {
    const kernelsOf = new Map<Entry, Set<number>>();
    for (const [kernel, use] of used) {
      for (const one of use?.called ?? []) kernelsOf.set(one, (kernelsOf.get(one) ?? new Set()).add(kernel));
    }
    const areKnown = [...used.values()].every((use) => use !== undefined);
    const several = [...kernelsOf].filter(([, kernels]) => kernels.size > 1);
    if (several.length === 0) return { same: [], some: [], areKnown };
    const bytes = (entry: Entry): number => this.reader.typeOf(entry)?.bytes ?? 0;
    const symbol = (entry: Entry): string => this.symbols.get(entry) ?? '';
    // That of the most kernels decides; of those the smallest, then the last by its name.
    const [root] = several.sort(
      ([a, ofA], [b, ofB]) => ofB.size - ofA.size || bytes(a) - bytes(b) || (symbol(a) > symbol(b) ? -1 : 1),
    );
    const rootKernels = root?.[1] ?? new Set();
    const ofSome = several.filter(([, kernels]) => [...kernels].every((kernel) => rootKernels.has(kernel)));
    const ofSame = ofSome.filter(([, kernels]) => kernels.size === rootKernels.size);
    return { same: ofSame.map(([entry]) => entry), some: ofSome.map(([entry]) => entry), areKnown };
  }

  private places(kernel: number, bytes: number): ReadonlyMap<Entry, number> {
    const { globals, orphans, used, version, same, some, areKnown } = this.found ?? this.survey();
    const use = used.get(kernel);
    const touching = [...used.values()].filter((one) => one?.touches !== false).length;
    const mayBeModule = [...globals, ...orphans].some((entry) => this.mayBeShared(entry, bytes)) && touching > 1;
    if (use === undefined || !areKnown || bytes === 0 || (use.touches && mayBeModule)) return new Map();
    if (version < LEAST_VERSION) return new Map();
    const isUnsure = version < SAME_KERNELS_VERSION && same.length < some.length;
    if (isUnsure && use.called.some((entry) => some.includes(entry))) return new Map();
    return this.placesWith(same, use, [...globals, ...orphans], bytes) ?? new Map();
  }

  /** Places where these variables are the structure of the whole program, which is there as a whole, and first; undefined where that does not fit. */
  private placesWith(
    module: readonly Entry[],
    use: KernelUse,
    others: readonly Entry[],
    bytes: number,
  ): ReadonlyMap<Entry, number> | undefined {
    const first = use.called.some((entry) => module.includes(entry)) ? module : [];
    const before = ldsLayout(first.map((entry) => this.variable(entry, true)));
    const own = new Set([...use.own, ...use.called]);
    const candidates = [...own, ...others].filter((entry) => !first.includes(entry) && this.mayBeShared(entry, bytes));
    const variables = candidates.map((entry) => this.variable(entry, own.has(entry)));
    const offsets = ldsPlaces(variables, bytes, first.length === 0 ? 0 : before.bytes);
    if (offsets === undefined) return undefined;
    const places = new Map(first.map((entry, i) => [entry, before.offsets[i] as number]));
    for (const [i, entry] of candidates.entries()) if (offsets[i] !== undefined) places.set(entry, offsets[i]);
    return places;
  }

  private variable(entry: Entry, isOwn: boolean): LdsVariable {
    const type = this.reader.typeOf(entry);
    const { natural, declared } = type === undefined ? { natural: 1, declared: 1 } : alignmentsOf(type);
    const given = entry.values.get(AT.alignment);
    const alignment = Math.max(declared, typeof given === 'number' ? given : 1);
    return { symbol: this.symbols.get(entry), bytes: type?.bytes ?? 0, alignment, natural, isOwn };
  }

  private mayBeShared(entry: Entry, bytes: number): boolean {
    const type = this.reader.typeOf(entry);
    if (type === undefined || type.bytes === 0 || type.bytes > bytes || this.isConstant(entry)) return false;
    return type.kind !== 'struct' || type.members.length > 0;
  }

  /** Whether a variable, or the elements of an array, are `const`. */
  private isConstant(entry: Entry): boolean {
    const at = this.reader.inherited(entry, AT.type);
    const type = typeof at === 'number' ? this.reader.byOffset.get(at) : undefined;
    return type?.tag === TAG.constType || (type?.tag === TAG.array && this.isConstant(type));
  }
}

/** The version of the clang that made a unit; 0 for another compiler. */
function versionOf(producer: AttributeValue | undefined): number {
  return typeof producer === 'string' ? Number(/\bclang version (\d+)\./.exec(producer)?.[1] ?? 0) : 0;
}
