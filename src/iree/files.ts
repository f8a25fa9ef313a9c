// Files of the compiler front doors: whole reads with typed errors, writes through a temporary name, temporary folders.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { OutputPlace } from '../snapshot/output-place.ts';
import { readWholeFile } from '../snapshot/whole-file.ts';

/** Reads a whole file; a missing or unreadable one is `io/read`, `what` naming its role. */
export function readWhole(path: string, what: string): Uint8Array {
  try {
    const buffer = readWholeFile(path);
    // A plain array: slice() of a Buffer would share memory.
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (error as Error).message;
    throw new WavesmithError('io/read', `Cannot read ${what} '${path}': ${reason}.`, {
      file: path,
      hint: 'Check the path.',
    });
  }
}

/** As `readWhole`, as UTF-8 text. */
export function readText(path: string, what: string): string {
  return new TextDecoder().decode(readWhole(path, what));
}

/** Writes a file through a temporary name beside it, so a failure leaves nothing half-written. */
export function writeWhole(path: string, content: Uint8Array | string): void {
  let place: OutputPlace | undefined;
  try {
    makeFolders(dirname(path));
    place = new OutputPlace(path);
    writeFileSync(place.temporary, content);
    place.finish();
  } catch (error) {
    place?.discard();
    throw new WavesmithError('io/write', `Cannot write '${path}': ${(error as Error).message}.`, { file: path });
  }
}

/** Runs `work` with a fresh folder that is gone afterwards, whatever happens. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** SHA-256 in hexadecimal. */
export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}
