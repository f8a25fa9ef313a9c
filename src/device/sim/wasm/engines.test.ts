// Compiled code against the reference interpreter: every operation alone, then random sequences, whole state compared bit for bit.

import { describe, expect, it } from 'vitest';
import { engineCase, makeMachine } from '../../../../tests/support/engine-compare.ts';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { DEFAULT_MODE } from '../../../../tests/support/one-instruction.ts';
import { randomNumbers } from '../../../base/elements/random.ts';
import { readCodeObject } from '../../../codeobject/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';
import { Interpreter } from '../interpreter/interpreter.ts';
import { WAVE_TEMPORARY, WAVE_VGPRS } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
import { CompiledEngine } from './engine.ts';

enableRelaxedSimd();

/** Operations that stay with the interpreter: rare, or bound to state that code does not have. */
const INTERPRETED = /^(s_getreg|s_setreg_b32|v_\w+_dpp$|v_permlane|v_readlane|v_writelane|v_swap)/;

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('should agree on single instructions', () => {
    const problems: string[] = [];
    const left = new Map<string, [number, number]>();
    for (let seed = 1; seed <= 900; seed++) {
      const { text, differences, interpreted } = engineCase(target, seed, {
        length: 1,
        mode: DEFAULT_MODE,
        branches: false,
      });
      if (differences.length > 0) problems.push([...text, ...differences].join('\n'));
      const name = (text[0] as string).split(' ')[0] as string;
      const [all, some] = left.get(name) ?? [0, 0];
      left.set(name, [all + 1, some + (interpreted > 0 ? 1 : 0)]);
    }
    expect(problems).toEqual([]);
    const uncompiled = [...left].filter(([name, [all, some]]) => all > 2 && all === some && !INTERPRETED.test(name));
    expect(uncompiled).toEqual([]);
  });

  it('should agree on sequences in any MODE', () => {
    const problems: string[] = [];
    let instructions = 0;
    for (let seed = 100_001; seed <= 100_150; seed++) {
      const result = engineCase(target, seed);
      if (result.differences.length > 0) problems.push([...result.text, ...result.differences].join('\n'));
      instructions += result.instructions;
    }
    expect(problems).toEqual([]);
    expect(instructions).toBeGreaterThan(1000);
  });

  it('should agree on sequences that access memory and LDS', () => {
    const problems: string[] = [];
    let finished = 0;
    for (let seed = 200_001; seed <= 200_150; seed++) {
      const { text, differences, error } = engineCase(target, seed, { memory: true });
      if (differences.length > 0) problems.push([...text, ...differences].join('\n'));
      if (error === undefined) finished++;
    }
    expect(problems).toEqual([]);
    expect(finished).toBeGreaterThan(120);
  });

  it('should agree on sequences under s_set_gpr_idx and s_setvskip', () => {
    const problems: string[] = [];
    let [finished, instructions, interpreted] = [0, 0, 0];
    for (let seed = 300_001; seed <= 300_300; seed++) {
      const result = engineCase(target, seed, { memory: seed % 3 === 0, states: true });
      if (result.differences.length > 0) problems.push([...result.text, ...result.differences].join('\n'));
      if (result.error === undefined) finished++;
      instructions += result.instructions;
      interpreted += result.interpreted;
    }
    expect(problems).toEqual([]);
    expect(finished).toBeGreaterThan(120);
    // DPP, and what crosses lanes in other ways than v_readlane and v_writelane.
    expect(interpreted / instructions).toBeLessThan(0.08);
  });
});

/** Runs a kernel's code on both engines from zeros; the wave after the compiled one, whose state must be the interpreter's. */
function runBoth(code: string): {
  w: ReturnType<typeof makeMachine>['w'];
  interpreted: string[];
  wasmBytes: number;
} {
  const { bytes } = kernelObject({ code });
  const { elf } = readCodeObject(bytes);
  const section = elf.sections.find((s) => s.name === '.text') as { offset: number; size: number };
  const words = bytes.slice(section.offset, section.offset + section.size);
  const { w, loaded, block } = makeMachine('gfx942', new Uint32Array(words.buffer));
  w.setS64(EXEC, -1n);
  w.setMode(DEFAULT_MODE);
  const start = block.slice();
  new Interpreter(loaded).runWave(w, 5000, true);
  const expected = block.slice();
  block.set(start);
  w.setMode(DEFAULT_MODE);
  const engine = new CompiledEngine({ loaded, memory: w.memory, launch: { mfma: 'exact' } });
  engine.runWave(w, 5000, true);
  const differing = expected.findIndex((x, i) => x !== block[i] && (i < WAVE_TEMPORARY || i >= WAVE_VGPRS));
  expect(differing).toBe(-1);
  engine.takeCounts([]);
  const { executedInterpreted, wasmBytes } = engine.statistics;
  return { w, interpreted: [...executedInterpreted.keys()], wasmBytes };
}

