// v_min and v_max on register bits, where signalling NaNs show. Source: AMD CDNA3 Instruction Set Architecture, V_MIN_F32, V_MAX_F32
// and their f16 and f64 forms.
import type { LaneEnv } from '../state/lane-env.ts';

interface Format {
  readonly sign: bigint;
  readonly infinity: bigint;
  readonly quiet: bigint;
  readonly denormalIn: (env: LaneEnv) => boolean;
  readonly denormalOut: (env: LaneEnv) => boolean;
}

function format(width: number, fraction: number): Format {
  const single = width === 32;
  return {
    sign: 1n << BigInt(width - 1),
    infinity: (1n << BigInt(width - 1)) - (1n << BigInt(fraction)),
    quiet: 1n << BigInt(fraction - 1),
    denormalIn: (env) => (single ? env.denormalIn32 : env.denormalIn64),
    denormalOut: (env) => (single ? env.denormalOut32 : env.denormalOut64),
  };
}

const FORMATS = { f16: format(16, 10), f32: format(32, 23), f64: format(64, 52) };

/** The smaller or larger of two floats given as bits. */
export function extremeBits(
  name: keyof typeof FORMATS,
  wantsLarger: boolean,
): (a: bigint, b: bigint, env: LaneEnv) => bigint {
  const { sign, infinity, quiet, denormalIn, denormalOut } = FORMATS[name];
  const size = (x: bigint): bigint => x & (sign - 1n);
  const nanIn = (x: bigint): boolean => size(x) > infinity;
  const flush = (x: bigint, keep: boolean): bigint => (!keep && size(x) < 2n * quiet ? x & sign : x);
  /** Bits in the order of their values, -0 below +0. */
  const rank = (x: bigint): bigint => ((x & sign) === 0n ? x : -1n - size(x));
  return (a, b, env) => {
    const x = flush(a & (2n * sign - 1n), denormalIn(env));
    const y = flush(b & (2n * sign - 1n), denormalIn(env));
    if (env.ieee && nanIn(x) && (x & quiet) === 0n) return x | quiet;
    if (env.ieee && nanIn(y) && (y & quiet) === 0n) return y | quiet;
    if (nanIn(x)) return nanIn(y) ? y : flush(y, denormalOut(env));
    if (nanIn(y)) return flush(x, denormalOut(env));
    return flush(rank(x) > rank(y) === wantsLarger ? x : y, denormalOut(env));
  };
}
