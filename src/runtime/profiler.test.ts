// The counts that are compiled into kernels against the interpreter's, dispatch by dispatch, and the order of dispatches.
import { beforeAll, describe, expect, test } from 'vitest';
import { kernelSource } from '../../tests/support/kernel-source.ts';
import { assembleAndLink } from '../asm/index.ts';
import type { Monitor } from '../device/sim/dispatch/monitor.ts';
import type { SimKernel } from '../device/sim/module.ts';
import { SimDevice } from '../device/sim/sim-device.ts';
import {
  CountingMonitor,
  deriveCounters,
  deriveFlops,
  deriveTraffic,
  LdsBankMonitor,
} from '../device/sim/tools/index.ts';
import { RuntimeProfiler } from './profiler.ts';
import type { DispatchPacket } from './runtime-device.ts';

/** Loops, LDS with conflicts, EXEC that shrinks and grows, a branch taken by some waves, an indirect jump, a call of the interpreter. */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0
  s_mov_b32 s6, 10
  s_waitcnt lgkmcnt(0)
again:
  v_add_u32_e32 v2, v2, v0
  v_cmp_lt_u32_e32 vcc, 20, v2
  s_and_saveexec_b64 s[8:9], vcc
  v_fma_f32 v4, v2, v2, v2
  v_pk_fma_f32 v[4:5], v[4:5], v[4:5], v[4:5]
  s_mov_b64 exec, s[8:9]
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 again
  v_lshlrev_b32_e32 v6, 5, v0
  v_and_b32_e32 v6, 0x1ff, v6
  ds_write_b32 v6, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b64 v[6:7], v6
  v_cmp_gt_u32_e32 vcc, 16, v0
  s_waitcnt lgkmcnt(0)
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz skip
  global_store_dword v1, v6, s[4:5]
skip:
  s_getpc_b64 s[10:11]
  s_add_u32 s10, s10, 12
  s_addc_u32 s11, s11, 0
  s_setpc_b64 s[10:11]
  v_cvt_f32_u32_e32 v2, v2
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]
  s_nop 15
`;
const DIMENSIONS = { grid: [3, 1, 1], block: [96, 1, 1] } as const;

let device: SimDevice;
let kernel: SimKernel;
let address = 0;
beforeAll(() => {
  const lds = { group_segment_fixed_size: 512, next_free_vgpr: 32, accum_offset: 16 };
  const metadata = { '.group_segment_fixed_size': 512 };
  device = new SimDevice('gfx942');
  kernel = device.load(assembleAndLink(kernelSource({ code: CODE, descriptor: lds, metadata }))).kernel('k');
  address = device.alloc(4096).address;
});

const packet = (more: Partial<DispatchPacket> = {}): DispatchPacket => ({
  address: 0,
  workgroupSize: [96, 1, 1],
  gridSize: [288, 1, 1],
  privateSegmentSize: 0,
  groupSegmentSize: 512,
  kernelObject: 0,
  kernargAddress: 0,
  queue: 0x1000,
  barrier: true,
  completion: 0,
  ...more,
});

const kernargs = (): Uint8Array => new Uint8Array(new BigUint64Array([BigInt(address)]).buffer);
const run = (monitors: readonly Monitor[]) =>
  device.dispatch({ kernel, ...DIMENSIONS, kernargs: kernargs(), monitors });

const profiled = async (monitors: readonly Monitor[]) => ({ result: await run(monitors), times: undefined });

describe('the profiler', () => {
  test('counts what the interpreter counts, in every dispatch', async () => {
    const { base } = kernel.module.loaded.region;
    const counting = new CountingMonitor(base);
    const banks = new LdsBankMonitor(base);
    const result = await run([counting, banks]);
    const expected = counting.counts();
    const profiler = new RuntimeProfiler();
    for (let n = 0; n < 3; n++) await profiler.record(kernel, packet(), profiled);
    expect(profiler.dispatches).toHaveLength(3);
    for (const one of profiler.dispatches) {
      expect(one.counters).toEqual(deriveCounters(expected, 'gfx942'));
      expect(one.bytes).toEqual(deriveTraffic(expected).spaces);
      expect(one.flops).toEqual(deriveFlops(expected));
      expect(one.ldsBanks).toEqual(banks.result());
      expect(one.instructions).toBe(result.instructions);
      expect(one.wavefronts).toBe(6);
      expect(one).toMatchObject({ lds: 512, workgroup: [96, 1, 1], grid: [288, 1, 1] });
    }
    expect(banks.result().conflictCycles).toBeGreaterThan(0);
    const lines = [...(profiler.dispatches[0]?.kernel.lines.values() ?? [])].sort((a, b) => a.address - b.address);
    expect(lines.map(({ address: at, hits, lanes }) => [at, hits, lanes])).toEqual(
      expected.instructions.map(({ pc, hits, lanes }) => [pc, 3 * hits, 3 * lanes]),
    );
    const valu = expected.instructions.filter(
      ({ instruction: { row } }) => row.flags.has('VALU') && !row.flags.has('MAI'),
    );
    const lanesOf = (name: string) =>
      expected.instructions.reduce((sum, s) => sum + (s.instruction.row.operation === name ? s.lanes : 0), 0);
    // A fused operation is two FLOPs; the packed one does two of them per lane.
    expect(profiler.dispatches[0]?.flops).toEqual({
      F16: { value: 0 },
      F32: { value: 2 * lanesOf('v_fma_f32') + 4 * lanesOf('v_pk_fma_f32') },
      F64: { value: 0 },
    });
    expect(lanesOf('v_pk_fma_f32')).toBeGreaterThan(0);
    expect(profiler.dispatches[0]?.valu).toBe(valu.reduce((sum, s) => sum + s.hits, 0));
    expect(profiler.dispatches[0]?.valuLanes).toBe(valu.reduce((sum, s) => sum + s.lanes, 0));
  });

  test('waits through signals become dependencies; order within a queue does not', async () => {
    const profiler = new RuntimeProfiler();
    const record = (more: Partial<DispatchPacket>) => profiler.record(kernel, packet(more), profiled);
    await record({ queue: 1, completion: 100 });
    await record({ queue: 2, barrier: false });
    await record({ queue: 1, completion: 200 });
    profiler.barrier({ queue: 2, barrier: true, completion: 300, dependencies: [100, 200] });
    await record({ queue: 2 });
    profiler.barrier({ queue: 3, barrier: true, completion: 0, dependencies: [300, 999] });
    await record({ queue: 3 });
    expect(profiler.dispatches.map((d) => [d.queue, d.barrier, d.dependencies])).toEqual([
      [1, true, []],
      [2, false, []],
      [1, true, []],
      [2, true, [0, 2]],
      [3, true, [1, 0, 2]],
    ]);
  });

  test('a dispatch that fails is left out, with the reason', async () => {
    const profiler = new RuntimeProfiler();
    const failing = async (monitors: readonly Monitor[]) => ({
      result: await device.dispatch({ kernel, ...DIMENSIONS, kernargs: kernargs(), monitors, maxInstructions: 50 }),
      times: undefined,
    });
    await expect(profiler.record(kernel, packet(), failing)).rejects.toMatchObject({ code: 'sim/budget' });
    expect(profiler.dispatches).toEqual([]);
    expect(profiler.failures).toMatchObject([{ kernel: 'k', reason: expect.stringContaining('stopped after') }]);
    await profiler.record(kernel, packet(), profiled);
    expect(profiler.dispatches[0]?.wavefronts).toBe(6);
  });
});
