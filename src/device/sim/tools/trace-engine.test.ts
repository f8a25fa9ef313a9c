// Traces of compiled code, as events and as lines: the same as when everything is interpreted, in kernels where it shows who was first.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import type { CodeObject } from '../../../codeobject/index.ts';
import type { SimDispatchRequest } from '../options.ts';
import { SimDevice } from '../sim-device.ts';
import { RunTools, type ToolRequest } from './session.ts';
import { type TraceEvent, type TraceSink, traceText } from './trace.ts';

type Filter = Omit<NonNullable<ToolRequest['trace']>, 'sink'>;

/** s[2:3] is the buffer, s8 the workgroup; one lane is active, v9 is 0 and v10 is 1. */
const PROLOGUE = `s_mov_b32 s8, s2
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_mov_b32_e32 v1, v0
s_mov_b64 exec, 1
v_mov_b32_e32 v9, 0
v_mov_b32_e32 v10, 1
s_waitcnt lgkmcnt(0)`;

/** Takes numbers from one counter: who gets which shows where turns end. */
const TICKETS = `s_movk_i32 s9, 2500
.Lagain:
global_atomic_add v4, v9, v10, s[2:3] sc0
s_waitcnt vmcnt(0)
v_add_u32_e32 v5, v5, v4
v_xor_b32_e32 v5, v5, v9
v_lshlrev_b32_e32 v5, 1, v5
s_memtime s[12:13]
s_waitcnt lgkmcnt(0)
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lagain`;

/** The first workgroups wait until the last of all has come, looking at a counter that every workgroup adds to. */
const WAITING = `global_atomic_add v9, v10, s[2:3]
s_waitcnt vmcnt(0)
.Lpoll:
s_sleep 1
global_load_dword v4, v9, s[2:3] sc0 sc1
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s9, v4
s_cmp_lt_u32 s9, 12
s_cbranch_scc1 .Lpoll
global_atomic_add v6, v9, v10, s[2:3] offset:8 sc0
s_waitcnt vmcnt(0)`;

/** Barriers, LDS, MODE, GPR indexing, a call, loads into LDS. */
const MIXED = `s_mov_b64 exec, -1
s_movk_i32 s9, 3
v_lshlrev_b32_e32 v3, 2, v1
.Lagain:
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
v_cvt_f32_u32_e32 v4, v1
v_mul_f32_e32 v5, 0x3eaaaaab, v4
s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9
v_mul_f32_e32 v6, 0x3eaaaaab, v4
ds_write_b32 v3, v5
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v7, v3
s_waitcnt lgkmcnt(0)
s_set_gpr_idx_on s9, gpr_idx(SRC0)
v_mov_b32_e32 v2, v3
v_add_u32_e32 v2, 1, v2
s_set_gpr_idx_off
s_set_gpr_idx_on s9, gpr_idx(DST)
v_mov_b32_e32 v2, 17
s_set_gpr_idx_off
s_mov_b32 m0, 0
global_load_lds_dword v3, s[2:3]
s_waitcnt vmcnt(0)
v_cmp_gt_u32_e32 vcc, s9, v1
s_and_saveexec_b64 s[10:11], vcc
s_cbranch_execz .Lskip
v_add_u32_e32 v7, v7, v2
.Lskip:
s_mov_b64 exec, s[10:11]
s_getpc_b64 s[14:15]
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lagain
s_barrier`;

