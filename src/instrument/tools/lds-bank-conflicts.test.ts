// What lds-bank-conflicts finds of LDS instructions with one address and with two, whose offsets count elements.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { createDevice } from '../../device/index.ts';
import type { TargetName } from '../../isa/index.ts';
import { instrument, type ProbeDefinition } from '../index.ts';
import { records } from '../state.ts';
import { defineProbe } from '../types.ts';
import conflicts from './lds-bank-conflicts.ts';

/** v1 = 4 lane, v2 = 8 lane; then LDS instructions. */
function kernel(target: TargetName, code: string) {
  return kernelObject({
    target,
    code: `v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 3, v0\n${code}\ns_waitcnt lgkmcnt(0)`,
    descriptor: { group_segment_fixed_size: 65536 },
    metadata: { '.group_segment_fixed_size': 65536 },
    args: [],
  });
}

async function found(target: TargetName, code: string, probe: unknown) {
  const result = instrument(kernel(target, code), probe as ProbeDefinition);
  expect(result.rejected).toEqual([]);
  const device = await createDevice('sim', { target });
  const loaded = device.load(result.codeObject.bytes).kernel('k');
  await device.dispatch({ kernel: loaded, grid: [1, 1, 1], block: [64, 1, 1], args: [] });
  const symbol = result.codeObject.kernels[0]?.descriptorSymbol;
  const at = loaded.descriptorAddress - Number(symbol?.value) + result.memory.address;
  const region = device.memory.find(at, result.memory.size);
  const from = at - (region?.base ?? 0);
  const report = result.report(region?.bytes.slice(from, from + result.memory.size) ?? new Uint8Array());
  device.close();
  return report;
}

const ADDRESSES = defineProbe({
  name: 'addresses',
  summary: 'the first address of each LDS access',
  state: { list: records({ address: 'lane32', size: 'u32' }, { capacity: 16 }) },
  instrument({ program, at }) {
    for (const one of program.instructions())
      if (one.memory === 'lds') at.before(one, (p) => p.append('list', { address: p.address, size: p.size }));
  },
  report: ({ state }) => ({ list: state.list.records.map(({ address, size }) => [address[3], size]) }),
});

test.each(['gfx90a', 'gfx942', 'gfx950'] as const)('addresses and sizes on %s', async (target) => {
  const code = `ds_write_b32 v1, v0 offset:20
    ds_write2_b32 v1, v0, v0 offset0:1 offset1:33
    ds_write2st64_b32 v1, v0, v0 offset0:2 offset1:3
    ds_read2_b64 v[4:7], v2 offset0:5 offset1:6
    ds_read2st64_b64 v[4:7], v2 offset0:1 offset1:2
    ds_wrxchg2_rtn_b32 v[4:5], v1, v0, v0 offset0:7 offset1:9
    ds_read_b128 v[4:7], v2 offset:16`;
  expect(await found(target, code, ADDRESSES)).toEqual({
    list: [
      [12 + 20, 4],
      [12 + 4, 8],
      [12 + 2 * 64 * 4, 8],
      [24 + 5 * 8, 16],
      [24 + 64 * 8, 16],
      [12 + 7 * 4, 8],
      [24 + 16, 16],
    ],
  });
});

test.each([
  ['words of one bank each', 'ds_read_b32 v4, v1', { groups: 2, passes: 2, worst: 1, conflicts: 0 }],
  ['every other word', 'ds_read_b32 v4, v2', { groups: 2, passes: 4, worst: 2, conflicts: 2 }],
  // Sixteen lanes go together: their first words fill half of the banks, their second ones the other half, or the same.
  ['two words half of the banks apart', 'ds_read2_b32 v[4:5], v1 offset1:16', { groups: 4, passes: 4, worst: 1 }],
  ['two words in one bank', 'ds_read2_b32 v[4:5], v1 offset1:32', { groups: 4, passes: 8, worst: 2, conflicts: 4 }],
  ['two words far apart', 'ds_read2st64_b32 v[4:5], v1 offset1:1', { groups: 4, passes: 8, worst: 2, conflicts: 4 }],
  ['the same word twice', 'ds_read2_b32 v[4:5], v1 offset0:3 offset1:3', { groups: 4, passes: 4, worst: 1 }],
])('%s', async (_, code, wanted) => {
  const { instructions } = (await found('gfx942', code, conflicts)) as { instructions: unknown[] };
  expect(instructions).toEqual([expect.objectContaining({ runs: 1, ...wanted })]);
});
