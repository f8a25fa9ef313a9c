// Whole dispatches with a clock: what they compute stays the same, and their time depends on nothing but the launch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { workerHost } from '../../../../tests/support/sim-worker.ts';
import type { DeviceBuffer, WorkerHost } from '../../index.ts';
import type { SimOptions } from '../options.ts';
import { SimDevice } from '../sim-device.ts';
import { makeChip, parseChip } from './chip.ts';
import { chipFile, chipNamed, defaultChip } from './chips/index.ts';
import { TimingModel } from './model.ts';
import { timedInstructions, timedListing, timingReport, timingText } from './report.ts';

const PROLOGUE = `s_mov_b32 s8, s2
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_lshl_b32 s10, s8, 8
v_add_u32_e32 v1, s10, v1
s_waitcnt lgkmcnt(0)`;
/** Adds one to every dword in place, atomically counts workgroups in dword 0 of the second half. */
const IN_PLACE = `global_load_dword v2, v1, s[2:3]
s_waitcnt vmcnt(0)
v_add_u32_e32 v2, 1, v2
global_store_dword v1, v2, s[2:3]`;
const loop = (turns: number, body: string): string => `s_mov_b32 s9, ${turns}
.Lturn:
${body}
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lturn`;

let host: WorkerHost;
beforeAll(async () => {
  host = { ...(await workerHost()), startMs: 0 };
});
const open: SimDevice[] = [];
afterAll(() => {
  for (const device of open) device.close();
});

async function run(
  code: string,
  groups: number,
  more: { timing?: TimingModel; workers?: number; bytes?: number; threads?: number; lds?: number } = {},
) {
  const lds = { group_segment_fixed_size: more.lds ?? 0 };
  const { bytes } = kernelObject({
    code: `${PROLOGUE}\n${code}`,
    descriptor: { system_sgpr_workgroup_id_x: 1, next_free_sgpr: 32, ...lds },
    metadata: { '.group_segment_fixed_size': lds.group_segment_fixed_size },
  });
  const device = new SimDevice('gfx942', { workerHost: more.workers === undefined ? undefined : host });
  open.push(device);
  const buffer = device.alloc(more.bytes ?? groups * 256, 'out');
  const kernel = device.load(bytes).kernel('k');
  const request = { kernel, grid: [groups, 1, 1], block: [more.threads ?? 64, 1, 1], args: [buffer] } as const;
  const result = await device.dispatch({ ...request, timing: more.timing, workers: more.workers });
  return { result, memory: device.read(buffer), timing: result.timing };
}
const clock = (): TimingModel => new TimingModel(chipNamed('mi300a'));

/** Cycles of one launch that reads and writes each of `bytes` once, at the place that `place` finds for them. */
async function cyclesAt(
  options: SimOptions,
  bytes: number,
  place: (device: SimDevice) => Pick<DeviceBuffer, 'address'>,
): Promise<number | undefined> {
  const { bytes: code } = kernelObject({
    code: `${PROLOGUE}\n${IN_PLACE}`,
    descriptor: { system_sgpr_workgroup_id_x: 1, next_free_sgpr: 32 },
  });
  const device = new SimDevice('gfx942', options);
  open.push(device);
  const { address } = place(device);
  const kernel = device.load(code).kernel('k');
  const args = [{ address, size: bytes, label: 'data' }];
  const request = { kernel, grid: [bytes / 256, 1, 1], block: [64, 1, 1], args } as const;
  return (await device.dispatch({ ...request, timing: new TimingModel(chipNamed('mi300a')) })).timing?.cycles;
}

