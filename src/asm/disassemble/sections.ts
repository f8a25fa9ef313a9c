// Data sections as text: symbols, references as expressions, kernel descriptors as directive blocks, the rest as data.

import { WavesmithError } from '../../base/index.ts';
import {
  decodeDescriptor,
  KERNEL_DESCRIPTOR_SIZE,
  RelocationType,
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
} from '../../codeobject/index.ts';
import { dataDirectives, indented, type LineSink, pushAll } from './data.ts';
import { type DescriptorTarget, descriptorDirectives, type RegisterCounts } from './descriptor.ts';
import type { Image, ImageReference, ImageSection, ImageSymbol } from './image.ts';
import type { Labels } from './labels.ts';
import { LayoutPrinter } from './layout.ts';
import { printableName } from './names.ts';
import { dataReference, expressionText, relocationName } from './references.ts';

const ENTRY_OFFSET = 16;

/** A kernel that a `.amdhsa_kernel` block can describe, or the reason why its descriptor stays data. */
export interface Kernel {
  readonly name: string;
  readonly descriptor: ImageSymbol;
  readonly entry: ImageSymbol;
  readonly directives: readonly string[] | { readonly reason: string };
}

/** Finds the kernels: `X.kd` of 64 bytes whose entry offset leads to the function `X`. */
export function findKernels(
  image: Image,
  target: DescriptorTarget,
  counts: ReadonlyMap<string, RegisterCounts>,
): Map<ImageSymbol, Kernel> {
  const functions = new Map<string, ImageSymbol>();
  for (const section of image.sections) {
    if (section.kind !== 'code') continue;
    for (const symbol of section.symbols) if (!functions.has(symbol.elf.name)) functions.set(symbol.elf.name, symbol);
  }
  const kernels = new Map<ImageSymbol, Kernel>();
  for (const section of image.sections) {
    if (section.kind !== 'data') continue;
    for (const descriptor of section.symbols) {
      const { name } = descriptor.elf;
      if (!name.endsWith('.kd') || descriptor.size !== KERNEL_DESCRIPTOR_SIZE) continue;
      const entry = functions.get(name.slice(0, -3));
      if (entry === undefined || descriptor.offset + descriptor.size > section.size) continue;
      if (!entersAt(image, descriptor, entry)) continue;
      const directives = blockOf(descriptor, entry, target, counts.get(entry.elf.name));
      kernels.set(descriptor, { name: entry.elf.name, descriptor, entry, directives });
    }
  }
  return kernels;
}

