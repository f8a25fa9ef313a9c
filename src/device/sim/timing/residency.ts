// What the memory-side cache holds between launches: allocations by their last use. A launch that uses more than the cache holds finds
// as large a part of it there as fits.
import type { Launch } from '../dispatch/launch.ts';
import { gpuWindow } from '../state/layout.ts';
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

  /** Uses allocations; gives the part of the bytes of `asked`, which are some of them, that was in the cache. */
  use(regions: Regions, asked = regions): number {
    if (this.capacity === 0) return 0;
    const wanted = bytesOf(regions);
    let found = 0;
    // What has been used since an allocation's last use, itself included, must fit.
    let since = 0;
    for (const [base, size] of [...this.used].reverse()) {
      since += size;
      if (asked.has(base)) found += size * Math.min(1, this.capacity / Math.max(since, wanted)) ** this.loss;
    }
    for (const [base, size] of regions) {
      this.used.delete(base);
      this.used.set(base, size);
    }
    const bytes = bytesOf(asked);
    return bytes === 0 ? 1 : Math.min(1, found / bytes);
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

/** The allocations that lines belong to: address and size. */
export function regionsOf(memory: DeviceMemory, lines: Iterable<number>): Map<number, number> {
  const out = new Map<number, number>();
  const chunks = new Set<number>();
  for (const line of lines) chunks.add(line >>> (12 - LINE_UNIT_BITS));
  for (const chunk of chunks) {
    const region = memory.allocationAt(gpuWindow.base + chunk * 4096);
    if (region !== undefined) out.set(region.base, region.size);
  }
  return out;
}

/** Whether a line (of LINE_UNIT_BITS) is in one of the allocations; `window` is the address of line 0. */
export function linesOfRegions(regions: Regions, window: number): (line: number) => boolean {
  const spans = [...regions].map(([base, size]) => {
    const from = base - window;
    return [Math.floor(from / 2 ** LINE_UNIT_BITS), Math.floor((from + size - 1) / 2 ** LINE_UNIT_BITS)] as const;
  });
  return (line) => spans.some(([first, last]) => line >= first && line <= last);
}

/** The page of each piece that lines belong to: allocations have pages of their own. */
export function pagesOf(memory: DeviceMemory, lines: Iterable<number>, bytes: number): Map<number, number> {
  const out = new Map<number, number>();
  for (const line of lines) {
    const piece = line >>> PIECE_BITS;
    if (out.has(piece)) continue;
    const address = gpuWindow.base + piece * 4096;
    const region = memory.find(address, 1);
    if (region !== undefined) out.set(piece, region.base + Math.floor((address - region.base) / bytes) * bytes);
  }
  return out;
}

/**
 * What L2 keeps of earlier launches: what they only read and every die asks for again. Another launch shape gives dies other parts, so
 * that only one of them has the right one. Source: MI300A atax, whose second kernel finds the matrix in L2 up to 1024 × 1024.
 */
export class L2Residency {
  private readonly cache: Residency;
  /** For launches of one workgroup, which see the cache of their die. */
  private readonly one: Residency;
  private readonly dies: number;
  private last = '';

  constructor(chip: Chip) {
    this.dies = chip.get('xccs');
    this.one = new Residency(chip.get('l2.bytes'), chip.get('l2.loss'));
    this.cache = new Residency(chip.get('l2.bytes') * this.dies, chip.get('l2.loss'));
  }

  /** Part of the lines only read that are there; then the launch's own are. */
  use(launch: Launch, read: Regions, written: Regions): number {
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
    const part = this.last === shape ? 1 : 1 / this.dies;
    this.last = shape;
    return clean.size === 0 ? 0 : part * (isOneDie ? ofOne : ofAll);
  }
}
