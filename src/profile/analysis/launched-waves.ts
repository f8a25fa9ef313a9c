// The waves that launches have, beside those that were counted: a counter of part of the GPU, of other work, or of nothing shows here.
import type { LaunchEntry } from '../launch.ts';
import type { Recording } from '../recording.ts';

const WAVE_LANES = 64;

/** Waves of the dispatches of a kernel that have the counter `SQ_WAVES`. */
export interface LaunchedWaves {
  readonly counted: number;
  /** From the sizes of grids and workgroups. */
  readonly launched: number;
  /** What would have been launched if the grids were in workgroups: HIP has them so, profilers have work-items. */
  readonly ofGroups: number;
}

/** The waves of dispatches that were counted, and those that their launches have; undefined where no dispatch tells both. */
export function launchedWaves(r: Recording, rows: Int32Array): LaunchedWaves | undefined {
  const column = r.counters.column('SQ_WAVES_sum') ?? r.counters.column('SQ_WAVES');
  if (column === undefined) return undefined;
  const configs = r.dispatches.config.view();
  const known = new Map<number, number>();
  let [counted, launched, ofGroups] = [0, 0, 0];
  for (const row of rows) {
    const value = row < column.sum.length ? column.sum[row] : Number.NaN;
    const config = configs[row];
    const sizes = r.configs.get(config);
    const waves = known.get(config) ?? wavesOf(sizes);
    known.set(config, waves);
    if (Number.isNaN(value) || waves === 0) continue;
    counted += value;
    launched += waves;
    const [wx, wy, wz, gx, gy, gz] = sizes;
    ofGroups += product(gx, gy, gz) * Math.ceil(product(wx, wy, wz) / WAVE_LANES);
  }
  return launched === 0 ? undefined : { counted, launched, ofGroups };
}

/** Waves of a launch; 0 where its sizes are not recorded. Sizes of more than one dimension are -1 where only their product is. */
export function wavesOf([wx, wy, wz, gx, gy, gz]: ArrayLike<number> & Iterable<number>): number {
  if (!(wx > 0 && gx > 0)) return 0;
  const of = (n: number): number => Math.max(1, n);
  const groups = Math.ceil(gx / wx) * Math.ceil(of(gy) / of(wy)) * Math.ceil(of(gz) / of(wz));
  return groups * Math.ceil(product(wx, wy, wz) / WAVE_LANES);
}

function product(x: number, y: number, z: number): number {
  return x * Math.max(1, y) * Math.max(1, z);
}

/** Launches whose grids are below their workgroups, or no multiples of them, as an example in words. HIP launches whole workgroups. */
export function oddGrid(launches: readonly LaunchEntry[], what: 'below' | 'no multiple'): string | undefined {
  const isOdd = (size: number, group: number): boolean =>
    size > 0 && group > 0 && (what === 'below' ? size < group : size % group !== 0);
  for (const { grid, workgroup } of launches) {
    const at = grid.findIndex((size, axis) => isOdd(size, workgroup[axis]));
    if (at >= 0) return `a grid has ${grid[at]} work-items and a workgroup ${workgroup[at]}`;
  }
  return undefined;
}
