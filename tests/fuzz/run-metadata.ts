// Fuzz target: kernels whose metadata and descriptor say anything, loaded and launched as `wavesmith run` does.
// The bytes are values, four each, for the numbers of the metadata in their order; 0x5a5a5a5a leaves one as it is.

import { assembleAndLink } from '../../src/asm/index.ts';
import { WavesmithError } from '../../src/base/index.ts';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { execute, planLaunch, RunTools } from '../../src/device/index.ts';
import { explicitArguments } from '../../src/device/kernargs.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import { kernelSource } from '../support/kernel-source.ts';

const HIDDEN = ['block_count_x', 'group_size_y', 'remainder_z', 'grid_dims', 'dynamic_lds_size', 'private_base'];
const SOURCE = kernelSource({
  args: [
    [8, 'global_buffer'],
    [4, 'by_value'],
    [4, 'dynamic_shared_pointer'],
    ...HIDDEN.map((kind) => [4, `hidden_${kind}`] as const),
    [8, 'hidden_queue_ptr'],
  ],
});
const KEEP = 0x5a5a5a5a;
const METADATA = SOURCE.indexOf('.amdgpu_metadata');
const NUMBERS = [...SOURCE.slice(METADATA).matchAll(/: (\d+)$/gm)].length;

function seed(): Uint8Array {
  return new Uint8Array(new Uint32Array(NUMBERS).fill(KEEP).buffer);
}

function damaged(bytes: Uint8Array): Uint8Array {
  const values = new Int32Array(bytes.slice(0, bytes.length & ~3).buffer);
  let next = 0;
  const text =
    SOURCE.slice(0, METADATA) +
    SOURCE.slice(METADATA).replace(/: (\d+)$/gm, (whole) => {
      const value = values[next++] ?? KEEP;
      return value === KEEP ? whole : `: ${value}`;
    });
  return assembleAndLink(text, { target: 'gfx942', file: 'fuzz.s' });
}

export default {
  name: 'run-metadata',
  seeds: () => [seed()],
  async run(bytes: Uint8Array): Promise<void> {
    const object = damaged(bytes);
    const device = new SimDevice('gfx942');
    try {
      const kernel = device.load(object).kernel('k');
      const args = explicitArguments(kernel).map(({ size, valueKind }) => {
        if (valueKind === 'global_buffer')
          return { kind: 'buffer', type: 'u32', shape: [64], fill: { kind: 'zeros' } } as const;
        if (size !== 4) throw new WavesmithError('fuzz/size', 'The value has another size now.');
        return { kind: 'scalar', type: 'u32', value: 1 } as const;
      });
      const { plan } = planLaunch({ grid: [1, 1, 1], block: [64, 1, 1], dynamicLds: 64 }, args, () => new Uint8Array());
      new RunTools(kernel, readCodeObject(object), { counters: true, profile: true });
      await execute(device, kernel, plan, {
        fields: { maxInstructions: 1000, strict: bytes[0] === 0x5a ? {} : undefined },
      });
    } finally {
      device.close();
    }
  },
};
