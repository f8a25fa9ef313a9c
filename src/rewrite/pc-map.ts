// Where the code of a rewritten object came from and went to, from a list of numbers that can be kept in a file.
import type { CodeInstruction, Program } from '../program/index.ts';
import type { Cut } from './layout.ts';
import type { PcMap } from './types.ts';

/** Numbers of a cut: where it begins, its islands, its instruction, its end; its old address; what stands in it. */
const WIDTH = 6;

/** What stands in a cut: the original's code, something in its place, or only a jump that the layout needed. */
const [ORIGINAL, REPLACED, JUMP] = [0, 1, 2] as const;

/** The numbers of all cuts, by new address; those that are not in `cuts` are jumps. What `stays` runs where it was. */
export function pcSegments(
  order: readonly Cut[],
  cuts: ReadonlySet<Cut>,
  stays: readonly { readonly from: number; readonly to: number }[],
): number[] {
  const isUnused = (cut: Cut): boolean => stays.some(({ from, to }) => cut.old >= from && cut.old < to);
  const rows = order.map((cut) => [
    cut.newStart,
    cut.newPool,
    cut.newAt,
    cut.newEnd,
    cut.old,
    !cuts.has(cut) || isUnused(cut) ? JUMP : cut.replacement === undefined ? ORIGINAL : REPLACED,
  ]);
  for (const { from, to } of stays) rows.push([from, from, from, to, from, ORIGINAL]);
  return rows.sort((a, b) => (a[0] as number) - (b[0] as number)).flat();
}

/** The map of these segments; `lifted` gives the original program. */
export function pcMapOf(lifted: () => Program, segments: readonly number[]): PcMap {
  const field = (row: number, n: number): number => segments[row * WIDTH + n] as number;
  const rows = segments.length / WIDTH;
  let byOld: number[] | undefined;
  /** The last of `count` rows whose number is not above a value; -1 for none. */
  const lastOf = (count: number, numberOf: (i: number) => number, value: number): number => {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numberOf(middle) <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  return {
    segments,
    now: (pc) => {
      if (lifted().at(pc) === undefined) return undefined;
      byOld ??= Array.from({ length: rows }, (_, row) => row)
        .filter((row) => field(row, 5) !== JUMP)
        .sort((a, b) => field(a, 4) - field(b, 4));
      const order = byOld;
      const row = order[lastOf(order.length, (i) => field(order[i] as number, 4), pc)];
      return row === undefined ? undefined : Math.min(field(row, 2) + (pc - field(row, 4)), field(row, 3));
    },
    original: (address) => {
      const row = lastOf(rows, (i) => field(i, 0), address);
      if (row < 0 || address >= field(row, 3)) return undefined;
      const program = lifted();
      const old = field(row, 4);
      if (address >= field(row, 2) && field(row, 5) === ORIGINAL) {
        const code: CodeInstruction | undefined = program.at(old + (address - field(row, 2)));
        return code && { pc: code.pc, isInserted: false };
      }
      // Code behind an instruction stands with that instruction.
      const owner =
        address < field(row, 1)
          ? (program.at(old - 4) ?? program.at(old - 8) ?? program.at(old - 16))
          : program.at(old);
      return owner && { pc: owner.pc, isInserted: true };
    },
  };
}
