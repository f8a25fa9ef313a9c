// Rules about registers nobody wrote, lanes, barriers, caches, XNACK and loads to LDS: each once where it is wrong and once mended.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { checkCodeObject, type Finding } from '../index.ts';

function check(code: string, target = 'gfx942'): Finding[] {
  const descriptor = { next_free_vgpr: 64, accum_offset: 64 };
  return checkCodeObject(kernelObject({ code, target, descriptor, metadata: { '.vgpr_count': 64 } }), { notes: true });
}

/** `severity rule registers` of each finding. */
function found(code: string, target?: string): string[] {
  return check(code, target)
    .filter((f) => !f.rule.startsWith('resources/'))
    .map((f) => `${f.severity} ${f.rule} ${f.registers.join(',')}`.trim());
}

const SAVE =
  'v_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz .Ljoin\nv_mov_b32 v1, v0\n.Ljoin:\n';
const BRANCH = 'v_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz .Ljoin\n';

/** What, wrong code, what is found, the same mended. */
const TABLE: readonly [string, string, string[], string, string?][] = [
  [
    'a register that nothing wrote',
    'v_add_f32 v2, v5, v0',
    ['error control-flow/uninitialised v5'],
    'v_mov_b32 v5, 0\nv_add_f32 v2, v5, v0',
  ],
  [
    'a scalar register that nothing wrote',
    's_add_u32 s4, s9, 1',
    ['error control-flow/uninitialised s9'],
    's_add_u32 s4, s1, 1',
  ],
  [
    'SCC that nothing set',
    's_cbranch_scc1 .L0\n.L0:',
    ['error control-flow/uninitialised scc'],
    's_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .L0\n.L0:',
  ],
  [
    'a register that one path writes',
    's_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .L0\nv_mov_b32 v5, 0\n.L0:\nv_add_f32 v2, v5, v0',
    ['note control-flow/maybe-uninitialised v5'],
    'v_mov_b32 v5, 1\ns_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .L0\nv_mov_b32 v5, 0\n.L0:\nv_add_f32 v2, v5, v0',
  ],
  [
    'EXEC that is not restored',
    `${SAVE}v_add_u32 v3, v0, v0`,
    ['warning control-flow/exec-not-restored exec'],
    `${SAVE}s_or_b64 exec, exec, s[2:3]\nv_add_u32 v3, v0, v0`,
  ],
  [
    'a barrier that wavefronts without lanes skip',
    `${BRANCH}s_barrier\n.Ljoin:\ns_or_b64 exec, exec, s[2:3]`,
    ['note control-flow/divergent-barrier'],
    `${BRANCH}v_mov_b32 v1, v0\n.Ljoin:\ns_or_b64 exec, exec, s[2:3]\ns_barrier`,
  ],
  [
    'code behind a jump',
    's_branch .Lend0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\n.Lend0:',
    ['note control-flow/unreachable'],
    's_branch .Lend0\ns_nop 0\n.Lend0:',
  ],
  [
    'a write-back that the flag does not wait for',
    'v_mov_b32 v1, v0\nglobal_store_dword v0, v1, s[0:1]\nbuffer_wbl2 sc1\nglobal_store_dword v0, v1, s[0:1] sc0 sc1',
    ['warning memory/write-back-order'],
    'v_mov_b32 v1, v0\nglobal_store_dword v0, v1, s[0:1]\nbuffer_wbl2 sc1\ns_waitcnt vmcnt(0)\nglobal_store_dword v0, v1, s[0:1] sc0 sc1',
  ],
  [
    'an invalidate before the atomic has returned',
    'global_atomic_add v1, v0, v0, s[0:1] sc0\nbuffer_inv sc1',
    ['warning memory/invalidate-order'],
    'global_atomic_add v1, v0, v0, s[0:1] sc0\ns_waitcnt vmcnt(0)\nbuffer_inv sc1',
  ],
  [
    'scalar loads that XNACK may replay over their address',
    's_load_dword s8, s[0:1], 0x0\ns_load_dwordx2 s[0:1], s[0:1], 0x8',
    ['error hazards/xnack-clause s[0:1]'],
    's_load_dword s8, s[0:1], 0x0\ns_nop 0\ns_load_dwordx2 s[0:1], s[0:1], 0x8',
    'gfx942:xnack+',
  ],
  [
    'a load over its own address, with another behind it',
    'v_mov_b32 v1, v0\nglobal_load_dword v0, v0, s[0:1]\nglobal_load_dword v2, v1, s[0:1]',
    ['error hazards/xnack-clause'],
    'v_mov_b32 v1, v0\nglobal_load_dword v0, v0, s[0:1]\ns_nop 0\nglobal_load_dword v2, v1, s[0:1]',
    'gfx942:xnack+',
  ],
  [
    'a store behind a load that XNACK may replay',
    'v_mov_b32 v1, v0\nglobal_load_dword v2, v0, s[0:1]\nglobal_store_dword v0, v1, s[0:1]',
    ['error hazards/xnack-clause'],
    'v_mov_b32 v1, v0\nglobal_load_dword v2, v0, s[0:1]\ns_nop 0\nglobal_store_dword v0, v1, s[0:1]',
    'gfx942:xnack+',
  ],
  [
    'a load to LDS that no wait proves',
    's_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v[0:1], off\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v0',
    ['error control-flow/uninitialised v1', 'error waits/lds-dma'],
    's_mov_b32 m0, 0\nv_mov_b32 v1, 0\nglobal_load_lds_dword v[0:1], off\ns_waitcnt vmcnt(0)\ns_barrier\nds_read_b32 v2, v0',
  ],
  ...[1, 2, 3, 5].flatMap((ahead) =>
    [1, 2].map((loads): (typeof TABLE)[number] => [
      `${loads} loads to LDS in a round, ${ahead} rounds ahead of their reads, and a wait for one round less`,
      ldsPipeline(ahead, loads, loads * (ahead + 1)),
      Array.from({ length: loads }, () => 'error waits/lds-dma'),
      ldsPipeline(ahead, loads, loads * ahead),
    ]),
  ),
];

