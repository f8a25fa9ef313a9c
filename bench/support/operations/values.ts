// Operands of the loops: words of every lane, of a kind of number in the format that an operation reads.

/** Kinds of numbers. `mixed`: an eighth of the lanes has one of the special ones. */
export const KINDS = ['ordinary', 'negative', 'zero', 'denormal', 'infinite', 'no number', 'large', 'mixed'] as const;
export type Kind = (typeof KINDS)[number];
type Format = 'f16' | 'bf16' | 'f32' | 'f64' | 'bits';

const LAYOUT = {
  f16: { width: 16, fraction: 10, bias: 15 },
  bf16: { width: 16, fraction: 7, bias: 127 },
  f32: { width: 32, fraction: 23, bias: 127 },
  f64: { width: 64, fraction: 52, bias: 1023 },
} as const;

/** Numbers that look random, the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** The format that an operation reads: the last that its name says. */
export function formatOf(mnemonic: string): Format {
  return (/.*_(?:pk_)?(f16|bf16|f32|f64)(?![0-9])/.exec(mnemonic)?.[1] as Format | undefined) ?? 'bits';
}

function number(random: () => number, format: Exclude<Format, 'bits'>, kind: Kind): bigint {
  const { width, fraction, bias } = LAYOUT[format];
  const digits = BigInt(Math.floor(random() * 2 ** Math.min(fraction, 24))) << BigInt(Math.max(0, fraction - 24));
  const parts = (exponent: number, rest: bigint): bigint => (BigInt(exponent) << BigInt(fraction)) | rest;
  const sign = 1n << BigInt(width - 1);
  switch (kind) {
    case 'ordinary':
      return parts(bias - 3 + Math.floor(random() * 6), digits);
    case 'negative':
      return sign | parts(bias - 3 + Math.floor(random() * 6), digits);
    case 'zero':
      return random() < 0.5 ? 0n : sign;
    case 'denormal':
      return digits | 1n;
    case 'infinite':
      return parts(2 * bias + 1, 0n);
    case 'no number':
      return parts(2 * bias + 1, (1n << BigInt(fraction - 1)) | digits);
    case 'large':
      return parts(2 * bias, digits);
    case 'mixed': {
      const other = Math.floor(random() * 8 * (KINDS.length - 1));
      return number(random, format, KINDS[other < KINDS.length - 1 ? other : 0] as Kind);
    }
  }
}

/** Two words for each of 64 lanes. */
export function pairOf(mnemonic: string, kind: Kind, seed: number): Int32Array {
  const random = generator(1 + seed * 7919);
  const format = formatOf(mnemonic);
  const words = new Int32Array(128);
  for (let lane = 0; lane < 64; lane++) {
    let bits = 0n;
    if (format === 'bits') bits = BigInt(Math.floor(random() * 2 ** 24)) * 0x100000100000001n;
    else for (let at = 0; at < 64; at += LAYOUT[format].width) bits |= number(random, format, kind) << BigInt(at);
    words[2 * lane] = Number(BigInt.asIntN(32, bits));
    words[2 * lane + 1] = Number(BigInt.asIntN(32, bits >> 32n));
  }
  return words;
}
