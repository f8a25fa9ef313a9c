// The run tools' parts on single wavefronts: filters, register texts, what a trace says an instruction wrote, bank conflicts.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { makeWave, parse, type Registers } from '../../../../tests/support/one-instruction.ts';
import { WavesmithError } from '../../../base/index.ts';
import { Slot, slotName } from '../../../program/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { bindInstruction } from '../interpreter/loaded-code.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { deriveCounters } from './counters.ts';
import { CountingMonitor } from './counts.ts';
import { matches, parsePcFilter, parseWaveFilter, parseWorkgroupFilter } from './filter.ts';
import { LdsBankMonitor, phaseCycles } from './lds-banks.ts';
import { readRegisters, slotsFromText, valueText, writeRegister } from './registers.ts';
import { CodeSymbols } from './symbols.ts';
import { type TraceEvent, TraceMonitor, traceText } from './trace.ts';

const code = kernelObject();
const entry = code.kernels[0]?.entry as number;
const symbols = new CodeSymbols(code, entry, () => 4);
const codeOf = (f: () => unknown): string => {
  try {
    f();
  } catch (error) {
    if (error instanceof WavesmithError) return error.code;
    throw error;
  }
  return 'no error';
};

interface Watcher {
  before(w: Wave, pc: number, bound: BoundInstruction): void;
  after?(w: Wave, pc: number, bound: BoundInstruction): void;
}

/** Executes one instruction under a monitor as the dispatcher does. */
function run(w: Wave, text: string, monitor: Watcher, pc = 0x1000): void {
  const { target } = w.workgroup.dispatch;
  const instruction = parse(target, text);
  const bound = {
    instruction,
    step: bindInstruction(instruction, target),
    size: instruction.size,
    family: 0,
    landsLate: false,
    loadRow: false,
  };
  w.pc = pc;
  monitor.before(w, pc, bound);
  w.pc = pc + bound.size;
  bound.step(w);
  w.executed++;
  monitor.after?.(w, pc, bound);
}

function trace(
  target: 'gfx90a' | 'gfx942' | 'gfx950',
  text: string,
  registers: Registers,
  lanes: 'few' | 'all' = 'few',
) {
  const w = makeWave(target, registers);
  const events: TraceEvent[] = [];
  const monitor = new TraceMonitor({ target, base: 0, symbols, filter: {}, lanes, sink: (e) => events.push(e) });
  return { w, events, monitor, run: () => run(w, text, monitor) };
}

describe('filters', () => {
  test('workgroups by dimension, waves, ranges of addresses', () => {
    const filter = {
      workgroup: parseWorkgroupFilter('2-3,*,1'),
      wave: parseWaveFilter('1'),
      pc: [{ first: 16, last: 32 }],
    };
    expect(matches(filter, [2, 9, 1], 1, 16)).toBe(true);
    expect(matches(filter, [3, 0, 1], 1, 32)).toBe(true);
    expect(matches(filter, [4, 0, 1], 1, 32)).toBe(false);
    expect(matches(filter, [3, 0, 0], 1, 32)).toBe(false);
    expect(matches(filter, [3, 0, 1], 0, 32)).toBe(false);
    expect(matches(filter, [3, 0, 1], 1, 36)).toBe(false);
    expect(matches({ workgroup: parseWorkgroupFilter('1') }, [1, 5, 7], 3, 0)).toBe(true);
  });

  test.each(['', 'x', '1,2,3,4', '3-1', '-1', '99999999999'])('%s is no workgroup filter', (text) => {
    expect(codeOf(() => parseWorkgroupFilter(text))).toBe('run/bad-filter');
  });

  test('places: addresses, labels, offsets from labels and from the kernel', () => {
    const name = code.kernels[0]?.name as string;
    expect(symbols.resolve(name)).toBe(entry);
    expect(symbols.resolve('+0')).toBe(entry);
    expect(symbols.resolve(`${name}+0x0`)).toBe(entry);
    expect(symbols.resolve(`0x${entry.toString(16)}`)).toBe(entry);
    expect(symbols.nameOf(entry)).toBe(name);
    expect(parsePcFilter(`${name}..${name}`, { symbols, lines: undefined })).toEqual([{ first: entry, last: entry }]);
    for (const text of ['nowhere', '', '0x0', '+1', `${name}+0x100000`]) {
      expect(codeOf(() => symbols.resolve(text))).toBe('run/no-such-place');
    }
  });
});

