// The line reader on tables that clang writes (DWARF 4 and 5) and on damaged ones.
import { describe, expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../tests/support/build.ts';
import { readCodeObject } from '../code-object.ts';
import { debugLines } from './debug-line.ts';

const SOURCE = `
__attribute__((amdgpu_kernel)) void k(int *p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  if (i < n)
    p[i] = p[i] * 3;
}`;

describe.skipIf(!hasLlvm())('lines of clang', () => {
  test.each(['-gdwarf-4', '-gdwarf-5'])('%s', (flag) => {
    const object = readCodeObject(linkWithLld([compileC(SOURCE, 'gfx942', ['-O1', flag])]));
    const lines = debugLines(object.elf);
    const entry = object.kernels[0]?.entry as number;
    expect(lines?.at(entry)?.file).toMatch(/input\.c$/);
    const all = new Set<number>();
    for (let pc = entry; pc < entry + 64; pc += 4) all.add(lines?.at(pc)?.line ?? 0);
    expect(all).toContain(4);
    expect(all).toContain(5);
    expect(lines?.at(0)).toBeUndefined();
    const found = lines?.linesWithCode('input.c', 1, 99) as number[];
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(found).toContain(5);
    // Each line gives itself, the others the next one of them.
    for (let line = 1; line < 9; line++)
      expect(lines?.addresses('input.c', line)?.line).toBe(found.find((one) => one >= line));
    expect(lines?.linesWithCode('/elsewhere/input.c', 5, 5)).toEqual([5]);
    expect(lines?.linesWithCode('other.c', 1, 99)).toEqual([]);
  });

  test('every damaged byte is survived', () => {
    const object = readCodeObject(linkWithLld([compileC(SOURCE, 'gfx942', ['-O1', '-gdwarf-5'])]));
    const section = object.elf.sections.find((s) => s.name === '.debug_line');
    const bytes = section?.bytes as Uint8Array;
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const copy = bytes.slice();
        copy[at] = value;
        const sections = object.elf.sections.map((s) => (s === section ? { ...s, bytes: copy } : s));
        const found = debugLines({ ...object.elf, sections } as unknown as typeof object.elf)?.at(
          object.kernels[0]?.entry as number,
        );
        expect(found?.line ?? 1).toBeGreaterThan(0);
      }
    }
  });
});

test('without debug information there are no lines', () => {
  expect(debugLines({ sections: [] } as never)).toBeUndefined();
});
