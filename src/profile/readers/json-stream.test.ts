// The reader hands over what JSON.parse makes of the whole text, wherever the file is cut into pieces; damaged files are typed errors.

import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import type { ByteSource } from '../source.ts';
import { streamJson } from './json-stream.ts';

/** A source over bytes that gives at most `piece` of them at once. */
function sourceOf(bytes: Uint8Array, piece: number): ByteSource {
  return {
    path: 'x.json',
    size: bytes.length,
    read: (offset, length) => bytes.slice(offset, offset + Math.min(length, piece)),
  };
}

function values(text: string, paths: readonly string[], piece = 1 << 20): unknown[] {
  const out: unknown[] = [];
  const bytes = new TextEncoder().encode(text);
  streamJson(sourceOf(bytes, piece), paths, (path, value) => out.push([[...path], structuredClone(value)]));
  return out;
}

/** The same by walking the whole value. */
function expectedOf(value: unknown, paths: readonly string[]): unknown[] {
  const out: unknown[] = [];
  const walk = (at: unknown, keys: (string | number | undefined)[], left: readonly string[][]): void => {
    if (typeof at !== 'object' || at === null) return;
    const entries = Array.isArray(at) ? [...at.entries()] : Object.entries(at);
    for (const [key, inner] of entries) {
      const fitting = left.filter(([name]) => name === '*' || name === String(key));
      const below = fitting.filter((path) => path.length > 1).map((path) => path.slice(1));
      walk(inner, [...keys, key], below);
      if (fitting.some((path) => path.length === 1)) {
        out.push([[...keys, key], Array.isArray(inner) && below.length > 0 ? [] : inner]);
      }
    }
  };
  walk(
    value,
    [undefined],
    paths.map((path) => path.split('.').slice(1)),
  );
  return out;
}

const PATHS = ['$.a', '$.a.*', '$.b.c', '$.b.d.*', '$.*.e', '$.wave.*', '$.wave.list.*'];

