// Reciprocal and root of f32 in the roundings that the host has no instruction for.
import type { WasmFunction } from './emit.ts';
import { allRoundings, double, eachHalf, type Finish, type MathFunction } from './math-tools.ts';

const roundings = (name: string, body: (fn: WasmFunction, promote: () => void) => void): Record<string, MathFunction> =>
  allRoundings(name, 1, (fn, finish) => eachHalf(fn, (promote) => body(fn, () => promote(0)), finish));

/** The root in any rounding. */
export function exactRoot(fn: WasmFunction, finish: Finish): void {
  const pushRoot = (promote: (parameter: number) => void): void => {
    promote(0);
    fn.op('f64x2.sqrt');
  };
  eachHalf(fn, pushRoot, finish);
}

export const ROOTS: Record<string, MathFunction> = {
  ...roundings('rcp', (fn, promote) => {
    double(fn, 1);
    promote();
    fn.op('f64x2.div');
  }),
  'sqrt.f16': { parameters: 1, build: (fn) => exactRoot(fn, 'odd') },
};
