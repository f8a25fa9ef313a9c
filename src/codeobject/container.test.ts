import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zlibSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { llvmTool } from '../../tests/support/llvm.ts';
import { makeCodeObject, makeHostElf, makeObjectFile } from '../../tests/support/make-code-object.ts';
import { makeExecutable, makeVmfb } from '../../tests/support/make-vmfb.ts';
import { storedZstd } from '../../tests/support/make-zstd.ts';
import { sharedPath } from '../../tests/support/shared.ts';
import { targetInfo } from '../isa/table/targets.ts';
import { BUNDLE_MAGIC, readBundle, readBundles, writeBundle, writeCompressedBundle } from './bundle.ts';
import { readCodeObject } from './code-object.ts';
import { codeObjectsOf, openContainer } from './container.ts';
import { readElf } from './elf/read.ts';
import {
  flagsOfTargetId,
  formatTargetId,
  isCompatible,
  parseTargetId,
  processorOfFlags,
  targetIdOfFlags,
} from './elf/target-id.ts';
import { elfText } from './elf/text.ts';
import { extractCodeObjects, inspectContainer } from './inspect.ts';
import {
  CODE_PROPERTY_FIELDS,
  decodeDescriptor,
  encodeDescriptor,
  PRELOAD_FIELDS,
  RSRC1_FIELDS,
  RSRC2_FIELDS,
  RSRC3_FIELDS,
  readDescriptorWords,
  writeDescriptorWords,
} from './kernel/descriptor.ts';
import { occupancy } from './kernel/occupancy.ts';

const GFX942 = makeCodeObject({ kernel: 'one' });
const GFX90A = makeCodeObject({ kernel: 'two', targetId: 'amdgcn-amd-amdhsa--gfx90a' });
const ENTRIES = [
  { id: 'host-x86_64-unknown-linux-gnu-', bytes: new Uint8Array(0) },
  { id: 'hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', bytes: GFX942 },
  { id: 'hipv4-amdgcn-amd-amdhsa--gfx90a', bytes: GFX90A },
];
const BUNDLE = writeBundle(ENTRIES);
const KERNELS = [{ name: 'one', workgroupSize: [64, 4, 1] as [number, number, number], constants: 0, bindings: [0] }];

function join2(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}

