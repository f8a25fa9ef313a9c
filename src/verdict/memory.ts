// Comparing what two kernels leave in memory, every byte of it. Begin with `makeContents`: tensors that are read get seeded data,
// everything else (outputs, and gaps between tensors and behind them) a pattern that says whether it was written. Run both kernels
// on these contents, then again with another pattern, and give both runs to `compareMemory`.
import { elementType, fillRandom, type Pattern, patternBytes, randomNumbers } from '../base/index.ts';
import { type CompareOptions, type Comparison, compareElements, comparisonVerdict } from './compare.ts';

/** A tensor in an allocation. */
export interface TensorPlace {
  readonly offset: number;
  readonly bytes: number;
  readonly elementType: string;
  /** Dimensions as far as they are known. */
  readonly shape?: readonly (number | null)[] | undefined;
  /**
   * `write`: its bytes before the run mean nothing. `unknown`: they may or may not, so they are data, and other data under the
   * pattern `inverse`.
   */
  readonly access: 'read' | 'write' | 'readwrite' | 'unknown';
  /** Replaces the tolerance of the options, or of its type, for this tensor. */
  readonly tolerance?: number | undefined;
}

/** An allocation and the tensors in it; they may overlap. */
export interface Allocation {
  readonly bytes: number;
  readonly tensors: readonly TensorPlace[];
}

/** A part of an allocation. */
export interface Range {
  readonly offset: number;
  readonly bytes: number;
}

/** The bytes of each allocation before a run. Tensors that are known to be read hold the same for every pattern. */
export function makeContents(allocations: readonly Allocation[], seed: number, pattern: Pattern): Uint8Array[] {
  const random = randomNumbers(seed);
  return allocations.map(({ bytes, tensors }, n) => {
    const content = patternBytes(bytes, seed + 1 + n, pattern);
    for (const tensor of tensors) {
      if (tensor.access === 'write') continue;
      const place = content.subarray(tensor.offset, tensor.offset + tensor.bytes);
      const isOther = tensor.access === 'unknown' && pattern === 'inverse';
      fillRandom(place, elementType(tensor.elementType), isOther ? randomNumbers(seed + n + 1) : random);
    }
    return content;
  });
}

/** Parts of an allocation that no tensor covers, or none that `counts`. */
export function gapsOf(allocation: Allocation, counts: (tensor: TensorPlace) => boolean = () => true): Range[] {
  const covered = allocation.tensors
    .filter((t) => t.bytes > 0 && counts(t))
    .map((t) => [t.offset, Math.min(t.offset + t.bytes, allocation.bytes)] as const)
    .sort((a, b) => a[0] - b[0]);
  const gaps: Range[] = [];
  let at = 0;
  for (const [from, to] of covered) {
    if (from > at) gaps.push({ offset: at, bytes: from - at });
    at = Math.max(at, to);
  }
  if (at < allocation.bytes) gaps.push({ offset: at, bytes: allocation.bytes - at });
  return gaps;
}

/** One run: contents of all allocations before it, and after it on either side. */
export interface MemoryRun {
  readonly before: readonly Uint8Array[];
  readonly baseline: readonly Uint8Array[];
  readonly modified: readonly Uint8Array[];
}

/** Bytes that a side wrote in any run (those it wrote with what was there already do not show). */
export interface WrittenBytes {
  readonly baseline: number;
  readonly modified: number;
}

/** The worse of the runs' comparisons of one tensor or gap. */
export interface PlaceResult {
  readonly comparison: Comparison;
  readonly written: WrittenBytes;
}

export interface GapResult extends PlaceResult, Range {
  readonly allocation: number;
}

/** Bytes whose value depends on what lay in memory before although nobody had put it there. */
export interface UnwrittenReads {
  readonly baseline: number;
  readonly modified: number;
  /** The first such byte of the modified side that does not depend on it in the baseline. */
  readonly first: { readonly allocation: number; readonly offset: number } | null;
}

export interface MemoryResult {
  /** By allocation, then in the order of its tensors. */
  readonly tensors: readonly (readonly PlaceResult[])[];
  /** Gaps that either side wrote; all others are untouched on both. */
  readonly gaps: readonly GapResult[];
  readonly gapBytes: number;
  /** Null after one run, which cannot tell. */
  readonly unwrittenReads: UnwrittenReads | null;
}

