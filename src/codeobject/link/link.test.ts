import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { llvmTool } from '../../../tests/support/llvm.ts';
import { sharedPath } from '../../../tests/support/shared.ts';
import { lookupDynamicSymbol } from '../elf/hash.ts';
import type { ObjectModel, ObjectSection, ObjectSymbol } from '../elf/object-model.ts';
import { readElf } from '../elf/read.ts';
import { readObject, writeObject } from '../elf/write.ts';
import { link } from './link.ts';
import { xxh3 } from './xxh3.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-link-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEADER = `
.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
.amdhsa_code_object_version 5
`;

const FIRST = `${HEADER}
.text
.globl a
.protected a
.p2align 8
.type a,@function
a: s_endpgm
s_getpc_b64 s[0:1]
s_add_u32 s0,s0,g@rel32@lo+4
s_addc_u32 s1,s1,g@rel32@hi+12
s_getpc_b64 s[0:1]
s_add_u32 s0,s0,g@gotpcrel32@lo+4
s_addc_u32 s1,s1,g@gotpcrel32@hi+12
s_add_u32 s0,s0,seen@gotpcrel32@lo+4
s_addc_u32 s1,s1,seen@gotpcrel32@hi+12
s_add_u32 s0,s0,wk@gotpcrel32@lo+4
s_add_u32 s0,s0,here@gotpcrel32@lo+4
s_add_u32 s0,s0,.L.str@rel32@lo+4
.size a,.-a
.hidden g
.weak wk
.set absolute, 0x123456789
.section .text.f,"axG",@progbits,f,comdat
.weak f
.hidden f
f: s_add_u32 s0,s0,g@rel32@lo+4
.section .rodata.str1.1,"aMS",@progbits,1
.L.str: .asciz "hello"
.L.str2: .asciz "world"
.asciz "hello"
.asciz "a longer string, to be hashed by the part of the hash that deals with more than 64 bytes"
.section .rodata.cst8,"aM",@progbits,8
.quad 5,6,5,7,8,9
.section .rodata,"a"
.long 77
.data
.p2align 3
.quad a, .L.str, .L.str2, g, seen+8, here, wk, absolute
here: .long 5
.p2align 3
.globl g
g: .quad 1
.globl seen, seen2, seen3, seen4, seen5, seen6, seen7
.type seen,@object
.size seen,8
seen: .quad 2
seen2: .quad 2
seen3: .quad 2
seen4: .quad 2
seen5: .quad 2
seen6: .quad 2
seen7: .quad 2
.comm cc,16,8
.section .init_array,"aw",@init_array
.p2align 3
.quad a
.section .data.rel.ro,"aw"
.p2align 3
.quad a+4
.bss
.zero 40
.section .more,"a",@nobits
.zero 3
.section .meta,"",@progbits
.long 1
.quad a, .L.str2
.section .debug_str,"MS",@progbits,1
.asciz "abc"
.asciz "abcd"
.asciz "abc"
.section .debug_info,"",@progbits
.long .debug_str+4, .debug_str+9, .debug_str
.ident "x"
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels: []
.end_amdgpu_metadata
.addrsig
.addrsig_sym a
`;

const SECOND = `${HEADER}
.section .text.f,"axG",@progbits,f,comdat
.weak f
.hidden f
f: s_endpgm
.text
.p2align 8
.globl b
.protected b
b: s_endpgm
s_add_u32 s0,s0,g@rel32@lo+4
s_add_u32 s0,s0,f@rel32@lo+4
s_add_u32 s0,s0,cc@gotpcrel32@lo+4
.data
.quad b, g
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "hello"
.asciz "z"
.ident "x"
.weak seen
seen: .long 3
.comm cc,32,16
`;

interface Tools {
  clang: string;
  lld: string;
}

function tools(): Tools | undefined {
  const clang = llvmTool('clang-22');
  const lld = llvmTool('ld.lld');
  return clang === undefined || lld === undefined ? undefined : { clang, lld };
}

function assemble({ clang }: Tools, name: string, source: string, cpu = 'gfx942:sramecc+:xnack-'): string {
  const input = join(folder, `${name}.s`);
  const output = join(folder, `${name}.o`);
  writeFileSync(input, source);
  const args = ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${cpu}`, '-c', input, '-o', output];
  execFileSync(clang, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  return output;
}

