// The files of an archive of HIP Record & Replay: the log, blobs of host memory, code objects. Names are made from hashes that were checked.
import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, codeObjectsOf, openContainer } from '../../codeobject/index.ts';
import { badImport, namesIn, reading, wholeFileIn } from '../foreign-files.ts';
import { type HrrBlob, type HrrLog, readHrrLog } from './events.ts';
import { firstHalfOfHash } from './hash.ts';

const LOG = 'events.bin';

export interface HrrArchive {
  readonly path: string;
  readonly log: HrrLog;
  /** The content of a blob; undefined when the archive does not have it. */
  blob(hash: HrrBlob): Uint8Array | undefined;
  /** Code objects that hold a kernel: of the file with this hash, or of all when there is none. */
  code(kernel: string, hash: HrrBlob): CodeObject[];
}

const factsOf = (path: string): Stats | undefined =>
  reading(path, (): Stats | undefined => lstatSync(path, { throwIfNoEntry: false }));
const isFile = (path: string): boolean => factsOf(path)?.isFile() ?? false;
const isFolder = (path: string): boolean => factsOf(path)?.isDirectory() ?? false;

/** The folders of processes: the folder itself, or its folders `pid-N`. Empty for what is no such archive. */
function processesOf(folder: string): string[] {
  if (!isFolder(folder)) return [];
  if (isFile(join(folder, LOG))) return [folder];
  return namesIn(folder)
    .filter((name) => /^pid-\d{1,10}$/.test(name) && isFolder(join(folder, name)) && isFile(join(folder, name, LOG)))
    .sort()
    .map((name) => join(folder, name));
}

/** Whether a folder is an archive of HIP Record & Replay. */
export const isHrrArchive = (folder: string): boolean => processesOf(folder).length > 0;

function readWhole(path: string): Uint8Array {
  const bytes = wholeFileIn(dirname(path), basename(path));
  if (bytes === undefined) throw badImport(`'${path}' is not there any more.`, path);
  return bytes;
}

/** A file that its content names; other content is damage. */
function readNamed(path: string): Uint8Array {
  const bytes = readWhole(path);
  if (basename(path).startsWith(firstHalfOfHash(bytes))) return bytes;
  throw badImport(`'${path}' is damaged: it does not hold what its name says.`, path, 'Take the archive again.');
}

/** Files of a folder and of its folders of two digits, by the hash that is their name. */
function byHash(folder: string, ending: string): Map<string, string> {
  const files = new Map<string, string>();
  const name = new RegExp(`^([0-9a-f]{32})\\.${ending}$`);
  const read = (at: string, inner: boolean): void => {
    if (!isFolder(at)) return;
    for (const entry of namesIn(at)) {
      const hash = name.exec(entry)?.[1];
      if (hash !== undefined && isFile(join(at, entry))) files.set(hash, join(at, entry));
      else if (!inner && /^[0-9a-f]{2}$/.test(entry)) read(join(at, entry), true);
    }
  };
  read(folder, false);
  return files;
}

/** Opens an archive; one of several processes is `capture/bad-import` and names their folders. */
export function openHrrArchive(folder: string): HrrArchive {
  const processes = processesOf(folder);
  const [path] = processes;
  if (path === undefined || processes.length > 1) {
    if (path === undefined) throw badImport(`'${folder}' holds no ${LOG}.`, folder);
    throw badImport(
      `'${folder}' holds the calls of ${processes.length} processes.`,
      folder,
      `Give one of them: ${processes.join(', ')}.`,
    );
  }
  const blobs = byHash(join(path, 'blobs'), 'blob');
  const objects = byHash(join(path, 'code_objects'), 'hsaco');
  const opened = new Map<string, CodeObject[]>();
  const codeIn = (file: string): CodeObject[] => {
    let found = opened.get(file);
    if (found === undefined) {
      found = codeObjectsIn(file);
      opened.set(file, found);
    }
    return found;
  };
  return {
    path,
    log: readHrrLog(readWhole(join(path, LOG))),
    blob: (hash) => {
      const file = blobs.get(hash);
      return file === undefined ? undefined : readNamed(file);
    },
    code: (kernel, hash) => {
      const named = [objects.get(hash), blobs.get(hash)].filter((file) => file !== undefined);
      const files = named.length > 0 ? named : [...objects.values(), ...blobs.values()];
      return files.flatMap(codeIn).filter((object) => object.kernels.some((k) => k.name === kernel));
    },
  };
}

/** The code objects of a file; none when it is data. */
function codeObjectsIn(file: string): CodeObject[] {
  const bytes = readNamed(file);
  try {
    return codeObjectsOf(openContainer(bytes, file));
  } catch (error) {
    if (error instanceof WavesmithError && error.code === 'container/unknown') return [];
    throw error;
  }
}
