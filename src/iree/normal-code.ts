// Two code objects with every reference to a symbol written in one way, so that a comparison sees what was edited: when code grows, the
// distances from all code to all data change, in kernels too that nobody touched.
import type { ObjectModel } from '../codeobject/elf/object-model.ts';
import { RelocationType, SymbolType } from '../codeobject/elf/object-model.ts';
import { type ElfFile, type ElfSymbol, readElf } from '../codeobject/elf/read.ts';
import { type LinkReference, linkWithReferences } from '../codeobject/link/link.ts';
import { type CodeObjectFacts, readFacts } from './facts.ts';

/**
 * What a reference adds because its place is behind the s_getpc_b64 that it belongs to: 4 and 12 for the s_add_u32 and s_addc_u32 that follow
 * it, as every compiler writes them.
 */
const BEHIND_PC: Readonly<Record<number, number>> = {
  [RelocationType.REL32]: 4,
  [RelocationType.REL32_LO]: 4,
  [RelocationType.REL32_HI]: 12,
  [RelocationType.GOTPCREL]: 4,
  [RelocationType.GOTPCREL32_LO]: 4,
  [RelocationType.GOTPCREL32_HI]: 12,
};

/** The symbol that a reference means. */
export interface ReferredSymbol {
  readonly symbol: ElfSymbol;
  /** Beyond its first byte, with what a pc-relative reference adds for its own place. */
  readonly addend: number;
}

/** Finds what a reference means in the linked file; undefined when no symbol holds the place. */
export function referredSymbol({ symbol, addend, type }: LinkReference, linked: ElfFile): ReferredSymbol | undefined {
  const named = linked.symbols.filter((s) => s.name !== '' && s.sectionIndex !== 0);
  if (symbol.type !== SymbolType.SECTION) {
    const found = named.find((s) => s.name === symbol.name);
    return found && { symbol: found, addend: Number(addend) };
  }
  // Assemblers refer to local symbols by their section.
  if (typeof symbol.section === 'string') return undefined;
  const { name } = symbol.section;
  const section = linked.sections.find((s) => s.name === name);
  const behind = BEHIND_PC[type] ?? 0;
  const address = (section?.address ?? 0) + Number(addend) - behind;
  const found = named.find((s) => {
    const start = Number(s.value);
    return s.sectionIndex === section?.index && address >= start && address < start + Math.max(1, Number(s.size));
  });
  return found && { symbol: found, addend: address - Number(found.value) + behind };
}

/** The facts of a code object whose pc-relative references in code are replaced by a number made of what they mean. */
function normal(facts: CodeObjectFacts, object: ObjectModel): CodeObjectFacts {
  const bytes = new Uint8Array(facts.bytes);
  const elf = readElf(bytes);
  const text = elf.section('.text');
  if (text === undefined) return facts;
  const view = new DataView(text.bytes.buffer, text.bytes.byteOffset, text.bytes.byteLength);
  for (const reference of linkWithReferences([object]).references) {
    const at = reference.place - text.address;
    if (BEHIND_PC[reference.type] === undefined || at < 0 || at + 4 > text.bytes.byteLength) continue;
    const referred = referredSymbol(reference, elf);
    if (referred === undefined) continue;
    view.setUint32(at, hashOf(`${referred.symbol.name}+${referred.addend}.${reference.type}`), true);
  }
  return readFacts(bytes);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** What an edit was assembled from. */
export interface EditObjects {
  readonly object: ObjectModel | undefined;
  readonly pristine: ObjectModel | undefined;
}

/** Baseline and edited code in the form that is compared; as they are when what they were assembled from is not known. */
export function normalPair(
  before: CodeObjectFacts,
  after: CodeObjectFacts,
  { object, pristine }: EditObjects,
): readonly [CodeObjectFacts, CodeObjectFacts] {
  if (object === undefined || pristine === undefined) return [before, after];
  return [normal(before, pristine), normal(after, object)];
}
