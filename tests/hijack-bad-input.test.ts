// Input that does not fit: each is a typed error that names what was expected and what was found, and nothing is written.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readVmfb } from '../src/codeobject/index.ts';
import { writeNpy } from '../src/device/npy.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { asmFile, edit, FIXTURE, fixtureFolder, temporaryFolder } from './hijack-support.ts';
import { wavesmith } from './support/command.ts';
import { hasNativeBuild } from './support/native.ts';

/** Every file below a folder, with its time and size. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => ({ name, stat: statSync(join(folder, name)) }))
    .map(({ name, stat }) => `${name} ${stat.isFile() ? `${stat.size} ${stat.mtimeMs}` : ''}`)
    .sort();
}

/** The module with another number for its VM bytecode version. */
function withBytecodeVersion(module: Uint8Array, major: number): Uint8Array {
  const { bytecode } = readVmfb(module);
  const version = ((bytecode.major << 16) | bytecode.minor) >>> 0;
  for (let at = 0; at + 4 <= module.length; at++) {
    const copy = module.slice();
    const view = new DataView(copy.buffer);
    if (view.getUint32(at, true) !== version) continue;
    view.setUint32(at, major << 16, true);
    try {
      if (readVmfb(copy).bytecode.major === major) return copy;
    } catch {
      // Another field had the same number.
    }
  }
  throw new Error('the module has no bytecode version');
}

test('a module whose bytecode is unknown', async () => {
  const folder = temporaryFolder();
  const module = join(folder, 'new.vmfb');
  writeFileSync(module, withBytecodeVersion(new Uint8Array(readFileSync(join(FIXTURE, 'baseline.vmfb'))), 99));
  const made = await wavesmith('hijack', 'init', module, '-o', join(folder, 'work'));
  expect(made.err).toContain(
    'error[vmfb/bytecode-version]: The module has VM bytecode of version 99.0; versions 15 to 17 are known.',
  );
  expect(made.status).toBe(1);
  expect(readdirSync(folder)).toEqual(['new.vmfb']);
});

test('a module that is cut off is told by name', async () => {
  const folder = temporaryFolder();
  const module = join(folder, 'cut.vmfb');
  const whole = readFileSync(join(FIXTURE, 'baseline.vmfb'));
  writeFileSync(module, whole.subarray(0, whole.length / 2));
  const made = await wavesmith('hijack', 'init', module, '-o', join(folder, 'work'));
  expect(made.err).toMatch(/cut\.vmfb \(byte 0x[0-9a-f]+\): error\[zip\/damaged\]/);
  expect(made.status).toBe(1);
  expect(readdirSync(folder)).toEqual(['cut.vmfb']);
});

test('a dispatch whose sizes cannot be derived', async () => {
  const folder = fixtureFolder();
  const manifest = join(folder, 'manifest.json');
  const json = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const site of json.executables[0].kernels[0].dispatches) for (const b of site.bindings) b.length = null;
  for (const binding of json.executables[0].kernels[0].bindings) {
    for (const tensor of binding.tensors ?? []) tensor.shape = tensor.shape.map(() => null);
  }
  writeFileSync(manifest, JSON.stringify(json));
  edit(asmFile(folder), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
  expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
  const before = filesOf(folder);
  const run = await wavesmith('hijack', 'run', folder, '--dispatch', '--capture', join(folder, 'x.wscap'));
  expect(run.err).toMatch(/error\[hijack\/no-size\]: .*\n {2}hint: .*--buffer 0=/);
  expect(run.status).toBe(1);
  expect(filesOf(folder)).toEqual(before);
});

test('an edited file that belongs to no executable', async () => {
  const folder = fixtureFolder();
  writeFileSync(join(folder, 'asm', 'other_dispatch_7.s'), '\ts_endpgm\n');
  const before = filesOf(folder);
  const built = await wavesmith('hijack', 'build', folder);
  expect(built.err).toMatch(/error\[hijack\/stray-file\]: .*other_dispatch_7\.s/);
  expect(built.err).toContain('asm/matmul_dispatch_0.s');
  expect(built.status).toBe(1);
  expect(filesOf(folder)).toEqual(before);
});

describe.skipIf(findIreeTool('iree-run-module') === undefined || !hasNativeBuild())('inputs of a run', () => {
  test('a .npy of another type, or of another shape, and none of them kept', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const file = join(folder, 'a.npy');
    const kept = join(folder, 'kept');
    for (const [type, shape, bytes] of [
      ['f32', [128, 128], 4],
      ['f16', [64, 256], 2],
    ] as const) {
      writeFileSync(file, writeNpy({ type, shape, bytes: new Uint8Array(128 * 128 * bytes) }));
      const before = filesOf(folder);
      const inputs = ['--input', file, '--input', '128x128xf16', '--input', '128x128xf32'];
      const run = await wavesmith('hijack', 'run', folder, ...inputs.slice(0, 4), '--save', kept);
      expect(run.err).toContain(
        `error[hijack/input-type]: Input 0 of 'matmul' is tensor<128x128xf16>; '${file}' is ${[...shape, type].join('x')}.`,
      );
      expect(run.status).toBe(1);
      expect(existsSync(kept)).toBe(false);
      expect(filesOf(folder)).toEqual(before);
    }
  });

  test('a .npy that is damaged, and one that is not there, by name', async () => {
    const folder = fixtureFolder();
    edit(asmFile(folder), /^\ts_endpgm$/m, '\ts_nop 0\n$&');
    expect((await wavesmith('hijack', 'build', folder)).status).toBe(0);
    const file = join(folder, 'a.npy');
    const whole = writeNpy({ type: 'f16', shape: [128, 128], bytes: new Uint8Array(128 * 128 * 2) });
    for (const [bytes, code] of [
      [whole.subarray(0, whole.length - 7), 'npy/truncated'],
      [new TextEncoder().encode('no array'), 'npy/bad-file'],
    ] as const) {
      writeFileSync(file, bytes);
      const run = await wavesmith('hijack', 'run', folder, '--input', file, '--input', '128x128xf16');
      expect([run.status, run.err]).toEqual([1, expect.stringContaining(`a.npy (byte 0x`)]);
      expect(run.err).toContain(`error[${code}]`);
    }
    const missing = await wavesmith('hijack', 'run', folder, '--input', 'nothing.npy', '--input', '128x128xf16');
    expect([missing.status, missing.err]).toEqual([
      1,
      expect.stringContaining("error[io/read]: Cannot read input 0 'nothing.npy': no such file."),
    ]);
  });
});
