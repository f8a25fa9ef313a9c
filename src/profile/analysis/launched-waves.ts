// The waves that launches have, beside those that were counted: a counter of part of the GPU, of other work, or of nothing shows here.
import type { Recording } from '../recording.ts';

const WAVE_LANES = 64;

/** Waves of the dispatches of a kernel that have the counter `SQ_WAVES`. */
export interface LaunchedWaves {
  readonly counted: number;
  /** From the sizes of grids and workgroups. */
  readonly launched: number;
}

/** The waves of dispatches that were counted, and those that their launches have; undefined where no dispatch tells both. */
export function launchedWaves(r: Recording, rows: Int32Array): LaunchedWaves | undefined {
  const column = r.counters.column('SQ_WAVES_sum') ?? r.counters.column('SQ_WAVES');
  if (column === undefined) return undefined;
  const configs = r.dispatches.config.view();
  const known = new Map<number, number>();
  let [counted, launched] = [0, 0];
  for (const row of rows) {
    const value = row < column.sum.length ? column.sum[row] : Number.NaN;
    const config = configs[row];
    const waves = known.get(config) ?? wavesOf(r.configs.get(config));
    known.set(config, waves);
    if (Number.isNaN(value) || waves === 0) continue;
    counted += value;
    launched += waves;
  }
  return launched === 0 ? undefined : { counted, launched };
}

/** Waves of a launch; 0 where its sizes are not recorded. Sizes of more than one dimension are -1 where only their product is. */
export function wavesOf([wx, wy, wz, gx, gy, gz]: ArrayLike<number> & Iterable<number>): number {
  if (!(wx > 0 && gx > 0)) return 0;
  const of = (n: number): number => Math.max(1, n);
  const groups = Math.ceil(gx / wx) * Math.ceil(of(gy) / of(wy)) * Math.ceil(of(gz) / of(wz));
  return groups * Math.ceil((wx * of(wy) * of(wz)) / WAVE_LANES);
}