describe('registers by name', () => {
  const w = makeWave('gfx942', {
    s4: 5,
    s5: 1,
    v1: 7,
    v2: Array.from({ length: 64 }, (_, i) => i),
    a3: -1,
    exec: 0xffn,
  });

  test.each([
    ['s4', ['s4=0x5']],
    ['s[4:5]', ['s[4:5]=0x100000005']],
    ['s4-5', ['s4=0x5', 's5=0x1']],
    ['v1', ['v1=0x7 (8 lanes)']],
    ['v2', ['v2=[0x0 0x1 0x2 0x3 …] (8 lanes)']],
    ['a3', ['a3=0xffffffff (8 lanes)']],
    ['exec', ['exec=0xff']],
    ['mode', ['mode=0x3f0']],
    ['SCC', ['scc=0x0']],
  ])('%s', (text, expected) => {
    expect(readRegisters(w, text, 'few').map(valueText)).toEqual(expected);
  });

  test.each(['', 's102', 'v256', 'v[3:1]', 'q1', 's', 'v-1', '__proto__'])('%s is no register', (text) => {
    expect(codeOf(() => slotsFromText(text))).toBe('run/bad-register');
  });

  test('writing: scalars, pairs, active lanes, one lane', () => {
    writeRegister(w, 's[4:5]', -2n);
    expect(valueText(readRegisters(w, 's[4:5]', 'few')[0] as never)).toBe('s[4:5]=0xfffffffffffffffe');
    writeRegister(w, 'v1', 9n);
    expect([w.vgprs[64], w.vgprs[71], w.vgprs[72]]).toEqual([9, 9, 7]);
    writeRegister(w, 'v1[63]', 1n);
    expect(w.vgprs[127]).toBe(1);
    writeRegister(w, 'scc', 1n);
    expect(w.scc).toBe(true);
    expect(codeOf(() => writeRegister(w, 's4', 1n << 32n))).toBe('run/bad-value');
    expect(codeOf(() => writeRegister(w, 'v1[64]', 1n))).toBe('run/bad-register');
  });
});

