// How far modelled times are from measured ones.

export interface Pair {
  readonly measured: number;
  readonly modelled: number;
}

/** Sum of errors over the sum of measured times. Source: sarchlab/mgpusim compare_sim_vs_real.py. */
export function wmape(pairs: readonly Pair[]): number {
  let errors = 0;
  let all = 0;
  for (const p of pairs) {
    errors += Math.abs(p.modelled - p.measured);
    all += p.measured;
  }
  return errors / all;
}

/** The standard deviation of the logarithms of modelled / measured, as a factor. */
export function geometricSigma(pairs: readonly Pair[]): number {
  const logs = pairs.map((p) => Math.log(p.modelled / p.measured));
  const mean = logs.reduce((a, b) => a + b, 0) / logs.length;
  return Math.exp(Math.sqrt(logs.reduce((a, b) => a + (b - mean) ** 2, 0) / logs.length));
}

/** Root mean square of the logarithms of modelled / measured, as a factor: what a printed time may be wrong by. */
export function errorFactor(pairs: readonly Pair[]): number {
  return Math.exp(Math.sqrt(pairs.reduce((sum, p) => sum + Math.log(p.modelled / p.measured) ** 2, 0) / pairs.length));
}

/** The mean of modelled / measured. */
export function geometricMean(pairs: readonly Pair[]): number {
  return Math.exp(pairs.reduce((sum, p) => sum + Math.log(p.modelled / p.measured), 0) / pairs.length);
}

/** Ranks from 1; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((value, n) => ({ value, n })).sort((a, b) => a.value - b.value);
  const out = new Array<number>(values.length).fill(0);
  for (let first = 0; first < order.length; ) {
    let last = first;
    while (last + 1 < order.length && order[last + 1]?.value === order[first]?.value) last++;
    for (let at = first; at <= last; at++) out[order[at]?.n ?? 0] = (first + last) / 2 + 1;
    first = last + 1;
  }
  return out;
}

/** Spearman's rank correlation. */
export function spearman(pairs: readonly Pair[]): number {
  const a = ranks(pairs.map((p) => p.measured));
  const b = ranks(pairs.map((p) => p.modelled));
  const mean = (pairs.length + 1) / 2;
  let top = 0;
  let left = 0;
  let right = 0;
  a.forEach((rank, n) => {
    const other = (b[n] as number) - mean;
    top += (rank - mean) * other;
    left += (rank - mean) ** 2;
    right += other ** 2;
  });
  return top / Math.sqrt(left * right);
}

/** Slope of a least-squares line. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const n = points.length;
  const x = points.reduce((sum, p) => sum + p[0], 0) / n;
  const y = points.reduce((sum, p) => sum + p[1], 0) / n;
  const top = points.reduce((sum, p) => sum + (p[0] - x) * (p[1] - y), 0);
  return top / points.reduce((sum, p) => sum + (p[0] - x) ** 2, 0);
}

/** |modelled / measured - 1| of the slope of time over size of one series, which needs three sizes. */
export function slopeError(series: readonly (Pair & { readonly size: number })[]): number | undefined {
  if (new Set(series.map((p) => p.size)).size < 3) return undefined;
  const measured = slope(series.map((p) => [p.size, p.measured]));
  const modelled = slope(series.map((p) => [p.size, p.modelled]));
  return Math.abs(modelled / measured - 1);
}