describe('containers are recognised by content', () => {
  const compressed = (version: 1 | 2 | 3) => writeCompressedBundle(zlibSync(BUNDLE), BUNDLE.length, 'zlib', version);
  const zstd = writeCompressedBundle(storedZstd(BUNDLE), BUNDLE.length, 'zstd', 3);
  test.each<[string, Uint8Array, string, number]>([
    ['a code object', GFX942, 'code-object', 1],
    ['a relocatable object', makeObjectFile(), 'code-object', 1],
    ['a plain bundle', BUNDLE, 'offload-bundle', 2],
    ['a zlib bundle, version 1', compressed(1), 'offload-bundle', 2],
    ['a zlib bundle, version 2', compressed(2), 'offload-bundle', 2],
    ['a zlib bundle, version 3', compressed(3), 'offload-bundle', 2],
    ['a zstd bundle', zstd, 'offload-bundle', 2],
    ['a host binary with one bundle', makeHostElf(BUNDLE), 'host-elf', 2],
    ['a host binary with two compressed bundles', makeHostElf(join2(compressed(2), zstd)), 'host-elf', 4],
    ['a bundle in a bundle', writeBundle([{ id: 'hip-x', bytes: zstd }]), 'offload-bundle', 2],
    [
      'an IREE module',
      makeVmfb([{ name: 'a.fb', bytes: makeExecutable('HIP1', GFX942, KERNELS, true) }], true),
      'iree-module',
      1,
    ],
    ['an IREE executable', makeExecutable('AMD1', GFX942, KERNELS, false), 'iree-executable', 1],
  ])('%s', (_label, bytes, kind, count) => {
    const container = openContainer(bytes, 'misleading.txt');
    expect(container.kind).toBe(kind);
    const objects = codeObjectsOf(container);
    expect(objects).toHaveLength(count);
    expect(objects[0].path[0]).toBe('misleading.txt');
    expect(objects[0].kernels[0]).toMatchObject({ codeSize: 4, metadata: { vgprCount: 20 } });
  });

  test('a kernel links descriptor, code and metadata', () => {
    const [object] = codeObjectsOf(openContainer(GFX942, 'k.co'));
    const [kernel] = object.kernels;
    expect(object.targetId).toBe('amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-');
    expect(object.version).toBe(5);
    expect(kernel.descriptor?.groupSegmentFixedSize).toBe(1024);
    expect(kernel.entry).toBe(object.elf.section('.text')?.address);
    expect(readCodeObject(makeObjectFile()).kernels[0].entry).toBe(0);
  });

  test.each([
    ['text', new TextEncoder().encode('hello'), 'container/unknown'],
    ['a host binary without GPU code', makeHostElf(new Uint8Array(10)), 'container/no-gpu-code'],
    ['a bundle with a size beyond its end', BUNDLE.slice(0, BUNDLE.length - 1), 'bundle/truncated'],
    ['a bundle with too many entries', new TextEncoder().encode(`${BUNDLE_MAGIC}\xff\xff\xff`), 'bundle/truncated'],
    ['a code object that ends early', GFX942.slice(0, 300), 'elf/truncated'],
  ])('%s is an error that names the file', (_label, bytes, code) => {
    const position = expect.objectContaining({ file: 'f' });
    expect(() => openContainer(bytes, 'f')).toThrow(expect.objectContaining({ code, position }));
  });

  test('an error in a file of a bundle names both', () => {
    const bytes = writeBundle([{ id: 'hipv4-amdgcn-amd-amdhsa--gfx942', bytes: GFX942.slice(0, 300) }]);
    const position = expect.objectContaining({ file: 'b.hipfb: hipv4-amdgcn-amd-amdhsa--gfx942', byteOffset: 64 });
    expect(() => openContainer(bytes, 'b.hipfb')).toThrow(expect.objectContaining({ position }));
  });
});

describe('compressed bundles', () => {
  test.each([
    ['declared size too big', writeCompressedBundle(zlibSync(BUNDLE), BUNDLE.length + 1, 'zlib', 2)],
    ['declared size huge', writeCompressedBundle(zlibSync(BUNDLE), 0xffffffff, 'zlib', 2)],
    ['zstd declared size too big', writeCompressedBundle(storedZstd(BUNDLE), 0xfffffff0, 'zstd', 2)],
  ])('%s', (_label, bytes) => {
    expect(() => readBundle(bytes)).toThrow(expect.objectContaining({ code: 'bundle/wrong-size' }));
  });

  test('real compressed bundles hold the code objects that were unpacked from them', () => {
    const folder = sharedPath('corpus', 'bundles');
    const unpacked = sharedPath('corpus', 'gfx90a');
    if (folder === undefined || unpacked === undefined) return;
    for (const file of readdirSync(folder)) {
      const bundle = readBundle(new Uint8Array(readFileSync(join(folder, file))));
      expect(bundle.compression?.method).toBe('zstd');
      expect(Buffer.compare(bundle.entries[1].bytes, readFileSync(join(unpacked, file))), file).toBe(0);
    }
  });

  test('a version 1 bundle ends where its zstd frame ends', () => {
    const first = writeCompressedBundle(storedZstd(BUNDLE), BUNDLE.length, 'zstd', 1);
    const found = readBundles(join2(join2(first, new Uint8Array(50)), BUNDLE));
    expect(found.map((f) => f.offset)).toEqual([0, first.length + 50]);
  });

  test('bundles after each other are all found', () => {
    const found = readBundles(join2(join2(BUNDLE, new Uint8Array(77)), BUNDLE));
    expect(found.map((f) => f.offset)).toEqual([0, BUNDLE.length + 77]);
  });
});

