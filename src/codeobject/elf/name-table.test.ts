import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { NameTable } from './name-table.ts';

/** A name decoded by itself. */
function nameAt(bytes: Uint8Array, offset: number): string {
  const end = bytes.indexOf(0, offset);
  return new TextDecoder().decode(bytes.subarray(offset, end < 0 ? bytes.length : end));
}

test('every offset of any bytes has the name that decoding it by itself gives', () => {
  const ascii = fc.uint8Array({ max: 127, maxLength: 40 });
  const text = fc.string({ unit: 'grapheme' }).map((s) => new TextEncoder().encode(`\0a\0${s}\0`));
  fc.assert(
    fc.property(fc.oneof(ascii, text, fc.uint8Array({ maxLength: 40 })), (bytes) => {
      const table = new NameTable(bytes);
      for (let at = 0; at < bytes.length; at++) expect(table.at(at)).toBe(nameAt(bytes, at));
    }),
  );
  for (const bytes of [[0xef, 0xbb, 0xbf, 65, 0], [0xff, 65, 0, 66], [65], [0xc3, 0, 0xa9]].map((b) =>
    Uint8Array.from(b),
  )) {
    const table = new NameTable(bytes);
    for (let at = 0; at < bytes.length; at++) expect(table.at(at)).toBe(nameAt(bytes, at));
  }
});
