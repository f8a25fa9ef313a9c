// `--mfma exact` and `--mfma fast` from the command line and the library: the modes differ where they should, the engines never.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { createDevice } from '../src/device/index.ts';
import { kernelSource } from './support/kernel-source.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-mfma-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * One 16×16×16 product of halves: four of the sixteen k hold 2048·2048, the others 1/2·1/2, C is 1: 2^24 + 3 + 1. A chain in f32 loses what
 * comes after 2^24; the silicon keeps eight bits more. Each lane stores its first register.
 */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v4, 0x38006800
  v_mov_b32_e32 v5, 0x38003800
  v_mov_b32_e32 v6, 0x38006800
  v_mov_b32_e32 v7, 0x38003800
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 1.0
  s_nop 15
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v8, s[4:5]
`;
let code: Uint8Array;
beforeAll(() => {
  code = assembleAndLink(
    kernelSource({
      code: CODE,
      descriptor: { next_free_vgpr: 12, accum_offset: 12 },
      metadata: { '.vgpr_count': 12 },
    }),
  );
  writeFileSync(join(folder, 'k.co'), code);
});

async function dispatch(engine: 'compiled' | 'interpreter', mfma?: 'exact' | 'fast'): Promise<Float32Array> {
  const device = await createDevice('sim', { target: 'gfx942' });
  const out = device.alloc(256, 'out');
  const kernel = device.load(code).kernel('k');
  await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [out], engine, mfma, workers: 1 });
  const result = new Float32Array(device.read(out).slice().buffer);
  device.close();
  return result;
}

describe('matrix modes of a dispatch', () => {
  it('should differ between exact and fast, and not between engines; exact is the default', async () => {
    const exact = await dispatch('interpreter', 'exact');
    const fast = await dispatch('interpreter', 'fast');
    expect([exact[0], fast[0]]).toEqual([16777220, 16777216]);
    expect(await dispatch('compiled', 'exact')).toEqual(exact);
    expect(await dispatch('compiled', 'fast')).toEqual(fast);
    expect(await dispatch('compiled')).toEqual(exact);
  });
});

describe('--mfma', () => {
  const wavesmith = (args: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'bin/wavesmith'), 'run', 'k.co', ...args], {
      encoding: 'utf8',
      cwd: folder,
    });
  const launch = ['--kernel', 'k', '--grid', '1', '--block', '64', '--arg', 'f32[64]', '--json'];
  it.each([
    ['exact', 16777220],
    ['fast', 16777216],
  ] as const)('should run with %s', (mode, value) => {
    const { stdout, status } = wavesmith([...launch, '--mfma', mode]);
    expect(status).toBe(0);
    const result = JSON.parse(stdout) as { mfma: string; buffers: { first: number[] }[] };
    expect(result.mfma).toBe(mode);
    expect(result.buffers[0]?.first[0]).toBe(value);
  });
  it('should refuse other modes', () => {
    const { stderr, status } = wavesmith([...launch, '--mfma', 'quick']);
    expect(status).not.toBe(0);
    expect(stderr).toContain("--mfma is exact or fast, not 'quick'.");
  });
});
