// How readers see files. The Node implementation is in node/files.ts; a browser can supply its own.
import { WavesmithError } from '../base/index.ts';
import type { RecordPlan, RowBlocks, RowPlan } from './readers/row-blocks.ts';

/** Random access to the bytes of one file. */
export interface ByteSource {
  /** Shown in messages; relative to what the user gave. */
  readonly path: string;
  readonly size: number;
  /** Up to `length` bytes at `offset`, fewer at the end of the file. The result may be reused by the next call. */
  read(offset: number, length: number): Uint8Array;
  /** Rows of a large table that other threads read; undefined where there are none. */
  readonly rowBlocks?: ((plan: RowPlan) => RowBlocks | undefined) | undefined;
  /** Records of a large list that other threads read. */
  readonly recordBlocks?: ((plan: RecordPlan) => RowBlocks | undefined) | undefined;
}

/** One file found under the given paths. */
export interface ProfileFile {
  /** Relative path with forward slashes, unique among the inputs. */
  readonly path: string;
  readonly size: number;
  /** Opens, calls `use` and closes again. */
  open<T>(use: (source: ByteSource) => T): T;
}

export const CHUNK = 1 << 20;

/** The whole file, refused above `limit` bytes so that nothing is allocated from an unchecked length. */
export function readWhole(source: ByteSource, limit: number): Uint8Array {
  if (source.size > limit) {
    throw new WavesmithError(
      'profile/too-large',
      `${source.path} has ${source.size} bytes; files of this kind are read up to ${limit} bytes.`,
      { file: source.path, hint: 'Record a shorter run, or use the rocpd format, which is read by rows.' },
    );
  }
  return source.read(0, source.size).slice();
}

/** The last path segment, without the ending of a compressed file. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.gz$/, '');
}

/** The folder part, '' for none. */
export function dirName(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '' : path.slice(0, at);
}
