// Each edit, applied, removes its finding: one wrong kernel for every rule that has edits, mended alone and by `check --fix`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test, vi } from 'vitest';
import { assemble, assembleAndLink } from '../src/asm/index.ts';
import { checkCodeObject } from '../src/check/index.ts';
import { main } from '../src/cli/main.ts';
import { type CodeObject, link, readCodeObject } from '../src/codeobject/index.ts';
import { CHECK_RULES, type CheckRuleId, type Finding, fingerprint, ruleInfo } from '../src/finding/index.ts';
import { applySourceEdits, Places, SourceDocument, sourceEdits } from '../src/lsp/index.ts';
import { type KernelSource, kernelSource } from './support/kernel-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Case {
  readonly rule: CheckRuleId;
  readonly wrong: KernelSource;
  /** What the wrong kernel is compared with. */
  readonly baseline?: KernelSource;
  /** Changes the text of the wrong kernel. */
  readonly edit?: (text: string) => string;
}

const WIDE: KernelSource = {
  descriptor: { next_free_vgpr: 128, accum_offset: 64, next_free_sgpr: 32 },
  metadata: { '.vgpr_count': 128, '.sgpr_count': 32 },
};
const code = (text: string, more: KernelSource = {}): KernelSource => ({ ...WIDE, code: text, ...more });
const LOAD = 'global_load_dword v2, v0, s[0:1]\n';
const SDWA = 'v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n';
const DPP = 'v_mov_b32_dpp v4, v7 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf';
const XDL = 'v_mfma_f32_16x16x16_f16 v[0:3], v[10:11], v[12:13], v[0:3]\n';
const D4 = 'v_mfma_f64_4x4x4_4b_f64 v[0:1], v[10:11], v[12:13], v[0:1]\n';
const REGISTERS = Array.from({ length: 60 }, (_, i) => `v_mov_b32 v${i + 1}, 0\n`).join('');
const initialised = (text: string): KernelSource =>
  code(`s_mov_b32 s4, 0\ns_mov_b32 s5, 0\ns_mov_b32 s6, 0\ns_mov_b32 s7, 0\n${REGISTERS}s_nop 1\n${text}`);
const SAVE =
  'v_cmp_eq_u32 vcc, 0, v0\ns_and_saveexec_b64 s[2:3], vcc\ns_cbranch_execz .Ljoin\nv_mov_b32 v1, v0\n.Ljoin:\n';

