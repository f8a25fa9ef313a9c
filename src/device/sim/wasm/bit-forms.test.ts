// Results that compiled code makes of register bits (bit-forms.ts), against the interpreter: all f16, and three operands of every kind.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { createDevice } from '../../index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';

enableRelaxedSimd();

const THREADS = 65_536;
const WORDS = 5;

/** Zeros, denormals, numbers, infinities, quiet and signalling NaNs with payloads. */
const F16 = [0, 1, 0x3ff, 0x400, 0x3bff, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7dff, 0x7fff].flatMap((n) => [
  n,
  n | 0x8000,
]);
const F32 = [0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff].flatMap(
  (n) => [n, n + 2 ** 31],
);
const pick = (values: readonly number[], n: number): number => values[Math.floor(n) % values.length] as number;

/** Three f16 and three f32 of a thread: every triple of each kind comes up. */
function operandsOf(thread: number): number[] {
  const [a, b, c] = [thread, thread / F16.length, thread / F16.length ** 2];
  const half = (pick(F16, b) << 16) | pick(F16, a);
  const [d, e] = [thread / F32.length, thread / F32.length ** 2];
  return [half, (thread << 16) | pick(F16, c), pick(F32, thread), pick(F32, d), pick(F32, e)];
}

async function resultsOf(engine: 'compiled' | 'interpreter', mode: number): Promise<Uint32Array> {
  const lines = [
    'v_med3_f16 v10, v2, v8, v3',
    'v_med3_f32 v11, v4, v5, v6',
    'v_frexp_mant_f16_e32 v12, v9',
    'v_med3_f16 v13, -v2, v8, |v3|',
    'v_fract_f16_e32 v14, v9',
  ];
  const code = [
    's_load_dwordx4 s[4:7], s[0:1], 0x0',
    'v_lshl_add_u32 v0, s2, 8, v0',
    `v_mul_u32_u24_e32 v0, ${4 * WORDS}, v0`,
    's_waitcnt lgkmcnt(0)',
    ...[2, 3, 4, 5, 6].map((v, n) => `global_load_dword v${v}, v0, s[4:5] offset:${4 * n}`),
    's_waitcnt vmcnt(0)',
    'v_lshrrev_b32_e32 v8, 16, v2\nv_lshrrev_b32_e32 v9, 16, v3',
    ...[10, 11, 12, 13, 14].map((v) => `v_mov_b32_e32 v${v}, 0x12345678`),
    `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x${mode.toString(16)}`,
    ...lines,
    ...lines.map((_, n) => `global_store_dword v0, v${10 + n}, s[6:7] offset:${4 * n}`),
    's_waitcnt vmcnt(0)',
  ].join('\n');
  const object = kernelObject({
    code,
    args: [
      [8, 'global_buffer'],
      [8, 'global_buffer'],
    ],
    descriptor: { next_free_vgpr: 16, accum_offset: 16 },
  });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const given = device.alloc(4 * WORDS * THREADS, 'given');
    const out = device.alloc(4 * WORDS * THREADS, 'out');
    const all = new Uint32Array(WORDS * THREADS);
    for (let thread = 0; thread < THREADS; thread++) all.set(operandsOf(thread), WORDS * thread);
    device.write(given, new Uint8Array(all.buffer));
    const kernel = device.load(object.bytes).kernel('k');
    await device.dispatch({ kernel, grid: [THREADS / 256, 1, 1], block: [256, 1, 1], args: [given, out], engine });
    return new Uint32Array(device.read(out).slice().buffer);
  } finally {
    device.close();
  }
}

// IEEE on and off, denormals kept, flushed as operands, flushed as results.
test.each([0x3f0, 0x1f0, 0x300, 0x3a0, 0x350])('both engines make the same bits in MODE %i', async (mode) => {
  const [compiled, interpreted] = [await resultsOf('compiled', mode), await resultsOf('interpreter', mode)];
  const differing = [...compiled.keys()].filter((n) => compiled[n] !== interpreted[n]);
  expect(
    differing.slice(0, 4).map((n) => [n % WORDS, operandsOf(Math.floor(n / WORDS)), compiled[n], interpreted[n]]),
  ).toEqual([]);
});
