// A time from counted cycles, for kernels of which no call has a usable time: rocprof-compute folders that went through a spreadsheet have
// timestamps of five digits. It is shown beside the times and takes no part in them. Over AMD's two published copies of a vector, it is
// 0.78 to 1.53 times the measured one (MI200), and the passes differ by a factor of five (MI300X): the least of them is taken.
import { known, type Measure, unknown } from '../measure.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';

/** Cycles in which the GPU was busy, summed over its XCCs; the second counts all cycles of the run of a dispatch. */
const CYCLES = ['GRBM_GUI_ACTIVE', 'GRBM_COUNT'];

/** The mean time in ns of the calls at `rows`, of which `timed` have a measured one, by cycles at the highest clock. */
export function cyclesTime(r: Recording, rows: Int32Array, agent: Agent | undefined, timed: number): Measure {
  if (r.simulated !== undefined) return unknown('simulated; counters of cycles are of the model');
  if (timed > 0) return unknown('calls have measured times');
  if (agent?.maxClockMhz === undefined) return unknown('the engine clock is not recorded');
  if (agent.xccCount === undefined) return unknown('the number of XCCs is not recorded');
  for (const counter of CYCLES) {
    const columns = r.counters.names
      .filter((name) => name === counter || name.endsWith(`:${counter}`))
      .flatMap((name) => r.counters.column(name) ?? []);
    let [sum, counted] = [0, 0];
    for (const row of rows) {
      const values = columns.map(({ sum: values }) => values[row]).filter((value) => value > 0);
      if (values.length === 0) continue;
      sum += Math.min(...values);
      counted++;
    }
    if (counted > 0) return known((1000 * sum) / counted / agent.xccCount / agent.maxClockMhz);
  }
  return unknown(`not collected: ${CYCLES.join(' or ')}`);
}
