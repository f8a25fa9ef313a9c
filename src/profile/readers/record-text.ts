// The text of records that are the same but for their integers: how further ones are read without JSON.parse.

const [ZERO, NINE, QUOTE, BACKSLASH] = [0x30, 0x39, 0x22, 0x5c];
/** Integers of more digits are none that a double holds exactly; of those of as many, some are not. */
const MOST_DIGITS = 16;
/** Digits that an int32 holds. */
const FEW_DIGITS = 9;
const POWERS = Array.from({ length: MOST_DIGITS + 1 }, (_, i) => 10 ** i);
/** The texts of longer records are not kept. */
export const MOST_RECORD = 1 << 14;
/** Bytes between which an integer stands alone. */
const BEFORE = new Set([...':[,\t\n\r '].map((text) => text.charCodeAt(0)));
const AFTER = new Set([...',]}\t\n\r '].map((text) => text.charCodeAt(0)));

/** Bytes of a text from one integer to the next. */
type Part = readonly [from: number, to: number];

/** A whole JSON object or list, in UTF-8, of which only the integers matter that stand alone. */
export class RecordText {
  /** The bytes. */
  readonly bytes: Uint8Array;
  /** The parts around the integers, one more than there are of these. */
  readonly parts: readonly Part[];
  private readonly text: DataView;
  private readonly from: Int32Array;
  private readonly to: Int32Array;

  private constructor(bytes: Uint8Array, parts: readonly Part[]) {
    this.bytes = bytes;
    this.parts = parts;
    this.text = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.from = Int32Array.from(parts, ([from]) => from);
    this.to = Int32Array.from(parts, ([, to]) => to);
  }

  /** Takes a copy of the bytes; undefined for a long text, and for one with an integer that is longer than a double can hold. */
  static of(bytes: Uint8Array): RecordText | undefined {
    if (bytes.length > MOST_RECORD) return undefined;
    const text = bytes.slice();
    const parts = partsOf(text);
    return parts && new RecordText(text, parts);
  }

  /** How many integers there are. */
  get integers(): number {
    return this.parts.length - 1;
  }

  /**
   * Reads the integers of the text that begins at `at`, to `into` from `first` on; `view` is of the same bytes. Returns where the text ends; -1, and `into`
   * may have changed, when it is another one or not all of it is there.
   */
  read(bytes: Uint8Array, view: DataView, at: number, into: Float64Array, first: number): number {
    const { text, from, to } = this;
    const last = from.length - 1;
    let here = at;
    for (let i = 0; ; i++) {
      const end = to[i];
      let k = from[i];
      if (here + end - k > bytes.length) return -1;
      for (; k + 4 <= end; k += 4, here += 4) if (view.getInt32(here) !== text.getInt32(k)) return -1;
      for (; k < end; k++) if (bytes[here++] !== text.getUint8(k)) return -1;
      if (i === last) return here;
      const begin = here;
      let value = 0;
      let digit = bytes[here] - ZERO;
      for (; digit >= 0 && digit <= 9 && here - begin < FEW_DIGITS; digit = bytes[++here] - ZERO)
        value = (10 * value + digit) | 0;
      if (digit >= 0 && digit <= 9) {
        const few = here;
        let low = 0;
        for (; digit >= 0 && digit <= 9 && here - begin <= MOST_DIGITS; digit = bytes[++here] - ZERO)
          low = 10 * low + digit;
        if (here - begin > MOST_DIGITS) return -1;
        value = value * POWERS[here - few] + low;
      }
      const digits = here - begin;
      if (digits === 0 || value > Number.MAX_SAFE_INTEGER || (digits > 1 && bytes[begin] === ZERO)) return -1;
      into[first + i] = value;
    }
  }

  /** Where the first part stands next, from `at` on and before `to`; -1 where it does not. */
  find(bytes: Uint8Array, at: number, to: number): number {
    const [, end] = this.parts[0];
    for (let here = bytes.indexOf(this.bytes[0], at); here >= 0 && here < to; ) {
      let k = 1;
      while (k < end && bytes[here + k] === this.bytes[k]) k++;
      if (k === end) return here;
      here = bytes.indexOf(this.bytes[0], here + 1);
    }
    return -1;
  }
}

/** The parts of a text around the integers that stand alone; undefined when there is a longer one than a double can hold. */
function partsOf(text: Uint8Array): Part[] | undefined {
  const parts: Part[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const byte = text[at];
    if (byte === QUOTE) {
      at++;
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
      at++;
    } else if (byte >= ZERO && byte <= NINE) {
      const first = at;
      while (text[at] >= ZERO && text[at] <= NINE) at++;
      if (at - first > MOST_DIGITS) return undefined;
      if (!BEFORE.has(text[first - 1]) || !AFTER.has(text[at])) continue;
      parts.push([from, first]);
      from = at;
    } else at++;
  }
  parts.push([from, text.length]);
  return parts;
}
