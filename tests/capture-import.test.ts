// Folders of rocm-perf-lab's isolation tool and of kerncap, made here as they write them, become captures.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { importFolder, openCapture, slimCapture } from '../src/snapshot/index.ts';
import { replayOnce } from './support/capture-subjects.ts';
import { wavesmith } from './support/cli.ts';
import { CODE, isolatedFolder, OUT } from './support/isolated-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isolated = (name: string, files: Readonly<Record<string, string>> = {}): string =>
  isolatedFolder(join(folder, name), files);

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
