// Order, addresses, file offsets and program headers of a linked code object, as `ld.lld -shared` chooses them.
// Source: lld/ELF/Writer.cpp (getSectionRank, createPhdrs, fixSectionAlignments, assignFileOffsets, setPhdrs).
import { ByteWriter, WavesmithError } from '../../base/index.ts';
import { SectionFlag, SectionType } from '../elf/object-model.ts';
import { SegmentType } from '../elf/read.ts';
import { ELF_HEADER_SIZE } from '../elf/write.ts';
import type { InputSection, OutputSection } from './input.ts';

const PAGE = 4096;
const PROGRAM_HEADER_SIZE = 56;
const PF = { X: 1, W: 2, R: 4 } as const;

const RANK = { NOT_ALLOC: 1 << 26, WRITE: 1 << 14, EXEC_WRITE: 1 << 13, EXEC: 1 << 12 } as const;
const RANK_RODATA = 1 << 11;
const RANK_NOT_RELRO = 1 << 9;
const RANK_NOT_TLS = 1 << 8;
const RANK_BSS = 1 << 7;

/** A program header on its way into the file. */
export interface Segment {
  readonly type: number;
  flags: number;
  alignment: number;
  /** The first PT_LOAD and PT_PHDR start at the file's headers. */
  readonly startsAtHeaders: boolean;
  readonly sections: OutputSection[];
  offset: number;
  address: number;
  fileSize: number;
  memorySize: number;
}

/** Rounds up to a multiple of `alignment`. */
export function up(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}

const PREFIXES = [
  '.text',
  '.data.rel.ro',
  '.data',
  '.rodata',
  '.bss.rel.ro',
  '.bss',
  '.ldata',
  '.lrodata',
  '.lbss',
  '.gcc_except_table',
  '.init_array',
  '.fini_array',
  '.tbss',
  '.tdata',
  '.ctors',
  '.dtors',
];

/** The output section an input section goes to: `.text.foo` goes to `.text`. */
export function outputSectionName(name: string): string {
  if (name === 'COMMON') return '.bss';
  return PREFIXES.find((p) => name === p || name.startsWith(`${p}.`)) ?? name;
}

/** A new, empty output section. */
export function newOutputSection(name: string, type: number, flags: number, alignment = 1): OutputSection {
  return {
    name,
    type,
    flags,
    alignment,
    entrySize: 0,
    size: 0,
    address: 0,
    offset: 0,
    index: 0,
    link: 0,
    info: 0,
    inputs: [],
    rank: 0,
    isRelro: false,
    content: undefined,
  };
}

const PROGBITS_LIKE: readonly number[] = [
  SectionType.PROGBITS,
  SectionType.NOBITS,
  SectionType.NOTE,
  SectionType.INIT_ARRAY,
  SectionType.FINI_ARRAY,
  SectionType.PREINIT_ARRAY,
];

/** Adds an input section at the end of an output section. */
export function addInput(output: OutputSection, input: InputSection): void {
  const flags = input.flags & ~(SectionFlag.GROUP | SectionFlag.INFO_LINK);
  if (output.inputs.length === 0) {
    Object.assign(output, { type: input.type, flags: flags >>> 0, entrySize: input.entrySize });
  } else {
    if (output.type !== input.type) {
      if (!PROGBITS_LIKE.includes(output.type) || !PROGBITS_LIKE.includes(input.type)) {
        throw new WavesmithError('link/section-type', `Sections named ${output.name} have types that do not mix.`);
      }
      output.type = SectionType.PROGBITS;
    }
    output.flags = (output.flags | flags) >>> 0;
    if (output.entrySize !== input.entrySize) output.entrySize = 0;
  }
  output.alignment = Math.max(output.alignment, input.alignment);
  output.inputs.push(input);
  input.output = output;
}

/** Places the inputs of every output section one after the other. */
export function placeInputs(outputs: readonly OutputSection[]): void {
  for (const output of outputs) {
    if (output.inputs.length === 0) continue;
    let at = 0;
    for (const input of output.inputs) {
      at = up(at, input.alignment);
      input.offset = at;
      at += input.size;
    }
    output.size = at;
  }
}

