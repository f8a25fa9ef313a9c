// Debug information that the linker has compressed is what it is without.
import { expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../tests/support/build.ts';
import { readCodeObject } from '../code-object.ts';
import { debugInfo } from './debug-info.ts';
import { debugLines } from './debug-line.ts';
import { debugSection } from './debug-section.ts';

const SOURCE = `
__attribute__((amdgpu_kernel)) void k(int *p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
${Array.from({ length: 200 }, (_, n) => `  int variable_${n} = n + ${n};`).join('\n')}
  p[i] = n;
}`;

test.skipIf(!hasLlvm()).each(['zlib', 'zstd'])('%s', (method) => {
  const object = compileC(SOURCE, 'gfx942', ['-O0', '-g']);
  const plain = readCodeObject(linkWithLld([object])).elf;
  const { elf, kernels } = readCodeObject(linkWithLld([object], [`--compress-debug-sections=${method}`]));
  const compressed = elf.sections.filter(({ name, flags }) => name.startsWith('.debug_') && (flags & 0x800n) !== 0n);
  expect(compressed.length).toBeGreaterThan(2);
  const bytes = (from: typeof elf, name: string) => Uint8Array.from(debugSection(from, name) ?? []);
  for (const { name } of compressed) expect(bytes(elf, name)).toEqual(bytes(plain, name));
  const entry = kernels[0]?.entry as number;
  expect(debugLines(elf)?.at(entry)?.line).toBe(2);
  expect(debugInfo(elf)?.frames(entry)[0]?.name).toBe('k');
});

test.skipIf(!hasLlvm()).each(['zlib', 'zstd'])('%s that is damaged is not there, and takes no memory', (method) => {
  const object = compileC(SOURCE, 'gfx942', ['-O0', '-g']);
  const { elf } = readCodeObject(linkWithLld([object], [`--compress-debug-sections=${method}`]));
  const section = elf.sections.find(({ name, flags }) => name === '.debug_info' && (flags & 0x800n) !== 0n);
  const whole = section?.bytes as Uint8Array;
  const damaged = (bytes: Uint8Array) =>
    debugSection({ ...elf, sections: [{ ...section, bytes }] } as unknown as typeof elf, '.debug_info');
  for (let length = 0; length < whole.length; length += 7) expect(damaged(whole.slice(0, length))).toBeUndefined();
  for (let at = 0; at < 32; at++) {
    const bytes = whole.slice();
    bytes[at] = 0xff;
    const found = damaged(bytes);
    // The alignment of a section says nothing of its bytes.
    if (at < 4 || (at >= 8 && at < 16)) expect([at, found]).toEqual([at, undefined]);
  }
});
