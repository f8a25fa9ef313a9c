import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { llvmTool } from '../../../tests/support/llvm.ts';
import { sharedPath } from '../../../tests/support/shared.ts';
import { WavesmithError } from '../../base/index.ts';
import { metadataNotes, readNotes, writeNote } from '../elf/notes.ts';
import { readElf } from '../elf/read.ts';
import { encodeMetadata, metadataFromDocument, readMetadata } from './metadata.ts';
import { metadataFromYaml, metadataToYaml } from './metadata-yaml.ts';
import { decodeMsgPack, encodeMsgPack, MsgPackExtension, type MsgPackValue } from './msgpack.ts';

const SAMPLE = `---
5: intkey
a-string: "*name"
custom: {a: 1, b: "x: y", d: -5, e: 1.5, f: !nil "", g: true, h: '', i: 'tr''ue', j: "0x10", l: ' sp',
  m: "multi\\nline", n: 18446744073709551615, o: "5", p: "~", r: "a#b", u: "é", v: "tab\\there", w: [], x: {}, z: "yes",
  s: !str 5, t: [010, 0o17, 0b101, -0x10, 1e5, .5, +5, inf, 1_000, 0x1.8p3, 08, '...', True, -9223372036854775808]}
amdhsa.kernels:
  - .args: [{.address_space: global, .name: p, .offset: 0, .size: 8, .value_kind: global_buffer, .type_name: 'float*'}]
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 1024
    .name: k
    .private_segment_fixed_size: 0
    .reqd_workgroup_size: [64, 1, 1]
    .sgpr_count: 10
    .symbol: k.kd
    .vgpr_count: 4
    .wavefront_size: 64
amdhsa.version: [1, 2]
...
`;

const EXPECTED = `---
5:               intkey
a-string:        '*name'
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           p
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 1024
    .name:           k
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 64
      - 1
      - 1
    .sgpr_count:     10
    .symbol:         k.kd
    .vgpr_count:     4
    .wavefront_size: 64
amdhsa.version:
  - 1
  - 2
custom:
  a:               1
  b:               'x: y'
  d:               -5
  e:               1.500000e+00
  f:               !nil ''
  g:               true
  h:               0.000000e+00
  i:               'tr''ue'
  j:               16
  l:               ' sp'
  m:               "multi\\nline"
  n:               18446744073709551615
  o:               5
  p:               '~'
  r:               'a#b'
  s:               !str '5'
  t:
    - 8
    - 15
    - 5
    - -16
    - 1.000000e+05
    - 5.000000e-01
    - 5.000000e+00
    - INF
    - 1_000
    - 1.200000e+01
    - 8.000000e+00
    - ...
    - 'True'
    - -9223372036854775808
  u:               "é"
  v:               tab\there
  w:               []
  x:               {}
  z:               yes
...
`;

