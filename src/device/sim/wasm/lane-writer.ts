// What the operators of lane expressions (lanes-float.ts, lanes-wide.ts) ask of the code they are written into (lanes.ts).
import type { Rounding } from '../../../base/elements/formats.ts';
import type { Expr } from '../../../isa/semantics/index.ts';
import type { WasmFunction, WasmModule } from './emit.ts';

/** What of MODE vector code depends on, known when it is compiled. */
export interface LaneMode {
  readonly round32: Rounding;
  /** Of f16 and f64. */
  readonly round64: Rounding;
  /** Denormals of f32 are read, and written, as they are. */
  readonly in32: boolean;
  readonly out32: boolean;
  /** The same for f16 and f64. */
  readonly in64: boolean;
  readonly out64: boolean;
  readonly dx10Clamp: boolean;
  readonly ieee: boolean;
  readonly saturate: boolean;
  /** FP8 formats of gfx950. */
  readonly ocp: boolean;
}

/** Writes expressions over a chunk of four lanes onto the wasm stack. */
export interface LaneWriter {
  readonly fn: WasmFunction;
  readonly module: WasmModule;
  readonly mode: LaneMode;
  /** An f16 result that is encoded next and need not be rounded before. */
  readonly encoded: Expr | undefined;
  /** Values by name that an operator has computed besides the one that was asked for: locals of `temporary`. */
  readonly kept: Map<string, readonly number[]>;
  /** A v128 local until the operation's end. */
  temporary(): number;
  /** Pushes a value; `half` chooses the lanes of 64-bit types. */
  push(e: Expr, half?: number): void;
  /** Pushes f32 values with the denormals of a source as they are, whatever MODE says of them. */
  pushWithDenormals(e: Expr): void;
  /** Pushes f32 values with canonical NaNs. */
  pushCanonical(e: Expr): void;
  /** Makes a mask or i32 of two halves: the low words of their 64-bit lanes. */
  joinLow(push: (half: number) => void): void;
  /** Whether a value is the same in all lanes and can be computed as one i32. */
  isUniform(e: Expr): boolean;
  /** Pushes a uniform value as an i32. */
  pushUniform(e: Expr): void;
}
