// Sums that are exactly zero, in every rounding and on both engines: rounded down they are negative unless both terms are positive.
// Source: IEEE 754-2019, 6.3.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { createDevice } from '../../index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

/** v2, v3 and v[6:7], v[8:9] are 1 and -1; v4, v5 hold f16 ones in both halves. */
const SUMS = [
  ['v_add_f32_e32 v10, v2, v3', 'v10', 32],
  ['v_sub_f32_e32 v10, v2, v2', 'v10', 32],
  ['v_fma_f32 v10, v2, v3, v2', 'v10', 32],
  ['v_add_f16_e32 v10, v4, v5', 'v10', 16],
  ['v_sub_f16_e32 v10, v4, v4', 'v10', 16],
  ['v_fma_f16 v10, v4, v5, v4', 'v10', 16],
  ['v_pk_add_f16 v10, v4, v5', 'v10', 16],
  ['v_add_f64 v[10:11], v[6:7], v[8:9]', 'v11', 32],
  ['v_fma_f64 v[10:11], v[6:7], v[8:9], v[6:7]', 'v11', 32],
] as const;
/** Sums of two positive zeros. */
const POSITIVE = ['v_add_f32_e32 v10, v12, v12', 'v_add_f16_e32 v10, v12, v12', 'v_fma_f32 v10, v12, v12, v12'];

async function bitsOf(engine: 'compiled' | 'interpreter', rounding: number): Promise<Uint32Array> {
  const code = [
    's_load_dwordx2 s[4:5], s[0:1], 0x0',
    'v_mov_b32_e32 v0, 0',
    'v_mov_b32_e32 v2, 1.0\nv_mov_b32_e32 v3, -1.0\nv_mov_b32_e32 v4, 0x3c003c00\nv_mov_b32_e32 v5, 0xbc00bc00',
    'v_mov_b32_e32 v6, 0\nv_mov_b32_e32 v7, 0x3ff00000\nv_mov_b32_e32 v8, 0\nv_mov_b32_e32 v9, 0xbff00000\nv_mov_b32_e32 v12, 0',
    `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), ${5 * rounding}`,
    's_waitcnt lgkmcnt(0)',
    ...SUMS.map(([line, result], n) => `${line}\nglobal_store_dword v0, ${result}, s[4:5] offset:${4 * n}`),
    ...POSITIVE.map((line, n) => `${line}\nglobal_store_dword v0, v10, s[4:5] offset:${4 * (SUMS.length + n)}`),
    's_waitcnt vmcnt(0)',
  ].join('\n');
  const object = kernelObject({
    code,
    args: [[8, 'global_buffer']],
    descriptor: { next_free_vgpr: 16, accum_offset: 16 },
  });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const out = device.alloc(64, 'out');
    const kernel = device.load(object.bytes).kernel('k');
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [1, 1, 1], args: [out], engine });
    return new Uint32Array(device.read(out).slice().buffer);
  } finally {
    device.close();
  }
}

describe.each(['compiled', 'interpreter'] as const)('%s', (engine) => {
  test.each([0, 1, 2, 3])('exact zeros in rounding %d', async (rounding) => {
    const bits = await bitsOf(engine, rounding);
    for (const [n, [line, , width]] of SUMS.entries()) {
      const value = (bits[n] as number) & (width === 16 ? 0xffff : -1);
      expect([line, value >>> 0]).toEqual([line, rounding === 2 ? 2 ** (width - 1) : 0]);
    }
    expect([...bits.subarray(SUMS.length, SUMS.length + POSITIVE.length)]).toEqual([0, 0, 0]);
  });
});
