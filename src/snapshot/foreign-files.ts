// Files of other tools' folders, which are believed nothing: whatever cannot be read, is no file, or leads out of its folder is a typed error.
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import { Field } from './fields.ts';

/** Largest file that is read whole. */
const MAX_FILE = 2 ** 31 - 1;

/** What is wrong with a folder of another tool. */
export function badImport(message: string, file: string, hint?: string): WavesmithError {
  return new WavesmithError('capture/bad-import', message, { file, hint });
}

/** Does something with a file; what the system refuses is `io/read`. */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof WavesmithError) throw error;
    throw new WavesmithError('io/read', `Cannot read '${path}': ${(error as Error).message}.`, {
      file: path,
      hint: 'Check that it is there, and that you may read it.',
      cause: error,
    });
  }
}

/** The file of a name in a folder, and its bytes; undefined when there is none. A link may not lead out of the folder. */
export function fileIn(folder: string, name: string): { readonly path: string; readonly size: number } | undefined {
  const path = join(folder, name);
  const found = reading(path, (): Stats | undefined => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) {
    if (reading(path, () => lstatSync(path, { throwIfNoEntry: false })) === undefined) return undefined;
    throw badImport(`'${path}' is a link to nothing.`, path);
  }
  const isInside = reading(path, () => realpathSync(path).startsWith(`${realpathSync(folder)}${sep}`));
  if (!isInside) throw badImport(`'${path}' leads out of the folder.`, path);
  if (!found.isFile()) throw badImport(`'${path}' is no file.`, path);
  return { path, size: found.size };
}

/** All of a file of a folder; undefined when there is none. */
export function wholeFileIn(folder: string, name: string, most = MAX_FILE): Uint8Array | undefined {
  const found = fileIn(folder, name);
  if (found === undefined) return undefined;
  const { path, size } = found;
  if (size > most) throw badImport(`'${path}' has ${size} bytes, more than ${most}.`, path);
  return reading(path, () => new Uint8Array(readFileSync(path)));
}

/** The names in a folder. */
export const namesIn = (folder: string): string[] => reading(folder, () => readdirSync(folder));

/** A JSON document of a folder; one that is not there is `io/read`. */
export function jsonIn(folder: string, name: string): Field {
  const path = join(folder, name);
  const bytes = wholeFileIn(folder, name, 2 ** 28);
  if (bytes === undefined) throw new WavesmithError('io/read', `Cannot read '${path}': no such file.`, { file: path });
  const wrong = { code: 'capture/bad-import', file: path, hint: `'${path}' is damaged, or of another version.` };
  try {
    return new Field(parsed(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), '', wrong);
  } catch (cause) {
    throw new WavesmithError('capture/bad-import', `'${path}' is not JSON.`, { file: path, cause });
  }
}

/** JSON; a comma behind the last entry of a list is left out when it does not read otherwise. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.replace(/,(\s*[\]}])/g, '$1'));
  }
}
