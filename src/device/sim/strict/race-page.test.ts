// The records of global memory by line: compiled code keeps them as TypeScript does, and they never report what records by dword do not.

import { describe, expect, it } from 'vitest';
import fc from '../../../../tests/support/fast-check.ts';
import { WasmModule } from '../wasm/emit.ts';
import { pageFunction } from './compiled-pages.ts';
import { actorOf, PAGE_WORDS, PAGE_WRITTEN, RacePage, readDwords, type Toucher, writeDwords } from './race-page.ts';
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

function compiled() {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 65536, shared: false });
  for (const isWrite of [false, true]) module.export(String(isWrite), pageFunction(module, isWrite));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const words = new Uint32Array(memory.buffer);
  const note = (one: Access): boolean => {
    words.set([one.actor, one.epoch], SHADOW_ACTOR / 4);
    words[SHADOW_STORES / 4] = one.store;
    const run = instance.exports[String(one.isWrite)] as (...all: number[]) => number;
    return run(0, 4 * one.first, 4 * (one.end - one.first), one.pc) === 1;
  };
  const clear = (): void => {
    words.fill(0);
    words[SHADOW_PAGES / 4] = TABLE;
    words[SHADOW_PAGE_COUNT / 4] = 1;
    words[TABLE / 4] = RECORD;
  };
  return { words, note, clear };
}

describe('records of global memory by line', () => {
  const { words, note, clear } = compiled();

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
