import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCodeObject } from '../../../tests/support/make-code-object.ts';
import { type MadeKernel, makeExecutable, makeVmfb } from '../../../tests/support/make-vmfb.ts';
import { sharedPath } from '../../../tests/support/shared.ts';
import { codeObjectsOf, openContainer } from '../container.ts';
import { readDispatches } from './dispatch.ts';
import { inconsistentEntries, patchExecutables } from './patch.ts';
import { readVmfb } from './vmfb.ts';

const KERNELS: MadeKernel[] = [{ name: 'k', workgroupSize: [64, 4, 1], constants: 2, bindings: [1, 2, 3] }];
const ELF = makeCodeObject();
const NAME = 'main_dispatch_0_rocm_hsaco_fb.fb';
const HEADER_TEXT = { bytes: new TextEncoder().encode('hal.device.id') };
const WEIGHTS = { name: '_const.bin', bytes: new Uint8Array(5000).fill(7) };

const VARIANTS: [string, Uint8Array][] = [];
for (const isArchive of [true, false]) {
  for (const [format, hasHeader] of [
    ['HIP1', true],
    ['HIP1', false],
    ['AMD1', true],
  ] as const) {
    const executable = { name: NAME, bytes: makeExecutable(format, ELF, KERNELS, hasHeader) };
    const label = `${format}${hasHeader ? '' : ' without header'}${isArchive ? '' : ', no archive'}`;
    VARIANTS.push([`${label}, first`, makeVmfb([HEADER_TEXT, executable, WEIGHTS], isArchive)]);
    VARIANTS.push([`${label}, second`, makeVmfb([HEADER_TEXT, WEIGHTS, executable], isArchive)]);
  }
}
VARIANTS.push(['raw ELF', makeVmfb([HEADER_TEXT, { name: 'main_gfx942.elf', bytes: ELF }, WEIGHTS], true)]);

function otherSegments(bytes: Uint8Array): Uint8Array[] {
  const vmfb = readVmfb(bytes);
  return vmfb.rodata.filter((r) => r !== vmfb.executables[0].rodata).map((r) => r.bytes.slice());
}

describe.each(VARIANTS)('an IREE module, %s', (label, module) => {
  test('reads back', () => {
    const vmfb = readVmfb(module);
    expect(vmfb.executables).toHaveLength(1);
    const [executable] = vmfb.executables;
    expect(executable.images[0].bytes).toEqual(ELF);
    expect(module.subarray(executable.images[0].offset, executable.images[0].offset + ELF.length)).toEqual(ELF);
    expect(vmfb.exportedFunctions[0]).toMatchObject({ name: 'main', ordinal: 0, callingConvention: '0r_r' });
    expect(vmfb.importedFunctions).toEqual(['hal.command_buffer.dispatch']);
    expect(vmfb.bytecode.major).toBe(17);
    expect(inconsistentEntries(readVmfb(module))).toEqual([]);
    expect(readDispatches(vmfb)[0]).toMatchObject({
      executable: 0,
      kernelName: label === 'raw ELF' ? null : 'k',
      workgroupCount: [4, 2, 1],
      constants: [42],
      bindings: [{ slot: 0, offset: 0n, length: 1024n }],
    });
    if (label === 'raw ELF') return;
    expect(executable.exports[0]).toMatchObject({
      kernelName: 'k',
      workgroupSize: [64, 4, 1],
      constantCount: 2,
      bindingFlags: [1, 2, 3],
      source: { file: 'k.mlir', line: 7 },
    });
    expect(new TextDecoder().decode(executable.sources[0].content)).toBe('func.func @k() { return }');
  });

  test('the same image leaves the file as it is', () => {
    const { bytes, steps } = patchExecutables(readVmfb(module), [{ executable: 0, elf: ELF.slice() }]);
    expect(bytes).toEqual(module);
    expect(steps[0].method).toBe('same');
  });

  test('a smaller image goes in place', () => {
    const elf = ELF.slice(0, ELF.length - 100);
    const { bytes, steps } = patchExecutables(readVmfb(module), [{ executable: 0, elf }]);
    expect(steps[0].method).toBe('in-place');
    expect(bytes.length).toBe(module.length);
    expect(readVmfb(bytes).executables[0].images[0].bytes).toEqual(elf);
    expect(otherSegments(bytes)).toEqual(otherSegments(module));
    expect(inconsistentEntries(readVmfb(bytes))).toEqual([]);
  });

  test('a bigger image grows in its place, twice in a row too', () => {
    let bytes = module;
    for (const extra of [10, 5000]) {
      const elf = new Uint8Array(ELF.length + extra).fill(0xee);
      elf.set(ELF);
      const result = patchExecutables(readVmfb(bytes), [{ executable: 0, elf }]);
      expect(result.steps[0].method).toBe('grown');
      // Nothing of the old image stays.
      expect(result.bytes.length).toBeLessThanOrEqual(bytes.length + extra + 128);
      bytes = result.bytes;
      const [executable] = readVmfb(bytes).executables;
      expect(executable.images[0].bytes).toEqual(elf);
      expect(executable.rodata.offset % 16).toBe(0);
      if (label !== 'raw ELF') expect(executable.exports[0].kernelName).toBe('k');
      expect(otherSegments(bytes)).toEqual(otherSegments(module));
      expect(inconsistentEntries(readVmfb(bytes))).toEqual([]);
    }
  });
});

