// The assembler against LLVM 22 and real compilers: objects byte for byte, printed text, and linked code objects.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { AsmStreamer, assemble, assembleAndLink, assembleToObject, formatDiagnostic } from '../src/asm/index.ts';
import { readElf } from '../src/codeobject/index.ts';
import { llvmTool } from './support/llvm.ts';
import { sharedPath } from './support/shared.ts';

const here = dirname(fileURLToPath(import.meta.url));
const fixtures = join(here, 'fixtures');
const scratch = mkdtempSync(join(tmpdir(), 'wavesmith-assembler-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const clang = llvmTool('clang-22');
const llvmMc = llvmTool('llvm-mc');

function sectionBytes(file: Uint8Array, name: string): string {
  const section = readElf(file).sections.find((s) => s.name === name);
  return section === undefined ? 'absent' : Buffer.from(section.bytes).toString('hex');
}

function expectSameSections(ours: Uint8Array, theirs: Uint8Array, names: readonly string[]): void {
  for (const name of names) expect(sectionBytes(ours, name), name).toBe(sectionBytes(theirs, name));
}

describe.skipIf(clang === undefined)('compiled C and OpenCL', () => {
  const sources = readdirSync(join(fixtures, 'clang')).sort();
  const variants = [
    ['gfx90a', '-O0'],
    ['gfx90a:sramecc+:xnack-', '-O2'],
    ['gfx942', '-O1', '-g'],
    ['gfx942:xnack+', '-O3'],
    ['gfx950', '-O2', '-g'],
  ];
  const rows = sources.flatMap((source) => variants.map(([target, ...flags]) => ({ source, target, flags })));

  test.each(rows)('$source for $target $flags: the object is clang’s', ({ source, target, flags }) => {
    const arguments_ = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', ...flags];
    const extra = source.endsWith('.cl') ? ['-Xclang', '-finclude-default-header'] : [];
    const assembly = join(scratch, 'compiled.s');
    const object = join(scratch, 'compiled.o');
    const direct = join(scratch, 'direct.o');
    const input = join(fixtures, 'clang', source);
    execFileSync(clang!, [...arguments_, ...extra, '-S', input, '-o', assembly]);
    execFileSync(clang!, ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-c', assembly, '-o', object]);
    execFileSync(clang!, [...arguments_, ...extra, '-c', input, '-o', direct]);
    const ours = assembleToObject(readFileSync(assembly), { file: source });
    expect(Buffer.compare(Buffer.from(ours), readFileSync(object))).toBe(0);
    expectSameSections(ours, readFileSync(direct), ['.text', '.rodata', '.data', '.note']);
  });
});

describe.skipIf(llvmMc === undefined)('hand-written sources', () => {
  const sources = readdirSync(join(fixtures, 'asm')).sort();

  test.each(sources)('%s: the object and the printed text are llvm-mc’s', (source) => {
    const input = join(fixtures, 'asm', source);
    const object = join(scratch, 'written.o');
    const flags = ['-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', input];
    execFileSync(llvmMc!, [...flags, '-filetype=obj', '-o', object]);
    const ours = assembleToObject(readFileSync(input), { file: source });
    expect(Buffer.compare(Buffer.from(ours), readFileSync(object))).toBe(0);
    const streamer = new AsmStreamer({ showEncoding: true });
    assemble(readFileSync(input), { file: source, target: 'gfx942', streamer });
    expect(streamer.text()).toBe(execFileSync(llvmMc!, [...flags, '-show-encoding'], { encoding: 'utf8' }));
  });

  test('errors.txt: the diagnostics are llvm-mc’s, all of them', () => {
    const input = join(fixtures, 'asm-errors.txt');
    const run = spawnSync(llvmMc!, ['-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942', input], { encoding: 'utf8' });
    const streamer = new AsmStreamer();
    const options = { file: input, target: 'gfx942', reportCascades: true, streamer };
    const { diagnostics } = assemble(readFileSync(input), options);
    expect(diagnostics.map(formatDiagnostic).join('')).toBe(run.stderr);
    expect(run.status).toBe(1);
  });
});

const triton = sharedPath('corpus', 'triton');

describe.skipIf(triton === undefined)('Triton kernels', () => {
  const names = triton === undefined ? [] : readdirSync(triton).filter((name) => name.endsWith('.amdgcn'));

  test.each(names)('%s links to the code object that Triton made', (name) => {
    const ours = assembleAndLink(readFileSync(join(triton!, name)), { file: name });
    const theirs = readFileSync(join(triton!, name.replace(/amdgcn$/, 'hsaco')));
    expectSameSections(ours, theirs, ['.text', '.rodata', '.note']);
    expect(readElf(ours).header.flags).toBe(readElf(theirs).header.flags);
  });
});

test('the assembly that IREE dumps links to the code object in its module', () => {
  const fixture = join(here, '..', 'fixtures', 'matmul_f16.gfx942');
  const ours = assembleAndLink(readFileSync(join(fixture, 'baseline', 'matmul_dispatch_0.s')));
  const module = readFileSync(join(fixture, 'baseline.vmfb'));
  const theirs = module.subarray(module.indexOf(Buffer.from([0x7f, 0x45, 0x4c, 0x46])));
  expectSameSections(ours, theirs, ['.text', '.rodata', '.note', '.dynsym', '.dynstr']);
  expect(readElf(ours).header.flags).toBe(readElf(theirs).header.flags);
});

test.skipIf(clang === undefined)('names outside ASCII are the bytes that clang writes', () => {
  const source =
    '\t.section "größe.data","a"\n\t.text\n\t.globl "größe"\n\t.type "größe",@function\n"größe":\n\ts_endpgm\n.Lend:\n\t.size "größe", .Lend-"größe"\n';
  const [file, object] = [join(scratch, 'names.s'), join(scratch, 'names.o')];
  writeFileSync(file, source);
  execFileSync(clang!, ['-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx942', '-c', file, '-o', object]);
  const ours = assembleToObject(new TextEncoder().encode(source), { target: 'gfx942' });
  expectSameSections(ours, readFileSync(object), ['.text', '.symtab', '.strtab', 'größe.data']);
});

test('a source in a file with Windows line ends and bytes that are not UTF-8 assembles', () => {
  const bytes = Buffer.from('.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\r\n.ascii "\xe9\xff"\r\ns_nop 0\r\n', 'latin1');
  writeFileSync(join(scratch, 'crlf.s'), bytes);
  expect(sectionBytes(assembleToObject(readFileSync(join(scratch, 'crlf.s'))), '.text')).toBe('e9ff000080bf');
});
