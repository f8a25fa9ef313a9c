// Addresses of code where code has moved. The numbers differ between two programs, and the places are the same: a call and its
// counterpart leave one symbol to return to, and a jump to the symbol goes on behind the call in either program; so do the entries
// of functions that were called. Such a symbol may be copied and kept in scratch; the proof stops where anything else would depend on
// it (`Algebra.mustBeNumber`).
import type { Program } from '../program/index.ts';
import type { Algebra, CodePlaces } from './step.ts';

/** Addresses behind the calls of a program, in the order of its code. */
const behindCalls = ({ instructions }: Program): number[] =>
  instructions
    .filter(({ instruction }) => /^s_(?:swappc|call)_/.test(instruction.row.operation))
    .map(({ pc, instruction }) => pc + instruction.size);

/** Entries of a program's functions, in the order of its code. */
const entriesOf = ({ functions }: Program): number[] => functions.map(({ entry }) => entry).sort((x, y) => x - y);

/**
 * Symbols for calls and functions of two programs, paired in the order of the code: a wrong pair proves nothing, because each program
 * goes on at its own address. Undefined when no address differs, or there are not as many.
 */
export function codePlaces(
  algebra: Algebra,
  programs: readonly [Program, Program],
  shift: bigint,
): readonly [CodePlaces, CodePlaces] | undefined {
  const [calls, entries] = [programs.map(behindCalls), programs.map(entriesOf)] as [number[][], number[][]];
  const pairs = [calls, entries] as const;
  if (pairs.some(([a, b]) => a?.length !== b?.length)) return undefined;
  if (pairs.every(([a, b]) => a?.every((pc, i) => BigInt(pc) + shift === BigInt(b?.[i] as number)))) return undefined;
  const make = (side: 0 | 1): CodePlaces => {
    const behind = (calls[side] as number[]).map((pc, i) => [pc, algebra.codePlace(`behind call ${i}`)] as const);
    const begin = (entries[side] as number[]).map((pc, i) => [pc, algebra.codePlace(`function ${i}`)] as const);
    return {
      behindCalls: new Map(behind),
      entries: new Map(begin),
      addresses: new Map([...behind, ...begin].map(([pc, symbol]) => [symbol, pc])),
    };
  };
  return [make(0), make(1)];
}
