// Lanes of one store that put back what they have made of one place.
import { expect, it } from 'vitest';
import { strictFindings } from '../../../../../tests/support/strict.ts';

const FOUND = ['races/lanes'];
/** Counters that squares choose, in v2: some have more lanes than others; v8 is the number of the lane. */
const COUNTERS = 'v_lshrrev_b32_e32 v8, 2, v1\nv_mul_u32_u24_e32 v2, v8, v8\nv_and_b32_e32 v2, 28, v2';
const WAIT = 's_waitcnt vmcnt(0) lgkmcnt(0)';
const LOAD = `global_load_dword v3, v2, s[4:5]\n${WAIT}`;
const STORE = 'global_store_dword v2, v3, s[4:5]';

it.each([
  ['a sum', [LOAD, 'v_add_u32_e32 v3, 1, v3', STORE], FOUND],
  ['a product of floats', [LOAD, 'v_mul_f32_e32 v3, 2.0, v3', STORE], FOUND],
  ['a sum in another register', [LOAD, 'v_sub_u32_e32 v5, v3, v9', 'v_mov_b32_e32 v3, v5', STORE], FOUND],
  ['bits that are set', [LOAD, 'v_or_b32_e32 v3, 4, v3', STORE], []],
  ['a maximum', [LOAD, 'v_max_u32_e32 v3, 77, v3', STORE], []],
  ['a value that is loaded and not used', [LOAD, 'v_mov_b32_e32 v3, 5', 'v_add_u32_e32 v3, 1, v3', STORE], []],
  ['a sum for another place', [LOAD, 'v_add_u32_e32 v3, 1, v3', `${STORE} offset:64`], []],
  ['an address that has changed', [LOAD, 'v_add_u32_e32 v3, 1, v3', 'v_add_u32_e32 v2, 64, v2', STORE], []],
  [
    'a mask that the value makes',
    [LOAD, 'v_add_u32_e32 v5, 1, v3', 'v_cmp_eq_u32_e32 vcc, 3, v5', 'v_cndmask_b32_e64 v3, 1, 2, vcc', STORE],
    [],
  ],
  ['rows of four lanes', ['v_and_b32_e32 v2, 0xf0, v1', LOAD, 'v_add_u32_e32 v3, 1, v3', STORE], []],
  ['columns', ['v_and_b32_e32 v2, 60, v1', LOAD, 'v_add_u32_e32 v3, 1, v3', STORE], []],
  ['one lane', ['s_mov_b64 exec, 1', LOAD, 'v_add_u32_e32 v3, 1, v3', STORE], []],
  ['lanes with places of their own', ['v_mov_b32_e32 v2, v1', LOAD, 'v_add_u32_e32 v3, 1, v3', STORE], []],
  [
    'lanes with places of their own in no order',
    ['v_xor_b32_e32 v2, 0xa0, v1', LOAD, 'v_add_u32_e32 v3, 1, v3', STORE],
    [],
  ],
  [
    'LDS',
    ['ds_write_b32 v1, v1', WAIT, `ds_read_b32 v3, v2\n${WAIT}`, 'v_add_u32_e32 v3, 1, v3', 'ds_write_b32 v2, v3'],
    FOUND,
  ],
  [
    'flat',
    [
      'v_mov_b32_e32 v5, s5',
      'v_add_co_u32_e32 v4, vcc, s4, v2',
      'v_addc_co_u32_e32 v5, vcc, 0, v5, vcc',
      `flat_load_dword v3, v[4:5]\n${WAIT}`,
      'v_add_u32_e32 v3, 1, v3',
      'flat_store_dword v[4:5], v3',
    ],
    FOUND,
  ],
  [
    'a byte',
    [`global_load_ubyte v3, v8, s[4:5]\n${WAIT}`, 'v_add_u32_e32 v3, 1, v3', 'global_store_byte v8, v3, s[4:5]'],
    [],
  ],
  [
    'a loop',
    [
      's_mov_b32 s8, 3',
      `.Lagain:\n${LOAD}`,
      'v_add_u32_e32 v3, 1, v3',
      STORE,
      's_sub_u32 s8, s8, 1',
      's_cmp_lg_u32 s8, 0',
      's_cbranch_scc1 .Lagain',
    ],
    FOUND,
  ],
  [
    'a block that others come to',
    [
      LOAD,
      's_cmp_eq_u32 s8, s8',
      's_cbranch_scc1 .Lother',
      'v_mov_b32_e32 v3, 9',
      '.Lother:',
      'v_add_u32_e32 v3, 1, v3',
      STORE,
    ],
    [],
  ],
] as const)('%s', async (_name, lines, rules) => {
  for (const engine of ['compiled', 'interpreter'] as const) {
    const code = [COUNTERS, 's_mov_b32 s8, 0\nv_mov_b32_e32 v9, 3', ...lines, WAIT].join('\n');
    const findings = await strictFindings(code, { engine, lds: 256 });
    expect(findings.map(({ rule }) => rule)).toEqual(rules);
  }
});
