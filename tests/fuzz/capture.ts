// Fuzz target: a capture as one ZIP; every page of what opens is read and checked.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCapture } from '../../src/snapshot/capture.ts';
import { filesOfZip } from '../../src/snapshot/files.ts';
import { CaptureWriter } from '../../src/snapshot/writer.ts';
import { kernelObject } from '../support/kernel-source.ts';

/** A small capture that was written piece by piece, as its ZIP. */
export function captureZip(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-fuzz-'));
  try {
    const path = join(folder, 'x.wscap');
    const writer = CaptureWriter.create(
      path,
      {
        producer: { name: 'fuzz', version: '1', device: 'sim' },
        target: 'gfx942',
        kernel: 'k',
        codeObject: kernelObject().bytes,
        loadAddress: 0x7f0000000000,
        imageSize: 0x3000,
        variables: [],
        dispatch: {
          sequence: 0,
          gridWorkItems: [64, 1, 1],
          block: [64, 1, 1],
          staticLds: 0,
          dynamicLds: 0,
          scratch: 0,
          packet: { address: 0x7f0000200000, bytes: new Uint8Array(64) },
          queue: null,
        },
        kernarg: { address: 0x7f0000100000, size: 8 },
        allocations: [
          { address: 0x7f0000000000, size: 0x3000, kind: 'code', flags: [], provenance: '', label: '' },
          { address: 0x7f0000100000, size: 64, kind: 'kernarg', flags: [], provenance: '', label: '' },
          { address: 0x7f0000300000, size: 70000, kind: 'coarse', flags: [], provenance: 'hipMalloc', label: 'x' },
        ],
        memory: 'full',
      },
      { zip: true },
    );
    writer.writePre(0x7f0000100000, Uint8Array.of(0, 0, 0x30, 0, 0, 0x7f, 0, 0));
    writer.writePre(0x7f0000300000, new Uint8Array(70000).fill(3));
    writer.writePost(0x7f0000300000 + 65536, new Uint8Array(70000 - 65536).fill(5));
    writer.finish();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export default {
  name: 'capture',
  seeds: () => [captureZip()],
  run(bytes: Uint8Array): void {
    const capture = readCapture(filesOfZip(bytes, 'x.wscap'), { allowIncomplete: true });
    capture.codeObject();
    for (const chunk of capture.chunks) {
      chunk.pre();
      chunk.post();
      chunk.known();
      chunk.reads();
      chunk.writes();
    }
  },
};
