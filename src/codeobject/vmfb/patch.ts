// Puts other ELF images into a compiled IREE module without recompiling and without moving anything that stays.
// An image that is not bigger than the old one is overwritten in place, its length shrunk and the rest zeroed. A bigger
// one makes its executable blob grow: the new blob is appended and the segment's record points at it.
// Source: IREE's vm/bytecode/archive.c (what the runtime reads) and ArchiveWriter.cpp (the zip framing).
import { ByteReader, ByteWriter, WavesmithError } from '../../base/index.ts';
import { isElf } from '../elf/read.ts';
import { EXECUTABLE_HEADER_SIZE } from './executable.ts';
import { readVmfb, type Vmfb, type VmfbExecutable, type VmfbRodata } from './vmfb.ts';
import { crc32, zip64Fields, zip64OfRecord } from './zip.ts';

/** One image to replace. */
export interface VmfbChange {
  /** Index into `executables` of the module. */
  readonly executable: number;
  /** Index into the executable's `images`; 0 when left out. */
  readonly image?: number | undefined;
  /** The new ELF. */
  readonly elf: Uint8Array;
}

/** How one image was replaced. */
export interface VmfbPatchStep {
  readonly executable: string;
  /** `same`: bytes were already equal; `in-place`; `appended`: a rewritten blob at the end of the data. */
  readonly method: 'same' | 'in-place' | 'appended';
}

export interface VmfbPatchResult {
  readonly bytes: Uint8Array;
  readonly steps: readonly VmfbPatchStep[];
}

const BLOB_ALIGNMENT = 16;

/**
 * Replaces ELF images in a module. Equal images leave the module byte-identical. The result is read again and every
 * new image is compared with what was asked for before it is returned.
 */
export function patchExecutables(module: Uint8Array, changes: readonly VmfbChange[]): VmfbPatchResult {
  let bytes = module;
  const steps: VmfbPatchStep[] = [];
  for (const change of changes) {
    const vmfb = readVmfb(bytes);
    const { executable, image } = findImage(vmfb, change);
    if (!isElf(change.elf)) {
      throw new WavesmithError('vmfb/not-elf', `The new image for '${executable.name}' is not an ELF file.`, {
        hint: 'Give a linked code object.',
      });
    }
    let method: VmfbPatchStep['method'] = 'same';
    if (!equal(image.bytes, change.elf)) {
      method = change.elf.length <= image.size ? 'in-place' : 'appended';
      bytes = method === 'in-place' ? patchInPlace(vmfb, executable, change) : patchAppended(vmfb, executable, change);
    }
    steps.push({ executable: executable.name, method });
  }
  if (bytes !== module) {
    const again = readVmfb(bytes);
    for (const change of changes) {
      if (!equal(findImage(again, change).image.bytes, change.elf)) {
        throw new WavesmithError('vmfb/patch-lost', 'The patched module does not hold the new image.', {
          hint: 'Two changes may address the same image.',
        });
      }
    }
  }
  return { bytes, steps };
}

function findImage(vmfb: Vmfb, change: VmfbChange) {
  const executable = vmfb.executables[change.executable];
  const image = executable?.images[change.image ?? 0];
  if (executable === undefined || image === undefined) {
    throw new WavesmithError(
      'vmfb/no-such-image',
      `The module has no image ${change.image ?? 0} of executable ${change.executable}.`,
      { hint: `It has ${vmfb.executables.length} executables.` },
    );
  }
  return { executable, image };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A writable copy with checked little-endian setters. */
class Patch {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly reader: ByteReader;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.reader = new ByteReader(bytes, 'IREE module', 'vmfb/truncated');
  }
  u32(at: number, value: number): void {
    this.reader.check(at, 4);
    this.view.setUint32(at, value, true);
  }
  u64(at: number, value: number): void {
    this.reader.check(at, 8);
    this.view.setBigUint64(at, BigInt(value), true);
  }
}

function patchInPlace(vmfb: Vmfb, executable: VmfbExecutable, change: VmfbChange): Uint8Array {
  const { image } = findImage(vmfb, change);
  const patch = new Patch(vmfb.bytes.slice());
  patch.bytes.fill(0, image.offset, image.offset + image.size);
  patch.bytes.set(change.elf, image.offset);
  const { rodata } = executable;
  if (image.lengthPosition !== undefined) patch.u32(image.lengthPosition, change.elf.length);
  else if (rodata.embeddedLengthPosition !== undefined) patch.u32(rodata.embeddedLengthPosition, change.elf.length);
  else if (rodata.lengthPosition !== undefined) patch.u64(rodata.lengthPosition, change.elf.length);
  refreshChecksums(vmfb, patch.bytes, patch);
  return patch.bytes;
}

