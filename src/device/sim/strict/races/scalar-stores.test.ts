// Scalar stores leave their data in a scalar cache: nobody else sees it before that is written back.
import { describe, expect, test } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
type Target = (typeof TARGETS)[number];

const BEGIN = 'v_mov_b32_e32 v10, 0\nv_mov_b32_e32 v3, 9\ns_mov_b32 s16, 7';
const STORE = 's_store_dword s16, s[4:5], 0x40';
const BACK = 's_dcache_wb';
const WAIT = 's_waitcnt vmcnt(0) lgkmcnt(0)';
const LOAD = (offset: number): string =>
  `global_load_dword v4, v10, s[4:5] offset:${offset}\n${WAIT}\nv_add_u32_e32 v5, v4, v4`;
/** Of the first of two wavefronts, and the other one. */
const waves = (first: string, other: string, between: string): string =>
  [
    'v_readfirstlane_b32 s17, v0',
    's_and_b32 s17, s17, 0x3ff',
    's_cmp_eq_u32 s17, 0',
    's_cbranch_scc0 .Lothers9',
    first,
    between,
    's_branch .Lover9',
    '.Lothers9:',
    between,
    other,
    '.Lover9:',
  ].join('\n');
/** Of the first workgroup, and the other one, behind a flag. */
const workgroups = (target: Target, first: string, other: string): string => {
  const [past, invalidate] = target === 'gfx90a' ? ['glc', 'buffer_wbinvl1_vol'] : ['sc1', 'buffer_inv sc1'];
  return [
    's_mov_b64 exec, 1',
    's_cmp_eq_u32 s2, 0',
    's_cbranch_scc0 .Lothers9',
    first,
    WAIT,
    ...(target === 'gfx90a' ? [] : ['buffer_wbl2 sc1', WAIT]),
    `global_store_dword v10, v3, s[4:5] offset:1024 ${target === 'gfx90a' ? '' : 'sc1'}`,
    's_branch .Lover9',
    '.Lothers9:',
    `global_load_dword v4, v10, s[4:5] offset:1024 ${past}`,
    WAIT,
    'v_cmp_eq_u32_e32 vcc, 0, v4',
    's_cbranch_vccnz .Lothers9',
    invalidate,
    's_dcache_inv',
    WAIT,
    other,
    '.Lover9:',
  ].join('\n');
};

async function findingsOf(target: Target, code: string, engine: 'compiled' | 'interpreter', [grid, block] = [1, 64]) {
  const descriptor = { next_free_vgpr: 16, accum_offset: 16, next_free_sgpr: 32 };
  const options = { target, engine, descriptor, grid: [grid, 1, 1], block: [block, 1, 1] } as const;
  return strictFindings(`${BEGIN}\n${code}`, { ...options, bufferBytes: 4096, isZeroed: true });
}

type Case = readonly [name: string, code: (target: Target) => string, size?: [grid: number, block: number]];

const BUFFER = 's_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_mov_b32 s10, -1\ns_mov_b32 s11, 0x27000';

