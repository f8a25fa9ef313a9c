// The model beside thread traces of gfx950 hardware (../shared/profiles/sqtt), and launches that are extrapolated beside what memory can serve.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { microCycles } from '../bench/timing/micro.ts';
import { stepError, timeError, traceRows } from '../bench/timing/traces.ts';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';

const root = process.cwd();
const hasTraces = existsSync(join(root, '../shared/profiles/sqtt'));

describe('thread traces', () => {
  it.skipIf(!hasTraces)(
    'should see the traced waves come to their instructions when the model says (needs ../shared)',
    async () => {
      const { rows, unknown } = await traceRows(root);
      expect(unknown).toEqual([]);
      expect(rows.map((r) => r.kernel)).toEqual(['E', 'r_32_32_16_2']);
      const gemm = rows[1];
      if (gemm === undefined) throw new Error('no row');
      expect([gemm.waves, gemm.instructions.length, gemm.span.waves]).toEqual([4, 58, 1024]);
      expect(timeError(gemm)).toBeLessThan(0.1);
      expect(stepError(gemm)).toBeLessThan(0.05);
      expect(Math.abs(gemm.span.modelled / gemm.span.measured - 1)).toBeLessThan(0.2);
    },
  );
});

describe('a launch of many workgroups', () => {
  it('should take no less than its bytes take in memory', async () => {
    const chip = chipNamed('mi300x');
    const groups = 400_000;
    // Each workgroup reads 4 KB and writes 4 KB of its own; the memory-side cache holds less than a tenth.
    const cycles = await microCycles(
      'mi300x',
      {
        code: () => `s_lshl_b32 s8, s8, 12
s_add_u32 s2, s2, s8
s_addc_u32 s3, s3, 0
v_lshlrev_b32_e32 v1, 4, v0
global_load_dwordx4 v[4:7], v1, s[2:3]
s_waitcnt vmcnt(0)
global_store_dwordx4 v1, v[4:7], s[2:3]`,
        lengths: [1, 2],
        groups,
        threads: 256,
        bytes: groups * 4096,
      },
      1,
    );
    const bytes = groups * 4096;
    const seconds = bytes / (chip.get('hbm.readGbps') * 1e9) + bytes / (chip.get('hbm.writeGbps') * 1e9);
    const least = seconds * chip.get('clockMhz') * 1e6;
    expect(cycles).toBeGreaterThan(0.8 * least);
    expect(cycles).toBeLessThan(1.3 * least);
  });
});
