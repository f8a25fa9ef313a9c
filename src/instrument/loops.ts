// Ways between the blocks of a kernel, and its loops: what dominators say are ways back.
// Source: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm".
import type { BasicBlock, Program } from '../program/index.ts';
import type { ProbeBlock, ProbeEdge, ProbeKernel, ProbeLoop } from './view.ts';

/** The ways between the blocks of a kernel or function. */
export function edgesOf(program: Program, kernel: ProbeKernel): ProbeEdge[] {
  const own = new Map(kernel.blocks.map((block) => [block.index, block]));
  const dominators = new Dominators(program, kernel);
  return kernel.blocks.flatMap((from) =>
    from.block.successors.flatMap((next): ProbeEdge[] => {
      const to = own.get(next);
      if (to === undefined) return [];
      return kindsOf(from, to).map((kind) => ({ from, to, kind, isBack: dominators.has(next, from.index) }));
    }),
  );
}

/** How a block leads to another: a conditional branch to the code behind it does so in two ways. */
function kindsOf({ block, instructions }: ProbeBlock, to: ProbeBlock): ProbeEdge['kind'][] {
  if (block.exit === 'indirect') return ['indirect'];
  if (block.exit === 'jump') return ['taken'];
  const last = instructions.at(-1);
  const behind = (last?.pc ?? 0) + (last?.size ?? 0);
  if (block.exit !== 'branch') return ['next'];
  if (to.pc !== behind) return ['taken'];
  return new Set(block.successors).size === 1 ? ['taken', 'next'] : ['next'];
}

/** The loops of a kernel or function, outer ones first. */
export function loopsOf(program: Program, kernel: ProbeKernel): ProbeLoop[] {
  const edges = edgesOf(program, kernel);
  const headers = new Map<ProbeBlock, Set<ProbeBlock>>();
  for (const { from, to } of edges.filter((edge) => edge.isBack)) {
    const body = headers.get(to) ?? new Set([to]);
    headers.set(to, body);
    const work = [from];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      if (body.has(block)) continue;
      body.add(block);
      for (const edge of edges) if (edge.to === block) work.push(edge.from);
    }
  }
  const bodies = [...headers.values()];
  const loops = [...headers].map(([header, body]): ProbeLoop => {
    const leads = (edge: ProbeEdge): boolean => edge.to === header && body.has(edge.from);
    return {
      kernel,
      header,
      blocks: [...body].sort((a, b) => a.pc - b.pc),
      back: edges.filter(leads),
      entries: edges.filter(({ from, to }) => body.has(to) && !body.has(from)),
      exits: edges.filter(({ from, to }) => body.has(from) && !body.has(to)),
      depth: bodies.filter((other) => other.has(header)).length,
    };
  });
  return loops.sort((a, b) => a.depth - b.depth || a.header.pc - b.header.pc);
}

/** Which blocks are on every way to a block. */
class Dominators {
  private readonly immediate = new Map<number, number>();
  private readonly rank = new Map<number, number>();

  constructor(program: Program, { subject, blocks }: ProbeKernel) {
    const own = new Set(blocks.map((block) => block.index));
    const order = this.order(program, subject.entryBlocks, own);
    for (const [i, block] of order.entries()) this.rank.set(block, i);
    for (const entry of subject.entryBlocks) this.immediate.set(entry, ROOT);
    for (let changed = true; changed; ) {
      changed = false;
      for (const block of order) {
        let meet: number | undefined = subject.entryBlocks.includes(block) ? ROOT : undefined;
        for (const before of (program.blocks[block] as BasicBlock).predecessors)
          if (this.immediate.has(before)) meet = meet === undefined ? before : this.meet(meet, before);
        if (meet === undefined || this.immediate.get(block) === meet) continue;
        this.immediate.set(block, meet);
        changed = true;
      }
    }
  }

  /** Whether every way to a block leads over another, or it is the block itself. */
  has(over: number, block: number): boolean {
    for (let at: number | undefined = block; at !== undefined && at !== ROOT; at = this.immediate.get(at))
      if (at === over) return true;
    return false;
  }

  /** Blocks from the entries on, each before those that only it leads to. */
  private order(program: Program, entries: readonly number[], own: ReadonlySet<number>): number[] {
    const seen = new Set<number>();
    const post: number[] = [];
    for (const entry of entries) {
      const stack: { block: number; at: number }[] = seen.has(entry) ? [] : [{ block: entry, at: 0 }];
      seen.add(entry);
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        const next = (program.blocks[top.block] as BasicBlock).successors[top.at++];
        if (next === undefined) {
          post.push(top.block);
          stack.pop();
        } else if (own.has(next) && !seen.has(next)) {
          seen.add(next);
          stack.push({ block: next, at: 0 });
        }
      }
    }
    return post.reverse();
  }

  private meet(a: number, b: number): number {
    let [x, y] = [a, b];
    const rank = (n: number): number => (n === ROOT ? -1 : (this.rank.get(n) as number));
    while (x !== y) {
      if (rank(x) > rank(y)) x = this.immediate.get(x) as number;
      else y = this.immediate.get(y) as number;
    }
    return x;
  }
}

/** Stands before all entries. */
const ROOT = -1;