const CASES: readonly Case[] = [
  {
    rule: 'abi/preload-changed',
    wrong: { descriptor: { user_sgpr_kernarg_preload_length: 1 } },
    baseline: { descriptor: { user_sgpr_kernarg_preload_length: 2 } },
  },
  {
    rule: 'abi/user-sgprs-changed',
    wrong: { descriptor: { user_sgpr_count: 4 } },
    baseline: { descriptor: { user_sgpr_count: 3 } },
  },
  {
    rule: 'resources/lds-shrunk',
    wrong: {},
    baseline: { descriptor: { group_segment_fixed_size: 64 }, metadata: { '.group_segment_fixed_size': 64 } },
  },
  { rule: 'abi/entry-alignment', wrong: {}, edit: (text) => text.replace('\t.p2align 8\n', '\ts_nop 0\n') },
  { rule: 'abi/target', wrong: { target: 'gfx942:xnack+' }, baseline: { target: 'gfx942:xnack-' } },
  { rule: 'abi/code-object-version', wrong: { version: 4 }, baseline: { version: 5 } },
  {
    rule: 'abi/kernarg-layout',
    wrong: { descriptor: { kernarg_size: 16 }, metadata: { '.kernarg_segment_size': 16 } },
    baseline: {},
  },
  { rule: 'abi/workgroup-size', wrong: { metadata: { '.max_flat_workgroup_size': 64 } }, baseline: {} },
  {
    rule: 'abi/wavefront-size',
    wrong: { metadata: { '.wavefront_size': 32 } },
    baseline: { metadata: { '.wavefront_size': 64 } },
  },
  { rule: 'resources/vgprs', wrong: { code: 'v_mov_b32 v20, 0' } },
  { rule: 'resources/vgprs', wrong: { code: 'v_mov_b32 v20, 0\nv_accvgpr_write_b32 a0, v20' } },
  { rule: 'resources/agprs', wrong: { code: 'v_accvgpr_write_b32 a20, v0' } },
  { rule: 'resources/sgprs', wrong: { code: 's_mov_b32 s40, 0' } },
  { rule: 'resources/accum-offset', wrong: { code: 'v_mov_b32 v14, 0', descriptor: { next_free_vgpr: 16 } } },
  { rule: 'resources/metadata', wrong: { metadata: { '.wavefront_size': 32 } } },
  { rule: 'resources/metadata', wrong: { metadata: { '.kernarg_segment_size': 4 } } },
  { rule: 'resources/metadata', wrong: { descriptor: { group_segment_fixed_size: 64 } } },
  { rule: 'resources/metadata', wrong: { metadata: { '.vgpr_count': 64 } } },
  { rule: 'control-flow/no-end', wrong: {}, edit: (text) => text.replace('\ts_endpgm', '\tv_mov_b32 v1, 0') },
  { rule: 'control-flow/exec-not-restored', wrong: { code: `${SAVE}v_add_u32 v3, v0, v0` } },
  { rule: 'waits/read-before-return', wrong: code(`${LOAD}v_mov_b32 v3, v2`) },
  { rule: 'waits/read-before-return', wrong: code(`flat_load_dword v2, v[0:1]\nv_mov_b32 v3, v2`) },
  { rule: 'waits/write-before-return', wrong: code(`${LOAD}v_mov_b32 v2, 0`) },
  {
    rule: 'waits/barrier-before-read',
    wrong: code(
      'ds_write_b32 v0, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v1, v0\ns_barrier\nds_write_b32 v0, v0',
    ),
  },
  { rule: 'waits/barrier-before-write', wrong: code('ds_write_b32 v0, v0\ns_barrier\nds_read_b32 v2, v0') },
  {
    rule: 'waits/lds-dma',
    wrong: initialised('s_mov_b32 m0, 0\ns_nop 0\nglobal_load_lds_dword v[0:1], off\ns_barrier\nds_read_b32 v2, v0'),
  },
  {
    rule: 'waits/order-lost',
    wrong: code('ds_write_b32 v0, v0\nglobal_store_dword v0, v0, s[0:1]\ns_waitcnt lgkmcnt(0)\ns_barrier'),
    baseline: code('ds_write_b32 v0, v0\nglobal_store_dword v0, v0, s[0:1]\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier'),
  },
  { rule: 'waits/too-strong', wrong: code(`${LOAD}s_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v3, v2`) },
  { rule: 'waits/too-strong', wrong: code('s_waitcnt vmcnt(0)\nv_mov_b32 v3, v0') },
  {
    rule: 'memory/cache-operation-lost',
    wrong: code('v_mov_b32 v1, 0\ns_nop 0'),
    baseline: code('v_mov_b32 v1, 0\nbuffer_inv sc1\ns_nop 0'),
  },
  { rule: 'memory/write-back-order', wrong: code('buffer_wbl2 sc1\nglobal_store_dword v0, v0, s[0:1] sc0 sc1') },
  { rule: 'memory/invalidate-order', wrong: code('global_atomic_add v1, v0, v0, s[0:1] sc0\nbuffer_inv sc1') },
  { rule: 'hazards/div-fmas', wrong: initialised('v_cmp_eq_u32 vcc, v1, v2\nv_div_fmas_f32 v4, v5, v6, v7') },
  { rule: 'hazards/dot', wrong: initialised('v_dot4_i32_i8 v1, v2, v3, v1\nv_add_u32 v5, v1, v6') },
  { rule: 'hazards/dpp', wrong: initialised(`v_mov_b32 v7, v20\n${DPP}`) },
  { rule: 'hazards/exec', wrong: initialised(`v_cmpx_eq_u32_e64 s[8:9], v8, v9\n${DPP}`) },
  { rule: 'hazards/lane-select', wrong: initialised('v_readfirstlane_b32 s4, v1\nv_readlane_b32 s6, v9, s4') },
  { rule: 'hazards/m0', wrong: initialised('s_mov_b32 m0, 0\ns_sendmsg sendmsg(MSG_INTERRUPT)') },
  { rule: 'hazards/matrix-overwrite', wrong: initialised(`${XDL}v_mov_b32 v1, v20`) },
  {
    rule: 'hazards/matrix-result',
    wrong: {
      ...initialised('v_mfma_f64_16x16x4_f64 v[0:7], v[10:11], v[12:13], v[0:7]\nv_add_f32 v20, v1, v21'),
      target: 'gfx950',
    },
  },
  {
    rule: 'hazards/matrix-source',
    wrong: initialised(`${XDL}v_mfma_f32_16x16x16_f16 v[30:33], v[14:15], v[16:17], v[2:5]`),
  },
  { rule: 'hazards/matrix-to-fma64', wrong: initialised(`${D4}v_fma_f64 v[40:41], v[42:43], v[44:45], v[46:47]`) },
  { rule: 'hazards/partial-write', wrong: initialised(`${SDWA}v_add_f32 v3, v1, v4`) },
  {
    rule: 'hazards/permlane',
    wrong: { ...initialised('v_mov_b32 v1, v20\nv_permlane32_swap_b32 v1, v2'), target: 'gfx950' },
  },
  { rule: 'hazards/readlane', wrong: initialised('v_mov_b32 v9, v20\nv_readlane_b32 s6, v9, 0') },
  {
    rule: 'hazards/scalar-to-memory',
    wrong: initialised('v_readfirstlane_b32 s4, v1\nglobal_load_dword v2, v9, s[4:5]'),
  },
  { rule: 'hazards/scalar-to-vector', wrong: initialised('v_readfirstlane_b32 s4, v1\nv_mov_b32 v2, s4') },
  {
    rule: 'hazards/setreg',
    wrong: initialised('s_setreg_b32 hwreg(HW_REG_MODE), s4\ns_getreg_b32 s6, hwreg(HW_REG_MODE)'),
  },
  {
    rule: 'hazards/store-data',
    wrong: initialised('global_store_dwordx4 v[50:51], v[4:7], off\nv_mov_b32 v5, v20'),
  },
  {
    rule: 'hazards/store-data-scalar',
    wrong: initialised('buffer_store_dwordx4 v[0:3], v8, s[0:3], s4 offen\nv_mov_b32 v1, v9'),
  },
  { rule: 'hazards/trans', wrong: initialised('v_exp_f32 v1, v2\nv_add_f32 v3, v1, v4') },
  { rule: 'hazards/vector-to-matrix', wrong: initialised(`v_mov_b32 v10, v20\n${XDL}`) },
  {
    rule: 'hazards/xnack-clause',
    wrong: { ...code('s_load_dword s8, s[0:1], 0x0\ns_load_dwordx2 s[0:1], s[0:1], 0x8'), target: 'gfx942:xnack+' },
  },
];

