// Fuzz target: IREE modules and executables, with and without archive, also patched.
import {
  isVmfb,
  openContainer,
  patchExecutables,
  readDispatches,
  readParameters,
  readSignatures,
  readVmfb,
} from '../../src/codeobject/index.ts';
import { makeCodeObject } from '../support/make-code-object.ts';
import { makeExecutable, makeVmfb } from '../support/make-vmfb.ts';

const KERNELS = [{ name: 'k', workgroupSize: [64, 4, 1] as [number, number, number], constants: 1, bindings: [1, 0] }];

export default {
  name: 'vmfb',
  seeds: () => {
    const elf = makeCodeObject();
    const text = { bytes: new TextEncoder().encode('hal.device.id') };
    return [
      makeVmfb([text, { name: 'a_rocm_hsaco_fb.fb', bytes: makeExecutable('HIP1', elf, KERNELS, true) }], true),
      makeVmfb([text, { name: 'a_rocm_hsaco_fb.fb', bytes: makeExecutable('HIP1', elf, KERNELS, false) }], true),
      makeVmfb([{ name: 'a_gfx942.fb', bytes: makeExecutable('AMD1', elf, KERNELS, true) }], false),
      makeVmfb([{ name: 'a.bin', bytes: elf }, { bytes: elf }], true),
      makeExecutable('HIP1', elf, KERNELS, true),
    ];
  },
  run(bytes: Uint8Array): void {
    openContainer(bytes, 'fuzz');
    if (!isVmfb(bytes)) return;
    const vmfb = readVmfb(bytes);
    readDispatches(vmfb);
    readSignatures(vmfb);
    readParameters(vmfb);
    if (vmfb.executables.length === 0) return;
    patchExecutables(readVmfb(bytes), [{ executable: 0, elf: makeShared() }]);
    patchExecutables(readVmfb(bytes), [{ executable: 0, elf: makeBigger() }]);
  },
};

let shared: Uint8Array | undefined;

function makeShared(): Uint8Array {
  shared ??= makeCodeObject({ kernel: 'other' });
  return shared;
}

let bigger: Uint8Array | undefined;

/** A code object for which every executable has to grow. */
function makeBigger(): Uint8Array {
  if (bigger === undefined) {
    bigger = new Uint8Array(makeShared().length + 5000);
    bigger.set(makeShared());
  }
  return bigger;
}
