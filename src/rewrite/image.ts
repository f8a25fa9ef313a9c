// The file around rewritten code: where the code and new memory go in the image, and everything in the file that says where code is.
// Data never moves. Debug information of code that moved is left out: line tables are not rewritten. Code that outgrew its place goes behind the image, with the metadata note when that outgrew its own.
// Source: ELF gABI (program headers ascend by address; file offsets are congruent to addresses), LLVM's AMDGPUUsage.
import { WavesmithError } from '../base/index.ts';
import { AMDGPU_NOTE_OWNER, NT_AMDGPU_METADATA, readNotes, writeNote } from '../codeobject/elf/notes.ts';
import {
  type CodeObject,
  type ElfSection,
  ElfSectionType,
  encodeDescriptor,
  encodeMetadata,
  type Kernel,
  type MsgPackMap,
  type MsgPackValue,
  RelocationType,
  SegmentType,
} from '../codeobject/index.ts';
import { decodeMsgPack } from '../codeobject/kernel/msgpack.ts';
import { type CodeRange, isIn } from './stays.ts';
import type { RewriteOptions } from './types.ts';

const PAGE = 4096;
const SECTION_HEADER = 64;
const PROGRAM_HEADER = 56;
const SYMBOL = 24;
const STT_SECTION = 3;
const SHF_ALLOC = 2n;
const READ_EXECUTE = 5;
const READ_WRITE = 6;

/** What became of the code. */
export interface NewCode {
  readonly bytes: Uint8Array;
  readonly start: number;
  /** Where a code section begins now. */
  readonly sectionStart: (section: ElfSection) => number;
  /** New addresses of old ones: for branches and pointers, for what stands at the address, for the end of what ended there. */
  readonly place: (address: number) => number | undefined;
  readonly at: (address: number) => number | undefined;
  readonly end: (address: number) => number | undefined;
  readonly entry: (address: number) => number | undefined;
  /** Dwords of data that change, by their addresses. */
  readonly dataWords: ReadonlyMap<number, number>;
}

interface Segment {
  type: number;
  flags: number;
  offset: number;
  address: number;
  fileSize: number;
  memorySize: number;
  alignment: number;
}

/** A file of a code object that is being changed. */
export class ImageWriter {
  private readonly codeObject: CodeObject;
  private readonly sections: readonly ElfSection[];
  private readonly options: RewriteOptions;
  /** Code that runs where it is: then the old sections are still in the file. */
  private readonly stays: readonly CodeRange[];
  /** The new metadata notes' section, when it does not fit where the old one is. */
  private readonly movedNote: { readonly section: ElfSection; readonly bytes: Uint8Array } | undefined;
  private readonly patchedNote: { readonly section: ElfSection; readonly bytes: Uint8Array } | undefined;
  private isMoved = false;
  /** Address of the new memory. */
  memoryAddress: number | undefined;

  constructor(
    codeObject: CodeObject,
    sections: readonly ElfSection[],
    options: RewriteOptions,
    stays: readonly CodeRange[],
  ) {
    this.stays = stays;
    this.codeObject = codeObject;
    this.sections = sections;
    this.options = options;
    const note = changedNote(codeObject, options);
    if (note !== undefined && note.bytes.length === note.section.size) this.patchedNote = note;
    else this.movedNote = note;
  }

  /** Where code of so many bytes begins: at its old place when that has room. */
  startOf(first: ElfSection, size: number): number {
    const room = this.sections.length === 1 ? this.roomBehind(first) : this.oldSize();
    const fits = size <= room && (this.sections.length === 1 || size === this.oldSize());
    if (fits && this.movedNote === undefined && this.stays.length === 0) return first.address;
    this.isMoved = true;
    return Math.ceil(this.imageEnd() / PAGE) * PAGE + (first.address % PAGE);
  }

  private oldSize(): number {
    const [first, last] = [this.sections[0], this.sections.at(-1)];
    return first === undefined || last === undefined ? 0 : last.address + last.bytes.length - first.address;
  }