describe('inspect and extract', () => {
  test('report arguments, resources and occupancy', () => {
    const module = makeVmfb([{ name: 'm.fb', bytes: makeExecutable('HIP1', GFX942, KERNELS, true) }], true);
    const { codeObjects } = inspectContainer(openContainer(module, 'm.vmfb'));
    expect(codeObjects[0].kernels[0]).toMatchObject({
      name: 'one',
      ldsBytes: 1024,
      scratchBytes: 16,
      requiredWorkgroupSize: [64, 4, 1],
      vgprSpillCount: 2,
      allocated: { vgprs: 16, agprs: 8, sgprs: 32 },
      occupancy: { wavesPerSimd: 8, limiters: [] },
      iree: { kernelName: 'one', constantCount: 0 },
    });
    expect(codeObjects[0].kernels[0].arguments[1]).toMatchObject({ name: 'n', typeName: 'int', offset: 8, size: 4 });
  });

  test('names are safe, readable and unique', () => {
    const evil = [
      { id: 'hip-../../etc/passwd', bytes: GFX942 },
      { id: 'hip-a', bytes: GFX942 },
      { id: '..', bytes: GFX90A },
    ];
    const names = extractCodeObjects(openContainer(writeBundle(evil), '../x y.so')).map((e) => e.fileName);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_+][A-Za-z0-9._+-]*$/);
    expect(names[0]).toBe('_x_y.gfx942-sramecc+-xnack-.hsaco');
  });
});

test('any descriptor survives decoding and encoding', () => {
  const word = fc.nat(0xffffffff);
  const half = fc.nat(0xffff);
  const property = fc.property(fc.tuple(word, word, word, word, word, word, half, half), (w) => {
    const bytes = writeDescriptorWords({
      groupSegmentFixedSize: w[0],
      privateSegmentFixedSize: w[1],
      kernargSize: w[2],
      kernelCodeEntryByteOffset: BigInt(w[3]) - 1000n,
      computePgmRsrc1: w[4],
      computePgmRsrc2: w[5],
      computePgmRsrc3: w[3],
      kernelCodeProperties: w[6],
      kernargPreload: w[7],
    });
    expect(encodeDescriptor(decodeDescriptor(bytes))).toEqual(bytes);
    expect(readDescriptorWords(bytes).computePgmRsrc1).toBe(w[4]);
  });
  fc.assert(property, { numRuns: 200 });
});

test.each([
  ['RSRC1', RSRC1_FIELDS, 32],
  ['RSRC2', RSRC2_FIELDS, 32],
  ['RSRC3', RSRC3_FIELDS, 32],
  ['code properties', CODE_PROPERTY_FIELDS, 16],
  ['kernarg preload', PRELOAD_FIELDS, 16],
])('the fields of %s tile the word', (_name, fields, width) => {
  let at = 0;
  for (const f of fields) {
    expect(f.shift).toBe(at);
    at += f.width;
  }
  expect(at).toBe(width);
});

describe('target ids', () => {
  test.each([
    ['amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', 5, 0xe4c],
    ['amdgcn-amd-amdhsa--gfx942', 5, 0x54c],
    ['amdgcn-amd-amdhsa--gfx90a:xnack+', 4, 0x73f],
    ['amdgcn-amd-amdhsa--gfx950:sramecc-:xnack-', 6, 0xa4f],
  ])('%s in code object v%i is e_flags 0x%s', (text, version, flags) => {
    const id = parseTargetId(text);
    expect(flagsOfTargetId(id, version)).toBe(flags);
    expect(formatTargetId(targetIdOfFlags(flags, 64, version - 2))).toBe(text);
  });

  test('code object v3 has one bit per feature', () => {
    expect(formatTargetId(targetIdOfFlags(0x330, 64, 1))).toBe('amdgcn-amd-amdhsa--gfx908:sramecc+:xnack+');
    expect(processorOfFlags(0x3f)).toBe('gfx90a');
  });

  test.each(['gfx9999', 'gfx942:foo+', 'gfx942:xnack', 'gfx942:xnack+:xnack-', ''])("'%s' is refused", (text) => {
    expect(() => parseTargetId(text)).toThrow(expect.objectContaining({ code: 'target/bad-id' }));
  });

  test('compatibility follows the features', () => {
    const on = parseTargetId('gfx942:xnack+');
    expect(isCompatible(parseTargetId('gfx942'), on)).toBe(true);
    expect(isCompatible(parseTargetId('gfx942:xnack-'), on)).toBe(false);
    expect(isCompatible(parseTargetId('gfx90a'), on)).toBe(false);
  });
});

