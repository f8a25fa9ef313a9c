// String tables as LLVM lays them out: a suffix of another string shares its bytes, order by reversed text, descending.
// Source: LLVM's lib/MC/StringTableBuilder.cpp.
import { ByteWriter } from '../../base/index.ts';

const utf8 = new TextEncoder();

/** A string table in the assembler's form; `offsetOf` answers once every string is known. */
export class TailMergedStringTable {
  readonly bytes: Uint8Array;
  private readonly offsets: ReadonlyMap<string, number>;

  constructor(strings: Iterable<string>) {
    const unique = [...new Set(strings)].filter((s) => s !== '').map((text) => ({ text, bytes: utf8.encode(text) }));
    unique.sort((a, b) => compareFromTail(a.bytes, b.bytes));
    const writer = new ByteWriter(1024).u8(0);
    const offsets = new Map<string, number>([['', 0]]);
    let previous = '';
    for (const { text, bytes } of unique) {
      if (previous.endsWith(text)) {
        offsets.set(text, writer.length - bytes.length - 1);
        continue;
      }
      offsets.set(text, writer.length);
      writer.raw(bytes).u8(0);
      previous = text;
    }
    this.bytes = writer.finish();
    this.offsets = offsets;
  }

  offsetOf(text: string): number {
    return this.offsets.get(text)!;
  }
}

function compareFromTail(a: Uint8Array, b: Uint8Array): number {
  for (let i = 1; ; i++) {
    const x = i <= a.length ? a[a.length - i] : -1;
    const y = i <= b.length ? b[b.length - i] : -1;
    if (x !== y) return y - x;
    if (x < 0) return 0;
  }
}

/** A string table in the linker's form: in order of arrival, nothing shared unless asked for by `addShared`. */
export class AppendedStringTable {
  private readonly writer = new ByteWriter(1024).u8(0);
  private readonly shared = new Map<string, number>();

  get length(): number {
    return this.writer.length;
  }

  /** Appends the string and returns its offset; the empty string is at 0. */
  add(text: string): number {
    if (text === '') return 0;
    const at = this.writer.length;
    this.writer.text(text).u8(0);
    return at;
  }

  /** Like `add`, but a string added this way before is used again. */
  addShared(text: string): number {
    const known = this.shared.get(text);
    if (known !== undefined) return known;
    const at = this.add(text);
    this.shared.set(text, at);
    return at;
  }

  finish(): Uint8Array {
    return this.writer.finish();
  }
}
