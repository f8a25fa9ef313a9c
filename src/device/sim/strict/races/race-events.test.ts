import { describe, expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { DETAILS_WORDS } from './race-details.ts';
import {
  EVENT_BYTES,
  EVENT_SHIFT,
  EVENTS_BEFORE,
  EVENTS_BEHIND,
  EVENTS_HEAD_BYTES,
  EVENTS_OWN,
  RaceEvents,
  type Toucher,
} from './race-events.ts';

/** A table in memory of so many bytes, and records that name its events. */
function table(bytes: number, words = DETAILS_WORDS) {
  const buffer = new ArrayBuffer(bytes);
  const records = new Uint32Array(words);
  const tables: number[] = [];
  let [next, forgotten] = [EVENTS_HEAD_BYTES, 0];
  const events = new RaceEvents(
    {
      buffer: () => buffer,
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
    const { events } = table(2 ** 19);
    const first = events.of(who(3), 9);
    expect(first).toBeGreaterThan(0);
    expect(events.of(who(3), 9)).toBe(first);
    expect(events.of(who(3), 10)).not.toBe(first);
    expect(events.of({ ...who(3), epoch: 77 }, 9)).not.toBe(first);
  });

  it('should give events back that no record names, and keep the others in their order', () => {
    const { events, records, tables, forgotten } = table(2 ** 19);
    const place = (n: number): number => (n * 37) % records.length;
    for (let n = 0; n < 100_000; n++) {
      const event = events.of(who(n), 1000 + n);
      expect(storeOf(events, event)).toBe(1000 + n);
      if (n % 1000 === 7) records[place(n)] = (event << EVENT_SHIFT) | 15;
    }
    expect(tables).toHaveLength(1);
    const named = Array.from({ length: 100 }, (_, n) => records[place(1000 * n + 7)] as number);
    expect(named.map((word) => storeOf(events, word >>> EVENT_SHIFT))).toEqual(named.map((_, n) => 1000 * n + 1007));
    expect(named.every((word, n) => n === 0 || word > (named[n - 1] as number))).toBe(true);
    expect(forgotten()).toBe(0);
  });

  it('should become larger where records name most of them', () => {
    const { events, records, tables, forgotten } = table(2 ** 21, 65_536);
    for (let n = 0; n < 60_000; n++) records[n] = (events.of(who(n), n) << EVENT_SHIFT) | 15;
    expect(tables).toEqual([16_384, 32_768, 65_536].map((count) => count * EVENT_BYTES));
    expect(forgotten()).toBe(0);
    for (let n = 0; n < 60_000; n++) expect(storeOf(events, (records[n] as number) >>> EVENT_SHIFT)).toBe(n);
  });

  it('should forget the records, and say so, where there is no room for what they name', () => {
    const { events, records, forgotten } = table(2 ** 19, 65_536);
    for (let n = 0; n < 16_383; n++) records[n] = (events.of(who(n), n) << EVENT_SHIFT) | 15;
    expect(forgotten()).toBe(0);
    const event = events.of(who(50_000), 50_000);
    expect(forgotten()).toBe(1);
    expect(records.every((word) => word === 0)).toBe(true);
    expect(storeOf(events, event)).toBe(50_000);
  });

  it('should say by numbers what comes before what the wavefront that runs does', () => {
    const { events } = table(2 ** 19);
    const bounds = (): number[] => [EVENTS_BEFORE, EVENTS_BEHIND, EVENTS_OWN].map((at) => events.bound(at));
    const access = (actor: number, epoch: number): number =>
      events.of({ actor, epoch, store: 0, pc: 16 }, 0) << EVENT_SHIFT;
    events.run(1);
    const first = access(1, 0);
    events.run(2);
    const second = access(2, 0);
    expect(bounds()).toEqual([first, first, second]);
    events.passBarrier(0);
    events.run(1);
    const third = access(1, 1);
    // Both are of the workgroup, before its barrier.
    expect(bounds()).toEqual([first, third, third]);
    events.run(17);
    const other = access(17, 0);
    expect(bounds()).toEqual([other, other, other]);
    events.run(1);
    // A page is opened: somebody's access gets an event later than it was.
    const late = access(18, 0);
    const next = access(1, 1) === third ? late + (1 << EVENT_SHIFT) : 0;
    expect(bounds()).toEqual([next, next, next]);
  });
});

/** Two workgroups store bytes, each store an event; the second one then reads what the first one stored, early and late. */
const storesAndReads = (stores: number, span: number): string => `v_lshrrev_b32_e32 v4, 2, v1
s_mul_i32 s10, s2, ${span}
v_mov_b32_e32 v8, 1
s_mov_b32 s6, 0
.Lagain:
s_lshl_b32 s7, s6, 6
s_and_b32 s7, s7, ${span - 1}
v_add_u32_e32 v5, s7, v4
v_add_u32_e32 v5, s10, v5
global_store_byte v5, v8, s[4:5]
s_waitcnt vmcnt(0)
s_add_u32 s6, s6, 1
s_cmp_lt_u32 s6, ${stores}
s_cbranch_scc1 .Lagain
s_cmp_eq_u32 s2, 0
s_cbranch_scc1 .Lfirst
v_mov_b32_e32 v5, 64
global_load_ubyte v9, v5, s[4:5]
v_mov_b32_e32 v5, ${64 * ((stores - 1) & (span / 64 - 1)) + 3}
global_load_ubyte v10, v5, s[4:5]
s_waitcnt vmcnt(0)
.Lfirst:`;

describe('more events than a table has', () => {
  it.each([
    ['all of them named', 6000, 2 ** 19],
    ['few of them named', 9000, 4096],
  ] as const)('%s: the races behind them are found', async (_name, stores, span) => {
    const options = { grid: [2, 1, 1], bufferBytes: 2 * span } as const;
    for (const engine of ['compiled', 'interpreter'] as const) {
      const findings = (await strictFindings(storesAndReads(stores, span), { ...options, engine })) ?? [];
      expect(findings.map(({ rule, place }) => [rule, place?.instruction])).toEqual([
        ['races/global', 'global_load_ubyte v9, v5, s[4:5]'],
        ['races/global', 'global_load_ubyte v10, v5, s[4:5]'],
      ]);
      for (const { related } of findings) {
        expect(related?.map(({ place }) => place.instruction)).toEqual(['global_store_byte v5, v8, s[4:5]']);
      }
    }
  });
});
