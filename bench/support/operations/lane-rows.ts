// Rows of moves between lanes and between register files, and of scalar instructions, which are counted by wavefront instead of by lane.
import { AssemblyError } from '../../../src/asm/index.ts';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { OWN, RESULTS, rowsOf } from './forms.ts';
import { type Row, rowOf } from './timing.ts';

const CONTROLS = [
  ...['quad_perm:[1,0,3,2]', 'quad_perm:[0,0,0,0]', 'row_shl:1', 'row_shr:8', 'row_ror:4', 'wave_shl:1', 'wave_shr:1'],
  ...['wave_rol:1', 'wave_ror:1', 'row_mirror', 'row_half_mirror', 'row_bcast:15', 'row_bcast:31', 'row_newbcast:3'],
];

/** Moves between lanes, and between vector registers of both files. */
export function laneMoves(): Row[] {
  const section = 'lane moves';
  const [to, from] = [(n: number) => `v${RESULTS + 2 * n}`, (n: number) => `v${OWN + 2 * n}`];
  const gfx950 = { target: 'gfx950' } as const;
  return [
    rowOf(section, 'v_readlane_b32, constant', (n) => `v_readlane_b32 s22, ${from(n)}, 5`),
    rowOf(section, 'v_readlane_b32, scalar', (n) => `v_readlane_b32 s22, ${from(n)}, s10`),
    rowOf(section, 'v_writelane_b32', (n) => `v_writelane_b32 ${to(n)}, s10, 5`),
    rowOf(section, 'v_writelane_b32, scalar', (n) => `v_writelane_b32 ${to(n)}, 7, s10`),
    rowOf(section, 'v_readfirstlane_b32', (n) => `v_readfirstlane_b32 s22, ${from(n)}`),
    ...CONTROLS.flatMap((control) => [
      rowOf(
        section,
        `v_mov_b32_dpp ${control}`,
        (n) => `v_mov_b32_dpp ${to(n)}, ${from(n)} ${control} row_mask:0xf bank_mask:0xf`,
      ),
      rowOf(
        section,
        `v_add_f32_dpp ${control}`,
        (n) => `v_add_f32_dpp ${to(n)}, ${from(n)}, v4 ${control} row_mask:0xf bank_mask:0xf bound_ctrl:0`,
      ),
    ]),
    rowOf(
      section,
      'v_mov_b32_dpp row_mask:0xa',
      (n) => `v_mov_b32_dpp ${to(n)}, ${from(n)} row_bcast:15 row_mask:0xa bank_mask:0x3`,
    ),
    rowOf(
      section,
      'v_mov_b32_sdwa',
      (n) => `v_mov_b32_sdwa ${to(n)}, ${from(n)} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2`,
    ),
    rowOf(section, 'v_swap_b32', (n) => `v_swap_b32 ${to(n)}, ${from(n)}`),
    rowOf(section, 'v_accvgpr_read_b32', (n) => `v_accvgpr_read_b32 ${to(n)}, a${n}`),
    rowOf(section, 'v_accvgpr_write_b32', (n) => `v_accvgpr_write_b32 a${n}, ${from(n)}`),
    rowOf(section, 'v_accvgpr_mov_b32', (n) => `v_accvgpr_mov_b32 a${n}, a${32 + n}`),
    rowOf(section, 'v_mov_b32, indexed', (n) => `v_mov_b32_e32 ${to(n)}, v4`, {
      before: 's_mov_b32 s22, 2\ns_set_gpr_idx_on s22, gpr_idx(SRC0)',
    }),
    rowOf(section, 'v_permlane16_swap_b32 gfx950', (n) => `v_permlane16_swap_b32_e32 ${to(n)}, ${from(n)}`, gfx950),
    rowOf(section, 'v_permlane32_swap_b32 gfx950', (n) => `v_permlane32_swap_b32_e32 ${to(n)}, ${from(n)}`, gfx950),
  ];
}

/** What changes the program counter, EXEC, the loop's counter or the wavefront's state, or waits. */
const NO_LOOP =
  /pc_b64|saveexec|wrexec|branch|s_rfe|call|cbranch|setreg|getreg|set_gpr|movrel|setvskip|sleep|setprio|trap|halt/;
const RESULTS_OF_SCALARS = ['s22', 's[22:23]', 's[24:25]'];
const SOURCES = ['s10', 's[10:11]', '0x1234'];

function assembles(code: string): boolean {
  try {
    kernelObject({ target: 'gfx942', code });
    return true;
  } catch (error) {
    if (error instanceof AssemblyError) return false;
    throw error;
  }
}

/** The first combination of operands that an instruction has. */
function scalarText(mnemonic: string): string | undefined {
  const sources = [...SOURCES.map((a) => [a]), ...SOURCES.flatMap((a) => SOURCES.map((b) => [a, b]))];
  for (const all of sources) {
    const texts = [...RESULTS_OF_SCALARS.map((result) => [result, ...all]), all];
    for (const operands of texts) {
      const text = `${mnemonic} ${operands.join(', ')}`;
      if (assembles(text)) return text;
    }
  }
  return undefined;
}

/** Scalar instructions: loads of every width, and the arithmetic of every one that can be repeated. */
export function scalars(): Row[] {
  const section = 'scalar, by wavefront';
  const names = new Set(
    rowsOf('gfx942')
      .filter(({ encoding, mnemonic }) => /^SOP[12CK]/.test(encoding) && !NO_LOOP.test(mnemonic))
      .map(({ mnemonic }) => mnemonic),
  );
  const arithmetic = [...names].flatMap((name) => {
    const text = scalarText(name);
    return text === undefined ? [] : [rowOf(section, name, () => text)];
  });
  const loads = [1, 2, 4, 8, 16].flatMap((dwords) => {
    const suffix = dwords === 1 ? 'dword' : `dwordx${dwords}`;
    const to = dwords === 1 ? 's24' : `s[24:${23 + dwords}]`;
    return [
      rowOf(section, `s_load_${suffix}`, () => `s_load_${suffix} ${to}, s[12:13], 0x0`),
      rowOf(section, `s_buffer_load_${suffix}`, () => `s_buffer_load_${suffix} ${to}, s[16:19], 0x0`),
    ];
  });
  const others = ['s_nop 0', 's_waitcnt lgkmcnt(0)', 's_memtime s[22:23]', 's_getreg_b32 s22, hwreg(HW_REG_MODE)'];
  return [...arithmetic, ...loads, ...others.map((text) => rowOf(section, text, () => text))];
}