  /** Bytes from a section's start to the next thing in memory or in the file. */
  private roomBehind(section: ElfSection): number {
    const { elf } = this.codeObject;
    let room = Number.POSITIVE_INFINITY;
    for (const s of elf.sections) {
      if (s.index === section.index || s.size === 0) continue;
      if ((s.flags & SHF_ALLOC) !== 0n && s.address >= section.address)
        room = Math.min(room, s.address - section.address);
      if (s.type !== ElfSectionType.NOBITS && s.offset >= section.offset)
        room = Math.min(room, s.offset - section.offset);
    }
    for (const s of elf.segments) {
      if (s.type !== SegmentType.LOAD || s.virtualAddress <= section.address) continue;
      room = Math.min(room, Math.floor(s.virtualAddress / PAGE) * PAGE - section.address);
    }
    const { sectionHeaderOffset } = elf.header;
    if (sectionHeaderOffset >= section.offset) room = Math.min(room, sectionHeaderOffset - section.offset);
    return Number.isFinite(room) ? room : section.size;
  }

  private imageEnd(): number {
    return Math.max(
      0,
      ...this.codeObject.elf.segments
        .filter((s) => s.type === SegmentType.LOAD)
        .map((s) => s.virtualAddress + s.memorySize),
    );
  }

  /** Reserves the memory that was asked for behind the image and the code's end; its address. */
  addMemory(codeEnd: number): number | undefined {
    const { memory } = this.options;
    if (memory === undefined) return undefined;
    const noteBytes = this.movedNote?.bytes.length ?? 0;
    const end = Math.max(this.imageEnd(), this.isMoved ? codeEnd + noteBytes + 8 : 0);
    this.memoryAddress = Math.ceil(end / PAGE) * PAGE;
    return this.memoryAddress;
  }

  /** The new file. */
  finish(code: NewCode): Uint8Array {
    const { bytes: original, elf } = this.codeObject;
    const placed = this.placeCode(original, code);
    const { bytes, segments } = placed;
    const view = new DataView(bytes.buffer);
    this.writeSegments(bytes, view, segments, elf.header.programHeaderOffset);
    this.writeSectionHeaders(view, code, placed.offset, placed.note);
    this.writeSymbols(view, code);
    this.writeRelocations(view, code);
    this.writeDescriptors(view, bytes, code);
    for (const [address, word] of code.dataWords) {
      const section = elf.sections.find(
        (s) => (s.flags & SHF_ALLOC) !== 0n && address >= s.address && address < s.address + s.bytes.length,
      );
      if (section !== undefined) view.setInt32(section.offset + (address - section.address), word, true);
    }
    const patched = this.patchedNote;
    if (patched !== undefined) bytes.set(patched.bytes, patched.section.offset);
    const whole = placed.extend === undefined ? bytes : placed.extend(bytes);
    return this.stays.length === 0 ? whole : this.withOldSections(whole);
  }

  /** The file with headers for the old code sections too: the table of them moves to the end. */
  private withOldSections(bytes: Uint8Array): Uint8Array {
    const { header } = this.codeObject.elf;
    const size = SECTION_HEADER * header.sectionHeaderCount;
    const at = Math.ceil(bytes.length / 8) * 8;
    const out = new Uint8Array(at + size + SECTION_HEADER * this.sections.length);
    out.set(bytes);
    out.copyWithin(at, header.sectionHeaderOffset, header.sectionHeaderOffset + size);
    const view = new DataView(out.buffer);
    for (const [i, { index, address, offset, size: length }] of this.sections.entries()) {
      const row = at + size + SECTION_HEADER * i;
      out.copyWithin(row, at + SECTION_HEADER * index, at + SECTION_HEADER * (index + 1));
      view.setBigUint64(row + 16, BigInt(address), true);
      view.setBigUint64(row + 24, BigInt(offset), true);
      view.setBigUint64(row + 32, BigInt(length), true);
    }
    view.setBigUint64(40, BigInt(at), true);
    view.setUint16(60, header.sectionHeaderCount + this.sections.length, true);
    return out;
  }

