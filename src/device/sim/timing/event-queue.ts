// Waves by the time of their next attempt to issue; equal times in order of their numbers, so that the order never depends on chance.

export class EventQueue {
  private times = new Float64Array(256);
  private ids = new Int32Array(256);
  private size = 0;

  get isEmpty(): boolean {
    return this.size === 0;
  }

  push(time: number, id: number): void {
    if (this.size === this.times.length) this.grow();
    const { times, ids } = this;
    let at = this.size++;
    while (at > 0) {
      const up = (at - 1) >>> 1;
      const t = times[up] as number;
      if (t < time || (t === time && (ids[up] as number) <= id)) break;
      times[at] = t;
      ids[at] = ids[up] as number;
      at = up;
    }
    times[at] = time;
    ids[at] = id;
  }

  /** Time of the first. */
  get time(): number {
    return this.times[0] as number;
  }

  /** Takes out the first; the queue must not be empty. */
  pop(): number {
    const { times, ids } = this;
    const first = ids[0] as number;
    const size = --this.size;
    const time = times[size] as number;
    const id = ids[size] as number;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= size) break;
      if (down + 1 < size && this.isBefore(down + 1, down)) down++;
      const t = times[down] as number;
      if (time < t || (time === t && id <= (ids[down] as number))) break;
      times[at] = t;
      ids[at] = ids[down] as number;
      at = down;
    }
    times[at] = time;
    ids[at] = id;
    return first;
  }

  private isBefore(a: number, b: number): boolean {
    const x = this.times[a] as number;
    const y = this.times[b] as number;
    return x < y || (x === y && (this.ids[a] as number) < (this.ids[b] as number));
  }

  private grow(): void {
    const times = new Float64Array(2 * this.times.length);
    times.set(this.times);
    this.times = times;
    const ids = new Int32Array(2 * this.ids.length);
    ids.set(this.ids);
    this.ids = ids;
  }
}
