// Which blocks must be counted so that it is known how often all of them run. What comes into a junction of ways leaves it, so the counts
// of the blocks around it determine each other: only those that no spanning tree of the junctions has are counted.
// Source: D. Knuth, F. Stevenson, "Optimal measurement points for program frequency counts", BIT 13 (1973).
import type { Program } from '../program/index.ts';
import { loopsOf } from './loops.ts';
import type { ProbeBlock, ProbeKernel } from './view.ts';

/** The junction that waves come from and go to: starts, ends and calls, whose sums are not known. */
const OUTSIDE = 0;

/** A block as a way from one junction to another. */
interface Way {
  readonly block: ProbeBlock;
  readonly from: number;
  readonly to: number;
}

/** Numbers that are joined to sets; a set goes by its smallest. */
class Sets {
  private readonly parent: number[];

  constructor(count: number) {
    this.parent = Array.from({ length: count }, (_, n) => n);
  }

  of(n: number): number {
    let at = n;
    while (this.parent[at] !== at) at = this.parent[at] as number;
    for (let one = n; one !== at; ) {
      const next = this.parent[one] as number;
      this.parent[one] = at;
      one = next;
    }
    return at;
  }

  /** Whether they were apart. */
  join(a: number, b: number): boolean {
    const [x, y] = [this.of(a), this.of(b)];
    this.parent[Math.max(x, y)] = Math.min(x, y);
    return x !== y;
  }
}

/** Blocks where functions begin: waves come from elsewhere, too. */
function starts(program: Program): Set<number> {
  return new Set(program.functions.flatMap(({ entryBlocks }) => entryBlocks));
}

function waysOf({ blocks }: ProbeKernel, entries: ReadonlySet<number>): Way[] {
  const own = new Map(blocks.map((block, n) => [block.index, n]));
  // Twice a block's number: where it is entered; one more: where it is left.
  const sets = new Sets(2 * blocks.length + 2);
  const [into, outOf] = [(n: number): number => 2 * n + 2, (n: number): number => 2 * n + 3];
  for (const [n, { index, block }] of blocks.entries()) {
    const isClosed = block.predecessors.every((one) => own.has(one)) && !entries.has(index);
    if (!isClosed) sets.join(into(n), OUTSIDE);
    const next = block.successors.map((one) => own.get(one));
    const isOpen =
      ['call', 'return', 'end', 'unresolved', 'invalid', 'off-end'].includes(block.exit) ||
      block.badTargets.length > 0 ||
      next.length === 0 ||
      next.includes(undefined);
    if (isOpen) sets.join(outOf(n), OUTSIDE);
    for (const one of next) if (one !== undefined) sets.join(outOf(n), into(one));
  }
  return blocks.map((block, n) => ({ block, from: sets.of(into(n)), to: sets.of(outOf(n)) }));
}

/** The blocks of a kernel or function to count, with the fewest turns expected. */
export function measuredBlocks(program: Program, kernel: ProbeKernel): ProbeBlock[] {
  const ways = waysOf(kernel, starts(program));
  const loops = loopsOf(program, kernel);
  const depths = new Map<ProbeBlock, number>();
  for (const { blocks, depth } of loops)
    for (const block of blocks) depths.set(block, Math.max(depth, depths.get(block) ?? 0));
  // Blocks of inner loops need no counter where others will do; where a wave ends one costs least.
  const rank = ({ block }: Way): number => 2 * (depths.get(block) ?? 0) + (block.block.exit === 'end' ? 0 : 1);
  const tree = new Sets(2 * ways.length + 2);
  const left = [...ways].sort((a, b) => rank(b) - rank(a)).filter(({ from, to }) => !tree.join(from, to));
  const measured = new Set(left.map(({ block }) => block));
  return kernel.blocks.filter((block) => measured.has(block));
}

/**
 * How often the blocks of a kernel or function ran, from those that were counted; none for those that counts are missing for. Of waves
 * that did not end the counts may not fit each other: a block has no less than 0.
 */
export function blockCounts(
  program: Program,
  kernel: ProbeKernel,
  counted: ReadonlyMap<ProbeBlock, bigint>,
): Map<ProbeBlock, bigint> {
  const ways = waysOf(kernel, starts(program));
  const out = new Map<ProbeBlock, bigint>();
  /** By junction: the ways of unknown counts, and what the known ones bring less what they take. */
  const open = new Map<number, Set<Way>>();
  const excess = new Map<number, bigint>();
  for (const way of ways)
    for (const junction of [way.from, way.to]) open.set(junction, (open.get(junction) ?? new Set()).add(way));
  const work: number[] = [];
  const note = (way: Way, count: bigint): void => {
    out.set(way.block, count < 0n ? 0n : count);
    excess.set(way.to, (excess.get(way.to) ?? 0n) + count);
    excess.set(way.from, (excess.get(way.from) ?? 0n) - count);
    for (const junction of [way.from, way.to]) {
      const unknown = open.get(junction) as Set<Way>;
      unknown.delete(way);
      if (unknown.size === 1 && junction !== OUTSIDE) work.push(junction);
    }
  };
  for (const junction of open.keys()) if (junction !== OUTSIDE && open.get(junction)?.size === 1) work.push(junction);
  for (const way of ways) {
    const count = counted.get(way.block);
    if (count !== undefined) note(way, count);
  }
  for (let junction = work.pop(); junction !== undefined; junction = work.pop()) {
    const [way] = open.get(junction) as Set<Way>;
    if (way === undefined || way.from === way.to) continue;
    const rest = excess.get(junction) ?? 0n;
    note(way, way.from === junction ? rest : -rest);
  }
  return out;
}
