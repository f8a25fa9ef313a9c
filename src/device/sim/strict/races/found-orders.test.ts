// What has been found to come before what a workgroup does, and what comes just behind that.
import { describe, expect, it, test } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { DeviceMemory } from '../../state/memory.ts';
import {
  FOUND_BYTES,
  FOUND_EPOCH,
  FOUND_FOR_LOADS,
  FOUND_FOR_STORES,
  FOUND_RELEASES,
  FoundOrders,
} from './found-orders.ts';
import { actorOf } from './race-events.ts';
import type { Released } from './releases.ts';

const by = (more: Partial<Released>): Released => ({
  complete: [4, 7],
  written: [4, 6],
  wave: 1,
  pc: 0,
  issued: 7,
  isEarly: false,
  epoch: 2,
  releases: 5,
  ...more,
});

describe('FoundOrders', () => {
  const memory = new DeviceMemory();
  /** The fields of the entry of a workgroup and an actor. */
  function fields(found: FoundOrders, group: number, actor: number): number[] | undefined {
    const words = new Uint32Array(memory.wasm.buffer, found.place, (FOUND_BYTES / 4) * 4096);
    for (let at = 0; at < words.length; at += FOUND_BYTES / 4) {
      if (words[at] !== group + 1 || words[at + 1] !== actor) continue;
      return [FOUND_FOR_LOADS, FOUND_FOR_STORES, FOUND_EPOCH, FOUND_RELEASES].map(
        (field) => words[at + field / 4] as number,
      );
    }
    return undefined;
  }

  it('should know the stores of all wavefronts that are complete and written back, for loads once caches are invalidated', () => {
    const found = new FoundOrders(memory);
    expect(found.place).toBe(0);
    found.stores(3, 1, by({}), false);
    expect(fields(found, 3, actorOf(1, 0))).toEqual([0, 4, 0, 0]);
    expect(fields(found, 3, actorOf(1, 1))).toEqual([0, 6, 0, 0]);
    found.stores(3, 1, by({ complete: [2, 9], written: [2, 9] }), true);
    expect(fields(found, 3, actorOf(1, 0))).toEqual([2, 4, 0, 0]);
    expect(fields(found, 3, actorOf(1, 1))).toEqual([9, 9, 0, 0]);
    found.release();
  });

  it('should know the reads before the last barrier of who has told something, and those of the teller before it did', () => {
    const found = new FoundOrders(memory);
    found.reads(3, 1, by({}));
    expect(fields(found, 3, actorOf(1, 0))).toEqual([0, 0, 2, 0]);
    expect(fields(found, 3, actorOf(1, 1))).toEqual([0, 0, 2, 6]);
    found.reads(3, 1, by({ epoch: 1, releases: 9 }));
    found.reads(3, 1, by({ wave: 0, epoch: 3, releases: 1 }));
    expect(fields(found, 3, actorOf(1, 0))).toEqual([0, 0, 3, 2]);
    expect(fields(found, 3, actorOf(1, 1))).toEqual([0, 0, 3, 0]);
    found.release();
  });

  it('should know both, for loads and stores, of who has stored anything or has told it', () => {
    const found = new FoundOrders(memory);
    found.handedOver(3, 1, by({ complete: [4, 0, 5, 0], written: [3, 0, 5, 0] }));
    expect([0, 1, 2, 3].map((wave) => fields(found, 3, actorOf(1, wave)))).toEqual([
      [3, 3, 2, 0],
      [0, 0, 2, 6],
      [5, 5, 2, 0],
      undefined,
    ]);
    found.release();
  });

  it('should keep the last of entries that have one place', () => {
    const found = new FoundOrders(memory);
    found.stores(0, 1, by({}), true);
    // 1,024 workgroups further on.
    found.stores(0, 1025, by({}), true);
    expect(fields(found, 0, actorOf(1, 0))).toBeUndefined();
    expect(fields(found, 0, actorOf(1025, 0))?.[0]).toBe(4);
    found.learn(7);
    expect(fields(found, 7, 0)?.[0]).toBe(1);
    found.release();
  });
});