describe('patching', () => {
  test('an embedded executable can shrink but not grow', () => {
    const module = makeVmfb([{ bytes: makeExecutable('HIP1', ELF, KERNELS, true) }], false);
    const elf = ELF.slice(0, 400);
    const shrunk = patchExecutables(readVmfb(module), [{ executable: 0, elf }]);
    expect(readVmfb(shrunk.bytes).executables[0].images[0].bytes).toEqual(elf);
    const bigger = new Uint8Array(ELF.length + 1);
    bigger.set(ELF);
    expect(() => patchExecutables(readVmfb(module), [{ executable: 0, elf: bigger }])).toThrow(
      /inside the module's FlatBuffer/,
    );
  });

  test.each([
    [{ executable: 5, elf: ELF }, 'vmfb/no-such-image'],
    [{ executable: 0, elf: new Uint8Array(10) }, 'vmfb/not-elf'],
  ])('%# is refused', (change, code) => {
    const module = makeVmfb([{ name: NAME, bytes: makeExecutable('HIP1', ELF, KERNELS, true) }], true);
    expect(() => patchExecutables(readVmfb(module), [change])).toThrow(expect.objectContaining({ code }));
  });

  test("python's zipfile accepts the patched archive", () => {
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-vmfb-'));
    const file = join(folder, 'm.vmfb');
    const script = `import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()))`;
    const module = makeVmfb([{ name: NAME, bytes: makeExecutable('HIP1', ELF, KERNELS, true) }, WEIGHTS], true);
    const elf = new Uint8Array(ELF.length + 999);
    elf.set(ELF);
    writeFileSync(file, patchExecutables(readVmfb(module), [{ executable: 0, elf }]).bytes);
    let output: string;
    try {
      output = execFileSync('python3', ['-c', script, file], { encoding: 'utf8' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      console.warn('skipped: python3 is not installed.');
      return;
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(output.trim()).toBe('None 3');
  });
});

describe('the real module with 167 kernels', () => {
  const path = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');
  test.skipIf(path === undefined)('lists its kernels and survives both patches in well under a second', () => {
    const module = new Uint8Array(readFileSync(path!));
    const [executable] = readVmfb(module).executables;
    expect(executable.exports).toHaveLength(167);
    const [object] = codeObjectsOf(openContainer(module, 'm.vmfb'));
    expect(object.kernels.map((k) => k.name).sort()).toEqual(executable.exports.map((e) => e.kernelName).sort());
    const image = executable.images[0].bytes;
    expect(patchExecutables(readVmfb(module), [{ executable: 0, elf: image.slice() }]).bytes).toBe(module);
    const edited = image.slice();
    edited[edited.length >> 1] ^= 1;
    const inPlace = patchExecutables(readVmfb(module), [{ executable: 0, elf: edited }]).bytes;
    expect(inPlace.length).toBe(module.length);
    expect(inconsistentEntries(readVmfb(inPlace))).toEqual([]);
    const bigger = new Uint8Array(image.length + 4096);
    bigger.set(image);
    const appended = patchExecutables(readVmfb(module), [{ executable: 0, elf: bigger }]).bytes;
    expect(readVmfb(appended).executables[0].exports).toHaveLength(167);
    const dispatches = readDispatches(readVmfb(appended));
    const known = dispatches.filter((d) => d.workgroupCount.every((count) => count !== null));
    expect(dispatches.every((d) => d.kernelName !== null)).toBe(true);
    expect(new Set(known.map((d) => d.kernelName)).size).toBe(86);
    expect(inconsistentEntries(readVmfb(appended))).toEqual([]);
  });
});

test.each([
  ['nothing', new Uint8Array(0), 'vmfb/not-vmfb'],
  ['an ELF file', ELF, 'vmfb/not-vmfb'],
  ['half a module', makeVmfb([HEADER_TEXT], false).subarray(0, 40), 'vmfb/truncated'],
])('%s is %s', (_label, bytes, code) => {
  expect(() => readVmfb(bytes)).toThrow(expect.objectContaining({ code }));
});