it('should call functions, read and write MODE without the interpreter', () => {
  const { w, interpreted } = runBoth(`s_mov_b32 s20, 5
.Lagain:
s_getpc_b64 s[4:5]
.Lhere:
s_add_u32 s4, s4, .Lfunction-.Lhere
s_addc_u32 s5, s5, 0
s_swappc_b64 s[30:31], s[4:5]
s_sub_u32 s20, s20, 1
s_cmp_lg_u32 s20, 0
s_cbranch_scc1 .Lagain
s_getreg_b32 s21, hwreg(HW_REG_MODE, 4, 4)
s_mov_b32 s22, 6
s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s22
s_getreg_b32 s23, hwreg(HW_REG_MODE)
s_cmp_eq_u32 s20, 0
s_getreg_b32 s24, hwreg(HW_REG_STATUS)
s_call_b64 s[30:31], .Lfunction
s_endpgm
.Lfunction:
v_add_u32_e32 v1, 3, v1
s_setpc_b64 s[30:31]`);
  expect([w.vgprs[64], w.sgprs[21], w.sgprs[23], w.sgprs[24]]).toEqual([18, 15, 0x360, 0x10001]);
  expect(interpreted).toEqual([]);
});

it('should keep the infinite quotient of a division by zero where FP16_OVFL limits what the output modifier makes', () => {
  // v4, v5: one by zero, and 32768 by one, both times two; MODE has no denormals and no IEEE.
  const { w } = runBoth(`s_setreg_imm32_b32 hwreg(HW_REG_MODE), 0x800100
v_mov_b32_e32 v1, 0x3c00
v_mov_b32_e32 v2, 0x7800
v_mov_b32_e32 v3, 0
v_div_fixup_f16 v4, v1, v3, v1 mul:2
v_div_fixup_f16 v5, v2, v1, v2 mul:2
v_max_f16_e64 v6, v2, v2 mul:2
s_endpgm`);
  expect([4, 5, 6].map((n) => w.vgprs[64 * n])).toEqual([0x7c00, 0x7bff, 0x7bff]);
});

it('should move two registers across lanes without the interpreter', () => {
  const { interpreted } = runBoth(`v_mbcnt_lo_u32_b32 v4, -1, 0
v_mbcnt_hi_u32_b32 v4, -1, v4
v_mul_u32_u24_e32 v5, 5, v4
v_mul_u32_u24_e32 v6, 7, v4
v_mul_u32_u24_e32 v7, 11, v4
s_nop 4
v_mov_b64_dpp v[8:9], v[4:5] row_newbcast:3 row_mask:0xf bank_mask:0xf
s_mov_b32 exec_lo, 0x0ff0f731
s_nop 4
v_mov_b64_dpp v[4:5], v[4:5] row_newbcast:2 row_mask:0x7 bank_mask:0xd
v_mov_b64_dpp v[6:7], v[4:5] row_newbcast:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
v_mov_b64_dpp v[6:7], v[6:7] row_newbcast:9 row_mask:0xf bank_mask:0xf
v_mov_b64_dpp v[10:11], v[8:9] row_newbcast:15 row_mask:0xf bank_mask:0xf
v_mov_b64_dpp v[10:11], v[6:7] row_newbcast:5 row_mask:0x1 bank_mask:0xf`);
  expect(interpreted).toEqual([]);
});

it('should index registers and skip vector instructions without the interpreter', () => {
  const { w, interpreted } = runBoth(`s_mov_b32 s20, 3
s_movk_i32 s21, 0x77
v_mov_b32_e32 v8, 5
s_set_gpr_idx_on s20, gpr_idx(DST)
v_writelane_b32 v1, s21, 2
v_mov_b32_e32 v2, 9
s_set_gpr_idx_mode gpr_idx(SRC0)
v_add_u32_e32 v3, v5, v2
s_set_gpr_idx_off
s_setvskip s20, 1
v_mov_b32_e32 v10, 1
s_setvskip 0, 0
s_setvskip s20, 2
v_mov_b32_e32 v11, 1
s_setvskip 0, 0
v_readlane_b32 s22, v4, 2`);
  expect([w.vgprs[5 * 64], w.vgprs[3 * 64], w.vgprs[10 * 64], w.vgprs[11 * 64]]).toEqual([9, 5, 0, 1]);
  expect(w.sgprs[22]).toBe(0x77);
  expect(interpreted).toEqual([]);
});

