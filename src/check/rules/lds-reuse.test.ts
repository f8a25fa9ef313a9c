// An LDS read that a barrier does not wait for: reported where all that it can read is stored anew behind the barrier, else not.
import { expect, test } from 'vitest';
import { checkBody } from '../../../tests/support/program.ts';
import { checkLdsReuse } from './lds-reuse.ts';

/** The fixes of the findings. */
const found = (body: string): string[] =>
  checkBody(checkLdsReuse, `${body}\ns_endpgm`).map(({ fix }) => /s_waitcnt (\S+)/.exec(fix ?? '')?.[1] ?? '');

const STORE = 'ds_write_b32 v8, v9\n s_waitcnt lgkmcnt(0)\n s_barrier\n';
const READ = 'ds_read_b32 v10, v11\n';

test('the tile is stored again behind the barrier', () => {
  const late = ['lgkmcnt(0)'];
  expect(found(`${STORE}${READ} s_barrier\n ds_write_b32 v8, v10`)).toEqual(late);
  expect(found(`${STORE}${READ} s_barrier\n s_waitcnt lgkmcnt(0)\n ds_write_b32 v8, v10`)).toEqual(late);
  expect(found(`again:\n ${STORE}${READ} s_barrier\n s_cbranch_scc1 again`)).toEqual(late);
  expect(found(`${STORE}${READ}ds_swizzle_b32 v12, v9 offset:0x1f\n s_barrier\n ds_write_b32 v8, v9`)).toEqual([
    'lgkmcnt(1)',
  ]);
  expect(found(`${STORE}${READ} s_waitcnt lgkmcnt(0)\n s_barrier\n ds_write_b32 v8, v10`)).toEqual([]);
});

test('another barrier lies between', () => {
  expect(found(`${STORE}${READ} s_barrier\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_write_b32 v8, v9`)).toEqual([]);
});

test('the other buffer is stored', () => {
  const two = `ds_write_b32 v8, v9\n ds_write_b32 v8, v9 offset:512\n s_waitcnt lgkmcnt(0)\n s_barrier\n ${READ} s_barrier\n`;
  expect(found(`${two} ds_write_b32 v8, v9 offset:512`)).toEqual([]);
  expect(found(`${two} ds_write_b32 v8, v9 offset:512\n ds_write_b32 v8, v9`)).toHaveLength(1);
  expect(found(`${two} ds_write2st64_b32 v8, v9, v9 offset1:2`)).toEqual([]);
  const turn = `again:\n ${STORE}${READ} s_barrier\n v_xor_b32 v8, 0x200, v8\n s_cbranch_scc1 again`;
  expect(found(turn)).toEqual([]);
});

test('wavefronts read what they have stored themselves', () => {
  expect(found(`ds_write_b32 v8, v9\n ${READ} s_barrier\n ds_write_b32 v8, v10`)).toEqual([]);
});

test('not all that may be read is known', () => {
  expect(found(`${STORE}flat_store_dword v[0:1], v9\n s_barrier\n ${READ} s_barrier\n ds_write_b32 v8, v9`)).toEqual(
    [],
  );
  expect(found(`${READ} s_barrier\n ds_write_b32 v8, v9`)).toEqual([]);
});