describe('metadata as YAML', () => {
  test('types scalars, sorts keys and lays out as LLVM does', () => {
    expect(metadataToYaml(metadataFromYaml(SAMPLE))).toBe(EXPECTED);
  });

  test('printing and reading again gives the same bytes', () => {
    const once = encodeMsgPack(metadataFromYaml(SAMPLE));
    expect(encodeMsgPack(metadataFromYaml(metadataToYaml(decodeMsgPack(once))))).toEqual(once);
  });

  test('llvm-mc prints and encodes the same', () => {
    const llvmMc = llvmTool('llvm-mc');
    if (llvmMc === undefined) return;
    const source = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.amdhsa_code_object_version 5\n.amdgpu_metadata\n${SAMPLE}.end_amdgpu_metadata\n`;
    const args = ['-triple=amdgcn-amd-amdhsa', '-mcpu=gfx942'];
    const text = execFileSync(llvmMc, args, { input: source, encoding: 'utf8' });
    expect(text.slice(text.indexOf('---'), text.indexOf('...\n\n') + 4)).toBe(EXPECTED);
    const elf = readElf(new Uint8Array(execFileSync(llvmMc, [...args, '-filetype=obj'], { input: source })));
    expect(metadataNotes(elf)[0].description).toEqual(encodeMsgPack(metadataFromYaml(SAMPLE)));
    const note = writeNote('AMDGPU', 32, encodeMsgPack(metadataFromYaml(SAMPLE)));
    expect(elf.section('.note')?.bytes).toEqual(note);
  });

  test.each([
    ['a: [1, 2', 'metadata/bad-yaml'],
    ['a: 1\na: 2', 'metadata/bad-yaml'],
    ['a: &x 1\nb: *x', 'metadata/bad-yaml'],
    ['a: !int x', 'metadata/bad-yaml'],
  ])('%j is a positioned error', (text, code) => {
    try {
      metadataFromYaml(text, { file: 'k.s', line: 10 });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(WavesmithError);
      expect((error as WavesmithError).code).toBe(code);
      expect((error as WavesmithError).position.line).toBeGreaterThanOrEqual(10);
    }
  });
});

describe('MessagePack', () => {
  const values: [string, MsgPackValue][] = [
    ['nil and booleans', [null, true, false]],
    ['integers', [0n, 127n, 128n, 65536n, 1n << 32n, (1n << 64n) - 1n, -1n, -32n, -33n, -129n, -32769n, -(1n << 63n)]],
    ['floats', [1.5, 0, 1e300, -2.5]],
    ['strings', ['', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(256), 'x'.repeat(65536), 'é😀']],
    ['binary and extensions', [new Uint8Array([1, 2]), new MsgPackExtension(5, new Uint8Array(16))]],
    ['long lists', Array.from({ length: 70000 }, (_, i) => BigInt(i))],
    ['maps', new Map<MsgPackValue, MsgPackValue>([...Array(20).keys()].map((i) => [BigInt(i), [null]]))],
  ];
  test.each(values)('%s survive a round trip', (_name, value) => {
    expect(decodeMsgPack(encodeMsgPack(value))).toEqual(value);
  });

  test.each([
    ['an empty input', [], 'msgpack/truncated'],
    ['a list longer than the input', [0xdd, 0xff, 0xff, 0xff, 0xff], 'msgpack/truncated'],
    ['a map longer than the input', [0xdf, 0xff, 0xff, 0xff, 0xff], 'msgpack/truncated'],
    ['bytes after the value', [0xc0, 0xc0], 'msgpack/trailing'],
    ['the unused first byte', [0xc1], 'msgpack/bad-byte'],
    ['deep nesting', Array(200).fill(0x91), 'msgpack/depth'],
    ['a key given twice', [0x82, 1, 1, 1, 1], 'msgpack/duplicate-key'],
    ['text that is not UTF-8', [0xa1, 0xff], 'msgpack/bad-text'],
  ])('%s is %s', (_name, bytes, code) => {
    expect(() => decodeMsgPack(new Uint8Array(bytes))).toThrow(expect.objectContaining({ code }));
  });
});

describe('the typed view', () => {
  test('reads a kernel and keeps unknown keys', () => {
    const model = readMetadata(encodeMsgPack(metadataFromYaml(SAMPLE)));
    expect(model.version).toEqual([1, 2]);
    expect(model.kernels[0]).toMatchObject({ name: 'k', symbol: 'k.kd', reqdWorkgroupSize: [64, 1, 1], sgprCount: 10 });
    expect(model.kernels[0].args[0]).toMatchObject({ name: 'p', typeName: 'float*', valueKind: 'global_buffer' });
    expect(encodeMetadata(model)).toEqual(encodeMsgPack(metadataFromYaml(SAMPLE)));
  });

  test('a field of the wrong kind is named', () => {
    const yaml = 'amdhsa.kernels: [{.name: k, .symbol: k.kd, .sgpr_count: x}]';
    expect(() => metadataFromDocument(metadataFromYaml(yaml))).toThrow(/\.sgpr_count of kernel 'k'/);
  });

  test('every code object of the corpus re-encodes to the same bytes', () => {
    const corpus = sharedPath('corpus');
    if (corpus === undefined) return;
    let count = 0;
    for (const folder of ['gfx90a', 'gfx942', 'gfx950', 'triton']) {
      for (const file of readdirSync(`${corpus}/${folder}`).filter((f) => /\.(co|hsaco)$/.test(f))) {
        for (const note of metadataNotes(readElf(readFileSync(`${corpus}/${folder}/${file}`)))) {
          const model = readMetadata(note.description);
          expect(model.kernels.length, file).toBeGreaterThan(0);
          expect(Buffer.compare(encodeMetadata(model), note.description), file).toBe(0);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(80);
  });
});

test('a note that claims more than its section is an error', () => {
  const note = writeNote('AMDGPU', 32, new Uint8Array(8));
  note[4] = 200;
  expect(() => readNotes(note)).toThrow(expect.objectContaining({ code: 'elf/bad-note' }));
});
