// Where the files of a capture are: a folder, or one ZIP of the same tree. Names are made here from checked parts and never come from
// the capture, so nothing outside of it can be named; links inside of it are not followed.
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { unzipSync, Zip, ZipPassThrough } from 'fflate';
import { WavesmithError } from '../base/index.ts';
import { makeFolders } from './folders.ts';
import { readWholeFile } from './whole-file.ts';

/** The names that a capture may have. */
const NAME = /^(manifest\.json|trailer\.json|pages\.pack|code\/[0-9a-f]{64}|pages\/[0-9a-f]{2}\/[0-9a-f]{64})$/;
/** Largest file of a capture but for its pages, and largest ZIP: they are read whole. */
const MAX_FILE = 2 ** 29;
const MAX_ZIP = 2 ** 31 - 1;
/** Deflate cannot shrink more than this. */
const MAX_RATIO = 1032;

export const MANIFEST = 'manifest.json';
export const TRAILER = 'trailer.json';
export const codeName = (sha256: string): string => `code/${sha256}`;
/** All pages one after the other; the trailer says where each is. */
export const PACK = 'pages.pack';
/** The file of a page in a capture of format 1.0. */
export const pageName = (sha256: string): string => `pages/${sha256.slice(0, 2)}/${sha256}`;

/** The files of a capture, by name. */
export interface CaptureFiles {
  readonly path: string;
  /** Undefined when there is none. */
  read(name: string): Uint8Array | undefined;
  /** A part of a file; undefined when the file does not hold all of it. */
  readPart(name: string, at: number, length: number): Uint8Array | undefined;
  /** Its bytes; undefined when there is none. */
  size(name: string): number | undefined;
}

function unreadable(path: string, error: unknown): WavesmithError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOENT' ? 'no such file' : message;
  return new WavesmithError('io/read', `Cannot read '${path}': ${reason}.`, { file: path, hint: 'Check the path.' });
}

/** Looks at files; what the system refuses is `io/read`. */
function looking<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw error instanceof WavesmithError ? error : unreadable(path, error);
  }
}

/** What is at a path, without following a link; undefined when nothing is. */
const factsOf = (path: string): Stats | undefined =>
  looking(path, (): Stats | undefined => lstatSync(path, { throwIfNoEntry: false }));

/** Opens a folder or a ZIP; what is neither is `capture/not-a-capture`. */
export function openFiles(path: string): CaptureFiles {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    const parts = partialsOf(path);
    if (parts.length === 0) throw unreadable(path, error);
    throw new WavesmithError('capture/incomplete', `The recording of '${path}' did not come to its end.`, {
      file: path,
      hint: `What there is of it is in '${parts[0]}'.`,
    });
  }
  return isFolder ? new Folder(path) : openZip(path);
}

/** Folders of recordings of a capture that were interrupted. */
function partialsOf(path: string): string[] {
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  return looking(folder, () => readdirSync(folder))
    .filter((name) => name.startsWith(`${basename(path)}.partial-`))
    .map((name) => join(folder, name));
}

class Folder implements CaptureFiles {
  readonly path: string;
  private readonly checked = new Map<string, boolean>();

  constructor(path: string) {
    this.path = path;
  }

  /** Whether the folder of a name is a folder of the capture itself. */
  private hasFolder(name: string): boolean {
    const folder = dirname(name);
    if (folder === '.') return true;
    let known = this.checked.get(folder);
    if (known === undefined) {
      known = this.hasFolder(folder) && (factsOf(join(this.path, folder))?.isDirectory() ?? false);
      this.checked.set(folder, known);
    }
    return known;
  }

  size(name: string): number | undefined {
    const stats = this.hasFolder(name) ? factsOf(join(this.path, name)) : undefined;
    return stats?.isFile() ? stats.size : undefined;
  }

  read(name: string): Uint8Array | undefined {
    const size = this.size(name);
    if (size === undefined) return undefined;
    if (size > MAX_FILE) throw tooLarge(join(this.path, name), size);
    return this.readPart(name, 0, size);
  }

  readPart(name: string, start: number, length: number): Uint8Array | undefined {
    if (start + length > (this.size(name) ?? -1)) return undefined;
    const file = join(this.path, name);
    let descriptor: number;
    try {
      descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      throw unreadable(file, error);
    }
    try {
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; ) {
        const count = readSync(descriptor, bytes, at, length - at, start + at);
        if (count === 0) return undefined;
        at += count;
      }
      return bytes;
    } catch (error) {
      throw unreadable(file, error);
    } finally {
      closeSync(descriptor);
    }
  }
}

