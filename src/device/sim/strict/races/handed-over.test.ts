// Data that workgroups exchange behind barriers of the grid: compiled code knows by numbers of events what has been handed over, and finds what the interpreter finds.
import { describe, expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { HandedOverBefore } from './handed-over.ts';
import { actorOf, EVENT_SHIFT, ownEvents } from './race-events.ts';
import type { Released } from './releases.ts';
import { Synchronisation } from './synchronisation.ts';

const ROUNDS = 4;

/** What a round leaves out, or does too late. */
type Mistake = 'none' | 'write-back' | 'wait' | 'invalidate' | 'late store' | 'second barrier';

/** How workgroups meet: all look at the counter, or the last one that comes tells the others by a flag. */
type Way = 'counter' | 'flag';

/** Where the counters of barriers are, behind the rows of all workgroups. */
const countersOf = (groups: number): number => 512 * groups;

const poll = (name: string, register: string, until: number): string => `.L${name}:
global_load_dword v6, ${register}, s[4:5] sc1
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s11, v6
s_cmp_lt_u32 s11, ${until}
s_cbranch_scc1 .L${name}`;

const comeTogether = (n: number, groups: number, way: Way): string =>
  way === 'counter'
    ? `global_atomic_add v8, v5, s[4:5]
${poll(`poll${n}`, 'v8', groups)}`
    : `global_atomic_add v6, v8, v5, s[4:5] sc0
s_waitcnt vmcnt(0)
buffer_inv sc1
v_mov_b32_e32 v9, ${countersOf(groups) + 64 * n + 32}
v_readfirstlane_b32 s11, v6
s_cmp_lt_u32 s11, ${groups - 1}
s_cbranch_scc1 .Lflag${n}
buffer_wbl2 sc1
s_waitcnt vmcnt(0)
global_atomic_add v9, v5, s[4:5]
.Lflag${n}:
${poll(`poll${n}`, 'v9', 1)}`;

/** The first lane of each workgroup waits until those of all others have come. */
const gridBarrier = (
  n: number,
  groups: number,
  way: Way,
  mistake: Mistake = 'none',
): string => `${mistake === 'write-back' ? '' : 'buffer_wbl2 sc1'}
${mistake === 'wait' ? '' : 's_waitcnt vmcnt(0)'}
s_barrier
v_mov_b32_e32 v8, ${countersOf(groups) + 64 * n}
v_readfirstlane_b32 s10, v0
s_cmp_lg_u32 s10, 0
s_cbranch_scc1 .Lmet${n}
s_mov_b64 s[14:15], exec
s_mov_b64 exec, 1
${comeTogether(n, groups, way)}
s_mov_b64 exec, s[14:15]
.Lmet${n}:
s_barrier
${mistake === 'invalidate' ? '' : 'buffer_inv sc1'}`;

/** Stores of the second wavefront alone, which is at no barrier. */
const lateStore = (n: number): string => `v_readfirstlane_b32 s10, v0
s_cmp_eq_u32 s10, 0
s_cbranch_scc1 .Lnone${n}
global_store_dword v3, v5, s[4:5]
.Lnone${n}:`;

/** Every workgroup stores, and reads what the next one has stored: again and again. */
function exchange(mistake: Mistake, groups: number, way: Way): string {
  const rounds = Array.from({ length: ROUNDS }, (_, n) => {
    // Mistakes are made when earlier rounds went well.
    const here = n === ROUNDS - 1 ? mistake : 'none';
    const isSecondMissing = n === ROUNDS - 2 && mistake === 'second barrier';
    return `global_store_dword v3, v5, s[4:5]
${gridBarrier(2 * n, groups, way, here)}
${here === 'late store' ? lateStore(n) : ''}
global_load_dword v7, v4, s[4:5]
s_waitcnt vmcnt(0)
${isSecondMissing ? 's_barrier' : gridBarrier(2 * n + 1, groups, way)}`;
  });
  return `v_lshlrev_b32_e32 v2, 2, v0
s_lshl_b32 s8, s2, 9
v_add_u32_e32 v3, s8, v2
s_add_u32 s9, s2, 1
s_and_b32 s9, s9, ${groups - 1}
s_lshl_b32 s9, s9, 9
v_add_u32_e32 v4, s9, v2
v_mov_b32_e32 v5, 1
${rounds.join('\n')}`;
}

describe.each([
  [4, 'counter'],
  [4, 'flag'],
  [64, 'counter'],
  [64, 'flag'],
] as const)('what %i workgroups exchange behind barriers of the grid by a %s', (groups, way) => {
  it.each([
    ['none', []],
    ['write-back', ['races/unreleased']],
    ['wait', ['races/unreleased']],
    ['invalidate', ['races/unacquired']],
    ['late store', ['races/global', 'races/unreleased']],
    ['second barrier', ['races/global', 'races/unreleased']],
  ] as const)('%s is missing', async (mistake, rules) => {
    const bufferBytes = countersOf(groups) + 0x1000;
    const options = { grid: [groups, 1, 1], block: [128, 1, 1], bufferBytes, isZeroed: true } as const;
    const found = await Promise.all(
      (['compiled', 'interpreter'] as const).map(async (engine) => {
        const findings = (await strictFindings(exchange(mistake, groups, way), { ...options, engine })) ?? [];
        return findings.map(({ rule, place }) => [rule, place?.instruction]);
      }),
    );
    expect([...new Set(found[0]?.map(([rule]) => rule))].sort()).toEqual(rules);
    expect(found[0]).toEqual(found[1]);
  });
});

/** What a workgroup tells whose wavefronts have stored so often each, before its second barrier. */
const told = (stores: number): Released => ({
  complete: [stores, stores],
  written: [stores, stores],
  pc: 0,
  wave: 0,
  issued: stores,
  isEarly: false,
  epoch: 1,
  releases: 0,
});
/** Where an atomic of the events is. */
const ATOMIC = 64;

const newWave = (plainStores = 0) => ({ plainStores, hasMet: false, hasFetched: false });

/** So many workgroups of two wavefronts have begun, of `workgroups`. */
function begun(count: number, mostAlone: number, workgroups = count) {
  const order = new Synchronisation();
  const handed = new HandedOverBefore((pc) => pc === ATOMIC, workgroups, mostAlone);
  const events = ownEvents();
  const waves = Array.from({ length: count }, () => [newWave(), newWave()]);
  for (const [group, all] of waves.entries()) handed.begin(group, all);
  /** The word of an event of a workgroup's first wavefront. */
  const event = (group: number, epoch: number, pc = 0): number =>
    events.of({ actor: actorOf(group, 0), pc, epoch, store: 0 }, events.left) << EVENT_SHIFT;
  const store = (group: number, count: number): void => {
    for (const wave of waves[group] ?? []) wave.plainStores = count;
  };
  const meet = (group: number, epoch: number, renumberings = 0): boolean =>
    handed.passBarrier(group, epoch, events.nextWord, renumberings);
  const release = (group: number, address: number): void => order.release(group, address, told(3));
  const acquire = (group: number, address: number): void => {
    order.acquire(group, order.seenAt(address) ?? expect.fail());
    order.invalidate(group);
    handed.invalidate(group);
  };
  const known = (group: number, renumberings = 0) => {
    handed.find(group, order, events);
    return handed.known(group, renumberings);
  };
  return { order, handed, events, waves, event, store, meet, release, acquire, known };
}

describe.each([
  ['alone', 32],
  ['together', 0],
] as const)('HandedOverBefore, where workgroups look %s', (_how, mostAlone) => {
  /** Two workgroups; the first one has stored, passed a barrier and released. */
  function two(workgroups = 2) {
    const all = begun(2, mostAlone, workgroups);
    all.event(0, 0);
    all.store(0, 3);
    all.meet(0, 1);
    all.release(0, 64);
    const acquire = (): void => all.acquire(1, 64);
    const known = (renumberings = 0) => all.known(1, renumberings);
    return { ...all, acquire, known };
  }

  it('should say nothing before a workgroup has invalidated its caches and come to a barrier', () => {
    const { handed, events, meet, acquire, known } = two();
    expect(handed.mayKnowMore(1)).toBe(false);
    acquire();
    expect(handed.mayKnowMore(1)).toBe(false);
    meet(1, 1);
    expect(handed.mayKnowMore(1)).toBe(true);
    expect(known()).toEqual({ reads: events.nextWord, writes: events.nextWord });
    expect(handed.mayKnowMore(1)).toBe(false);
  });

  it('should know nothing of many before all of them have begun', () => {
    const { handed, events, meet, release, acquire, known } = two(3);
    acquire();
    meet(1, 1);
    const isFew = mostAlone > 0;
    expect(known().writes).toBe(isFew ? events.nextWord : 0);
    handed.begin(2, [newWave(), newWave()]);
    meet(2, 1);
    release(2, 64);
    acquire();
    meet(1, 2);
    expect(known().writes).toBe(events.nextWord);
  });

  it('should ask again until something new has been handed over, where a wavefront may have learnt it', () => {
    const { handed, meet, acquire, known, waves } = two();
    const own = waves[1] ?? expect.fail();
    const said = () => own.map(({ hasMet, hasFetched }) => [hasMet, hasFetched]);
    meet(1, 1);
    handed.invalidate(1);
    expect(known()).toEqual({ reads: 0, writes: 0 });
    expect(said()).toEqual([
      [true, false],
      [true, false],
    ]);
    (own[0] ?? expect.fail()).hasFetched = true;
    acquire();
    expect(handed.mayKnowMore(1)).toBe(true);
    expect(known().writes).toBeGreaterThan(0);
    expect(said()).toEqual([
      [false, true],
      [false, false],
    ]);
    // One of them waits for all.
    meet(1, 2);
    expect(said()).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('should not go beyond what the workgroup does behind its own last barrier', () => {
    const { event, meet, acquire, known } = two();
    acquire();
    meet(1, 1);
    const own = event(1, 1);
    event(1, 1);
    expect(known()).toEqual({ reads: own, writes: own });
  });

  it('should go as far as the first event behind the last barrier that is handed over, where there are later stores', () => {
    const { event, store, meet, acquire, known } = two();
    const later = event(0, 1);
    store(0, 4);
    acquire();
    meet(1, 1);
    expect(known()).toEqual({ reads: later, writes: later });
  });

  it('should pass over atomics, and over what was done before the barrier and is an event since', () => {
    const { events, event, store, meet, acquire, known } = two();
    event(0, 1, ATOMIC);
    event(0, 0);
    store(0, 4);
    acquire();
    meet(1, 1);
    expect(known()).toEqual({ reads: events.nextWord, writes: events.nextWord });
  });

  it('should go as far as the first event of any later interval, which may be one of the last of them', () => {
    const { event, store, meet, acquire, known } = two();
    const later = event(0, 2);
    event(0, 1);
    store(0, 4);
    acquire();
    meet(1, 1);
    expect(known()).toEqual({ reads: later, writes: later });
  });

  it('should count no barriers of single wavefronts, which are no epochs', () => {
    const { handed, events, event, meet, acquire, known } = two();
    const wave = newWave(3);
    handed.begin(0, [wave]);
    meet(0, 1);
    const before = events.nextWord;
    event(0, 0);
    wave.plainStores = 4;
    acquire();
    meet(1, 1);
    expect(known().writes).toBe(before);
  });

  it('should know nothing while one workgroup has handed nothing over', () => {
    const { handed, meet, acquire, known } = two();
    handed.begin(2, [newWave()]);
    acquire();
    meet(1, 1);
    expect(known().writes).toBe(0);
  });

  it('should forget when events have other numbers', () => {
    const { handed, events, meet, acquire, known } = two();
    acquire();
    meet(1, 1);
    expect(known().writes).toBe(events.nextWord);
    expect(handed.known(1, 1).writes).toBe(0);
    meet(1, 2, 1);
    expect(known(1).writes).toBe(events.nextWord);
  });
});

describe('HandedOverBefore, where one workgroup tells others what all have told it', () => {
  const [COUNTER, FLAG] = [64, 128];
  /** Three workgroups; all have stored and passed a barrier, and the last two have told that. The first one has been told, if it `hasCome`, before it tells the others by a flag. */
  function three(hasCome: boolean) {
    const all = begun(3, 0);
    const { event, store, meet, release, acquire } = all;
    const known = (group: number, epoch: number) => {
      meet(group, epoch);
      return all.known(group);
    };
    for (const group of all.waves.keys()) {
      event(group, 0);
      store(group, 3);
      meet(group, 1);
      if (group > 0) release(group, COUNTER);
    }
    if (hasCome) {
      acquire(0, COUNTER);
      known(0, 2);
    }
    release(0, FLAG);
    if (!hasCome) acquire(0, COUNTER);
    return { ...all, known };
  }

  it('should know what has been told to who tells it, and what that has done itself', () => {
    const { events, acquire, known } = three(true);
    acquire(1, FLAG);
    expect(known(1, 2)).toEqual({ reads: events.nextWord, writes: events.nextWord });
  });

  it('should go as far as what who tells it, or another one, has done behind its last barrier', () => {
    for (const group of [0, 2]) {
      const { event, store, acquire, known } = three(true);
      const later = event(group, 2);
      store(group, 4);
      acquire(1, FLAG);
      expect(known(1, 2)).toEqual({ reads: later, writes: later });
    }
  });

  it('should know nothing at an address where another one than who asks has told nothing', () => {
    const { release, acquire, known } = three(true);
    // All but the last, the one that asks among them.
    for (const group of [0, 1]) release(group, 192);
    acquire(1, 192);
    expect(known(1, 2)).toEqual({ reads: 0, writes: 0 });
  });

  it('should know nothing by who had not been told by all then', () => {
    const { acquire, known } = three(false);
    known(0, 2);
    acquire(1, FLAG);
    expect(known(1, 2)).toEqual({ reads: 0, writes: 0 });
  });
});
