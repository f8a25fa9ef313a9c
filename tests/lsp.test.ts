// `wavesmith lsp` as an editor uses it: a real client over the server's standard streams.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentSymbol,
  FoldingRange,
  Hover,
  Location,
  SemanticTokens,
  SignatureHelp,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import fc from './support/fast-check.ts';
import { LspClient, marked, positionOf } from './support/lsp-client.ts';

const HEADER = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n';
const TAIL = `
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
`;
const LOOP = `${HEADER}.set COUNT, 3
.macro bump reg, by=1
  v_add_u32 \\reg, \\by, \\reg
.endm
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[0:1], 0x0 ; the pointer
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s2, COUNT
loop:
  global_load_dword v1, v0, s[0:1] offset:16 sc0
  s_waitcnt vmcnt(0)
  bump v1
  s_sub_u32 s2, s2, 1
  s_cbranch_scc0 loop
  s_endpgm
.Lend:
.size k, .Lend-k
${TAIL}`;

let client: LspClient;
let count = 0;
const newUri = (): string => `file:///test/${++count}.s`;

beforeAll(async () => {
  client = new LspClient();
  await client.start();
});
afterAll(async () => {
  expect(await client.stop()).toBe(0);
});

async function opened(text: string): Promise<string> {
  const uri = newUri();
  await client.open(uri, text);
  return uri;
}

const kernel = (body: string): string => `${HEADER}.globl k\n.p2align 8\n.type k,@function\nk:\n${body}\n${TAIL}`;

/** A text after edits of one version, as the protocol applies them. */
function applied(text: string, edits: readonly TextEdit[]): string {
  return TextDocument.applyEdits(TextDocument.create('', '', 0, text), [...edits]);
}

test('the server tells what it can do', () => {
  const { capabilities, serverInfo } = client.initialized ?? {};
  expect(serverInfo?.name).toBe('wavesmith');
  expect(capabilities).toMatchObject({ hoverProvider: true, definitionProvider: true, foldingRangeProvider: true });
});

// ── diagnostics ───────────────────────────────────────────────────────────────────────────────────────────────────────

test('a correct source has no errors and no warnings', async () => {
  const uri = await opened(LOOP);
  const found = await client.diagnostics(uri, 1);
  expect(found.filter((d) => (d.severity ?? 1) <= 2)).toEqual([]);
});

test('an error of the assembler marks its word, and is gone once it is mended', async () => {
  const text = kernel('  v_mov_b33 v0, 1\n  s_endpgm');
  const uri = await opened(text);
  const [first] = await client.diagnostics(uri, 1);
  const start = positionOf(text, 'v_mov_b33');
  expect(first).toMatchObject({
    severity: 1,
    range: { start, end: { line: start.line, character: start.character + 9 } },
  });
  const at = positionOf(text, 'b33', 0, 2);
  await client.change(uri, 2, { range: { start: at, end: { ...at, character: at.character + 1 } }, text: '2' });
  expect(await client.diagnostics(uri, 2)).toEqual([]);
});

test('a misspelt mnemonic can be changed to one that is close', async () => {
  const text = kernel('  v_mov_b3 v0, 1\n  s_endpgm');
  const uri = await opened(text);
  const diagnostics = await client.diagnostics(uri, 1);
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range, context: { diagnostics } });
  const action = actions.find((a) => a.title === 'Change to v_mov_b32');
  const mended = applied(text, action?.edit?.changes?.[uri] ?? []);
  expect(mended).toContain('  v_mov_b32 v0, 1\n');
});

test('a missing wait is a finding with both instructions, a page, and a fix that inserts it', async () => {
  const text = kernel('  global_load_dword v1, v0, s[0:1]\nhere: v_add_u32 v1, 1, v1\n  s_endpgm');
  const uri = await opened(text);
  const [first, ...others] = await client.diagnostics(uri, 1);
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    severity: 1,
    code: 'waits/read-before-return',
    range: { start: positionOf(text, 'v_add_u32'), end: positionOf(text, '\n  s_endpgm') },
    codeDescription: { href: expect.stringMatching(/^file:.*docs\/check\/waits\/read-before-return\.md$/) },
  });
  expect(first?.relatedInformation?.map((r) => r.location.range.start)).toEqual([
    positionOf(text, 'global_load_dword'),
    positionOf(text, 'v_add_u32'),
  ]);
  const context = { diagnostics: [first] };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range: first?.range, context });
  expect(actions.map((a) => a.title)).toEqual(['Insert s_waitcnt vmcnt(0)']);
  const mended = applied(text, actions[0]?.edit?.changes?.[uri] ?? []);
  expect(mended).toContain('here: s_waitcnt vmcnt(0)\n\tv_add_u32 v1, 1, v1\n');
  await client.change(uri, 2, { text: mended });
  expect(await client.diagnostics(uri, 2)).toEqual([]);
});

