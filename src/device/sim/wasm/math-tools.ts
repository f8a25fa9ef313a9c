// Pieces of the functions in math-*.ts: halves of f32 vectors as f64, rounding to odd, constants.

import type { WasmFunction, WasmModule } from './emit.ts';
import { makeOdd } from './half.ts';
import { KeptLocals } from './kept-locals.ts';
import { type Directed, pushSigns, pushStep, pushWrongSide } from './rounding.ts';

/** A function of the module that code of lanes calls, or has in line: v128 parameters and results. */
export interface MathFunction {
  readonly parameters: number;
  /** 1 where it is not given. */
  readonly results?: number;
  /** Its code does not end early and uses the parameters' locals as they are given, so that it can stand where it is called. */
  readonly inline?: boolean;
  readonly build: (fn: WasmFunction, module: WasmModule, parameters: readonly number[]) => void;
}

/** Calls the function `name` of the module, which is written when the first call needs it; its arguments are on the stack. */
export function callFunction(
  code: { readonly fn: WasmFunction; readonly module: WasmModule },
  name: string,
  { parameters, results = 1, build }: MathFunction,
): void {
  const types = Array.from({ length: parameters }, () => 'v128' as const);
  const made = Array.from({ length: results }, () => 'v128' as const);
  const { module } = code;
  const places = [...types.keys()];
  code.fn.call(module.helper(`math.${name}`, types, made, (fn) => build(fn, module, places)));
}

/** Writes the code of a function in line; its arguments are on the stack. A call costs as much as twenty vector instructions. */
export function inlineFunction(
  { fn, module }: { readonly fn: WasmFunction; readonly module: WasmModule },
  { parameters, build }: MathFunction,
): void {
  const places = Array.from({ length: parameters }, () => fn.local('v128'));
  for (const place of [...places].reverse()) fn.set(place);
  build(fn, module, places);
  for (const place of places) fn.release('v128', place);
}

/** Pushes an f64 in both lanes. */
export function double(fn: WasmFunction, value: number): void {
  const [low, high] = new Int32Array(Float64Array.of(value).buffer) as unknown as [number, number];
  fn.v128(low, high, low, high);
}

/** Pushes an f32 in all lanes. */
export function single(fn: WasmFunction, value: number): void {
  const [word] = new Int32Array(Float32Array.of(value).buffer) as unknown as [number];
  fn.v128(word, word, word, word);
}

/** Pushes a word in all lanes. */
export function word(fn: WasmFunction, value: number): void {
  fn.v128(value, value, value, value);
}

/** Moves the chosen half of the vector on the stack into its low half. */
export function upper(fn: WasmFunction, half: number): void {
  if (half === 0) return;
  const x = fn.local('v128');
  fn.tee(x).get(x).shuffle32(2, 3, 2, 3);
  fn.release('v128', x);
}

/** Sets the f64 sum in a local, rounded with the error on the stack, to odd, and pushes it. */
export function makeOddDouble(fn: WasmFunction, sum: number): void {
  const [error, inexact] = [fn.local('v128'), fn.local('v128')];
  fn.tee(error).abs('f64x2').v128(0, 0, 0, 0).op('f64x2.gt').set(inexact);
  fn.get(sum).get(error).get(sum).op('v128.xor');
  pushSigns(fn);
  fn.get(inexact).op('v128.and').op('i64x2.add').get(inexact).i32(63).op('i64x2.shr_u').op('v128.or');
  fn.release('v128', inexact);
  fn.release('v128', error);
}

/** How f64 results become f32: 0 to nearest, 1 to 3 as in MODE, or to odd when they are rounded again afterwards. */
export type Finish = 0 | Directed | 'odd';

/** Names of the roundings in names of functions. */
export const ROUNDING_NAMES = ['', '.up', '.down', '.zero'] as const;

/** A function in each of the directed roundings: `name.up` and so on. */
export function inEachDirection(
  name: string,
  parameters: number,
  build: (fn: WasmFunction, module: WasmModule, rounding: Directed, places: readonly number[]) => void,
  inline = false,
): Record<string, MathFunction> {
  return Object.fromEntries(
    ([1, 2, 3] as const).map((rounding) => [
      `${name}${ROUNDING_NAMES[rounding]}`,
      {
        parameters,
        inline,
        build: (fn, module, places) => build(fn, module, rounding, places),
      } satisfies MathFunction,
    ]),
  );
}