  /** The file with the code in its place, and the segments that say so. */
  private placeCode(original: Uint8Array, code: NewCode) {
    const { elf } = this.codeObject;
    const first = this.sections[0] as ElfSection;
    const segments = elf.segments.map(
      (s): Segment => ({
        type: s.type,
        flags: s.flags,
        offset: s.offset,
        address: s.virtualAddress,
        fileSize: s.fileSize,
        memorySize: s.memorySize,
        alignment: s.alignment,
      }),
    );
    const owner = segments.find(
      (s) => s.type === SegmentType.LOAD && first.address >= s.address && first.address < s.address + s.memorySize,
    );
    if (owner === undefined) throw new WavesmithError('rewrite/no-segment', `No segment loads section ${first.name}.`);
    const memory = this.options.memory;
    if (memory !== undefined && this.memoryAddress !== undefined) {
      segments.push({
        type: SegmentType.LOAD,
        flags: READ_WRITE,
        offset: 0,
        address: this.memoryAddress,
        fileSize: 0,
        memorySize: memory.size,
        alignment: PAGE,
      });
    }
    if (!this.isMoved) {
      const bytes = new Uint8Array(original);
      bytes.fill(0, first.offset, first.offset + first.size);
      bytes.set(code.bytes, first.offset);
      const end = first.address + code.bytes.length - owner.address;
      const isLast = first.address + first.size === owner.address + owner.memorySize;
      if (isLast || end > owner.memorySize) {
        owner.fileSize = end;
        owner.memorySize = end;
      }
      return this.withSegments(bytes, segments, first.offset, undefined);
    }
    // The pages behind the file, at the same place in a page as in memory.
    const offset = Math.ceil(original.length / PAGE) * PAGE + (code.start % PAGE);
    const note = this.movedNote;
    const noteOffset = Math.ceil((offset + code.bytes.length) / 4) * 4;
    const size = note === undefined ? offset + code.bytes.length : noteOffset + note.bytes.length;
    const bytes = new Uint8Array(size);
    bytes.set(original);
    if (this.stays.length === 0) for (const s of this.sections) bytes.fill(0, s.offset, s.offset + s.size);
    bytes.set(code.bytes, offset);
    if (note !== undefined) bytes.set(note.bytes, noteOffset);
    const segment: Segment = {
      type: SegmentType.LOAD,
      flags: READ_EXECUTE,
      offset,
      address: code.start,
      fileSize: size - offset,
      memorySize: size - offset,
      alignment: PAGE,
    };
    const isOwn = elf.sections.every((s) => {
      const isInside =
        (s.flags & SHF_ALLOC) !== 0n &&
        s.size > 0 &&
        s.address >= owner.address &&
        s.address < owner.address + owner.memorySize;
      return !isInside || this.sections.includes(s);
    });
    if (isOwn && this.stays.length === 0) Object.assign(owner, segment);
    else segments.push(segment);
    const noteAddress = code.start + (noteOffset - offset);
    for (const s of segments) {
      if (note === undefined || s.type !== SegmentType.NOTE || s.offset !== note.section.offset) continue;
      Object.assign(s, {
        offset: noteOffset,
        address: noteAddress,
        fileSize: note.bytes.length,
        memorySize: note.bytes.length,
      });
    }
    return this.withSegments(bytes, segments, offset, note && { offset: noteOffset, address: noteAddress });
  }

  /** Makes the program headers fit their table: one that only speaks of the stack makes room; else the table moves to the end. */
  private withSegments(
    bytes: Uint8Array,
    segments: Segment[],
    offset: number,
    note: { readonly offset: number; readonly address: number } | undefined,
  ) {
    const { header } = this.codeObject.elf;
    const room = this.codeObject.elf.segments.length;
    while (segments.length > room) {
      const stack = segments.findIndex((s) => s.type === SegmentType.GNU_STACK);
      if (stack < 0) break;
      segments.splice(stack, 1);
    }
    const loads = segments.filter((s) => s.type === SegmentType.LOAD).sort((a, b) => a.address - b.address);
    const sorted = segments.map((s) => (s.type === SegmentType.LOAD ? (loads.shift() as Segment) : s));
    const result = { bytes, segments: sorted, offset, note };
    if (sorted.length <= room) return { ...result, extend: undefined };
    const at = Math.ceil(bytes.length / 8) * 8;
    const extend = (done: Uint8Array): Uint8Array => {
      const bigger = new Uint8Array(at + PROGRAM_HEADER * sorted.length);
      bigger.set(done);
      const view = new DataView(bigger.buffer);
      view.setBigUint64(32, BigInt(at), true);
      view.setUint16(56, sorted.length, true);
      for (const s of sorted)
        if (s.type === SegmentType.PHDR) Object.assign(s, { offset: at, fileSize: PROGRAM_HEADER * sorted.length });
      this.writeSegments(bigger, view, sorted, at);
      return bigger;
    };
    return { ...result, segments: sorted.slice(0, header.programHeaderCount), extend };
  }

