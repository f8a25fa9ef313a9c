// Compressed offload bundles as HIP modules: each version and method, and damaged ones.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleKind } from '../src/codeobject/index.ts';
import { canCompileHip, compileHip, execHip } from './support/hip.ts';

const ZLIB = 0;
const ZSTD = 1;
const METHODS = { zlib: ZLIB, 'zstd of raw blocks': ZSTD };

/** A frame of raw blocks: zstd without compression (RFC 8878, 3.1.1). */
function zstdFrame(plain: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  // Magic number; one segment whose size has 4 bytes.
  const header = new DataView(new ArrayBuffer(9));
  header.setUint32(0, 0xfd2fb528, true);
  header.setUint8(4, 0xa0);
  header.setUint32(5, plain.length, true);
  parts.push(new Uint8Array(header.buffer));
  const most = 2 ** 17;
  for (let at = 0; at < plain.length; at += most) {
    const block = plain.subarray(at, at + most);
    const isLast = at + most >= plain.length ? 1 : 0;
    const size = (block.length << 3) | isLast;
    parts.push(Uint8Array.of(size & 0xff, (size >> 8) & 0xff, size >> 16), block);
  }
  return Buffer.concat(parts);
}

/** A compressed bundle as clang's OffloadBundler.cpp writes it, but for the hash, which nobody reads. */
function compressed(plain: Uint8Array, version: number, method: number): Uint8Array {
  const data = method === ZLIB ? deflateSync(plain) : zstdFrame(plain);
  const size = [20, 24, 32][version - 1] ?? 32;
  const bytes = new Uint8Array(size + data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode('CCOB'));
  view.setUint16(4, version, true);
  view.setUint16(6, method, true);
  if (version === 1) view.setUint32(8, plain.length, true);
  else if (version === 2) {
    view.setUint32(8, bytes.length, true);
    view.setUint32(12, plain.length, true);
  } else {
    view.setBigUint64(8, BigInt(bytes.length), true);
    view.setBigUint64(16, BigInt(plain.length), true);
  }
  bytes.set(data, size);
  return bytes;
}

describe.skipIf(!canCompileHip())('compressed offload bundles', { concurrent: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-ccob-'));
  let program = '';
  let plain: Uint8Array = new Uint8Array();
  beforeAll(async () => {
    program = await compileHip({ sources: ['modules'], targets: ['gfx942'] });
    const bundle = await compileHip({ sources: ['module_kernels'], targets: ['gfx90a', 'gfx942'], deviceOnly: true });
    plain = readFileSync(bundle);
    expect(bundleKind(plain)).toBe('plain');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const runWith = (name: string, bytes: Uint8Array): ReturnType<typeof execHip> => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return execHip('gfx942', program, [path]);
  };

  for (const version of [1, 2, 3]) {
    for (const [name, method] of Object.entries(METHODS)) {
      test(`load: version ${version}, ${name}`, async () => {
        const { status, stdout, stderr } = await runWith(`${version}-${method}`, compressed(plain, version, method));
        expect({ status, last: stdout.trimEnd().split('\n').at(-1), stderr }).toMatchObject({ status: 0, last: 'ok' });
      });
    }
  }

  const whole = (): Uint8Array => compressed(plain, 3, ZLIB);
  const changed = (at: number, ...bytes: number[]): Uint8Array => {
    const copy = whole();
    copy.set(bytes, at);
    return copy;
  };
  const DAMAGES: Record<string, readonly [() => Uint8Array, string]> = {
    'an unknown version': [() => changed(4, 9), 'damaged or of a version that is not known'],
    'an unknown method': [() => changed(6, 7), 'damaged or of a version that is not known'],
    'more bytes than there are': [() => changed(10, 0xff, 0xff), 'damaged or of a version that is not known'],
    'a plain size of a terabyte': [() => changed(20, 0xff, 0xff), 'damaged or of a version that is not known'],
    'another plain size': [() => changed(16, 1, 1, 1, 0), 'compressed code is damaged'],
    'compressed bytes that are none': [() => changed(32, 0, 0, 0, 0, 0, 0), 'compressed code is damaged'],
    'no end': [() => whole().subarray(0, 40), 'damaged or of a version that is not known'],
  };
  for (const [name, [make, sentence]] of Object.entries(DAMAGES)) {
    test(`are refused with ${name}`, async () => {
      const { status, stderr } = await runWith(name.replaceAll(' ', '-'), make());
      expect(status).not.toBe(0);
      expect(stderr).toContain(`wavesmith: the program's code cannot be loaded: `);
      expect(stderr).toContain(sentence);
    });
  }
});
