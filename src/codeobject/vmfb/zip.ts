// The zip directory of an IREE archive: stored entries only, zip64. Enough to list entries and to keep them consistent.
// Source: PKWARE APPNOTE 4.3–4.5; IREE's compiler/.../VM/Target/Bytecode/ArchiveWriter.cpp.
import { ByteReader, WavesmithError } from '../../base/index.ts';

export interface ZipEntry {
  readonly name: string;
  /** Where the local header is. */
  readonly headerOffset: number;
  readonly dataOffset: number;
  readonly size: number;
  readonly crc: number;
  /** Where the entry's record in the central directory is. */
  readonly recordOffset: number;
}

export interface ZipDirectory {
  readonly entries: readonly ZipEntry[];
  /** Where the central directory starts: everything before it is local headers and data. */
  readonly directoryOffset: number;
  readonly directorySize: number;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END64 = 0x06064b50;
const END64_LOCATOR = 0x07064b50;

function damaged(message: string, byteOffset: number): WavesmithError {
  return new WavesmithError('zip/damaged', message, { byteOffset, hint: 'The archive is truncated or damaged.' });
}

/** Reads the central directory; undefined when the bytes have none (a bare FlatBuffer file). */
export function readZipDirectory(bytes: Uint8Array): ZipDirectory | undefined {
  const reader = new ByteReader(bytes, 'zip archive', 'zip/truncated');
  if (bytes.length < 4 || reader.u32(0) !== LOCAL) return undefined;
  let end = -1;
  for (let at = bytes.length - 22; at >= Math.max(0, bytes.length - 22 - 65535); at--) {
    if (reader.u32(at) === END) {
      end = at;
      break;
    }
  }
  if (end < 0) throw damaged('The zip archive has no end of central directory record.', bytes.length);
  let count = reader.u16(end + 10);
  let directorySize = reader.u32(end + 12);
  let directoryOffset = reader.u32(end + 16);
  if (end >= 20 && reader.u32(end - 20) === END64_LOCATOR) {
    const end64 = reader.u64AsNumber(end - 12);
    if (reader.u32(end64) !== END64) throw damaged('The zip64 end record is not where its locator says.', end - 20);
    count = reader.u64AsNumber(end64 + 32);
    directorySize = reader.u64AsNumber(end64 + 40);
    directoryOffset = reader.u64AsNumber(end64 + 48);
  }
  reader.check(directoryOffset, directorySize);
  if (count > directorySize / 46) throw damaged(`The zip directory claims ${count} entries.`, end);
  const entries: ZipEntry[] = [];
  let at = directoryOffset;
  for (let i = 0; i < count; i++) {
    if (reader.u32(at) !== CENTRAL) throw damaged(`Record ${i} of the zip directory is damaged.`, at);
    const entry = readRecord(reader, at);
    entries.push(entry);
    at += 46 + reader.u16(at + 28) + reader.u16(at + 30) + reader.u16(at + 32);
  }
  return { entries, directoryOffset, directorySize };
}

/** Positions of the fields of a zip64 extra field, where the 32-bit fields are saturated. */
export interface Zip64Fields {
  readonly size: number | undefined;
  readonly compressed: number | undefined;
  readonly headerOffset: number | undefined;
}

/** Finds the zip64 extra of a header whose extra area is `[at, at + length)`. */
export function zip64Fields(
  reader: ByteReader,
  at: number,
  length: number,
  saturated: { size: boolean; compressed: boolean; headerOffset: boolean },
): Zip64Fields {
  const fields: { size?: number; compressed?: number; headerOffset?: number } = {};
  for (let p = at; p + 4 <= at + length; p += 4 + reader.u16(p + 2)) {
    if (reader.u16(p) !== 1) continue;
    let q = p + 4;
    const end = q + reader.u16(p + 2);
    for (const name of ['size', 'compressed', 'headerOffset'] as const) {
      if (!saturated[name] || q + 8 > end) continue;
      fields[name] = q;
      q += 8;
    }
  }
  return { size: fields.size, compressed: fields.compressed, headerOffset: fields.headerOffset };
}

function readRecord(reader: ByteReader, at: number): ZipEntry {
  const nameLength = reader.u16(at + 28);
  const extra = zip64OfRecord(reader, at);
  const name = reader.text(at + 46, nameLength);
  const compressed = extra.compressed === undefined ? reader.u32(at + 20) : reader.u64AsNumber(extra.compressed);
  const size = extra.size === undefined ? reader.u32(at + 24) : reader.u64AsNumber(extra.size);
  const headerOffset = extra.headerOffset === undefined ? reader.u32(at + 42) : reader.u64AsNumber(extra.headerOffset);
  if (reader.u16(at + 10) !== 0 || size !== compressed) {
    throw new WavesmithError('zip/compressed', `Entry '${name}' of the archive is compressed.`, {
      byteOffset: at,
      hint: 'IREE modules store their entries; this archive was packed again by another tool.',
    });
  }
  if (reader.u32(headerOffset) !== LOCAL) throw damaged(`The local header of '${name}' is missing.`, headerOffset);
  const dataOffset = headerOffset + 30 + reader.u16(headerOffset + 26) + reader.u16(headerOffset + 28);
  reader.check(dataOffset, size);
  return { name, headerOffset, dataOffset, size, crc: reader.u32(at + 16), recordOffset: at };
}

/** The zip64 fields of a central directory record. */
export function zip64OfRecord(reader: ByteReader, at: number): Zip64Fields {
  const nameLength = reader.u16(at + 28);
  return zip64Fields(reader, at + 46 + nameLength, reader.u16(at + 30), {
    size: reader.u32(at + 24) === 0xffffffff,
    compressed: reader.u32(at + 20) === 0xffffffff,
    headerOffset: reader.u32(at + 42) === 0xffffffff,
  });
}

const CRC_TABLE = new Uint32Array(256).map((_, i) => {
  let c = i;
  for (let bit = 0; bit < 8; bit++) c = (c & 1) !== 0 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

/** CRC-32 as zip uses it. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}
