// When output modifiers have an effect, and which infinities are no overflows. Sources: AMD CDNA3 Instruction Set Architecture, "Output Modifiers", table "MODE register";
// LLVM's AMDGPUUsage, FP16_OVFL of compute_pgm_rsrc1.
import { type Expr, source } from './expr.ts';
import { OPERAND_TYPES, type OperandType } from './operation.ts';

const DENORMAL_RESULTS_32 = 0x20;
const DENORMAL_RESULTS_64 = 0x80;
const IEEE = 0x200;

/** Why an output modifier does nothing to results of a type under a value of MODE; undefined when it acts, or there is no such type. */
export function ignoredModifier(mode: number, type: OperandType | undefined): string | undefined {
  if (type !== 'f32' && type !== 'f32x2' && type !== 'f16' && type !== 'f16x2' && type !== 'f64') return undefined;
  if ((mode & IEEE) !== 0) return 'IEEE mode is on';
  const keeps = type === 'f32' || type === 'f32x2' ? DENORMAL_RESULTS_32 : DENORMAL_RESULTS_64;
  return (mode & keeps) === 0 ? undefined : `results of type ${type} keep denormals`;
}

/** Operators whose result is infinite where their operand is a zero. */
export const INFINITE_AT_ZERO: ReadonlySet<string> = new Set(['f16.rcp', 'f16.rsq', 'f16.log2']);

/** Whether a result is put together from bits: where it is infinite before an output modifier, it has not overflowed. */
export const isMadeOfBits = (e: Expr): boolean => e.op.endsWith('.from_bits');

/** The float operands that an expression reads as numbers or as bits, each once. `types`: those of the operands. */
export function floatSources(e: Expr, types: readonly OperandType[]): Expr[] {
  const found = new Map<string, Expr>();
  const visit = (x: Expr): void => {
    const type = x.op === 'source' ? types[Number(x.value)] : undefined;
    const value = type === undefined ? 'i32' : OPERAND_TYPES[type].value;
    if (value !== 'i32' && value !== 'i64') found.set(`${x.value}.${x.part}`, source(value, Number(x.value), x.part));
    for (const argument of x.args) visit(argument);
  };
  visit(e);
  return [...found.values()];
}
