// Fits a few physical numbers of a chip to measured times: least squares of logarithms from what documents and microbenchmarks say
// (the prior), which each number leaves only as far as its width lets it.
import { type Chip, type ChipFile, makeChip } from '../../src/device/sim/timing/chip.ts';
import { FIELDS } from '../../src/device/sim/timing/chip-fields.ts';
import { type ModelledRow, modelAgain } from './collect.ts';

/** A number to fit. */
export interface Parameter {
  readonly field: string;
  /** What is known without the programs, and where from. */
  readonly prior: number;
  readonly source: string;
  /** One standard deviation of the prior's logarithm. */
  readonly width: number;
}

/** Logarithms of fitted / prior, in the parameters' order. */
export type Values = readonly number[];

/** A row with its measured time. */
export interface FitRow {
  readonly program: string;
  readonly measured: number;
  readonly row: ModelledRow;
}

const SCALE = 'MI300X copies, by 6 dies instead of 8';
const CHASE = 'MI300X pointer chase';

export const PARAMETERS: readonly Parameter[] = [
  { field: 'launch.eventUs', prior: 3.5, width: 0.3, source: 'no measurement: less than the floor' },
  { field: 'launch.floorUs', prior: 4.2, width: 0.1, source: 'the least time between events that MI300A has shown' },
  { field: 'launch.gapUs', prior: 0.9, width: 0.3, source: 'no measurement' },
  { field: 'launch.hostUs', prior: 2.4, width: 0.15, source: 'MI300A: each further launch of a small kernel' },
  { field: 'fill.us', prior: 2, width: 0.7, source: 'no measurement' },
  { field: 'copy.pinnedUs', prior: 10, width: 0.7, source: 'no measurement' },
  { field: 'copy.pinnedGbps', prior: 55, width: 0.05, source: 'PCIe 5: 64 GB/s less 10 to 20% of protocol' },
  { field: 'copy.stagedUs', prior: 15, width: 0.5, source: 'no measurement' },
  { field: 'copy.stagedGbps', prior: 10, width: 0.7, source: 'one host core copies about so much' },
  { field: 'mall.readGbps', prior: 2475, width: 0.3, source: SCALE },
  { field: 'mall.writeGbps', prior: 1725, width: 0.3, source: SCALE },
  { field: 'hbm.readGbps', prior: 3525, width: 0.3, source: SCALE },
  { field: 'hbm.writeGbps', prior: 2475, width: 0.3, source: SCALE },
  { field: 'mall.latency', prior: 480, width: 0.2, source: CHASE },
  { field: 'hbm.latency', prior: 720, width: 0.2, source: CHASE },
  { field: 'l2.latency', prior: 245, width: 0.1, source: 'gpu-benches and mt4g' },
  { field: 'vl1d.latency', prior: 116, width: 0.1, source: 'mt4g' },
  { field: 'vl1d.misses', prior: 256, width: 0.7, source: 'no measurement: the lines of the cache' },
  { field: 'l2.storeAck', prior: 300, width: 0.5, source: 'no measurement' },
  { field: 'l2.foreignAck', prior: 480, width: 0.3, source: 'no measurement: the way to the memory-side cache' },
  { field: 'l2.writeRate', prior: 32, width: 0.5, source: 'no measurement: half of what a channel reads' },
  { field: 'l2.dirtyPart', prior: 0.25, width: 0.7, source: 'no measurement' },
  { field: 'issue.branchTaken', prior: 20, width: 0.2, source: 'MI300X FMA chains: 16 to 24' },
  { field: 'mall.loss', prior: 1, width: 0.7, source: 'a part as large as fits' },
  { field: 'l2.loss', prior: 4, width: 0.7, source: 'no measurement: least-recently-used replacement keeps nothing' },
];

/** Logarithm of the step for a slope. */
const STEP = 0.08;
/** A residual of this size counts half, larger ones less and less: a program that was compiled otherwise must not bend all numbers. */
const ROBUST = 0.25;
/** Standard deviation of a row's logarithm that the priors are weighed against. */
const NOISE = 0.15;
/** Rounds of linearisation, from the priors on. */
const ROUNDS = 2;

/** The fitted number itself. */
export function fittedValue(p: Parameter, log: number): number {
  const value = p.prior * Math.exp(log);
  const rule = FIELDS[p.field];
  const inside = Math.min(rule?.max ?? value, Math.max(rule?.min ?? value, value));
  return rule?.whole === true ? Math.round(inside) : Number(inside.toPrecision(4));
}

