// v_div_fmas_f64 and v_perm_b32 on both engines, on operands where their code takes steps of its own: denormal results and ties of them,
// sums that overflow before they are scaled, every selector of bytes.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { randomNumbers } from '../../../base/index.ts';
import { createDevice } from '../../index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const LANES = 16384;

/** Runs code on lanes that hold `words` dwords each, in v[4:…]; the two dwords of v[2:3] come back. */
async function results(code: string, words: number, input: Uint8Array, engine: 'compiled' | 'interpreter') {
  const text = `s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshl_add_u32 v0, s2, 6, v0
v_mul_u32_u24_e32 v1, ${4 * words}, v0
v_lshlrev_b32_e32 v12, 3, v0
s_waitcnt lgkmcnt(0)
${Array.from({ length: words }, (_, n) => `global_load_dword v${4 + n}, v1, s[4:5] offset:${4 * n}`).join('\n')}
v_mov_b32_e32 v3, 0
v_and_b32_e32 v13, 1, v0
v_cmp_ne_u32_e32 vcc, 0, v13
s_waitcnt vmcnt(0)
s_nop 4
${code}
global_store_dwordx2 v12, v[2:3], s[6:7]`;
  const object = kernelObject({
    code: text,
    args: [
      [8, 'global_buffer'],
      [8, 'global_buffer'],
    ],
    descriptor: { next_free_vgpr: 16, accum_offset: 16, system_sgpr_workgroup_id_x: 1 },
  });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const buffers = [device.alloc(input.length, 'in'), device.alloc(8 * LANES, 'out')] as const;
    device.write(buffers[0], input);
    const kernel = device.load(object.bytes).kernel('k');
    await device.dispatch({ kernel, grid: [LANES / 64, 1, 1], block: [64, 1, 1], args: buffers, engine });
    return new BigUint64Array(device.read(buffers[1]).slice().buffer);
  } finally {
    device.close();
  }
}

async function compare(code: string, words: number, input: Uint8Array): Promise<void> {
  const [compiled, interpreted] = [
    await results(code, words, input, 'compiled'),
    await results(code, words, input, 'interpreter'),
  ];
  const different = [...compiled.keys()].filter((i) => compiled[i] !== interpreted[i]);
  const shown = different.slice(0, 5).map((i) => {
    const operands = new BigUint64Array(input.buffer, 4 * words * i, words >> 1);
    return `${i}: ${[...operands].map((x) => x.toString(16)).join(' ')}: ${compiled[i]?.toString(16)} ${interpreted[i]?.toString(16)}`;
  });
  expect(shown).toEqual([]);
}

test('v_div_fmas_f64', async () => {
  const random = randomNumbers(7);
  const below = (n: number): number => Math.floor(random() * n);
  const sign = (): number => (random() < 0.5 ? -1 : 1);
  const between = (low: number, high: number): number => sign() * (1 + random()) * 2 ** (low + below(high - low));
  const grid = 2 ** -946;
  const special = [0, -0, 1, -1, 2, -2, Infinity, -Infinity, Number.NaN, 5e-324, -5e-324, 2 ** -1022, 2 ** -894, grid];
  const cases: (() => [number, number, number])[] = [
    () => [between(-1074, 1023), between(-1074, 1023), between(-1074, 1023)],
    // A quotient of which the scaled value is denormal, with the small correction of a division.
    () => {
      const c = between(-1010, -890);
      return [between(-40, 40), (c * between(-60, -50)) / 2 ** 20, c];
    },
    // Ties of the denormal grid, and what breaks them.
    () => [between(-600, -450), between(-600, -450), sign() * (2 * below(2 ** 30) + 1) * (grid / 2)],
    () => [between(-30, 30), between(-1074, -1000), sign() * (2 * below(8) + 1) * (grid / 2)],
    () => [0, between(0, 10), sign() * (2 * below(2 ** 30) + 1) * (grid / 2)],
    // Overflow before the scale.
    () => [between(480, 560), between(480, 560), between(-1074, 1)],
    // Scaled up.
    () => [between(-500, 500), between(-500, 500), between(1, 1023)],
    () => [special[below(special.length)], special[below(special.length)], special[below(special.length)]] as never,
    () => [between(-3, 3), between(-450, -440), special[below(special.length)] as number],
  ];
  const values = new Float64Array(3 * LANES);
  for (let i = 0; i < LANES; i++) values.set((cases[i % cases.length] as () => number[])(), 3 * i);
  await compare('v_div_fmas_f64 v[2:3], v[4:5], v[6:7], v[8:9]', 6, new Uint8Array(values.buffer));
});

test('v_perm_b32', async () => {
  const random = randomNumbers(3);
  const words = Uint32Array.from({ length: 4 * LANES }, (_, i) => {
    const any = Math.floor(random() * 2 ** 32);
    // Of most selectors only the low four bits count.
    return i % 4 === 2 && random() < 0.8 ? any & 0x0f0f0f0f : any;
  });
  await compare('v_perm_b32 v2, v4, v5, v6', 4, new Uint8Array(words.buffer));
});
