// The two ways of reading JSON, whole and streamed, hand over the same values; damaged files are typed errors in both.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ByteSource } from '../source.ts';
import { streamJson } from './json-stream.ts';

/** A source over a text; `padded` makes it longer than what is parsed at once, by spaces at the end. */
function sourceOf(text: string, padded: boolean): ByteSource {
  const bytes = new TextEncoder().encode(text);
  const size = padded ? bytes.length + (17 << 20) : bytes.length;
  return {
    path: 'x.json',
    size,
    read(offset, length) {
      const piece = new Uint8Array(Math.max(0, Math.min(length, size - offset))).fill(0x20);
      piece.set(bytes.subarray(offset, offset + length));
      return piece;
    },
  };
}

function values(text: string, paths: readonly string[], padded: boolean): unknown[] {
  const out: unknown[] = [];
  streamJson(sourceOf(text, padded), paths, (path, value) => out.push([[...path], structuredClone(value)]));
  return out;
}

const PATHS = ['$.a', '$.a.*', '$.b.c', '$.b.d.*', '$.*.e', '$.wave.*', '$.wave.list.*'];

describe('streamJson', () => {
  test('elements come before their list, which is empty then', () => {
    const text = '{"a":[1,[2]],"b":{"c":{"x":1},"d":[[5]]},"z":9,"wave":{"cu":1,"list":[[1,2]],"end":3}}';
    const expected = [
      [[undefined, 'a', 0], 1],
      [[undefined, 'a', 1], [2]],
      [[undefined, 'a'], []],
      [[undefined, 'b', 'c'], { x: 1 }],
      [[undefined, 'b', 'd', 0], [5]],
      [[undefined, 'wave', 'cu'], 1],
      [
        [undefined, 'wave', 'list', 0],
        [1, 2],
      ],
      [[undefined, 'wave', 'list'], []],
      [[undefined, 'wave', 'end'], 3],
    ];
    expect(values(text, PATHS, false)).toEqual(expected);
    // A list that was handed over piece by piece keeps no piece; the indexes are those of the pieces left.
    const streamed = values(text, PATHS, true) as [unknown[], unknown][];
    expect(streamed.map(([, value]) => value)).toEqual(expected.map(([, value]) => value));
  });

  test('property: both ways hand over the same values', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.boolean());
    const list = fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { maxLength: 4 });
    const object = fc.record({
      a: list,
      b: fc.record({ c: leaf, d: list }),
      wave: fc.record({ cu: leaf, list }),
      q: leaf,
    });
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value);
        const only = (all: unknown[]) => (all as [unknown[], unknown][]).map(([path, v]) => [path.length, v]);
        expect(only(values(text, PATHS, true))).toEqual(only(values(text, PATHS, false)));
      }),
      { numRuns: 15 },
    );
  });

  test.each([
    ['{"a":[1,2', 'ends early'],
    ['{"a":[1,2]} x', 'has more after its end'],
    [`{"a":${'['.repeat(100)}`, 'nests too deep'],
    ['', 'is empty'],
  ])('%s', (text) => {
    for (const padded of [false, true]) {
      expect(() => values(text, PATHS, padded)).toThrow(expect.objectContaining({ code: 'profile/bad-json' }));
    }
  });
});
