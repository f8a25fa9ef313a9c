// Every row of every target's table executes on the simulator, or is refused with a documented reason; docs/virtual-gpu.md counts them.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Coverage, coverageOf, coverageTable } from '../../../../tests/support/sim-coverage.ts';
import { tableFor } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
const known = new Map<string, Coverage>();
const coverage = (target: (typeof TARGETS)[number]): Coverage => {
  const found = known.get(target) ?? coverageOf(target);
  known.set(target, found);
  return found;
};

describe.each(TARGETS)('%s', (target) => {
  it('should have semantics for every operation', () => {
    const missing = new Set(
      tableFor(target)
        .rows.map((r) => r.operation)
        .filter((o) => semanticsOf(o) === undefined),
    );
    expect([...missing]).toEqual([]);
  });

  it('should execute every operation but the documented unreachable ones', () => {
    const { operations, executed, refused } = coverage(target);
    const unexplained = [...refused].filter(([operation]) => {
      const op = semanticsOf(operation);
      return op?.kind !== 'unreachable' && !(op?.kind === 'structural' && op.name === 'matrixLoadScale');
    });
    expect(unexplained).toEqual([]);
    const neither = [...operations].filter((o) => !executed.has(o) && !refused.has(o));
    expect(neither).toEqual([]);
  });

  it('should account for every row: executed, refused, or a form that has no encoding of its own', () => {
    const { rows, executedRows, refusedRows, aliasRows } = coverage(target);
    expect(executedRows + refusedRows + aliasRows).toBe(rows);
    const named = tableFor(target).rows.filter((r) => r.codeGenOnly).length;
    expect(aliasRows).toBeLessThanOrEqual(named);
  });
});

it('should be the table that docs/virtual-gpu.md publishes, or better', () => {
  const docs = readFileSync(new URL('../../../../docs/virtual-gpu.md', import.meta.url), 'utf8');
  const numbers = (line: string): [boolean, number][] =>
    [...line.matchAll(/\| (≥ )?(\d+)(?= )/g)].map((m) => [m[1] !== undefined, Number(m[2])]);
  for (const line of coverageTable(TARGETS.map(coverage)).slice(2)) {
    const target = line.split(' ')[1] as string;
    const published = docs.split('\n').find((l) => l.startsWith(`| ${target} | `) && l.includes('≥'));
    expect(published, `docs/virtual-gpu.md has a line for ${target}`).toBeDefined();
    const then = numbers(published as string);
    expect(then).toHaveLength(10);
    for (const [i, [grows, now]] of numbers(line).entries()) {
      const before = then[i]?.[1] as number;
      if (grows) expect(now, `${target}, column ${i + 2}`).toBeGreaterThanOrEqual(before);
      else expect(now, `${target}, column ${i + 2}`).toBe(before);
    }
  }
});
