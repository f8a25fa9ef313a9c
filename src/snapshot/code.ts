// The code object of a capture, for whoever needs nothing else of it.
import { createHash } from 'node:crypto';
import { WavesmithError } from '../base/index.ts';
import { Field } from './fields.ts';
import { codeName, MANIFEST, openFiles } from './files.ts';

/** The ELF that a captured dispatch ran. It is there as soon as a recording has begun. */
export function codeOfCapture(path: string): Uint8Array {
  const files = openFiles(path);
  const text = files.read(MANIFEST);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch (cause) {
    throw new WavesmithError('capture/bad-manifest', `'${path}' holds no ${MANIFEST} that is JSON.`, {
      file: path,
      hint: 'It is no capture, or it is damaged.',
      cause,
    });
  }
  const sha256 = new Field(json, '').at('code').at('sha256').sha256();
  const bytes = files.read(codeName(sha256));
  if (bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
  throw new WavesmithError('capture/damaged', `The code object of '${path}' is not what its name says.`, {
    file: path,
    hint: 'The capture was changed or damaged after it was written; record it again.',
  });
}
