// Evaluates an atomic's update expression on raw words. Shared by vector, LDS and scalar atomics.
import {
  BF16,
  bitsFromF16,
  bitsFromF32,
  encodeSmall,
  f64HighWord,
  f64LowWord,
} from '../../../base/elements/formats.ts';
import type { AtomicOperation } from '../../../isa/semantics/index.ts';
import { SOURCE_STRIDE } from '../state/lane-env.ts';
import type { Wave } from '../state/wave.ts';
import { type Context, compileBig, compileNumber } from './evaluate.ts';

/** New memory words from the old ones and two data; the result array is reused. */
export type AtomicUpdate = (w: Wave, memory: Int32Array, data: Int32Array, data2: Int32Array) => Int32Array;

/** Compiles the update of an atomic. Float atomics follow MODE's denormal setting. */
export function bindAtomicUpdate(op: AtomicOperation): AtomicUpdate {
  const { type } = op;
  const context: Context = { types: [type, type, type], denormals: 'mode' };
  const result = new Int32Array(2);
  const packed = type === 'f16x2' || type === 'bf16x2';
  const put = (w: Wave, k: number, words: Int32Array): void => {
    const at = k * SOURCE_STRIDE;
    const low = words[0] as number;
    w.env.words[at] = packed ? low & 0xffff : low;
    w.env.words[at + 1] = packed ? low >>> 16 : (words[1] as number);
  };
  const store = bindWrite(op, context, result);
  return (w, memory, data, data2) => {
    put(w, 0, memory);
    put(w, 1, data);
    put(w, 2, data2);
    store(w);
    return result;
  };
}

function bindWrite(op: AtomicOperation, context: Context, result: Int32Array): (w: Wave) => void {
  const [first, second] = op.update;
  if (first === undefined) throw new Error('an atomic without an update');
  // Floats that are only moved are words.
  if (first.type === 'i64') {
    const f = compileBig(first, context);
    return (w) => {
      const value = f(w.env);
      result[0] = Number(BigInt.asIntN(32, value));
      result[1] = Number(BigInt.asIntN(32, value >> 32n));
    };
  }
  const f = compileNumber(first, context);
  if (first.type === 'i32') {
    return (w) => {
      result[0] = f(w.env);
    };
  }
  const g = second === undefined ? f : compileNumber(second, context);
  return (w) => {
    const value = f(w.env);
    switch (op.type) {
      case 'f32':
        result[0] = bitsFromF32(value);
        break;
      case 'f64':
        result[0] = f64LowWord(value);
        result[1] = f64HighWord(value);
        break;
      case 'f16x2':
        result[0] = bitsFromF16(value) | (bitsFromF16(g(w.env)) << 16);
        break;
      default:
        result[0] = encodeSmall(BF16, value) | (encodeSmall(BF16, g(w.env)) << 16);
    }
  };
}
