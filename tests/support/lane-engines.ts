// Runs a few vector instructions on many lanes of given operands, on both engines, and compares what they leave in v[2:3].
import { expect } from 'vitest';
import { createDevice } from '../../src/device/index.ts';
import { kernelObject } from './kernel-source.ts';

/** Lanes of one comparison. */
export const LANES = 8192;

interface Operands {
  /** Dwords of a lane, in v[4:…]. VCC has every second lane. */
  readonly words: number;
  readonly input: Uint8Array;
  /** Bytes of LDS. */
  readonly lds?: number;
}

async function results(
  code: string,
  { words, input, lds = 0 }: Operands,
  engine: 'compiled' | 'interpreter',
  target: Target,
) {
  const text = `s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshl_add_u32 v0, s2, 6, v0
v_mul_u32_u24_e32 v1, ${4 * words}, v0
v_lshlrev_b32_e32 v12, 3, v0
s_waitcnt lgkmcnt(0)
${Array.from({ length: words }, (_, n) => `global_load_dword v${4 + n}, v1, s[4:5] offset:${4 * n}`).join('\n')}
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v3, 0
v_and_b32_e32 v13, 1, v0
v_cmp_ne_u32_e32 vcc, 0, v13
s_waitcnt vmcnt(0)
s_nop 4
${code}
s_nop 4
global_store_dwordx2 v12, v[2:3], s[6:7]`;
  const object = kernelObject({
    target,
    code: text,
    args: [
      [8, 'global_buffer'],
      [8, 'global_buffer'],
    ],
    descriptor: { next_free_vgpr: 16, accum_offset: 16, system_sgpr_workgroup_id_x: 1, group_segment_fixed_size: lds },
    metadata: { '.group_segment_fixed_size': lds },
  });
  const device = await createDevice('sim', { target });
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

type Target = 'gfx942' | 'gfx950';

/** Expects the engines to agree on every lane. */
export async function expectAgreement(code: string, operands: Operands, target: Target = 'gfx942'): Promise<void> {
  const { words, input } = operands;
  const compiled = await results(code, operands, 'compiled', target);
  const interpreted = await results(code, operands, 'interpreter', target);
  const different = [...compiled.keys()].filter((i) => compiled[i] !== interpreted[i]);
  const shown = different.slice(0, 5).map((i) => {
    const lane = new Uint32Array(input.buffer, 4 * words * i, words);
    const hex = [...lane].map((x) => x.toString(16)).join(' ');
    return `${i}: ${hex}: compiled ${compiled[i]?.toString(16)}, interpreter ${interpreted[i]?.toString(16)}`;
  });
  expect({ code, shown }).toEqual({ code, shown: [] });
}
