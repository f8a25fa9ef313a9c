// What the memory-side cache holds between launches: allocations by their last use. A launch that uses more than the cache holds finds
// as large a part of it there as fits.
import type { Launch } from '../dispatch/launch.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Chip } from './chip.ts';
import { LINE_UNIT_BITS } from './record.ts';
import { PIECE_BITS } from './translations.ts';

/** Allocations by address: bytes of each. */
export type Regions = ReadonlyMap<number, number>;

const bytesOf = (regions: Regions): number => [...regions.values()].reduce((sum, size) => sum + size, 0);

export class Residency {
  private readonly capacity: number;
  /** Bytes of allocations in order of last use, by their address. */
  private readonly used = new Map<number, number>();
  /**
   * A set of allocations larger than the cache keeps less than the part that would fit, because each pass over it evicts what the next one
   * wants first: that part to the power of `loss`.
   */
  private readonly loss: number;

  constructor(capacity: number, loss: number) {
    this.capacity = capacity;
    this.loss = loss;
  }

  /** Uses allocations; gives the part of each of `asked`, which are some of them, that was in the cache. */
  use(regions: Regions, asked = regions): Map<number, number> {
    const parts = new Map<number, number>();
    if (this.capacity === 0) return parts;
    const wanted = bytesOf(regions);
    // What has been used since an allocation's last use, itself included, must fit.
    let since = 0;
    for (const [base, size] of [...this.used].reverse()) {
      since += size;
      if (asked.has(base)) parts.set(base, Math.min(1, this.capacity / Math.max(since, wanted)) ** this.loss);
    }
    for (const [base, size] of regions) {
      this.used.delete(base);
      this.used.set(base, size);
    }
    return parts;
  }

  /** The allocation is in the cache no more. */
  forget(base: number): void {
    this.used.delete(base);
  }

  /** A copy or fill has gone through the cache. */
  touch(base: number, size: number): void {
    this.use(new Map([[base, size]]));
  }
}

/** The part of the bytes of all allocations, from the part of each. */
export function partOf(parts: ReadonlyMap<number, number>, regions: Regions): number {
  const bytes = bytesOf(regions);
  let found = 0;
  for (const [base, size] of regions) found += size * (parts.get(base) ?? 0);
  return bytes === 0 ? 1 : found / bytes;
}

/** The allocations that lines belong to: address and size. */
export function regionsOf(memory: DeviceMemory, lines: Iterable<number>): Map<number, number> {
  const out = new Map<number, number>();
  const chunks = new Set<number>();
  for (const line of lines) chunks.add(line >>> (12 - LINE_UNIT_BITS));
  for (const chunk of chunks) {
    const address = memory.addressOf(chunk * 4096);
    const region = address === undefined ? undefined : memory.allocationAt(address);
    if (region !== undefined) out.set(region.base, region.size);
  }
  return out;
}

/** Where allocations lie in device memory, in bytes, by their address. */
export function offsetsOf(memory: DeviceMemory, regions: Regions): Map<number, number> {
  const out = new Map<number, number>();
  for (const base of regions.keys()) {
    const region = memory.find(base, 1);
    if (region !== undefined) out.set(base, region.offset + base - region.base);
  }
  return out;
}

/** What is known of the allocation that a line (of LINE_UNIT_BITS) is in. */
export function byLine<T>(
  regions: Regions,
  offsets: ReadonlyMap<number, number>,
  known: (base: number) => T,
): (line: number) => T | undefined {
  const spans = [...regions].map(([base, size]) => {
    const from = offsets.get(base) ?? 0;
    const last = Math.floor((from + size - 1) / 2 ** LINE_UNIT_BITS);
    return { first: Math.floor(from / 2 ** LINE_UNIT_BITS), last, value: known(base) };
  });
  return (line) => spans.find(({ first, last }) => line >= first && line <= last)?.value;
}

/** The page of each piece that lines belong to: allocations have pages of their own. */
export function pagesOf(memory: DeviceMemory, lines: Iterable<number>, bytes: number): Map<number, number> {
  const out = new Map<number, number>();
  for (const line of lines) {
    const piece = line >>> PIECE_BITS;
    if (out.has(piece)) continue;
    const address = memory.addressOf(piece * 4096);
    const region = address === undefined ? undefined : memory.find(address, 1);
    if (address !== undefined && region !== undefined)
      out.set(piece, region.base + Math.floor((address - region.base) / bytes) * bytes);
  }
  return out;
}

/** What L2 holds of an allocation. */
export interface Held {
  /** The part that is in the L2 of any die. */
  readonly part: number;
  /** The part that a die finds in its own L2. */
  readonly own: number;
}

/**
 * What L2 keeps of earlier launches: what they only read and every die asks for again. Another launch shape gives dies other parts of an
 * allocation, so that only one of them has the right one. Source: MI300A atax, whose second kernel finds the matrix in L2 up to 1024 × 1024.
 */
export class L2Residency {
  private readonly cache: Residency;
  /** For launches of one workgroup, which see the cache of their die. */
  private readonly one: Residency;
  private readonly dies: number;
  /** The shape of the last launch that read an allocation. */
  private readonly shapes = new Map<number, string>();

  constructor(chip: Chip) {
    this.dies = chip.get('xccs');
    this.one = new Residency(chip.get('l2.bytes'), chip.get('l2.loss'));
    this.cache = new Residency(chip.get('l2.bytes') * this.dies, chip.get('l2.loss'));
  }

  /** What of the allocations only read is there; then the launch's own are. */
  use(launch: Launch, read: Regions, written: Regions): Map<number, Held> {
    const isOneDie = launch.workgroups === 1;
    const shape = isOneDie ? 'one' : `${launch.entry} ${launch.grid.join()}`;
    const clean = new Map([...read].filter(([base]) => !written.has(base)));
    // What is written takes its place, but has been written back when the launch ends.
    const used = new Map([...clean, ...written]);
    const ofAll = this.cache.use(used, clean);
    const ofOne = this.one.use(used, clean);
    for (const base of written.keys()) {
      this.cache.forget(base);
      this.one.forget(base);
    }
    const held = new Map<number, Held>();
    for (const [base, part] of isOneDie ? ofOne : ofAll) {
      held.set(base, { part, own: this.shapes.get(base) === shape ? part : part / this.dies });
    }
    for (const base of clean.keys()) this.shapes.set(base, shape);
    return held;
  }
}
