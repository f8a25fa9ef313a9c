// What single dispatches contradict: a counter that wrapped, or was read too late, in one of a thousand dispatches does not show in their sum.
import { CHIPS } from '../arch/chips.ts';
import { type Recording, Timing } from '../recording.ts';
import type { Agent } from '../records.ts';
import { wavesOf } from './launched-waves.ts';
import { PARTS } from './plausible.ts';

/** How far the counters of one dispatch may be apart. They are of several runs, which may differ. */
const FACTOR = 2;
/** The same of counters that are held against times, which may be of a run without counters. */
const TIME_FACTOR = 20;
/** Shorter dispatches are of few cycles, and clocks change while they run. */
const LEAST_NS = 2000;
/** The lowest clock in MHz that a GPU has while it works. */
const LEAST_MHZ = 100;

/** Counters that no dispatch leaves at zero: it takes cycles, and its waves execute instructions to their end. */
const NEVER_ZERO =
  /(?:^|:)(?:GRBM_COUNT|GRBM_GUI_ACTIVE|SQ_CYCLES|SQ_BUSY_CYCLES|SQ_WAVE_CYCLES|SQ_INSTS)$|^SQ_LEVEL_WAVES:SQ_ACCUM_PREV_HIRES$/;
/** Instructions of waves, and how many of a kind a CU issues a cycle at most: one of each of its four SIMDs. */
const INSTRUCTIONS = /^SQ_INSTS_[A-Z0-9_]+(?<!MOPS_[A-Z0-9]+)$/;
const ISSUED = 4;

/** One sentence for each kind of contradiction within dispatches of a kernel. `agent` is the GPU that they ran on. */
export function contradictingRows(r: Recording, rows: Int32Array, agent: Agent | undefined): string[] {
  const column = (name: string): Float64Array | undefined =>
    (r.counters.column(`${name}_sum`) ?? r.counters.column(name))?.sum;
  const d = r.dispatches;
  const found: string[] = [];
  const check = (what: (row: number) => string | undefined): void => {
    let [first, n] = ['', 0];
    for (const row of rows) {
      const text = what(row);
      if (text === undefined) continue;
      if (n++ === 0) first = `in dispatch ${d.dispatchId.get(row)} ${text}`;
    }
    if (n > 0) found.push(n === 1 ? first : `${first}, and ${n - 1} more are alike`);
  };
  for (const [parts, wholeName, slack = FACTOR] of PARTS) {
    const factor = Math.max(FACTOR, slack);
    const whole = column(wholeName);
    const columns = parts.flatMap((name) => column(name) ?? []);
    if (whole === undefined || columns.length === 0) continue;
    check((row) => {
      const sum = columns.reduce((total, part) => total + (part[row] || 0), 0);
      if (!(sum > factor * whole[row])) return undefined;
      return `${sum} of a part of ${wholeName} were counted, and ${whole[row]} of the whole`;
    });
  }
  const waves = column('SQ_WAVES');
  // From RDNA on a wave has 32 lanes or 64, which no table of counters tells.
  if (waves !== undefined && CHIPS[agent?.arch ?? ''] !== undefined) {
    check((row) => {
      const launched = wavesOf(r.configs.get(d.config.get(row)));
      const isFar = launched > 0 && (waves[row] * FACTOR < launched || waves[row] > FACTOR * launched);
      return isFar ? `${waves[row]} waves were counted, and ${launched} launched` : undefined;
    });
  }
  for (const name of r.counters.names) {
    const values = NEVER_ZERO.test(name) ? column(name) : undefined;
    if (values === undefined) continue;
    check((row) => (values[row] === 0 ? `${name} is 0, as if nothing had run` : undefined));
  }
  const [clock, xccs, cus] = [agent?.maxClockMhz, agent?.xccCount, agent?.cuCount];
  if (clock !== undefined && cus !== undefined) {
    for (const name of r.counters.names) {
      const values = INSTRUCTIONS.test(name) ? column(name) : undefined;
      if (values === undefined) continue;
      check((row) => {
        const ns = d.end.get(row) - d.start.get(row);
        if (d.timing.get(row) !== Timing.KNOWN || ns < LEAST_NS) return undefined;
        const most = (clock * ns * cus * ISSUED * TIME_FACTOR) / 1e3;
        return values[row] > most ? `${values[row]} of ${name} were counted within ${ns} ns` : undefined;
      });
    }
  }
  const active = column('GRBM_GUI_ACTIVE');
  if (active !== undefined && clock !== undefined && xccs !== undefined) {
    check((row) => {
      const ns = d.end.get(row) - d.start.get(row);
      if (d.timing.get(row) !== Timing.KNOWN || ns < LEAST_NS || !(active[row] >= 0)) return undefined;
      // One XCC may have been counted, or all of them.
      const [least, most] = [(LEAST_MHZ * ns) / 1e3 / TIME_FACTOR, (clock * xccs * ns * TIME_FACTOR) / 1e3];
      if (active[row] >= least && active[row] <= most) return undefined;
      return `the GPU was busy for ${active[row]} cycles (GRBM_GUI_ACTIVE) and ran for ${ns} ns`;
    });
  }
  return found;
}
