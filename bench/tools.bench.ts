// What counters and profiles cost: the same dispatches compiled, with the counters of `run --counters`, with those of `run --profile`
// (without bank conflicts). bench/support/dispatches.ts says how they are timed.
// `npm run bench -- tools --only WORD…` takes the cases whose names contain one of the words.
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { KeptCounter } from '../src/device/sim/tools/index.ts';
import { compareModes } from './support/dispatches.ts';

enableRelaxedSimd();

const [counters, profile] = [new KeptCounter(true), new KeptCounter(false)];
await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['counters', () => ({ engine: 'compiled', monitors: [counters] })],
  ['profile', () => ({ engine: 'compiled', monitors: [profile] })],
]);
