// Loads from memory into LDS: who reads what they bring too early, in compiled code and in the interpreter, and buffers that drop lanes.
import { describe, expect, test } from 'vitest';
import { type StrictRun, shortFindings, strictFindings } from '../../../../../tests/support/strict.ts';

const TWO_WAVES: StrictRun = { block: [128, 1, 1], lds: 1024 };
/** Each wavefront has 256 bytes of LDS from v1 on; v3 is where the other one has its own. */
const BEGIN = 'v_readfirstlane_b32 s8, v1\ns_mov_b32 m0, s8\nv_xor_b32_e32 v3, 0x100, v1';
const LOAD = 'global_load_lds_dword v1, s[4:5]';
/** The same into the second half of LDS. */
const NEXT = 'global_load_lds_dword v1, s[4:5] offset:512';
const END = 's_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32_e32 v4, v2';
const kernel = (...lines: readonly string[]): string => [BEGIN, ...lines, END].join('\n');
/** Two buffers that take turns, ten times: what is loaded in one turn is read in the next one. */
const turns = (wait: string): string =>
  kernel(
    's_mov_b32 s9, 0\ns_mov_b32 s10, 0',
    LOAD,
    `.Lturn:
s_xor_b32 s10, s10, 0x200
s_add_u32 s11, s8, s10
s_mov_b32 m0, s11
s_xor_b32 s12, s10, 0x200
v_add_u32_e32 v5, s12, v3
${LOAD}
${wait}
s_barrier
ds_read_b32 v2, v5
s_waitcnt lgkmcnt(0)
s_barrier
s_add_u32 s9, s9, 1
s_cmp_lt_u32 s9, 10
s_cbranch_scc1 .Lturn`,
  );
const BUFFER = (records: number): string =>
  `s_mov_b32 s12, s4\ns_and_b32 s13, s5, 0xffff\ns_mov_b32 s14, ${records}\ns_mov_b32 s15, 0x20000`;

