// The memory of whole modules: which bytes each side wrote in the allocations that IREE made. The contents have no types that anybody
// knows, and one allocation holds different tensors one after the other; so what is compared is where was written, not what. Only of a
// function without outputs the contents count, by their bits: they are all that it leaves.
import { type Comparison, compareElements, worstOf } from '../verdict/index.ts';

/** One allocation of a run, when it ended. */
export interface WrittenAllocation {
  readonly bytes: number;
  /** Bit `n & 7` of byte `n >> 3`: whether byte n was written. */
  readonly written: Uint8Array;
  /** What it held, where that was kept. */
  readonly content?: Uint8Array | undefined;
}

/** Both sides' allocations, in the order in which they were made: one list for each run. */
export interface MemoryOfRuns {
  readonly baseline: readonly (readonly WrittenAllocation[])[];
  readonly modified: readonly (readonly WrittenAllocation[])[];
}

export interface StrayWrites {
  readonly allocations: number;
  /** Of all allocations of the baseline's first run. */
  readonly bytes: number;
  /** Bytes that the baseline never wrote. */
  readonly untouched: number;
  /** Those of them that the modified side wrote; null when the sides allocated differently and cannot be compared. */
  readonly stray: number | null;
  /** Where the first of them is. */
  readonly first: { readonly allocation: number; readonly offset: number; readonly size: number } | null;
}

/** Contents of one allocation that a side wrote in, compared by bits. */
export interface ContentResult {
  readonly allocation: number;
  readonly comparison: Comparison;
}

/** Compares what a function without outputs leaves in memory; empty when the sides allocated differently. */
export function compareContents({ baseline, modified }: MemoryOfRuns): ContentResult[] {
  return (baseline[0] ?? []).flatMap((_, allocation): ContentResult[] => {
    const comparisons = baseline.flatMap((run, n) => {
      const [a, b] = [run[allocation], modified[n]?.[allocation]];
      if (a?.content === undefined || b?.content === undefined || modified[n]?.length !== run.length) return [];
      if (!isWritten(a) && !isWritten(b)) return [];
      return [compareElements(a.content, b.content, 'u8')];
    });
    return comparisons.length === 0 ? [] : [{ allocation, comparison: worstOf(comparisons) }];
  });
}

const isWritten = ({ written }: WrittenAllocation): boolean => written.some((bits) => bits !== 0);

/** A byte was written when it was in any run: no byte agrees with two patterns that differ in every byte. */
export function findStrayWrites({ baseline, modified }: MemoryOfRuns): StrayWrites {
  const [whole] = baseline as readonly [readonly WrittenAllocation[]];
  const isComparable = [...baseline, ...modified].every(
    (run) => run.length === whole.length && run.every((a, n) => pages(a.bytes) === pages(whole[n]?.bytes ?? 0)),
  );
  const facts = { allocations: whole.length, bytes: whole.reduce((sum, a) => sum + a.bytes, 0) };
  let [untouched, stray] = [0, 0];
  let first: StrayWrites['first'] = null;
  for (const [allocation, { bytes }] of whole.entries()) {
    const of = (runs: MemoryOfRuns['baseline']) => runs.map((run) => run[allocation]?.written ?? new Uint8Array(0));
    const [own, other] = [of(baseline), isComparable ? of(modified) : []];
    const any = (masks: readonly Uint8Array[], n: number): number =>
      masks.reduce((bits, mask) => bits | (mask[n] ?? 0), 0);
    const size = Math.max(0, ...own.map((mask) => mask.length), ...other.map((mask) => mask.length));
    for (let n = 0; n < size; n++) {
      const free = ~any(own, n) & 0xff;
      if (free === 0) continue;
      const inside = 8 * n + 8 <= bytes ? free : free & ((1 << Math.max(0, bytes - 8 * n)) - 1);
      untouched += bitCount(inside);
      const bits = free & any(other, n);
      if (bits === 0) continue;
      stray += bitCount(bits);
      first ??= { allocation, offset: 8 * n + (31 - Math.clz32(bits & -bits)), size: bytes };
    }
  }
  return { ...facts, untouched, stray: isComparable ? stray : null, first };
}

/** Strict devices end an allocation with its last byte, others with its page. */
const pages = (bytes: number): number => Math.ceil(bytes / 4096);

function bitCount(byte: number): number {
  let count = 0;
  for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}
