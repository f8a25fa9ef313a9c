// Two wavefronts store to the same bytes of LDS without a barrier: the same values are no race, others are, in compiled code and in the interpreter.
import { describe, expect, test } from 'vitest';
import { type StrictRun, shortFindings, strictFindings } from '../../../../../tests/support/strict.ts';

const TWO_WAVES: StrictRun = { block: [128, 1, 1], lds: 16384 };

/**
 * `stores` to places from v5 on: the number of the lane times 2^shift, with v[8:11] of the lane's number and zeros, so that halves differ. In
 * `wave` one more is added to v8 + `word` of lane 63, in the first of the wavefronts or none.
 */
function kernel(stores: string, shift: number, other: { readonly word: number } | undefined): string {
  const differ =
    other === undefined
      ? ''
      : `v_cmp_eq_u32_e32 vcc, 0xfc, v1\nv_cndmask_b32_e64 v6, 0, 1, vcc\nv_lshl_or_b32 v6, v6, 16, v6\nv_add_u32_e32 v${8 + other.word}, v${8 + other.word}, v6`;
  return `v_and_b32_e32 v4, 0xff, v1
v_lshrrev_b32_e32 v4, 2, v4
v_lshlrev_b32_e32 v5, ${shift}, v4
v_lshl_or_b32 v8, v4, 16, v4
v_add_u32_e32 v9, 1, v8
v_add_u32_e32 v10, 2, v8
v_add_u32_e32 v11, 3, v8
${differ}
${stores}
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v4, v8`;
}

/** A store, the distance of its lanes as a power of two, the last of the words that it stores. */
const STORES: readonly [text: string, shift: number, word: number][] = [
  ['ds_write_b8 v5, v8', 0, 0],
  ['ds_write_b8 v5, v8', 3, 0],
  ['ds_write_b8_d16_hi v5, v8', 2, 0],
  ['ds_write_b16 v5, v8', 1, 0],
  ['ds_write_b16 v5, v8', 4, 0],
  ['ds_write_b16_d16_hi v5, v8', 1, 0],
  ['ds_write_b32 v5, v8', 2, 0],
  ['ds_write_b32 v5, v8', 5, 0],
  ['ds_write_b64 v5, v[8:9]', 3, 1],
  ['ds_write_b64 v5, v[8:9]', 5, 1],
  ['ds_write_b96 v5, v[8:10]', 4, 2],
  ['ds_write_b128 v5, v[8:11]', 4, 3],
  ['ds_write_b128 v5, v[8:11]', 5, 3],
  ['ds_write2_b32 v5, v8, v9 offset1:1', 3, 1],
  ['ds_write2_b64 v5, v[8:9], v[10:11] offset1:1', 4, 3],
  ['ds_write2st64_b32 v5, v8, v9 offset1:16', 2, 1],
];

for (const engine of ['interpreter', 'compiled'] as const) {
  describe(`stores of what is there (${engine})`, () => {
    for (const [text, shift, word] of STORES) {
      const findings = async (other: { readonly word: number } | undefined): Promise<string[]> =>
        shortFindings(await strictFindings(kernel(text, shift, other), { ...TWO_WAVES, engine }));

      test(`${text}, lanes ${1 << shift} bytes apart`, async () => {
        expect(await findings(undefined)).toEqual([]);
        expect(await findings({ word })).toEqual(['races/lds']);
      });
    }
  });
}
