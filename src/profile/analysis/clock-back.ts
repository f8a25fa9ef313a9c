// Clocks that went back: a queue starts its dispatches in the order of their numbers, so a later one that began long before is of another
// run of the clock.
import { type Recording, Timing } from '../recording.ts';

/** Some profilers number dispatches out of order by microseconds. */
const LEAST_NS = 0.5e9;

/** How far the start times of a queue go back at most, in ns; 0 where they do not, or by less than half a second. */
export function clockBack(r: Recording, domain: number): number {
  const d = r.dispatches;
  /** Of each process by queue. */
  const latest = new Map<number, { id: number; start: number }[]>();
  let last = -1;
  let ofLast: { id: number; start: number }[] = [];
  let most = 0;
  for (let row = 0; row < d.length; row++) {
    const id = d.dispatchId.get(row);
    if (d.timing.get(row) !== Timing.KNOWN || d.domain.get(row) !== domain || id < 0) continue;
    const start = d.start.get(row);
    const process = d.process.get(row);
    if (process !== last) {
      last = process;
      ofLast = latest.get(process) ?? [];
      latest.set(process, ofLast);
    }
    const queue = d.queue.get(row);
    const before = ofLast[queue];
    if (before === undefined) ofLast[queue] = { id, start };
    else if (id > before.id) {
      most = Math.max(most, before.start - start);
      before.id = id;
      before.start = Math.max(before.start, start);
    }
  }
  return most >= LEAST_NS ? most : 0;
}
