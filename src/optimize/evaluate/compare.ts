// What a candidate left in memory beside what the baseline left there, for one input.

/** Bytes by the name of their place. */
export type Memory = ReadonlyMap<string, Uint8Array>;

export interface Difference {
  /** Bytes that differ, those that vary by themselves left out. */
  readonly bytes: number;
  /** Where the first is, and what it is. */
  readonly first: string | undefined;
  /** Bytes that differ where the baseline's results depend on the order of waves. */
  readonly varying: number;
}

/** Bytes that differ between runs of one kernel in several orders, by place; places that never differ are left out. */
export function varyingBytes(one: Memory, others: readonly Memory[]): Map<string, Uint8Array> {
  const masks = new Map<string, Uint8Array>();
  for (const [name, bytes] of one) {
    for (const other of others) {
      const now = other.get(name);
      if (now === undefined || now === bytes || Buffer.compare(bytes, now) === 0) continue;
      const mask = masks.get(name) ?? new Uint8Array(bytes.length);
      for (let i = 0; i < bytes.length; i++) if (bytes[i] !== now[i]) mask[i] = 1;
      masks.set(name, mask);
    }
  }
  return masks;
}

/** The flags of both, where places have the same size. */
export function joined(one: Memory, other: Memory): Memory {
  const both = new Map(one);
  for (const [name, mask] of other) {
    const own = both.get(name);
    if (own === undefined) both.set(name, mask);
    else if (own.length === mask.length)
      both.set(
        name,
        own.map((flag, i) => flag | (mask[i] as number)),
      );
  }
  return both;
}

const hex = (bytes: Uint8Array, at: number): string =>
  [...bytes.subarray(at, at + 4)].map((b) => b.toString(16).padStart(2, '0')).join(' ');

/** Compares all bytes. Numbers of a word that varies in one byte vary as a whole. */
export function differenceOf(baseline: Memory, candidate: Memory, varying: Memory): Difference {
  let [bytes, loose] = [0, 0];
  let first: string | undefined;
  for (const [name, want] of baseline) {
    const got = candidate.get(name);
    if (got === want || (got !== undefined && Buffer.compare(want, got) === 0)) continue;
    const mask = varying.get(name);
    for (let i = 0; i < want.length; i++) {
      if (got !== undefined && got[i] === want[i]) continue;
      const word = i & ~3;
      if (mask?.subarray(word, word + 4).includes(1) === true) {
        loose++;
        continue;
      }
      bytes++;
      if (first !== undefined) continue;
      const found = got === undefined ? 'gone' : hex(got, word);
      first = `${name}, byte 0x${word.toString(16)}: ${hex(want, word)} from the baseline, ${found} from the candidate`;
    }
  }
  return { bytes, first, varying: loose };
}

/** The words of a place that vary. */
function varyingWords(bytes: Uint8Array, mask: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    if (mask.subarray(at, at + 4).includes(1)) out.push(...bytes.subarray(at, at + 4));
  }
  return Uint8Array.from(out);
}

/** Places whose words that vary with the order of waves are not those of the baseline in another order, as a list that an atomic counter fills is. */
export function notPermuted(baseline: Memory, candidate: Memory, varying: Memory): Memory {
  const sorted = (bytes: Uint8Array, mask: Uint8Array): Uint8Array =>
    new Uint8Array(new Uint32Array(varyingWords(bytes, mask).buffer).sort().buffer);
  return new Map(
    [...varying].filter(([name, mask]) => {
      const [want, got] = [baseline.get(name), candidate.get(name)];
      return want === undefined || got === undefined || Buffer.compare(sorted(want, mask), sorted(got, mask)) !== 0;
    }),
  );
}
