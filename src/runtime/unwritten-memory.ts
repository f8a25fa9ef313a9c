// Memory of the device that is copied to the host though nothing has written it: under `--check` new memory of programs begins with a pattern,
// and what still has it when the host gets it was never written, whoever could have written it.

import type { RunFinding } from '../device/sim/strict/findings.ts';
import { finding, RUN_RULES } from '../finding/index.ts';

/** A word that programs do not write by chance: as a float it is -2.6e30, as an integer -221142629. */
const UNWRITTEN = 0xf2d1a19b;
const WORD = 4;
/** Larger allocations stay zero: filling them takes a quarter of a second and the host's memory. */
const MOST_BYTES = 64 * 2 ** 20;

const RULE = 'memory/uninitialised-copy';

const words = (bytes: Uint8Array): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / WORD));

export class UnwrittenMemory {
  /** Live allocations that were filled, and their sizes; a reported one is not reported again. */
  private readonly filled = new Map<number, number>();

  /** An allocation begins; `bytes` are its memory, aligned to words. */
  begin(base: number, bytes: Uint8Array): void {
    if (bytes.byteLength > MOST_BYTES) return;
    words(bytes).fill(UNWRITTEN);
    this.filled.set(base, bytes.byteLength);
  }

  end(base: number): void {
    this.filled.delete(base);
  }

  /** Whether bytes of an allocation that begins at `base` are looked at. */
  has(base: number): boolean {
    return this.filled.has(base);
  }

  /** The host has got `bytes`, at an offset of the allocation at `base`; `offset` is a multiple of a word. */
  copied(base: number, offset: number, bytes: Uint8Array): RunFinding | undefined {
    const size = this.filled.get(base);
    if (size === undefined) return undefined;
    let count = 0;
    let first = -1;
    words(bytes).forEach((word, n) => {
      if (word !== UNWRITTEN) return;
      if (first < 0) first = n * WORD;
      count += WORD;
    });
    if (first < 0) return undefined;
    this.filled.delete(base);
    const where = count === bytes.length ? '' : `, the first at byte ${first} of the copy`;
    return {
      ...finding({
        rule: RULE,
        severity: RUN_RULES[RULE].severity,
        message: `${count} of ${bytes.length} bytes that are copied to the host were never written${where}.`,
        place: {},
        advice: 'Write them in a kernel or with hipMemset, or copy less.',
      }),
      rule: RULE,
      kernel: '',
      workgroup: undefined,
      wavefront: undefined,
      lane: undefined,
      space: 'global',
      address: base + offset + first,
      allocation: { label: 'allocation', base, size, distance: 0 },
      count: 1,
    };
  }
}
