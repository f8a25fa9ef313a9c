// How LDS serves a wavefront: in phases of lanes, each of which takes one pass per distinct row of the busiest bank.
// Source: amd-shark-ai docs/empirical-lds/lds_summary.md (measured on gfx942 and gfx950), triton PR 11365, rocRoller LDSBankModel.
const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const groups = (size: number): number[][] => range(0, 64 / size).map((n) => range(n * size, size));
const spans = (...pairs: readonly (readonly [number, number])[]): number[] =>
  pairs.flatMap(([first, last]) => range(first, last - first + 1));

/** gfx942: 16-byte reads. */
const READ_128_GFX942 = [0, 32].flatMap((half) =>
  [
    [0, 20],
    [4, 16],
    [8, 28],
    [12, 24],
  ].map(([a, b]) => [...range(half + (a as number), 4), ...range(half + (b as number), 4)]),
);
/** gfx950: 16-byte reads. */
const READ_128_GFX950 = [
  spans([0, 3], [12, 15], [20, 27]),
  spans([32, 35], [44, 47], [52, 59]),
  spans([4, 11], [16, 19], [28, 31]),
  spans([36, 43], [48, 51], [60, 63]),
];

/** Phases of one kind of access. */
export interface Phases {
  readonly lanes: readonly (readonly number[])[];
  readonly banks: number;
}

/** The phases of an access of `bytes` a lane. The LDS that has more banks for wide reads (gfx950) has other phases too. */
export function ldsPhases(wideBanks: number, bytes: number, isRead: boolean): Phases {
  const newer = wideBanks > 32;
  const banks = isRead && bytes >= 8 && bytes !== 12 ? wideBanks : 32;
  if (bytes <= 4) return { lanes: newer && isRead ? groups(64) : groups(32), banks };
  if (bytes === 8) return { lanes: newer && isRead ? groups(32) : groups(16), banks };
  if (bytes === 16 && isRead) return { lanes: newer ? READ_128_GFX950 : READ_128_GFX942, banks };
  return { lanes: groups(8), banks };
}

const rows = new Int32Array(128 * 64);
const counts = new Int32Array(128);

/** Passes of one phase: the most distinct dwords that one bank has to serve. */
function passes(addresses: Float64Array, lanes: readonly number[], bytes: number, banks: number): number {
  counts.fill(0);
  let most = 0;
  for (const lane of lanes) {
    const address = addresses[lane] as number;
    if (!(address >= 0)) continue;
    const last = (address + bytes - 1) >>> 2;
    for (let dword = address >>> 2; dword <= last; dword++) {
      const bank = dword % banks;
      const first = bank * 64;
      const end = first + (counts[bank] as number);
      let at = first;
      while (at < end && rows[at] !== dword) at++;
      if (at < end || at === first + 64) continue;
      rows[at] = dword;
      counts[bank] = at + 1 - first;
      most = Math.max(most, at + 1 - first);
    }
  }
  return most;
}

/** Passes of an access by all its lanes; lanes with a negative or missing (NaN) address take no part. */
export function ldsPasses(addresses: Float64Array, bytes: number, { lanes, banks }: Phases): number {
  let sum = 0;
  for (const phase of lanes) sum += passes(addresses, phase, bytes, banks);
  return sum;
}
