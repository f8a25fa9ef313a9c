// What loops of compare-and-swap change in LDS is no flag: wavefronts that read it plainly, with no barrier, race with them.
import { expect, test } from 'vitest';
import { compileC, hasLlvm, linkWithLld } from '../../../../../tests/support/build.ts';
import { createDevice } from '../../../index.ts';

/** `between` stands between the loops and the reads. Each wavefront has words of its own: for the sum of its lanes' values, for the greatest one, or a byte for each value to count it. */
const source = (between: string): string => `
typedef unsigned uint;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define SHARED static __attribute__((address_space(3), loader_uninitialized)) uint
#define TRY(p, old, value) __scoped_atomic_compare_exchange_n(p, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
static inline void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KERNEL sum(GLOBAL uint *data) {
  SHARED sums[2];
  uint id = __builtin_amdgcn_workitem_id_x();
  if (id < 2) sums[id] = 0;
  barrier();
  __attribute__((address_space(3))) uint *own = &sums[__builtin_amdgcn_readfirstlane(id >> 6)];
  uint old = *own;
  while (!TRY(own, old, old + data[id])) ;
  ${between}
  /* An atomic of memory is none of LDS. */
  __scoped_atomic_fetch_add(&data[128 + id], sums[0] + sums[1], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
/* Each round looks again. */
KERNEL most(GLOBAL uint *data) {
  SHARED values[2];
  uint id = __builtin_amdgcn_workitem_id_x();
  if (id < 2) values[id] = 0;
  barrier();
  __attribute__((address_space(3))) uint *own = &values[__builtin_amdgcn_readfirstlane(id >> 6)];
  for (;;) {
    uint old = __scoped_atomic_load_n(own, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    if (old >= data[id] || TRY(own, old, data[id])) break;
  }
  ${between}
  data[128 + id] = values[0] + values[1];
}
KERNEL bins(GLOBAL uint *data) {
  SHARED counts[2][64];
  uint id = __builtin_amdgcn_workitem_id_x();
  counts[id >> 6][id & 63] = 0;
  barrier();
  for (uint k = id; k < 1024; k += 128) {
    uint value = data[k] & 255;
    __attribute__((address_space(3))) uint *own = &counts[__builtin_amdgcn_readfirstlane(id >> 6)][value >> 2];
    uint old = __scoped_atomic_load_n(own, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    while (!TRY(own, old, old + (1u << 8 * (value & 3)))) ;
  }
  ${between}
  data[1024 + id] = counts[0][id >> 1] + counts[1][id >> 1];
}`;

async function rules(
  kernel: string,
  between: string,
  level: number,
  engine: 'compiled' | 'interpreter',
): Promise<string[]> {
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const data = device.alloc(8192, 'data');
    device.write(
      data,
      Uint8Array.from({ length: data.size }, (_, i) => (i * 7919) >>> 3),
    );
    const { findings } = await device.dispatch({
      kernel: device.load(linkWithLld([compileC(source(between), 'gfx942', [`-O${level}`])])).kernel(kernel),
      grid: [1, 1, 1],
      block: [128, 1, 1],
      args: [data],
      engine,
      strict: {},
    });
    return [...new Set(findings?.map(({ rule }) => rule))];
  } finally {
    device.close();
  }
}

const CASES = ['sum', 'most', 'bins'].flatMap((kernel) =>
  [2, 3].flatMap((level) => (['compiled', 'interpreter'] as const).map((engine) => [kernel, level, engine] as const)),
);

test.skipIf(!hasLlvm()).each(CASES)('%s -O%i: %s', async (kernel, level, engine) => {
  expect(await rules(kernel, '', level, engine)).toEqual(['races/lds']);
  expect(await rules(kernel, 'barrier();', level, engine)).toEqual([]);
});