describe('traces', () => {
  test('scalar, vector, memory and branch as text', () => {
    const ids = Array.from({ length: 64 }, (_, i) => 4 * i);
    const one = (text: string, registers: Registers): string => {
      const t = trace('gfx942', text, registers);
      t.run();
      return traceText(t.events[0] as TraceEvent).replace(/ +/g, ' ');
    };
    expect(one('s_add_u32 s1, s2, s3', { s2: 1, s3: 2 })).toBe('0,0,0/0 0x1000 s_add_u32 s1, s2, s3 ; s1=0x3; scc=0x0');
    expect(one('v_add_u32_e32 v1, 5, v0', { v0: 3, exec: 1n })).toBe(
      '0,0,0/0 0x1000 v_add_u32_e32 v1, 5, v0 ; v1=0x8 (1 lane)',
    );
    expect(one('ds_read_b64 v[2:3], v0 offset:8', { v0: ids })).toContain('; load lds 0x8 +4 64×8B');
    expect(one('s_branch 4', {})).toContain('→ 0x1014');
    expect(one('s_nop 0', {})).toBe('0,0,0/0 0x1000 s_nop 0');
  });

  test('all lanes and addresses when asked for; flat addresses by aperture', () => {
    const t = trace('gfx942', 'flat_load_dword v4, v[0:1]', { v0: [0, 8, 4, 12], v1: 0x10000, exec: 0xfn }, 'all');
    t.run();
    expect(t.events[0]?.memory).toEqual([
      { space: 'lds', kind: 'load', bytes: 4, lanes: 4, first: '0x0', addresses: ['0x0', '0x8', '0x4', '0xc'] },
    ]);
  });

  test('limit and step numbers', () => {
    const w = makeWave('gfx942');
    const events: TraceEvent[] = [];
    const monitor = new TraceMonitor({
      target: 'gfx942',
      base: 0x1000,
      symbols,
      filter: { pc: [{ first: 4, last: 8 }] },
      lanes: 'few',
      limit: 1,
      sink: (e) => events.push(e),
    });
    for (const pc of [0x1000, 0x1004, 0x1008]) run(w, 's_nop 0', monitor, pc);
    expect(events.map((e) => [e.pc, e.step])).toEqual([['0x4', 1]]);
  });

  const CASES: readonly (readonly ['gfx90a' | 'gfx942' | 'gfx950', string])[] = [
    ['gfx942', 's_mul_hi_u32 s4, s5, s6'],
    ['gfx942', 's_and_saveexec_b64 s[4:5], s[6:7]'],
    ['gfx942', 's_cmp_lt_i32 s4, s5'],
    ['gfx942', 's_cselect_b64 s[4:5], s[6:7], s[8:9]'],
    ['gfx942', 's_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x2f0'],
    ['gfx942', 's_movreld_b32 s10, s4'],
    ['gfx942', 's_load_dwordx4 s[4:7], s[96:97], 0x10'],
    ['gfx942', 's_call_b64 s[4:5], 16'],
    ['gfx942', 'v_cmpx_lt_f32_e32 vcc, v1, v2'],
    ['gfx942', 'v_cmp_eq_u32_e64 s[4:5], v1, v2'],
    ['gfx942', 'v_add_co_u32_e32 v1, vcc, v2, v3'],
    ['gfx942', 'v_mad_u64_u32 v[4:5], s[6:7], v1, v2, v[8:9]'],
    ['gfx942', 'v_swap_b32 v1, v2'],
    ['gfx942', 'v_readfirstlane_b32 s4, v1'],
    ['gfx942', 'v_writelane_b32 v1, s4, 5'],
    ['gfx942', 'v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf'],
    ['gfx942', 'v_add_u16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:DWORD'],
    ['gfx942', 'v_pk_fma_f16 v1, v2, v3, v4'],
    ['gfx942', 'v_mfma_f32_32x32x1_2b_f32 v[0:31], v40, v41, v[0:31]'],
    ['gfx942', 'v_accvgpr_write_b32 a5, v1'],
    ['gfx942', 'ds_read2_b64 v[4:7], v0 offset0:1 offset1:3'],
    ['gfx942', 'ds_bpermute_b32 v1, v2, v3'],
    ['gfx942', 'ds_add_rtn_u32 v1, v0, v2'],
    ['gfx942', 'ds_append v1 offset:16'],
    ['gfx950', 'v_permlane32_swap_b32_e32 v1, v2'],
    ['gfx950', 'ds_read_b64_tr_b16 v[4:5], v0'],
    ['gfx90a', 'v_mac_f32_e32 v1, v2, v3'],
    ['gfx90a', 'v_div_scale_f32 v1, vcc, v2, v3, v2'],
  ];

  test.each(CASES)('%s %s: every changed register is in the trace', (target, text) => {
    const registers: Record<string, Registers[string]> = { exec: 0xf0f0f0f0ff00ffffn, vcc: 0x123456789abcdefn, m0: 2 };
    for (let n = 4; n < 12; n++) registers[`s${n}`] = 0x01010101 * n;
    for (let n = 0; n < 48; n++)
      registers[`v${n}`] = Array.from({ length: 64 }, (_, i) => (n === 0 ? 8 * i : n * 977 + i * 31));
    // Two floats that are no denormals, for the matrix product.
    Object.assign(registers, { v40: 0x40000000, v41: 0x40400000 });
    const t = trace(target, text, registers);
    const scalars = t.w.sgprs.slice();
    const vectors = t.w.vgprs.slice();
    const { scc, mode } = t.w;
    t.run();
    const changed = new Set<string>();
    for (let n = 0; n < 128; n++) if (scalars[n] !== t.w.sgprs[n]) changed.add(slotName(n));
    for (let n = 0; n < vectors.length; n++) {
      if (vectors[n] !== t.w.vgprs[n]) changed.add(slotName(Slot.VGPR0 + Math.floor(n / LANES)));
    }
    if (scc !== t.w.scc) changed.add('scc');
    if (mode !== t.w.mode) changed.add('mode');
    expect(changed.size).toBeGreaterThan(0);
    const shown = new Set(
      t.events[0]?.writes.flatMap(({ register }) => {
        const { first, count } = slotsFromText(register);
        return Array.from({ length: count }, (_, i) => slotName(first + i));
      }),
    );
    expect([...changed].filter((name) => !shown.has(name))).toEqual([]);
  });

  test('GPR indexing: the register that was really written', () => {
    const t = trace('gfx90a', 'v_mov_b32_e32 v1, v2', { v2: 9, m0: 0x8004 });
    t.w.gprIndexing = true;
    t.run();
    expect(t.events[0]?.writes).toEqual([{ register: 'v5', uniform: '0x9', active: 64 }]);
  });
});

