// Layout of the per-wave scratch area that matrix code stages its operands in, and small emitting helpers.
// Offsets are relative to the area. An element array holds one f32 (or i32) a lane, 64 lanes an element.
import type { WasmFunction } from '../emit.ts';

/** Bytes of one register or staged element: 64 lanes. */
export const ROW = 256;
/**
 * Bytes for the staged elements of A, and as many for B. Operands that stay staged (staged-operands.ts) share them, one behind the other;
 * other operations stage theirs at the beginning.
 */
export const STAGED_BYTES = 13312;
export const STAGED_A = 0;
export const STAGED_B = STAGED_BYTES;
export const RESULT = 2 * STAGED_BYTES;
/** Bytes of the exponents of one element: i16, or i8 for formats whose exponents have at most 5 bits. */
export const EXPONENT_ROW = 128;
export const BYTE_EXPONENT_ROW = 64;
/** Sparse indices, block scales as f32 (two runs), scales of all lanes when the operand is not a vector register. */
export const INDICES = RESULT + 8192;
export const SCALES_A = INDICES + ROW;
export const SCALES_B = SCALES_A + 2 * ROW;
export const RAW_SCALES_A = SCALES_B + 2 * ROW;
export const RAW_SCALES_B = RAW_SCALES_A + ROW;
/** Bytes of the area. */
export const SCRATCH_SIZE = RAW_SCALES_B + ROW;

/** Constants of a function, each a local set once at the start. */
export class Constants {
  private readonly f: WasmFunction;
  private readonly known = new Map<string, number>();

  constructor(f: WasmFunction) {
    this.f = f;
  }

  /** The local holding four copies of a word. */
  word(value: number): number {
    return this.words(value, value, value, value);
  }
  /** The local holding four copies of an f32. */
  f32(value: number): number {
    return this.word(new Int32Array(Float32Array.of(value).buffer)[0] as number);
  }
  /** The local holding two copies of an f64. */
  f64(value: number): number {
    const [low, high] = new Int32Array(Float64Array.of(value).buffer) as unknown as [number, number];
    return this.words(low, high, low, high);
  }
  /** Call before loops: the constant is set where this is called first. */
  words(a: number, b: number, c: number, d: number): number {
    const key = `${a | 0} ${b | 0} ${c | 0} ${d | 0}`;
    const local = this.known.get(key) ?? this.f.local('v128');
    if (!this.known.has(key)) {
      this.known.set(key, local);
      this.f.v128(a, b, c, d).set(local);
    }
    return local;
  }
}

/** for (counter = 0; counter < limit; counter += step) body */
export function emitLoop(f: WasmFunction, limit: number, step: number, body: (counter: number) => void): void {
  const counter = f.local('i32');
  f.i32(0).set(counter);
  if (limit <= step) body(counter);
  else {
    f.loop();
    body(counter);
    f.get(counter).i32(step).op('i32.add').tee(counter).i32(limit).op('i32.lt_u').brIf(0);
    f.end();
  }
  f.release('i32', counter);
}