/** Recomputes the CRCs of all entries whose content may have changed. */
function refreshChecksums(vmfb: Vmfb, content: Uint8Array, patch: Patch): void {
  for (const entry of vmfb.archive?.entries ?? []) {
    const crc = crc32(content.subarray(entry.dataOffset, entry.dataOffset + entry.size));
    if (crc === entry.crc) continue;
    patch.u32(entry.recordOffset + 16, crc);
    patch.u32(entry.headerOffset + 14, crc);
  }
}

/** The executable blob with a new, bigger image. In a FlatBuffer the image goes to the end and its reference follows. */
function growBlob(executable: VmfbExecutable, change: VmfbChange): Uint8Array {
  const { rodata } = executable;
  const image = executable.images[change.image ?? 0];
  if (image.lengthPosition === undefined || image.referencePosition === undefined) return change.elf;
  const writer = new ByteWriter(rodata.length + change.elf.length + 64).raw(rodata.bytes);
  const old = rodata.bytes.subarray(image.offset - rodata.offset, image.offset - rodata.offset + image.size);
  while ((writer.length + 4) % BLOB_ALIGNMENT !== 0) writer.u8(0);
  const reference = image.referencePosition - rodata.offset;
  writer.setU32(reference, writer.length - reference);
  writer.u32(change.elf.length).raw(change.elf).u8(0).align(8);
  if (executable.hasHeader) writer.setU64(8, writer.length - EXECUTABLE_HEADER_SIZE);
  const blob = writer.finish();
  blob.fill(0, image.offset - rodata.offset, image.offset - rodata.offset + old.length);
  return blob;
}

function patchAppended(vmfb: Vmfb, executable: VmfbExecutable, change: VmfbChange): Uint8Array {
  const { rodata } = executable;
  const { image } = findImage(vmfb, change);
  if (rodata.kind === 'embedded') {
    throw new WavesmithError(
      'vmfb/embedded-too-big',
      `The new image of '${executable.name}' is ${change.elf.length} bytes, more than the ${image.size} of the old one, ` +
        "and this executable is stored inside the module's FlatBuffer.",
      { hint: 'Make the kernel smaller, or recompile with the substitution (--via compile).' },
    );
  }
  const blob = growBlob(executable, change);
  if (vmfb.archive !== undefined) return appendToArchive(vmfb, rodata, blob);
  const placed = withStoredOffset(vmfb, rodata);
  const start = Math.ceil(placed.bytes.length / BLOB_ALIGNMENT) * BLOB_ALIGNMENT;
  const patch = new Patch(new Uint8Array(start + blob.length));
  patch.bytes.set(placed.bytes);
  patch.bytes.set(blob, start);
  patch.u64(placed.offsetPosition, start - placed.rodataBase);
  patch.u64(placed.lengthPosition, blob.length);
  return patch.bytes;
}

/**
 * A module without archive whose segment starts at 0 does not store that offset (FlatBuffers leave out defaults). Then
 * the FlatBuffer gets a new record at its end, and the data behind it moves by whole 64-byte steps.
 */
function withStoredOffset(vmfb: Vmfb, rodata: VmfbRodata) {
  const { bytes, rodataBase, offsetPosition, lengthPosition } = {
    ...vmfb,
    offsetPosition: rodata.offsetPosition,
    lengthPosition: rodata.lengthPosition,
  };
  if (offsetPosition !== undefined && lengthPosition !== undefined) {
    return { bytes, rodataBase, offsetPosition, lengthPosition };
  }
  if (vmfb.prefixOffset === vmfb.flatbufferOffset) {
    throw new WavesmithError('vmfb/no-prefix', 'The module has no size prefix, so it cannot grow.', {
      byteOffset: vmfb.prefixOffset,
      hint: 'Recompile the module with a current IREE.',
    });
  }
  const end = vmfb.flatbufferOffset + vmfb.flatbufferSize;
  const writer = new ByteWriter(bytes.length + 256).raw(bytes.subarray(0, end));
  while ((writer.length - vmfb.prefixOffset) % 8 !== 0) writer.u8(0);
  // A vtable for slots 0–4 with only 3 and 4 present, padded to 16 bytes, then the table: vtable offset, two u64.
  const vtable = writer.length;
  writer.u16(14).u16(24).u16(0).u16(0).u16(0).u16(8).u16(16).u16(0);
  const table = writer.length;
  writer.u32(table - vtable).u32(0);
  const newOffset = writer.length;
  writer.u64(rodata.offset - rodataBase).u64(rodata.length);
  writer.setU32(rodata.referencePosition, table - rodata.referencePosition);
  writer.setU32(vmfb.prefixOffset, writer.length - vmfb.flatbufferOffset);
  writer.align(64);
  const newBase = writer.length;
  writer.raw(bytes.subarray(rodataBase));
  return {
    bytes: writer.finish(),
    rodataBase: newBase,
    offsetPosition: newOffset,
    lengthPosition: newOffset + 8,
  };
}

