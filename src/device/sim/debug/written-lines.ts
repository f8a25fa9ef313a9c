// Exactly which lines of memory a dispatch has stored to since its past is kept. Going back changes nothing else back: what the host and other kernels
// have written meanwhile stays, the packets of their queues among it.

/** Bytes of a line: a dword of scratch in all lanes of a wave. */
export const LINE = 256;

const GROUP = 256;

/** Lines by groups of so many. */
export class WrittenLines {
  private readonly groups = new Map<number, Uint32Array>();
  private hasAll = false;

  add(line: number): void {
    const key = Math.floor(line / GROUP);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = new Uint32Array(GROUP / 32);
      this.groups.set(key, group);
    }
    const bit = line % GROUP;
    group[bit >>> 5] = (group[bit >>> 5] as number) | (1 << (bit & 31));
  }

  addAll(): void {
    this.hasAll = true;
  }

  /** Calls a function with the parts of bytes at an offset that have been stored to. The offset is that of a line. */
  forParts(offset: number, size: number, call: (from: number, to: number) => void): void {
    if (this.hasAll) {
      call(offset, offset + size);
      return;
    }
    const end = offset + size;
    for (let at = offset; at < end; ) {
      const line = at / LINE;
      const group = this.groups.get(Math.floor(line / GROUP));
      const bit = line % GROUP;
      const next = at + (group === undefined ? (GROUP - bit) * LINE : LINE);
      if (group !== undefined && ((group[bit >>> 5] as number) & (1 << (bit & 31))) !== 0)
        call(at, Math.min(end, next));
      at = next;
    }
  }
}