const textOf = ({ wrong, edit }: Case): string => (edit ?? ((text: string) => text))(kernelSource(wrong));
const baselineOf = ({ baseline }: Case): CodeObject | undefined =>
  baseline && readCodeObject(assembleAndLink(kernelSource(baseline)));

function build(text: string): { codeObject: CodeObject; places: Places } {
  const { object, lines, diagnostics } = assemble(text, { file: 'k.s', trackLines: true });
  if (object === undefined) throw new Error(diagnostics.map((d) => `${d.sourceLine}: ${d.message}`).join('\n'));
  const codeObject = readCodeObject(link([object]));
  return { codeObject, places: new Places(new SourceDocument('k.s', 0, text), codeObject, lines, 'k.s') };
}

function findingsOf(codeObject: CodeObject, against: CodeObject | undefined): Finding[] {
  return checkCodeObject(codeObject, { against, notes: true, pedantic: true });
}

const name = ({ rule, wrong }: Case): string => `${rule}: ${(wrong.code ?? '').split('\n').at(-1)}`;

describe('each edit removes its finding', () => {
  test.each(CASES.map((c) => [name(c), c] as const))('%s', (_name, c) => {
    const text = textOf(c);
    const against = baselineOf(c);
    const { codeObject, places } = build(text);
    const before = findingsOf(codeObject, against);
    const finding = before.find((f) => f.rule === c.rule && f.edits.length > 0) as Finding;
    expect(before.map((f) => f.rule)).toContain(c.rule);
    const made = sourceEdits(places, finding.edits);
    expect(made.problem).toBeUndefined();
    const after = findingsOf(build(applySourceEdits(places.document, made.edits ?? [])).codeObject, against);
    expect(after.map(fingerprint)).not.toContain(fingerprint(finding));
    // Nothing new but what a moved instruction or a removed wait says about waits that are no longer needed.
    const known = before.map((f) => f.rule);
    expect(
      after.map((f) => f.rule).filter((rule) => !known.includes(rule) && ruleInfo(rule).shown !== 'notes'),
    ).toEqual([]);
  });

  it('has a case for every rule that is fixable, and no other rule has edits', () => {
    const fixable = Object.keys(CHECK_RULES).filter((rule) => ruleInfo(rule as CheckRuleId).isFixable === true);
    expect([...new Set(CASES.map((c) => c.rule))].sort()).toEqual(fixable.sort());
    const all = CASES.flatMap((c) => findingsOf(build(textOf(c)).codeObject, baselineOf(c)));
    const unmarked = all.filter((f) => f.edits.length > 0 && ruleInfo(f.rule).isFixable !== true);
    expect(unmarked.map((f) => f.rule)).toEqual([]);
  });
});

