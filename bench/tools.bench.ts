// What counters and profiles cost: the same dispatches compiled, with the counters of `run --counters`, with those of `run --profile`
// (without bank conflicts). bench/support/dispatches.ts says how they are timed.
// `npm run bench -- tools --only WORD…` takes the cases whose names contain one of the words.
import type { SimDispatchRequest } from '../src/device/index.ts';
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { CompiledCounter } from '../src/device/sim/tools/index.ts';
import { compareModes } from './support/dispatches.ts';

enableRelaxedSimd();

type Monitor = NonNullable<SimDispatchRequest['monitors']>[number];

/** Counters that are kept with the loaded code, as `exec` keeps them, and begin anew with each dispatch. */
function counting(countsBanks: boolean): Monitor {
  const counters = new WeakMap<object, CompiledCounter>();
  let counter: CompiledCounter | undefined;
  return {
    engine: (job) => {
      counter = counters.get(job.loaded) ?? new CompiledCounter(job.loaded, countsBanks);
      counters.set(job.loaded, counter);
      counter.reset();
      return counter.engine(job);
    },
    startWorkgroup: (group, waves) => counter?.startWorkgroup(group, waves),
  };
}

const [counters, profile] = [counting(true), counting(false)];
await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['counters', () => ({ engine: 'compiled', monitors: [counters] })],
  ['profile', () => ({ engine: 'compiled', monitors: [profile] })],
]);