/** The reference at exactly this offset. */
function referenceAt({ references }: ImageSection, offset: number): ImageReference | undefined {
  let low = 0;
  let high = references.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (references[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  return references[low]?.offset === offset ? references[low] : undefined;
}

function entersAt(image: Image, descriptor: ImageSymbol, entry: ImageSymbol): boolean {
  const { section, offset } = descriptor;
  const at = offset + ENTRY_OFFSET;
  if (image.isRelocatable) {
    const reference = referenceAt(section, at);
    if (reference?.type !== RelocationType.REL64) return false;
    const place = reference.place;
    if (place !== undefined) {
      const delta = reference.addend - BigInt(ENTRY_OFFSET);
      return place.section === entry.section && BigInt(place.offset) + delta === BigInt(entry.offset);
    }
    return reference.symbol === entry.name && reference.addend === BigInt(ENTRY_OFFSET);
  }
  const distance = new DataView(section.bytes.buffer, section.bytes.byteOffset + at, 8).getBigInt64(0, true);
  return BigInt(section.base + offset) + distance === BigInt(entry.section.base + entry.offset);
}

function blockOf(
  descriptor: ImageSymbol,
  entry: ImageSymbol,
  target: DescriptorTarget,
  counts: RegisterCounts | undefined,
): readonly string[] | { readonly reason: string } {
  const { elf } = descriptor;
  // The directive copies binding and visibility from the function, and makes a default function protected afterwards.
  const isSame = elf.visibility === entry.elf.visibility || isProtectedLater(descriptor, entry);
  if (elf.binding !== entry.elf.binding || !isSame || elf.type !== SymbolType.OBJECT) {
    return { reason: 'its symbol differs from the function symbol in binding, visibility or type' };
  }
  if (descriptor.name !== printableName(`${entry.elf.name}.kd`) || entry.name !== printableName(entry.elf.name)) {
    return { reason: 'another local symbol has the same name' };
  }
  const { section, offset } = descriptor;
  if (section.symbols.some((s) => s.offset > offset && s.offset < offset + KERNEL_DESCRIPTOR_SIZE)) {
    return { reason: 'another symbol is defined inside it' };
  }
  try {
    const bytes = section.bytes.subarray(offset, offset + KERNEL_DESCRIPTOR_SIZE);
    return descriptorDirectives(decodeDescriptor(bytes), target, counts);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { reason: error.message.replace(/\.$/, '') };
  }
}

/** True for a default descriptor whose function is protected: `.amdhsa_kernel` itself does that. */
export function isProtectedLater(descriptor: ImageSymbol, entry: ImageSymbol): boolean {
  return (
    descriptor.elf.visibility === SymbolVisibility.DEFAULT &&
    entry.elf.visibility === SymbolVisibility.PROTECTED &&
    entry.elf.binding !== SymbolBinding.LOCAL
  );
}

/** The directives that switch to a section and align it. */
export function sectionHeader(image: Image, section: ImageSection): string[] {
  const { elf, name } = section;
  const lines: string[] = [];
  const flags = sectionFlags(image, section);
  const isPlainText = name === '.text' && flags === 'ax' && elf.type === SectionType.PROGBITS;
  if (isPlainText) lines.push('\t.text');
  else {
    let line = `\t.section\t${printableName(name)},"${flags}",@${sectionType(elf.type)}`;
    if (flags.includes('M')) line += `,${elf.entrySize}`;
    const group = image.groupSignature(elf);
    if (flags.includes('G') && group !== undefined) line += `,${group},comdat`;
    lines.push(line);
  }
  if (elf.alignment > 1 && Number.isInteger(Math.log2(elf.alignment))) {
    lines.push(`\t.p2align\t${Math.log2(elf.alignment)}`);
  }
  return lines;
}

const FLAG_LETTERS: readonly (readonly [number, string])[] = [
  [SectionFlag.ALLOC, 'a'],
  [SectionFlag.EXCLUDE, 'e'],
  [SectionFlag.EXECINSTR, 'x'],
  [SectionFlag.WRITE, 'w'],
  [SectionFlag.TLS, 'T'],
  [SectionFlag.GNU_RETAIN, 'R'],
];

function sectionFlags(image: Image, section: ImageSection): string {
  const has = (flag: number) => (section.elf.flags & BigInt(flag)) !== 0n;
  let letters = '';
  for (const [flag, letter] of FLAG_LETTERS) if (has(flag)) letters += letter;
  // In a linked object equal strings are merged already; merging them again could move them.
  if (!image.isRelocatable) return letters;
  if (has(SectionFlag.MERGE) && section.elf.entrySize > 0) letters += has(SectionFlag.STRINGS) ? 'MS' : 'M';
  if (image.groupSignature(section.elf) !== undefined) letters += 'G';
  return letters;
}

const SECTION_TYPES: ReadonlyMap<number, string> = new Map([
  [SectionType.PROGBITS, 'progbits'],
  [SectionType.NOBITS, 'nobits'],
  [SectionType.INIT_ARRAY, 'init_array'],
  [SectionType.FINI_ARRAY, 'fini_array'],
  [SectionType.PREINIT_ARRAY, 'preinit_array'],
]);

function sectionType(type: number): string {
  return SECTION_TYPES.get(type) ?? `0x${type.toString(16)}`;
}

/** Prints a data or NOBITS section. */
export class DataSection {
  private readonly image: Image;
  private readonly section: ImageSection;
  private readonly labels: Labels;
  private readonly kernels: ReadonlyMap<ImageSymbol, Kernel>;

  constructor(image: Image, section: ImageSection, labels: Labels, kernels: ReadonlyMap<ImageSymbol, Kernel>) {
    this.image = image;
    this.section = section;
    this.labels = labels;
    this.kernels = kernels;
  }

  /** Asks for the labels that the section's references need. */
  scan(): void {
    const skipped = this.descriptorFields();
    for (const reference of this.section.references) {
      if (reference.place === undefined || skipped.has(reference.offset)) continue;
      this.labels.wantReference(this.placeOf(reference));
    }
    for (const symbol of this.section.symbols) {
      const kernel = this.kernels.get(symbol);
      if (kernel === undefined || !('reason' in kernel.directives)) continue;
      this.labels.wantReference({ section: kernel.entry.section, offset: kernel.entry.offset });
    }
  }

  /** Offsets of entry fields that `.amdhsa_kernel` makes by itself. */
  private descriptorFields(): Set<number> {
    const offsets = new Set<number>();
    for (const symbol of this.section.symbols) if (this.kernels.has(symbol)) offsets.add(symbol.offset + ENTRY_OFFSET);
    return offsets;
  }

  /** Where a reference against a section leads, the addend included when that is inside the section. */
  private placeOf(reference: ImageReference) {
    const { section, offset } = reference.place as { section: ImageSection; offset: number };
    const target = offset + Number(reference.addend);
    return { section, offset: target >= 0 && target <= section.size ? target : offset };
  }

  /** Writes the section's lines; descriptors of kernels that are left out are skipped. */
  print(out: LineSink, isKept: (kernel: Kernel) => boolean): void {
    const { section } = this;
    const layout = new LayoutPrinter(section, this.labels, out);
    const kernelAt = new Map<number, Kernel>();
    for (const symbol of section.symbols) {
      const kernel = this.kernels.get(symbol);
      if (kernel !== undefined) kernelAt.set(symbol.offset, kernel);
    }
    let next = 0;
    for (let at = 0; at < section.size; ) {
      const kernel = kernelAt.get(at);
      if (kernel !== undefined && !isKept(kernel)) {
        at += KERNEL_DESCRIPTOR_SIZE;
        layout.skip(at);
        continue;
      }
      if (kernel !== undefined && Array.isArray(kernel.directives)) {
        layout.arrive(at, kernel.descriptor);
        this.printKernel(out, kernel, kernel.directives);
        at += KERNEL_DESCRIPTOR_SIZE;
        continue;
      }
      if (kernel !== undefined && 'reason' in kernel.directives) {
        out.push(`; The descriptor of ${kernel.name} is data: ${kernel.directives.reason}.`);
      }
      layout.arrive(at);
      while (next < section.references.length && section.references[next].offset < at) next++;
      const reference = section.references[next];
      const stop = layout.stopAfter(at);
      const isDescriptor = kernel !== undefined && !this.image.isRelocatable;
      at = isDescriptor
        ? this.printRawDescriptor(out, kernel)
        : this.printData(out, at, stop, reference, section.references[next + 1]);
    }
    layout.arrive(section.size);
  }

  private printKernel(out: LineSink, kernel: Kernel, directives: readonly string[]): void {
    const { offset, section } = kernel.descriptor;
    const isAligned = offset % KERNEL_DESCRIPTOR_SIZE === 0 && section.elf.alignment >= KERNEL_DESCRIPTOR_SIZE;
    if (offset > 0 && isAligned) out.push('\t.p2align\t6, 0x0');
    out.push(`\t.amdhsa_kernel ${kernel.entry.name}`);
    for (const line of directives) out.push(`\t\t${line}`);
    out.push('\t.end_amdhsa_kernel');
  }

  /** A descriptor of a linked object that stays data: only its entry offset is symbolic. */
  private printRawDescriptor(out: LineSink, kernel: Kernel): number {
    const { offset, name } = kernel.descriptor;
    const { bytes } = this.section;
    const push = (start: number, end: number) => pushAll(out, indented(dataDirectives(bytes, start, end)));
    push(offset, offset + ENTRY_OFFSET);
    const { entry } = kernel;
    const entryName = this.labels.write({ section: entry.section, offset: entry.offset }).name;
    out.push(`\t.quad ${entryName}-${name}`);
    push(offset + ENTRY_OFFSET + 8, offset + KERNEL_DESCRIPTOR_SIZE);
    return offset + KERNEL_DESCRIPTOR_SIZE;
  }

  /** Data up to the next reference or stop; returns where it ended. */
  private printData(
    out: LineSink,
    at: number,
    stop: number,
    reference: ImageReference | undefined,
    following: ImageReference | undefined,
  ): number {
    const { section } = this;
    if (section.kind === 'nobits') {
      out.push(`\t.zero ${stop - at}`);
      return stop;
    }
    if (reference?.offset === at) {
      const line = this.referenceLine(reference, stop - at);
      if (line !== undefined) {
        out.push(`\t${line.text}`);
        return at + line.size;
      }
      out.push(...this.relocLines(reference));
    }
    const nextReference = reference?.offset === at ? following : reference;
    const end = Math.min(stop, Math.max(at + 1, nextReference?.offset ?? stop));
    pushAll(out, indented(dataDirectives(section.bytes, at, end)));
    return end;
  }

  private target(reference: ImageReference): { name: string; addend: bigint } | undefined {
    if (reference.symbol !== undefined) return { name: reference.symbol, addend: reference.addend };
    if (reference.place === undefined) return undefined;
    const place = this.placeOf(reference);
    const { name, delta } = this.labels.write(place);
    return { name, addend: reference.addend + BigInt(reference.place.offset - place.offset + delta) };
  }

  private referenceLine(reference: ImageReference, room: number): { text: string; size: number } | undefined {
    const target = this.target(reference);
    const data = target && dataReference(reference.type, target.name, target.addend);
    return data === undefined || data.size > room ? undefined : { text: data.line, size: data.size };
  }

  private relocLines(reference: ImageReference): string[] {
    const target = this.target(reference);
    const type = relocationName(reference.type);
    if (target === undefined || type === undefined) return [];
    return [`\t.reloc ., ${type}, ${expressionText(target.name, target.addend)}`];
  }
}
