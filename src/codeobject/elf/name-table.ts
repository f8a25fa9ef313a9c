// Names of a string table. Files have thousands of them, nearly always ASCII, which are cut out of the whole table's text.

const utf8 = new TextDecoder();
/** What the decoder writes for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** The NUL-terminated names of a section. */
export class NameTable {
  readonly size: number;
  private readonly bytes: Uint8Array;
  /** All names, where every character is one byte. */
  private readonly text: string | undefined;

  constructor(bytes: Uint8Array) {
    this.size = bytes.length;
    this.bytes = bytes;
    const text = utf8.decode(bytes);
    this.text = text.length === bytes.length && !text.includes(REPLACEMENT) ? text : undefined;
  }

  /** The name at an offset below `size`; the end of the table also ends it. */
  at(offset: number): string {
    const { text, bytes } = this;
    if (text !== undefined) {
      const end = text.indexOf('\0', offset);
      return text.slice(offset, end < 0 ? text.length : end);
    }
    const end = bytes.indexOf(0, offset);
    return utf8.decode(bytes.subarray(offset, end < 0 ? bytes.length : end));
  }
}
