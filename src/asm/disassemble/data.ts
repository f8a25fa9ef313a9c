// Bytes as data directives: strings where they read as text, words where they are aligned, runs as `.fill` or `.zero`.

/** Where lines go: an array, or something that passes them on. */
export interface LineSink {
  push(...lines: string[]): unknown;
}

/** Bytes of the same value shorter than this stay in ordinary directives. */
const MIN_ZERO_RUN = 16;
const MIN_WORD_RUN = 8;
const MIN_TEXT = 8;
const PER_LINE = 8;

/**
 * Directive lines (without indent) for `bytes[start, end)`. `address` is the position of `start` in its section; words
 * are used from the next multiple of four on.
 */
export function dataDirectives(bytes: Uint8Array, start: number, end: number, address = start): string[] {
  const lines: string[] = [];
  const scan = new TextScan(bytes, end);
  let at = start;
  while (at < end) {
    const zeros = runLength(bytes, at, end);
    if (zeros >= MIN_ZERO_RUN || (zeros === end - at && zeros > 4)) {
      lines.push(`.zero ${zeros}`);
      at += zeros;
      continue;
    }
    const text = scan.length(at);
    if (text > 0) {
      lines.push(textDirective(bytes, at, at + text));
      at += text;
      continue;
    }
    if ((address + at - start) % 4 !== 0 || end - at < 4) {
      const next = Math.min(end, at + (4 - ((address + at - start) % 4)));
      lines.push(byteDirective(bytes, at, next));
      at = next;
      continue;
    }
    at = pushWords(lines, bytes, at, end, scan);
  }
  return lines;
}

/** Number of zero bytes from `at` on. */
function runLength(bytes: Uint8Array, at: number, end: number): number {
  let stop = at;
  while (stop < end && bytes[stop] === 0) stop++;
  return stop - at;
}

/** Finds NUL-terminated printable text; remembers where there is none, so that a scan stays linear. */
class TextScan {
  private noTextBefore = 0;
  private readonly bytes: Uint8Array;
  private readonly end: number;

  constructor(bytes: Uint8Array, end: number) {
    this.bytes = bytes;
    this.end = end;
  }

  /** Length of the text at `at` with its NUL, or 0 when there is no text worth a string. */
  length(at: number): number {
    if (at < this.noTextBefore) return 0;
    let stop = at;
    while (stop < this.end && isText(this.bytes[stop])) stop++;
    const isTerminated = stop < this.end && this.bytes[stop] === 0;
    if (isTerminated && stop - at >= MIN_TEXT) return stop - at + 1;
    this.noTextBefore = stop;
    return 0;
  }
}

function isText(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x09;
}

function textDirective(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end - 1; at++) text += escaped(bytes[at]);
  return `.asciz "${text}"`;
}

function escaped(byte: number): string {
  if (byte === 0x0a) return '\\n';
  if (byte === 0x09) return '\\t';
  const char = String.fromCharCode(byte);
  return char === '"' || char === '\\' ? `\\${char}` : char;
}

function byteDirective(bytes: Uint8Array, start: number, end: number): string {
  return `.byte ${Array.from(bytes.subarray(start, end), (b) => hex(b)).join(', ')}`;
}

function pushWords(lines: string[], bytes: Uint8Array, start: number, end: number, scan: TextScan): number {
  const repeats = wordRun(bytes, start, end);
  if (repeats >= MIN_WORD_RUN) {
    lines.push(`.fill ${repeats}, 4, ${hex(wordAt(bytes, start))}`);
    return start + repeats * 4;
  }
  const words: string[] = [];
  let at = start;
  while (at + 4 <= end && words.length < PER_LINE) {
    const isBreak = at > start && (runLength(bytes, at, end) >= MIN_ZERO_RUN || scan.length(at) > 0);
    if (isBreak || (at > start && wordRun(bytes, at, end) >= MIN_WORD_RUN)) break;
    words.push(hex(wordAt(bytes, at)));
    at += 4;
  }
  lines.push(`.long ${words.join(', ')}`);
  return at;
}

/** How often the word at `at` repeats, itself included. */
function wordRun(bytes: Uint8Array, at: number, end: number): number {
  let next = at + 4;
  while (
    next + 4 <= end &&
    bytes[next] === bytes[at] &&
    bytes[next + 1] === bytes[at + 1] &&
    bytes[next + 2] === bytes[at + 2] &&
    bytes[next + 3] === bytes[at + 3]
  ) {
    next += 4;
  }
  return (next - at) / 4;
}

/** The little-endian 32-bit word at `at`. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** `0x` and lower-case digits. */
export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Appends lines; unlike `push(...lines)` it takes any number of them. */
export function pushAll(out: LineSink, lines: Iterable<string>): void {
  for (const line of lines) out.push(line);
}

/** The lines with a tab in front. */
export function* indented(lines: Iterable<string>): Iterable<string> {
  for (const line of lines) yield `\t${line}`;
}

/** Up to four bytes that are not an instruction: a word, or bytes. */
export function rawText(bytes: Uint8Array, at: number, size: number): string {
  if (size === 4) return `.long ${hex(wordAt(bytes, at))}`;
  return `.byte ${Array.from(bytes.subarray(at, at + size), (byte) => hex(byte)).join(', ')}`;
}