function tooLarge(file: string, size: number): WavesmithError {
  return new WavesmithError('capture/damaged', `'${file}' has ${size} bytes; no file of a capture is that large.`, {
    file,
  });
}

/** Whether bytes begin as a ZIP does. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

function openZip(path: string): CaptureFiles {
  let bytes: Uint8Array;
  try {
    const { size } = statSync(path);
    if (size > MAX_ZIP) throw tooLarge(path, size);
    bytes = readWholeFile(path);
  } catch (error) {
    throw error instanceof WavesmithError ? error : unreadable(path, error);
  }
  return filesOfZip(bytes, path);
}

/** The files of a ZIP in memory. */
export function filesOfZip(bytes: Uint8Array, path: string): CaptureFiles {
  if (!isZip(bytes)) {
    throw new WavesmithError('capture/not-a-capture', `'${path}' is neither a folder nor a ZIP: it is no capture.`, {
      file: path,
      hint: "'wavesmith run … --capture X.wscap' makes one.",
    });
  }
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(bytes, {
      filter: ({ name, size, originalSize }) => {
        if (name.endsWith('/')) return false;
        if (!NAME.test(name)) {
          throw new WavesmithError(
            'capture/bad-path',
            `The archive has an entry '${name.slice(0, 100)}'; no capture has that.`,
            {
              file: path,
              hint: 'It was made or changed by something else; nothing of it was read.',
            },
          );
        }
        if ((originalSize > MAX_FILE && name !== PACK) || originalSize > MAX_RATIO * size + 64) {
          throw new WavesmithError('capture/damaged', `Entry '${name}' of the archive claims ${originalSize} bytes.`, {
            file: path,
          });
        }
        return true;
      },
    });
  } catch (cause) {
    if (cause instanceof WavesmithError) throw cause;
    const hint = 'It is truncated: the recording or a copy of it was interrupted.';
    throw new WavesmithError('capture/incomplete', `'${path}' is no whole ZIP.`, { file: path, hint, cause });
  }
  const all = new Map(Object.entries(entries));
  return {
    path,
    read: (name) => all.get(name),
    size: (name) => all.get(name)?.length,
    readPart: (name, at, length) => {
      const bytes = all.get(name);
      return bytes === undefined || at + length > bytes.length ? undefined : bytes.subarray(at, at + length);
    },
  };
}

/** A capture that is being written: `PATH.partial-PID` until it is complete. */
export class FolderWriter {
  readonly path: string;
  /** Where it is until then. */
  readonly partial: string;
  private readonly replaces: boolean;
  private readonly folders = new Set<string>();
  /** The file of pages and its length, from the first page on. */
  private pack: number | undefined;
  private packed = 0;

  /** What exists at `path` is `capture/exists` unless it is to be replaced. */
  constructor(path: string, replace: boolean) {
    this.path = path.replace(/(?<=.)\/+$/, '');
    this.replaces = replace;
    this.refuseOther();
    if (replace && existsSync(this.path) && !this.io(() => isCapture(this.path))) {
      throw new WavesmithError('capture/exists', `'${this.path}' exists and is no capture: it is not replaced.`, {
        file: this.path,
      });
    }
    this.partial = `${this.path}.partial-${process.pid}`;
    this.io(() => {
      rmSync(this.partial, { recursive: true, force: true });
      makeFolders(dirname(this.partial));
      mkdirSync(this.partial, { mode: 0o700 });
    });
  }

  private refuseOther(): void {
    if (this.replaces || !existsSync(this.path)) return;
    throw new WavesmithError('capture/exists', `'${this.path}' exists already.`, {
      file: this.path,
      hint: 'Remove it, choose another name, or pass --force.',
    });
  }

