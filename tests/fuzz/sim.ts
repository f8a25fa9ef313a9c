// Fuzz target: damaged code objects, loaded and run on the virtual GPU under a small budget.

import { runDispatch } from '../../src/device/sim/dispatch.ts';
import { DeviceMemory } from '../../src/device/sim/memory.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { makeCodeObject } from '../support/make-code-object.ts';

export default {
  name: 'sim',
  seeds: () => [makeCodeObject()],
  run(bytes: Uint8Array): void {
    const module = new SimDevice('gfx942').load(bytes);
    for (const kernel of module.kernels.slice(0, 2)) {
      const request = {
        kernel,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        kernargs: new Uint8Array(0),
        maxInstructions: 2000,
      } as const;
      runDispatch(new DeviceMemory(), module.program, kernel, request);
    }
  },
};