/** Accesses of all kinds under several masks: regular, backwards, irregular, out of a buffer's bounds, flat ones of two spaces. */
const ACCESSES = `s_mov_b64 s[20:21], s[2:3]
s_movk_i32 s22, 200
s_mov_b32 s23, 0x20000
s_mov_b64 s[16:17], src_shared_base
s_mov_b32 m0, 0
${['-1', '0', '1', '0xf0', '0x8000000000000000', '0x9249249249249249', '0xffffffff00000000']
  .map((mask) =>
    [
      [
        's_mov_b64 exec, -1',
        'v_lshlrev_b32_e32 v2, 2, v1',
        'v_sub_u32_e32 v3, 0x100, v2',
        'v_mul_u32_u24_e32 v4, v1, v1',
      ],
      ['v_and_b32_e32 v4, 0x3fc, v4', 'v_mov_b32_e32 v7, s17', 'v_mov_b32_e32 v6, v2', 'v_mov_b32_e32 v9, 0'],
      [`s_mov_b32 s24, ${BigInt(mask) & 0xffffffffn}`, `s_mov_b32 s25, ${(BigInt(mask) >> 32n) & 0xffffffffn}`],
      ['s_mov_b64 exec, s[24:25]', 'v_mov_b32_e32 v13, s3', 'v_add_co_u32_e32 v12, vcc, s2, v4'],
      ['v_addc_co_u32_e32 v13, vcc, 0, v13, vcc', 'v_cmp_gt_u32_e32 vcc, 8, v1'],
      ...['v2', 'v3', 'v4', 'v9'].map((at) => [
        `global_load_dword v5, ${at}, s[2:3] offset:8`,
        `ds_read_b32 v5, ${at}`,
      ]),
      ['global_store_dwordx2 v3, v[2:3], s[2:3]', 'global_atomic_add v2, v10, s[2:3]', 'ds_write_b64 v4, v[2:3]'],
      ['buffer_load_dword v5, v2, s[20:23], 0 offen', 'buffer_load_dwordx4 v[12:15], v3, s[20:23], 0 offen offset:4'],
      ['buffer_store_dword v5, off, s[20:23], 0', 'ds_read2_b32 v[14:15], v2 offset1:3', 'ds_add_u32 v4, v10'],
      [
        'v_mov_b32_e32 v12, v2',
        'v_mov_b32_e32 v13, s17',
        'flat_load_dword v5, v[12:13]',
        'flat_store_dword v[6:7], v5',
      ],
      ['v_mov_b32_e32 v13, s3', 'v_add_u32_e32 v12, s2, v4', 'flat_load_dwordx2 v[14:15], v[12:13]'],
      ['v_cndmask_b32_e32 v12, v12, v2, vcc', 'v_cndmask_b32_e32 v13, v13, v7, vcc', 'flat_load_dword v5, v[12:13]'],
      [
        's_load_dword s26, s[2:3], 0x4',
        's_load_dwordx8 s[24:31], s[2:3], 0x20',
        's_buffer_load_dwordx2 s[26:27], s[20:23], 0xc4',
      ],
      [
        's_load_dwordx2 s[26:27], s[2:3], s22 offset:0x10',
        'global_load_lds_dword v2, s[2:3]',
        's_waitcnt vmcnt(0) lgkmcnt(0)',
      ],
    ]
      .flat()
      .join('\n'),
  )
  .join('\n')}`;

function kernelOf(code: string): CodeObject {
  return kernelObject({
    code: `${PROLOGUE}\n${code}`,
    descriptor: {
      system_sgpr_workgroup_id_x: 1,
      next_free_sgpr: 32,
      next_free_vgpr: 16,
      accum_offset: 16,
      group_segment_fixed_size: 2048,
    },
    metadata: { '.group_segment_fixed_size': 2048, '.vgpr_count': 16, '.sgpr_count': 32 },
  });
}

async function traced(
  code: CodeObject,
  filter: Filter,
  how: 'interpreted' | 'events' | 'lines',
  more: Partial<SimDispatchRequest> = {},
): Promise<{ lines: string[]; written: string[]; outcome: unknown; memory: Uint8Array }> {
  const device = new SimDevice('gfx942');
  const buffer = device.alloc(4096, 'out');
  const kernel = device.load(code.bytes).kernel('k');
  const events: TraceEvent[] = [];
  let text = '';
  const sink: TraceSink =
    how === 'lines'
      ? {
          lines: (bytes) => {
            text += new TextDecoder().decode(bytes);
          },
        }
      : (event) => events.push(event);
  const tools = new RunTools(kernel, code, { trace: { lanes: 'all', ...filter, sink } });
  const outcome = await device
    .dispatch({
      kernel,
      grid: [12, 1, 1],
      block: [128, 1, 1],
      args: [buffer],
      engine: 'compiled',
      ...more,
      // With a second monitor everything is interpreted.
      monitors: how === 'interpreted' ? [...tools.monitors, {}] : tools.monitors,
    })
    .catch((error: unknown) => String(error));
  const written = how === 'lines' ? text.split('\n').slice(0, -1) : events.map(traceText);
  const lines = how === 'lines' ? written : events.map((event, n) => `${event.step} ${event.exec} ${written[n]}`);
  const memory = device.read(buffer);
  device.close();
  return { lines, written, outcome, memory };
}

/** The trace of a kernel, and what the dispatch did, are those of the interpreter; the lines. */
async function same(code: CodeObject, filter: Filter, more?: Partial<SimDispatchRequest>): Promise<string[]> {
  const interpreted = await traced(code, filter, 'interpreted', more);
  for (const how of ['events', 'lines'] as const) {
    const quick = await traced(code, filter, how, more);
    const [found, wanted] = how === 'lines' ? [quick.lines, interpreted.written] : [quick.lines, interpreted.lines];
    const differs = found.findIndex((line, n) => line !== wanted[n]);
    if (differs >= 0) expect(`${differs}: ${found[differs]}`).toBe(`${differs}: ${wanted[differs]}`);
    expect(found).toHaveLength(wanted.length);
    expect(quick.outcome).toEqual(interpreted.outcome);
    expect(quick.memory).toEqual(interpreted.memory);
  }
  return interpreted.lines;
}

