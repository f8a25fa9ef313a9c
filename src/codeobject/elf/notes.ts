// ELF notes, and the AMDGPU metadata note (NT_AMDGPU_METADATA, owner "AMDGPU").
// Source: System V gABI chapter 5, "Note Section"; LLVM's AMDGPUUsage, "Note Records".
import { ByteReader, ByteWriter } from '../../base/index.ts';
import { type ElfFile, ElfSectionType, SegmentType } from './read.ts';

export const AMDGPU_NOTE_OWNER = 'AMDGPU';
export const NT_AMDGPU_METADATA = 32;

export interface ElfNote {
  readonly owner: string;
  readonly type: number;
  readonly description: Uint8Array;
  /** Where the description starts in the file. */
  readonly offset: number;
}

/** The notes of a note section or segment; `baseOffset` is where `bytes` starts in the file. */
export function readNotes(bytes: Uint8Array, alignment = 4, baseOffset = 0): ElfNote[] {
  const reader = new ByteReader(bytes, 'note section', 'elf/bad-note');
  const step = alignment === 8 ? 8 : 4;
  const up = (value: number) => Math.ceil(value / step) * step;
  const notes: ElfNote[] = [];
  let at = 0;
  while (at + 12 <= bytes.length) {
    const nameSize = reader.u32(at);
    const descriptionSize = reader.u32(at + 4);
    const descriptionAt = up(at + 12 + nameSize);
    const nameBytes = reader.slice(at + 12, nameSize);
    const description = reader.slice(descriptionAt, descriptionSize);
    const end = nameBytes.indexOf(0);
    notes.push({
      owner: new TextDecoder().decode(end < 0 ? nameBytes : nameBytes.subarray(0, end)),
      type: reader.u32(at + 8),
      description,
      offset: baseOffset + descriptionAt,
    });
    at = up(descriptionAt + descriptionSize);
  }
  return notes;
}

/** All notes of an ELF file: by section, or by segment when there are no sections. */
export function notesOf(elf: ElfFile): ElfNote[] {
  const sections = elf.sections.filter((s) => s.type === ElfSectionType.NOTE);
  if (sections.length > 0) return sections.flatMap((s) => readNotes(s.bytes, s.alignment, s.offset));
  return elf.segments
    .filter((s) => s.type === SegmentType.NOTE)
    .flatMap((s) => readNotes(elf.bytes.subarray(s.offset, s.offset + s.fileSize), s.alignment, s.offset));
}

/** The AMDGPU metadata notes: one per object that was linked, so usually one. */
export function metadataNotes(elf: ElfFile): ElfNote[] {
  return notesOf(elf).filter((n) => n.owner === AMDGPU_NOTE_OWNER && n.type === NT_AMDGPU_METADATA);
}

/** One note record, padded as LLVM's assembler pads it. */
export function writeNote(owner: string, type: number, description: Uint8Array): Uint8Array {
  const writer = new ByteWriter(description.length + 32);
  writer
    .u32(owner.length + 1)
    .u32(description.length)
    .u32(type);
  writer.text(owner).u8(0).align(4);
  return writer.raw(description).align(4).finish();
}