export function chipWith(base: ChipFile, values: Values): Chip {
  const numbers = Object.fromEntries(
    PARAMETERS.map((p, n) => [p.field, [fittedValue(p, values[n] ?? 0), 'fit'] as const]),
  );
  return makeChip({ ...base, numbers: { ...base.numbers, ...numbers } });
}

/** Fits one chip's numbers, for all rows and for all rows but those of one program. */
export class Fit {
  private readonly base: ChipFile;
  private readonly rows: readonly FitRow[];

  constructor(base: ChipFile, rows: readonly FitRow[]) {
    this.base = base;
    this.rows = rows;
  }

  /** Logarithms of modelled / measured. */
  residuals(values: Values, rows = this.rows): number[] {
    const chip = chipWith(this.base, values);
    return rows.map((r) => Math.log(modelAgain(r.row.run, chip) / r.measured));
  }

  /**
   * Fits to each choice of programs; the choices share the points at which the model is linearised, those of the first one. `progress`
   * hears of each round.
   */
  run(choices: readonly ((program: string) => boolean)[], progress: (text: string) => void): Values[] {
    let at: Values = PARAMETERS.map(() => 0);
    let solved: Values[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const here = this.residuals(at);
      const slopes = PARAMETERS.map((_, n) => {
        const moved = this.residuals(at.map((v, i) => (i === n ? v + STEP : v)));
        return moved.map((value, row) => (value - (here[row] as number)) / STEP);
      });
      solved = choices.map((uses) => this.solve(at, here, slopes, uses));
      at = solved[0] as Values;
      progress(`fit, round ${round + 1}: error factor was ${Math.exp(rootMeanSquare(here)).toFixed(3)}`);
    }
    return solved;
  }

  /** Ridge regression: residual + slope × step of every row towards 0, step towards the prior. Programs weigh the same. */
  private solve(
    at: Values,
    here: readonly number[],
    slopes: readonly (readonly number[])[],
    uses: (p: string) => boolean,
  ): Values {
    const k = PARAMETERS.length;
    const counts = new Map<string, number>();
    for (const r of this.rows) if (uses(r.program)) counts.set(r.program, (counts.get(r.program) ?? 0) + 1);
    const mean = this.rows.length / Math.max(1, new Set(this.rows.map((r) => r.program)).size);
    let step: number[] = new Array<number>(k).fill(0);
    // Weights depend on the residuals, which depend on the step.
    for (let pass = 0; pass < 8; pass++) {
      const left = Array.from({ length: k }, () => new Array<number>(k).fill(0));
      const right = new Array<number>(k).fill(0);
      this.rows.forEach(({ program }, row) => {
        const count = counts.get(program);
        if (count === undefined) return;
        let residual = here[row] as number;
        for (let n = 0; n < k; n++) residual += (slopes[n]?.[row] as number) * (step[n] as number);
        const robust = 1 / (1 + (residual / ROBUST) ** 2);
        const weight = (robust * Math.min(4, mean / count)) / NOISE ** 2;
        for (let i = 0; i < k; i++) {
          const slope = slopes[i]?.[row] as number;
          right[i] = (right[i] as number) - weight * slope * (here[row] as number);
          for (let j = 0; j < k; j++) {
            const line = left[i] as number[];
            line[j] = (line[j] as number) + weight * slope * (slopes[j]?.[row] as number);
          }
        }
      });
      PARAMETERS.forEach(({ width }, n) => {
        const line = left[n] as number[];
        line[n] = (line[n] as number) + 1 / width ** 2;
        right[n] = (right[n] as number) - (at[n] as number) / width ** 2;
      });
      step = solveLinear(left, right);
    }
    // No number leaves its prior by more than three widths.
    return PARAMETERS.map(({ width }, n) =>
      Math.max(-3 * width, Math.min(3 * width, (at[n] as number) + Math.max(-0.5, Math.min(0.5, step[n] as number)))),
    );
  }
}

function rootMeanSquare(values: readonly number[]): number {
  return Math.sqrt(values.reduce((sum, v) => sum + v * v, 0) / values.length);
}

/** Gauss elimination with pivots; the matrix is positive definite. */
function solveLinear(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const a = matrix.map((line, n) => [...line, right[n] as number]);
  const size = a.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(a[row]?.[column] ?? 0) > Math.abs(a[pivot]?.[column] ?? 0)) pivot = row;
    }
    const line = a[pivot] as number[];
    a[pivot] = a[column] as number[];
    a[column] = line;
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const other = a[row] as number[];
      const factor = (other[column] as number) / (line[column] as number);
      for (let n = column; n <= size; n++) other[n] = (other[n] as number) - factor * (line[n] as number);
    }
  }
  return a.map((line, n) => (line[size] as number) / (line[n] as number));
}
