// Folders of rocm-perf-lab's isolation tool and of kerncap, made here as they write them, become captures.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readCodeObject } from '../src/codeobject/index.ts';
import { importFolder, openCapture, slimCapture } from '../src/snapshot/index.ts';
import { replayOnce } from './support/capture-subjects.ts';
import { captureObject } from './support/captures.ts';
import { wavesmith } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const IN = 0x7f4500000000;
const OUT = 0x7f4500200000;
const CODE = 0x7f4600000000;

/** A folder as isolate_tool.cpp leaves it: regions before the dispatch, decimal addresses, a comma behind the last region. */
function isolated(name: string, files: Readonly<Record<string, string>> = {}): string {
  const root = join(folder, name);
  mkdirSync(join(root, 'memory'), { recursive: true });
  const code = captureObject();
  const descriptor = Number(readCodeObject(code).kernels[0]?.descriptorSymbol?.value ?? 0n);
  const kernarg = new Uint8Array(24);
  const view = new DataView(kernarg.buffer);
  view.setBigUint64(0, BigInt(OUT), true);
  view.setBigUint64(8, BigInt(IN), true);
  view.setUint32(16, 1000, true);
  writeFileSync(join(root, 'kernel.hsaco'), code);
  writeFileSync(join(root, 'kernarg.bin'), kernarg);
  writeFileSync(
    join(root, 'dispatch.json'),
    JSON.stringify({
      mangled_name: 'k',
      demangled_name: 'k',
      agent_name: 'gfx942',
      isa_name: 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-',
      wavefront_size: 64,
      kernel_object: CODE + descriptor,
      grid: [1024, 1, 1],
      block: [64, 1, 1],
      group_segment_size: 0,
      private_segment_size: 0,
      kernarg_size: 24,
      dispatch_index: 3,
    }),
  );
  const input = Uint8Array.from({ length: 200_000 }, (_, i) => i * 7);
  writeFileSync(join(root, 'memory', `region_${IN.toString(16)}.bin`), input);
  writeFileSync(join(root, 'memory', `region_${OUT.toString(16)}.bin`), new Uint8Array(100_000).fill(9));
  const region = (base: number, size: number): string =>
    `{"base": ${base}, "size": ${size}, "is_pool": true, "is_vmem": false, "contains_kernarg": false, "handle": 0, "access": 0}`;
  writeFileSync(join(root, 'memory_regions.json'), `{"regions": [${region(IN, 200_000)}, ${region(OUT, 100_000)},]}`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  return root;
}

describe('an imported folder', () => {
  test('of rocm-perf-lab has no result until it is slimmed on the virtual GPU, and replays then', async () => {
    const path = join(folder, 'lab.wscap');
    const result = importFolder(isolated('lab'), path, { name: 'test', version: '1', device: 'rocm' });
    expect(result).toMatchObject({ from: 'rocm-perf-lab', regions: 2 });
    const capture = openCapture(path);
    expect(capture.manifest.code.loadAddress).toBe(CODE);
    expect(capture.manifest.dispatch.sequence).toBe(3);
    const replayed = await replayOnce(capture);
    expect(replayed.verdict).toBe('nothing-compared');
    expect(replayed.dispatch?.workgroups).toBe(16);
    await slimCapture(capture, join(folder, 'slim.wscap'));
    const slim = openCapture(join(folder, 'slim.wscap'));
    expect(slim.manifest.memory).toMatchObject({ mode: 'touched', proved: true, hasResult: true });
    expect(slim.chunks.map((c) => c.address)).toContain(OUT);
    expect(slim.chunks.length).toBe(3);
    expect((await replayOnce(slim, { iterations: 2 })).verdict).toBe('equal');
  });

  test('of kerncap says that its memory is that after the dispatch', async () => {
    const root = isolated('kerncap', { 'metadata.json': '{"hsaco_sha256": "x"}', capture_complete: '' });
    const { code, out } = await wavesmith('capture', 'import', root, '-o', join(folder, 'kerncap.wscap'));
    expect(code).toBe(0);
    expect(out).toMatch(/2 regions of kerncap/);
    expect(out).toMatch(/after the dispatch/);
    const manifest = readFileSync(join(folder, 'kerncap.wscap', 'manifest.json'), 'utf8');
    expect(manifest).toMatch(/after the dispatch/);
  });

  test('that is damaged, or none, is a typed error', async () => {
    const root = isolated('bad');
    writeFileSync(join(root, 'dispatch.json'), '{"mangled_name": "other", "grid": [1,1,1], "block": [1,1,1]}');
    expect((await wavesmith('capture', 'import', root, '-o', join(folder, 'bad.wscap'))).err).toMatch(
      /capture\/bad-import/,
    );
    writeFileSync(join(root, 'memory_regions.json'), 'nothing');
    expect((await wavesmith('capture', 'import', root, '-o', join(folder, 'bad.wscap'))).err).toMatch(
      /capture\/bad-import/,
    );
    expect((await wavesmith('capture', 'import', folder, '-o', join(folder, 'bad.wscap'))).err).toMatch(
      /capture\/bad-import/,
    );
  });
});
