// ds_swizzle_b32: which lane a lane reads. Source: AMD CDNA3 ISA, DS_SWIZZLE_B32 (quad, bit-mask, rotate and FFT modes).

/** Reverses the low `count` bits. */
function reverseLow(x: number, count: number): number {
  let result = 0;
  for (let n = 0; n < count; n++) result |= ((x >> n) & 1) << (count - 1 - n);
  return result;
}

/** The source lane of `lane` for a swizzle offset, or -1 when it reads zero. */
export function swizzleLane(offset: number, lane: number): number {
  const group = lane & ~31;
  const inGroup = lane & 31;
  if (offset >= 0xe000) {
    // FFT: the mask's zero bits, from the bottom, are reversed within the lane number.
    const mask = offset & 31;
    const count = mask === 0 ? 5 : 31 - Math.clz32(mask & -mask);
    return (lane & ~((1 << count) - 1)) | reverseLow(lane, count);
  }
  if (offset >= 0xc000) {
    const mask = offset & 31;
    const amount = (offset >> 5) & 31;
    const moved = (offset >> 10) & 1 ? inGroup - amount : inGroup + amount;
    return group | (inGroup & mask) | (moved & ~mask & 31);
  }
  if ((offset & 0x8000) !== 0) return (lane & ~3) | ((offset >> (2 * (lane & 3))) & 3);
  const and = offset & 31;
  const or = (offset >> 5) & 31;
  const xor = (offset >> 10) & 31;
  return group | (((inGroup & and) | or) ^ xor);
}
