// The reads of one page are taken out of the log: its records say what they would say without a log, and the log has the rest.
import { describe, expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { gpuWindow } from '../../state/layout.ts';
import { DeviceMemory } from '../../state/memory.ts';
import { PAGE, type RaceDetails } from './race-details.ts';
import { actorOf } from './race-events.ts';
import { LOG_NEXT, RacePage } from './race-page.ts';
import { RacePages } from './race-pages.ts';
import { LOG_ENTRY, LOG_RUN, type LoggedRead, loggedReads } from './read-log.ts';

const PAGE_BYTES = 4 * PAGE;
const PAGE_COUNT = 3;

const place = fc.record({ page: fc.nat(PAGE_COUNT - 1), element: fc.nat(200) });
const reader = fc.record({
  kind: fc.constant('reader' as const),
  group: fc.nat(2),
  wave: fc.nat(2),
  epoch: fc.nat(2),
  pc: fc.nat(20).map((n) => 4 * n),
  bytes: fc.constantFrom(1, 2, 4, 8, 16),
});
const entries = fc.array(
  fc.oneof(
    reader,
    fc.record({ kind: fc.constant('run' as const), place, bytes: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kind: fc.constant('lanes' as const), lanes: fc.tuple(place, place, place, place) }),
    fc.record({ kind: fc.constant('lanes' as const), lanes: place.map((one) => [one, one, one, one] as const) }),
  ),
  { minLength: 1, maxLength: 40 },
);

const said = (details: RaceDetails): number[][] =>
  Array.from({ length: PAGE }, (_, n) => [
    details.reader(n),
    details.readerPc(n),
    details.readerEpoch(n),
    details.readerMarks(n),
  ]);
const named = ({ who, at, bytes }: LoggedRead): string => `${who.actor} ${who.pc} ${who.epoch}: ${bytes} at ${at}`;

describe.each([
  ['by compiled code', 0],
  ['by TypeScript', 2 ** 20],
] as const)('%s', (_, longLog) => {
  it('takes the reads of a page, and leaves the others', () => {
    const memory = new DeviceMemory();
    const region = memory.alloc(PAGE_COUNT * PAGE_BYTES, 'buffer');
    const first = region.base - gpuWindow.base;
    fc.assert(
      fc.property(reader, entries, fc.nat(PAGE_COUNT - 1), (begin, all, taken) => {
        const pages = new RacePages(memory, false, longLog);
        const words = (): Uint32Array => new Uint32Array(memory.wasm.buffer);
        const head = (pages.table.byteOffset + LOG_NEXT) / 4;
        const logAt = words()[head] as number;
        try {
          const opened = Array.from({ length: PAGE_COUNT }, (_, n) => pages.open(region, n, undefined) as RacePage);
          for (const page of opened) expect(page.isNowLogged()).toBe(true);
          let bytes = 4;
          [begin, ...all].forEach((one, i) => {
            const at = (logAt + LOG_ENTRY * i) / 4;
            const of = ({ page, element }: { page: number; element: number }, size: number): number =>
              first + page * PAGE_BYTES + size * element;
            if (one.kind === 'reader') {
              bytes = one.bytes;
              words().set([one.pc, actorOf(one.group, one.wave), one.epoch, bytes], at);
            } else if (one.kind === 'run') words().set([of(one.place, 1), one.bytes, 0, LOG_RUN], at);
            else
              words().set(
                one.lanes.map((lane) => of(lane, bytes)),
                at,
              );
          });
          const end = logAt + LOG_ENTRY * (1 + all.length);
          words()[head] = end;
          const log = (): LoggedRead[] => [...loggedReads(words().slice(logAt / 4, end / 4))];
          const before = log();
          const pageOf = ({ at }: LoggedRead): number => Math.floor((at - first) / PAGE_BYTES);

          const alone = new RacePage();
          for (const read of before)
            if (pageOf(read) === taken) alone.detailed.read(read.who, (read.at - first) % PAGE_BYTES, read.bytes);
          expect(said((opened[taken] as RacePage).detailed)).toEqual(said(alone.detailed));
          expect(opened.map((page) => page.isLogged)).toEqual(opened.map((_, n) => n !== taken));
          const left = before.filter((read) => pageOf(read) !== taken);
          expect(new Set(log().map(named))).toEqual(new Set(left.map(named)));
        } finally {
          pages.release();
        }
      }),
      { numRuns: 300 },
    );
  });
});
