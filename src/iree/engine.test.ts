import { expect, test } from 'vitest';
import { kernelNamesOf, readTargetDirective, withClassicTriple } from './engine.ts';

test.each([
  ['amdgcn-amd-amdhsa--gfx942', 'gfx942', 'gfx942'],
  ['amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', 'gfx942', 'gfx942:sramecc+:xnack-'],
  ['amdgpu9.42-amd-amdhsa-unknown-gfx942', 'gfx942', 'gfx942'],
  ['amdgpu9.0a-amd-amdhsa-unknown-gfx90a:sramecc+:xnack-', 'gfx90a', 'gfx90a:sramecc+:xnack-'],
  ['amdgcn-amd-amdhsa-unknown-gfx950', 'gfx950', 'gfx950'],
])('.amdgcn_target "%s"', (id, processor, processorAndFeatures) => {
  const text = `; a comment\n\t.amdgcn_target "${id}"\n`;
  expect(readTargetDirective(text)).toEqual({ processor, processorAndFeatures, line: 2 });
});

test('a text without the directive has no target', () => {
  expect(readTargetDirective('\t.text\n')).toBeUndefined();
});

test('newer triples become the ones LLVM 22 knows, every other line stays', () => {
  const text = [
    '\t.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942:xnack-"',
    '\ts_nop 0 ; amdgpu9.42-amd-amdhsa-unknown-gfx942',
    'amdhsa.target:   amdgpu9.42-amd-amdhsa-unknown-gfx942:xnack-',
  ].join('\n');
  expect(withClassicTriple(text).split('\n')).toEqual([
    '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942:xnack-"',
    '\ts_nop 0 ; amdgpu9.42-amd-amdhsa-unknown-gfx942',
    'amdhsa.target:   amdgcn-amd-amdhsa--gfx942:xnack-',
  ]);
});

test('kernel names, quoted or not', () => {
  expect(kernelNamesOf('  .amdhsa_kernel a\n.amdhsa_kernel "b c$d" ; x\n# .amdhsa_kernel no\n')).toEqual([
    'a',
    'b c$d',
  ]);
});