it('should have all words of the operands of a quotient that is fixed up, for what reads them later', () => {
  const words = [2, 3, 4, 5, 6, 7].map((n) => `v_mov_b32_e32 v${n}, 0x${n % 2 === 0 ? `${n}`.repeat(8) : '3ff00000'}`);
  const { w } = runBoth(`${words.join('\n')}
s_branch .Lnext
.Lnext:
v_div_fixup_f64 v[8:9], v[2:3], v[4:5], v[6:7]
v_xor_b32_e32 v10, v4, v6
s_endpgm`);
  expect([w.vgprs[8 * 64], w.vgprs[10 * 64]]).toEqual([0x22222222, 0x22222222]);
});

/** Short runs, with registers that `r` chooses: neighbours, halves of pairs, masks, constants, what is named twice. */
const SHORT_RUNS: readonly ((v: () => number, s: () => number) => string)[] = [
  (v) => `v_add_u32_e32 v${v()}, v${v()}, v${v()}`,
  (v, s) => `v_and_b32_e32 v${v()}, s${s()}, v${v()}\nv_cmp_ne_u32_e32 vcc, 0, v${v()}`,
  (v, s) => `v_lshl_add_u64 v[${v()}:${v() + 1}], v[${v()}:${v() + 1}], 2, s[${s()}:${s() + 1}]`,
  (v, s) => `v_mad_u64_u32 v[${v()}:${v() + 1}], s[${s()}:${s() + 1}], v${v()}, 3, v[${v()}:${v() + 1}]`,
  (v, s) =>
    `v_cmp_lt_u32_e64 s[${s()}:${s() + 1}], v${v()}, s${s()}\nv_cndmask_b32_e64 v${v()}, v${v()}, v${v()}, s[${s()}:${s() + 1}]`,
  (v) => `v_add_co_u32_e32 v${v()}, vcc, v${v()}, v${v()}\nv_addc_co_u32_e32 v${v()}, vcc, 0, v${v()}, vcc`,
  (v, s) => `v_fma_f32 v${v()}, v${v()}, -s${s()}, |v${v()}|\nv_mul_f32_e32 v${v()}, 0.5, v${v()}`,
  (v) =>
    `v_accvgpr_write_b32 a${v()}, v${v()}\nv_xor_b32_e32 v${v()}, v${v()}, v${v()}\nv_accvgpr_read_b32 v${v()}, a${v()}`,
];

it.each(Array.from({ length: Number(process.env.FUZZ_RUNS ?? 1) }, (_, n) => 11 + n))(
  'should make one function of short runs that come again with other registers (seed %i)',
  (seed) => {
    const random = randomNumbers(seed);
    const choose = (first: number, count: number): number => first + Math.floor(random() * count);
    const lines = ['v_mbcnt_lo_u32_b32 v0, -1, 0', 'v_mbcnt_hi_u32_b32 v0, -1, v0'];
    for (let n = 0; n < 48; n++) {
      lines.push(`v_mul_u32_u24_e32 v${n + 1}, ${0x1357 + 0x2461 * n}, v${n}`);
      lines.push(`s_mov_b32 s${n}, ${0x4f123456 + 0x01234567 * n}`);
    }
    for (let n = 0; n < 900; n++) {
      const write = SHORT_RUNS[choose(0, SHORT_RUNS.length)] as (typeof SHORT_RUNS)[number];
      // What begins a pair is even.
      const v = (): number => 2 * choose(0, 24);
      const s = (): number => 2 * choose(0, 24);
      lines.push(...pairs(write(v, s)).split('\n'));
      lines.push(n % 2 === 0 ? 's_mov_b64 exec, -1' : 's_or_b64 exec, s[2:3], s[4:5]');
    }
    const { interpreted, wasmBytes } = runBoth(`${lines.join('\n')}\ns_endpgm`);
    expect(interpreted).toEqual([]);
    expect(wasmBytes / lines.length).toBeLessThan(60);
  },
);

/** Makes the second number of each pair of registers follow the first. */
function pairs(text: string): string {
  return text.replace(/([vs])\[(\d+):\d+\]/g, (_, file, first) => `${file}[${first}:${Number(first) + 1}]`);
}
