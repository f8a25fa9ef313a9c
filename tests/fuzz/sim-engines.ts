// Fuzz target: random legal instruction sequences on both engines of the virtual GPU. The input's bytes only choose the case; engines
// that differ are a failure, sequences that both refuse alike a typed error.

import { WavesmithError } from '../../src/base/index.ts';
import { enableRelaxedSimd } from '../../src/device/node/v8-flags.ts';
import { engineCase } from '../support/engine-compare.ts';

enableRelaxedSimd();
const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;

/** FNV-1a. */
function hash(bytes: Uint8Array): number {
  let h = 0x811c9dc5;
  for (const byte of bytes) h = Math.imul(h ^ byte, 0x01000193);
  return h >>> 0;
}

export default {
  name: 'sim-engines',
  seeds: () => [Uint8Array.from({ length: 64 }, (_, i) => i)],
  run(bytes: Uint8Array): void {
    const seed = hash(bytes);
    const result = engineCase(TARGETS[seed % 3] as (typeof TARGETS)[number], seed, { memory: (seed & 8) !== 0 });
    if (result.differences.length > 0) {
      throw new Error(`seed ${seed} on ${result.target}:\n${[...result.text, ...result.differences].join('\n')}`);
    }
    if (result.error !== undefined) throw new WavesmithError('sim/stopped', String(result.error));
  },
};
