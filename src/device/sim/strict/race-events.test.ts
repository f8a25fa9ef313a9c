import { describe, expect, it } from 'vitest';
import { DETAILS_WORDS } from './race-details.ts';
import { EVENT_BYTES, EVENT_SHIFT, EVENTS_HEAD_BYTES, RaceEvents, type Toucher } from './race-events.ts';

/** A table in memory of so many bytes, and records that name its events. */
function table(bytes: number, words = DETAILS_WORDS) {
  const buffer = new ArrayBuffer(bytes);
  const records = new Uint32Array(words);
  const tables: number[] = [];
  let [next, forgotten] = [EVENTS_HEAD_BYTES, 0];
  const events = new RaceEvents(
    {
      buffer,
      reserve: (size) => {
        if (next + size > bytes) return undefined;
        const at = next;
        next += size;
        tables.push(size);
        return at;
      },
      release: () => {},
      records: () => [records],
      forgotten: () => {
        forgotten++;
      },
    },
    0,
  );
  return { events, records, tables, forgotten: () => forgotten };
}

const who = (n: number): Toucher => ({ actor: 1 + (n % 7), epoch: n % 5, store: 0, pc: 4 * n });
const storeOf = (events: RaceEvents, event: number): number => events.words[4 * event + 3] as number;

describe('RaceEvents', () => {
  it('should give one number to the same access', () => {
    const { events } = table(2 ** 18);
    const first = events.of(who(3), 9);
    expect(first).toBeGreaterThan(0);
    expect(events.of(who(3), 9)).toBe(first);
    expect(events.of(who(3), 10)).not.toBe(first);
    expect(events.of({ ...who(3), epoch: 77 }, 9)).not.toBe(first);
  });

  it('should give events back that no record names, and keep the others', () => {
    const { events, records, tables, forgotten } = table(2 ** 18);
    const kept = [1, 2, 3].map((n) => events.of(who(n), n));
    kept.forEach((event, n) => {
      records[n * 100] = (event << EVENT_SHIFT) | 15;
    });
    const seen = new Set<number>();
    for (let n = 0; n < 100_000; n++) {
      const event = events.of(who(n), 1000 + n);
      expect(storeOf(events, event)).toBe(1000 + n);
      seen.add(event);
    }
    expect(tables).toHaveLength(1);
    expect(kept.some((event) => seen.has(event))).toBe(false);
    expect(kept.map((event) => storeOf(events, event))).toEqual([1, 2, 3]);
    expect(forgotten()).toBe(0);
  });

  it('should become larger where records name most of them', () => {
    const { events, records, tables, forgotten } = table(2 ** 20, 16_384);
    for (let n = 0; n < 16_000; n++) records[n] = (events.of(who(n), n) << EVENT_SHIFT) | 15;
    expect(tables).toEqual([4096, 8192, 16_384].map((count) => count * EVENT_BYTES));
    expect(forgotten()).toBe(0);
    for (let n = 0; n < 16_000; n++) expect(storeOf(events, (records[n] as number) >>> EVENT_SHIFT)).toBe(n);
  });

  it('should forget the records, and say so, where there is no room for what they name', () => {
    const { events, records, forgotten } = table(2 ** 17, 16_384);
    for (let n = 0; n < 4095; n++) records[n] = (events.of(who(n), n) << EVENT_SHIFT) | 15;
    expect(forgotten()).toBe(0);
    const event = events.of(who(5000), 5000);
    expect(forgotten()).toBe(1);
    expect(records.every((word) => word === 0)).toBe(true);
    expect(storeOf(events, event)).toBe(5000);
  });
});
