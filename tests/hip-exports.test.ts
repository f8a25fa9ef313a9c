// What libamdhip64 exports is what tools/gen-hip/functions.tsv says, name by name and version by version, in all three libraries.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nativeLibraries, root } from './support/hip.ts';

const rows = readFileSync(join(root, 'tools/gen-hip/functions.tsv'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('\t') as [string, string, string?]);

describe('functions of the HIP runtime', () => {
  it('have their generated files', () => {
    const args = ['scripts/run-ts.mjs', 'tools/gen-hip/main.ts', '--check'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('of the public headers are in the table', () => {
    const header = join(root, '../shared/hip/hip-6.3/include/hip/hip_runtime_api.h');
    if (!existsSync(header)) {
      console.warn('skipped: ../shared/hip is absent.');
      return;
    }
    const text = readFileSync(header, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    const declared = [
      ...text.matchAll(/^(?:HIP_PUBLIC_API\s+)?(?:hipError_t|const char\*|hipChannelFormatDesc)\s+(hip\w+)\s*\(/gm),
    ];
    const names = new Set(rows.map(([, name]) => name));
    const absent = [...new Set(declared.map((m) => m[1] as string))].filter(
      (n) => !names.has(n) && !names.has(mangled(n)),
    );
    expect(declared.length).toBeGreaterThan(300);
    expect(absent.filter((n) => !INLINE.has(n))).toEqual([]);
  });

  it.each([5, 6, 7])('are exported by libamdhip64.so.%i', (major) => {
    const path = join(nativeLibraries, `libamdhip64.so.${major}`);
    if (!existsSync(path)) {
      console.warn('skipped: the native libraries are absent.');
      return;
    }
    const { stdout } = spawnSync('nm', ['-D', '--defined-only', '--with-symbol-versions', path], { encoding: 'utf8' });
    const exported = [...stdout.matchAll(/ T (\w+)@@?hip_([\d.]+)/g)].map((m) => `${m[1]}@${m[2]}`);
    const expected = rows
      .map(([when, name]) => ({ version: when.split('@')[0] as string, library: when.split('@')[1] ?? when, name }))
      .filter(({ library }) => Number.parseInt(library, 10) <= major)
      .map(({ version, name }) => `${name}@${version}`);
    expect(exported.sort()).toEqual(expected.sort());
  });
});

it('libhsa-runtime64 exports the functions of ROCm 6.4', () => {
  const path = join(nativeLibraries, 'libhsa-runtime64.so.1');
  if (!existsSync(path)) {
    console.warn('skipped: the native libraries are absent.');
    return;
  }
  const { stdout } = spawnSync('nm', ['-D', '--defined-only', '--with-symbol-versions', path], { encoding: 'utf8' });
  const exported = [...stdout.matchAll(/ [TD] (\w+)@@ROCR_1$/gm)].map(([, name]) => name);
  const list = readFileSync(join(root, 'native/hsa/api_list.h'), 'utf8');
  const listed = [...list.matchAll(/\bX\((hsa_\w+)/g)].map(([, name]) => name);
  expect(listed.length).toBeGreaterThan(250);
  // What no table has: a function and the variable that debuggers read.
  expect(exported.sort()).toEqual([...listed, '_amdgpu_r_debug', 'hsa_amd_image_get_info_max_dim'].sort());
});

/** Declared for static linking, and exported by no library of ROCm. */
const INLINE = new Set(['hip_init']);

function mangled(name: string): string {
  return rows.find(([, n]) => n.startsWith(`_Z${name.length}${name}`))?.[1] ?? '';
}

it('docs/exec.md names the HSA functions that are refused', () => {
  const folder = join(root, 'native/hsa');
  const refused = readdirSync(folder)
    .filter((name) => name.endsWith('.cc'))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(
        /^hsa_status_t (hsa_\w+)\([^{};]*\) \{\s*return kStatusNotSupported;\s*\}/gm,
      ),
    ])
    .map(([, name]) => name);
  const line = /^- These HSA functions answer [\s\S]*?(?=\n- )/m.exec(readFileSync(join(root, 'docs/exec.md'), 'utf8'));
  const named = [...(line?.[0] ?? '').matchAll(/`(hsa_\w+)`/g)].map(([, name]) => name);
  expect(refused.length).toBeGreaterThan(0);
  expect(named.sort()).toEqual(refused.sort());
});
