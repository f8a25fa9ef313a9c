// What is told at addresses, asked for now and then: whether it is put down first, is in an index or is kept at once, it is the same.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { gpuWindow } from '../../state/layout.ts';
import type { Message, Released } from './releases.ts';
import { ReleasesByAddress } from './releases-by-address.ts';

const by = (wave: number, issued: number): Released => ({
  complete: [issued],
  written: [issued],
  epoch: 0,
  releases: 0,
  pc: 4 * issued,
  wave,
  issued,
  isEarly: false,
});

/** What is told: one of a few messages, some of which say the same. */
const SAID = [by(0, 1), by(1, 2), by(2, 3)];
const MESSAGES: Message[] = [0, 0, 1, 2, 2].map((n, number) => ({
  group: 0,
  by: SAID[n] as Released,
  acquired: [],
  acquiredCount: number === 4 ? 1 : 0,
  number: number + 1,
}));
const OFFSETS = [0, 4, 8, 1024, 2 ** 31, 2 ** 32 - 4];

const step = fc.record({
  /** Ask; tell at one address, at several at once, or at one that is not in the window. */
  kind: fc.constantFrom('find', 'find', 'add', 'addAll', 'many', 'beyond'),
  group: fc.nat(2),
  told: fc.nat(MESSAGES.length - 1),
  offsets: fc.array(fc.nat(OFFSETS.length - 1), { maxLength: 5 }),
});

/** By address and workgroup, the numbers and messages of what has been told. */
function model() {
  interface At {
    count: number;
    last: Message | undefined;
    readonly of: Map<number, [number, Message][]>;
  }
  const all = new Map<number, At>();
  return {
    add(group: number, offset: number, told: Message): void {
      const at: At = all.get(offset) ?? { count: 0, last: undefined, of: new Map() };
      all.set(offset, at);
      const mine = at.of.get(group) ?? [];
      at.of.set(group, mine);
      const last = mine.at(-1)?.[1];
      if (at.last === told || (last?.by === told.by && last.acquiredCount === told.acquiredCount)) return;
      at.last = told;
      mine.push([at.count++, told]);
    },
    find: (offset: number) => all.get(offset),
  };
}

test('what is told is found, however often somebody asks', () => {
  let kept = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const [releases, known] = [new ReleasesByAddress(), model()];
      for (const { kind, group, told, offsets } of steps) {
        const message = MESSAGES[told] as Message;
        const places = offsets.map((n) => OFFSETS[n] as number);
        if (kind === 'add') for (const at of places) releases.add(group, gpuWindow.base + at, message);
        if (kind === 'addAll') releases.addAll(group, Uint32Array.from([...places, 0]), places.length, message);
        if (kind === 'add' || kind === 'addAll') for (const at of places) known.add(group, at, message);
        // All are kept.
        if (kind === 'beyond') releases.add(group, gpuWindow.base - 4096, message);
        // So many that an index is worth while.
        if (kind === 'many') {
          for (let n = 0; n < 300; n++) {
            releases.add(group, gpuWindow.base + 2 ** 20 + 4 * n, message);
            releases.find(gpuWindow.base + 2 ** 20 + 4 * ((7 * n) % 300));
          }
        }
        if (kind !== 'find') continue;
        for (const at of places) {
          const [found, expected] = [releases.find(gpuWindow.base + at), known.find(at)];
          expect(found?.count).toBe(expected?.count);
          if (found === undefined) continue;
          kept++;
          for (const [of, all] of expected?.of ?? []) {
            for (let count = 0; count <= found.count; count++) {
              const last = all.findLast(([number]) => number < count)?.[1];
              expect(found.releases.get(of)?.lastBefore(count)).toBe(last);
            }
          }
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(kept).toBeGreaterThan(100);
});