/** So many loads into LDS in each round, `ahead` rounds before they are read behind a wait that leaves `left` of them outstanding. */
function ldsPipeline(ahead: number, loads: number, left: number): string {
  const load = 's_mov_b32 m0, s4\ns_add_u32 s4, s4, 256\nglobal_load_lds_dword v[4:5], off\ns_and_b32 s4, s4, 0x7ff\n';
  return `s_mov_b32 s4, 0\ns_mov_b32 s5, 16\nv_mov_b32 v4, v0\nv_mov_b32 v5, 0\n${load.repeat(loads * ahead)}loop:
${load.repeat(loads)}s_waitcnt vmcnt(${left})\nds_read_b32 v2, v0\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\ns_cbranch_scc1 loop`;
}

describe('wrong, and mended', () => {
  test.each(TABLE)('%s', (_what, wrong, expected, mended, target = 'gfx942:xnack-') => {
    const own = (list: string[]): string[] => list.filter((f) => !f.includes('waits/too-strong'));
    expect(own(found(wrong, target)).sort()).toEqual([...expected].sort());
    expect(own(found(mended, target))).toEqual([]);
  });

  test('what is off by default', () => {
    const code = 's_branch .Lend0\nv_mov_b32 v1, 0\n.Lend0:';
    expect(checkCodeObject(kernelObject({ code }))).toEqual([]);
  });
});

