// The records of global memory by line: compiled code keeps them as TypeScript does, and they never report what records by dword do not.

import { describe, expect, it } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { WasmModule } from '../../wasm/emit.ts';
import { pageFunction } from '../compiled/pages.ts';
import type { GlobalAccess } from '../compiled/records.ts';
import { lanesFunction } from '../compiled/scattered.ts';
import {
  SHADOW_ACTOR,
  SHADOW_COMPLETE,
  SHADOW_EPOCH,
  SHADOW_LEARNS,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_RELEASED,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';
import {
  BYTES,
  DETAILS_SIZE,
  DETAILS_WORDS,
  frozenReader,
  MARKS,
  PAGE,
  PAGE_DETAILS,
  type RaceDetails,
  RECORD_WORDS,
  RECORD_WRITER,
} from './race-details.ts';
import {
  actorOf,
  EVENT_BYTES,
  EVENT_SHIFT,
  EVENTS_BEFORE,
  EVENTS_BEHIND,
  EVENTS_NEXT,
  EVENTS_OWN,
  isSameGroup,
  type Toucher,
} from './race-events.ts';
import {
  EVENTS_HEAD,
  FROZEN,
  LINE,
  ownRoom,
  PAGE_WORDS,
  PAGE_WRITTEN,
  POOL_END,
  POOL_NEXT,
  RacePage,
} from './race-page.ts';

interface Access extends Toucher {
  readonly isWrite: boolean;
  readonly first: number;
  readonly end: number;
}

/** Accesses in an order that happens: barriers, stores and what a wavefront tells others only go on. Few dwords, wavefronts and workgroups, so that they meet. */
const history = fc
  .array(
    fc.record({
      group: fc.nat(1),
      wave: fc.nat(1),
      barrier: fc.nat(5).map((n) => n === 0),
      tells: fc.nat(5).map((n) => n === 0),
      isWrite: fc.nat(3).map((n) => n === 0),
      first: fc.oneof(fc.nat(40), fc.constantFrom(0, 16, 64)),
      count: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(16, 64, 128)),
    }),
    { maxLength: 24 },
  )
  .map((steps) => {
    const epochs = [0, 0];
    const all = new Map<number, number>();
    return steps.map(({ group, wave, barrier, tells, isWrite, first, count }, i): Access => {
      if (barrier) epochs[group] = (epochs[group] as number) + 1;
      const epoch = epochs[group] as number;
      const actor = actorOf(group, wave);
      if (tells) all.set(actor, i);
      return { actor, epoch, store: i, told: all.get(actor) ?? 0, pc: 4 * i, isWrite, first, end: first + count };
    });
  });

const RECORD = 0x8000;
const WRITTEN = 0xc000;
const TABLE = 0x7000;
const DETAILS = 0x18000;
const EVENTS = 0x20000;
const EVENT_COUNT = 1024;

/** What the words of a page's details say: the marks, and the words of the event that is named. */
function told(words: Uint32Array, events: Uint32Array): string {
  return [...words]
    .map((word) => {
      const event = 4 * (word >>> EVENT_SHIFT);
      return word === 0 ? '' : `${word & MARKS} ${events.slice(event, event + 4).join(' ')}`;
    })
    .join();
}

