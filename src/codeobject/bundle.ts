// Clang offload bundles: plain, and compressed (CCOB versions 1 to 3, zstd or zlib). Reading and writing of plain ones.
// Source: clang's docs "Clang Offload Bundler"; RFC 8878 (zstd frame and block headers), RFC 1950.
import { ByteReader, ByteWriter, WavesmithError } from '../base/index.ts';
import { checkZstdFrame, inflateZlib, inflateZstd, wrongSize } from './decompress.ts';

export const BUNDLE_MAGIC = '__CLANG_OFFLOAD_BUNDLE__';
const COMPRESSED_MAGIC = 'CCOB';

export interface BundleEntry {
  /** `hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`, `host-x86_64-unknown-linux-gnu-`, … */
  readonly id: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface Bundle {
  readonly entries: readonly BundleEntry[];
  /** Undefined for a plain bundle. */
  readonly compression: { readonly version: number; readonly method: 'zlib' | 'zstd' } | undefined;
  /** Bytes that the bundle takes in its file. */
  readonly size: number;
}

function startsWith(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** What kind of bundle starts at `at`, if any. */
export function bundleKind(bytes: Uint8Array, at = 0): 'plain' | 'compressed' | undefined {
  if (startsWith(bytes, at, BUNDLE_MAGIC)) return 'plain';
  return startsWith(bytes, at, COMPRESSED_MAGIC) ? 'compressed' : undefined;
}

/** Reads the bundle at the start of the bytes. */
export function readBundle(bytes: Uint8Array): Bundle {
  const kind = bundleKind(bytes);
  if (kind === 'plain') {
    const entries = readEntries(bytes);
    const size = entries.reduce(
      (end, entry) => Math.max(end, entry.offset + entry.bytes.length),
      BUNDLE_MAGIC.length + 8,
    );
    return { entries, compression: undefined, size };
  }
  if (kind === undefined) {
    throw new WavesmithError('bundle/not-bundle', 'The bytes are not a clang offload bundle.', { byteOffset: 0 });
  }
  return readCompressed(bytes);
}

/** All bundles of a `.hip_fatbin` section: they follow each other, with padding between them. */
export function readBundles(bytes: Uint8Array): { readonly offset: number; readonly bundle: Bundle }[] {
  const found: { offset: number; bundle: Bundle }[] = [];
  let at = 0;
  while (at < bytes.length) {
    while (at < bytes.length && bytes[at] === 0) at++;
    if (at >= bytes.length || bundleKind(bytes, at) === undefined) break;
    const bundle = readBundle(bytes.subarray(at));
    found.push({ offset: at, bundle });
    at += bundle.size;
  }
  return found;
}

const MAX_ENTRIES = 4096;
const MAX_ID = 4096;

function readEntries(bytes: Uint8Array): BundleEntry[] {
  const reader = new ByteReader(bytes, 'offload bundle', 'bundle/truncated');
  let at = BUNDLE_MAGIC.length;
  const count = reader.u64AsNumber(at);
  at += 8;
  reader.check(at, count * 24);
  if (count > MAX_ENTRIES) {
    throw new WavesmithError('bundle/damaged', `The offload bundle claims ${count} entries.`, { byteOffset: at - 8 });
  }
  const entries: BundleEntry[] = [];
  for (let i = 0; i < count; i++) {
    const offset = reader.u64AsNumber(at);
    const size = reader.u64AsNumber(at + 8);
    const idLength = reader.u64AsNumber(at + 16);
    if (idLength > MAX_ID) {
      throw new WavesmithError('bundle/damaged', `Entry ${i} of the offload bundle has an id of ${idLength} bytes.`, {
        byteOffset: at + 16,
      });
    }
    const id = reader.text(at + 24, idLength);
    entries.push({ id, offset, bytes: reader.slice(offset, size) });
    at += 24 + idLength;
  }
  return entries;
}

function readCompressed(bytes: Uint8Array): Bundle {
  const reader = new ByteReader(bytes, 'compressed offload bundle', 'bundle/truncated');
  const version = reader.u16(4);
  const method = reader.u16(6);
  let headerSize: number;
  let total = bytes.length;
  let declared: number;
  if (version === 1) {
    headerSize = 20;
    declared = reader.u32(8);
  } else if (version === 2) {
    headerSize = 24;
    total = reader.u32(8);
    declared = reader.u32(12);
  } else if (version === 3) {
    headerSize = 32;
    total = reader.u64AsNumber(8);
    declared = reader.u64AsNumber(16);
  } else {
    throw new WavesmithError('bundle/version', `Compressed offload bundles of version ${version} are not known.`, {
      byteOffset: 4,
      hint: 'Versions 1 to 3 are supported.',
    });
  }
  if (method > 1) {
    throw new WavesmithError('bundle/method', `Compression method ${method} of the offload bundle is not known.`, {
      byteOffset: 6,
    });
  }
  if (total < headerSize) {
    throw new WavesmithError('bundle/damaged', `The offload bundle claims a size of ${total} bytes.`, {
      byteOffset: 8,
    });
  }
  const data = reader.slice(headerSize, total - headerSize);
  let content: Uint8Array;
  if (method === 1) {
    const end = checkZstdFrame(data, declared, headerSize);
    content = inflateZstd(data, end, headerSize);
    if (version === 1) total = headerSize + end;
  } else content = inflateZlib(data, declared, headerSize);
  if (content.length !== declared) throw wrongSize(declared, content.length, headerSize);
  if (bundleKind(content) !== 'plain') {
    throw new WavesmithError('bundle/damaged', 'The compressed bundle does not hold an offload bundle.', {
      byteOffset: headerSize,
    });
  }
  return {
    entries: readEntries(content),
    compression: { version, method: method === 1 ? 'zstd' : 'zlib' },
    size: total,
  };
}

/** Writes a plain bundle; entries start at multiples of 4096, as clang-offload-bundler places them. */
export function writeBundle(entries: readonly { id: string; bytes: Uint8Array }[], alignment = 4096): Uint8Array {
  const ids = entries.map((entry) => new TextEncoder().encode(entry.id));
  const header = BUNDLE_MAGIC.length + 8 + ids.reduce((sum, id) => sum + 24 + id.length, 0);
  const writer = new ByteWriter(header).text(BUNDLE_MAGIC).u64(entries.length);
  let at = header;
  entries.forEach((entry, i) => {
    at = Math.ceil(at / alignment) * alignment;
    writer.u64(at).u64(entry.bytes.length).u64(ids[i].length).raw(ids[i]);
    at += entry.bytes.length;
  });
  for (const entry of entries) writer.align(alignment).raw(entry.bytes);
  return writer.finish();
}

/** Wraps compressed bundle data into a CCOB header; the hash field is left 0 (readers do not check it). */
export function writeCompressedBundle(
  compressed: Uint8Array,
  uncompressedSize: number,
  method: 'zlib' | 'zstd',
  version: 1 | 2 | 3,
): Uint8Array {
  const writer = new ByteWriter(compressed.length + 32)
    .text(COMPRESSED_MAGIC)
    .u16(version)
    .u16(method === 'zstd' ? 1 : 0);
  if (version === 2) writer.u32(compressed.length + 24).u32(uncompressedSize);
  else if (version === 3) writer.u64(compressed.length + 32).u64(uncompressedSize);
  else writer.u32(uncompressedSize);
  return writer.u64(0).raw(compressed).finish();
}
