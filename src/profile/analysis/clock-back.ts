// Clocks that went back: a queue starts its dispatches in the order of their numbers, so a later one that began long before is of another
// run of the clock.
import { type Recording, Timing } from '../recording.ts';

/** Some profilers number dispatches out of order by microseconds. */
const LEAST_NS = 0.5e9;

/** How far the start times of a queue go back at most, in ns; 0 where they do not, or by less than half a second. */
export function clockBack(r: Recording, domain: number): number {
  const d = r.dispatches;
  const [start, timing, queue, process] = [d.start.view(), d.timing.view(), d.queue.view(), d.process.view()];
  const [domains, ids] = [d.domain.view(), d.dispatchId.view()];
  const latest = new Map<number, { id: number; start: number }>();
  let most = 0;
  for (let row = 0; row < d.length; row++) {
    if (timing[row] !== Timing.KNOWN || domains[row] !== domain || ids[row] < 0) continue;
    const key = process[row] * r.queues.size + queue[row];
    const before = latest.get(key);
    if (before === undefined) latest.set(key, { id: ids[row], start: start[row] });
    else if (ids[row] > before.id) {
      most = Math.max(most, before.start - start[row]);
      before.id = ids[row];
      before.start = Math.max(before.start, start[row]);
    }
  }
  return most >= LEAST_NS ? most : 0;
}
