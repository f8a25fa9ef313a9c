// JSON files of any size, value by value: only the values asked for are built, and lists that were handed over do not grow.
import { Tokenizer, TokenParser } from '@streamparser/json';
import { WavesmithError } from '../../base/index.ts';
import { type ByteSource, CHUNK } from '../source.ts';

/** A JSON value read as data: members are looked up as own properties only. */
export type Json = unknown;

/** Longest stretch of a file without one complete value. */
const MAX_RECORD_BYTES = 64 << 20;

/** Files up to this size are parsed at once, which is many times as fast; what they become in memory stays small. */
const MAX_WHOLE = 16 << 20;

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

/** Numbers as JavaScript has them, but integers that a double cannot hold as bigint. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    const value = Number(text);
    if (Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(text)) return value;
    return BigInt(text) as unknown as number;
  }
}

/** Whether a text has a run of digits that a double may not hold. */
const hasLongNumber = (bytes: Uint8Array): boolean => {
  let digits = 0;
  for (const byte of bytes) {
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
    if (digits > 15) return true;
  }
  return false;
};

/**
 * Reads a file and hands over every value at one of `paths` (`$.a.*.b`, `*` for any key) with the keys that lead to it, the first of
 * them the root's (undefined). An array of which elements were handed over is empty when it is handed over itself.
 * Integers above 2^53 are bigint.
 * Damaged and truncated files are `profile/bad-json`.
 */
export function streamJson(
  source: ByteSource,
  paths: readonly string[],
  onValue: (path: readonly (string | number | undefined)[], value: Json) => void,
): void {
  if (source.size <= MAX_WHOLE && !hasLongNumber(source.read(0, source.size))) {
    const root = parseWhole(source);
    visit(
      root,
      [undefined],
      paths.map((path) => path.split('.').slice(1)),
      onValue,
    );
    return;
  }
  const tokenizer = new ExactTokenizer({});
  const parser = new TokenParser({ paths: [...paths], keepStack: false });
  tokenizer.onToken = parser.write.bind(parser);
  const guard = new DepthGuard();
  let lastValueAt = 0;
  let offset = 0;
  let failure: Error | undefined;
  parser.onValue = ({ value, key, parent, stack }) => {
    lastValueAt = offset;
    onValue(stack.map((entry) => entry.key).concat(key), value as Json);
    if (Array.isArray(parent)) parent.length = 0;
  };
  tokenizer.onEnd = () => {
    if (!parser.isEnded) parser.end();
  };
  parser.onEnd = () => {
    if (!tokenizer.isEnded) tokenizer.end();
  };
  parser.onError = (error) => {
    failure ??= error;
  };
  tokenizer.onError = parser.onError;
  while (offset < source.size && failure === undefined) {
    const bytes = source.read(offset, CHUNK);
    if (bytes.length === 0) break;
    offset += bytes.length;
    if (!guard.accept(bytes)) {
      failure = new Error(`it nests deeper than ${MAX_DEPTH} levels`);
      break;
    }
    try {
      tokenizer.write(bytes.slice());
    } catch (error) {
      failure ??= error as Error;
    }
    if (offset - lastValueAt > MAX_RECORD_BYTES)
      failure ??= new Error(`no value that is read ends within ${MAX_RECORD_BYTES} bytes`);
  }
  // The parser hands on what `onValue` throws; a mistake of ours is no damage of the file.
  const isOurs = failure instanceof WavesmithError || failure instanceof TypeError || failure instanceof ReferenceError;
  if (isOurs) throw failure;
  if (failure !== undefined || !parser.isEnded) {
    throw badJson(source.path, failure?.message ?? 'the file ends early', offset);
  }
}

function badJson(file: string, why: string, byteOffset: number): WavesmithError {
  return new WavesmithError('profile/bad-json', `${file} is not complete JSON: ${why}.`, {
    file,
    byteOffset,
    hint: 'The file is truncated or damaged; get a fresh copy.',
  });
}

function parseWhole(source: ByteSource): Json {
  const bytes = source.read(0, source.size);
  if (!new DepthGuard().accept(bytes)) {
    throw badJson(source.path, `it nests deeper than ${MAX_DEPTH} levels`, 0);
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Json;
  } catch (error) {
    throw badJson(source.path, (error as Error).message, bytes.length);
  }
}

/** Hands over what lies at the paths below a value, in order, parts before the whole. */
function visit(
  value: Json,
  keys: readonly (string | number | undefined)[],
  paths: readonly (readonly string[])[],
  onValue: (path: readonly (string | number | undefined)[], value: Json) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const child = (key: string | number, inner: Json): void => {
    const next: (readonly string[])[] = [];
    let wanted = false;
    for (const path of paths) {
      if (path[0] !== '*' && path[0] !== String(key)) continue;
      if (path.length === 1) wanted = true;
      else next.push(path.slice(1));
    }
    if (next.length === 0 && !wanted) return;
    const at = [...keys, key];
    if (next.length > 0) visit(inner, at, next, onValue);
    if (wanted) onValue(at, Array.isArray(inner) && next.length > 0 ? [] : inner);
  };
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) child(i, value[i]);
  else for (const [key, inner] of Object.entries(value)) child(key, inner);
}
