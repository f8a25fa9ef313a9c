// Documentation is complete: every instruction, directive, modifier and special register of the tables has some, and what
// completion offers for an instruction is accepted by the assembler's parser.
import { expect, test } from 'vitest';
import { FIELD_DIRECTIVES } from '../asm/assemble/directives/kernel-block.ts';
import { DIRECTIVES, GENERIC_DIRECTIVES } from '../asm/assemble/directives/table.ts';
import { assemble } from '../asm/index.ts';
import { listOperations, operandClass, TARGET_NAMES, tableFor } from '../isa/index.ts';
import { hwregNames } from '../isa/table/field-names.ts';
import { modifiersOf } from './completion.ts';
import { directiveMarkdown, KERNEL_DIRECTIVES } from './directive-docs.ts';
import { encodeStatement, instructionMarkdown } from './instruction-docs.ts';
import { isModifier, numberMarkdown, operandMarkdown } from './operand-docs.ts';
import { registerDocumentation } from './registers.ts';

test('every directive of the assembler is documented', () => {
  const names = [...DIRECTIVES.keys(), ...GENERIC_DIRECTIVES.keys(), ...FIELD_DIRECTIVES.keys()];
  expect(names.filter((name) => directiveMarkdown(name) === undefined)).toEqual([]);
  for (const name of '.if .ifne .ifdef .elseif .else .endif .end_amdhsa_kernel .end_amdgpu_metadata'.split(' ')) {
    expect(directiveMarkdown(name), name).toBeDefined();
  }
  expect(directiveMarkdown('.no_such_directive')).toBeUndefined();
});

test('every documented kernel directive is one of the assembler', () => {
  const shell = (line: string): string => `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.amdhsa_kernel k\n${line} 0\n`;
  const unknown = [...KERNEL_DIRECTIVES.keys()].filter((name) => {
    const { diagnostics } = assemble(shell(name));
    return diagnostics.some((d) => d.message.startsWith('unknown'));
  });
  expect(unknown).toEqual([]);
});

test('the defaults of kernel directives are those of the assembler', () => {
  const required = '.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 4\n';
  const bytes = (target: string, more: string): string => {
    const text = `.amdgcn_target "amdgcn-amd-amdhsa--${target}"\nk:\n.rodata\n.amdhsa_kernel k\n${required}${more}.end_amdhsa_kernel\n`;
    const { object } = assemble(text);
    const data = object?.sections.find((s) => s.name === '.rodata')?.bytes;
    return data === undefined ? '' : Buffer.from(data).toString('hex');
  };
  let compared = 0;
  for (const [name, { fallback }] of KERNEL_DIRECTIVES) {
    if (fallback === undefined || !/^\d+$/.test(fallback)) continue;
    for (const target of ['gfx90a', 'gfx942']) {
      const explicit = bytes(target, `${name} ${fallback}\n`);
      if (explicit === '') continue;
      expect(explicit, `${name} ${target}`).toBe(bytes(target, ''));
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(50);
});

test.each(TARGET_NAMES)('every instruction of %s is explained', (target) => {
  for (const operation of listOperations(target)) {
    const markdown = instructionMarkdown(operation, target) ?? '';
    expect(markdown, operation).toContain('```asm');
    expect(markdown, operation).not.toMatch(/`(?:structural|branch|unreachable):/);
  }
});

test.each(TARGET_NAMES)('every modifier that instructions of %s have is documented', (target) => {
  const words = new Set(listOperations(target).flatMap((operation) => modifiersOf(operation, target)));
  const known = [...words].filter((word) => operandMarkdown(word) ?? registerDocumentation(word));
  expect([...words].filter((word) => !known.includes(word))).toEqual([]);
  expect(words.size).toBeGreaterThan(40);
});

test('every named operand parser of the tables leads to a documented word', () => {
  const missing = new Set<string>();
  for (const target of TARGET_NAMES) {
    for (const { operands } of tableFor(target).rows) {
      for (const { cls } of operands) {
        const word = /^(?:NamedInt|NamedBit|Array|SDWASel):(\w+)/.exec(operandClass(cls).parse)?.[1];
        if (word !== undefined && !isModifier(word)) missing.add(word);
      }
    }
  }
  expect([...missing]).toEqual([]);
});

test('hardware registers are documented', () => {
  for (const target of TARGET_NAMES) {
    for (const name of hwregNames(target)) if (name !== '') expect(operandMarkdown(name), name).toBeDefined();
  }
});

test.each([
  ['v3', 'VGPR 3'],
  ['a[0:3]', 'AGPRs 0 to 3, 128 bits'],
  ['s[4:5]', 'SGPRs 4 to 5, 64 bits'],
  ['ttmp2', 'TTMP 2'],
  ['vcc', 'one bit per lane'],
  ['m0', 'LDS address'],
])('register %s', (text, words) => {
  expect(registerDocumentation(text)).toContain(words);
});

test.each([
  ['0x3f800000', 'as f32 bits: `1`'],
  ['64', 'inline constant'],
  ['65', 'literal'],
  ['0xffffffff', 'as i32: `-1`'],
  ['1.5', 'f32 `0x3fc00000`'],
  ['0x123456789abcdef01', '`20988295479420645121`'],
])('number %s', (text, words) => {
  expect(numberMarkdown(text)).toContain(words);
});

test('numbers that are none have no documentation', () => {
  for (const text of ['0x', '0b2', 'abc', '', `0x${'f'.repeat(100)}`])
    expect(numberMarkdown(text), text).toBeUndefined();
});

// The bytes are LLVM's for these texts.
test.each([
  ['v_add_f32 v0, v1, v2', 'gfx942', '02000501'],
  ['s_waitcnt vmcnt(0)', 'gfx90a', 'BF8C0F70'],
  ['s_branch somewhere', 'gfx942', 'BF820000'],
  ['v_mov_b32 v0', 'gfx942', undefined],
] as const)('%s is encoded for hover', (text, target, hex) => {
  expect(encodeStatement(text, target)?.hex).toBe(hex);
});
