// `__shared__` variables in what older compilers write (tests/debug-shared.test.ts asks the one that is here).
import { expect, test } from 'vitest';
import { debugInfo } from './debug-info.ts';

/**
 * Sizes of sections as u16, then their bytes: of a kernel that clang 19 compiled at -O0, with `float tile[64]`, `short deep[3]` in a block, and
 * `int inlined[5]` of an inlined function. Its code uses 0, 280 and 256 of 288 bytes.
 */
const CLANG_19 = [
  '2QC2AEQAMAAAAAAAkwDVAAAABQABCAAAAAABAB0AAQgAAAAAAAAAAgMAAgAACAAAAAIDAAIAAAKQQQ4AA8cDA3YAAAAAAwWhADIWGAMGigAAAAAD',
  'BaEBMhYYBAKREAsAA88AAAAFugAAAARkAAAAAAO3BgKRAL4AAAAGApEIxgAAAAAAB4IAAAAIhgAAAEAACQQEBAoFCAcHlgAAAAiGAAAAAwAJBwUC',
  'CwMIqgAAAAACBaECMhYYAAe2AAAACIYAAAAFAAkJBQQMCgACDQsAAs8AAAANDQACtgAAAAAO1AAAAAkMBwQAAREBJSUTBQMlchcQFxslERsSBnMX',
  'AAACLgERGxIGQBgDJToLOwsnGTYLPxkAAAM0AAMlSRM6CzsLAhgAAAQFAAIYAyU6CzsLSRMAAAUdATETERsSBlgLWQtXCwAABgUAAhgxEwAABwEB',
  'SRMAAAghAEkTNwsAAAkkAAMlPgsLCwAACiQAAyULCz4LAAALLgEAAAwuAQMlOgs7CycZICEBAAANBQADJToLOwtJEwAADg8ASRMAAABAAAAABQAA',
  'ABMAAABdAAAASAAAAAAAAACNAAAAeQAAAHQAAAA7AAAACQAAAEQAAABhAAAABQAAAGcAAABBAAAAEQAAACwAAAAFAAgAAAAAAAAAAAAAAAAAAAAA',
  'AAAAAAAAAAAAABkAAAAAAABwGgAAAAAAAHRpbGUAb3V0AGlubGluZWQAawBEZWJpYW4gY2xhbmcgdmVyc2lvbiAxOS4xLjcgKDN+ZGViMTJ1MSkA',
  'c2hvcnQAYXQAaW50AC93b3JrL3d0L3NjcmF0Y2gvYXB0AHUuYwBpbm5lcgB1bnNpZ25lZCBpbnQAZGVlcABfX0FSUkFZX1NJWkVfVFlQRV9fAGZs',
  'b2F0AA==',
].join('');
const SECTIONS = ['info', 'abbrev', 'str_offsets', 'addr', 'loclists', 'rnglists', 'str'];
const [BEGIN, SIZE, LDS_BYTES] = [0x1900, 512, 288];

/** What is said of the variables in the kernel; `producer` stands in the place of the compiler's version. */
function placesOf(producer: string): Record<string, unknown> {
  const text = atob(CLANG_19).replace('clang version 19', producer);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  let at = 2 * SECTIONS.length;
  const sections = SECTIONS.map((name, i) => {
    const size = bytes[2 * i] | (bytes[2 * i + 1] << 8);
    at += size;
    return { name: `.debug_${name}`, flags: 0n, bytes: bytes.subarray(at - size, at) };
  });
  const descriptor = new Uint8Array(64);
  new DataView(descriptor.buffer).setUint32(0, LDS_BYTES, true);
  const symbols = [
    { name: 'k.kd', type: 1, value: BigInt(BEGIN), size: 64n },
    { name: 'k', type: 2, value: BigInt(BEGIN), size: BigInt(SIZE) },
  ];
  const bytesAt = (_: number, size: number) => (size === 64 ? descriptor : new Uint8Array(size));
  const info = debugInfo({ sections, symbols, bytesAt } as never);
  return Object.fromEntries((info?.variables(BEGIN + 256) ?? []).map((one) => [one.name, one.place(BEGIN + 256)]));
}

test('clang 19 names symbols that are gone: the places are those that its code uses', () => {
  const out = { kind: 'scratch', base: { file: 's', index: 33 }, offset: 16 };
  const lds = (offset: number) => ({ kind: 'lds', offset });
  expect(placesOf('clang version 19')).toEqual({ tile: lds(0), deep: lds(280), out });
});

test.each(['clang version 15', 'other compiler 9'])('of %s no place is known', (producer) => {
  const absent = { kind: 'absent', why: expect.stringMatching(/^in LDS/) };
  expect(placesOf(producer)).toMatchObject({ tile: absent, deep: absent });
});
