// Inputs that hold code: files, and captures, of which the code object is taken.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOfCapture } from '../snapshot/code.ts';
import { isCapturePath, MANIFEST } from '../snapshot/files.ts';
import { readInput } from './support.ts';

/** The bytes of a file (`-` is standard input), or of a capture's code object. */
export function readCodeInput(path: string): Uint8Array {
  const isFolder = path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const isCapture = isFolder
    ? existsSync(join(path, MANIFEST)) || path.includes('.wscap')
    : path !== '-' && isCapturePath(path);
  return isCapture ? codeOfCapture(path) : readInput(path);
}
