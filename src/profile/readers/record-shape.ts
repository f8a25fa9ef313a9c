// Records of a profiler's list mostly differ in their integers only: one that JSON.parse has read shows how the next ones are read without it.

const [ZERO, NINE, QUOTE, BACKSLASH] = [0x30, 0x39, 0x22, 0x5c];
/** Integers of more digits are none that a double holds exactly; of those of as many, some are not. */
const MOST_DIGITS = 16;
/** The texts of longer records are not kept. */
const MOST_BYTES = 1 << 14;
/** Bytes between which an integer stands alone. */
const BEFORE = new Set([...':[,\t\n\r '].map((text) => text.charCodeAt(0)));
const AFTER = new Set([...',]}\t\n\r '].map((text) => text.charCodeAt(0)));
/** What stands for integers when the shape is made begins with this character. */
const MARK = '\u0001';

type Holder = Record<string | number, unknown>;

/** Where in a record an integer stands. */
interface Place {
  readonly holder: Holder;
  readonly key: string | number;
  /** Which integer of the text it is. */
  readonly index: number;
}

/** Bytes of a text from one integer to the next. */
type Part = readonly [from: number, to: number];

/** What texts have in common that are the same but for their integers. All of them are read into one record. */
export class RecordShape {
  /** The record that was read last. The next one takes its place. */
  readonly record: unknown;
  private readonly text: DataView;
  private readonly from: Int32Array;
  private readonly to: Int32Array;
  private readonly places: readonly Place[];
  private readonly numbers: Float64Array;

  private constructor(record: unknown, text: Uint8Array, parts: readonly Part[], places: readonly Place[]) {
    this.record = record;
    this.text = new DataView(text.buffer, text.byteOffset, text.byteLength);
    this.from = Int32Array.from(parts, ([from]) => from);
    this.to = Int32Array.from(parts, ([, to]) => to);
    this.places = places;
    this.numbers = new Float64Array(parts.length - 1);
  }

  /** The shape of a whole JSON object or list, in UTF-8; undefined for a text that is long, or that has what a shape cannot tell. */
  static of(bytes: Uint8Array): RecordShape | undefined {
    if (bytes.length > MOST_BYTES) return undefined;
    const text = bytes.slice();
    const parts = partsOf(text);
    if (parts === undefined) return undefined;
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const between = parts.map(([from, to]) => decoder.decode(text.subarray(from, to)));
    // A name that cannot be assigned to, or a character that would be taken for a mark.
    if (between.some((part) => part.includes('__proto__') || part.includes('\\u0'))) return undefined;
    const marked = between.map((part, i) => (i > 0 ? `"\\u0001${i - 1}"${part}` : part));
    const record: unknown = JSON.parse(marked.join(''));
    const places: Place[] = [];
    findPlaces(record, places);
    return new RecordShape(record, text, parts, places);
  }

  /**
   * Reads the text that begins at `at` into `record`; `view` is of the same bytes. Returns where it ends; -1, and `record` is as it was, when it is of another shape or not
   * all of it is there.
   */
  read(bytes: Uint8Array, view: DataView, at: number): number {
    const { text, from, to, numbers } = this;
    const last = from.length - 1;
    let here = at;
    for (let i = 0; ; i++) {
      const end = to[i];
      let k = from[i];
      if (here + end - k > bytes.length) return -1;
      for (; k + 4 <= end; k += 4, here += 4) if (view.getInt32(here) !== text.getInt32(k)) return -1;
      for (; k < end; k++) if (bytes[here++] !== text.getUint8(k)) return -1;
      if (i === last) break;
      const first = here;
      let value = 0;
      let digit = bytes[here] - ZERO;
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = bytes[++here] - ZERO;
      }
      const digits = here - first;
      const isExact = digits <= MOST_DIGITS && value <= Number.MAX_SAFE_INTEGER;
      if (digits === 0 || !isExact || (digits > 1 && bytes[first] === ZERO)) return -1;
      numbers[i] = value;
    }
    for (const { holder, key, index } of this.places) holder[key] = numbers[index];
    return here;
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

/** The places of a value in which marks stand. */
function findPlaces(value: unknown, places: Place[]): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Holder;
  for (const key of Object.keys(holder)) {
    const inner = holder[key];
    if (typeof inner !== 'string') findPlaces(inner, places);
    else if (inner.startsWith(MARK))
      places.push({ holder, key: Array.isArray(value) ? Number(key) : key, index: Number(inner.slice(1)) });
  }
}
