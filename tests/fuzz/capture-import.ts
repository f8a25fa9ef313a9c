// Fuzz target: folders of rocm-perf-lab and kerncap with changed documents and files, missing files, folders and links in their places. What is made of
// one opens; after an error nothing is left. Nothing of outside the folder gets into a capture.
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomNumbers } from '../../src/base/index.ts';
import { openCapture } from '../../src/snapshot/capture.ts';
import { importFolder } from '../../src/snapshot/import.ts';
import { changeBytes, changeJson, decodedJson, encodedJson, seedOf } from '../support/change-json.ts';
import { isolatedFolder } from '../support/isolated-folder.ts';
import { memoryFolder } from '../support/memory-folder.ts';

const root = memoryFolder();
const original = isolatedFolder(join(root, 'original'), {
  'metadata.json': '{"hsaco_sha256": "x"}',
  capture_complete: '',
  'module_variables.json': '{"variables": [{"name": "v", "blob": "v.bin", "executable_sha256": "x"}]}',
  'v.bin': 'content',
  // As isolate_tool leaves it this has a comma too many.
  'memory_regions.json': readFileSync(join(isolatedFolder(join(root, 'plain')), 'memory_regions.json'), 'utf8').replace(
    ',]',
    ']',
  ),
});
const SECRET = 'not for anybody else '.repeat(8);
writeFileSync(join(root, 'secret'), SECRET);
const names = readdirSync(original, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));

/** One change of a folder. */
function change(folder: string, random: () => number): void {
  const name = names[Math.floor(random() * names.length)] as string;
  const path = join(folder, name);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  const kind = random();
  if (kind < 0.75) {
    const bytes = new Uint8Array(readFileSync(path));
    if (name.endsWith('.json') && random() < 0.8) {
      const document = decodedJson(bytes);
      changeJson(document, random);
      writeFileSync(path, encodedJson(document));
    } else if (random() < 0.7) {
      changeBytes(bytes, random);
      writeFileSync(path, bytes);
    } else writeFileSync(path, bytes.subarray(0, Math.floor(random() * bytes.length)));
    return;
  }
  rmSync(path);
  if (kind < 0.85) mkdirSync(path);
  else if (kind < 0.95) symlinkSync(join(root, 'secret'), path);
}

export default {
  name: 'capture-import',
  seeds: () => [new Uint8Array(16)],
  run(bytes: Uint8Array): void {
    const random = randomNumbers(seedOf(bytes));
    const folder = join(root, 'changed');
    const path = join(root, 'x.wscap');
    rmSync(folder, { recursive: true, force: true });
    rmSync(path, { recursive: true, force: true });
    cpSync(original, folder, { recursive: true });
    const changes = Math.floor(random() * 4);
    try {
      for (let n = 0; n < changes; n++) change(folder, random);
    } catch (error) {
      // A document that was changed may not be one for the next change.
      if (!(error instanceof SyntaxError)) throw error;
    }
    try {
      importFolder(folder, path, { name: 'fuzz', version: '1', device: 'rocm' });
    } catch (error) {
      const left = readdirSync(root).filter((name) => name.startsWith('x.wscap'));
      if (left.length > 0) throw new Error(`${left[0]} is left after an error`);
      throw error;
    }
    const capture = openCapture(path);
    for (const chunk of capture.chunks) {
      if (Buffer.from(chunk.pre() ?? []).includes(SECRET.slice(0, 40))) throw new Error('it leads out of the folder');
    }
  },
};