test('a missing no-op is inserted with the indentation of its line', async () => {
  const text = kernel(
    '  v_cmp_eq_u32 vcc, 0, v0\n  v_readfirstlane_b32 s4, v0\n  v_readlane_b32 s5, v0, s4\n  s_endpgm',
  );
  const uri = await opened(text);
  const found = await client.diagnostics(uri, 1);
  const hazard = found.find((d) => d.code === 'hazards/lane-select');
  expect(hazard?.range.start).toEqual(positionOf(text, 'v_readlane_b32'));
  const context = { diagnostics: [hazard] };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range: hazard?.range, context });
  const mended = applied(text, actions[0]?.edit?.changes?.[uri] ?? []);
  expect(mended).toMatch(/ {2}v_readfirstlane_b32 s4, v0\n {2}s_nop \d\n {2}v_readlane_b32 s5, v0, s4\n/);
  await client.change(uri, 2, { text: mended });
  expect((await client.diagnostics(uri, 2)).filter((d) => d.code === 'hazards/lane-select')).toEqual([]);
});

test('a call of a macro has the fixes of the instructions in it', async () => {
  const macro = '.macro shift n\n  ds_read_b32 v\\n, v0\n  v_add_u32 v\\n, 1, v\\n\n.endm\n';
  const text = kernel(`${macro}  shift 4\n  s_endpgm`);
  const uri = await opened(text);
  const found = (await client.diagnostics(uri, 1)).find((d) => d.code === 'waits/read-before-return');
  expect(found?.range.start).toEqual(positionOf(text, 'shift 4'));
  const context = { diagnostics: [found] };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range: found?.range, context });
  const mended = applied(text, actions[0]?.edit?.changes?.[uri] ?? []);
  expect(mended).toContain('  ds_read_b32 v\\n, v0\n  s_waitcnt lgkmcnt(0)\n  v_add_u32');
  await client.change(uri, 2, { text: mended });
  expect((await client.diagnostics(uri, 2)).filter((d) => d.code === 'waits/read-before-return')).toEqual([]);
});

test('a wait that is stronger than needed can be weakened', async () => {
  const load = (n: number): string => `  global_load_dword v${n}, v0, s[0:1] offset:${4 * n}\n`;
  const text = kernel(`${load(1)}${load(2)}  s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_add_u32 v1, 1, v1\n  s_endpgm`);
  const configure = (settings: unknown) =>
    client.connection.sendNotification('workspace/didChangeConfiguration', { settings });
  await configure({ wavesmith: { notes: true } });
  const uri = await opened(text);
  const note = (await client.diagnostics(uri, 1)).find((d) => d.code === 'waits/too-strong');
  expect(note).toMatchObject({ severity: 4, range: { start: positionOf(text, 's_waitcnt') } });
  const context = { diagnostics: [note] };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range: note?.range, context });
  const mended = applied(text, actions[0]?.edit?.changes?.[uri] ?? []);
  expect(mended).toContain('\n  s_waitcnt vmcnt(1)\n');
  await client.change(uri, 2, { text: mended });
  expect((await client.diagnostics(uri, 2)).filter((d) => String(d.code).startsWith('waits/'))).toEqual([]);
  await configure({});
});

test('too few registers are mended in the kernel descriptor', async () => {
  const text = kernel('  v_mov_b32 v20, 1\n  s_endpgm');
  const uri = await opened(text);
  const found = await client.diagnostics(uri, 1);
  const finding = found.find((d) => d.code === 'resources/vgprs');
  const context = { diagnostics: [finding] };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, { range: finding?.range, context });
  const mended = applied(text, actions[0]?.edit?.changes?.[uri] ?? []);
  await client.change(uri, 2, { text: mended });
  expect((await client.diagnostics(uri, 2)).filter((d) => d.code === 'resources/vgprs')).toEqual([]);
});

