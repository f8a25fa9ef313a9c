import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { makeCodeObject } from '../../tests/support/make-code-object.ts';
import { makeExecutable, makeVmfb } from '../../tests/support/make-vmfb.ts';
import { writeBundle } from '../codeobject/index.ts';
import { run as extract } from './extract.ts';
import { run as inspect } from './inspect.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function output(command: (argv: string[]) => Promise<number>, argv: string[]): Promise<string> {
  let text = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    expect(await command(argv)).toBe(0);
  } finally {
    spy.mockRestore();
  }
  return text;
}

const elf = makeCodeObject({ kernel: 'saxpy' });
const kernels = [{ name: 'saxpy', workgroupSize: [64, 4, 1] as [number, number, number], constants: 1, bindings: [0] }];
const module = join(folder, 'm.vmfb');
writeFileSync(
  module,
  makeVmfb([{ name: 'd0_rocm_hsaco_fb.fb', bytes: makeExecutable('HIP1', elf, kernels, true) }], true),
);

describe('inspect', () => {
  test('shows containers, kernels, resources and arguments', async () => {
    const text = await output(inspect, [module]);
    expect(text).toContain("m.vmfb: iree module, module 'module', bytecode 17.0, zip archive");
    expect(text).toContain('amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-, code object v5');
    expect(text).toContain('registers   VGPR 20, AGPR 4, SGPR 20 (allocated: 16 VGPR + 8 AGPR, 32 SGPR)');
    expect(text).toContain('workgroup   64 x 4 x 1 (required), wave64');
    expect(text).toContain('occupancy   8 of 8 waves per SIMD, full');
    expect(text).toContain('global_buffer (global)  float* out');
    expect(text).toContain('grid        4 x 2 x 1 workgroups');
  });

  test('--json gives the same as data, --kernel selects', async () => {
    const report = JSON.parse(await output(inspect, [module, '--json']));
    expect(report.codeObjects[0].kernels[0]).toMatchObject({ name: 'saxpy', ldsBytes: 1024, kernargBytes: 16 });
    const none = JSON.parse(await output(inspect, [module, '--json', '--kernel', 'other']));
    expect(none.codeObjects).toEqual([]);
    expect(report.dispatches[0]).toMatchObject({ kernelName: 'saxpy', workgroupCount: [4, 2, 1], constants: [42] });
  });

  test('--elf prints the ELF file inside', async () => {
    const text = await output(inspect, [module, '--elf']);
    expect(text).toContain('File: m.vmfb / d0_rocm_hsaco_fb / image');
    expect(text).toContain('PROTECTED   6 saxpy.kd');
  });

  test('a file that is missing or holds nothing is an error', async () => {
    await expect(inspect([join(folder, 'missing')])).rejects.toMatchObject({ code: 'io/read' });
    writeFileSync(join(folder, 'text'), 'hello');
    await expect(inspect([join(folder, 'text')])).rejects.toMatchObject({ code: 'container/unknown' });
    await expect(inspect([])).rejects.toMatchObject({ code: 'cli/usage' });
  });
});

test('extract writes each code object and a manifest', async () => {
  const bundle = join(folder, 'fat.bin');
  const other = makeCodeObject({ kernel: 'other', targetId: 'amdgcn-amd-amdhsa--gfx950' });
  writeFileSync(
    bundle,
    writeBundle([
      { id: 'host-x86_64-unknown-linux-gnu-', bytes: new Uint8Array(0) },
      { id: 'hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', bytes: elf },
      { id: 'hipv4-amdgcn-amd-amdhsa--gfx950', bytes: other },
      { id: 'hipv4-amdgcn-amd-amdhsa--gfx950', bytes: other },
    ]),
  );
  const out = join(folder, 'out');
  const manifest = JSON.parse(await output(extract, [bundle, '-o', out, '--json']));
  const names = ['fat.bin.gfx942-sramecc+-xnack-.hsaco', 'fat.bin.gfx950.hsaco', 'fat.bin.gfx950-2.hsaco'];
  expect(manifest.codeObjects.map((c: { file: string }) => c.file)).toEqual(names);
  expect(readdirSync(out).sort()).toEqual([...names, 'manifest.json'].sort());
  expect(new Uint8Array(readFileSync(join(out, names[1])))).toEqual(other);
  expect(manifest.codeObjects[1].kernels).toEqual(['other']);
});
