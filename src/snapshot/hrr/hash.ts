// The names of blobs and code objects of HIP Record & Replay: two FNV-1a of 64 bits side by side. Sources: hash_buffer and hash_hex of
// ROCm/rocm-systems, projects/clr/hipamd/src/hrr/hip_capture_writer.cpp.

const BASIS = [0xcbf29ce4, 0x84222325] as const;
/** The prime is 2^40 + this. */
const PRIME_LOW = 0x1b3;

/** The first half of the name of some content, 16 digits: the FNV-1a of 64 bits. A change of one byte always changes it. */
export function firstHalfOfHash(bytes: Uint8Array): string {
  let [high, low] = BASIS as readonly [number, number];
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0;
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');
}
