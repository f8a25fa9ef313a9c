// Orders of rows by their times. Recordings are made of a few runs in order (dispatches, then copies), which are merged.

type Compare = (a: number, b: number) => number;

/** The indexes 0 to n-1 in order; those that compare as equal stay as they were. Time is O(n log runs), memory two arrays of indexes. */
export function inOrder(n: number, compare: Compare): Int32Array {
  let order = new Int32Array(n);
  /** Where each run starts, and the end. */
  let runs: number[] = [0];
  for (let i = 0; i < n; i++) {
    order[i] = i;
    if (i > 0 && compare(i - 1, i) > 0) runs.push(i);
  }
  runs.push(n);
  let spare = runs.length > 2 ? new Int32Array(n) : order;
  while (runs.length > 2) {
    const merged: number[] = [];
    for (let r = 0; r < runs.length - 1; r += 2) {
      merged.push(runs[r]);
      merge(order, spare, [runs[r], runs[r + 1], runs[Math.min(r + 2, runs.length - 1)]], compare);
    }
    merged.push(n);
    [order, spare, runs] = [spare, order, merged];
  }
  return order;
}

/** Merges the runs [from, middle) and [middle, to). */
function merge(source: Int32Array, into: Int32Array, [from, middle, to]: readonly number[], compare: Compare): void {
  let [a, b] = [from, middle];
  for (let i = from; i < to; i++) {
    const takesA = b >= to || (a < middle && compare(source[a], source[b]) <= 0);
    into[i] = takesA ? source[a++] : source[b++];
  }
}
