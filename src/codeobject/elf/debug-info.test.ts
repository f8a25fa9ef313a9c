// The reader of variables on debug information that clang writes, and on damaged one.
import { describe, expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../tests/support/build.ts';
import { readCodeObject } from '../code-object.ts';
import { debugInfo } from './debug-info.ts';

const SOURCE = `
struct pair { float a; int b[3]; struct pair *next; };
enum color { RED = 1, BLUE = 7 };
__attribute__((address_space(1))) int counter;
__attribute__((noinline)) static int twice(int x) { int y = x * 2; return y; }
static inline __attribute__((always_inline)) int more(int z) { int w = z + 1; return w * w; }
__attribute__((amdgpu_kernel)) void k(int *p, int n) {
  int id = __builtin_amdgcn_workitem_id_x(); p += id;
  struct pair q = {1.5f, {1, 2, 3}, 0};
  enum color c = n > 3 ? RED : BLUE;
  unsigned char bytes[2][4];
  bytes[1][n & 3] = n;
  for (int i = 0; i < n; i++) { const int inner = twice(i) + more(i); p[i] = inner + q.b[1] + c + bytes[1][2]; }
  counter = n + id;
}`;
const object = (flags: readonly string[]) => readCodeObject(linkWithLld([compileC(SOURCE, 'gfx942', flags)]));

describe.skipIf(!hasLlvm())('variables of clang', () => {
  test.each([
    ['-gdwarf-5', '-O0'],
    ['-gdwarf-4', '-O0'],
  ])('%s %s', (...flags) => {
    const { elf, kernels } = object(flags);
    const info = debugInfo(elf);
    const end = Number(elf.symbols.find((s) => s.name === 'k')?.size ?? 0n) + (kernels[0]?.entry as number);
    const variables = info?.variables(end - 8) ?? [];
    expect(variables.map((v) => v.name)).toEqual(expect.arrayContaining(['p', 'n', 'q', 'c', 'bytes', 'counter']));
    const byName = new Map(variables.map((v) => [v.name, v]));
    expect(byName.get('p')).toMatchObject({ isParameter: true, type: { kind: 'pointer', name: 'int *', bytes: 8 } });
    expect(byName.get('q')?.type).toMatchObject({ kind: 'struct', bytes: 24 });
    expect(byName.get('q')?.type.members.map((m) => [m.name, m.offset, m.type().name])).toEqual([
      ['a', 0, 'float'],
      ['b', 4, 'int[3]'],
      ['next', 16, 'pair *'],
    ]);
    expect(byName.get('c')?.type.names.get(7)).toBe('BLUE');
    expect(byName.get('bytes')?.type).toMatchObject({ name: 'unsigned char[2][4]', bytes: 8, count: 2 });
    expect(byName.get('q')?.place(end - 8)).toMatchObject({ kind: 'scratch', base: { file: 's', index: 33 } });
    const counter = elf.symbols.find((s) => s.name === 'counter');
    expect(byName.get('counter')?.place(end - 8)).toEqual({ kind: 'global', address: Number(counter?.value) });
    expect(info?.frames(end - 8).map((f) => f.name)).toEqual(['k']);
    expect(info?.variables(0).map((v) => v.name)).toEqual(['counter']);
  });

  test('optimized code: registers, constants, what is gone, inlined functions', () => {
    const { elf, kernels } = object(['-g', '-O1']);
    const info = debugInfo(elf);
    const kinds = new Set<string>();
    const functions = new Set<string>();
    const entry = kernels[0]?.entry as number;
    for (let pc = entry; pc < entry + 400; pc += 4) {
      for (const v of info?.variables(pc) ?? []) kinds.add(v.place(pc).kind);
      functions.add((info?.frames(pc) ?? []).map((f) => f.name).join(' in '));
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['registers', 'absent']));
    expect([...functions]).toEqual(expect.arrayContaining(['k', 'more in k']));
  });

  test('every damaged byte is survived', () => {
    const { elf, kernels } = object(['-g', '-O1']);
    const entry = kernels[0]?.entry as number;
    for (const section of elf.sections.filter((s) =>
      /^\.debug_(info|abbrev|loclists|rnglists|addr|str_offsets)$/.test(s.name),
    )) {
      const step = Math.max(1, Math.floor(section.bytes.length / 150));
      for (let at = 0; at < section.bytes.length; at += step) {
        for (const value of [0, 0x7f, 0x80, 0xff]) {
          const bytes = section.bytes.slice();
          bytes[at] = value;
          const sections = elf.sections.map((s) => (s === section ? { ...s, bytes } : s));
          const info = debugInfo(Object.assign(Object.create(Object.getPrototypeOf(elf)), elf, { sections }));
          for (const v of info?.variables(entry + 40) ?? []) expect(v.place(entry + 40).kind).toBeTruthy();
        }
      }
    }
  });
});

test('without debug information there are no variables', () => {
  expect(debugInfo({ sections: [] } as never)).toBeUndefined();
});
