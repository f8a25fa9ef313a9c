// The longest chain of dependent dispatches of a simulated program, by instructions: order within queues and recorded waits, every
// dispatch placed as early as they allow. It says which work depends on which and how much there is of it, and nothing about time.
import type { DependencySection } from '../document.ts';
import type { Recording } from '../recording.ts';
import { longestPath } from './critical-path.ts';
import { timeline } from './timeline.ts';
import { WorkTable } from './work-table.ts';

const MAX_SHOWN = 4000;

/** The dependency section of a simulated recording. */
export function dependencySection(r: Recording): DependencySection | null {
  const run = r.simulated;
  if (run === undefined || r.dispatches.length === 0) return null;
  const { nodes, busy } = placed(r);
  // Nothing is inferred from places: a gap below zero is none.
  const path = longestPath(nodes, { maxGapNs: -1, recorded: run.dependencies });
  return {
    unit: 'instructions',
    length: path.lengthNs,
    work: busy,
    nodes: nodes.length,
    pathNodes: path.path.length,
    edges: { queueOrder: path.edges.queueOrder, recorded: path.edges.recorded },
    symbols: path.symbols.most(1000).map((s) => ({
      symbol: s.symbol,
      count: s.count,
      total: s.totalNs,
      critical: s.criticalNs,
      onPath: s.onPath,
      minSlack: s.minSlackNs,
    })),
    timeline: timeline(nodes, path, MAX_SHOWN).map((entry) => ({
      symbol: entry.symbol,
      lane: entry.lane,
      start: entry.start,
      length: entry.duration,
      critical: entry.critical,
      slack: entry.slack,
      after: [entry.after, ...run.dependencies.filter(([, to]) => to === entry.node).map(([from]) => from)].filter(
        (n) => n >= 0,
      ),
      node: entry.node,
    })),
  };
}

/** Every dispatch at the earliest place that its dependencies allow, in instructions. */
function placed(r: Recording): { nodes: WorkTable; busy: number } {
  const run = r.simulated;
  const d = r.dispatches;
  const waits = new Map<number, number[]>();
  for (const [from, to] of run?.dependencies ?? []) waits.set(to, [...(waits.get(to) ?? []), from]);
  /** Per queue: the end of all its work, and the start of its last dispatch, before which the next does not start. */
  const queues = new Map<number, { end: number; start: number }>();
  const nodes = new WorkTable(d.length);
  let busy = 0;
  for (let row = 0; row < d.length; row++) {
    const queue = queues.get(d.queue.get(row)) ?? { end: 0, start: 0 };
    const others = (waits.get(row) ?? []).map((from) => nodes.end[from]);
    const start = Math.max(run?.barriers[row] === true ? queue.end : queue.start, 0, ...others);
    const length = run?.instructions[row] ?? 0;
    const end = start + length;
    busy += length;
    queues.set(d.queue.get(row), { end: Math.max(queue.end, end), start });
    const group = nodes.groupId({ kind: 'dispatch', symbol: r.kernels.get(d.kernel.get(row)), agent: '' });
    nodes.push(group, nodes.lanes.id(r.queues.get(d.queue.get(row))), start, end);
  }
  return { nodes, busy };
}