// Expected values follow from 512 vector registers, 800 SGPRs, 8 waves per SIMD, 4 SIMDs and the LDS of each target.
describe('occupancy', () => {
  const base = { vgprs: 32, sgprs: 32, ldsBytes: 0, workgroupSize: 64 };
  test.each([
    ['full', 'gfx942', {}, 8, []],
    ['64 registers fill the file', 'gfx942', { vgprs: 64 }, 8, []],
    ['65 registers', 'gfx942', { vgprs: 65 }, 7, ['vgprs']],
    ['128 registers', 'gfx942', { vgprs: 128 }, 4, ['vgprs']],
    ['512 registers', 'gfx942', { vgprs: 512 }, 1, ['vgprs']],
    ['102 SGPRs', 'gfx90a', { sgprs: 102 }, 7, ['sgprs']],
    ['half the LDS, 256 work-items', 'gfx942', { ldsBytes: 32768, workgroupSize: 256 }, 2, ['lds']],
    [
      'the same on gfx950, which rounds LDS up to 1280 bytes',
      'gfx950',
      { ldsBytes: 32768, workgroupSize: 256 },
      4,
      ['lds'],
    ],
    ['32000 bytes on gfx950', 'gfx950', { ldsBytes: 32000, workgroupSize: 256 }, 5, ['lds']],
    ['all the LDS, 1024 work-items', 'gfx942', { ldsBytes: 65536, workgroupSize: 1024 }, 4, ['lds']],
    ['two waves per workgroup meet the barrier slots', 'gfx942', { workgroupSize: 128 }, 8, []],
    ['five waves per workgroup', 'gfx942', { workgroupSize: 320 }, 8, []],
  ] as const)('%s on %s', (_label, target, change, waves, limiters) => {
    const found = occupancy({ ...base, ...change }, targetInfo(target));
    expect(found.wavesPerSimd).toBe(waves);
    expect(found.limiters).toEqual(limiters);
  });
});

describe('ELF text', () => {
  test('equals llvm-readelf on what the project writes and on the corpus', () => {
    const readelf = llvmTool('llvm-readelf');
    if (readelf === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-elf-'));
    const files: string[] = [];
    for (const [name, bytes] of [
      ['k.co', GFX942],
      ['k.o', makeObjectFile({ version: 6, targetId: 'amdgcn-amd-amdhsa--gfx90a:xnack+' })],
    ] as const) {
      files.push(join(folder, name));
      writeFileSync(join(folder, name), bytes);
    }
    for (const target of ['gfx90a', 'gfx942', 'gfx950']) {
      const corpus = sharedPath('corpus', target);
      if (corpus !== undefined) files.push(...readdirSync(corpus).map((file) => join(corpus, file)));
    }
    for (const file of files.filter((_, i) => i < 2 || i % 9 === 0)) {
      const args = ['-hlSsrnd', '--dyn-syms', file];
      const expected = execFileSync(readelf, args, { encoding: 'utf8', maxBuffer: 1 << 27 });
      expect(elfText(readElf(readFileSync(file))) === expected, file).toBe(true);
    }
    rmSync(folder, { recursive: true });
  });
});
