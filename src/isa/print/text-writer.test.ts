import { expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { randomNumbers } from '../../base/index.ts';
import { decoderFor } from '../codec/decode.ts';
import { tableFor } from '../table/table.ts';
import { TARGET_NAMES } from '../table/target-names.ts';
import type { TargetName } from '../types.ts';
import { printerFor } from './print.ts';
import { MAX_INSTRUCTION_TEXT, textWriterFor } from './text-writer.ts';

const out = new Uint8Array(MAX_INSTRUCTION_TEXT);

/** Size and text as the writer says, and as decoder and printer say. */
function both(target: TargetName, bytes: Uint8Array) {
  const writer = textWriterFor(target);
  const size = writer.match(bytes, 0, bytes.length);
  const text = size === 0 ? '' : Buffer.from(out.subarray(0, writer.writeText(out, 0))).toString('latin1');
  const instruction = decoderFor(target).decode(bytes, 0);
  const expected = instruction === undefined ? '' : printerFor(target).print(instruction);
  return [
    { size, text },
    { size: instruction?.size ?? 0, text: expected },
  ];
}

/** An encoding of a row with random bits where they are not fixed, cut off anywhere. */
const encodings = fc.record({
  target: fc.constantFrom(...TARGET_NAMES),
  row: fc.nat(),
  words: fc.uint32Array({ minLength: 4, maxLength: 4 }),
  length: fc.integer({ min: 0, max: 16 }),
});

test('writes what decoder and printer say, for any row and any bits', () => {
  fc.assert(
    fc.property(encodings, ({ target, row, words, length }) => {
      const { rows } = tableFor(target);
      const { fixedMask, fixedBits } = rows[row % rows.length];
      const encoded = words.map((word, i) => (word & ~(fixedMask[i] ?? 0)) | (fixedBits[i] ?? 0));
      const [ours, expected] = both(target, new Uint8Array(encoded.buffer, 0, length));
      expect(ours).toEqual(expected);
    }),
    { numRuns: 5000 },
  );
});

test('writes what decoder and printer say when rows of all kinds share the tables', () => {
  const random = randomNumbers(11);
  const word = () => Math.floor(random() * 2 ** 32);
  for (const target of TARGET_NAMES) {
    const { rows } = tableFor(target);
    for (let i = 0; i < 40_000; i++) {
      const { fixedMask, fixedBits } = rows[word() % rows.length];
      const words = Uint32Array.from({ length: 5 }, (_, at) => (word() & ~(fixedMask[at] ?? 0)) | (fixedBits[at] ?? 0));
      const [ours, expected] = both(target, new Uint8Array(words.buffer, 0, i % 6 === 0 ? word() % 20 : 20));
      if (ours.size !== expected.size || ours.text !== expected.text) expect(ours).toEqual(expected);
    }
  }
});

test('the second time, from its tables, as the first', () => {
  for (const hex of ['0104027e', '0102030480d10800', 'ff040a0278563412', 'feff85bf']) {
    const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
    const [first] = both('gfx942', bytes);
    const [second, expected] = both('gfx942', bytes);
    expect(second).toEqual(first);
    expect(second).toEqual(expected);
  }
});
