// Peaks that were measured (roofline.csv), held against those of clocks and data sheet: a table that a spreadsheet wrote, or of another GPU,
// has some that are a thousandth of them; and a benchmark that does not use what the chip has reaches a part.
import type { MeasuredRoofline } from '../records.ts';

/** A measured bandwidth over that of the clocks: AMD's tables of MI210, MI250 and MI355X have 0.48 (L1) to 1.0. */
const BANDWIDTHS = [0.2, 1.25] as const;
/** The same of rates: 0.24 (matrix instructions of the chips before, on MI355X) to 1.91 (packed FP32). */
const RATES = [0.1, 2.2] as const;
/** Below this share of what the chip can do, a benchmark is no roof of kernels: those with newer instructions exceed it. */
const REACHED = 0.6;

/** A measured peak that no GPU of the kind has, in GB/s or GFLOP/s. */
export interface OddPeak {
  readonly id: string;
  readonly measured: number;
  readonly sheet: number;
  readonly unit: 'GB/s' | 'GFLOP/s';
}

/** What cannot be of the GPU among the peaks that were measured; `sheet` has those of its clocks by their ids. HBM is held against the product. */
export function oddMeasuredPeaks(measured: MeasuredRoofline, sheet: ReadonlyMap<string, number>): OddPeak[] {
  const odd = (
    of: ReadonlyMap<string, number>,
    [least, most]: readonly [number, number],
    unit: OddPeak['unit'],
  ): OddPeak[] =>
    [...of].flatMap(([id, value]) => {
      const peak = sheet.get(id);
      if (id === 'HBM' || peak === undefined || (value >= least * peak && value <= most * peak)) return [];
      return [{ id, measured: value, sheet: peak, unit }];
    });
  return [...odd(measured.bandwidths, BANDWIDTHS, 'GB/s'), ...odd(measured.rates, RATES, 'GFLOP/s')];
}

/** The measured peaks that are roofs: neither odd, nor rates that the benchmark did not reach. */
export function usedPeaks(measured: MeasuredRoofline, sheet: ReadonlyMap<string, number>): MeasuredRoofline {
  const odd = new Set(oddMeasuredPeaks(measured, sheet).map(({ id }) => id));
  return {
    ...measured,
    bandwidths: new Map([...measured.bandwidths].filter(([id]) => !odd.has(id))),
    rates: new Map([...measured.rates].filter(([id, rate]) => !odd.has(id) && rate >= REACHED * (sheet.get(id) ?? 0))),
  };
}
