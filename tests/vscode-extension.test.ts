// The VS Code folder: what package.json names exists, the grammar colours what it should, the settings are those of the server.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { packExtension } from '../scripts/pack-extension.mjs';
import { type FakeDocument, fakeHost, loadExtension } from './support/fake-vscode.ts';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'editors/vscode');
const json = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

interface Rule {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly include?: string;
}

const grammar = json('syntaxes/amdgpu.tmLanguage.json') as {
  readonly patterns: readonly Rule[];
  readonly repository: Readonly<Record<string, { readonly patterns: readonly Rule[] }>>;
};
const rules = grammar.patterns.flatMap((rule) =>
  rule.include === undefined ? [rule] : (grammar.repository[rule.include.slice(1)]?.patterns ?? []),
);

/** The scope of the first rule, in the order of the grammar, that matches at the word. */
function scopeOf(line: string, word: string): string | undefined {
  const at = line.indexOf(word);
  for (const { name, match, begin } of rules) {
    for (const found of line.matchAll(new RegExp(match ?? begin ?? '(?!)', 'g'))) {
      if (found.index <= at && at < found.index + found[0].length) return name;
    }
  }
  return undefined;
}

test('the files that the extension contributes exist', () => {
  const manifest = json('package.json');
  const { languages, grammars } = manifest.contributes;
  for (const path of [manifest.main, languages[0].configuration, grammars[0].path]) {
    expect(existsSync(join(folder, path)), path).toBe(true);
  }
  expect(languages[0].extensions).toEqual(['.rocmasm', '.amdgcn']);
  expect(Object.keys(manifest.contributes.configuration.properties).sort()).toEqual([
    'wavesmith.check',
    'wavesmith.command',
    'wavesmith.defines',
    'wavesmith.notes',
    'wavesmith.pressure',
    'wavesmith.prove',
    'wavesmith.target',
  ]);
  expect(json('language-configuration.json').comments.lineComment).toBe(';');
});

test.each([
  ['v_add_f32 v0, v1, s2', 'v_add_f32', 'keyword.mnemonic.amdgpu'],
  ['v_add_f32 v0, v1, s2', 'v0', 'variable.language.vgpr.amdgpu'],
  ['v_add_f32 v0, v1, s2', 's2', 'variable.parameter.sgpr.amdgpu'],
  ['v_mov_b32 v0, a[0:1]', 'a[0:1]', 'support.variable.agpr.amdgpu'],
  ['.amdhsa_kernel k', '.amdhsa_kernel', 'keyword.control.directive.amdgpu'],
  ['loop: s_nop 0', 'loop', 'entity.name.label.amdgpu'],
  ['s_waitcnt vmcnt(0)', 'vmcnt', 'support.type.property-name.amdgpu'],
  ['s_mov_b32 s0, 0x10', '0x10', 'constant.numeric.amdgpu'],
  ['s_and_b64 vcc, exec, vcc', 'exec', 'constant.language.amdgpu'],
  ['s_nop 0 ; v_add_f32', 'v_add_f32', 'comment.line.amdgpu'],
])('in "%s" the word %s is %s', (line, word, scope) => {
  expect(scopeOf(line, word)).toBe(scope);
});

test('the debug type describes every field that the adapter reads', () => {
  const [debuggerType] = json('package.json').contributes.debuggers;
  expect(debuggerType.type).toBe('wavesmith');
  const source = readFileSync(join(folder, '../../src/dap/launch.ts'), 'utf8');
  const fields = [...source.matchAll(/^ {2}readonly (\w+)\?: unknown;/gm)].map((match) => match[1]);
  expect(fields.length).toBeGreaterThan(5);
  const described = Object.keys(debuggerType.configurationAttributes.launch.properties);
  expect(described.sort()).toEqual(fields.sort());
});

const SOURCES: readonly (readonly [string, string, boolean])[] = [
  ['kernel.s', '# a kernel\n\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n', true],
  ['body.S', 'loop:\n\tv_add_f32_e32 v0, v1, v2\n', true],
  ['waits.asm', '\ts_waitcnt vmcnt(0)\n', true],
  ['x86.s', '\t.globl main\nmain:\n\tpushq %rbp\n\tmovl $0, %eax\n\tret\n', false],
  ['arm.s', '\tldr x0, [sp]\n\tb.eq .L1\n', false],
  ['notes.txt', '\ts_waitcnt vmcnt(0)\n', false],
];
const documentOf = ([fileName, text]: readonly [string, string, boolean]): FakeDocument => ({
  fileName,
  languageId: 'plaintext',
  getText: () => text,
});

test('the package holds what VS Code installs, its client with it, and claims sources for AMD GPUs only', async () => {
  const { name, bytes } = await packExtension();
  expect(name).toMatch(/^wavesmith-amdgpu-assembly-\d+\.\d+\.\d+\.vsix$/);
  expect(await packExtension()).toEqual({ name, bytes });
  const files = unzipSync(bytes);
  const text = (path: string): string => new TextDecoder().decode(files[path]);
  const manifest = JSON.parse(text('extension/package.json'));
  const { languages, grammars } = manifest.contributes;
  for (const path of [manifest.main, languages[0].configuration, grammars[0].path]) {
    expect(Object.keys(files)).toContain(join('extension', path));
  }
  expect(manifest.dependencies).toBeUndefined();
  expect(text('extension.vsixmanifest')).toContain(`Id="${manifest.name}" Version="${manifest.version}"`);
  const documents = SOURCES.map(documentOf);
  const host = fakeHost({ command: ['/nowhere/wavesmith'] }, documents);
  const extension = loadExtension(text('extension/extension.js'), host.vscode);
  const context = { subscriptions: [] as { dispose: () => void }[] };
  await extension.activate?.(context);
  expect(documents.map((d) => d.languageId === 'amdgpu')).toEqual(SOURCES.map(([, , isOurs]) => isOurs));
  expect(host.shown.join()).toContain("Set 'wavesmith.command' to where it is");
  expect(host.shown.join()).not.toContain('undefined');
  const other = fakeHost({ command: '/elsewhere/wavesmith' }, []);
  await loadExtension(text('extension/extension.js'), other.vscode).activate?.({ subscriptions: [] });
  expect(other.shown.join()).toContain('/elsewhere/wavesmith');
  const later = documentOf(['later.s', 's_endpgm\n', true]);
  host.open(later);
  expect(later.languageId).toBe('amdgpu');
  expect(context.subscriptions.length).toBeGreaterThan(0);
});
