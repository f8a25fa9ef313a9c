// Fuzz target: NumPy .npy files.
import { NPY_TYPES, npyElementBytes, readNpy, writeNpy } from '../../src/device/npy.ts';

export default {
  name: 'npy',
  seeds: () => {
    const plain = NPY_TYPES.map((type) =>
      writeNpy({ type, shape: [2, 3], bytes: new Uint8Array(6 * npyElementBytes(type)) }),
    );
    const text = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2, 2), }\n";
    const second = new Uint8Array(12 + text.length + 32);
    second.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, text.length, 0, 0, 0]);
    second.set(new TextEncoder().encode(text), 12);
    return [...plain, second, writeNpy({ type: 'f64', shape: [], bytes: new Uint8Array(8) })];
  },
  run(bytes: Uint8Array): void {
    readNpy(bytes);
  },
};