  private writeSegments(bytes: Uint8Array, view: DataView, segments: readonly Segment[], table: number): void {
    segments.forEach((s, i) => {
      const at = table + PROGRAM_HEADER * i;
      bytes.fill(0, at, at + PROGRAM_HEADER);
      view.setUint32(at, s.type, true);
      view.setUint32(at + 4, s.flags, true);
      view.setBigUint64(at + 8, BigInt(s.offset), true);
      view.setBigUint64(at + 16, BigInt(s.address), true);
      view.setBigUint64(at + 24, BigInt(s.address), true);
      view.setBigUint64(at + 32, BigInt(s.fileSize), true);
      view.setBigUint64(at + 40, BigInt(s.memorySize), true);
      view.setBigUint64(at + 48, BigInt(s.alignment), true);
    });
    const count = segments.length;
    if (table === this.codeObject.elf.header.programHeaderOffset) view.setUint16(56, count, true);
  }

  private writeSectionHeaders(
    view: DataView,
    code: NewCode,
    offset: number,
    note: { readonly offset: number; readonly address: number } | undefined,
  ): void {
    const { header } = this.codeObject.elf;
    const put = (index: number, address: number, at: number, size: number): void => {
      const row = header.sectionHeaderOffset + SECTION_HEADER * index;
      view.setBigUint64(row + 16, BigInt(address), true);
      view.setBigUint64(row + 24, BigInt(at), true);
      view.setBigUint64(row + 32, BigInt(size), true);
    };
    // Debug information says where code was: of code that moved it would be wrong.
    if (!this.isSameCode(code)) {
      for (const { name, index } of this.codeObject.elf.sections) {
        if (name.startsWith('.debug_'))
          view.setBigUint64(header.sectionHeaderOffset + SECTION_HEADER * index + 32, 0n, true);
      }
    }
    this.sections.forEach((section, i) => {
      const start = i === 0 ? code.start : code.sectionStart(section);
      const next = this.sections[i + 1];
      const end =
        next === undefined
          ? code.start + code.bytes.length
          : (code.end(section.address + section.bytes.length) ?? code.sectionStart(next));
      put(section.index, start, offset + (start - code.start), end - start);
    });
    const moved = this.movedNote;
    if (moved !== undefined && note !== undefined)
      put(moved.section.index, note.address, note.offset, moved.bytes.length);
  }

  private isSameCode({ start, bytes }: NewCode): boolean {
    const [first] = this.sections;
    if (first === undefined || start !== first.address || this.sections.length > 1) return false;
    return bytes.length === first.bytes.length && bytes.every((byte, i) => byte === first.bytes[i]);
  }

  private writeSymbols(view: DataView, code: NewCode): void {
    const { elf } = this.codeObject;
    for (const table of elf.sections) {
      if (table.type !== ElfSectionType.SYMTAB && table.type !== ElfSectionType.DYNSYM) continue;
      for (const symbol of elf.symbolsOf(table)) {
        const { section } = symbol;
        if (section === undefined) continue;
        const row = table.offset + SYMBOL * symbol.index;
        if (section === this.movedNote?.section && symbol.type === STT_SECTION) continue;
        if (!this.sections.includes(section)) continue;
        const value = Number(symbol.value);
        if (isIn(this.stays, value) && symbol.type !== STT_SECTION) {
          const { sectionHeaderCount } = this.codeObject.elf.header;
          view.setUint16(row + 6, sectionHeaderCount + this.sections.indexOf(section), true);
          continue;
        }
        const place =
          symbol.type === STT_SECTION ? code.sectionStart(section) : (code.entry(value) ?? code.place(value));
        if (place === undefined) continue;
        view.setBigUint64(row + 8, BigInt(place), true);
        if (symbol.size === 0n) continue;
        const end = code.end(value + Number(symbol.size));
        const isWhole = end !== undefined && end >= place;
        if (isWhole) view.setBigUint64(row + 16, BigInt(end - place), true);
      }
    }
  }

