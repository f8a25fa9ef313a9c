// Loops that never end: of code without optimisation, whose variables are on the stack and are stored in each round, and behind long waits that do end.
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
/* Who has the lock does not give it back. */
KERNEL void swaps(GLOBAL uint *data) {
  while (__scoped_atomic_exchange_n(data, 1u, __ATOMIC_ACQUIRE, DEVICE) != 0) ;
  while (__scoped_atomic_exchange_n(data, 1u, __ATOMIC_ACQUIRE, DEVICE) != 0) ;
}
/* The same in LDS, of locks that the lanes have for themselves. */
KERNEL void swapsInLds(GLOBAL uint *data) {
  static __attribute__((address_space(3), loader_uninitialized)) uint locks[64];
  uint id = __builtin_amdgcn_workitem_id_x();
  locks[id] = 1;
  while (__scoped_atomic_exchange_n(&locks[id], 1u, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) != 0) ;
  data[id] = 0;
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

const WAITS = `
typedef unsigned uint;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define LOAD(p) __scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE)
#define STORE(p, value) __scoped_atomic_store_n(p, value, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE)
static inline void work(uint n) { for (uint k = 0; k < n; k++) __asm__ volatile("s_nop 0"); }
/* Two workgroups wait for each other after each of their rounds; the first one has more rounds. */
static inline void rounds(GLOBAL uint *data, uint more) {
  uint group = __builtin_amdgcn_workgroup_id_x(), count = group == 0 ? 24 + more : 24;
  for (uint round = 1; round <= count; round++) {
    work(group == 0 || round % 2 == 1 ? 4000 : 12000);
    STORE(&data[group], round);
    while (LOAD(&data[1 - group]) < round) ;
  }
}
KERNEL alike(GLOBAL uint *data) { rounds(data, 0); }
KERNEL unanswered(GLOBAL uint *data) { rounds(data, 1); }
/* The first wavefront adds in one lane, until the second one finds that it is much: what they have in registers is the same in each round. */
KERNEL adds(GLOBAL uint *data) {
  uint lane = __builtin_amdgcn_workitem_id_x(), found = 0;
  if (lane < 64) {
    do __scoped_atomic_fetch_add(&data[8 + lane], lane == 5 ? 1u : 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    while (LOAD(&data[0]) == 0) ;
    return;
  }
  while (found == 0) {
    found = LOAD(&data[8 + 5]);
    __asm__ volatile("v_lshrrev_b32 %0, 16, %0" : "+v"(found));
  }
  STORE(&data[0], 1u);
}
/* The first workgroup waits for the second one, which works for long; then this waits for the first one, which gives up after so many tries. */
KERNEL tries(GLOBAL uint *data) {
  uint lane = __builtin_amdgcn_workitem_id_x();
  if (__builtin_amdgcn_workgroup_id_x() == 1) {
    work(240000);
    STORE(&data[1], 1u);
    while (LOAD(&data[0]) < 2) ;
    return;
  }
  uint step = 0, steps = lane + 1;
  for (uint round = 1; round <= 2; round++) {
    __asm__ volatile("" : "+v"(step), "+s"(round));
    for (uint tries = 0; LOAD(&data[1]) < round && tries < 40000 * (lane + 1); tries += step) ;
    STORE(&data[0], round);
    step = steps;
  }
}`;

interface Build {
  readonly source: string;
  readonly level: number;
  readonly groups: number;
}

async function rules(
  kernel: string,
  target: TargetName,
  waves: number,
  { source = SOURCE, level = 0, groups = 1 }: Partial<Build> = {},
): Promise<readonly string[]> {
  const device = await createDevice('sim', { target });
  try {
    const data = device.alloc(4096, 'data');
    device.write(data, new Uint8Array(4096));
    const code = linkWithLld([compileC(source, target, [`-O${level}`])]);
    const { findings } = await device.dispatch({
      kernel: device.load(code).kernel(kernel),
      grid: [groups, 1, 1],
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
  for (const kernel of ['swaps', 'swapsInLds']) expect(await rules(kernel, target, 1)).toEqual(['schedule/deadlock']);
  expect(await rules('counts', target, 2)).toEqual([]);
});

test.skipIf(!hasLlvm()).each([
  ['alike', 2, 1, []],
  ['tries', 2, 1, []],
  ['unanswered', 2, 1, ['schedule/deadlock']],
  ['adds', 1, 2, []],
])('waiting for each other for long: %s', async (kernel, groups, waves, expected) => {
  expect(await rules(kernel, 'gfx942', waves, { source: WAITS, level: 2, groups })).toEqual(expected);
});