test('without a target there is one diagnostic, and fixes that insert one', async () => {
  const text = LOOP.replace(HEADER, '');
  const uri = await opened(text);
  const diagnostics = await client.diagnostics(uri, 1);
  expect(diagnostics.map((d) => d.code)).toContain('asm/no-target');
  expect(diagnostics.filter((d) => d.code === 'asm/no-target')).toHaveLength(1);
  const missing = diagnostics.filter((d) => d.code === 'asm/no-target');
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, {
    range: missing[0]?.range,
    context: { diagnostics: missing },
  });
  const gfx942 = actions.find((a) => a.title.includes('gfx942'));
  expect(applied(text, gfx942?.edit?.changes?.[uri] ?? [])).toBe(LOOP);
});

test('the setting is the target of sources that name none', async () => {
  const text = LOOP.replace(HEADER, '');
  const uri = await opened(text);
  await client.diagnostics(uri, 1);
  await client.connection.sendNotification('workspace/didChangeConfiguration', {
    settings: { wavesmith: { target: 'gfx90a' } },
  });
  await client.change(uri, 2, { text: `${text}\n` });
  const found = await client.diagnostics(uri, 2);
  // sc0 is of gfx942.
  expect(found.map((d) => d.range.start)).toEqual([positionOf(text, 'sc0')]);
  await client.connection.sendNotification('workspace/didChangeConfiguration', { settings: {} });
});

test('columns count UTF-16 units, lines end with CRLF, CR or LF', async () => {
  const text = kernel('/* ü😀 */ v_mov_b33 v0, 1\n  s_endpgm').replaceAll('\n', '\r\n');
  const uri = await opened(text);
  const [first] = await client.diagnostics(uri, 1);
  const start = positionOf(text, 'v_mov_b33');
  expect(first?.range).toEqual({ start, end: { line: start.line, character: start.character + 9 } });
});

test('what goes wrong in a macro or an included file is told at its call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-lsp-'));
  try {
    writeFileSync(join(folder, 'part.inc'), '  s_nop 0\n  s_bad\n');
    const text = kernel('.macro broken\n  v_mov_b32 v0, s[0:1]\n.endm\n  broken\n.include "part.inc"\n  s_endpgm');
    const uri = pathToFileURL(join(folder, 'x.s')).href;
    await client.open(uri, text);
    const found = await client.diagnostics(uri, 1);
    expect(found.map((d) => d.range.start)).toEqual([positionOf(text, 'broken', 1), positionOf(text, '.include')]);
    expect(found[1]?.message).toMatch(/^part\.inc:2: /);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('only the newest text of quick changes has to be diagnosed, and closing clears the list', async () => {
  const uri = await opened(LOOP);
  for (let version = 2; version <= 20; version++) {
    await client.change(uri, version, {
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
      text: '\n',
    });
  }
  const found = await client.diagnostics(uri, 20);
  expect(found.filter((d) => (d.severity ?? 1) <= 2)).toEqual([]);
  expect(client.published.filter((p) => p.uri === uri).length).toBeLessThan(10);
  const before = client.published.length;
  await client.close(uri);
  await client.request('hover', uri, { line: 0, character: 0 });
  expect(client.published.slice(before)).toEqual([{ uri, diagnostics: [] }]);
});

// ── hover ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const hoverText = async (uri: string, text: string, word: string, nth = 0, into = 1): Promise<string> => {
  const hover = await client.request<Hover | null>('hover', uri, positionOf(text, word, nth, into));
  return hover === null ? '' : (hover.contents as { value: string }).value;
};

