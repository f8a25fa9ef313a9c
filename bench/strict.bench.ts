// What strict mode costs: the same dispatches compiled, and compiled with checks. Interleaved rounds, median; the ratio is the time of
// strict mode to that of the compiled engine without it. Compiling is part of both (strict code is not kept between dispatches).
// `npm run bench strict -- WORD…` takes the cases whose names contain one of the words.
// Timed inside one process, its start not included; the dispatches repeat, so the engine itself is warm.
import { compareModes } from './support/dispatches.ts';

await compareModes(process.argv.slice(2), [
  ['compiled', () => ({ engine: 'compiled' })],
  ['strict compiled', () => ({ engine: 'compiled', strict: {} })],
]);
