// Standard output as a file. Node's stream for it is slow to make, and a file needs none.
import { fstatSync, writeSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';

const STDOUT = 1;
const STDERR = 2;

/** Whether standard output goes to a file: neither a pipe nor a terminal. */
export function isStdoutFile(): boolean {
  try {
    return fstatSync(STDOUT).isFile();
  } catch {
    // Closed by the caller: Node's stream says so when it is written to.
    return false;
  }
}

/** Whether everything that was written to standard output and standard error has arrived: a file, or a terminal. */
export function isAllWritten(): boolean {
  if (!isStdoutFile()) return false;
  try {
    const to = fstatSync(STDERR);
    return to.isFile() || to.isCharacterDevice();
  } catch {
    // Closed by the caller: nothing arrives.
    return true;
  }
}

/** Writes all bytes to standard output, which is a file. */
export function writeStdoutFile(bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT, bytes, at);
  } catch (error) {
    throw new WavesmithError('io/write', `Cannot write to standard output: ${(error as Error).message}.`);
  }
}
