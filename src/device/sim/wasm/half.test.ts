import { expect, test } from 'vitest';
import { bitsFromF16, bitsFromF32, f16FromBits } from '../../../base/elements/formats.ts';
import { WasmModule } from './emit.ts';
import { decodeHalf, encodeHalf, encodeTruncated, roundHalf } from './half.ts';

/** Four f32 at a time: the function's result at 16 for what is at 0. */
function compiled(write: (fn: Parameters<typeof roundHalf>[0]) => void) {
  const module = new WasmModule({ module: 'env', name: 'memory', initial: 1, maximum: 1, shared: false });
  const fn = module.function([], []);
  fn.i32(16).i32(0).memory('v128.load');
  write(fn);
  fn.memory('v128.store');
  module.export('run', fn);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  const [words, floats] = [new Uint32Array(memory.buffer), new Float32Array(memory.buffer)];
  return (given: readonly number[]): { word: number; value: number }[] => {
    words.set(given);
    (exports.run as () => void)();
    return [4, 5, 6, 7].map((i) => ({ word: words[i] as number, value: floats[i] as number }));
  };
}

test('numbers round to f16 as encoding and decoding does', () => {
  const quick = compiled((fn) => roundHalf(fn));
  const slow = compiled((fn) => {
    encodeHalf(fn);
    decodeHalf(fn);
  });
  // Every exponent and sign, and fractions around each place where two f16 meet; all places of the last f16 before infinity.
  for (let head = 0; head < 512; head++) {
    for (let step = 0; step < 2048; step += head % 256 === 142 ? 1 : 37) {
      const word = (head << 23) | (step << 12);
      const given = [word - 1, word, word + 1, word + 0x7ff].map((w) => w >>> 0);
      const [a, b] = [quick(given), slow(given)];
      expect(a.map(({ value }) => value)).toEqual(b.map(({ value }) => value));
      const isNumber = b.map(({ value }) => !Number.isNaN(value));
      expect(a.filter((_, i) => isNumber[i])).toEqual(b.filter((_, i) => isNumber[i]));
    }
  }
});

test('every f16 is decoded, whatever is above it', () => {
  const decode = compiled(decodeHalf);
  for (let first = 0; first < 2 ** 16; first += 4) {
    const codes = [first, first + 1, first + 2, first + 3];
    const words = decode(codes.map((code, lane) => code | (lane << 30))).map(({ word }) => word);
    const quiet = codes.map((code) => (code & 0x7fff) > 0x7c00);
    // NaNs keep sign and payload.
    expect(words).toEqual(
      codes.map((code, lane) =>
        quiet[lane]
          ? (((code & 0x8000) << 16) | 0x7f800000 | ((code & 0x3ff) << 13)) >>> 0
          : bitsFromF32(f16FromBits(code)) >>> 0,
      ),
    );
  }
});

test('sums of f16 are cut towards zero', () => {
  const cut = compiled((fn) => encodeTruncated(fn, 'zero', true));
  const ends = [0, 1, 2, 0x3ff, 0x400, 0x401, 0x7fff, 0x3c00, 0x3bff, 0x7bff, 0x7bfe, 0x7800, 0x5555];
  const values = ends.flatMap((code) => [f16FromBits(code), -f16FromBits(code)]);
  for (const a of values) {
    const sums = values.map((b) => a + b).filter((sum) => Math.fround(sum) === sum || Number.isNaN(sum));
    while (sums.length % 4 !== 0) sums.push(Infinity);
    for (let i = 0; i < sums.length; i += 4) {
      const four = sums.slice(i, i + 4);
      const codes = cut(four.map((sum) => bitsFromF32(sum) >>> 0)).map(({ word }) => word);
      expect(codes).toEqual(four.map((sum) => bitsFromF16(sum, 3)));
    }
  }
});
