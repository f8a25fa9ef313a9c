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

/** What a capture's files hold, as it is changed. */
interface Parts {
  manifest: Json;
  trailer: Json;
  pack: Uint8Array;
  code: Uint8Array;
}
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const decoded = (bytes: Uint8Array | undefined): Json => JSON.parse(new TextDecoder().decode(bytes)) as Json;
const encoded = (json: Json): Uint8Array => new TextEncoder().encode(JSON.stringify(json));

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-fuzz-'));
const args = ['i32[128]=7', 'i32[128]=random:3', 'i32=100', 'i32=0'];
await record(folder, 'x.wscap', { args, grid: [2, 1, 1], finish: { orders: false } });
const original = openCapture(join(folder, 'x.wscap'));
const files = openFiles(original.path);
const whole = (name: string): Uint8Array => files.read(name) as Uint8Array;
const codeFile = codeName(original.manifest.code.sha256);
const parts: Parts = {
  manifest: decoded(whole(MANIFEST)),
  trailer: decoded(whole(TRAILER)),
  pack: whole(PACK),
  code: whole(codeFile),
};
rmSync(folder, { recursive: true });
// The manifest is written more closely here: the trailer's hash is of that.
Object.assign(parts.trailer as object, { manifest: sha256(encoded(parts.manifest)) });

const INTERESTING: readonly Json[] = [
  ...[0, 1, -1, 2, 63, 64, 255, 4096, 65535, 65536, 2 ** 31, 2 ** 32, 2 ** 48, 2 ** 53, 1.5, 1e300],
  ...['', '0x0', '0xffff', '0xffffffffffffffff', '0x480000000000', '../../../etc/passwd', '/etc/passwd', 'zero', 'ff'],
  ...[null, true, false, [], {}, [0, 1, 2], 'f'.repeat(64)],
];
const NAME = /^(manifest\.json|trailer\.json|pages\.pack|code\/[0-9a-f]{64}|pages\/[0-9a-f]{2}\/[0-9a-f]{64})$/;

/** Every place of a document: what holds it, and its name there. */
function places(json: Json, out: { readonly of: { [name: string]: Json }; readonly name: string }[] = []): typeof out {
  if (json === null || typeof json !== 'object') return out;
  const of = json as { [name: string]: Json };
  for (const name of Object.keys(of)) {
    out.push({ of, name });
    places(of[name] as Json, out);
  }
  return out;
}

/** One change of a document. */
function changeJson(json: Json, random: () => number): void {
  const all = places(json);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const { of, name } = pick(all);
  const now = of[name] as Json;
  const kind = random();
  if (kind < 0.15) {
    if (Array.isArray(of)) of.splice(Number(name), 1);
    else delete of[name];
  } else if (kind < 0.3) {
    const from = pick(all);
    of[name] = structuredClone(from.of[from.name] as Json);
  } else if (kind < 0.4 && Array.isArray(now)) now.push(structuredClone(pick(now.length > 0 ? now : [0])));
  else if (kind < 0.7 && typeof now === 'number') of[name] = now + pick([1, -1, 4, 64, 4096, 65536, 2 ** 32]);
  else if (kind < 0.7 && typeof now === 'string' && /^0x/.test(now))
    of[name] = `0x${(BigInt(now) + BigInt(pick([1, 4, 64, 4096, 65536, 2 ** 32]))).toString(16)}`;
  else of[name] = structuredClone(pick(INTERESTING));
}

function changeBytes(bytes: Uint8Array, random: () => number): void {
  const at = Math.floor(random() * bytes.length);
  if (bytes.length > 0) bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8));
}

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
      trailer.manifest = sha256(encoded(manifest));
  }
  const content = new Map([
    [MANIFEST, encoded(manifest)],
    [TRAILER, encoded(trailer)],
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
    const seed = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0;
    const { files: changed, isMended } = mutant(seed);
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
