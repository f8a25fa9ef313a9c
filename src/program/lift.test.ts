// Lifting small sources: blocks, branches, calls through registers, effects of instructions.
import { describe, expect, test } from 'vitest';
import { liftBody } from '../../tests/support/program.ts';
import { assembleToObject } from '../asm/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { liftCodeObject } from './lift.ts';
import { slotNames } from './slots.ts';

function slots(ranges: readonly { first: number; count: number }[]): number[] {
  return ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i));
}

function effects(text: string): { uses: string; keeps: string; defs: string } {
  const { program } = liftBody(`${text}\ns_endpgm`, 'gfx950');
  const { uses, keeps, defs } = program.instructions[0]?.effects ?? { uses: [], keeps: [], defs: [] };
  return {
    uses: slotNames(slots(uses)).join(' '),
    keeps: slotNames(slots(keeps)).join(' '),
    defs: slotNames(slots(defs)).join(' '),
  };
}

function shape(body: string): string[] {
  const { program } = liftBody(body);
  return program.blocks.map((b) => `${b.end - b.first} ${b.exit} ${b.successors.join(',')}`);
}

const JUMP = (label: string, at = 's[4:5]', low = 's4', high = 's5') =>
  `s_getpc_b64 ${at}\n1: s_add_u32 ${low}, ${low}, ${label}-1b\n s_addc_u32 ${high}, ${high}, 0\n`;

describe('effects', () => {
  test('operands, widths and implicit registers', () => {
    expect(effects('v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[4:7]')).toMatchObject({
      uses: expect.stringContaining('v[2:5] a[4:7]'),
      defs: 'a[0:3]',
    });
    expect(effects('s_add_u32 s1, s2, s3')).toEqual({ uses: 's[2:3]', keeps: '', defs: 's1 scc' });
    expect(effects('s_addc_u32 s1, s2, 0')).toEqual({ uses: 's2 scc', keeps: '', defs: 's1 scc' });
    expect(effects('v_add_co_u32_e32 v1, vcc, v2, v3').defs).toBe('vcc_lo vcc_hi v1');
    expect(effects('v_cndmask_b32_e32 v1, v2, v3, vcc').uses).toContain('vcc_lo vcc_hi');
    expect(effects('v_cmpx_eq_u32_e32 v2, v3').defs).toContain('exec_lo exec_hi');
    expect(effects('s_load_dwordx4 s[4:7], s[0:1], 0x10')).toEqual({ uses: 's[0:1]', keeps: '', defs: 's[4:7]' });
    expect(effects('ds_read_b64 v[2:3], v4').defs).toBe('v[2:3]');
  });

  test('tied operands: an accumulator is read, the other half of a loaded register is kept', () => {
    expect(effects('v_fmac_f32_e32 v1, v2, v3').uses).toContain('v[1:3]');
    expect(effects('v_pk_fmac_f16 v1, v2, v3').uses).toContain('v[1:3]');
    expect(effects('v_cvt_pkaccum_u8_f32 v1, v2, v3').uses).toContain('v[1:3]');
    expect(effects('global_load_short_d16_hi v2, v[0:1], off')).toMatchObject({ keeps: 'v2', defs: 'v2' });
    expect(effects('global_atomic_add v2, v[0:1], v5, off sc0').uses).toContain('v[0:1] v5');
  });
});

describe('control flow', () => {
  test('branches, joins and loops', () => {
    expect(shape('s_cbranch_scc0 L\n s_nop 0\nL: s_nop 1\n s_cbranch_scc1 L\n s_endpgm')).toEqual([
      '1 branch 1,2',
      '1 fallthrough 2',
      '2 branch 3,2',
      '1 end ',
    ]);
    expect(shape('s_branch L\n .long 0xffffffff\nL: s_endpgm')).toEqual(['1 jump 1', '1 end ']);
  });

  test('jumps and calls through s_getpc', () => {
    expect(shape(`${JUMP('L')} s_setpc_b64 s[4:5]\n .long 0xffffffff\nL: s_endpgm`)).toEqual([
      '4 indirect 1',
      '1 end ',
    ]);
    const { program } = liftBody(`${JUMP('F')} s_swappc_b64 s[30:31], s[4:5]\n s_endpgm\nF: s_setpc_b64 s[30:31]`);
    expect(program.blocks.map((b) => b.exit)).toEqual(['call', 'end', 'return']);
    expect(program.functions).toHaveLength(2);
  });

  test('a choice between two addresses gives both', () => {
    const body = `${JUMP('A')}${JUMP('B', 's[6:7]', 's6', 's7')} s_cselect_b64 s[4:5], s[4:5], s[6:7]
      s_setpc_b64 s[4:5]\nA: s_endpgm\nB: s_endpgm`;
    expect(shape(body)[0]).toBe('8 indirect 1,2');
  });

  test('a changed address is not trusted', () => {
    const { program } = liftBody(`${JUMP('L')} s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_setpc_b64 s[4:5]\nL: s_endpgm`);
    expect(program.blocks.map((b) => b.successors.length)).toEqual([0]);
  });

  test('code that ends or is not code', () => {
    expect(shape('s_nop 0\n .long 0xffffffff')[0]).toBe('1 invalid ');
    const { program } = liftBody('s_branch 4000\n s_endpgm');
    expect(program.blocks[0]?.badTargets).toHaveLength(1);
  });

  test('a relocatable object is refused', () => {
    const object = readCodeObject(assembleToObject('.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\ns_endpgm\n'));
    expect(() => liftCodeObject(object)).toThrow(expect.objectContaining({ code: 'program/relocatable' }));
  });
});