describe('a filtered trace is that of the interpreter', () => {
  const tickets = kernelOf(TICKETS);
  const waiting = kernelOf(WAITING);
  const mixed = kernelOf(MIXED);

  test('waves that take numbers in turns longer than one turn', async () => {
    const grid = [3, 1, 1] as const;
    const lines = await same(tickets, { workgroup: '1', wave: '1' }, { grid });
    expect(lines.length).toBeGreaterThan(25_000);
    expect(new Set(lines.filter((line) => line.includes('s_memtime'))).size).toBe(2500);
    expect(await same(tickets, { pc: '+0x30', wave: '0' }, { grid })).not.toEqual([]);
    expect(await same(tickets, { workgroup: '2', limit: 300 }, { grid })).toHaveLength(300);
  });

  test.each(['ascending', 'descending', { seed: 3 }] as const)(
    'workgroups that wait for others, %j',
    async (order) => {
      for (const filter of [{ workgroup: '0' }, { workgroup: '5-7', wave: '1' }, { pc: '+0x40', workgroup: '0,*,0' }]) {
        expect((await same(waiting, filter, { order })).length).toBeGreaterThan(1);
      }
    },
    120_000,
  );

  test('barriers, LDS, MODE, GPR indexing, late loads; at every place', async () => {
    const whole = await same(mixed, { workgroup: '4' });
    const places = [...new Set(whole.map((line) => /0x\w+(?= )/.exec(line.slice(line.indexOf('/')))?.[0] as string))];
    expect(places.length).toBeGreaterThan(35);
    // M0 moves it to another register; to switch that on and off writes none.
    const moved = whole.filter((line) => line.includes('v_mov_b32_e32 v2, 17'));
    expect(moved.some((line) => line.endsWith('; v5=0x11'))).toBe(true);
    expect(whole.filter((line) => /s_set_gpr_idx_(on|off).*[ ;]v\d+=/.test(line))).toEqual([]);
    for (const [n, place] of places.entries()) {
      const last = places[Math.min(places.length - 1, n + (n % 5))] as string;
      expect((await same(mixed, { pc: `${place}..${last}`, workgroup: '3-4' })).length).toBeGreaterThan(0);
    }
  });

  test('what is touched in memory, by the first address and the step from lane to lane', async () => {
    const filter = { lanes: 'few', workgroup: '1' } as const;
    const lines = await same(kernelOf(ACCESSES), filter, { grid: [2, 1, 1], block: [64, 1, 1] });
    const touched = (text: string): number => lines.filter((line) => line.includes(text)).length;
    expect(touched(' +4 64×4B')).toBeGreaterThan(3);
    expect(touched(' +-4 64×4B')).toBeGreaterThan(1);
    expect(touched(' … 64×4B')).toBeGreaterThan(1);
    expect(touched(' +4 22×')).toBeGreaterThan(0);
    expect(lines.some((line) => /flat_load_dword .*load lds .*; load global/.test(line))).toBe(true);
    expect(lines.some((line) => /s_load_dwordx8 .*load global 0x[0-9a-f]+ 32B$/.test(line))).toBe(true);
    expect(lines.some((line) => /ds_read_b32 .*load lds 0x100 \+-4 64×4B$/.test(line))).toBe(true);
  });

  test('what is touched in memory, by the addresses of all lanes', async () => {
    const filter = { lanes: 'all', workgroup: '1' } as const;
    const lines = await same(kernelOf(ACCESSES), filter, { grid: [2, 1, 1], block: [64, 1, 1] });
    const listed = (start: number, step: number, count: number): string =>
      Array.from({ length: count }, (_, n) => `0x${(start + n * step).toString(16)}`).join(' ');
    expect(lines.some((line) => line.endsWith(`load lds [${listed(0x100, -4, 64)}] 64×4B`))).toBe(true);
    expect(lines.some((line) => line.endsWith('store lds 0x0 1×8B'))).toBe(true);
    // Both places of a lane stand beside each other.
    const pairs = Array.from({ length: 64 }, (_, n) => `${listed(4 * n, 12, 2)}`).join(' ');
    expect(lines.some((line) => line.endsWith(`load lds [${pairs}] 128×4B`))).toBe(true);
    expect(lines.some((line) => /flat_load_dword .*load lds \[.*\] 8×4B; load global \[.*\] 56×4B$/.test(line))).toBe(
      true,
    );
    expect(lines.some((line) => /global_load_lds_dword .*load global \[.*; store lds \[/.test(line))).toBe(true);
    expect(lines.some((line) => /s_load_dwordx8 .*load global 0x[0-9a-f]+ 32B$/.test(line))).toBe(true);
  });

  test('a budget that ends the dispatch, and a fault', async () => {
    for (const maxInstructions of [5_500, 30_321]) {
      const found = await traced(tickets, { workgroup: '0' }, 'lines', { maxInstructions });
      expect(found.outcome).toContain('was stopped after');
      await same(tickets, { workgroup: '0' }, { maxInstructions });
      await same(tickets, { pc: '+0x30' }, { maxInstructions });
    }
    const fault = kernelOf('v_mov_b32_e32 v9, 0x7f000000\nglobal_store_dword v9, v10, s[2:3]');
    expect((await same(fault, { workgroup: '0', wave: '0' })).length).toBeGreaterThan(5);
  });
});