const RELRO_NAMES = ['.data.rel.ro', '.bss.rel.ro', '.ctors', '.dtors', '.dynamic', '.got', '.relro_padding', '.jcr'];
const RELRO_TYPES: readonly number[] = [SectionType.INIT_ARRAY, SectionType.FINI_ARRAY, SectionType.PREINIT_ARRAY];

function isRelro(s: OutputSection): boolean {
  if ((s.flags & SectionFlag.ALLOC) === 0 || (s.flags & SectionFlag.WRITE) === 0) return false;
  return (s.flags & SectionFlag.TLS) !== 0 || RELRO_TYPES.includes(s.type) || RELRO_NAMES.includes(s.name);
}

function rank(s: OutputSection): number {
  if ((s.flags & SectionFlag.ALLOC) === 0) return RANK.NOT_ALLOC;
  const isWrite = (s.flags & SectionFlag.WRITE) !== 0;
  let value: number;
  if ((s.flags & SectionFlag.EXECINSTR) !== 0) value = isWrite ? RANK.EXEC_WRITE : RANK.EXEC;
  else if (isWrite) {
    value = RANK.WRITE;
    if ((s.flags & SectionFlag.TLS) === 0) value |= RANK_NOT_TLS;
    if (!s.isRelro) value |= RANK_NOT_RELRO;
  } else value = s.type === SectionType.NOTE ? 3 : s.type === SectionType.PROGBITS ? RANK_RODATA : 4;
  return s.type === SectionType.NOBITS ? value | RANK_BSS : value;
}

/** Sorts sections the way lld does (stable) and numbers them. */
export function sortOutputSections(outputs: OutputSection[]): void {
  for (const s of outputs) {
    s.isRelro = isRelro(s);
    s.rank = rank(s);
  }
  outputs.sort((a, b) => a.rank - b.rank);
  outputs.forEach((s, i) => {
    s.index = i + 1;
  });
}

function segmentFlags(s: OutputSection): number {
  return PF.R | ((s.flags & SectionFlag.WRITE) !== 0 ? PF.W : 0) | ((s.flags & SectionFlag.EXECINSTR) !== 0 ? PF.X : 0);
}

/** The program headers, before addresses are known. */
export function createSegments(outputs: readonly OutputSection[]): Segment[] {
  const segments: Segment[] = [];
  const make = (type: number, flags: number, startsAtHeaders = false): Segment => ({
    type,
    flags,
    alignment: type === SegmentType.LOAD ? PAGE : 0,
    startsAtHeaders,
    sections: [],
    offset: 0,
    address: 0,
    fileSize: 0,
    memorySize: 0,
  });
  const add = (type: number, flags: number, startsAtHeaders = false): Segment => {
    const segment = make(type, flags, startsAtHeaders);
    segments.push(segment);
    return segment;
  };
  const put = (segment: Segment, s: OutputSection) => {
    segment.sections.push(s);
    segment.alignment = Math.max(segment.alignment, s.alignment);
  };
  add(SegmentType.PHDR, PF.R, true).alignment = 8;
  const allocated = outputs.filter((s) => (s.flags & SectionFlag.ALLOC) !== 0);
  const relro = make(SegmentType.GNU_RELRO, PF.R);
  for (const s of allocated) if (s.isRelro) put(relro, s);
  const lastRelro = relro.sections.at(-1);
  const relroEnd = lastRelro && allocated[allocated.indexOf(lastRelro) + 1];
  relro.alignment = 1;
  let load = add(SegmentType.LOAD, PF.R, true);
  let flags: number = PF.R;
  for (const s of allocated) {
    const needed = segmentFlags(s);
    const last = load.sections.at(-1);
    const followsBss = s.type !== SectionType.NOBITS && last?.type === SectionType.NOBITS;
    if (needed !== flags || s === relroEnd || followsBss) {
      load = add(SegmentType.LOAD, needed);
      flags = needed;
    }
    put(load, s);
  }
  const dynamic = outputs.find((s) => s.name === '.dynamic');
  if (dynamic !== undefined) put(add(SegmentType.DYNAMIC, segmentFlags(dynamic)), dynamic);
  if (relro.sections.length > 0) segments.push(relro);
  add(SegmentType.GNU_STACK, PF.R | PF.W);
  let note: Segment | undefined;
  for (const s of allocated) {
    if (s.type !== SectionType.NOTE) note = undefined;
    else {
      if (note === undefined || note.sections.at(-1)?.alignment !== s.alignment) note = add(SegmentType.NOTE, PF.R);
      put(note, s);
    }
  }
  return segments;
}