describe('memory that nothing has used', () => {
  const MIB = 2 ** 20;
  const GIB = 2 ** 30;
  /** 64 GiB, whose part beyond the window nobody shows: kernels find zeros. */
  const large = (): SimOptions => ({
    memory: new WebAssembly.Memory({ initial: 65536, maximum: 65536, shared: true }),
    discard: () => undefined,
    beyond: {
      bytes: 64 * GIB,
      threads: 1,
      show: () => undefined,
      view: (_, size) => new ArrayBuffer(size),
      source: undefined,
    },
  });

  it('should come from memory wherever it lies', async () => {
    const near = await cyclesAt({}, MIB, (d) => d.alloc(MIB));
    expect(await cyclesAt({}, MIB, (d) => d.allocAt(0x7f12_3400_0000, MIB))).toBe(near);
    const beyond = await cyclesAt(large(), MIB, ({ memory }) => {
      memory.allocData(3 * GIB, 'other');
      const { base: address, isBeyond } = memory.allocData(3 * GIB, 'far');
      expect(isBeyond).toBe(true);
      return { address };
    });
    expect((beyond ?? 0) / (near ?? 1)).toBeCloseTo(1, 1);
  });
});

describe('the clock', () => {
  it('should leave results, counts and memory as they are', async () => {
    const plain = await run(IN_PLACE, 40);
    const timed = await run(IN_PLACE, 40, { timing: clock() });
    expect(timed.memory).toEqual(plain.memory);
    expect(timed.result.instructions).toBe(plain.result.instructions);
    expect(timed.timing?.nanoseconds).toBeGreaterThan(0);
  });

  it('should say the same for any number of threads', async () => {
    const times = [];
    for (const workers of [1, 2, 3]) {
      const { timing } = await run(loop(3000, IN_PLACE), 64, { timing: clock(), workers });
      times.push(timing?.cycles);
    }
    expect(new Set(times).size).toBe(1);
  });

  it('should wait for the code behind the first 32 bytes of a loop turn', async () => {
    const fma = (n: number): string =>
      `v_fma_f64 v[${4 + 2 * n}:${5 + 2 * n}], v[2:3], v[2:3], v[${4 + 2 * n}:${5 + 2 * n}]`;
    const turn = async (body: string): Promise<number> => {
      const cycles = async (turns: number): Promise<number> =>
        (await run(loop(turns, body), 1, { timing: new TimingModel(chipNamed('mi300x')) })).timing?.cycles ?? 0;
      return ((await cycles(200)) - (await cycles(100))) / 100;
    };
    // 28 bytes, and 44 bytes that two more instructions take: MI300X takes 36 and 56 cycles.
    expect(await turn([0, 1].map(fma).join('\n'))).toBeCloseTo(36, 0);
    expect(await turn([0, 1, 2, 3].map(fma).join('\n'))).toBeCloseTo(56, 0);
  });

  it('should take longer for more work, and see where it waits', async () => {
    const short = await run(loop(50, IN_PLACE), 8, { timing: clock() });
    const long = await run(loop(100, IN_PLACE), 8, { timing: clock() });
    const ratio = (long.timing?.cycles ?? 0) / (short.timing?.cycles ?? 1);
    expect(ratio).toBeGreaterThan(1.7);
    expect(ratio).toBeLessThan(2.2);
    const timing = long.timing;
    if (timing === undefined) throw new Error('not timed');
    const wait = timedInstructions(timing).find((i) => i.text.includes('vmcnt'));
    expect(wait?.stalls.vmcnt).toBeGreaterThan(100);
    expect(timedListing(timedInstructions(timing)).join('\n')).toMatch(/s_waitcnt vmcnt\(0\)\s+; vmcnt \d+/);
    const report = timingReport(timing);
    expect(report.limiter).toBe('latency');
    expect(report.interval[0]).toBeLessThanOrEqual(report.microseconds);
    expect(timingText(report).join('\n')).toMatch(/modelled on mi300a/);
  });

  it('should extrapolate a path that is too long to record', async () => {
    const body = 'v_add_u32_e32 v2, 1, v2\nv_add_u32_e32 v2, 1, v2\nv_add_u32_e32 v2, 1, v2';
    const { timing } = await run(loop(200_000, body), 1, { timing: clock() });
    // Three VALU instructions, two SALU of 4 cycles each and a taken branch of 16.
    expect((timing?.cycles ?? 0) / 200_000).toBeCloseTo(20 + chipNamed('mi300a').get('issue.branchTaken'), 0);
    expect(timing?.estimate.isWhole).toBe(false);
  });

  describe('waves that are cut, two workgroups on a compute unit at once', () => {
    const work = (first: string): string =>
      loop(800, 'v_add_u32_e32 v2, 1, v2\ns_nop 0').replace('.Lturn:', `${first}\n.Lturn:`);
    const chip = chipNamed('mi300a');
    const cycles = async (code: string, perUnit: number, budget: number): Promise<number> => {
      const timing = new TimingModel(chip, { budget });
      const groups = perUnit * chip.get('cusPerXcc') * chip.get('xccs');
      return (await run(code, groups, { timing, threads: 256, lds: 32_768, bytes: 2 ** 20 })).timing?.cycles ?? 0;
    };

    // Of four workgroups of a unit, two rounds are recorded.
    let recorded: Promise<number>;
    beforeAll(() => {
      recorded = cycles(work(''), 4, 2_000_000);
    });
    it.each([
      ['waves are longer than the part of the budget that each has', ''],
      ['waves are cut that are longer than the first', 's_cmp_eq_u32 s8, 0\ns_cselect_b32 s9, 40, s9'],
    ])('should count no round twice when %s', async (_, turns) => {
      expect((await cycles(work(turns), 4, 60_000)) / (await recorded)).toBeCloseTo(1, 1);
    });

    it('should take for the last workgroup of three what it takes on its own', async () => {
      // Two waves of a SIMD share its matrix unit: a wave alone is twice as fast as beside another one.
      const code = loop(700, 'v_mfma_f64_16x16x4_f64 a[0:7], v[2:3], v[2:3], a[0:7]');
      const [cut, whole] = [await cycles(code, 3, 6000), await cycles(code, 3, 500_000)];
      const two = await cycles(code, 2, 500_000);
      expect(cut / whole).toBeCloseTo(1, 1);
      expect(whole / two).toBeLessThan(1.7);
    });
  });

  it('should say that a sample did not converge, and widen its interval', async () => {
    // One workgroup of sixteen has thirty times the work.
    const uneven = `s_bfe_u32 s9, s8, 0x40003\ns_cmp_eq_u32 s9, 15\ns_cselect_b32 s9, 300, 10\n.Lturn:\nv_add_u32_e32 v2, 1, v2
s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lturn`;
    const { timing } = await run(uneven, 40_000, { timing: clock(), bytes: 65536 });
    const report = timingReport(timing as NonNullable<typeof timing>);
    expect([report.converged, report.sampling > 0.1]).toEqual([false, true]);
    expect(timingText(report).join('\n')).toMatch(/the sample did not converge: ±\d+% by sampling alone/);
    const even = await run(loop(20, 'v_add_u32_e32 v2, 1, v2'), 40_000, { timing: clock(), bytes: 65536 });
    const [narrow, wide] = [timingReport(even.timing as NonNullable<typeof timing>), report].map(
      ({ interval: [low, high] }) => high / low,
    );
    expect(wide).toBeGreaterThan(narrow as number);
  });
  it('should refuse a workgroup that no compute unit of the chip holds', async () => {
    const { numbers, ...file } = chipFile('mi300a');
    const small = makeChip({ ...file, numbers: { ...numbers, wavesPerSimd: [1, 'test'], simdsPerCu: [1, 'test'] } });
    await expect(run(IN_PLACE, 1, { timing: new TimingModel(small), threads: 128 })).rejects.toThrow(
      expect.objectContaining({ code: 'timing/too-many-waves' }),
    );
  });
  it('should give no error bar to a chip of the user, whatever its name', async () => {
    const text = JSON.stringify({ name: 'mi300a', base: 'mi300a', numbers: { clockMhz: [1000, 'mine'] } });
    const own = await run(IN_PLACE, 40, { timing: new TimingModel(parseChip(text, 'own.json', chipFile)) });
    expect(timingText(timingReport(own.timing as NonNullable<typeof own.timing>)).join()).toMatch(
      /never compared with hardware/,
    );
  });

  it('should start workgroups no faster than the dispatcher', async () => {
    const { timing } = await run('', 60_000, { timing: clock(), bytes: 4096 });
    expect((timing?.cycles ?? 0) / 60_000).toBeCloseTo(1, 1);
    if (timing === undefined) throw new Error('not timed');
    expect(timingReport(timing).limiter).toBe('dispatch');
  });

  it('should leave a launch that faults as it is', async () => {
    const fault = 'v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\nglobal_load_dword v2, v[4:5], off';
    await expect(run(fault, 1, { timing: clock() })).rejects.toThrow(/0x0/);
  });

  it('should refuse no kernel that waits for another workgroup', async () => {
    // Workgroup 1 waits until workgroup 0 has stored; alone it would never end.
    const wait = `s_cmp_eq_u32 s8, 0
s_cbranch_scc1 .Lfirst
v_mov_b32_e32 v3, 0
.Lspin:
global_load_dword v2, v3, s[2:3] sc1
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc, 0, v2
s_cbranch_vccnz .Lspin
s_branch .Ldone
.Lfirst:
v_mov_b32_e32 v2, 7
v_mov_b32_e32 v3, 0
global_store_dword v3, v2, s[2:3] sc1
.Ldone:`;
    const { memory, timing } = await run(wait, 2, { timing: clock() });
    expect(memory[0]).toBe(7);
    expect(timing?.cycles).toBeGreaterThan(0);
  });

  it('should take as long as a kernel waits by its own clock', async () => {
    const code = `s_memtime s[12:13]
s_waitcnt lgkmcnt(0)
.Lwait:
s_memtime s[14:15]
s_waitcnt lgkmcnt(0)
s_sub_u32 s14, s14, s12
s_cmp_lt_u32 s14, 10000000
s_cbranch_scc1 .Lwait`;
    const { timing } = await run(code, 8, { timing: clock() });
    expect((timing?.cycles ?? 0) / 1e7).toBeCloseTo(1, 2);
  });

  it.each([1, 3])('should give kernels that read clocks modelled cycles, %i threads', async (workers) => {
    // Each wavefront stores the cycles of 100 dependent multiplications, the ticks of the 100 MHz clock, and when it began.
    const code = `s_memtime s[12:13]
s_memrealtime s[16:17]
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v2, 3
${'v_mul_lo_u32 v2, v2, v2\n'.repeat(100)}s_memtime s[14:15]
s_memrealtime s[18:19]
s_waitcnt lgkmcnt(0)
s_sub_u32 s14, s14, s12
s_sub_u32 s18, s18, s16
v_mov_b32_e32 v4, s14
v_mov_b32_e32 v5, s18
v_mov_b32_e32 v6, s12
s_lshl_b32 s10, s8, 4
v_mov_b32_e32 v1, s10
global_store_dwordx3 v1, v[4:6], s[2:3]`;
    const groups = 4000;
    const { memory, timing } = await run(code, groups, { timing: clock(), workers, bytes: groups * 16 });
    const words = new Int32Array(memory.buffer, memory.byteOffset, groups * 4);
    const chip = chipNamed('mi300a');
    const each = chip.latencyClass('mul32').latency;
    const begins = [];
    for (let group = 0; group < groups; group++) {
      const [cycles = 0, ticks = 0, begin = 0] = words.subarray(group * 4);
      // Other wavefronts of the SIMD take the unit in between.
      expect(cycles).toBeGreaterThanOrEqual(100 * each);
      expect(cycles).toBeLessThan(100 * each * 12);
      expect(Math.abs(ticks - (cycles * 100) / chip.get('clockMhz'))).toBeLessThanOrEqual(4);
      begins.push(begin);
    }
    const total = timing?.cycles ?? 0;
    expect(Math.max(...begins)).toBeLessThan(total);
    expect(Math.max(...begins)).toBeGreaterThan(total / 2);
    expect(begins[groups - 1]).toBeGreaterThan(begins[0] as number);
  });

  it.each(['gfx942', 'gfx90a', 'gfx950'] as const)('should have a chip for %s', (target) => {
    expect(new TimingModel(defaultChip(target)).chip.target).toBe(target);
  });
});
