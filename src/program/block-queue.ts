// The work list of a data flow analysis: blocks to look at again, each at most once, in address order.

/** Blocks waiting to be looked at, the lowest address first: loops then settle in few rounds. */
export class BlockQueue {
  private readonly heap: number[] = [];

  push(value: number): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as number) <= value) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = value;
  }

  pop(): number | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
      if ((heap[child] as number) >= last) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