const scope = (target: string): string => (target === 'gfx90a' ? 'glc' : 'sc1');

/** The first workgroup does the one thing, tells it at 2048, and goes on; the second one learns of that and invalidates its caches. v1 is four times the lane. */
function told(target: string, first: string, behind: string, second: string): string {
  const [back, forget] = target === 'gfx90a' ? ['', 'buffer_wbinvl1_vol'] : ['buffer_wbl2 sc1', 'buffer_inv sc1'];
  return `v_mov_b32_e32 v10, 0
v_mov_b32_e32 v11, 1
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 second
${first}
${back}
s_waitcnt vmcnt(0)
s_mov_b64 exec, 1
global_store_dword v10, v11, s[4:5] offset:2048 ${scope(target)}
s_mov_b64 exec, -1
${behind}
s_endpgm
second:
s_mov_b64 exec, 1
wait:
global_load_dword v2, v10, s[4:5] offset:2048 ${scope(target)}
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 0, v2
s_cbranch_vccnz wait
s_mov_b64 exec, -1
${forget}
${second}`;
}

const store = (offset: number, data = 11): string => `global_store_dword v1, v${data}, s[4:5] offset:${offset}`;
const load = (register: number, offset: number): string =>
  `global_load_dword v${register}, v1, s[4:5] offset:${offset}`;
const wait = 's_waitcnt vmcnt(0)';

const SCENES = [
  { name: 'stores', first: store(0), behind: '', second: `${load(4, 0)}\n${load(5, 0)}`, found: [] },
  {
    name: 'a store behind',
    first: store(0),
    behind: store(256),
    second: `${load(4, 0)}\n${load(5, 256)}`,
    found: [load(5, 256)],
  },
  {
    name: 'a store over a store behind',
    first: store(0),
    behind: store(256),
    second: `${store(0, 10)}\n${store(256, 10)}`,
    found: [store(256, 10)],
  },
  {
    name: 'reads',
    first: `${load(4, 0)}\n${load(5, 512)}`,
    behind: '',
    second: `${store(0)}\n${store(512)}`,
    found: [],
  },
  {
    name: 'a read behind',
    first: load(4, 0),
    behind: load(5, 256),
    second: `${store(0)}\n${store(256)}`,
    found: [store(256)],
  },
] as const;

describe('what is told', () => {
  test.each((['gfx90a', 'gfx942'] as const).flatMap((target) => SCENES.map((scene) => ({ ...scene, target }))))(
    '$target: $name',
    async ({ target, first, behind, second, found }) => {
      const text = `${told(target, first, behind, second)}\n${wait}`;
      for (const engine of ['interpreter', 'compiled'] as const) {
        const options = { target, engine, grid: [2, 1, 1], bufferBytes: 4096, isZeroed: true } as const;
        const all = await strictFindings(text, options);
        expect(all.map(({ place }) => place?.instruction)).toEqual(found);
      }
    },
  );

  test.each(['gfx90a', 'gfx942'] as const)(
    '%s: a store before the atomics of its workgroup, for who only tries',
    async (target) => {
      const returns = target === 'gfx90a' ? 'glc' : 'sc0';
      // 5 is nowhere: the comparison fails.
      const text = `v_mov_b32_e32 v12, 1
v_mov_b32_e32 v13, 5
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 second
global_store_dword v1, v12, s[4:5]
${wait}
s_barrier
global_atomic_add v1, v12, s[4:5]
s_endpgm
second:
global_atomic_cmpswap v2, v1, v[12:13], s[4:5] ${returns}
${wait}`;
      for (const engine of ['interpreter', 'compiled'] as const) {
        const all = await strictFindings(text, {
          target,
          engine,
          grid: [2, 1, 1],
          block: [128, 1, 1],
          bufferBytes: 4096,
          isZeroed: true,
        });
        expect(all.map(({ rule, place }) => [rule, place?.instruction?.split(' ')[0]])).toEqual([
          ['races/global', 'global_atomic_cmpswap'],
        ]);
      }
    },
  );
});
