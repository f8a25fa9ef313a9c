// Text as it is produced: bytes in a buffer that is handed on whenever it is full, so that the text of a large file is
// neither joined from strings nor in memory as a whole.

const DEFAULT_SIZE = 1 << 18;
/** Below this, halves of a text that does not fit could be empty. */
const MIN_SIZE = 16;

/**
 * A buffer for text. Writers with much to say ask for room, write into `bytes` from `at` on and move `at`; the others
 * write strings. `finish` hands on the rest and must be called last.
 */
export class TextOutput {
  readonly bytes: Uint8Array;
  /** Where the next byte goes. */
  at = 0;
  private readonly emit: (chunk: Uint8Array) => void;

  /** `emit` gets the text chunk by chunk; a chunk's bytes are used again after it returns. `size` is the buffer's, in bytes (at least 16). */
  constructor(emit: (chunk: Uint8Array) => void, size = DEFAULT_SIZE) {
    this.emit = emit;
    this.bytes = new Uint8Array(Math.max(size, MIN_SIZE));
  }

  /** Makes room for `count` bytes behind `at`; at most the buffer's size. */
  room(count: number): void {
    if (this.bytes.length - this.at < count) this.flush();
  }

  /** Writes a string in UTF-8. */
  write(text: string): void {
    if (text.length * 3 > this.bytes.length) {
      const half = text.length >> 1;
      // A surrogate pair stays together.
      const middle = (text.charCodeAt(half) & 0xfc00) === 0xdc00 ? half - 1 : half;
      this.write(text.slice(0, middle));
      this.write(text.slice(middle));
      return;
    }
    this.room(text.length * 3);
    const { bytes } = this;
    const start = this.at;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) {
        this.at = start + encoder.encodeInto(text, bytes.subarray(start)).written;
        return;
      }
      bytes[start + i] = code;
    }
    this.at = start + text.length;
  }

  /** Writes lines, each with its end. */
  push(...lines: string[]): void {
    for (const line of lines) {
      this.write(line);
      this.room(1);
      this.bytes[this.at++] = 10;
    }
  }

  private flush(): void {
    if (this.at > 0) this.emit(this.bytes.subarray(0, this.at));
    this.at = 0;
  }

  /** Hands on what is left. */
  finish(): void {
    this.flush();
  }
}

const encoder = new TextEncoder();

const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** Writes the low `digits` hexadecimal digits of `value` (at most 8) to `bytes` at `at`, lower-case. */
export function writeHex(bytes: Uint8Array, at: number, value: number, digits: number): void {
  for (let i = at + digits - 1, rest = value; i >= at; i--) {
    bytes[i] = DIGITS[rest & 15] as number;
    rest >>>= 4;
  }
}
