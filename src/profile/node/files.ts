// Finds and opens profile files on disk. Folders are walked with bounds, so that a link loop or a huge tree ends.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { WavesmithError } from '../../base/index.ts';
import { type ByteSource, type ProfileFile, readWhole } from '../source.ts';
import { tableThreads } from './table-threads.ts';

const MAX_FILES = 50_000;
const MAX_DEPTH = 8;
/** Compressed files are unpacked in memory. */
const MAX_PACKED = 1 << 28;
const MAX_UNPACKED = 1 << 30;

/** A file on disk; `realPath` is for readers that need the path itself (SQLite). */
export interface DiskFile extends ProfileFile {
  readonly realPath: string;
}

function diskFile(realPath: string, path: string, size: number): DiskFile {
  return {
    realPath,
    path,
    size,
    open<T>(use: (source: ByteSource) => T): T {
      let fd: number;
      try {
        fd = openSync(realPath, 'r');
      } catch (error) {
        throw unreadable(path, error);
      }
      let buffer = new Uint8Array(0);
      const source: ByteSource = {
        path,
        size,
        read(offset, length) {
          const wanted = Math.max(0, Math.min(length, size - offset));
          if (buffer.length < wanted) buffer = new Uint8Array(wanted);
          let got = 0;
          while (got < wanted) {
            const n = readSync(fd, buffer, got, wanted - got, offset + got);
            if (n === 0) break;
            got += n;
          }
          return buffer.subarray(0, got);
        },
        rowBlocks: (plan) => tableThreads(realPath, size, plan),
        recordBlocks: (plan) => tableThreads(realPath, size, plan),
      };
      try {
        return use(isGzip(source) ? unpacked(source) : source);
      } finally {
        closeSync(fd);
      }
    },
  };
}

function isGzip(source: ByteSource): boolean {
  const start = source.read(0, 3);
  return start[0] === 0x1f && start[1] === 0x8b && start[2] === 8;
}

/** The content of a gzip file, checked against its own sum. */
function unpacked(source: ByteSource): ByteSource {
  const { path } = source;
  const packed = readWhole(source, MAX_PACKED);
  let bytes: Uint8Array;
  try {
    bytes = gunzipSync(packed, { maxOutputLength: MAX_UNPACKED });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw new WavesmithError('profile/too-large', `${path} holds more than ${MAX_UNPACKED} bytes.`, {
        file: path,
        hint: 'Unpack it, and give the unpacked file.',
      });
    }
    throw new WavesmithError('profile/bad-gzip', `${path} is no whole gzip file: ${message}.`, {
      file: path,
      hint: 'Copy the file again.',
    });
  }
  return { path, size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

function unreadable(path: string, error: unknown): WavesmithError {
  const failure = error as NodeJS.ErrnoException;
  const reason = failure.code === 'ENOENT' ? 'no such file or folder' : failure.message;
  return new WavesmithError('io/read', `Cannot read '${path}': ${reason}.`, { file: path, hint: 'Check the path.' });
}

/** All files under the given paths, sorted, with paths relative to what was given. */
export function findFiles(paths: readonly string[]): DiskFile[] {
  const files: DiskFile[] = [];
  const walk = (realPath: string, path: string, depth: number) => {
    let stat: ReturnType<typeof statSync>;
    try {
      stat = statSync(realPath);
    } catch (error) {
      if (depth > 0) return;
      throw unreadable(path, error);
    }
    if (stat.isDirectory()) {
      if (depth > MAX_DEPTH) return;
      for (const name of readdirSync(realPath).sort()) walk(join(realPath, name), `${path}/${name}`, depth + 1);
    } else if (stat.isFile()) {
      if (files.length >= MAX_FILES) {
        throw new WavesmithError('profile/too-many-files', `There are more than ${MAX_FILES} files under the paths.`, {
          hint: 'Give the folder of one profiling run.',
        });
      }
      files.push(diskFile(realPath, path, stat.size));
    }
  };
  // Two folders of one name are shown, and told apart, by the paths that were given.
  const names = paths.map((path) => (basename(path) === '.' || basename(path) === '' ? path : basename(path)));
  paths.forEach((path, i) => {
    walk(path, names.filter((name) => name === names[i]).length > 1 ? path : names[i], 0);
  });
  return files;
}
