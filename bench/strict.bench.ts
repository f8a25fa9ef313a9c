// What strict mode costs: the same dispatches compiled, and compiled with checks (bench/support/dispatches.ts says how they are timed).
// `npm run bench -- strict --only WORD…` takes the cases whose names contain one of the words.
import { compareModes } from './support/dispatches.ts';

await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['strict compiled', () => ({ engine: 'compiled', strict: {} })],
]);
