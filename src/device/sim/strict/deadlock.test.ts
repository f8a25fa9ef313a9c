// Loops that never end, of code without optimisation: its variables are on the stack, and are stored in each round.
import { expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../../tests/support/build.ts';
import type { TargetName } from '../../../isa/types.ts';
import { createDevice } from '../../index.ts';

const SOURCE = `
typedef unsigned uint;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel))
#define DEVICE __MEMORY_SCOPE_DEVICE
/* Nobody sets the flag. */
KERNEL void spin(GLOBAL uint *data) {
  while (__scoped_atomic_load_n(data, __ATOMIC_ACQUIRE, DEVICE) == 0) ;
}
/* The lane that has the lock waits for those that want it: what they expect is stored again each time. */
KERNEL void locks(GLOBAL uint *data) {
  uint was = 0;
  while (!__scoped_atomic_compare_exchange_n(data, &was, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) was = 0;
  data[1] += 1;
  __scoped_atomic_store_n(data, 0u, __ATOMIC_RELEASE, DEVICE);
}
/* The second wavefront counts for long before it sets the flag that the first one waits for. */
KERNEL void counts(GLOBAL uint *data) {
  if (__builtin_amdgcn_workitem_id_x() < 64) {
    while (__scoped_atomic_load_n(data, __ATOMIC_ACQUIRE, DEVICE) == 0) ;
    return;
  }
  uint sum = 0;
  for (uint k = 0; k < 25000; k++) sum ^= k;
  __scoped_atomic_store_n(data, sum | 1, __ATOMIC_RELEASE, DEVICE);
}`;

async function rules(kernel: string, target: TargetName, waves: number): Promise<readonly string[]> {
  const device = await createDevice('sim', { target });
  try {
    const data = device.alloc(4096, 'data');
    device.write(data, new Uint8Array(4096));
    const code = linkWithLld([compileC(SOURCE, target, ['-O0'])]);
    const { findings } = await device.dispatch({
      kernel: device.load(code).kernel(kernel),
      grid: [1, 1, 1],
      block: [64 * waves, 1, 1],
      args: [data],
      strict: {},
      maxInstructions: 20_000_000,
    });
    return (findings ?? []).map(({ rule }) => rule);
  } finally {
    device.close();
  }
}

test.skipIf(!hasLlvm()).each(['gfx90a', 'gfx942'] as const)('code without optimisation on %s', async (target) => {
  expect(await rules('spin', target, 1)).toEqual(['schedule/deadlock']);
  expect(await rules('locks', target, 1)).toEqual(['schedule/deadlock']);
  expect(await rules('counts', target, 2)).toEqual([]);
});
