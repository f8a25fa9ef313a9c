// The one generator of seeded data: inputs of kernels, patterns of untouched memory, random test cases.

/**
 * Numbers in [0, 1), the same on every machine for the same seed (xorshift32 after mixing the seed; G. Marsaglia, "Xorshift
 * RNGs", 2003). `seed` is any safe integer.
 */
export function randomNumbers(seed: number): () => number {
  const high = Math.trunc(seed / 2 ** 32) | 0;
  let state = Math.imul(seed ^ 0x9e3779b9 ^ Math.imul(high, 0xc2b2ae35), 0x85ebca6b) | 0;
  if (state === 0) state = 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let n = 0; n < 8; n++) next();
  return next;
}

/** Bytes of seeded noise. */
export function randomBytes(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  const random = randomNumbers(seed);
  for (let n = 0; n < words.length; n++) words[n] = random() * 2 ** 32;
  return new Uint8Array(words.buffer, 0, length);
}

/** What lies where nothing was put: seeded bytes other than 0, their complement, or nothing at all. */
export type Pattern = 'noise' | 'inverse' | 'zeros';

/** Bytes of a pattern. No byte of `noise` equals the byte of `inverse` or of `zeros` at its place. */
export function patternBytes(length: number, seed: number, pattern: Pattern): Uint8Array<ArrayBuffer> {
  if (pattern === 'zeros') return new Uint8Array(length);
  const content = randomBytes(length, seed);
  for (let at = 0; at < length; at++) {
    const byte = content[at] || 0x5a;
    content[at] = pattern === 'noise' ? byte : ~byte;
  }
  return content;
}
