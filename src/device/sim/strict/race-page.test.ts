// The records of global memory by line: compiled code keeps them as TypeScript does, and they never report what records by dword do not.

import { describe, expect, it } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import { WasmModule } from '../wasm/emit.ts';
import type { GlobalAccess } from './compiled-details.ts';
import { pageFunction } from './compiled-pages.ts';
import {
  actorOf,
  DETAIL_BYTES,
  DETAILS_SIZE,
  PAGE_DETAILS,
  PAGE_WORDS,
  PAGE_WRITTEN,
  RacePage,
  readDwords,
  type Toucher,
  writeDwords,
} from './race-page.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH, SHADOW_PAGE_COUNT, SHADOW_PAGES, SHADOW_STORES } from './registers.ts';

interface Access extends Toucher {
  readonly isWrite: boolean;
  readonly first: number;
  readonly end: number;
}

/** Accesses in an order that happens: barriers and stores only go on. Few dwords, wavefronts and workgroups, so that they meet. */
const history = fc
  .array(
    fc.record({
      group: fc.nat(1),
      wave: fc.nat(1),
      barrier: fc.nat(5).map((n) => n === 0),
      isWrite: fc.nat(3).map((n) => n === 0),
      first: fc.oneof(fc.nat(40), fc.constantFrom(0, 16, 64)),
      count: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(16, 64, 128)),
    }),
    { maxLength: 24 },
  )
  .map((steps) => {
    const epochs = [0, 0];
    return steps.map(({ group, wave, barrier, isWrite, first, count }, i): Access => {
      if (barrier) epochs[group] = (epochs[group] as number) + 1;
      const epoch = epochs[group] as number;
      return { actor: actorOf(group, wave), epoch, store: i, pc: 4 * i, isWrite, first, end: first + count };
    });
  });

const RECORD = 0x8000;
const WRITTEN = 0xc000;
const TABLE = 0x7000;
const DETAILS = 0x18000;

function compiled() {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 3, maximum: 65536, shared: false });
  for (const kind of ['load', 'store', 'scalar'] as const) module.export(kind, pageFunction(module, kind));
  const memory = new WebAssembly.Memory({ initial: 3, maximum: 65536 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const words = new Uint32Array(memory.buffer);
  const noteBytes = (kind: GlobalAccess, at: number, bytes: number, { actor, epoch, store, pc }: Toucher): boolean => {
    words.set([actor, epoch], SHADOW_ACTOR / 4);
    words[SHADOW_STORES / 4] = store;
    return (instance.exports[kind] as (...all: number[]) => number)(0, at, bytes, pc) === 1;
  };
  const note = (one: Access): boolean =>
    noteBytes(one.isWrite ? 'store' : 'load', 4 * one.first, 4 * (one.end - one.first), one);
  const clear = (): void => {
    words.fill(0);
    words[SHADOW_PAGES / 4] = TABLE;
    words[SHADOW_PAGE_COUNT / 4] = 1;
    words[TABLE / 4] = RECORD;
  };
  return { words, note, noteBytes, clear };
}

describe('records of global memory by line', () => {
  const { words, note, noteBytes, clear } = compiled();

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
      fc.property(history, (accesses) => {
        clear();
        words[RECORD / 4 + PAGE_DETAILS] = DETAILS;
        const bytes = new Uint8Array(words.buffer, DETAILS, DETAILS_SIZE);
        const page = new RacePage(new Uint32Array(PAGE_WORDS), () => new Uint8Array(DETAILS_SIZE));
        const own = page.detailed;
        for (const one of accesses) {
          const look = one.isWrite ? writeDwords : readDwords;
          const isFine = look(own, one.first, one.end, one);
          expect(note(one)).toBe(isFine);
          expect(Buffer.compare(bytes, new Uint8Array(own.writer.buffer))).toBe(0);
          // A run of which some dwords were noted before one that asks for a closer look is noted to there.
          if (!isFine) return;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('by dword tell parts of a dword apart', () => {
    clear();
    words[RECORD / 4 + PAGE_DETAILS] = DETAILS;
    words[RECORD / 4 + PAGE_WRITTEN] = WRITTEN;
    const bytes = new Uint8Array(words.buffer, DETAILS + DETAIL_BYTES, 4);
    const at = (epoch: number, wave: number): Toucher => ({ actor: actorOf(0, wave), epoch, store: 0, pc: 8 });
    expect(noteBytes('load', 5, 1, at(0, 0))).toBe(false);
    expect(noteBytes('store', 5, 2, at(0, 0))).toBe(true);
    expect(bytes[1]).toBe(0b0110);
    expect(noteBytes('load', 5, 1, at(0, 0))).toBe(true);
    expect(bytes[1]).toBe(0b0010_0110);
    expect(noteBytes('load', 4, 2, at(0, 0))).toBe(false);
    expect(noteBytes('load', 6, 1, at(0, 1))).toBe(false);
    expect(noteBytes('load', 6, 1, at(1, 1))).toBe(true);
    expect(bytes[1]).toBe(0b0100_0110);
    expect(noteBytes('scalar', 4, 4, at(1, 1))).toBe(false);
    expect(noteBytes('store', 7, 3, at(2, 1))).toBe(true);
    expect([bytes[1], bytes[2]]).toEqual([0b0100_1000, 0b0011]);
  });

  it('find the same bytes written', () => {
    fc.assert(
      fc.property(history, (accesses) => {
        clear();
        words[RECORD / 4 + PAGE_WRITTEN] = WRITTEN;
        const written = new Set<number>();
        for (const one of accesses) {
          const mine = { ...one, actor: 1, epoch: 0 };
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

  it('ask for a closer look only where records by dword do', () => {
    fc.assert(
      fc.property(history, (accesses) => {
        const page = new RacePage();
        const exact = new RacePage().detailed;
        for (const one of accesses) {
          const look = one.isWrite ? writeDwords : readDwords;
          const expected = look(exact, one.first, one.end, one);
          const noted = page.note(one, one.first, one.end, one.isWrite);
          if (noted) expect(expected).toBe(true);
          else if (expected) expect(look(page.detailed, one.first, one.end, one)).toBe(true);
          else return;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