/** Appends a blob as the new data of its archive entry; the directory moves behind it. */
function appendToArchive(vmfb: Vmfb, rodata: VmfbRodata, blob: Uint8Array): Uint8Array {
  const archive = vmfb.archive!;
  const { entry, offsetPosition, lengthPosition } = rodata;
  if (entry === undefined || offsetPosition === undefined || lengthPosition === undefined) {
    throw new WavesmithError('vmfb/unnamed-segment', `Rodata segment ${rodata.index} has no entry in the archive.`, {
      byteOffset: rodata.offset,
      hint: 'The archive was changed by another tool.',
    });
  }
  const writer = new ByteWriter(vmfb.bytes.length + blob.length + 256);
  writer.raw(vmfb.bytes.subarray(0, archive.directoryOffset));
  const headerOffset = writer.length;
  const name = new TextEncoder().encode(entry.name);
  const crc = crc32(blob);
  const withoutPadding = headerOffset + 30 + name.length + 4 + 20;
  const padding = (BLOB_ALIGNMENT - (withoutPadding % BLOB_ALIGNMENT)) % BLOB_ALIGNMENT;
  writer.raw(vmfb.bytes.subarray(entry.headerOffset, entry.headerOffset + 14));
  writer
    .u32(crc)
    .u32(0xffffffff)
    .u32(0xffffffff)
    .u16(name.length)
    .u16(4 + padding + 20)
    .raw(name);
  writer.u16(0xfeca).u16(padding).fill(padding);
  writer.u16(1).u16(16).u64(blob.length).u64(blob.length);
  const dataOffset = writer.length;
  writer.raw(blob);
  const directoryOffset = writer.length;
  writer.raw(vmfb.bytes.subarray(archive.directoryOffset));
  const moved = directoryOffset - archive.directoryOffset;
  const patch = new Patch(writer.finish());
  patch.u64(offsetPosition, dataOffset - vmfb.rodataBase);
  patch.u64(lengthPosition, blob.length);
  const record = entry.recordOffset + moved;
  setRecord(patch, record, crc, blob.length, headerOffset);
  for (const other of archive.entries) {
    if (other === entry) continue;
    const newCrc = crc32(patch.bytes.subarray(other.dataOffset, other.dataOffset + other.size));
    if (newCrc === other.crc) continue;
    patch.u32(other.recordOffset + moved + 16, newCrc);
    patch.u32(other.headerOffset + 14, newCrc);
  }
  moveDirectory(patch, directoryOffset, archive.directorySize);
  return patch.bytes;
}

function setRecord(patch: Patch, record: number, crc: number, size: number, headerOffset: number): void {
  const extra = zip64OfRecord(new ByteReader(patch.bytes, 'zip archive', 'zip/truncated'), record);
  const set = (plain: number, wide: number | undefined, value: number) => {
    if (wide === undefined) patch.u32(plain, value);
    else patch.u64(wide, value);
  };
  patch.u32(record + 16, crc);
  set(record + 20, extra.compressed, size);
  set(record + 24, extra.size, size);
  set(record + 42, extra.headerOffset, headerOffset);
}

/** Corrects the end records after the directory has moved to `directoryOffset`. */
function moveDirectory(patch: Patch, directoryOffset: number, directorySize: number): void {
  const reader = new ByteReader(patch.bytes, 'zip archive', 'zip/truncated');
  let at = directoryOffset + directorySize;
  if (reader.u32(at) === 0x06064b50) {
    const end64 = at;
    patch.u64(end64 + 48, directoryOffset);
    at += 12 + reader.u64AsNumber(end64 + 4);
    patch.u64(at + 8, end64);
    at += 20;
  }
  if (reader.u32(at + 16) !== 0xffffffff) patch.u32(at + 16, directoryOffset);
}

/** Checks that an archive's local headers agree with its directory; returns the names of entries that do not. */
export function inconsistentEntries(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes, 'zip archive', 'zip/truncated');
  const bad: string[] = [];
  for (const entry of readVmfb(bytes).archive?.entries ?? []) {
    const at = entry.headerOffset;
    const nameLength = reader.u16(at + 26);
    const extra = zip64Fields(reader, at + 30 + nameLength, reader.u16(at + 28), {
      size: reader.u32(at + 22) === 0xffffffff,
      compressed: reader.u32(at + 18) === 0xffffffff,
      headerOffset: false,
    });
    const size = extra.size === undefined ? reader.u32(at + 22) : reader.u64AsNumber(extra.size);
    const crc = crc32(reader.slice(entry.dataOffset, entry.size));
    const agrees = size === entry.size && reader.u32(at + 14) === entry.crc && crc === entry.crc;
    if (!agrees || reader.text(at + 30, nameLength) !== entry.name) bad.push(entry.name);
  }
  return bad;
}
