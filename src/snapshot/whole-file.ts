// Whole files: also pipes and devices, of which some have no end.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** Bytes that pipes and devices may give. */
const MOST_STREAMED = 2 ** 30;
const CHUNK = 2 ** 20;

/** All of a file, or of standard input for 0. Throws what the system says, or that a pipe or device gives more than 1 GiB. */
export function readWholeFile(path: string | 0): Uint8Array {
  const file = path === 0 ? 0 : openSync(path, 'r');
  try {
    return fstatSync(file).isFile() ? readFileSync(file) : readStream(file);
  } finally {
    if (path !== 0) closeSync(file);
  }
}

function readStream(file: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  const chunk = new Uint8Array(CHUNK);
  for (let total = 0; ; ) {
    const count = readSync(file, chunk);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.slice(0, count));
    total += count;
    if (total > MOST_STREAMED) throw new Error('it gives more than 1 GiB, and may have no end');
  }
}