test('hover explains instructions, operands, directives and names', async () => {
  const uri = await opened(LOOP);
  const load = await hoverText(uri, LOOP, 'global_load_dword');
  expect(load).toContain('increments **vmcnt**');
  expect(load).toContain('VGPR');
  // Encoding of LLVM 22: global_load_dword v1, v0, s[0:1] offset:16 sc0.
  expect(load).toContain('DC518010 01000000');
  expect(await hoverText(uri, LOOP, 's_cbranch_scc0')).toContain('when SCC is 0');
  expect(await hoverText(uri, LOOP, 's[0:1]', 1)).toContain('SGPRs 0 to 1, 64 bits');
  expect(await hoverText(uri, LOOP, 'v1,')).toContain('VGPR 1');
  expect(await hoverText(uri, LOOP, 'offset:16')).toContain('Bytes added to the address');
  expect(await hoverText(uri, LOOP, 'sc0')).toContain('Scope bit 0');
  expect(await hoverText(uri, LOOP, 'lgkmcnt')).toContain('scalar memory');
  expect(await hoverText(uri, LOOP, '.amdhsa_accum_offset')).toMatch(/AGPRs start[\s\S]*Required/);
  expect(await hoverText(uri, LOOP, '.p2align')).toContain('2^POWER');
  expect(await hoverText(uri, LOOP, 'loop', 1)).toMatch(/label, used once[\s\S]*line 13/);
  expect(await hoverText(uri, LOOP, 'COUNT', 1)).toContain('.set COUNT, 3');
  expect(await hoverText(uri, LOOP, 'bump v1')).toContain('macro');
  expect(await hoverText(uri, LOOP, '0x0')).toContain('inline constant');
  expect(await hoverText(uri, LOOP, 'the pointer')).toBe('');
});

// ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

test('definition and references of labels, symbols, macros, parameters and numeric labels', async () => {
  const text = `${LOOP}1:\n s_branch 1f\n s_branch 1b\n1:\n s_branch 1b\n`;
  const uri = await opened(text);
  const definition = (word: string, nth: number, into = 0): Promise<Location[]> =>
    client.request('definition', uri, positionOf(text, word, nth, into));
  const startOf = (locations: readonly Location[]) => locations.map((l) => l.range.start);
  expect(startOf(await definition('loop', 1))).toEqual([positionOf(text, 'loop')]);
  expect(startOf(await definition('COUNT', 1))).toEqual([positionOf(text, 'COUNT')]);
  expect(startOf(await definition('bump', 1))).toEqual([positionOf(text, 'bump')]);
  expect(startOf(await definition('\\reg', 0, 1))).toEqual([positionOf(text, 'reg, by')]);
  const first = positionOf(text, '\n1:', 0, 1);
  const second = positionOf(text, '\n1:', 1, 1);
  expect(startOf(await definition('1f', 0))).toEqual([second]);
  expect(startOf(await definition('1b', 0))).toEqual([first]);
  expect(startOf(await definition('1b', 1))).toEqual([second]);
  const at = positionOf(text, '\nk:', 0, 1);
  const uses = await client.request<Location[]>('references', uri, at, { context: { includeDeclaration: true } });
  expect(uses).toHaveLength(6);
});

test('a rename of a kernel changes label, directives and metadata; the result assembles', async () => {
  const metadata = `.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - .name: k
        .size: 4
        .offset: 0
        .value_kind: by_value
.end_amdgpu_metadata
`;
  const text = LOOP + metadata;
  const uri = await opened(text);
  const at = positionOf(text, '.globl k', 0, 7);
  expect(await client.request('prepareRename', uri, at)).toMatchObject({ placeholder: 'k' });
  const edit = await client.request<WorkspaceEdit>('rename', uri, at, { newName: 'saxpy' });
  const renamed = applied(text, edit.changes?.[uri] ?? []);
  expect(renamed).toContain('- .name: saxpy\n    .symbol: saxpy.kd');
  expect(renamed).toContain('      - .name: k\n');
  expect(renamed.match(/\bk\b/g)).toHaveLength(1);
  await client.change(uri, 2, { text: renamed });
  const errors = (await client.diagnostics(uri, 2)).filter((d) => d.severity === 1);
  expect(errors.map((d) => d.range.start)).toEqual([positionOf(renamed, '.kernarg_segment_size')]);
  const context = { diagnostics: errors };
  const actions = await client.request<CodeAction[]>('codeAction', uri, undefined, {
    range: errors[0]?.range,
    context,
  });
  expect(applied(renamed, actions[0]?.edit?.changes?.[uri] ?? [])).toContain('    .kernarg_segment_size: 4\n');
});

