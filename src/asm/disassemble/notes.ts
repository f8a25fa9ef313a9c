// The note sections as text: metadata as `.amdgpu_metadata` YAML, everything else (and metadata that YAML would not
// bring back byte for byte) as data in a note section.
// Source: AMDGPUUsage, "Note Records" and "Code Object Metadata".

import { WavesmithError } from '../../base/index.ts';
import {
  AMDGPU_NOTE_OWNER,
  decodeMsgPack,
  type ElfFile,
  type ElfSection,
  ElfSectionType,
  encodeMsgPack,
  MsgPackExtension,
  type MsgPackMap,
  type MsgPackValue,
  metadataToYaml,
  NT_AMDGPU_METADATA,
  readNotes,
  writeNote,
} from '../../codeobject/index.ts';
import { metadataProblem } from '../assemble/directives/metadata.ts';
import { dataDirectives, indented, pushAll } from './data.ts';

/**
 * The lines of all notes, in file order. Notes of other sections move to `.note`: linkers drop `.note.gnu.build-id` of
 * their inputs. With `keepKernel` the metadata lists only the kernels it accepts.
 */
export function noteLines(elf: ElfFile, keepKernel?: (name: string) => boolean): string[] {
  const lines: string[] = [];
  for (const section of elf.sections) {
    if (section.type === ElfSectionType.NOTE && section.size > 0) pushAll(lines, sectionLines(section, keepKernel));
  }
  return lines;
}

function sectionLines(section: ElfSection, keepKernel: ((name: string) => boolean) | undefined): string[] {
  const records = splitRecords(section);
  const lines: string[] = [];
  for (const { owner, type, description, bytes } of records) {
    const isMetadata = owner === AMDGPU_NOTE_OWNER && type === NT_AMDGPU_METADATA;
    const yaml = isMetadata ? metadataText(description, bytes, keepKernel) : undefined;
    if (yaml !== undefined) {
      pushAll(lines, ['\t.amdgpu_metadata', ...yaml, '\t.end_amdgpu_metadata']);
      continue;
    }
    if (isMetadata) lines.push('; No YAML that the assembler accepts gives the bytes of this metadata.');
    lines.push('\t.section\t.note,"a",@note', '\t.p2align\t2');
    pushAll(lines, indented(dataDirectives(bytes, 0, bytes.length)));
  }
  return lines;
}

interface NoteRecord {
  readonly owner: string;
  readonly type: number;
  readonly description: Uint8Array;
  /** The whole record with its padding. */
  readonly bytes: Uint8Array;
}

/** Cuts a note section into records; bytes that are no record make one record of their own. */
function splitRecords(section: ElfSection): NoteRecord[] {
  const whole = { owner: '', type: 0, description: new Uint8Array(0), bytes: section.bytes };
  try {
    const notes = readNotes(section.bytes, section.alignment, 0);
    const records: NoteRecord[] = [];
    let start = 0;
    for (const { owner, type, description, offset } of notes) {
      const end = Math.min(section.size, Math.ceil((offset + description.length) / 4) * 4);
      records.push({ owner, type, description, bytes: section.bytes.subarray(start, end) });
      start = end;
    }
    return start === section.size ? records : [whole];
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return [whole];
  }
}

/** The YAML lines of a metadata note, or undefined when they would not give the same note. */
function metadataText(
  description: Uint8Array,
  record: Uint8Array,
  keepKernel: ((name: string) => boolean) | undefined,
): string[] | undefined {
  try {
    const document = decodeMsgPack(description);
    if (!isYamlSafe(document) || !(document instanceof Map) || metadataProblem(document) !== undefined)
      return undefined;
    if (!equalBytes(encodeMsgPack(document), description)) return undefined;
    if (!equalBytes(writeNote(AMDGPU_NOTE_OWNER, NT_AMDGPU_METADATA, description), record)) return undefined;
    const text = metadataToYaml(keepKernel === undefined ? document : onlyKernels(document, keepKernel));
    return text.trimEnd().split('\n');
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return undefined;
  }
}

/** True when every value has an exact YAML form: no floats (printed with six digits), no binary data. */
function isYamlSafe(value: MsgPackValue): boolean {
  if (typeof value === 'number' || value instanceof Uint8Array || value instanceof MsgPackExtension) return false;
  if (Array.isArray(value)) return value.every(isYamlSafe);
  if (value instanceof Map) return [...value].every(([key, item]) => isYamlSafe(key) && isYamlSafe(item));
  return typeof value !== 'string' || isPlainText(value);
}

/** Text that survives the way through YAML lines; control characters and broken UTF-8 do not. */
function isPlainText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return !/[\x00-\x1f\x7f\ufffd]/.test(text);
}

function onlyKernels(document: MsgPackMap, keepKernel: (name: string) => boolean): MsgPackMap {
  const copy: MsgPackMap = new Map(document);
  const kernels = document.get('amdhsa.kernels');
  if (!Array.isArray(kernels)) return copy;
  const isKept = (kernel: MsgPackValue) => {
    const name = kernel instanceof Map ? kernel.get('.name') : undefined;
    return typeof name !== 'string' || keepKernel(name);
  };
  copy.set('amdhsa.kernels', kernels.filter(isKept));
  return copy;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
