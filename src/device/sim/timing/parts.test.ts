// The parts of the machine one by one: queue, servers, caches, LDS phases, residency.
import { describe, expect, it } from 'vitest';
import { Cache } from './cache.ts';
import { chipNamed } from './chips/index.ts';
import { EventQueue } from './event-queue.ts';
import { ldsPasses, ldsPhases } from './lds-phases.ts';
import { byLine, L2Residency, partOf, Residency } from './residency.ts';
import { Server } from './server.ts';
import { PIECE_BITS, Translations } from './translations.ts';

describe('the event queue', () => {
  it('should give waves by time, and by number when times are equal', () => {
    const queue = new EventQueue();
    const times = Array.from({ length: 600 }, (_, n) => (n * 7919) % 97);
    times.forEach((time, id) => {
      queue.push(time, id);
    });
    const order = times.map(() => queue.pop());
    const expected = times.map((_, id) => id).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
    expect(order).toEqual(expected);
    expect(queue.isEmpty).toBe(true);
  });
});

describe('a server', () => {
  it('should serve at its rate', () => {
    const server = new Server();
    let last = 0;
    for (let n = 0; n < 1000; n++) last = server.take(0, 4);
    expect(last).toBeGreaterThan(3990 - 32);
    expect(last).toBeLessThan(4000 + 32);
    expect(server.busy).toBe(4000);
  });
  it('should serve an early request before a late one that was booked first', () => {
    const server = new Server();
    server.take(10_000, 100);
    expect(server.take(64, 4)).toBe(64);
  });
});

describe('a cache', () => {
  const fill = (cache: Cache, line: number): boolean => {
    const found = cache.find(line, false) && cache.has(0);
    if (!found) {
      cache.insert(line);
      cache.fill(0, 0);
    }
    return found;
  };
  it('should keep what fits and lose the least recently used line', () => {
    const cache = new Cache(4, 4);
    for (const line of [1, 2, 3, 4]) expect(fill(cache, line)).toBe(false);
    for (const line of [1, 2, 3, 4]) expect(fill(cache, line)).toBe(true);
    expect([5, 2, 1].map((line) => fill(cache, line))).toEqual([false, true, false]);
  });
  it('should fill and change lines by sectors', () => {
    const cache = new Cache(4, 4);
    cache.find(9, false);
    cache.insert(9);
    cache.fill(1, 50);
    expect([cache.has(0), cache.has(1), cache.ready]).toEqual([false, true, 50]);
    expect([cache.change(0), cache.change(0), cache.change(1)]).toEqual([false, true, false]);
  });
});

describe('LDS passes', () => {
  const passes = (target: 'gfx942' | 'gfx950', bytes: number, isRead: boolean, stride: number): number =>
    ldsPasses(
      Float64Array.from({ length: 64 }, (_, lane) => lane * stride),
      bytes,
      ldsPhases(target === 'gfx950' ? 64 : 32, bytes, isRead),
    );
  // amd-shark-ai lds_summary.md: phases without a conflict; then every lane of a phase in one bank.
  it.each([
    ['gfx942', 4, true, 4, 2],
    ['gfx942', 8, true, 8, 4],
    ['gfx942', 16, true, 16, 8],
    ['gfx942', 16, false, 16, 8],
    ['gfx950', 8, true, 8, 2],
    ['gfx950', 16, true, 16, 4],
    ['gfx942', 4, true, 128, 64],
    ['gfx942', 4, true, 0, 2],
    ['gfx942', 4, true, 8, 4],
  ] as const)('%s, %i bytes, read %s, stride %i: %i', (target, bytes, isRead, stride, expected) => {
    expect(passes(target, bytes, isRead, stride)).toBe(expected);
  });
  it('should leave out lanes that take no part', () => {
    const addresses = new Float64Array(64).fill(Number.NaN);
    expect(ldsPasses(addresses, 4, ldsPhases(32, 4, true))).toBe(0);
  });
});