describe('waits that are too strong', () => {
  const suggestion = (code: string): string[] =>
    check(code, 'gfx942:xnack-')
      .filter((f) => f.rule === 'waits/too-strong')
      .map((f) => f.fix ?? '');
  const two = 'global_load_dword v2, v0, s[0:1]\nglobal_load_dword v3, v0, s[0:1]\n';
  const use = (v: number) => `v_add_f32 v9, v${v}, v${v}\n`;

  test('the largest count that proves what is needed', () => {
    expect(suggestion(`${two}s_waitcnt vmcnt(0)\n${use(2)}s_waitcnt vmcnt(0)\n${use(3)}`)).toEqual([
      'Write s_waitcnt vmcnt(1) instead. Later waits cover the rest.',
      // As long as the first stays as it is.
      'Remove the wait. Later waits cover the rest.',
    ]);
    expect(suggestion(`${two}s_waitcnt vmcnt(1)\n${use(2)}s_waitcnt vmcnt(0)\n${use(3)}`)).toEqual([]);
    expect(suggestion(`${two}s_waitcnt vmcnt(0)\n${use(3)}`)).toEqual([]);
  });

  test('a counter that nothing needs', () => {
    expect(suggestion(`${two}s_waitcnt vmcnt(0)\ns_waitcnt vmcnt(0)\n${use(3)}`)).toHaveLength(2);
    expect(suggestion(`${two}s_waitcnt vmcnt(0) lgkmcnt(0)\n${use(3)}`)).toEqual([
      'Write s_waitcnt vmcnt(0) instead. Later waits cover the rest.',
    ]);
  });

  test('waits that order memory are needed', () => {
    const store = 'v_mov_b32 v1, v0\nglobal_store_dword v0, v1, s[0:1]\n';
    expect(suggestion(`${store}s_waitcnt vmcnt(0)\ns_barrier`)).toEqual([]);
    expect(suggestion(`${store}s_waitcnt vmcnt(0)`)).toHaveLength(1);
    expect(suggestion('ds_write_b32 v0, v0\ns_waitcnt lgkmcnt(0)\ns_barrier')).toEqual([]);
  });
});

/** What makes EXEC of a mask in s[8:9], or of its half s8. */
const MASKS: readonly string[] = [
  ...['mov', 'cmov', 'not', 'wqm', 'brev', 'quadmask'].map((name) => `s_${name}_b64 exec, s[8:9]`),
  ...['and', 'or', 'xor', 'andn2', 'orn2', 'nand', 'nor', 'xnor', 'cselect'].flatMap((name) => [
    `s_${name}_b64 exec, exec, s[8:9]`,
    `s_${name}_b64 exec, s[8:9], exec`,
  ]),
  ...['and', 'or', 'xor', 'andn1', 'andn2', 'orn1', 'orn2', 'nand', 'nor', 'xnor'].map(
    (name) => `s_${name}_saveexec_b64 s[4:5], s[8:9]`,
  ),
  's_andn1_wrexec_b64 s[4:5], s[8:9]',
  's_andn2_wrexec_b64 s[4:5], s[8:9]',
];
const HALVES: readonly string[] = [
  's_mov_b32 exec_lo, s8',
  's_mov_b32 exec_hi, s8',
  's_xor_b32 exec_lo, exec_lo, s8',
  's_xor_b32 exec_hi, s8, exec_hi',
  's_cselect_b32 exec_lo, s8, -1',
];

test.each([
  ...MASKS.map((code) => [code, 's[8:9]']),
  ...HALVES.map((code) => [code, 's8']),
  ['s_cselect_b64 exec, -1, 0', 'scc'],
])('a mask that nothing wrote and that becomes EXEC: %s', (code, registers) => {
  const set = registers === 'scc' ? '' : 's_cmp_eq_u32 s0, 0\n';
  expect(found(`${set}${code}\nv_mov_b32 v1, v0`)).toContain(`error control-flow/uninitialised ${registers}`);
  const written = 's_cmp_eq_u32 s0, 0\ns_mov_b64 s[8:9], -1\n';
  expect(found(`${written}${code}\nv_mov_b32 v1, v0`).filter((f) => f.includes('initialised'))).toEqual([]);
});

test('EXEC that is set to zero by a register that nothing wrote', () => {
  for (const code of ['s_xor_b64 exec, s[8:9], s[8:9]', 's_xor_b32 exec_hi, s8, s8'])
    expect(found(code).filter((f) => f.includes('initialised'))).toEqual([]);
});
