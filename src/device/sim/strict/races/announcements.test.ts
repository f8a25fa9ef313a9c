// gfx90a: a plain store tells who waits for it that all stores before it are done, if they are; by one lane or by all, directly or through other workgroups.
import { describe, expect, test } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { Announcements } from './announcements.ts';
import { actorOf } from './race-events.ts';

/** Bytes of the buffer where the data is, the flags, and the flags of who passes it on; 256 lanes have dwords there. */
const [DATA, FLAGS, NEXT] = [0, 1024, 2048];

/** v1 is four times the lane, v10 is 0: by one lane at one place, or by all at theirs. */
const store = (isOne: boolean, offset: number): string =>
  isOne
    ? `s_mov_b64 exec, 1\nglobal_store_dword v10, v3, s[4:5] offset:${offset}\ns_mov_b64 exec, -1`
    : `global_store_dword v1, v3, s[4:5] offset:${offset}`;

const poll = (label: string, isOne: boolean, offset: number): string => `${label}:
s_sleep 1
global_load_dword v2, ${isOne ? 'v10' : 'v1'}, s[4:5] offset:${offset} glc
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 0, v2
s_cbranch_vccnz ${label}
buffer_wbinvl1_vol`;

interface Scene {
  readonly isOne: boolean;
  readonly isWaited: boolean;
  /** Another store to the line of the flag in front of it; and behind it, which nobody waits for. */
  readonly before: boolean;
  readonly after: boolean;
  /** The third workgroup learns of the data from the second one. */
  readonly isPassedOn: boolean;
  /** Two wavefronts meet at a barrier before the flag is stored. */
  readonly meets: boolean;
}

function code({ isOne, isWaited, before, after, isPassedOn, meets }: Scene): string {
  const wait = 's_waitcnt vmcnt(0)';
  const beside = isOne ? 32 : 512;
  const producer = [
    ...(before ? [store(true, FLAGS + beside)] : []),
    `global_store_dword v1, v3, s[4:5] offset:${DATA}`,
    ...(isWaited ? [wait] : []),
    ...(meets ? ['s_barrier'] : []),
    store(isOne, FLAGS),
    ...(after ? [store(true, FLAGS + beside + 4)] : []),
  ];
  const read = `global_load_dword v4, v1, s[4:5] offset:${DATA}\n${wait}\nv_add_u32_e32 v5, v4, v4`;
  const second = isPassedOn
    ? [poll('wait', isOne, FLAGS), wait, store(isOne, NEXT)]
    : [poll('wait', isOne, FLAGS), read];
  const third = isPassedOn ? [poll('again', isOne, NEXT), read] : [];
  return [
    'v_mov_b32_e32 v10, 0',
    'v_mov_b32_e32 v3, 7',
    's_cmp_eq_u32 s2, 0',
    's_cbranch_scc0 others',
    ...producer,
    's_endpgm',
    'others:',
    's_cmp_eq_u32 s2, 1',
    's_cbranch_scc0 third',
    ...second,
    's_endpgm',
    'third:',
    ...third,
  ].join('\n');
}

const BOTH = [false, true];
const SCENES = BOTH.flatMap((isOne) =>
  BOTH.flatMap((isWaited) =>
    BOTH.flatMap((before) =>
      BOTH.flatMap((after) =>
        BOTH.flatMap((isPassedOn) => BOTH.map((meets) => ({ isOne, isWaited, before, after, isPassedOn, meets }))),
      ),
    ),
  ),
);

describe('a flag of gfx90a', () => {
  test.each(SCENES)(
    'one lane: $isOne, waited: $isWaited, before: $before, after: $after, passed on: $isPassedOn, meets: $meets',
    async (scene) => {
      const options = { target: 'gfx90a', grid: [3, 1, 1], block: [scene.meets ? 128 : 64, 1, 1] } as const;
      const more = { ...options, bufferBytes: 4096, isZeroed: true };
      const compiled = await strictFindings(code(scene), { ...more, engine: 'compiled' });
      const interpreted = await strictFindings(code(scene), { ...more, engine: 'interpreter' });
      const found = (all: typeof compiled) => all.map(({ rule, place, message }) => [rule, place, message]);
      expect(found(compiled)).toEqual(found(interpreted));
      const rules = new Set(compiled.map(({ rule }) => rule.split('/')[0]));
      expect([...rules]).toEqual(scene.isWaited ? [] : ['races']);
    },
  );
});

const ENGINES = ['interpreter', 'compiled'] as const;

describe("what is read behind a grid's barrier is not told by it", () => {
  // Two wavefronts of a workgroup come for two: the barrier waits for as many as there are workgroups.
  test.each(ENGINES.flatMap((engine) => [64, 128].map((size) => [engine, size] as const)))(
    '%s, %i items',
    async (engine, size) => {
      const text = `v_mov_b32_e32 v10, 0
${poll('wait', true, FLAGS)}
s_mov_b32 m0, 0
v_mov_b32_e32 v4, 0
ds_gws_barrier v4 gds
s_waitcnt lgkmcnt(0)
s_cmp_eq_u32 s2, 0
s_cbranch_scc1 .Lstore
global_load_dword v2, v1, s[4:5]
s_waitcnt vmcnt(0)
s_endpgm
.Lstore:
v_mov_b32_e32 v2, 9
global_store_dword v1, v2, s[4:5]`;
      // The flag is there already.
      const options = { target: 'gfx90a', engine, grid: [4, 1, 1], block: [size, 1, 1], bufferBytes: 2048 } as const;
      const found = await strictFindings(text.replace(`offset:${FLAGS}`, `offset:${FLAGS + 4}`), options);
      expect(found.map(({ rule }) => rule)).toEqual(['races/global', 'races/unreleased']);
    },
  );
});

test('what a store tells is what its wavefront and its workgroup knew then', () => {
  const all = new Announcements();
  const knownSince = [
    { stores: 2, known: [2, 5], counted: 0 },
    { stores: 4, known: [4, 9], counted: 1 },
  ];
  const [first, second] = [
    { knownSince, storesIssued: 3 },
    { knownSince: [], storesIssued: 1 },
  ];
  all.begin(7, [first, second]);
  const list = [{ at: {}, count: 1 }] as never;
  all.acquire(7, { list, count: 1 });
  all.end(7);
  const told = (wave: number, store: number, early = 0) =>
    all.told({ actor: actorOf(7, wave), pc: 64, store, epoch: 3, early });
  expect(told(0, 1).by.complete).toEqual([2]);
  expect(told(0, 1).acquired.count).toBe(0);
  expect(told(0, 2).by.complete).toEqual([3, 5]);
  expect(told(0, 3).by.complete).toEqual([4, 5]);
  expect(told(0, 3).acquired).toEqual({ list, count: 1 });
  expect(told(0, 6).by).toMatchObject({ complete: [7, 9], wave: 0, issued: 6, epoch: 3, releases: 7, pc: 64 });
  // Its own stores that were outstanding are not known to be complete, also those of before a barrier.
  expect(told(0, 6, 1).by).toMatchObject({ complete: [5, 9], issued: 6, isEarly: true });
  expect(told(0, 6, 5).by).toMatchObject({ complete: [1, 9], issued: 6, isEarly: true });
  expect(told(0, 4, 3).by).toMatchObject({ complete: [1, 9], issued: 4, isEarly: true });
  expect(told(1, 0).acquired.count).toBe(0);
  expect(told(1, 1).acquired.count).toBe(1);
});
