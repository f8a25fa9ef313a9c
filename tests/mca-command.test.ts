// `wavesmith mca` as a user sees it: loops of text and of code objects, marked pieces, and what it refuses.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-mca-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Report {
  readonly name: string;
  readonly cyclesPerTurnAndWave: number;
  readonly cyclesPerTurn: number;
  readonly chainCycles: number;
  readonly pressure: readonly { readonly unit: string; readonly cycles: number }[];
  readonly lines: readonly { readonly instruction: string; readonly busy: number; readonly isCritical: boolean }[];
}

let files = 0;
function source(text: string): string {
  const path = join(folder, `${files++}.s`);
  writeFileSync(path, text);
  return path;
}
async function analyse(text: string, ...more: string[]): Promise<Report[]> {
  const { code, out, err } = await wavesmith('mca', source(text), '--json', ...more);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Report[];
}
const loop = (body: string): string => `v_mov_b32 v99, 0
.Lturn:
${body}
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lturn
s_endpgm`;

describe('wavesmith mca', () => {
  it('should not take pauses, which one wave makes alone, for what bounds many', async () => {
    const [report] = await analyse(loop('s_nop 15\nv_add_f32 v0, v1, v2'));
    expect(report?.pressure.map((p) => p.unit).sort()).toEqual(['branch', 'salu', 'valu']);
    const { out } = await wavesmith('mca', source('s_nop 3'));
    expect(out).toMatch(/cycles of units {7}none/);
    expect(out).not.toMatch(/with many waves/);
  });
  it('should analyse the innermost loop, the branch included', async () => {
    const [report, ...none] = await analyse(`.Louter:\n${loop('v_add_f32 v1, v1, v2')}\ns_branch .Louter`);
    expect(none).toEqual([]);
    expect(report?.lines.map((l) => l.instruction.split(' ')[0])).toEqual([
      ...['v_add_f32_e32', 's_sub_u32', 's_cmp_lg_u32', 's_cbranch_scc1'],
    ]);
    expect(report?.name).toMatch(/loop at 0x/);
  });
  // 1 pass is 4 cycles. Source: AMD's matrix instruction calculator; llvm-mca 22 says 4 passes for the first line of each f8f6f4.
  it.each([
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3]', 32],
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3] cbsz:1 blgp:1', 32],
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:19], v[0:3] blgp:4', 32],
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:11], v[16:19], v[0:3] cbsz:4 blgp:4', 16],
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:13], v[16:21], v[0:3] cbsz:2 blgp:3', 16],
    ['gfx950', 'v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]', 64],
    ['gfx950', 'v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[24:27], v[0:15] cbsz:4 blgp:4', 32],
    ['gfx950', 'v_mfma_f32_16x16x32_f16 v[0:3], v[8:11], v[12:15], v[0:3]', 16],
    ['gfx942', 'v_mfma_f32_16x16x16_f16 v[0:3], v[8:9], v[10:11], v[0:3]', 16],
    ['gfx90a', 'v_mfma_f32_16x16x16f16 v[0:3], v[8:9], v[10:11], v[0:3]', 32],
    ['gfx942', 'v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]', 32],
    ['gfx942', 'v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]', 32],
    ['gfx950', 'v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]', 64],
  ])('should know the passes on %s of %s', async (target, text, busy) => {
    const [report] = await analyse(`; LLVM-MCA-BEGIN one\n${text}\n; LLVM-MCA-END`, '--target', target);
    expect(report?.lines[0]?.busy).toBe(busy);
    // It accumulates: one wave waits for each product, and two cycles more.
    expect(report?.cyclesPerTurnAndWave).toBe(busy + 2);
    expect(report?.chainCycles).toBe(busy + 2);
  });
  it('should find the chain from turn to turn and not what hangs on it', async () => {
    const [report] = await analyse(
      loop('v_rcp_f32 v1, v1\nv_exp_f32 v1, v1\nv_add_f32 v3, v1, v4\nv_mul_f32 v5, v6, v7'),
    );
    expect(report?.chainCycles).toBe(32);
    const critical = report?.lines.filter((l) => l.isCritical).map((l) => l.instruction.split('_')[1]);
    expect(critical?.slice(0, 2)).toEqual(['rcp', 'exp']);
    expect(critical).not.toContain('mul');
  });
  it('should hide waits behind other waves until a unit is full', async () => {
    const text = loop(
      'ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nv_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[10:11], v[32:47]',
    );
    const turns: number[] = [];
    for (const waves of ['1', '2', '4', '8'])
      turns.push((await analyse(text, '--waves', waves))[0]?.cyclesPerTurn ?? 0);
    expect(turns).toEqual([...turns].sort((a, b) => b - a));
    expect(turns[0]).toBeGreaterThan(80);
    expect(turns[3]).toBeGreaterThanOrEqual(32);
    expect(turns[3]).toBeLessThan(33);
  });
  it('should print text with a star at the chain', async () => {
    const { code, out } = await wavesmith('mca', source(loop('v_rcp_f32 v1, v1')), '--chip', 'mi300a');
    expect(code).toBe(0);
    expect(out).toMatch(/on mi300a: 4 instructions/);
    expect(out).toMatch(/valu +16 +16 +\S+ +\*v_rcp_f32_e32 v1, v1/);
  });
  it('should take code objects by kernel and pieces by address', async () => {
    const file = join(import.meta.dirname, '../fixtures/matmul_f16.gfx942/baseline.vmfb');
    const all = await wavesmith('mca', file, '--json');
    const loops = JSON.parse(all.out) as Report[];
    expect(loops.length).toBeGreaterThan(0);
    expect(loops.some((l) => l.lines.some((i) => i.instruction.startsWith('v_mfma')))).toBe(true);
    expect((await wavesmith('mca', file, '--kernel', 'nobody')).err).toMatch(/no function 'nobody'/);
    expect((await wavesmith('mca', file, '--from', '0x0', '--to', '0x4')).err).toMatch(/timing\/no-code/);
  });
  it.each([
    ['nothing', [], /timing\/no-code/],
    ['v_nonsense v1', [], /does not assemble/],
    ['; LLVM-MCA-BEGIN a\nv_mov_b32 v0, 0', [], /'a' has no LLVM-MCA-END/],
    ['; LLVM-MCA-END\nv_mov_b32 v0, 0', [], /does not match/],
    ['; LLVM-MCA-BEGIN a\n; LLVM-MCA-END\nv_mov_b32 v0, 0', [], /0 instructions in 'a'/],
    ['v_mov_b32 v0, 0', ['--waves', '9'], /holds 8 waves, not 9/],
    ['v_mov_b32 v0, 0', ['--waves', 'x'], /whole number/],
    ['v_mov_b32 v0, 0', ['--chip', 'mi9'], /no chip 'mi9'/],
    ['v_mov_b32 v0, 0', ['--chip', 'mi210'], /timing\/wrong-target/],
    ['v_mov_b32 v0, 0', ['--from', 'x'], /takes an address/],
  ])('should refuse %j %j', async (text, options, expected) => {
    const { code, err } = await wavesmith('mca', source(text === 'nothing' ? '\n' : text), ...options);
    expect([1, 2]).toContain(code);
    expect(err).toMatch(expected);
  });
});
