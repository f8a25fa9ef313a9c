import { expect, test } from 'vitest';
import { WasmModule } from './emit.ts';
import { decodeHalf, encodeHalf, roundHalf } from './half.ts';

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