describe('LDS banks', () => {
  const count = (text: string, v0: (lane: number) => number, registers: Registers = {}) => {
    const w = makeWave('gfx942', { ...registers, v0: Array.from({ length: 64 }, (_, i) => v0(i)) });
    const monitor = new LdsBankMonitor(0);
    run(w, text, monitor);
    const { phases, conflictCycles, notModelled } = monitor.result();
    return [phases, conflictCycles, notModelled];
  };

  test('one phase: different dwords of a bank, the same dword, atomics', () => {
    expect(phaseCycles([0, 4, 8], 4, false)).toBe(1);
    expect(phaseCycles([0, 128, 256], 4, false)).toBe(3);
    expect(phaseCycles([0, 0, 2], 2, false)).toBe(1);
    expect(phaseCycles([0, 0, 0], 4, true)).toBe(3);
  });

  test.each([
    ['ds_read_b32 v1, v0', (i: number) => 4 * i, [2, 0, 0]],
    ['ds_read_b32 v1, v0', (i: number) => 8 * i, [2, 2, 0]],
    ['ds_read_b32 v1, v0', (i: number) => 128 * i, [2, 62, 0]],
    ['ds_read_b32 v1, v0', () => 64, [2, 0, 0]],
    ['ds_read_b64 v[2:3], v0', (i: number) => 8 * i, [4, 0, 0]],
    ['ds_read_b128 v[2:5], v0', (i: number) => 16 * i, [8, 0, 0]],
    ['ds_write_b128 v0, v[2:5]', (i: number) => 16 * i, [8, 0, 0]],
    // Rows of 64 bytes: writes of 8 neighbours meet in the same banks four times; reads take their lanes from two rows.
    ['ds_write_b128 v0, v[2:5]', (i: number) => 64 * i, [8, 24, 0]],
    ['ds_read2_b32 v[2:3], v0 offset1:32', (i: number) => 4 * i, [4, 0, 0]],
    ['ds_read_b96 v[2:4], v0', (i: number) => 16 * i, [0, 0, 1]],
    ['ds_bpermute_b32 v1, v0, v2', (i: number) => 4 * i, [0, 0, 0]],
  ] as const)('%s', (text, address, expected) => {
    expect(count(text, address)).toEqual(expected);
  });

  test('inactive lanes take no part', () => {
    expect(count('ds_read_b32 v1, v0', (i) => 128 * i, { exec: 3n })).toEqual([1, 1, 0]);
  });
});

