// f64 operations that mostly change no more than sign and exponent: made of the high words of four lanes at once. A lane that needs more
// sends its chunk to the operator's function.
import { source, type VectorOperation } from '../../../isa/semantics/index.ts';
import type { LaneMode, LaneWriter } from './lane-writer.ts';
import { word } from './math-tools.ts';

/** The exponent field of a high word, and its lowest bit. */
const EXPONENT = 0x7ff00000;
const ONE = 0x00100000;
/** High word of 2^n. */
const powerWord = (n: number): number => (1023 + n) << 20;

/** Pushes a mask with the lanes whose word on the stack is not in [from, to). */
function pushOutside({ fn }: LaneWriter, from: number, to: number): void {
  word(fn, from);
  fn.op('i32x4.sub');
  word(fn, to - from);
  fn.op('i32x4.ge_u');
}

/** Words of an operand in locals. */
interface Words {
  readonly low: number;
  readonly high: number;
}

/**
 * Sets the result's high words, and the low ones where they are not those of the first operand, which they have before. Pushes a mask that
 * is not empty when a lane needs more.
 */
type Form = (code: LaneWriter, result: Words, operands: readonly Words[]) => void;

const mantissa: Form = (code, result, operands) => {
  const { fn } = code;
  const { high } = operands[0] as Words;
  fn.get(high);
  word(fn, 0x7fffffff);
  fn.op('v128.and');
  pushOutside(code, ONE, EXPONENT);
  fn.get(high);
  word(fn, ~EXPONENT);
  fn.op('v128.and');
  word(fn, powerWord(-1));
  fn.op('v128.or').set(result.high);
};

const FORMS: Readonly<Record<string, Form>> = {
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
  // The low words of all operands, too: `general` reads them, and what is first read in its branch is not there for later instructions.
  const operands = sources.map((_, k) => {
    const [high, low] = [1, 0].map((part) => {
      const local = fn.local('v128');
      code.push(source('i32', k, part));
      fn.set(local);
      return local;
    }) as [number, number];
    return { low, high };
  });
  const result = { low: fn.local('v128'), high: fn.local('v128') };
  fn.get((operands[0] as Words).low).set(result.low);
  (FORMS[operation] as Form)(code, result, operands);
  fn.op('v128.any_true').if();
  general();
  fn.set(result.high).set(result.low).end().get(result.low).get(result.high);
  for (const { low, high } of [...operands, result]) {
    fn.release('v128', low);
    fn.release('v128', high);
  }
}