  private io<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      throw new WavesmithError('io/write', `Cannot write '${this.path}': ${(error as Error).message}.`, {
        file: this.path,
      });
    }
  }

  write(name: string, bytes: Uint8Array | string): void {
    this.io(() => {
      this.makeFolder(dirname(name));
      const file = join(this.partial, name);
      const temporary = `${file}.new`;
      writeFileSync(temporary, bytes, { mode: 0o600 });
      renameSync(temporary, file);
    });
  }

  /** Adds a page to those that are there; gives where it is. Until the trailer is there nobody takes a part of one for the whole. */
  writePage(bytes: Uint8Array): number {
    const start = this.packed;
    this.io(() => {
      this.pack ??= openSync(join(this.partial, PACK), 'wx', 0o600);
      for (let at = 0; at < bytes.length; ) at += writeSync(this.pack, bytes, at);
    });
    this.packed += bytes.length;
    return start;
  }

  private closePack(): void {
    if (this.pack !== undefined) closeSync(this.pack);
    this.pack = undefined;
  }

  private makeFolder(folder: string): void {
    if (folder === '.' || this.folders.has(folder)) return;
    mkdirSync(join(this.partial, folder), { recursive: true, mode: 0o700 });
    this.folders.add(folder);
  }

  /** What is written so far. */
  get files(): CaptureFiles {
    return new Folder(this.partial);
  }

  /** Makes what is written durable and gives it its name; with `zip` as one file. */
  finish(names: readonly string[], zip: boolean): void {
    let result = this.partial;
    this.io(() => {
      this.closePack();
      for (const name of names) sync(join(this.partial, name));
      sync(this.partial);
      if (zip) {
        result = `${this.partial}.zip`;
        packZip(this.files, names, result);
        sync(result);
      }
    });
    // Another recording may have taken the name meanwhile.
    this.refuseOther();
    this.io(() => {
      if (this.replaces && existsSync(this.path)) {
        const old = `${this.path}.old-${process.pid}`;
        renameSync(this.path, old);
        renameSync(result, this.path);
        rmSync(old, { recursive: true, force: true });
      } else renameSync(result, this.path);
      if (zip) this.abandon();
      sync(dirname(this.path));
    });
  }

  abandon(): void {
    this.closePack();
    rmSync(this.partial, { recursive: true, force: true });
    rmSync(`${this.partial}.zip`, { force: true });
  }
}

/** Whether a path holds something that may be replaced by a capture. */
function isCapture(path: string): boolean {
  if (!statSync(path).isDirectory()) return statSync(path).size === 0 || beginsAsCapture(path);
  if (readdirSync(path).length === 0) return true;
  const manifest = join(path, MANIFEST);
  return lstatSync(manifest, { throwIfNoEntry: false })?.isFile() === true && /"wscap"/.test(startOf(manifest, 64));
}

/** The first characters of a file. */
function startOf(path: string, length: number): string {
  const start = new Uint8Array(length);
  const descriptor = openSync(path, 'r');
  try {
    return Buffer.from(start.subarray(0, readSync(descriptor, start))).toString('latin1');
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file is a ZIP that begins with a manifest. */
function beginsAsCapture(path: string): boolean {
  const start = startOf(path, 30 + MANIFEST.length);
  return isZip(Buffer.from(start, 'latin1')) && start.slice(30) === MANIFEST;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Times of ZIP entries: the same bytes for the same capture. */
const ZIP_TIME = new Date(1980, 0, 1);
/** Bytes of a file that are in memory at a time. */
const ZIP_STEP = 2 ** 24;

function packZip(files: CaptureFiles, names: readonly string[], path: string): void {
  const descriptor = openSync(path, 'w', 0o600);
  try {
    let failure: Error | undefined;
    let bytes = 0;
    const zip = new Zip((error, chunk) => {
      if (error !== null) failure = error;
      else for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
    });
    for (const name of names) {
      const size = files.size(name) ?? 0;
      bytes += size;
      if (bytes > MAX_ZIP) throw new Error('one ZIP holds at most 2 GiB; a capture that is a folder may be larger');
      const entry = new ZipPassThrough(name);
      entry.mtime = ZIP_TIME;
      zip.add(entry);
      let at = 0;
      do {
        const length = Math.min(ZIP_STEP, size - at);
        const part = files.readPart(name, at, length);
        if (part === undefined) throw new Error(`${name} was changed while it was packed`);
        at += length;
        entry.push(part, at === size);
      } while (at < size);
    }
    zip.end();
    if (failure !== undefined) throw failure;
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a path is meant as a capture: a folder, something called `.wscap`, or a ZIP that begins with a manifest. */
export function isCapturePath(path: string): boolean {
  const stats = looking(path, (): Stats | undefined => statSync(path, { throwIfNoEntry: false }));
  if (stats?.isDirectory() || /\.wscap(\.zip)?\/?$/.test(path)) return true;
  return stats?.isFile() === true && looking(path, () => beginsAsCapture(path));
}
