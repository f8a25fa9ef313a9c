// Fuzz target: archives of AMD's HIP Record & Replay whose log was changed: its calls are done again on the virtual GPU, and a launch is recorded. Files
// of the archive are missing or changed in some. After an error nothing is left.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes, randomNumbers } from '../../src/base/index.ts';
import { openCapture } from '../../src/snapshot/capture.ts';
import { importHrr } from '../../src/snapshot/hrr/play.ts';
import { captureObject } from '../support/captures.ts';
import { changeBytes, seedOf } from '../support/change-json.ts';
import { HrrWriter } from '../support/hrr.ts';
import { memoryFolder } from '../support/memory-folder.ts';

const [IN, OUT, SECOND] = [0x7f10_0000_0000, 0x7f20_0000_0000, 0x7f30_0000_0000];
const BYTES = 256;
const words = (...values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const pointer = (address: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(address)).buffer);
const writer = new HrrWriter();
const object = captureObject();
const code = HrrWriter.nameOf(object);
writer.code.set(code, object);
const args = (to: number, from: number): Uint8Array[] => [pointer(to), pointer(from), words(64), words(0)];
writer
  .allocate(IN, BYTES)
  .allocate(OUT, BYTES)
  .allocate(SECOND, BYTES)
  .copy(IN, 0x1000, BYTES, writer.keep(randomBytes(BYTES, 5)))
  .fill(OUT, 0xab, BYTES)
  .launch('k', code, 1, 64, args(OUT, IN))
  .copy(SECOND, OUT, BYTES)
  .launch('k', code, 1, 64, args(OUT, SECOND));

const root = memoryFolder();
const archive = join(root, 'x.hrr');

export default {
  name: 'hrr-archive',
  seeds: () => [writer.log(), writer.log({ end: false, version: 7 })],
  async run(bytes: Uint8Array): Promise<void> {
    const path = join(root, 'x.wscap');
    rmSync(path, { recursive: true, force: true });
    const random = randomNumbers(seedOf(bytes));
    const changed = new HrrWriter();
    for (const [from, to] of [
      [writer.blobs, changed.blobs],
      [writer.code, changed.code],
    ] as const) {
      for (const [name, content] of from) {
        const kind = random();
        const copy = content.slice();
        if (kind < 0.05) changeBytes(copy, random);
        if (kind < 0.95) to.set(name, copy);
      }
    }
    rmSync(archive, { recursive: true, force: true });
    changed.write(archive);
    writeFileSync(join(archive, 'pid-7', 'events.bin'), bytes);
    const producer = { name: 'fuzz', version: '1', device: 'sim' };
    try {
      await importHrr(archive, path, producer, { dispatch: 1, maxInstructions: 20_000, orders: false });
    } catch (error) {
      const left = readdirSync(root).filter((name) => name.startsWith('x.wscap'));
      if (left.length > 0) throw new Error(`${left[0]} is left after an error`);
      throw error;
    }
    openCapture(path);
  },
};
