// Records of a profiler's list mostly differ in their integers only: one that JSON.parse has read shows how the next ones are read without it.
import { RecordText } from './record-text.ts';

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

/** What texts have in common that are the same but for their integers. All of them are read into one record. */
export class RecordShape {
  /** The record that was read last. The next one takes its place. */
  readonly record: unknown;
  readonly text: RecordText;
  private readonly places: readonly Place[];
  private readonly numbers: Float64Array;
  /** The integers that the record has. */
  private readonly had: Float64Array;

  private constructor(record: unknown, text: RecordText, places: readonly Place[]) {
    this.record = record;
    this.text = text;
    this.places = places;
    this.numbers = new Float64Array(text.integers);
    this.had = new Float64Array(text.integers).fill(Number.NaN);
  }

  /** The shape of a whole JSON object or list, in UTF-8; undefined for a text that is long, or that has what a shape cannot tell. */
  static of(bytes: Uint8Array): RecordShape | undefined {
    const text = RecordText.of(bytes);
    if (text === undefined) return undefined;
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const between = text.parts.map(([from, to]) => decoder.decode(text.bytes.subarray(from, to)));
    // A name that cannot be assigned to, or a character that would be taken for a mark.
    if (between.some((part) => part.includes('__proto__') || part.includes('\\u0'))) return undefined;
    const marked = between.map((part, i) => (i > 0 ? `"\\u0001${i - 1}"${part}` : part));
    const record: unknown = JSON.parse(marked.join(''));
    const places: Place[] = [];
    findPlaces(record, places);
    return new RecordShape(record, text, places);
  }

  /**
   * Reads the text that begins at `at` into `record`; `view` is of the same bytes. Returns where it ends; -1, and `record` is as it was, when it is of another shape or not
   * all of it is there.
   */
  read(bytes: Uint8Array, view: DataView, at: number): number {
    const end = this.text.read(bytes, view, at, this.numbers, 0);
    if (end >= 0) this.take(this.numbers, 0);
    return end;
  }

  /** Makes `record` the one with the integers of `numbers` from `first` on. */
  take(numbers: Float64Array, first: number): void {
    const { places, had } = this;
    // Most are those of the record before.
    for (let i = 0; i < places.length; i++) {
      const { holder, key, index } = places[i];
      const value = numbers[first + index];
      if (value === had[index]) continue;
      had[index] = value;
      holder[key] = value;
    }
  }
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
