// Linking an edited code object to the memory of the one it replaces. Both are loaded; `__device__`, `__constant__` and `__managed__` variables
// must stay those of the original, which the host and the other kernels know. So each reference of the edited code to such a variable is
// written anew when the code has been loaded. Source: AMDGPUUsage, "Relocation Records".
import { WavesmithError } from '../base/index.ts';
import {
  type ObjectModel,
  type ObjectSymbol,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolType,
} from '../codeobject/elf/object-model.ts';
import type { ElfFile, ElfSymbol } from '../codeobject/elf/read.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { type LinkReference, linkWithReferences } from '../codeobject/link/link.ts';
import { type ReferredSymbol, referredSymbol } from '../iree/normal-code.ts';
import { type Patch, PatchKind, type PatchKindValue } from '../runtime/generated/tool-messages.ts';

/** A reference to a variable of the original, by virtual addresses. */
export interface VariableReference {
  /** In the edited code object. */
  readonly place: number;
  readonly kind: PatchKindValue;
  /** In the original, addend included. */
  readonly target: number;
}

export interface VariableLinks {
  readonly references: readonly VariableReference[];
  /** Variables that stay the original's. */
  readonly shared: readonly string[];
  /** Writable variables that only the edit has. */
  readonly added: readonly string[];
}

const KINDS: Readonly<Record<number, PatchKindValue>> = {
  [RelocationType.REL32]: PatchKind.Rel32Low,
  [RelocationType.REL32_LO]: PatchKind.Rel32Low,
  [RelocationType.REL32_HI]: PatchKind.Rel32High,
  [RelocationType.ABS64]: PatchKind.Abs64,
  [RelocationType.ABS32_LO]: PatchKind.Abs32Low,
  [RelocationType.ABS32_HI]: PatchKind.Abs32High,
};

/** Relocations that refer to an entry of the GOT, whose own content is a reference of its own. */
const THROUGH_GOT: ReadonlySet<number> = new Set([
  RelocationType.GOTPCREL,
  RelocationType.GOTPCREL32_LO,
  RelocationType.GOTPCREL32_HI,
]);

/** Finds the references of an edited code object, which was linked from `object`, to variables of the original. */
export function linkVariables(original: Uint8Array, edited: Uint8Array, object: ObjectModel): VariableLinks {
  const before = readCodeObject(original).elf;
  const after = readCodeObject(edited).elf;
  const { references } = linkWithReferences([object]);
  const isStripped = before.symbols.length === 0;
  const known = [...before.symbols, ...before.dynamicSymbols];
  const shared = new Set<string>();
  const added = new Set<string>();
  const links: VariableReference[] = [];
  for (const reference of references) {
    const { symbol, type } = reference;
    const sort = sortOf(symbol);
    if (sort === undefined || THROUGH_GOT.has(type)) continue;
    const variable = referredSymbol(reference, after);
    const own = known.find(
      (s) => s.name === variable?.symbol.name && s.type === SymbolType.OBJECT && s.sectionIndex !== 0,
    );
    if (variable === undefined || own === undefined) {
      if (sort === 'constant') continue;
      if (variable === undefined || isStripped) throw nameless(symbol, reference);
      added.add(variable.symbol.name);
      continue;
    }
    if (sort === 'constant' && !isExported(before, own)) continue;
    if (!shared.has(own.name)) refuseNewValue(before, own, after, variable);
    shared.add(own.name);
    const kind = KINDS[type];
    if (kind === undefined) {
      throw new WavesmithError(
        'hijack/variable',
        `The edited code refers to variable '${own.name}' with relocation type ${type}, which cannot be kept on the original's.`,
        { pc: reference.place, hint: 'Refer to it with NAME@rel32@lo and @hi, or through the GOT.' },
      );
    }
    links.push({ place: reference.place, kind, target: Number(own.value) + variable.addend });
  }
  return { references: links, shared: [...shared], added: [...added] };
}

/** What the loaded addresses make of the references. */
export function patchesOf(references: readonly VariableReference[], originalDelta: number): Patch[] {
  return references.map(({ place, kind, target }) => ({ place, kind, target: originalDelta + target }));
}

/** Whether a symbol is a variable, and of which sort; undefined for code, descriptors and absolute values. */
function sortOf(symbol: ObjectSymbol): 'written' | 'constant' | undefined {
  const { section, name, type } = symbol;
  if (section === 'common') return 'written';
  if (typeof section === 'string' || name.endsWith('.kd')) return undefined;
  if ((section.flags & SectionFlag.EXECINSTR) !== 0 || (section.flags & SectionFlag.ALLOC) === 0) return undefined;
  if ((section.flags & SectionFlag.WRITE) !== 0) return 'written';
  return type === SymbolType.OBJECT || type === SymbolType.SECTION ? 'constant' : undefined;
}

/** The host reaches what is in the dynamic symbol table: `__constant__` variables. */
function isExported(elf: ElfFile, symbol: ElfSymbol): boolean {
  return elf.dynamicSymbols.some((s) => s.name === symbol.name && s.value === symbol.value);
}

/** A place in writable memory without a name cannot be found in the original; neither can a local one whose names were stripped. */
function nameless(symbol: ObjectSymbol, reference: LinkReference): WavesmithError {
  const section = typeof symbol.section === 'string' ? symbol.section : symbol.section.name;
  return new WavesmithError(
    'hijack/variable',
    `The edited code refers to ${section} without a symbol of the loaded code: which variable that is cannot be told.`,
    { pc: reference.place, hint: 'Give the variable a label with .type NAME,@object and .size, and refer to that.' },
  );
}

/** The original's variable stays; an edit of its first value would be lost. */
function refuseNewValue(before: ElfFile, own: ElfSymbol, after: ElfFile, { symbol }: ReferredSymbol): void {
  const size = Number(own.size);
  const isSameSize = symbol.size === own.size;
  const differs = (): boolean => {
    const [a, b] = [contentOf(before, own, size), contentOf(after, symbol, size)];
    // Content that the loader writes (a pointer) is not in the file.
    return a !== undefined && b !== undefined && !a.every((byte, i) => byte === b[i]);
  };
  if (isSameSize && !differs()) return;
  throw new WavesmithError(
    'hijack/variable',
    `The edit changes the ${isSameSize ? 'first value' : 'size'} of variable '${own.name}', which stays that of the loaded code.`,
    { hint: 'The host and other kernels know the original. Use a new variable with another name.' },
  );
}

function contentOf(elf: ElfFile, symbol: ElfSymbol, size: number): Uint8Array | undefined {
  const section = elf.sections[symbol.sectionIndex];
  if (section === undefined) return undefined;
  return section.type === SectionType.NOBITS ? new Uint8Array(size) : elf.bytesOf(symbol, size);
}