describe('streamJson', () => {
  test('elements come before their list, which is empty then', () => {
    const text = '{"a":[1,[2]],"b":{"c":{"x":1},"d":[[5]]},"z":9,"wave":{"cu":1,"list":[[1,2]],"end":3}}';
    expect(values(text, PATHS)).toEqual([
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
    ]);
  });

  test('property: what JSON.parse makes of it, in pieces of any size, spaced in any way', () => {
    const leaf = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\\', '"', '\u0001', '\u000112', '\u000112345678901234567', null, true),
    );
    const list = fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.record({ e: leaf, '"': leaf })), {
      maxLength: 4,
    });
    const object = fc.record({
      a: fc.oneof(list, leaf, fc.record({ e: list })),
      b: fc.record({ c: leaf, d: list }),
      wave: fc.record({ cu: leaf, list, deep: fc.record({ list }) }),
      q: fc.oneof(leaf, list),
    });
    fc.assert(
      fc.property(
        object,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(undefined, 1, '\r\n\t'),
        (value, piece, gap) => {
          const text = JSON.stringify(value, null, gap);
          const plain = (all: unknown) =>
            JSON.parse(JSON.stringify(all, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
          expect(plain(values(text, PATHS, piece))).toEqual(plain(expectedOf(JSON.parse(text), PATHS)));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([1, 7, 64, 1 << 20])('integers of any size are exact, in pieces of %i bytes', (piece) => {
    const text =
      '\uFEFF {"a":[9007199254740991,9007199254740992,-9007199254740993,1234567890123456, 18446744073709551615 ,"99999999999999999",1e300,1.2345678901234567],"q":{"x":{"y":[12345678901234567890]}}}';
    const numbers = [
      9007199254740991,
      9007199254740992n,
      -9007199254740993n,
      1234567890123456,
      18446744073709551615n,
      '99999999999999999',
      1e300,
      1.2345678901234567,
    ];
    expect(values(text, ['$.a.*'], piece)).toEqual(numbers.map((n, i) => [[undefined, 'a', i], n]));
    expect(values(text, ['$.q.x'], piece)).toEqual([[[undefined, 'q', 'x'], { y: [12345678901234567890n] }]]);
  });

  test.each([
    ['{"a":[1,2', 'ends early', 9],
    ['{"a":[1,2]} x', 'has more after its end', 12],
    [`{"a":${'['.repeat(100)}`, 'nests too deep', undefined],
    ['', 'is empty', 0],
    ['{"a":[1,tru]}', 'has a damaged word', undefined],
    ['{"a":[1,2,]}', 'has no value after a comma', 10],
    ['{"a":[1 2]}', 'has no comma', 8],
    ['{"a":[1,{"x":]}]}', 'closes what was not opened', undefined],
    ['{"a" 1}', 'has no colon', 5],
    ['{a:1}', 'has a bare key', 1],
    ['{"q":{"r":[{"s":nil}]},"a":[1]}', 'is damaged where nobody reads', undefined],
  ])('%s', (text, _what, byteOffset) => {
    for (const piece of [1, 3, 1 << 20]) {
      const expected = {
        code: 'profile/bad-json',
        ...(byteOffset === undefined ? {} : { position: expect.objectContaining({ byteOffset }) }),
      };
      expect(() => values(text, PATHS, piece)).toThrow(expect.objectContaining(expected));
    }
  });

  test('names the byte of a damaged record in a long list', () => {
    const good = '{"x":"ü"},';
    const text = `{"a":[${good.repeat(500)}{"x":?},{"x":1}]}`;
    const at = new TextEncoder().encode(text.slice(0, text.indexOf('{"x":?'))).length;
    expect(() => values(text, PATHS)).toThrow(
      expect.objectContaining({ code: 'profile/bad-json', position: expect.objectContaining({ byteOffset: at }) }),
    );
  });

  test('property: records that are alike, nearly alike, and what only looks so', () => {
    const number = fc.oneof(
      { weight: 20, arbitrary: fc.oneof(fc.nat(9), fc.nat(), fc.maxSafeNat()).map(String) },
      { weight: 1, arbitrary: fc.constantFrom('-5', '1.5', '2e3', 'null', '"7"', '"\\u00011"', '9007199254740993') },
    );
    const shapes: ((n: string[]) => string)[] = [
      ([a, b, c]) => `{"time":${a},"id":{"handle":${b}},"sizes":[${c},1, ${a} ]}`,
      ([a, b, c]) => `{"2":${a},"1":${b},"b":"5, 6","a":${c}}`,
      ([a, b, c]) => `{"a":${a},"c":${b},"a":${c}}`,
      ([a, b]) => `{"constructor":${a},"__proto__":1,"b":${b}}`,
      ([a, b, c]) => `[${a},${b},[${c}],"é\\"1"]`,
      ([a, b]) => `{"value":-3,"n":${a},"f":2.5,"m":${b}}`,
    ];
    const record = fc.tuple(fc.array(number, { minLength: 3, maxLength: 3 }), fc.nat(9));
    const which = fc.nat(shapes.length - 1);
    fc.assert(
      fc.property(which, which, fc.array(record, { minLength: 2, maxLength: 20 }), (main, other, records) => {
        const texts = records.map(([numbers, at]) => shapes[at === 0 ? other : main](numbers));
        // What is parsed together ends with one of the first records.
        const text = `{"a":["${'x'.repeat(65_480)}",${texts.join(' , ')}]}`;
        const found = values(text, ['$.a.*']).map((one) => (one as unknown[])[1]);
        const plain = JSON.stringify(found, (_key, value) => (typeof value === 'bigint' ? 'exact' : value));
        const parsed = JSON.parse(text.replaceAll('9007199254740993', '"exact"')) as { readonly a: unknown };
        expect(plain.slice(65_480)).toBe(JSON.stringify(parsed.a).slice(65_480));
      }),
      { numRuns: 500 },
    );
  });
});

describe('numbers that are none beside strings of any length', () => {
  const LONG = 24_000_000;
  test.each([
    ['plain', 'x'.repeat(LONG)],
    ['escapes', '\\\\'.repeat(LONG / 2)],
    ['quotes', '\\"NaN'.repeat(1000)],
  ])('%s', (_, inner) => {
    const text = `{"a":[NaN,"${inner}",-Infinity,"NaN\\\\",nan,1]}`;
    const [[, value]] = values(text, ['$.a']) as [[unknown, unknown[]]];
    expect([value[0], value.slice(2)]).toEqual([null, [null, 'NaN\\', null, 1]]);
    expect(value[1]).toBe(JSON.parse(`"${inner}"`));
    for (const bad of [text.replace(',1]', ',q]'), text.slice(0, -8)]) {
      expect(() => values(bad, ['$.a'])).toThrow(expect.objectContaining({ code: 'profile/bad-json' }));
    }
  });
});
