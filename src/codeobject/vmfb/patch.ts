// Puts other ELF images into a compiled IREE module without recompiling.
// An image that is not bigger than the old one is overwritten in place, its length shrunk and the rest zeroed. A bigger one makes
// its executable blob grow: what is behind the blob moves, and the records of what moved point at it.
// Source: IREE's vm/bytecode/archive.c (what the runtime reads) and ArchiveWriter.cpp (the zip framing).
import { ByteReader, ByteWriter, WavesmithError } from '../../base/index.ts';
import { isElf } from '../elf/read.ts';
import { EXECUTABLE_HEADER_SIZE } from './executable.ts';
import { growImage } from './grow.ts';
import { readVmfb, type Vmfb, type VmfbExecutable, type VmfbRodata } from './vmfb.ts';
import { crc32, type ZipDirectory, type ZipEntry, zip64Fields, zip64OfRecord } from './zip.ts';

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
  /** `same`: bytes were already equal; `in-place`; `grown`: a bigger blob, and what is behind it moved. */
  readonly method: 'same' | 'in-place' | 'grown';
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
export function patchExecutables(module: Vmfb, changes: readonly VmfbChange[]): VmfbPatchResult {
  let vmfb = module;
  const steps: VmfbPatchStep[] = [];
  for (const change of changes) {
    const { executable, image } = findImage(vmfb, change);
    if (!isElf(change.elf)) {
      throw new WavesmithError('vmfb/not-elf', `The new image for '${executable.name}' is not an ELF file.`, {
        hint: 'Give a linked code object.',
      });
    }
    let method: VmfbPatchStep['method'] = 'same';
    if (!equal(image.bytes, change.elf)) {
      method = change.elf.length <= image.size ? 'in-place' : 'grown';
      const patched = method === 'in-place' ? patchInPlace : patchGrown;
      vmfb = readVmfb(patched(vmfb, executable, change));
    }
    steps.push({ executable: executable.name, method });
  }
  for (const change of changes) {
    if (!equal(findImage(vmfb, change).image.bytes, change.elf)) {
      throw new WavesmithError('vmfb/patch-lost', 'The patched module does not hold the new image.', {
        hint: 'Give every image at most one change.',
      });
    }
  }
  return { bytes: vmfb.bytes, steps };
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

/**
 * The executable blob with a new, bigger image: in the old one's place, or, in a FlatBuffer of an unknown layout, at its end with
 * the reference to it corrected.
 */
function growBlob(executable: VmfbExecutable, change: VmfbChange): Uint8Array {
  const { rodata } = executable;
  const image = executable.images[change.image ?? 0];
  if (image.lengthPosition === undefined || image.referencePosition === undefined) return change.elf;
  const place = { offset: image.offset - rodata.offset, size: image.size };
  const grown = growImage(rodata.bytes, executable.hasHeader, place, change.elf);
  if (grown !== undefined) return grown;
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

function patchGrown(vmfb: Vmfb, executable: VmfbExecutable, change: VmfbChange): Uint8Array {
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
  return growSegment(vmfb, rodata, blob);
}

const SEGMENT_ALIGNMENT = 64;

/**
 * The module with a bigger segment where the old one was. What is behind it moves by a whole number of 64 bytes, so that every
 * alignment stays; its offsets in the FlatBuffer and in the archive's directory follow.
 */
function growSegment(vmfb: Vmfb, rodata: VmfbRodata, blob: Uint8Array): Uint8Array {
  const { archive, bytes } = vmfb;
  const { entry, lengthPosition } = rodata;
  const end = rodata.offset + rodata.length;
  if (lengthPosition === undefined || (archive !== undefined && entry === undefined)) {
    throw new WavesmithError('vmfb/unnamed-segment', `Rodata segment ${rodata.index} has no entry in the archive.`, {
      byteOffset: rodata.offset,
      hint: 'The archive was changed by another tool.',
    });
  }
  const others = vmfb.rodata.filter((r) => r !== rodata && r.kind === 'external');
  const starts = [
    ...others.map((r) => r.offset),
    ...(archive?.entries.map((e) => e.headerOffset) ?? []),
    archive?.directoryOffset ?? bytes.length,
  ];
  const next = Math.min(...starts.filter((at) => at >= end), bytes.length);
  const room = next - rodata.offset;
  const delta = Math.ceil(Math.max(0, blob.length - room) / SEGMENT_ALIGNMENT) * SEGMENT_ALIGNMENT;
  const moved = (at: number): number => (at >= next ? at + delta : at);
  const patch = new Patch(new Uint8Array(bytes.length + delta));
  patch.bytes.set(bytes.subarray(0, rodata.offset));
  patch.bytes.set(blob, rodata.offset);
  patch.bytes.set(bytes.subarray(next), next + delta);
  patch.u64(lengthPosition, blob.length);
  for (const { offset, offsetPosition } of others) {
    if (offset >= next && offsetPosition !== undefined) patch.u64(offsetPosition, moved(offset) - vmfb.rodataBase);
  }
  if (archive !== undefined && entry !== undefined) moveEntries(archive, entry, blob, moved, patch);
  return patch.bytes;
}

/** Corrects the archive's headers and directory after its entries have moved. */
function moveEntries(
  archive: ZipDirectory,
  grown: ZipEntry,
  blob: Uint8Array,
  moved: (at: number) => number,
  patch: Patch,
): void {
  const reader = new ByteReader(patch.bytes, 'zip archive', 'zip/truncated');
  for (const entry of archive.entries) {
    const size = entry === grown ? blob.length : entry.size;
    const header = moved(entry.headerOffset);
    const data = moved(entry.dataOffset);
    const crc = crc32(patch.bytes.subarray(data, data + size));
    setRecord(patch, moved(entry.recordOffset), crc, size, header);
    patch.u32(header + 14, crc);
    const sizes = zip64Fields(reader, header + 30 + reader.u16(header + 26), reader.u16(header + 28), {
      size: reader.u32(header + 22) === 0xffffffff,
      compressed: reader.u32(header + 18) === 0xffffffff,
      headerOffset: false,
    });
    for (const [plain, wide] of [
      [header + 18, sizes.compressed],
      [header + 22, sizes.size],
    ] as const) {
      if (wide === undefined) patch.u32(plain, size);
      else patch.u64(wide, size);
    }
  }
  moveDirectory(patch, moved(archive.directoryOffset), archive.directorySize);
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
export function inconsistentEntries({ bytes, archive }: Vmfb): string[] {
  const reader = new ByteReader(bytes, 'zip archive', 'zip/truncated');
  const bad: string[] = [];
  for (const entry of archive?.entries ?? []) {
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
