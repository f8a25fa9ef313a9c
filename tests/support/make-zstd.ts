// Makes zstd frames of raw and RLE blocks at test time (RFC 8878, sections 3.1.1.1 and 3.1.1.2), enough to test readers with.
import { ByteWriter } from '../../src/base/index.ts';

const BLOCK = 1 << 16;

/** A frame of raw blocks; runs of one byte value become RLE blocks. */
export function storedZstd(bytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter(bytes.length + 64).u32(0xfd2fb528).u8(0xa0).u32(bytes.length);
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    const isLast = at + BLOCK >= bytes.length;
    const isRun = block.every((byte) => byte === block[0]);
    const header = (block.length << 3) | (isRun ? 2 : 0) | (isLast ? 1 : 0);
    writer
      .u8(header & 0xff)
      .u8((header >> 8) & 0xff)
      .u8(header >> 16);
    writer.raw(isRun ? block.subarray(0, 1) : block);
  }
  return writer.finish();
}
