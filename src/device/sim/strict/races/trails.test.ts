// Wait states along the path that compiled code takes: the same findings as on the interpreter, in each dispatch anew.
import { expect, test } from 'vitest';
import { kernelObject } from '../../../../../tests/support/kernel-source.ts';
import { PROLOGUE, shortFindings, strictFindings } from '../../../../../tests/support/strict.ts';
import { createDevice } from '../../../index.ts';

const descriptor = { next_free_vgpr: 40, accum_offset: 32, next_free_sgpr: 32, system_sgpr_workgroup_id_x: 1 };
const READ = 'v_readfirstlane_b32 s12, v4\nv_readfirstlane_b32 s13, v5';
const USE = 'global_load_dword v2, v1, s[12:13]\ns_waitcnt vmcnt(0)';
const START = 'v_mov_b32_e32 v4, s4\nv_mov_b32_e32 v5, s5';

const WITHIN = `${START}\n${READ}\n${USE}`;
/** Workgroup 0 comes with enough wait states, workgroup 1 on the short way. */
const ACROSS = `${START}
s_cmp_eq_u32 s2, 0
s_cbranch_scc1 .Llong
${READ}
s_branch .Luse
.Llong:
${READ}
s_nop 4
.Luse:
${USE}`;

test.each([
  ['within a block', WITHIN, [1, 1, 1]],
  ['across blocks', ACROSS, [2, 1, 1]],
] as const)('what is missing %s is found in each dispatch of the code', async (_, code, grid) => {
  const object = kernelObject({ target: 'gfx942', code: `${PROLOGUE}\n${code}`, descriptor });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const buffer = device.alloc(1024, 'x');
    device.write(buffer, new Uint8Array(1024));
    const kernel = device.load(object.bytes).kernel('k');
    const dispatch = async (workgroups: number): Promise<string[]> => {
      const { findings } = await device.dispatch({
        kernel,
        grid: [workgroups, 1, 1],
        block: [64, 1, 1],
        args: [buffer],
        strict: {},
      });
      return shortFindings(findings ?? []);
    };
    for (let n = 0; n < 3; n++) expect(await dispatch(grid[0])).toEqual(['hazards/wait-states s[12:13]']);
    if (grid[0] > 1) {
      // Behind a dispatch in which nothing is missing, too.
      for (const [workgroups, found] of [
        [1, 0],
        [2, 1],
        [2, 1],
        [1, 0],
        [2, 1],
      ] as const) {
        expect(await dispatch(workgroups)).toHaveLength(found);
      }
    }
  } finally {
    device.close();
  }
});

const MATRIX = { gfx90a: 'v_mfma_f64_16x16x4f64', gfx942: 'v_mfma_f64_16x16x4_f64' } as const;
type Target = keyof typeof MATRIX;
const zeros = (first: number, count: number): string =>
  Array.from({ length: count }, (_, n) => `v_mov_b32_e32 v${first + n}, 0`).join('\n');

/** The findings of both engines in order: rule, place, registers. */
async function found(code: string, target: Target, workgroups = 1): Promise<[string[], string[]]> {
  const [compiled, interpreted] = await Promise.all(
    (['compiled', 'interpreter'] as const).map(async (engine) => {
      const findings = await strictFindings(code, { engine, target, grid: [workgroups, 1, 1] });
      return findings.map(({ rule, place, registers }) => `${rule} ${place?.pc} ${registers}`).sort();
    }),
  );
  return [compiled as string[], interpreted as string[]];
}

test.each([1, 8, 19, 20, 21, 40])('a block of %d more instructions is looked at behind the way to it', async (more) => {
  const code = ACROSS.replace(USE, `${USE}\n${zeros(8, 1).concat('\n').repeat(more)}`);
  const [compiled, interpreted] = await found(code, 'gfx942', 2);
  expect(compiled).toEqual(interpreted);
  expect(compiled).toHaveLength(1);
});

test.each(
  [1, 7, 8, 10, 11, 14].flatMap((blocks) => (['gfx90a', 'gfx942'] as const).map((target) => [blocks, target] as const)),
)(
  '%d blocks of one instruction lie between a matrix instruction and what reads its result: %s',
  async (blocks, target) => {
    const branches = Array.from({ length: blocks }, (_, n) => `s_branch .L${n}\n.L${n}:`).join('\n');
    const code = `${zeros(4, 12)}\ns_nop 7\n${MATRIX[target]} v[8:15], v[4:5], v[6:7], v[8:15]\n${branches}\nv_add_f32_e32 v3, v8, v8`;
    const [compiled, interpreted] = await found(code, target);
    expect(compiled).toEqual(interpreted);
    expect(compiled).toHaveLength(blocks < 11 ? 1 : 0);
  },
);

/** A kernel of blocks with branches forward that depend on the workgroup. */
function randomKernel(random: (below: number) => number, target: Target): string {
  const pieces = [
    () => 'v_readfirstlane_b32 s12, v4',
    () => 'v_readfirstlane_b32 s13, v5',
    () => `s_nop ${random(4)}`,
    () => 's_mov_b32 s14, 0',
    () => 'v_readlane_b32 s15, v4, s14',
    () => 'v_readfirstlane_b32 s14, v6',
    () => 'v_mov_b32_e32 v7, v4',
    () => 'v_mov_b32_dpp v8, v7 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf',
    () => 'v_cmp_lt_u32_e32 vcc, v0, v4',
    () => 'v_div_fmas_f32 v9, v4, v5, v4',
    () => USE,
    () => `${MATRIX[target]} v[20:27], v[10:11], v[12:13], v[20:27]`,
    () => 'v_add_f32_e32 v9, v20, v21',
    () => zeros(9, 1).concat('\n').repeat(random(30)),
  ];
  const blocks = 6 + random(8);
  const lines = [START, zeros(6, 22), 's_mov_b64 s[12:13], s[4:5]\ns_mov_b32 s14, 0', 'v_cmp_lt_u32_e32 vcc, v0, v4'];
  lines.push('s_nop 7\ns_nop 7');
  for (let n = 0; n < blocks; n++) {
    lines.push(`.L${n}:`);
    for (let i = random(4); i > 0; i--) lines.push((pieces[random(pieces.length)] as () => string)());
    if (random(2) === 0 && n + 1 < blocks)
      lines.push(`s_bitcmp${random(2)}_b32 s2, ${random(3)}\ns_cbranch_scc1 .L${n + 1 + random(blocks - n - 1)}`);
  }
  return lines.join('\n');
}

test('random ways through blocks are looked at as the interpreter does', async () => {
  let state = 12345;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  let findings = 0;
  for (let n = 0; n < 60; n++) {
    const target = random(2) === 0 ? 'gfx90a' : 'gfx942';
    const code = randomKernel(random, target);
    const [compiled, interpreted] = await found(code, target, 8);
    expect(compiled, code).toEqual(interpreted);
    findings += interpreted.length;
  }
  expect(findings).toBeGreaterThan(30);
}, 120_000);
