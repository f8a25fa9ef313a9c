// Fuzz target: damaged code objects, loaded and run on the virtual GPU under a small budget.
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { makeCodeObject } from '../support/make-code-object.ts';

export default {
  name: 'sim',
  seeds: () => [makeCodeObject()],
  async run(bytes: Uint8Array): Promise<void> {
    const device = new SimDevice('gfx942');
    try {
      const module = device.load(bytes);
      for (const kernel of module.kernels.slice(0, 2)) {
        await device.dispatch({
          kernel,
          grid: [1, 1, 1],
          block: [64, 1, 1],
          kernargs: new Uint8Array(0),
          maxInstructions: 2000,
        });
      }
    } finally {
      device.close();
    }
  },
};
