// Layout of the per-wave scratch area that matrix code stages its operands in, and small emitting helpers.
// Offsets are relative to the area. An element array holds one f32 (or i32) a lane, 64 lanes an element.
import type { WasmFunction } from '../emit.ts';

/** Bytes of one register or staged element: 64 lanes. */
export const ROW = 256;
export const STAGED_A = 0;
export const STAGED_B = 8192;
export const RESULT = 16384;
/** Exponents of staged elements: i16, or i8 for formats whose exponents have at most 5 bits. */
export const EXPONENTS_A = 24576;
export const EXPONENTS_B = 26624;
/** Bytes of the exponents of one element. */
export const EXPONENT_ROW = 128;
export const BYTE_EXPONENT_ROW = 64;
/** Sparse indices, block scales as f32 (two runs), scales of all lanes when the operand is not a vector register. */
export const INDICES = 28672;
export const SCALES_A = 28928;
export const SCALES_B = 29440;
export const RAW_SCALES_A = 29952;
export const RAW_SCALES_B = 30208;
/** The least exponent of each row of A and each column of B, i8. */
export const LEAST_A = 30464;
export const LEAST_B = 30528;
/** Bytes of the area. */
export const SCRATCH_SIZE = 30592;

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