const RIGHT: readonly Case[] = [
  ['written back at the end', () => `${STORE}\n${BACK}`],
  [
    'several, written back together',
    () =>
      `${STORE}\ns_store_dwordx4 s[16:19], s[4:5], 0x80\n${BACK}`.replace(
        /^/,
        's_mov_b32 s17, 1\ns_mov_b32 s18, 1\ns_mov_b32 s19, 1\n',
      ),
  ],
  ['of a buffer', () => `${BUFFER}\ns_buffer_store_dword s16, s[8:11], 0x40\n${BACK}`],
  ['past the cache', () => `${STORE} glc`],
  [
    'in a loop',
    () => `s_mov_b32 m0, 4\n.Lloop:\n${STORE}\ns_sub_u32 m0, m0, 1\ns_cmp_lg_u32 m0, 0\ns_cbranch_scc1 .Lloop\n${BACK}`,
  ],
  ['on a way that is not taken', () => `s_cmp_eq_u32 s16, 7\ns_cbranch_scc1 .Lover\n${STORE}\n.Lover:\n${LOAD(64)}`],
  [
    'read by a scalar load',
    () => `${STORE}\n${WAIT}\ns_load_dword s17, s[4:5], 0x40\n${WAIT}\ns_add_u32 s17, s17, 1\n${BACK}`,
  ],
  [
    'read by a scalar load behind the write-back',
    () => `${STORE}\n${BACK}\n${WAIT}\ns_load_dword s17, s[4:5], 0x40\n${WAIT}\ns_add_u32 s17, s17, 1`,
  ],
  ['read behind the write-back', () => `${STORE}\n${WAIT}\n${BACK}\n${WAIT}\n${LOAD(64)}`],
  [
    'overwritten behind the write-back',
    () => `${STORE}\n${WAIT}\n${BACK}\n${WAIT}\nglobal_store_dword v10, v10, s[4:5] offset:64`,
  ],
  [
    'beside loads, stores and atomics',
    () =>
      `${STORE}\n${LOAD(68)}\nglobal_store_dword v10, v3, s[4:5] offset:60\nglobal_atomic_add v10, v3, s[4:5] offset:128\n${BACK}`,
  ],
  ['written back by another wavefront', () => waves(STORE, BACK, `${WAIT}\ns_barrier`), [1, 128]],
  [
    'read by another wavefront behind that',
    () => waves(`${STORE}\n${WAIT}\n${BACK}`, LOAD(64), `${WAIT}\ns_barrier`),
    [1, 128],
  ],
  ['handed over to another workgroup', (target) => workgroups(target, `${STORE}\n${WAIT}\n${BACK}`, LOAD(64)), [2, 64]],
  [
    'handed over to a scalar load of another workgroup',
    (target) => workgroups(target, `${STORE}\n${WAIT}\n${BACK}`, 's_load_dword s17, s[4:5], 0x40 glc'),
    [2, 64],
  ],
];

const WRONG: readonly Case[] = [
  ['never written back', () => STORE],
  ['of a buffer', () => `${BUFFER}\ns_buffer_store_dword s16, s[8:11], 0x40`],
  ['written back before', () => `${BACK}\n${STORE}`],
  ['on one of two ways', () => `${STORE}\ns_cmp_eq_u32 s16, 7\ns_cbranch_scc1 .Lover\n${BACK}\n.Lover:`],
  ['read by a vector load before', () => `${STORE}\n${WAIT}\n${LOAD(64)}\n${BACK}`],
  [
    'read by a flat load before',
    () =>
      `${STORE}\n${WAIT}\nv_mov_b32_e32 v6, s4\nv_mov_b32_e32 v7, s5\nv_add_u32_e32 v6, 64, v6\nflat_load_dword v4, v[6:7]\n${WAIT}\n${BACK}`,
  ],
  [
    'read by a load of bytes before',
    () => `${STORE}\n${WAIT}\nglobal_load_ubyte v4, v10, s[4:5] offset:66\n${WAIT}\n${BACK}`,
  ],
  ['overwritten before', () => `${STORE}\n${WAIT}\nglobal_store_dword v10, v10, s[4:5] offset:64\n${WAIT}\n${BACK}`],
  ['counted in before', () => `${STORE}\n${WAIT}\nglobal_atomic_add v10, v3, s[4:5] offset:64\n${WAIT}\n${BACK}`],
  ['read by another wavefront before', () => waves(STORE, `${LOAD(64)}\n${BACK}`, `${WAIT}\ns_barrier`), [1, 128]],
  ['handed over to another workgroup', (target) => workgroups(target, STORE, LOAD(64)), [2, 64]],
];

const check = async (rules: readonly string[], [, code, size]: Case): Promise<void> => {
  for (const target of TARGETS) {
    const text = code(target);
    const compiled = await findingsOf(target, text, 'compiled', size);
    expect(compiled).toEqual(await findingsOf(target, text, 'interpreter', size));
    expect(
      compiled.map(({ rule }) => rule),
      text,
    ).toEqual(rules);
  }
};

describe('a scalar store that is all right', () => {
  test.each(RIGHT.map((one) => [one[0], one] as const))('%s', (_, one) => check([], one));
});

describe('a scalar store that others miss', () => {
  test.each(WRONG.map((one) => [one[0], one] as const))('%s', (_, one) => check(['races/unreleased'], one));
});
