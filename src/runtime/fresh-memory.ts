// What programs find in memory that the device has just given them, and which bytes of it were written by the time they gave it back.
import { type Pattern, patternBytes } from '../base/index.ts';

/** Bytes after which the pattern repeats: a prime, so that rows and tiles of tensors do not meet the same bytes. */
const PERIOD = 1_048_573;

/** An allocation that has ended. */
export interface WrittenMemory {
  /** Number of the allocation, in the order in which the program made them. */
  readonly order: number;
  readonly bytes: number;
  /** Bit `n & 7` of byte `n >> 3`: whether byte n was written. What was written with the byte that it held does not show. */
  readonly written: Uint8Array;
  /** What it held, where contents are kept. */
  readonly content: Uint8Array | undefined;
}

/** What lies in new memory. */
export interface FreshPattern {
  readonly pattern: Pattern;
  readonly seed: number;
  /** Keep what allocations held when they ended. */
  readonly keepContents?: boolean | undefined;
}

/** Fills allocations with a pattern, and compares them with it when they end. */
export class FreshMemory {
  private readonly pattern: Uint8Array;
  private readonly isFilled: boolean;
  private readonly keepContents: boolean;
  private readonly live = new Map<number, number>();
  private readonly all: WrittenMemory[] = [];
  private count = 0;

  constructor({ pattern, seed, keepContents = false }: FreshPattern) {
    this.keepContents = keepContents;
    this.pattern = patternBytes(PERIOD, seed, pattern);
    // The device's memory is zero when it is given, and the strict mode takes what a host writes for written.
    this.isFilled = pattern !== 'zeros';
  }

  /** Allocations that have ended, in the order in which they began. */
  get ended(): readonly WrittenMemory[] {
    return this.all.toSorted((a, b) => a.order - b.order);
  }

  /** An allocation begins: `bytes` are its memory. */
  begin(address: number, bytes: Uint8Array): void {
    this.live.set(address, this.count++);
    if (!this.isFilled) return;
    for (let at = 0; at < bytes.length; at += PERIOD) {
      bytes.set(this.pattern.subarray(0, Math.min(PERIOD, bytes.length - at)), at);
    }
  }

  /** An allocation ends, before its memory is given to anybody else. An address that `begin` does not know is ignored. */
  end(address: number, bytes: () => Uint8Array): void {
    const order = this.live.get(address);
    if (order === undefined) return;
    this.live.delete(address);
    const content = bytes();
    const kept = this.keepContents ? content.slice() : undefined;
    this.all.push({ order, bytes: content.length, written: this.writtenIn(content), content: kept });
  }

  private writtenIn(bytes: Uint8Array): Uint8Array {
    const { pattern } = this;
    const mask = new Uint8Array(Math.ceil(bytes.length / 8));
    for (let from = 0; from < bytes.length; from += PERIOD) {
      const count = Math.min(PERIOD, bytes.length - from);
      for (let n = 0; n < count; n++) {
        if (bytes[from + n] === pattern[n]) continue;
        const at = from + n;
        mask[at >> 3] = (mask[at >> 3] as number) | (1 << (at & 7));
      }
    }
    return mask;
  }
}