  /** Relocations of places in the code, and pointers to code. */
  private writeRelocations(view: DataView, code: NewCode): void {
    const inCode = (address: number): boolean =>
      this.sections.some((s) => address >= s.address && address < s.address + s.bytes.length);
    for (const { section, relocations } of this.codeObject.elf.relocationSections) {
      const size = section.type === ElfSectionType.RELA ? 24 : 16;
      relocations.forEach((r, i) => {
        const row = section.offset + size * i;
        if (inCode(r.offset)) view.setBigUint64(row, BigInt(code.at(r.offset) ?? r.offset), true);
        if (r.addend === undefined) return;
        if (r.type === RelocationType.RELATIVE64 && inCode(Number(r.addend))) {
          view.setBigUint64(row + 16, BigInt(code.place(Number(r.addend)) ?? 0), true);
        }
        const { symbol } = r;
        if (symbol?.section === undefined || !this.sections.includes(symbol.section) || r.addend === 0n) return;
        const target = Number(symbol.value + r.addend);
        const moved = code.place(target);
        const base = code.place(Number(symbol.value));
        if (moved !== undefined && base !== undefined) view.setBigInt64(row + 16, BigInt(moved - base), true);
      });
    }
  }

  private writeDescriptors(view: DataView, bytes: Uint8Array, code: NewCode): void {
    for (const kernel of this.codeObject.kernels) {
      const { descriptor, descriptorSymbol, entry } = kernel;
      const section = descriptorSymbol?.section;
      if (descriptor === undefined || descriptorSymbol === undefined || section === undefined || entry === undefined)
        continue;
      const address = Number(descriptorSymbol.value);
      const at = section.offset + (address - section.address);
      const change = this.options.kernels?.get(kernel.name)?.descriptor;
      if (change !== undefined) {
        const next = structuredClone(descriptor);
        change(next);
        bytes.set(encodeDescriptor(next), at);
      }
      const place = code.entry(entry);
      if (place === undefined) {
        throw new WavesmithError('rewrite/no-entry', `The entry of kernel '${kernel.name}' is in no section of code.`);
      }
      view.setBigInt64(at + 16, BigInt(place - address), true);
    }
  }
}

/** The section of metadata notes with the asked changes; undefined when there are none. */
function changedNote(
  codeObject: CodeObject,
  options: RewriteOptions,
): { readonly section: ElfSection; readonly bytes: Uint8Array } | undefined {
  const changes = [...(options.kernels ?? [])].filter(([, change]) => (change.metadata?.size ?? 0) > 0);
  if (changes.length === 0) return undefined;
  for (const section of codeObject.elf.sections) {
    if (section.type !== ElfSectionType.NOTE) continue;
    const notes = readNotes(section.bytes, section.alignment, section.offset);
    if (!notes.some((n) => n.owner === AMDGPU_NOTE_OWNER && n.type === NT_AMDGPU_METADATA)) continue;
    const parts = notes.map((note) => {
      const isMetadata = note.owner === AMDGPU_NOTE_OWNER && note.type === NT_AMDGPU_METADATA;
      const description = isMetadata
        ? changedDescription(note.description, changes, codeObject.kernels)
        : note.description;
      return writeNote(note.owner, note.type, description);
    });
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { section, bytes };
  }
  return undefined;
}

type Change = readonly [string, { readonly metadata?: ReadonlyMap<string, MsgPackValue> | undefined }];

function changedDescription(
  description: Uint8Array,
  changes: readonly Change[],
  kernels: readonly Kernel[],
): Uint8Array {
  const document = decodeMsgPack(description);
  const list = document instanceof Map ? document.get('amdhsa.kernels') : undefined;
  if (!Array.isArray(list)) return description;
  for (const [name, { metadata }] of changes) {
    const symbol = kernels.find((k) => k.name === name)?.metadata?.symbol;
    const map = list.find((one): one is MsgPackMap => one instanceof Map && one.get('.symbol') === symbol);
    if (map !== undefined) for (const [key, value] of metadata ?? []) map.set(key, value);
  }
  return encodeMetadata(document);
}