/** Compares the runs, at least one. Tensors that are only read, and gaps, must agree in every bit. */
export function compareMemory(
  allocations: readonly Allocation[],
  runs: readonly MemoryRun[],
  options: Pick<CompareOptions, 'tolerance' | 'changedShare'> = {},
): MemoryResult {
  const place = (n: number, range: Range, name: string, how: CompareOptions): PlaceResult => ({
    comparison: worstOf(runs.map((run) => comparePlace(run, n, range, name, how))),
    written: {
      baseline: countWritten(runs, n, range, 'baseline'),
      modified: countWritten(runs, n, range, 'modified'),
    },
  });
  const gaps: GapResult[] = [];
  let gapBytes = 0;
  const tensors = allocations.map((allocation, n) => {
    for (const gap of gapsOf(allocation)) {
      gapBytes += gap.bytes;
      const result = { ...gap, allocation: n, ...place(n, gap, 'u8', { bitwise: true }) };
      if (result.written.baseline + result.written.modified > 0) gaps.push(result);
    }
    const writable = allocation.tensors.filter((t) => t.access !== 'read');
    return allocation.tensors.map((tensor) => {
      const isShared = writable.some(
        (w) => w.offset < tensor.offset + tensor.bytes && tensor.offset < w.offset + w.bytes,
      );
      const how: CompareOptions = tensor.access === 'read' && !isShared ? { bitwise: true } : options;
      const tolerance = tensor.tolerance ?? how.tolerance;
      return place(n, tensor, tensor.elementType, { ...how, tolerance, shape: tensor.shape });
    });
  });
  return { tensors, gaps, gapBytes, unwrittenReads: runs.length < 2 ? null : findUnwrittenReads(runs) };
}

function comparePlace(run: MemoryRun, n: number, { offset, bytes }: Range, name: string, how: CompareOptions) {
  const cut = (side: readonly Uint8Array[]): Uint8Array => (side[n] as Uint8Array).subarray(offset, offset + bytes);
  return compareElements(cut(run.baseline), cut(run.modified), name, how);
}

const RANK = { equal: 0, 'within-tolerance': 1, different: 2 } as const;

/** The comparison with the worst verdict; the first of several. */
export function worstOf(comparisons: readonly Comparison[]): Comparison {
  const rank = (c: Comparison): number => RANK[comparisonVerdict(c)];
  return comparisons.reduce((worst, c) => (rank(c) > rank(worst) ? c : worst));
}

function countWritten(
  runs: readonly MemoryRun[],
  n: number,
  { offset, bytes }: Range,
  side: 'baseline' | 'modified',
): number {
  const [one, two = one] = runs as readonly [MemoryRun, ...MemoryRun[]];
  const [a, b] = [one[side][n], two[side][n]] as [Uint8Array, Uint8Array];
  const [beforeA, beforeB] = [one.before[n], two.before[n]] as [Uint8Array, Uint8Array];
  let count = 0;
  for (let at = offset; at < offset + bytes; at++) if (a[at] !== beforeA[at] || b[at] !== beforeB[at]) count++;
  return count;
}

/** Looks for bytes that one run left as they were and the other wrote, or that both wrote differently. */
function findUnwrittenReads(runs: readonly MemoryRun[]): UnwrittenReads {
  const [one, two] = runs as readonly [MemoryRun, MemoryRun];
  let [baseline, modified] = [0, 0];
  let first: UnwrittenReads['first'] = null;
  for (const allocation of one.before.keys()) {
    const of = (side: 'before' | 'baseline' | 'modified') =>
      [one[side][allocation], two[side][allocation]] as [Uint8Array, Uint8Array];
    const [before, beforeTwo] = of('before');
    const [base, baseTwo] = of('baseline');
    const [edited, editedTwo] = of('modified');
    for (let at = 0; at < before.length; at++) {
      const inBaseline = base[at] !== baseTwo[at] && (base[at] !== before[at] || baseTwo[at] !== beforeTwo[at]);
      const inModified = edited[at] !== editedTwo[at] && (edited[at] !== before[at] || editedTwo[at] !== beforeTwo[at]);
      if (inBaseline) baseline++;
      if (!inModified) continue;
      modified++;
      if (!inBaseline && first === null) first = { allocation, offset: at };
    }
  }
  return { baseline, modified, first };
}
