import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleAndLink, disassembleCodeObject } from '../src/asm/index.ts';
import { randomNumbers } from '../src/base/index.ts';
import { run } from '../src/cli/prove.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { proveKernel } from '../src/equivalence/index.ts';
import { compileExample, hasLlvm } from './support/build.ts';
import { EditableKernel, legalEdit } from './support/prove-edits.ts';
import { mutant } from './support/prove-mutants.ts';
import { changesResult, proveSubjects } from './support/prove-subjects.ts';

const folder = mkdtempSync(join(tmpdir(), 'prove-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = `	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	k
	.p2align	8
	.type	k,@function
k:
`;
const TAIL = `
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_next_free_vgpr 48
		.amdhsa_next_free_sgpr 32
		.amdhsa_accum_offset 32
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 48
    .max_flat_workgroup_size: 256
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
...
	.end_amdgpu_metadata
`;
/** Loads of both pointers, and 4·work-item in v1. */
const START = `	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
`;

const source = (body: string): string => HEAD + START + body + TAIL;
const code = (body: string) => readCodeObject(assembleAndLink(source(body), { file: 'k.s' }));
const compare = (a: string, b: string) => proveKernel(code(a), code(b), 'k');

describe('one function written in two ways is proved', () => {
  const LOAD = '	global_load_dword v2, v1, s[4:5]\n	s_waitcnt vmcnt(0)\n';
  const STORE = '	global_store_dword v1, v2, s[6:7]\n';
  it.each([
    [
      'another order',
      'v_add_u32_e32 v3, 1, v0\n v_add_u32_e32 v4, 2, v0\n v_mul_lo_u32 v2, v3, v4\n s_nop 1',
      'v_add_u32_e32 v4, 2, v0\n v_add_u32_e32 v3, 1, v0\n v_mul_lo_u32 v2, v4, v3\n s_nop 1',
    ],
    [
      'another register',
      'v_add_u32_e32 v3, 7, v0\n v_xor_b32_e32 v2, v3, v0',
      'v_add_u32_e32 v9, 7, v0\n v_xor_b32_e32 v2, v0, v9',
    ],
    [
      'an accumulation register',
      'v_mov_b32_e32 v2, v0',
      'v_accvgpr_write_b32 a3, v0\n s_nop 4\n v_accvgpr_read_b32 v2, a3\n s_nop 4',
    ],
    [
      'another instruction for the same sum',
      'v_lshl_add_u32 v2, v0, 2, 5',
      'v_lshlrev_b32_e32 v2, 2, v0\n v_add_u32_e32 v2, 5, v2',
    ],
    ['a multiplication as shift and add', 'v_mul_u32_u24_e32 v2, 5, v0', 'v_lshl_add_u32 v2, v0, 2, v0'],
    [
      'an if with the sides changed',
      'v_cmp_gt_u32_e32 vcc, 8, v0\n v_cndmask_b32_e32 v2, 1, v0, vcc',
      'v_cmp_lt_u32_e32 vcc, 7, v0\n s_not_b64 vcc, vcc\n s_nop 4\n v_cndmask_b32_e32 v2, 1, v0, vcc',
    ],
  ])('%s', (_name, a, b) => {
    const proof = compare(`${a}\n${STORE}`, `${b}\n${STORE}`);
    expect(proof).toMatchObject({ verdict: 'proved', isIdentical: false, reason: undefined });
    expect(proof.assumptions.length).toBeGreaterThan(0);
  });

  it('one wide load for two narrow ones, and a stronger wait', () => {
    const two =
      '	v_lshlrev_b32_e32 v1, 3, v0\n	global_load_dword v2, v1, s[4:5]\n	global_load_dword v3, v1, s[4:5] offset:4\n	s_waitcnt vmcnt(1)\n	v_add_u32_e32 v4, 1, v2\n	s_waitcnt vmcnt(0)\n	v_add_u32_e32 v4, v4, v3\n	global_store_dword v1, v4, s[6:7]\n';
    const one =
      '	v_lshlrev_b32_e32 v1, 3, v0\n	global_load_dwordx2 v[2:3], v1, s[4:5]\n	s_waitcnt vmcnt(0)\n	v_add_u32_e32 v4, 1, v2\n	v_add_u32_e32 v4, v4, v3\n	global_store_dword v1, v4, s[6:7]\n';
    expect(compare(two, one).verdict).toBe('proved');
  });

  it('an address added up on halves', () => {
    const saddr = `${LOAD}${STORE}`;
    const halves =
      '	v_mov_b32_e32 v3, s5\n	v_add_co_u32_e32 v2, vcc, s4, v1\n	s_nop 1\n	v_addc_co_u32_e32 v3, vcc, 0, v3, vcc\n	global_load_dword v2, v[2:3], off\n	s_waitcnt vmcnt(0)\n' +
      STORE;
    expect(compare(saddr, halves)).toMatchObject({ verdict: 'proved', reason: undefined });
  });

  it('a loop with other registers and its condition negated', () => {
    const loop = (i: string, acc: string, cmp: string, branch: string): string =>
      `	s_mov_b32 ${i}, 0\n	v_mov_b32_e32 ${acc}, 0\n.Ll:\n	v_add_u32_e32 ${acc}, ${i}, ${acc}\n	s_add_u32 ${i}, ${i}, 1\n	${cmp} ${i}, 10\n	${branch} .Ll\n	global_store_dword v1, ${acc}, s[6:7]\n`;
    const a = loop('s8', 'v2', 's_cmp_lg_u32', 's_cbranch_scc1');
    expect(compare(a, loop('s9', 'v7', 's_cmp_eq_u32', 's_cbranch_scc0')).verdict).toBe('proved');
    expect(compare(a, loop('s9', 'v7', 's_cmp_eq_u32', 's_cbranch_scc1')).verdict).toBe('not-proved');
  });
});

describe('what is not the same is not proved', () => {
  const STORE = '	global_store_dword v1, v2, s[6:7]\n';
  const LDS = (between: string): string =>
    `	ds_write_b32 v1, v0\n${between}	ds_read_b32 v2, v1 offset:4\n	s_waitcnt lgkmcnt(0)\n${STORE}`;
  const FULL = '	s_waitcnt lgkmcnt(0)\n	s_barrier\n';
  it.each([
    ['a barrier deleted', LDS(FULL), LDS('	s_waitcnt lgkmcnt(0)\n')],
    ['a wait before a barrier deleted', LDS(FULL), LDS('	s_barrier\n')],
    [
      'a load moved over a store that another lane reads',
      LDS(''),
      `	ds_read_b32 v2, v1 offset:4\n	ds_write_b32 v1, v0\n	s_waitcnt lgkmcnt(0)\n${STORE}`,
    ],
    [
      'a wait before a use deleted',
      `	global_load_dword v2, v1, s[4:5]\n	s_waitcnt vmcnt(0)\n${STORE}`,
      `	global_load_dword v2, v1, s[4:5]\n${STORE}`,
    ],
    [
      'EXEC not restored',
      `	s_mov_b64 s[8:9], exec\n	v_cmpx_gt_u32_e32 8, v0\n	s_mov_b64 exec, s[8:9]\n	v_mov_b32_e32 v2, v0\n${STORE}`,
      `	s_mov_b64 s[8:9], exec\n	v_cmpx_gt_u32_e32 8, v0\n	v_mov_b32_e32 v2, v0\n${STORE}`,
    ],
    [
      'another rounding',
      `	v_add_f32_e32 v2, v0, v1\n${STORE}`,
      `	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3\n	v_add_f32_e32 v2, v0, v1\n${STORE}`,
    ],
    [
      'float sums in another order',
      `	v_add_f32_e32 v2, v0, v1\n	v_add_f32_e32 v2, v2, v1\n${STORE}`,
      `	v_add_f32_e32 v2, v1, v1\n	v_add_f32_e32 v2, v0, v2\n${STORE}`,
    ],
  ])('%s', (_name, a, b) => {
    const proof = compare(a, b);
    expect(proof.verdict).toBe('not-proved');
    expect(proof.reason).toMatch(/^[A-Z'].*\.$/s);
  });

  it('says where: the write, the branch, the instruction that is not followed', () => {
    const { places, reason } = compare(`	v_mov_b32_e32 v2, 1\n${STORE}`, `	v_mov_b32_e32 v2, 2\n${STORE}`);
    expect(reason).toBe('Address or value of a write are not shown to be the same.');
    expect(places.edited?.instruction).toMatch(/^global_store_dword/);
    const jump = '	s_setpc_b64 s[8:9]\n';
    expect(compare(jump, `	s_nop 0\n${jump}`).reason).toBe('A jump to an address that is not known.');
  });

  it('time that is allowed bounds it', () => {
    const proof = proveKernel(code(STORE), code(`	s_nop 0\n${STORE}`), 'k', { limits: { milliseconds: 0 } });
    expect(proof).toMatchObject({ verdict: 'not-proved', reason: 'The time that is allowed is used up.' });
  });
});

describe.skipIf(!hasLlvm())('kernels of the compiler', () => {
  const subjects = proveSubjects().filter(({ name }) => !name.startsWith('triton') || /add_f32|softmax/.test(name));
  const random = randomNumbers(20261122);
  const pick = (bound: number): number => Math.floor(random() * bound);

  it('edits that keep the function are proved, mistakes that change results are not', async () => {
    const proved = new Map<string, number>();
    let mutants = 0;
    for (const subject of subjects) {
      const baseline = readCodeObject(subject.codeObject);
      const kernel = new EditableKernel(subject.codeObject, subject.kernel);
      expect(proveKernel(baseline, baseline, subject.kernel, { ignoreIdentity: true })).toMatchObject({
        verdict: 'proved',
      });
      for (let i = 0; i < 4; i++) {
        const edit = legalEdit(kernel, pick, i);
        if (edit === undefined) continue;
        const proof = proveKernel(baseline, readCodeObject(edit.bytes), subject.kernel);
        if (proof.reason?.startsWith('The checker objects') === true) continue;
        expect({ subject: subject.name, ...edit, bytes: 0, reason: proof.reason }).toMatchObject({ reason: undefined });
        proved.set(edit.kind, (proved.get(edit.kind) ?? 0) + 1);
      }
      for (let i = 0; i < 6; i++) {
        const edit = mutant(kernel, pick);
        if (edit === undefined || edit.kind === 'destination') continue;
        mutants++;
        const proof = proveKernel(baseline, readCodeObject(edit.bytes), subject.kernel);
        if (proof.verdict !== 'proved' || proof.isIdentical) continue;
        expect({ what: edit.what, changes: await changesResult(subject, edit.bytes) }).toEqual({
          what: edit.what,
          changes: false,
        });
      }
    }
    expect([...proved.keys()].sort()).toEqual(expect.arrayContaining(['rename v', 'reorder', 'waits']));
    expect(mutants).toBeGreaterThan(20);
  });
});

describe.skipIf(!hasLlvm())('wavesmith prove', () => {
  const [a, b, c] = ['a.s', 'b.s', 'c.s'].map((name) => join(folder, name)) as [string, string, string];
  let out = '';
  const write = process.stdout.write.bind(process.stdout);
  const prove = async (...argv: string[]): Promise<number> => {
    out = '';
    process.stdout.write = ((text: string) => {
      out += text;
      return true;
    }) as typeof process.stdout.write;
    try {
      return await run(argv);
    } finally {
      process.stdout.write = write;
    }
  };

  beforeAll(() => {
    const text = disassembleCodeObject(readCodeObject(compileExample('examples/saxpy.c', 'gfx942', 2)));
    writeFileSync(a, text);
    writeFileSync(b, text.replace(/^(\s*v_fmac_f32|\s*v_fma_f32)/m, '\ts_nop 0\n$1'));
    writeFileSync(c, text.replace(/v_fmac_f32_e32 (\w+), /, 'v_mul_f32_e32 $1, '));
    expect(readFileSync(b, 'utf8')).not.toBe(text);
    expect(readFileSync(c, 'utf8')).not.toBe(text);
  });

  it('says proved, different with inputs, not proved, by its exit code too', async () => {
    expect(await prove(a, a)).toBe(0);
    expect(out).toMatch(/^saxpy: proved \(identical code\)/);
    expect(await prove(a, b)).toBe(0);
    expect(out).toMatch(/^saxpy: proved\n {2}assumes: /);
    expect(await prove(a, c, '--json')).toBe(1);
    const [kernel] = JSON.parse(out).kernels;
    expect(kernel).toMatchObject({
      verdict: 'different',
      counterexample: { difference: expect.stringContaining('differs first at byte') },
    });
    expect(await prove(a, c, '--no-run')).toBe(3);
    const launch = [
      '--grid',
      '1',
      '--block',
      '64',
      '--arg',
      'f32[64]=random',
      '--arg',
      'f32[64]=iota',
      '--arg',
      'f32=2',
      '--arg',
      'u32=64',
    ];
    expect(await prove(a, c, ...launch)).toBe(1);
    expect(out).toContain('grid 1,1,1, block 64,1,1');
    expect(await prove(a, b, ...launch)).toBe(0);
    expect(out).toContain('assumes: Workgroups have 64 work-items, so every lane is on at first.');
  });

  it('refuses what it cannot read, typed', async () => {
    const bad = join(folder, 'launch.json');
    writeFileSync(bad, '{"grid": [0]}');
    await expect(prove(a, b, '--launch', bad)).rejects.toMatchObject({ code: 'prove/bad-launch' });
    writeFileSync(bad, '{');
    await expect(prove(a, b, '--launch', bad)).rejects.toMatchObject({ code: 'prove/bad-launch' });
    await expect(prove(a, b, '--kernel', 'nobody')).rejects.toMatchObject({
      code: expect.stringMatching(/no-such-kernel|select/),
    });
    await expect(prove(a, b, '--limit', 'x')).rejects.toMatchObject({ code: 'cli/usage' });
    await expect(prove(a, b, '--arg', 'i32=1')).rejects.toMatchObject({ code: 'cli/usage' });
  });
});