describe('counters', () => {
  const derive = (target: 'gfx90a' | 'gfx942' | 'gfx950', texts: readonly string[]) => {
    const w = makeWave(target);
    const monitor = new CountingMonitor(0);
    monitor.startWorkgroup(undefined, [w]);
    texts.forEach((text, i) => {
      run(w, text, monitor, 16 * i);
    });
    return deriveCounters(monitor.counts(), target);
  };
  const known = (counters: ReturnType<typeof derive>) =>
    Object.fromEntries(
      Object.entries(counters).flatMap(([name, c]) => ('value' in c && c.value !== 0 ? [[name, c.value]] : [])),
    );

  test('float classes count by operation and type, packed once', () => {
    const counters = known(
      derive('gfx942', [
        'v_add_f32_e32 v1, v2, v3',
        'v_pk_add_f32 v[2:3], v[4:5], v[6:7]',
        'v_sub_f16_e32 v1, v2, v3',
        'v_mul_f64 v[2:3], v[4:5], v[6:7]',
        'v_fmac_f32_e32 v1, v2, v3',
        'v_exp_f32_e32 v1, v2',
        'v_cvt_f32_u32_e32 v1, v2',
      ]),
    );
    expect(counters).toMatchObject({
      SQ_INSTS: 7,
      SQ_INSTS_VALU: 7,
      SQ_INSTS_VALU_ADD_F32: 2,
      SQ_INSTS_VALU_ADD_F16: 1,
      SQ_INSTS_VALU_MUL_F64: 1,
      SQ_INSTS_VALU_FMA_F32: 1,
      SQ_INSTS_VALU_TRANS_F32: 1,
      SQ_INSTS_VALU_CVT: 1,
    });
    expect(counters.SQ_INSTS_VALU_FMA_F64).toBeUndefined();
  });

  test('matrix operations in units of 512 by input type', () => {
    const counters = known(
      derive('gfx942', [
        'v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]',
        'v_mfma_f32_16x16x32_fp8_bf8 v[0:3], v[16:17], v[18:19], v[0:3]',
        'v_mfma_i32_16x16x32_i8 v[0:3], v[16:17], v[18:19], v[0:3]',
      ]),
    );
    expect(counters).toMatchObject({
      SQ_INSTS_MFMA: 3,
      SQ_INSTS_VALU_MFMA_F16: 1,
      SQ_INSTS_VALU_MFMA_MOPS_F16: (2 * 32 * 32 * 8) / 512,
      SQ_INSTS_VALU_MFMA_F8: 1,
      SQ_INSTS_VALU_MFMA_MOPS_F8: (2 * 16 * 16 * 32) / 512,
      SQ_INSTS_VALU_MFMA_MOPS_I8: (2 * 16 * 16 * 32) / 512,
    });
  });

  test('what the definitions leave open has a reason instead of a value', () => {
    const counters = derive('gfx942', [
      'v_fma_mix_f32 v1, v2, v3, v4',
      'v_and_b32_e32 v1, v2, v3',
      'v_add_f32_e32 v1, v2, v3',
    ]);
    expect(counters.SQ_INSTS_VALU_FMA_F32).toEqual({ unknown: 'whether it counts v_fma_mix_f32 (1) is not public' });
    expect(counters.SQ_INSTS_VALU_INT32).toEqual({ unknown: 'whether it counts v_and_b32 (1) is not public' });
    expect(counters.SQ_INSTS_VALU_INT64).toEqual({ value: 0 });
    expect(counters.SQ_INSTS_VALU_ADD_F32).toEqual({ value: 1 });
    expect(Object.keys(derive('gfx90a', []))).not.toContain('SQ_INSTS_VALU_MFMA_F8');
  });
});