test.each(['v0', 'vcc', '1x', 'a b', '', 'COUNT'])("a label is not renamed to '%s'", async (newName) => {
  const uri = await opened(LOOP);
  await expect(client.request('rename', uri, positionOf(LOOP, 'loop'), { newName })).rejects.toThrow(/'/);
});

test('the outline has kernels with their labels, descriptors, symbols and macros', async () => {
  const uri = await opened(LOOP);
  const symbols = await client.request<DocumentSymbol[]>('documentSymbol', uri);
  expect(symbols.map((s) => [s.name, s.detail])).toEqual([
    ['COUNT', 'symbol'],
    ['bump', 'macro'],
    ['k', 'kernel'],
    ['.amdhsa_kernel k', 'kernel descriptor'],
  ]);
  expect(symbols[2]?.children?.map((s) => s.name)).toEqual(['loop', '.Lend']);
});

test('functions, descriptors and macros fold', async () => {
  const uri = await opened(LOOP);
  const ranges = await client.request<FoldingRange[]>('foldingRange', uri);
  const line = (word: string): number => positionOf(LOOP, word).line;
  expect(ranges.map((r) => [r.startLine, r.endLine])).toEqual([
    [line('.macro'), line('.endm')],
    [line('\nk:') + 1, line('.Lend:')],
    [line('.amdhsa_kernel'), line('.end_amdhsa_kernel')],
  ]);
});

// ── colours ───────────────────────────────────────────────────────────────────────────────────────────────────────────

test('semantic tokens name the kind of every word and the file of registers', async () => {
  const uri = await opened(LOOP);
  const { data } = await client.request<SemanticTokens>('semanticTokens/full', uri);
  const legend = client.initialized?.capabilities.semanticTokensProvider?.legend;
  const lines = LOOP.split('\n');
  const tokens: string[] = [];
  for (let i = 0, line = 0, character = 0; i < data.length; i += 5) {
    const [deltaLine, delta, length, type, modifiers] = data.slice(i, i + 5) as [
      number,
      number,
      number,
      number,
      number,
    ];
    line += deltaLine;
    character = deltaLine === 0 ? character + delta : delta;
    const names = (legend?.tokenModifiers ?? []).filter((_, b) => (modifiers >> b) & 1);
    const text = lines[line]?.slice(character, character + length);
    tokens.push(`${text} ${[legend?.tokenTypes[type], ...names].join('.')}`);
  }
  for (const token of [
    '.set decorator',
    'COUNT variable.declaration.readonly',
    'bump macro.declaration',
    'by parameter.declaration',
    'k function.declaration',
    's_load_dwordx2 keyword',
    's[0:1] variable.sgpr',
    'v1 variable.vgpr',
    '; the pointer comment',
    'lgkmcnt property',
    'loop label.declaration',
    'loop label',
    'offset property',
    '16 number',
    'bump macro',
    '.amdhsa_kernel decorator',
  ]) {
    expect(tokens).toContain(token);
  }
});

// ── completion ────────────────────────────────────────────────────────────────────────────────────────────────────────

async function labelsAt(source: string): Promise<string[]> {
  const { text, position } = marked(source);
  const uri = await opened(text);
  return (await client.request<CompletionItem[]>('completion', uri, position)).map((i) => i.label);
}

test('completion offers what the target and the instruction have', async () => {
  const start = await labelsAt(kernel('  v_add¦'));
  expect(start).toContain('v_add_f32');
  expect(start).toContain('v_mfma_f32_32x32x8_f16');
  expect(start).not.toContain('v_mfma_f32_16x16x128_f8f6f4');
  const load = await labelsAt(kernel('  global_load_dword v1, v0, s[0:1] ¦'));
  expect(load).toEqual(expect.arrayContaining(['offset:', 'sc0', 'sc1', 'nt']));
  expect(load).not.toContain('glc');
  expect(load).not.toContain('offen');
  const buffer = await labelsAt(kernel('  buffer_load_dword v1, v0, s[0:3], 0 offen ¦'));
  expect(buffer).toContain('idxen');
  expect(buffer).not.toContain('offen');
  expect(await labelsAt(kernel('lbl:\n  s_branch ¦'))).toEqual(['k', 'lbl']);
  expect(await labelsAt(kernel('  v_mov_b32 v17, v3\n  v_mov_b32 v1¦'))).toContain('v17');
  expect(await labelsAt(kernel('  s_waitcnt ¦'))).toEqual(expect.arrayContaining(['vmcnt(', 'lgkmcnt(', 'expcnt(']));
  expect(await labelsAt(kernel('  s_getreg_b32 s0, hwreg(¦'))).toContain('HW_REG_MODE');
  const inKernel = await labelsAt(`${HEADER}.amdhsa_kernel k\n  .amdhsa_¦\n`);
  expect(inKernel).toContain('.amdhsa_next_free_vgpr');
  expect(inKernel).not.toContain('.text');
  expect(await labelsAt(`${HEADER}.am¦\n`)).toContain('.amdhsa_kernel');
  expect(await labelsAt('.amdgcn_target ¦')).toContain('"amdgcn-amd-amdhsa--gfx950"');
});

test('an item of the list is explained on request, and replaces the word at the cursor', async () => {
  const { text, position } = marked(kernel('  v_add_f3¦'));
  const uri = await opened(text);
  const items = await client.request<CompletionItem[]>('completion', uri, position);
  const item = items.find((i) => i.label === 'v_add_f32');
  expect(applied(text, [item?.textEdit as TextEdit])).toContain('  v_add_f32\n');
  const resolved = await client.connection.sendRequest<CompletionItem>('completionItem/resolve', item);
  expect((resolved.documentation as { value: string }).value).toContain('src0 + src1');
});

test('signature help marks the operand at the cursor', async () => {
  const { text, position } = marked(kernel('  global_load_dword v1, ¦'));
  const uri = await opened(text);
  const help = await client.request<SignatureHelp>('signatureHelp', uri, position);
  const signature = help.signatures[help.activeSignature ?? 0];
  const range = signature?.parameters?.[help.activeParameter ?? 0]?.label as [number, number];
  expect(signature?.label.slice(...range)).toBe('vaddr');
});

// ── robustness ────────────────────────────────────────────────────────────────────────────────────────────────────────

const PIECES = [
  '\n',
  '\r\n',
  '\t',
  ' ',
  ',',
  ':',
  '"',
  "'",
  '/*',
  '*/',
  '.macro m a\n',
  '.endm\n',
  'm v1\n',
  'k',
  '.amdhsa_kernel k\n',
  '[',
  ']',
  '😀',
  '\u0000',
  '1:\n',
  's_branch 1b\n',
  '.rept 3\n',
  '.endr\n',
  '.if 1\n',
  '.endif\n',
  'v_add_u32 v1, 1, v1\n',
  'global_load_dword v1, v0, s[0:1]\n',
  '.include "/"\n',
  '.amdgpu_metadata\n',
  '\\',
  '0x',
  '# 1 "x"\n',
];

test('random edits never end the server, and leave the diagnostics of a fresh open', async () => {
  const edit = fc.record({ at: fc.nat(2000), length: fc.nat(40), text: fc.constantFrom(...PIECES, '', '') });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
      const uri = newUri();
      await client.open(uri, LOOP);
      let document = TextDocument.create(uri, 'amdgpu', 1, LOOP);
      let version = 1;
      for (const { at, length, text } of edits) {
        const start = document.positionAt(at);
        const end = document.positionAt(at + length);
        const change = { range: { start, end }, text };
        version++;
        document = TextDocument.update(document, [change], version);
        await client.change(uri, version, change);
      }
      const position = document.positionAt((edits[0]?.at ?? 0) + 1);
      await Promise.all([
        client.request('hover', uri, position),
        client.request('completion', uri, position),
        client.request('signatureHelp', uri, position),
        client.request('references', uri, position, { context: { includeDeclaration: true } }),
        client.request('documentSymbol', uri),
        client.request('foldingRange', uri),
        client.request('semanticTokens/full', uri),
      ]);
      const edited = await client.diagnostics(uri, version);
      const fresh = newUri();
      await client.open(fresh, document.getText());
      const expected = await client.diagnostics(fresh, 1);
      const withVersion = (d: Diagnostic) => (d.data ? { ...d, data: { ...d.data, version } } : d);
      expect(JSON.stringify(edited).replaceAll(uri, fresh)).toBe(JSON.stringify(expected.map(withVersion)));
      const range = { start: document.positionAt(0), end: document.positionAt(1e6) };
      await client.request('codeAction', uri, undefined, { range, context: { diagnostics: edited } });
      await client.close(uri);
      await client.close(fresh);
    }),
    { numRuns: 40 },
  );
  expect(client.log.filter((m) => /failed/.test(m))).toEqual([]);
});

test('a client that goes away ends the server', async () => {
  const other = new LspClient();
  await other.start();
  other.child.stdin.end();
  expect(await other.exit).toBe(1);
});
