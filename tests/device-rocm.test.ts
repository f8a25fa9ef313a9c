// A real GPU's device keeps the contract of every device. There is none here: the HSA runtime is the virtual one.
import { deviceContract } from './support/device-contract/index.ts';
import { hasNativeBuild, openRocm } from './support/rocm.ts';

if (hasNativeBuild()) {
  deviceContract('rocm on the virtual runtime', {
    target: 'gfx942',
    faults: 'by page',
    countsInstructions: false,
    open: () => openRocm('gfx942'),
  });
}
