// fast-check with one seed, so that a suite that passed passes again. `WAVESMITH_SEED=N npm test` tries others, `WAVESMITH_SEED=random` a new one
// for every property; a property that fails names its seed.
import fc from 'fast-check';

const asked = process.env.WAVESMITH_SEED ?? '20261123';
const seed = Number(asked);
if (asked !== 'random') {
  if (!Number.isInteger(seed)) throw new Error(`WAVESMITH_SEED is a whole number or 'random', not '${asked}'`);
  fc.configureGlobal({ seed });
}

export default fc;
