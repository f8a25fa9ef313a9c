// A wavefront fills a ring of LDS by loads from memory for two others, which hand its places back by flags or by a counter in LDS: there are no barriers.
import { describe, expect, test } from 'vitest';
import { type StrictRun, shortFindings, strictFindings } from '../../../../../tests/support/strict.ts';

/** LDS begins with two places of 256 bytes; from these bytes on there are how often each has been filled, how often it has been read, and what nobody reads. */
const [FULL, READ, UNUSED] = [512, 520, 768];
const ROUNDS = 7;
const WAVES = 3;

const MISTAKES = [
  'told before it is there',
  'told before it is there from the fourth time on',
  'handed back before it is read',
  'filled before it is handed back',
] as const;

interface Ring {
  readonly isBuffer: boolean;
  /** Both readers add to one counter of the place; otherwise each has a flag. */
  readonly counts: boolean;
  readonly mistake: (typeof MISTAKES)[number] | undefined;
}

/** Waits until the dword at v7 is at least s10. */
const waitFor = (label: string): string => `${label}:
s_sleep 1
ds_read_b32 v8, v7
s_waitcnt lgkmcnt(0)
v_readfirstlane_b32 s11, v8
s_cmp_lt_u32 s11, s10
s_cbranch_scc1 ${label}`;

const stepTo = (label: string): string => `s_add_u32 s8, s8, 1\ns_cmp_lt_u32 s8, ${ROUNDS}\ns_cbranch_scc1 ${label}`;

/** s8: the round; s12: the place; s13: how often it has been used before; s9: the wavefront; v1: four times the lane. */
const PLACE = 's_and_b32 s12, s8, 1\ns_lshr_b32 s13, s8, 1';
const ONE_LANE = 's_mov_b64 exec, 1';
const ALL_LANES = 's_mov_b64 exec, -1';

function filler({ isBuffer, counts, mistake }: Ring): string {
  const load = isBuffer ? 'buffer_load_dword v1, s[16:19], 0 offen lds' : 'global_load_lds_dword v1, s[4:5]';
  // The load behind it may be on its way.
  const wait = 's_waitcnt vmcnt(1)';
  const tell = `v_mov_b32_e32 v9, s14\n${ONE_LANE}\nds_write_b32 v6, v9\n${ALL_LANES}`;
  const told = (): string => {
    switch (mistake) {
      case 'told before it is there':
        return `${tell}\n${wait}`;
      case 'told before it is there from the fourth time on':
        return `s_cmp_lt_u32 s8, 3\ns_cbranch_scc1 .Lfirst\n${tell}\n${wait}\ns_branch .Ltold\n.Lfirst:\n${wait}\n${tell}\n.Ltold:`;
      default:
        return `${wait}\n${tell}`;
    }
  };
  const readers = counts ? [0] : [0, 8];
  const handedBack = readers.map(
    (reader) => `v_mov_b32_e32 v7, s15\nv_add_u32_e32 v7, ${READ + reader}, v7\n${waitFor(`.Lfree${reader}`)}`,
  );
  return `.Lfill:
${PLACE}
s_lshl_b32 s15, s12, 2
s_lshl_b32 s10, s13, ${counts ? 1 : 0}
${mistake === 'filled before it is handed back' ? '' : handedBack.join('\n')}
s_lshl_b32 s14, s12, 8
s_mov_b32 m0, s14
s_add_u32 s14, s13, 1
v_mov_b32_e32 v6, s15
v_add_u32_e32 v6, ${FULL}, v6
${load}
s_movk_i32 m0, ${UNUSED}
s_nop 0
${load}
${told()}
${stepTo('.Lfill')}
s_endpgm`;
}

function readers({ counts, mistake }: Ring): string {
  const read = 'ds_read_b32 v10, v11\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v12, v10';
  const back = counts ? 'ds_add_u32 v6, v13' : 'ds_write_b32 v6, v9';
  const tell = `${ONE_LANE}\n${back}\n${ALL_LANES}`;
  return `.Lreaders:
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v13, 1
s_lshl_b32 s16, s9, 3
s_sub_u32 s16, s16, 8
.Lread:
${PLACE}
s_add_u32 s10, s13, 1
s_lshl_b32 s14, s12, 2
v_mov_b32_e32 v7, s14
v_add_u32_e32 v7, ${FULL}, v7
${waitFor('.Lfull')}
s_lshl_b32 s15, s12, 8
v_add_u32_e32 v11, s15, v1
${counts ? '' : 's_add_u32 s14, s14, s16'}
v_mov_b32_e32 v6, s14
v_add_u32_e32 v6, ${READ}, v6
v_mov_b32_e32 v9, s10
${mistake === 'handed back before it is read' ? `${tell}\n${read}` : `${read}\n${tell}`}
${stepTo('.Lread')}
global_store_dword v2, v12, s[4:5] offset:1024`;
}

const code = (ring: Ring): string => `v_lshlrev_b32_e32 v2, 2, v0
v_lshrrev_b32_e32 v4, 6, v0
s_nop 1
v_readfirstlane_b32 s9, v4
v_and_b32_e32 v1, 0xff, v1
s_mov_b32 s16, s4
s_and_b32 s17, s5, 0xffff
s_mov_b32 s18, 4096
s_mov_b32 s19, 0x20000
v_mov_b32_e32 v5, 0
v_add_u32_e32 v6, ${FULL}, v1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lwritten
ds_write_b32 v6, v5
s_waitcnt lgkmcnt(0)
.Lwritten:
s_barrier
s_mov_b32 s8, 0
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lreaders
${filler(ring)}
${readers(ring)}`;

const RUN: StrictRun = { block: [64 * WAVES, 1, 1], lds: 1024, bufferBytes: 4096 };
const KINDS = [false, true].flatMap((isBuffer) => [false, true].map((counts) => ({ isBuffer, counts })));

describe.each(['compiled', 'interpreter'] as const)('a ring filled by loads: %s', (engine) => {
  test.each(KINDS)('%o', async (kind) => {
    const finds = async (mistake?: Ring['mistake']): Promise<string[]> =>
      [...new Set(shortFindings(await strictFindings(code({ ...kind, mistake }), { ...RUN, engine })))].sort();
    expect(await finds()).toEqual([]);
    for (const mistake of MISTAKES)
      expect([mistake, ...(await finds(mistake))]).toEqual([mistake, 'races/lds-in-flight']);
  });
});