const CASES: readonly [name: string, wrong: string, finds: readonly string[], right: string, options?: StrictRun][] = [
  [
    'a barrier is passed before the load has come back',
    kernel(LOAD, 's_barrier\nds_read_b32 v2, v3'),
    ['waits/barrier-before-write vmcnt(0)'],
    kernel(LOAD, 's_waitcnt vmcnt(0)\ns_barrier\nds_read_b32 v2, v3'),
  ],
  [
    'the second of two loads is read when the first has been waited for',
    kernel(LOAD, NEXT, 's_waitcnt vmcnt(1)\ns_barrier\nds_read_b32 v2, v3 offset:512'),
    ['waits/barrier-before-write vmcnt(0)'],
    kernel(LOAD, NEXT, 's_waitcnt vmcnt(1)\ns_barrier\nds_read_b32 v2, v3'),
  ],
  [
    // What the wavefront's own LDS operations use is theirs: they are in the queue of LDS long before the load's bytes are.
    'LDS is stored to where the load has not come back, not before it is issued',
    kernel(LOAD, 'ds_write_b32 v1, v0'),
    ['waits/lds-before-return vmcnt(0)'],
    kernel('ds_write_b32 v1, v0\nds_read_b32 v6, v1', LOAD),
  ],
  [
    'the load comes back between the barrier and the read',
    kernel(LOAD, 's_barrier\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v3'),
    ['waits/barrier-before-write vmcnt(0)'],
    kernel(LOAD, 's_barrier\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v1'),
  ],
  [
    'a wavefront reads its own second load when the first has been waited for',
    kernel(LOAD, NEXT, 's_waitcnt vmcnt(1)\nds_read_b32 v2, v1 offset:512'),
    ['waits/lds-before-return vmcnt(0)'],
    kernel(LOAD, NEXT, 's_waitcnt vmcnt(1)\nds_read_b32 v2, v1'),
  ],
  [
    'wide reads of which a part is still to be written',
    kernel(
      LOAD,
      NEXT,
      's_waitcnt vmcnt(1)\nv_lshlrev_b32_e32 v5, 2, v1\nv_add_u32_e32 v5, 0x1f8, v5\nds_read_b128 v[8:11], v5\nv_mov_b32_e32 v2, 0',
    ),
    ['waits/lds-before-return vmcnt(0)'],
    kernel(
      LOAD,
      NEXT,
      's_waitcnt vmcnt(0)\nv_lshrrev_b32_e32 v5, 2, v1\nds_read_b128 v[8:11], v5\nv_mov_b32_e32 v2, 0',
    ),
    { lds: 8192, block: [64, 1, 1] },
  ],
  [
    'bytes are stored that a load is still to write',
    kernel(LOAD, 'ds_write_b32 v1, v0\nv_mov_b32_e32 v2, 0'),
    ['waits/lds-before-return vmcnt(0)'],
    kernel(LOAD, 's_waitcnt vmcnt(0)\nds_write_b32 v1, v0\nv_mov_b32_e32 v2, 0'),
  ],
  [
    'an atomic updates bytes that a load is still to write',
    kernel('ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)', LOAD, 'ds_add_u32 v1, v0\nv_mov_b32_e32 v2, 0'),
    ['waits/lds-before-return vmcnt(0)'],
    kernel(LOAD, 's_waitcnt vmcnt(0)\nds_add_u32 v1, v0\nv_mov_b32_e32 v2, 0'),
  ],
  [
    'another wavefront reads without a barrier',
    kernel(LOAD, 's_waitcnt vmcnt(0)\nds_read_b32 v2, v3'),
    ['races/lds-in-flight', 'races/lds-in-flight'],
    kernel(LOAD, 's_waitcnt vmcnt(0)\nds_read_b32 v2, v1'),
  ],
  [
    'another wavefront loads into the same bytes',
    `${kernel('s_mov_b32 m0, 0', LOAD)}`.replace('v_mov_b32_e32 v4, v2', ''),
    ['races/lds-in-flight'],
    `${kernel(LOAD)}`.replace('v_mov_b32_e32 v4, v2', ''),
  ],
  [
    'lanes that have loaded nothing are read',
    kernel(
      's_mov_b64 exec, 0xffffff0f',
      LOAD,
      's_mov_b64 exec, -1\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[4:5]',
    ),
    ['memory/uninitialised v2'],
    kernel(
      's_mov_b64 exec, 0xffffff0f',
      LOAD,
      's_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[4:5]',
    ),
  ],
  [
    'two buffers that take turns, with one wait too weak',
    turns('s_waitcnt vmcnt(2)'),
    ['waits/barrier-before-write vmcnt(1)'],
    turns('s_waitcnt vmcnt(1)'),
  ],
];

describe.each(['compiled', 'interpreter'] as const)('loads into LDS: %s', (engine) => {
  test.each(CASES)('%s', async (_, wrong, finds, right, options = TWO_WAVES) => {
    expect(shortFindings(await strictFindings(wrong, { ...options, engine }))).toEqual(finds);
    expect(shortFindings(await strictFindings(right, { ...options, engine }))).toEqual([]);
  });
});

describe('lanes that a buffer drops', () => {
  const loop = (body: string): string =>
    `${BUFFER(200)}\ns_mov_b32 s9, 0\ns_mov_b32 m0, 0\n.Lloop:\n${body}\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 7\ns_cbranch_scc1 .Lloop`;
  test.each([
    ['loads', 'buffer_load_dword v2, v1, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v4, v2', 7 * 14],
    [
      'wide loads',
      'buffer_load_dwordx2 v[2:3], v1, s[12:15], 0 offen\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v4, v3',
      7 * 15,
    ],
    ['stores', 'buffer_store_dword v0, v1, s[12:15], 0 offen\ns_waitcnt vmcnt(0)', 7 * 14],
    [
      'loads into LDS',
      'buffer_load_dword v1, s[12:15], 0 offen lds\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v4, v2',
      7 * 14,
    ],
  ])('are counted alike by both engines: %s', async (_, body, count) => {
    for (const engine of ['compiled', 'interpreter'] as const) {
      const found = await strictFindings(loop(body), { engine, lds: 1024 });
      expect(found.map(({ rule, count }) => [rule, count])).toEqual([['memory/dropped', count]]);
    }
  });
});
