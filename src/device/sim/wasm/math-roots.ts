// Reciprocal and root of f32 in the roundings that the host has no instruction for.
import type { WasmFunction } from './emit.ts';
import { allRoundings, double, eachHalf, type MathFunction } from './math-tools.ts';

const roundings = (name: string, body: (fn: WasmFunction, promote: () => void) => void): Record<string, MathFunction> =>
  allRoundings(name, 1, (fn, finish) => eachHalf(fn, (promote) => body(fn, () => promote(0)), finish));

export const ROOTS: Record<string, MathFunction> = {
  ...roundings('rcp', (fn, promote) => {
    double(fn, 1);
    promote();
    fn.op('f64x2.div');
  }),
  ...roundings('sqrt', (fn, promote) => {
    promote();
    fn.op('f64x2.sqrt');
  }),
};
