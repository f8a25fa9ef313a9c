// `wavesmith run` on an object file, which it links in memory, and breakpoints inside an instruction, which it refuses.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assembleAndLink, assembleToObject } from '../src/asm/index.ts';
import { withFolder } from './support/build.ts';
import { kernelSource } from './support/kernel-source.ts';

const root = join(import.meta.dirname, '..');
/** Reads a constant through a relocation against .rodata, which only a linked file can. */
const CODE = `s_load_dwordx2 s[2:3], s[0:1], 0x0
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, constant@rel32@lo+4
s_addc_u32 s5, s5, constant@rel32@hi+12
s_load_dword s6, s[4:5], 0x0
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v1, 0
v_mov_b32_e32 v2, s6
global_store_dword v1, v2, s[2:3]`;

function run(code: string, ...options: string[]) {
  return withFolder((folder) => {
    const source = `${kernelSource({ code })}\n\t.rodata\n\t.p2align 2\nconstant:\n\t.long 4711\n`;
    const file = join(folder, 'k.o');
    writeFileSync(file, assembleToObject(source, { target: 'gfx942', file: 'k.s' }));
    const common = ['run', file, '--kernel', 'k', '--grid', '1', '--block', '64', '--arg', 'u32[1]'];
    return spawnSync(process.execPath, [join(root, 'bin/wavesmith'), ...common, ...options], {
      encoding: 'utf8',
      input: '',
    });
  });
}

it('should link an object file and run it', () => {
  const { status, stdout, stderr } = run(CODE, '--json');
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ buffers: [{ first: [4711] }] });
});

describe('without --kernel', () => {
  const runFiles = (...sources: string[]) =>
    withFolder((folder) => {
      const files = sources.map((source, i) => {
        const file = join(folder, `${i}.o`);
        writeFileSync(file, assembleToObject(source, { target: 'gfx942', file: 'k.s' }));
        return file;
      });
      const args = ['run', ...files, '--grid', '1', '--block', '64', '--arg', 'u32[1]', '--json'];
      const ran = spawnSync(process.execPath, [join(root, 'bin/wavesmith'), ...args], { encoding: 'utf8', input: '' });
      return { status: ran.status, result: JSON.parse(ran.stdout) as Record<string, unknown> };
    });

  it('should run the one kernel of a file', () => {
    expect(runFiles(kernelSource())).toMatchObject({ status: 0, result: { kernel: 'k', wavefronts: 1 } });
  });

  it('should name the kernels of a file with several', () => {
    const { status, result } = runFiles(kernelSource(), kernelSource({ name: 'other' }));
    expect(status).toBe(2);
    expect(result.message).toMatch(/0\.o' has 2 kernels; --kernel names the one\.$/);
    expect(result.hint).toBe('There are: k, other.');
  });

  it('should say that a file has none', () => {
    const { status, result } = runFiles('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\ts_nop 0\n');
    expect(status).toBe(2);
    expect(result.message).toMatch(/0\.o' has no kernel\.$/);
  });
});

describe('several object files', () => {
  // A function and a table of another file: a call, a constant, a 64-bit address.
  const kernel = kernelSource({
    code: `s_load_dwordx2 s[2:3], s[0:1], 0x0
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, helper@rel32@lo+4
s_addc_u32 s5, s5, helper@rel32@hi+12
s_getpc_b64 s[6:7]
s_add_u32 s6, s6, pointers@rel32@lo+4
s_addc_u32 s7, s7, pointers@rel32@hi+12
s_load_dwordx2 s[8:9], s[6:7], 0x8
s_waitcnt lgkmcnt(0)
s_load_dword s10, s[8:9], 0x0
s_waitcnt lgkmcnt(0)
s_swappc_b64 s[30:31], s[4:5]
v_mov_b32_e32 v1, 0
global_store_dword v1, v2, s[2:3]`,
  });
  const helper = `\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.amdhsa_code_object_version 5
\t.text
\t.globl helper
\t.hidden helper
\t.type helper,@function
helper:
\ts_add_u32 s10, s10, 5
\tv_mov_b32_e32 v2, s10
\ts_setpc_b64 s[30:31]
\t.data
\t.globl pointers
\t.hidden pointers
\t.p2align 3
pointers:
\t.quad 0
\t.quad value
value:
\t.long 1000
`;
  const runFiles = (texts: readonly string[], linked = false) =>
    withFolder((folder) => {
      const files = texts.map((text, n) => {
        const file = join(folder, `${n}.o`);
        const make = linked && n === 1 ? assembleAndLink : assembleToObject;
        writeFileSync(file, make(text, { target: 'gfx942', file: `${n}.s` }));
        return file;
      });
      const flags = ['--kernel', 'k', '--grid', '1', '--block', '64', '--arg', 'u32[1]', '--json'];
      return spawnSync(process.execPath, [join(root, 'bin/wavesmith'), 'run', ...files, ...flags], {
        encoding: 'utf8',
      });
    });

  it.each([
    ['kernel first', [kernel, helper]],
    ['kernel last', [helper, kernel]],
  ])('should be linked together: %s', (_, texts) => {
    const { status, stdout, stderr } = runFiles(texts);
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ buffers: [{ first: [1005] }] });
  });

  it.each([
    ['a symbol that nobody defines', [kernel], false, /error\[link\/undefined-symbol\].*'helper'/],
    ['a symbol that two define', [kernel, helper, helper], false, /error\[link\/.*helper/],
    ['a file that is linked already', [kernel, helper], true, /1\.o: error\[run\/not-an-object\]/],
  ])('should refuse %s', (_, texts, linked, message) => {
    const { status, stderr } = runFiles(texts, linked);
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  });
});

it('should say what an object file lacks', () => {
  const { status, stderr } = run(CODE.replaceAll('constant@', 'elsewhere@'));
  expect(status).toBe(1);
  expect(stderr).toMatch(/error\[link\/.*elsewhere/s);
});

it('should refuse a breakpoint inside an instruction', () => {
  // s_load_dwordx2 has 8 bytes.
  const { status, stderr } = run(CODE, '--break', '+4');
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/error\[run\/no-such-place\].*inside the instruction at 0x/),
  ]);
  expect(run(CODE, '--break', '+8', '--commands', '/dev/null').stderr).not.toContain('no-such-place');
});
