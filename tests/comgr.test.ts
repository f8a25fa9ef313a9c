// libamd_comgr, versions 2 and 3 of its interface: tests/native/comgr.cc, and the code it makes against what the assembler's reader says of it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCodeObject } from '../src/codeobject/index.ts';
import { canCompileHip, nativeLibraries, run } from './support/hip.ts';
import { nativeTests } from './support/native.ts';

const native = canCompileHip() ? nativeTests() : undefined;

describe.skipIf(native === undefined)('libamd_comgr', () => {
  const { file } = native ?? { file: String };

  for (const [major, version] of [
    [2, '2.8'],
    [3, '3.1'],
  ] as const) {
    for (const target of ['gfx90a', 'gfx942', 'gfx950:sramecc+:xnack-']) {
      it(`compiles, links, reads and disassembles for ${target}, version ${major}`, async () => {
        const folder = mkdtempSync(join(tmpdir(), 'wavesmith-comgr-'));
        try {
          const output = join(folder, 'scale.co');
          const library = join(nativeLibraries, `libamd_comgr.so.${major}`);
          const { status, stdout, stderr } = await run(file('comgr-test'), [library, target, output]);
          expect(status, stdout + stderr).toBe(0);
          const processor = target.split(':')[0];
          expect(stdout.split('\n').filter((line) => !line.startsWith('assembled: '))).toEqual([
            `version ${version}`,
            'isa amdgcn-amd-amdhsa--gfx9999: 2',
            'isa gfx942: 2',
            'isa amdgcn-amd-amdhsa--gfx942:wave32+: 2',
            'isa ----: 2',
            `made for amdgcn-amd-amdhsa--${target}`,
            'symbol scale type 2',
            'symbol scale.kd type 1',
            'symbol __hip_cuid_ type 1',
            'kernel scale, 8 bytes of arguments',
            `${processor}: ${processor === 'gfx950' ? 163840 : 65536} bytes of LDS`,
            'assembly has s_endpgm: 1',
            'listing has s_endpgm: 1',
            'bytes:\ts_branch 1',
            '\ts_nop 0',
            '\ts_endpgm',
            '\t<unknown>',
            'instruction\ts_branch 1',
            'leads to 8',
            'instruction\ts_nop 0',
            'instruction\ts_endpgm',
            'at 12: status 1',
            'log: broken.hip:1:9: error: expected expression',
            '    1 | int x = ;',
            '      |         ^',
            `1 error generated when compiling for ${processor}.`,
            'damaged: 1',
            'gone: 2 2',
            '',
          ]);
          const code = readCodeObject(readFileSync(output));
          expect(code.target.processor).toBe(processor);
          expect(code.kernels.map((kernel) => kernel.name)).toEqual(['scale']);
        } finally {
          rmSync(folder, { recursive: true });
        }
      });
    }
  }

  it('has the versions of symbols that programs are linked against', () => {
    const library = join(nativeLibraries, 'libamd_comgr.so.3');
    const symbols = execFileSync('nm', ['-D', '--defined-only', library], { encoding: 'utf8' });
    expect(symbols).toContain('amd_comgr_do_action@@amd_comgr_1.8');
    expect(symbols).toContain('amd_comgr_action_info_set_isa_name@@amd_comgr_2.0');
    expect(symbols).toContain('amd_comgr_lookup_code_object@@amd_comgr_2.3');
    expect(symbols).toContain('amd_comgr_action_info_set_bundle_entry_ids@@amd_comgr_2.8');
  });
});
