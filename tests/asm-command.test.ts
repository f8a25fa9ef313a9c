// `wavesmith asm` as a user runs it: files in, files out, exit codes, messages; both engines.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { run } from '../src/cli/asm.ts';
import { readElf } from '../src/codeobject/index.ts';
import { llvmTool } from './support/llvm.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-asm-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const HEADER = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n';
const KERNEL = `.globl k
.type k,@function
.p2align 8
k: v_mov_b32 v0, VALUE
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 1
.amdhsa_next_free_sgpr 1
.amdhsa_accum_offset 4
.end_amdhsa_kernel
`;

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

interface Outcome {
  code: number;
  out: string;
  err: string;
}

async function command(...argv: string[]): Promise<Outcome> {
  const outcome: Outcome = { code: -1, out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    outcome.out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    outcome.err += String(text);
    return true;
  });
  outcome.code = await run(argv);
  vi.restoreAllMocks();
  return outcome;
}

test('links by default, -c stops at the object, -D and -I reach the source', async () => {
  mkdirSync(join(folder, 'inc'), { recursive: true });
  write('inc/value.inc', 'VALUE = TILE * 2\n');
  const source = write('k.s', `${HEADER}.include "value.inc"\n${KERNEL}`);
  const flags = [source, '-D', 'TILE=0x10', '-I', join(folder, 'inc'), '-o'];
  expect(await command(...flags, join(folder, 'k.co'))).toEqual({ code: 0, out: '', err: '' });
  expect((await command(...flags, join(folder, 'k.o'), '-c')).code).toBe(0);
  const image = readElf(readFileSync(join(folder, 'k.co')));
  const object = readElf(readFileSync(join(folder, 'k.o')));
  expect([image.header.type, object.header.type]).toEqual([3, 1]);
  const text = object.sections.find((s) => s.name === '.text')!.bytes;
  expect([...text.subarray(0, 4)]).toEqual([0xa0, 2, 0, 0x7e]);
});

test('errors go to stderr with the line, exit code 1, and nothing is written', async () => {
  const source = write('bad.s', `${HEADER}v_bogus v0\ns_nop 0\n.byte 300\n`);
  const output = join(folder, 'bad.co');
  const { code, err } = await command(source, '-o', output);
  expect(code).toBe(1);
  expect(err).toContain(`${source}:2:1: error: invalid instruction\nv_bogus v0\n^\n`);
  expect(err).toContain(`${source}:4:7: error: out of range literal value`);
  expect(existsSync(output)).toBe(false);
  const json = JSON.parse((await command(source, '-o', output, '--json')).out);
  expect([json.ok, json.diagnostics.length, json.diagnostics[0].line]).toEqual([false, 2, 2]);
});

test('the target: --target when the source has none, a conflict says the fix', async () => {
  const bare = write('bare.s', `VALUE = 1\n${KERNEL}`);
  const output = join(folder, 'bare.co');
  expect((await command(bare, '-o', output)).err).toContain('use --target gfx942');
  expect((await command(bare, '-o', output, '--target', 'gfx90a:xnack-')).code).toBe(0);
  expect(readElf(readFileSync(output)).header.flags).toBe(0x63f);
  const source = write('target.s', `${HEADER}VALUE = 1\n${KERNEL}`);
  const conflict = await command(source, '-o', output, '--target', 'gfx950');
  expect([conflict.code, conflict.err]).toEqual([1, expect.stringContaining('fix: --target gfx942, or edit')]);
});

test('wrong usage is a usage error', async () => {
  const source = write('usage.s', HEADER);
  await expect(command(source)).rejects.toThrow('required option');
  await expect(command(source, '-o', 'x', '-D', '1=2')).rejects.toThrow('is not NAME=VALUE');
  await expect(command(source, '-o', 'x', '--engine', 'gas')).rejects.toThrow("no engine 'gas'");
  await expect(command(join(folder, 'absent.s'), '-o', 'x')).rejects.toThrow('no such file');
});

test.skipIf(llvmTool('clang-22') === undefined)('--engine llvm makes the same code', async () => {
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const source = write('both.s', `${HEADER.replace('gfx942', 'gfx942:xnack+')}${KERNEL}`);
  const ours = join(folder, 'ours.co');
  const theirs = join(folder, 'theirs.co');
  expect((await command(source, '-o', ours, '-D', 'VALUE=7')).code).toBe(0);
  expect(await command(source, '-o', theirs, '-D', 'VALUE=7', '--engine', 'llvm')).toEqual({
    code: 0,
    out: '',
    err: '',
  });
  const [a, b] = [ours, theirs].map((path) => readElf(readFileSync(path)));
  expect(a.header.flags).toBe(b.header.flags);
  for (const name of ['.text', '.rodata']) {
    const bytes = [a, b].map((elf) => Buffer.from(elf.sections.find((s) => s.name === name)!.bytes).toString('hex'));
    expect(bytes[0]).toBe(bytes[1]);
  }
  const bad = write('both-bad.s', `${HEADER}v_bogus\n`);
  const failed = await command(bad, '-o', join(folder, 'none.co'), '--engine', 'llvm');
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(`${bad}:2:1: error: invalid instruction`)]);
  await expect(command(source, '-o', theirs, '--engine', 'llvm', '--target', 'gfx90a')).rejects.toThrow(
    'is for gfx942:xnack+',
  );
  expect(readdirSync(temporary)).toEqual([]);
});
