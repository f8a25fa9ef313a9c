// Functions that run where they are, unchanged, while the rest of the code is laid out again somewhere else: their bytes stay in the image,
// and what points to them goes on doing so.
import type { Program, ProgramFunction } from '../program/index.ts';

/** Addresses from a first one up to the one behind the last. */
export interface CodeRange {
  readonly from: number;
  readonly to: number;
}

/** The ranges of functions' blocks, in order; neighbours are one. */
export function rangesOf({ blocks, instructions }: Program, functions: readonly ProgramFunction[]): CodeRange[] {
  const indexes = [...new Set(functions.flatMap((subject) => subject.blocks))].sort((a, b) => a - b);
  const out: { from: number; to: number }[] = [];
  for (const index of indexes) {
    const { first = 0, end = 0 } = blocks[index] ?? {};
    const [head, last] = [instructions[first], instructions[end - 1]];
    if (head === undefined || last === undefined) continue;
    const to = last.pc + last.instruction.size;
    const before = out.at(-1);
    if (before !== undefined && before.to === head.pc) before.to = to;
    else out.push({ from: head.pc, to });
  }
  return out;
}

/** Whether an address is in one of the ranges. */
export function isIn(ranges: readonly CodeRange[], address: number): boolean {
  return ranges.some(({ from, to }) => address >= from && address < to);
}
