// The same dispatch counted in compiled code and on the interpreter: counts and bank conflicts have to be equal.
import { expect } from 'vitest';
import type { SimDispatchRequest } from '../../src/device/index.ts';
import {
  CountingMonitor,
  type ExecutionCounts,
  KeptCounter,
  LdsBankMonitor,
} from '../../src/device/sim/tools/index.ts';

type Monitor = NonNullable<SimDispatchRequest['monitors']>[number];

/** What one dispatch counted. */
export interface Counted {
  readonly counts: ExecutionCounts;
  readonly banks: ReturnType<KeptCounter['ldsBanks']>;
}

/** Monitors that count each dispatch with compiled code, and with the interpreter. */
function counters(all: (() => Counted)[]): { compiled: Monitor[]; interpreted: () => Monitor[] } {
  let counter: KeptCounter | undefined;
  const compiled: Monitor = {
    engine: (job) => {
      const one = new KeptCounter();
      counter = one;
      all.push(() => ({ counts: one.counts(), banks: one.ldsBanks() }));
      return one.engine(job);
    },
    startWorkgroup: (group, waves) => counter?.startWorkgroup(group, waves),
    endDispatch: () => counter?.endDispatch(),
  };
  const interpreted = (): Monitor[] => {
    let sites: CountingMonitor | undefined;
    let banks: LdsBankMonitor | undefined;
    return [
      {
        startDispatch: ({ loaded }) => {
          const [a, b] = [new CountingMonitor(loaded.region.base), new LdsBankMonitor(loaded.region.base)];
          [sites, banks] = [a, b];
          all.push(() => ({ counts: a.counts(), banks: b.result() }));
        },
        startWorkgroup: (group, waves) => sites?.startWorkgroup(group, waves),
        before: (w, pc, bound) => {
          sites?.before(w, pc, bound);
          banks?.before(w, pc, bound);
        },
        after: (w, pc, bound) => sites?.after(w, pc, bound),
      },
    ];
  };
  return { compiled: [compiled], interpreted };
}

/** Runs `run` with the monitors of either; what compiled code counted of each dispatch. */
export async function compareCounts(run: (mode: Partial<SimDispatchRequest>) => Promise<unknown>): Promise<Counted[]> {
  const [fast, slow]: (() => Counted)[][] = [[], []];
  await run({ monitors: counters(fast as (() => Counted)[]).compiled });
  await run({ monitors: counters(slow as (() => Counted)[]).interpreted() });
  const expected = (slow as (() => Counted)[]).map((one) => one());
  const actual = (fast as (() => Counted)[]).map((one) => one());
  expect(actual.length).toBeGreaterThan(0);
  for (const [n, { counts, banks }] of actual.entries()) {
    const { counts: wanted, banks: wantedBanks } = expected[n] as Counted;
    expect(counts.waves).toEqual(wanted.waves);
    const text = ({ instructions }: ExecutionCounts): string[] =>
      instructions.map(({ instruction, ...rest }) => `${instruction.row.operation} ${JSON.stringify(rest)}`).sort();
    expect(text(counts)).toEqual(text(wanted));
    if (banks !== undefined) expect(banks).toEqual(wantedBanks);
  }
  return actual;
}