/** A function of f32 in each rounding: `name.f32`, `name.f32.up` and so on, and `name.f16` to odd. */
export function allRoundings(
  name: string,
  parameters: number,
  build: (fn: WasmFunction, finish: Finish) => void,
): Record<string, MathFunction> {
  const functions: Record<string, MathFunction> = {
    [`${name}.f16`]: { parameters, build: (fn) => build(fn, 'odd') },
  };
  for (const rounding of [0, 1, 2, 3] as const) {
    functions[`${name}.f32${ROUNDING_NAMES[rounding]}`] = { parameters, build: (fn) => build(fn, rounding) };
  }
  return functions;
}

/** Pushes two lanes of an f32 vector as f64. */
export function promote(fn: WasmFunction, x: number, half: number): void {
  fn.get(x);
  if (half === 1) fn.get(x).shuffle32(2, 3, 2, 3);
  fn.op('f64x2.promote_low_f32x4');
}

/**
 * Pushes two f64 vectors in locals (exact, or on the exact ones' side of every f32) as f32, rounded in a direction. `wrong`: lanes that are wrong
 * anyway.
 */
export function roundDoubles(w: KeptLocals, rounding: Directed, doubles: readonly number[], wrong?: number): void {
  const { fn } = w;
  const halves = doubles.map((x) => w.keep(() => void fn.get(x).op('f32x4.demote_f64x2_zero')));
  const rounded = w.keep(() => {
    for (const half of halves) fn.get(half);
    fn.shuffle32(0, 1, 4, 5);
  });
  const isWrong = w.keep(() => {
    for (const [half, x] of doubles.entries()) {
      const back = w.keep(() => promote(fn, halves[half] as number, 0));
      pushWrongSide(fn, 'f64x2', rounding, back, x);
    }
    fn.shuffle32(0, 2, 4, 6);
    if (wrong !== undefined) fn.get(wrong).op('v128.or');
  });
  fn.get(rounded);
  pushStep(fn, rounding, rounded, isWrong);
  fn.op('i32x4.add');
}

/**
 * Computes a function of f32 parameters in f64, half by half: `body` pushes two f64 from parameters that `promote` pushes. For a finish
 * other than to nearest they are exact, rounded to odd, or what the operation defines its result by.
 */
export function eachHalf(
  fn: WasmFunction,
  body: (promote: (parameter: number) => void, half: number) => void,
  finish: Finish = 0,
): void {
  const pushHalf = (half: number): void => body((parameter) => promote(fn, parameter, half), half);
  if (finish === 1 || finish === 2 || finish === 3) {
    const w = new KeptLocals(fn);
    const doubles = [0, 1].map((half) => w.keep(() => pushHalf(half)));
    roundDoubles(w, finish, doubles);
    w.release();
    return;
  }
  for (const half of [0, 1]) {
    pushHalf(half);
    if (finish === 0) fn.op('f32x4.demote_f64x2_zero');
    else demoteOdd(fn);
  }
  fn.shuffle32(0, 1, 4, 5);
}

/** Two f64 on the stack -> f32 in the low lanes, rounded to odd. */
function demoteOdd(fn: WasmFunction): void {
  const [x, s, e] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
  fn.tee(x).op('f32x4.demote_f64x2_zero').set(s);
  fn.get(x).get(s).op('f64x2.promote_low_f32x4').op('f64x2.sub').set(e);
  // The error as ±1 or 0, which an f32 can hold.
  fn.get(e).v128(0, 0, 0, 0).op('f64x2.lt').v128(0, 0xbff00000, 0, 0xbff00000).op('v128.and');
  fn.get(e).v128(0, 0, 0, 0).op('f64x2.gt').v128(0, 0x3ff00000, 0, 0x3ff00000).op('v128.and').op('v128.or');
  fn.op('f32x4.demote_f64x2_zero');
  makeOdd(fn, s);
  for (const local of [x, s, e]) fn.release('v128', local);
}

/** Pushes Σ c_k x^k of the f64 vector in a local, by Horner's scheme. */
export function polynomial(fn: WasmFunction, coefficients: readonly number[], x: number): void {
  double(fn, coefficients.at(-1) as number);
  for (let k = coefficients.length - 2; k >= 0; k--) {
    fn.get(x).op('f64x2.mul');
    double(fn, coefficients[k] as number);
    fn.op('f64x2.add');
  }
}
