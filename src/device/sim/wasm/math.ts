// Functions of compiled modules for operators that take more than a few instructions, one a module and operator. f32 operators take and
// give four lanes, f64 operators two. Counterparts: interpreter/operators.ts, interpreter/division.ts, isa/semantics/transcendental.ts.
import type { WasmFunction, WasmModule } from './emit.ts';
import { ARITHMETIC } from './math-arithmetic.ts';
import { DIRECTED_DOUBLE } from './math-directed.ts';
import { DIRECTED_SINGLE } from './math-directed-single.ts';
import { EXPONENT } from './math-exponent.ts';
import { FUSED_DOUBLE } from './math-fused.ts';
import { PERMUTE } from './math-permute.ts';
import { ROOTS } from './math-roots.ts';
import { SMALL } from './math-small.ts';
import { callFunction, inlineFunction, type MathFunction } from './math-tools.ts';
import { NoCode } from './scalar.ts';

const FUNCTIONS: Record<string, MathFunction> = {
  ...ARITHMETIC,
  ...FUSED_DOUBLE,
  ...DIRECTED_SINGLE,
  ...DIRECTED_DOUBLE,
  ...PERMUTE,
  ...ROOTS,
  ...EXPONENT,
  ...SMALL,
};

/** Calls the function of an operator, or writes it in line; its arguments are on the stack. */
export function callMath(code: { readonly fn: WasmFunction; readonly module: WasmModule }, name: string): void {
  const known = FUNCTIONS[name];
  if (known === undefined) throw new NoCode(name);
  if (known.inline === true) inlineFunction(code, known);
  else callFunction(code, name, known);
}