describe('the memory-side cache', () => {
  it('should hold what was used last, and less of what does not fit', () => {
    const cache = new Residency(100, 1.5);
    const use = (base: number, size: number): number => {
      const regions = new Map([[base, size]]);
      return partOf(cache.use(regions), regions);
    };
    expect(use(1, 60)).toBe(0);
    expect(use(1, 60)).toBe(1);
    use(2, 400);
    expect(use(1, 60)).toBeLessThan(0.2);
    const part = use(2, 400);
    expect(part).toBeGreaterThan(0.05);
    expect(part).toBeLessThan(0.25);
  });
});

describe('what L2 keeps from launch to launch', () => {
  const launch = { entry: 1, grid: [64, 1, 1], workgroups: 64 } as unknown as Parameters<L2Residency['use']>[0];
  const two = { ...launch, entry: 2 };
  const read = new Map([
    [0x1000, 4096],
    [0x4000, 8192],
  ]);
  it('should be all that is only read, however much is written beside it', () => {
    const l2 = new L2Residency(chipNamed('mi300a'));
    const written = new Map([[0x4000, 8192]]);
    expect(l2.use(launch, read, written).size).toBe(0);
    expect([...l2.use(launch, read, written)]).toEqual([[0x1000, { part: 1, own: 1 }]]);
  });
  it('should be a part of it when another launch shape gives dies other parts', () => {
    const l2 = new L2Residency(chipNamed('mi300a'));
    l2.use(launch, read, new Map());
    expect(l2.use(two, read, new Map()).get(0x4000)).toEqual({ part: 1, own: 1 / 6 });
    expect(l2.use(two, read, new Map()).get(0x4000)).toEqual({ part: 1, own: 1 });
  });
  it('should be an allocation that only one of two kernels reads, by its own shape', () => {
    const l2 = new L2Residency(chipNamed('mi300a'));
    const other = new Map([[0x9000, 4096]]);
    l2.use(launch, read, new Map());
    l2.use(two, other, new Map());
    expect(l2.use(launch, read, new Map()).get(0x1000)).toEqual({ part: 1, own: 1 });
  });
  it('should be nothing that was written', () => {
    const l2 = new L2Residency(chipNamed('mi300a'));
    l2.use(launch, new Map(), read);
    expect(l2.use(launch, read, new Map()).size).toBe(0);
  });
  it('should know the lines of allocations', () => {
    const at = byLine(new Map([[0x5040, 65]]), new Map([[0x5040, 0x40]]), (base) => base);
    expect([0, 1, 2, 3].map(at)).toEqual([undefined, 0x5040, 0x5040, undefined]);
  });
});

describe('the translations of a compute unit', () => {
  const chip = chipNamed('mi300x');
  const [entries, refill] = [chip.get('tlb.entries'), chip.get('tlb.refill')];
  /** Delays of accesses to so many pages in turn, three times, all of them used by earlier launches. */
  const delays = (count: number): number[] => {
    const pages = Array.from({ length: count }, (_, n) => 2 ** 21 * n);
    const use = { pages: new Map(pages.map((page, n) => [n, page])), known: new Set(pages) };
    const translations = new Translations(chip, use);
    const lines = pages.map((_, n) => n << PIECE_BITS);
    return [0, 1, 2].flatMap(() => lines.map((line) => translations.of(0, line, 1000) - 1000));
  };
  it('should all be there when they fit', () => {
    expect(new Set(delays(entries))).toEqual(new Set([0]));
  });
  it('should be waited for in part when they do not', () => {
    const all = delays(4 * entries);
    expect(new Set(all)).toEqual(new Set([0, refill]));
    // Three quarters do not fit; a little more are missed because any may go.
    const part = all.slice(4 * entries).filter((d) => d > 0).length / (8 * entries);
    expect(part).toBeGreaterThan(0.7);
  });
  it('should be kept by one unit alone, and first be looked up in memory', () => {
    const use = { pages: new Map([[0, 0]]), known: new Set<number>() };
    const translations = new Translations(chip, use);
    expect(translations.of(0, 0, 0)).toBe(chip.get('tlb.miss'));
    expect(translations.of(0, 0, 5000)).toBe(5000);
    expect(translations.of(1, 0, 6000)).toBe(6000 + refill);
    expect(translations.ofScalar(2, 0, 7000)).toBe(7000 + refill);
  });
});