function linkWithLld({ lld }: Tools, files: string[]): Uint8Array {
  const output = join(folder, 'out.co');
  execFileSync(lld, ['-shared', ...files, '-o', output], { stdio: ['ignore', 'ignore', 'pipe'] });
  return readFileSync(output);
}

/** Links with the name that lld gave itself in .comment, so that whole files can be compared. */
function linkLike(reference: Uint8Array, files: string[], undefinedSymbols?: 'dynamic'): Uint8Array {
  const comment = new TextDecoder().decode(readElf(reference).section('.comment')!.bytes);
  const own = comment.split('\0').find((line) => line.startsWith('Linker: '));
  return link(
    files.map((file) => readObject(readElf(readFileSync(file)))),
    { comment: own, undefinedSymbols },
  );
}

function expectSameFile(files: string[], found: Tools): void {
  const reference = linkWithLld(found, files);
  expect(Buffer.compare(linkLike(reference, files), reference)).toBe(0);
}

describe('against clang and ld.lld', () => {
  test('an object read and written again is the same file', () => {
    const found = tools();
    if (found === undefined) return;
    for (const [name, source] of [
      ['first', FIRST],
      ['second', SECOND],
    ]) {
      const bytes = readFileSync(assemble(found, name, source));
      expect(Buffer.compare(writeObject(readObject(readElf(bytes))), bytes), name).toBe(0);
    }
  });

  test('the linked file is the same, byte for byte: one object', () => {
    const found = tools();
    if (found !== undefined) expectSameFile([assemble(found, 'first', FIRST)], found);
  });

  test('the linked file is the same, byte for byte: two objects with COMDAT, common and weak symbols', () => {
    const found = tools();
    if (found === undefined) return;
    expectSameFile([assemble(found, 'first', FIRST), assemble(found, 'second', SECOND)], found);
  });

  test('the linked file is the same, byte for byte: undefined and weak symbols left to the loader', () => {
    const found = tools();
    if (found === undefined) return;
    const source = `${HEADER}.text\n.globl a\n.protected a
a: s_add_u32 s0,s0,und@gotpcrel32@lo+4
s_add_u32 s0,s0,wku@gotpcrel32@lo+4
s_add_u32 s0,s0,hidw@gotpcrel32@lo+4
s_add_u32 s0,s0,hidw@rel32@lo+4
.weak wku\n.weak hidw\n.hidden hidw\n.data\n.quad und, und2+16, wku, hidw\n`;
    const object = assemble(found, 'undefined', source);
    const reference = linkWithLld(found, [object]);
    expect(Buffer.compare(linkLike(reference, [object], 'dynamic'), reference)).toBe(0);
    expect(() => linkLike(reference, [object])).toThrow(/Symbol 'und' is used in \.text\+0x4 but not defined/);
  });

  test('the linked file is the same, byte for byte: C kernels for three targets and code object versions', () => {
    const found = tools();
    if (found === undefined) return;
    const source = join(folder, 'k.c');
    writeFileSync(
      source,
      `#define GLOBAL __attribute__((address_space(1)))
      #define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
      GLOBAL int counter = 5; GLOBAL int zeroed[16];
      __attribute__((visibility("default"), address_space(4))) const int table[4] = {1, 2, 3, 4};
      __attribute__((noinline)) int scaled(int x) { return x * counter + table[x & 3]; }
      KERNEL void first(GLOBAL int *p, int n) { int i = __builtin_amdgcn_workitem_id_x(); p[i] = scaled(n) + zeroed[i & 15]; }
      KERNEL void second(GLOBAL float *p, float n) { p[__builtin_amdgcn_workitem_id_x()] = n; }`,
    );
    for (const [cpu, version] of [
      ['gfx90a', 4],
      ['gfx942', 5],
      ['gfx950:xnack+', 6],
    ]) {
      const object = join(folder, 'k.o');
      const flags = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${cpu}`, `-mcode-object-version=${version}`, '-nogpulib'];
      execFileSync(found.clang, [...flags, '-O2', '-c', source, '-o', object]);
      expectSameFile([object], found);
    }
  });

  test('the linked file is the same, byte for byte: Triton kernels with debug sections', () => {
    const found = tools();
    const triton = sharedPath('corpus', 'triton');
    if (found === undefined || triton === undefined) return;
    const files = readdirSync(triton).filter((file) => file.endsWith('.amdgcn'));
    for (const file of files.filter((_, i) => i % 4 === 0)) {
      const source = readFileSync(join(triton, file), 'utf8');
      const target = /\.amdgcn_target "amdgcn-amd-amdhsa-[^-]*-([^"]+)"/.exec(source)![1];
      expectSameFile([assemble(found, 'triton', source, target)], found);
    }
  });
});

function section(name: string, flags: number, bytes: Uint8Array): ObjectSection {
  return { name, type: 1, flags, alignment: 4, entrySize: 0, size: bytes.length, bytes, relocations: [] };
}

function symbol(name: string, where: ObjectSymbol['section'], more: Partial<ObjectSymbol> = {}): ObjectSymbol {
  return { name, binding: 1, type: 0, visibility: 3, section: where, value: 0n, size: 0n, ...more };
}

function object(sections: ObjectSection[], symbols: ObjectSymbol[], flags = 0x54c): ObjectModel {
  return { flags, osAbi: 64, abiVersion: 3, sections, symbols };
}

/** One .text of two words with one relocation. */
function textWith(type: number, target: ObjectSymbol, addend = 0n): ObjectModel {
  const text = section('.text', 6, new Uint8Array(8));
  text.relocations = [{ offset: 0, type, symbol: target, addend }];
  return object([text], [symbol('k', text), target]);
}

describe('without LLVM', () => {
  test('hundreds of exported symbols are found through both hash tables, and others are not', () => {
    const text = section('.text', 6, new Uint8Array(4096));
    const names = Array.from({ length: 300 }, (_, i) => `kernel_${i}_${'x'.repeat(i % 37)}`);
    const symbols = names.map((name, i) => symbol(name, text, { value: BigInt(4 * i) }));
    const elf = readElf(link([object([text], symbols)]));
    for (const table of ['gnu', 'sysv'] as const) {
      for (const name of names) expect(lookupDynamicSymbol(elf, name, table)?.name).toBe(name);
      expect(lookupDynamicSymbol(elf, 'kernel_300', table)).toBeUndefined();
    }
  });

  test('any object survives writing and reading', () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const names = fc.stringMatching(/^[a-z][a-z0-9._$]{0,12}$/);
    const sections = fc.array(fc.tuple(names, bytes, fc.integer({ min: 0, max: 6 }), fc.nat(7)), { maxLength: 6 });
    const symbols = fc.array(fc.tuple(names, fc.nat(), fc.nat(3), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(sections, symbols, (sectionParts, symbolParts) => {
        const made = sectionParts.map(([name, content, alignment, flags]) => ({
          ...section(`.${name}`, flags, content),
          alignment: 2 ** alignment,
        }));
        const all = symbolParts.map(([name, where, visibility, value], i) => {
          const target = made.length === 0 || where % 4 === 0 ? 'absolute' : made[where % made.length];
          const binding = i < symbolParts.length / 2 ? 0 : 1;
          return symbol(name, target, { visibility, value, binding, size: value >> 3n });
        });
        for (const [i, s] of made.entries()) {
          if (all.length > 0 && s.size >= 8)
            s.relocations = [{ offset: 0, type: 3, symbol: all[i % all.length], addend: -5n }];
        }
        const file = writeObject(object(made, all));
        const again = readObject(readElf(file));
        expect(writeObject(again)).toEqual(file);
        expect(again.symbols.map((s) => [s.name, s.value, s.size])).toEqual(all.map((s) => [s.name, s.value, s.size]));
        expect(again.sections.map((s) => [s.name, s.bytes])).toEqual(made.map((s) => [s.name, s.bytes]));
      }),
      { numRuns: 150 },
    );
  });

  test('segments, alignment and symbols of a minimal code object', () => {
    const text = section('.text', 6, new Uint8Array([0, 0, 0x81, 0xbf]));
    text.alignment = 256;
    const elf = readElf(link([object([text], [symbol('k', text), symbol('h', text, { visibility: 2 })])]));
    expect(elf.section('.text')!.address % 256).toBe(0);
    expect(elf.segments.map((s) => s.type).slice(0, 2)).toEqual([6, 1]);
    expect(elf.dynamicSymbols.map((s) => s.name)).toEqual(['', 'k']);
    expect(elf.symbols.map((s) => [s.name, s.binding])).toEqual([
      ['', 0],
      ['h', 0],
      ['_DYNAMIC', 0],
      ['k', 1],
    ]);
    expect(elf.bytesOf(elf.dynamicSymbols[1], 4)).toEqual(new Uint8Array([0, 0, 0x81, 0xbf]));
  });

  test('REL16 counts words from the end of the branch', () => {
    const target = symbol('t', 'undefined');
    const model = textWith(14, target);
    target.section = model.sections[0];
    target.value = 8n;
    const elf = readElf(link([model]));
    expect([...elf.section('.text')!.bytes.subarray(0, 2)]).toEqual([1, 0]);
  });

  test.each([
    ['link/undefined-symbol', () => [textWith(10, symbol('missing', 'undefined'))]],
    ['link/bad-relocation', () => [textWith(3, symbol('x', section('.data', 3, new Uint8Array(4))))]],
    ['link/unknown-relocation', () => [textWith(99, symbol('k2', 'undefined', { binding: 2 }))]],
    ['link/no-input', () => []],
  ] as [string, () => ObjectModel[]][])('%s', (code, make) => {
    const models = make();
    for (const m of models) {
      for (const s of m.symbols)
        if (typeof s.section !== 'string' && !m.sections.includes(s.section)) m.sections.push(s.section);
    }
    expect(() => link(models)).toThrow(expect.objectContaining({ code }));
  });

  test('a symbol defined twice and objects for different targets are errors', () => {
    const text = section('.text', 6, new Uint8Array(4));
    const one = object([text], [symbol('k', text)]);
    expect(() => link([one, one])).toThrow(expect.objectContaining({ code: 'link/duplicate-symbol' }));
    expect(() => link([one, object([], [], 0x54f)])).toThrow(expect.objectContaining({ code: 'link/incompatible' }));
  });

  test('a reference to a default-visibility symbol says how to fix it', () => {
    const data = section('.data', 3, new Uint8Array(4));
    const model = textWith(10, symbol('d', data, { visibility: 0 }));
    model.sections.push(data);
    expect(() => link([model])).toThrow(/R_AMDGPU_REL32_LO at \.text\+0x0 cannot refer to 'd': another module/);
  });
});

test('XXH3 of each length class', () => {
  const of = (length: number) => xxh3(new TextEncoder().encode('z'.repeat(length))).toString(16);
  expect(of(17)).toBe('5234ec12ee58a904');
  expect(of(65)).toBe('c9faadb6c3a64a0d');
  expect(of(129)).toBe('4e151cfc44a9680c');
  expect(of(240)).toBe('bf0e0b40af0c6df2');
  expect(of(300)).toBe('4d3f26454e4c3335');
  expect(of(5000)).toBe('b5c9aac0c64f5a2f');
  expect(xxh3(new Uint8Array(0)).toString(16)).toBe('2d06800538d394c2');
  expect(xxh3(new TextEncoder().encode('abcd')).toString(16)).toBe('6497a96f53a89890');
});
