// A maximum in LDS that wavefronts look at before they try to raise it: a loop that does so looks like one that waits. What it excuses ends with the next barrier.
import { expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../../../tests/support/build.ts';
import { createDevice } from '../../../index.ts';

/** `between` stands between the reads of a row's maximum and the store of the next row's. */
const source = (between: string): string => `
typedef unsigned uint;
#define WORKGROUP __MEMORY_SCOPE_WRKGRP
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) uint *data, uint n) {
  static __attribute__((address_space(3), loader_uninitialized)) uint most;
  uint id = __builtin_amdgcn_workitem_id_x();
  for (uint row = 0; row < 3; row++) {
    if (id == 0) most = 0;
    barrier();
    for (uint k = 0; k < n; k++) {
      uint value = data[(row * n + k) * 128 + id];
      if (__scoped_atomic_load_n((uint *)&most, __ATOMIC_RELAXED, WORKGROUP) < value)
        __scoped_atomic_fetch_max((uint *)&most, value, __ATOMIC_RELAXED, WORKGROUP);
    }
    barrier();
    data[8192 + row * 128 + id] = most;
    ${between}
  }
}`;

test.skipIf(!hasLlvm()).each(['compiled', 'interpreter'] as const)('a barrier is missing: %s', async (engine) => {
  for (const [between, expected] of [
    ['', ['races/lds']],
    ['barrier();', []],
  ] as const) {
    const device = await createDevice('sim', { target: 'gfx942' });
    const data = device.alloc(65536, 'data');
    device.write(
      data,
      Uint8Array.from({ length: data.size }, (_, i) => (i * 7919) >>> 3),
    );
    const { findings } = await device.dispatch({
      kernel: device.load(linkWithLld([compileC(source(between), 'gfx942', ['-O2'])])).kernel('k'),
      grid: [1, 1, 1],
      block: [128, 1, 1],
      args: [data, 8],
      engine,
      strict: {},
    });
    expect([...new Set(findings?.map(({ rule }) => rule))]).toEqual(expected);
    device.close();
  }
});
