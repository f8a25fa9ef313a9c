// The virtual GPU keeps the contract of every device: each target, one thread and several, each engine.
import { createDevice } from '../src/device/index.ts';
import { deviceContract } from './support/device-contract/index.ts';
import { workerHost } from './support/sim-worker.ts';

const EXACT = { faults: 'by byte', countsInstructions: true } as const;

for (const target of ['gfx90a', 'gfx942', 'gfx950'] as const) {
  deviceContract(`sim, ${target}`, { ...EXACT, target, open: () => createDevice('sim', { target }) });
}
deviceContract('sim, interpreter', {
  ...EXACT,
  target: 'gfx942',
  open: () => createDevice('sim', { target: 'gfx942', run: { engine: 'interpreter' } }),
});
deviceContract('sim, two threads', {
  ...EXACT,
  target: 'gfx942',
  open: async () =>
    createDevice('sim', { target: 'gfx942', workerHost: { ...(await workerHost()), startMs: 0 }, run: { workers: 2 } }),
});
