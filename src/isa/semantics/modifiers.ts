// When output modifiers have an effect. Source: AMD CDNA3 Instruction Set Architecture, "Output Modifiers", table "MODE register".
import type { OperandType } from './operation.ts';

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
