// A profile of one dispatch from its execution counts: annotated listing, hottest instructions and source lines, divergence.
import { branchTarget } from '../../../isa/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import type { ExecutionCounts, InstructionCount } from './counts.ts';
import { hex } from './lanes.ts';
import type { CodeSymbols, SourceLocation } from './symbols.ts';

/** One instruction of the listing. */
export interface ProfileLine {
  readonly pc: string;
  readonly label?: string;
  readonly text: string;
  /** Executions, once per wavefront. */
  readonly hits: number;
  /** Part of all executed instructions, 0 to 1. */
  readonly share: number;
  /** Vector instructions: mean part of the 64 lanes that were active, 0 to 1. */
  readonly utilisation?: number;
  /** Branches: part of the executions that jumped, 0 to 1. */
  readonly taken?: number;
  readonly source?: SourceLocation;
}

/** A place where lanes of a wavefront part. */
export interface DivergenceLine {
  readonly pc: string;
  readonly text: string;
  readonly hits: number;
  /** Executions that left some, but not all, of the active lanes active. */
  readonly split: number;
  /** Mean active lanes before and after. */
  readonly lanesBefore: number;
  readonly lanesAfter: number;
  readonly source?: SourceLocation;
}

/** Conditional branches by how wavefronts took them. */
export interface BranchLine {
  readonly pc: string;
  readonly text: string;
  readonly target?: string;
  readonly hits: number;
  readonly taken: number;
  readonly source?: SourceLocation;
}

export interface SourceLineCount {
  readonly file: string;
  readonly line: number;
  readonly hits: number;
  readonly share: number;
}

export interface Profile {
  readonly instructions: number;
  /** Mean part of the lanes that were active in vector instructions, 0 to 1; absent when there were none. */
  readonly utilisation?: number;
  /** Every instruction that ran, by address. */
  readonly lines: readonly ProfileLine[];
  /** The instructions executed most, at most `HOTTEST`. */
  readonly hottest: readonly ProfileLine[];
  readonly branches: readonly BranchLine[];
  readonly divergence: readonly DivergenceLine[];
  /** Source lines executed most; empty without debug information. */
  readonly sourceLines: readonly SourceLineCount[];
}

const HOTTEST = 10;
const LANES = 64;

/** Builds the profile. `sourceOf` gives source lines where there is debug information. */
export function deriveProfile(
  counts: ExecutionCounts,
  target: TargetName,
  symbols: CodeSymbols,
  sourceOf: (pc: number) => SourceLocation | undefined = () => undefined,
): Profile {
  const { instructions } = counts;
  const total = instructions.reduce((sum, c) => sum + c.hits, 0);
  const text = (c: InstructionCount): string => symbols.textOf(target, c.instruction, c.pc);
  const source = (c: InstructionCount): { source?: SourceLocation } => {
    const found = sourceOf(c.pc);
    return found === undefined ? {} : { source: found };
  };
  const lines = instructions.map((c): ProfileLine => {
    const label = symbols.labelAt(c.pc);
    return {
      pc: hex(c.pc),
      ...(label === undefined ? {} : { label }),
      text: text(c),
      hits: c.hits,
      share: c.hits / total,
      ...(c.isVector ? { utilisation: c.lanes / (LANES * c.hits) } : {}),
      ...(c.isBranch ? { taken: c.taken / c.hits } : {}),
      ...source(c),
    };
  });
  const vector = instructions.filter((c) => c.isVector);
  const vectorHits = vector.reduce((sum, c) => sum + c.hits, 0);
  return {
    instructions: total,
    ...(vectorHits === 0 ? {} : { utilisation: vector.reduce((sum, c) => sum + c.lanes, 0) / (LANES * vectorHits) }),
    lines,
    hottest: [...lines].sort((a, b) => b.hits - a.hits).slice(0, HOTTEST),
    branches: instructions
      .filter((c) => c.isBranch && /^s_cbranch/.test(c.instruction.row.operation))
      .map((c) => {
        const to = branchTarget(c.instruction, c.pc);
        return {
          pc: hex(c.pc),
          text: text(c),
          ...(to === undefined ? {} : { target: symbols.nameOf(to) ?? hex(to) }),
          hits: c.hits,
          taken: c.taken,
          ...source(c),
        };
      }),
    divergence: instructions
      .filter((c) => c.writesExec && c.split > 0)
      .map((c) => ({
        pc: hex(c.pc),
        text: text(c),
        hits: c.hits,
        split: c.split,
        lanesBefore: c.lanes / c.hits,
        lanesAfter: c.lanesAfter / c.hits,
        ...source(c),
      })),
    sourceLines: sourceLines(instructions, total, sourceOf),
  };
}

function sourceLines(
  instructions: readonly InstructionCount[],
  total: number,
  sourceOf: (pc: number) => SourceLocation | undefined,
): SourceLineCount[] {
  const sums = new Map<string, { file: string; line: number; hits: number }>();
  for (const { pc, hits } of instructions) {
    const at = sourceOf(pc);
    if (at === undefined) continue;
    const key = `${at.file}:${at.line}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { file: at.file, line: at.line, hits });
    else sum.hits += hits;
  }
  return [...sums.values()]
    .sort((a, b) => b.hits - a.hits)
    .slice(0, HOTTEST)
    .map((sum) => ({ ...sum, share: sum.hits / total }));
}
