// JSON files of any size, value by value: only the values asked for are built, and lists that were handed over do not grow.
import { JSONParser } from '@streamparser/json';
import { WavesmithError } from '../../base/index.ts';
import { type ByteSource, CHUNK } from '../source.ts';

/** A JSON value read as data: members are looked up as own properties only. */
export type Json = unknown;

/** Longest stretch of a file without one complete value. */
const MAX_RECORD_BYTES = 64 << 20;

/** What profilers write nests at most twelve deep; the parser's work per value grows with the depth. */
const MAX_DEPTH = 64;

/** Follows brackets outside strings, so that nesting is bounded before anything is parsed. */
class DepthGuard {
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** False when `bytes` nest too deep. */
  accept(bytes: Uint8Array): boolean {
    let { depth, inString, escaped } = this;
    for (const byte of bytes) {
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) inString = false;
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x5b || byte === 0x7b) {
        if (++depth > MAX_DEPTH) return false;
      } else if (byte === 0x5d || byte === 0x7d) depth--;
    }
    this.depth = depth;
    this.inString = inString;
    this.escaped = escaped;
    return true;
  }
}

/**
 * Reads a file and hands over every value at one of `paths` (`$.a.*.b`, `*` for any key) with the keys that lead to it, the first of
 * them the root's (undefined). An array of which elements were handed over is empty when it is handed over itself.
 * Damaged and truncated files are `profile/bad-json`.
 */
export function streamJson(
  source: ByteSource,
  paths: readonly string[],
  onValue: (path: readonly (string | number | undefined)[], value: Json) => void,
): void {
  const parser = new JSONParser({ paths: [...paths], keepStack: false });
  const guard = new DepthGuard();
  let lastValueAt = 0;
  let offset = 0;
  let failure: Error | undefined;
  parser.onValue = ({ value, key, parent, stack }) => {
    lastValueAt = offset;
    onValue(stack.map((entry) => entry.key).concat(key), value as Json);
    if (Array.isArray(parent)) parent.length = 0;
  };
  parser.onError = (error) => {
    failure ??= error;
  };
  while (offset < source.size && failure === undefined) {
    const bytes = source.read(offset, CHUNK);
    if (bytes.length === 0) break;
    offset += bytes.length;
    if (!guard.accept(bytes)) {
      failure = new Error(`it nests deeper than ${MAX_DEPTH} levels`);
      break;
    }
    try {
      parser.write(bytes.slice());
    } catch (error) {
      failure ??= error as Error;
    }
    if (offset - lastValueAt > MAX_RECORD_BYTES)
      failure ??= new Error(`no value that is read ends within ${MAX_RECORD_BYTES} bytes`);
  }
  if (failure instanceof WavesmithError) throw failure;
  if (failure !== undefined || !parser.isEnded) {
    throw new WavesmithError(
      'profile/bad-json',
      `${source.path} is not complete JSON: ${failure?.message ?? 'the file ends early'}.`,
      { file: source.path, byteOffset: offset, hint: 'The file is truncated or damaged; get a fresh copy.' },
    );
  }
}
