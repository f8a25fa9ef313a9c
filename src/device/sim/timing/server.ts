// A resource that serves requests at a fixed rate. Requests come in the order in which waves issue, not in the order in which they arrive,
// so capacity is booked in slices of time: an early request still finds room before a late one that was booked first.

/** Cycles of a slice. */
const SLICE = 32;
const SLICES = 1 << 11;

export class Server {
  /** Booked cycles by slice, and the slice that each place stands for. */
  private readonly booked = new Float64Array(SLICES);
  private readonly slice = new Float64Array(SLICES).fill(-1);
  /** All slices from `fullFrom` to before `fullTo` are full. */
  private fullFrom = 0;
  private fullTo = 0;
  busy = 0;
  /** End of the last booking. */
  last = 0;

  /** Books `cycles` at `time` or as soon after as there is room; gives when the service begins. */
  take(time: number, cycles: number): number {
    this.busy += cycles;
    let n = Math.floor(time / SLICE);
    if (n >= this.fullFrom && n < this.fullTo) n = this.fullTo;
    const first = n;
    while (this.bookedIn(n) >= SLICE) n++;
    if (first <= this.fullTo && first >= this.fullFrom && n > this.fullTo) this.fullTo = n;
    else if (n > first + 64) {
      this.fullFrom = first;
      this.fullTo = n;
    }
    const start = Math.max(time, n * SLICE + this.bookedIn(n));
    let left = cycles;
    for (let at = n; left > 0; at++) {
      const room = SLICE - this.bookedIn(at);
      const part = Math.min(left, Math.max(room, 0));
      this.booked[at % SLICES] = SLICE - room + part;
      left -= part;
    }
    if (start + cycles > this.last) this.last = start + cycles;
    return start;
  }

  private bookedIn(slice: number): number {
    const place = slice % SLICES;
    if (this.slice[place] !== slice) {
      // What a place stood for 65,000 cycles ago is over.
      this.slice[place] = slice;
      this.booked[place] = 0;
    }
    return this.booked[place] as number;
  }
}
