// f64 operations that mostly change no more than sign and exponent: made of the high words of four lanes at once. A lane that needs more
// sends its chunk to the operator's function.
import { source, type VectorOperation } from '../../../isa/semantics/index.ts';
import type { LaneMode, LaneWriter } from './lane-writer.ts';
import { F64 } from './math-division.ts';
import { word } from './math-tools.ts';

/** The exponent field of a high word, and its lowest bit. */
const EXPONENT = 0x7ff00000;
const ONE = 0x00100000;
/** High word of 2^n. */
const powerWord = (n: number): number => (1023 + n) << 20;

/** Pushes a mask with the lanes whose word on the stack, without its sign, is not in [from, to). */
function pushOutside({ fn }: LaneWriter, from: number, to: number): void {
  word(fn, 0x7fffffff);
  fn.op('v128.and');
  word(fn, from);
  fn.op('i32x4.sub');
  word(fn, to - from);
  fn.op('i32x4.ge_u');
}

/** The high words of the result, from those of the operands: locals. Pushes a mask that is not empty when a lane needs more. */
type Form = (code: LaneWriter, result: number, operands: readonly number[]) => void;

/** |a| with the sign of b / c. */
const divFixup: Form = (code, result, operands) => {
  const { fn } = code;
  const [a, b, c] = operands as [number, number, number];
  for (const [n, operand] of [b, c].entries()) {
    fn.get(operand);
    pushOutside(code, powerWord(-F64.ordinary), powerWord(F64.ordinary));
    if (n > 0) fn.op('v128.or');
  }
  // Infinities and NaNs.
  fn.get(a);
  pushOutside(code, 0, EXPONENT);
  fn.op('v128.or').get(a);
  word(fn, 0x7fffffff);
  fn.op('v128.and').get(b).get(c).op('v128.xor');
  word(fn, -0x80000000);
  fn.op('v128.and').op('v128.or').set(result);
};

const mantissa: Form = (code, result, operands) => {
  const { fn } = code;
  const [a] = operands as [number];
  fn.get(a);
  pushOutside(code, ONE, EXPONENT);
  fn.get(a);
  word(fn, ~EXPONENT);
  fn.op('v128.and');
  word(fn, powerWord(-1));
  fn.op('v128.or').set(result);
};

const FORMS: Readonly<Record<string, Form>> = {
  v_div_fixup_f64: divFixup,
  v_frexp_mant_f64: mantissa,
};

/** Whether the result of an operation has such a form. */
export function hasHighWordForm(operation: string, mode: LaneMode): boolean {
  return operation in FORMS && mode.in64 && mode.out64;
}

/**
 * Pushes the words of an operation's result, low and high. `general` pushes them for chunks with a lane that needs more; nothing that it asks
 * of `code` is used after it.
 */
export function pushByHighWords(
  code: LaneWriter,
  operation: string,
  { sources }: VectorOperation,
  general: () => void,
): void {
  const { fn } = code;
  const operands = sources.map((_, k) => {
    const local = fn.local('v128');
    code.push(source('i32', k, 1));
    fn.set(local);
    return local;
  });
  const [low, high] = [fn.local('v128'), fn.local('v128')];
  // The low words of all operands: `general` reads them, and what is first read in its branch is not there for later instructions.
  for (const k of sources.keys()) {
    code.push(source('i32', sources.length - 1 - k, 0));
    fn.set(low);
  }
  (FORMS[operation] as Form)(code, high, operands);
  fn.op('v128.any_true').if();
  general();
  fn.set(high).set(low).end().get(low).get(high);
  for (const local of [...operands, low, high]) fn.release('v128', local);
}
