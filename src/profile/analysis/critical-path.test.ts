import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { criticalPath } from './critical-path.ts';
import type { WorkNode } from './work-table.ts';

const node = (symbol: string, lane: string, start: number, end: number): WorkNode => ({
  kind: 'dispatch',
  symbol,
  lane,
  start,
  end,
});

describe('critical path golden cases', () => {
  test('serial work on one queue is one chain', () => {
    const path = criticalPath([node('A', 'q', 0, 100), node('B', 'q', 100, 250), node('C', 'q', 300, 350)]);
    expect([...path.path]).toEqual([0, 1, 2]);
    expect(path.lengthNs).toBe(300);
    expect(path.spanNs).toBe(350);
    expect(path.gapNs).toBe(50);
    expect([...path.slack]).toEqual([0, 0, 0]);
    expect(path.edges).toEqual({ queueOrder: 2, recorded: 0, inferred: 0 });
  });

  test('parallel work on two queues: only the longer one is critical, the other has slack', () => {
    const path = criticalPath([node('A', 'q1', 0, 100), node('B', 'q2', 0, 250)]);
    expect([...path.path]).toEqual([1]);
    expect(path.lengthNs).toBe(250);
    expect([...path.slack]).toEqual([150, 0]);
    expect(path.overlapNs).toBe(100);
  });

  test('across queues the latest finished work is the inferred predecessor', () => {
    const path = criticalPath([node('A', 'q1', 0, 100), node('B', 'q2', 110, 300), node('C', 'q1', 310, 320)]);
    expect([...path.path]).toEqual([0, 1, 2]);
    expect([...path.inferredFrom]).toEqual([-1, 0, 1]);
    expect(path.edges.inferred).toBe(2);
    expect(criticalPath([node('A', 'q1', 0, 100), node('B', 'q2', 110, 300)], { maxGapNs: 5 }).edges.inferred).toBe(0);
  });

  test('shares add up by symbol and bound the gain of making it twice as fast', () => {
    const path = criticalPath([
      node('gemm', 'q', 0, 100),
      node('copy', 'q', 100, 130),
      node('gemm', 'q', 130, 330),
      node('side', 'q2', 0, 20),
    ]);
    const gemm = path.symbols.most(99).find((s) => s.symbol === 'gemm');
    expect(gemm).toMatchObject({ count: 2, totalNs: 300, criticalNs: 300, onPath: 2, gainIfTwiceAsFastNs: 150 });
    expect(path.symbols.most(99).find((s) => s.symbol === 'side')).toMatchObject({
      criticalNs: 0,
      gainIfTwiceAsFastNs: 0,
    });
    expect(path.symbols.most(1)[0].symbol).toBe('gemm');
  });

  test('dispatches of one queue that overlap order the starts only', () => {
    const path = criticalPath([node('A', 'q', 0, 100), node('B', 'q', 40, 120)]);
    expect(path.lengthNs).toBe(120);
    expect(path.overlapNs).toBe(60);
  });

  test('recorded dependencies count as recorded and impossible ones are ignored', () => {
    const nodes = [node('A', 'q1', 0, 100), node('B', 'q2', 50, 70), node('C', 'q3', 120, 130)];
    const path = criticalPath(nodes, {
      recorded: [
        [1, 2],
        [0, 1],
        [5, 0],
      ] as [number, number][],
    });
    expect(path.edges.recorded).toBe(1);
  });

  test('no work at all', () => {
    expect(criticalPath([])).toMatchObject({ spanNs: 0, lengthNs: 0, busyNs: 0 });
  });
});

/** The same model, spelled out: all edges by definition, all chains by recursion. `scale` shortens the work of a symbol. */
function bruteForce(nodes: readonly WorkNode[], scale = (_symbol: string) => 1): { length: number; slack: number[] } {
  const before = (a: number, b: number) => nodes[a].start - nodes[b].start || nodes[a].end - nodes[b].end || a - b;
  const edges: [number, number][] = [];
  nodes.forEach((b, j) => {
    const sameLane = nodes
      .map((_, i) => i)
      .filter((i) => i !== j && nodes[i].lane === b.lane && before(i, j) < 0)
      .sort(before);
    if (sameLane.length > 0) edges.push([sameLane[sameLane.length - 1], j]);
    const others = nodes
      .map((_, i) => i)
      .filter((i) => nodes[i].lane !== b.lane && nodes[i].end <= b.start)
      .sort((x, y) => nodes[x].end - nodes[y].end || nodes[x].start - nodes[y].start || x - y);
    if (others.length > 0) edges.push([others[others.length - 1], j]);
  });
  const part = (i: number, time: number) => time * scale(nodes[i].symbol);
  const weight = (a: number, b: number) => part(a, Math.min(nodes[a].end, nodes[b].start) - nodes[a].start);
  const head = (j: number): number =>
    Math.max(0, ...edges.filter(([, to]) => to === j).map(([from]) => head(from) + weight(from, j)));
  const tail = (i: number): number =>
    Math.max(
      part(i, nodes[i].end - nodes[i].start),
      ...edges.filter(([from]) => from === i).map(([, to]) => weight(i, to) + tail(to)),
    );
  const through = nodes.map((_, i) => head(i) + tail(i));
  const length = Math.max(0, ...through);
  return { length, slack: through.map((t) => length - t) };
}

describe('critical path properties', () => {
  const work = fc.array(
    fc.record({
      lane: fc.constantFrom('q1', 'q2', 'q3'),
      start: fc.integer({ min: 0, max: 60 }),
      length: fc.integer({ min: 1, max: 30 }),
      symbol: fc.constantFrom('A', 'B', 'C'),
    }),
    { maxLength: 11 },
  );

  test('agrees with brute force on random work', () => {
    fc.assert(
      fc.property(work, (items) => {
        const nodes = items.map((w) => node(w.symbol, w.lane, w.start, w.start + w.length));
        const path = criticalPath(nodes);
        const expected = bruteForce(nodes);
        expect(path.lengthNs).toBe(expected.length);
        expect([...path.slack]).toEqual(expected.slack);
        for (const i of path.path) expect(path.slack[i]).toBe(0);
        expect(path.lengthNs).toBeLessThanOrEqual(path.spanNs);
        expect(path.busyNs - path.overlapNs).toBeLessThanOrEqual(path.busyNs);
        const critical = path.symbols.most(99).reduce((sum, s) => sum + s.criticalNs, 0);
        expect(critical).toBe(path.lengthNs);
      }),
      { numRuns: 1500 },
    );
  });

  test('the bound on the gain holds when the symbol really is twice as fast', () => {
    fc.assert(
      fc.property(work, (items) => {
        const nodes = items.map((w) => node(w.symbol, `${w.lane}`, w.start * 2, (w.start + w.length) * 2));
        const path = criticalPath(nodes);
        const bound = path.symbols.most(99).find((s) => s.symbol === 'A')?.gainIfTwiceAsFastNs ?? 0;
        const faster = bruteForce(nodes, (symbol) => (symbol === 'A' ? 0.5 : 1));
        expect(path.lengthNs - faster.length).toBeLessThanOrEqual(bound);
      }),
    );
  });
});