/** Runs a command line; returns the exit code and what it printed. */
async function wavesmith(...argv: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const capture = (chunk: string | Uint8Array): boolean => {
    out += chunk.toString();
    return true;
  };
  const spies = [process.stdout, process.stderr].map((s) => vi.spyOn(s, 'write').mockImplementation(capture));
  try {
    return { code: await main(argv), out };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const MANY = kernelSource({
  ...WIDE,
  code: `${LOAD}v_mov_b32 v3, v2\nds_write_b32 v0, v3\ns_barrier\nv_readfirstlane_b32 s4, v3\nv_mov_b32 v70, s4 // a comment`,
});

describe('check --fix', () => {
  it('mends a source in place, and again changes nothing', async () => {
    const file = join(folder, 'many.s');
    writeFileSync(file, MANY);
    expect((await wavesmith('check', file)).code).toBe(1);
    const { code: status, out } = await wavesmith('check', '--fix', file);
    expect(out).toContain('0 errors, 0 warnings');
    expect(status).toBe(0);
    const mended = readFileSync(file, 'utf8');
    expect(mended).toContain('\ts_waitcnt vmcnt(0)\n\tv_mov_b32 v3, v2\n');
    expect(mended).toContain('// a comment');
    expect((await wavesmith('check', '--fix', file)).out).toContain('0 findings mended');
    expect(readFileSync(file, 'utf8')).toBe(mended);
  });

  it('mends a code object through its text, into another file', async () => {
    const [file, output] = [join(folder, 'many.co'), join(folder, 'mended.co')];
    const bytes = assembleAndLink(MANY);
    writeFileSync(file, bytes);
    expect((await wavesmith('check', '--fix', '-o', output, file)).code).toBe(0);
    expect(new Uint8Array(readFileSync(file))).toEqual(new Uint8Array(bytes));
    const mended = await wavesmith('check', output);
    expect(mended).toMatchObject({ code: 0, out: '0 errors, 0 warnings, 0 notes\n' });
  });

  it('mends before a call where its first instruction is meant, and else in the body of the macro, once for all calls', async () => {
    const file = join(folder, 'macro.s');
    const body = '.macro twice r, s\nv_mov_b32 v3, \\r\nds_read_b32 v\\s, v3\nv_mov_b32 v3, v\\s\n.endm\n';
    writeFileSync(file, kernelSource({ code: `${body}${LOAD}twice v2, 4\ntwice v4, 6` }));
    const { code: status } = await wavesmith('check', '--fix', file);
    expect(status).toBe(0);
    const mended = readFileSync(file, 'utf8');
    expect(mended).toMatch(/s_waitcnt vmcnt\(0\)\n\s*twice v2, 4\n\s*twice v4, 6/);
    expect(mended).toMatch(/ds_read_b32 v\\s, v3\n\s*s_waitcnt lgkmcnt\(0\)\n\s*v_mov_b32 v3, v\\s\n\s*\.endm/);
  });

  it.each([
    ['a macro with conditions', '.macro use r\nv_nop\n.if 1\nv_mov_b32 v3, \\r\n.endif\n.endm\n'],
    ['a macro of macros', '.macro use r\nother \\r\n.endm\n.macro other r\nv_nop\nv_mov_b32 v3, \\r\n.endm\n'],
  ])('does not mend inside %s, and says so', async (_what, macros) => {
    const file = join(folder, 'macro.s');
    const text = kernelSource({ code: `${macros}${LOAD}use v2` });
    writeFileSync(file, text);
    const { code: status, out } = await wavesmith('check', '--fix', file);
    expect(status).toBe(1);
    expect(out).toContain("not mended: waits/read-before-return: the instruction comes from macro 'use', whose lines");
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('says what it leaves, also when it has mended something else before', async () => {
    const file = join(folder, 'mixed.s');
    const macro = '.macro use r\nv_nop\n.if 1\nv_mov_b32 v3, \\r\n.endif\n.endm\n';
    const other = 'global_load_dword v5, v0, s[0:1]\nv_mov_b32 v6, v5\n';
    writeFileSync(file, kernelSource({ ...WIDE, code: `${macro}${LOAD}${SAVE}use v2\n${other}` }));
    const { code: status, out } = await wavesmith('check', '--fix', file);
    expect(status).toBe(1);
    expect(out).toContain("not mended: waits/read-before-return: the instruction comes from macro 'use'");
    expect(out).toMatch(/not mended: control-flow\/exec-not-restored: its edit may change .*; --unsafe-fixes makes it/);
    expect(out).toContain('1 finding mended');
    expect(readFileSync(file, 'utf8')).toMatch(/s_waitcnt vmcnt\(0\)\n\s*v_mov_b32 v6, v5/);
  });

  it('gives the assembler the registers that the mended offset of AGPRs needs', async () => {
    const file = join(folder, 'offset.s');
    const text = kernelSource({
      code: 'v_mov_b32 v4, v0',
      descriptor: { next_free_vgpr: 4, accum_offset: 4 },
      metadata: { '.vgpr_count': 4 },
    });
    writeFileSync(file, text);
    expect((await wavesmith('check', file)).out).toContain('resources/accum-offset');
    const { code: status, out } = await wavesmith('check', '--fix', file);
    expect([status, out]).toEqual([0, expect.stringContaining('0 errors, 0 warnings')]);
    expect(readFileSync(file, 'utf8')).toMatch(/next_free_vgpr 8$.*accum_offset 8$/ms);
  });

  it('leaves alone what takes a decision, without --unsafe-fixes', async () => {
    const file = join(folder, 'unsafe.s');
    writeFileSync(file, kernelSource({ code: `${SAVE}v_add_u32 v3, v0, v0` }));
    expect((await wavesmith('check', '--fix', file)).out).toContain('control-flow/exec-not-restored');
    expect((await wavesmith('check', '--fix', '--unsafe-fixes', file)).out).not.toContain('exec-not-restored');
    expect(readFileSync(file, 'utf8')).toContain('s_or_b64 exec, exec, s[2:3]');
  });

  it('refuses what it cannot write back, and touches nothing', async () => {
    const file = join(folder, 'latin1.s');
    const bytes = Buffer.from(`${MANY}// \xe9\n`, 'latin1');
    writeFileSync(file, bytes);
    expect((await wavesmith('check', '--fix', file)).out).toContain('check/fix-input');
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });
});
