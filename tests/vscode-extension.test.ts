// The VS Code folder: what package.json names exists, the grammar colours what it should, the settings are those of the server.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

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
  expect(languages[0].extensions).toEqual(expect.arrayContaining(['.s', '.asm', '.rocmasm']));
  expect(Object.keys(manifest.contributes.configuration.properties).sort()).toEqual([
    'wavesmith.check',
    'wavesmith.command',
    'wavesmith.defines',
    'wavesmith.notes',
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
