// What counters and profiles cost: the same dispatches compiled, with the counters of `run --counters`, with those of `run --profile`
// (without bank conflicts). Interleaved rounds, median of processor time, compiling included.
// `npm run bench tools -- WORD…` takes the cases whose names contain one of the words.
import type { SimDispatchRequest } from '../src/device/index.ts';
import { CompiledCounter } from '../src/device/sim/tools/index.ts';
import { compareModes } from './support/dispatches.ts';

type Monitor = NonNullable<SimDispatchRequest['monitors']>[number];

function counting(countsBanks: boolean): Monitor {
  let counter: CompiledCounter | undefined;
  return {
    engine: (job) => {
      counter = new CompiledCounter(job.loaded, countsBanks);
      return counter.engine(job);
    },
    startWorkgroup: (group, waves) => counter?.startWorkgroup(group, waves),
    endDispatch: () => counter?.close(),
  };
}

await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['counters', () => ({ engine: 'compiled', monitors: [counting(true)] })],
  ['profile', () => ({ engine: 'compiled', monitors: [counting(false)] })],
]);