function compiled() {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 4, maximum: 65536, shared: false });
  for (const kind of ['load', 'store', 'scalar'] as const) module.export(kind, pageFunction(module, kind));
  for (const kind of ['load', 'store'] as const) {
    for (const bytes of [1, 2, 4, 8, 12, 16]) module.export(`${kind}${bytes}`, lanesFunction(module, kind, bytes, 4));
  }
  for (const bytes of [4, 8, 16]) module.export(`scalar${bytes}`, lanesFunction(module, 'scalar', bytes, 1));
  const memory = new WebAssembly.Memory({ initial: 4, maximum: 65536 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const words = new Uint32Array(memory.buffer);
  const head = (TABLE + EVENTS_HEAD) / 4;
  let [last, lastEpoch] = [0, 0];
  /** As RaceEvents.run and passBarrier. */
  const run = ({ actor, epoch }: Toucher): void => {
    const next = (words[head + EVENTS_NEXT / 4] as number) << EVENT_SHIFT;
    const isSame = isSameGroup(actor, last);
    if (!isSame) words[head + EVENTS_BEFORE / 4] = next;
    if (!isSame || epoch !== lastEpoch) words[head + EVENTS_BEHIND / 4] = next;
    if (actor !== last) words[head + EVENTS_OWN / 4] = next;
    [last, lastEpoch] = [actor, epoch];
  };
  const call = (name: string, who: Toucher, ...parameters: number[]): boolean => {
    const { actor, epoch, store, told = 0 } = who;
    run(who);
    words.set([actor, epoch], SHADOW_ACTOR / 4);
    words[SHADOW_STORES / 4] = store;
    // Told in so many words, or complete where that is known.
    const isComplete = store % 2 === 1;
    words[SHADOW_RELEASED / 4] = isComplete ? 0 : told;
    words[SHADOW_COMPLETE / 4] = isComplete ? told : 0;
    words[SHADOW_LEARNS / 4] = isComplete ? -1 : 0;
    return (instance.exports[name] as (...all: number[]) => number)(0, ...parameters) === 1;
  };
  const noteBytes = (kind: GlobalAccess, at: number, bytes: number, who: Toucher): boolean =>
    call(kind, who, at, bytes, who.pc);
  /** Four lanes, or one of a scalar load. */
  const noteLanes = (kind: GlobalAccess, bytes: number, addresses: readonly number[], who: Toucher): boolean =>
    call(`${kind}${bytes}`, who, ...addresses, who.pc);
  const note = (one: Access): boolean =>
    noteBytes(one.isWrite ? 'store' : 'load', 4 * one.first, 4 * (one.end - one.first), one);
  /** `stays`: of readers' words (frozenReader). */
  const clear = (stays = false): void => {
    words.fill(0);
    [last, lastEpoch] = [0, 0];
    words[(TABLE + FROZEN) / 4] = frozenReader(stays);
    words[SHADOW_PAGES / 4] = TABLE;
    words[SHADOW_PAGE_COUNT / 4] = 1;
    words[TABLE / 4] = RECORD;
    words.set([EVENTS, 1, EVENT_COUNT], head);
  };
  /** What the details of the page say. */
  const tell = (): string =>
    told(
      new Uint32Array(memory.buffer, DETAILS, DETAILS_WORDS),
      new Uint32Array(memory.buffer, EVENTS, (EVENT_BYTES / 4) * EVENT_COUNT),
    );
  return { words, note, noteBytes, noteLanes, clear, tell };
}

/** The quick look of an access of whole dwords. */
function look(details: RaceDetails, one: Access): boolean {
  return one.isWrite ? details.writeDwords(one.first, one.end, one) : details.readDwords(one.first, one.end, one);
}

describe('records of global memory by line', () => {
  const { words, note, noteBytes, noteLanes, clear, tell } = compiled();

  it('are the same in compiled code', () => {
    expect(SHADOW_EPOCH).toBe(SHADOW_ACTOR + 4);
    fc.assert(
      fc.property(history, (accesses) => {
        clear();
        const own = new Uint32Array(PAGE_WORDS);
        const page = new RacePage(own);
        for (const one of accesses) {
          expect(note(one)).toBe(page.note(one, one.first, one.end, one.isWrite));
          expect(words.slice(RECORD / 4, RECORD / 4 + PAGE_WORDS).join()).toBe(own.join());
        }
      }),
      { numRuns: 150 },
    );
  });

  it('by dword are the same in compiled code', () => {
    fc.assert(
      fc.property(history, fc.boolean(), (accesses, stays) => {
        clear(stays);
        words[RECORD / 4 + PAGE_DETAILS] = DETAILS;
        const room = ownRoom(stays);
        const own = new RacePage(new Uint32Array(PAGE_WORDS), room).detailed;
        for (const one of accesses) {
          const isFine = look(own, one);
          expect(note(one)).toBe(isFine);
          expect(tell()).toBe(told(own.words, room.events.words));
          // A run of which some dwords were noted before one that asks for a closer look is noted to there.
          if (!isFine) return;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('become records by dword in compiled code as they do in TypeScript', () => {
    fc.assert(
      fc.property(history, fc.boolean(), (accesses, stays) => {
        clear(stays);
        words.set([DETAILS, DETAILS + DETAILS_SIZE], (TABLE + POOL_NEXT) / 4);
        expect(POOL_END).toBe(POOL_NEXT + 4);
        const room = ownRoom(stays);
        const page = new RacePage(new Uint32Array(PAGE_WORDS), room);
        for (const { end, ...rest } of accesses) {
          // Of a run through several lines TypeScript notes the first ones twice.
          const one = { ...rest, end: Math.min(end, (Math.floor(rest.first / LINE) + 1) * LINE) };
          const isNoted = page.note(one, one.first, one.end, one.isWrite);
          const isFine = isNoted || look(page.detailed, one);
          expect(note(one)).toBe(isFine);
          if (isNoted) continue;
          expect(tell()).toBe(told(page.detailed.words, room.events.words));
          if (!isFine) return;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('of four lanes, and of one scalar load, are the same as of one after the other', () => {
    const place = { group: fc.nat(1), wave: fc.nat(1), barrier: fc.nat(5).map((n) => n === 0) };
    const quad = fc.record({
      ...place,
      kind: fc.constantFrom('load' as const, 'store' as const),
      bytes: fc.constantFrom(1, 2, 4, 4, 8, 12, 16),
      lanes: fc.oneof(
        fc.tuple(...[0, 1, 2, 3].map(() => fc.nat(150))),
        fc.nat(30).map((n) => [2, 0, 1, 3].map((i) => 4 * n + i)),
      ),
      isAligned: fc.boolean(),
    });
    const scalar = fc.record({
      ...place,
      kind: fc.constant('scalar' as const),
      bytes: fc.constantFrom(4, 4, 8, 16),
      lanes: fc.nat(40).map((n) => [4 * n]),
      isAligned: fc.constant(true),
    });
    const quads = fc.array(fc.oneof({ weight: 3, arbitrary: quad }, scalar), { maxLength: 24 });
    fc.assert(
      fc.property(quads, fc.boolean(), fc.boolean(), fc.boolean(), (steps, hasDetails, isWritten, stays) => {
        /** Of which wavefront there are stores to which lines; whether one has stored to a line twice. */
        const stored = new Set<string>();
        let storesAgain = false;
        /** The page's record, its details and written bits, and whether all was fine, after the steps. */
        const run = (isFour: boolean): readonly unknown[] => {
          stored.clear();
          clear(stays);
          words.set([DETAILS, DETAILS + DETAILS_SIZE], (TABLE + POOL_NEXT) / 4);
          if (hasDetails) noteBytes('load', 1, 1, { actor: actorOf(5, 0), epoch: 0, store: 0, pc: 0 });
          if (!isWritten) words[RECORD / 4 + PAGE_WRITTEN] = WRITTEN;
          const epochs = [0, 0];
          let isFine = true;
          steps.every(({ group, wave, barrier, kind, bytes, lanes, isAligned }, i) => {
            if (barrier) epochs[group] = (epochs[group] as number) + 1;
            const who = { actor: actorOf(group, wave), epoch: epochs[group] as number, store: i, pc: 4 * i };
            const places = lanes.map((n) => (isAligned ? n - (n % Math.min(4, bytes)) : n));
            // Lanes of a store with bytes in common are for TypeScript: whether that is seen here depends on which records there are.
            const areApart = places.every((at, n) =>
              places.slice(0, n).every((other) => Math.abs(at - other) >= bytes),
            );
            const all =
              kind === 'store' && !areApart ? places.map((_, n) => 16 * n + ((places[0] as number) & -16)) : places;
            if (kind === 'store') {
              const lines = all.flatMap((at) => [at, at + bytes - 1]).map((at) => Math.floor(at / (4 * LINE)));
              for (const line of new Set(lines.map((n) => `${who.actor} ${n}`))) {
                storesAgain ||= stored.has(line);
                stored.add(line);
              }
            }
            isFine = isFour ? noteLanes(kind, bytes, all, who) : all.every((at) => noteBytes(kind, at, bytes, who));
            return isFine;
          });
          const record = words.slice(RECORD / 4, RECORD / 4 + PAGE_WORDS).join();
          const written = words.slice(WRITTEN / 4, WRITTEN / 4 + PAGE / 8).join();
          const details = words[RECORD / 4 + PAGE_DETAILS];
          // What lines say is not asked any more once there are records by dword.
          const known = details === 0 ? [record, written] : [written, tell()];
          return [isFine, details, ...(isFine ? known : [])];
        };
        const [four, one] = [run(true), run(false)];
        // Parts that are all of a dword together need no records by dword, nor somebody who looks; and a dword that several have stored parts of names the last one.
        const hasParts = steps.some(({ bytes }) => bytes < 4);
        if (!hasParts) expect(four[0]).toBe(one[0]);
        // Four lanes that cover what their wavefront has stored before make its line one of the later store; one after the other keep the older one's number.
        const isExact = !storesAgain && !hasParts;
        if (four[1] === one[1] && isExact) expect(four).toEqual(one);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 400) },
    );
  });

  it('by dword tell parts of a dword apart', () => {
    clear();
    words[RECORD / 4 + PAGE_DETAILS] = DETAILS;
    words[RECORD / 4 + PAGE_WRITTEN] = WRITTEN;
    const bytesOf = (dword: number): number => {
      const [reader, writer] = [
        words[DETAILS / 4 + RECORD_WORDS * dword] as number,
        words[DETAILS / 4 + RECORD_WORDS * dword + RECORD_WRITER] as number,
      ];
      return ((reader & BYTES) << 4) | (writer & BYTES);
    };
    const at = (epoch: number, wave: number): Toucher => ({ actor: actorOf(0, wave), epoch, store: 0, pc: 8 });
    expect(noteBytes('load', 5, 1, at(0, 0))).toBe(false);
    expect(noteBytes('store', 5, 2, at(0, 0))).toBe(true);
    expect(bytesOf(1)).toBe(0b0110);
    expect(noteBytes('load', 5, 1, at(0, 0))).toBe(true);
    expect(bytesOf(1)).toBe(0b0010_0110);
    expect(noteBytes('load', 4, 2, at(0, 0))).toBe(false);
    expect(noteBytes('load', 6, 1, at(0, 1))).toBe(false);
    expect(noteBytes('load', 6, 1, at(1, 1))).toBe(true);
    expect(bytesOf(1)).toBe(0b0100_0110);
    expect(noteBytes('scalar', 4, 4, at(1, 1))).toBe(false);
    expect(noteBytes('store', 7, 3, at(2, 1))).toBe(true);
    expect([bytesOf(1), bytesOf(2)]).toEqual([0b0100_1000, 0b0011]);
  });

  it('find the same bytes written', () => {
    fc.assert(
      fc.property(history, (accesses) => {
        clear();
        words[RECORD / 4 + PAGE_WRITTEN] = WRITTEN;
        const written = new Set<number>();
        for (const one of accesses) {
          const mine = { ...one, actor: 1, epoch: 0, told: 0 };
          const dwords = Array.from({ length: one.end - one.first }, (_, n) => one.first + n);
          expect(note(mine)).toBe(one.isWrite || dwords.every((n) => written.has(n)));
          if (one.isWrite) for (const n of dwords) written.add(n);
        }
        const bits = new Uint8Array(words.buffer, WRITTEN, 128);
        const nibbles = Array.from({ length: 256 }, (_, n) => ((bits[n >> 1] as number) >> (4 * (n & 1))) & 15);
        expect(nibbles.join()).toBe(nibbles.map((_, n) => (written.has(n) ? 15 : 0)).join());
      }),
      { numRuns: 200 },
    );
  });

  it('ask for a closer look where records by dword do, and say the same of stores', () => {
    fc.assert(
      fc.property(history, (accesses) => {
        const page = new RacePage();
        const exact = new RacePage().detailed;
        /** How often a wavefront had told others something before a store of its. */
        const timesTold = (actor: number, store: number): number =>
          new Set(accesses.flatMap((one) => (one.actor === actor && one.store <= store ? [one.told] : []))).size;
        for (const one of accesses) {
          const expected = look(exact, one);
          const noted = page.note(one, one.first, one.end, one.isWrite);
          if (noted) expect(expected).toBe(true);
          else expect(look(page.detailed, one)).toBe(expected);
          if (!expected) return;
        }
        const { detailed } = page;
        for (let dword = 0; dword < 256; dword++) {
          const [actor, epoch] = [exact.writer(dword), exact.writerEpoch(dword)];
          expect([detailed.writer(dword), detailed.writerEpoch(dword)]).toEqual([actor, epoch]);
          if (actor === 0) continue;
          expect(timesTold(actor, detailed.writerStore(dword))).toBe(timesTold(actor, exact.writerStore(dword)));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
