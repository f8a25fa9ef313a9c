import { expect, test } from 'vitest';
import fc from '../../tests/support/fast-check.ts';
import { TextOutput, writeHex } from './text-output.ts';

/** What comes out of a buffer of `size` bytes. */
function written(size: number, work: (out: TextOutput) => void): string {
  const chunks: Uint8Array[] = [];
  const out = new TextOutput((chunk) => chunks.push(chunk.slice()), size);
  work(out);
  out.finish();
  return Buffer.concat(chunks).toString();
}

test('any strings come out as UTF-8, whatever the size of the buffer', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.integer({ min: 1, max: 64 }), (texts, size) => {
      expect(written(size, (out) => texts.forEach((text) => void out.write(text)))).toBe(texts.join(''));
    }),
  );
});

test('a text longer than the buffer keeps its surrogate pairs together', () => {
  const text = '😀'.repeat(100);
  expect(written(16, (out) => out.write(text))).toBe(text);
  expect(written(17, (out) => out.write(`x${text}`))).toBe(`x${text}`);
});

test('lines end with a newline, and nothing is lost between writers of bytes and of strings', () => {
  const text = written(8, (out) => {
    out.push('one', 'two');
    out.room(2);
    out.bytes[out.at++] = 33;
    out.push('three');
  });
  expect(text).toBe('one\ntwo\n!three\n');
});

test('hexadecimal digits are the low ones, padded', () => {
  const bytes = new Uint8Array(8);
  writeHex(bytes, 0, 0xffffffff, 8);
  expect(Buffer.from(bytes).toString()).toBe('ffffffff');
  writeHex(bytes, 0, 0x1a2b, 6);
  expect(Buffer.from(bytes).toString()).toBe('001a2bff');
});
