// Test helper: runs a small kernel, given as assembly, by compiled code and by the interpreter, which are to find and to leave the same.
import { expect } from 'vitest';
import { type EngineRun, engineRun, type StrictRun } from './strict.ts';

type Found = Pick<EngineRun, 'findings'>;

/** Runs a kernel in strict mode on both engines, as `engineRun`. */
export async function onBothEngines(
  code: string,
  options: StrictRun,
): Promise<{ readonly compiled: EngineRun; readonly interpreted: EngineRun }> {
  return {
    compiled: await engineRun(code, { ...options, engine: 'compiled' }),
    interpreted: await engineRun(code, { ...options, engine: 'interpreter' }),
  };
}

/** The same with the bytes that compiled code leaves without strict mode. */
export async function onAllEngines(
  code: string,
  options: StrictRun,
): Promise<{ readonly compiled: EngineRun; readonly interpreted: EngineRun; readonly plain: Uint8Array }> {
  const both = await onBothEngines(code, options);
  const { bytes } = await engineRun(code, { ...options, engine: 'compiled', isPlain: true });
  return { ...both, plain: bytes };
}

/** What each finding says. */
export function factsOf({ findings }: Found): unknown[] {
  return findings.map(({ rule, place, registers, message }) => [rule, place, registers, message]);
}

/** The same, and which other instructions it names. */
export function namedFactsOf({ findings }: Found): unknown[] {
  return findings.map(({ rule, place, registers, message, related }) => [rule, place, registers, message, related]);
}

/** Runs a kernel on both engines, and expects the same facts of both, in whatever order; the rule of each finding. */
export async function agreedRules(code: string, options: StrictRun, facts = factsOf): Promise<readonly string[]> {
  const { compiled, interpreted } = await onBothEngines(code, options);
  const sorted = (one: Found): string[] =>
    facts(one)
      .map((fact) => JSON.stringify(fact))
      .sort();
  expect(sorted(compiled)).toEqual(sorted(interpreted));
  return compiled.findings.map(({ rule }) => rule);
}

/** `rule place` of each finding, once, in order. */
export function placesOf({ findings }: Found): string[] {
  return [...new Set(findings.map(({ rule, place }) => `${rule} ${place.pc}`))].sort();
}

/** What is counted up to `modulus`, so many bytes. */
export function countedBytes(length: number, modulus = 251): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % modulus);
}
