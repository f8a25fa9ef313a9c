// Decompression of parts of files whose containers say how large they are: checked before any memory is taken.
// Source: RFC 8878 (zstd frame and block headers), RFC 1950.
import { unzlibSync } from 'fflate/browser';
import { decompress as decompressZstd } from 'fzstd';
import { ByteReader, WavesmithError } from '../base/index.ts';

export function wrongSize(declared: number, found: number, byteOffset: number): WavesmithError {
  return new WavesmithError(
    'bundle/wrong-size',
    `The bundle says that its content has ${declared} bytes, but the compressed data holds ${found}.`,
    { byteOffset: byteOffset, hint: 'The file is damaged; get a fresh copy.' },
  );
}

/** Deflate cannot expand more than this. */
const MAX_DEFLATE_RATIO = 1032;

/** Decompresses zlib data to what its container says it is. */
export function inflateZlib(data: Uint8Array, declared: number, byteOffset: number): Uint8Array {
  if (declared > data.length * MAX_DEFLATE_RATIO) throw wrongSize(declared, data.length, byteOffset);
  try {
    return unzlibSync(data);
  } catch (cause) {
    throw new WavesmithError('bundle/bad-zlib', 'The zlib data of the bundle is damaged.', { byteOffset, cause });
  }
}

const ZSTD_MAGIC = 0xfd2fb528;
const MAX_BLOCK = 128 * 1024;

/** Checks a zstd frame's own sizes against what its blocks can hold at most; returns where the frame ends. */
export function checkZstdFrame(data: Uint8Array, declared: number, byteOffset: number): number {
  const reader = new ByteReader(data, 'zstd frame', 'bundle/truncated');
  const damaged = (why: string) =>
    new WavesmithError('bundle/bad-zstd', `The zstd data of the bundle is damaged: ${why}.`, { byteOffset });
  if (reader.u32(0) !== ZSTD_MAGIC) throw damaged('it has no frame');
  const descriptor = reader.u8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  let at = 5;
  let window = 0;
  if (!isSingleSegment) {
    const byte = reader.u8(at++);
    const base = 2 ** (10 + (byte >> 3));
    window = base + (base / 8) * (byte & 7);
  }
  at += [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  let contentSize = declared;
  if (sizeBytes === 1) contentSize = reader.u8(at);
  else if (sizeBytes === 2) contentSize = reader.u16(at) + 256;
  else if (sizeBytes === 4) contentSize = reader.u32(at);
  else if (sizeBytes === 8) contentSize = reader.u64AsNumber(at);
  at += sizeBytes;
  if (contentSize !== declared) throw wrongSize(declared, contentSize, byteOffset);
  let most = 0;
  for (let isLast = false; !isLast; ) {
    const header = reader.u16(at) | (reader.u8(at + 2) << 16);
    const size = header >>> 3;
    const type = (header >> 1) & 3;
    isLast = (header & 1) !== 0;
    if (type === 3) throw damaged('a block has the reserved type');
    if (size > MAX_BLOCK) throw damaged('a block is too big');
    most += type === 2 ? MAX_BLOCK : size;
    at += 3 + (type === 1 ? 1 : size);
    reader.check(at, 0);
  }
  if (declared > most) throw wrongSize(declared, most, byteOffset);
  // Encoders round the window up to a power of two, and use at least 1 KiB.
  if (window > Math.max(2 * declared, 1 << 20)) throw damaged(`its window of ${window} bytes is out of proportion`);
  const hasChecksum = (descriptor & 4) !== 0;
  const end = at + (hasChecksum ? 4 : 0);
  reader.check(end, 0);
  return end;
}

/** Decompresses one frame; what follows it is not looked at. */
export function inflateZstd(data: Uint8Array, end: number, byteOffset: number): Uint8Array {
  try {
    return decompressZstd(data.subarray(0, end));
  } catch (cause) {
    throw new WavesmithError('bundle/bad-zstd', 'The zstd data of the bundle is damaged.', { byteOffset, cause });
  }
}
