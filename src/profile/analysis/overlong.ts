// Dispatches that cannot have been as long as their times say: they go on while later ones of their queue begin and end.
import { type Recording, Timing } from '../recording.ts';

/** A queue may run work beside a dispatch that does not end. From a minute on a damaged time is likelier. */
const LEAST_NS = 60e9;
/** Such dispatches that are looked at: each is compared with all others. */
const MOST = 16;

/** A dispatch that is too long to be true. */
export interface Overlong {
  readonly row: number;
  /** What is impossible of it, as a part of a sentence. */
  readonly what: string;
}

/** The dispatches of at least a minute in which others of their queue that have higher numbers began and ended. */
export function overlongDispatches(r: Recording): Overlong[] {
  const d = r.dispatches;
  const found: Overlong[] = [];
  const isKnown = (row: number): boolean => d.timing.get(row) === Timing.KNOWN;
  for (let row = 0; row < d.length && found.length < MOST; row++) {
    const [start, end] = [d.start.get(row), d.end.get(row)];
    if (end - start < LEAST_NS || !isKnown(row)) continue;
    let within = 0;
    for (let other = 0; other < d.length; other++) {
      const isLater =
        d.start.get(other) > start && d.end.get(other) < end && d.dispatchId.get(other) > d.dispatchId.get(row);
      const isOfQueue = d.queue.get(other) === d.queue.get(row) && d.process.get(other) === d.process.get(row);
      if (isLater && isOfQueue && isKnown(other) && d.domain.get(other) === d.domain.get(row)) within++;
    }
    if (within === 0) continue;
    const seconds = ((end - start) / 1e9).toPrecision(3);
    found.push({
      row,
      what: `dispatch ${d.dispatchId.get(row)} takes ${seconds} s, and ${within} later ones of its queue begin and end in that time`,
    });
  }
  return found;
}