/** Assigns addresses; `.relro_padding` fills its page but does not move what follows. */
export function assignAddresses(outputs: readonly OutputSection[], segments: readonly Segment[]): void {
  const starts = new Set(
    segments.filter((p) => p.type === SegmentType.LOAD && !p.startsAtHeaders).map((p) => p.sections[0]),
  );
  let dot = ELF_HEADER_SIZE + segments.length * PROGRAM_HEADER_SIZE;
  for (const s of outputs) {
    if ((s.flags & SectionFlag.ALLOC) === 0) {
      s.address = 0;
      continue;
    }
    if (starts.has(s)) dot = up(dot, PAGE) + (dot % PAGE);
    dot = up(dot, s.alignment);
    s.address = dot;
    if (s.name === '.relro_padding') s.size = up(dot, PAGE) - dot;
    else dot += s.size;
  }
}

/** Assigns file offsets and the extents of the segments; returns where the content ends. */
export function assignOffsets(outputs: readonly OutputSection[], segments: readonly Segment[]): number {
  const loadOf = new Map<OutputSection, Segment>();
  for (const p of segments) if (p.type === SegmentType.LOAD) for (const s of p.sections) loadOf.set(s, p);
  let at = ELF_HEADER_SIZE + segments.length * PROGRAM_HEADER_SIZE;
  const place = (s: OutputSection) => {
    const load = loadOf.get(s);
    const first = load?.sections[0];
    if (load !== undefined && first === s && !load.startsAtHeaders) {
      const rest = (s.address - at) % load.alignment;
      at += rest < 0 ? rest + load.alignment : rest;
    } else if (s.type !== SectionType.NOBITS) {
      if (first === undefined) at = up(at, s.alignment);
      else at = load?.startsAtHeaders ? s.address : first.offset + s.address - first.address;
    }
    s.offset = at;
    if (s.type !== SectionType.NOBITS) at += s.size;
  };
  for (const s of outputs) if ((s.flags & SectionFlag.ALLOC) !== 0) place(s);
  for (const s of outputs) if ((s.flags & SectionFlag.ALLOC) === 0) place(s);
  for (const p of segments) setExtent(p, segments.length);
  return at;
}

function setExtent(p: Segment, count: number): void {
  const first = p.sections[0];
  const last = p.sections.at(-1);
  if (p.type === SegmentType.PHDR) {
    p.offset = ELF_HEADER_SIZE;
    p.address = ELF_HEADER_SIZE;
    p.fileSize = count * PROGRAM_HEADER_SIZE;
    p.memorySize = p.fileSize;
    return;
  }
  if (!p.startsAtHeaders) {
    if (first === undefined) return;
    p.offset = first.offset;
    p.address = first.address;
  }
  if (last === undefined) {
    p.fileSize = ELF_HEADER_SIZE + count * PROGRAM_HEADER_SIZE;
    p.memorySize = p.fileSize;
    return;
  }
  p.fileSize = last.offset - p.offset + (last.type === SectionType.NOBITS ? 0 : last.size);
  p.memorySize = last.address + last.size - p.address;
  if (p.type === SegmentType.GNU_RELRO) p.memorySize = up(p.offset + p.memorySize, PAGE) - p.offset;
}

/** The program header table. */
export function programHeaderBytes(segments: readonly Segment[]): Uint8Array {
  const writer = new ByteWriter(segments.length * PROGRAM_HEADER_SIZE);
  for (const p of segments) {
    writer.u32(p.type).u32(p.flags).u64(p.offset).u64(p.address).u64(p.address);
    writer.u64(p.fileSize).u64(p.memorySize).u64(p.alignment);
  }
  return writer.finish();
}
