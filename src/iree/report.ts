// TEMP until diff lands
import type { CodeObjectFacts } from './facts.ts';
export interface ChangeReport {
  readonly x: number;
}
export function describeChange(_a: CodeObjectFacts, _b: CodeObjectFacts): ChangeReport {
  return { x: 1 };
}
export function formatChange(_c: ChangeReport): string[] {
  return ['change'];
}
