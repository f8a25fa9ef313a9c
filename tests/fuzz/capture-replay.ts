// Fuzz target: captures with changed parts, most of them with hashes that agree again; what opens is checked and replayed. A capture whose hashes were
// not made again must be refused or be the original. No name but those of a capture's files may be asked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomNumbers } from '../../src/base/index.ts';
import { SimDevice } from '../../src/device/index.ts';
import { openCapture, readCapture } from '../../src/snapshot/capture.ts';
import { type CaptureFiles, codeName, MANIFEST, openFiles, PACK, TRAILER } from '../../src/snapshot/files.ts';
import { sha256 } from '../../src/snapshot/pages.ts';
import { replayCapture } from '../../src/snapshot/replay.ts';
import { verifyCapture } from '../../src/snapshot/verify.ts';
import { record } from '../support/captures.ts';
import { changeBytes, changeJson, decodedJson, encodedJson, type Json, seedOf } from '../support/change-json.ts';

/** What a capture's files hold, as it is changed. */
interface Parts {
  manifest: Json;
  trailer: Json;
  pack: Uint8Array;
  code: Uint8Array;
}

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-fuzz-'));
const args = ['i32[128]=7', 'i32[128]=random:3', 'i32=100', 'i32=0'];
await record(folder, 'x.wscap', { args, grid: [2, 1, 1], finish: { orders: false } });
const original = openCapture(join(folder, 'x.wscap'));
const files = openFiles(original.path);
const whole = (name: string): Uint8Array => files.read(name) as Uint8Array;
const codeFile = codeName(original.manifest.code.sha256);
const parts: Parts = {
  manifest: decodedJson(whole(MANIFEST)),
  trailer: decodedJson(whole(TRAILER)),
  pack: whole(PACK),
  code: whole(codeFile),
};
rmSync(folder, { recursive: true });
// The manifest is written more closely here: the trailer's hash is of that.
Object.assign(parts.trailer as object, { manifest: sha256(encodedJson(parts.manifest)) });

const NAME = /^(manifest\.json|trailer\.json|pages\.pack|code\/[0-9a-f]{64}|pages\/[0-9a-f]{2}\/[0-9a-f]{64})$/;

/** A capture with changes that follow from a number; `isMended` when hashes were made again. */
function mutant(seed: number): { readonly files: CaptureFiles; readonly isMended: boolean } {
  const random = randomNumbers(seed);
  const { manifest, trailer, pack, code } = structuredClone(parts);
  const isMended = random() < 0.7;
  const changes = 1 + Math.floor(random() * 3);
  for (let n = 0; n < changes; n++) {
    const kind = random();
    if (kind < 0.6) changeJson(manifest, random);
    else if (kind < 0.75) changeJson(trailer, random);
    else if (kind < 0.85) changeBytes(pack, random);
    else changeBytes(code, random);
  }
  if (isMended && manifest !== null && typeof manifest === 'object' && !Array.isArray(manifest)) {
    const { code: section } = manifest;
    if (section !== null && typeof section === 'object' && !Array.isArray(section) && random() < 0.9)
      section.sha256 = sha256(code);
    if (trailer !== null && typeof trailer === 'object' && !Array.isArray(trailer))
      trailer.manifest = sha256(encodedJson(manifest));
  }
  const content = new Map([
    [MANIFEST, encodedJson(manifest)],
    [TRAILER, encodedJson(trailer)],
    [PACK, pack],
    [isMended ? codeName(sha256(code)) : codeFile, code],
  ]);
  const find = (name: string): Uint8Array | undefined => {
    if (!NAME.test(name)) throw new Error(`a file '${name}' was asked for`);
    return content.get(name);
  };
  return {
    isMended,
    files: {
      path: 'x.wscap',
      read: find,
      readPart: (name, at, length) => {
        const bytes = find(name);
        return bytes !== undefined && at + length <= bytes.length ? bytes.subarray(at, at + length) : undefined;
      },
      size: (name) => find(name)?.length,
    },
  };
}

export default {
  name: 'capture-replay',
  seeds: () => [new Uint8Array(16)],
  async run(bytes: Uint8Array): Promise<void> {
    const { files: changed, isMended } = mutant(seedOf(bytes));
    const capture = readCapture(changed);
    let isEqual = false;
    const { ok } = await verifyCapture(capture, { replay: false });
    const device = new SimDevice('gfx942');
    try {
      const { verdict } = await replayCapture(device, capture, { maxInstructions: 20_000 });
      isEqual = ok && verdict === 'equal';
    } finally {
      device.close();
    }
    if (isEqual && !isMended && JSON.stringify(capture.manifest) !== JSON.stringify(original.manifest))
      throw new Error('a changed capture is taken for the original');
  },
};
